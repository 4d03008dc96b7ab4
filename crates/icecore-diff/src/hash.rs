//! Assigns a number (a hash) to each value. Equal values have equal numbers. Lists are aligned by these numbers. The
//! result is correct even if different values have equal numbers, because such values are still compared.

use crate::emit::as_key;
use crate::rules::{Leaf, Rules};
use crate::tree;
use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Node};
use icecore::{Document, Key, Kind};

/// The numbers of a document's nodes. A number is computed when it is needed, together with the numbers of all values
/// inside.
pub(crate) struct Hashes<'d> {
    rules: Rules,
    document: &'d Document<'d>,
    /// The number of each node; 0 until it is computed.
    nodes: Vec<u64>,
    /// For each key id, the number of the key in a map, and as the name of a field.
    keys: Vec<[u64; 2]>,
    /// The containers that contain the current node, the innermost one last.
    open: Vec<HashFrame>,
}

/// The number of a link to an unfinished value. Such a link is part of a cycle. The bits of this constant and of the
/// next two are arbitrary. The constants only have to differ.
const CYCLE_HASH: u64 = 0x51_7c_c1_b7_27_22_0a_95;
/// The number of an empty container in a comparison across formats, and of a node that does not exist. It also
/// replaces a computed 0, because 0 means that a number is not computed yet.
const EMPTY_HASH: u64 = 0x9E37_79B9_7F4A_7C15;
/// The number of a missing key.
const NO_KEY_HASH: u64 = 0x2545_F491_4F6C_DD1D;

/// Combines two numbers. The order matters. Both halves of the product are used, so that each bit of the arguments
/// affects many bits of the result.
#[inline]
pub(crate) const fn mix_hashes(a: u64, b: u64) -> u64 {
    let product = ((a ^ 0xA076_1D64_78BD_642F) as u128).wrapping_mul((b ^ 0xE703_7ED1_A0B4_28DB) as u128);
    (product as u64) ^ ((product >> 64) as u64) ^ b.rotate_left(17)
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut hash = bytes.len() as u64;
    for chunk in chunks {
        hash = mix_hashes(hash, u64::from_le_bytes(*chunk));
    }
    // The length is a part of the hash, so the zeros that fill the last chunk can't be mistaken for bytes of the
    // text.
    let mut last_chunk = [0; 8];
    last_chunk[..rest.len()].copy_from_slice(rest);
    mix_hashes(hash, u64::from_le_bytes(last_chunk))
}

fn hash_leaf(leaf: &Leaf<'_>) -> u64 {
    let mut hash = mix_hashes(u64::from(leaf.kind), leaf.number);
    if !leaf.bytes.is_empty() {
        hash = mix_hashes(hash, hash_bytes(&leaf.bytes));
    }
    if leaf.encoding.is_empty() { hash } else { mix_hashes(hash, hash_bytes(leaf.encoding)) }
}

/// Returns the number of a leaf that is not a link. The number is the same as that of [`hash_leaf`]. Common values
/// are handled separately, because this takes less time.
#[inline]
fn hash_leaf_node(rules: Rules, document: &Document<'_>, node: &Node) -> u64 {
    match node.kind {
        Kind::Null | Kind::Bool | Kind::Int | Kind::Uint => {
            mix_hashes(node.kind as u64, if node.kind == Kind::Null { 0 } else { node.payload })
        }
        Kind::Bytes | Kind::Text if !rules.is_exact() => {
            let hash = const { mix_hashes(Kind::Text as u64, 0) };
            // `aux` is the length of the string. `hash_leaf` does not add the bytes of an empty string either.
            if node.aux == 0 { hash } else { mix_hashes(hash, hash_bytes(document.bytes(node))) }
        }
        _ => hash_leaf(&rules.leaf_meaning(document, node)),
    }
}

/// An open container.
struct HashFrame {
    index: u32,
    end: u32,
    sum: u64,
    count: u64,
    /// The key that precedes the next value.
    key: Option<u64>,
    /// Whether the key that precedes the next value is a placeholder for an entry that does not exist.
    is_absent: bool,
    /// Whether the entries are fields of an object.
    is_fields: bool,
    /// Whether the order of the entries matters.
    in_order: bool,
}

