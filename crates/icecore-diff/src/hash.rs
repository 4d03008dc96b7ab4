//! A number for each value, the same for values that are the same: what lists are aligned
//! by. Nothing relies on it: values that have the same number are compared all the same.

use crate::rules::{Leaf, Rules};
use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Node};
use icecore::{Document, Kind};

/// The numbers of a document's nodes.
pub(crate) struct Hashes {
    rules: Rules,
    nodes: Vec<u64>,
    /// Of keys by id: as the key of a map, and as that of a field.
    keys: Vec<[u64; 2]>,
}

/// What a link to something unfinished is: it leads round in a circle.
const CIRCLE: u64 = 0x51_7c_c1_b7_27_22_0a_95;
const NOTHING: u64 = 0x9E37_79B9_7F4A_7C15;
/// The key of what has none.
const UNNAMED: u64 = 0x2545_F491_4F6C_DD1D;

/// Two numbers as one.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xA076_1D64_78BD_642F).wrapping_mul(u128::from(b ^ 0xE703_7ED1_A0B4_28DB));
    (product as u64) ^ ((product >> 64) as u64) ^ b.rotate_left(17)
}

fn of_bytes(bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut hash = bytes.len() as u64;
    for chunk in chunks {
        hash = mix(hash, u64::from_le_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_le_bytes(last))
}

fn of_leaf(leaf: &Leaf<'_>) -> u64 {
    let mut hash = mix(u64::from(leaf.kind), leaf.number);
    if !leaf.bytes.is_empty() {
        hash = mix(hash, of_bytes(&leaf.bytes));
    }
    if leaf.encoding.is_empty() { hash } else { mix(hash, of_bytes(leaf.encoding)) }
}

/// A container that is open.
struct Frame {
    at: u32,
    end: u32,
    sum: u64,
    count: u64,
    /// The key that stands before the next value.
    key: Option<u64>,
    /// Whether that is only allowed.
    is_absent: bool,
    is_fields: bool,
    in_order: bool,
}

impl Hashes {
    /// One walk over the tape.
    pub(crate) fn of(rules: Rules, document: &Document<'_>) -> Hashes {
        let nodes = document.nodes();
        let mut hashes = Hashes { rules, nodes: vec![0; nodes.len()], keys: keys(rules, document) };
        let mut open: Vec<Frame> = Vec::new();
        let len = nodes.len() as u32;
        for (at, node) in (0..len).zip(nodes) {
            while let Some(frame) = open.pop_if(|frame| frame.end <= at) {
                hashes.close(document, &frame, open.last_mut());
            }
            if node.kind.is_container() {
                let parent = open.last().and_then(|frame| nodes.get(frame.at as usize));
                let is_fields = node.kind == Kind::Attrs || parent.is_some_and(|parent| parent.kind == Kind::Object);
                let in_order = rules.is_exact() || !matches!(node.kind, Kind::Map | Kind::Attrs);
                let end = if node.end() == 0 { len } else { node.end() };
                open.push(Frame { at, end, sum: 0, count: 0, key: None, is_absent: false, is_fields, in_order });
                continue;
            }
            let is_fields = open.last().is_some_and(|frame| frame.is_fields);
            let hash = match node.kind {
                kind if kind.is_again() => hashes.link(document, at),
                kind if node.key == IS_KEY && (kind.is_string() || kind == Kind::Int) => {
                    of_leaf(&rules.key(document, node, crate::tree::bytes(document, node), is_fields))
                }
                _ => of_leaf(&rules.leaf(document, node)),
            };
            hashes.put(document, at, node, hash, open.last_mut());
        }
        while let Some(frame) = open.pop() {
            hashes.close(document, &frame, open.last_mut());
        }
        hashes
    }

    /// The number of the value at this node.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> u64 {
        self.nodes.get(at as usize).copied().unwrap_or(NOTHING)
    }

    /// The number of the key with this id.
    #[inline]
    pub(crate) fn key(&self, id: u16, is_field: bool) -> u64 {
        self.keys.get(usize::from(id)).map_or(UNNAMED, |key| key[usize::from(is_field)])
    }

    /// The number of a key that stands at no node.
    pub(crate) fn loose_key(rules: Rules, document: &Document<'_>, node: &Node, bytes: &[u8], is_field: bool) -> u64 {
        of_leaf(&rules.key(document, node, bytes, is_field))
    }

    fn link(&self, document: &Document<'_>, at: u32) -> u64 {
        let Some(here) = document.at(at) else { return NOTHING };
        if self.rules.is_exact() && here.kind() != Kind::Copy {
            return mix(CIRCLE, here.kind() as u64);
        }
        let target = here.target().index();
        let is_done = target < at && crate::tree::next(document, target) <= at;
        if is_done { self.get(target) } else { CIRCLE }
    }

    fn put(&mut self, document: &Document<'_>, at: u32, node: &Node, hash: u64, parent: Option<&mut Frame>) {
        if let Some(place) = self.nodes.get_mut(at as usize) {
            *place = hash;
        }
        let Some(parent) = parent else { return };
        if node.key == IS_KEY {
            parent.key = Some(hash);
            parent.is_absent = !self.rules.is_entry(node);
            return;
        }
        let is_absent = match node.key {
            NO_KEY => false,
            KEY_NODE => std::mem::take(&mut parent.is_absent),
            id => document.tape().keys().get(u32::from(id)).is_some_and(|name| !self.rules.is_entry(&name.node)),
        };
        let key = match node.key {
            NO_KEY => None,
            KEY_NODE => parent.key.take(),
            id => Some(self.key(id, parent.is_fields)),
        };
        if is_absent {
            return;
        }
        let hash = key.map_or(hash, |key| mix(key, hash));
        // The value that attributes belong to is none of them.
        let hash = if key.is_none() && !parent.in_order { mix(UNNAMED, hash) } else { hash };
        parent.sum = if parent.in_order { mix(parent.sum, hash) } else { parent.sum.wrapping_add(hash) };
        parent.count += 1;
    }

    fn close(&mut self, document: &Document<'_>, frame: &Frame, parent: Option<&mut Frame>) {
        let Some(here) = document.at(frame.at) else { return };
        let node = here.node();
        let mut hash = mix(frame.sum, frame.count);
        hash = match node.kind {
            Kind::Array | Kind::Map if self.rules.is_across() && frame.count == 0 => NOTHING,
            kind => mix(hash, (kind as u64) << 8 | u64::from(self.rules.flags(node))),
        };
        if node.kind.has_class() {
            hash = mix(hash, of_bytes(&self.rules.class(here.class())));
        }
        if !matches!(node.kind, Kind::Array | Kind::Map) {
            hash = mix(hash, node.form() as u64);
        }
        self.put(document, frame.at, node, hash, parent);
    }
}

fn keys(rules: Rules, document: &Document<'_>) -> Vec<[u64; 2]> {
    let names = document.tape().keys();
    let of = |id: u32| {
        let Some(name) = names.get(id) else { return [UNNAMED; 2] };
        [false, true].map(|is_field| of_leaf(&rules.key(document, &name.node, name.bytes, is_field)))
    };
    // A table has fewer names than ids are possible.
    (0..=names.len() as u32).map(of).collect()
}
