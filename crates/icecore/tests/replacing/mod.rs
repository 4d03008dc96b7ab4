//! Changes that the tests make: replacing one text with another.

#![allow(dead_code)]

use icecore::Stage;
use icecore::rewrite::{self, Change, Edits, Rewriting, StringRole, Tally};

/// Replaces one text with another.
pub struct Pair {
    pub old: Vec<u8>,
    pub new: Vec<u8>,
    /// Longest part of the old text that is the same in any escaping.
    pub plain: Vec<u8>,
    /// Number of strings that were checked.
    pub asked: u64,
}

impl Pair {
    pub fn new(old: &[u8], new: &[u8]) -> Pair {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        let runs = old.split(|byte| !is_plain(byte));
        let plain = runs.max_by_key(|run| run.len()).unwrap_or_default().to_vec();
        Pair { old: old.to_vec(), new: new.to_vec(), plain, asked: 0 }
    }

    /// Returns the reverse replacement.
    pub fn back(&self) -> Pair {
        Pair::new(&self.new, &self.old)
    }
}

pub fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    (!part.is_empty()).then(|| text.windows(part.len()).position(|window| window == part)).flatten()
}

impl Change for Pair {
    fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
        self.asked += 1;
        let mut from = 0;
        while let Some(at) = find(&text[from..], &self.old) {
            edits.push(from + at, from + at + self.old.len(), &self.new);
            from += at + self.old.len();
        }
    }

    fn may_change(&self, raw: &[u8]) -> bool {
        self.plain.is_empty() || find(raw, &self.plain).is_some()
    }
}

/// Returns a value after the replacement.
pub fn value(bytes: &[u8], pair: &mut Pair) -> (Vec<u8>, Tally) {
    with(bytes, pair, &Rewriting::default())
}

pub fn with(bytes: &[u8], pair: &mut Pair, options: &Rewriting) -> (Vec<u8>, Tally) {
    let mut tally = Tally::default();
    let edits = rewrite::value(bytes, pair, options, &mut tally);
    (edits.apply(bytes), tally)
}

/// Returns a document after the replacement.
pub fn document(bytes: &[u8], stage: &str, pair: &mut Pair) -> Result<(Vec<u8>, Tally), icecore::Error> {
    let mut tally = Tally::default();
    let stage = Stage::parse(stage)?;
    let edits = rewrite::document(bytes, &stage, pair, &Rewriting::default(), &mut tally)?;
    Ok((edits.apply(bytes), tally))
}
