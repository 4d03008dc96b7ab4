//! Columns of blobs: each layout, each type, links, classes, bad rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int64Array, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray, StructArray,
};
use arrow_schema::{DataType, Field, Fields};
use icecore::Stage;
use icecore_columns::{Decoded, Decoder, Error, FILLED_WITH, OnError, Options};
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
fn every_layout_of_blobs_is_taken() {
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
    let wanted = fields(&[("id", DataType::Int64)]);
    for column in columns {
        let mut decoder = Decoder::new(Stage::parse("php").unwrap(), &row(&wanted), lenient()).unwrap();
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
    let mut decoder = Decoder::new(Stage::parse("php").unwrap(), &row(&wanted), lenient()).unwrap();
    assert!(matches!(decoder.decode(&numbers), Err(Error::Column(DataType::Int64))));
}

#[test]
fn numbers_are_taken_without_loss_or_not_at_all() {
    let wanted = fields(&[("a", DataType::Int16), ("b", DataType::UInt64), ("c", DataType::Float64)]);
    let decoded = json(
        &wanted,
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
    let column = |at: usize| decoded.column.as_struct().column(at).clone();
    assert_eq!(column(0).as_primitive::<Int16Type>().values()[..3], [1, -12, 7]);
    assert_eq!(column(1).as_primitive::<UInt64Type>().values()[..3], [2, u64::MAX, u64::MAX]);
    assert_eq!(column(2).as_primitive::<Float64Type>().values()[..3], [3.0, 1500.0, 0.25]);
    assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), (3..10).collect::<Vec<_>>());
    assert_eq!(decoded.bad[0].error.path(), Some("$.a"));
    assert!(decoded.bad[0].error.to_string().contains("40000"), "{}", decoded.bad[0].error);
    assert!((3..10).all(|row| decoded.column.is_null(row)));
}

