//! Values on a tape, without the cost of a `Document` for each blob.

use crate::mismatch::TypeMismatch;
use icecore::raw::{IS_KEY, Location, Node, Tape};
use icecore::{Document, Kind, Limits};
use std::borrow::Cow;
use std::cell::Cell;

/// Maximum length of a chain of links.
pub(crate) const MAX_LINKS: u32 = 64;
/// This length in the node of a string means that the string is long, and that its location is in a separate table.
const LONG_STRING: u32 = u32::MAX;

/// A blob that was read. Consists of its tape, and of the bytes that contain its strings.
pub(crate) struct TapeView<'d> {
    nodes: &'d [Node],
    arena: &'d [u8],
    input: &'d [u8],
    pub(crate) tape: &'d Tape,
    /// The document, for calls of the engine. It exists only if a field needs it.
    pub(crate) document: Option<&'d Document<'d>>,
    row_state: &'d RowState,
}

/// State that is collected while a row is made.
pub(crate) struct RowState {
    /// Remaining budget of the row, in nodes.
    remaining_budget: Cell<u64>,
    /// Whether there was an entry without a field.
    has_extra: Cell<bool>,
    /// Whether strings that are not UTF-8 become text. See [`Options::bytes_as_text`](crate::Options::bytes_as_text).
    makes_bytes_text: bool,
    /// Number of strings that became text although they are not UTF-8, and the index of the first one.
    byte_texts: Cell<(u64, u32)>,
}

impl RowState {
    /// Creates the state for a document that was read. The budget suffices for visiting everything once, and for the
    /// repeated visits of linked values that the limits allow.
    pub(crate) fn new(tape: &Tape, input: &[u8], limits: &Limits, makes_bytes_text: bool) -> RowState {
        let once = tape.nodes().len() + (input.len() + tape.arena().len()) / size_of::<Node>();
        RowState::with_size(once, limits, makes_bytes_text)
    }

    /// Creates the state for a blob. `size` is its number of nodes, or its number of bytes if it is not read as a
    /// whole.
    pub(crate) fn with_size(size: usize, limits: &Limits, makes_bytes_text: bool) -> RowState {
        let budget = limits.expanded_from(size).saturating_add(size as u64);
        let (has_extra, byte_texts) = Default::default();
        RowState { remaining_budget: Cell::new(budget), has_extra, makes_bytes_text, byte_texts }
    }

    /// Returns the number of strings that became text although they are not UTF-8, and the index of the first one.
    pub(crate) fn byte_texts(&self) -> (u64, u32) {
        self.byte_texts.get()
    }

    pub(crate) fn has_extra(&self) -> bool {
        self.has_extra.get()
    }
}

/// The key of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    /// A key in the table of names.
    Name(u16),
    /// A key that is the node at this index, before its value.
    Node(u32),
}

/// A value, from the perspective of a field.
pub(crate) enum Value<'d> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(&'d [u8]),
    List,
    Map,
    /// The name of a value that no field accepts.
    Other(&'static str),
}

