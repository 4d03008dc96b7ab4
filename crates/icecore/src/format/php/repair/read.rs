//! Reads a damaged text as it was before the damage, and reports the changes.

use super::changes::{Change, collect_edits};
use super::{RepairConditions, RepairedText, Start, find_repair, repair_names};
use crate::document::{Document, Explanation, IS_KEY, Repair};
use crate::error::{Error, ErrorKind};
use crate::format::php::{ReadOptions, read_unrepaired};
use crate::format::{Outcome, Request};
use crate::limits::Limits;
use std::sync::Arc;

/// How a format reads a text, and what it may begin with.
pub(in crate::format::php) struct RepairSettings<'m> {
    pub(in crate::format::php) starts: &'m [Start],
    pub(in crate::format::php) limits: &'m Limits,
    /// Whether spelling and spans are wanted.
    pub(in crate::format::php) detail: bool,
    /// Whether the text counts as damaged although it can be read, because its variables have odd names.
    pub(in crate::format::php) looks_damaged: bool,
    /// Reads a text without repair.
    pub(in crate::format::php) read: &'m ReadStart<'m>,
}

/// See [`RepairSettings::read`].
pub(in crate::format::php) type ReadStart<'m> = dyn for<'t> Fn(&'t [u8], Start, Request<'_>) -> Outcome<'t> + 'm;

/// Reads the text again if its outcome shows that it is damaged.
pub(in crate::format::php) fn read_or_repair<'a>(
    outcome: Outcome<'a>,
    input: &'a [u8],
    settings: &RepairSettings<'_>,
) -> Outcome<'a> {
    let is_damaged = |error: &Error| matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated);
    let reads = |text: &[u8], start: Start| {
        let outcome = (settings.read)(text, start, Request::new(settings.limits));
        outcome.error.is_none() && text[outcome.consumed..].trim_ascii().is_empty()
    };
    let conditions = RepairConditions { starts: settings.starts, allows_reversals: true, reads: &reads };
    let repair_result = match &outcome.error {
        None if settings.looks_damaged => Ok(find_repair(input, conditions).unwrap_or(None)),
        None => Ok(repair_names(input, conditions)),
        Some(error) if is_damaged(error) => find_repair(input, conditions),
        Some(_) => Ok(None),
    };
    match repair_result {
        Ok(Some(repaired)) => read_repaired(input, &repaired, settings),
        Ok(None) => outcome,
        Err(error) => Outcome { error: Some(error), ..outcome },
    }
}

fn read_repaired<'a>(input: &'a [u8], repaired: &RepairedText, settings: &RepairSettings<'_>) -> Outcome<'a> {
    let outcome = (settings.read)(&repaired.text, repaired.start, Request::new(settings.limits).detailed());
    let remaining = repaired.text.len() - outcome.consumed;
    let consumed = input.len().saturating_sub(remaining);
    let mut document = outcome.document.into_owned();
    // Blanks after the value are the caller's, as in a text that is not damaged.
    let error = outcome.error;
    if error.is_none() {
        let repairs = list_repairs(&document, input, repaired);
        document.set_repairs(repairs);
    }
    if !settings.detail {
        document = document.without_detail();
    }
    Outcome { document, consumed, error }
}

/// Returns the repairs to report for a repaired text.
fn list_repairs(document: &Document<'_>, input: &[u8], repaired: &RepairedText) -> Vec<Repair> {
    let explanation = Arc::new(repaired.explanation.clone());
    if repaired.is_whole {
        let (old_len, new_len) = (input.len() as u64, repaired.text.len() as u64);
        let path = "$".to_owned();
        return vec![Repair { offset: 0, old_len, new_len, subject: "whole", path, explanation: Some(explanation) }];
    }
    let mut repairs = locate_repairs(document, input, &repaired.changes, 0, &explanation);
    repairs.sort_by_key(|repair| repair.offset);
    repairs
}

/// Returns the repairs of a text that starts at `base` of the input, with the paths of their
/// values.
fn locate_repairs(
    document: &Document<'_>,
    text: &[u8],
    changes: &[Change],
    base: usize,
    explanation: &Arc<Explanation>,
) -> Vec<Repair> {
    let nodes = document.nodes();
    let extents = document.trace().map_or(&[][..], |trace| &trace.extents);
    let mut starts: Vec<(u64, u32)> = extents
        .iter()
        .zip(0u32..)
        .filter(|(_, node)| nodes.get(*node as usize).is_some_and(|node| node.key != IS_KEY))
        .map(|(extent, node)| (extent.start, node))
        .collect();
    starts.sort_unstable();
    let mut growth = 0i64;
    let changed_nodes: Vec<u32> = changes
        .iter()
        .map(|change| {
            let offset = (change.fix.offset as u64).saturating_add_signed(growth);
            growth += collect_edits(text, std::slice::from_ref(change)).growth();
            let index = starts.partition_point(|(start, _)| *start <= offset);
            // The start of a value is before its own length, and the length of a key is before its value.
            let is_name = matches!(change.fix.subject, "key" | "visibility" | "name");
            let found = if is_name {
                starts.get(index)
            } else {
                index.checked_sub(1).and_then(|previous| starts.get(previous))
            };
            found.map_or(0, |(_, node)| *node)
        })
        .collect();
    let paths = document.tape().paths_to(&changed_nodes, document.input());
    let mut repairs = Vec::new();
    for ((change, path), node) in changes.iter().zip(paths).zip(changed_nodes) {
        let fix = change.fix;
        if !change.inner.is_empty() {
            let content = text.get(fix.content_start..fix.content_start + fix.new_len as usize).unwrap_or_default();
            let limits = Limits::default();
            let bytes = document.nodes().get(node as usize).map(|node| document.bytes(node)).unwrap_or_default();
            let inside = read_unrepaired(bytes, &ReadOptions::default(), Request::new(&limits).detailed()).document;
            let inner = locate_repairs(&inside, content, &change.inner, base + fix.content_start, explanation);
            repairs.extend(inner.into_iter().map(|inner| {
                let path = format!("{path}, in its text {}", inner.path);
                Repair { path, ..inner }
            }));
        }
        let (old_len, subject) = match (&change.new_content, fix.subject) {
            (Some(_), _) => (fix.new_len, "visibility"),
            (None, subject) => (fix.old_len, subject),
        };
        if old_len != change.final_len || matches!(subject, "visibility" | "text") {
            let offset = (base + fix.offset) as u64;
            repairs.push(Repair {
                offset,
                old_len,
                new_len: change.final_len,
                subject,
                path,
                explanation: Some(Arc::clone(explanation)),
            });
        }
    }
    repairs
}
