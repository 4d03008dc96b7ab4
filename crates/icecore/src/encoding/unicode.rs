//! UTF-16 and UTF-32.

use std::borrow::Cow;

pub(super) fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Cow<'static, str>> {
    let (units, rest) = bytes.as_chunks::<2>();
    let text = char::decode_utf16(units.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>();
    text.ok().filter(|_| rest.is_empty()).map(Cow::Owned)
}

pub(super) fn decode_utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> Option<Cow<'static, str>> {
    let (units, rest) = bytes.as_chunks::<4>();
    let text = units.iter().map(|four| char::from_u32(unit(*four))).collect::<Option<String>>();
    text.filter(|_| rest.is_empty()).map(Cow::Owned)
}

/// UTF-16 whose byte order is given by a byte order mark; most significant byte first without one.
pub(super) fn decode_marked_utf16(bytes: &[u8]) -> Option<Cow<'static, str>> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] | rest => decode_utf16(rest, u16::from_be_bytes),
    }
}

/// UTF-32, like [`decode_marked_utf16`].
pub(super) fn decode_marked_utf32(bytes: &[u8]) -> Option<Cow<'static, str>> {
    match bytes {
        [0xFF, 0xFE, 0, 0, rest @ ..] => decode_utf32(rest, u32::from_le_bytes),
        [0, 0, 0xFE, 0xFF, rest @ ..] | rest => decode_utf32(rest, u32::from_be_bytes),
    }
}
