//! Values on a tape, without the cost of a document for each blob.

use crate::misfit::Misfit;
use icecore::raw::{IS_KEY, Location, Node, Tape};
use icecore::{Document, Kind, Limits};
use std::cell::Cell;

/// How many links are followed one behind the other.
pub(crate) const LINKS: u32 = 64;
/// The length of a string whose place stands in a table of long ones.
const LONG: u32 = u32::MAX;

/// A document that was read: its tape, and the bytes that its strings are in.
pub(crate) struct View<'d> {
    nodes: &'d [Node],
    arena: &'d [u8],
    input: &'d [u8],
    pub(crate) tape: &'d Tape,
    /// For what asks the engine; there only if a field needs it.
    pub(crate) document: Option<&'d Document<'d>>,
    notes: &'d Notes,
}

/// What is noted while a row is made.
pub(crate) struct Notes {
    /// How much may still be made of it, in nodes.
    left: Cell<u64>,
    /// Whether there was an entry that no field has.
    has_extra: Cell<bool>,
}

impl Notes {
    /// Of a document that was read: all of it once, and what the limits say of links.
    pub(crate) fn new(tape: &Tape, input: &[u8], limits: &Limits) -> Notes {
        let once = tape.nodes().len() + (input.len() + tape.arena().len()) / size_of::<Node>();
        Notes::of(once, limits)
    }

    /// Of a blob of so many bytes that is not read as a whole, or of so many nodes.
    pub(crate) fn of(size: usize, limits: &Limits) -> Notes {
        let left = limits.expanded_from(size).saturating_add(size as u64);
        Notes { left: Cell::new(left), has_extra: Cell::new(false) }
    }

    pub(crate) fn has_extra(&self) -> bool {
        self.has_extra.get()
    }
}

/// The key of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    /// One of the table of names.
    Name(u16),
    /// One that stands before its value, at this node.
    Node(u32),
}

/// What a value is to a field.
pub(crate) enum Value<'d> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(&'d [u8]),
    List,
    Map,
    /// What no field takes: its name.
    Other(&'static str),
}

