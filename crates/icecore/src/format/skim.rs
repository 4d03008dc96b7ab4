//! Skimming: scanning the bytes of a document without building nodes.
//!
//! A skimmer finds the ends of values and their keys. It checks only what it needs for this. If it is not certain, it
//! returns [`SkimAborted`], and everything is read instead. The reader reports the error, or handles what the skimmer
//! can't follow.

pub(crate) mod tokens;

use crate::document::Document;
use crate::limits::Limits;
use std::borrow::Cow;
use std::fmt;

/// Number of bytes that are loaded at once.
const LOAD_LEN: usize = 256 << 10;
/// Maximum length of a key or a header that is read.
const MAX_KEY_LEN: usize = 16 << 20;

/// Source of bytes that are not all in memory.
///
/// ```
/// use icecore::select::Source;
/// struct Text(Vec<u8>);
/// impl Source for Text {
///     fn len(&self) -> u64 {
///         self.0.len() as u64
///     }
///     fn load_into(&mut self, at: u64, to: &mut [u8]) -> bool {
///         let at = at as usize;
///         self.0.get(at..at + to.len()).is_some_and(|bytes| {
///             to.copy_from_slice(bytes);
///             true
///         })
///     }
/// }
/// assert_eq!(Text(b"[1]".to_vec()).len(), 3);
/// ```
#[expect(clippy::len_without_is_empty, reason = "it is asked for offsets only")]
pub trait Source {
    /// Returns the number of bytes.
    fn len(&self) -> u64;

    /// Copies the bytes from offset `offset` on into `target`; `false` if they do not all exist.
    fn load_into(&mut self, offset: u64, target: &mut [u8]) -> bool;

    /// Returns how many bytes are requested at once, at least 1.
    fn preferred_len(&self) -> usize {
        LOAD_LEN
    }
}

/// The skimmer is not certain, so the whole document must be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkimAborted;

/// Result of skimming.
pub type SkimResult<T> = Result<T, SkimAborted>;

/// Kind of an opened value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkimmedKind {
    /// An array.
    List,
    /// A map, or an object with such a body.
    Map,
    /// An array if its keys are 0, 1, 2 and so on; otherwise a map. The keys are not known yet.
    Either,
    /// A value without items or entries. It was not opened.
    Leaf,
}

/// An opened container.
#[derive(Clone, Copy, Debug)]
pub struct SkimmedContainer {
    /// Its kind.
    pub kind: SkimmedKind,
    /// Number of items or entries, if the input has it before them.
    pub count: Option<u64>,
    /// Number of items or entries that were read.
    pub read: u64,
    /// A number that the skimmer of the format keeps with the container. No other code reads it.
    pub skimmer_data: u64,
}

impl SkimmedContainer {
    /// A value without content.
    pub const LEAF: SkimmedContainer =
        SkimmedContainer { kind: SkimmedKind::Leaf, count: Some(0), read: 0, skimmer_data: 0 };

    /// Makes a container of this kind, of which nothing was read.
    pub fn new(kind: SkimmedKind, count: Option<u64>) -> SkimmedContainer {
        SkimmedContainer { kind, count, read: 0, skimmer_data: 0 }
    }

    /// Counts up to `count` items as read, but no more than remain; returns their number.
    pub(crate) fn take_items(&mut self, count: u64) -> u64 {
        let accepted = self.count.map_or(count, |all| count.min(all - self.read));
        self.read += accepted;
        accepted
    }

    /// Counts one more item as read; returns `false` if none remains.
    pub(crate) fn take_next_item(&mut self) -> bool {
        let goes_on = self.count.is_none_or(|count| self.read < count);
        self.read += u64::from(goes_on);
        goes_on
    }
}

/// The key of the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkimmedKey {
    /// The value is an item, so it does not have a key.
    Item,
    /// An integer.
    Int(i64),
    /// A string: [`Skim::current_key`] has its bytes.
    Text,
    /// Anything else.
    Other,
}

