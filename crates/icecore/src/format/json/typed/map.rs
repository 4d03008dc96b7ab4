//! Maps: as plain objects if their keys allow it, otherwise as pairs.

use super::form::Name;
use super::key;
use super::write::{Task, Writer};
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::Error;
use crate::format::json::emitter::quoted_key;
use std::collections::HashSet;

/// State of keys with an id.
#[derive(Default)]
pub(super) struct Maps {
    /// By id: the key in quotes and with the colon; `None` if it needs a pair. Empty if
    /// it is not known yet.
    texts: Vec<Option<Vec<u8>>>,
    /// By id: the last map that had it.
    stamps: Vec<u64>,
    serial: u64,
}

/// An entry of a map.
#[derive(Clone, Copy)]
struct Entry {
    /// The node of its key, or of its value if the key has an id.
    at: u32,
    /// The id of its key, if it has one.
    id: Option<u16>,
    value: u32,
    /// Start of the next entry.
    next: u32,
}

/// Returns the flags of the key itself: only a string can be locked or absent.
fn own_flags(key: &Node) -> u8 {
    if key.kind.is_string() { key.flags & (flag::LOCKED | flag::PLACEHOLDER) } else { 0 }
}

impl Writer<'_, '_> {
    /// Returns the entry at `at`, unless the entries end there.
    fn map_entry(&self, at: u32, end: u32) -> Option<Entry> {
        let node = self.nodes.get(at as usize).filter(|_| at < end)?;
        let tape = self.document.tape();
        match node.key {
            NO_KEY | KEY_NODE => None,
            IS_KEY => {
                let value = tape.next(at);
                (value < end).then(|| Entry { at, id: None, value, next: tape.next(value) })
            }
            id => Some(Entry { at, id: Some(id), value: at, next: tape.next(at) }),
        }
    }

    /// Returns kind, flags and bytes of an entry's key.
    fn entry_key(&self, entry: &Entry) -> (Node, &[u8]) {
        let document = self.document;
        match entry.id {
            Some(id) => document
                .tape()
                .keys()
                .get(u32::from(id))
                .map_or((Node::leaf(Kind::Null, 0), &[]), |name| (name.node, name.bytes)),
            None => {
                let node = document.nodes()[entry.at as usize];
                (node, if node.kind.has_bytes() { document.bytes(&node) } else { &[] })
            }
        }
    }

    pub(super) fn map(&mut self, at: u32, node: &Node, end: u32) -> Result<(), Error> {
        let special = node.flags & (flag::RESTRICTED | flag::IDENTITY | flag::DEFAULT) != 0;
        self.open_entries(at + 1, end, special.then_some(at));
        Ok(())
    }

    /// Opens an object for these entries; `special` is the map, if it has more
    /// properties.
    pub(super) fn open_entries(&mut self, first: u32, end: u32, special: Option<u32>) {
        self.open(b'{');
        self.tasks.push(Task::Close(b'}'));
        if special.is_some() || !self.are_plain(first, end) {
            let pairs = self.end_of_pairs(first, end);
            self.tasks.push(Task::Beside { map: special, first, pairs, end });
            self.tasks.extend([Task::Close(b']'), Task::Pairs(first, pairs), Task::Open(b'['), Task::Key(Name::Map)]);
        } else if self.sort_keys {
            self.tasks.push(Task::Sorted(self.sort(first, end)));
        } else {
            self.tasks.push(Task::Entries(first, end));
        }
    }

    /// Whether all keys can be plain keys of an object, without duplicates.
    fn are_plain(&mut self, first: u32, end: u32) -> bool {
        self.maps.serial += 1;
        let serial = self.maps.serial;
        let (mut next, mut has_nodes) = (first, false);
        while let Some(entry) = self.map_entry(next, end) {
            next = entry.next;
            match entry.id {
                None => {
                    let (node, bytes) = self.entry_key(&entry);
                    let plain = !self.is_target(entry.at) && key::text(self.strings, &node, bytes).is_some();
                    if !plain {
                        return false;
                    }
                    has_nodes = true;
                }
                Some(id) => {
                    let at = usize::from(id);
                    if self.key_with_id(id).is_none() {
                        return false;
                    }
                    if std::mem::replace(&mut self.maps.stamps[at], serial) == serial {
                        return false;
                    }
                }
            }
        }
        !has_nodes || self.are_different(first, end)
    }

    /// Whether there are no duplicate keys, if some have no id.
    fn are_different(&self, first: u32, end: u32) -> bool {
        let (mut next, mut seen) = (first, HashSet::new());
        while let Some(entry) = self.map_entry(next, end) {
            next = entry.next;
            let (node, bytes) = self.entry_key(&entry);
            if !seen.insert((node.kind, bytes)) {
                return false;
            }
        }
        true
    }

    /// Returns the text of the key with this id, in quotes and with the colon; `None`
    /// if it needs a pair.
    fn key_with_id(&mut self, id: u16) -> Option<&[u8]> {
        let at = usize::from(id);
        if self.maps.texts.len() <= at {
            self.maps.texts.resize(at + 1, Some(Vec::new()));
            self.maps.stamps.resize(at + 1, 0);
        }
        if self.maps.texts[at].as_ref().is_some_and(Vec::is_empty) {
            let name = self.document.tape().keys().get(u32::from(id));
            let text = name.and_then(|name| key::text(self.strings, &name.node, name.bytes));
            self.maps.texts[at] = text.map(|text| quoted_key(&text, self.emitter.style()));
        }
        self.maps.texts[at].as_deref()
    }

