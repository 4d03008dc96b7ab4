//! Losses of values that PHP does not have, shared by PHP's formats.

use crate::document::{Document, IS_KEY, Kind, Node, flag};
use crate::format::php_text::{integer_key, push_float, push_uint};
use crate::num::{bigint, float128};
use crate::output::LossKind;

/// PHP's replacement for a leaf that it does not have.
pub(crate) enum LeafReplacement<'d> {
    /// A string of the document.
    Bytes(&'d [u8]),
    /// The digits of a number.
    Digits(Vec<u8>),
    /// A float.
    Float(f64),
    /// Null.
    Null,
}

/// Returns the replacement for a leaf that PHP does not have, and reports the loss.
#[cold]
pub(crate) fn replace_leaf<'d>(
    document: &'d Document<'_>,
    node: &Node,
    mut lose: impl FnMut(LossKind),
) -> LeafReplacement<'d> {
    let bytes = if node.kind.has_bytes() { document.bytes(node) } else { &[] };
    let mut digits = Vec::new();
    match node.kind {
        Kind::Encoded => lose(LossKind::Encoding),
        Kind::Symbol => lose(LossKind::Symbol),
        Kind::Module | Kind::EnumCase => lose(LossKind::Name),
        Kind::Uint | Kind::BigInt => {
            lose(LossKind::BigInt);
            match node.kind {
                Kind::Uint => push_uint(node.payload, &mut digits),
                _ => bigint::push_decimal(node.has(flag::NEGATIVE), bytes, &mut digits),
            }
            return LeafReplacement::Digits(digits);
        }
        Kind::Float32 => return LeafReplacement::Float(f64::from(f32::from_bits(node.payload as u32))),
        Kind::Float128 => {
            let raw = bytes.try_into().unwrap_or([0; 16]);
            if float128::to_f64_exact(&raw).is_none() {
                lose(LossKind::Precision);
            }
            return LeafReplacement::Float(float128::to_f64(&raw));
        }
        kind => {
            if kind == Kind::Hole {
                lose(LossKind::Hole);
            }
            return LeafReplacement::Null;
        }
    }
    LeafReplacement::Bytes(bytes)
}

/// Reports flags of a value that PHP can't represent. Most values have none.
#[inline]
pub(crate) fn report_lost_flags(node: &Node, lose: impl FnMut(LossKind)) {
    if node.flags & !(flag::REF | flag::TARGET) != 0 {
        report_rare_flags(node, lose);
    }
}

#[cold]
fn report_rare_flags(node: &Node, mut lose: impl FnMut(LossKind)) {
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

/// Reports a map whose keys are those of a list, and a list whose items become members: PHP
/// has one kind of array.
pub(crate) fn report_array_kind_loss(document: &Document<'_>, index: u32, is_body: bool, lose: impl FnOnce(LossKind)) {
    let Some(node) = document.nodes().get(index as usize) else { return };
    let is_other = match node.kind {
        Kind::Map if !is_body => node.aux == 0 || has_list_keys(document, index, node),
        Kind::Array => is_body && node.aux > 0,
        _ => false,
    };
    if is_other {
        lose(LossKind::ArrayKind);
    }
}

/// Returns `true` if the keys of a map are 0, 1, 2 and so on.
fn has_list_keys(document: &Document<'_>, index: u32, map: &Node) -> bool {
    let tape = document.tape();
    // The first key shows for most maps that they are not lists.
    if let Some(first) = tape.nodes.get(index as usize + 1)
        && let Some(name) = tape.keys().get(u32::from(first.key))
        && name.node.kind.is_string()
        && name.bytes != b"0"
        && !name.node.has(flag::PLACEHOLDER)
    {
        return false;
    }
    has_list_keys_to_end(document, index, map)
}

#[inline(never)]
fn has_list_keys_to_end(document: &Document<'_>, index: u32, map: &Node) -> bool {
    let tape = document.tape();
    let (mut next, mut count) = (index + 1, 0i64);
    for _ in 0..map.aux {
        let Some(node) = tape.nodes.get(next as usize) else { return false };
        let (key, bytes, value) = if node.key == IS_KEY {
            (*node, if node.kind.has_bytes() { document.bytes(node) } else { &[] }, tape.index_after(next))
        } else {
            let Some(name) = tape.keys().get(u32::from(node.key)) else { return false };
            (name.node, name.bytes, next)
        };
        if !(key.kind.is_string() && key.has(flag::PLACEHOLDER)) {
            let number = match key.kind {
                Kind::Int => Some(key.payload as i64),
                kind if kind.is_string() => integer_key(bytes),
                _ => key_text(&key).and_then(|text| integer_key(&text)),
            };
            if number != Some(count) {
                return false;
            }
            count += 1;
        }
        next = tape.index_after(value);
    }
    true
}

/// Reports what is lost with the node at `index` if only its content is written.
pub(crate) fn report_lost_wrapper(document: &Document<'_>, index: u32, mut lose: impl FnMut(LossKind)) {
    let Some(node) = document.nodes().get(index as usize) else { return };
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
        let flags = document.nodes().get(document.tape().index_after(index + 1) as usize);
        if flags.is_some_and(|flags| flags.kind != Kind::Int && !document.bytes(flags).is_empty()) {
            lose(LossKind::RegexpFlags);
        }
    }
}

/// Returns `true` if this is a link to a string or a number, which is one object in Ruby; PHP only
/// shares variables. In most dumps a linked string is a literal that programs do not
/// change, so it is written again.
pub(crate) fn is_link_to_leaf(document: &Document<'_>, node: &Node) -> bool {
    let named = document.nodes().get(node.payload as usize).map(|named| named.kind);
    let is_value = |kind: Kind| !kind.is_container() && !kind.is_again() && kind != Kind::EnumCase;
    node.kind == Kind::Link && named.is_some_and(is_value)
}

/// Returns the text of a key that PHP only has as a string; `None` if PHP has no such key.
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

/// Returns `true` if the entry at `index` is a key that is allowed but absent.
pub(crate) fn is_absent_entry(document: &Document<'_>, index: u32) -> bool {
    let Some(node) = document.nodes().get(index as usize) else { return false };
    if node.key == IS_KEY {
        return node.has(flag::PLACEHOLDER) && node.kind.is_string();
    }
    document.tape().keys().get(u32::from(node.key)).is_some_and(|name| name.node.has(flag::PLACEHOLDER))
}

/// Counts the present entries from `index` to `end`.
pub(crate) fn count_present(document: &Document<'_>, mut index: u32, end: u32) -> u32 {
    let mut count = 0;
    while index < end {
        count += u32::from(!is_absent_entry(document, index));
        let is_key = document.nodes()[index as usize].key == IS_KEY;
        index = document.tape().index_after(if is_key { document.tape().index_after(index) } else { index });
    }
    count
}
