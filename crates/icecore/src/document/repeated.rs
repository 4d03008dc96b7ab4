//! Repeated keys: keys that occur twice in one map, and keys that become equal in a language with fewer kinds of keys.
//! Programs of that language see only one of the two values.

use super::{Document, IS_KEY, KEY_NODE, Kind, NO_KEY, Name, Naming, Node, flag};
use crate::hash::SeededState;
use crate::losses::{LossKind, Losses};
use crate::num::bigint;
use crate::num::general::float_to_perl_text;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Adds a loss for each entry that repeats a key for programs of this language.
pub(crate) fn lose_repeated(document: &Document<'_>, naming: Naming, losses: &mut Losses) {
    for_each_repeated(document, naming, |_, repeated| losses.add(LossKind::DuplicateKey, || document.path(repeated)));
}

/// Returns the values that programs of this language do not see because the same key occurs again, in the order of
/// their nodes.
pub(crate) fn find_shadowed(document: &Document<'_>, naming: Naming) -> Vec<u32> {
    let mut values = Vec::new();
    for_each_repeated(document, naming, |value, _| values.push(value));
    values.sort_unstable();
    values
}

/// Returns true if a map has a key twice in a format of this language.
pub(crate) fn has_repeated(document: &Document<'_>, naming: Naming) -> bool {
    let mut is_repeated = false;
    for_each_repeated(document, naming, |_, _| is_repeated = true);
    is_repeated
}

/// Calls `visit` for each repeated key with the previous value and the new one.
///
/// For most maps, the order of the ids shows that all keys are different. Ids are assigned in the order in which keys
/// first occur, so the ids of most maps ascend, and ascending ids are distinct.
fn for_each_repeated(document: &Document<'_>, naming: Naming, mut visit: impl FnMut(u32, u32)) {
    let tape = document.tape();
    // A map of a running program can't have a key twice.
    if tape.has_live_values() || naming == Naming::Plain {
        return;
    }
    let is_mixed = tape.keys().has_mixed_kinds();
    let mut search =
        RepeatedKeySearch { document, naming, last_map: Vec::new(), current_map: 0, hashes: Vec::new(), seed: None };
    let mut index = 0;
    while let Some(map) = find_next_map(&tape.nodes, index, is_mixed) {
        index = map + 1;
        let node = &tape.nodes[map];
        let is_mixed = is_mixed && search.has_mixed_keys(map as u32, node);
        if is_mixed || !has_ascending_keys(&tape.nodes, map as u32, node) {
            search.search_map(map as u32, node, is_mixed, &mut visit);
        }
    }
}

/// Returns the next map from `index` on that may have a repeated key, or that is not examined here.
fn find_next_map(nodes: &[Node], mut index: usize, accepts_any_map: bool) -> Option<usize> {
    while let Some(node) = nodes.get(index) {
        index += 1;
        let (end, count) = (node.end() as usize, node.aux as usize);
        let is_map = node.kind == Kind::Map && count > 1;
        // Most containers contain only leaves, one for each entry.
        if matches!(node.kind, Kind::Map | Kind::Array)
            && index + count == end
            && let Some(leaves) = nodes.get(index..end)
        {
            if is_map && (accepts_any_map || !are_leaf_keys_ascending(leaves)) {
                return Some(index - 1);
            }
            index = end;
        } else if is_map {
            return Some(index - 1);
        }
    }
    None
}

/// Returns `true` if the id of each key is above the previous one.
#[inline]
fn has_ascending_keys(nodes: &[Node], index: u32, map: &Node) -> bool {
    let (mut next, mut last_key) = (index as usize + 1, NO_KEY);
    for _ in 0..map.aux {
        let Some(node) = nodes.get(next) else { return false };
        if node.key <= last_key || node.key >= IS_KEY {
            return false;
        }
        last_key = node.key;
        next = match node.kind.is_container() {
            false => next + 1,
            true if node.end() == 0 => nodes.len(),
            true => node.end() as usize,
        };
    }
    true
}

