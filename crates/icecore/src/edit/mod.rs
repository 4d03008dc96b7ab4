//! Changes of a text, and texts that are escaped inside another one.

mod escaping;
mod spare;

pub use escaping::{Decoded, DecodedBuilder, Escaping, ReplacedRange, raw_edits};

use spare::SparePool;

/// One change of a text: the bytes from `start` to `end` become `new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit<'e> {
    /// Offset of the first replaced byte.
    pub start: usize,
    /// Offset of the first byte after the replaced ones.
    pub end: usize,
    /// The replacement.
    pub new: &'e [u8],
}

/// Changes of one text, in order and without overlaps.
///
/// ```
/// use icecore::rewrite::Edits;
/// let mut edits = Edits::new();
/// edits.push(0, 1, b"J");
/// edits.push(5, 5, b"!");
/// assert_eq!(edits.apply(b"hello"), b"Jello!");
/// // One that would overlap is not taken.
/// assert!(!edits.push(4, 5, b"?"));
/// assert_eq!((edits.len(), edits.growth()), (2, 1));
/// # assert_eq!(edits.iter().count(), 2);
/// ```
#[derive(Clone, Default)]
pub struct Edits {
    entries: Vec<EditEntry>,
    /// The new bytes of all edits. Most are short, so one vector for all of them is faster than one for each.
    new_bytes: Vec<u8>,
}

/// An edit whose new bytes are in the shared vector.
#[derive(Clone, Copy)]
struct EditEntry {
    start: usize,
    end: usize,
    new_start: usize,
    new_end: usize,
}

thread_local! {
    static LISTS: SparePool<EditEntry> = const { SparePool::new(Vec::new()) };
    static NEW: SparePool<u8> = const { SparePool::new(Vec::new()) };
}

impl Edits {
    /// No edits.
    pub fn new() -> Edits {
        Edits::default()
    }

    /// Takes the memory of finished edits.
    fn take_spare_memory(&mut self) {
        if self.entries.capacity() == 0 {
            self.entries = spare::take_empty_spare(&LISTS);
            self.new_bytes = spare::take_empty_spare(&NEW);
        }
    }

    /// Adds an edit after the existing ones. An edit that starts before the last one ends, or that ends before it
    /// starts, is rejected; then the result is `false`.
    pub fn push(&mut self, start: usize, end: usize, new: &[u8]) -> bool {
        let fits = self.can_follow(start, end);
        if fits {
            self.take_spare_memory();
            let new_start = self.new_bytes.len();
            self.new_bytes.extend_from_slice(new);
            self.entries.push(EditEntry { start, end, new_start, new_end: self.new_bytes.len() });
        }
        fits
    }

    /// Returns `true` if an edit of these bytes can follow the last one.
    fn can_follow(&self, start: usize, end: usize) -> bool {
        self.entries.last().map_or(0, |last| last.end) <= start && start <= end
    }

    /// Returns `true` if there are no edits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of edits.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the edits, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Edit<'_>> + Clone {
        self.entries.iter().map(|entry| self.to_edit(entry))
    }

    fn to_edit(&self, entry: &EditEntry) -> Edit<'_> {
        let new = self.new_bytes.get(entry.new_start..entry.new_end).unwrap_or_default();
        Edit { start: entry.start, end: entry.end, new }
    }

    /// Removes all edits.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.new_bytes.clear();
    }

    /// Returns the number of bytes by which the text becomes longer; negative if it becomes shorter.
    pub fn growth(&self) -> i64 {
        self.iter().map(|edit| edit.growth()).sum()
    }

    /// Returns the text with the changes applied.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.apply_to(text, &mut out);
        out
    }

    /// Appends the text with the changes applied. Changes beyond the end of the text replace nothing.
    pub fn apply_to(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut offset = 0;
        out.reserve(text.len() + self.new_bytes.len());
        for edit in self.iter() {
            out.extend_from_slice(text.get(offset..edit.start).unwrap_or_default());
            out.extend_from_slice(edit.new);
            offset = edit.end;
        }
        out.extend_from_slice(text.get(offset..).unwrap_or_default());
    }

    /// Returns one change that turns `old` into `new`, without their common beginning and end; no change if they are
    /// equal.
    ///
    /// ```
    /// use icecore::rewrite::Edits;
    /// let edits = Edits::between(b"one two three", b"one 2 three");
    /// assert_eq!(edits.iter().next().map(|edit| (edit.start, edit.end)), Some((4, 7)));
    /// ```
    pub fn between(old: &[u8], new: &[u8]) -> Edits {
        let mut edits = Edits::new();
        if old == new {
            return edits;
        }
        let (front, back) = common_affixes(old, new);
        edits.push(front, old.len() - back, &new[front..new.len() - back]);
        edits
    }

    /// Adds changes of a part that starts at `offset` of this text.
    pub fn append(&mut self, edits: &Edits, offset: usize) {
        for edit in edits.iter() {
            self.push(edit.start.saturating_add(offset), edit.end.saturating_add(offset), edit.new);
        }
    }

    /// Replaces the new bytes of an edit.
    pub(crate) fn set_new_bytes(&mut self, index: usize, new: &[u8]) {
        let new_start = self.new_bytes.len();
        if let Some(entry) = self.entries.get_mut(index) {
            self.new_bytes.extend_from_slice(new);
            (entry.new_start, entry.new_end) = (new_start, self.new_bytes.len());
        }
    }

    /// Removes edits that do not change this text.
    pub(crate) fn drop_unchanged(&mut self, text: &[u8]) {
        let Edits { entries: list, new_bytes: new } = self;
        list.retain(|entry| text.get(entry.start..entry.end) != new.get(entry.new_start..entry.new_end));
    }
}

impl Drop for Edits {
    fn drop(&mut self) {
        spare::give_back(&LISTS, std::mem::take(&mut self.entries));
        spare::give_back(&NEW, std::mem::take(&mut self.new_bytes));
    }
}

impl PartialEq for Edits {
    fn eq(&self, other: &Edits) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Edits {}

impl std::fmt::Debug for Edits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Edit<'_> {
    /// Returns the number of bytes by which the text becomes longer; negative if it becomes shorter.
    pub fn growth(&self) -> i64 {
        self.new.len() as i64 - (self.end.saturating_sub(self.start)) as i64
    }
}

/// Returns the lengths of the common beginning of two texts, and of the common end of the rest.
fn common_affixes(old: &[u8], new: &[u8]) -> (usize, usize) {
    let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    (front, back)
}

/// The role of a string in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringRole {
    /// A value.
    Value,
    /// A key of an array or of an object, including names of properties.
    Key,
    /// The name of a class.
    Class,
}