/// A position to return to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The offset.
    pub offset: u64,
    /// Number of numbered values before it, for each of the format's two kinds of numbers.
    pub numbers: [u64; 2],
}

/// Skims one document of a format.
pub trait Skim: fmt::Debug {
    /// Goes to the root.
    ///
    /// # Errors
    /// If this document must be read.
    fn enter_root(&mut self) -> SkimResult<()>;

    /// Returns `true` if the document ends here and nothing follows it.
    fn is_at_end(&mut self) -> bool;

    /// Returns the current position.
    fn mark_position(&self) -> Mark;

    /// Returns to a position.
    fn return_to(&mut self, mark: Mark);

    /// Enters the next value. A leaf is not entered, and stays the next value.
    ///
    /// # Errors
    /// If it can't tell what the value is.
    fn enter_value(&mut self) -> SkimResult<SkimmedContainer>;

    /// Goes to the next value in a container and returns its key. At the end, leaves the container and returns
    /// `None`.
    ///
    /// # Errors
    /// If the bytes there are not as expected.
    fn next_value(&mut self, open: &mut SkimmedContainer) -> SkimResult<Option<SkimmedKey>>;

    /// Returns the key of the next value, if it is [`SkimmedKey::Text`].
    fn current_key(&self) -> &[u8];

    /// Skips the next value.
    ///
    /// # Errors
    /// If it can't tell where it ends.
    fn skip_value(&mut self) -> SkimResult<()>;

    /// Skips `count` items of a list. If the list has fewer items, leaves it and returns `false`.
    ///
    /// # Errors
    /// As [`Skim::next_value`] and [`Skim::skip_value`].
    fn skip_items(&mut self, open: &mut SkimmedContainer, count: u64) -> SkimResult<bool> {
        for _ in 0..count {
            if self.next_value(open)?.is_none() {
                return Ok(false);
            }
            self.skip_value()?;
        }
        Ok(true)
    }

    /// Goes to the value of the next entry with this integer as its key. If none follows, leaves the container and
    /// returns `false`.
    ///
    /// # Errors
    /// As [`Skim::next_value`] and [`Skim::skip_value`].
    fn find_int(&mut self, open: &mut SkimmedContainer, number: i64) -> SkimResult<bool> {
        while let Some(key) = self.next_value(open)? {
            if key == SkimmedKey::Int(number) {
                return Ok(true);
            }
            self.skip_value()?;
        }
        Ok(false)
    }

    /// Reads the next value and goes after it.
    ///
    /// # Errors
    /// If it can't be read by itself.
    fn read_value(&mut self, limits: &Limits) -> SkimResult<Document<'static>>;
}

/// Returns the next `N` bytes that a fast loop examines, if they are in view. Otherwise the loop stops, and the
/// caller handles the next token by itself.
#[inline(always)]
pub(crate) fn bytes_ahead<const N: usize>(bytes: &[u8], offset: usize) -> Option<&[u8; N]> {
    bytes.get(offset..)?.first_chunk()
}

/// The input of a skimmer and the position in it. It contains the whole input, or a part that moves over the source.
pub(crate) struct View<'i> {
    bytes: Cow<'i, [u8]>,
    /// Offset of these bytes.
    view_start: u64,
    /// Position in these bytes, not beyond their end.
    index: usize,
    total_len: u64,
    source: Option<&'i mut dyn Source>,
    /// Number of bytes that are loaded at once.
    load_len: usize,
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({} of {})", self.position(), self.total_len)
    }
}