/// Like [`has_ascending_keys`], for entries that are one leaf each.
#[inline]
fn are_leaf_keys_ascending(entries: &[Node]) -> bool {
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return true };
    first.key > NO_KEY && last.key < IS_KEY && entries.windows(2).all(|pair| pair[0].key < pair[1].key)
}

struct RepeatedKeySearch<'d> {
    document: &'d Document<'d>,
    naming: Naming,
    /// For each id, the last map in which it was seen.
    last_map: Vec<u32>,
    /// Number of the map that is being searched.
    current_map: u32,
    hashes: Vec<u64>,
    seed: Option<SeededState>,
}

impl RepeatedKeySearch<'_> {
    /// Returns `true` if this map has keys of several kinds.
    fn has_mixed_keys(&self, index: u32, map: &Node) -> bool {
        let names = self.document.tape().keys();
        let kind = |key| match key {
            EntryKey::Id(id) => names.get(u32::from(id)).map(|name| (name.node.kind, name.node.flags)),
            EntryKey::Node(key_index) => {
                self.document.nodes().get(key_index as usize).map(|node| (node.kind, node.flags))
            }
        };
        let mut kinds = map_entries(self.document, index, map).map(|(key, _)| kind(key));
        let first = kinds.next().flatten();
        !matches!(first, Some((Kind::Bytes | Kind::Text, 0))) || kinds.any(|other| other != first)
    }

    fn search_map(&mut self, index: u32, map: &Node, is_mixed: bool, visit: &mut impl FnMut(u32, u32)) {
        if map.has(flag::IDENTITY) && self.naming == Naming::Ruby {
            return;
        }
        let is_open = |key: u16| matches!(key, NO_KEY | KEY_NODE | IS_KEY);
        self.current_map += 1;
        self.hashes.clear();
        let mut is_repeated = false;
        for (key, _) in map_entries(self.document, index, map) {
            match key {
                EntryKey::Id(id) if !is_mixed && !is_open(id) => {
                    if self.last_map.is_empty() {
                        self.last_map.resize(self.document.tape().keys().len() + 1, 0);
                    }
                    if let Some(last_map) = self.last_map.get_mut(usize::from(id)) {
                        is_repeated |= *last_map == self.current_map;
                        *last_map = self.current_map;
                    }
                }
                _ => {
                    let text = self.key_identity(key);
                    let seed = self.seed.get_or_insert_default();
                    self.hashes.extend(text.map(|text| seed.hash_one(text)));
                }
            }
        }
        // If the table of names is full, a map may have keys with ids and keys with nodes. Then a key of one kind may
        // equal a key of the other kind.
        let has_both = !self.hashes.is_empty() && self.hashes.len() < map.aux as usize;
        self.hashes.sort_unstable();
        is_repeated |= has_both || self.hashes.windows(2).any(|pair| pair[0] == pair[1]);
        if is_repeated {
            self.compare_keys(index, map, visit);
        }
    }

    /// Compares the keys one by one.
    #[cold]
    fn compare_keys(&self, index: u32, map: &Node, visit: &mut impl FnMut(u32, u32)) {
        let mut known = HashMap::new();
        for (key, value) in map_entries(self.document, index, map) {
            if let Some(text) = self.key_identity(key)
                && let Some(previous) = known.insert(text, value)
            {
                visit(previous, value);
            }
        }
    }

    /// Returns what identifies a key in this language; `None` for a placeholder and for a key that equals no other.
    fn key_identity(&self, key: EntryKey) -> Option<Vec<u8>> {
        let document = self.document;
        let name = match key {
            EntryKey::Id(id) => document.tape().keys().get(u32::from(id))?,
            EntryKey::Node(index) => {
                let node = document.nodes().get(index as usize)?;
                Name { node: *node, bytes: if node.kind.has_bytes() { document.bytes(node) } else { &[] } }
            }
        };
        if name.node.kind.is_string() && name.node.has(flag::PLACEHOLDER) {
            return None;
        }
        match self.naming {
            Naming::Ruby => self.ruby_identity(key, &name),
            naming => key_as_string(naming, &name),
        }
    }

    /// In Ruby, keys of different kinds are different; strings are compared by their characters, arrays and hashes by
    /// their contents.
    fn ruby_identity(&self, key: EntryKey, name: &Name<'_>) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.push_ruby_identity(&name.node, name.bytes, &mut text);
        if let (EntryKey::Node(index), true) = (key, name.node.kind.is_container()) {
            for node in nodes_inside(self.document, index) {
                if !matches!(node.kind, Kind::Array | Kind::Map) && node.kind.is_container() || node.kind.is_again() {
                    return None;
                }
                let bytes = if node.kind.has_bytes() { self.document.bytes(node) } else { &[] };
                self.push_ruby_identity(node, bytes, &mut text);
            }
        }
        Some(text)
    }

    fn push_ruby_identity(&self, node: &Node, bytes: &[u8], text: &mut Vec<u8>) {
        // Ruby compares strings of only ASCII characters without their encodings, so they get the same kind here.
        let is_ascii = matches!(node.kind, Kind::Text | Kind::Encoded) && bytes.is_ascii();
        let kind = if is_ascii { Kind::Bytes } else { node.kind };
        text.push(kind as u8);
        if kind.has_bytes() {
            text.push(if kind == Kind::BigInt { node.flags & flag::NEGATIVE } else { 0 });
            text.extend_from_slice(&if is_ascii { 0 } else { node.encoding() }.to_le_bytes());
            text.extend_from_slice(&bytes.len().to_le_bytes());
            text.extend_from_slice(bytes);
        } else if kind.is_container() {
            text.extend_from_slice(&node.aux.to_le_bytes());
        } else {
            text.extend_from_slice(&node.payload.to_le_bytes());
        }
        if node.key != IS_KEY && node.key != NO_KEY && node.key != KEY_NODE {
            text.extend_from_slice(&node.key.to_le_bytes());
        }
    }
}

