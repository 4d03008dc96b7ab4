//! The tape: nodes in pre-order, and their tables.

use super::memory::Memory;
use super::names::Names;
use super::naming::Naming;
use super::node::{self, Kind, Location, NO_KEY, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::steps;

/// Location and length of a long string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongString {
    pub(crate) location: Location,
    pub(crate) len: u64,
}

/// Maximum number of keys that a tape keeps for the next document.
const MAX_KEPT_KEYS: usize = 4096;

/// Nodes in pre-order and the tables that they refer to.
///
/// A [`Document`](super::Document) contains a tape. Readers append to it, and other code uses a cursor. A tape can be
/// [taken back](super::Document::into_tape) and used for the next document. Then that document needs no new memory.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    pub(crate) nodes: Vec<Node>,
    pub(crate) keys: Names,
    /// Data that a reader keeps for the next document. It is dropped together with the keys, because it refers to
    /// their ids.
    pub(crate) memory: Memory,
    pub(crate) classes: Names,
    pub(crate) encodings: Names,
    pub(crate) arena: Vec<u8>,
    pub(crate) long_strings: Vec<LongString>,
    pub(crate) root: u32,
    pub(crate) header: Option<u32>,
    /// If a sink removed items of the root: their number, and so the position of the first remaining item.
    pub(crate) first_item: u64,
    /// Whether a caller filled the tape, and not a reader. Then its ends and links were not checked.
    pub(crate) filled_by_caller: bool,
    /// Whether the caller's values are not those of the language that the target format belongs to.
    is_foreign: bool,
    /// The language of the format from which it was read.
    pub(crate) naming: Naming,
    /// Whether the tape may contain a [`Kind::Copy`].
    may_have_copies: bool,
}

impl Tape {
    /// Returns an empty tape.
    pub fn new() -> Tape {
        Tape::default()
    }

