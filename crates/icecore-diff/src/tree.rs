//! Navigation on a tape.

use icecore::raw::Node;
use icecore::{Cursor, Document};

/// Returns the index after the value at `index` and everything in it.
#[inline]
pub(crate) fn index_after(document: &Document<'_>, index: u32) -> u32 {
    match document.nodes().get(index as usize) {
        Some(node) if node.kind.is_container() && node.end() == 0 => document.nodes().len() as u32,
        Some(node) if node.kind.is_container() => node.end(),
        _ => index.saturating_add(1),
    }
}

/// Returns the bytes of a node; none for a node without bytes.
#[inline]
pub(crate) fn node_bytes<'d>(document: &'d Document<'_>, node: &Node) -> &'d [u8] {
    if node.kind.has_bytes() { document.bytes(node) } else { &[] }
}

/// Returns the container that is the body of an object, at any nesting of objects; other values are returned unchanged.
/// Links are not followed.
pub(crate) fn object_body(mut cursor: Cursor<'_>) -> Cursor<'_> {
    while cursor.kind() == icecore::Kind::Object {
        match cursor.children().next() {
            Some(body) if body.index() > cursor.index() => cursor = body,
            _ => break,
        }
    }
    cursor
}

/// Returns the parent of each node. The root is its own parent.
pub(crate) fn find_parents(document: &Document<'_>) -> Vec<u32> {
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut parents = Vec::with_capacity(document.nodes().len());
    for (index, node) in (0..).zip(document.nodes()) {
        while open.pop_if(|(_, end)| *end <= index).is_some() {}
        parents.push(open.last().map_or(index, |(parent, _)| *parent));
        if node.kind.is_container() {
            open.push((index, index_after(document, index)));
        }
    }
    parents
}
