//! Changes of a text, and texts that stand escaped in another one.

mod escaping;

pub use escaping::{Around, Decoded, Decoding, Escaping, raw_edits};

/// One change of a text: the bytes from `start` to `end` become `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where the bytes start that go.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// What comes in their place.
    pub new: Vec<u8>,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    list: Vec<Edit>,
}

impl Edits {
    /// None.
    pub fn new() -> Edits {
        Edits::default()
    }

    /// Adds one behind those that are there. One that starts before the last one ends, or
    /// that ends before it starts, is not taken; the answer is then `false`.
    pub fn push(&mut self, start: usize, end: usize, new: &[u8]) -> bool {
        self.add(Edit { start, end, new: new.to_vec() })
    }

    /// As [`Edits::push`].
    pub fn add(&mut self, edit: Edit) -> bool {
        let last = self.list.last().map_or(0, |last| last.end);
        let fits = last <= edit.start && edit.start <= edit.end;
        if fits {
            self.list.push(edit);
        }
        fits
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
    pub fn iter(&self) -> std::slice::Iter<'_, Edit> {
        self.list.iter()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// How many bytes longer the text becomes; negative: shorter.
    pub fn growth(&self) -> i64 {
        self.list.iter().map(Edit::growth).sum()
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
        out.reserve(text.len());
        for edit in &self.list {
            out.extend_from_slice(text.get(at..edit.start).unwrap_or_default());
            out.extend_from_slice(&edit.new);
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
        let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old_rest, new_rest) = (&old[front..], &new[front..]);
        let back = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
        edits.push(front, old.len() - back, &new_rest[..new_rest.len() - back]);
        edits
    }

    /// Adds changes of a piece that starts at `offset` of this text.
    pub fn append(&mut self, edits: Edits, offset: usize) {
        for Edit { start, end, new } in edits.list {
            self.add(Edit { start: start.saturating_add(offset), end: end.saturating_add(offset), new });
        }
    }

    /// Puts something else in the place of what came new.
    pub(crate) fn set(&mut self, at: usize, new: Vec<u8>) {
        if let Some(edit) = self.list.get_mut(at) {
            edit.new = new;
        }
    }

    /// Drops those that change nothing of this text.
    pub(crate) fn drop_idle(&mut self, text: &[u8]) {
        self.list.retain(|edit| text.get(edit.start..edit.end) != Some(&edit.new));
    }
}

impl Edit {
    /// How many bytes longer the text becomes; negative: shorter.
    pub fn growth(&self) -> i64 {
        self.new.len() as i64 - (self.end.saturating_sub(self.start)) as i64
    }
}

impl IntoIterator for Edits {
    type Item = Edit;
    type IntoIter = std::vec::IntoIter<Edit>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'e> IntoIterator for &'e Edits {
    type Item = &'e Edit;
    type IntoIter = std::slice::Iter<'e, Edit>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
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
