//! Backslashes before quotes, for changes in place.

use crate::edit::{Decoded, DecodedBuilder, Escaping, ReplacedRange};
use crate::find_byte::find_byte;

/// Number of bytes around a change that are examined.
const EXAMINED_LEN: usize = 256;

/// The escapes of `addslashes`.
pub(super) struct Slashes {
    /// Whether `\n`, `\r` and `\Z` have the meaning of C and MySQL, instead of being letters.
    pub(super) follows_c: bool,
}

/// Returns `true` if a text that may be frozen data begins here, with its first quote escaped.
fn may_begin_escaped(raw: &[u8]) -> bool {
    let byte_before_quote = || {
        memchr::memchr2(b'"', b'\'', raw).and_then(|offset| offset.checked_sub(1)).and_then(|before| raw.get(before))
    };
    begins_serialized(raw) && byte_before_quote() == Some(&b'\\')
}

/// Returns `true` for the beginning of a PHP value, JSON, `array (` of `var_export()`, or `name|` of a session before a
/// value.
fn begins_serialized(raw: &[u8]) -> bool {
    let is_value = |raw: &[u8]| matches!(raw, [b'a' | b's' | b'O' | b'C' | b'E', b':', ..]);
    let is_variable = || {
        let head = raw.get(..EXAMINED_LEN).unwrap_or(raw);
        let name = head.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
        let after_name = raw.get(name..).unwrap_or_default();
        name > 0
            && matches!(
                after_name,
                [b'|', b'a' | b's' | b'O' | b'C' | b'E' | b'i' | b'b' | b'd', b':', ..] | [b'|', b'N', b';', ..]
            )
    };
    is_value(raw)
        || matches!(raw, [b'{' | b'[' | b'\\', ..])
        || raw.trim_ascii_start().starts_with(b"array")
        || is_variable()
}

impl Escaping for Slashes {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        if !may_begin_escaped(raw) {
            return None;
        }
        let mut builder = DecodedBuilder::new(raw);
        let mut search_start = 0;
        while let Some(distance) = find_byte(raw.get(search_start..)?, [b'\\']) {
            let start = search_start + distance;
            let byte = match (raw.get(start + 1)?, self.follows_c) {
                (b'0', _) => 0,
                (b'n', true) => b'\n',
                (b'r', true) => b'\r',
                (b'Z', true) => 0x1a,
                (byte, _) => *byte,
            };
            search_start = start + 2;
            builder.escape(start, search_start, &[byte]);
        }
        Some(builder.finish())
    }

    fn encode(&self, text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        let ReplacedRange { raw, start, end } = *range;
        let window = start.saturating_sub(EXAMINED_LEN)..end.saturating_add(EXAMINED_LEN).min(raw.len());
        // Some writers escape double quotes only.
        let quote =
            memchr::memchr(b'\'', raw.get(window.clone()).unwrap_or_default()).map(|offset| window.start + offset);
        let escapes_single_quote =
            quote.is_none_or(|offset| offset.checked_sub(1).and_then(|index| raw.get(index)) == Some(&b'\\'));
        for byte in text {
            match byte {
                b'\'' if !escapes_single_quote => out.push(b'\''),
                b'\'' | b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
                0 => out.extend_from_slice(b"\\0"),
                b'\n' if self.follows_c => out.extend_from_slice(b"\\n"),
                b'\r' if self.follows_c => out.extend_from_slice(b"\\r"),
                0x1a if self.follows_c => out.extend_from_slice(b"\\Z"),
                byte => out.push(*byte),
            }
        }
        true
    }
}
