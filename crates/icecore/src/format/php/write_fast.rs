//! Writes common documents that a program of PHP's filled, in one loop: no spelling, no
//! losses, links to what stands before. It gives up at anything else, and then the machine
//! in [`super::write`] writes the document; tests compare both.

use super::text::{integer_key, is_class_name, is_enum_case, push_float};
use crate::document::{Document, Form, IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Names, Node, flag};
use crate::format::Parts;
use crate::limits::Limits;
use crate::output::{Kept, Spare};

/// How much is collected before the output gets it.
const CHUNK: usize = 8 << 10;
/// No more than this is written without a look whether the chunk is full.
const SLACK: usize = 256;
/// Strings up to this length are copied as a block of fixed size.
const BLOCK: usize = 32;
/// Longer ones too, if there is room behind them.
const TWO_BLOCKS: usize = 64;
/// The front of an object up to here is kept: `O:8:"stdClass":`.
const FRONT: usize = 48;

type Chunk = [u8; CHUNK + SLACK];

/// A container that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// How many entries were written, and how many there are.
    count: u32,
    most: u32,
    is_list: bool,
    is_object: bool,
}

/// How far a document is.
#[derive(Debug, Default)]
struct State {
    /// The innermost container, and those around it.
    inner: Option<Open>,
    open: Vec<Open>,
    slots: Vec<Slot>,
    /// The number that was given last.
    next: u32,
    /// How many nodes were in the parts before.
    base: u32,
}

/// The position of the next item of a list, `i:5;`, counted in decimal digits. The text is a
/// number, first byte lowest, so that it stays in a register.
#[derive(Clone, Copy)]
struct Position {
    text: u64,
    /// How many bytes it has; 0: it has more than eight.
    len: u32,
    number: u32,
}

impl Position {
    #[cold]
    fn of(number: u32) -> Position {
        let mut text = u64::from(b';');
        let mut len = 1;
        let mut left = number;
        loop {
            text = (text << 8) | (u64::from(b'0') + u64::from(left % 10));
            left /= 10;
            len += 1;
            if left == 0 || len == 6 {
                break;
            }
        }
        let text = (text << 16) | (u64::from(b':') << 8) | u64::from(b'i');
        Position { text, len: if left == 0 { len + 2 } else { 0 }, number }
    }

    #[inline(always)]
    fn next(&mut self) {
        let last = (8 * self.len.wrapping_sub(2)) & 63;
        self.number = self.number.wrapping_add(1);
        if self.len != 0 && (self.text >> last) as u8 != b'9' {
            self.text += 1 << last;
        } else {
            *self = Position::of(self.number);
        }
    }
}

/// A value that links name: its node and its number.
#[derive(Debug)]
struct Slot {
    node: u32,
    number: u32,
}

/// What all of it is written from and to.
struct Fast<'d, 'o> {
    document: &'d Document<'d>,
    nodes: &'d [Node],
    /// Where the bytes of strings are: the input, or the arena.
    input: &'d [u8],
    arena: &'d [u8],
    names: &'d Names,
    buf: &'o mut Vec<u8>,
    keys: &'o mut [Kept<BLOCK>],
    fronts: &'o mut [Kept<FRONT>],
    /// By which keys and fronts of objects are kept.
    stamps: (u64, u64),
    state: &'o mut State,
    most: u64,
    start: usize,
}

/// Writes a document of at most `most` bytes. `None`: there is something special about it.
pub(super) fn write_fast(
    document: &Document<'_>,
    limits: &Limits,
    parts: &mut Parts,
    buf: &mut Vec<u8>,
    most: u64,
) -> Option<()> {
    let mut state = State::default();
    write(document, limits, (&mut parts.spare, false), &mut state, (buf, most))?;
    state.inner.is_none().then_some(())
}

