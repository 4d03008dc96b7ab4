//! Fast loops for common documents. They read runs of leaves, and maps of leaves whose keys were read before.
//!
//! A loop stops before anything else, also before an error, and does not consume it. The machine in `read.rs`
//! continues there.

use super::read::{Frame, Machine, Role};
use super::tag;
use crate::document::{Kind, Location, NO_NODE, Node, Sink, Tape, flag};
use crate::error::Error;

/// Bytes of copied keys, by the id of the key.
///
/// From its second occurrence on, a key is a COPY tag with the offset of the first one. These bytes are the same in
/// every map.
#[derive(Debug, Default)]
pub(super) struct Predictions {
    keys: Vec<Prediction>,
    /// The ids of copied keys by the lowest bits of their offset. They find a key that is not the predicted one.
    copied_keys: Vec<CopiedKey>,
}

/// A key that was copied.
#[derive(Clone, Copy, Debug, Default)]
struct CopiedKey {
    offset: u64,
    id: u16,
}

/// Number of offsets that are remembered. It is a power of two, so a remainder is only a mask.
const REMEMBERED_OFFSETS: usize = 64;

/// The bytes of a copied key as a little-endian word, and a mask of the same length.
#[derive(Clone, Copy, Debug, Default)]
struct Prediction {
    word: u64,
    mask: u64,
    len: usize,
}

impl Predictions {
    /// Remembers that the bytes from `start` to `end` are the key with this id. A COPY tag
    /// with its offset needs at most 8 bytes in any input below 2^49 bytes.
    pub(super) fn learn(&mut self, id: u16, input: &[u8], start: usize, end: usize) {
        let Some(bytes) = input.get(start..end).filter(|bytes| bytes.len() <= 8) else { return };
        if let Some((offset, _)) = read_varint(input, start + 1) {
            if self.copied_keys.is_empty() {
                self.copied_keys.resize(REMEMBERED_OFFSETS, CopiedKey::default());
            }
            self.copied_keys[offset as usize % REMEMBERED_OFFSETS] = CopiedKey { offset, id };
        }
        let index = usize::from(id);
        if self.keys.len() <= index {
            self.keys.resize(index + 1, Prediction::default());
        }
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        self.keys[index] =
            Prediction { word: u64::from_le_bytes(word), mask: u64::MAX >> (64 - 8 * bytes.len()), len: bytes.len() };
    }

    /// Returns the end of the key with this id, if the key is at `offset`. An empty prediction has an empty mask and
    /// would match any bytes, so the length is checked, too.
    #[inline]
    fn match_key(&self, id: u16, input: &[u8], offset: usize) -> Option<usize> {
        let known = self.keys.get(usize::from(id))?;
        let window = u64::from_le_bytes(*input.get(offset..)?.first_chunk()?);
        (window & known.mask == known.word && known.len > 0).then_some(offset + known.len)
    }
}

/// Returns the key at `start`, if it is known, and where it ends. `last_key` is the previous key.
#[inline(always)]
pub(super) fn match_known_key(
    tape: &mut Tape,
    predictions: &Predictions,
    input: &[u8],
    start: usize,
    last_key: u16,
) -> Option<(u16, usize)> {
    // The most common case is the cheapest one: the key is the predicted one, and it is a COPY. Otherwise it may be a
    // short string, as in the first map, or the COPY of another key.
    let guess = tape.keys.predict_next(last_key);
    if let Some(key_end) = predictions.match_key(guess, input, start) {
        return Some((guess, key_end));
    }
    let (id, key_end) = match *input.get(start)? {
        tag @ tag::SHORT_BINARY..=127 => {
            let len = usize::from(tag & 31);
            if tape.keys.is_short_name_at(guess, input, start + 1, len) {
                return Some((guess, start + 1 + len));
            }
            (tape.keys.recall_short(Kind::Bytes, 0, input, start + 1, len), start + 1 + len)
        }
        tag::COPY => {
            let (offset, offset_end) = read_varint(input, start + 1)?;
            match predictions.copied_keys.get(offset as usize % REMEMBERED_OFFSETS) {
                Some(key) if key.offset == offset => (key.id, offset_end),
                _ => return None,
            }
        }
        _ => return None,
    };
    if id == 0 {
        return None;
    }
    tape.keys.learn_next(last_key, id);
    Some((id, key_end))
}

