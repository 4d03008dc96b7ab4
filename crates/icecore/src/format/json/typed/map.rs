//! Maps: as plain objects if their keys allow it, otherwise as pairs.

use super::form::Name;
use super::key;
use super::write::{TypedWriter, WriteTask};
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::Error;
use crate::format::json::emitter::quote_key;
use std::collections::HashSet;

/// State of keys with an id.
#[derive(Default)]
pub(super) struct MapKeys {
    /// By id: the key in quotes and with the colon; `None` if it needs a pair. Empty if
    /// it is not known yet.
    texts: Vec<Option<Vec<u8>>>,
    /// By id: the number of the last map that had it.
    last_maps: Vec<u64>,
    /// Number of the current map, counted from 1.
    current_map: u64,
}

/// An entry of a map.
#[derive(Clone, Copy)]
struct MapEntry {
    /// The node of its key, or of its value if the key has an id.
    node: u32,
    /// The id of its key, if it has one.
    id: Option<u16>,
    value: u32,
    /// Start of the next entry.
    next: u32,
}

/// Returns the flags of the key itself: only a string can be locked or absent.
fn key_flags(key: &Node) -> u8 {
    if key.kind.is_string() { key.flags & (flag::LOCKED | flag::PLACEHOLDER) } else { 0 }
}

impl TypedWriter<'_, '_> {
    /// Returns the entry at `index`, unless the entries end there.
    fn map_entry(&self, index: u32, end: u32) -> Option<MapEntry> {
        let node = self.nodes.get(index as usize).filter(|_| index < end)?;
        let tape = self.document.tape();
        match node.key {
            NO_KEY | KEY_NODE => None,
            IS_KEY => {
                let value = tape.index_after(index);
                (value < end).then(|| MapEntry { node: index, id: None, value, next: tape.index_after(value) })
            }
            id => Some(MapEntry { node: index, id: Some(id), value: index, next: tape.index_after(index) }),
        }
    }

    /// Returns kind, flags and bytes of an entry's key.
    fn entry_key(&self, entry: &MapEntry) -> (Node, &[u8]) {
        let document = self.document;
        match entry.id {
            Some(id) => document
                .tape()
                .keys()
                .get(u32::from(id))
                .map_or((Node::leaf(Kind::Null, 0), &[]), |name| (name.node, name.bytes)),
            None => {
                let node = document.nodes()[entry.node as usize];
                (node, if node.kind.has_bytes() { document.bytes(&node) } else { &[] })
            }
        }
    }

    pub(super) fn open_map(&mut self, index: u32, node: &Node, end: u32) -> Result<(), Error> {
        let special = node.flags & (flag::RESTRICTED | flag::IDENTITY | flag::DEFAULT) != 0;
        self.open_entries(index + 1, end, special.then_some(index));
        Ok(())
    }

    /// Opens an object for these entries; `special` is the map, if it has more
    /// properties.
    pub(super) fn open_entries(&mut self, first: u32, end: u32, special: Option<u32>) {
        self.open_bracket(b'{');
        self.tasks.push(WriteTask::Close(b'}'));
        if special.is_some() || !self.has_plain_keys(first, end) {
            let pairs_end = self.find_pairs_end(first, end);
            self.tasks.push(WriteTask::MapProperties { map: special, first, pairs_end, end });
            self.tasks.extend([
                WriteTask::Close(b']'),
                WriteTask::Pairs(first, pairs_end),
                WriteTask::Open(b'['),
                WriteTask::Key(Name::Map),
            ]);
        } else if self.sort_keys {
            self.tasks.push(WriteTask::SortedEntries(self.sort_entries(first, end)));
        } else {
            self.tasks.push(WriteTask::Entries(first, end));
        }
    }

    /// Returns `true` if all keys can be plain keys of an object, without duplicates.
    fn has_plain_keys(&mut self, first: u32, end: u32) -> bool {
        self.maps.current_map += 1;
        let current_map = self.maps.current_map;
        let (mut next, mut has_key_nodes) = (first, false);
        while let Some(entry) = self.map_entry(next, end) {
            next = entry.next;
            match entry.id {
                None => {
                    let (node, bytes) = self.entry_key(&entry);
                    let is_plain =
                        !self.is_target(entry.node) && key::encode_key(self.plain_strings, &node, bytes).is_some();
                    if !is_plain {
                        return false;
                    }
                    has_key_nodes = true;
                }
                Some(id) => {
                    let index = usize::from(id);
                    if self.render_key(id).is_none() {
                        return false;
                    }
                    if std::mem::replace(&mut self.maps.last_maps[index], current_map) == current_map {
                        return false;
                    }
                }
            }
        }
        !has_key_nodes || self.has_distinct_keys(first, end)
    }

    /// Returns `true` if there are no duplicate keys, if some have no id.
    fn has_distinct_keys(&self, first: u32, end: u32) -> bool {
        let (mut next, mut known_keys) = (first, HashSet::new());
        while let Some(entry) = self.map_entry(next, end) {
            next = entry.next;
            let (node, bytes) = self.entry_key(&entry);
            if !known_keys.insert((node.kind, bytes)) {
                return false;
            }
        }
        true
    }

    /// Returns the text of the key with this id, in quotes and with the colon; `None`
    /// if it needs a pair.
    fn render_key(&mut self, id: u16) -> Option<&[u8]> {
        let index = usize::from(id);
        if self.maps.texts.len() <= index {
            self.maps.texts.resize(index + 1, Some(Vec::new()));
            self.maps.last_maps.resize(index + 1, 0);
        }
        if self.maps.texts[index].as_ref().is_some_and(Vec::is_empty) {
            let name = self.document.tape().keys().get(u32::from(id));
            let text = name.and_then(|name| key::encode_key(self.plain_strings, &name.node, name.bytes));
            self.maps.texts[index] = text.map(|text| quote_key(&text, self.emitter.style()));
        }
        self.maps.texts[index].as_deref()
    }