/// Writes the next part of a document.
pub(super) fn write_part(
    document: &Document<'_>,
    limits: &Limits,
    parts: &mut Parts,
    buf: &mut Vec<u8>,
    most: u64,
) -> Option<()> {
    let Parts { spare, memory, begun, .. } = parts;
    let state = memory.of::<State>();
    if !*begun {
        *state = State::default();
    }
    write(document, limits, (spare, *begun), state, (buf, most))?;
    state.base = state.base.checked_add(u32::try_from(document.nodes().len()).ok()?)?;
    *begun = true;
    Some(())
}

fn write(
    document: &Document<'_>,
    limits: &Limits,
    (spare, begun): (&mut Spare, bool),
    state: &mut State,
    (buf, most): (&mut Vec<u8>, u64),
) -> Option<()> {
    let tape = document.tape();
    if document.header().is_some() || document.spelling().is_some() {
        return None;
    }
    let Spare { bytes, keys, fronts, .. } = spare;
    if bytes.len() < CHUNK + SLACK {
        bytes.resize(CHUNK + SLACK, 0);
    }
    if keys.len() <= tape.keys().len() {
        keys.resize(tape.keys().len() + 1, Kept::default());
    }
    if fronts.len() <= tape.classes().len() {
        fronts.resize(tape.classes().len() + 1, Kept::default());
    }
    let start = buf.len();
    let mut fast = Fast {
        document,
        nodes: tape.nodes(),
        input: document.input(),
        arena: tape.arena(),
        names: tape.keys(),
        buf,
        keys,
        fronts,
        stamps: (stamp_of(tape.keys()), stamp_of(tape.classes())),
        state,
        most,
        start,
    };
    let chunk = bytes.first_chunk_mut()?;
    let first = if begun { 0 } else { tape.root() };
    let to = fast.run(chunk, first, begun, limits)?;
    fast.flush(chunk, to).map(|_| ())
}

// Every function here is given where it writes to, and says where it ended: so that this
// stays in a register.
impl Fast<'_, '_> {
    fn run(&mut self, chunk: &mut Chunk, first: u32, begun: bool, limits: &Limits) -> Option<usize> {
        let (mut at, mut to) = (first, 0);
        if !begun {
            (to, self.state.inner) = self.value(chunk, 0, &mut at)?;
        }
        let Some(mut open) = self.state.inner.take() else {
            return (at as usize == self.nodes.len()).then_some(to);
        };
        let mut position = Position::of(open.count);
        loop {
            if to >= CHUNK {
                to = self.flush(chunk, to)?;
            }
            if open.count == open.most {
                chunk[to] = b'}';
                to += 1;
                match self.state.open.pop() {
                    Some(outer) => open = outer,
                    None => return (at as usize == self.nodes.len()).then_some(to),
                }
                continue;
            }
            let Some(mut node) = self.nodes.get(at as usize) else {
                self.state.inner = Some(open);
                return Some(to);
            };
            if open.is_list {
                if node.key != NO_KEY {
                    return None;
                }
                if position.number != open.count {
                    position = Position::of(open.count);
                }
                if position.len == 0 {
                    to = integer(chunk, to, i64::from(open.count));
                } else {
                    chunk[to..to + 8].copy_from_slice(&position.text.to_le_bytes());
                    to += position.len as usize;
                }
                position.next();
            } else if node.key < IS_KEY {
                let kept = self.keys.get(usize::from(node.key))?;
                if kept.stamp == self.stamps.0 && (open.is_object || !kept.is_cast) {
                    chunk[to..to + BLOCK].copy_from_slice(&kept.text);
                    to += usize::from(kept.len);
                } else {
                    to = self.new_key(chunk, to, node.key, open.is_object)?;
                }
            } else {
                to = self.key_node(chunk, to, at, node, open.is_object)?;
                at += 1;
                node = self.nodes.get(at as usize)?;
            }
            open.count += 1;
            if let Some(behind) = self.leaf(chunk, to, node) {
                to = behind;
                at += 1;
                self.state.next += 1;
                continue;
            }
            let (behind, inner) = self.value(chunk, to, &mut at)?;
            to = behind;
            if let Some(inner) = inner {
                if self.state.open.len() + 1 >= limits.depth as usize {
                    return None;
                }
                self.state.open.push(std::mem::replace(&mut open, inner));
            }
        }
    }

