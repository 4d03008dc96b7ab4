//! Changes strings inside documents: a readable document remains readable, and without a change the bytes stay the
//! same.

use icecore::rewrite::{self, Change, Edits, Rewriting, StringRole, Tally};
use icecore::{Limits, Request, Stage};

/// Replaces some letters by this text.
struct LetterReplacer(&'static [u8]);

impl Change for LetterReplacer {
    fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
        for (offset, _) in text.iter().enumerate().filter(|(_, byte)| b"aeios".contains(byte)) {
            assert!(edits.push(offset, offset + 1, self.0));
        }
    }
}

/// Changes nothing.
struct NoChange;

impl Change for NoChange {
    fn change_text(&mut self, _: &[u8], _: StringRole, _: &mut Edits) {}
}

const STAGES: [&str; 10] =
    ["php", "json", "php-session", "var-export", "dumper", "ndjson", "igbinary", "marshal", "storable", "sereal"];

pub fn rewrite(data: &[u8]) {
    let choice = crate::choice_from_bytes(data);
    let mut options = Rewriting::default();
    options.limits.decompressed = 1 << 20;
    let edits = rewrite::value(data, &mut NoChange, &options, &mut Tally::default());
    assert!(edits.is_empty(), "{edits:?}");
    let new: &[u8] = [&b"xyz"[..], b"", b"Q", b"\"'\\/"][choice as usize % 4];
    for stage in STAGES {
        let stage = Stage::parse(stage).expect("a stage");
        let edits = rewrite::document(data, &stage, &mut NoChange, &options, &mut Tally::default());
        assert!(edits.is_ok_and(|edits| edits.is_empty()) || !can_read(data, &stage), "{}", stage.name());
        let Ok(edits) = rewrite::document(data, &stage, &mut LetterReplacer(new), &options, &mut Tally::default())
        else {
            continue;
        };
        assert_edits_fit(&edits, data);
        if can_read(data, &stage) {
            assert!(can_read(&edits.apply(data), &stage), "{} of {}", stage.name(), data.escape_ascii());
        }
    }
    (options.keys, options.classes, options.base64) = (choice & 8 != 0, choice & 16 != 0, choice & 32 != 0);
    options.repair = choice & 64 != 0;
    assert_edits_fit(&rewrite::value(data, &mut LetterReplacer(new), &options, &mut Tally::default()), data);
}

fn assert_edits_fit(edits: &Edits, data: &[u8]) {
    let mut last_end = 0;
    for edit in edits.iter() {
        assert!(last_end <= edit.start && edit.start <= edit.end && edit.end <= data.len());
        last_end = edit.end;
    }
}

fn can_read(data: &[u8], stage: &Stage) -> bool {
    let mut limits = Limits::default();
    limits.decompressed = 1 << 20;
    icecore::read_with(data, stage, Request::new(&limits)).is_ok()
}
