//! Navigation on a tape.

use icecore::raw::Node;
use icecore::{Cursor, Document};

/// Returns the index after the value at `at` and everything in it.
#[inline]
pub(crate) fn index_after(document: &Document<'_>, at: u32) -> u32 {
    match document.nodes().get(at as usize) {
        Some(node) if node.kind.is_container() && node.end() == 0 => document.nodes().len() as u32,
        Some(node) if node.kind.is_container() => node.end(),
        _ => at.saturating_add(1),
    }
}

/// Returns the bytes of a node; empty for a node without bytes.
#[inline]
pub(crate) fn node_bytes<'d>(document: &'d Document<'_>, node: &Node) -> &'d [u8] {
    if node.kind.has_bytes() { document.bytes(node) } else { &[] }
}

/// Returns the container that is the body of an object, at any nesting of objects; other values are returned unchanged.
/// Links are not followed.
pub(crate) fn object_body(mut here: Cursor<'_>) -> Cursor<'_> {
    while here.kind() == icecore::Kind::Object {
        match here.children().next() {
            Some(inside) if inside.index() > here.index() => here = inside,
            _ => break,
        }
    }
    here
}

/// Returns the parent of each node; the root is its own parent.
pub(crate) fn find_parents(document: &Document<'_>) -> Vec<u32> {
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut parents = Vec::with_capacity(document.nodes().len());
    for (at, node) in (0..).zip(document.nodes()) {
        while open.pop_if(|(_, end)| *end <= at).is_some() {}
        parents.push(open.last().map_or(at, |(parent, _)| *parent));
        if node.kind.is_container() {
            open.push((at, index_after(document, at)));
        }
    }
    parents
}
