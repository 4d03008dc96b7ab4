//! Reads with repaired lengths.

use super::token::{Fix, Fixed};
use super::{ReadOptions, WriteOptions, read_fixed, repair, write};
use crate::document::{Document, IS_KEY, Kind, Node, Repair};
use crate::error::{Error, ErrorKind};
use crate::format::{Outcome, Request};
use crate::limits::Limits;
use crate::output::Losses;

/// How deep serialized texts in strings are looked into.
const DEPTH: u32 = 4;

/// Reads a text that could not be read as it stands, which gave `outcome`.
pub(super) fn read<'a>(
    mut outcome: Outcome<'a>,
    input: &'a [u8],
    options: &ReadOptions,
    limits: &Limits,
    detail: bool,
    depth: u32,
    hint: Option<i64>,
) -> Outcome<'a> {
    let fixes = match repair::lengths(input, hint) {
        Ok(Some(fixes)) if !fixes.is_empty() => fixes,
        Ok(_) => return outcome,
        Err(error) => {
            outcome.error = Some(error);
            return outcome;
        }
    };
    let mut outcome = read_fixed(input, Fixed(&fixes), options, Request::new(limits).detailed());
    if outcome.error.is_none() && outcome.consumed < input.len() {
        // Only blanks, but no repair is reported for a text that is then refused.
        let error = Error::behind(input, outcome.consumed);
        outcome.error = Some(error.helping("`php:lenient,repair=lengths` ignores them"));
    }
    if outcome.error.is_none() {
        let mut repairs = located(&outcome.document, &fixes);
        inner(&mut outcome.document, &mut repairs, &fixes, options, limits, depth);
        repairs.sort_by_key(|(repair, _)| repair.offset);
        outcome.document.set_repairs(repairs.into_iter().map(|(repair, _)| repair).collect());
    }
    if !detail {
        outcome.document = outcome.document.without_detail();
    }
    outcome
}

/// The repairs, and the node of the value that each belongs to.
fn located(document: &Document<'_>, fixes: &[Fix]) -> Vec<(Repair, u32)> {
    let nodes = document.nodes();
    let extents = document.trace().map_or(&[][..], |trace| &trace.extents);
    let mut starts: Vec<(u64, u32)> = extents
        .iter()
        .zip(0u32..)
        .filter(|(_, at)| nodes.get(*at as usize).is_some_and(|node| node.key != IS_KEY))
        .map(|(extent, at)| (extent.start, at))
        .collect();
    starts.sort_unstable();
    let placed: Vec<u32> = fixes
        .iter()
        .map(|fix| {
            let offset = fix.offset as u64;
            let behind = starts.partition_point(|(start, _)| *start <= offset);
            // The value starts before its length, but behind that of its key.
            let found = if fix.what == "key" {
                starts.get(behind)
            } else {
                behind.checked_sub(1).and_then(|at| starts.get(at))
            };
            found.map_or(0, |(_, at)| *at)
        })
        .collect();
    let paths = document.tape().paths_to(&placed, document.input());
    let repairs = fixes.iter().zip(paths).map(|(fix, path)| {
        let Fix { offset, was, is, what } = *fix;
        Repair { offset: offset as u64, was, is, what, path }
    });
    repairs.zip(placed).collect()
}

/// Counts lengths again in strings that hold a serialized text, if their own was
/// wrong: what was replaced there was replaced in a text inside a text.
fn inner(
    document: &mut Document<'_>,
    repairs: &mut Vec<(Repair, u32)>,
    fixes: &[Fix],
    options: &ReadOptions,
    limits: &Limits,
    depth: u32,
) {
    if depth >= DEPTH {
        return;
    }
    let hint = repair::step_of(fixes);
    let mut found = Vec::new();
    for (repair, node) in repairs.iter_mut() {
        let Some(string) = document.nodes().get(*node as usize).copied().filter(|_| repair.what == "string") else {
            continue;
        };
        let start = repair.offset + repair.was.checked_ilog10().map_or(1, |digits| u64::from(digits) + 1) + 2;
        if !is_damaged_text(document.bytes(&string), options, limits) {
            continue;
        }
        let Some((text, inside)) = counted_again(document.bytes(&string), options, limits, depth, hint) else {
            let (what, path) = ("text", repair.path.clone());
            found.push((Repair { offset: start, was: repair.is, is: repair.is, what, path }, *node));
            continue;
        };
        found.extend(inside.into_iter().map(|inner| {
            let path = format!("{}, in its text {}", repair.path, inner.path);
            (Repair { offset: inner.offset + start, path, ..inner }, *node)
        }));
        repair.is = text.len() as u64;
        replace(document, *node, string, &text);
    }
    repairs.extend(found);
}

fn replace(document: &mut Document<'_>, at: u32, old: Node, text: &[u8]) {
    let tape = document.tape_mut();
    let new = tape.owned(Kind::Bytes, text);
    tape.replace(at, Node { key: old.key, flags: old.flags, ..new });
}

/// Whether this begins like a serialized text and is none.
fn is_damaged_text(text: &[u8], options: &ReadOptions, limits: &Limits) -> bool {
    let looks = matches!(text, [b'a' | b'O' | b's' | b'C', b':', b'0'..=b'9', ..]);
    let is_wrong = |error: &Error| matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated);
    looks && {
        let outcome = read_fixed(text, Fixed::default(), options, Request::new(limits));
        outcome.error.as_ref().map_or(outcome.consumed < text.len(), is_wrong)
    }
}

/// A serialized text with its lengths set right, if there is a way.
fn counted_again(
    text: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    depth: u32,
    hint: Option<i64>,
) -> Option<(Vec<u8>, Vec<Repair>)> {
    let plain = read_fixed(text, Fixed::default(), options, Request::new(limits));
    let outcome = read(plain, text, options, limits, true, depth + 1, hint);
    if outcome.error.is_some() || outcome.consumed < text.len() || outcome.document.repairs().is_empty() {
        return None;
    }
    let mut out = Vec::new();
    write(&outcome.document, &WriteOptions::default(), limits, &mut out).ok().filter(Losses::is_empty)?;
    Some((out, outcome.document.repairs().to_vec()))
}
