//! Keys of objects: each is rendered once for its id, and duplicate keys are found.

use super::emitter::PIECE_LEN;
use crate::document::{Kind, flag};
use crate::output::LossKind;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

/// The written form of a key.
#[derive(Clone, Debug, Default)]
pub(super) struct RenderedKey {
    /// Offset of its text, in quotes and with the colon.
    pub(super) start: usize,
    /// Length of that text; 0 for a key that is not rendered yet.
    pub(super) len: usize,
    /// Id of the first key with the same text.
    same_as: u16,
    /// Whether the key needs more than writing its text: its [`KeyHandling`] is not the default.
    pub(super) is_special: bool,
    /// Number of times that the key was written; [`Keys::count_uses`] sets it to 0.
    uses: u64,
    /// Whether the losses of the key are only counted; see [`Keys::count_uses`].
    is_counted: bool,
}

/// What the writer does with a key in addition to writing its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyHandling {
    /// The entry does not exist: it is a placeholder.
    pub(super) is_absent: bool,
    /// The entry is left out: the class uses this name.
    pub(super) is_reserved: bool,
    /// What the text does not represent.
    pub(super) losses: [Option<LossKind>; 3],
}

/// The rendered keys of a document.
///
/// Each open map has an id; a map that is opened later has a higher one. The stamp of a key is the id of the last map
/// that had the key. If an inner map overwrites the stamp of an outer map, the old stamp is pushed on `undo`, and is
/// restored when the inner map is closed.
#[derive(Default)]
pub(super) struct Keys {
    rendered: Vec<RenderedKey>,
    text: Vec<u8>,
    special: HashMap<u16, KeyHandling>,
    stamps: Vec<u64>,
    undo: Vec<(u16, u64)>,
    /// The first id of each text; only used if two ids may have the same text.
    first_ids: Option<HashMap<Vec<u8>, u16>>,
    /// Kind and flags of all keys so far. Keys of one kind and different bytes have different texts.
    kind: Option<(Kind, u8)>,
    /// Keys that are nodes of the tape, hashed with the id of their map.
    key_hashes: HashSet<u64>,
    hasher: RandomState,
    last_map_id: u64,
}

/// State of an open map for finding duplicate keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenMap {
    /// Id of this map; 0 for no map.
    id: u64,
    /// Id of the map around it; 0 if it is the outermost.
    outer_id: u64,
    /// Length of [`Keys::undo`] when the map was opened.
    undo_len: u32,
    /// Whether it has keys that are nodes of the tape.
    has_nodes: bool,
}

impl Keys {
    /// Prepares for the next document on the same tape: losses of keys are reported
    /// again.
    pub(super) fn prepare_next_document(&mut self) {
        for id in self.special.keys() {
            if let Some(rendered) = self.rendered.get_mut(usize::from(*id)) {
                (rendered.is_special, rendered.is_counted, rendered.uses) = (true, false, 0);
            }
        }
        self.undo.clear();
        self.key_hashes.clear();
    }

    /// Opens a map inside of `outer`.
    #[inline]
    pub(super) fn open_map(&mut self, outer: &OpenMap) -> OpenMap {
        self.last_map_id += 1;
        OpenMap { id: self.last_map_id, outer_id: outer.id, undo_len: self.undo.len() as u32, has_nodes: false }
    }

    /// Closes the map.
    #[inline]
    pub(super) fn close_map(&mut self, map: &OpenMap) {
        while self.undo.len() > map.undo_len as usize {
            if let Some((id, stamp)) = self.undo.pop() {
                self.stamps[usize::from(id)] = stamp;
            }
        }
        if map.has_nodes && map.outer_id == 0 {
            self.key_hashes.clear();
        }
    }

    /// Returns the written form of the key with this id, if it was rendered.
    #[inline]
    pub(super) fn get(&self, id: u16) -> Option<&RenderedKey> {
        self.rendered.get(usize::from(id)).filter(|rendered| rendered.len > 0)
    }

    /// Returns the text of a rendered key as a piece of [`PIECE_LEN`] bytes, if it is not
    /// longer.
    #[inline]
    pub(super) fn rendered_piece(&self, rendered: &RenderedKey) -> Option<&[u8; PIECE_LEN]> {
        if rendered.len > PIECE_LEN {
            return None;
        }
        self.text.get(rendered.start..).and_then(|rest| rest.first_chunk())
    }

