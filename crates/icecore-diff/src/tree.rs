//! Steps over a tape.

use icecore::raw::Node;
use icecore::{Cursor, Document};

/// The index behind the value at `at` and all that is in it.
#[inline]
pub(crate) fn next(document: &Document<'_>, at: u32) -> u32 {
    match document.nodes().get(at as usize) {
        Some(node) if node.kind.is_container() && node.end() == 0 => document.nodes().len() as u32,
        Some(node) if node.kind.is_container() => node.end(),
        _ => at.saturating_add(1),
    }
}

/// The bytes of a node, none of one that has none.
#[inline]
pub(crate) fn bytes<'d>(document: &'d Document<'_>, node: &Node) -> &'d [u8] {
    if node.kind.has_bytes() { document.bytes(node) } else { &[] }
}

/// The container that is an object's body, however many objects are around it; anything else
/// is itself. Links are not followed.
pub(crate) fn body(mut here: Cursor<'_>) -> Cursor<'_> {
    while here.kind() == icecore::Kind::Object {
        match here.children().next() {
            Some(inside) if inside.index() > here.index() => here = inside,
            _ => break,
        }
    }
    here
}

/// The node that stands around each; the root's is itself.
pub(crate) fn parents(document: &Document<'_>) -> Vec<u32> {
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut parents = Vec::with_capacity(document.nodes().len());
    for (at, node) in (0..).zip(document.nodes()) {
        while open.pop_if(|(_, end)| *end <= at).is_some() {}
        parents.push(open.last().map_or(at, |(parent, _)| *parent));
        if node.kind.is_container() {
            open.push((at, next(document, at)));
        }
    }
    parents
}
