//! Columns of blobs: each layout, each type, links, classes, bad rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int64Array, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray, StructArray,
};
use arrow_schema::{DataType, Field, Fields};
use icecore::{Limits, Stage};
use icecore_columns::{Decoded, Decoder, Error, FILLED_WITH, Inference, OnError, Options, decode_chunks};
use std::num::NonZeroUsize;
use std::sync::Arc;

fn fields(list: &[(&str, DataType)]) -> Fields {
    list.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true)).collect()
}

fn lenient() -> Options {
    let mut options = Options::default();
    options.on_error = OnError::Null;
    options
}

fn row(fields: &Fields) -> Field {
    Field::new("row", DataType::Struct(fields.clone()), true)
}

fn decode(stage: &str, fields: &Fields, blobs: &[Option<&[u8]>]) -> Decoded {
    let column = BinaryArray::from(blobs.to_vec());
    Decoder::new(Stage::parse(stage).unwrap(), &row(fields), lenient()).unwrap().decode(&column).unwrap()
}

fn json(fields: &Fields, blobs: &[&str]) -> Decoded {
    decode("json", fields, &blobs.iter().map(|blob| Some(blob.as_bytes())).collect::<Vec<_>>())
}

fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}

#[test]
fn every_array_type_of_blobs_is_accepted() {
    let texts = vec![Some("i:1;"), None, Some("a:1:{s:2:\"id\";i:5;}")];
    let bytes: Vec<Option<&[u8]>> = texts.iter().map(|text| text.map(str::as_bytes)).collect();
    let dictionary: DictionaryArray<Int8Type> = texts.iter().copied().collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from(bytes.clone())),
        Arc::new(LargeBinaryArray::from(bytes.clone())),
        Arc::new(BinaryViewArray::from(bytes)),
        Arc::new(StringArray::from(texts.clone())),
        Arc::new(LargeStringArray::from(texts.clone())),
        Arc::new(StringViewArray::from(texts)),
        Arc::new(dictionary),
    ];
    let schema = fields(&[("id", DataType::Int64)]);
    for column in columns {
        let mut decoder = Decoder::new(Stage::parse("php").unwrap(), &row(&schema), lenient()).unwrap();
        let kind = column.data_type().clone();
        for column in [column.clone(), column.slice(1, 2), column.slice(2, 1), column.slice(0, 0)] {
            let decoded = decoder.decode(&column).unwrap();
            assert_eq!(decoded.column.len(), column.len(), "{kind}");
            if let Some(last) = column.len().checked_sub(1) {
                assert_eq!(decoded.column.as_struct().column(0).as_primitive::<Int64Type>().value(last), 5, "{kind}");
            }
            assert_eq!(decoded.bad.len(), usize::from(column.len() == 3), "{kind}");
            assert_eq!(decoded.column.null_count(), column.len().saturating_sub(1), "{kind}");
        }
    }
    let numbers = Int64Array::from(vec![1]);
    let mut decoder = Decoder::new(Stage::parse("php").unwrap(), &row(&schema), lenient()).unwrap();
    assert!(matches!(decoder.decode(&numbers), Err(Error::Column(DataType::Int64))));
}

#[test]
fn numbers_that_would_lose_digits_are_refused() {
    let schema = fields(&[("a", DataType::Int16), ("b", DataType::UInt64), ("c", DataType::Float64)]);
    let decoded = json(
        &schema,
        &[
            r#"{"a":1,"b":2,"c":3}"#,
            r#"{"a":"-12","b":"18446744073709551615","c":"1.5e3"}"#,
            r#"{"a":7.0,"b":18446744073709551615,"c":0.25}"#,
            r#"{"a":40000}"#,
            r#"{"a":"012"}"#,
            r#"{"b":-1}"#,
            r#"{"c":9007199254740993}"#,
            r#"{"c":"inf"}"#,
            r#"{"a":true}"#,
            r#"{"a":1.5}"#,
        ],
    );
    let column = |index: usize| decoded.column.as_struct().column(index).clone();
    assert_eq!(column(0).as_primitive::<Int16Type>().values()[..3], [1, -12, 7]);
    assert_eq!(column(1).as_primitive::<UInt64Type>().values()[..3], [2, u64::MAX, u64::MAX]);
    assert_eq!(column(2).as_primitive::<Float64Type>().values()[..3], [3.0, 1500.0, 0.25]);
    assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), (3..10).collect::<Vec<_>>());
    assert_eq!(decoded.bad[0].error.path(), Some("$.a"));
    assert!(decoded.bad[0].error.to_string().contains("40000"), "{}", decoded.bad[0].error);
    assert!((3..10).all(|row| decoded.column.is_null(row)));
}

