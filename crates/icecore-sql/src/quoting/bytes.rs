//! Bytes as hexadecimal digits, and PostgreSQL's older form with octal digits.

use icecore::rewrite::{Decoded, DecodedBuilder, Escaping, ReplacedRange};

use super::{Frame, sample_nearest};

fn parse_hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Decodes digits from `start` on. Returns `None` for an odd number of digits, because they are a number and not
/// bytes.
pub(super) fn decode_hex(raw: &[u8], start: usize) -> Option<Decoded<'_>> {
    let mut builder = DecodedBuilder::new(raw);
    let mut offset = start;
    if start > 0 {
        builder.escape(0, start, b"");
    }
    let digits = raw.get(start..).filter(|digits| digits.len() % 2 == 0)?;
    for pair in digits.chunks_exact(2) {
        let [high, low] = pair else { return None };
        builder.escape(offset, offset + 2, &[parse_hex_digit(*high)? << 4 | parse_hex_digit(*low)?]);
        offset += 2;
    }
    Some(builder.finish())
}

/// Appends hexadecimal digits. Their letters have the case of those around them, if there are any.
pub(super) fn encode_hex(text: &[u8], default_is_upper: bool, range: &ReplacedRange<'_>, out: &mut Vec<u8>) {
    let find_case = |piece: &[u8]| {
        let letter = piece.iter().find(|byte| matches!(byte, b'a'..=b'f' | b'A'..=b'F'));
        letter.map(u8::is_ascii_uppercase)
    };
    let digits: &[u8; 16] = match sample_nearest(range, find_case).unwrap_or(default_is_upper) {
        true => b"0123456789ABCDEF",
        false => b"0123456789abcdef",
    };
    for byte in text {
        out.extend([byte >> 4, byte & 15].map(|digit| digits[usize::from(digit)]));
    }
}

/// Decodes `\000`, `\\` and plain bytes in a string, after the escapes of the string itself.
pub(super) fn decode_bytea_escape(raw: &[u8], frame: Frame) -> Option<Decoded<'_>> {
    let outer = frame.string_quoting().decode(raw)?;
    let text = outer.text();
    let mut builder = DecodedBuilder::new(raw);
    let mut offset = 0;
    while offset < text.len() {
        let (len, byte) = match text.get(offset..)? {
            [b'\\', b'\\', ..] => (2, b'\\'),
            [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', ..] => {
                (4, (high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'))
            }
            [b'\\', ..] => return None,
            [byte, ..] => (1, *byte),
            [] => return None,
        };
        let (start, end) = (outer.raw_offset(offset), outer.raw_offset(offset + len));
        if end - start > 1 {
            builder.escape(start, end, &[byte]);
        }
        offset += len;
    }
    Some(builder.finish())
}

pub(super) fn encode_bytea_escape(text: &[u8], frame: Frame, range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
    let mut inner = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'\\' => inner.extend_from_slice(b"\\\\"),
            b' '..=b'~' => inner.push(*byte),
            _ => inner.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    frame.string_quoting().encode(&inner, range, out)
}
