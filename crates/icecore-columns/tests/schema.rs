//! Schemas as text, and schemas learned from data.

use arrow_array::BinaryArray;
use arrow_schema::{DataType, Field, TimeUnit};
use icecore::{Limits, Stage};
use icecore_columns::{Inference, schema};
use std::sync::Arc;

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn data_type(&mut self, depth: usize) -> DataType {
        let plain = [
            DataType::Boolean,
            DataType::Int8,
            DataType::UInt64,
            DataType::Float32,
            DataType::Utf8,
            DataType::LargeBinary,
            DataType::Date32,
            DataType::Null,
            DataType::Decimal128(12, 2),
            DataType::Timestamp(TimeUnit::Nanosecond, None),
            DataType::Timestamp(TimeUnit::Second, Some("Europe/Berlin".into())),
        ];
        match self.below(if depth < 4 { 16 } else { 11 }) {
            11 => DataType::List(Arc::new(self.field("item", depth))),
            12 => DataType::LargeList(Arc::new(self.field("item", depth))),
            13 => {
                let key = Field::new("key", DataType::Utf8, false);
                let entries = DataType::Struct(vec![key, self.field("value", depth)].into());
                DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
            }
            14.. => self.fields(depth),
            number => plain[number as usize].clone(),
        }
    }

    fn field(&mut self, name: &str, depth: usize) -> Field {
        Field::new(name, self.data_type(depth + 1), self.below(4) > 0)
    }

    fn fields(&mut self, depth: usize) -> DataType {
        let words = [
            "id",
            "two words",
            "at",
            "struct",
            "not",
            "quote\"s",
            "comma,",
            "列",
            "a.b",
            "<",
            "int64",
            "",
            "`",
            "null",
        ];
        let start = self.below(words.len() as u64) as usize;
        let count = self.below(5) as usize;
        let names = words.iter().cycle().skip(start).take(count);
        DataType::Struct(names.map(|name| self.field(name, depth)).collect())
    }
}

#[test]
fn printed_schemas_are_parsed_back() {
    let mut random = Random(7);
    for _ in 0..20_000 {
        let field = random.field("value", 0).with_nullable(true);
        let text = schema::print(&field);
        match schema::parse(&text) {
            Ok(parsed) => assert_eq!(parsed, field, "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn random_texts_are_a_schema_or_an_error_with_an_offset() {
    let mut random = Random(8);
    let pieces = [
        "struct", "<", ">", "list", "(", ")", "[", "]", ",", ":", "\"", "'", "at", "not null", "int64", "é", " ",
        "decimal", "39", "x",
    ];
    for _ in 0..50_000 {
        let count = random.below(12);
        let text: String = (0..count).map(|_| pieces[random.below(pieces.len() as u64) as usize]).collect();
        if let Err(error) = schema::parse(&text) {
            assert!(error.to_string().starts_with("invalid schema at byte "), "{text}: {error}");
        }
    }
    assert!(schema::parse(&"list<".repeat(100_000)).is_err());
    assert!(schema::parse(&"x struct<".repeat(100_000)).is_err());
}

#[test]
fn type_names_of_sql_duckdb_and_spark_are_read() {
    for (text, printed) in [
        ("STRUCT(a BIGINT, b VARCHAR[], c DECIMAL(10,2))", "a int64, b list<utf8>, c decimal(10, 2)"),
        ("struct<a:bigint,b:array<string>,c:map<string,double>>", "a int64, b list<utf8>, c map<utf8, float64>"),
        ("id INT NOT NULL, at TIMESTAMPTZ, d DATE", "id int32 not null, at timestamp[us, UTC], d date32"),
        ("x json, `rest` rest, c class at \"$.c\"", "x json, rest rest, c class at \"$.c\""),
        ("list<struct<a int8 not null> not null>", "list<struct<a int8 not null> not null>"),
        ("varchar(255)", "utf8"),
        // Pasted into SQL, `--` would begin a comment.
        ("--a int8, b-c int8, d--e int8", "\"--a\" int8, b-c int8, \"d--e\" int8"),
    ] {
        match schema::parse(text) {
            Ok(field) => assert_eq!(schema::print(&field), printed),
            Err(error) => panic!("{text}: {error}"),
        }
    }
}

fn infer_schema(stage: &str, blobs: &[&[u8]]) -> String {
    let mut inference = Inference::new(Stage::parse(stage).unwrap(), &Limits::default());
    inference.examine_column(&BinaryArray::from_vec(blobs.to_vec())).unwrap();
    assert_eq!(inference.bad(), 0);
    schema::print(&inference.field())
}

fn infer_schema_of_json(blobs: &[&str]) -> String {
    infer_schema("json", &blobs.iter().map(|blob| blob.as_bytes()).collect::<Vec<_>>())
}

#[test]
fn types_are_widened_without_loss() {
    for (blobs, printed) in [
        (&[r#"{"a":1}"#, r#"{"a":2.5}"#, "{}"][..], "a float64"),
        (&[r#"{"a":9007199254740993}"#, r#"{"a":2.5}"#], "a json"),
        (&[r#"{"a":1}"#, r#"{"a":18446744073709551615}"#], "a uint64"),
        (&[r#"{"a":-1}"#, r#"{"a":18446744073709551615}"#], "a decimal(38, 0)"),
        (&[r#"{"a":340282366920938463463374607431768211456}"#], "a json"),
        (&[r#"{"a":1}"#, r#"{"a":"x"}"#, r#"{"a":null}"#], "a utf8"),
        (&[r#"{"a":[1,"x"]}"#, r#"{"a":[]}"#, r#"{"a":null}"#], "a list<utf8>"),
        (&[r#"{"a":[1,[2]]}"#], "a list<json>"),
        (
            &[r#"{"a":{"b":true}}"#, r#"{"a":{}}"#, r#"{"a":{"c":[{"d":1}]}}"#],
            "a struct<b bool, c list<struct<d int64>>>",
        ),
        (&[r#"{"a":[]}"#, "null"], "a json"),
        (&["[1,2]", "[null]"], "list<int64>"),
        (&["1", "\"x\""], "utf8"),
        (&[r#"{"a":1}"#, "[2]"], "json"),
    ] {
        assert_eq!(infer_schema_of_json(blobs), printed);
    }
    let many: Vec<String> =
        (0..200).map(|number| format!(r#"{{"user{number}":{number},"user{}":null}}"#, number + 1)).collect();
    assert_eq!(infer_schema_of_json(&many.iter().map(String::as_str).collect::<Vec<_>>()), "map<utf8, int64>");
    let wide = format!("{{{}}}", (0..200).map(|number| format!("\"c{number}\":1")).collect::<Vec<_>>().join(","));
    assert!(infer_schema_of_json(&[&wide, &wide]).starts_with("c0 int64, c1 int64"));
}

#[test]
fn classes_become_a_column_and_known_classes_a_type() {
    let user = b"O:4:\"User\":2:{s:7:\"\0*\0name\";s:3:\"Bob\";s:2:\"at\";O:8:\"DateTime\":3:{s:4:\"date\";s:26:\"2026-02-02 03:40:00.500000\";s:13:\"timezone_type\";i:3;s:8:\"timezone\";s:13:\"Europe/Berlin\";}}";
    assert_eq!(infer_schema("php", &[user]), "_class class, name utf8, at timestamp[us, UTC]");
    // Marshal.dump(Date.new(2026, 2, 2))
    let date = b"\x04\x08U:\x09Date[\x0bi\x00i\x03\x92\x8d%i\x00i\x00i\x00f\x0c2299161";
    assert_eq!(infer_schema("marshal", &[date]), "date32");
}
