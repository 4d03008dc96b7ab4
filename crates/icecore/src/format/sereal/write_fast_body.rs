//! Writes common documents in one loop. They have no links and no objects, and are written with default options. Most
//! small documents are like this. For them, the preparations of [`super::body`] would take longer than the writing.

use super::bytes::{CHUNK, SLACK};
use super::tag;
use super::write::fits_in_f32;
use super::write_fast::{push_first_key, push_value};
use super::{Compress, SortKeys, WriteOptions, header};
use crate::document::{Document, KEY_NODE, Kind, Location, NO_KEY, Node, flag};
use crate::format::PartProgress;
use crate::format::append::{append_with_spare, try_append};
use crate::output::{Output, Spare};

/// Maximum number of nodes. For larger documents the preparations of the other writer pay off. This writer passes the
/// output on only at the end, so a large document would need much memory.
const MAX_NODES: usize = 1 << 19;

/// In documents with fewer nodes, the loop does not call the functions for runs, because runs are too short there.
const MIN_NODES_FOR_RUNS: usize = 16;

/// Size of the header before the body that is written here.
const HEADER_LEN: usize = header::MAGIC.len() + 2;

/// Returns `true` if the options only ask for protocol 5, compressed or not.
fn has_common_options(options: &WriteOptions) -> bool {
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
    let has_other_option = *canonical
        | *canonical_refs
        | *dedupe_strings
        | *aliased_dedupe_strings
        | *no_shared_hashkeys
        | *use_standard_double
        | *no_bless_objects
        | *no_header
        | *reference;
    protocol.is_none_or(|protocol| protocol == 5) && *sort_keys == SortKeys::No && !has_other_option
}

/// Writes a whole document of at most `max_bytes` bytes. Returns `false`, with nothing written, if
/// anything in it is special.
pub(super) fn write_fast_body(
    document: &Document<'_>,
    options: &WriteOptions,
    max_bytes: u64,
    out: &mut dyn Output,
) -> bool {
    if document.nodes().len() > MAX_NODES || !can_be_simple(document, options) {
        return false;
    }
    append_with_spare(out, max_bytes, |progress, buf, limit| write_nodes(document, progress, buf, limit))
}

/// Writes the next part of a document. Returns `false`, with nothing written, if anything in it is
/// special.
pub(crate) fn write_part(
    document: &Document<'_>,
    options: &WriteOptions,
    progress: &mut PartProgress,
    out: &mut dyn Output,
) -> bool {
    can_be_simple(document, options)
        && try_append(out, |buf, max_bytes| write_nodes(document, progress, buf, max_bytes))
}

/// Returns the body of a document that must be compressed; `None` if anything in it is special.
/// Takes its working memory from `out`.
pub(super) fn fast_body(document: &Document<'_>, options: &WriteOptions, out: &mut dyn Output) -> Option<Vec<u8>> {
    if !requests_compression(options) || !is_simple(document, options) {
        return None;
    }
    let mut progress = PartProgress { spare: out.take_spare(), ..PartProgress::default() };
    let mut body = Vec::new();
    let written = write_nodes(document, &mut progress, &mut body, out.remaining_bytes());
    out.return_spare(progress.spare);
    written?;
    body.drain(..HEADER_LEN);
    Some(body)
}

fn requests_compression(options: &WriteOptions) -> bool {
    !matches!(options.compress, None | Some(Compress::None))
}

fn can_be_simple(document: &Document<'_>, options: &WriteOptions) -> bool {
    !requests_compression(options) && is_simple(document, options)
}

fn is_simple(document: &Document<'_>, options: &WriteOptions) -> bool {
    has_common_options(options) && document.tape().header.is_none() && document.spelling().is_none()
}

