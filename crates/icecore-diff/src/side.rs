//! One of the two documents, with cached data.

use crate::emit::as_key;
use crate::hash::{Hashes, mix_hashes};
use crate::rules::Rules;
use icecore::{Cursor, Document, Key, Kind};
use std::cell::RefCell;

/// Maximum number of children of a container that are examined to find what two containers have in common.
pub(crate) const MAX_CHILDREN: usize = 64;

/// A document and the numbers of its values.
pub(crate) struct Side<'d> {
    pub(crate) document: &'d Document<'d>,
    hashes: RefCell<Hashes<'d>>,
    pub(crate) rules: Rules,
}

/// An entry of a map.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'d> {
    pub(crate) key: Key<'d>,
    pub(crate) value: Cursor<'d>,
    /// Position among the entries.
    pub(crate) position: u32,
}

impl<'d> Side<'d> {
    pub(crate) fn new(document: &'d Document<'_>, rules: Rules) -> Side<'d> {
        Side { document, hashes: RefCell::new(Hashes::new(rules, document)), rules }
    }

    /// Returns the value at a node of this document.
    pub(crate) fn value_at(&self, index: u32) -> Cursor<'d> {
        self.document.at(index).unwrap_or(self.document.root())
    }

    /// Returns the number of a value.
    pub(crate) fn value_hash(&self, value: Cursor<'_>) -> u64 {
        self.node_hash(value.index())
    }

    /// Returns the number of the value at this node.
    pub(crate) fn node_hash(&self, index: u32) -> u64 {
        self.hashes.borrow_mut().get(index)
    }

    /// Returns the number of a key.
    pub(crate) fn key_hash(&self, key: &Key<'_>, value: Cursor<'_>, is_field: bool) -> u64 {
        match (key, value.node().key) {
            (_, id) if id != icecore::raw::KEY_NODE => self.hashes.borrow_mut().key_hash(id, is_field),
            (Key::Name(name), _) => Hashes::hash_loose_key(self.rules, self.document, &name.node, name.bytes, is_field),
            (Key::Value(key), _) => self.node_hash(key.index()),
        }
    }

    /// Returns the relevant entries of a map, or the attributes of a value.
    pub(crate) fn relevant_entries(&self, map: Cursor<'d>) -> impl Iterator<Item = Entry<'d>> + use<'d> {
        let rules = self.rules;
        let to_entry = |(position, (key, value))| Entry { key: resolve_key(key), value, position };
        (0..).zip(map.entries()).map(to_entry).filter(move |entry| rules.has_entry(&entry.key))
    }

    /// Returns the sorted numbers of the children of a container. They show what two containers have in common. The
    /// number of an entry is combined with that of its key. Only the first children of a large container are used.
    pub(crate) fn child_hashes(&self, item: Cursor<'d>) -> Vec<u64> {
        let body = crate::tree::object_body(item.target());
        let mut features: Vec<u64> = match body.kind() {
            Kind::Map => {
                let is_field = is_fields(item.target(), body);
                let entries = self.relevant_entries(body).take(MAX_CHILDREN);
                entries
                    .map(|entry| {
                        mix_hashes(self.key_hash(&entry.key, entry.value, is_field), self.value_hash(entry.value))
                    })
                    .collect()
            }
            _ => body.children().take(MAX_CHILDREN).map(|child| self.value_hash(child)).collect(),
        };
        features.sort_unstable();
        features
    }
}

/// Returns the key itself, or the string if the key is a link to a string.
pub(crate) fn resolve_key(key: Key<'_>) -> Key<'_> {
    match key {
        Key::Value(key) => as_key(key),
        name => name,
    }
}

/// Returns true if the entries of `body` are the fields of the object `outer`.
pub(crate) fn is_fields(outer: Cursor<'_>, body: Cursor<'_>) -> bool {
    outer.index() != body.index()
}