#[test]
fn nested_structs_lists_and_maps_are_decoded() {
    let address = fields(&[("city", DataType::Utf8), ("zip", DataType::LargeUtf8)]);
    let entries = Field::new(
        "entries",
        DataType::Struct(
            vec![Field::new("keys", DataType::Utf8, false), Field::new("values", DataType::Int32, true)].into(),
        ),
        false,
    );
    let schema = fields(&[
        ("tags", list(DataType::Utf8)),
        ("address", DataType::Struct(address)),
        ("counts", DataType::Map(Arc::new(entries), false)),
        ("rows", list(list(DataType::Int64))),
    ]);
    let decoded = json(
        &schema,
        &[
            r#"{"tags":["a","b"],"address":{"city":"Ulm","zip":89073},"counts":{"x":1,"y":null},"rows":[[1],[],[2,3]]}"#,
            r#"{"tags":[],"address":null,"counts":{},"other":[{"deep":1}]}"#,
            r#"{"tags":["c",{}]}"#,
            r#"{"tags":{},"rows":[[4]],"rows":[[5],[6]]}"#,
        ],
    );
    assert_eq!(decoded.bad.len(), 1);
    assert_eq!((decoded.bad[0].row, decoded.bad[0].error.path()), (2, Some("$.tags[1]")));
    let tags = decoded.column.as_struct().column(0).as_list::<i32>();
    let lengths: Vec<_> = (0..4).map(|row| tags.is_valid(row).then(|| tags.value(row).len())).collect();
    assert_eq!(lengths, [Some(2), Some(0), None, Some(0)]);
    assert_eq!(tags.value(0).as_string::<i32>().value(1), "b");
    let address: &StructArray = decoded.column.as_struct().column(1).as_struct();
    assert_eq!(address.column(1).as_string::<i64>().value(0), "89073");
    assert!(address.is_null(1) && address.is_null(3));
    let counts = decoded.column.as_struct().column(2).as_map();
    assert_eq!(counts.value(0).column(0).as_string::<i32>().value(1), "y");
    let values = counts.value(0);
    assert!(values.column(1).as_primitive::<Int32Type>().is_null(1));
    // If a key occurs twice, the last value is used.
    let rows = decoded.column.as_struct().column(3).as_list::<i32>();
    assert_eq!(rows.value(3).len(), 2);
    assert_eq!(rows.value(0).as_list::<i32>().value(2).as_primitive::<Int64Type>().values()[..], [2, 3]);
}

