//! Reads a scalar by itself, for a stencil.

use super::tag;
use crate::document::{Kind, Location, Node};

/// Returns the scalar at this offset. Strings only replace strings: strings have numbers, which the
/// bytes around them may use.
pub(super) fn read_scalar(input: &[u8], offset: usize, like: Node) -> Option<(Node, usize)> {
    let (tag, rest) = input.get(offset..)?.split_first()?;
    let tag = *tag;
    let is_string = matches!(tag, 0x11..=0x13);
    if is_string != like.kind.is_string() {
        return None;
    }
    let (node, size) = match tag {
        tag::NULL => (Node::leaf(Kind::Null, 0), 0),
        tag::FALSE | tag::TRUE => (Node::leaf(Kind::Bool, u64::from(tag == tag::TRUE)), 0),
        tag::INT..=tag::INT_LAST | tag::INT64 | tag::INT64_NEGATIVE => {
            let (magnitude, size) = match tag::integer_size(tag)? {
                1 => (u64::from(*rest.first()?), 1),
                2 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), 2),
                4 => (u64::from(u32::from_be_bytes(*rest.first_chunk()?)), 4),
                _ => (u64::from_be_bytes(*rest.first_chunk()?), 8),
            };
            let value = i64::try_from(magnitude).ok()?;
            (Node::int(if tag & 1 == 1 { -value } else { value }), size)
        }
        tag::FLOAT => (Node::float(f64::from_be_bytes(*rest.first_chunk()?)), 8),
        tag if is_string => {
            let (len, width) = match tag - tag::STRING {
                0 => (u32::from(*rest.first()?), 1),
                1 => (u32::from(u16::from_be_bytes(*rest.first_chunk()?)), 2),
                _ => (u32::from_be_bytes(*rest.first_chunk()?), 4),
            };
            let size = width + len as usize;
            if len == 0 || len == u32::MAX || size > rest.len() {
                return None;
            }
            (Node::string(Kind::Bytes, Location::Input((offset + 1 + width) as u64), len), size)
        }
        _ => return None,
    };
    Some((Node { key: like.key, ..node }, offset + 1 + size))
}