/// Writes the nodes. Gives up if long strings make the output longer than `max_bytes` bytes.
fn write_nodes(document: &Document<'_>, progress: &mut PartProgress, buf: &mut Vec<u8>, max_bytes: u64) -> Option<()> {
    let start = buf.len();
    let tape = document.tape();
    let names = tape.keys();
    let mut nodes = tape.nodes.get(tape.root as usize..).filter(|nodes| progress.has_begun || !nodes.is_empty())?;
    if !progress.has_begun {
        buf.extend_from_slice(&header::MAGIC);
        buf.extend_from_slice(&[5, 0]);
    }

    let Spare { bytes, words, .. } = &mut progress.spare;
    if bytes.len() < CHUNK + SLACK {
        bytes.resize(CHUNK + SLACK, 0);
    }
    let document_number = next_document_number(words, names.len(), progress.has_begun)?;
    let chunk = bytes.first_chunk_mut()?;
    let strings = (document.input(), &tape.arena[..]);
    let mut filled = 0;
    // Offset of the chunk in the body. Sereal counts offsets from 1.
    let mut chunk_offset = if progress.has_begun { progress.written } else { 1 };
    // A run of common values must be long enough to be worth a call.
    let has_runs = nodes.len() >= MIN_NODES_FOR_RUNS;
    let mut tries_run = has_runs;
    while let Some((node, following)) = nodes.split_first() {
        if filled >= CHUNK {
            buf.extend_from_slice(&chunk[..filled]);
            chunk_offset += filled as u64;
            filled = 0;
            tries_run = has_runs;
        }
        if tries_run {
            let nodes_before = nodes.len();
            (nodes, filled) = match node.key {
                NO_KEY => write_items(nodes, chunk, filled, strings.1),
                _ => write_entries(nodes, chunk, filled, words, document_number, strings.1),
            };
            tries_run = nodes.len() != nodes_before;
            if tries_run {
                continue;
            }
        }
        nodes = following;
        // Values with other flags are left to the other writer. For a container, `HINT` means that the short form
        // can't be used, because a program has a second reference to the data.
        let special = node.flags & !flag::REF;
        if special != 0 && !(special == flag::HINT && matches!(node.kind, Kind::Map | Kind::Array)) {
            return None;
        }
        let has_key = node.key != NO_KEY && node.key != KEY_NODE;
        if has_key {
            let word = words.get_mut(usize::from(node.key))?;
            if *word >> NUMBER_SHIFT == document_number {
                chunk[filled..filled + 4].copy_from_slice(&(*word as u32).to_le_bytes());
                filled += (*word >> 32) as usize & 7;
            } else {
                let offset = chunk_offset + filled as u64;
                filled = push_first_key(chunk, filled, node.key, names)?;
                *word = document_number << NUMBER_SHIFT | encode_copy(offset)?;
            }
        }
        // If the first key of the map is new, `write_entries` would stop there at once.
        let is_known =
            |next: &Node| words.get(usize::from(next.key)).is_some_and(|word| word >> NUMBER_SHIFT == document_number);
        tries_run =
            node.kind == Kind::Array && node.aux > 2 || node.kind == Kind::Map && nodes.first().is_some_and(is_known);
        match push_value(chunk, filled, node, strings, true) {
            Some(next) => filled = next,
            None => {
                filled = push_long_head(chunk, filled, node, document.bytes(node).len())?;
                let text = document.bytes(node);
                buf.extend_from_slice(&chunk[..filled]);
                buf.extend_from_slice(text);
                // Short strings are not longer than the allowance for each byte.
                if (buf.len() - start) as u64 > max_bytes {
                    return None;
                }
                chunk_offset += (filled + text.len()) as u64;
                filled = 0;
            }
        }
        if chunk_offset >= 1 << 31 {
            return None;
        }
    }
    buf.extend_from_slice(&chunk[..filled]);
    progress.has_begun = true;
    progress.written = chunk_offset + filled as u64;
    Some(())
}

