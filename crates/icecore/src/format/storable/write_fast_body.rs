//! Writes common documents in one loop. They consist of arrays and hashes of strings and numbers, with little nesting
//! and without links. Most small documents are like this. A large one can be written in parts.

use super::WriteOptions;
use super::default_tags::{bool_tag, exact_integer};
use super::image::Image;
use super::tag;
use crate::document::{Document, Kind, Location, NO_KEY, Names, Node, flag};
use crate::format::PartProgress;
use crate::format::append::{append_with_spare, try_append};
use crate::output::{Output, PartialContainer, Spare};

/// Maximum number of nodes, unless the document is written in parts. The other writer has to prepare its work first,
/// and for a larger document this pays off.
pub(super) const MAX_NODES: usize = 1 << 19;
/// Number of bytes that are collected before they are passed to the output.
const CHUNK: usize = 8 << 10;
/// Maximum number of bytes that are written before the next check whether the chunk is full.
const SLACK: usize = 128;

/// Maximum nesting depth. Deeper documents are left to the other writer.
pub(crate) const MAX_DEPTH: u32 = 32;

type Chunk = [u8; CHUNK + SLACK];

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
    append_with_spare(out, max_bytes, |progress, buf, limit| {
        write_nodes(document, options, progress, buf, limit).filter(|()| progress.is_complete())
    })
}

/// Writes the next part of a document. Returns `false`, with nothing written, if anything in
/// it is special.
pub(crate) fn write_part(
    document: &Document<'_>,
    options: &WriteOptions,
    progress: &mut PartProgress,
    out: &mut dyn Output,
) -> bool {
    can_be_simple(document, options)
        && try_append(out, |buf, max_bytes| write_nodes(document, options, progress, buf, max_bytes))
}

fn can_be_simple(document: &Document<'_>, options: &WriteOptions) -> bool {
    !(options.canonical || options.reference || document.tape().header.is_some() || document.spelling().is_some())
}

/// Writes the nodes. Gives up if they take more than `max_bytes` bytes, because copies may make the output much
/// longer.
fn write_nodes(
    document: &Document<'_>,
    options: &WriteOptions,
    progress: &mut PartProgress,
    buf: &mut Vec<u8>,
    max_bytes: u64,
) -> Option<()> {
    if !progress.has_begun {
        push_header(options, buf);
    }
    match options.netorder {
        false => write_nodes_as::<false>(document, options, progress, buf, max_bytes),
        true => write_nodes_as::<true>(document, options, progress, buf, max_bytes),
    }
}