/// Returns a key as the string that Perl or PHP uses for it. In PHP that string may become an integer, but distinct
/// strings stay distinct.
fn key_as_string(naming: Naming, name: &Name<'_>) -> Option<Vec<u8>> {
    let node = &name.node;
    Some(match node.kind {
        Kind::Bytes | Kind::Encoded if naming == Naming::Perl && !name.bytes.is_ascii() => {
            name.bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()
        }
        kind if kind.has_bytes() && kind != Kind::BigInt && kind != Kind::Float128 => name.bytes.to_vec(),
        Kind::BigInt => {
            let mut text = Vec::new();
            bigint::push_decimal(node.has(flag::NEGATIVE), name.bytes, &mut text);
            text
        }
        Kind::Int => (node.payload as i64).to_string().into_bytes(),
        Kind::Uint => node.payload.to_string().into_bytes(),
        Kind::Null | Kind::Hole => Vec::new(),
        Kind::Bool if node.payload != 0 => b"1".to_vec(),
        Kind::Bool if naming == Naming::Php => b"0".to_vec(),
        Kind::Bool => Vec::new(),
        Kind::Float if naming == Naming::Php => {
            let mut text = Vec::new();
            crate::num::php::push_float(f64::from_bits(node.payload), &mut text);
            text
        }
        Kind::Float => float_to_perl_text(f64::from_bits(node.payload)).into_bytes(),
        _ => return None,
    })
}

/// The key of an entry.
#[derive(Clone, Copy)]
enum EntryKey {
    Id(u16),
    Node(u32),
}

/// Returns the entries of the map at `index`: the key, and the index of the value.
fn map_entries<'d>(document: &'d Document<'_>, index: u32, map: &Node) -> impl Iterator<Item = (EntryKey, u32)> + 'd {
    let tape = document.tape();
    let mut next = index + 1;
    (0..map.aux).map_while(move |_| {
        let node = tape.nodes.get(next as usize)?;
        let (key, value) = match node.key {
            IS_KEY => (EntryKey::Node(next), tape.index_after(next)),
            id => (EntryKey::Id(id), next),
        };
        next = tape.index_after(value);
        Some((key, value))
    })
}

/// Returns the nodes inside the one at `index`.
fn nodes_inside<'d>(document: &'d Document<'_>, index: u32) -> &'d [Node] {
    document.nodes().get(index as usize + 1..document.tape().index_after(index) as usize).unwrap_or(&[])
}
