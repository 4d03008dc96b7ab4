//! Changes to a damaged text.

use crate::edit::Edits;

/// A wrong length and the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fix {
    /// Offset of the number.
    pub(super) offset: usize,
    pub(super) old_len: u64,
    /// The right length, in bytes of the damaged text.
    pub(super) new_len: u64,
    /// The thing that has this length. `visibility` is a name that lost its two NUL bytes. `text` is a serialized
    /// text in a string; it stays as it is. `name` is the name of a variable; its length is one byte.
    pub(super) subject: &'static str,
    /// Offset of the first byte that the length counts.
    pub(super) content_start: usize,
    /// For `visibility`: the number of bytes at the start of the name that are `*` or the class.
    pub(super) owner: usize,
}

/// Change to one string, name or payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) fix: Fix,
    /// New content: a name with its NUL bytes.
    pub(super) new_content: Option<Vec<u8>>,
    /// Changes of a nested serialized text; their offsets are relative to its start.
    pub(super) inner: Vec<Change>,
    /// The length, in bytes of the repaired text.
    pub(super) final_len: u64,
}

impl Change {
    /// Replaces a length by the right one.
    pub(super) fn fix_length(fix: Fix) -> Change {
        Change { fix, new_content: None, inner: Vec::new(), final_len: fix.new_len }
    }

    /// Replaces a name.
    pub(super) fn replace_name(fix: Fix, name: Vec<u8>) -> Change {
        let new_len = name.len() as u64;
        Change { fix, new_content: Some(name), inner: Vec::new(), final_len: new_len }
    }

    /// Changes a string and the serialized text in it.
    pub(super) fn with_inner(fix: Fix, text: &[u8], inner: Vec<Change>) -> Change {
        let new_len = fix.new_len.saturating_add_signed(collect_edits(text, &inner).growth());
        Change { fix, new_content: None, inner, final_len: new_len }
    }

    /// Keeps a serialized text in a string as it is, although it is damaged.
    pub(super) fn keep_text(content_start: usize, len: u64) -> Change {
        Change::fix_length(Fix {
            offset: content_start,
            old_len: len,
            new_len: len,
            subject: "text",
            content_start,
            owner: 0,
        })
    }

    /// Returns `true` if the change has no effect, so that it is not reported.
    pub(super) fn has_no_effect(&self) -> bool {
        self.fix.subject != "text"
            && self.final_len == self.fix.old_len
            && self.new_content.is_none()
            && self.inner.is_empty()
    }

    /// Returns the number as it must be written.
    fn encode_number(&self) -> Vec<u8> {
        match self.fix.subject {
            "name" => vec![self.final_len as u8],
            _ => self.final_len.to_string().into_bytes(),
        }
    }
}

/// Sorts the changes, updates the lengths of payloads in which lengths got other digits, and
/// drops changes without effect.
pub(super) fn settle_changes(text: &[u8], changes: &mut Vec<Change>) {
    changes.sort_by_key(|change| change.fix.offset);
    // The loop runs from the last change to the first one, because the content of a payload follows its length.
    // `growth[i]` is the number of bytes by which the text grows from the change `i` on.
    let mut growth = vec![0i64; changes.len() + 1];
    for index in (0..changes.len()).rev() {
        let Fix { subject, content_start, new_len, .. } = changes[index].fix;
        if subject == "payload" && changes[index].inner.is_empty() {
            let end = content_start.saturating_add(new_len as usize);
            let inner_end = index + 1 + changes[index + 1..].partition_point(|change| change.fix.offset < end);
            changes[index].final_len = new_len.saturating_add_signed(growth[index + 1] - growth[inner_end]);
        }
        let mut own_edits = Edits::new();
        push_edits(text, &changes[index], 0, &mut own_edits);
        growth[index] = growth[index + 1] + own_edits.growth();
    }
    changes.retain(|change| !change.has_no_effect());
}

/// Converts changes to edits of the text.
pub(super) fn collect_edits(text: &[u8], changes: &[Change]) -> Edits {
    let mut edits = Edits::new();
    for change in changes {
        push_edits(text, change, 0, &mut edits);
    }
    edits
}

/// Adds the edits of one change. `text` starts at the offset `base` of the whole text.
fn push_edits(text: &[u8], change: &Change, base: usize, edits: &mut Edits) {
    let Fix { offset, old_len, new_len, subject, content_start, .. } = change.fix;
    if change.final_len != old_len {
        let digits = text.get(offset..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let len = if subject == "name" { 1 } else { digits };
        edits.push(base + offset, base + offset + len, &change.encode_number());
    }
    let end = content_start.saturating_add(new_len as usize).min(text.len());
    if let Some(name) = &change.new_content {
        edits.push(base + content_start, base + end, name);
    }
    let inside = text.get(content_start..end).unwrap_or_default();
    for inner in &change.inner {
        push_edits(inside, inner, base + content_start, edits);
    }
}
