//! A fast loop for common documents. It writes leaves, arrays, hashes and objects, if links do not refer to them.
//!
//! It stops before anything else, and the writer in [`super::write`] continues there. For what the loop wrote, that
//! writer would write the same bytes.

use super::number::is_fixnum;
use super::write::{KeyStyle, WriteFrame, Writer};
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, flag};
use crate::error::Error;

/// Number of bytes that are collected before they are passed to the output.
pub(super) const CHUNK: usize = 64 << 10;

/// Up to seven bytes, and their number in the highest byte. A key or a number is prepared once as such a word, and
/// written with one store of eight bytes. The next token overwrites the bytes that do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word(u64);

impl Word {
    /// A word without bytes. It means that a text is not known yet.
    pub(super) const NONE: Word = Word(0);

    #[inline(always)]
    pub(super) const fn from_byte(byte: u8) -> Word {
        Word(byte as u64 | 1 << 56)
    }

    /// Returns an integer of up to four bytes.
    #[inline(always)]
    pub(super) fn from_integer(value: i64) -> Word {
        match value {
            0 => Word::from_byte(0),
            1..=122 => Word::from_byte(value as u8 + 5),
            -123..=-1 => Word::from_byte((value - 5) as u8),
            _ => {
                // Only the bytes that are not a repetition of the sign are written. The length of a negative number
                // is written as a negative one.
                let bits = 64 - (value ^ value >> 63).leading_zeros();
                let len = bits.div_ceil(8).clamp(1, 4);
                let head = if value < 0 { (len as u8).wrapping_neg() } else { len as u8 };
                let tail = value as u64 & u64::MAX >> (64 - 8 * len);
                Word(tail << 8 | u64::from(head) | u64::from(len + 1) << 56)
            }
        }
    }

    #[inline(always)]
    pub(super) fn from_bits(bytes: u64) -> Word {
        Word(bytes)
    }

    #[inline(always)]
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// Returns a length or a count.
    #[inline(always)]
    pub(super) fn from_length(len: usize) -> Word {
        Word::from_integer(len as i64)
    }

    /// Returns these bytes followed by those of `suffix`, together at most seven.
    #[inline(always)]
    pub(super) fn followed_by(self, suffix: Word) -> Word {
        const BYTES: u64 = u64::MAX >> 8;
        let len = self.len() + suffix.len();
        Word(self.0 & BYTES | (suffix.0 & BYTES) << (8 * self.len()) | (len as u64) << 56)
    }

    #[inline(always)]
    fn len(self) -> usize {
        (self.0 >> 56) as usize
    }

    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// Buffer of fixed size for short tokens. The compiler knows its size, so an append does not have to check or extend
/// a vector.
pub(super) struct TokenBuffer {
    bytes: [u8; BUFFER_SIZE],
    filled: usize,
}

pub(super) const BUFFER_SIZE: usize = 512;
/// Maximum number of bytes that one child may take: its key, its head and a short string. The loop flushes the buffer
/// before a child if fewer bytes are free.
const MAX_CHILD_LEN: usize = 64;
/// Maximum length of a string that is put into the buffer.
const MAX_SHORT_LEN: usize = 32;

impl TokenBuffer {
    pub(super) fn new() -> TokenBuffer {
        TokenBuffer { bytes: [0; BUFFER_SIZE], filled: 0 }
    }

    #[inline(always)]
    pub(super) fn used(&self) -> usize {
        self.filled
    }

