//! Writes documents that have nothing special about them in one go: arrays and
//! hashes of strings and numbers that nothing refers to, not too deep. Most small
//! documents are such, and a large one can be written in parts.

use super::WriteOptions;
use super::image::Image;
use super::tag;
use super::usual::{bool_tag, integer_tag, whole};
use crate::codec::{Open, Parts};
use crate::document::{Document, Kind, NO_KEY, Names, Node, Place, flag};
use crate::output::Output;

/// Larger documents are worth the preparations, if they are not written in parts.
pub(super) const MOST_NODES: usize = 1 << 19;
/// How much is collected before the output gets it.
const CHUNK: usize = 16 << 10;
/// No more than this is written without a look whether the chunk is full.
const SLACK: usize = 128;

type Chunk = [u8; CHUNK + SLACK];

/// Writes a whole document. Says no, and writes nothing, if there is something
/// special about it.
pub(super) fn write_simple(document: &Document<'_>, options: &WriteOptions, out: &mut dyn Output) -> bool {
    if document.nodes().len() > MOST_NODES || !can_be_simple(document, options) {
        return false;
    }
    let mut parts = Parts { spare: out.take_spare(), ..Parts::default() };
    let buf = out.buffer();
    let start = buf.len();
    let written = write(document, options, &mut parts, buf).is_some() && parts.depth == 0 && parts.open[0].left == 0;
    if !written {
        buf.truncate(start);
    }
    out.give_spare(parts.spare);
    written
}

/// Writes the next part of a document. Says no, and writes nothing, if there is
/// something special about it.
pub(crate) fn write_part(
    document: &Document<'_>,
    options: &WriteOptions,
    parts: &mut Parts,
    out: &mut dyn Output,
) -> bool {
    let buf = out.buffer();
    let start = buf.len();
    let written = can_be_simple(document, options) && write(document, options, parts, buf).is_some();
    if !written {
        buf.truncate(start);
    }
    written
}

fn can_be_simple(document: &Document<'_>, options: &WriteOptions) -> bool {
    !(options.canonical || options.plain || document.tape().header.is_some() || document.spelling().is_some())
}

fn write(document: &Document<'_>, options: &WriteOptions, parts: &mut Parts, buf: &mut Vec<u8>) -> Option<()> {
    let tape = document.tape();
    let nodes = tape.nodes.get(tape.root as usize..)?;
    if !parts.begun {
        head(options, buf);
    }
    let bytes = &mut parts.spare.bytes;
    if bytes.len() < CHUNK + SLACK {
        bytes.resize(CHUNK + SLACK, 0);
    }
    let mut pen = Pen {
        chunk: bytes.first_chunk_mut()?,
        at: 0,
        strings: (document.input(), &tape.arena[..]),
        names: tape.keys(),
        netorder: options.netorder,
        has_bools: options.minor.is_some_and(|minor| minor >= 12),
    };
    let mut depth = parts.depth;
    // The container that is open: how much is left, its own key, and whether its
    // children have keys.
    let mut top = if parts.begun { parts.open[depth] } else { Open { left: 1, key: NO_KEY, is_map: false } };
    // The root is what the reference refers to that Storable was given.
    let mut is_root = !parts.begun;
    for node in nodes {
        if pen.at >= CHUNK {
            pen.pass_on(buf);
        }
        if node.flags & !flag::REF != 0 || (node.key != NO_KEY) != top.is_map || top.left == 0 {
            return None;
        }
        if matches!(node.kind, Kind::Array | Kind::Map) {
            let is_map = node.kind == Kind::Map;
            pen.front(is_map, is_root, node.aux)?;
            is_root = false;
            if node.aux > 0 {
                *parts.open.get_mut(depth)? = top;
                depth += 1;
                top = Open { left: node.aux, key: node.key, is_map };
                continue;
            }
        } else {
            pen.leaf(node, buf)?;
        }
        let mut key = node.key;
        loop {
            if key != NO_KEY {
                pen.key(key, buf)?;
            }
            top.left -= 1;
            if top.left > 0 || depth == 0 {
                break;
            }
            key = top.key;
            depth -= 1;
            top = parts.open[depth];
        }
    }
    pen.pass_on(buf);
    parts.begun = true;
    parts.depth = depth;
    *parts.open.get_mut(depth)? = top;
    Some(())
}

/// The header.
fn head(options: &WriteOptions, buf: &mut Vec<u8>) {
    let native = Image::native();
    let image = Image {
        file: options.file.unwrap_or(native.file),
        netorder: options.netorder,
        minor: options.minor.unwrap_or(native.minor),
        ..native
    };
    image.write(buf);
}

/// Where bytes go.
struct Pen<'p> {
    chunk: &'p mut Chunk,
    at: usize,
    /// What places refer to: the input and the arena.
    strings: (&'p [u8], &'p [u8]),
    names: &'p Names,
    netorder: bool,
    has_bools: bool,
}