fn write_nodes_as<const NET: bool>(
    document: &Document<'_>,
    options: &WriteOptions,
    progress: &mut PartProgress,
    buf: &mut Vec<u8>,
    max_bytes: u64,
) -> Option<()> {
    let start = buf.len();
    let tape = document.tape();
    let names = tape.keys();
    let nodes = tape.nodes.get(tape.root as usize..)?;
    let Spare { bytes, open, .. } = &mut progress.spare;
    open.resize(MAX_DEPTH as usize, PartialContainer::default());
    if bytes.len() < CHUNK + SLACK {
        bytes.resize(CHUNK + SLACK, 0);
    }
    let chunk = bytes.first_chunk_mut()?;
    let strings = (document.input(), &tape.arena[..]);
    // A caller filled the tape, so the values are those of a running program. Storable would write some of them as
    // other types: a float as an integer, or a large integer as a string.
    let is_live = tape.has_live_values();
    let has_bools = options.minor.is_some_and(|minor| minor >= 12);
    let mut filled = 0;
    let mut depth = progress.depth;
    // The innermost open container: the number of its remaining children, its own key, and whether its children have
    // keys.
    let mut top =
        if progress.has_begun { open[depth] } else { PartialContainer { remaining: 1, key: NO_KEY, is_map: false } };
    // `Storable::store` takes a reference to the root, and it writes only the root. So no reference precedes the
    // root.
    let mut is_root = !progress.has_begun;
    let mut index = 0;
    loop {
        // A complete container is itself an item or the value of an entry. Its key comes after its content.
        crate::steps::count(1);
        while top.remaining == 0 && depth > 0 {
            crate::steps::count(1);
            if top.key != NO_KEY {
                filled = push_key::<NET>(chunk, filled, top.key, names, buf)?;
            }
            depth -= 1;
            top = open[depth];
            top.remaining -= 1;
        }
        if index == nodes.len() {
            break;
        }
        if filled >= CHUNK {
            filled = flush_chunk(chunk, filled, buf);
        }
        // `write_items` may open one more map, so it needs a free level. It writes a reference before each map, so it
        // can't write the root.
        if top.is_map || is_root || depth == MAX_DEPTH as usize {
            let run = nodes.get(index..index + (nodes.len() - index).min(top.remaining as usize))?;
            let (pushed, chunk_end) = match top.is_map {
                true => push_leaves::<NET, true>(run, chunk, filled, strings, names),
                false => push_leaves::<NET, false>(run, chunk, filled, strings, names),
            };
            filled = chunk_end;
            index += pushed;
            top.remaining -= pushed as u32;
        } else {
            let progress = write_items::<NET>(nodes.get(index..)?, top.remaining, chunk, filled, strings, names);
            filled = progress.filled;
            index += progress.node_count;
            top.remaining = progress.remaining;
            if progress.remaining_in_map > 0 {
                *open.get_mut(depth)? = top;
                depth += 1;
                top = PartialContainer { remaining: progress.remaining_in_map, key: NO_KEY, is_map: true };
                continue;
            }
        }
        let Some(node) = nodes.get(index).filter(|_| (top.remaining > 0 || depth == 0) && filled < CHUNK) else {
            continue;
        };
        if (buf.len() - start) as u64 > max_bytes {
            return None;
        }
        if node.flags & !flag::REF != 0 || (node.key != NO_KEY) != top.is_map || top.remaining == 0 {
            return None;
        }
        index += 1;
        match node.kind {
            Kind::Array | Kind::Map => {
                filled = push_container_head::<NET>(chunk, filled, node, is_root)?;
                is_root = false;
                if node.aux > 0 {
                    *open.get_mut(depth)? = top;
                    depth += 1;
                    top = PartialContainer { remaining: node.aux, key: node.key, is_map: node.kind == Kind::Map };
                    continue;
                }
            }
            Kind::Int => filled = push_integer::<NET>(chunk, filled, node.payload as i64, is_live, buf)?,
            Kind::Bytes | Kind::Text => filled = push_string::<NET>(chunk, filled, node, strings, buf)?,
            Kind::Null => filled = push_byte(chunk, filled, tag::UNDEF)?,
            Kind::Bool => filled = push_byte(chunk, filled, bool_tag(node.payload != 0, has_bools))?,
            Kind::Float => filled = push_float::<NET>(chunk, filled, f64::from_bits(node.payload), is_live, buf)?,
            Kind::Float32 => {
                filled =
                    push_float::<NET>(chunk, filled, f64::from(f32::from_bits(node.payload as u32)), is_live, buf)?;
            }
            _ => return None,
        }
        if node.key != NO_KEY {
            filled = push_key::<NET>(chunk, filled, node.key, names, buf)?;
        }
        top.remaining -= 1;
    }
    flush_chunk(chunk, filled, buf);
    progress.has_begun = true;
    progress.depth = depth;
    *open.get_mut(depth)? = top;
    Some(())
}

/// Writes the header.
fn push_header(options: &WriteOptions, buf: &mut Vec<u8>) {
    let native = Image::native();
    let image = Image {
        has_magic: options.file.unwrap_or(native.has_magic),
        netorder: options.netorder,
        minor: options.minor.unwrap_or(native.minor),
        ..native
    };
    image.write(buf);
}

/// The progress of [`write_items`].
struct ItemsProgress {
    /// Number of nodes that were written.
    node_count: usize,
    /// Number of items of the array that still follow.
    remaining: u32,
    /// Number of bytes in the chunk.
    filled: usize,
    /// Number of entries that still follow in the map in which the loop stopped.
    remaining_in_map: u32,
}

/// Writes items of an array while they are leaves or maps of leaves, and the chunk is not
/// full.
#[inline(always)]
fn write_items<const NET: bool>(
    nodes: &[Node],
    remaining: u32,
    chunk: &mut Chunk,
    filled: usize,
    strings: (&[u8], &[u8]),
    names: &Names,
) -> ItemsProgress {
    let mut progress = ItemsProgress { node_count: 0, remaining, filled, remaining_in_map: 0 };
    while let Some((node, following)) = nodes.get(progress.node_count..).and_then(|nodes| nodes.split_first()) {
        if progress.remaining == 0 || progress.filled >= CHUNK {
            break;
        }
        if node.kind != Kind::Map {
            let run = nodes.get(progress.node_count..).unwrap_or(&[]);
            let run = &run[..run.len().min(progress.remaining as usize)];
            let pushed;
            (pushed, progress.filled) = push_leaves::<NET, false>(run, chunk, progress.filled, strings, names);
            progress.node_count += pushed;
            progress.remaining -= pushed as u32;
            if pushed == 0 {
                break;
            }
            continue;
        }
        let Some(entries) = following.get(..node.aux as usize) else { break };
        let (0, NO_KEY, Some(start)) =
            (node.flags & !flag::REF, node.key, push_container_head::<NET>(chunk, progress.filled, node, false))
        else {
            break;
        };
        let pushed;
        (pushed, progress.filled) = push_leaves::<NET, true>(entries, chunk, start, strings, names);
        progress.node_count += 1 + pushed;
        progress.remaining_in_map = node.aux - pushed as u32;
        if progress.remaining_in_map > 0 {
            break;
        }
        progress.remaining -= 1;
    }
    progress
}