impl<'d> Hashes<'d> {
    pub(crate) fn new(rules: Rules, document: &'d Document<'_>) -> Hashes<'d> {
        Hashes { rules, document, nodes: Vec::new(), keys: Vec::new(), open: Vec::new() }
    }

    /// Returns the number of the value at this node.
    #[inline]
    pub(crate) fn get(&mut self, index: u32) -> u64 {
        match self.known_hash(index) {
            0 => self.compute_hash(index),
            known => known,
        }
    }

    /// Returns the number of the key with this id.
    #[inline]
    pub(crate) fn key_hash(&mut self, id: u16, is_field: bool) -> u64 {
        if self.keys.is_empty() {
            self.keys = hash_keys(self.rules, self.document);
        }
        self.keys.get(usize::from(id)).map_or(NO_KEY_HASH, |key| key[usize::from(is_field)])
    }

    /// Returns the number of a key that is not a node of the document.
    pub(crate) fn hash_loose_key(
        rules: Rules,
        document: &Document<'_>,
        node: &Node,
        bytes: &[u8],
        is_field: bool,
    ) -> u64 {
        hash_leaf(&rules.key_meaning(document, node, bytes, is_field))
    }

    fn known_hash(&self, index: u32) -> u64 {
        self.nodes.get(index as usize).copied().unwrap_or(0)
    }

    /// Computes the number of a value. If links in the value name targets outside of it, computes the numbers of
    /// these targets first. Each target ends before the value begins, so a value never waits for itself. Each node is
    /// visited at most twice.
    #[cold]
    fn compute_hash(&mut self, index: u32) -> u64 {
        if index as usize >= self.document.nodes().len() {
            return EMPTY_HASH;
        }
        if self.nodes.is_empty() {
            self.nodes = vec![0; self.document.nodes().len()];
        }
        let mut pending: Vec<(u32, bool)> = Vec::new();
        let end = tree::index_after(self.document, index);
        self.visit_outside_targets(index, end, |target| pending.push((target, false)));
        if !pending.is_empty() {
            pending.insert(0, (index, true));
            self.compute_all(pending);
        } else {
            self.hash_range(index, end);
        }
        self.known_hash(index)
    }

    /// Computes the numbers of these values, the last one first. If links in a value name targets without a number,
    /// the value is put back, marked as ready, and the targets are added after it. So their numbers are computed
    /// first.
    fn compute_all(&mut self, mut pending: Vec<(u32, bool)>) {
        while let Some((index, is_ready)) = pending.pop() {
            let end = tree::index_after(self.document, index);
            if self.known_hash(index) != 0 {
                continue;
            }
            if !is_ready {
                let previous_len = pending.len();
                pending.push((index, true));
                self.visit_outside_targets(index, end, |target| pending.push((target, false)));
                if pending.len() > previous_len + 1 {
                    continue;
                }
                // The value does not wait for a target, so it need not be put back.
                pending.truncate(previous_len);
            }
            self.hash_range(index, end);
        }
    }

    /// Calls `visit` with the targets of links in this range. Leaves out targets inside of the range, and targets
    /// that have a number already.
    fn visit_outside_targets(&self, from: u32, to: u32, mut visit: impl FnMut(u32)) {
        let mut index = from;
        while let Some(node) = self.document.nodes().get(index as usize).filter(|_| index < to) {
            // The links in a container with a number were followed before.
            if node.kind.is_container() && self.known_hash(index) != 0 {
                index = tree::index_after(self.document, index);
                continue;
            }
            if node.kind.is_again()
                && let Some(target) =
                    self.complete_target(index).filter(|target| *target < from && self.known_hash(*target) == 0)
            {
                visit(target);
            }
            index += 1;
        }
    }

    /// Returns the target of this link, if it ends before the link.
    fn complete_target(&self, link: u32) -> Option<u32> {
        let target = self.document.at(link)?.target().index();
        (target < link && tree::index_after(self.document, target) <= link).then_some(target)
    }

    /// Computes the numbers of all nodes in this range in one walk. The range must be a value.
    fn hash_range(&mut self, from: u32, to: u32) {
        let (document, rules) = (self.document, self.rules);
        let nodes = document.nodes();
        let mut index = from;
        while let Some(node) = nodes.get(index as usize).filter(|_| index < to) {
            while let Some(frame) = self.open.pop_if(|frame| frame.end <= index) {
                self.close_container(&frame);
            }
            if node.kind.is_container() {
                let end = tree::index_after(document, index);
                match self.known_hash(index) {
                    0 => {
                        let is_body = is_object_body(document, index);
                        let is_fields = node.kind == Kind::Attrs || is_body;
                        let in_order = rules.is_exact() || !matches!(node.kind, Kind::Map | Kind::Attrs);
                        let frame = HashFrame {
                            index,
                            end,
                            sum: 0,
                            count: 0,
                            key: None,
                            is_absent: false,
                            is_fields,
                            in_order,
                        };
                        self.open.push(frame);
                        index += 1;
                    }
                    known => {
                        self.record_hash(index, node, known);
                        index = end;
                    }
                }
                continue;
            }
            let is_fields = self.open.last().is_some_and(|frame| frame.is_fields);
            let hash = match node.kind {
                kind if kind.is_again() => self.hash_link(index, is_fields),
                kind if node.key == IS_KEY && (kind.is_string() || kind == Kind::Int) => {
                    hash_leaf(&rules.key_meaning(document, node, tree::node_bytes(document, node), is_fields))
                }
                _ => hash_leaf_node(rules, document, node),
            };
            self.record_hash(index, node, hash);
            index += 1;
        }
        while let Some(frame) = self.open.pop() {
            self.close_container(&frame);
        }
    }

    fn hash_link(&mut self, index: u32, is_fields: bool) -> u64 {
        let Some(cursor) = self.document.at(index) else { return EMPTY_HASH };
        if cursor.node().key == IS_KEY
            && let Key::Name(name) = as_key(cursor)
        {
            return Hashes::hash_loose_key(self.rules, self.document, &name.node, name.bytes, is_fields);
        }
        if self.rules.is_exact() && cursor.kind() != Kind::Copy {
            return mix_hashes(CYCLE_HASH, cursor.kind() as u64);
        }
        self.complete_target(index).map_or(CYCLE_HASH, |target| self.known_hash(target))
    }

    /// Records the number of a value, and adds it to its container.
    fn record_hash(&mut self, index: u32, node: &Node, hash: u64) {
        let hash = if hash == 0 { EMPTY_HASH } else { hash };
        if let Some(number) = self.nodes.get_mut(index as usize) {
            *number = hash;
        }
        let Some(parent) = self.open.last() else { return };
        let is_field = parent.is_fields;
        // The key of an entry is its id, or a node before its value. Such a key node has `IS_KEY`, and its value has
        // `KEY_NODE`.
        let (key, is_absent) = match node.key {
            NO_KEY => (None, false),
            KEY_NODE => (parent.key, parent.is_absent),
            IS_KEY => (Some(hash), !self.rules.is_entry(node)),
            id => {
                let name = self.document.tape().keys().get(u32::from(id));
                (Some(self.key_hash(id, is_field)), name.is_some_and(|name| !self.rules.is_entry(&name.node)))
            }
        };
        let Some(parent) = self.open.last_mut() else { return };
        if node.key == IS_KEY {
            (parent.key, parent.is_absent) = (key, is_absent);
            return;
        }
        if node.key == KEY_NODE {
            (parent.key, parent.is_absent) = (None, false);
        }
        if is_absent {
            return;
        }
        let hash = key.map_or(hash, |key| mix_hashes(key, hash));
        // Attributes have keys, but the value to which they belong is in the same container without a key. Its number
        // is mixed with a constant, so that it differs from that of an attribute.
        let hash = if key.is_none() && !parent.in_order { mix_hashes(NO_KEY_HASH, hash) } else { hash };
        // Addition gives the same sum in any order of the entries.
        parent.sum = if parent.in_order { mix_hashes(parent.sum, hash) } else { parent.sum.wrapping_add(hash) };
        parent.count += 1;
    }

    fn close_container(&mut self, frame: &HashFrame) {
        let Some(container) = self.document.at(frame.index) else { return };
        let node = container.node();
        let mut hash = mix_hashes(frame.sum, frame.count);
        hash = match node.kind {
            Kind::Array | Kind::Map if self.rules.is_across_formats() && frame.count == 0 => EMPTY_HASH,
            kind => mix_hashes(hash, (kind as u64) << 8 | u64::from(self.rules.relevant_flags(node))),
        };
        if node.kind.has_class() {
            hash = mix_hashes(hash, hash_bytes(&self.rules.normalized_class(container.class())));
        }
        if !matches!(node.kind, Kind::Array | Kind::Map) {
            hash = mix_hashes(hash, node.form() as u64);
        }
        self.record_hash(frame.index, node, hash);
    }
}

