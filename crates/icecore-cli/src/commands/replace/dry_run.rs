//! What a dry run shows of a value: its place and its changes.

use crate::paint::{Ink, Paint};
use icecore::rewrite::{Edit, Edits};
use icecore::text::printable;
use icecore_tables::replace::show::{ChangeContext, Show, ShownChanges};

/// Number of bytes shown before and after a change.
const CONTEXT_LEN: usize = 32;
/// Maximum number of changes shown for a value.
const MAX_SHOWN_CHANGES: usize = 5;
/// Maximum length shown of old or new text.
const MAX_TEXT_LEN: usize = 200;

/// Returns the place of a value, and the kinds of data found in it.
fn describe_place(context: &ChangeContext<'_>) -> String {
    let mut text = context.input.to_owned();
    let place_name = context.place.name();
    if !place_name.is_empty() && context.row > 0 {
        text.push_str(&format!(": {place_name}"));
    }
    if context.row > 0 {
        text.push_str(&format!(", row {}", context.row));
    }
    let frozen: Vec<&str> = context.tally.frozen.iter().map(|(name, _)| name).collect();
    if !frozen.is_empty() {
        text.push_str(&format!(" ({})", frozen.join(", ")));
    }
    if context.tally.broken > 0 {
        text.push_str(" (looks frozen, but can't be read)");
    }
    text
}

impl Show for Paint {
    fn show_changes(
        &self,
        context: &ChangeContext<'_>,
        text: &[u8],
        edits: &Edits,
        extent: ShownChanges,
        out: &mut Vec<u8>,
    ) {
        let max_changes = if extent == ShownChanges::First { MAX_SHOWN_CHANGES } else { usize::MAX };
        show_changes(context, text, edits, max_changes, *self, out);
    }
}

/// Shows the changes of a value in a database, with its key as the input.
#[cfg(feature = "store")]
pub fn show_keyed_changes(context: &ChangeContext<'_>, text: &[u8], edits: &Edits, paint: Paint, out: &mut Vec<u8>) {
    let key = format!("{} where {}", context.place.name(), context.input);
    show_changes(&ChangeContext { input: &key, ..*context }, text, edits, MAX_SHOWN_CHANGES, paint, out);
}

/// Shows at most `max_groups` groups of changes. Changes that are close together form a group, on the same lines.
fn show_changes(
    context: &ChangeContext<'_>,
    text: &[u8],
    edits: &Edits,
    max_groups: usize,
    paint: Paint,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(paint.ink(Ink::Name, describe_place(context)).as_bytes());
    out.push(b'\n');
    let edits: Vec<Edit<'_>> = edits.iter().collect();
    let mut groups: Vec<&[Edit<'_>]> = Vec::new();
    let mut start = 0;
    for end in 1..=edits.len() {
        let is_close_to_next =
            edits.get(end).is_some_and(|next| next.start.saturating_sub(edits[end - 1].end) <= 2 * CONTEXT_LEN);
        if !is_close_to_next {
            groups.push(&edits[start..end]);
            start = end;
        }
    }
    for group in groups.iter().take(max_groups) {
        show_line(b'-', group, text, paint, out);
        show_line(b'+', group, text, paint, out);
    }
    if let Some(hidden_count) = groups.len().checked_sub(max_groups).filter(|hidden_count| *hidden_count > 0) {
        let places = if hidden_count == 1 { "place" } else { "places" };
        out.extend_from_slice(format!("  and in {hidden_count} more {places}\n").as_bytes());
    }
}

/// Shows the old or the new text around changes that are close together.
fn show_line(sign: u8, group: &[Edit<'_>], text: &[u8], paint: Paint, out: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let is_old = sign == b'-';
    let ink = if is_old { Ink::Bad } else { Ink::String };
    let shown_start = floor_to_character(text, first.start.saturating_sub(CONTEXT_LEN));
    let shown_end = ceil_to_character(text, last.end.saturating_add(CONTEXT_LEN));
    out.extend_from_slice(paint.ink(ink, char::from(sign)).as_bytes());
    out.push(b' ');
    if shown_start > 0 {
        out.extend_from_slice("…".as_bytes());
    }
    let mut offset = shown_start;
    for edit in group {
        push_printable(text.get(offset..edit.start).unwrap_or_default(), out);
        let changed_text = if is_old { text.get(edit.start..edit.end).unwrap_or_default() } else { edit.new };
        if !changed_text.is_empty() {
            let changed_text = String::from_utf8_lossy(changed_text);
            out.extend_from_slice(paint.ink(ink, icecore::text::shortened(&changed_text, MAX_TEXT_LEN)).as_bytes());
        }
        offset = edit.end;
    }
    push_printable(text.get(offset..shown_end).unwrap_or_default(), out);
    if shown_end < text.len() {
        out.extend_from_slice("…".as_bytes());
    }
    out.push(b'\n');
}

fn push_printable(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(printable(&String::from_utf8_lossy(bytes)).as_bytes());
}

/// Moves an offset down to the start of a character.
fn floor_to_character(text: &[u8], mut offset: usize) -> usize {
    while offset > 0 && text.get(offset).is_some_and(|byte| byte & 0xc0 == 0x80) {
        offset -= 1;
    }
    offset
}

/// Moves an offset up to the start of a character, or to the end of the text.
fn ceil_to_character(text: &[u8], offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while text.get(offset).is_some_and(|byte| byte & 0xc0 == 0x80) {
        offset += 1;
    }
    offset
}
