//! Reads a scalar by itself, for a stencil.

use super::ReadOptions;
use super::image::MAGIC;
use super::tag;
use crate::document::{Kind, Location, Node};
use crate::format::ReadScalar;

/// Start of most headers: version 2 in network order, and of a 64-bit little-endian machine.
const NETWORK: u8 = 5;
const NATIVE: u8 = 4;
const MACHINE: &[u8] = b"\x0812345678\x04\x08\x08\x08";

/// Returns the function that reads the scalars of this image, if its header is a common one.
pub(super) fn choose_scalar_reader(input: &[u8], options: &ReadOptions) -> Option<ReadScalar> {
    let image = input.strip_prefix(MAGIC).unwrap_or(input);
    match image {
        _ if options.reference || options.nv_size.is_some() => None,
        [NETWORK, _, ..] => Some(read_network_scalar),
        [NATIVE, minor, machine @ ..] if *minor >= 2 && machine.starts_with(MACHINE) => Some(read_native_scalar),
        _ => None,
    }
}

fn read_network_scalar(input: &[u8], offset: usize, like: Node) -> Option<(Node, usize)> {
    read_common_scalar(input, offset, like, |rest| rest.first_chunk().map(|len| u32::from_be_bytes(*len)))
}

fn read_native_scalar(input: &[u8], offset: usize, like: Node) -> Option<(Node, usize)> {
    let (tag, rest) = input.get(offset..)?.split_first()?;
    let node = match *tag {
        tag::INTEGER => Node::int(i64::from_le_bytes(*rest.first_chunk()?)),
        tag::DOUBLE => Node::float(f64::from_le_bytes(*rest.first_chunk()?)),
        _ => {
            return read_common_scalar(input, offset, like, |rest| {
                rest.first_chunk().map(|len| u32::from_le_bytes(*len))
            });
        }
    };
    Some((Node { key: like.key, ..node }, offset + 9))
}

#[inline(always)]
fn read_common_scalar(
    input: &[u8],
    offset: usize,
    like: Node,
    length: impl Fn(&[u8]) -> Option<u32>,
) -> Option<(Node, usize)> {
    let (tag, rest) = input.get(offset..)?.split_first()?;
    let (node, size) = match *tag {
        tag::BYTE => (Node::int(i64::from(*rest.first()?) - 128), 1),
        tag::NETINT => (Node::int(i64::from(i32::from_be_bytes(*rest.first_chunk()?))), 4),
        tag::UNDEF => (Node::leaf(Kind::Null, 0), 0),
        tag @ (tag::SCALAR | tag::UTF8STR | tag::LSCALAR | tag::LUTF8STR) => {
            let (len, width) = match tag {
                tag::SCALAR | tag::UTF8STR => (u32::from(*rest.first()?), 1),
                _ => (length(rest)?, 4),
            };
            let size = width + len as usize;
            if len == u32::MAX || size > rest.len() {
                return None;
            }
            let kind = if matches!(tag, tag::SCALAR | tag::LSCALAR) { Kind::Bytes } else { Kind::Text };
            (Node::string(kind, Location::Input((offset + 1 + width) as u64), len), size)
        }
        _ => return None,
    };
    Some((Node { key: like.key, ..node }, offset + 1 + size))
}
