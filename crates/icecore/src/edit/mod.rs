//! Changes of a text, and texts that stand escaped in another one.

mod escaping;
mod spare;

pub use escaping::{Around, Decoded, Decoding, Escaping, raw_edits};

use spare::Spare;

/// One change of a text: the bytes from `start` to `end` become `new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit<'e> {
    /// Where the bytes start that go.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// What comes in their place.
    pub new: &'e [u8],
}

/// Changes of one text: in order, and none overlaps another.
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
    list: Vec<Entry>,
    /// What comes new, of all of them: many are short.
    new: Vec<u8>,
}

/// An edit whose new bytes stand elsewhere.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    end: usize,
    new_start: usize,
    new_end: usize,
}

thread_local! {
    static LISTS: Spare<Entry> = const { Spare::new(Vec::new()) };
    static NEW: Spare<u8> = const { Spare::new(Vec::new()) };
}

impl Edits {
    /// None.
    pub fn new() -> Edits {
        Edits::default()
    }

    /// Takes the memory of edits that are done.
    fn get_room(&mut self) {
        if self.list.capacity() == 0 {
            self.list = spare::take_empty(&LISTS);
            self.new = spare::take_empty(&NEW);
        }
    }

    /// Adds one behind those that are there. One that starts before the last one ends, or
    /// that ends before it starts, is not taken; the answer is then `false`.
    pub fn push(&mut self, start: usize, end: usize, new: &[u8]) -> bool {
        let fits = self.fits(start, end);
        if fits {
            self.get_room();
            let new_start = self.new.len();
            self.new.extend_from_slice(new);
            self.list.push(Entry { start, end, new_start, new_end: self.new.len() });
        }
        fits
    }

    /// Whether an edit of these bytes can come behind the last one.
    fn fits(&self, start: usize, end: usize) -> bool {
        self.list.last().map_or(0, |last| last.end) <= start && start <= end
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// They, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Edit<'_>> + Clone {
        self.list.iter().map(|entry| self.edit(entry))
    }

    fn edit(&self, entry: &Entry) -> Edit<'_> {
        let new = self.new.get(entry.new_start..entry.new_end).unwrap_or_default();
        Edit { start: entry.start, end: entry.end, new }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.list.clear();
        self.new.clear();
    }

    /// How many bytes longer the text becomes; negative: shorter.
    pub fn growth(&self) -> i64 {
        self.iter().map(|edit| edit.growth()).sum()
    }

    /// The text with the changes made.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.apply_to(text, &mut out);
        out
    }

    /// Appends the text with the changes made. What lies beyond its end is left out.
    pub fn apply_to(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        out.reserve(text.len() + self.new.len());
        for edit in self.iter() {
            out.extend_from_slice(text.get(at..edit.start).unwrap_or_default());
            out.extend_from_slice(edit.new);
            at = edit.end;
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
    }

    /// One change that makes `new` of `old`: without what both begin and end with. None,
    /// if they are the same.
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
        let (front, back) = common(old, new);
        edits.push(front, old.len() - back, &new[front..new.len() - back]);
        edits
    }

    /// Adds changes of a piece that starts at `offset` of this text.
    pub fn append(&mut self, edits: &Edits, offset: usize) {
        for edit in edits.iter() {
            self.push(edit.start.saturating_add(offset), edit.end.saturating_add(offset), edit.new);
        }
    }

    /// Puts something else in the place of what came new.
    pub(crate) fn set(&mut self, at: usize, new: &[u8]) {
        let new_start = self.new.len();
        if let Some(entry) = self.list.get_mut(at) {
            self.new.extend_from_slice(new);
            (entry.new_start, entry.new_end) = (new_start, self.new.len());
        }
    }

    /// Drops those that change nothing of this text.
    pub(crate) fn drop_idle(&mut self, text: &[u8]) {
        let Edits { list, new } = self;
        list.retain(|entry| text.get(entry.start..entry.end) != new.get(entry.new_start..entry.new_end));
    }
}

impl Drop for Edits {
    fn drop(&mut self) {
        spare::give(&LISTS, std::mem::take(&mut self.list));
        spare::give(&NEW, std::mem::take(&mut self.new));
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
    /// How many bytes longer the text becomes; negative: shorter.
    pub fn growth(&self) -> i64 {
        self.new.len() as i64 - (self.end.saturating_sub(self.start)) as i64
    }
}

/// How many bytes two texts have in common at the front, and how many behind that at the back.
fn common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    (front, back)
}

/// What a string is in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// A value.
    Value,
    /// A key of an array or of an object: the name of a property, too.
    Key,
    /// The name of a class.
    Class,
}
