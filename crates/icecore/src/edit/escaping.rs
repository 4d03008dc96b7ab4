//! Texts that are escaped inside another text. For each byte of such a text, its raw position is known.

use super::spare::{self, SparePool};
use super::{Edit, EditEntry, Edits, NEW, common_affixes};
use std::borrow::Cow;

/// A way to escape a text inside another one: SQL literals, JSON strings, `addslashes`, CSV cells.
///
/// ```
/// use icecore::rewrite::{Decoded, DecodedBuilder, Edits, Escaping, ReplacedRange, raw_edits};
/// /// Quotes are doubled.
/// struct Doubled;
/// impl Escaping for Doubled {
///     fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>> {
///         let mut builder = DecodedBuilder::new(raw);
///         let mut at = 0;
///         while let Some(quote) = raw[at..].iter().position(|byte| *byte == b'\'') {
///             at += quote + 2;
///             if raw.get(at - 1) != Some(&b'\'') {
///                 return None;
///             }
///             builder.escape(at - 2, at, b"'");
///         }
///         Some(builder.finish())
///     }
///     fn encode(&self, text: &[u8], _: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
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
    /// Returns the decoded text of the raw bytes; `None` if they can't be in this escaping.
    fn decode<'a>(&self, raw: &'a [u8]) -> Option<Decoded<'a>>;

    /// Appends new text, escaped, which replaces a range of a raw string. Returns `false` if the escaping can't
    /// represent it; then the appended bytes are ignored.
    fn encode(&self, text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool;
}

/// The range of an escaped string that new text replaces. The bytes before and after it show how the string is escaped.
#[derive(Clone, Copy, Debug)]
pub struct ReplacedRange<'r> {
    /// The whole string, escaped.
    pub raw: &'r [u8],
    /// Offset of the first replaced byte.
    pub start: usize,
    /// Offset of the first byte after the replaced ones.
    pub end: usize,
}

/// A text without its escapes, and the raw position of each of its bytes.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The text, and after it spare space, if the vector is owned. So `len` is the length of the text.
    text: Cow<'a, [u8]>,
    len: usize,
    /// Escapes in order: bytes that do not represent themselves.
    escapes: Vec<Escape>,
    raw_len: usize,
    /// Whether the text can only be written as a whole.
    is_token: bool,
}

/// Consecutive escapes of the same lengths.
#[derive(Clone, Copy, Debug)]
struct Escape {
    /// Start of the first one in the text.
    text_start: usize,
    /// Start of the first one in the raw bytes.
    raw_start: usize,
    /// Number of text bytes of each one.
    text_len: usize,
    /// Number of raw bytes of each one.
    raw_len: usize,
    times: usize,
}

thread_local! {
    static TEXTS: SparePool<u8> = const { SparePool::new(Vec::new()) };
    static ESCAPES: SparePool<Escape> = const { SparePool::new(Vec::new()) };
}

impl Escape {
    fn text_end(&self) -> usize {
        self.text_start + self.text_len * self.times
    }

    fn raw_end(&self) -> usize {
        self.raw_start + self.raw_len * self.times
    }
}