#[test]
fn structs_lists_and_maps_nest() {
    let address = fields(&[("city", DataType::Utf8), ("zip", DataType::LargeUtf8)]);
    let entries = Field::new(
        "entries",
        DataType::Struct(
            vec![Field::new("keys", DataType::Utf8, false), Field::new("values", DataType::Int32, true)].into(),
        ),
        false,
    );
    let wanted = fields(&[
        ("tags", list(DataType::Utf8)),
        ("address", DataType::Struct(address)),
        ("counts", DataType::Map(Arc::new(entries), false)),
        ("rows", list(list(DataType::Int64))),
    ]);
    let decoded = json(
        &wanted,
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
    // Of a key that is there twice, the last one counts.
    let rows = decoded.column.as_struct().column(3).as_list::<i32>();
    assert_eq!(rows.value(3).len(), 2);
    assert_eq!(rows.value(0).as_list::<i32>().value(2).as_primitive::<Int64Type>().values()[..], [2, 3]);
}

#[test]
fn objects_have_their_class_and_their_members_by_plain_names() {
    let told = |name: &str, with: &str| {
        Field::new(name, DataType::Utf8, true).with_metadata([(FILLED_WITH.to_owned(), with.to_owned())].into())
    };
    let wanted: Fields = vec![
        told("class", "class"),
        Field::new("name", DataType::Utf8, true),
        Field::new("age", DataType::Int64, true),
        told("more", "json"),
    ]
    .into();
    let php =
        b"O:4:\"User\":3:{s:7:\"\0*\0name\";s:3:\"Bob\";s:9:\"\0User\0age\";i:7;s:4:\"more\";a:2:{i:0;b:1;i:1;d:0.5;}}";
    let decoded = decode("php", &wanted, &[Some(php), Some(b"a:1:{s:4:\"name\";s:3:\"Eve\";}"), Some(b"N;")]);
    assert!(decoded.bad.is_empty(), "{:?}", decoded.bad);
    let text = |at: usize, row: usize| {
        let column = decoded.column.as_struct().column(at).as_string::<i32>();
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    assert_eq!((text(0, 0).as_deref(), text(0, 1)), (Some("User"), None));
    assert_eq!((text(1, 0).as_deref(), text(1, 1).as_deref()), (Some("Bob"), Some("Eve")));
    assert_eq!(decoded.column.as_struct().column(2).as_primitive::<Int64Type>().value(0), 7);
    assert_eq!(text(3, 0).as_deref(), Some("[true,0.5]"));
    assert!(decoded.column.is_null(2));
    // Ruby's members have a mark.
    let ruby = b"\x04\x08o:\x09User\x07:\x0a@nameI\"\x08Bob\x06:\x06ET:\x09@agei\x0c";
    let decoded = decode("marshal", &wanted, &[Some(ruby)]);
    assert!(decoded.bad.is_empty(), "{:?}", decoded.bad);
    assert_eq!(decoded.column.as_struct().column(1).as_string::<i32>().value(0), "Bob");
    assert_eq!(decoded.column.as_struct().column(2).as_primitive::<Int64Type>().value(0), 7);
}

#[test]
fn links_are_followed_and_rings_end() {
    let wanted = fields(&[("a", list(DataType::Int64)), ("b", list(DataType::Int64))]);
    let shared = b"a:2:{s:1:\"a\";a:1:{i:0;i:3;}s:1:\"b\";R:2;}";
    let decoded = decode("php", &wanted, &[Some(shared)]);
    let b = decoded.column.as_struct().column(1).as_list::<i32>();
    assert_eq!(b.value(0).as_primitive::<Int64Type>().values()[..], [3]);
    // `my $l; $l = \$l`, and a list that is in itself.
    let ring = fields(&[("a", list(list(list(DataType::Int64))))]);
    let decoded = decode("php", &ring, &[Some(b"a:1:{s:1:\"a\";a:1:{i:0;R:2;}}")]);
    assert_eq!(decoded.bad.len(), 1);
}

#[test]
fn what_links_repeat_is_bounded() {
    // Ten thousand times the same list of ten thousand numbers.
    let items = (0..10_000).map(|at| format!("i:{at};i:1;")).collect::<String>();
    let rest = (1..10_000).map(|at| format!("i:{at};R:3;")).collect::<String>();
    let lists = format!("a:1:{{s:1:\"a\";a:10000:{{i:0;a:10000:{{{items}}}{rest}}}}}");
    // The same with a long string.
    let rest = (1..10_000).map(|at| format!("i:{at};R:3;")).collect::<String>();
    let text = "x".repeat(1 << 20);
    let texts = format!("a:1:{{s:1:\"b\";a:10000:{{i:0;s:{}:\"{text}\";{rest}}}}}", text.len());
    let json =
        Field::new("b", DataType::Utf8, true).with_metadata([(FILLED_WITH.to_owned(), "json".to_owned())].into());
    let wanted = [
        fields(&[("a", list(list(DataType::Int64))), ("b", list(DataType::Utf8))]),
        vec![Field::new("a", list(DataType::Utf8), true), json].into(),
    ];
    for wanted in wanted {
        let decoded = decode("php", &wanted, &[Some(lists.as_bytes()), Some(texts.as_bytes())]);
        assert_eq!(decoded.bad.len(), 2, "{:?}", decoded.bad);
    }
    let decoded = decode("php", &fields(&[("a", list(list(DataType::Int64)))]), &[Some(lists.as_bytes())]);
    assert_eq!(decoded.bad[0].error.kind(), icecore::ErrorKind::Limit);
}

#[test]
fn bad_rows_stop_or_are_null_and_those_around_are_right() {
    let wanted = fields(&[("id", DataType::Int64), ("name", DataType::Utf8)]);
    let good = |id: u32| format!("a:2:{{s:2:\"id\";i:{id};s:4:\"name\";s:2:\"n{id}\";}}").into_bytes();
    let bad: &[&[u8]] =
        &[b"", b"a:1:{", b"a:1:{s:2:\"id\";s:1:\"x\";}", b"i:3;", b"a:1:{s:4:\"name\";s:1:\"\xff\";}", b"N;N;"];
    let mut blobs: Vec<Vec<u8>> = Vec::new();
    for (at, bad) in bad.iter().enumerate() {
        blobs.extend([good(at as u32), bad.to_vec()]);
    }
    let column = BinaryArray::from_iter_values(&blobs);
    let mut decoder = Decoder::new(Stage::parse("php").unwrap(), &row(&wanted), lenient()).unwrap();
    for _ in 0..3 {
        let decoded = decoder.decode(&column).unwrap();
        assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), [1, 3, 5, 7, 9, 11]);
        let ids = decoded.column.as_struct().column(0).as_primitive::<Int64Type>();
        assert!((0..6).all(|at| ids.value(2 * at) == at as i64 && decoded.column.is_null(2 * at + 1)));
    }
    let mut strict = Decoder::new(Stage::parse("php").unwrap(), &row(&wanted), Options::default()).unwrap();
    let error = strict.decode(&column).unwrap_err();
    assert!(matches!(error, Error::Row { row: 1, .. }), "{error}");
    // It can be used again.
    assert_eq!(strict.decode(&column.slice(0, 1)).unwrap().column.len(), 1);
}

#[test]
fn a_field_that_must_be_there_is_missed() {
    let wanted: Fields = vec![Field::new("id", DataType::Int64, false)].into();
    let decoded = json(&wanted, &[r#"{"id":1}"#, "{}", r#"{"id":null}"#]);
    assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), [1, 2]);
    assert!(decoded.bad[0].error.to_string().contains("id"), "{}", decoded.bad[0].error);
    let refused = Fields::from(vec![Field::new("x", DataType::Date64, true)]);
    assert!(matches!(Decoder::new(Stage::parse("json").unwrap(), &row(&refused), lenient()), Err(Error::Field { .. })));
}