impl<'d> TapeView<'d> {
    pub(crate) fn new(
        tape: &'d Tape,
        input: &'d [u8],
        document: Option<&'d Document<'d>>,
        row_state: &'d RowState,
    ) -> TapeView<'d> {
        TapeView { nodes: tape.nodes(), arena: tape.arena(), input, tape, document, row_state }
    }

    /// Records that there is an entry without a field.
    #[inline]
    pub(crate) fn set_has_extra(&self) {
        self.row_state.has_extra.set(true);
    }

    /// Returns a string as text. A string that is not UTF-8 becomes one character for each byte and is counted, if the
    /// options allow that; otherwise the result is `None`.
    pub(crate) fn make_text<'s>(&self, node: u32, bytes: &'s [u8]) -> Option<Cow<'s, str>> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Some(text.into());
        }
        if !self.row_state.makes_bytes_text {
            return None;
        }
        let (count, first) = self.row_state.byte_texts.get();
        self.row_state.byte_texts.set((count + 1, if count == 0 { node } else { first }));
        Some(bytes.iter().map(|byte| char::from(*byte)).collect())
    }

    /// Subtracts a value with this number of bytes from the budget. A value costs one node, and its bytes cost as
    /// many nodes as they would fill.
    #[inline]
    pub(crate) fn spend_budget(&self, index: u32, bytes: usize) -> Result<(), TypeMismatch> {
        let cost = 1 + (bytes / size_of::<Node>()) as u64;
        match self.row_state.remaining_budget.get().checked_sub(cost) {
            Some(left) => self.row_state.remaining_budget.set(left),
            None => return Err(TypeMismatch::expansion_limit(index)),
        }
        Ok(())
    }

    /// Returns the remaining budget of the row. [`TapeView::set_budget`] can restore it later.
    #[inline]
    pub(crate) fn budget(&self) -> u64 {
        self.row_state.remaining_budget.get()
    }

    /// Restores the budget that [`TapeView::budget`] returned.
    #[inline]
    pub(crate) fn set_budget(&self, left: u64) {
        self.row_state.remaining_budget.set(left);
    }

    /// Returns the node at this index. The engine's readers only write valid indexes on a tape. For any other index
    /// the node is null, so that a wrong index can't cause a panic.
    #[inline]
    pub(crate) fn node(&self, index: u32) -> &'d Node {
        const MISSING: &Node = &Node::leaf(Kind::Null, 0);
        self.nodes.get(index as usize).unwrap_or(MISSING)
    }

    /// Returns the index after a value.
    #[inline]
    pub(crate) fn index_after(&self, index: u32) -> u32 {
        self.index_after_node(self.node(index), index)
    }

    /// Returns the index after the value of this node, which is at `index`.
    #[inline]
    pub(crate) fn index_after_node(&self, node: &Node, index: u32) -> u32 {
        // `max` guarantees progress for a container without an end.
        if node.kind.is_container() { node.end().max(index + 1) } else { index + 1 }
    }

    /// Returns the value itself, after links, references, objects and attributes.
    #[inline]
    pub(crate) fn resolve_value(&self, index: u32) -> Result<u32, TypeMismatch> {
        let kind = self.node(index).kind;
        let is_resolved =
            !matches!(kind, Kind::Link | Kind::Alias | Kind::Copy | Kind::Ref | Kind::Object | Kind::Attrs);
        if is_resolved { Ok(index) } else { self.follow_references(index) }
    }

    fn follow_references(&self, from: u32) -> Result<u32, TypeMismatch> {
        let mut index = from;
        for _ in 0..MAX_LINKS {
            let node = self.node(index);
            index = match node.kind {
                Kind::Link | Kind::Alias | Kind::Copy => node.payload as u32,
                Kind::Ref | Kind::Object | Kind::Attrs => index + 1,
                _ => return Ok(index),
            };
        }
        Err(TypeMismatch::new(from, "a value", "references without an end"))
    }

    /// Returns the value after links and references. Unlike [`TapeView::resolve_value`], it does not enter objects
    /// and attributes.
    pub(crate) fn resolve_links(&self, from: u32) -> u32 {
        let mut index = from;
        for _ in 0..MAX_LINKS {
            let node = self.node(index);
            index = match node.kind {
                Kind::Link | Kind::Alias | Kind::Copy => node.payload as u32,
                Kind::Ref => index + 1,
                _ => return index,
            };
        }
        from
    }

    /// Returns true if a list or a map is empty. `aux` is the number of its items or entries.
    pub(crate) fn is_empty_container(&self, index: u32) -> bool {
        self.node(index).aux == 0
    }

    /// Returns true if the location of a string is in its node.
    #[inline]
    pub(crate) fn has_inline_location(&self, node: &Node) -> bool {
        node.aux != LONG_STRING
    }

    /// Returns the value at this index, which must not be a link, a reference, an object or attributes.
    #[inline]
    pub(crate) fn read_value(&self, index: u32) -> Value<'d> {
        let node = self.node(index);
        match node.kind {
            Kind::Null | Kind::Hole => Value::Null,
            Kind::Bool => Value::Bool(node.payload != 0),
            Kind::Int => Value::Int(node.payload as i64),
            Kind::Uint => Value::Uint(node.payload),
            Kind::Float => Value::Float(f64::from_bits(node.payload)),
            Kind::Float32 => Value::Float(f64::from(f32::from_bits(node.payload as u32))),
            Kind::Bytes | Kind::Text | Kind::Symbol | Kind::EnumCase if node.aux != LONG_STRING => {
                Value::Text(self.string_bytes(node))
            }
            Kind::Array => Value::List,
            Kind::Map => Value::Map,
            kind => Value::Other(describe_kind(kind)),
        }
    }

    /// Returns the bytes of a string.
    #[inline]
    pub(crate) fn string_bytes(&self, node: &Node) -> &'d [u8] {
        let (bytes, start) = match node.location() {
            Location::Input(start) => (self.input, start),
            Location::Arena(start) => (self.arena, start),
        };
        let start = start as usize;
        bytes.get(start..start + node.aux as usize).unwrap_or_default()
    }

    /// Returns the text of a key, which is a string or an integer.
    pub(crate) fn key_text<'k>(&self, key: Key, digits: &'k mut itoa::Buffer) -> Option<&'k [u8]>
    where
        'd: 'k,
    {
        let (kind, payload, bytes) = match key {
            Key::Name(id) => {
                let name = self.tape.keys().get(u32::from(id))?;
                (name.node.kind, name.node.payload, name.bytes)
            }
            Key::Node(index) => {
                let node = self.node(index);
                let bytes =
                    if node.kind.is_string() && self.has_inline_location(node) { self.string_bytes(node) } else { b"" };
                (node.kind, node.payload, bytes)
            }
        };
        match kind {
            Kind::Int => Some(digits.format(payload as i64).as_bytes()),
            kind if kind.is_string() => Some(bytes),
            _ => None,
        }
    }

    /// Returns true if two keys of a map are equal.
    pub(crate) fn is_same_key(&self, left: Key, right: Key) -> bool {
        match (left, right) {
            (Key::Name(left), Key::Name(right)) if left == right => true,
            _ => self.key_text(left, &mut itoa::Buffer::new()) == self.key_text(right, &mut itoa::Buffer::new()),
        }
    }

    /// Returns the class of a value. Follows links and references until it finds an object.
    pub(crate) fn find_class(&self, mut index: u32) -> Option<&'d [u8]> {
        for _ in 0..MAX_LINKS {
            let node = self.node(index);
            index = match node.kind {
                Kind::Object | Kind::Opaque => return Some(self.tape.classes().get(node.class())?.bytes),
                Kind::Link | Kind::Alias | Kind::Copy => node.payload as u32,
                Kind::Ref | Kind::Attrs => index + 1,
                _ => return None,
            };
        }
        None
    }

    /// Returns the entries of a map. Each entry is the key, and the index of the value.
    #[inline]
    pub(crate) fn entries(&self, map: u32) -> impl Iterator<Item = (Key, u32)> {
        let mut index = map + 1;
        (0..self.node(map).aux).map(move |_| {
            let node = self.node(index);
            let (key, value) = match node.key {
                IS_KEY => (Key::Node(index), self.index_after(index)),
                id => (Key::Name(id), index),
            };
            index = self.index_after(value);
            (key, value)
        })
    }

    /// Returns the items of a list, as indexes.
    #[inline]
    pub(crate) fn items(&self, list: u32) -> impl Iterator<Item = u32> {
        let mut index = list + 1;
        (0..self.node(list).aux).map(move |_| {
            let item = index;
            index = self.index_after(index);
            item
        })
    }
}

/// Returns the name of a kind of value.
fn describe_kind(kind: Kind) -> &'static str {
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