impl<'a> Decoded<'a> {
    /// Returns a text without escapes.
    pub fn plain(raw: &'a [u8]) -> Decoded<'a> {
        Decoded { text: Cow::Borrowed(raw), len: raw.len(), escapes: Vec::new(), raw_len: raw.len(), is_token: false }
    }

    /// Returns a text that can only be encoded as a whole, such as a token with its quotes. After any change, all of
    /// it is encoded again.
    pub fn token(raw: &[u8], text: Cow<'a, [u8]>) -> Decoded<'a> {
        let escape = Escape { text_start: 0, raw_start: 0, text_len: text.len(), raw_len: raw.len(), times: 1 };
        Decoded { len: text.len(), text, escapes: vec![escape], raw_len: raw.len(), is_token: true }
    }

    /// Returns the text.
    pub fn text(&self) -> &[u8] {
        self.text.get(..self.len).unwrap_or_default()
    }

    /// Returns the text without the mapping.
    pub fn into_text(mut self) -> Cow<'a, [u8]> {
        let mut text = std::mem::take(&mut self.text);
        if let Cow::Owned(text) = &mut text {
            text.truncate(self.len);
        }
        text
    }

    /// Returns `true` if every byte represents itself.
    pub fn is_plain(&self) -> bool {
        self.escapes.is_empty()
    }

    /// Returns the raw offset of this offset of the text. In the middle of an escape: its start.
    pub fn raw_offset(&self, offset: usize) -> usize {
        self.boundary_before(offset, self.count_before(offset, 0)).1
    }

    /// Returns the number of entries of `escapes` that start at or before this offset. The caller knows this for the
    /// first `known` entries.
    fn count_before(&self, offset: usize, known: usize) -> usize {
        /// Number of entries that are checked one by one, before a binary search. The next edit is often close to the
        /// last one.
        const MAX_SCANNED: usize = 4;
        let rest = self.escapes.get(known..).unwrap_or_default();
        let scanned_count = rest.iter().take(MAX_SCANNED).take_while(|escape| escape.text_start <= offset).count();
        let rest = rest.get(scanned_count..).filter(|_| scanned_count == MAX_SCANNED).unwrap_or_default();
        known + scanned_count + rest.partition_point(|escape| escape.text_start <= offset)
    }

    /// Returns the last boundary between units (bytes or escapes) at or before this offset, in the text and in the raw
    /// bytes. `escapes_before` is the number of entries that start at or before the offset.
    fn boundary_before(&self, offset: usize, escapes_before: usize) -> (usize, usize) {
        if self.is_token {
            return (0, 0);
        }
        let Some(escape) = escapes_before.checked_sub(1).and_then(|index| self.escapes.get(index)) else {
            let offset = offset.min(self.raw_len);
            return (offset, offset);
        };
        if offset >= escape.text_end() {
            let raw = (escape.raw_end() + (offset - escape.text_end())).min(self.raw_len);
            return (offset, raw);
        }
        let full_count = offset.saturating_sub(escape.text_start).checked_div(escape.text_len).unwrap_or(0);
        (escape.text_start + full_count * escape.text_len, escape.raw_start + full_count * escape.raw_len)
    }

    /// Like [`Decoded::boundary_before`], but returns the first boundary at or after the offset.
    fn boundary_after(&self, offset: usize, escapes_before: usize) -> (usize, usize) {
        if self.is_token {
            return (self.len, self.raw_len);
        }
        let (text, raw) = self.boundary_before(offset, escapes_before);
        match escapes_before.checked_sub(1).and_then(|index| self.escapes.get(index)) {
            Some(escape) if text < offset => (text + escape.text_len, raw + escape.raw_len),
            _ => (text, raw),
        }
    }
}

impl Drop for Decoded<'_> {
    fn drop(&mut self) {
        spare::give_back(&ESCAPES, std::mem::take(&mut self.escapes));
        if let Cow::Owned(text) = std::mem::take(&mut self.text) {
            spare::give_back(&TEXTS, text);
        }
    }
}

/// Builds a [`Decoded`] from front to back. The caller reports each escape; all other bytes represent themselves.
#[derive(Clone, Debug)]
pub struct DecodedBuilder<'a> {
    raw: &'a [u8],
    /// The text, and spare space.
    text: Vec<u8>,
    len: usize,
    escapes: Vec<Escape>,
    /// Number of raw bytes that are processed.
    consumed: usize,
}

/// Maximum length of the text of an escape for the fast path; it is seldom longer.
const MAX_SHORT_TEXT: usize = 4;
/// Length of the spare space at the end of the text, so that a whole piece can be copied.
const SPARE_LEN: usize = 32 + MAX_SHORT_TEXT;