    /// Passes on what was collected.
    fn flush(&mut self, chunk: &Chunk, to: usize) -> Option<usize> {
        self.buf.extend_from_slice(&chunk[..to]);
        ((self.buf.len() - self.start) as u64 <= self.most).then_some(0)
    }

    /// Bytes of any number.
    fn long(&mut self, chunk: &mut Chunk, to: usize, bytes: &[u8]) -> Option<usize> {
        if bytes.len() <= CHUNK.saturating_sub(to) {
            return Some(put(chunk, to, bytes));
        }
        self.flush(chunk, to)?;
        self.buf.extend_from_slice(bytes);
        ((self.buf.len() - self.start) as u64 <= self.most).then_some(0)
    }

    /// `s:5:"hello";`
    #[inline(always)]
    fn quoted(
        &mut self,
        chunk: &mut Chunk,
        to: usize,
        letter: u8,
        base: &[u8],
        start: usize,
        len: usize,
    ) -> Option<usize> {
        let mut to = if len < 10 {
            put(chunk, to, &[letter, b':', b'0' + len as u8, b':', b'"'])
        } else {
            let to = put(chunk, to, &[letter, b':']);
            let to = digits(chunk, to, len as u64);
            put(chunk, to, b":\"")
        };
        let rest = base.get(start..)?;
        to = if len <= BLOCK
            && let Some(block) = rest.first_chunk::<BLOCK>()
        {
            chunk[to..to + BLOCK].copy_from_slice(block);
            to + len
        } else if len <= TWO_BLOCKS
            && let Some(block) = rest.first_chunk::<TWO_BLOCKS>()
        {
            chunk[to..to + TWO_BLOCKS].copy_from_slice(block);
            to + len
        } else {
            self.long(chunk, to, rest.get(..len)?)?
        };
        Some(put(chunk, to, b"\";"))
    }

    #[inline(always)]
    fn string(&mut self, chunk: &mut Chunk, to: usize, letter: u8, node: &Node) -> Option<usize> {
        if node.aux == u32::MAX {
            let bytes = self.document.bytes(node);
            return self.quoted(chunk, to, letter, bytes, 0, bytes.len());
        }
        let (base, start) = match node.place() {
            Location::Input(start) => (self.input, start),
            Location::Arena(start) => (self.arena, start),
        };
        self.quoted(chunk, to, letter, base, usize::try_from(start).ok()?, node.aux as usize)
    }

    // -- Keys --------------------------------------------------------------------

    /// A key that is the node at `at`.
    fn key_node(&mut self, chunk: &mut Chunk, to: usize, at: u32, node: &Node, is_object: bool) -> Option<usize> {
        if node.key != IS_KEY || node.flags != 0 || self.nodes.get(at as usize + 1)?.key != KEY_NODE {
            return None;
        }
        match node.kind {
            Kind::Int => Some(integer(chunk, to, node.payload as i64)),
            Kind::Bytes if is_object || !is_cast(self.document.bytes(node)) => self.string(chunk, to, b's', node),
            _ => None,
        }
    }

    /// A key that was not written in this document, or that is long.
    #[inline(never)]
    fn new_key(&mut self, chunk: &mut Chunk, to: usize, id: u16, is_object: bool) -> Option<usize> {
        let names = self.names;
        let name = names.get(u32::from(id)).filter(|name| name.node.flags == 0)?;
        let casts = name.node.kind == Kind::Bytes && is_cast(name.bytes);
        let end = match name.node.kind {
            Kind::Int => integer(chunk, to, name.node.payload as i64),
            Kind::Bytes if is_object || !casts => self.quoted(chunk, to, b's', name.bytes, 0, name.bytes.len())?,
            _ => return None,
        };
        let len = end.wrapping_sub(to);
        if len <= BLOCK
            && self.stamps.0 != NONE
            && let Some(text) = chunk.get(to..to + BLOCK)
            && let Ok(text) = text.try_into()
        {
            self.keys[usize::from(id)] = Kept { text, len: len as u8, is_cast: casts, stamp: self.stamps.0 };
        }
        Some(end)
    }

