//! Quoting of literals.

mod backslash;
mod bytes;
mod postgres;
mod sqlite;
mod standard;

use icecore::rewrite::{Decoded, Escaping, ReplacedRange};

use crate::Kind;
pub use sqlite::{Placeholder, Replaced};

/// How the body of a literal represents its text.
///
/// ```
/// use icecore::rewrite::{Edits, Escaping, raw_edits};
/// use icecore_sql::{Quote, Quoting};
///
/// let body = br#"s:5:\"It''s\";"#;
/// let quoting = Quoting::Backslash(Quote::Single);
/// let decoded = quoting.decode(body).unwrap();
/// assert_eq!(decoded.text(), br#"s:5:"It's";"#);
/// // New text is written like the text around it.
/// let mut edits = Edits::new();
/// edits.push(6, 7, b"'\"");
/// let edits = raw_edits(body, &decoded, &edits, &quoting).unwrap();
/// assert_eq!(edits.apply(body), br#"s:5:\"I''\"''s\";"#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quoting {
    /// MySQL's strings. A backslash begins an escape, and a quote may be doubled.
    Backslash(Quote),
    /// Strings of standard SQL. A quote is doubled, and all other bytes represent themselves.
    Standard(Quote),
    /// PostgreSQL's `E'…'`.
    Escape,
    /// A cell of PostgreSQL's `COPY`.
    Copy,
    /// `X'…'` and `0x…`: hexadecimal digits.
    Hex,
    /// PostgreSQL's `\x…`. This is a `bytea` in hexadecimal digits.
    Bytea(Frame),
    /// A `bytea` in PostgreSQL's older form, with octal escapes such as `\000`.
    ByteaEscape(Frame),
    /// PostgreSQL's `$tag$…$tag$`. All bytes represent themselves.
    Dollar,
    /// A text with line ends, as SQLite's shell writes it: `replace('a\nb','\n',char(10))`.
    Replaced(Replaced),
    /// A text with control characters, as SQLite's shell writes it: `unistr('a\u0001b')`.
    Unistr,
}

/// The quotes around a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quote {
    /// `'…'`
    Single,
    /// `"…"`
    Double,
}

impl Quote {
    pub(crate) fn as_byte(self) -> u8 {
        match self {
            Quote::Single => b'\'',
            Quote::Double => b'"',
        }
    }
}

/// The string syntax around a `bytea`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// `'…'`
    Standard,
    /// `E'…'`
    Escape,
    /// A cell of `COPY`.
    Copy,
}

impl Frame {
    /// Returns the quoting of the string, regardless of its `bytea` content.
    fn string_quoting(self) -> Quoting {
        match self {
            Frame::Standard => Quoting::Standard(Quote::Single),
            Frame::Escape => Quoting::Escape,
            Frame::Copy => Quoting::Copy,
        }
    }

    /// Returns the prefix of hexadecimal digits. The backslash is doubled if the string syntax has backslash escapes.
    fn hex_prefix(self) -> &'static [u8] {
        match self {
            Frame::Standard => b"\\x",
            Frame::Escape | Frame::Copy => b"\\\\x",
        }
    }
}

/// Number of hexadecimal digits that are examined if the type of a column is unknown.
const EXAMINED_DIGITS: usize = 32;

impl Quoting {
    /// Returns the quoting of a PostgreSQL value in a column of this kind.
    pub(crate) fn for_kind(self, body: &[u8], kind: Kind) -> Quoting {
        let frame = match self {
            Quoting::Standard(Quote::Single) => Frame::Standard,
            Quoting::Escape => Frame::Escape,
            Quoting::Copy => Frame::Copy,
            _ => return self,
        };
        match (kind, body.strip_prefix(frame.hex_prefix())) {
            (Kind::Bytes, Some(_)) => Quoting::Bytea(frame),
            (Kind::Bytes, None) => Quoting::ByteaEscape(frame),
            (Kind::Unknown, Some(digits))
                if digits.len() % 2 == 0 && digits.iter().take(EXAMINED_DIGITS).all(u8::is_ascii_hexdigit) =>
            {
                Quoting::Bytea(frame)
            }
            _ => self,
        }
    }
}

impl Escaping for Quoting {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        match self {
            Quoting::Backslash(quote) => backslash::decode_backslash(raw, quote.as_byte()),
            Quoting::Standard(quote) => standard::decode_standard(raw, quote.as_byte()),
            Quoting::Escape => postgres::decode_escape_string(raw),
            Quoting::Copy => postgres::decode_copy(raw),
            Quoting::Hex => bytes::decode_hex(raw, 0),
            Quoting::Bytea(frame) => {
                raw.starts_with(frame.hex_prefix()).then(|| bytes::decode_hex(raw, frame.hex_prefix().len()))?
            }
            Quoting::ByteaEscape(frame) => bytes::decode_bytea_escape(raw, *frame),
            Quoting::Dollar => Some(Decoded::plain(raw)),
            Quoting::Replaced(replaced) => replaced.decode(raw),
            Quoting::Unistr => sqlite::decode_unistr(raw),
        }
    }

    fn encode(&self, text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        match self {
            Quoting::Backslash(quote) => backslash::encode_backslash(text, quote.as_byte(), range, out),
            Quoting::Standard(quote) => return standard::encode_standard(text, quote.as_byte(), out),
            Quoting::Escape => return postgres::encode_escape_string(text, range, out),
            Quoting::Copy => return postgres::encode_copy(text, range, out),
            Quoting::Hex | Quoting::Bytea(_) => bytes::encode_hex(text, *self == Quoting::Hex, range, out),
            Quoting::ByteaEscape(frame) => return bytes::encode_bytea_escape(text, *frame, range, out),
            Quoting::Dollar => return standard::encode_dollar(text, range, out),
            Quoting::Replaced(replaced) => return replaced.encode(text, range, out),
            Quoting::Unistr => return sqlite::encode_unistr(text, out),
        }
        true
    }
}

/// Number of bytes before and after new text that are examined, to write the new text in the same style.
const SAMPLE_DISTANCE: usize = 256;

/// Calls `sample` with the replaced text, then with the text before it and the text after it. Returns its first
/// result, or `None` if it has none for any of them.
pub(crate) fn sample_nearest<'a, T>(range: &ReplacedRange<'a>, sample: impl Fn(&'a [u8]) -> Option<T>) -> Option<T> {
    let raw = range.raw;
    let (start, end) = (range.start.min(raw.len()), range.end.min(raw.len()));
    // The replaced text is the best sample.
    let replaced = raw.get(start..end.min(start + SAMPLE_DISTANCE)).unwrap_or_default();
    sample(replaced)
        .or_else(|| sample(raw.get(start.saturating_sub(SAMPLE_DISTANCE)..start).unwrap_or_default()))
        .or_else(|| sample(raw.get(end..raw.len().min(end + SAMPLE_DISTANCE)).unwrap_or_default()))
}
