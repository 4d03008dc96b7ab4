//! What links name, and how the values they name are written.

use crate::document::{Document, Form, Kind, Node};
use crate::format::php_losses::is_link_to_leaf;

/// Maximum number of nested wrappers that igbinary can't represent.
pub(super) const MAX_WRAPPERS: u32 = 64;

/// Returns `true` if a link or alias is written as a variable that is shared by reference. A link
/// read from igbinary refers to an object, or to an array that contains it.
pub(super) fn is_by_reference(document: &Document<'_>, node: &Node, is_own: bool) -> bool {
    match node.kind {
        Kind::Alias => true,
        Kind::Link if is_link_to_leaf(document, node) => false,
        Kind::Link => {
            let named = unwrap_node(document, find_last_target(document, node.payload as u32));
            is_scalar(document, named) || !is_own && matches!(kind_at(document, named), Kind::Array | Kind::Map)
        }
        _ => false,
    }
}

fn kind_at(document: &Document<'_>, index: u32) -> Kind {
    document.nodes().get(index as usize).map_or(Kind::Null, |node| node.kind)
}

/// Returns `true` if a value takes no number.
pub(super) fn is_scalar(document: &Document<'_>, index: u32) -> bool {
    let Some(node) = document.nodes().get(index as usize) else { return true };
    match node.kind {
        // A case without a class is written as a string, so it is a scalar.
        Kind::EnumCase => !document.bytes(node).contains(&b':'),
        kind => !matches!(kind, Kind::Array | Kind::Map | Kind::Object | Kind::Opaque),
    }
}

/// Returns `true` if only the content of a node can be written.
pub(super) fn is_wrapper(document: &Document<'_>, index: u32) -> bool {
    let Some(node) = document.nodes().get(index as usize) else { return false };
    let kind_inside = || document.nodes().get(index as usize + 1).map(|node| node.kind);
    match node.kind {
        Kind::Ref | Kind::Attrs | Kind::Regexp | Kind::Code | Kind::VString | Kind::Tied => true,
        // If the payload was opened, its content is not a string, and the object can't be written with it.
        Kind::Opaque => node.form() != Form::Serializable || !kind_inside().is_some_and(Kind::is_string),
        Kind::Object => !matches!(kind_inside(), Some(Kind::Array | Kind::Map)),
        _ => false,
    }
}

/// Returns the content of a node of which only the content is written. A v-string has its source text before its
/// value.
pub(super) fn find_content(document: &Document<'_>, index: u32) -> u32 {
    match document.nodes().get(index as usize).map(|node| node.kind) {
        Some(Kind::VString) => document.tape().index_after(index + 1),
        _ => index + 1,
    }
}

/// Returns the node that is written for the one at `index`.
pub(super) fn unwrap_node(document: &Document<'_>, mut index: u32) -> u32 {
    for _ in 0..MAX_WRAPPERS {
        if !is_wrapper(document, index) {
            break;
        }
        index = find_content(document, index);
    }
    index
}

/// Returns the final target of the link at `index`, if it refers to another link.
pub(super) fn find_last_target(document: &Document<'_>, mut index: u32) -> u32 {
    for _ in 0..MAX_WRAPPERS {
        match document.nodes().get(index as usize) {
            Some(node) if node.kind.is_again() => index = node.payload as u32,
            _ => break,
        }
    }
    index
}