    /// Writes one entry of an object, and schedules the others.
    pub(super) fn entries(&mut self, next: u32, end: u32) -> Result<(), Error> {
        let Some(entry) = self.map_entry(next, end) else { return Ok(()) };
        self.tasks.push(Task::Entries(entry.next, end));
        self.plain_entry(&entry)
    }

    fn plain_entry(&mut self, entry: &Entry) -> Result<(), Error> {
        self.item()?;
        match entry.id {
            Some(id) => {
                self.key_with_id(id);
                if let Some(Some(text)) = self.maps.texts.get(usize::from(id)) {
                    self.emitter.raw(text)?;
                }
            }
            None => {
                let (node, bytes) = self.entry_key(entry);
                let text = key::text(self.strings, &node, bytes).unwrap_or_default();
                self.emitter.raw(&quoted_key(&text, self.emitter.style()))?;
            }
        }
        if self.emitter.is_indented() {
            self.emitter.byte(b' ');
        }
        self.value(entry.value)
    }

    fn sort(&self, first: u32, end: u32) -> std::vec::IntoIter<(u32, u32)> {
        let (mut next, mut entries) = (first, Vec::new());
        while let Some(entry) = self.map_entry(next, end) {
            entries.push(entry);
            next = entry.next;
        }
        entries.sort_by(|a, b| self.entry_key(a).1.cmp(self.entry_key(b).1));
        let places: Vec<_> = entries.iter().map(|entry| (entry.at, entry.next)).collect();
        places.into_iter()
    }

    /// Writes one entry of an object whose entries are sorted.
    pub(super) fn sorted(&mut self, mut entries: std::vec::IntoIter<(u32, u32)>) -> Result<(), Error> {
        let Some((at, end)) = entries.next() else { return Ok(()) };
        self.tasks.push(Task::Sorted(entries));
        match self.map_entry(at, end) {
            Some(entry) => self.plain_entry(&entry),
            None => Ok(()),
        }
    }

    /// Returns where the pairs end: placeholders at the end of a map are listed
    /// separately.
    fn end_of_pairs(&self, first: u32, end: u32) -> u32 {
        let (mut next, mut pairs) = (first, first);
        while let Some(entry) = self.map_entry(next, end) {
            next = entry.next;
            if own_flags(&self.entry_key(&entry).0) != flag::PLACEHOLDER || self.is_target(entry.at) {
                pairs = next;
            }
        }
        pairs
    }

    /// Writes one pair, and schedules the others.
    pub(super) fn pairs(&mut self, next: u32, end: u32) -> Result<(), Error> {
        let Some(entry) = self.map_entry(next, end) else { return Ok(()) };
        self.tasks.extend([Task::Pairs(entry.next, end), Task::Close(b']')]);
        self.item()?;
        self.open(b'[');
        let document = self.document;
        let (node, _) = self.entry_key(&entry);
        if own_flags(&node) & flag::PLACEHOLDER == 0 {
            self.tasks.extend([Task::Value(entry.value), Task::Item]);
        }
        self.item()?;
        match entry.id.and_then(|id| document.tape().keys().get(u32::from(id))) {
            Some(name) => self.name(&name.node, name.bytes),
            None => self.value(entry.at),
        }
    }

    /// Writes the keys next to the pairs of a map.
    pub(super) fn beside(&mut self, map: Option<u32>, first: u32, pairs: u32, end: u32) -> Result<(), Error> {
        let flags = map.and_then(|map| self.nodes.get(map as usize)).map_or(0, |node| node.flags);
        if flags & flag::RESTRICTED != 0 {
            self.key(Name::Restricted)?;
            self.emitter.word("true");
        }
        let (mut next, mut position, mut locked) = (first, 0, Vec::new());
        while let Some(entry) = self.map_entry(next, pairs) {
            if own_flags(&self.entry_key(&entry).0) & flag::LOCKED != 0 {
                locked.push(position);
            }
            position += 1;
            next = entry.next;
        }
        if !locked.is_empty() {
            self.key(Name::Locked)?;
            self.open(b'[');
            for position in locked {
                self.item()?;
                self.emitter.uint(position);
            }
            self.close(b']')?;
        }
        if self.map_entry(next, end).is_some() {
            self.key(Name::Placeholders)?;
            self.open(b'[');
            while let Some(entry) = self.map_entry(next, end) {
                let document = self.document;
                self.item()?;
                let (node, bytes) = match entry.id.and_then(|id| document.tape().keys().get(u32::from(id))) {
                    Some(name) => (name.node, name.bytes),
                    None => {
                        let node = document.nodes()[entry.at as usize];
                        (node, document.bytes(&node))
                    }
                };
                self.name(&node, bytes)?;
                next = entry.next;
            }
            self.close(b']')?;
        }
        if flags & flag::IDENTITY != 0 {
            self.key(Name::Identity)?;
            self.emitter.word("true");
        }
        if flags & flag::DEFAULT != 0 {
            self.key(Name::Default)?;
            self.value(next)?;
        }
        Ok(())
    }
}
