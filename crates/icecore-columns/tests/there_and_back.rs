//! Random documents: a type is learned from them, they become a column of it, and then documents
//! again that mean the same.

use arrow_array::{Array, BinaryArray};
use icecore::{Limits, Stage};
use icecore_columns::{Decoder, Encoder, Inference, Options, schema};
use serde_json::{Map, Value, json};

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn text(&mut self) -> String {
        let count = self.below(12);
        (0..count)
            .map(|_| ['a', 'Z', ' ', '"', '\'', 'é', '雪', '1', '\\', '\n', '\0'][self.below(11) as usize])
            .collect()
    }
}

/// The kind of values that a field has.
enum ValueKind {
    Bool,
    Int(u32),
    Float,
    Text,
    List(Box<ValueKind>),
    Struct(Vec<(String, ValueKind)>),
    Keyed(Box<ValueKind>),
    Anything,
}

impl ValueKind {
    fn random(random: &mut Random, depth: u32) -> ValueKind {
        match random.below(if depth < 4 { 12 } else { 7 }) {
            0 => ValueKind::Bool,
            1 | 2 => ValueKind::Int(random.below(63) as u32),
            3 => ValueKind::Float,
            4 | 5 => ValueKind::Text,
            6 => ValueKind::Anything,
            7 | 8 => ValueKind::List(Box::new(ValueKind::random(random, depth + 1))),
            9 => ValueKind::Keyed(Box::new(ValueKind::random(random, depth + 1))),
            _ => {
                let names = ["id", "name", "tags", "x y", "é", "_class", "0"];
                let count = random.below(6) as usize;
                ValueKind::Struct(
                    names
                        .iter()
                        .take(count)
                        .map(|name| ((*name).to_owned(), ValueKind::random(random, depth + 1)))
                        .collect(),
                )
            }
        }
    }

    fn value(&self, random: &mut Random, depth: u32) -> Value {
        match self {
            _ if random.below(12) == 0 => Value::Null,
            // Sometimes the value is of another kind.
            _ if depth > 0 && random.below(150) == 0 => ValueKind::random(random, 3).value(random, depth - 1),
            ValueKind::Bool => json!(random.below(2) == 1),
            ValueKind::Int(bits) => {
                let value = (random.below(1 << 31) << 31 | random.below(1 << 31)) as i64 >> (62 - bits.min(&62));
                json!(if random.below(3) == 0 { -value } else { value })
            }
            ValueKind::Float => json!((random.below(2_000_000) as f64 - 1e6) / 64.0),
            ValueKind::Text => json!(random.text()),
            ValueKind::List(items) => (0..random.below(4)).map(|_| items.value(random, depth)).collect(),
            ValueKind::Struct(fields) => {
                let mut map = Map::new();
                for (name, like) in fields {
                    if random.below(5) > 0 {
                        map.insert(name.clone(), like.value(random, depth));
                    }
                }
                Value::Object(map)
            }
            ValueKind::Keyed(values) => {
                (0..random.below(4)).map(|_| (format!("k{}", random.below(300)), values.value(random, depth))).collect()
            }
            ValueKind::Anything => match random.below(4) {
                0 => json!([random.below(9), random.text()]),
                1 => json!({ "a": random.text(), "b": [{}, [], null, 1.5] }),
                2 => json!(u64::MAX - random.below(9)),
                _ => json!(random.text()),
            },
        }
    }
}

/// Removes the differences that columns do not keep: missing and null, empty lists and empty maps,
/// numbers and their texts.
fn simplify(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => json!({}),
        // PHP has one kind of array.
        Value::Object(map)
            if !map.is_empty() && map.keys().enumerate().all(|(index, key)| *key == index.to_string()) =>
        {
            simplify(&Value::Array(map.values().cloned().collect()))
        }
        Value::Array(items) => items.iter().map(simplify).collect(),
        Value::Object(map) => {
            let entries = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(entries.map(|(key, value)| (key.clone(), simplify(value))).collect())
        }
        Value::Number(number) => match number.as_f64().filter(|float| float.abs() < 9e15 && float.fract() == 0.0) {
            Some(whole) => json!(format!("{whole:.0}").replace("-0", "0")),
            None => json!(number.to_string()),
        },
        Value::String(text) => json!(text),
        other => other.clone(),
    }
}

fn blob(json: &Value, stage: &Stage) -> Vec<u8> {
    let text = json.to_string();
    let mut blob = Vec::new();
    let document = icecore::read_as(text.as_bytes(), &Stage::parse("json").unwrap(), &Limits::default()).unwrap();
    icecore::write_to(&document, stage, &Limits::default(), &mut blob).unwrap();
    blob
}

fn read_as_json(blob: &[u8], stage: &Stage) -> Value {
    let document = icecore::read_as(blob, stage, &Limits::default()).unwrap();
    let mut text = Vec::new();
    icecore::write_to(&document, &Stage::parse("json").unwrap(), &Limits::default(), &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn values_round_trip_through_their_inferred_column() {
    let rounds: u64 = std::env::var("ICECORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(150);
    for name in ["json", "php", "sereal", "igbinary", "marshal", "storable"] {
        let stage = Stage::of(Stage::parse(name).unwrap().format());
        for round in 0..rounds {
            let mut random = Random(round << 8 | name.len() as u64);
            let like = ValueKind::random(&mut random, 0);
            let count = 1 + random.below(40) as usize;
            let values: Vec<Value> = (0..count).map(|_| like.value(&mut random, 2)).collect();
            let blobs: Vec<Vec<u8>> = values.iter().map(|value| blob(value, &stage)).collect();
            let column = BinaryArray::from_iter_values(&blobs);
            let mut inference = Inference::new(stage.clone(), &Limits::default());
            inference.examine_column(&column).unwrap();
            let field = inference.field();
            let context = || format!("{name}, round {round}, {}", schema::print(&field));
            let decoded = Decoder::new(stage.clone(), &field, Options::default()).unwrap().decode(&column);
            let rows = decoded.unwrap_or_else(|error| panic!("{}: {error}", context())).column;
            let encoded = Encoder::new(stage.clone(), &field, Options::default()).unwrap().encode(rows.as_ref());
            let encoded_column = encoded.unwrap_or_else(|error| panic!("{}: {error}", context())).column;
            for (row, blob) in blobs.iter().enumerate() {
                let value = read_as_json(blob, &stage);
                let encoded_column = if encoded_column.is_null(row) {
                    Value::Null
                } else {
                    read_as_json(encoded_column.value(row), &stage)
                };
                assert_eq!(simplify(&value), simplify(&encoded_column), "{}, row {row}: {value}", context());
            }
            // With the same type, nothing changes any more, except that Perl may write `6897.0`
            // differently.
            let redecoded =
                Decoder::new(stage.clone(), &field, Options::default()).unwrap().decode(&encoded_column).unwrap();
            let is_told = schema::print(&field).contains("json");
            assert!(is_told || redecoded.column.as_ref() == rows.as_ref(), "{}", context());
        }
    }
}
