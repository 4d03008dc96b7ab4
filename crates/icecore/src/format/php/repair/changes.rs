//! What is changed in a damaged text.

use crate::edit::Edits;

/// A length that must be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fix {
    /// Where its number starts.
    pub(super) offset: usize,
    pub(super) was: u64,
    /// How many bytes of the damaged text it should be.
    pub(super) is: u64,
    /// Of what it is the length. `visibility`: of a name whose two NUL bytes are lost. `text`: of
    /// a serialized text in a string, which stays as it is. `name`: of a variable, in one byte.
    pub(super) what: &'static str,
    /// Where that starts.
    pub(super) first: usize,
    /// Of a `visibility`: how many bytes of the name are `*` or the class.
    pub(super) owner: usize,
}

/// What is done to one string, name or payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) fix: Fix,
    /// All of it anew: a name with its NUL bytes.
    pub(super) anew: Option<Vec<u8>>,
    /// Changes of a serialized text in it, whose offsets count from where that starts.
    pub(super) inner: Vec<Change>,
    /// The length of the whole in the mended text.
    pub(super) mended: u64,
}

impl Change {
    /// A length that fits what it belongs to.
    pub(super) fn length(fix: Fix) -> Change {
        Change { fix, anew: None, inner: Vec::new(), mended: fix.is }
    }

    /// A name as it was.
    pub(super) fn anew(fix: Fix, name: Vec<u8>) -> Change {
        let mended = name.len() as u64;
        Change { fix, anew: Some(name), inner: Vec::new(), mended }
    }

    /// A string in which a serialized text is changed as well.
    pub(super) fn outer(fix: Fix, text: &[u8], inner: Vec<Change>) -> Change {
        let mended = fix.is.saturating_add_signed(edits(text, &inner).growth());
        Change { fix, anew: None, inner, mended }
    }

    /// A serialized text in a string that stays as it is, though it is damaged.
    pub(super) fn kept_text(first: usize, len: u64) -> Change {
        Change::length(Fix { offset: first, was: len, is: len, what: "text", first, owner: 0 })
    }

    /// Whether it changes nothing, and nothing is to be said of it.
    pub(super) fn is_idle(&self) -> bool {
        self.fix.what != "text" && self.mended == self.fix.was && self.anew.is_none() && self.inner.is_empty()
    }

    /// The number as it is to be written.
    fn number(&self) -> Vec<u8> {
        match self.fix.what {
            "name" => vec![self.mended as u8],
            _ => self.mended.to_string().into_bytes(),
        }
    }
}

/// Puts changes in order, counts the lengths of payloads again in which lengths got other
/// digits, and drops those that change nothing.
pub(super) fn settle(text: &[u8], changes: &mut Vec<Change>) {
    changes.sort_by_key(|change| change.fix.offset);
    // From the last one on: what is in a payload comes after its length. `growth[i]` is by how
    // much the text grows from there on.
    let mut growth = vec![0i64; changes.len() + 1];
    for at in (0..changes.len()).rev() {
        let Fix { what, first, is, .. } = changes[at].fix;
        if what == "payload" && changes[at].inner.is_empty() {
            let end = first.saturating_add(is as usize);
            let behind = at + 1 + changes[at + 1..].partition_point(|change| change.fix.offset < end);
            changes[at].mended = is.saturating_add_signed(growth[at + 1] - growth[behind]);
        }
        let mut alone = Edits::new();
        push(text, &changes[at], 0, &mut alone);
        growth[at] = growth[at + 1] + alone.growth();
    }
    changes.retain(|change| !change.is_idle());
}

/// The edits of a text that these changes are.
pub(super) fn edits(text: &[u8], changes: &[Change]) -> Edits {
    let mut edits = Edits::new();
    for change in changes {
        push(text, change, 0, &mut edits);
    }
    edits
}

/// `text` starts at `base`.
fn push(text: &[u8], change: &Change, base: usize, edits: &mut Edits) {
    let Fix { offset, was, is, what, first, .. } = change.fix;
    if change.mended != was {
        let digits = text.get(offset..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let len = if what == "name" { 1 } else { digits };
        edits.push(base + offset, base + offset + len, &change.number());
    }
    let end = first.saturating_add(is as usize).min(text.len());
    if let Some(name) = &change.anew {
        edits.push(base + first, base + end, name);
    }
    let inside = text.get(first..end).unwrap_or_default();
    for inner in &change.inner {
        push(inside, inner, base + first, edits);
    }
}
