//! Finds the differences between two documents, and applies them as a patch.

use crate::{check, choice_from_bytes};
use icecore::{Document, Request, Stage, raw::IS_KEY};
use icecore_diff::{Patch, Rules, find_differences};

const FORMATS: &[&str] = &["json:typed", "json", "storable", "sereal", "php", "igbinary", "marshal"];

/// Checks that a document does not differ from itself, that the patch between it and a document with one changed byte
/// turns the first into the second, and that an arbitrary patch is applied or refused.
pub fn diff(data: &[u8]) {
    let limits = check::small_limits();
    let chosen = choice_from_bytes(data) as usize;
    let mut changed = data.to_vec();
    if let Some(byte) = chosen.checked_rem(data.len()).and_then(|index| changed.get_mut(index)) {
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
        for rules in [Rules::new(), Rules::new().across_formats(), Rules::new().exact()] {
            assert!(find_differences(&left, &left, rules).is_empty(), "it differs from itself");
            let right = right.as_ref().filter(|right| !has_key_in_circle(&left) && !has_key_in_circle(right));
            right.into_iter().for_each(|right| check_patch(&left, right, rules));
        }
        if let Ok(patch) = Patch::read(data, &limits) {
            let _ = patch.apply(&left).map_err(|refusal| refusal.to_string());
        }
    }
}

/// Returns true if a map has a key that is a link to a value around it, or contains such a link. A patch can't
/// express such a key.
fn has_key_in_circle(document: &Document<'_>) -> bool {
    let (mut key, mut end) = (0, 0);
    (0u32..).zip(document.nodes()).any(|(index, node)| {
        if node.key == IS_KEY && index >= end {
            (key, end) = (index, if node.kind.is_container() { node.end() } else { index + 1 });
        }
        let target = document.at(index).map_or(index, |link| link.target().index());
        let is_scalar = document.at(target).is_some_and(|target| !target.kind().is_container());
        index < end && node.kind.is_again() && !is_scalar && !(key..index).contains(&target)
    })
}

/// Checks that the differences, written as a patch and read again, change the first document into the second.
fn check_patch(left: &Document<'_>, right: &Document<'_>, rules: Rules) {
    let wide = check::wide_limits();
    let differences = find_differences(left, right, rules);
    assert_eq!(differences.list_paths().len(), differences.changes().len());
    let json = differences.to_json(&wide).unwrap_or_else(|error| panic!("{error}\n{left:?}\n{right:?}"));
    let text = || String::from_utf8_lossy(&json).into_owned();
    let patch = Patch::read(&json, &wide).unwrap_or_else(|error| panic!("{error}\n{}", text()));
    let patched = patch.apply(left).unwrap_or_else(|refusal| panic!("{refusal}\n{}", text()));
    // Sharing is not part of a patch.
    let rules = if rules.is_exact() { Rules::new() } else { rules };
    let rest = find_differences(&patched, right, rules);
    assert!(rest.is_empty(), "{:?} is left of {}", rest.list_paths(), text());
}