    /// Returns the text of a rendered key, in quotes and with the colon.
    pub(super) fn rendered_text(&self, rendered: &RenderedKey) -> &[u8] {
        self.text.get(rendered.start..rendered.start + rendered.len).unwrap_or(&[])
    }

    pub(super) fn key_handling(&self, id: u16) -> KeyHandling {
        self.special.get(&id).copied().unwrap_or_default()
    }

    /// Called when the losses of this key were reported once, with a path. From now on the writer only counts how often
    /// it writes the key.
    pub(super) fn count_uses(&mut self, id: u16) {
        if let Some(rendered) = self.rendered.get_mut(usize::from(id)) {
            (rendered.is_special, rendered.is_counted, rendered.uses) = (false, true, 0);
        }
    }

    /// Returns the losses of keys that were only counted.
    pub(super) fn counted_losses(&self) -> impl Iterator<Item = (LossKind, u64)> {
        let counted = (0u16..).zip(&self.rendered).filter(|(_, rendered)| rendered.is_counted && rendered.uses > 1);
        counted.flat_map(|(id, rendered)| {
            self.key_handling(id).losses.into_iter().flatten().map(|kind| (kind, rendered.uses - 1))
        })
    }

    /// Stores the written form of a key: `text` is in quotes and with the colon.
    pub(super) fn store_rendered(&mut self, id: u16, kind: Kind, flags: u8, text: &[u8], special: KeyHandling) {
        let index = usize::from(id);
        if self.rendered.len() <= index {
            self.rendered.resize(index + 1, RenderedKey::default());
            self.stamps.resize(index + 1, 0);
        }
        // Remove the padding of the previous text.
        let start = self.text.len().saturating_sub(PIECE_LEN);
        self.text.truncate(start);
        self.text.extend_from_slice(text);
        self.text.resize(start + text.len() + PIECE_LEN, 0);
        let is_special = special != KeyHandling::default();
        self.rendered[index] =
            RenderedKey { start, len: text.len(), same_as: id, is_special, ..RenderedKey::default() };
        if is_special {
            self.special.insert(id, special);
        }
        // Keys of one kind have different texts, unless something was lost.
        let kind = (kind, flags & !flag::REF);
        if is_special || *self.kind.get_or_insert(kind) != kind {
            self.compare_texts();
        }
        if self.first_ids.is_some() {
            self.merge_same_text(id);
        }
    }

    /// Called when two ids may have the same text from now on.
    pub(super) fn compare_texts(&mut self) {
        if self.first_ids.is_none() {
            self.first_ids = Some(HashMap::new());
            for id in (1..self.rendered.len()).filter_map(|id| u16::try_from(id).ok()) {
                self.merge_same_text(id);
            }
        }
    }

    fn merge_same_text(&mut self, id: u16) {
        let rendered = &self.rendered[usize::from(id)];
        if rendered.len > 0
            && let Some(first) = &mut self.first_ids
        {
            let text = self.text[rendered.start..rendered.start + rendered.len].to_vec();
            let same_as = *first.entry(text).or_insert(id);
            self.rendered[usize::from(id)].same_as = same_as;
            // An open map may have it already.
            let stamp = self.stamps[usize::from(id)];
            let first = &mut self.stamps[usize::from(same_as)];
            *first = stamp.max(*first);
        }
    }

    /// Returns `true` if the map already has this key, which is written now.
    #[inline]
    pub(super) fn is_duplicate_key(&mut self, id: u16, map: &OpenMap) -> bool {
        let rendered = &mut self.rendered[usize::from(id)];
        rendered.uses += 1;
        let id = rendered.same_as;
        self.is_stamped(id, map)
    }

    #[inline]
    fn is_stamped(&mut self, id: u16, map: &OpenMap) -> bool {
        let stamp = &mut self.stamps[usize::from(id)];
        if *stamp == map.id {
            return true;
        }
        if *stamp > 0 && *stamp <= map.outer_id {
            self.undo.push((id, *stamp));
        }
        *stamp = map.id;
        false
    }

    /// Returns `true` if the map already has this key, which has no id. All keys with an id must
    /// have been rendered before.
    pub(super) fn is_duplicate_text(&mut self, text: &[u8], map: &mut OpenMap) -> bool {
        self.compare_texts();
        if let Some(id) = self.first_ids.as_ref().and_then(|first| first.get(text)) {
            let id = self.rendered[usize::from(*id)].same_as;
            return self.is_stamped(id, map);
        }
        map.has_nodes = true;
        !self.key_hashes.insert(self.hasher.hash_one((map.id, text)))
    }
}