impl<'a> DecodedBuilder<'a> {
    /// Starts with these raw bytes.
    pub fn new(raw: &'a [u8]) -> DecodedBuilder<'a> {
        DecodedBuilder { raw, text: Vec::new(), len: 0, escapes: Vec::new(), consumed: 0 }
    }

    /// Records that the raw bytes from `start` to `end` represent `text`, which may be empty. Bytes between the
    /// previous escape and `start` represent themselves.
    #[inline]
    pub fn escape(&mut self, start: usize, end: usize, text: &[u8]) {
        if !self.escape_with_piece::<32>(start, end, text) && !self.escape_with_piece::<16>(start, end, text) {
            self.escape_of_any_length(start, end, text);
        }
    }

    /// Like [`DecodedBuilder::escape`], if at least `PIECE` bytes are available and fit; otherwise returns `false`.
    /// Copying a whole piece is faster than copying only the bytes before the escape.
    #[inline]
    fn escape_with_piece<const PIECE: usize>(&mut self, start: usize, end: usize, text: &[u8]) -> bool {
        let prefix_len = start.wrapping_sub(self.consumed);
        if prefix_len < PIECE
            && start <= end
            && end <= self.raw.len()
            && text.len() <= MAX_SHORT_TEXT
            && let Some(piece) = self.raw.get(self.consumed..).and_then(|rest| rest.first_chunk::<PIECE>())
            && let Some((chunk, more)) =
                self.text.get_mut(self.len..).and_then(|rest| rest.split_first_chunk_mut::<PIECE>())
            && more.len() >= MAX_SHORT_TEXT
        {
            *chunk = *piece;
            for (target, byte) in self.text[self.len + prefix_len..].iter_mut().zip(text) {
                *target = *byte;
            }
            self.len += prefix_len + text.len();
            self.record_escape(start, end, text.len());
            return true;
        }
        false
    }

    /// Like [`DecodedBuilder::escape`], without a fast path.
    #[inline(never)]
    fn escape_of_any_length(&mut self, start: usize, end: usize, text: &[u8]) {
        let (start, end) = (start.max(self.consumed), end.min(self.raw.len()));
        if start > end {
            return;
        }
        for part in [self.raw.get(self.consumed..start).unwrap_or_default(), text] {
            let len = self.len + part.len();
            if self.text.len() < len {
                self.reserve_text(len);
            }
            self.text[self.len..len].copy_from_slice(part);
            self.len = len;
        }
        self.record_escape(start, end, text.len());
    }

    /// Reserves enough memory that most texts do not have to grow again.
    #[cold]
    fn reserve_text(&mut self, len: usize) {
        let len = len.max(self.raw.len() + SPARE_LEN);
        // A power of two is likely to be large enough for the next text, too.
        let len = if len < spare::MAX_KEPT_BYTES { len.next_power_of_two() } else { len };
        if self.text.capacity() == 0 {
            self.text = spare::take_spare(&TEXTS);
            self.escapes = spare::take_empty_spare(&ESCAPES);
        }
        if self.text.len() < len {
            self.text.resize(len, 0);
        }
    }

    /// Records an escape whose text was just appended.
    #[inline]
    fn record_escape(&mut self, start: usize, end: usize, text_len: usize) {
        let is_adjacent = start == self.consumed;
        let raw_len = end - start;
        self.consumed = end;
        if is_adjacent
            && let Some(last) = self.escapes.last_mut()
            && (last.text_len, last.raw_len) == (text_len, raw_len)
            && text_len > 0
        {
            last.times += 1;
            return;
        }
        self.escapes.push(Escape { text_start: self.len - text_len, raw_start: start, text_len, raw_len, times: 1 });
    }

    /// Returns the decoded text. The remaining bytes represent themselves.
    pub fn finish(mut self) -> Decoded<'a> {
        let raw_len = self.raw.len();
        if self.escapes.is_empty() {
            return Decoded::plain(self.raw);
        }
        let rest = self.raw.get(self.consumed..).unwrap_or_default();
        let len = self.len + rest.len();
        if self.text.len() < len {
            self.reserve_text(len);
        }
        self.text[self.len..len].copy_from_slice(rest);
        Decoded { text: Cow::Owned(self.text), len, escapes: self.escapes, raw_len, is_token: false }
    }
}

