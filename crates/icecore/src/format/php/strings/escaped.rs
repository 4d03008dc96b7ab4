//! Escapes of the strings in PHP's format. Strings with the tag `S:` write a byte as a backslash and two
//! hexadecimal digits.

use crate::edit::{Decoded, DecodedBuilder, Escaping, ReplacedRange};

/// Strings with the tag `S:`.
pub(super) struct HexEscaping;

impl Escaping for HexEscaping {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        let mut builder = DecodedBuilder::new(raw);
        let mut search_start = 0;
        while let Some(distance) = memchr::memchr(b'\\', raw.get(search_start..)?) {
            let start = search_start + distance;
            let digit = |offset: usize| raw.get(offset).and_then(|byte| char::from(*byte).to_digit(16));
            let byte = (digit(start + 1)? << 4 | digit(start + 2)?) as u8;
            builder.escape(start, start + 3, &[byte]);
            search_start = start + 3;
        }
        Some(builder.finish())
    }

    fn encode(&self, text: &[u8], _: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        for byte in text {
            match byte {
                b'\\' | 0..0x20 | 0x7f.. => out.extend_from_slice(format!("\\{byte:02x}").as_bytes()),
                byte => out.push(*byte),
            }
        }
        true
    }
}

/// Names of session variables, which end at a `|`. They have no escapes, so a name with a `|` can't be written.
pub(super) struct BarlessEscaping;

impl Escaping for BarlessEscaping {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        Some(Decoded::plain(raw))
    }

    fn encode(&self, text: &[u8], _: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(text);
        !text.contains(&b'|')
    }
}
