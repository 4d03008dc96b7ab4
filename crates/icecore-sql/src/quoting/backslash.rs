//! MySQL's strings, in which a backslash starts an escape.

use icecore::raw::find_byte;
use icecore::rewrite::{Decoded, DecodedBuilder, ReplacedRange};

use super::sample_nearest;

/// Returns the byte for a backslash and this letter.
fn resolve_escape(letter: u8) -> u8 {
    match letter {
        b'0' => 0,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'r' => b'\r',
        b'Z' => 0x1a,
        other => other,
    }
}

/// Decodes the content of a string. Returns `None` if it contains a single quote or ends with a backslash.
pub(super) fn decode_backslash(raw: &[u8], quote: u8) -> Option<Decoded<'_>> {
    let mut builder = DecodedBuilder::new(raw);
    let mut offset = 0;
    while let Some(found) = find_byte(raw.get(offset..)?, [b'\\', quote]) {
        offset += found;
        let (byte, next) = (*raw.get(offset)?, *raw.get(offset + 1)?);
        match (byte, next) {
            // In MySQL, `\%` and `\_` keep their backslash, because they are meant for patterns of LIKE.
            (b'\\', b'%' | b'_') => builder.escape(offset, offset + 2, &[b'\\', next]),
            (b'\\', _) => builder.escape(offset, offset + 2, &[resolve_escape(next)]),
            _ if next == quote => builder.escape(offset, offset + 2, &[quote]),
            _ => return None,
        }
        offset += 2;
    }
    Some(builder.finish())
}

/// Bytes that some or all programs write with a backslash.
const MAY_BE_ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut bytes = b"\0\x1a\\\n\r\"'".as_slice();
    while let [byte, rest @ ..] = bytes {
        table[*byte as usize] = true;
        bytes = rest;
    }
    table
};

/// Returns true if the nearest occurrence of `byte` in the surrounding text is written as a backslash and `letter`,
/// or if there is none.
fn prefers_escape(byte: u8, letter: u8, range: &ReplacedRange<'_>) -> bool {
    let find_style = |piece: &[u8]| {
        let mut is_after_backslash = false;
        for next in piece {
            match (is_after_backslash, *next) {
                (true, next) if next == letter => return Some(true),
                (false, next) if next == byte => return Some(false),
                _ => is_after_backslash = !is_after_backslash && *next == b'\\',
            }
        }
        None
    };
    sample_nearest(range, find_style).unwrap_or(true)
}

/// Appends the text with escapes. A byte that can be written with and without a backslash is written like the nearest
/// such byte around the text.
pub(super) fn encode_backslash(text: &[u8], quote: u8, range: &ReplacedRange<'_>, out: &mut Vec<u8>) {
    // Each of these styles is determined from the text around when it is first needed.
    let mut escapes_double_quote = None;
    let mut escapes_single_quote = None;
    let mut escapes_line_feed = None;
    let mut escapes_carriage_return = None;
    let mut rest = text;
    loop {
        let unescaped_len = rest.iter().take_while(|byte| !MAY_BE_ESCAPED[usize::from(**byte)]).count();
        let (unescaped, tail) = rest.split_at(unescaped_len);
        out.extend_from_slice(unescaped);
        let Some((&byte, after)) = tail.split_first() else { return };
        rest = after;
        let letter = match byte {
            0 => b'0',
            0x1a => b'Z',
            b'\\' => b'\\',
            b'\n' if *escapes_line_feed.get_or_insert_with(|| prefers_escape(byte, b'n', range)) => b'n',
            b'\r' if *escapes_carriage_return.get_or_insert_with(|| prefers_escape(byte, b'r', range)) => b'r',
            b'"' if *escapes_double_quote.get_or_insert_with(|| prefers_escape(byte, byte, range)) => byte,
            b'\'' if *escapes_single_quote.get_or_insert_with(|| prefers_escape(byte, byte, range)) => byte,
            _ => {
                // A quote without a backslash is doubled if it is the quote around the string.
                if byte == quote {
                    out.push(byte);
                }
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}
