//! What differs between two documents, and the patch of it.

use crate::{check, choice};
use icecore::{Document, Request, Stage};
use icecore_diff::{Patch, Rules, differences};

const FORMATS: &[&str] = &["json:typed", "json", "storable", "sereal", "php", "igbinary", "marshal"];

/// A document does not differ from itself. What differs between it and one of which a byte was
/// changed can be written, read and applied or refused; so can a difference that is made up.
/// That a patch gives the other document is tested on whole ones (`icecore-diff`): of damaged ones
/// it does not hold always, see the open findings in README.md.
pub fn diff(data: &[u8]) {
    let limits = check::limits();
    let chosen = choice(data) as usize;
    let mut changed = data.to_vec();
    if let Some(byte) = chosen.checked_rem(data.len()).and_then(|at| changed.get_mut(at)) {
        *byte = byte.wrapping_add(1 + (chosen >> 8) as u8 % 7);
    }
    for format in FORMATS {
        let stage = Stage::parse(format).expect("a stage");
        let read = |bytes| -> Option<Document<'_>> {
            let outcome = stage.format().read(bytes, stage.settings(), Request::new(&limits).detailed());
            outcome.error.is_none().then_some(outcome.document)
        };
        let Some(left) = read(data) else { continue };
        let right = read(&changed);
        for rules in [Rules::new(), Rules::new().across(), Rules::new().exact()] {
            assert!(differences(&left, &left, rules).is_empty(), "it differs from itself");
            right.iter().for_each(|right| patched(&left, right, rules));
        }
        if let Ok(patch) = Patch::read(data, &limits) {
            let _ = patch.apply(&left).map_err(|refusal| refusal.to_string());
        }
    }
}

fn patched(left: &Document<'_>, right: &Document<'_>, rules: Rules) {
    let wide = check::wide_limits();
    let found = differences(left, right, rules);
    assert_eq!(found.paths().len(), found.changes().len());
    let json = found.to_json(&wide).unwrap_or_else(|error| panic!("{error}\n{left:?}\n{right:?}"));
    let text = || String::from_utf8_lossy(&json).into_owned();
    let patch = Patch::read(&json, &wide).unwrap_or_else(|error| panic!("{error}\n{}", text()));
    let _ = patch.apply(left).map_err(|refusal| refusal.to_string());
}