    /// Appends a string of any length.
    #[inline(always)]
    pub(super) fn push_string(&mut self, bytes: &[u8], buf: &mut Vec<u8>) {
        if bytes.len() <= MAX_SHORT_LEN {
            self.bytes[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
            self.filled += bytes.len();
        } else {
            self.flush_into(buf);
            buf.extend_from_slice(bytes);
        }
    }

    #[inline(always)]
    pub(super) fn push_word(&mut self, word: Word) {
        self.bytes[self.filled..self.filled + 8].copy_from_slice(&word.0.to_le_bytes());
        self.filled += word.len();
    }

    /// Puts a name of up to 16 bytes into the buffer; `head` contains its first bytes.
    #[inline(always)]
    pub(super) fn push_head(&mut self, head: u128, len: usize) {
        self.bytes[self.filled..self.filled + 16].copy_from_slice(&head.to_le_bytes());
        self.filled += len;
    }

    /// Puts a string of up to [`MAX_SHORT_LEN`] bytes into the buffer. A block of fixed size is copied, and the next
    /// token overwrites the bytes after the string. Returns `false` if the string is too long, or if the block would
    /// end after its source.
    #[inline(always)]
    fn push_short_string(&mut self, base: &[u8], start: usize, len: usize) -> bool {
        let Some(rest) = base.get(start..) else { return false };
        if len <= MAX_SHORT_LEN / 2
            && let Some(window) = rest.first_chunk::<{ MAX_SHORT_LEN / 2 }>()
        {
            self.bytes[self.filled..self.filled + MAX_SHORT_LEN / 2].copy_from_slice(window);
        } else if len <= MAX_SHORT_LEN
            && let Some(window) = rest.first_chunk::<MAX_SHORT_LEN>()
        {
            self.bytes[self.filled..self.filled + MAX_SHORT_LEN].copy_from_slice(window);
        } else {
            return false;
        }
        self.filled += len;
        true
    }

    #[inline(always)]
    pub(super) fn flush_into(&mut self, buf: &mut Vec<u8>) {
        buf.extend_from_slice(&self.bytes[..self.filled]);
        self.filled = 0;
    }
}

/// Position of the writer: the next child to write.
#[derive(Clone, Copy)]
pub(super) struct ChildPosition {
    pub(super) index: u32,
    pub(super) end: u32,
    pub(super) keys: KeyStyle,
    /// Whether the key of the child is written.
    pub(super) has_key: bool,
}

impl Writer<'_> {
    /// Writes the remaining children with their content, and then continues with the containers around them. Returns
    /// the first child that it can't write. Returns `None` if the rest is on the stack, or if everything was written.
    pub(super) fn write_fast_children(
        &mut self,
        position: ChildPosition,
        buf: &mut Vec<u8>,
    ) -> Result<Option<ChildPosition>, Error> {
        let mut tokens = TokenBuffer::new();
        self.pending_targets.clear();
        let end = self.write_buffered_children(position, &mut tokens, buf);
        tokens.flush_into(buf);
        end
    }

    #[inline(always)]
    fn write_buffered_children(
        &mut self,
        position: ChildPosition,
        tokens: &mut TokenBuffer,
        buf: &mut Vec<u8>,
    ) -> Result<Option<ChildPosition>, Error> {
        let nodes = self.document.nodes();
        let ChildPosition { mut index, mut end, mut keys, .. } = position;
        let flush_at = buf.len() + CHUNK;
        loop {
            // A long string goes directly to the output, so the output may become full although the buffer is not.
            if tokens.filled > BUFFER_SIZE - MAX_CHILD_LEN || buf.len() >= flush_at {
                tokens.flush_into(buf);
                if buf.len() >= flush_at {
                    self.push_frame(WriteFrame::Children { index, end, keys })?;
                    return Ok(None);
                }
            }
            if index >= end {
                match self.stack.pop() {
                    Some(WriteFrame::Children { index: next, end: outer, keys: kind })
                        if kind != KeyStyle::Identity =>
                    {
                        (index, end, keys) = (next, outer, kind);
                    }
                    Some(other) => {
                        self.stack.push(other);
                        return Ok(None);
                    }
                    None => return Ok(None),
                }
                continue;
            }
            let Some(node) = nodes.get(index as usize) else { return Ok(None) };
            match node.key {
                NO_KEY if node.kind == Kind::Int && nodes.get(index as usize + 1).is_some_and(is_small_integer) => {
                    tokens.flush_into(buf);
                    let written = write_integers(nodes.get(index as usize..end as usize).unwrap_or(&[]), buf);
                    index += written;
                    if written > 0 {
                        continue;
                    }
                }
                NO_KEY | KEY_NODE => {}
                IS_KEY => return Ok(Some(ChildPosition { index, end, keys, has_key: false })),
                id => {
                    let known = self.names.known_key(id, keys);
                    if known.is_none() {
                        return Ok(Some(ChildPosition { index, end, keys, has_key: false }));
                    }
                    tokens.push_word(known);
                }
            }
            if self.write_fast_leaf(index, node, tokens, buf) {
                index += 1;
                continue;
            }
            let opened = match node.kind {
                Kind::Array | Kind::Map | Kind::Object => self.open_fast_container(index, node, tokens),
                _ => None,
            };
            let Some((first, last, inner)) = opened else {
                return Ok(Some(ChildPosition { index, end, keys, has_key: true }));
            };
            self.push_frame(WriteFrame::Children { index: node.end(), end, keys })?;
            self.check_depth()?;
            (index, end, keys) = (first, last, inner);
        }
    }

