//! Reads a scalar by itself, for a stencil.

use super::{number, string};
use crate::document::{Kind, Location, Node};

/// Returns the scalar at this offset, unless it has escapes or is a number of many
/// digits.
pub(super) fn read_scalar(input: &[u8], offset: usize, like: Node) -> Option<(Node, usize)> {
    let (node, end) = match input.get(offset)? {
        b'"' => read_text(input, offset + 1)?,
        b'-' | b'0'..=b'9' => match number::parse_short_integer(input, offset) {
            Some((value, end)) => (Node::int(value), end),
            None => number::parse_short_decimal(input, offset).map(|(value, end)| (Node::float(value), end))?,
        },
        b'n' if input[offset..].starts_with(b"null") => (Node::leaf(Kind::Null, 0), offset + 4),
        b't' if input[offset..].starts_with(b"true") => (Node::leaf(Kind::Bool, 1), offset + 4),
        b'f' if input[offset..].starts_with(b"false") => (Node::leaf(Kind::Bool, 0), offset + 5),
        _ => return None,
    };
    Some((Node { key: like.key, ..node }, end))
}

/// Returns the string whose bytes begin here, and its end.
#[inline]
fn read_text(input: &[u8], first: usize) -> Option<(Node, usize)> {
    let stop = string::find_special::<true>(input, first);
    if input.get(stop.offset) != Some(&b'"')
        || stop.has_non_ascii && std::str::from_utf8(&input[first..stop.offset]).is_err()
    {
        return None;
    }
    let len = u32::try_from(stop.offset - first).ok().filter(|len| *len < u32::MAX)?;
    Some((Node::string(Kind::Text, Location::Input(first as u64), len), stop.offset + 1))
}