/// Input of a skimmer.
pub enum Input<'i> {
    /// Bytes in memory.
    Bytes(&'i [u8]),
    /// Bytes from elsewhere.
    Source(&'i mut dyn Source),
}

impl<'i> View<'i> {
    pub(crate) fn new(input: Input<'i>) -> View<'i> {
        match input {
            Input::Bytes(bytes) => View {
                bytes: bytes.into(),
                view_start: 0,
                index: 0,
                total_len: bytes.len() as u64,
                source: None,
                load_len: LOAD_LEN,
            },
            Input::Source(source) => {
                let (total_len, load_len) = (source.len(), source.preferred_len().max(1));
                View {
                    bytes: Cow::Owned(Vec::new()),
                    view_start: 0,
                    index: 0,
                    total_len,
                    source: Some(source),
                    load_len,
                }
            }
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.view_start + self.index as u64
    }

    /// Returns the total number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.total_len
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.position() == self.total_len
    }

    /// Returns the bytes in view.
    #[inline]
    pub(crate) fn bytes_in_view(&self) -> &[u8] {
        self.bytes.get(self.index..).unwrap_or(&[])
    }

    /// Brings more bytes into view; `false` at the end.
    #[cold]
    #[inline(never)]
    pub(crate) fn load_more(&mut self) -> bool {
        self.bring_into_view(self.bytes_in_view().len().saturating_mul(2).max(self.load_len))
    }

    /// Brings up to `wanted` bytes into view. At the end of the input there may be fewer. Returns `true` if more
    /// bytes are in view than before.
    fn bring_into_view(&mut self, wanted: usize) -> bool {
        let position = self.position();
        let loaded_len = self.bytes_in_view().len();
        let Some(source) = &mut self.source else { return false };
        let remaining = usize::try_from(self.total_len - position).unwrap_or(usize::MAX);
        let count = wanted.min(remaining);
        if count <= loaded_len {
            return false;
        }
        let bytes = self.bytes.to_mut();
        bytes.drain(..self.index);
        bytes.resize(count, 0);
        (self.view_start, self.index) = (position, 0);
        if source.load_into(position + loaded_len as u64, &mut bytes[loaded_len..]) {
            return true;
        }
        bytes.truncate(loaded_len);
        // The source does not have the bytes that its length promised, so the input ends here.
        self.total_len = position + loaded_len as u64;
        false
    }

    /// Returns the next bytes, at least `count`.
    #[inline]
    pub(crate) fn require_bytes(&mut self, count: usize) -> SkimResult<&[u8]> {
        if self.bytes_in_view().len() < count {
            self.load(count)?;
        }
        Ok(self.bytes_in_view())
    }

    #[cold]
    #[inline(never)]
    fn load(&mut self, count: usize) -> SkimResult<()> {
        let is_there = count as u64 <= self.total_len - self.position() && count <= MAX_KEY_LEN;
        if !is_there || !self.bring_into_view(count.max(self.load_len)) || self.bytes_in_view().len() < count {
            return Err(SkimAborted);
        }
        Ok(())
    }

    /// Returns the next byte without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> SkimResult<u8> {
        match self.bytes.get(self.index) {
            Some(byte) => Ok(*byte),
            None => self.require_bytes(1)?.first().copied().ok_or(SkimAborted),
        }
    }

    #[inline]
    pub(crate) fn read_byte(&mut self) -> SkimResult<u8> {
        let byte = self.peek()?;
        self.index += 1;
        Ok(byte)
    }

    /// Reads the next bytes.
    #[inline]
    pub(crate) fn read_array<const N: usize>(&mut self) -> SkimResult<[u8; N]> {
        let bytes = *self.require_bytes(N)?.first_chunk::<N>().ok_or(SkimAborted)?;
        self.index += N;
        Ok(bytes)
    }

    /// Skips this many bytes, which must exist.
    #[inline]
    pub(crate) fn advance(&mut self, count: u64) -> SkimResult<()> {
        if count <= (self.bytes.len() - self.index) as u64 {
            self.index += count as usize;
            return Ok(());
        }
        if count > self.total_len - self.position() {
            return Err(SkimAborted);
        }
        self.seek_to(self.position() + count);
        Ok(())
    }

    /// Goes to this offset, which is in the input.
    pub(crate) fn seek_to(&mut self, offset: u64) {
        let offset = offset.min(self.total_len);
        let inside = offset.checked_sub(self.view_start).and_then(|distance| usize::try_from(distance).ok());
        match inside.filter(|index| *index <= self.bytes.len()) {
            Some(index) => self.index = index,
            None => {
                // The offset is not in view, so the input is a source. Its bytes are loaded again from there.
                self.bytes.to_mut().clear();
                (self.view_start, self.index) = (offset, 0);
            }
        }
    }

    /// Consumes these bytes, if they are next.
    #[inline]
    pub(crate) fn expect(&mut self, wanted: &[u8]) -> SkimResult<()> {
        if !self.require_bytes(wanted.len())?.starts_with(wanted) {
            return Err(SkimAborted);
        }
        self.index += wanted.len();
        Ok(())
    }

    /// Appends the next `count` bytes to `target`, and consumes them.
    pub(crate) fn read_into(&mut self, count: u64, target: &mut Vec<u8>) -> SkimResult<()> {
        let mut remaining = count;
        if remaining > self.total_len - self.position() {
            return Err(SkimAborted);
        }
        while remaining > 0 {
            if self.bytes_in_view().is_empty() && !self.load_more() {
                return Err(SkimAborted);
            }
            let rest = self.bytes_in_view();
            let part = &rest[..rest.len().min(usize::try_from(remaining).unwrap_or(usize::MAX))];
            target.extend_from_slice(part);
            remaining -= part.len() as u64;
            self.index += part.len();
        }
        Ok(())
    }

    /// Returns the bytes from one offset to another.
    pub(crate) fn copy_range(&mut self, start: u64, end: u64) -> SkimResult<Vec<u8>> {
        let resume_position = self.position();
        self.seek_to(start);
        let mut bytes = Vec::new();
        let copied = self.read_into(end.saturating_sub(start), &mut bytes);
        self.seek_to(resume_position);
        copied.map(|()| bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text<'t>(&'t [u8]);

    impl Source for Text<'_> {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn load_into(&mut self, offset: u64, target: &mut [u8]) -> bool {
            let start = offset as usize;
            self.0.get(start..start + target.len()).is_some_and(|bytes| {
                target.copy_from_slice(bytes);
                true
            })
        }
    }

    #[test]
    fn a_source_is_read_like_bytes() {
        let all: Vec<u8> = (0..3 * LOAD_LEN as u32 + 17).map(|index| (index ^ (index >> 8)) as u8).collect();
        let mut text = Text(&all);
        for mut view in [View::new(Input::Bytes(&all)), View::new(Input::Source(&mut text))] {
            assert_eq!(view.read_byte(), Ok(all[0]));
            assert_eq!(view.read_array::<3>(), Ok([all[1], all[2], all[3]]));
            view.advance(LOAD_LEN as u64 - 6).unwrap();
            assert_eq!(view.read_array::<4>().unwrap()[..], all[LOAD_LEN - 2..LOAD_LEN + 2]);
            let far = 2 * LOAD_LEN as u64 + 5;
            view.seek_to(far);
            assert_eq!((view.position(), view.peek()), (far, Ok(all[far as usize])));
            assert_eq!(view.copy_range(1, far).unwrap(), all[1..far as usize]);
            assert_eq!(view.position(), far);
            assert!(view.load_more() || view.bytes_in_view().len() == all.len() - far as usize);
            assert!(view.expect(&all[far as usize..][..9]).is_ok());
            assert_eq!(view.expect(b"no such bytes here"), Err(SkimAborted));
            view.seek_to(all.len() as u64);
            assert!(view.is_at_end() && view.read_byte().is_err() && !view.load_more());
            assert_eq!(view.advance(1), Err(SkimAborted));
            view.seek_to(0);
            assert_eq!(view.peek(), Ok(all[0]));
            assert_eq!(view.copy_range(3, all.len() as u64 + 1), Err(SkimAborted));
        }
    }
}
