//! Texts that stand escaped in another one, with the way back to where each byte stands.

use super::spare::{self, Spare};
use super::{Edit, Edits, Entry, NEW, common};
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
    /// The text; if it is owned, with room behind it.
    text: Cow<'a, [u8]>,
    len: usize,
    /// Bytes that do not stand for themselves, in order.
    escapes: Vec<Escape>,
    raw_len: usize,
    /// No part of it can be written without the rest.
    is_token: bool,
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

thread_local! {
    static TEXTS: Spare<u8> = const { Spare::new(Vec::new()) };
    static ESCAPES: Spare<Escape> = const { Spare::new(Vec::new()) };
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
        Decoded { text: Cow::Borrowed(raw), len: raw.len(), escapes: Vec::new(), raw_len: raw.len(), is_token: false }
    }

    /// A text that has one form as a whole, such as a token with its quotes: whatever changes in
    /// it, all of it is encoded anew.
    pub fn token(raw: &[u8], text: Cow<'a, [u8]>) -> Decoded<'a> {
        let escape = Escape { text: 0, raw: 0, text_len: text.len(), raw_len: raw.len(), times: 1 };
        Decoded { len: text.len(), text, escapes: vec![escape], raw_len: raw.len(), is_token: true }
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        self.text.get(..self.len).unwrap_or_default()
    }

    /// The text without the way back.
    pub fn into_text(mut self) -> Cow<'a, [u8]> {
        let mut text = std::mem::take(&mut self.text);
        if let Cow::Owned(text) = &mut text {
            text.truncate(self.len);
        }
        text
    }

    /// Whether every byte stands for itself.
    pub fn is_plain(&self) -> bool {
        self.escapes.is_empty()
    }

    /// Where the raw form of this offset of the text starts. In the middle of an escape: the
    /// start of it.
    pub fn raw_offset(&self, offset: usize) -> usize {
        self.unit(offset, self.before(offset, 0)).1
    }

    /// How many entries start at or before this offset, of which so many are known.
    fn before(&self, offset: usize, known: usize) -> usize {
        /// So few are passed one by one.
        const FEW: usize = 4;
        let rest = self.escapes.get(known..).unwrap_or_default();
        let few = rest.iter().take(FEW).take_while(|escape| escape.text <= offset).count();
        let rest = rest.get(few..).filter(|_| few == FEW).unwrap_or_default();
        known + few + rest.partition_point(|escape| escape.text <= offset)
    }

    /// The last place at or before this offset where text and raw form both begin anew.
    /// `before`: how many entries start there or before.
    fn unit(&self, offset: usize, before: usize) -> (usize, usize) {
        if self.is_token {
            return (0, 0);
        }
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
        if self.is_token {
            return (self.len, self.raw_len);
        }
        let (text, raw) = self.unit(offset, before);
        match before.checked_sub(1).and_then(|at| self.escapes.get(at)) {
            Some(escape) if text < offset => (text + escape.text_len, raw + escape.raw_len),
            _ => (text, raw),
        }
    }
}

impl Drop for Decoded<'_> {
    fn drop(&mut self) {
        spare::give(&ESCAPES, std::mem::take(&mut self.escapes));
        if let Cow::Owned(text) = std::mem::take(&mut self.text) {
            spare::give(&TEXTS, text);
        }
    }
}

/// Makes a [`Decoded`] from the front to the back: what no escape is said for stands for
/// itself.
#[derive(Clone, Debug)]
pub struct Decoding<'a> {
    raw: &'a [u8],
    /// The text, and room for more.
    text: Vec<u8>,
    len: usize,
    escapes: Vec<Escape>,
    /// How far the raw bytes are done.
    at: usize,
}

/// The text of an escape is seldom longer.
const SHORT: usize = 4;
/// More room than the text needs, so that what is copied as a whole has some.
const ROOM: usize = 32 + SHORT;

