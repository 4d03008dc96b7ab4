//! Writes common documents that a program of PHP's filled, in one loop: no spelling, no
//! losses, links to what stands before. It gives up at anything else, and then the machine
//! in [`super::write`] writes the document; tests compare both.

use super::text::{is_class_name, push_float};
use crate::document::{Document, IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Names, Node, flag};
use crate::limits::Limits;
use crate::output::{Spare, TextKey};

/// How much is collected before the output gets it.
const CHUNK: usize = 8 << 10;
/// No more than this is written without a look whether the chunk is full.
const SLACK: usize = 128;
/// Strings up to this length are copied as a block of fixed size.
const BLOCK: usize = 32;

type Chunk = [u8; CHUNK + SLACK];

/// A container that is open.
#[derive(Clone, Copy)]
struct Open {
    end: u32,
    /// How many entries were written, and how many there are.
    count: u32,
    most: u32,
    is_list: bool,
    is_object: bool,
}

/// A value that links name: its node, its number, and whether it is an object.
struct Slot {
    node: u32,
    number: u32,
    is_object: bool,
}

struct Fast<'d, 'o> {
    document: &'d Document<'d>,
    nodes: &'d [Node],
    names: &'d Names,
    chunk: &'o mut Chunk,
    to: usize,
    buf: &'o mut Vec<u8>,
    keys: &'o mut Vec<TextKey>,
    /// The number of this document among those that the keys were kept for.
    this: u32,
    open: Vec<Open>,
    slots: Vec<Slot>,
    next: u32,
    most: u64,
    start: usize,
}

/// Writes a document of at most `most` bytes. `None`: there is something special about it.
pub(super) fn write_fast(
    document: &Document<'_>,
    limits: &Limits,
    spare: &mut Spare,
    buf: &mut Vec<u8>,
    most: u64,
) -> Option<()> {
    let tape = document.tape();
    if document.header().is_some() || document.spelling().is_some() {
        return None;
    }
    let Spare { bytes, keys, documents, .. } = spare;
    if bytes.len() < CHUNK + SLACK {
        bytes.resize(CHUNK + SLACK, 0);
    }
    if keys.len() <= tape.keys().len() {
        keys.resize(tape.keys().len() + 1, TextKey::default());
    }
    *documents = documents.checked_add(1).unwrap_or_else(|| {
        keys.fill(TextKey::default());
        1
    });
    let start = buf.len();
    let mut fast = Fast {
        document,
        nodes: tape.nodes(),
        names: tape.keys(),
        chunk: bytes.first_chunk_mut()?,
        to: 0,
        buf,
        keys,
        this: *documents,
        open: Vec::new(),
        slots: Vec::new(),
        next: 0,
        most,
        start,
    };
    fast.run(tape.root(), limits)?;
    fast.flush()
}

impl Fast<'_, '_> {
    fn run(&mut self, root: u32, limits: &Limits) -> Option<()> {
        let mut at = root;
        let mut open = match self.value(&mut at, self.nodes.len() as u32)? {
            Some(open) => open,
            None => return Some(()),
        };
        loop {
            if self.to >= CHUNK {
                self.flush()?;
            }
            if at == open.end {
                self.chunk[self.to] = b'}';
                self.to += 1;
                if open.count != open.most {
                    return None;
                }
                open = match self.open.pop() {
                    Some(outer) => outer,
                    None => return Some(()),
                };
                continue;
            }
            let node = self.nodes.get(at as usize)?;
            if open.is_list {
                if node.key != NO_KEY {
                    return None;
                }
                self.integer(i64::from(open.count));
            } else {
                self.key(node, &mut at, open.is_object)?;
                if at >= open.end {
                    return None;
                }
            }
            open.count += 1;
            let node = self.nodes.get(at as usize)?;
            if self.leaf(node) {
                at += 1;
                continue;
            }
            if let Some(inner) = self.value(&mut at, open.end)? {
                if self.open.len() + 1 >= limits.depth as usize {
                    return None;
                }
                self.open.push(std::mem::replace(&mut open, inner));
            }
        }
    }

    /// Passes on what was collected.
    fn flush(&mut self) -> Option<()> {
        self.buf.extend_from_slice(&self.chunk[..self.to]);
        self.to = 0;
        ((self.buf.len() - self.start) as u64 <= self.most).then_some(())
    }

    // -- Pieces ----------------------------------------------------------------

