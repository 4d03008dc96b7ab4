//! Writes common documents in one loop: no links, no objects, default options. Most small
//! documents are like this, and for them the preparations of [`super::body`] cost more than the
//! writing.

use super::bytes::{CHUNK, SLACK};
use super::tag;
use super::write::is_float;
use super::write_fast::{first_key, put};
use super::{Compress, SortKeys, WriteOptions, header};
use crate::document::{Document, KEY_NODE, Kind, Location, NO_KEY, Node, flag};
use crate::format::Parts;
use crate::format::append::{append_or_not, append_with_spare};
use crate::output::{Output, Spare};

/// For larger documents the preparations pay off; and the output here is not passed on before
/// its end.
const MOST_NODES: usize = 1 << 19;

/// In documents with fewer nodes, runs of values are not searched.
const WORTH_A_CALL: usize = 16;

/// Size of the header before the body that is written here.
const HEADER: usize = header::MAGIC.len() + 2;

/// Whether the options only ask for protocol 5, compressed or not.
fn is_usual(options: &WriteOptions) -> bool {
    let WriteOptions {
        protocol,
        compress: _,
        level: _,
        threshold: _,
        canonical,
        canonical_refs,
        sort_keys,
        dedupe_strings,
        aliased_dedupe_strings,
        no_shared_hashkeys,
        use_standard_double,
        no_bless_objects,
        no_header,
        no_spelling: _,
        reference,
    } = options;
    let any = *canonical
        | *canonical_refs
        | *dedupe_strings
        | *aliased_dedupe_strings
        | *no_shared_hashkeys
        | *use_standard_double
        | *no_bless_objects
        | *no_header
        | *reference;
    protocol.is_none_or(|protocol| protocol == 5) && *sort_keys == SortKeys::No && !any
}

/// Writes a whole document of at most `most` bytes. Returns false, with nothing written, if
/// anything in it is special.
pub(super) fn write_fast_body(
    document: &Document<'_>,
    options: &WriteOptions,
    most: u64,
    out: &mut dyn Output,
) -> bool {
    if document.nodes().len() > MOST_NODES || !can_be_simple(document, options) {
        return false;
    }
    append_with_spare(out, most, |parts, buf, most| write(document, parts, buf, most))
}

/// Writes the next part of a document. Returns false, with nothing written, if anything in it is
/// special.
pub(crate) fn write_part(
    document: &Document<'_>,
    options: &WriteOptions,
    parts: &mut Parts,
    out: &mut dyn Output,
) -> bool {
    can_be_simple(document, options) && append_or_not(out, |buf, most| write(document, parts, buf, most))
}

/// Returns the body of a document that must be compressed; `None` if anything in it is special.
/// Takes its working memory from `out`.
pub(super) fn fast_body(document: &Document<'_>, options: &WriteOptions, out: &mut dyn Output) -> Option<Vec<u8>> {
    if !compresses(options) || !is_simple(document, options) {
        return None;
    }
    let mut parts = Parts { spare: out.take_spare(), ..Parts::default() };
    let mut whole = Vec::new();
    let written = write(document, &mut parts, &mut whole, out.room());
    out.give_spare(parts.spare);
    written?;
    whole.drain(..HEADER);
    Some(whole)
}

fn compresses(options: &WriteOptions) -> bool {
    !matches!(options.compress, None | Some(Compress::None))
}

fn can_be_simple(document: &Document<'_>, options: &WriteOptions) -> bool {
    !compresses(options) && is_simple(document, options)
}

fn is_simple(document: &Document<'_>, options: &WriteOptions) -> bool {
    is_usual(options) && document.tape().header.is_none() && document.spelling().is_none()
}

