//! Texts that stand escaped in another one, with the way back to where each byte stands.

use super::{Edit, Edits};
use std::borrow::Cow;

/// How a text is escaped inside of another one: literals of SQL, strings of JSON,
/// `addslashes`, cells of CSV.
///
/// ```
/// use icecore::rewrite::{Around, Decoded, Decoding, Edits, Escaping, raw_edits};
/// /// Quotes are doubled.
/// struct Doubled;
/// impl Escaping for Doubled {
///     fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
///         let mut decoding = Decoding::new(raw);
///         let mut at = 0;
///         while let Some(quote) = raw[at..].iter().position(|byte| *byte == b'\'') {
///             at += quote + 2;
///             if raw.get(at - 1) != Some(&b'\'') {
///                 return None;
///             }
///             decoding.escape(at - 2, at, b"'");
///         }
///         Some(decoding.finish())
///     }
///     fn encode(&self, text: &[u8], _: &Around<'_>, out: &mut Vec<u8>) -> bool {
///         for byte in text {
///             out.extend_from_slice(if *byte == b'\'' { b"''" } else { std::slice::from_ref(byte) });
///         }
///         true
///     }
/// }
/// let raw = b"it''s old";
/// let decoded = Doubled.decode(raw).unwrap();
/// assert_eq!(decoded.text(), b"it's old");
/// let mut edits = Edits::new();
/// edits.push(5, 8, b"Bob's");
/// let edits = raw_edits(raw, &decoded, &edits, &Doubled).unwrap();
/// assert_eq!(edits.apply(raw), b"it''s Bob''s");
/// ```
pub trait Escaping {
    /// What the raw bytes say; `None` if they can't be escaped so.
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>>;

    /// Appends new text, escaped. `false`: it can't be said so, and nothing of it counts.
    fn encode(&self, text: &[u8], around: &Around<'_>, out: &mut Vec<u8>) -> bool;
}

/// Where new text goes: the raw string of which the bytes from `start` to `end` go. What is
/// before and behind them tells in which manner the string is escaped.
#[derive(Clone, Copy, Debug)]
pub struct Around<'r> {
    /// The whole string, escaped.
    pub raw: &'r [u8],
    /// Where the bytes start that go.
    pub start: usize,
    /// Where they end.
    pub end: usize,
}

/// A text without its escapes, and where each of its bytes stood.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    text: Cow<'a, [u8]>,
    /// Bytes that do not stand for themselves, in order.
    escapes: Vec<Escape>,
    raw_len: usize,
}

/// Escapes of the same lengths, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Escape {
    /// Where the first starts in the text.
    text: usize,
    /// Where it starts in the raw bytes.
    raw: usize,
    /// How many bytes of text each is.
    text_len: usize,
    /// How many raw bytes each is.
    raw_len: usize,
    times: usize,
}

impl Escape {
    fn text_end(&self) -> usize {
        self.text + self.text_len * self.times
    }

    fn raw_end(&self) -> usize {
        self.raw + self.raw_len * self.times
    }
}

impl<'a> Decoded<'a> {
    /// A text without escapes.
    pub fn plain(raw: &'a [u8]) -> Decoded<'a> {
        Decoded { text: Cow::Borrowed(raw), escapes: Vec::new(), raw_len: raw.len() }
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text without the way back.
    pub fn into_text(self) -> Cow<'a, [u8]> {
        self.text
    }

    /// Whether every byte stands for itself.
    pub fn is_plain(&self) -> bool {
        self.escapes.is_empty()
    }

    /// Where the raw form of this offset of the text starts. In the middle of an escape: the
    /// start of it.
    pub fn raw_offset(&self, offset: usize) -> usize {
        self.unit(offset, self.before(offset)).1
    }

    /// How many entries start at or before this offset.
    fn before(&self, offset: usize) -> usize {
        self.escapes.partition_point(|escape| escape.text <= offset)
    }

    /// The last place at or before this offset where text and raw form both begin anew.
    /// `before`: how many entries start there or before.
    fn unit(&self, offset: usize, before: usize) -> (usize, usize) {
        let Some(escape) = before.checked_sub(1).and_then(|at| self.escapes.get(at)) else {
            let offset = offset.min(self.raw_len);
            return (offset, offset);
        };
        if offset >= escape.text_end() {
            let raw = (escape.raw_end() + (offset - escape.text_end())).min(self.raw_len);
            return (offset, raw);
        }
        let whole = offset.saturating_sub(escape.text).checked_div(escape.text_len).unwrap_or(0);
        (escape.text + whole * escape.text_len, escape.raw + whole * escape.raw_len)
    }

    /// As [`Decoded::unit`], the first place at or behind.
    fn unit_end(&self, offset: usize, before: usize) -> (usize, usize) {
        let (text, raw) = self.unit(offset, before);
        match before.checked_sub(1).and_then(|at| self.escapes.get(at)) {
            Some(escape) if text < offset => (text + escape.text_len, raw + escape.raw_len),
            _ => (text, raw),
        }
    }
}

/// Makes a [`Decoded`] from the front to the back: what no escape is said for stands for
/// itself.
#[derive(Clone, Debug)]
pub struct Decoding<'a> {
    raw: &'a [u8],
    text: Vec<u8>,
    escapes: Vec<Escape>,
    /// How far the raw bytes are done.
    at: usize,
}

