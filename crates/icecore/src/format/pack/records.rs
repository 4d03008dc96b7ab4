//! Fast loops for groups that repeat a string. Other groups are left to the machines.

use super::layout::{Layout, NumberKind};
use super::packer::Packer;
use super::read::Unpacker;
use super::symbol::is_space;
use super::template::FastGroup;
use crate::document::{Kind, Location, Sink};

impl<S: Sink> Unpacker<'_, S> {
    /// Reads complete records. Returns `true` if they cover the input. Otherwise `remaining` is the maximum number of
    /// further records.
    pub(super) fn read_records(&mut self, fast: FastGroup, remaining: &mut u64) -> bool {
        let (start, data_end) = (self.position, self.data.len());
        if self.current_frame().counts_characters
            || self.check_value_count(self.bytes_left() + 1).is_err()
            || self.limits.string < data_end as u64
        {
            return false;
        }
        let count = match fast {
            FastGroup::Prefixed(layout, removes_blanks) => match (layout.value, layout.size, layout.is_big_endian) {
                // The most common lengths have a branch of their own, so that the compiler knows how many bytes are
                // read.
                (NumberKind::Uint, 4, true) => {
                    self.read_prefixed(removes_blanks, |bytes: &[u8; 4]| Some(u32::from_be_bytes(*bytes) as usize))
                }
                (NumberKind::Int, 4, false) => self
                    .read_prefixed(removes_blanks, |bytes: &[u8; 4]| usize::try_from(i32::from_le_bytes(*bytes)).ok()),
                (NumberKind::Uint, 4, false) => {
                    self.read_prefixed(removes_blanks, |bytes: &[u8; 4]| Some(u32::from_le_bytes(*bytes) as usize))
                }
                (NumberKind::Uint, 2, true) => {
                    self.read_prefixed(removes_blanks, |bytes: &[u8; 2]| Some(usize::from(u16::from_be_bytes(*bytes))))
                }
                _ => 0,
            },
            FastGroup::Fixed(len, removes_blanks) => self.read_fixed(len, removes_blanks),
        };
        self.max_position = self.max_position.max(self.position);
        *remaining = remaining.saturating_sub(count).max(1);
        self.position > start && self.position == data_end
    }

    #[inline(always)]
    fn read_prefixed<const N: usize>(
        &mut self,
        removes_blanks: bool,
        length: impl Fn(&[u8; N]) -> Option<usize>,
    ) -> u64 {
        let data = self.data;
        let tape = self.sink.tape();
        let (mut position, mut count) = (self.position, 0);
        while let Some((head, rest)) = data[position..].split_first_chunk::<N>() {
            let Some(len) = length(head) else { break };
            let string = &rest[..len.min(rest.len())];
            let start = position + N;
            position = start + string.len();
            let kept_len = if removes_blanks { trimmed_len(string) } else { string.len() };
            let node = tape.new_string_at(Kind::Bytes, Location::Input(start as u64), kept_len);
            tape.push(node);
            count += 1;
        }
        self.position = position;
        count
    }

    fn read_fixed(&mut self, len: usize, removes_blanks: bool) -> u64 {
        let data = self.data;
        let tape = self.sink.tape();
        let (mut position, mut count) = (self.position, 0);
        for string in data[position..].chunks_exact(len) {
            let kept_len = if removes_blanks { trimmed_len(string) } else { len };
            let node = tape.new_string_at(Kind::Bytes, Location::Input(position as u64), kept_len);
            tape.push(node);
            position += len;
            count += 1;
        }
        self.position = position;
        count
    }
}

/// Returns the length of a string without blanks and nulls at its end.
#[inline]
pub(super) fn trimmed_len(mut string: &[u8]) -> usize {
    // Most fields are padded with spaces, so eight of them are removed together.
    while let Some((front, b"        ")) = string.split_last_chunk::<8>() {
        string = front;
    }
    while let [front @ .., last] = string {
        if *last != 0 && !is_space(*last) {
            break;
        }
        string = front;
    }
    string.len()
}

impl Packer<'_, '_> {
    /// Packs items of a list while they are strings and integers that fit.
    pub(super) fn pack_records(&mut self, fast: FastGroup) {
        if !self.takes_plain_nodes() {
            return;
        }
        let size_end = self.data_start.saturating_add(self.size_limit);
        let takes_text = self.encodes_text || !self.program.counts_bytes;
        let mut digits = itoa::Buffer::new();
        let mut count = 0;
        for node in self.items.peek_leaves(usize::MAX) {
            let string = match node.kind {
                Kind::Bytes => self.items.leaf_bytes(node),
                Kind::Text if takes_text => match self.items.leaf_bytes(node) {
                    text if self.encodes_text || text.is_ascii() => text,
                    _ => break,
                },
                Kind::Int => digits.format(node.payload as i64).as_bytes(),
                _ => break,
            };
            let max_field_len = match fast {
                FastGroup::Prefixed(..) => string.len().saturating_add(16),
                FastGroup::Fixed(len, _) => len,
            };
            if self.out.len().saturating_add(max_field_len) > size_end {
                break;
            }
            match fast {
                FastGroup::Prefixed(layout, _) => {
                    let Some((bytes, size)) = encode_length(layout, string.len()) else { break };
                    if size == 4 {
                        // The compiler knows this length, so it copies the bytes without a loop.
                        self.out.extend_from_slice(&bytes[..4]);
                    } else {
                        self.out.extend_from_slice(&bytes[..size]);
                    }
                    self.out.extend_from_slice(string);
                }
                FastGroup::Fixed(len, removes_blanks) => {
                    let Some(padding) = len.checked_sub(string.len()) else { break };
                    self.out.extend_from_slice(string);
                    let end = self.out.len() + padding;
                    self.out.resize(end, if removes_blanks { b' ' } else { 0 });
                }
            }
            count += 1;
        }
        self.items.skip_leaves(count);
    }
}

/// Returns a length as bytes, if it fits.
#[inline]
fn encode_length(layout: Layout, len: usize) -> Option<([u8; 8], usize)> {
    let bits = 8 * layout.size as u32 - u32::from(layout.value == NumberKind::Int);
    let len = u64::try_from(len).ok().filter(|len| bits >= 64 || *len < 1 << bits)?;
    let bytes =
        if layout.is_big_endian { (len << (64 - 8 * layout.size as u32)).to_be_bytes() } else { len.to_le_bytes() };
    Some((bytes, layout.size))
}