#[test]
fn objects_give_class_and_members_by_plain_names() {
    let special_field = |name: &str, filled_with: &str| {
        Field::new(name, DataType::Utf8, true).with_metadata([(FILLED_WITH.to_owned(), filled_with.to_owned())].into())
    };
    let schema: Fields = vec![
        special_field("class", "class"),
        Field::new("name", DataType::Utf8, true),
        Field::new("age", DataType::Int64, true),
        special_field("more", "json"),
    ]
    .into();
    let php =
        b"O:4:\"User\":3:{s:7:\"\0*\0name\";s:3:\"Bob\";s:9:\"\0User\0age\";i:7;s:4:\"more\";a:2:{i:0;b:1;i:1;d:0.5;}}";
    let decoded = decode("php", &schema, &[Some(php), Some(b"a:1:{s:4:\"name\";s:3:\"Eve\";}"), Some(b"N;")]);
    assert!(decoded.bad.is_empty(), "{:?}", decoded.bad);
    let text = |index: usize, row: usize| {
        let column = decoded.column.as_struct().column(index).as_string::<i32>();
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    assert_eq!((text(0, 0).as_deref(), text(0, 1)), (Some("User"), None));
    assert_eq!((text(1, 0).as_deref(), text(1, 1).as_deref()), (Some("Bob"), Some("Eve")));
    assert_eq!(decoded.column.as_struct().column(2).as_primitive::<Int64Type>().value(0), 7);
    assert_eq!(text(3, 0).as_deref(), Some("[true,0.5]"));
    assert!(decoded.column.is_null(2));
    // Ruby's instance variables begin with `@`.
    let ruby = b"\x04\x08o:\x09User\x07:\x0a@nameI\"\x08Bob\x06:\x06ET:\x09@agei\x0c";
    let decoded = decode("marshal", &schema, &[Some(ruby)]);
    assert!(decoded.bad.is_empty(), "{:?}", decoded.bad);
    assert_eq!(decoded.column.as_struct().column(1).as_string::<i32>().value(0), "Bob");
    assert_eq!(decoded.column.as_struct().column(2).as_primitive::<Int64Type>().value(0), 7);
}

#[test]
fn links_are_followed_and_cycles_end() {
    let schema = fields(&[("a", list(DataType::Int64)), ("b", list(DataType::Int64))]);
    let shared = b"a:2:{s:1:\"a\";a:1:{i:0;i:3;}s:1:\"b\";R:2;}";
    let decoded = decode("php", &schema, &[Some(shared)]);
    let b = decoded.column.as_struct().column(1).as_list::<i32>();
    assert_eq!(b.value(0).as_primitive::<Int64Type>().values()[..], [3]);
    // A list that contains itself.
    let nested_lists = fields(&[("a", list(list(list(DataType::Int64))))]);
    let decoded = decode("php", &nested_lists, &[Some(b"a:1:{s:1:\"a\";a:1:{i:0;R:2;}}")]);
    assert_eq!(decoded.bad.len(), 1);
}

#[test]
fn expansion_by_links_is_limited() {
    // A list of ten thousand links to one list of ten thousand numbers.
    let items = (0..10_000).map(|index| format!("i:{index};i:1;")).collect::<String>();
    let rest = (1..10_000).map(|index| format!("i:{index};R:3;")).collect::<String>();
    let lists = format!("a:1:{{s:1:\"a\";a:10000:{{i:0;a:10000:{{{items}}}{rest}}}}}");
    // A list of ten thousand links to one long string.
    let rest = (1..10_000).map(|index| format!("i:{index};R:3;")).collect::<String>();
    let text = "x".repeat(1 << 20);
    let texts = format!("a:1:{{s:1:\"b\";a:10000:{{i:0;s:{}:\"{text}\";{rest}}}}}", text.len());
    let json =
        Field::new("b", DataType::Utf8, true).with_metadata([(FILLED_WITH.to_owned(), "json".to_owned())].into());
    let schema = [
        fields(&[("a", list(list(DataType::Int64))), ("b", list(DataType::Utf8))]),
        vec![Field::new("a", list(DataType::Utf8), true), json].into(),
    ];
    for schema in schema {
        let decoded = decode("php", &schema, &[Some(lists.as_bytes()), Some(texts.as_bytes())]);
        assert_eq!(decoded.bad.len(), 2, "{:?}", decoded.bad);
    }
    let decoded = decode("php", &fields(&[("a", list(list(DataType::Int64)))]), &[Some(lists.as_bytes())]);
    assert_eq!(decoded.bad[0].error.kind(), icecore::ErrorKind::Limit);
}

#[test]
fn bad_rows_do_not_affect_their_neighbours() {
    let schema = fields(&[("id", DataType::Int64), ("name", DataType::Utf8)]);
    let complete_row = |id: u32| format!("a:2:{{s:2:\"id\";i:{id};s:4:\"name\";s:2:\"n{id}\";}}").into_bytes();
    let bad_blobs: &[&[u8]] =
        &[b"", b"a:1:{", b"a:1:{s:2:\"id\";s:1:\"x\";}", b"i:3;", b"a:1:{s:4:\"name\";s:1:\"\xff\";}", b"N;N;"];
    let mut blobs: Vec<Vec<u8>> = Vec::new();
    for (index, bad) in bad_blobs.iter().enumerate() {
        blobs.extend([complete_row(index as u32), bad.to_vec()]);
    }
    let column = BinaryArray::from_iter_values(&blobs);
    let mut decoder = Decoder::new(Stage::parse("php").unwrap(), &row(&schema), lenient()).unwrap();
    for _ in 0..3 {
        let decoded = decoder.decode(&column).unwrap();
        assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), [1, 3, 5, 7, 9, 11]);
        let ids = decoded.column.as_struct().column(0).as_primitive::<Int64Type>();
        assert!((0..6).all(|index| ids.value(2 * index) == index as i64 && decoded.column.is_null(2 * index + 1)));
    }
    let mut strict = Decoder::new(Stage::parse("php").unwrap(), &row(&schema), Options::default()).unwrap();
    let error = strict.decode(&column).unwrap_err();
    assert!(matches!(error, Error::Row { row: 1, .. }), "{error}");
    // The decoder can be used again after an error.
    assert_eq!(strict.decode(&column.slice(0, 1)).unwrap().column.len(), 1);
}