impl<'a> Decoding<'a> {
    /// Nothing is known of these bytes yet.
    pub fn new(raw: &'a [u8]) -> Decoding<'a> {
        Decoding { raw, text: Vec::new(), escapes: Vec::new(), at: 0 }
    }

    /// The raw bytes from `start` to `end` stand for `text`: for nothing, if it is empty.
    /// Those before, behind the last escape, stand for themselves.
    pub fn escape(&mut self, start: usize, end: usize, text: &[u8]) {
        let (start, end) = (start.max(self.at), end.min(self.raw.len()));
        if start > end {
            return;
        }
        if self.text.capacity() == 0 {
            self.text.reserve(self.raw.len());
        }
        self.text.extend_from_slice(self.raw.get(self.at..start).unwrap_or_default());
        let (text_at, raw_len) = (self.text.len(), end - start);
        self.text.extend_from_slice(text);
        self.at = end;
        match self.escapes.last_mut() {
            Some(last)
                if (last.text_end(), last.raw_end()) == (text_at, start)
                    && (last.text_len, last.raw_len) == (text.len(), raw_len)
                    && !text.is_empty() =>
            {
                last.times += 1;
            }
            _ => self.escapes.push(Escape { text: text_at, raw: start, text_len: text.len(), raw_len, times: 1 }),
        }
    }

    /// What is left stands for itself.
    pub fn finish(mut self) -> Decoded<'a> {
        let raw_len = self.raw.len();
        if self.escapes.is_empty() {
            return Decoded::plain(self.raw);
        }
        self.text.extend_from_slice(self.raw.get(self.at..).unwrap_or_default());
        Decoded { text: Cow::Owned(self.text), escapes: self.escapes, raw_len }
    }
}

/// Changes of the text as changes of its raw form. `None`: one of them can't be said in
/// this escaping.
///
/// A change that begins or ends in the middle of an escape (a character of several bytes
/// that is written as one) takes all of it, and says the rest anew.
pub fn raw_edits(raw: &[u8], decoded: &Decoded<'_>, edits: &Edits, escaping: &dyn Escaping) -> Option<Edits> {
    let mut list = Edits::new();
    let mut all = edits.iter().peekable();
    while let Some(edit) = all.next() {
        let (from, start) = decoded.unit(edit.start, decoded.before(edit.start));
        let text = decoded.text();
        let mut new = Vec::new();
        new.extend_from_slice(text.get(from..edit.start)?);
        new.extend_from_slice(&edit.new);
        let mut last = edit;
        // The next may begin in the escape that this one ends in, or behind it: what is around is then new, too.
        let (mut to, mut end) = decoded.unit_end(last.end, decoded.before(last.end));
        while let Some(next) = all.next_if(|next| next.start <= to) {
            new.extend_from_slice(text.get(last.end..next.start)?);
            new.extend_from_slice(&next.new);
            last = next;
            (to, end) = decoded.unit_end(last.end, decoded.before(last.end));
        }
        new.extend_from_slice(text.get(last.end..to)?);
        let mut escaped = Vec::with_capacity(new.len());
        if !escaping.encode(&new, &Around { raw, start, end }, &mut escaped) {
            return None;
        }
        // Of what is said anew, most may be as it was.
        let old = raw.get(start..end)?;
        let front = old.iter().zip(&escaped).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[front..], &escaped[front..]);
        let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let new = new[..new.len() - back].to_vec();
        if !list.add(Edit { start: start + front, end: end - back, new }) {
            return None;
        }
    }
    Some(list)
}
