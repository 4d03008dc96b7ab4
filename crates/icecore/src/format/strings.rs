//! Where the strings of a text stand, for callers that change some and keep all else.

use crate::document::Explanation;
use crate::edit::{Around, Decoded, Decoding, Escaping, Part};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;

/// What a text format says about the strings in its texts.
pub(crate) struct Strings {
    /// Whether a text looks so much like this format that it is worth looking for strings.
    pub(crate) inside: fn(&[u8]) -> bool,
    /// The strings of a document that starts where the text does, as its reader reads it.
    pub(crate) find: for<'t> fn(&'t [u8], &Settings, &Wanted<'_>) -> Result<Places<'t>, Error>,
    /// A damaged text as it was before.
    pub(crate) mend: Option<MendFn>,
    /// Whether a class can have this name; `None`: whatever it is.
    pub(crate) takes_class: Option<fn(&[u8]) -> bool>,
    /// Whether its documents are looked for inside of other text.
    pub(crate) embeds: bool,
}

/// See [`Strings::mend`]. `Ok(None)`: nothing explains it; an error: several things do.
pub(crate) type MendFn = fn(&[u8], Damage, &Limits) -> Result<Option<Mended>, Error>;

/// What may be damaged in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It can be read: names of properties without their visibility.
    Names,
    /// Lengths in it.
    Lengths,
    /// Lengths, or the text as a whole.
    Whole,
}

/// A text as it was before it was damaged.
pub(crate) struct Mended {
    pub(crate) text: Vec<u8>,
    pub(crate) explanation: Explanation,
}

/// What is looked for.
pub(crate) struct Wanted<'w> {
    /// What it may cost.
    pub(crate) limits: &'w Limits,
    /// Keys and names of properties.
    pub(crate) keys: bool,
    /// Names of classes.
    pub(crate) classes: bool,
    /// Whether a string that stands between these offsets of the text is of interest.
    pub(crate) may: &'w dyn Fn(usize, usize) -> bool,
}

/// What was found, in order.
#[derive(Default)]
pub(crate) struct Places<'t> {
    pub(crate) list: Vec<Found>,
    /// What the strings are escaped with.
    pub(crate) escapings: Vec<Box<dyn Escaping + 't>>,
    /// How many bytes the document has.
    pub(crate) consumed: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// A string, without its quotes.
    Text(Place),
    /// Bytes, with strings that follow, whose length stands before them.
    Measured(Measured),
    /// Bytes that only their class understands.
    Opaque(usize, usize),
}

/// A string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) part: Part,
    /// Which of [`Places::escapings`]; `None`: it stands there as it is.
    pub(crate) escaping: Option<usize>,
    /// Its length, if that stands before it: in bytes, without escapes.
    pub(crate) length: Option<Length>,
}

/// Bytes whose length stands before them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) end: usize,
    pub(crate) length: Length,
}

/// Where a length stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) was: u64,
    /// It is a byte and may be so large at most; `None`: decimal digits.
    pub(crate) most: Option<u8>,
}

impl Length {
    /// Decimal digits from `start` on.
    pub(crate) fn digits(text: &[u8], start: usize) -> Length {
        let digits = text.get(start..).unwrap_or_default();
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let add = |sum: u64, byte: &u8| sum.saturating_mul(10).saturating_add(u64::from(byte & 0xf));
        Length { start, end: start + count, was: digits.iter().take(count).fold(0, add), most: None }
    }

    /// The length, grown by so much, as it is written; `None`, if it can't be said.
    pub(crate) fn grown(&self, by: i64) -> Option<Vec<u8>> {
        let new = self.was.checked_add_signed(by)?;
        // Zeros before it stay.
        let width = self.end - self.start;
        let digits = self.was.checked_ilog10().unwrap_or(0) as usize + 1;
        match self.most {
            None if digits < width => Some(format!("{new:0width$}").into_bytes()),
            None => Some(new.to_string().into_bytes()),
            Some(most) => u8::try_from(new).ok().filter(|new| *new <= most).map(|new| vec![new]),
        }
    }
}

impl Place {
    /// A value that stands there as it is.
    pub(crate) fn plain(start: usize, end: usize, length: Option<Length>) -> Place {
        Place { start, end, part: Part::Value, escaping: None, length }
    }
}

/// A text in single quotes, as PHP and Perl have it: a backslash stands before these and
/// before another backslash, and otherwise for itself.
pub(crate) struct SingleQuoted;

impl Escaping for SingleQuoted {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        let mut decoding = Decoding::new(raw);
        let mut from = 0;
        while let Some(at) = memchr::memchr(b'\\', raw.get(from..).unwrap_or_default()) {
            let start = from + at;
            from = start + 2;
            match raw.get(start..from)? {
                escaped @ [_, b'\'' | b'\\'] => decoding.escape(start, from, &escaped[1..]),
                // What comes new behind this backslash must not be escaped by it.
                both => decoding.escape(start, from, both),
            }
        }
        Some(decoding.finish())
    }

    fn encode(&self, text: &[u8], _: &Around<'_>, out: &mut Vec<u8>) -> bool {
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
    /// Where the text of this token stands in it, if it is nothing but one such string.
    pub(crate) fn body(token: &[u8]) -> Option<(usize, usize)> {
        let [b'\'', inside @ .., b'\''] = token else { return None };
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'\'', b'\\', inside.get(at..).unwrap_or_default()) {
            at += found + 2;
            // A quote in it ends it; a backslash at its end would escape the last one.
            if inside[at - 2] == b'\'' || at > inside.len() {
                return None;
            }
        }
        Some((1, token.len() - 1))
    }
}

/// A string that is written anew as a whole: tokens in unusual forms.
pub(crate) struct Anew {
    pub(crate) text: Vec<u8>,
    /// Appends it with its quotes; `false`: it can't be said.
    pub(crate) write: WriteFn,
}

/// See [`Anew::write`].
pub(crate) type WriteFn = Box<dyn Fn(&[u8], &mut Vec<u8>) -> bool>;

impl Escaping for Anew {
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
        Some(Decoded::token(raw, self.text.clone().into()))
    }

    fn encode(&self, text: &[u8], _: &Around<'_>, out: &mut Vec<u8>) -> bool {
        (self.write)(text, out)
    }
}
