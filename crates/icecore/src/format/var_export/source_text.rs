//! Checks if the kept source text of a node still has the node's value. The node may have been changed since it was
//! read.

use super::lex::Lexer;
use super::number::{Number, float_key};
use super::string::StringLiteral;
use super::text::integer_key;
use super::words::ValueStart;
use crate::document::{Kind, Node};
use std::borrow::Cow;

fn read_source_value(source: &[u8]) -> Option<ValueStart<'_>> {
    let mut lexer = Lexer { input: source, offset: 0 };
    let value = lexer.read_value().ok()?;
    (lexer.offset == source.len()).then_some(value)
}

fn text_bytes<'s>(text: &'s StringLiteral, source: &'s [u8]) -> &'s [u8] {
    match text {
        StringLiteral::Plain(start, len) => source.get(*start..start + len).unwrap_or(&[]),
        StringLiteral::Decoded(bytes) => bytes,
    }
}

/// Returns `true` if this is the text of a leaf; `bytes` are the leaf's bytes.
pub(super) fn is_leaf_source(source: &[u8], node: &Node, bytes: &[u8]) -> bool {
    match (read_source_value(source), node.kind) {
        (Some(ValueStart::Null), Kind::Null) => true,
        (Some(ValueStart::Bool(value)), Kind::Bool) => value == (node.payload != 0),
        (Some(ValueStart::Number(Number::Int(value))), Kind::Int) => value == node.payload as i64,
        (Some(ValueStart::Number(Number::Float(value))), Kind::Float) => {
            value.to_bits() == node.payload || value.is_nan() && f64::from_bits(node.payload).is_nan()
        }
        (Some(ValueStart::Text(found)), Kind::Bytes | Kind::Text) => text_bytes(&found, source) == bytes,
        (Some(ValueStart::Case(class, name)), Kind::EnumCase) => bytes == [class, b":", name].concat(),
        _ => false,
    }
}

/// Returns `true` if this is the text of a key; `bytes` are the key's bytes.
pub(super) fn is_key_source(source: &[u8], node: &Node, bytes: &[u8], is_object: bool) -> bool {
    let source_value = read_source_value(source);
    let (number, name) = match &source_value {
        Some(ValueStart::Null) => (None, Cow::Borrowed(&b""[..])),
        Some(ValueStart::Bool(value)) => (Some(i64::from(*value)), Cow::Borrowed(&b""[..])),
        Some(ValueStart::Number(Number::Int(value))) => (Some(*value), Cow::Borrowed(&b""[..])),
        Some(ValueStart::Number(Number::Float(value))) => (Some(float_key(*value)), Cow::Borrowed(&b""[..])),
        Some(ValueStart::Text(found)) => {
            let name = text_bytes(found, source);
            (integer_key(name).filter(|_| !is_object), Cow::Borrowed(name))
        }
        _ => return false,
    };
    match (number, node.kind) {
        (Some(number), Kind::Int) => number == node.payload as i64,
        // Names of properties are strings, in any notation.
        (Some(number), Kind::Bytes | Kind::Text) => is_object && number.to_string().as_bytes() == bytes,
        (None, Kind::Bytes | Kind::Text) => *name == *bytes,
        _ => false,
    }
}
