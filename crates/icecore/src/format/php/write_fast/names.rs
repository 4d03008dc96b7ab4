//! Keys and heads of objects in the fast writer: the texts that were written are kept by id.

use super::fixed_blocks::{Chunk, put_all, put_block, put_digits, put_integer, put_string_head};
use super::leaf::BLOCK;
use super::{FastWriter, WritePosition};
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, Names, Node};
use crate::format::php::text::{integer_key, is_class_name};
use crate::output::ShortNameText;

/// Keys and heads of objects (`O:8:"stdClass":2:{`) up to this length are kept.
pub(super) const MAX_KEY_LEN: usize = 2 * BLOCK;
pub(super) const MAX_HEAD_LEN: usize = 96;

/// Generation of a table for whose names no texts are kept.
const NO_GENERATION: u64 = u64::MAX;

impl FastWriter<'_, '_> {
    /// Returns the text of a key with an id, if it was written before.
    #[inline(always)]
    pub(super) fn kept_key(&self, id: u16, is_object: bool) -> Option<&ShortNameText<MAX_KEY_LEN>> {
        let kept = self.keys.get(usize::from(id))?;
        (kept.generation == self.key_generation && (is_object || !kept.is_cast)).then_some(kept)
    }

    /// Writes the key of the entry at `node`; its value follows.
    #[inline(always)]
    pub(super) fn write_key(
        &mut self,
        chunk: &mut Chunk,
        place: WritePosition,
        node: &Node,
        is_object: bool,
    ) -> Option<WritePosition> {
        if node.key >= IS_KEY {
            return self.write_key_node(chunk, place, node, is_object);
        }
        let filled = match self.kept_key(node.key, is_object) {
            Some(kept) => put_key(chunk, place.filled, kept),
            None => self.write_new_key(chunk, place.filled, node.key, is_object)?,
        };
        Some(WritePosition { filled, ..place })
    }

    #[inline(never)]
    pub(super) fn write_key_node(
        &mut self,
        chunk: &mut Chunk,
        place: WritePosition,
        node: &Node,
        is_object: bool,
    ) -> Option<WritePosition> {
        if node.key != IS_KEY || node.flags != 0 || self.nodes.get(place.index + 1)?.key != KEY_NODE {
            return None;
        }
        let document = self.document;
        let filled = match node.kind {
            Kind::Int => put_integer(chunk, place.filled, node.payload as i64),
            Kind::Bytes if is_object || !is_cast(document.bytes(node)) => {
                self.write_quoted(chunk, place.filled, b's', document.bytes(node))?
            }
            _ => return None,
        };
        Some(WritePosition { filled, index: place.index + 1 })
    }

    /// Writes a key that is long, or new in this document.
    #[inline(never)]
    pub(super) fn write_new_key(
        &mut self,
        chunk: &mut Chunk,
        filled: usize,
        id: u16,
        is_object: bool,
    ) -> Option<usize> {
        let names = self.names;
        let name = names.get(u32::from(id)).filter(|name| name.node.flags == 0)?;
        let casts = name.node.kind == Kind::Bytes && is_cast(name.bytes);
        let end = match name.node.kind {
            Kind::Int => put_integer(chunk, filled, name.node.payload as i64),
            Kind::Bytes if is_object || !casts => self.write_quoted(chunk, filled, b's', name.bytes)?,
            _ => return None,
        };
        if let Some((text, len)) = copy_text(chunk, filled, end, name.bytes)
            && self.key_generation != NO_GENERATION
        {
            self.keys[usize::from(id)] =
                ShortNameText { text, len, is_cast: casts, generation: self.key_generation, count: 0 };
        }
        Some(end)
    }

    /// Writes the head of an object: `O:3:"Foo":2:{`.
    #[inline(always)]
    pub(super) fn write_head(&mut self, chunk: &mut Chunk, filled: usize, node: &Node, body: &Node) -> Option<usize> {
        if body.kind != Kind::Map || body.flags != 0 || node.form() != Form::Usual {
            return None;
        }
        match self.object_heads.get(node.class() as usize) {
            Some(kept) if kept.generation == self.class_generation && kept.count == body.aux => {
                Some(put_kept(chunk, filled, kept))
            }
            _ => self.write_new_head(chunk, filled, node.class(), body.aux),
        }
    }

    /// Writes the head of an object whose class is new in this document, or whose count is
    /// another one.
    #[inline(never)]
    pub(super) fn write_new_head(&mut self, chunk: &mut Chunk, start: usize, class: u32, count: u32) -> Option<usize> {
        let name = self.document.tape().classes().get(class)?.bytes;
        if !is_class_name(name) {
            return None;
        }
        let filled = put_string_head(chunk, start, b'O', name.len());
        let filled = self.write_bytes(chunk, filled, name)?;
        let filled = put_all(chunk, filled, b"\":");
        let filled = put_digits(chunk, filled, u64::from(count));
        let filled = put_all(chunk, filled, b":{");
        if let Some((text, len)) = copy_text(chunk, start, filled, name)
            && self.class_generation != NO_GENERATION
            && let Some(kept) = self.object_heads.get_mut(class as usize)
        {
            *kept = ShortNameText { text, len, is_cast: false, generation: self.class_generation, count };
        }
        Some(filled)
    }
}

/// Puts a key. Most are short.
#[inline(always)]
pub(super) fn put_key(chunk: &mut Chunk, filled: usize, kept: &ShortNameText<MAX_KEY_LEN>) -> usize {
    let ([front, back], _) = kept.text.as_chunks::<BLOCK>() else { return filled };
    if usize::from(kept.len) > BLOCK {
        put_block(chunk, filled + BLOCK, back, BLOCK);
    }
    put_block(chunk, filled, front, usize::from(kept.len))
}

#[inline(always)]
fn put_kept(chunk: &mut Chunk, filled: usize, kept: &ShortNameText<MAX_HEAD_LEN>) -> usize {
    let ([front, back], _) = kept.text.as_chunks::<{ MAX_HEAD_LEN / 2 }>() else { return filled };
    if usize::from(kept.len) > MAX_HEAD_LEN / 2 {
        put_block(chunk, filled + MAX_HEAD_LEN / 2, back, MAX_HEAD_LEN / 2);
    }
    put_block(chunk, filled, front, usize::from(kept.len))
}

/// Returns the text written for a name between two offsets, if it is short enough to be kept.
fn copy_text<const N: usize>(chunk: &Chunk, name_start: usize, filled: usize, name: &[u8]) -> Option<([u8; N], u8)> {
    // After a long name, the chunk was flushed and starts again.
    let len = filled.checked_sub(name_start).filter(|len| *len <= N && name.len() <= N)?;
    Some((*chunk.get(name_start..)?.first_chunk()?, len as u8))
}

pub(super) fn generation_of(names: &Names) -> u64 {
    if names.generation() == 0 { NO_GENERATION } else { names.generation() }
}

/// Returns `true` if a string becomes an integer as a key of an array.
fn is_cast(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b'0'..=b'9' | b'-')) && integer_key(bytes).is_some()
}
