//! The fast loop of the writer for common values.

use super::body::{Body, PrecedingTag};
use super::bytes::{CHUNK, SLACK};
use super::read::MAX_ENTRIES_WITH_IDS;
use super::tag;
use super::write::fits_in_f32;
use crate::document::{KEY_NODE, Kind, Location, NO_KEY, Names, Node, flag};
use crate::error::Error;

type Chunk = [u8; CHUNK + SLACK];

impl Body<'_, '_> {
    /// Writes values up to the first one that only the writer in [`super::body`] can write.
    pub(super) fn write_common_values(&mut self) -> Result<(), Error> {
        while self.preceding_tag == PrecedingTag::Item && self.has_nothing_pending() && self.index < self.end {
            if self.fill_chunk()? || self.index >= self.end {
                continue;
            }
            // `fill_chunk` stopped, although the chunk is not full. A long string is the only plain value that it
            // can't write.
            let Some(node) = self.nodes.get(self.index as usize).filter(|node| node.flags & !flag::REF == 0) else {
                break;
            };
            if node.key != NO_KEY && node.key != KEY_NODE || !matches!(node.kind, Kind::Bytes | Kind::Text) {
                break;
            }
            let bytes = self.document.bytes(node);
            match node.kind {
                Kind::Text => self.bytes.push_tagged_varint(tag::STR_UTF8, bytes.len() as u64)?,
                _ if bytes.len() <= tag::MAX_SHORT_LEN => {
                    self.bytes.push_byte(tag::SHORT_BINARY | bytes.len() as u8)?
                }
                _ => self.bytes.push_tagged_varint(tag::BINARY, bytes.len() as u64)?,
            }
            self.bytes.push_slice(bytes)?;
            self.index += 1;
        }
        Ok(())
    }

    /// Fills the chunk. Returns `true` if it is full. Otherwise the loop stopped at a value that it can't write, or
    /// at the last one.
    fn fill_chunk(&mut self) -> Result<bool, Error> {
        let strings = (self.document.input(), &self.document.tape().arena[..]);
        let has_bools = self.plan.version >= 5;
        let nodes = self.nodes.get(..self.end as usize).unwrap_or(&[]);
        let rest = nodes.get(self.index as usize..).unwrap_or(&[]);
        let names = self.document.tape().keys();
        let base = self.offset();
        let (chunk, mut filled) = self.bytes.writable_chunk()?;
        let base = base - filled as u64;
        let mut nodes_written = 0;
        for node in rest {
            // A value with another flag is left to the writer.
            if filled >= CHUNK || node.flags & !flag::REF != 0 {
                break;
            }
            let mut next = filled;
            let mut first = None;
            if node.key != NO_KEY && node.key != KEY_NODE {
                // A node that is itself a key has the id `IS_KEY`. It is larger than the ids of keys, so it has no
                // entry.
                let Some(key) = self.keys.get_mut(usize::from(node.key)) else { break };
                if key.len > 0 {
                    chunk[next..next + 8].copy_from_slice(&key.word.to_le_bytes());
                    next += usize::from(key.len);
                } else if let Some(key_end) = push_first_key(chunk, next, node.key, names) {
                    first = Some(key);
                    next = key_end;
                } else {
                    break;
                }
            }
            let Some(value_end) = push_value(chunk, next, node, strings, has_bools) else { break };
            if let Some(key) = first {
                key.record_offset(base + filled as u64);
            }
            filled = value_end;
            nodes_written += 1;
        }
        self.bytes.set_fill_level(filled);
        self.index += nodes_written;
        Ok(filled >= CHUNK)
    }
}

/// Writes a short key that was not written yet.
#[inline(always)]
pub(super) fn push_first_key(chunk: &mut Chunk, offset: usize, id: u16, names: &Names) -> Option<usize> {
    let (name, _) = names.get_plain(id)?;
    let len = name.node.aux as usize;
    if len > 16 || offset > CHUNK + 16 {
        return None;
    }
    let text_offset = match name.node.kind {
        Kind::Bytes => push_byte(chunk, offset, tag::SHORT_BINARY | len as u8),
        _ => push_tagged_varint(chunk, offset, tag::STR_UTF8, len as u64),
    };
    chunk[text_offset..text_offset + 16].copy_from_slice(&name.head.to_le_bytes());
    Some(text_offset + len)
}

