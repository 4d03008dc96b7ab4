//! Searches values on paths. Skimming finds the same values as reading everything.

use crate::choice_from_bytes;
use icecore::raw::Input;
use icecore::select::{self, Pattern, Skimmed, Source};
use icecore::{Document, Limits, Stage};

/// Paths that exist in most documents, and some that exist in few.
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

/// The formats that can be skimmed.
const FORMATS: &[&str] = &["php", "json", "storable", "sereal", "igbinary", "marshal"];

/// Values with their paths.
type FoundValues = Vec<(String, Document<'static>)>;

/// A source that prefers to load parts of a given size.
struct Parts<'b> {
    bytes: &'b [u8],
    part_len: usize,
}

impl Source for Parts<'_> {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn load_into(&mut self, offset: u64, to: &mut [u8]) -> bool {
        let start = offset as usize;
        let part = self.bytes.get(start..start.saturating_add(to.len()));
        part.map(|part| to.copy_from_slice(part)).is_some()
    }

    fn preferred_len(&self) -> usize {
        self.part_len
    }
}

fn skim_values(input: Input<'_>, stage: &Stage, pattern: &Pattern, limits: &Limits) -> (FoundValues, Skimmed) {
    let mut answers = FoundValues::new();
    let skimmed = select::skim(input, stage, pattern, limits, &mut |path, document| {
        answers.push((path.to_owned(), document.clone().into_owned()));
        Ok(())
    });
    (answers, skimmed.expect("nobody refuses an answer"))
}

/// Skims the bytes in each format, at once and in small parts, and reads them. The results must be the same.
pub fn select(data: &[u8]) {
    let limits = Limits::default();
    let number = choice_from_bytes(data) as usize;
    let path = PATHS[number % PATHS.len()];
    let pattern = Pattern::parse(path).expect("a path");
    for format in FORMATS {
        let stage = Stage::parse(format).expect("a stage");
        let (answers, skimmed) = {
            let at_once = skim_values(Input::Bytes(data), &stage, &pattern, &limits);
            let mut parts = Parts { bytes: data, part_len: 1 + number % 40 };
            let in_parts = skim_values(Input::Source(&mut parts), &stage, &pattern, &limits);
            assert!(at_once == in_parts, "{format} {path}: parts of {} give something else", parts.part_len);
            at_once
        };
        // Skimming does not examine what follows an answer, so a document with errors there can't be compared.
        let Ok(document) = icecore::read_as(data, &stage, &limits) else { continue };
        let mut expected = FoundValues::new();
        let result = select::within(&document, &pattern, &limits, 0, &mut |path, document| {
            expected.push((path.to_owned(), document.clone().into_owned()));
            Ok(())
        });
        if result.is_err() {
            continue;
        }
        if let Skimmed::Complete(count) = skimmed {
            assert_eq!(count, expected.len() as u64, "{format} {path}: another number of values");
        }
        assert!(answers.len() <= expected.len(), "{format} {path}: more values than there are");
        for (answer, expected) in answers.iter().zip(&expected) {
            assert_eq!(answer.0, expected.0, "{format} {path}: another path");
            assert!(answer.1 == expected.1, "{format} {path}: another value at {}", answer.0);
        }
    }
}
