//! Leaves and other text of the fast writer.

use super::fixed_blocks::{
    Chunk, FLUSH_LEN, put_all, put_block, put_float, put_integer, put_short_string_head, put_slice, put_string_head,
};
use super::{FastWriter, WriteStop};
use crate::document::{Kind, Location, Node};

/// Strings up to this length are copied as a block of fixed size.
pub(super) const BLOCK: usize = 32;
/// Strings up to this length are copied as two blocks, if enough bytes follow them.
const TWO_BLOCKS: usize = 64;
/// Maximum length of a string in a run.
const MAX_RUN_STRING: usize = 512;

/// Kinds of leaves as numbers.
const NULL: u32 = Kind::Null as u32;
const BOOL: u32 = Kind::Bool as u32;
const INT: u32 = Kind::Int as u32;
const FLOAT: u32 = Kind::Float as u32;
const BYTES: u32 = Kind::Bytes as u32;

impl FastWriter<'_, '_> {
    /// Writes a leaf with this key that no link refers to. Returns `None` for any other value, for a long string, and
    /// for a string that is too close to the end of its buffer to be copied as a block.
    #[inline(always)]
    pub(super) fn write_leaf(&mut self, chunk: &mut Chunk, filled: usize, node: &Node, key: u16) -> Option<usize> {
        // Kind, flags and key become one number. The key is removed again by XOR. The result is the number of the
        // kind only if the node has exactly this key and no flags, so one comparison checks all three.
        let head = u32::from(node.kind as u8) | (u32::from(node.flags) << 8) | (u32::from(node.key) << 16);
        match head ^ (u32::from(key) << 16) {
            INT => Some(put_integer(chunk, filled, node.payload as i64)),
            BYTES => self.write_short_string(chunk, filled, node),
            NULL => Some(put_all(chunk, filled, b"N;")),
            BOOL => Some(put_all(chunk, filled, if node.payload != 0 { b"b:1;" } else { b"b:0;" })),
            FLOAT => Some(put_float(chunk, filled, f64::from_bits(node.payload), self.buf)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(super) fn write_short_string(&mut self, chunk: &mut Chunk, filled: usize, node: &Node) -> Option<usize> {
        let (base, start) = self.bytes_at(node);
        let len = node.aux as usize;
        let rest = base.get(start..)?;
        if len > TWO_BLOCKS {
            return put_long_string(chunk, filled, rest.get(..len)?);
        }
        let filled = put_short_string_head(chunk, filled, len);
        let filled = if len <= BLOCK
            && let Some(block) = rest.first_chunk::<BLOCK>()
        {
            put_block(chunk, filled, block, len)
        } else {
            put_block(chunk, filled, rest.first_chunk::<TWO_BLOCKS>()?, len)
        };
        Some(put_all(chunk, filled, b"\";"))
    }

    /// Returns `true` if a key may be the text of an integer. PHP makes an integer of such a key in an array.
    #[inline(always)]
    pub(super) fn may_be_cast(&self, node: &Node) -> bool {
        let (base, start) = self.bytes_at(node);
        matches!(base.get(start), None | Some(b'0'..=b'9' | b'-'))
    }

    /// Returns the buffer that contains the bytes of a string, and their offset in it.
    #[inline(always)]
    pub(super) fn bytes_at(&self, node: &Node) -> (&[u8], usize) {
        match node.location() {
            Location::Input(start) => (self.input, start as usize),
            Location::Arena(start) => (self.arena, start as usize),
        }
    }

    /// Passes on the collected bytes. Returns `false` if the output is now too long.
    pub(super) fn flush(&mut self, chunk: &Chunk, filled: usize) -> bool {
        self.buf.extend_from_slice(chunk.get(..filled).unwrap_or(&[]));
        (self.buf.len() - self.start_len) as u64 <= self.max_bytes
    }

    /// Empties a full chunk. Returns the new number of bytes in it, 0. If the output is too long, writing stops, and
    /// the machine reports the error.
    #[cold]
    pub(super) fn flush_full_chunk(&mut self, chunk: &Chunk, filled: usize) -> usize {
        if !self.flush(chunk, filled) {
            self.stop = WriteStop::Special;
        }
        0
    }

    /// Writes any number of bytes. If they do not fit into the chunk, they go directly to the output.
    pub(super) fn write_bytes(&mut self, chunk: &mut Chunk, filled: usize, bytes: &[u8]) -> Option<usize> {
        if bytes.len() <= FLUSH_LEN.saturating_sub(filled) {
            return Some(put_slice(chunk, filled, bytes));
        }
        if !self.flush(chunk, filled) {
            return None;
        }
        self.buf.extend_from_slice(bytes);
        ((self.buf.len() - self.start_len) as u64 <= self.max_bytes).then_some(0)
    }

    /// Writes `s:5:"hello";`.
    pub(super) fn write_quoted(&mut self, chunk: &mut Chunk, filled: usize, letter: u8, bytes: &[u8]) -> Option<usize> {
        let filled = put_string_head(chunk, filled, letter, bytes.len());
        let filled = self.write_bytes(chunk, filled, bytes)?;
        Some(put_all(chunk, filled, b"\";"))
    }
}

/// Puts a string of at most [`MAX_RUN_STRING`] bytes. A longer one would exceed the space that is kept for a run.
#[inline(never)]
fn put_long_string(chunk: &mut Chunk, filled: usize, bytes: &[u8]) -> Option<usize> {
    if bytes.len() > MAX_RUN_STRING {
        return None;
    }
    let filled = put_string_head(chunk, filled, b's', bytes.len());
    let filled = put_slice(chunk, filled, bytes);
    Some(put_all(chunk, filled, b"\";"))
}
