//! Fast loops for common data. They read the children of arrays and hashes, if these are leaves, or arrays and hashes
//! of leaves.
//!
//! Each loop stops before anything else and does not consume it. The machine in [`super::read`] continues there.

use super::numbers::NumberedValue;
use super::read::{Frame, MAX_ENTRIES_WITH_IDS, MAX_KEY_IDS, Machine, NONE, State};
use super::tag;
use crate::document::{Kind, Location, Node, Recorder, Sink, flag};
use crate::error::Error;

/// How far a container of leaves was read.
enum RecordOutcome {
    /// It is complete.
    Complete,
    /// It contains something other than leaves. It was opened, and the machine continues inside it.
    Opened,
    /// The machine must read it. Nothing of it was consumed.
    Other,
}

/// Maximum number of values that the loops read before the machine checks the limits again. So the loops do not check
/// them for each value.
const BATCH: u32 = 4096;

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// Returns the leaf at `offset`, if it is a common one, and where it ends.
    #[inline(always)]
    fn leaf_at(&self, offset: usize) -> Option<(Node, usize)> {
        let (tag, rest) = self.scan.input.get(offset..)?.split_first()?;
        match *tag {
            tag::BYTE => Some((Node::int(i64::from(*rest.first()?) - 128), offset + 2)),
            tag::SCALAR | tag::UTF8STR => {
                let len = *rest.first()?;
                // `rest` begins with the byte of the length, so it must have at least one more byte than the string.
                if rest.len() <= usize::from(len) || u64::from(len) > self.limits.string {
                    return None;
                }
                let kind = if *tag == tag::SCALAR { Kind::Bytes } else { Kind::Text };
                Some((
                    Node::string(kind, Location::Input(offset as u64 + 2), u32::from(len)),
                    offset + 2 + usize::from(len),
                ))
            }
            tag::INTEGER if self.has_plain_64_bit_integers => {
                Some((Node::int(i64::from_le_bytes(*rest.first_chunk()?)), offset + 9))
            }
            tag::NETINT => Some((Node::int(i64::from(i32::from_be_bytes(*rest.first_chunk()?))), offset + 5)),
            tag::DOUBLE if self.is_little_endian && self.image.nv_size == 8 => {
                Some((Node::float(f64::from_le_bytes(*rest.first_chunk()?)), offset + 9))
            }
            tag::UNDEF => Some((Node::leaf(Kind::Null, 0), offset + 1)),
            _ => None,
        }
    }

    /// Returns the 32-bit number at `offset`.
    #[inline(always)]
    fn u32_at(&self, offset: usize) -> Option<u32> {
        let raw = *self.scan.input.get(offset..)?.first_chunk::<4>()?;
        Some(if self.is_little_endian { u32::from_le_bytes(raw) } else { u32::from_be_bytes(raw) })
    }

    /// Returns the id of the key whose length is at `offset`, and where it ends.
    #[inline(always)]
    fn key_at(&mut self, offset: usize) -> Option<(u16, usize)> {
        let len = self.u32_at(offset)? as usize;
        let start = offset + 4;
        let id = self.sink.tape().keys.recall_short(Kind::Bytes, 0, self.scan.input, start, len);
        if id != 0 { Some((id, start + len)) } else { self.new_key_at(start, len) }
    }

    #[inline(never)]
    fn new_key_at(&mut self, start: usize, len: usize) -> Option<(u16, usize)> {
        let bytes = self.scan.input.get(start..start.checked_add(len)?)?;
        // The key follows the value, so each open hash may still need an id for the key of its current value.
        let has_room = self.sink.tape().keys.len() + self.frames.len() + 1 < MAX_KEY_IDS;
        if !has_room || len as u64 > self.limits.string {
            return None;
        }
        let id = self.sink.tape().intern_key(Node::leaf(Kind::Bytes, 0), bytes)?;
        Some((id, start + len))
    }

    /// Reads common items of the innermost array. Returns `true` if another container is the
    /// innermost now.
    #[inline]
    pub(super) fn read_common_items(&mut self) -> Result<bool, Error> {
        let Some(frame) = self.frames.last() else { return Ok(false) };
        let max_items = frame.remaining.min(BATCH);
        let is_root = self.frames.len() == 1;
        let mut items_read = 0;
        while items_read < max_items {
            if let Some((node, next)) = self.leaf_at(self.scan.offset) {
                let index = self.sink.tape().push(node);
                self.numbers.assign_next(NumberedValue::Variable(index));
                self.scan.offset = next;
                items_read += 1;
                continue;
            }
            match self.read_flat_container() {
                RecordOutcome::Complete => items_read += 1,
                RecordOutcome::Opened => {
                    // The innermost frame is that of the opened child, and this array is the frame before it.
                    let parent = self.frames.len().wrapping_sub(2);
                    if let Some(frame) = self.frames.get_mut(parent) {
                        frame.remaining -= items_read + 1;
                        frame.count += items_read + 1;
                    }
                    return Ok(true);
                }
                RecordOutcome::Other => break,
            }
            if is_root {
                self.sink.finish_child()?;
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.remaining -= items_read;
            frame.count += items_read;
        }
        Ok(false)
    }

    /// Reads common entries of the innermost hash. Returns `true` if the machine has
    /// something else to do now.
    #[inline]
    pub(super) fn read_common_entries(&mut self) -> Result<bool, Error> {
        let Some(frame) = self.frames.last().copied() else { return Ok(false) };
        if frame.state != State::Hash || frame.remaining + frame.count > MAX_ENTRIES_WITH_IDS {
            return Ok(false);
        }
        let mut remaining = frame.remaining;
        while remaining > 0 {
            if let Some((node, key_start)) = self.leaf_at(self.scan.offset) {
                let Some((key, next)) = self.key_at(key_start) else { break };
                let index = self.sink.tape().push(Node { key, ..node });
                self.numbers.assign_next(NumberedValue::Variable(index));
                self.scan.offset = next;
                remaining -= 1;
                continue;
            }
            if self.sink.tape().keys.len() + self.frames.len() + 1 >= MAX_KEY_IDS {
                break;
            }
            let (value, parent) = (self.sink.next_node(), self.frames.len() - 1);
            match self.read_flat_container() {
                RecordOutcome::Complete => {
                    remaining -= 1;
                    match self.key_at(self.scan.offset) {
                        Some((key, next)) => {
                            self.sink.tape().set_key(value, key);
                            self.scan.offset = next;
                        }
                        None => {
                            self.save_entries(parent, remaining, value);
                            return Ok(true);
                        }
                    }
                }
                RecordOutcome::Opened => {
                    self.save_entries(parent, remaining - 1, value);
                    return Ok(true);
                }
                RecordOutcome::Other => break,
            }
        }
        self.save_entries(self.frames.len() - 1, remaining, NONE);
        Ok(false)
    }

    /// Saves the progress of the hash in the frame `parent`. `value` is a value whose key was not read yet, or
    /// [`NONE`].
    #[inline]
    fn save_entries(&mut self, parent: usize, remaining: u32, value: u32) {
        if let Some(frame) = self.frames.get_mut(parent) {
            frame.count += frame.remaining - remaining;
            frame.remaining = remaining;
            frame.value = value;
            frame.has_slot = false;
        }
    }

    /// Reads an array or hash after a plain reference, blessed or not. If a child is not a leaf, the container stays
    /// open, and this child is the next one.
    #[inline]
    fn read_flat_container(&mut self) -> RecordOutcome {
        let input = self.scan.input;
        let start = self.scan.offset;
        let Some([tag::REF, second]) = input.get(start..).and_then(|rest| rest.first_chunk::<2>()) else {
            return RecordOutcome::Other;
        };
        let (mut tag, mut offset, mut class) = (*second, start + 2, 0);
        if tag == tag::IX_BLESS {
            let Some([index, inner]) = input.get(offset..).and_then(|rest| rest.first_chunk::<2>()) else {
                return RecordOutcome::Other;
            };
            match self.classes.get(usize::from(*index)) {
                Some(known) if *index < 0x80 => class = *known,
                _ => return RecordOutcome::Other,
            }
            (tag, offset) = (*inner, offset + 2);
        }
        let is_hash = tag == tag::HASH;
        if !is_hash && tag != tag::ARRAY {
            return RecordOutcome::Other;
        }
        let Some(count) = self.u32_at(offset) else { return RecordOutcome::Other };
        offset += 4;
        let wrapper_count = u32::from(class != 0);
        // An item has at least one byte. An entry has at least five: a tag, and four bytes for the length of its key.
        let fits = count as usize <= (input.len() - offset) / if is_hash { 5 } else { 1 };
        let is_within_limits = self.frames.len() < self.limits.depth as usize
            && self.sink.tape().nodes.len() + (BATCH as usize) < self.limits.nodes as usize;
        if !fits || !is_within_limits || count > MAX_ENTRIES_WITH_IDS {
            return RecordOutcome::Other;
        }

        let first = self.sink.next_node();
        // Storable numbers the reference first, and then its target.
        self.numbers.assign_next(NumberedValue::Variable(first));
        self.numbers.assign_next(NumberedValue::Referent(first));
        let tape = self.sink.tape();
        let mut flags = flag::REF;
        if class != 0 {
            tape.push(Node::open(Kind::Object, class).with(flags));
            flags = 0;
        }
        let kind = if is_hash { Kind::Map } else { Kind::Array };
        let node = tape.push(Node::open(kind, 0).with(flags));
        let mut remaining = count;
        while remaining > 0 {
            let Some((leaf, next)) = self.leaf_at(offset) else { break };
            let (key, next) = if is_hash {
                let Some(key) = self.key_at(next) else { break };
                key
            } else {
                (0, next)
            };
            let child = self.sink.tape().push(Node { key, ..leaf });
            self.numbers.assign_next(NumberedValue::Variable(child));
            offset = next;
            remaining -= 1;
        }
        self.scan.offset = offset;
        if remaining == 0 {
            let tape = self.sink.tape();
            tape.close_container(node, count);
            if class != 0 {
                tape.close_container(first, 1);
            }
            return RecordOutcome::Complete;
        }
        self.frames.push(Frame {
            state: if is_hash { State::Hash } else { State::Array },
            flags: 0,
            last_key: 0,
            node,
            wrapper_count,
            remaining,
            count: count - remaining,
            value: NONE,
            has_slot: false,
        });
        RecordOutcome::Opened
    }
}