    // -- Values -------------------------------------------------------------------

    /// Writes a leaf that nothing names. `None`: it is another value.
    #[inline(always)]
    fn leaf(&mut self, chunk: &mut Chunk, to: usize, node: &Node) -> Option<usize> {
        if node.flags != 0 {
            return None;
        }
        match node.kind {
            Kind::Bytes if node.aux as usize <= TWO_BLOCKS => self.string(chunk, to, b's', node),
            Kind::Int => Some(integer(chunk, to, node.payload as i64)),
            Kind::Null => Some(put(chunk, to, b"N;")),
            Kind::Bool => Some(put(chunk, to, if node.payload != 0 { b"b:1;" } else { b"b:0;" })),
            _ => None,
        }
    }

    /// Any value: a leaf whole, of a container the front, which is then open. `at` is moved
    /// behind what was written.
    fn value(&mut self, chunk: &mut Chunk, to: usize, at: &mut u32) -> Option<(usize, Option<Open>)> {
        let node = self.nodes.get(*at as usize)?;
        if node.flags & !flag::TARGET != 0 {
            return None;
        }
        if node.kind != Kind::Alias {
            self.state.next += 1;
        }
        if node.has(flag::TARGET) {
            let slot = Slot { node: self.state.base + *at, number: self.state.next };
            self.state.slots.push(slot);
        }
        let to = match node.kind {
            Kind::Array | Kind::Map => {
                let to = put(chunk, to, b"a:");
                return self.container(chunk, to, at, node, false);
            }
            Kind::Object => return self.object(chunk, to, at, node),
            Kind::Alias => {
                let slot = self.slot(node.payload as u32)?;
                again(chunk, to, b'R', slot)
            }
            Kind::Link => {
                // What a `__sleep` that failed left is null, and PHP links to it all the same.
                let slot = self.slot(node.payload as u32)?;
                again(chunk, to, b'r', slot)
            }
            Kind::Bytes => self.string(chunk, to, b's', node)?,
            Kind::Int => integer(chunk, to, node.payload as i64),
            Kind::Float => self.float(chunk, to, f64::from_bits(node.payload)),
            Kind::Null => put(chunk, to, b"N;"),
            Kind::Bool => put(chunk, to, if node.payload != 0 { b"b:1;" } else { b"b:0;" }),
            Kind::EnumCase if is_enum_case(self.document.bytes(node)) => self.string(chunk, to, b'E', node)?,
            _ => return None,
        };
        *at += 1;
        Some((to, None))
    }

    fn slot(&self, node: u32) -> Option<u32> {
        let found = self.state.slots.binary_search_by_key(&node, |slot| slot.node).ok()?;
        self.state.slots.get(found).map(|slot| slot.number)
    }

    fn float(&mut self, chunk: &mut Chunk, to: usize, value: f64) -> usize {
        let to = put(chunk, to, b"d:");
        // It is put together behind what was passed on, and taken away again.
        let before = self.buf.len();
        push_float(value, self.buf);
        let len = (self.buf.len() - before).min(64);
        chunk[to..to + len].copy_from_slice(&self.buf[before..before + len]);
        self.buf.truncate(before);
        put(chunk, to + len, b";")
    }

    /// `2:{`, behind what says which container it is.
    #[inline(always)]
    fn container(
        &mut self,
        chunk: &mut Chunk,
        to: usize,
        at: &mut u32,
        node: &Node,
        is_object: bool,
    ) -> Option<(usize, Option<Open>)> {
        let to = digits(chunk, to, u64::from(node.aux));
        let to = put(chunk, to, b":{");
        *at += 1;
        Some((to, Some(Open { count: 0, most: node.aux, is_list: node.kind == Kind::Array, is_object })))
    }

