//! Calls in the output of SQLite's shell for text with control characters.

use icecore::rewrite::{Decoded, DecodedBuilder, ReplacedRange};
use memchr::{memchr, memchr2};

/// The placeholder of a line end in a text, such as `\n`, `\012` or `(\n7)`.
///
/// It can only be a placeholder that SQLite's shell writes. Two of these can't overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placeholder {
    form: Form,
    number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    /// `\n`
    Letter,
    /// `\012`
    Octal,
    /// `(\n7)`
    Numbered,
}

impl Placeholder {
    /// Maximum length of a placeholder. `(\n` and `)` have four bytes, and the number has at most ten digits.
    pub(crate) const MAX: usize = 14;

    pub(crate) fn new(needle: &[u8], byte: u8) -> Option<Placeholder> {
        let text = std::str::from_utf8(needle).ok()?;
        let numbered = text.strip_prefix('(').and_then(|rest| rest.get(2..)?.strip_suffix(')'));
        let form = match numbered {
            Some(_) => Form::Numbered,
            None if needle.len() == 2 => Form::Letter,
            None => Form::Octal,
        };
        let number = numbered.map_or(Some(0), |digits| digits.parse().ok())?;
        let candidate = Placeholder { form, number };
        // A text that the shell would write in another way, such as one with leading zeros, is not a placeholder.
        (candidate.to_text(byte).as_bytes() == needle).then_some(candidate)
    }

    /// Returns the text of the placeholder for this byte of a line end.
    fn to_text(self, byte: u8) -> NeedleText {
        let (letter, octal): (&[u8], &[u8]) = if byte == b'\n' { (b"\\n", b"\\012") } else { (b"\\r", b"\\015") };
        let mut text = NeedleText { bytes: [0; Placeholder::MAX], len: 0 };
        match self.form {
            Form::Letter => text.push(letter),
            Form::Octal => text.push(octal),
            Form::Numbered => {
                text.push(b"(");
                text.push(letter);
                text.push(self.number.to_string().as_bytes());
                text.push(b")");
            }
        }
        text
    }
}

/// A placeholder as text.
#[derive(Clone, Copy)]
struct NeedleText {
    bytes: [u8; Placeholder::MAX],
    len: usize,
}

impl NeedleText {
    fn push(&mut self, piece: &[u8]) {
        let end = self.len + piece.len();
        if let Some(target) = self.bytes.get_mut(self.len..end) {
            target.copy_from_slice(piece);
            self.len = end;
        }
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// The placeholders that the calls of `replace` around a text replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Replaced {
    pub(crate) line_feed: Option<Placeholder>,
    pub(crate) carriage_return: Option<Placeholder>,
}

impl Replaced {
    /// Returns the placeholders, with the bytes that they represent.
    fn needle_texts(&self) -> [Option<(NeedleText, u8)>; 2] {
        let text = |needle: Option<Placeholder>, byte| needle.map(|needle| (needle.to_text(byte), byte));
        [text(self.line_feed, b'\n'), text(self.carriage_return, b'\r')]
    }

    pub(super) fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        let needles = self.needle_texts();
        let mut builder = DecodedBuilder::new(raw);
        let mut offset = 0;
        while let Some(rest) = raw.get(offset..)
            && let Some(found) = rest.iter().position(|byte| matches!(byte, b'\'' | b'\\' | b'('))
        {
            offset += found;
            let rest = raw.get(offset..)?;
            let needle = needles.iter().flatten().find(|(needle, _)| rest.starts_with(needle.as_bytes()));
            if let Some((needle, byte)) = needle {
                builder.escape(offset, offset + needle.len, &[*byte]);
                offset += needle.len;
            } else if rest.starts_with(b"'") {
                if !rest.starts_with(b"''") {
                    return None;
                }
                builder.escape(offset, offset + 2, b"'");
                offset += 2;
            } else {
                offset += 1;
            }
        }
        Some(builder.finish())
    }

    /// Appends the text with placeholders. Returns `false` if the result would contain a placeholder in another
    /// place.
    pub(super) fn encode(&self, text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        let needles = self.needle_texts();
        let out_start = out.len();
        let before = range.raw.get(range.start.saturating_sub(Placeholder::MAX)..range.start).unwrap_or_default();
        let after = range.raw.get(range.end..).unwrap_or_default();
        let after = after.get(..Placeholder::MAX).unwrap_or(after);
        let mut placeholder_starts = Vec::new();
        for &byte in text {
            if let Some((needle, _)) = needles.iter().flatten().find(|(_, known)| *known == byte) {
                placeholder_starts.push(before.len() + out.len() - out_start);
                out.extend_from_slice(needle.as_bytes());
                continue;
            }
            if byte == b'\'' {
                out.push(byte);
            }
            out.push(byte);
        }
        let encoded = out.get(out_start..).unwrap_or_default();
        let (start, end) = (before.len(), before.len() + encoded.len());
        let all = [before, encoded, after].concat();
        let mut placeholder_starts = placeholder_starts.into_iter().peekable();
        for index in 0..all.len() {
            let is_intended = placeholder_starts.next_if_eq(&index).is_some();
            let rest = all.get(index..).unwrap_or_default();
            let is_placeholder = needles.iter().flatten().any(|(needle, _)| {
                // A placeholder that does not touch the new text was there before, so it is not counted.
                rest.starts_with(needle.as_bytes()) && index + needle.len > start && index < end.max(start)
            });
            if is_placeholder && !is_intended {
                return false;
            }
        }
        memchr(0, text).is_none()
    }
}

/// Parses an escape after its backslash. Returns the number of bytes and the character.
fn parse_unistr_escape(rest: &[u8]) -> Option<(usize, char)> {
    let (skip, digits) = match rest.first()? {
        b'\\' => return Some((1, '\\')),
        b'u' => (1, 4),
        b'U' => (1, 8),
        b'+' => (1, 6),
        _ => (0, 4),
    };
    let text = std::str::from_utf8(rest.get(skip..skip + digits)?).ok()?;
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(text, 16).ok()?;
    Some((skip + digits, char::from_u32(value)?))
}

pub(super) fn decode_unistr(raw: &[u8]) -> Option<Decoded<'_>> {
    let mut builder = DecodedBuilder::new(raw);
    let mut offset = 0;
    while let Some(found) = memchr2(b'\\', b'\'', raw.get(offset..)?) {
        offset += found;
        let rest = raw.get(offset + 1..)?;
        if raw.get(offset) == Some(&b'\'') {
            if rest.first() != Some(&b'\'') {
                return None;
            }
            builder.escape(offset, offset + 2, b"'");
            offset += 2;
            continue;
        }
        let (len, character) = parse_unistr_escape(rest)?;
        builder.escape(offset, offset + 1 + len, character.encode_utf8(&mut [0; 4]).as_bytes());
        offset += 1 + len;
    }
    Some(builder.finish())
}

pub(super) fn encode_unistr(text: &[u8], out: &mut Vec<u8>) -> bool {
    for &byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b"''"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0 => return false,
            1..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    true
}