/// Returns a leaf and its end.
#[inline(always)]
pub(super) fn read_common_leaf(input: &[u8], offset: usize, accepts_text: bool, max_len: u64) -> Option<(Node, usize)> {
    let tag = *input.get(offset)?;
    let next = offset + 1;
    Some(match tag {
        tag::SHORT_BINARY..=127 => {
            let len = usize::from(tag & 31);
            if input.len() - next < len {
                return None;
            }
            (Node::string(Kind::Bytes, Location::Input(next as u64), len as u32), next + len)
        }
        tag::VARINT => {
            let (value, next) = read_varint(input, next)?;
            (Node::uint(value), next)
        }
        tag::POS..tag::NEG => (Node::int(i64::from(tag)), next),
        tag::NEG..tag::VARINT => (Node::int(i64::from(tag) - 32), next),
        tag::ZIGZAG => {
            let (value, next) = read_varint(input, next)?;
            (Node::int((value >> 1) as i64 ^ -((value & 1) as i64)), next)
        }
        tag::FLOAT => {
            let bits = u32::from_le_bytes(*input.get(next..)?.first_chunk()?);
            (Node::leaf(Kind::Float32, u64::from(bits)), next + 4)
        }
        tag::DOUBLE => {
            let bits = u64::from_le_bytes(*input.get(next..)?.first_chunk()?);
            (Node::leaf(Kind::Float, bits), next + 8)
        }
        tag::BINARY | tag::STR_UTF8 => {
            let (len, start) = read_varint(input, next)?;
            let is_text = tag == tag::STR_UTF8;
            if len > (input.len() - start) as u64
                || len > max_len
                || len >= u64::from(u32::MAX)
                || is_text && !accepts_text
            {
                return None;
            }
            let kind = if is_text { Kind::Text } else { Kind::Bytes };
            (Node::string(kind, Location::Input(start as u64), len as u32), start + len as usize)
        }
        tag::UNDEF | tag::CANONICAL_UNDEF => (Node::leaf(Kind::Null, 0), next),
        tag::YES | tag::TRUE => (Node::leaf(Kind::Bool, 1), next),
        tag::NO | tag::FALSE => (Node::leaf(Kind::Bool, 0), next),
        _ => return None,
    })
}