impl Pen<'_> {
    #[inline(always)]
    fn pass_on(&mut self, buf: &mut Vec<u8>) {
        buf.extend_from_slice(&self.chunk[..self.at]);
        self.at = 0;
    }

    /// Room for what takes at most 64 bytes.
    #[inline(always)]
    fn room(&mut self) -> Option<&mut [u8; 64]> {
        self.chunk.get_mut(self.at..)?.first_chunk_mut()
    }

    #[inline(always)]
    fn length(&self, value: u32) -> [u8; 4] {
        if self.netorder { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    /// A reference, unless it is the root, and tag and count of what it refers to.
    #[inline(always)]
    fn front(&mut self, is_map: bool, is_root: bool, count: u32) -> Option<()> {
        let count = self.length(count);
        let skip = usize::from(is_root);
        let room = self.room()?;
        room[0] = tag::REF;
        room[1 - skip] = if is_map { tag::HASH } else { tag::ARRAY };
        room[2 - skip..6 - skip].copy_from_slice(&count);
        self.at += 6 - skip;
        Some(())
    }

    #[inline(always)]
    fn leaf(&mut self, node: &Node, buf: &mut Vec<u8>) -> Option<()> {
        match node.kind {
            Kind::Int => self.integer(node.payload as i64, buf),
            Kind::Bytes | Kind::Text => self.string(node, buf),
            Kind::Null => self.byte(tag::UNDEF),
            Kind::Float => self.float(f64::from_bits(node.payload), buf),
            Kind::Float32 => self.float(f64::from(f32::from_bits(node.payload as u32)), buf),
            Kind::Bool => self.byte(bool_tag(node.payload != 0, self.has_bools)),
            _ => None,
        }
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) -> Option<()> {
        self.room()?[0] = byte;
        self.at += 1;
        Some(())
    }

    #[inline(always)]
    fn integer(&mut self, value: i64, buf: &mut Vec<u8>) -> Option<()> {
        let tag = integer_tag(value, self.netorder);
        let room = self.room()?;
        room[0] = tag;
        self.at += match tag {
            tag::BYTE => {
                room[1] = (value + 128) as u8;
                2
            }
            tag::INTEGER => {
                room[1..9].copy_from_slice(&value.to_le_bytes());
                9
            }
            tag::NETINT => {
                room[1..5].copy_from_slice(&(value as i32).to_be_bytes());
                5
            }
            _ => return self.bytes(tag::SCALAR, value.to_string().as_bytes(), buf),
        };
        Some(())
    }

    #[inline(always)]
    fn float(&mut self, value: f64, buf: &mut Vec<u8>) -> Option<()> {
        if let Some(whole) = whole(value) {
            return self.integer(whole, buf);
        }
        if self.netorder {
            return None;
        }
        let room = self.room()?;
        room[0] = tag::DOUBLE;
        room[1..9].copy_from_slice(&value.to_le_bytes());
        self.at += 9;
        Some(())
    }

    #[inline(always)]
    fn string(&mut self, node: &Node, buf: &mut Vec<u8>) -> Option<()> {
        let len = node.aux as usize;
        let (base, start) = match node.place() {
            Place::Input(start) => (self.strings.0, usize::try_from(start).ok()?),
            Place::Arena(start) => (self.strings.1, usize::try_from(start).ok()?),
        };
        let tag = if node.kind == Kind::Text { tag::UTF8STR } else { tag::SCALAR };
        if len <= 32
            && let Some(window) = base.get(start..).and_then(|rest| rest.first_chunk::<32>())
        {
            let room = self.room()?;
            room[0] = tag;
            room[1] = len as u8;
            room[2..34].copy_from_slice(window);
            self.at += 2 + len;
            return Some(());
        }
        // Of the longest ones the length is elsewhere.
        let text = base.get(start..start.checked_add(len)?).filter(|_| node.aux <= i32::MAX as u32)?;
        self.bytes(tag, text, buf)
    }

    /// A string of any length; `tag` is the one for a short one.
    fn bytes(&mut self, tag: u8, text: &[u8], buf: &mut Vec<u8>) -> Option<()> {
        let len = u32::try_from(text.len()).ok()?;
        let long = self.length(len);
        let room = self.room()?;
        match u8::try_from(len) {
            Ok(short) => {
                room[..2].copy_from_slice(&[tag, short]);
                self.at += 2;
            }
            Err(_) => {
                room[0] = if tag == tag::UTF8STR { tag::LUTF8STR } else { tag::LSCALAR };
                room[1..5].copy_from_slice(&long);
                self.at += 5;
            }
        }
        self.pass_on(buf);
        buf.extend_from_slice(text);
        Some(())
    }

    /// Length and bytes of a key without flags.
    #[inline(always)]
    fn key(&mut self, id: u16, buf: &mut Vec<u8>) -> Option<()> {
        let names = self.names;
        let (entry, bytes) = names.plain(id)?;
        let len = self.length(entry.node.aux);
        if self.at >= CHUNK {
            self.pass_on(buf);
        }
        let room = self.room()?;
        room[..4].copy_from_slice(&len);
        if entry.node.aux <= 16 {
            room[4..20].copy_from_slice(&entry.head.to_le_bytes());
            self.at += 4 + entry.node.aux as usize;
            return Some(());
        }
        let Place::Arena(start) = entry.node.place() else { return None };
        let start = usize::try_from(start).ok()?;
        let text = bytes.get(start..start + entry.node.aux as usize).filter(|text| text.len() <= i32::MAX as usize)?;
        self.at += 4;
        self.pass_on(buf);
        buf.extend_from_slice(text);
        Some(())
    }
}
