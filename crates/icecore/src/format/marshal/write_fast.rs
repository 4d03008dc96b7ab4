//! A tight loop for what most documents are made of: leaves, arrays, hashes and
//! objects that nothing refers to.
//!
//! It takes what it knows and leaves the rest to [`super::write`], which writes
//! the same bytes.

use super::number::is_fixnum;
use super::write::{Frame, Keys, Writer};
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Place, flag};
use crate::error::Error;
use crate::format::append::append;

/// How much is written before the output is asked whether it wants it.
const CHUNK: usize = 64 << 10;

/// Up to 16 bytes that are written in one go, and how many they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    bytes: u128,
    len: u32,
}

impl Word {
    /// No bytes: nothing is known yet.
    pub(super) const NONE: Word = Word { bytes: 0, len: 0 };

    #[inline(always)]
    pub(super) fn byte(byte: u8) -> Word {
        Word { bytes: u128::from(byte), len: 1 }
    }

    /// An integer of up to four bytes.
    #[inline(always)]
    pub(super) fn long(value: i64) -> Word {
        let head = match value {
            0 => 0,
            1..=122 => value + 5,
            -123..=-1 => value - 5,
            _ => {
                let bits = 64 - (value ^ value >> 63).leading_zeros();
                let len = bits.div_ceil(8).clamp(1, 4);
                let head = if value < 0 { -i64::from(len) } else { i64::from(len) };
                let tail = value as u64 & (u64::MAX >> (64 - 8 * len));
                return Word { bytes: u128::from(tail << 8 | u64::from(head as u8)), len: len + 1 };
            }
        };
        Word { bytes: u128::from(head as u8), len: 1 }
    }

    /// These bytes and those behind; both are not many.
    #[inline(always)]
    pub(super) fn and(self, behind: Word) -> Word {
        Word { bytes: self.bytes | behind.bytes << (8 * self.len), len: self.len + behind.len }
    }

    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub(super) fn append(self, buf: &mut Vec<u8>) {
        let end = buf.len() + self.len as usize;
        buf.extend_from_slice(&self.bytes.to_le_bytes());
        buf.truncate(end);
    }
}

/// Where the writer stands: at a child that is to be written next.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub(super) at: u32,
    pub(super) end: u32,
    pub(super) keys: Keys,
    /// Whether the key of the child was written.
    pub(super) has_key: bool,
}

