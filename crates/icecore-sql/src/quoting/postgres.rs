//! PostgreSQL's `E'…'` and the cells of `COPY`.

use icecore::raw::find_byte;
use icecore::rewrite::{Decoded, DecodedBuilder, ReplacedRange};
use memchr::{memchr, memchr2};

use super::sample_nearest;

/// Returns the value of the digits at the beginning, at most `max_digits`, and their number.
fn parse_digits(text: &[u8], radix: u32, max_digits: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut len = 0;
    while len < max_digits
        && let Some(digit) = text.get(len).and_then(|byte| char::from(*byte).to_digit(radix))
    {
        value = value.wrapping_mul(radix) + digit;
        len += 1;
    }
    (value, len)
}

/// Where an escape occurs. `\v` is an escape only in `COPY`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeContext {
    String,
    Copy,
}

/// Parses one escape. `raw` begins after the backslash. Returns the number of bytes, and the byte that it represents.
fn parse_byte_escape(raw: &[u8], context: EscapeContext) -> Option<(usize, u8)> {
    let byte = match *raw.first()? {
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' if context == EscapeContext::Copy => 11,
        b'0'..=b'7' => {
            let (value, len) = parse_digits(raw, 8, 3);
            return Some((len, value as u8));
        }
        b'x' => match parse_digits(raw.get(1..)?, 16, 2) {
            (_, 0) => b'x',
            (value, len) => return Some((1 + len, value as u8)),
        },
        other => other,
    };
    Some((1, byte))
}

/// Parses `\u0041` and `\U00000041`, and surrogate pairs. Returns the number of bytes after the backslash, and the
/// character.
fn parse_unicode_escape(raw: &[u8]) -> Option<(usize, char)> {
    let parse_unit = |raw: &[u8]| {
        let width = match raw.first()? {
            b'u' => 4,
            b'U' => 8,
            _ => return None,
        };
        let (value, len) = parse_digits(raw.get(1..)?, 16, width);
        (len == width).then_some((1 + width, value))
    };
    let (len, high) = parse_unit(raw)?;
    if !(0xd800..0xdc00).contains(&high) {
        return Some((len, char::from_u32(high)?));
    }
    let (low_len, low) = parse_unit(raw.get(len..)?.strip_prefix(b"\\")?)?;
    let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    let pair = char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?;
    Some((len + 1 + low_len, pair))
}

pub(super) fn decode_escape_string(raw: &[u8]) -> Option<Decoded<'_>> {
    let mut builder = DecodedBuilder::new(raw);
    let mut offset = 0;
    while let Some(found) = memchr2(b'\\', b'\'', raw.get(offset..)?) {
        offset += found;
        let rest = raw.get(offset + 1..)?;
        let len = match (raw.get(offset)?, rest.first()?) {
            (b'\\', b'u' | b'U') => {
                let (len, character) = parse_unicode_escape(rest)?;
                builder.escape(offset, offset + 1 + len, character.encode_utf8(&mut [0; 4]).as_bytes());
                len
            }
            (b'\\', _) => {
                let (len, byte) = parse_byte_escape(rest, EscapeContext::String)?;
                builder.escape(offset, offset + 1 + len, &[byte]);
                len
            }
            (b'\'', b'\'') => {
                builder.escape(offset, offset + 2, b"'");
                1
            }
            _ => return None,
        };
        offset += 1 + len;
    }
    Some(builder.finish())
}

pub(super) fn decode_copy(raw: &[u8]) -> Option<Decoded<'_>> {
    let mut builder = DecodedBuilder::new(raw);
    let mut offset = 0;
    while let Some(found) = find_byte(raw.get(offset..)?, [b'\\']) {
        offset += found;
        let (len, byte) = parse_byte_escape(raw.get(offset + 1..)?, EscapeContext::Copy)?;
        builder.escape(offset, offset + 1 + len, &[byte]);
        offset += 1 + len;
    }
    Some(builder.finish())
}

/// Returns `true` if the preceding bytes end with an escape that would absorb the next digit, such as `\1` and `\x4`.
fn ends_with_open_number(raw: &[u8], next: Option<u8>) -> bool {
    let Some(next) = next.filter(u8::is_ascii_hexdigit) else {
        return false;
    };
    // A byte is escaped if the number of backslashes before it is odd, because two backslashes represent one.
    let is_escaped = |offset: usize| {
        let backslashes = raw.get(..offset).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count();
        backslashes % 2 == 1
    };
    let byte_before_end = |distance: usize| raw.len().checked_sub(distance).and_then(|index| raw.get(index)).copied();
    let is_octal_digit = |byte: Option<u8>| byte.is_some_and(|byte| matches!(byte, b'0'..=b'7'));
    let offset_before_end = |distance: usize| raw.len().saturating_sub(distance);
    let (last, second_last) = (byte_before_end(1), byte_before_end(2));
    let ends_with_octal = is_octal_digit(Some(next))
        && is_octal_digit(last)
        && (is_escaped(offset_before_end(1)) || (is_octal_digit(second_last) && is_escaped(offset_before_end(2))));
    let ends_with_hex = (last == Some(b'x') && is_escaped(offset_before_end(1)))
        || (last.is_some_and(|byte| byte.is_ascii_hexdigit())
            && second_last == Some(b'x')
            && is_escaped(offset_before_end(2)));
    ends_with_octal || ends_with_hex
}

/// If a number before the text would absorb its first byte, appends that byte as an escape. Returns the number of
/// bytes of the text that were appended, or `None` if the text is empty and the number would absorb the byte after
/// it.
fn append_first_byte(text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> Option<usize> {
    let before = range.raw.get(..range.start).unwrap_or_default();
    let next = text.first().or_else(|| range.raw.get(range.end)).copied();
    if !ends_with_open_number(before, next) {
        return Some(0);
    }
    let first = text.first()?;
    out.extend_from_slice(format!("\\{first:03o}").as_bytes());
    Some(1)
}

/// Returns true if the nearest occurrence of `byte` in the surrounding text is written as a backslash and `letter`.
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
    sample_nearest(range, find_style).unwrap_or(false)
}

pub(super) fn encode_escape_string(text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
    let Some(appended) = append_first_byte(text, range, out) else {
        return false;
    };
    let (mut escapes_quote, mut escapes_line_feed) = (None, None);
    for &byte in text.get(appended..).unwrap_or_default() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\'' if *escapes_quote.get_or_insert_with(|| prefers_escape(byte, byte, range)) => {
                out.extend_from_slice(b"\\'")
            }
            b'\'' => out.extend_from_slice(b"''"),
            b'\n' if *escapes_line_feed.get_or_insert_with(|| prefers_escape(byte, b'n', range)) => {
                out.extend_from_slice(b"\\n")
            }
            other => out.push(other),
        }
    }
    // PostgreSQL can't store a NUL byte in text.
    memchr(0, text).is_none()
}

pub(super) fn encode_copy(text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
    let Some(appended) = append_first_byte(text, range, out) else {
        return false;
    };
    for &byte in text.get(appended..).unwrap_or_default() {
        let letter = match byte {
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            11 => b'v',
            b'\\' => b'\\',
            other => {
                out.push(other);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
    memchr(0, text).is_none()
}