/// Makes space for a word for each key, and returns the number of this document.
///
/// A word contains the key as a COPY: 32 bits of bytes, 4 bits for their number, and above them the number of the
/// document that wrote it. A word of another document is ignored, so the words are not cleared between documents. No
/// key has the id 0, so the first word is free. It is the number of the last document.
fn next_document_number(words: &mut Vec<u64>, key_count: usize, continues_document: bool) -> Option<u64> {
    if words.len() <= key_count {
        words.resize(key_count + 1, 0);
    }
    let (number, key_words) = words.split_first_mut()?;
    *number += u64::from(!continues_document);
    if *number >> (64 - NUMBER_SHIFT) != 0 {
        *number = 1;
        key_words.fill(0);
    }
    Some(*number)
}

/// Kinds and flags of the values that [`write_entries`] and [`write_items`] write.
const RECORD: u16 = kind_and_flags(Kind::Map, flag::REF);
const LIST: u16 = kind_and_flags(Kind::Array, flag::REF);
const INT: u16 = kind_and_flags(Kind::Int, 0);
const BYTES: u16 = kind_and_flags(Kind::Bytes, 0);
const FLOAT: u16 = kind_and_flags(Kind::Float, 0);

const fn kind_and_flags(kind: Kind, flags: u8) -> u16 {
    u16::from_le_bytes([kind as u8, flags])
}

/// The part of the chunk that [`write_entries`] and [`write_items`] use for one value: a key of up to 4
/// bytes, a tag and 32 bytes of a string fit. Its size is constant, so the compiler checks
/// offsets within it.
type ValueSpace = [u8; 48];

#[inline(always)]
fn value_space(chunk: &mut [u8; CHUNK + SLACK], filled: usize) -> Option<&mut ValueSpace> {
    chunk.get_mut(filled..filled + size_of::<ValueSpace>())?.first_chunk_mut()
}

/// Returns 32 bytes of the arena from the start of a short string on. They are copied as a block, because a copy of
/// constant length is cheaper. The next value overwrites the bytes after the string.
#[inline(always)]
fn short_text<'a>(node: &Node, arena: &'a [u8]) -> Option<&'a [u8]> {
    let Location::Arena(start) = node.location() else { return None };
    let start = start as usize;
    arena.get(start..start + 32).filter(|_| node.aux as usize <= tag::MAX_SHORT_LEN)
}

/// Writes a float. Returns its number of bytes.
#[inline(always)]
fn push_float(space: &mut ValueSpace, offset: usize, bits: u64) -> usize {
    let value = f64::from_bits(bits);
    if fits_in_f32(value) {
        space[offset] = tag::FLOAT;
        space[offset + 1..offset + 5].copy_from_slice(&(value as f32).to_le_bytes());
        5
    } else {
        space[offset] = tag::DOUBLE;
        space[offset + 1..offset + 9].copy_from_slice(&bits.to_le_bytes());
        9
    }
}