    /// Empties the tape, but keeps its memory and the keys that it knows.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.arena.clear();
        self.long_strings.clear();
        if self.keys.clear_if_larger(MAX_KEPT_KEYS) {
            self.memory = Memory::default();
        }
        self.classes.clear_if_larger(MAX_KEPT_KEYS);
        self.encodings.clear_if_larger(MAX_KEPT_KEYS);
        self.root = 0;
        self.header = None;
        self.first_item = 0;
        self.filled_by_caller = false;
        self.is_foreign = false;
        self.naming = Naming::Plain;
        self.may_have_copies = false;
    }

    /// Empties the tape for a document of a format of this language.
    pub(crate) fn clear_for(&mut self, naming: Naming) {
        self.clear();
        self.naming = naming;
    }

    /// Returns the nodes.
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the node at this index; null after the last one.
    #[inline]
    pub(crate) fn node(&self, index: u32) -> Node {
        self.nodes.get(index as usize).copied().unwrap_or(Node::leaf(Kind::Null, 0))
    }

    /// Returns the bytes of strings that are not borrowed from the input.
    #[inline]
    pub fn arena(&self) -> &[u8] {
        &self.arena
    }

    /// Returns the index of the root; the length of the tape if it has none.
    #[inline]
    pub fn root(&self) -> u32 {
        self.root
    }

    /// Returns the index of the user header of a Sereal document.
    #[inline]
    pub fn header(&self) -> Option<u32> {
        self.header
    }

    /// Returns the id of the key with this kind, these flags and bytes, for callers that fill a tape. `None` means that
    /// the key needs a node of its own.
    ///
    /// ```
    /// use icecore::{Kind, raw::Tape};
    /// let mut tape = Tape::new();
    /// assert_eq!(tape.key_id(Kind::Bytes, 0, b"name"), Some(1));
    /// assert_eq!(tape.key_id(Kind::Bytes, 0, b"name"), Some(1));
    /// ```
    pub fn key_id(&mut self, kind: Kind, flags: u8, name: &[u8]) -> Option<u16> {
        self.intern_key(Node::leaf(kind, 0).with(flags), name)
    }

    /// Returns the id of a class name, for callers that fill a tape.
    ///
    /// # Errors
    /// Of kind `Limit`, if there are too many.
    pub fn class_id(&mut self, kind: Kind, name: &[u8]) -> Result<u32, Error> {
        self.intern_class(kind, name)
    }

    /// Returns the id of a class whose name is in the encoding with this id, for callers that fill a tape.
    ///
    /// # Errors
    /// Of kind `Limit`, if there are too many.
    pub fn encoded_class_id(&mut self, encoding: u16, name: &[u8]) -> Result<u32, Error> {
        self.intern_encoded_class(encoding, name)
    }

    /// Returns the id of an encoding's name, for callers that fill a tape.
    ///
    /// # Errors
    /// Of kind `Limit`, if there are too many.
    pub fn encoding_id(&mut self, name: &[u8]) -> Result<u16, Error> {
        self.intern_encoding(name)
    }

    /// Returns the node of a string of 4 GB or more. The bytes are already in the arena of the tape that is being
    /// filled.
    pub fn long_string(&mut self, kind: Kind, location: Location, len: u64) -> Node {
        self.new_long_string(kind, location, len)
    }

    /// Takes the memory for nodes and for the arena out of the tape and empties it. The caller fills it and gives it
    /// back with [`Tape::fill`].
    pub fn take_memory(&mut self) -> (Vec<Node>, Vec<u8>) {
        self.nodes.clear();
        self.arena.clear();
        (std::mem::take(&mut self.nodes), std::mem::take(&mut self.arena))
    }

    /// Fills the tape with nodes in pre-order, whose keys and classes are ids of this tape, and with the bytes that
    /// their locations refer to.
    ///
    /// Containers must end after their own node and within each other, and links must name nodes that have
    /// [`flag::TARGET`]. Writers check this if they depend on it.
    pub fn fill(&mut self, nodes: Vec<Node>, arena: Vec<u8>, root: u32, header: Option<u32>) {
        self.nodes = nodes;
        self.arena = arena;
        self.root = root;
        self.header = header;
        self.filled_by_caller = true;
        self.is_foreign = false;
        self.naming = Naming::Plain;
    }

    /// Declares that the values of a filled tape come from another language, and not from the one of the target
    /// format. Then keys that differ may become equal, which writers report, and a float stays a float where Perl would
    /// store an integer.
    ///
    /// ```
    /// use icecore::{Document, Stage, raw::{Node, NO_KEY, Tape}};
    /// let mut tape = Tape::new();
    /// tape.fill(vec![Node::float(2.0)], Vec::new(), 0, None);
    /// tape.declare_foreign();
    /// let document = Document::from_tape(Vec::new(), tape);
    /// let mut storable = Vec::new();
    /// icecore::write_to(&document, &Stage::parse("storable")?, &icecore::Limits::default(), &mut storable)?;
    /// let reread = icecore::read(&storable)?;
    /// let referent = reread.root().children().next();
    /// assert_eq!(referent.and_then(|value| value.as_f64()), Some(2.0));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn declare_foreign(&mut self) {
        self.is_foreign = true;
    }

    /// Returns true if a running program of the target format's language filled the tape.
    pub(crate) fn has_live_values(&self) -> bool {
        self.filled_by_caller && !self.is_foreign
    }

    /// Returns true if a program of another language filled the tape.
    pub(crate) fn has_foreign_values(&self) -> bool {
        self.filled_by_caller && self.is_foreign
    }

    /// Replaces the nodes and keeps the tables. `may_have_copies` states whether the new nodes contain a copy.
    pub(super) fn set_nodes(&mut self, nodes: Vec<Node>, may_have_copies: bool) {
        self.nodes = nodes;
        self.may_have_copies |= may_have_copies;
    }

    /// Returns a tape with the same tables and other nodes.
    pub(crate) fn with_nodes(&self, nodes: Vec<Node>, root: u32, header: Option<u32>, may_have_copies: bool) -> Tape {
        Tape {
            nodes,
            keys: self.keys.clone(),
            memory: Memory::default(),
            classes: self.classes.clone(),
            encodings: self.encodings.clone(),
            arena: self.arena.clone(),
            long_strings: self.long_strings.clone(),
            root,
            header,
            first_item: self.first_item,
            filled_by_caller: self.filled_by_caller,
            is_foreign: self.is_foreign,
            naming: self.naming,
            may_have_copies,
        }
    }

    /// Returns `true` if the tape contains a [`Kind::Copy`].
    pub(crate) fn has_copies(&self) -> bool {
        (self.may_have_copies || self.filled_by_caller) && self.nodes.iter().any(|node| node.kind == Kind::Copy)
    }

    /// Returns `true` if a caller, not a reader, filled the tape.
    pub(crate) fn is_filled_by_caller(&self) -> bool {
        self.filled_by_caller
    }

    /// Checks the containers and links of a tape that a caller filled.
    ///
    /// # Errors
    /// Of kind `Usage`, if containers are not nested or the target of a link is not marked.
    pub(crate) fn check_structure(&self) -> Result<(), Error> {
        if !self.filled_by_caller || is_well_nested(&self.nodes) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Usage)
            .expecting("containers that end within each other, and links to nodes marked as targets")
            .finding("others"))
    }

    /// Checks that all strings together do not exceed the output that the limits allow for an input of `size` bytes.
    /// Each string counts once for every node that names it. Callers need this check if they build a value for each
    /// node, because they then copy a string several times.
    ///
    /// # Errors
    /// Of kind `Limit`, if they exceed it.
    pub fn check_strings(&self, limits: &Limits, size: usize) -> Result<(), Error> {
        let len = |node: &Node| match node.kind {
            Kind::Bytes | Kind::Text | Kind::Encoded | Kind::Symbol if node.aux == node::LONG_STRING => {
                self.long_strings.get(node.payload as usize).map_or(0, |long| long.len)
            }
            Kind::Bytes | Kind::Text | Kind::Encoded | Kind::Symbol => u64::from(node.aux),
            _ => 0,
        };
        let target = |node: &Node| self.nodes.get(node.payload as usize).map_or(0, len);
        let is_again = |node: &Node| matches!(node.kind, Kind::Link | Kind::Alias);
        let node_len = |node: &Node| if is_again(node) { target(node) } else { len(node) };
        let total_len = self.nodes.iter().fold(0u64, |sum, node| sum.saturating_add(node_len(node)));
        let max_bytes = limits.output_from(size);
        if total_len <= max_bytes { Ok(()) } else { Err(limits.too_much_output(max_bytes)) }
    }

    /// Returns the locations and lengths of strings that are too long for a node.
    pub fn long_strings(&self) -> impl Iterator<Item = (Location, u64)> {
        self.long_strings.iter().map(|long| (long.location, long.len))
    }

    /// Returns the names of keys, by id.
    #[inline]
    pub fn keys(&self) -> &Names {
        &self.keys
    }

    /// Returns the names of classes, by id.
    #[inline]
    pub fn classes(&self) -> &Names {
        &self.classes
    }

    /// Returns the names of encodings, by id.
    #[inline]
    pub fn encodings(&self) -> &Names {
        &self.encodings
    }

    /// Returns the number of nodes: the index of the next one.
    ///
    /// Readers limit the number of nodes by [`Limits::nodes`](crate::Limits), so it fits into 32 bits.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Appends a node and returns its index.
    #[inline]
    pub(crate) fn push(&mut self, node: Node) -> u32 {
        steps::count(1);
        let index = self.nodes.len() as u32;
        self.nodes.push(node);
        index
    }

    /// Makes a string node for bytes at `start` of the input.
    #[inline]
    pub(crate) fn new_borrowed_string(&mut self, kind: Kind, start: usize, len: usize) -> Node {
        self.new_string_at(kind, Location::Input(start as u64), len)
    }

    /// Makes a string node for bytes that are copied to the arena.
    pub(crate) fn new_owned_string(&mut self, kind: Kind, bytes: &[u8]) -> Node {
        let start = self.arena.len() as u64;
        self.arena.extend_from_slice(bytes);
        self.new_string_at(kind, Location::Arena(start), bytes.len())
    }

    /// Makes a string node for bytes at `location`.
    #[inline]
    pub(crate) fn new_string_at(&mut self, kind: Kind, location: Location, len: usize) -> Node {
        match u32::try_from(len) {
            Ok(len) if len < node::LONG_STRING => Node::string(kind, location, len),
            _ => self.new_long_string(kind, location, len as u64),
        }
    }

    #[cold]
    fn new_long_string(&mut self, kind: Kind, location: Location, len: u64) -> Node {
        self.long_strings.push(LongString { location, len });
        Node { kind, flags: 0, key: NO_KEY, aux: node::LONG_STRING, payload: self.long_strings.len() as u64 - 1 }
    }

    /// Closes the container at `index`. It has `count` children or entries, and ends at the current end of the tape.
    #[inline]
    pub(crate) fn close_container(&mut self, index: u32, count: u32) {
        let end = self.len();
        if let Some(node) = self.nodes.get_mut(index as usize) {
            node.aux = count;
            node.set_end(end);
        }
    }

    /// Assigns the key with this id to the value at `index`.
    #[inline]
    pub(crate) fn set_key(&mut self, index: u32, key: u16) {
        self.nodes[index as usize].key = key;
    }

    /// Sets the class of the container at `index`.
    pub(crate) fn set_class(&mut self, index: u32, class: u32) {
        self.nodes[index as usize].set_class(class);
    }

    /// Replaces the leaf at `index`.
    pub(crate) fn replace_node(&mut self, index: u32, node: Node) {
        self.nodes[index as usize] = node;
    }

    /// Sets flags of the node at `index`.
    #[inline]
    pub(crate) fn set_flags(&mut self, index: u32, flags: u8) {
        self.nodes[index as usize].flags |= flags;
    }

    /// Returns the id of a key, if it can have one.
    #[inline]
    pub(crate) fn intern_key(&mut self, node: Node, bytes: &[u8]) -> Option<u16> {
        self.keys.intern(node, bytes).and_then(|id| u16::try_from(id).ok())
    }

    /// Returns the id of a class name; `kind` is [`Kind::Text`] or [`Kind::Bytes`].
    pub(crate) fn intern_class(&mut self, kind: Kind, name: &[u8]) -> Result<u32, Error> {
        self.intern_class_node(Node::leaf(kind, 0), name)
    }

    /// Like [`Tape::intern_class`], for a name in the encoding with this id.
    pub(crate) fn intern_encoded_class(&mut self, encoding: u16, name: &[u8]) -> Result<u32, Error> {
        let mut node = Node::leaf(Kind::Encoded, 0);
        node.set_encoding(encoding);
        self.intern_class_node(node, name)
    }

    /// Like [`Tape::intern_class`], for a name with flags.
    pub(super) fn intern_class_node(&mut self, node: Node, name: &[u8]) -> Result<u32, Error> {
        self.classes
            .intern_always(node, name)
            .ok_or_else(|| Error::new(ErrorKind::Limit).expecting("at most 65,533 classes").finding("one more"))
    }

    /// Returns the id of an encoding's name.
    pub(crate) fn intern_encoding(&mut self, name: &[u8]) -> Result<u16, Error> {
        self.encodings
            .intern_always(Node::leaf(Kind::Bytes, 0), name)
            .and_then(|id| u16::try_from(id).ok())
            .filter(|id| *id < 0x8000)
            .ok_or_else(|| Error::new(ErrorKind::Limit).expecting("at most 32,767 encodings").finding("one more"))
    }

    /// Returns the index after the node at `index` and everything in it.
    #[inline]
    pub(crate) fn index_after(&self, index: u32) -> u32 {
        steps::count(1);
        let Some(node) = self.nodes.get(index as usize) else { return index.saturating_add(1) };
        if !node.kind.is_container() {
            index + 1
        } else if node.end() == 0 {
            self.len()
        } else {
            node.end()
        }
    }

    /// Marks the node at `index` as the target of a link or an alias.
    #[inline]
    pub(crate) fn mark_target(&mut self, index: u32) {
        self.nodes[index as usize].flags |= flag::TARGET;
    }

    /// Marks the node at `index` as the target of a copy.
    #[inline]
    pub(crate) fn mark_copied(&mut self, index: u32) {
        self.mark_target(index);
        self.may_have_copies = true;
    }

    /// Returns the bytes of a string node.
    #[inline]
    pub(crate) fn string_bytes<'d>(&'d self, node: &Node, input: &'d [u8]) -> &'d [u8] {
        let (location, len) = if node.aux == node::LONG_STRING {
            match self.long_strings.get(node.long_index()) {
                Some(long) => (long.location, long.len as usize),
                None => return &[],
            }
        } else {
            (node.location(), node.aux as usize)
        };
        let (base, start) = match location {
            Location::Input(start) => (input, start as usize),
            Location::Arena(start) => (&self.arena[..], start as usize),
        };
        base.get(start..start + len).unwrap_or(&[])
    }
}

