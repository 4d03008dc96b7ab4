//! Random rows in every format, in random slices: the columns contain the values of the rows.

use crate::random_numbers::Random;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, BinaryArray, LargeBinaryArray};
use arrow_schema::{DataType, Field, Fields};
use icecore::{Builder, Limits, Stage};
use icecore_columns::{Decoder, OnError, Options};
use std::sync::Arc;

#[derive(Debug, Default)]
struct Row {
    id: Option<i64>,
    name: Option<String>,
    score: Option<f64>,
    is_good: Option<bool>,
    tags: Option<Vec<Option<i32>>>,
    city: Option<Option<String>>,
}

impl Row {
    fn random(random: &mut Random) -> Row {
        let text = |random: &mut Random| {
            let count = random.below(30);
            (0..count).map(|_| ['a', 'Z', ' ', '"', '\'', 'é', '雪', '1'][random.below(8) as usize]).collect::<String>()
        };
        Row {
            id: random.maybe(|random| random.below(1 << 31) as i64 * [1, -1, 1 << 31][random.below(3) as usize]),
            name: random.maybe(text),
            // Never whole: text formats don't distinguish whole floats from integers.
            score: random.maybe(|random| random.below(1000) as f64 + 0.25),
            is_good: random.maybe(|random| random.below(2) == 1),
            tags: random.maybe(|random| {
                let count = random.below(4);
                (0..count).map(|_| random.maybe(|random| random.below(100) as i32)).collect()
            }),
            city: random.maybe(|random| random.maybe(text)),
        }
    }

    /// Returns its bytes in this stage: keys in any order, with some that no field has.
    fn blob(&self, stage: &Stage, random: &mut Random) -> Vec<u8> {
        let mut builder = Builder::new();
        builder.begin_map();
        let first = random.below(8);
        for index in 0..8 {
            match (index + first) % 8 {
                0 => drop(self.id.map(|id| builder.text_key("id").int(id).at())),
                1 => drop(self.name.as_ref().map(|name| builder.text_key("name").text(name).at())),
                2 => drop(self.score.map(|score| builder.text_key("score").float(score).at())),
                3 => drop(self.is_good.map(|good| builder.text_key("good").bool(good).at())),
                4 => {
                    if let Some(tags) = &self.tags {
                        builder.text_key("tags").begin_array();
                        for tag in tags {
                            let _ = match tag {
                                Some(tag) => builder.int(i64::from(*tag)),
                                None => builder.null(),
                            };
                        }
                        builder.end();
                    }
                }
                5 => {
                    if let Some(city) = &self.city {
                        builder.text_key("address").begin_map();
                        if let Some(city) = city {
                            builder.text_key("city").text(city);
                        }
                        builder.text_key("more").int(1);
                        builder.end();
                    }
                }
                _ if random.below(2) == 0 => drop(builder.text_key(&format!("x{}", random.below(500))).text("?").at()),
                _ => {}
            }
        }
        builder.end();
        let mut blob = Vec::new();
        let document = builder.finish().expect("a document");
        icecore::write_to(&document, stage, &Limits::default(), &mut blob).expect("written");
        blob
    }
}

fn fields() -> Fields {
    let address = DataType::Struct(vec![Field::new("city", DataType::Utf8, true)].into());
    vec![
        Field::new("id", DataType::Int64, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("score", DataType::Float64, true),
        Field::new("good", DataType::Boolean, true),
        Field::new("tags", DataType::List(Arc::new(Field::new("item", DataType::Int32, true))), true),
        Field::new("address", address, true),
    ]
    .into()
}

fn row(fields: &Fields) -> Field {
    Field::new("row", DataType::Struct(fields.clone()), true)
}

#[test]
fn columns_have_the_values_of_random_rows() {
    for name in ["json", "php", "sereal", "igbinary", "marshal", "storable"] {
        let stage = Stage::parse(name).expect("a stage");
        let mut random = Random(name.len() as u64);
        let mut options = Options::default();
        options.on_error = OnError::Null;
        let mut decoder = Decoder::new(Stage::of(stage.format()), &row(&fields()), options).expect("a decoder");
        for round in 0..60 {
            let count = random.below(60) as usize;
            let rows: Vec<Option<Row>> = (0..count).map(|_| random.maybe(Row::random)).collect();
            // Bad blobs are mixed with good ones.
            let blobs: Vec<Option<Vec<u8>>> = rows
                .iter()
                .map(|row| {
                    let row = row.as_ref()?;
                    Some(if random.below(9) == 0 { b"\xff?".to_vec() } else { row.blob(&stage, &mut random) })
                })
                .collect();
            let start = random.below(count as u64 + 1) as usize;
            let len = random.below((count - start) as u64 + 1) as usize;
            let blobs: Vec<Option<&[u8]>> = blobs.iter().map(Option::as_deref).collect();
            let decoded = match round % 2 {
                0 => decoder.decode(&BinaryArray::from(blobs.clone()).slice(start, len)),
                _ => decoder.decode(&LargeBinaryArray::from(blobs.clone()).slice(start, len)),
            };
            let decoded = decoded.expect("decoded");
            let bad: Vec<usize> = (0..len).filter(|row| blobs[start + row] == Some(b"\xff?")).collect();
            assert_eq!(decoded.bad.iter().map(|bad| bad.row).collect::<Vec<_>>(), bad, "{name}: {:?}", decoded.bad);
            for row in 0..len {
                let is_there = rows[start + row].is_some() && !bad.contains(&row);
                assert_eq!(decoded.column.is_valid(row), is_there);
                let none = Row::default();
                let expected = rows[start + row].as_ref().filter(|_| is_there).unwrap_or(&none);
                let column = |index: usize| decoded.column.as_struct().column(index);
                let valid = |index: usize| column(index).is_valid(row);
                let context = || format!("{name}, row {row}: {expected:?}");
                let id = valid(0).then(|| column(0).as_primitive::<Int64Type>().value(row));
                assert_eq!(id, expected.id, "{}", context());
                let text = valid(1).then(|| column(1).as_string::<i32>().value(row));
                assert_eq!(text, expected.name.as_deref(), "{}", context());
                assert_eq!(valid(2).then(|| column(2).as_primitive::<Float64Type>().value(row)), expected.score);
                assert_eq!(valid(3).then(|| column(3).as_boolean().value(row)), expected.is_good, "{}", context());
                let tags = valid(4).then(|| {
                    let items = column(4).as_list::<i32>().value(row);
                    items.as_primitive::<Int32Type>().iter().collect::<Vec<_>>()
                });
                assert_eq!(tags, expected.tags, "{}", context());
                let city = valid(5).then(|| {
                    let cities = column(5).as_struct().column(0).as_string::<i32>();
                    cities.is_valid(row).then(|| cities.value(row).to_owned())
                });
                assert_eq!(city, expected.city, "{}", context());
            }
        }
    }
}