/// Writes a run of integers and short strings, in a map with their keys, until the chunk is full. Returns their
/// number, and the end in the chunk. A value has at most 34 bytes here, and a key at most 20, so both fit into 64
/// bytes.
#[inline(always)]
fn push_leaves<const NET: bool, const HAS_KEYS: bool>(
    nodes: &[Node],
    chunk: &mut Chunk,
    mut filled: usize,
    (input, arena): (&[u8], &[u8]),
    names: &Names,
) -> (usize, usize) {
    for (pushed, node) in nodes.iter().enumerate() {
        let slot: Option<&mut [u8; 64]> = chunk.get_mut(filled..filled + 64).and_then(|bytes| bytes.first_chunk_mut());
        let (Some(space), 0) = (slot, node.flags) else { return (pushed, filled) };
        if filled >= CHUNK || (node.key != NO_KEY) != HAS_KEYS {
            return (pushed, filled);
        }
        let len = match node.kind {
            Kind::Int => {
                let value = node.payload as i64;
                if (-128..=127).contains(&value) {
                    space[..2].copy_from_slice(&[tag::BYTE, (value + 128) as u8]);
                    2
                } else if !NET {
                    space[0] = tag::INTEGER;
                    space[1..9].copy_from_slice(&value.to_le_bytes());
                    9
                } else {
                    return (pushed, filled);
                }
            }
            Kind::Bytes | Kind::Text if node.aux <= 32 => {
                let (base, start) = match node.location() {
                    Location::Input(start) => (input, start),
                    Location::Arena(start) => (arena, start),
                };
                let Some(window) = base.get(start as usize..).and_then(|text| text.first_chunk::<32>()) else {
                    return (pushed, filled);
                };
                space[0] = if node.kind == Kind::Text { tag::UTF8STR } else { tag::SCALAR };
                space[1] = node.aux as u8;
                space[2..34].copy_from_slice(window);
                2 + node.aux as usize
            }
            _ => return (pushed, filled),
        };
        if HAS_KEYS {
            let Some((entry, _)) = names.get_plain(node.key).filter(|(entry, _)| entry.node.aux <= 16) else {
                return (pushed, filled);
            };
            let key = &mut space[len..len + 20];
            key[..4].copy_from_slice(&encode_length::<NET>(entry.node.aux));
            key[4..].copy_from_slice(&entry.head.to_le_bytes());
            filled += 4 + entry.node.aux as usize;
        }
        filled += len;
    }
    (nodes.len(), filled)
}

#[inline(always)]
fn flush_chunk(chunk: &Chunk, filled: usize, buf: &mut Vec<u8>) -> usize {
    buf.extend_from_slice(&chunk[..filled]);
    0
}

/// Returns space for a value of at most 64 bytes.
#[inline(always)]
fn value_space(chunk: &mut Chunk, filled: usize) -> Option<&mut [u8; 64]> {
    chunk.get_mut(filled..filled + 64)?.first_chunk_mut()
}

#[inline(always)]
fn encode_length<const NET: bool>(value: u32) -> [u8; 4] {
    if NET { value.to_be_bytes() } else { value.to_le_bytes() }
}

/// Writes a reference, unless it is the root, and tag and count of its target.
#[inline(always)]
fn push_container_head<const NET: bool>(chunk: &mut Chunk, filled: usize, node: &Node, is_root: bool) -> Option<usize> {
    let skip = usize::from(is_root);
    let space = value_space(chunk, filled)?;
    space[0] = tag::REF;
    space[1 - skip] = if node.kind == Kind::Map { tag::HASH } else { tag::ARRAY };
    space[2 - skip..6 - skip].copy_from_slice(&encode_length::<NET>(node.aux));
    Some(filled + 6 - skip)
}

#[inline(always)]
fn push_byte(chunk: &mut Chunk, filled: usize, byte: u8) -> Option<usize> {
    value_space(chunk, filled)?[0] = byte;
    Some(filled + 1)
}

