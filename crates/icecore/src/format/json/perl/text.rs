//! Strings: Perl's extended UTF-8, and escapes.

use super::super::string::is_special;
use super::{Beyond, Style};
use crate::error::{Error, ErrorKind};

/// Writes a string without its quotes. `is_text` states whether it is Perl's UTF-8;
/// otherwise each byte is a character.
pub(super) fn write_string_part(text: &[u8], is_text: bool, style: &Style, out: &mut Vec<u8>) -> Result<(), Error> {
    let copies_beyond = is_text && style.beyond == Beyond::Utf8;
    let mut rest = text;
    while let Some(first) = rest.first() {
        let run = measure_unescaped_run(rest, style.escape_slash);
        if run > 0 {
            out.extend_from_slice(&rest[..run]);
            rest = &rest[run..];
            continue;
        }
        let (code, len) = match *first {
            0..0x80 => (u32::from(*first), 1),
            _ if is_text && style.beyond != Beyond::Binary => decode_first_char(rest).ok_or_else(malformed_error)?,
            _ => (u32::from(*first), 1),
        };
        if code > 0x10_FFFF {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .expecting("a character that Unicode has")
                .finding(format!("out of range codepoint (0x{code:x}) encountered, unrepresentable in JSON")));
        }
        let (character, tail) = rest.split_at(len.min(rest.len()));
        match style.beyond {
            Beyond::Binary => write_byte_escape(code, out),
            _ if code < 0x80 => write_escape(code, out),
            Beyond::Utf8 if copies_beyond => out.extend_from_slice(character),
            Beyond::Utf8 => push_utf8(code, out),
            Beyond::Latin1 if code < 0x100 => out.push(code as u8),
            Beyond::Latin1 | Beyond::Ascii => write_escape(code, out),
        }
        rest = tail;
    }
    Ok(())
}

/// Returns how many bytes at the start are ASCII that needs no escape.
fn measure_unescaped_run(text: &[u8], escape_slash: bool) -> usize {
    let stands_for_itself = |byte: &u8| !is_special(*byte) && *byte < 0x80 && !(escape_slash && *byte == b'/');
    if escape_slash {
        return text.iter().take_while(|byte| stands_for_itself(byte)).count();
    }
    let mut offset = 0;
    while let Some(chunk) = text.get(offset..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let found = super::super::string::special_byte_mask(word) | super::super::string::non_ascii_mask(word);
        if found != 0 {
            return offset + found.trailing_zeros() as usize / 8;
        }
        offset += 8;
    }
    offset + text[offset..].iter().take_while(|byte| stands_for_itself(byte)).count()
}

fn write_escape(code: u32, out: &mut Vec<u8>) {
    let short: &[u8] = match code {
        0x22 => b"\\\"",
        0x5C => b"\\\\",
        0x2F => b"\\/",
        0x08 => b"\\b",
        0x0C => b"\\f",
        0x0A => b"\\n",
        0x0D => b"\\r",
        0x09 => b"\\t",
        0..=0xFFFF => return write_unit_escape(code, out),
        _ => {
            write_unit_escape(0xD7C0 + (code >> 10), out);
            return write_unit_escape(0xDC00 | code & 0x3FF, out);
        }
    };
    out.extend_from_slice(short);
}

/// Writes a byte as `\x1b`, unless it has a shorter escape.
fn write_byte_escape(byte: u32, out: &mut Vec<u8>) {
    match byte {
        0x22 | 0x5C | 0x2F | 0x08 | 0x0C | 0x0A | 0x0D | 0x09 => write_escape(byte, out),
        _ => out.extend_from_slice(&[b'\\', b'x', hex_digit(byte, 4), hex_digit(byte, 0)]),
    }
}

fn hex_digit(number: u32, shift: u32) -> u8 {
    b"0123456789abcdef"[(number >> shift & 0x0F) as usize]
}

fn write_unit_escape(unit: u32, out: &mut Vec<u8>) {
    let digit = |shift: u32| hex_digit(unit, shift);
    out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}

/// Appends a character from U+0080 to U+00FF in UTF-8.
fn push_utf8(code: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0xC0 | (code >> 6) as u8, 0x80 | code as u8 & 0x3F]);
}

/// Returns the first character of Perl's UTF-8, which allows surrogates and goes beyond
/// Unicode, and its length in bytes. `None` if it is invalid.
fn decode_first_char(text: &[u8]) -> Option<(u32, usize)> {
    let first = *text.first()?;
    let (len, bits) = match first {
        0xC2..=0xDF => (2, first & 0x1F),
        0xE0..=0xEF => (3, first & 0x0F),
        0xF0..=0xF4 => (4, first & 0x07),
        // Beyond Unicode, whatever follows.
        0xF5.. => return Some((0x11_0000, 1)),
        _ => return None,
    };
    let mut code = u32::from(bits);
    for byte in text.get(1..len)? {
        if byte & 0xC0 != 0x80 {
            return None;
        }
        code = code << 6 | u32::from(byte & 0x3F);
    }
    Some((code, len))
}

#[cold]
fn malformed_error() -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .expecting("characters")
        .finding("malformed or illegal unicode character in string, cannot convert to JSON")
}
