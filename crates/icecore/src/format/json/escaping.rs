//! JSON strings that are changed in place.

use super::string::{decode_short_escape, find_special, parse_hex4, push_code_point};
use crate::edit::{Decoded, DecodedBuilder, Escaping, ReplacedRange};
use std::cell::OnceCell;

/// Number of bytes before and after a change that are examined.
const EXAMINED_BYTES: usize = 256;

/// How a text is escaped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EscapeStyle {
    /// Slashes are escaped: `\/`.
    escapes_slashes: bool,
    /// There are slashes without an escape.
    has_bare_slashes: bool,
    /// Characters beyond ASCII are escaped: `\u00e9`.
    escapes_non_ascii: bool,
    /// There are characters beyond ASCII without an escape.
    has_bare_non_ascii: bool,
    /// The hexadecimal digits are capitals.
    uses_capitals: bool,
    /// Printable ASCII characters that are written as escapes, such as `\u003c`.
    ascii: u128,
}

impl EscapeStyle {
    /// Returns the style of this text.
    pub(super) fn from_text(text: &[u8]) -> EscapeStyle {
        let mut style = EscapeStyle { has_bare_non_ascii: !text.is_ascii(), ..EscapeStyle::default() };
        let mut offset = 0;
        while let Some(distance) = memchr::memchr2(b'\\', b'/', text.get(offset..).unwrap_or_default()) {
            offset += distance + 1;
            if text[offset - 1] == b'/' {
                style.has_bare_slashes = true;
                continue;
            }
            match text.get(offset) {
                Some(b'/') => style.escapes_slashes = true,
                Some(b'u') => style.note_code_escape(text.get(offset + 1..).and_then(|rest| rest.first_chunk())),
                _ => {}
            }
            offset += 1;
        }
        style
    }

    /// Returns the style of a part of a string.
    fn from_surroundings(raw: &[u8], start: usize, end: usize) -> EscapeStyle {
        // Do not start inside an escape.
        let before = raw.get(start.saturating_sub(EXAMINED_BYTES)..start).unwrap_or_default();
        let run = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        EscapeStyle::from_text(raw.get(start - run..end.min(raw.len())).unwrap_or_default())
    }

    fn note_code_escape(&mut self, digits: Option<&[u8; 4]>) {
        let Some((digits, code)) = digits.and_then(|digits| Some((digits, parse_hex4(digits)?))) else { return };
        self.uses_capitals |= digits.iter().any(u8::is_ascii_uppercase);
        match code {
            0x80.. => self.escapes_non_ascii = true,
            0x20..=0x7f => self.ascii |= 1 << code,
            _ => {}
        }
    }
}

/// JSON's escapes in the style of a document.
pub(super) struct JsonEscaping<'t> {
    text: &'t [u8],
    /// Computed when it is first needed.
    style: OnceCell<EscapeStyle>,
}

impl Escaping for JsonEscaping<'_> {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        let mut builder = DecodedBuilder::new(raw);
        let mut offset = 0;
        loop {
            let start = find_special::<true>(raw, offset).offset;
            let letter = match raw.get(start..start + 2) {
                Some([b'\\', letter]) => *letter,
                None if start >= raw.len() => return Some(builder.finish()),
                _ => return None,
            };
            if let Some(byte) = decode_short_escape(letter) {
                builder.escape(start, start + 2, &[byte]);
                offset = start + 2;
                continue;
            }
            let unit = |offset: usize| match raw.get(offset..offset + 6) {
                Some([b'\\', b'u', digits @ ..]) => digits.first_chunk().and_then(parse_hex4).map(u32::from),
                _ => None,
            };
            let mut code = unit(start)?;
            offset = start + 6;
            if let (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) = (code, unit(offset)) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                offset += 6;
            }
            let mut bytes = Vec::with_capacity(4);
            push_code_point(code, &mut bytes);
            builder.escape(start, offset, &bytes);
        }
    }

    fn encode(&self, text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        // Writers do not escape these.
        if text.iter().all(|byte| byte.is_ascii_alphanumeric() || b" -._:?".contains(byte)) {
            out.extend_from_slice(text);
            return true;
        }
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let ReplacedRange { raw, start, end } = *range;
        let replaced = EscapeStyle::from_text(raw.get(start..end.min(start + EXAMINED_BYTES)).unwrap_or_default());
        let nearby = EscapeStyle::from_surroundings(
            raw,
            start.saturating_sub(EXAMINED_BYTES),
            end.saturating_add(EXAMINED_BYTES),
        );
        let decide = |evidence: fn(&EscapeStyle) -> (bool, bool), default: bool| {
            let decided = [replaced, nearby].into_iter().map(|style| evidence(&style)).find(|(yes, no)| yes != no);
            decided.map_or(default, |(yes, _)| yes)
        };
        let escapes_slashes =
            decide(|style| (style.escapes_slashes, style.has_bare_slashes), self.escape_style().escapes_slashes);
        let default = self.escape_style().escapes_non_ascii && !self.escape_style().has_bare_non_ascii;
        let escapes_non_ascii = decide(|style| (style.escapes_non_ascii, style.has_bare_non_ascii), default);
        for c in text.chars() {
            match c {
                '"' | '\\' if !self.is_escaped_by_code(c) => out.extend_from_slice(&[b'\\', c as u8]),
                '/' if escapes_slashes => out.extend_from_slice(b"\\/"),
                '\u{8}' => out.extend_from_slice(b"\\b"),
                '\u{c}' => out.extend_from_slice(b"\\f"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\t' => out.extend_from_slice(b"\\t"),
                c if c < ' ' || self.is_escaped_by_code(c) || c > '\u{7f}' && escapes_non_ascii => {
                    self.write_code_escape(c, out)
                }
                c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        true
    }
}

impl<'t> JsonEscaping<'t> {
    /// Returns the escapes for this text.
    pub(super) fn from_text(text: &'t [u8]) -> JsonEscaping<'t> {
        JsonEscaping { text, style: OnceCell::new() }
    }

    fn escape_style(&self) -> &EscapeStyle {
        self.style.get_or_init(|| EscapeStyle::from_text(self.text))
    }

    fn is_escaped_by_code(&self, c: char) -> bool {
        c.is_ascii() && self.escape_style().ascii >> (c as u32) & 1 == 1
    }

    fn write_code_escape(&self, c: char, out: &mut Vec<u8>) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let code =
                if self.escape_style().uses_capitals { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
            out.extend_from_slice(code.as_bytes());
        }
    }
}