#[inline(always)]
fn push_integer<const NET: bool>(
    chunk: &mut Chunk,
    filled: usize,
    value: i64,
    is_live: bool,
    buf: &mut Vec<u8>,
) -> Option<usize> {
    let space = value_space(chunk, filled)?;
    if (-128..=127).contains(&value) {
        space[..2].copy_from_slice(&[tag::BYTE, (value + 128) as u8]);
        Some(filled + 2)
    } else if !NET {
        space[0] = tag::INTEGER;
        space[1..9].copy_from_slice(&value.to_le_bytes());
        Some(filled + 9)
    } else if let Ok(value) = i32::try_from(value) {
        space[0] = tag::NETINT;
        space[1..5].copy_from_slice(&value.to_be_bytes());
        Some(filled + 5)
    } else if is_live {
        push_long_string::<NET>(chunk, filled, tag::SCALAR, value.to_string().as_bytes(), buf)
    } else {
        // Only a string could represent this integer. That would be a loss, and only the other writer reports losses.
        None
    }
}

#[inline(always)]
fn push_float<const NET: bool>(
    chunk: &mut Chunk,
    filled: usize,
    value: f64,
    is_live: bool,
    buf: &mut Vec<u8>,
) -> Option<usize> {
    if let Some(integer) = exact_integer(value)
        && is_live
    {
        return push_integer::<NET>(chunk, filled, integer, is_live, buf);
    }
    if NET {
        return None;
    }
    let space = value_space(chunk, filled)?;
    space[0] = tag::DOUBLE;
    space[1..9].copy_from_slice(&value.to_le_bytes());
    Some(filled + 9)
}

/// Writes a string. `strings` are the input and the arena, which the node's location refers to.
#[inline(always)]
fn push_string<const NET: bool>(
    chunk: &mut Chunk,
    filled: usize,
    node: &Node,
    strings: (&[u8], &[u8]),
    buf: &mut Vec<u8>,
) -> Option<usize> {
    let (base, start) = match node.location() {
        Location::Input(start) => (strings.0, start),
        Location::Arena(start) => (strings.1, start),
    };
    let tag = if node.kind == Kind::Text { tag::UTF8STR } else { tag::SCALAR };
    let text = base.get(usize::try_from(start).ok()?..)?;
    let len = node.aux as usize;
    if len <= 32
        && let Some(window) = text.first_chunk::<32>()
    {
        let space = value_space(chunk, filled)?;
        space[0] = tag;
        space[1] = len as u8;
        space[2..34].copy_from_slice(window);
        return Some(filled + 2 + len);
    }
    // A longer string needs another tag. The length of the longest strings is not in `aux`.
    let text = text.get(..len).filter(|_| node.aux <= i32::MAX as u32)?;
    push_long_string::<NET>(chunk, filled, tag, text, buf)
}

/// Writes a string of any length. `tag` is the tag of a short string of this kind.
#[inline(never)]
fn push_long_string<const NET: bool>(
    chunk: &mut Chunk,
    filled: usize,
    tag: u8,
    text: &[u8],
    buf: &mut Vec<u8>,
) -> Option<usize> {
    let len = u32::try_from(text.len()).ok()?;
    let space = value_space(chunk, filled)?;
    let text_start = match u8::try_from(len) {
        Ok(short) => {
            space[..2].copy_from_slice(&[tag, short]);
            2
        }
        Err(_) => {
            space[0] = if tag == tag::UTF8STR { tag::LUTF8STR } else { tag::LSCALAR };
            space[1..5].copy_from_slice(&encode_length::<NET>(len));
            5
        }
    };
    let filled = flush_chunk(chunk, filled + text_start, buf);
    buf.extend_from_slice(text);
    Some(filled)
}

/// Writes length and bytes of a key without flags.
#[inline(always)]
fn push_key<const NET: bool>(
    chunk: &mut Chunk,
    filled: usize,
    id: u16,
    names: &Names,
    buf: &mut Vec<u8>,
) -> Option<usize> {
    let (entry, bytes) = names.get_plain(id)?;
    let len = entry.node.aux as usize;
    // When several containers end together, their keys follow each other, and no other check is between them.
    let filled = if filled >= CHUNK { flush_chunk(chunk, filled, buf) } else { filled };
    let space = value_space(chunk, filled)?;
    space[..4].copy_from_slice(&encode_length::<NET>(entry.node.aux));
    if len <= 16 {
        space[4..20].copy_from_slice(&entry.head.to_le_bytes());
        return Some(filled + 4 + len);
    }
    let Location::Arena(start) = entry.node.location() else { return None };
    let start = usize::try_from(start).ok()?;
    let text = bytes.get(start..start + len).filter(|text| text.len() <= i32::MAX as usize)?;
    let filled = flush_chunk(chunk, filled + 4, buf);
    buf.extend_from_slice(text);
    Some(filled)
}