/// Returns `true` if containers end after their own node and within each other, and links name nodes that are marked as
/// targets.
fn is_well_nested(nodes: &[Node]) -> bool {
    let Ok(count) = u32::try_from(nodes.len()) else { return false };
    if is_one_flat_container(nodes, count) {
        return true;
    }
    let mut ends = Vec::with_capacity(16);
    let mut end = count;
    let mut index = 0;
    for node in nodes {
        while index == end {
            let Some(outer) = ends.pop() else { return true };
            end = outer;
        }
        index += 1;
        if (node.kind as u8) < Kind::Link as u8 {
            continue;
        }
        if node.kind.is_again() {
            // Writers record only marked nodes, to notice a cycle. They would follow a link to an unmarked node
            // forever.
            let named = usize::try_from(node.payload).ok().and_then(|target| nodes.get(target));
            if !named.is_some_and(|named| named.has(flag::TARGET)) {
                return false;
            }
            continue;
        }
        if node.end() < index || node.end() > end {
            return false;
        }
        // An empty container does not have nodes whose ends must be compared with its own.
        if node.end() > index {
            ends.push(end);
            end = node.end();
        }
    }
    true
}

/// Returns `true` if the tape is one large container of leaves.
fn is_one_flat_container(nodes: &[Node], count: u32) -> bool {
    const LARGE: usize = 64;
    match nodes {
        [first, leaves @ ..] if leaves.len() > LARGE && first.kind.is_container() && first.end() == count => {
            leaves.iter().fold(true, |flat, node| flat & ((node.kind as u8) < Kind::Link as u8))
        }
        _ => false,
    }
}
