//! Perl's extended UTF-8: any number up to 2^63 - 1 is a character.

/// Returns the length of a character from its first byte. Bytes that begin no character
/// count as one.
pub(crate) fn len_from_first_byte(byte: u8) -> usize {
    match byte {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        0xF8..=0xFB => 5,
        0xFC..=0xFD => 6,
        0xFE => 7,
        0xFF => 13,
        _ => 1,
    }
}

pub(crate) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// A character and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DecodedCharacter {
    /// `None` if it is not a character.
    pub(crate) value: Option<u64>,
    /// Number of bytes that belong to it; 0 at the end of the bytes.
    pub(crate) len: usize,
}

/// Decodes the character that the bytes begin with.
pub(crate) fn decode_character(bytes: &[u8]) -> DecodedCharacter {
    let Some(first) = bytes.first().copied() else { return DecodedCharacter { value: None, len: 0 } };
    if first < 0x80 {
        return DecodedCharacter { value: Some(u64::from(first)), len: 1 };
    }
    let expected_len = len_from_first_byte(first);
    let rest = bytes.get(1..bytes.len().min(expected_len)).unwrap_or(&[]);
    let continuation_len = rest.iter().take_while(|byte| is_continuation(**byte)).count();
    if expected_len == 1 || continuation_len + 1 < expected_len {
        return DecodedCharacter { value: None, len: continuation_len + 1 };
    }
    let start = if expected_len >= 7 { 0 } else { u64::from(first) & (0x7F >> expected_len) };
    let value = rest
        .iter()
        .try_fold(start, |value: u64, byte| (value < 1 << 57).then_some(value << 6 | u64::from(byte & 0x3F)));
    let value = value.filter(|value| *value < 1 << 63 && encoded_len(*value) == expected_len);
    DecodedCharacter { value, len: expected_len }
}

/// Returns the first character and its length; `None` if the bytes do not begin with one.
pub(crate) fn first_character(bytes: &[u8]) -> Option<(u64, usize)> {
    let DecodedCharacter { value, len } = decode_character(bytes);
    Some((value?, len))
}

/// Returns the characters up to the first malformed one, with their lengths.
pub(crate) fn valid_characters(mut bytes: &[u8]) -> impl Iterator<Item = (u64, usize)> {
    std::iter::from_fn(move || {
        let (value, len) = first_character(bytes)?;
        bytes = bytes.get(len..)?;
        Some((value, len))
    })
}

/// Returns `true` if all bytes are valid characters.
pub(crate) fn is_valid_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() || valid_characters(bytes).map(|(_, len)| len).sum::<usize>() == bytes.len()
}

/// Returns the encoded length of a character.
fn encoded_len(value: u64) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x800 => 2,
        0x800..0x1_0000 => 3,
        0x1_0000..0x20_0000 => 4,
        0x20_0000..0x400_0000 => 5,
        0x400_0000..0x8000_0000 => 6,
        0x8000_0000..0x10_0000_0000 => 7,
        _ => 13,
    }
}

/// Appends a character.
pub(crate) fn push_character(value: u64, out: &mut Vec<u8>) {
    if value < 0x80 {
        return out.push(value as u8);
    }
    let len = encoded_len(value);
    let head = if len >= 7 { if len == 7 { 0xFE } else { 0xFF } } else { !(0xFFu8 >> len) };
    for place in (0..len).rev() {
        let bits = value.checked_shr(6 * place as u32).unwrap_or(0);
        if place == len - 1 {
            out.push(if len >= 7 { head } else { head | bits as u8 });
        } else {
            out.push(0x80 | (bits & 0x3F) as u8);
        }
    }
}

/// Appends bytes as the characters with these numbers.
pub(crate) fn push_latin1_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        push_character(u64::from(*byte), out);
    }
}

/// Returns the number of characters, judging by their first bytes.
pub(crate) fn count_characters(mut bytes: &[u8]) -> u64 {
    let mut count = 0;
    while let Some(first) = bytes.first() {
        bytes = bytes.get(len_from_first_byte(*first)..).unwrap_or(&[]);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_every_length_round_trip() {
        for value in (0..63).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]) {
            let mut bytes = Vec::new();
            push_character(value, &mut bytes);
            assert_eq!(
                decode_character(&bytes),
                DecodedCharacter { value: Some(value), len: bytes.len() },
                "{value:x}"
            );
            if let Some(c) = u32::try_from(value).ok().and_then(char::from_u32) {
                assert_eq!(bytes, c.to_string().as_bytes());
            }
        }
    }

    #[test]
    fn extended_characters_of_perl_are_decoded() {
        for (bytes, code) in [
            (&b"a"[..], 0x61),
            (b"\xC3\xA9", 0xE9),
            (b"\xE2\x98\xBA", 0x263A),
            (b"\xED\xA0\x80", 0xD800),
            (b"\xF4\x90\x80\x80", 0x11_0000),
            (b"\xFE\x83\xBF\xBF\xBF\xBF\xBF", 0xFFFF_FFFF),
            (b"\xFF\x80\x80\x80\x80\x80\x81\x80\x80\x80\x80\x80\x80", 1 << 36),
            (b"\xFF\x80\x87\xBF\xBF\xBF\xBF\xBF\xBF\xBF\xBF\xBF\xBF", i64::MAX as u64),
        ] {
            assert_eq!(first_character(bytes), Some((code, bytes.len())), "{bytes:x?}");
        }
        for bytes in [&b""[..], b"\x80", b"\xC3", b"\xC1\x81", b"\xE0\x80\x80", b"\xC3a", b"\xE2\x98"] {
            assert_eq!(first_character(bytes), None, "{bytes:x?}");
        }
    }

    #[test]
    fn invalid_characters_have_the_length_that_perl_skips() {
        for (bytes, len) in [
            (&b"\xff\x41"[..], 1),
            (b"\xe2\x82", 2),
            (b"\xc0\x80A", 2),
            (b"\x80\x80", 1),
            (b"\xe0\x80\x80A", 3),
            (b"\xe0\x80\x41", 2),
            (b"\xff\x80\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80A", 13),
        ] {
            assert_eq!(decode_character(bytes), DecodedCharacter { value: None, len }, "{bytes:x?}");
        }
    }
}
