//! Replays recorded choices when a document is written.

use super::links::resolve_variable;
use super::spelling::{StringOf, code, has_target, header, string_target, tag_target, tracked};
use crate::document::{Document, Kind, Note, Replay, Spelling, Tape};
use std::collections::HashMap;

/// Notes by node, and the strings and tags that notes refer to.
pub(super) struct SpellingReplay<'d> {
    replay: Replay<'d>,
    writes_full_keys: bool,
    /// The strings and tags that notes refer to, once they are written. The keys are [`string_target`] and
    /// [`tag_target`].
    targets: HashMap<u64, Option<WrittenTarget>>,
}

/// A string, or a tag. A tag has no bytes.
#[derive(Debug)]
struct WrittenTarget {
    offset: u64,
    kind: Kind,
    bytes: Vec<u8>,
    /// Address of its bytes in the document.
    address: *const u8,
}

/// Maximum length of a string that may be temporary: the text of a number that is a key. Its address may be used again
/// for another string. The address of a longer string identifies it.
const MAX_TEMPORARY_LEN: usize = 1 << 10;

impl<'d> SpellingReplay<'d> {
    pub(super) fn new(spelling: &'d Spelling, tape: &Tape) -> SpellingReplay<'d> {
        let refers_to_target = |note: &&Note| has_target(note.code) && note.value != u64::MAX;
        SpellingReplay {
            replay: Replay::new(spelling, tape),
            writes_full_keys: spelling.get(header::FULL_KEYS).is_some_and(|value| value != 0),
            targets: spelling.notes.iter().filter(refers_to_target).map(|note| (note.value, None)).collect(),
        }
    }

    /// Returns `true` if the link or alias at `index` does not use the offset of the variable at `target` itself, but
    /// that of an alias of the variable, or that of a string of which the variable is still a copy.
    pub(super) fn refers_indirectly(&self, document: &Document<'_>, index: u32, target: u32) -> bool {
        let Some(via) = self.note(index, code::VIA) else { return false };
        let nodes = document.nodes();
        let via_node = self.replay.ordinals.ordinal_to_node(via as u32);
        match (nodes.get(via_node as usize), nodes.get(target as usize)) {
            (Some(other), _) if other.kind == Kind::Alias => resolve_variable(nodes, via_node) == target,
            (Some(other), Some(node)) if node.kind.is_string() => {
                let is_copy = self.note(target, code::COPY) == Some(via);
                // Keys and class names can't be edited.
                let is_value = via >> 32 == StringOf::Value as u64;
                let same = || other.kind == node.kind && document.bytes(other) == document.bytes(node);
                is_copy && (!is_value || same())
            }
            _ => false,
        }
    }

    /// Returns the offset that the link or alias at `index` used for the variable at `target`,
    /// if that was not the variable's own.
    pub(super) fn via_offset(&self, document: &Document<'_>, index: u32, target: u32) -> Option<u64> {
        let via = self.note(index, code::VIA).filter(|_| self.refers_indirectly(document, index, target))?;
        self.targets.get(&via)?.as_ref().map(|written| written.offset)
    }

    fn notes_of_node(&self, index: u32) -> &'d [Note] {
        self.replay.notes_at(index)
    }

    /// Returns a note of the node at `index`.
    pub(super) fn note(&self, index: u32, code: u16) -> Option<u64> {
        self.replay.note_value(index, code)
    }

    /// Returns the tags of the node at `index` that were tracked although nothing refers
    /// to them.
    pub(super) fn extra_track_bits(&self, index: u32) -> u64 {
        self.notes_of_node(index).iter().filter(|note| note.code == code::TRACK).fold(0, |bits, note| bits | note.value)
    }

    /// Returns the number of PAD tags at this place ([`super::spelling::pad_place`]) of the node at `index`.
    pub(super) fn count_pads(&self, index: u32, place: u64) -> u64 {
        let pads = self.notes_of_node(index).iter().filter(|note| note.code == code::PADS && note.value >> 32 == place);
        pads.map(|note| note.value & 0xFFFF_FFFF).sum()
    }

    /// Returns the bytes that a note refers to.
    pub(super) fn kept_bytes(&self, index: u32, code: u16) -> Option<&'d [u8]> {
        self.replay.stored_bytes(index, code)
    }

    /// Returns `true` if keys are always written in full.
    pub(super) fn full_keys(&self) -> bool {
        self.writes_full_keys
    }

    /// Records that a string is written here.
    pub(super) fn record_string(&mut self, index: u32, part: StringOf, kind: Kind, bytes: &[u8], offset: u64) {
        if !self.targets.is_empty()
            && let Some(written) =
                self.targets.get_mut(&string_target(part, self.replay.ordinals.node_to_ordinal(index)))
        {
            *written = Some(WrittenTarget { offset, kind, bytes: bytes.to_vec(), address: bytes.as_ptr() });
        }
    }

    /// Records that this tag of the variable at `index` is written here.
    pub(super) fn record_tag(&mut self, index: u32, tag_role: u64, offset: u64) {
        if self.targets.is_empty() {
            return;
        }
        let ordinal = self.replay.ordinals.node_to_ordinal(index);
        let all = if tag_role == tracked::MAIN { &[tracked::BODY, tracked::AFTER][..] } else { &[tag_role] };
        for tag_role in all {
            if let Some(written) = self.targets.get_mut(&tag_target(*tag_role, ordinal)) {
                *written =
                    Some(WrittenTarget { offset, kind: Kind::Null, bytes: Vec::new(), address: std::ptr::null() });
            }
        }
    }

    /// Returns the offset of the tag that the link at `index` used for its variable, if
    /// that was not the first one.
    pub(super) fn linked_tag_offset(&self, index: u32) -> Option<u64> {
        let linked_tag = self.note(index, code::BY)?;
        self.targets.get(&linked_tag)?.as_ref().map(|written| written.offset)
    }

    /// Returns the offset of the string that a note refers to, if that string still has this kind and these bytes. It
    /// may have been edited.
    pub(super) fn offset_of(&self, target: u64, kind: Kind, bytes: &[u8]) -> Option<u64> {
        let written = self.targets.get(&target)?.as_ref()?;
        // Most are at the same address, so a long string is not compared again.
        let is_same_place =
            bytes.len() > MAX_TEMPORARY_LEN && written.address == bytes.as_ptr() && written.bytes.len() == bytes.len();
        let is_same = is_same_place || written.bytes == bytes;
        (written.kind == kind && is_same).then_some(written.offset)
    }
}
