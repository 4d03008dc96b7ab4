//! The spelling of a Sereal document: codes of notes for each choice of its encoder.
//!
//! There is a note if the document differs from the writer's default choice. Notes contain
//! no offsets: a COPY is noted as the item that it copies, so strings may be edited.

use super::tag;
use crate::document::{Kind, Ordinals, Spelling, Tape};
use std::collections::HashMap;

/// Choices of the whole document.
pub(super) mod header {
    /// The protocol version.
    pub(in super::super) const VERSION: u16 = 1;
    /// The number of the encoding.
    pub(in super::super) const ENCODING: u16 = 2;
    /// Kept bytes: the header suffix, or the part of it after the user header.
    pub(in super::super) const SUFFIX: u16 = 3;
    /// The first byte of a suffix that has a user header, if it is not 1.
    pub(in super::super) const BITS: u16 = 4;
    /// Number of bytes of the suffix's length, if more than needed.
    pub(in super::super) const LENGTH_WIDTH: u16 = 5;
    /// Keys that were written before are written in full again.
    pub(in super::super) const FULL_KEYS: u16 = 6;
}

/// Choices for a value.
pub(super) mod code {
    /// PAD tags: their number in the lower half, and their place in the upper half; see [`super::pad_place`].
    pub(in super::super) const PADS: u16 = 1;
    /// REFN ARRAY instead of ARRAYREF; REFN HASH likewise.
    pub(in super::super) const REFN: u16 = 2;
    /// An ARRAY or a HASH without a reference to it.
    pub(in super::super) const BARE: u16 = 3;
    /// The tag of a leaf.
    pub(in super::super) const TAG: u16 = 4;
    /// Number of bytes of the number after the tag, if more than needed.
    pub(in super::super) const WIDTH: u16 = 5;
    /// A COPY of a string: see [`super::target`].
    pub(in super::super) const COPY: u16 = 6;
    /// Number of bytes of that offset, if more than needed.
    pub(in super::super) const COPY_WIDTH: u16 = 7;
    /// Tracked tags that nothing refers to: see [`super::tracked`].
    pub(in super::super) const TRACK: u16 = 8;
    /// Kept bytes: the padding of a LONG_DOUBLE, if not zero.
    pub(in super::super) const PADDING: u16 = 9;
    /// A link to a variable by the offset of something else: an ALIAS of it, or the string
    /// that it is a COPY of. (The encoder then means the string that was copied; the decoder uses the
    /// copy, because reading the copy tracked that offset again.)
    pub(in super::super) const VIA: u16 = 22;
    /// A link by a tag of the variable other than its first: the bit of [`super::tracked`]
    /// in the upper half, and the node of the tag.
    pub(in super::super) const BY: u16 = 23;
    /// WEAKEN after the class of a scalar that is blessed late. The value 1 means that another WEAKEN
    /// precedes the class.
    pub(in super::super) const WEAK_BODY: u16 = 24;
    /// The key in full, though it was written before.
    pub(in super::super) const KEY_FULL: u16 = 10;
    /// The key by COPY, unlike the other keys.
    pub(in super::super) const KEY_COPY: u16 = 11;
    /// The tag of the key.
    pub(in super::super) const KEY_TAG: u16 = 12;
    /// Like [`WIDTH`], for the key.
    pub(in super::super) const KEY_WIDTH: u16 = 13;
    /// Like [`COPY_WIDTH`], for the key.
    pub(in super::super) const KEY_COPY_WIDTH: u16 = 14;
    /// The class name in full, though it was written before.
    pub(in super::super) const CLASS_FULL: u16 = 16;
    /// OBJECT with a COPY of its class name.
    pub(in super::super) const CLASS_COPY: u16 = 17;
    /// The tag of the class name.
    pub(in super::super) const CLASS_TAG: u16 = 18;
    /// Like [`WIDTH`], for the class name, or for the offset of OBJECTV.
    pub(in super::super) const CLASS_WIDTH: u16 = 19;
    /// Like [`COPY_WIDTH`], for the class name.
    pub(in super::super) const CLASS_COPY_WIDTH: u16 = 20;
    /// OBJECTV with another class name than the first with this text.
    pub(in super::super) const CLASS_OTHER: u16 = 21;
}

/// Places of PAD tags, in the upper half of a note [`code::PADS`].
pub(super) mod pad_place {
    /// Before the first tag of the value.
    pub(in super::super) const FIRST: u64 = 0;
    /// After its REFN.
    pub(in super::super) const AFTER_REFN: u64 = 1;
    /// After its WEAKEN.
    pub(in super::super) const AFTER_WEAKEN: u64 = 2;
}

/// Bits of [`code::TRACK`].
pub(super) mod tracked {
    /// The tag of the variable, or the one after its WEAKEN.
    pub(in super::super) const MAIN: u64 = 1;
    /// The ARRAY, HASH or REGEXP after its REFN.
    pub(in super::super) const INNER: u64 = 2;
    /// The tag of the key.
    pub(in super::super) const KEY: u64 = 4;
    /// The tag of the class name.
    pub(in super::super) const CLASS: u64 = 8;
    /// The WEAKEN.
    pub(in super::super) const WEAKEN: u64 = 16;
    /// The tag after WEAKEN or after a class, if something refers to it.
    pub(in super::super) const AFTER: u64 = 32;
    /// The REFN after the class of a regular expression.
    pub(in super::super) const REFN: u64 = 64;
    /// The REFN after the class of a regular expression, if a link refers to it.
    pub(in super::super) const AT_REFN: u64 = 128;
    /// The tag after a class.
    pub(in super::super) const BODY: u64 = 512;
    /// The WEAKEN after a class, if something refers to it.
    pub(in super::super) const AT_WEAKEN: u64 = 256;
}