/// Converts changes of the text to changes of its raw form. Returns `None` if the escaping can't represent one of
/// them.
///
/// A change that begins or ends in the middle of an escape (a character of several bytes that is written as one escape)
/// replaces the whole escape and writes the unchanged rest of it again.
pub fn raw_edits(raw: &[u8], decoded: &Decoded<'_>, edits: &Edits, escaping: &dyn Escaping) -> Option<Edits> {
    let mut list = Edits::new();
    list.take_spare_memory();
    let text = decoded.text();
    let mut all = edits.iter().filter_map(|edit| MinimalChange::new(text, edit)).peekable();
    let mut new = spare::take_empty_spare(&NEW);
    let mut escapes_before = 0;
    while let Some(mut last) = all.next() {
        escapes_before = decoded.count_before(last.start, escapes_before);
        let (from, start) = decoded.boundary_before(last.start, escapes_before);
        new.clear();
        new.extend_from_slice(text.get(from..last.start)?);
        new.extend_from_slice(last.new);
        // The next change may begin inside of the escape in which this one ends, or directly after it. Then both
        // changes are combined, because the escape is written again only once.
        escapes_before = decoded.count_before(last.end, escapes_before);
        let (mut to, mut end) = decoded.boundary_after(last.end, escapes_before);
        while let Some(next) = all.next_if(|next| next.start <= to) {
            new.extend_from_slice(text.get(last.end..next.start)?);
            new.extend_from_slice(next.new);
            last = next;
            escapes_before = decoded.count_before(last.end, escapes_before);
            (to, end) = decoded.boundary_after(last.end, escapes_before);
        }
        new.extend_from_slice(text.get(last.end..to)?);
        let written = list.new_bytes.len();
        if !escaping.encode(&new, &ReplacedRange { raw, start, end }, &mut list.new_bytes) {
            return None;
        }
        // The escape was written again as a whole, so the new bytes may begin or end with the old ones. Those are
        // removed from the edit.
        let (front, back) = common_affixes(raw.get(start..end)?, list.new_bytes.get(written..)?);
        let (start, end) = (start + front, end - back);
        if !list.can_follow(start, end) {
            return None;
        }
        let (new_start, new_end) = (written + front, list.new_bytes.len() - back);
        list.entries.push(EditEntry { start, end, new_start, new_end });
    }
    spare::give_back(&NEW, new);
    Some(list)
}

/// A change without its unchanged beginning and end, so that no more than necessary is written again.
struct MinimalChange<'e> {
    start: usize,
    end: usize,
    new: &'e [u8],
}

impl<'e> MinimalChange<'e> {
    /// Returns `None` if nothing changes.
    fn new(text: &[u8], edit: Edit<'e>) -> Option<MinimalChange<'e>> {
        let old = text.get(edit.start..edit.end).unwrap_or_default();
        let new = edit.new;
        let (mut front, mut back) = common_affixes(old, new);
        // An escaping may write a character of several bytes as one escape, so the change must not begin inside of
        // one.
        let is_inside = |text: &[u8], offset: usize| matches!(text.get(offset), Some(0x80..0xc0));
        while front > 0 && (is_inside(old, front) || is_inside(new, front)) {
            front -= 1;
        }
        while back > 0 && (is_inside(old, old.len() - back) || is_inside(new, new.len() - back)) {
            back -= 1;
        }
        let new = new.get(front..new.len() - back)?;
        let (start, end) = (edit.start + front, edit.end - back);
        (start < end || !new.is_empty()).then_some(MinimalChange { start, end, new })
    }
}
