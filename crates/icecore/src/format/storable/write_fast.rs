//! Fast loops that write leaves, and arrays and hashes of leaves.
//!
//! The loops stop before anything else, and the writer in [`super::write`] continues there. It would write the same
//! bytes for what the loops wrote.

use super::tag;
use super::write::Writer;
use crate::document::{Form, Kind, Location, Node, flag};
use crate::format::append::append_slice;
use crate::output::FLUSH_SIZE;

/// Maximum number of bytes of a record. It is written as a whole or not at all, so a longer one is left to the
/// writer.
const MAX_RECORD: usize = 1 << 20;

impl Writer<'_> {
    /// Writes a leaf, if it is a common one and nothing refers to it.
    #[inline(always)]
    fn fast_leaf(&self, node: &Node, buf: &mut Vec<u8>) -> bool {
        if node.has(flag::TARGET) {
            return false;
        }
        match node.kind {
            Kind::Int => {
                let value = node.payload as i64;
                if (-128..=127).contains(&value) {
                    buf.extend_from_slice(&[tag::BYTE, (value + 128) as u8]);
                } else if self.image.netorder {
                    let Ok(value) = i32::try_from(value) else { return false };
                    let [a, b, c, d] = value.to_be_bytes();
                    buf.extend_from_slice(&[tag::NETINT, a, b, c, d]);
                } else if self.has_plain_64_bit_integers {
                    let mut bytes = [tag::INTEGER; 9];
                    bytes[1..].copy_from_slice(&value.to_le_bytes());
                    buf.extend_from_slice(&bytes);
                } else {
                    return false;
                }
            }
            Kind::Bytes | Kind::Text => {
                let Ok(len) = u8::try_from(node.aux) else { return false };
                let tag = if node.kind == Kind::Bytes { tag::SCALAR } else { tag::UTF8STR };
                buf.extend_from_slice(&[tag, len]);
                let (base, start) = match node.location() {
                    Location::Input(start) => (self.document.input(), start),
                    Location::Arena(start) => (self.document.tape().arena(), start),
                };
                append_slice(buf, base, start as usize, usize::from(len));
            }
            Kind::Null if !node.has(flag::OWN) => buf.push(tag::UNDEF),
            _ => return false,
        }
        true
    }

    /// Writes children of an array from `index` on, as many as it can. Returns the index of the first child that it
    /// did not write.
    #[inline]
    pub(super) fn fast_items(&mut self, mut index: u32, end: u32, buf: &mut Vec<u8>) -> u32 {
        let document = self.document;
        // After this number of bytes the loop returns, so that the writer can pass the buffer on.
        let limit = buf.len() + FLUSH_SIZE;
        while index < end && buf.len() < limit {
            let Some(node) = document.nodes().get(index as usize) else { break };
            if node.kind == Kind::Int && self.has_plain_64_bit_integers && !self.image.netorder {
                let written = push_integers(&document.nodes()[index as usize..end as usize], buf);
                if written > 0 {
                    self.next_number = self.next_number.wrapping_add(written);
                    index += written;
                    continue;
                }
            }
            if self.fast_leaf(node, buf) {
                self.next_number = self.next_number.wrapping_add(1);
                index += 1;
                continue;
            }
            match self.fast_record(index, node, buf) {
                Some(next) => index = next,
                None => break,
            }
        }
        index
    }

    /// Writes entries of a hash from `index` on, as many as it can. Returns the index of the first entry that it did
    /// not write.
    #[inline]
    pub(super) fn fast_entries(&mut self, mut index: u32, end: u32, buf: &mut Vec<u8>) -> u32 {
        let document = self.document;
        let limit = buf.len() + FLUSH_SIZE;
        while index < end && buf.len() < limit {
            let Some(node) = document.nodes().get(index as usize) else { break };
            let start = buf.len();
            if !self.fast_leaf(node, buf) {
                break;
            }
            // Storable writes the key after the value. If this key is not plain, the value is removed again.
            if !self.keys.append_plain(node.key, buf) {
                buf.truncate(start);
                break;
            }
            self.next_number = self.next_number.wrapping_add(1);
            index += 1;
        }
        index
    }

    /// Writes an array or hash of leaves, blessed or not, with the reference to it. Returns the index of the node
    /// after it. For anything else it writes nothing and returns `None`.
    #[inline]
    fn fast_record(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) -> Option<u32> {
        // The flags that a plain container does not have: all except the mark that a reference refers to it.
        const PLAIN: u8 = !flag::REF;
        let document = self.document;
        let start = buf.len();
        let mut body = node;
        let mut first = index + 1;
        let mut class = None;
        if node.kind == Kind::Object && node.form() == Form::Usual && node.flags & PLAIN == 0 {
            class = Some(*self.classes.get(&node.class())?);
            body = document.nodes().get(first as usize)?;
            first += 1;
        }
        let is_hash = body.kind == Kind::Map;
        // The container has exactly as many nodes as children, so no child has children of its own.
        let is_flat = body.end().checked_sub(first) == Some(body.aux);
        if !is_flat || !(is_hash || body.kind == Kind::Array) || body.flags & PLAIN != 0 {
            return None;
        }
        buf.push(tag::REF);
        match class.map(u8::try_from) {
            // A class that was written before is named by its number. From 0x80 on, the number needs the long form.
            Some(Ok(number)) if number < 0x80 => buf.extend_from_slice(&[tag::IX_BLESS, number]),
            Some(_) => {
                buf.truncate(start);
                return None;
            }
            None => {}
        }
        let [a, b, c, d] = self.image.encode_u32(body.aux);
        buf.extend_from_slice(&[if is_hash { tag::HASH } else { tag::ARRAY }, a, b, c, d]);
        let children = document.nodes().get(first as usize..body.end() as usize)?;
        for child in children {
            let is_too_long = buf.len() - start > MAX_RECORD;
            if is_too_long || !self.fast_leaf(child, buf) || is_hash && !self.keys.append_plain(child.key, buf) {
                buf.truncate(start);
                return None;
            }
        }
        // Storable numbers the reference, its target, and each child.
        self.next_number = self.next_number.wrapping_add(2 + body.aux);
        Some(body.end())
    }
}

/// Writes a run of integers in native form. Returns their number. Each has at most nine bytes, so a run fits into the
/// block.
#[inline]
fn push_integers(nodes: &[Node], buf: &mut Vec<u8>) -> u32 {
    const MAX_RUN: usize = 56;
    let mut block = [0u8; 9 * (MAX_RUN + 1)];
    let (mut filled, mut count) = (0, 0);
    for node in nodes.iter().take(MAX_RUN) {
        if node.kind != Kind::Int || node.flags != 0 {
            break;
        }
        let value = node.payload as i64;
        if (-128..=127).contains(&value) {
            block[filled] = tag::BYTE;
            block[filled + 1] = (value + 128) as u8;
            filled += 2;
        } else {
            block[filled] = tag::INTEGER;
            block[filled + 1..filled + 9].copy_from_slice(&value.to_le_bytes());
            filled += 9;
        }
        count += 1;
    }
    buf.extend_from_slice(&block[..filled]);
    count
}