/// A string of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StringOf {
    Value = 0,
    Key = 1,
    Class = 2,
}

/// Returns the value of a note for a string of the document: its part and the ordinal of
/// its node.
pub(super) fn string_target(part: StringOf, ordinal: u32) -> u64 {
    (part as u64) << 32 | u64::from(ordinal)
}

/// Returns the value of a note for a tag of a variable.
pub(super) fn tag_target(tag_role: u64, ordinal: u32) -> u64 {
    tag_role << 40 | u64::from(ordinal)
}

/// Returns `true` if a note's value is a [`string_target`] or a [`tag_target`].
pub(super) fn has_target(code: u16) -> bool {
    matches!(code, code::COPY | code::KEY_COPY | code::CLASS_COPY | code::CLASS_OTHER | code::VIA | code::BY)
}

/// Returns the minimum size of a varint.
pub(super) fn varint_width(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// State that a detailed reading needs to make notes.
#[derive(Debug, Default)]
pub(super) struct Speller {
    /// Where strings start, and their nodes; ascending.
    strings: Vec<(usize, u32, StringOf)>,
    /// Whether the key at this offset is the first with its name, if this was already
    /// computed.
    firsts: HashMap<(usize, Kind), bool>,
    /// Where each key was written first.
    keys: HashMap<(Kind, Vec<u8>), usize>,
    /// Where each class name was written first.
    classes: HashMap<u32, usize>,
    /// Nodes whose key was written again in full, and those that copied it.
    repeated_keys: Vec<u32>,
    copied_keys: Vec<u32>,
    /// Whether a COPY is being read: its strings are not separate ones.
    pub(super) is_in_copy: bool,
}

impl Speller {
    /// Records a string that starts here.
    pub(super) fn record_string(&mut self, offset: usize, node: u32, part: StringOf) {
        if !self.is_in_copy {
            self.strings.push((offset, node, part));
        }
    }

    /// Returns the string that starts here, as a note's value with a node index.
    pub(super) fn target_at(&self, offset: usize) -> Option<u64> {
        let index = self.strings.binary_search_by_key(&offset, |(start, ..)| *start).ok()?;
        let (_, node, part) = self.strings[index];
        Some(string_target(part, node))
    }

    /// Records a key that was written in full.
    pub(super) fn record_full_key(&mut self, offset: usize, node: u32, kind: Kind, bytes: &[u8]) {
        if self.is_in_copy {
            return;
        }
        let first = *self.keys.entry((kind, bytes.to_vec())).or_insert(offset);
        if first != offset {
            self.repeated_keys.push(node);
        }
    }

    /// Records a key that was written as a copy. Returns the note that it needs, if any.
    pub(super) fn record_copied_key(&mut self, offset: usize, node: u32, kind: Kind, bytes: &[u8]) -> Option<u64> {
        if self.is_in_copy {
            return None;
        }
        let keys = &self.keys;
        let is_first = || keys.get(&(kind, bytes.to_vec())) == Some(&offset);
        if *self.firsts.entry((offset, kind)).or_insert_with(is_first) {
            self.copied_keys.push(node);
            None
        } else {
            self.target_at(offset)
        }
    }

    /// Records a class name that was written in full. Returns `true` if it is the first with
    /// this text.
    pub(super) fn record_class_name(&mut self, offset: usize, class: u32) -> bool {
        self.is_in_copy || *self.classes.entry(class).or_insert(offset) == offset
    }

    /// Returns `true` if the name of this class was first written here.
    pub(super) fn is_first_class_name(&self, offset: usize, class: u32) -> bool {
        self.is_in_copy || self.classes.get(&class) == Some(&offset)
    }

    /// Updates node indexes after nodes have moved.
    pub(super) fn renumber_nodes(&mut self, to: impl Fn(u32) -> u32) {
        for node in self.repeated_keys.iter_mut().chain(&mut self.copied_keys) {
            *node = to(*node);
        }
    }

    /// Removes everything that the next body can't refer to.
    pub(super) fn forget_body(&mut self) {
        self.strings.clear();
        self.firsts.clear();
        self.keys.clear();
        self.classes.clear();
    }

    /// Makes the notes that depend on the whole, and converts node indexes in targets to
    /// ordinals.
    pub(super) fn finish(self, spelling: &mut Spelling, tape: &Tape) {
        let full = self.repeated_keys.len() > self.copied_keys.len();
        if full {
            spelling.header.push((header::FULL_KEYS, 1));
        }
        let (code, nodes) =
            if full { (code::KEY_COPY, &self.copied_keys) } else { (code::KEY_FULL, &self.repeated_keys) };
        for node in nodes {
            // The first with this name, which the writer finds without a note.
            let value = if full { u64::MAX } else { 0 };
            spelling.notes.push(crate::document::Note { ordinal: *node, code, value });
        }
        let ordinals = Ordinals::from_tape(tape);
        for note in &mut spelling.notes {
            if has_target(note.code) && note.value != u64::MAX {
                let ordinal = ordinals.node_to_ordinal(note.value as u32);
                note.value = note.value & !0xFFFF_FFFF | u64::from(ordinal);
            }
        }
    }
}

/// Returns the default tag for a string of this kind and length.
pub(super) fn string_tag(kind: Kind, len: usize) -> u8 {
    match kind {
        Kind::Text => tag::STR_UTF8,
        _ if len <= tag::MAX_SHORT_LEN => tag::SHORT_BINARY,
        _ => tag::BINARY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varint_widths_are_minimal() {
        for (value, bytes) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)] {
            assert_eq!(varint_width(value), bytes, "{value}");
        }
    }
}
