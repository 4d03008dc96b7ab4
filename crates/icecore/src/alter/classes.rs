//! Renaming of classes, also in strings that contain frozen data.

use super::alter_unwrapped;
use super::draft::Draft;
use super::refusal::Refusal;
use crate::class_map::ClassMap;
use crate::deep::{self, LEVELS, is_sealed, may_be_opened};
use crate::document::{Document, Tape};
use crate::limits::Limits;

/// Renames the classes of a document, and those of frozen data in its strings.
pub(super) fn rename_classes(
    draft: &mut Draft<'_>,
    map: &ClassMap,
    limits: &Limits,
    level: u32,
) -> Result<(), Refusal> {
    let mapped = draft.document().with_class_map(map).map_err(Refusal::Unwritable)?;
    let nested = collect_nested_renames(&mapped, map, limits, level)?;
    let is_same = matches!(mapped, std::borrow::Cow::Borrowed(_));
    if is_same && nested.is_empty() {
        return Ok(());
    }
    let mut tape: Tape = mapped.tape().clone();
    tape.own_given_classes().map_err(Refusal::Unwritable)?;
    for (index, new) in nested {
        let old = tape.node(index);
        let mut node = tape.new_owned_string(old.kind, &new).in_form(old.form());
        (node.key, node.flags) = (old.key, old.flags);
        tape.replace_node(index, node);
    }
    drop(mapped);
    draft.exchange_tape(tape).map_err(Refusal::Unwritable)
}

/// Returns the strings of frozen data in which something changes, each with its new bytes.
fn collect_nested_renames(
    document: &Document<'_>,
    map: &ClassMap,
    limits: &Limits,
    level: u32,
) -> Result<Vec<(u32, Vec<u8>)>, Refusal> {
    let (tape, mut remaining) = (document.tape(), limits.clone());
    let mut changed = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut sealed = 0;
    if level >= LEVELS {
        return Ok(changed);
    }
    for (index, node) in (0u32..).zip(document.nodes()) {
        while open.pop_if(|container| tape.index_after(*container) <= index).is_some() {}
        if is_sealed(document, index, node) {
            sealed = sealed.max(tape.index_after(index));
        }
        let parent = open.last().and_then(|container| tape.nodes().get(*container as usize));
        if index >= sealed && may_be_opened(node, parent) {
            let bytes = document.bytes(node);
            if let Some(stage) = deep::stage_within(bytes, &mut remaining) {
                let altered = alter_unwrapped(bytes, &stage, &remaining, |draft, _, limits| {
                    rename_classes(draft, map, limits, level + 1)
                })?;
                changed.extend(altered.is_changed.then_some((index, altered.bytes)));
            }
        }
        if node.kind.is_container() {
            open.push(index);
        }
    }
    Ok(changed)
}