    /// At most `SLACK - 8` bytes.
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.chunk[self.to..self.to + bytes.len()].copy_from_slice(bytes);
        self.to += bytes.len();
    }

    #[inline(always)]
    fn digits(&mut self, mut value: u64) {
        const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
            2021222324252627282930313233343536373839\
            4041424344454647484950515253545556575859\
            6061626364656667686970717273747576777879\
            8081828384858687888990919293949596979899";
        if value < 10 {
            self.chunk[self.to] = b'0' + value as u8;
            self.to += 1;
            return;
        }
        let len = value.ilog10() as usize + 1;
        let mut end = self.to + len;
        self.to = end;
        while value >= 10 {
            let pair = (value % 100) as usize * 2;
            value /= 100;
            end -= 2;
            self.chunk[end] = PAIRS[pair];
            self.chunk[end + 1] = PAIRS[pair + 1];
        }
        if len % 2 == 1 {
            self.chunk[end - 1] = b'0' + value as u8;
        }
    }

    #[inline(always)]
    fn integer(&mut self, value: i64) {
        self.put(b"i:");
        if value < 0 {
            self.chunk[self.to] = b'-';
            self.to += 1;
        }
        self.digits(value.unsigned_abs());
        self.chunk[self.to] = b';';
        self.to += 1;
    }

    /// `s:5:"hello";`
    #[inline(always)]
    fn quoted(&mut self, letter: u8, base: &[u8], start: usize, len: usize) -> Option<()> {
        self.chunk[self.to] = letter;
        self.chunk[self.to + 1] = b':';
        self.to += 2;
        self.digits(len as u64);
        self.put(b":\"");
        match base.get(start..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            Some(block) if len <= BLOCK => {
                self.chunk[self.to..self.to + BLOCK].copy_from_slice(block);
                self.to += len;
            }
            _ => self.long(base.get(start..start.checked_add(len)?)?)?,
        }
        self.put(b"\";");
        Some(())
    }

    /// Bytes of any number.
    fn long(&mut self, bytes: &[u8]) -> Option<()> {
        if bytes.len() <= CHUNK.saturating_sub(self.to) {
            self.put(bytes);
            return Some(());
        }
        self.flush()?;
        self.buf.extend_from_slice(bytes);
        ((self.buf.len() - self.start) as u64 <= self.most).then_some(())
    }

    #[inline(always)]
    fn string(&mut self, letter: u8, node: &Node) -> Option<()> {
        if node.aux == u32::MAX {
            return self.quoted(letter, self.document.bytes(node), 0, self.document.bytes(node).len());
        }
        let (base, start) = match node.place() {
            Location::Input(start) => (self.document.input(), start),
            Location::Arena(start) => (self.document.tape().arena(), start),
        };
        self.quoted(letter, base, usize::try_from(start).ok()?, node.aux as usize)
    }

    // -- Keys --------------------------------------------------------------------

    /// The key of an entry; `at` is moved behind a node that is one.
    #[inline(always)]
    fn key(&mut self, node: &Node, at: &mut u32, is_object: bool) -> Option<()> {
        let id = usize::from(node.key);
        if node.key < IS_KEY && node.key != NO_KEY {
            let kept = self.keys.get(id)?;
            if kept.document == self.this && (is_object || !kept.is_cast) {
                self.chunk[self.to..self.to + BLOCK].copy_from_slice(&kept.text);
                self.to += usize::from(kept.len);
                return Some(());
            }
            return self.new_key(node.key, is_object);
        }
        if node.key != IS_KEY || node.flags != 0 || self.nodes.get(*at as usize + 1)?.key != KEY_NODE {
            return None;
        }
        *at += 1;
        match node.kind {
            Kind::Int => self.integer(node.payload as i64),
            Kind::Bytes if is_object || !is_cast(self.document.bytes(node)) => self.string(b's', node)?,
            _ => return None,
        }
        Some(())
    }

    /// A key that was not written in this document, or that is long.
    fn new_key(&mut self, id: u16, is_object: bool) -> Option<()> {
        let name = self.names.get(u32::from(id))?;
        let before = self.to;
        if name.node.flags != 0 {
            return None;
        }
        let mut casts = false;
        match name.node.kind {
            Kind::Int => self.integer(name.node.payload as i64),
            Kind::Bytes => {
                casts = is_cast(name.bytes);
                if casts && !is_object {
                    return None;
                }
                self.quoted(b's', name.bytes, 0, name.bytes.len())?;
            }
            _ => return None,
        }
        let len = self.to.wrapping_sub(before);
        if len <= BLOCK
            && let Some(text) = self.chunk.get(before..before + BLOCK)
            && let Ok(text) = text.try_into()
        {
            self.keys[usize::from(id)] = TextKey { text, len: len as u8, is_cast: casts, document: self.this };
        }
        Some(())
    }

    // -- Values -------------------------------------------------------------------

    /// Writes a leaf that nothing names. Says no, and writes nothing, if it is another value.
    #[inline(always)]
    fn leaf(&mut self, node: &Node) -> bool {
        if node.flags != 0 {
            return false;
        }
        match node.kind {
            Kind::Bytes if node.aux as usize <= BLOCK => {
                let to = self.to;
                if self.string(b's', node).is_none() {
                    self.to = to;
                    return false;
                }
            }
            Kind::Int => self.integer(node.payload as i64),
            Kind::Null => self.put(b"N;"),
            Kind::Bool => self.put(if node.payload != 0 { b"b:1;" } else { b"b:0;" }),
            _ => return false,
        }
        self.next += 1;
        true
    }

    /// Any value: a leaf whole, of a container the front, which is then open. `at` is moved
    /// behind what was written.
    fn value(&mut self, at: &mut u32, within: u32) -> Option<Option<Open>> {
        let node = self.nodes.get(*at as usize)?;
        if node.flags & !flag::TARGET != 0 {
            return None;
        }
        let is_object = matches!(node.kind, Kind::Object | Kind::EnumCase);
        if node.kind == Kind::Alias {
            let slot = self.slot(node.payload as u32)?.number;
            self.put(b"R:");
            self.digits(u64::from(slot));
            self.put(b";");
            *at += 1;
            return Some(None);
        }
        self.next += 1;
        if node.kind == Kind::Link {
            let slot = self.slot(node.payload as u32).filter(|slot| slot.is_object)?.number;
            self.put(b"r:");
            self.digits(u64::from(slot));
            self.put(b";");
        }
        if node.has(flag::TARGET) {
            let is_object = is_object || node.kind == Kind::Link;
            self.slots.push(Slot { node: *at, number: self.next, is_object });
        }
        match node.kind {
            Kind::Array | Kind::Map => return self.container(at, node, within, false).map(Some),
            Kind::Object => return self.object(at, node, within).map(Some),
            Kind::Link => {}
            Kind::Bytes => self.string(b's', node)?,
            Kind::Int => self.integer(node.payload as i64),
            Kind::Float => self.float(f64::from_bits(node.payload)),
            Kind::Null => self.put(b"N;"),
            Kind::Bool => self.put(if node.payload != 0 { b"b:1;" } else { b"b:0;" }),
            Kind::EnumCase if super::text::is_enum_case(self.document.bytes(node)) => self.string(b'E', node)?,
            _ => return None,
        }
        *at += 1;
        Some(None)
    }

    fn slot(&self, node: u32) -> Option<&Slot> {
        let found = self.slots.binary_search_by_key(&node, |slot| slot.node).ok()?;
        self.slots.get(found)
    }

    fn float(&mut self, value: f64) {
        self.put(b"d:");
        // What it needs to work with: the output is empty behind what was passed on.
        let before = self.buf.len();
        push_float(value, self.buf);
        let len = (self.buf.len() - before).min(64);
        self.chunk[self.to..self.to + len].copy_from_slice(&self.buf[before..before + len]);
        self.to += len;
        self.buf.truncate(before);
        self.put(b";");
    }

    /// `a:2:{`
    fn container(&mut self, at: &mut u32, node: &Node, within: u32, is_object: bool) -> Option<Open> {
        let end = node.end();
        if end <= *at || end > within {
            return None;
        }
        if !is_object {
            self.put(b"a:");
        }
        self.digits(u64::from(node.aux));
        self.put(b":{");
        *at += 1;
        Some(Open { end, count: 0, most: node.aux, is_list: node.kind == Kind::Array, is_object })
    }

    /// `O:3:"Foo":2:{`
    fn object(&mut self, at: &mut u32, node: &Node, within: u32) -> Option<Open> {
        let body = self.nodes.get(*at as usize + 1).filter(|body| body.kind == Kind::Map && body.flags == 0)?;
        let name = self.document.tape().classes().get(node.class())?.bytes;
        if node.end() != body.end() || node.form() != crate::document::Form::Usual || !is_class_name(name) {
            return None;
        }
        self.put(b"O:");
        self.digits(name.len() as u64);
        self.put(b":\"");
        self.long(name)?;
        self.put(b"\":");
        *at += 1;
        self.container(at, body, within, true)
    }
}

/// Whether a string may become an integer as a key of an array.
fn is_cast(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b'0'..=b'9' | b'-'))
}