#[test]
fn a_missing_required_field_is_an_error() {
    let schema: Fields = vec![Field::new("id", DataType::Int64, false)].into();
    let decoded = json(&schema, &[r#"{"id":1}"#, "{}", r#"{"id":null}"#]);
    assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), [1, 2]);
    assert!(decoded.bad[0].error.to_string().contains("id"), "{}", decoded.bad[0].error);
    let refused = Fields::from(vec![Field::new("x", DataType::Date64, true)]);
    assert!(matches!(Decoder::new(Stage::parse("json").unwrap(), &row(&refused), lenient()), Err(Error::Field { .. })));
}

#[test]
fn several_threads_keep_the_order_of_rows() {
    let blobs: Vec<Vec<u8>> = (0..200_000).map(|id| format!("a:1:{{s:2:\"id\";i:{id};}}").into_bytes()).collect();
    let (first, second) = blobs.split_at(70_001);
    let chunks: Vec<ArrayRef> = [first, second].map(|part| Arc::new(BinaryArray::from_iter_values(part)) as _).to_vec();
    let field = row(&fields(&[("id", DataType::Int64)]));
    let source = Stage::parse("php").unwrap().into();
    let threads = NonZeroUsize::new(3).unwrap();
    let parts = decode_chunks(&source, &field, &lenient(), &chunks, threads).unwrap();
    let mut next = 0;
    for part in parts {
        assert_eq!(part.start, next);
        let ids = part.column.as_struct().column(0).as_primitive::<Int64Type>();
        assert!(ids.values().iter().enumerate().all(|(index, id)| *id == (next + index) as i64));
        next += part.column.len();
    }
    assert_eq!(next, 200_000);
    // If there are several bad rows, the error is for the first one, regardless of the threads.
    for _ in 0..20 {
        let is_bad = |row: usize| [41_000, 90_000, 150_000].contains(&row);
        let blobs = blobs.iter().enumerate().map(|(row, blob)| if is_bad(row) { b"?" } else { blob.as_slice() });
        let chunk: ArrayRef = Arc::new(BinaryArray::from_iter_values(blobs));
        let error = decode_chunks(&source, &field, &Options::default(), &[chunk], threads).unwrap_err();
        assert!(matches!(error, Error::Row { row: 41_000, .. }), "{error}");
    }
}

/// Decodes blobs with a schema in text form. Returns each row as Arrow prints it, or `bad: ` and the error.
fn show_rows(stage: &str, text: &str, blobs: &[&[u8]]) -> Vec<String> {
    let field = icecore_columns::schema::parse(text).unwrap();
    let column = BinaryArray::from_vec(blobs.to_vec());
    let decoded = Decoder::new(Stage::parse(stage).unwrap(), &field, lenient()).unwrap().decode(&column).unwrap();
    let show = |row: usize| match decoded.bad.iter().find(|bad| bad.row == row) {
        Some(bad) => format!("bad: {}", bad.error),
        None => format!("{:?}", decoded.column.slice(row, 1)).split_whitespace().collect::<Vec<_>>().join(" "),
    };
    (0..blobs.len()).map(show).collect()
}

