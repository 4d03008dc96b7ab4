//! Finds the strings of a text, for callers that change some and keep everything else.

use crate::document::Explanation;
use crate::edit::{Decoded, DecodedBuilder, Escaping, ReplacedRange, StringRole};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;

/// What a text format provides to find strings in its texts.
pub(crate) struct Strings {
    /// Returns `true` if a text is similar enough to this format to be searched for strings.
    pub(crate) is_candidate: fn(&[u8]) -> bool,
    /// Finds the strings of a document at the start of the text, as its reader reads it.
    pub(crate) find: for<'t> fn(&'t [u8], &Settings, &StringRequest<'_>) -> Result<StringPlaces<'t>, Error>,
    /// Repairs a damaged text, if the format can do that.
    pub(crate) repair: Option<RepairTextFn>,
    /// Returns `true` if a class can have this name. Without it, any name is allowed.
    pub(crate) is_class_name: Option<fn(&[u8]) -> bool>,
    /// Whether documents of this format are also searched in the middle of other text.
    pub(crate) is_embedded: bool,
}

/// See `repair` of [`Strings`]. `Ok(None)` if nothing explains the damage; an error if several
/// things do.
pub(crate) type RepairTextFn = fn(&[u8], Damage, &Limits) -> Result<Option<TextRepair>, Error>;

/// What may be damaged in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The text is readable; names of properties lack their visibility.
    Names,
    /// Lengths in the text.
    Lengths,
    /// Lengths, or the text as a whole.
    Whole,
}

/// A repaired text.
pub(crate) struct TextRepair {
    pub(crate) text: Vec<u8>,
    pub(crate) explanation: Explanation,
}

/// Selects the strings to find.
pub(crate) struct StringRequest<'w> {
    /// Limits for the cost of the search.
    pub(crate) limits: &'w Limits,
    /// Whether keys and names of properties are wanted.
    pub(crate) wants_keys: bool,
    /// Whether names of classes are wanted.
    pub(crate) wants_classes: bool,
    /// Returns `true` if a string between these offsets of the text is wanted.
    pub(crate) is_wanted: &'w dyn Fn(usize, usize) -> bool,
}

/// The strings that were found, in the order of the text.
#[derive(Default)]
pub(crate) struct StringPlaces<'t> {
    pub(crate) strings: Vec<FoundString>,
    /// The escapings that the strings use; [`StringPlace::escaping`] is an index into this list.
    pub(crate) escapings: Vec<Box<dyn Escaping + 't>>,
    /// Length of the document in bytes.
    pub(crate) consumed: usize,
}

/// An entry of [`StringPlaces::list`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum FoundString {
    /// A string, without its quotes.
    Text(StringPlace),
    /// Bytes that contain other strings of the list, after a length that must be kept correct.
    LengthPrefixed(LengthPrefixed),
    /// Start and end of bytes that only their class understands.
    Opaque(usize, usize),
}

/// The place of a string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringPlace {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) role: StringRole,
    /// Index into [`StringPlaces::escapings`]; `None` if it is not escaped.
    pub(crate) escaping: Option<usize>,
    /// Its length, if it precedes the string: in bytes, without escapes.
    pub(crate) length: Option<Length>,
}

/// The end of bytes that follow their length, and that length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LengthPrefixed {
    pub(crate) end: usize,
    pub(crate) length: Length,
}

/// A length in the text, and its location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The length as the text states it.
    pub(crate) value: u64,
    /// The maximum, if the length is a byte; `None` for decimal digits.
    pub(crate) max_value: Option<u8>,
}

impl Length {
    /// Returns the length in decimal digits at `start`.
    pub(crate) fn from_digits(text: &[u8], start: usize) -> Length {
        let digits = text.get(start..).unwrap_or_default();
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let add = |sum: u64, byte: &u8| sum.saturating_mul(10).saturating_add(u64::from(byte & 0xf));
        Length { start, end: start + count, value: digits.iter().take(count).fold(0, add), max_value: None }
    }

    /// Returns the length plus `delta` in its written form; `None` if it can't be written.
    pub(crate) fn write_grown(&self, delta: i64) -> Option<Vec<u8>> {
        let new = self.value.checked_add_signed(delta)?;
        // Leading zeros stay.
        let width = self.end - self.start;
        let digits = self.value.checked_ilog10().unwrap_or(0) as usize + 1;
        match self.max_value {
            None if digits < width => Some(format!("{new:0width$}").into_bytes()),
            None => Some(new.to_string().into_bytes()),
            Some(max) => u8::try_from(new).ok().filter(|new| *new <= max).map(|new| vec![new]),
        }
    }
}

impl StringPlace {
    /// Returns the place of a value without escapes.
    pub(crate) fn without_escapes(start: usize, end: usize, length: Option<Length>) -> StringPlace {
        StringPlace { start, end, role: StringRole::Value, escaping: None, length }
    }
}

/// Text in single quotes, as in PHP and Perl: a backslash only has a meaning before a
/// quote or another backslash.
pub(crate) struct SingleQuoted;

impl Escaping for SingleQuoted {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        let mut builder = DecodedBuilder::new(raw);
        let mut search_start = 0;
        while let Some(distance) = memchr::memchr(b'\\', raw.get(search_start..).unwrap_or_default()) {
            let start = search_start + distance;
            search_start = start + 2;
            match raw.get(start..search_start)? {
                escaped @ [_, b'\'' | b'\\'] => builder.escape(start, search_start, &escaped[1..]),
                // Text inserted after this backslash must not be escaped by it.
                two_bytes => builder.escape(start, search_start, two_bytes),
            }
        }
        Some(builder.finish())
    }

    fn encode(&self, text: &[u8], _: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        for byte in text {
            if matches!(byte, b'\'' | b'\\') {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        true
    }
}

impl SingleQuoted {
    /// Returns where the text of this token is, if the token is one such string.
    pub(crate) fn find_body(token: &[u8]) -> Option<(usize, usize)> {
        let [b'\'', inside @ .., b'\''] = token else { return None };
        let mut offset = 0;
        while let Some(distance) = memchr::memchr2(b'\'', b'\\', inside.get(offset..).unwrap_or_default()) {
            offset += distance + 2;
            // A quote inside ends the string; a backslash at the end would escape the last
            // quote.
            if inside[offset - 2] == b'\'' || offset > inside.len() {
                return None;
            }
        }
        Some((1, token.len() - 1))
    }
}

/// A string that is rewritten as a whole: tokens in unusual forms.
pub(crate) struct TokenRewriter {
    pub(crate) text: Vec<u8>,
    /// Appends it with its quotes; `false` if it can't be written.
    pub(crate) write: WriteFn,
}

/// See [`TokenRewriter::write`].
pub(crate) type WriteFn = Box<dyn Fn(&[u8], &mut Vec<u8>) -> bool>;

impl Escaping for TokenRewriter {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        Some(Decoded::token(raw, self.text.clone().into()))
    }

    fn encode(&self, text: &[u8], _: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
        (self.write)(text, out)
    }
}