    /// Writes one entry of an object, and schedules the others.
    pub(super) fn write_next_entry(&mut self, next: u32, end: u32) -> Result<(), Error> {
        let Some(entry) = self.map_entry(next, end) else { return Ok(()) };
        self.tasks.push(WriteTask::Entries(entry.next, end));
        self.write_plain_entry(&entry)
    }

    fn write_plain_entry(&mut self, entry: &MapEntry) -> Result<(), Error> {
        self.start_item()?;
        match entry.id {
            Some(id) => {
                self.render_key(id);
                if let Some(Some(text)) = self.maps.texts.get(usize::from(id)) {
                    self.emitter.write_raw(text)?;
                }
            }
            None => {
                let (node, bytes) = self.entry_key(entry);
                let text = key::encode_key(self.plain_strings, &node, bytes).unwrap_or_default();
                self.emitter.write_raw(&quote_key(&text, self.emitter.style()))?;
            }
        }
        if self.emitter.is_indented() {
            self.emitter.write_byte(b' ');
        }
        self.write_value(entry.value)
    }

    fn sort_entries(&self, first: u32, end: u32) -> std::vec::IntoIter<(u32, u32)> {
        let (mut next, mut entries) = (first, Vec::new());
        while let Some(entry) = self.map_entry(next, end) {
            entries.push(entry);
            next = entry.next;
        }
        entries.sort_by(|a, b| self.entry_key(a).1.cmp(self.entry_key(b).1));
        let bounds: Vec<_> = entries.iter().map(|entry| (entry.node, entry.next)).collect();
        bounds.into_iter()
    }

    /// Writes one entry of an object whose entries are sorted.
    pub(super) fn write_next_sorted(&mut self, mut entries: std::vec::IntoIter<(u32, u32)>) -> Result<(), Error> {
        let Some((index, end)) = entries.next() else { return Ok(()) };
        self.tasks.push(WriteTask::SortedEntries(entries));
        match self.map_entry(index, end) {
            Some(entry) => self.write_plain_entry(&entry),
            None => Ok(()),
        }
    }

    /// Returns where the pairs end: placeholders at the end of a map are listed
    /// separately.
    fn find_pairs_end(&self, first: u32, end: u32) -> u32 {
        let (mut next, mut pairs_end) = (first, first);
        while let Some(entry) = self.map_entry(next, end) {
            next = entry.next;
            if key_flags(&self.entry_key(&entry).0) != flag::PLACEHOLDER || self.is_target(entry.node) {
                pairs_end = next;
            }
        }
        pairs_end
    }

    /// Writes one pair, and schedules the others.
    pub(super) fn write_next_pair(&mut self, next: u32, end: u32) -> Result<(), Error> {
        let Some(entry) = self.map_entry(next, end) else { return Ok(()) };
        self.tasks.extend([WriteTask::Pairs(entry.next, end), WriteTask::Close(b']')]);
        self.start_item()?;
        self.open_bracket(b'[');
        let document = self.document;
        let (node, _) = self.entry_key(&entry);
        if key_flags(&node) & flag::PLACEHOLDER == 0 {
            self.tasks.extend([WriteTask::Value(entry.value), WriteTask::Item]);
        }
        self.start_item()?;
        match entry.id.and_then(|id| document.tape().keys().get(u32::from(id))) {
            Some(name) => self.write_name(&name.node, name.bytes),
            None => self.write_value(entry.node),
        }
    }

    /// Writes the keys next to the pairs of a map.
    pub(super) fn write_map_properties(
        &mut self,
        map: Option<u32>,
        first: u32,
        pairs_end: u32,
        end: u32,
    ) -> Result<(), Error> {
        let flags = map.and_then(|map| self.nodes.get(map as usize)).map_or(0, |node| node.flags);
        if flags & flag::RESTRICTED != 0 {
            self.write_key(Name::Restricted)?;
            self.emitter.write_word("true");
        }
        let (mut next, mut position, mut locked) = (first, 0, Vec::new());
        while let Some(entry) = self.map_entry(next, pairs_end) {
            if key_flags(&self.entry_key(&entry).0) & flag::LOCKED != 0 {
                locked.push(position);
            }
            position += 1;
            next = entry.next;
        }
        if !locked.is_empty() {
            self.write_key(Name::Locked)?;
            self.open_bracket(b'[');
            for position in locked {
                self.start_item()?;
                self.emitter.write_uint(position);
            }
            self.close_bracket(b']')?;
        }
        if self.map_entry(next, end).is_some() {
            self.write_key(Name::Placeholders)?;
            self.open_bracket(b'[');
            while let Some(entry) = self.map_entry(next, end) {
                let document = self.document;
                self.start_item()?;
                let (node, bytes) = match entry.id.and_then(|id| document.tape().keys().get(u32::from(id))) {
                    Some(name) => (name.node, name.bytes),
                    None => {
                        let node = document.nodes()[entry.node as usize];
                        (node, document.bytes(&node))
                    }
                };
                self.write_name(&node, bytes)?;
                next = entry.next;
            }
            self.close_bracket(b']')?;
        }
        if flags & flag::IDENTITY != 0 {
            self.write_key(Name::Identity)?;
            self.emitter.write_word("true");
        }
        if flags & flag::DEFAULT != 0 {
            self.write_key(Name::Default)?;
            self.write_value(next)?;
        }
        Ok(())
    }
}