#[test]
fn members_without_a_field_go_to_rest() {
    let rows = show_rows(
        "php",
        "id int64, more rest",
        &[
            b"a:3:{s:2:\"id\";i:1;s:3:\"a\"b\";d:1.5;i:7;a:1:{i:0;N;}}",
            b"a:1:{s:2:\"id\";i:2;}",
            b"O:1:\"U\":2:{s:5:\"\0U\0id\";i:3;s:4:\"\0*\0x\";s:2:\"\xc3\xa9\";}",
        ],
    );
    assert!(rows[0].contains(r#"{\"a\\\"b\":1.5,\"7\":[null]}"#), "{}", rows[0]);
    assert!(rows[1].contains(r#""{}""#), "{}", rows[1]);
    assert!(rows[2].contains("3") && rows[2].contains(r#"{\"x\":\"é\"}"#), "{}", rows[2]);
}

/// `class P { private $x = 1; } class C extends P { private $x = 2; public $y = 3; }`, as PHP writes it.
#[test]
fn private_members_with_the_same_name_get_two_fields() {
    let blob: &[u8] = b"O:1:\"C\":3:{s:4:\"\0P\0x\";i:1;s:4:\"\0C\0x\";i:2;s:1:\"y\";i:3;}";
    let mut inference = Inference::new(Stage::parse("php").unwrap(), &Limits::default());
    inference.examine_blob(blob);
    let learned = inference.field();
    let text = icecore_columns::schema::print(&learned);
    assert_eq!(text, r#"_class class, x int64, "C::x" int64, y int64"#);
    let column = BinaryArray::from_vec(vec![blob; 4]);
    let mut decoder = Decoder::new(Stage::parse("php").unwrap(), &learned, lenient()).unwrap();
    let decoded = decoder.decode(&column).unwrap();
    assert_eq!((decoded.bad.len(), decoded.extra), (0, None));
    let fields = decoded.column.as_struct();
    for (index, value) in [(1, 1), (2, 2), (3, 3)] {
        assert!(fields.column(index).as_primitive::<Int64Type>().values().iter().all(|known| *known == value));
    }
    // A field with the bare name gets the first member. The second one is extra, or is part of `rest`.
    let given = |text: &str| {
        let field = icecore_columns::schema::parse(text).unwrap();
        let decoded = Decoder::new(Stage::parse("php").unwrap(), &field, lenient()).unwrap().decode(&column).unwrap();
        (decoded.column.as_struct().column(0).as_primitive::<Int64Type>().value(3), decoded.extra)
    };
    assert_eq!(given("x int64, y int64"), (1, Some((4, 0))));
    assert_eq!(given(r#""C::x" int64, x int64, y int64"#), (2, None));
    let rows = show_rows("php", "x int64, more rest", &[blob, blob]);
    assert!(rows[1].contains(r#"{\"\\u0000C\\u0000x\":2,\"y\":3}"#), "{}", rows[1]);
    let rows = show_rows("php", "more rest", &[blob, blob]);
    assert!(rows[1].contains(r#"{\"x\":1,\"\\u0000C\\u0000x\":2,\"y\":3}"#), "{}", rows[1]);
}

#[test]
fn values_are_found_on_paths_in_short_and_long_blobs() {
    for filler in [10, 5_000] {
        let blob = format!(
            r#"{{"user":{{"name":"Bob","tags":["x","y"]}},"pad":"{}","list":[{{"n":1}},{{"n":2}}]}}"#,
            "p".repeat(filler)
        );
        let text = "name utf8 at '$.user.name', tags list<utf8> at '$.user.tags', last int32 at '$.list[-1].n', none utf8 at '$.nothing', all list<int64> at '$.list[*].n'";
        let row = show_rows("json", text, &[blob.as_bytes()]).remove(0);
        for part in ["\"Bob\"", "\"x\", \"y\"", "2,", "null", "1, 2"] {
            assert!(row.contains(part), "{part} in {row}");
        }
        let definite = "name utf8 at '$.user.name', tags list<utf8> at '$.user.tags', none utf8 at '$.nothing'";
        let row = show_rows("json", definite, &[blob.as_bytes()]).remove(0);
        assert!(row.contains("\"Bob\"") && row.contains("\"y\"") && row.contains("null"), "{row}");
        let wrong = show_rows("json", "tag int64 at '$.user.tags[1]'", &[blob.as_bytes()]).remove(0);
        assert!(wrong.starts_with("bad: ") && wrong.contains("$.user.tags[1]"), "{wrong}");
        let rows_with_values = show_rows("json", "pad utf8, name utf8 at '$.user.name'", &[blob.as_bytes(), b"[]"]);
        assert!(
            rows_with_values[0].contains("\"Bob\"") && rows_with_values[0].contains("ppp"),
            "{}",
            rows_with_values[0]
        );
    }
}

#[test]
fn known_classes_become_times_dates_and_decimals() {
    let rows = show_rows("php", "a timestamp[us, UTC], b date32, c decimal(6, 2)", &[
        b"a:3:{s:1:\"a\";O:8:\"DateTime\":3:{s:4:\"date\";s:26:\"2026-07-02 03:40:00.500000\";s:13:\"timezone_type\";i:3;s:8:\"timezone\";s:13:\"Europe/Berlin\";}s:1:\"b\";s:10:\"2026-02-02\";s:1:\"c\";s:5:\"12.50\";}",
        b"a:2:{s:1:\"a\";O:14:\"Carbon\\Carbon2\":3:{s:4:\"date\";s:26:\"2026-07-02 03:40:00.000000\";s:13:\"timezone_type\";i:1;s:8:\"timezone\";s:6:\"-05:30\";}s:1:\"c\";d:0.1;}",
        b"a:1:{s:1:\"a\";s:19:\"2026-07-02T03:40:00\";}",
        b"a:1:{s:1:\"a\";i:1782963600;}",
        b"a:1:{s:1:\"c\";s:6:\"12.505\";}",
        b"a:1:{s:1:\"c\";i:10000;}",
        b"a:1:{s:1:\"a\";s:29:\"2026-07-02T03:40:00.0000005Z  \";}",
        b"a:1:{s:1:\"a\";s:28:\"2026-07-02T03:40:00.0000005Z\";}",
    ]);
    assert!(
        rows[0].contains("2026-07-02T01:40:00.500") && rows[0].contains("2026-02-02") && rows[0].contains("1250"),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains("2026-07-02T09:10:00") && rows[1].contains("10,"), "{}", rows[1]);
    for (row, part) in
        [(2, "a local time"), (3, "a time"), (4, "after the point"), (5, "at most 6 digits"), (7, "500 nanoseconds")]
    {
        assert!(rows[row].starts_with("bad: ") && rows[row].contains(part), "{}", rows[row]);
    }
    // Marshal.dump(Date.new(2026, 2, 2)); Marshal.dump(BigDecimal("-1.25"))
    let date = b"\x04\x08U:\x09Date[\x0bi\x00i\x03\x92\x8d%i\x00i\x00i\x00f\x0c2299161";
    assert!(show_rows("marshal", "date32", &[date])[0].contains("2026-02-02"));
    let decimal = b"\x04\x08u:\x0fBigDecimal\x1018:-0.125e1";
    assert!(
        show_rows("marshal", "decimal(38, 4)", &[decimal])[0].contains("-12500"),
        "{:?}",
        show_rows("marshal", "decimal(38, 4)", &[decimal])
    );
}

#[test]
fn one_column_may_contain_blobs_of_several_formats() {
    let field = icecore_columns::schema::parse("id int64").unwrap();
    let column = BinaryArray::from_vec(vec![
        b"a:1:{s:2:\"id\";i:1;}",
        b"{\"id\":2}",
        b"\x04\x08{\x06I\"\x07id\x06:\x06ETi\x08",
        b"\xff\xfe\xfd",
        b"a:1:{s:2:\"id\";i:4;}",
    ]);
    let mut decoder = Decoder::new(icecore_columns::Source::Detect, &field, lenient()).unwrap();
    let decoded = decoder.decode(&column).unwrap();
    let ids = decoded.column.as_struct().column(0).as_primitive::<Int64Type>().clone();
    assert_eq!(ids.iter().collect::<Vec<_>>(), [Some(1), Some(2), Some(3), None, Some(4)]);
    assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), [3]);
}

#[test]
fn the_key_cache_is_reset_with_the_key_ids() {
    let plain = br#"{"id":7,"name":"x"}"#.as_slice();
    let typed = br#"{"$icecore":1,"$strings":"bytes","$value":{"name":"y","id":8}}"#;
    let rows = show_rows("json", "id int64, name utf8", &[plain, typed, plain, b"?", typed, plain]);
    assert!(rows[1].contains('8') && rows[1].contains("\"y\"") && rows[1] == rows[4], "{rows:?}");
    assert!(rows[0] == rows[2] && rows[0] == rows[5] && rows[0].contains("\"x\""), "{rows:?}");
}

#[test]
fn rows_with_entries_without_a_field_are_counted() {
    // The number of rows with such entries, and the first of these rows.
    let count_extra = |text: &str| {
        let blobs: [&[u8]; 6] =
            [br#"{"a":1}"#, br#"{"a":1,"b":2}"#, br#"{"a":3,"b":2}"#, br#"{"a":1}"#, br#"{"s":{"c":1,"d":2}}"#, b"?"];
        let column = BinaryArray::from_vec(blobs.to_vec());
        let field = icecore_columns::schema::parse(text).unwrap();
        Decoder::new(Stage::parse("json").unwrap(), &field, lenient()).unwrap().decode(&column).unwrap().extra
    };
    assert_eq!(count_extra("a int64"), Some((3, 1)));
    assert_eq!(count_extra("a int64, b int64, s struct<c int64>"), Some((1, 4)));
    assert_eq!(count_extra("a int64, more rest"), None);
    assert_eq!(count_extra("a int64, b int64, s struct<c int64, d int64>"), None);
    assert_eq!(count_extra("a int64 at '$.a'"), None);
    assert_eq!(count_extra("json"), None);
}

#[test]
fn format_detection_is_independent_for_each_blob() {
    let blobs: Vec<&[u8]> = vec![
        b"a:1:{s:2:\"id\";i:1;}",
        b"i:5;",
        b"[1]",
        b"\x04\x08i\x06",
        b"\x04\x08[\x06i\x06",
        b"N;",
        b"b:1;",
        b"a:0:{}",
        b"=\xF3rl\x05\0\x01",
        b"\x04\x08",
        b"a:1:{s:2:\"id\";i:1",
        b"plain text",
        b"\x00\x00\x00\x02\x14\x01\x06\x00\x06\x01",
    ];
    let field = icecore_columns::schema::parse("json").unwrap();
    // Returns the last row, the number of errors, and the last error.
    let decode = |blobs: &[&[u8]], text: &str| {
        let field = if text.is_empty() { field.clone() } else { icecore_columns::schema::parse(text).unwrap() };
        let mut decoder = Decoder::new(icecore_columns::Source::Detect, &field, lenient()).unwrap();
        let decoded = decoder.decode(&BinaryArray::from_vec(blobs.to_vec())).unwrap();
        let errors: Vec<_> = decoded.bad.iter().map(|bad| bad.error.to_string()).collect();
        (format!("{:?}", decoded.column.slice(blobs.len() - 1, 1)), errors.len(), errors.last().cloned())
    };
    for text in ["", "list<int64>", "id int64"] {
        for before in &blobs {
            for blob in &blobs {
                let (row, error_count, error) = decode(&[blob], text);
                let (second_row, _, last_error) = decode(&[before, blob], text);
                assert_eq!(row, second_row, "{before:?} {blob:?}");
                assert!(error_count == 0 || error == last_error, "{before:?} {blob:?}");
            }
        }
    }
}