impl<'d> View<'d> {
    pub(crate) fn new(
        tape: &'d Tape,
        input: &'d [u8],
        document: Option<&'d Document<'d>>,
        notes: &'d Notes,
    ) -> View<'d> {
        View { nodes: tape.nodes(), arena: tape.arena(), input, tape, document, notes }
    }

    /// Notes that there is an entry that no field has.
    #[inline]
    pub(crate) fn note_extra(&self) {
        self.notes.has_extra.set(true);
    }

    /// Adds a value with so many bytes to what is made.
    #[inline]
    pub(crate) fn spend(&self, at: u32, bytes: usize) -> Result<(), Misfit> {
        let cost = 1 + (bytes / size_of::<Node>()) as u64;
        match self.notes.left.get().checked_sub(cost) {
            Some(left) => self.notes.left.set(left),
            None => return Err(Misfit::too_much(at)),
        }
        Ok(())
    }

    /// What may still be made of the blob; [`View::set_budget`] goes back to it.
    #[inline]
    pub(crate) fn budget(&self) -> u64 {
        self.notes.left.get()
    }

    /// Undoes what was spent since [`View::budget`] was asked.
    #[inline]
    pub(crate) fn set_budget(&self, left: u64) {
        self.notes.left.set(left);
    }

    /// The node at this index. The engine's readers leave no other on a tape.
    #[inline]
    pub(crate) fn node(&self, at: u32) -> &'d Node {
        const NONE: &Node = &Node::leaf(Kind::Null, 0);
        self.nodes.get(at as usize).unwrap_or(NONE)
    }

    /// The index behind a value.
    #[inline]
    pub(crate) fn next(&self, at: u32) -> u32 {
        self.next_of(self.node(at), at)
    }

    /// The index behind the value of this node, which stands there.
    #[inline]
    pub(crate) fn next_of(&self, node: &Node, at: u32) -> u32 {
        if node.kind.is_container() { node.end().max(at + 1) } else { at + 1 }
    }

    /// The value itself, behind links, references and what a class adds.
    #[inline]
    pub(crate) fn settle(&self, at: u32) -> Result<u32, Misfit> {
        let kind = self.node(at).kind;
        let is_settled =
            !matches!(kind, Kind::Link | Kind::Alias | Kind::Copy | Kind::Ref | Kind::Object | Kind::Attrs);
        if is_settled { Ok(at) } else { self.follow(at) }
    }

    fn follow(&self, from: u32) -> Result<u32, Misfit> {
        let mut at = from;
        for _ in 0..LINKS {
            let node = self.node(at);
            at = match node.kind {
                Kind::Link | Kind::Alias | Kind::Copy => node.payload as u32,
                Kind::Ref | Kind::Object | Kind::Attrs => at + 1,
                _ => return Ok(at),
            };
        }
        Err(Misfit::new(from, "a value", "references that go on and on"))
    }

    /// The value itself, behind links and references: an object stays one.
    pub(crate) fn target(&self, from: u32) -> u32 {
        let mut at = from;
        for _ in 0..LINKS {
            let node = self.node(at);
            at = match node.kind {
                Kind::Link | Kind::Alias | Kind::Copy => node.payload as u32,
                Kind::Ref => at + 1,
                _ => return at,
            };
        }
        from
    }

    /// Whether a list or a map has nothing in it.
    pub(crate) fn is_empty(&self, at: u32) -> bool {
        self.node(at).aux == 0
    }

    /// Whether the place of a string stands in its node.
    #[inline]
    pub(crate) fn is_short(&self, node: &Node) -> bool {
        node.aux != LONG
    }

    /// What a settled value is.
    #[inline]
    pub(crate) fn value(&self, at: u32) -> Value<'d> {
        let node = self.node(at);
        match node.kind {
            Kind::Null | Kind::Hole => Value::Null,
            Kind::Bool => Value::Bool(node.payload != 0),
            Kind::Int => Value::Int(node.payload as i64),
            Kind::Uint => Value::Uint(node.payload),
            Kind::Float => Value::Float(f64::from_bits(node.payload)),
            Kind::Float32 => Value::Float(f64::from(f32::from_bits(node.payload as u32))),
            Kind::Bytes | Kind::Text | Kind::Symbol | Kind::EnumCase if node.aux != LONG => {
                Value::Text(self.bytes(node))
            }
            Kind::Array => Value::List,
            Kind::Map => Value::Map,
            kind => Value::Other(name(kind)),
        }
    }

    /// The bytes of a string.
    #[inline]
    pub(crate) fn bytes(&self, node: &Node) -> &'d [u8] {
        let (from, start) = match node.place() {
            Location::Input(start) => (self.input, start),
            Location::Arena(start) => (self.arena, start),
        };
        let start = start as usize;
        from.get(start..start + node.aux as usize).unwrap_or_default()
    }

    /// The text of a key, which is a string or an integer.
    pub(crate) fn key<'k>(&self, key: Key, digits: &'k mut itoa::Buffer) -> Option<&'k [u8]>
    where
        'd: 'k,
    {
        let (kind, payload, bytes) = match key {
            Key::Name(id) => {
                let name = self.tape.keys().get(u32::from(id))?;
                (name.node.kind, name.node.payload, name.bytes)
            }
            Key::Node(at) => {
                let node = self.node(at);
                let bytes = if node.kind.is_string() && self.is_short(node) { self.bytes(node) } else { b"" };
                (node.kind, node.payload, bytes)
            }
        };
        match kind {
            Kind::Int => Some(digits.format(payload as i64).as_bytes()),
            kind if kind.is_string() => Some(bytes),
            _ => None,
        }
    }

    /// Whether two keys of a map are the same.
    pub(crate) fn is_same_key(&self, one: Key, other: Key) -> bool {
        match (one, other) {
            (Key::Name(one), Key::Name(other)) if one == other => true,
            _ => self.key(one, &mut itoa::Buffer::new()) == self.key(other, &mut itoa::Buffer::new()),
        }
    }

    /// The class of a value that is not settled yet.
    pub(crate) fn class(&self, mut at: u32) -> Option<&'d [u8]> {
        for _ in 0..LINKS {
            let node = self.node(at);
            at = match node.kind {
                Kind::Object | Kind::Opaque => return Some(self.tape.classes().get(node.class())?.bytes),
                Kind::Link | Kind::Alias | Kind::Copy => node.payload as u32,
                Kind::Ref | Kind::Attrs => at + 1,
                _ => return None,
            };
        }
        None
    }

    /// The entries of a map: the key, and where the value is.
    #[inline]
    pub(crate) fn entries(&self, map: u32) -> impl Iterator<Item = (Key, u32)> {
        let mut at = map + 1;
        (0..self.node(map).aux).map(move |_| {
            let node = self.node(at);
            let (key, value) = match node.key {
                IS_KEY => (Key::Node(at), self.next(at)),
                id => (Key::Name(id), at),
            };
            at = self.next(value);
            (key, value)
        })
    }

    /// The items of a list.
    #[inline]
    pub(crate) fn items(&self, list: u32) -> impl Iterator<Item = u32> {
        let mut at = list + 1;
        (0..self.node(list).aux).map(move |_| {
            let item = at;
            at = self.next(at);
            item
        })
    }
}

/// What a kind of value is called.
fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::BigInt => "an integer of more than 64 bits",
        Kind::Float128 => "a float of 128 bits",
        Kind::Encoded => "text in another encoding",
        Kind::Module => "a class as a value",
        Kind::Opaque => "an object that its class froze",
        Kind::Regexp => "a regular expression",
        Kind::Code => "code",
        Kind::VString => "a v-string",
        Kind::Tied => "a tied variable",
        _ => "a string of 4 GB or more",
    }
}