/// Reads a varint of at most 63 bits.
#[inline(always)]
fn read_varint(input: &[u8], offset: usize) -> Option<(u64, usize)> {
    let first = *input.get(offset)?;
    if first < 0x80 {
        return Some((u64::from(first), offset + 1));
    }
    let mut value = u64::from(first & 0x7F);
    let mut shift = 7;
    // Nine bytes have 63 bits, so nothing overflows. The machine reads longer varints.
    for (index, byte) in input.get(offset + 1..)?.iter().take(8).enumerate() {
        value |= u64::from(byte & 0x7F) << shift;
        if *byte < 0x80 {
            return Some((value, offset + 2 + index));
        }
        shift += 7;
    }
    None
}

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// Reads common items or entries of the innermost container. Returns `true` if it read any.
    #[inline]
    pub(super) fn read_common_values(&mut self) -> Result<bool, Error> {
        // The loops do not compare short strings with the limit, so the limit must allow all of them.
        if self.limits.string < tag::MAX_SHORT_LEN as u64 {
            return Ok(false);
        }
        match self.stack.last() {
            Some(top) if top.role == Role::Array => self.read_common_items(),
            Some(top) if top.role == Role::Map => self.read_common_entries(),
            _ => Ok(false),
        }
    }

    /// Returns how many more nodes fit.
    #[inline]
    fn remaining_nodes(&mut self) -> u32 {
        self.limits.nodes.saturating_sub(self.sink.tape().len())
    }

    /// Reads items of an array.
    fn read_common_items(&mut self) -> Result<bool, Error> {
        let Some(top) = self.stack.last() else { return Ok(false) };
        let initial_left = top.remaining;
        let mut remaining = initial_left;
        let input = self.scan.input;
        let (accepts_text, max_len) = (!self.options.validate_utf8, self.limits.string);
        let max_entries = self.options.max_num_hash_entries.unwrap_or(u64::MAX).min(tag::MAX_IN_REF as u64) as u8;
        let is_deep = self.level_count() >= self.limits.depth as usize;
        let mut nodes_left = self.remaining_nodes();
        let mut offset = self.scan.offset;
        let mut open = None;
        while remaining > 0 {
            if let Some((count, next)) = flat_map_start(input, offset)
                && count <= max_entries
            {
                // An entry has at least two bytes and needs one node. The number of nodes is checked here for the
                // whole map, so `read_flat_map` does not check it.
                if is_deep || nodes_left <= u32::from(count) || input.len() - next < 2 * usize::from(count) {
                    break;
                }
                remaining -= 1;
                let tape = self.sink.tape();
                let nodes = tape.len();
                offset = read_flat_map(tape, &self.predictions, input, (accepts_text, max_len), count, next, &mut open);
                nodes_left -= tape.len() - nodes;
                if open.is_some() {
                    break;
                }
            } else if nodes_left > 0
                && let Some((node, next)) = read_common_leaf(input, offset, accepts_text, max_len)
            {
                self.sink.tape().push(node);
                offset = next;
                remaining -= 1;
                nodes_left -= 1;
            } else {
                break;
            }
            if self.stack.len() == 1 {
                self.sink.finish_child()?;
                nodes_left = self.limits.nodes.saturating_sub(self.sink.tape().len());
            }
        }
        self.scan.offset = offset;
        if let Some(top) = self.stack.last_mut() {
            top.remaining = remaining;
        }
        self.stack.extend(open);
        Ok(remaining < initial_left)
    }

    fn read_common_entries(&mut self) -> Result<bool, Error> {
        let input = self.scan.input;
        let accepts_text = !self.options.validate_utf8;
        let max_len = self.limits.string;
        let mut nodes_left = self.remaining_nodes();
        let is_root = self.stack.len() == 1;
        let Some(top) = self.stack.last_mut() else { return Ok(false) };
        let tape = self.sink.tape();
        let mut offset = self.scan.offset;
        let initial_left = top.remaining;
        while top.remaining > 0 && nodes_left > 0 {
            let Some((id, key_end)) = match_known_key(tape, &self.predictions, input, offset, top.last_key) else {
                break;
            };
            let Some((mut value, next)) = read_common_leaf(input, key_end, accepts_text, max_len) else { break };
            value.key = id;
            tape.nodes.push(value);
            top.last_key = id;
            top.remaining -= 1;
            nodes_left -= 1;
            offset = next;
        }
        self.scan.offset = offset;
        let changed = top.remaining < initial_left;
        if is_root && changed {
            self.sink.finish_child()?;
        }
        Ok(changed)
    }
}

/// Returns the number of entries of the map at `offset`, and the start of the first one. The caller refuses a number
/// above 15. So it also refuses the first byte of a varint with several bytes, because that is at least 0x80.
#[inline(always)]
fn flat_map_start(input: &[u8], offset: usize) -> Option<(u8, usize)> {
    match *input.get(offset)? {
        tag @ tag::HASHREF..tag::SHORT_BINARY => Some((tag & 15, offset + 1)),
        tag::REFN if *input.get(offset + 1)? == tag::HASH => Some((*input.get(offset + 2)?, offset + 3)),
        _ => None,
    }
}

/// Reads a map of few entries, up to the first entry that is not common. Returns the offset where reading stopped. If
/// the map is not complete, `open` is set to its frame.
#[inline(always)]
fn read_flat_map(
    tape: &mut Tape,
    predictions: &Predictions,
    input: &[u8],
    (accepts_text, max_len): (bool, u64),
    count: u8,
    mut offset: usize,
    open: &mut Option<Frame>,
) -> usize {
    let node = tape.nodes.len();
    tape.nodes.push(Node::open(Kind::Map, 0).with(flag::REF));
    let mut remaining = count;
    let mut last_key = 0;
    while remaining > 0 {
        let Some((id, key_end)) = match_known_key(tape, predictions, input, offset, last_key) else { break };
        let Some((mut value, next)) = read_common_leaf(input, key_end, accepts_text, max_len) else { break };
        value.key = id;
        tape.nodes.push(value);
        last_key = id;
        offset = next;
        remaining -= 1;
    }
    if remaining > 0 {
        let (remaining, count) = (u32::from(remaining), u32::from(count));
        *open = Some(Frame { node: node as u32, remaining, count, role: Role::Map, last_key, owner: NO_NODE });
    } else {
        tape.close_container(node as u32, u32::from(count));
    }
    offset
}
