//! Cells of CSV and of tables with tabs.

use super::chunk::{Manner, Piece};
use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// Finds the cells of whole rows.
pub fn csv(
    bytes: &[u8],
    delimiter: u8,
    header: usize,
    row: u64,
    mut place: impl FnMut(usize) -> Option<u32>,
    pieces: &mut Vec<Piece>,
) {
    let (mut at, mut column, mut row) = (header, 0, row + 1);
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let is_quoted = rest.first() == Some(&b'"');
        let (body, end) = if is_quoted { quoted_cell(rest) } else { (0..0, 0) };
        // What stands behind the quotes belongs to the cell, but is no part of its text.
        let behind = rest.get(end..).unwrap_or_default();
        let len = end + memchr2(delimiter, b'\n', behind).unwrap_or(behind.len());
        let is_last = rest.get(len).is_none_or(|byte| *byte == b'\n');
        let cell = rest.get(..len).unwrap_or_default();
        let cell_len = if is_last { cell.strip_suffix(b"\r").unwrap_or(cell).len() } else { len };
        if let Some(place) = place(column)
            && (!is_quoted || end == cell_len)
            && cell_len > 0
        {
            let body = if is_quoted { at + body.start..at + body.end } else { at..at + cell_len };
            pieces.push(Piece { whole: at..at + cell_len, body, manner: Manner::Csv { is_quoted }, place, row });
        }
        (column, row) = if is_last { (0, row + 1) } else { (column + 1, row) };
        at += len + 1;
    }
}

/// The text between quotes, and where the cell with its quotes ends.
fn quoted_cell(cell: &[u8]) -> (std::ops::Range<usize>, usize) {
    let mut at = 1;
    while let Some(quote) = memchr(b'"', cell.get(at..).unwrap_or_default()) {
        at += quote;
        if cell.get(at + 1) != Some(&b'"') {
            return (1..at, at + 1);
        }
        at += 2;
    }
    // It is not closed: the reader had no more.
    (1..cell.len().max(1), cell.len())
}

/// Finds the cells between tabs.
pub fn tsv(
    bytes: &[u8],
    delimiter: u8,
    header: usize,
    row: u64,
    mut place: impl FnMut(usize) -> Option<u32>,
    pieces: &mut Vec<Piece>,
) {
    let (mut at, mut column, mut row) = (header, 0, row + 1);
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let len = memchr2(delimiter, b'\n', rest).unwrap_or(rest.len());
        let is_last = rest.get(len).is_none_or(|byte| *byte == b'\n');
        let cell = rest.get(..len).unwrap_or_default();
        let cell = if is_last { cell.strip_suffix(b"\r").unwrap_or(cell) } else { cell };
        if let Some(place) = place(column)
            && !cell.is_empty()
            && cell != b"\\N"
        {
            let whole = at..at + cell.len();
            pieces.push(Piece { whole: whole.clone(), body: whole, manner: Manner::Tsv, place, row });
        }
        (column, row) = if is_last { (0, row + 1) } else { (column + 1, row) };
        at += len + 1;
    }
}

/// The text of what stands between quotes.
pub fn unquoted(body: &[u8]) -> Cow<'_, [u8]> {
    if memchr(b'"', body).is_none() {
        return Cow::Borrowed(body);
    }
    let mut text = Vec::with_capacity(body.len());
    let mut at = 0;
    while let Some(quote) = memchr(b'"', body.get(at..).unwrap_or_default()) {
        text.extend_from_slice(body.get(at..=at + quote).unwrap_or_default());
        at += quote + 2;
    }
    text.extend_from_slice(body.get(at..).unwrap_or_default());
    Cow::Owned(text)
}

/// Writes a cell: in quotes if it had them, or needs them.
pub fn quoted(text: &[u8], delimiter: u8, is_quoted: bool, out: &mut Vec<u8>) {
    let needs = |byte: &u8| matches!(*byte, b'"' | b'\n' | b'\r') || *byte == delimiter;
    if !is_quoted && !text.iter().any(needs) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for part in text.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}