/// Writes entries of maps, and small maps in a list, until the chunk is full. It stops at a key that was not written
/// before. It also stops at a value that is neither an integer below 2^21, a float, a short string nor a small
/// container. Returns the remaining nodes, and the end in the chunk.
///
/// The special ids, such as `NO_KEY`, have no word of this document, so they are not taken for keys. The function is
/// not inline, because the loop around it needs the registers.
#[inline(never)]
fn write_entries<'a>(
    nodes: &'a [Node],
    chunk: &mut [u8; CHUNK + SLACK],
    mut filled: usize,
    words: &[u64],
    document_number: u64,
    arena: &[u8],
) -> (&'a [Node], usize) {
    let mut remaining = nodes.iter();
    loop {
        let rest = remaining.as_slice();
        let Some(node) = remaining.next() else { return (rest, filled) };
        let (Some(space), Some(&word)) = (value_space(chunk, filled), words.get(usize::from(node.key))) else {
            return (rest, filled);
        };
        // Kind and flags become one number, so one comparison checks both.
        let bits = kind_and_flags(node.kind, node.flags);
        if word >> NUMBER_SHIFT != document_number {
            // The node does not have a known key. It may still be the next map of a list.
            if bits != RECORD || node.key != NO_KEY || node.aux as usize > tag::MAX_IN_REF {
                return (rest, filled);
            }
            space[0] = tag::HASHREF | node.aux as u8;
            filled += 1;
            continue;
        }
        space[..4].copy_from_slice(&(word as u32).to_le_bytes());
        let key_len = (word >> 32) as usize & 7;
        if bits == INT && node.payload < 1 << 21 {
            let (word, len) = encode_small_integer(node.payload as u32);
            space[key_len..key_len + 4].copy_from_slice(&word.to_le_bytes());
            filled += key_len + len;
        } else if bits == BYTES {
            let Some(text) = short_text(node, arena) else { return (rest, filled) };
            space[key_len] = tag::SHORT_BINARY | node.aux as u8;
            space[key_len + 1..key_len + 33].copy_from_slice(text);
            filled += key_len + 1 + node.aux as usize;
        } else if bits == FLOAT {
            filled += key_len + push_float(space, key_len, node.payload);
        } else if (bits == RECORD || bits == LIST) && node.aux as usize <= tag::MAX_IN_REF {
            space[key_len] = if bits == RECORD { tag::HASHREF } else { tag::ARRAYREF } | node.aux as u8;
            filled += key_len + 1;
        } else {
            return (rest, filled);
        }
    }
}

/// Like [`write_entries`], for items that are integers below 2^21, floats or short strings.
#[inline(never)]
fn write_items<'a>(
    nodes: &'a [Node],
    chunk: &mut [u8; CHUNK + SLACK],
    mut filled: usize,
    arena: &[u8],
) -> (&'a [Node], usize) {
    let mut remaining = nodes.iter();
    loop {
        let rest = remaining.as_slice();
        let Some(node) = remaining.next().filter(|node| node.key == NO_KEY) else { return (rest, filled) };
        let Some(space) = value_space(chunk, filled) else { return (rest, filled) };
        let bits = kind_and_flags(node.kind, node.flags);
        if bits == INT && node.payload < 1 << 21 {
            let (word, len) = encode_small_integer(node.payload as u32);
            space[..4].copy_from_slice(&word.to_le_bytes());
            filled += len;
        } else if bits == BYTES {
            let Some(text) = short_text(node, arena) else { return (rest, filled) };
            space[0] = tag::SHORT_BINARY | node.aux as u8;
            space[1..33].copy_from_slice(text);
            filled += 1 + node.aux as usize;
        } else if bits == FLOAT {
            filled += push_float(space, 0, node.payload);
        } else {
            return (rest, filled);
        }
    }
}

/// Returns the bytes of an integer below 2^21 as a little-endian word, and their number. The caller copies all four
/// bytes, and the next value overwrites those that do not count.
#[inline(always)]
fn encode_small_integer(value: u32) -> (u32, usize) {
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
fn push_long_head(chunk: &mut [u8; CHUNK + SLACK], filled: usize, node: &Node, len: usize) -> Option<usize> {
    let kind = match node.kind {
        Kind::Bytes => tag::BINARY,
        Kind::Text => tag::STR_UTF8,
        _ => return None,
    };
    if len <= tag::MAX_SHORT_LEN && kind == tag::BINARY {
        chunk[filled] = tag::SHORT_BINARY | len as u8;
        return Some(filled + 1);
    }
    chunk[filled] = kind;
    Some(push_varint(chunk, filled + 1, len as u64))
}

/// Lowest bit of the document's number in a word.
const NUMBER_SHIFT: u32 = 36;

/// Returns the tag COPY and an offset as a little-endian word of at most four bytes. The bits above contain the
/// number of bytes. Returns `None` for an offset that needs more bytes.
fn encode_copy(offset: u64) -> Option<u64> {
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
fn push_varint(chunk: &mut [u8; CHUNK + SLACK], mut offset: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        chunk[offset] = value as u8 | 0x80;
        value >>= 7;
        offset += 1;
    }
    chunk[offset] = value as u8;
    offset + 1
}