impl Writer<'_> {
    /// Writes what it can of the children that are left, of what is in them,
    /// and of what they are in. Returns the child that it can't write; `None`
    /// if what is left is on the stack.
    pub(super) fn fast_children(&mut self, here: Here, buf: &mut Vec<u8>) -> Result<Option<Here>, Error> {
        let nodes = self.document.nodes();
        let Here { mut at, mut end, mut keys, .. } = here;
        let most = buf.len() + CHUNK;
        self.also.clear();
        loop {
            if at >= end || buf.len() >= most {
                if at < end {
                    self.push(Frame::Children { at, end, keys })?;
                    return Ok(None);
                }
                match self.stack.pop() {
                    Some(Frame::Children { at: next, end: outer, keys: kind }) if kind != Keys::Identity => {
                        (at, end, keys) = (next, outer, kind);
                    }
                    Some(other) => {
                        self.stack.push(other);
                        return Ok(None);
                    }
                    None => return Ok(None),
                }
                continue;
            }
            let Some(node) = nodes.get(at as usize) else { return Ok(None) };
            let key = match node.key {
                NO_KEY | KEY_NODE => Word::NONE,
                IS_KEY => return Ok(Some(Here { at, end, keys, has_key: false })),
                id => {
                    let known = self.names.known_key(id, keys);
                    if known.is_none() {
                        return Ok(Some(Here { at, end, keys, has_key: false }));
                    }
                    known
                }
            };
            if node.kind == Kind::Int && node.key == NO_KEY && nodes.get(at as usize + 1).is_some_and(is_small) {
                let taken = integers(nodes.get(at as usize..end as usize).unwrap_or(&[]), buf);
                at += taken;
                if taken > 0 {
                    continue;
                }
            }
            if self.fast_leaf(at, node, key, buf) {
                at += 1;
                continue;
            }
            let opened = match node.kind {
                Kind::Array | Kind::Map | Kind::Object => self.fast_open(at, node, key, buf),
                _ => None,
            };
            let Some((first, last, inner)) = opened else {
                key.append(buf);
                return Ok(Some(Here { at, end, keys, has_key: true }));
            };
            self.push(Frame::Children { at: node.end(), end, keys })?;
            if self.stack.len() >= self.limits.depth as usize {
                return Err(self.limits.too_deep());
            }
            (at, end, keys) = (first, last, inner);
        }
    }

    /// Writes a leaf behind its key, if it is one of the common ones and nothing
    /// refers to it.
    #[inline(always)]
    fn fast_leaf(&mut self, at: u32, node: &Node, key: Word, buf: &mut Vec<u8>) -> bool {
        if node.has(flag::TARGET) {
            return false;
        }
        match node.kind {
            Kind::Int => {
                let value = node.payload as i64;
                if !is_fixnum(value) {
                    return false;
                }
                key.and(Word::byte(b'i')).and(Word::long(value)).append(buf);
            }
            Kind::Text | Kind::Bytes => {
                let is_text = node.kind == Kind::Text;
                let tail = self.names.utf8_tail;
                if node.aux == u32::MAX || is_text && tail.is_none() {
                    return false;
                }
                let (base, start) = match node.place() {
                    Place::Input(start) => (self.document.input(), start),
                    Place::Arena(start) => (self.document.tape().arena(), start),
                };
                if base.len() < start as usize + node.aux as usize {
                    return false;
                }
                let tag = if is_text {
                    Word { bytes: u128::from(u16::from_le_bytes(*b"I\"")), len: 2 }
                } else {
                    Word::byte(b'"')
                };
                key.and(tag).and(Word::long(i64::from(node.aux))).append(buf);
                append(buf, base, start as usize, node.aux as usize);
                if is_text {
                    tail.append(buf);
                }
                self.next += 1;
            }
            Kind::Null => key.and(Word::byte(b'0')).append(buf),
            Kind::Bool => key.and(Word::byte(if node.payload != 0 { b'T' } else { b'F' })).append(buf),
            Kind::Float => {
                key.append(buf);
                self.float(at, f64::from_bits(node.payload), buf);
            }
            _ => return false,
        }
        true
    }

    /// Writes the front of a container without anything special. Returns its
    /// children: the first, the end, and how their keys are written.
    #[inline(always)]
    fn fast_open(&mut self, at: u32, node: &Node, key: Word, buf: &mut Vec<u8>) -> Option<(u32, u32, Keys)> {
        const PLAIN: u8 = !flag::REF;
        if node.end() <= at {
            return None;
        }
        if node.kind != Kind::Object {
            if node.flags & PLAIN != 0 {
                return None;
            }
            let tag = if node.kind == Kind::Map { b'{' } else { b'[' };
            key.and(Word::byte(tag)).and(Word::long(i64::from(node.aux))).append(buf);
            self.next += 1;
            return Some((at + 1, node.end(), Keys::Values));
        }
        let tag = match node.form() {
            Form::Usual => b'o',
            Form::Struct => b'S',
            _ => return None,
        };
        let body = self.document.nodes().get(at as usize + 1)?;
        let class = self.names.known_class(node.class());
        let is_plain = node.flags & 0x0F & PLAIN == 0 && body.flags & PLAIN == 0;
        if !is_plain || class.is_none() || body.kind != Kind::Map || body.end() <= at + 1 {
            return None;
        }
        // What has a member of another kind is written otherwise.
        let mut member = at + 2;
        while member < body.end() {
            let node = self.document.nodes().get(member as usize)?;
            if matches!(node.key, NO_KEY | KEY_NODE | IS_KEY) || self.names.known_key(node.key, Keys::Members).is_none()
            {
                return None;
            }
            member = if node.kind.is_container() { self.behind(member) } else { member + 1 };
        }
        key.and(Word::byte(tag)).and(class).append(buf);
        Word::long(i64::from(body.aux)).append(buf);
        self.next += 1;
        Some((at + 2, body.end(), Keys::Members))
    }
}

/// Whether this is an item that [`integers`] takes.
#[inline(always)]
fn is_small(node: &Node) -> bool {
    node.kind == Kind::Int && node.flags == 0 && node.key == NO_KEY && is_fixnum(node.payload as i64)
}

/// Writes a run of integers; says how many it took.
#[inline]
fn integers(nodes: &[Node], buf: &mut Vec<u8>) -> u32 {
    const MOST: usize = 64;
    let mut block = [0u8; 6 * MOST + 16];
    let (mut to, mut taken) = (0, 0);
    for node in nodes.iter().take(MOST).take_while(|node| is_small(node)) {
        let word = Word::byte(b'i').and(Word::long(node.payload as i64));
        block[to..to + 8].copy_from_slice(&(word.bytes as u64).to_le_bytes());
        to += word.len as usize;
        taken += 1;
    }
    buf.extend_from_slice(&block[..to]);
    taken
}

#[cfg(test)]
mod tests {
    use super::super::number::push_long;
    use super::*;

    #[test]
    fn a_word_is_what_is_written_otherwise() {
        let edges = (0..31).flat_map(|bit| [(1i64 << bit) - 1, 1 << bit, -(1 << bit), -(1 << bit) - 1]);
        for value in edges.chain(-300..300).chain([i64::from(u32::MAX)]) {
            let (mut expected, mut out) = (b"x".to_vec(), b"x".to_vec());
            push_long(value, &mut expected);
            Word::long(value).append(&mut out);
            assert_eq!(out, expected, "{value}");
        }
    }
}