impl<'a> Decoding<'a> {
    /// Nothing is known of these bytes yet.
    pub fn new(raw: &'a [u8]) -> Decoding<'a> {
        Decoding { raw, text: Vec::new(), len: 0, escapes: Vec::new(), at: 0 }
    }

    /// The raw bytes from `start` to `end` stand for `text`: for nothing, if it is empty.
    /// Those before, behind the last escape, stand for themselves.
    #[inline]
    pub fn escape(&mut self, start: usize, end: usize, text: &[u8]) {
        if !self.escape_near::<32>(start, end, text) && !self.escape_near::<16>(start, end, text) {
            self.escape_any(start, end, text);
        }
    }

    /// The same, if so many bytes are there and have room: `PIECE` bytes are copied faster than
    /// just those that are before the escape.
    #[inline]
    fn escape_near<const PIECE: usize>(&mut self, start: usize, end: usize, text: &[u8]) -> bool {
        let before = start.wrapping_sub(self.at);
        if before < PIECE
            && start <= end
            && end <= self.raw.len()
            && text.len() <= SHORT
            && let Some(piece) = self.raw.get(self.at..).and_then(|rest| rest.first_chunk::<PIECE>())
            && let Some((room, more)) =
                self.text.get_mut(self.len..).and_then(|rest| rest.split_first_chunk_mut::<PIECE>())
            && more.len() >= SHORT
        {
            *room = *piece;
            for (to, byte) in self.text[self.len + before..].iter_mut().zip(text) {
                *to = *byte;
            }
            self.len += before + text.len();
            self.note(start, end, text.len());
            return true;
        }
        false
    }

    /// The same, whatever the lengths are.
    #[inline(never)]
    fn escape_any(&mut self, start: usize, end: usize, text: &[u8]) {
        let (start, end) = (start.max(self.at), end.min(self.raw.len()));
        if start > end {
            return;
        }
        for part in [self.raw.get(self.at..start).unwrap_or_default(), text] {
            let len = self.len + part.len();
            if self.text.len() < len {
                self.grow(len);
            }
            self.text[self.len..len].copy_from_slice(part);
            self.len = len;
        }
        self.note(start, end, text.len());
    }

    /// Most texts need not grow once more then.
    #[cold]
    fn grow(&mut self, len: usize) {
        let len = len.max(self.raw.len() + ROOM);
        // So that it is large enough for the next one, too.
        let len = if len < spare::LARGEST { len.next_power_of_two() } else { len };
        if self.text.capacity() == 0 {
            self.text = spare::take(&TEXTS);
            self.escapes = spare::take_empty(&ESCAPES);
        }
        if self.text.len() < len {
            self.text.resize(len, 0);
        }
    }

    /// Notes where an escape is whose text is the last of the text.
    #[inline]
    fn note(&mut self, start: usize, end: usize, text_len: usize) {
        let is_behind = start == self.at;
        let raw_len = end - start;
        self.at = end;
        if is_behind
            && let Some(last) = self.escapes.last_mut()
            && (last.text_len, last.raw_len) == (text_len, raw_len)
            && text_len > 0
        {
            last.times += 1;
            return;
        }
        self.escapes.push(Escape { text: self.len - text_len, raw: start, text_len, raw_len, times: 1 });
    }

    /// What is left stands for itself.
    pub fn finish(mut self) -> Decoded<'a> {
        let raw_len = self.raw.len();
        if self.escapes.is_empty() {
            return Decoded::plain(self.raw);
        }
        let rest = self.raw.get(self.at..).unwrap_or_default();
        let len = self.len + rest.len();
        if self.text.len() < len {
            self.grow(len);
        }
        self.text[self.len..len].copy_from_slice(rest);
        Decoded { text: Cow::Owned(self.text), len, escapes: self.escapes, raw_len, is_token: false }
    }
}

/// Changes of the text as changes of its raw form. `None`: one of them can't be said in
/// this escaping.
///
/// A change that begins or ends in the middle of an escape (a character of several bytes
/// that is written as one) takes all of it, and says the rest anew.
pub fn raw_edits(raw: &[u8], decoded: &Decoded<'_>, edits: &Edits, escaping: &dyn Escaping) -> Option<Edits> {
    let mut list = Edits::new();
    list.get_room();
    let text = decoded.text();
    let mut all = edits.iter().filter_map(|edit| Change::new(text, edit)).peekable();
    let mut new = spare::take_empty(&NEW);
    let mut before = 0;
    while let Some(mut last) = all.next() {
        before = decoded.before(last.start, before);
        let (from, start) = decoded.unit(last.start, before);
        new.clear();
        new.extend_from_slice(text.get(from..last.start)?);
        new.extend_from_slice(last.new);
        // The next may begin in the escape that this one ends in, or behind it: what is around is then new, too.
        before = decoded.before(last.end, before);
        let (mut to, mut end) = decoded.unit_end(last.end, before);
        while let Some(next) = all.next_if(|next| next.start <= to) {
            new.extend_from_slice(text.get(last.end..next.start)?);
            new.extend_from_slice(next.new);
            last = next;
            before = decoded.before(last.end, before);
            (to, end) = decoded.unit_end(last.end, before);
        }
        new.extend_from_slice(text.get(last.end..to)?);
        let written = list.new.len();
        if !escaping.encode(&new, &Around { raw, start, end }, &mut list.new) {
            return None;
        }
        // Of what is said anew, some may be as it was.
        let (front, back) = common(raw.get(start..end)?, list.new.get(written..)?);
        let (start, end) = (start + front, end - back);
        if !list.fits(start, end) {
            return None;
        }
        let (new_start, new_end) = (written + front, list.new.len() - back);
        list.list.push(Entry { start, end, new_start, new_end });
    }
    spare::give(&NEW, new);
    Some(list)
}

/// A change without what stays: no more than necessary is said anew.
struct Change<'e> {
    start: usize,
    end: usize,
    new: &'e [u8],
}

impl<'e> Change<'e> {
    /// `None`, if nothing changes.
    fn new(text: &[u8], edit: Edit<'e>) -> Option<Change<'e>> {
        let old = text.get(edit.start..edit.end).unwrap_or_default();
        let new = edit.new;
        let (mut front, mut back) = common(old, new);
        // Characters of several bytes are said as a whole.
        let is_inside = |text: &[u8], at: usize| matches!(text.get(at), Some(0x80..0xc0));
        while front > 0 && (is_inside(old, front) || is_inside(new, front)) {
            front -= 1;
        }
        while back > 0 && (is_inside(old, old.len() - back) || is_inside(new, new.len() - back)) {
            back -= 1;
        }
        let new = new.get(front..new.len() - back)?;
        let (start, end) = (edit.start + front, edit.end - back);
        (start < end || !new.is_empty()).then_some(Change { start, end, new })
    }
}
