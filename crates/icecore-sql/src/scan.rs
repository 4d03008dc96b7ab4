//! Where pieces of SQL end.

use icecore::raw::find_byte;
use memchr::{memchr, memchr2, memmem};

/// Whether a byte may stand in a word.
pub(crate) fn is_word(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80..)
}

/// Where the run of bytes from `start` ends that may stand in a word.
pub(crate) fn word_end(window: &[u8], start: usize) -> usize {
    let rest = window.get(start..).unwrap_or_default();
    start + rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len())
}

/// Whether the byte at `at` has an odd number of backslashes before it, from `floor` on.
fn is_escaped(window: &[u8], floor: usize, at: usize) -> bool {
    let before = window.get(floor..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Where a piece ends, or from where to look on when there is more.
pub(crate) type End = Result<usize, usize>;

/// The quote that ends a body: not one that is doubled, or that has a backslash before it.
///
/// Only quotes are looked for: a backslash matters right before one, nowhere else.
pub(crate) fn quote_end(window: &[u8], body: usize, from: usize, quote: u8, backslash: bool, last: bool) -> End {
    let mut from = from;
    loop {
        let rest = window.get(from..).unwrap_or_default();
        let Some(found) = find_byte(rest, [quote]) else {
            return Err(window.len());
        };
        let at = from + found;
        if backslash && is_escaped(window, body, at) {
            from = at + 1;
            continue;
        }
        match window.get(at + 1) {
            Some(next) if *next == quote => from = at + 2,
            None if !last => return Err(at),
            _ => return Ok(at),
        }
    }
}

/// The tab or the end of the line that ends a cell of `COPY`.
pub(crate) fn cell_end(window: &[u8], body: usize, from: usize) -> End {
    let mut from = from;
    loop {
        let rest = window.get(from..).unwrap_or_default();
        let Some(found) = find_byte(rest, [b'\t', b'\n', b'\r']) else {
            return Err(window.len());
        };
        let at = from + found;
        if !is_escaped(window, body, at) {
            return Ok(at);
        }
        from = at + 1;
    }
}

/// Where the tag stands that ends a body in dollars.
pub(crate) fn dollar_end(window: &[u8], from: usize, tag: &[u8]) -> End {
    match memmem::find(window.get(from..).unwrap_or_default(), tag) {
        Some(found) => Ok(from + found),
        None => Err(from.max((window.len() + 1).saturating_sub(tag.len()))),
    }
}

/// The end of a line: where its first byte is.
pub(crate) fn line_end(window: &[u8], from: usize) -> Option<usize> {
    memchr2(b'\n', b'\r', window.get(from..).unwrap_or_default()).map(|found| from + found)
}

/// The next `*` or `/`.
pub(crate) fn comment_sign(window: &[u8], from: usize) -> Option<usize> {
    memchr2(b'*', b'/', window.get(from..).unwrap_or_default()).map(|found| from + found)
}

/// The quote that ends a name. A bracket can't be doubled.
pub(crate) fn name_end(window: &[u8], from: usize, close: u8, last: bool) -> End {
    if close != b']' {
        return quote_end(window, from, from, close, false, last);
    }
    memchr(close, window.get(from..).unwrap_or_default()).map(|found| from + found).ok_or(window.len())
}

/// What is no hexadecimal digit.
pub(crate) fn digits_end(window: &[u8], from: usize, last: bool) -> End {
    let rest = window.get(from..).unwrap_or_default();
    match rest.iter().position(|byte| !byte.is_ascii_hexdigit()) {
        Some(found) => Ok(from + found),
        None if last => Ok(window.len()),
        None => Err(window.len()),
    }
}
