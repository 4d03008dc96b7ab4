//! Searches for the ends of pieces of SQL.

use icecore::raw::find_byte;
use memchr::{memchr, memchr2, memmem};

/// Returns true if the byte may be part of a word.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80..)
}

/// Returns the end of the run of word bytes from `start` on.
pub(crate) fn find_word_end(window: &[u8], start: usize) -> usize {
    let rest = window.get(start..).unwrap_or_default();
    start + rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len())
}

/// Returns `true` if an odd number of backslashes precedes the byte at `index`. The text begins at `start`.
fn is_escaped(window: &[u8], start: usize, index: usize) -> bool {
    let before = window.get(start..index).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The end of a piece, or the position from which to continue when more bytes are available.
pub(crate) type End = Result<usize, usize>;

/// Returns the position of the quote that ends a body. This quote is not doubled, and is not escaped by a backslash.
/// The search begins at `from`.
///
/// Only quotes are searched, because a backslash matters only directly before a quote.
pub(crate) fn find_closing_quote(
    window: &[u8],
    body: usize,
    from: usize,
    quote: u8,
    has_backslash_escapes: bool,
    is_last: bool,
) -> End {
    let mut from = from;
    loop {
        let rest = window.get(from..).unwrap_or_default();
        let Some(found) = find_byte(rest, [quote]) else {
            return Err(window.len());
        };
        let index = from + found;
        if has_backslash_escapes && is_escaped(window, body, index) {
            from = index + 1;
            continue;
        }
        match window.get(index + 1) {
            Some(next) if *next == quote => from = index + 2,
            None if !is_last => return Err(index),
            _ => return Ok(index),
        }
    }
}

/// Returns the position of the tab or line end that ends a cell of `COPY`.
pub(crate) fn find_cell_end(window: &[u8], body: usize, from: usize) -> End {
    let mut from = from;
    loop {
        let rest = window.get(from..).unwrap_or_default();
        let Some(found) = find_byte(rest, [b'\t', b'\n', b'\r']) else {
            return Err(window.len());
        };
        let index = from + found;
        if !is_escaped(window, body, index) {
            return Ok(index);
        }
        from = index + 1;
    }
}

/// Returns the position of the tag that ends a dollar-quoted body.
pub(crate) fn find_dollar_end(window: &[u8], from: usize, tag: &[u8]) -> End {
    match memmem::find(window.get(from..).unwrap_or_default(), tag) {
        Some(found) => Ok(from + found),
        None => Err(from.max((window.len() + 1).saturating_sub(tag.len()))),
    }
}

/// Returns the position of the first byte of the line end.
pub(crate) fn find_line_end(window: &[u8], from: usize) -> Option<usize> {
    memchr2(b'\n', b'\r', window.get(from..).unwrap_or_default()).map(|found| from + found)
}

/// Returns the position of the next `*` or `/`.
pub(crate) fn find_comment_sign(window: &[u8], from: usize) -> Option<usize> {
    memchr2(b'*', b'/', window.get(from..).unwrap_or_default()).map(|found| from + found)
}

/// Returns the position of the quote that ends a name. A bracket can't be doubled.
pub(crate) fn find_name_end(window: &[u8], from: usize, close: u8, is_last: bool) -> End {
    if close != b']' {
        return find_closing_quote(window, from, from, close, false, is_last);
    }
    memchr(close, window.get(from..).unwrap_or_default()).map(|found| from + found).ok_or(window.len())
}

/// Returns the position of the next byte that is not a hexadecimal digit.
pub(crate) fn find_digits_end(window: &[u8], from: usize, is_last: bool) -> End {
    let rest = window.get(from..).unwrap_or_default();
    match rest.iter().position(|byte| !byte.is_ascii_hexdigit()) {
        Some(found) => Ok(from + found),
        None if is_last => Ok(window.len()),
        None => Err(window.len()),
    }
}
