//! Reads a scalar by itself, for a stencil.

use super::number::{is_fixnum, parse_float, parse_short_float};
use super::read_fast::{parse_integer, parse_length};
use crate::document::{Kind, Location, Node};

/// Returns the scalar at this offset. What follows the bytes of a string, such as its encoding, is
/// not part of it, so strings may only replace strings of the same kind. Floats and large integers
/// have numbers, which links may use: they may only replace others with a number.
pub(super) fn read_scalar(input: &[u8], offset: usize, like: Node) -> Option<(Node, usize)> {
    let (node, end) = match *input.get(offset)? {
        b'I' if input.get(offset + 1) == Some(&b'"') => read_text(input, offset + 2, like, Kind::Text)?,
        b'"' => read_text(input, offset + 1, like, Kind::Bytes)?,
        tag if like.kind.is_string() || matches!(tag, b'l' | b'f') != has_number(&like) => return None,
        b'i' => parse_integer(input, offset + 1).map(|(value, end)| (Node::int(value), end))?,
        b'l' => read_bignum(input, offset)?,
        b'f' => {
            let (start, len) = parse_length(input, offset + 1)?;
            let end = start + len as usize;
            let text = input.get(start..end)?;
            (Node::float(parse_short_float(text).unwrap_or_else(|| parse_float(text))), end)
        }
        b'0' => (Node::leaf(Kind::Null, 0), offset + 1),
        b'T' => (Node::leaf(Kind::Bool, 1), offset + 1),
        b'F' => (Node::leaf(Kind::Bool, 0), offset + 1),
        _ => return None,
    };
    Some((Node { key: like.key, ..node }, end))
}

/// Returns `true` if this is written as an object with a number.
fn has_number(node: &Node) -> bool {
    node.kind == Kind::Float || node.kind == Kind::Int && !is_fixnum(node.payload as i64)
}

/// Returns the string whose length is at `offset`, and the end of its bytes. After text in UTF-8, `E` must follow.
#[inline]
fn read_text(input: &[u8], offset: usize, like: Node, kind: Kind) -> Option<(Node, usize)> {
    let (start, len) = parse_length(input, offset)?;
    let end = start + len as usize;
    let has_expected_end = match kind {
        Kind::Text => matches!(input.get(end..)?, [6, b';', _, b'T', ..] | [6, b':', 6, b'E', b'T', ..]),
        _ => end <= input.len(),
    };
    (has_expected_end && like.kind == kind && len < u32::MAX)
        .then(|| (Node::string(kind, Location::Input(start as u64), len), end))
}

/// Returns an integer of at most 63 bits that is too large for an `i`, in its shortest form.
#[inline(never)]
fn read_bignum(input: &[u8], offset: usize) -> Option<(Node, usize)> {
    let (start, pairs) = parse_length(input, offset + 2)?;
    let bytes = input.get(start..start + 2 * pairs as usize)?;
    let mut magnitude = [0; 8];
    magnitude.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = i64::try_from(u64::from_le_bytes(magnitude)).ok()?;
    let value = match input.get(offset + 1)? {
        b'+' => value,
        b'-' => -value,
        _ => return None,
    };
    (!is_fixnum(value)).then_some((Node::int(value), start + bytes.len()))
}
