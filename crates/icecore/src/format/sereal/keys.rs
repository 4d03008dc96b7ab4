//! Keys of maps for Sereal: strings, sorted if an option asks for it.

use super::SortKeys;
use crate::document::{Document, Key, Kind, Name, Node, flag};
use crate::num::general::float_to_perl_text;
use crate::output::LossKind;
use std::borrow::Cow;
use std::cmp::Ordering;

/// A key in its written form.
#[derive(Clone, Debug)]
pub(super) struct KeyText<'d> {
    pub(super) kind: Kind,
    pub(super) bytes: Cow<'d, [u8]>,
    /// The loss from its conversion to a string.
    pub(super) loss: Option<LossKind>,
}

impl<'d> KeyText<'d> {
    fn new(kind: Kind, bytes: &'d [u8], loss: Option<LossKind>) -> KeyText<'d> {
        KeyText { kind, bytes: Cow::Borrowed(bytes), loss }
    }

    fn from_converted(text: String) -> KeyText<'d> {
        KeyText { kind: Kind::Bytes, bytes: Cow::Owned(text.into_bytes()), loss: Some(LossKind::Key) }
    }

    /// Returns the string for a plain key.
    pub(super) fn from_name(name: Name<'d>) -> KeyText<'d> {
        match name.node.kind {
            Kind::Int => KeyText::from_converted((name.node.payload as i64).to_string()),
            Kind::Text => KeyText::new(Kind::Text, name.bytes, None),
            Kind::Symbol => KeyText::new(text_if_not_ascii(name.bytes), name.bytes, Some(LossKind::Symbol)),
            Kind::Encoded => KeyText::new(Kind::Bytes, name.bytes, Some(LossKind::Encoding)),
            _ => KeyText::new(Kind::Bytes, name.bytes, None),
        }
    }

    /// Returns the string for a key that is a node, if there is one.
    pub(super) fn from_node(document: &'d Document<'_>, node: &'d Node) -> Option<KeyText<'d>> {
        let float = |value: f64| Some(KeyText::from_converted(float_to_perl_text(value)));
        match node.kind {
            kind if kind.is_string() || kind == Kind::Int => {
                let bytes = if kind == Kind::Int { &[] } else { document.bytes(node) };
                Some(KeyText::from_name(Name { node: *node, bytes }))
            }
            Kind::Null => Some(KeyText::from_converted(String::new())),
            Kind::Bool => Some(KeyText::from_converted(if node.payload == 0 { String::new() } else { "1".to_owned() })),
            Kind::Uint => Some(KeyText::from_converted(node.payload.to_string())),
            Kind::Float => float(f64::from_bits(node.payload)),
            Kind::Float32 => float(f64::from(f32::from_bits(node.payload as u32))),
            Kind::Module | Kind::EnumCase => {
                Some(KeyText::new(Kind::Bytes, document.bytes(node), Some(LossKind::Name)))
            }
            _ => None,
        }
    }

    pub(super) fn from_key(document: &'d Document<'_>, key: Key<'d>) -> Option<KeyText<'d>> {
        match key {
            Key::Name(name) => Some(KeyText::from_name(name)),
            Key::Value(value) => KeyText::from_node(document, value.node()),
        }
    }
}

/// Returns the kind for a symbol: text, but bytes if it is ASCII or not UTF-8.
pub(super) fn text_if_not_ascii(bytes: &[u8]) -> Kind {
    if bytes.is_ascii() || std::str::from_utf8(bytes).is_err() { Kind::Bytes } else { Kind::Text }
}

/// Returns `true` if this key is allowed in its hash but absent.
pub(super) fn is_absent(node: &Node) -> bool {
    node.kind.is_string() && node.has(flag::PLACEHOLDER)
}

/// Compares keys in the given order.
pub(super) fn compare_keys(order: SortKeys, a: &KeyText<'_>, b: &KeyText<'_>) -> Ordering {
    match order {
        SortKeys::No => Ordering::Equal,
        SortKeys::Length => {
            let rank = |key: &KeyText<'_>| (key.bytes.len(), key.kind != Kind::Text);
            rank(a).cmp(&rank(b)).then_with(|| a.bytes.cmp(&b.bytes))
        }
        SortKeys::Perl => compare_by_characters(a, b),
        SortKeys::PerlReverse => compare_by_characters(b, a),
    }
}

/// Compares by characters, whatever their encoding.
fn compare_by_characters(a: &KeyText<'_>, b: &KeyText<'_>) -> Ordering {
    match (a.kind == Kind::Text, b.kind == Kind::Text) {
        (false, true) => latin1_characters(&a.bytes).cmp(decode_utf8_lossy(&b.bytes).chars()),
        (true, false) => decode_utf8_lossy(&a.bytes).chars().cmp(latin1_characters(&b.bytes)),
        _ => a.bytes.cmp(&b.bytes),
    }
}

fn latin1_characters(bytes: &[u8]) -> impl Iterator<Item = char> {
    bytes.iter().map(|byte| char::from(*byte))
}

fn decode_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_in_the_orders_of_the_encoder() {
        let key = |kind, text: &'static str| KeyText::new(kind, text.as_bytes(), None);
        let keys = [
            key(Kind::Bytes, "b"),
            key(Kind::Bytes, "aa"),
            key(Kind::Bytes, "a"),
            key(Kind::Text, "\u{100}"),
            KeyText::new(Kind::Bytes, b"\xE9", None),
        ];
        let sorted = |order| {
            let mut keys = keys.to_vec();
            keys.sort_by(|a, b| compare_keys(order, a, b));
            keys.iter().map(|key| key.bytes.to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(sorted(SortKeys::Length), [&b"a"[..], b"b", b"\xE9", b"\xC4\x80", b"aa"]);
        assert_eq!(sorted(SortKeys::Perl), [&b"a"[..], b"aa", b"b", b"\xE9", b"\xC4\x80"]);
        assert_eq!(sorted(SortKeys::PerlReverse), [&b"\xC4\x80"[..], b"\xE9", b"b", b"aa", b"a"]);
    }
}
