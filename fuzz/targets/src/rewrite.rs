//! Changes strings inside documents: a readable document remains readable, and without a change the bytes stay the
//! same.

use icecore::rewrite::{self, Change, Edits, Rewriting, StringRole, Tally};
use icecore::{Limits, Request, Stage};

/// Replaces some letters.
struct Letters(&'static [u8]);

impl Change for Letters {
    fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
        for (at, _) in text.iter().enumerate().filter(|(_, byte)| b"aeios".contains(byte)) {
            assert!(edits.push(at, at + 1, self.0));
        }
    }
}

/// Changes nothing.
struct Nothing;

impl Change for Nothing {
    fn change_text(&mut self, _: &[u8], _: StringRole, _: &mut Edits) {}
}

const STAGES: [&str; 10] =
    ["php", "json", "php-session", "var-export", "dumper", "ndjson", "igbinary", "marshal", "storable", "sereal"];

pub fn rewrite(data: &[u8]) {
    let choice = crate::choice(data);
    let mut how = Rewriting::default();
    how.limits.decompressed = 1 << 20;
    let nothing = rewrite::value(data, &mut Nothing, &how, &mut Tally::default());
    assert!(nothing.is_empty(), "{nothing:?}");
    let new: &[u8] = [&b"xyz"[..], b"", b"Q", b"\"'\\/"][choice as usize % 4];
    for stage in STAGES {
        let stage = Stage::parse(stage).expect("a stage");
        let nothing = rewrite::document(data, &stage, &mut Nothing, &how, &mut Tally::default());
        assert!(nothing.is_ok_and(|edits| edits.is_empty()) || !reads(data, &stage), "{}", stage.name());
        let Ok(edits) = rewrite::document(data, &stage, &mut Letters(new), &how, &mut Tally::default()) else {
            continue;
        };
        fits(&edits, data);
        if reads(data, &stage) {
            assert!(reads(&edits.apply(data), &stage), "{} of {}", stage.name(), data.escape_ascii());
        }
    }
    (how.keys, how.classes, how.base64) = (choice & 8 != 0, choice & 16 != 0, choice & 32 != 0);
    how.mend = choice & 64 != 0;
    fits(&rewrite::value(data, &mut Letters(new), &how, &mut Tally::default()), data);
}

fn fits(edits: &Edits, data: &[u8]) {
    let mut last = 0;
    for edit in edits.iter() {
        assert!(last <= edit.start && edit.start <= edit.end && edit.end <= data.len());
        last = edit.end;
    }
}

fn reads(data: &[u8], stage: &Stage) -> bool {
    let mut limits = Limits::default();
    limits.decompressed = 1 << 20;
    icecore::read_with(data, stage, Request::new(&limits)).is_ok()
}
