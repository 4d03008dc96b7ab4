//! What PHP has nothing for: shared by the formats of PHP.

use crate::document::{Document, IS_KEY, Kind, Node, flag};
use crate::format::php_text::{push_float, push_uint};
use crate::output::LossKind;

/// Names what the flags of a value say that PHP can't.
#[cold]
pub(crate) fn lost_flags(node: &Node, mut lose: impl FnMut(LossKind)) {
    let marks = node.kind.is_container() || node.kind == Kind::Link;
    if marks && node.has(flag::WEAK) {
        lose(LossKind::Weak);
    }
    if marks && node.has(flag::OVERLOAD) {
        lose(LossKind::Overload);
    }
    if node.kind == Kind::Map {
        if node.has(flag::RESTRICTED) {
            lose(LossKind::Restricted);
        }
        if node.flags & (flag::IDENTITY | flag::DEFAULT) != 0 {
            lose(LossKind::MapKind);
        }
    }
}

/// Names what is lost with the node at `at`, if only what is in it is written.
pub(crate) fn lost_wrapper(document: &Document<'_>, at: u32, mut lose: impl FnMut(LossKind)) {
    let Some(node) = document.nodes().get(at as usize) else { return };
    lose(match node.kind {
        Kind::Ref => LossKind::Reference,
        Kind::Attrs => LossKind::Attributes,
        Kind::Regexp => LossKind::Regexp,
        Kind::Code => LossKind::Code,
        Kind::VString => LossKind::VString,
        Kind::Opaque => LossKind::Opaque,
        Kind::Object => LossKind::Class,
        _ => LossKind::Tied,
    });
    if node.kind == Kind::Regexp {
        let flags = document.nodes().get(document.tape().next(at + 1) as usize);
        if flags.is_some_and(|flags| flags.kind != Kind::Int && !document.bytes(flags).is_empty()) {
            lose(LossKind::RegexpFlags);
        }
    }
}

/// The text of a key that PHP has only as a string. `None`: it has none.
pub(crate) fn key_text(key: &Node) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    match key.kind {
        Kind::Null => {}
        Kind::Bool => text.push(if key.payload != 0 { b'1' } else { b'0' }),
        Kind::Uint => push_uint(key.payload, &mut text),
        Kind::Float => push_float(f64::from_bits(key.payload), &mut text),
        _ => return None,
    }
    Some(text)
}

/// Whether the entry at `at` is of a key that is allowed, but not there.
pub(crate) fn is_absent(document: &Document<'_>, at: u32) -> bool {
    let Some(node) = document.nodes().get(at as usize) else { return false };
    if node.key == IS_KEY {
        return node.has(flag::PLACEHOLDER) && node.kind.is_string();
    }
    document.tape().keys().get(u32::from(node.key)).is_some_and(|name| name.node.has(flag::PLACEHOLDER))
}

/// How many entries from `at` to `end` are of other keys, and there.
pub(crate) fn count_present(document: &Document<'_>, mut at: u32, end: u32) -> u32 {
    let mut count = 0;
    while at < end {
        count += u32::from(!is_absent(document, at));
        let is_key = document.nodes()[at as usize].key == IS_KEY;
        at = document.tape().next(if is_key { document.tape().next(at) } else { at });
    }
    count
}