    /// `O:3:"Foo":2:{`
    fn object(&mut self, chunk: &mut Chunk, to: usize, at: &mut u32, node: &Node) -> Option<(usize, Option<Open>)> {
        let body = self.nodes.get(*at as usize + 1).filter(|body| body.kind == Kind::Map && body.flags == 0)?;
        if node.form() != Form::Usual {
            return None;
        }
        let to = match self.fronts.get(node.class() as usize) {
            Some(kept) if kept.stamp == self.stamps.1 => {
                chunk[to..to + FRONT].copy_from_slice(&kept.text);
                to + usize::from(kept.len)
            }
            _ => self.new_front(chunk, to, node.class())?,
        };
        *at += 1;
        self.container(chunk, to, at, body, true)
    }
}

impl Fast<'_, '_> {
    /// `O:3:"Foo":`
    #[inline(never)]
    fn new_front(&mut self, chunk: &mut Chunk, start: usize, class: u32) -> Option<usize> {
        let classes = self.document.tape().classes();
        let name = classes.get(class)?.bytes;
        if !is_class_name(name) {
            return None;
        }
        let to = put(chunk, start, b"O:");
        let to = digits(chunk, to, name.len() as u64);
        let to = put(chunk, to, b":\"");
        let to = self.long(chunk, to, name)?;
        let to = put(chunk, to, b"\":");
        let len = to.wrapping_sub(start);
        if len <= FRONT
            && self.stamps.1 != NONE
            && let Some(text) = chunk.get(start..start + FRONT)
            && let Ok(text) = text.try_into()
            && let Some(kept) = self.fronts.get_mut(class as usize)
        {
            *kept = Kept { text, len: len as u8, is_cast: false, stamp: self.stamps.1 };
        }
        Some(to)
    }
}

/// In the place of the stamp of a table that has none: nothing is kept by it.
const NONE: u64 = u64::MAX;

fn stamp_of(names: &Names) -> u64 {
    if names.stamp() == 0 { NONE } else { names.stamp() }
}

// -- Pieces ----------------------------------------------------------------------

/// At most `SLACK` bytes.
#[inline(always)]
fn put(chunk: &mut Chunk, to: usize, bytes: &[u8]) -> usize {
    chunk[to..to + bytes.len()].copy_from_slice(bytes);
    to + bytes.len()
}

#[inline(always)]
fn digits(chunk: &mut Chunk, to: usize, mut value: u64) -> usize {
    const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
        2021222324252627282930313233343536373839\
        4041424344454647484950515253545556575859\
        6061626364656667686970717273747576777879\
        8081828384858687888990919293949596979899";
    let pair = |number: u64| [PAIRS[number as usize * 2], PAIRS[number as usize * 2 + 1]];
    if value < 10 {
        chunk[to] = b'0' + value as u8;
        return to + 1;
    }
    if value < 100 {
        return put(chunk, to, &pair(value));
    }
    if value < 10_000 {
        let ([a, b], [c, d]) = (pair(value / 100), pair(value % 100));
        return if value < 1000 { put(chunk, to, &[b, c, d]) } else { put(chunk, to, &[a, b, c, d]) };
    }
    let len = value.ilog10() as usize + 1;
    let mut end = to + len;
    while value >= 10 {
        end -= 2;
        put(chunk, end, &pair(value % 100));
        value /= 100;
    }
    if len % 2 == 1 {
        chunk[end - 1] = b'0' + value as u8;
    }
    to + len
}

/// `r:5;` or `R:5;`
fn again(chunk: &mut Chunk, to: usize, letter: u8, slot: u32) -> usize {
    let to = put(chunk, to, &[letter, b':']);
    let to = digits(chunk, to, u64::from(slot));
    put(chunk, to, b";")
}

/// `i:5;`
#[inline(always)]
fn integer(chunk: &mut Chunk, to: usize, value: i64) -> usize {
    let to = if value < 0 { put(chunk, to, b"i:-") } else { put(chunk, to, b"i:") };
    let to = digits(chunk, to, value.unsigned_abs());
    put(chunk, to, b";")
}

/// Whether a string becomes an integer as a key of an array.
fn is_cast(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b'0'..=b'9' | b'-')) && integer_key(bytes).is_some()
}

#[cfg(test)]
mod tests;