    /// Writes a leaf after its key, if it is a common one and nothing refers to it.
    #[inline(always)]
    fn write_fast_leaf(&mut self, index: u32, node: &Node, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> bool {
        // A link refers to a node with `TARGET`. Only strings have `HINT`: such a string may have to be written as a
        // link.
        if node.flags & (flag::TARGET | flag::HINT) != 0 {
            return false;
        }
        match node.kind {
            Kind::Int => {
                let value = node.payload as i64;
                if !is_fixnum(value) {
                    return false;
                }
                tokens.push_word(Word::from_byte(b'i').followed_by(Word::from_integer(value)));
            }
            Kind::Text | Kind::Bytes => {
                let is_text = node.kind == Kind::Text;
                let tail = self.names.utf8_tail;
                let (base, start) = match node.location() {
                    Location::Input(start) => (self.document.input(), start as usize),
                    Location::Arena(start) => (self.document.tape().arena(), start as usize),
                };
                let len = node.aux as usize;
                if node.aux == u32::MAX || is_text && tail.is_none() || base.len() < start + len {
                    return false;
                }
                let tag = if is_text {
                    Word::from_byte(b'I').followed_by(Word::from_byte(b'"'))
                } else {
                    Word::from_byte(b'"')
                };
                tokens.push_word(tag.followed_by(Word::from_integer(i64::from(node.aux))));
                if !tokens.push_short_string(base, start, len) {
                    tokens.flush_into(buf);
                    buf.extend_from_slice(&base[start..start + len]);
                }
                if is_text {
                    tokens.push_word(tail);
                }
                self.next_number += 1;
            }
            Kind::Null => tokens.push_word(Word::from_byte(b'0')),
            Kind::Bool => tokens.push_word(Word::from_byte(if node.payload != 0 { b'T' } else { b'F' })),
            Kind::Float => {
                tokens.flush_into(buf);
                self.write_float(index, f64::from_bits(node.payload), buf);
            }
            _ => return false,
        }
        true
    }

    /// Writes the head of a plain container. Returns its children: the first, the end,
    /// and the form of their keys.
    #[inline(always)]
    fn open_fast_container(
        &mut self,
        index: u32,
        node: &Node,
        tokens: &mut TokenBuffer,
    ) -> Option<(u32, u32, KeyStyle)> {
        const PLAIN: u8 = !flag::REF;
        if node.end() <= index {
            return None;
        }
        if node.kind != Kind::Object {
            if node.flags & PLAIN != 0 {
                return None;
            }
            let tag = if node.kind == Kind::Map { b'{' } else { b'[' };
            tokens.push_word(Word::from_byte(tag).followed_by(Word::from_integer(i64::from(node.aux))));
            self.next_number += 1;
            return Some((index + 1, node.end(), KeyStyle::Values));
        }
        let tag = match node.form() {
            Form::Usual => b'o',
            Form::Struct => b'S',
            _ => return None,
        };
        let body = self.document.nodes().get(index as usize + 1)?;
        let class = self.names.known_class(node.class());
        let is_plain = node.flags & 0x0F & PLAIN == 0 && body.flags & PLAIN == 0;
        if !is_plain || class.is_none() || body.kind != Kind::Map || body.end() <= index + 1 {
            return None;
        }
        // An object with any other member is left to the machine.
        let mut member = index + 2;
        while member < body.end() {
            let node = self.document.nodes().get(member as usize)?;
            let is_name = !matches!(node.key, NO_KEY | KEY_NODE | IS_KEY);
            if !is_name || self.names.known_key(node.key, KeyStyle::Members).is_none() {
                return None;
            }
            member = if node.kind.is_container() { self.index_after(member) } else { member + 1 };
        }
        tokens.push_word(Word::from_byte(tag));
        tokens.push_word(class);
        tokens.push_word(Word::from_integer(i64::from(body.aux)));
        self.next_number += 1;
        Some((index + 2, body.end(), KeyStyle::Members))
    }
}

/// Returns `true` if [`write_integers`] accepts this item.
#[inline(always)]
pub(super) fn is_small_integer(node: &Node) -> bool {
    node.kind == Kind::Int && node.flags == 0 && node.key == NO_KEY && is_fixnum(node.payload as i64)
}

/// Writes a run of integers; returns how many.
#[inline]
pub(super) fn write_integers(nodes: &[Node], buf: &mut Vec<u8>) -> u32 {
    const MAX_RUN: usize = 64;
    let mut block = [0u8; 6 * MAX_RUN + 16];
    let (mut filled, mut count) = (0, 0);
    for node in nodes.iter().take(MAX_RUN).take_while(|node| is_small_integer(node)) {
        let word = Word::from_byte(b'i').followed_by(Word::from_integer(node.payload as i64));
        block[filled..filled + 8].copy_from_slice(&word.0.to_le_bytes());
        filled += word.len();
        count += 1;
    }
    buf.extend_from_slice(&block[..filled]);
    count
}

#[cfg(test)]
mod tests {
    use super::super::number::push_integer;
    use super::*;

    #[test]
    fn words_have_the_bytes_of_the_plain_writer() {
        let edges = (0..31).flat_map(|bit| [(1i64 << bit) - 1, 1 << bit, -(1 << bit), -(1 << bit) - 1]);
        for value in edges.chain(-300..300).chain([i64::from(u32::MAX)]) {
            let mut expected = Vec::new();
            push_integer(value, &mut expected);
            let word = Word::from_integer(value);
            let out = &word.0.to_le_bytes()[..word.len()];
            assert_eq!(out, expected, "{value}");
        }
    }
}