/// Writes a plain value of at most 40 bytes. `strings` are the input and the arena; the node's location is in one of
/// them.
#[inline(always)]
pub(super) fn push_value(
    chunk: &mut Chunk,
    offset: usize,
    node: &Node,
    strings: (&[u8], &[u8]),
    has_bools: bool,
) -> Option<usize> {
    if offset > CHUNK + 16 {
        return None;
    }
    Some(match node.kind {
        Kind::Int => {
            let value = node.payload as i64;
            match value {
                0..=15 => push_byte(chunk, offset, value as u8),
                16.. => push_tagged_varint(chunk, offset, tag::VARINT, value as u64),
                -16.. => push_byte(chunk, offset, (value + 32) as u8),
                _ => push_tagged_varint(chunk, offset, tag::ZIGZAG, (value << 1 ^ value >> 63) as u64),
            }
        }
        Kind::Bytes | Kind::Text => {
            let len = node.aux as usize;
            if len > tag::MAX_SHORT_LEN {
                return None;
            }
            let (base, start) = match node.location() {
                Location::Input(start) => (strings.0, start),
                Location::Arena(start) => (strings.1, start),
            };
            let window: &[u8; 32] = base.get(usize::try_from(start).ok()?..)?.first_chunk()?;
            let text_offset = if node.kind == Kind::Bytes {
                push_byte(chunk, offset, tag::SHORT_BINARY | len as u8)
            } else {
                push_tagged_varint(chunk, offset, tag::STR_UTF8, len as u64)
            };
            chunk[text_offset..text_offset + 32].copy_from_slice(window);
            text_offset + len
        }
        Kind::Map | Kind::Array => {
            let is_map = node.kind == Kind::Map;
            let (long, short) = if is_map { (tag::HASH, tag::HASHREF) } else { (tag::ARRAY, tag::ARRAYREF) };
            if node.aux as usize <= tag::MAX_IN_REF && !node.has(flag::HINT) {
                push_byte(chunk, offset, short | node.aux as u8)
            } else if is_map && node.aux > MAX_ENTRIES_WITH_IDS {
                return None;
            } else {
                let count_offset = push_byte(chunk, offset, tag::REFN);
                push_tagged_varint(chunk, count_offset, long, u64::from(node.aux))
            }
        }
        Kind::Float => {
            let value = f64::from_bits(node.payload);
            if fits_in_f32(value) {
                push_float32(chunk, offset, value as f32)
            } else {
                chunk[offset] = tag::DOUBLE;
                chunk[offset + 1..offset + 9].copy_from_slice(&node.payload.to_le_bytes());
                offset + 9
            }
        }
        Kind::Float32 => push_float32(chunk, offset, f32::from_bits(node.payload as u32)),
        Kind::Uint => push_tagged_varint(chunk, offset, tag::VARINT, node.payload),
        Kind::Bool if has_bools => push_byte(chunk, offset, if node.payload == 0 { tag::NO } else { tag::YES }),
        Kind::Null => push_byte(chunk, offset, tag::UNDEF),
        _ => return None,
    })
}

#[inline(always)]
fn push_byte(chunk: &mut Chunk, offset: usize, byte: u8) -> usize {
    chunk[offset] = byte;
    offset + 1
}

#[inline(always)]
fn push_tagged_varint(chunk: &mut Chunk, offset: usize, tag: u8, mut value: u64) -> usize {
    let mut end = push_byte(chunk, offset, tag);
    while value >= 0x80 {
        end = push_byte(chunk, end, value as u8 | 0x80);
        value >>= 7;
    }
    push_byte(chunk, end, value as u8)
}

#[inline(always)]
fn push_float32(chunk: &mut Chunk, offset: usize, value: f32) -> usize {
    chunk[offset] = tag::FLOAT;
    chunk[offset + 1..offset + 5].copy_from_slice(&value.to_le_bytes());
    offset + 5
}