/// Writes at most `most` bytes, if long strings make it longer.
fn write(document: &Document<'_>, parts: &mut Parts, buf: &mut Vec<u8>, most: u64) -> Option<()> {
    let start = buf.len();
    let tape = document.tape();
    let names = tape.keys();
    let mut nodes = tape.nodes.get(tape.root as usize..).filter(|nodes| parts.begun || !nodes.is_empty())?;
    if !parts.begun {
        buf.extend_from_slice(&header::MAGIC);
        buf.extend_from_slice(&[5, 0]);
    }

    let Spare { bytes, words, .. } = &mut parts.spare;
    if bytes.len() < CHUNK + SLACK {
        bytes.resize(CHUNK + SLACK, 0);
    }
    let this = number(words, names.len(), parts.begun)?;
    let chunk = bytes.first_chunk_mut()?;
    let strings = (document.input(), &tape.arena[..]);
    let mut to = 0;
    let mut passed = if parts.begun { parts.written } else { 1 };
    // Whether a run of common values is long enough for a call.
    let has_runs = nodes.len() >= WORTH_A_CALL;
    let mut tries = has_runs;
    while let Some((node, behind)) = nodes.split_first() {
        if to >= CHUNK {
            buf.extend_from_slice(&chunk[..to]);
            passed += to as u64;
            to = 0;
            tries = has_runs;
        }
        if tries {
            let before = nodes.len();
            (nodes, to) = match node.key {
                NO_KEY => items(nodes, chunk, to, strings.1),
                _ => entries(nodes, chunk, to, words, this, strings.1),
            };
            tries = nodes.len() != before;
            if tries {
                continue;
            }
        }
        nodes = behind;
        // Flags other than these need more. The hint says for containers that their short form
        // can't be used; it is all that a program sees of a second reference to the data.
        let special = node.flags & !flag::REF;
        if special != 0 && !(special == flag::HINT && matches!(node.kind, Kind::Map | Kind::Array)) {
            return None;
        }
        let has_key = node.key != NO_KEY && node.key != KEY_NODE;
        if has_key {
            let place = words.get_mut(usize::from(node.key))?;
            if *place >> NUMBER == this {
                chunk[to..to + 4].copy_from_slice(&(*place as u32).to_le_bytes());
                to += (*place >> 32) as usize & 7;
            } else {
                let offset = passed + to as u64;
                to = first_key(chunk, to, node.key, names)?;
                *place = this << NUMBER | copy(offset)?;
            }
        }
        // If the first key of a record is new, the run would be empty.
        let is_known = |next: &Node| words.get(usize::from(next.key)).is_some_and(|word| word >> NUMBER == this);
        tries =
            node.kind == Kind::Array && node.aux > 2 || node.kind == Kind::Map && nodes.first().is_some_and(is_known);
        match put(chunk, to, node, strings, true) {
            Some(next) => to = next,
            None => {
                to = front_of_long(chunk, to, node, document.bytes(node).len())?;
                let text = document.bytes(node);
                buf.extend_from_slice(&chunk[..to]);
                buf.extend_from_slice(text);
                // Short strings are not longer than the allowance for each byte.
                if (buf.len() - start) as u64 > most {
                    return None;
                }
                passed += (to + text.len()) as u64;
                to = 0;
            }
        }
        if passed >= 1 << 31 {
            return None;
        }
    }
    buf.extend_from_slice(&chunk[..to]);
    parts.begun = true;
    parts.written = passed + to as u64;
    Some(())
}

/// Makes space for a word for each key, and returns the number of this document.
///
/// A word contains the key as a COPY: 32 bits of bytes, 4 bits for their number, and above them
/// the number of the document that wrote it. A word of another document is ignored, so nothing
/// is cleared between documents. The first word, which belongs to no key, is the number of the
/// last document.
fn number(words: &mut Vec<u64>, keys: usize, goes_on: bool) -> Option<u64> {
    if words.len() <= keys {
        words.resize(keys + 1, 0);
    }
    let (count, places) = words.split_first_mut()?;
    *count += u64::from(!goes_on);
    if *count >> (64 - NUMBER) != 0 {
        *count = 1;
        places.fill(0);
    }
    Some(*count)
}

/// Kinds and flags of the values that [`entries`] and [`items`] write.
const RECORD: u16 = front(Kind::Map, flag::REF);
const LIST: u16 = front(Kind::Array, flag::REF);
const INT: u16 = front(Kind::Int, 0);
const BYTES: u16 = front(Kind::Bytes, 0);
const FLOAT: u16 = front(Kind::Float, 0);

const fn front(kind: Kind, flags: u8) -> u16 {
    u16::from_le_bytes([kind as u8, flags])
}

/// The part of the chunk that [`entries`] and [`items`] use for one value: a key of up to 4
/// bytes, a tag and 32 bytes of a string fit. Its size is constant, so the compiler checks
/// offsets within it.
type Room = [u8; 48];

#[inline(always)]
fn room(chunk: &mut [u8; CHUNK + SLACK], to: usize) -> Option<&mut Room> {
    chunk.get_mut(to..to + size_of::<Room>())?.first_chunk_mut()
}

/// Returns 32 bytes of the arena from a short string on. They are copied as a block, because a
/// copy of constant length is cheaper; the next value overwrites the excess.
#[inline(always)]
fn short_text<'a>(node: &Node, arena: &'a [u8]) -> Option<&'a [u8]> {
    let Location::Arena(start) = node.place() else { return None };
    let start = start as usize;
    arena.get(start..start + 32).filter(|_| node.aux as usize <= tag::MOST_SHORT)
}

/// Writes a float; returns its number of bytes.
#[inline(always)]
fn float(room: &mut Room, at: usize, bits: u64) -> usize {
    let value = f64::from_bits(bits);
    if is_float(value) {
        room[at] = tag::FLOAT;
        room[at + 1..at + 5].copy_from_slice(&(value as f32).to_le_bytes());
        5
    } else {
        room[at] = tag::DOUBLE;
        room[at + 1..at + 9].copy_from_slice(&bits.to_le_bytes());
        9
    }
}

