//! Values on paths: skimming gives what reading all gives.

use crate::choice;
use icecore::raw::Input;
use icecore::select::{self, Pattern, Skimmed};
use icecore::{Document, Limits, Stage};

/// Paths that most documents have something on, and some that few have.
const PATHS: &[&str] = &[
    "$",
    "$[0]",
    "$[1]",
    "$[-1]",
    "$[*]",
    "$.*.*",
    "$[1:3]",
    "$[-2:]",
    "$[0][0]",
    "$[*][*]",
    "$.a",
    "$.name",
    "$[*].a",
    "$.a.b",
    "$.a[0]",
    "$[\"\"]",
    "$[0].*",
    "$[*][-1]",
    "$.list[*]",
    "..a",
    "$.*[1:].*",
];

/// The formats that are skimmed.
const FORMATS: &[&str] = &["php", "json", "storable", "sereal", "igbinary", "marshal"];

type Answers = Vec<(String, Document<'static>)>;

/// Skims the bytes as each format, and reads them; what is found must be the same.
pub fn select(data: &[u8]) {
    let limits = Limits::default();
    let number = choice(data) as usize;
    let path = PATHS[number % PATHS.len()];
    let pattern = Pattern::parse(path).expect("a path");
    for format in FORMATS {
        let stage = Stage::parse(format).expect("a stage");
        let mut answers = Answers::new();
        let skimmed = select::skim(Input::Bytes(data), &stage, &pattern, &limits, &mut |path, document| {
            answers.push((path.to_owned(), document.clone().into_owned()));
            Ok(())
        });
        let skimmed = skimmed.expect("nobody refuses an answer");
        // What is wrong behind an answer is not looked at.
        let Ok(document) = icecore::read_as(data, &stage, &limits) else { continue };
        let mut expected = Answers::new();
        let read = select::within(&document, &pattern, &limits, 0, &mut |path, document| {
            expected.push((path.to_owned(), document.clone().into_owned()));
            Ok(())
        });
        if read.is_err() {
            continue;
        }
        if let Skimmed::All(count) = skimmed {
            assert_eq!(count, expected.len() as u64, "{format} {path}: another number of values");
        }
        assert!(answers.len() <= expected.len(), "{format} {path}: more values than there are");
        for (answer, expected) in answers.iter().zip(&expected) {
            assert_eq!(answer.0, expected.0, "{format} {path}: another path");
            assert!(answer.1 == expected.1, "{format} {path}: another value at {}", answer.0);
        }
    }
}
