//! The fixtures as rows: the kernel next to the scalar path, and damaged rows among good ones.

use crate::fixtures;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray};
use icecore::{Limits, Stage};
use icecore_columns::{Decoder, Inference, OnError, Options, schema};

const FILES: [(&str, &str); 6] = [
    ("php.jsonl", "php"),
    ("igbinary.jsonl", "igbinary"),
    ("storable.jsonl", "storable"),
    ("sereal.jsonl", "sereal"),
    ("marshal.jsonl", "marshal"),
    ("marshal-known.jsonl", "marshal"),
];

fn lenient() -> Options {
    let mut options = Options::default();
    options.on_error = OnError::Null;
    options
}

/// Returns the blobs of a file that have this stage, except those of several megabytes.
fn blobs(file: &str) -> Vec<(String, Vec<u8>)> {
    let all = fixtures::load(file).into_iter().map(|fixture| (fixture.name, fixture.blob));
    all.filter(|(_, blob)| blob.len() < 1 << 16).collect()
}

fn as_json(blob: &[u8], stage: &Stage) -> Result<String, icecore::Error> {
    let document = icecore::read_as(blob, stage, &Limits::default())?;
    let mut text = Vec::new();
    icecore::write_to(&document, &Stage::parse("json")?, &Limits::default(), &mut text)?;
    Ok(String::from_utf8(text).expect("JSON is UTF-8"))
}

#[test]
fn fixtures_as_json_equal_the_scalar_conversion() {
    let field = schema::parse("json").unwrap();
    for (file, name) in FILES {
        let stage = Stage::parse(name).unwrap();
        let blobs = blobs(file);
        let column = BinaryArray::from_iter_values(blobs.iter().map(|(_, blob)| blob));
        let decoded = Decoder::new(stage.clone(), &field, lenient()).unwrap().decode(&column).unwrap();
        let (texts, errors) = (decoded.column.as_string::<i32>(), decoded.errors());
        let mut good_count = 0;
        for (row, (name, blob)) in blobs.iter().enumerate() {
            match as_json(blob, &stage) {
                Ok(text) if text == "null" => assert!(texts.is_null(row) && errors.is_null(row), "{name}"),
                Ok(text) => {
                    assert!(errors.is_null(row), "{name}: {}", errors.value(row));
                    assert_eq!(texts.value(row), text, "{name}");
                    good_count += 1;
                }
                Err(error) => assert!(errors.is_valid(row), "{name}: {error}"),
            }
        }
        assert!(good_count * 3 > blobs.len(), "{file}: {good_count} of {}", blobs.len());
    }
}

#[test]
fn a_schema_inferred_from_a_fixture_decodes_it() {
    for (file, name) in FILES {
        let stage = Stage::parse(name).unwrap();
        for (name, blob) in blobs(file) {
            let mut inference = Inference::new(stage.clone(), &Limits::default());
            inference.look(&blob);
            let field = inference.field();
            let column = BinaryArray::from_vec(vec![&blob]);
            let decoded = Decoder::new(stage.clone(), &field, lenient()).unwrap().decode(&column).unwrap();
            let (is_read, is_said) = (inference.bad() == 0, as_json(&blob, &stage).is_ok());
            assert!(
                decoded.bad.is_empty() || !is_read || !is_said,
                "{name}: {}: {}",
                schema::print(&field),
                decoded.bad[0].error
            );
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    fn damaged(&mut self, blob: &[u8]) -> Vec<u8> {
        let mut blob = blob.to_vec();
        for _ in 0..=self.below(3) {
            let offset = self.below(blob.len());
            match self.below(4) {
                0 => blob.truncate(offset),
                1 => blob.insert(offset, self.below(256) as u8),
                2 => drop(blob.splice(offset..offset, [0xff; 8])),
                _ => blob.get_mut(offset).into_iter().for_each(|byte| *byte ^= 1 << self.below(8)),
            }
        }
        blob
    }
}

#[test]
fn damaged_rows_do_not_affect_their_neighbours() {
    let mut random = Random(23);
    for (file, name) in FILES {
        let stage = Stage::parse(name).unwrap();
        for (name, blob) in blobs(file).into_iter().filter(|(_, blob)| blob.len() < 4096) {
            let mut inference = Inference::new(stage.clone(), &Limits::default());
            inference.look(&blob);
            let field = inference.field();
            let mut decoder = Decoder::new(stage.clone(), &field, lenient()).unwrap();
            let alone = decoder.decode(&BinaryArray::from_vec(vec![&blob])).unwrap();
            let damaged: Vec<Vec<u8>> = (0..8).map(|_| random.damaged(&blob)).collect();
            let rows = damaged.iter().flat_map(|damaged| [damaged.as_slice(), &blob]);
            let decoded = decoder.decode(&BinaryArray::from_iter_values(rows)).unwrap();
            for row in (1..16).step_by(2) {
                assert_eq!(decoded.column.slice(row, 1).as_ref(), alone.column.as_ref(), "{name}, row {row}");
            }
            // An accepted row equals the same row decoded alone; a refused row has an error.
            for (index, damaged) in damaged.iter().enumerate() {
                let second = decoder.decode(&BinaryArray::from_vec(vec![damaged])).unwrap();
                let bad = decoded.bad.iter().find(|bad| bad.row == 2 * index);
                assert_eq!(
                    bad.map(|bad| bad.error.to_string()),
                    second.bad.first().map(|bad| bad.error.to_string()),
                    "{name}"
                );
                assert_eq!(decoded.column.slice(2 * index, 1).as_ref(), second.column.as_ref(), "{name}");
            }
        }
    }
}