/// Writes entries of records, and small records in a list, while their keys were written before,
/// their values are integers below 2^21, floats, short strings or few items or entries, and the
/// chunk is not full. Returns the remaining nodes, and the end in the chunk.
///
/// Special ids that are not keys have no word of this document. Not inline: the loop around it
/// needs its registers.
#[inline(never)]
fn entries<'a>(
    nodes: &'a [Node],
    chunk: &mut [u8; CHUNK + SLACK],
    mut to: usize,
    words: &[u64],
    this: u64,
    arena: &[u8],
) -> (&'a [Node], usize) {
    let mut left = nodes.iter();
    loop {
        let rest = left.as_slice();
        let Some(node) = left.next() else { return (rest, to) };
        let (Some(room), Some(&word)) = (room(chunk, to), words.get(usize::from(node.key))) else { return (rest, to) };
        // One comparison covers kind and flags: a flag that changes the form gives another
        // value.
        let front = front(node.kind, node.flags);
        if word >> NUMBER != this {
            // The next record of a list.
            if front != RECORD || node.key != NO_KEY || node.aux as usize > tag::MOST_IN_REF {
                return (rest, to);
            }
            room[0] = tag::HASHREF | node.aux as u8;
            to += 1;
            continue;
        }
        room[..4].copy_from_slice(&(word as u32).to_le_bytes());
        let key = (word >> 32) as usize & 7;
        if front == INT && node.payload < 1 << 21 {
            let (word, len) = small(node.payload as u32);
            room[key..key + 4].copy_from_slice(&word.to_le_bytes());
            to += key + len;
        } else if front == BYTES {
            let Some(text) = short_text(node, arena) else { return (rest, to) };
            room[key] = tag::SHORT_BINARY | node.aux as u8;
            room[key + 1..key + 33].copy_from_slice(text);
            to += key + 1 + node.aux as usize;
        } else if front == FLOAT {
            to += key + float(room, key, node.payload);
        } else if (front == RECORD || front == LIST) && node.aux as usize <= tag::MOST_IN_REF {
            room[key] = if front == RECORD { tag::HASHREF } else { tag::ARRAYREF } | node.aux as u8;
            to += key + 1;
        } else {
            return (rest, to);
        }
    }
}

/// Like [`entries`], for items that are integers below 2^21, floats or short strings.
#[inline(never)]
fn items<'a>(nodes: &'a [Node], chunk: &mut [u8; CHUNK + SLACK], mut to: usize, arena: &[u8]) -> (&'a [Node], usize) {
    let mut left = nodes.iter();
    loop {
        let rest = left.as_slice();
        let Some(node) = left.next().filter(|node| node.key == NO_KEY) else { return (rest, to) };
        let Some(room) = room(chunk, to) else { return (rest, to) };
        let front = front(node.kind, node.flags);
        if front == INT && node.payload < 1 << 21 {
            let (word, len) = small(node.payload as u32);
            room[..4].copy_from_slice(&word.to_le_bytes());
            to += len;
        } else if front == BYTES {
            let Some(text) = short_text(node, arena) else { return (rest, to) };
            room[0] = tag::SHORT_BINARY | node.aux as u8;
            room[1..33].copy_from_slice(text);
            to += 1 + node.aux as usize;
        } else if front == FLOAT {
            to += float(room, 0, node.payload);
        } else {
            return (rest, to);
        }
    }
}

/// Returns an integer below 2^21: its bytes as a little-endian word, and their number. The
/// caller copies all four bytes and counts fewer.
#[inline(always)]
fn small(value: u32) -> (u32, usize) {
    match value {
        0..16 => (value, 1),
        16..128 => (value << 8 | u32::from(tag::VARINT), 2),
        128..0x4000 => ((value >> 7) << 16 | (value & 0x7F | 0x80) << 8 | u32::from(tag::VARINT), 3),
        _ => {
            let middle = value >> 7 & 0x7F | 0x80;
            ((value >> 14) << 24 | middle << 16 | (value & 0x7F | 0x80) << 8 | u32::from(tag::VARINT), 4)
        }
    }
}

/// Writes the tag and length of a string that does not fit into the chunk.
fn front_of_long(chunk: &mut [u8; CHUNK + SLACK], to: usize, node: &Node, len: usize) -> Option<usize> {
    let kind = match node.kind {
        Kind::Bytes => tag::BINARY,
        Kind::Text => tag::STR_UTF8,
        _ => return None,
    };
    if len <= tag::MOST_SHORT && kind == tag::BINARY {
        chunk[to] = tag::SHORT_BINARY | len as u8;
        return Some(to + 1);
    }
    chunk[to] = kind;
    Some(varint(chunk, to + 1, len as u64))
}

/// Lowest bit of the document's number in a word.
const NUMBER: u32 = 36;

/// Returns COPY and its offset as a little-endian word of at most four bytes, and above them
/// their number. `None` for offsets that need more.
fn copy(offset: u64) -> Option<u64> {
    let tag = u64::from(tag::COPY);
    let (low, middle, high) = (offset & 0x7F, offset >> 7 & 0x7F, offset >> 14);
    Some(match offset {
        0..0x80 => 2 << 32 | low << 8 | tag,
        0x80..0x4000 => 3 << 32 | middle << 16 | (low | 0x80) << 8 | tag,
        0x4000..0x20_0000 => 4 << 32 | high << 24 | (middle | 0x80) << 16 | (low | 0x80) << 8 | tag,
        _ => return None,
    })
}

#[inline(always)]
fn varint(chunk: &mut [u8; CHUNK + SLACK], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        chunk[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    chunk[at] = value as u8;
    at + 1
}
