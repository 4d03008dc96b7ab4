//! Reads common bodies in one loop. They consist of arrays and hashes of strings and numbers, with little nesting.
//! Most small documents are like this.
//!
//! At any other tag or an error the loop returns `None`. Then the machine of [`super::read`] reads the body from the
//! start.

use super::read::MAX_ENTRIES_WITH_IDS;
use super::read_fast::{Predictions, match_known_key, read_common_leaf};
use super::tag;
use crate::document::{Kind, NO_KEY, Node, Tape, flag};

/// Size of the stack. The stack is an array, so it needs no allocation. The machine reads bodies that are nested more
/// deeply.
const STACK_SIZE: usize = 16;

/// An open container.
#[derive(Clone, Copy)]
struct FastFrame {
    node: u32,
    remaining: u32,
    count: u32,
    /// For a map: the previous key; for an array: `NOT_A_MAP`.
    last_key: u32,
}

const NOT_A_MAP: u32 = u32::MAX;

/// Reads a body from `offset` on. Returns its end; `None` if anything in it is special. Then the
/// tape must be cleared.
pub(super) fn read_fast_body(input: &[u8], mut offset: usize, tape: &mut Tape) -> Option<usize> {
    let first = offset;
    let mut stack = [FastFrame { node: 0, remaining: 0, count: 0, last_key: NOT_A_MAP }; STACK_SIZE];
    let mut depth = 0;
    let mut predictions = Predictions::default();
    let mut top = FastFrame { node: 0, remaining: 1, count: 1, last_key: NOT_A_MAP };
    loop {
        while top.remaining == 0 {
            if depth == 0 {
                return Some(offset);
            }
            tape.close_container(top.node, top.count);
            depth -= 1;
            top = stack[depth];
        }
        top.remaining -= 1;
        let mut name = NO_KEY;
        if top.last_key != NOT_A_MAP {
            let (id, key_end) = match match_known_key(tape, &predictions, input, offset, top.last_key as u16) {
                Some(known) => known,
                None => {
                    let (id, key_end) = read_other_key(input, offset, first, tape, top.last_key as u16)?;
                    if input.get(offset) == Some(&tag::COPY) {
                        predictions.learn(id, input, offset, key_end);
                    }
                    (id, key_end)
                }
            };
            name = id;
            top.last_key = u32::from(id);
            offset = key_end;
        } else {
            // Reads a run of small integers. Four bytes are loaded together, so one check for the end of the input is
            // enough for all three forms. The run counts its own items, so the count above is taken back.
            top.remaining += 1;
            while top.remaining > 0
                && let Some([tag, low, high, ..]) = input.get(offset..).and_then(|rest| rest.first_chunk::<4>())
            {
                let (value, len) = match (*tag, *low, *high) {
                    (0..16, ..) => (i64::from(*tag), 1),
                    (tag::VARINT, 0..0x80, _) => (i64::from(*low), 2),
                    (tag::VARINT, _, 0..0x80) => (i64::from(*low & 0x7F) | i64::from(*high) << 7, 3),
                    _ => break,
                };
                tape.push(Node::int(value));
                offset += len;
                top.remaining -= 1;
            }
            if top.remaining == 0 {
                continue;
            }
            top.remaining -= 1;
        }
        if let Some((mut node, next)) = read_common_leaf(input, offset, true, u64::MAX) {
            node.key = name;
            tape.push(node);
            offset = next;
            continue;
        }
        let (kind, count, next) = match *input.get(offset)? {
            tag @ tag::ARRAYREF..tag::HASHREF => (Kind::Array, u32::from(tag & 15), offset + 1),
            tag @ tag::HASHREF..tag::SHORT_BINARY => (Kind::Map, u32::from(tag & 15), offset + 1),
            tag::REFN => {
                let kind = match *input.get(offset + 1)? {
                    tag::ARRAY => Kind::Array,
                    tag::HASH => Kind::Map,
                    _ => return None,
                };
                let (count, next) = read_varint(input, offset + 2)?;
                (kind, count, next)
            }
            _ => return None,
        };
        let min_entry_len = if kind == Kind::Map { 2 } else { 1 };
        if kind == Kind::Map && count > MAX_ENTRIES_WITH_IDS
            || (input.len() - next) / min_entry_len < count as usize
            || depth + 1 >= STACK_SIZE
        {
            return None;
        }
        let mut node = Node::open(kind, 0).with(flag::REF);
        node.key = name;
        let node = tape.push(node);
        // The input has at least one byte for each child, so a wrong count can't reserve much memory.
        tape.nodes.reserve(count as usize);
        offset = next;
        stack[depth] = top;
        depth += 1;
        top = FastFrame { node, remaining: count, count, last_key: if kind == Kind::Map { 0 } else { NOT_A_MAP } };
    }
}

/// Reads a key that is not yet known by its first bytes. It is new, long, a text, or a COPY of a key that was not
/// copied before.
fn read_other_key(
    input: &[u8],
    key_start: usize,
    first: usize,
    tape: &mut Tape,
    last_key: u16,
) -> Option<(u16, usize)> {
    let (text, key_end) = match *input.get(key_start)? {
        tag::COPY => {
            let (offset, offset_end) = read_varint(input, key_start + 1)?;
            let source = first.checked_add(offset as usize)?.checked_sub(1)?;
            (read_string(input.get(..key_start)?, source)?, offset_end)
        }
        _ => {
            let text = read_string(input, key_start)?;
            (text, text.1 + text.2)
        }
    };
    let (kind, start, len) = text;
    let id = tape.intern_key(Node::leaf(kind, 0), input.get(start..start + len)?)?;
    tape.keys.learn_next(last_key, id);
    Some((id, key_end))
}

/// Reads a string: its kind, start and length.
fn read_string(input: &[u8], offset: usize) -> Option<(Kind, usize, usize)> {
    let (kind, start, len) = match *input.get(offset)? {
        tag @ tag::SHORT_BINARY..=127 => (Kind::Bytes, offset + 1, usize::from(tag & 31)),
        tag::BINARY => {
            let (len, start) = read_varint(input, offset + 1).map(|(len, start)| (len as usize, start))?;
            (Kind::Bytes, start, len)
        }
        tag::STR_UTF8 => {
            let (len, start) = read_varint(input, offset + 1).map(|(len, start)| (len as usize, start))?;
            (Kind::Text, start, len)
        }
        _ => return None,
    };
    input.get(start..)?.get(..len)?;
    Some((kind, start, len))
}

/// Reads a varint of at most 32 bits.
#[inline(always)]
fn read_varint(input: &[u8], offset: usize) -> Option<(u32, usize)> {
    let mut value = 0;
    for (index, byte) in input.get(offset..)?.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if *byte < 0x80 {
            return Some((u32::try_from(value).ok()?, offset + 1 + index));
        }
    }
    None
}