/// Returns true if a link of this document leads to a value that contains the link. In such a document equal values
/// can have different numbers, because the number depends on which place of a value is the link.
pub(crate) fn has_cycle(document: &Document<'_>) -> bool {
    (0..).zip(document.nodes()).filter(|(_, node)| node.kind.is_again()).any(|(link, _)| {
        let target = document.at(link).map_or(link, |link| link.target().index());
        target >= link || tree::index_after(document, target) > link
    })
}

/// Returns true if the node directly follows an object that contains it.
fn is_object_body(document: &Document<'_>, index: u32) -> bool {
    let Some(outer) = index.checked_sub(1) else { return false };
    let is_object = document.nodes().get(outer as usize).is_some_and(|node| node.kind == Kind::Object);
    is_object && tree::index_after(document, outer) > index
}

fn hash_keys(rules: Rules, document: &Document<'_>) -> Vec<[u64; 2]> {
    let names = document.tape().keys();
    let hash_name = |id: u32| {
        let Some(name) = names.get(id) else { return [NO_KEY_HASH; 2] };
        [false, true].map(|is_field| hash_leaf(&rules.key_meaning(document, &name.node, name.bytes, is_field)))
    };
    // The cast does not lose anything, because ids of names have 16 bits.
    (0..=names.len() as u32).map(hash_name).collect()
}
