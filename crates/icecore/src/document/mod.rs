//! The Document: the meaning of a blob, on one flat tape.
//!
//! `docs/tape.md` explains the tape by printing a real one.

mod builder;
mod classes;
mod code;
mod copies;
mod cursor;
mod cycles;
mod detail;
mod dump;
mod equal;
mod explanation;
mod find;
mod hooks;
mod host;
pub(crate) mod key_text;
mod mapped;
mod memory;
mod metadata;
mod names;
mod naming;
mod node;
mod part;
mod path;
mod recorder;
mod repair;
mod repeated;
mod rewrite;
mod sink;
mod source_spelling;
mod tape;
mod transcoded;
mod window;

pub(crate) use builder::Changes;
pub use builder::{Builder, CopiedValues};
pub use classes::ClassUse;
pub use code::CodeUse;
pub(crate) use code::runs_code;
pub use cursor::{BigInt, Cursor, Entries, Items, Key, Value};
pub use detail::{Cut, Detail, Extent, NO_NODE, Note, Span, Spelling, Trace};
pub use equal::Comparison;
pub use explanation::Explanation;
pub(crate) use find::{Step, is_symbol_name, lookup_names, match_rank, without_dot_before_bracket};
pub use metadata::Metadata;
pub(crate) use metadata::lose_metadata;
pub use names::{Entry as NameEntry, Name, Names};
pub use naming::Visibility;
pub(crate) use naming::{Naming, rename_for_target, rename_foreign_members, strip_visibility};
pub use node::{Form, IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, flag};
pub(crate) use path::{push_key, push_key_step, push_quoted};
pub(crate) use recorder::Recorder;
pub use repair::Repair;
pub(crate) use repeated::{find_shadowed, has_repeated, lose_repeated};
pub(crate) use rewrite::{GONE, Moves, Rewrite, same_node};
pub use sink::{Detailed, Sink};
pub use tape::Tape;
pub use window::ReceiveWindow;
pub(crate) use window::{TracedWindows, Windows};

pub(crate) use detail::{NoteReader, Replay};

pub(crate) use detail::{Ordinals, is_plain_key};
pub use memory::Memory;

use crate::limits::Limits;
use std::borrow::Cow;

/// A document: its meaning and, if requested, its spelling and spans.
///
/// Strings are borrowed from the input. Equality compares meaning and respects
/// sharing and cycles; see [`Comparison`] for looser kinds of equality.
///
/// ```
/// let document = icecore::read(br#"{"name": "Alice", "tags": ["a", "b"]}"#)?;
/// let root = document.root();
/// assert_eq!(root.get("name").and_then(|name| name.as_str()), Some("Alice"));
/// assert_eq!(root.get("tags").map(|tags| tags.len()), Some(2));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// The recorded detail, and the parts of a document:
///
/// ```
/// use icecore::{Document, Limits, Request, Stage, raw::Tape};
/// let limits = Limits::default();
/// let stage = Stage::parse("php")?;
/// let document = icecore::read_with(b"a:1:{i:0;i:+7;}", &stage, Request::new(&limits).detailed())?;
/// assert!(document.spelling().is_some() && document.trace().is_some());
/// assert_eq!((document.repairs().len(), document.metadata().len(), document.header().is_none()), (0, 0, true));
/// assert_eq!(document.step(0, 1, None, 0).as_deref(), Some("[0]"));
/// assert_eq!(document.short_step(0, 1, None, 0).as_deref(), Some("[0]"));
/// let mut owned: Document<'static> = document.into_owned();
/// owned.set_metadata(Vec::new());
/// let (bytes, tape) = owned.into_parts();
/// // The memory of a tape serves for the next document.
/// let tape: Tape = Document::from_tape(bytes, tape).into_tape();
/// assert_eq!(tape.nodes().len(), 2);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Document<'a> {
    input: Cow<'a, [u8]>,
    tape: Tape,
    spelling: Option<Box<Spelling>>,
    trace: Option<Box<Trace>>,
    repairs: Vec<Repair>,
    metadata: Vec<Metadata>,
}

impl<'a> Document<'a> {
    /// Creates a document from a tape whose borrowed strings are in `input`.
    pub(crate) fn new(input: impl Into<Cow<'a, [u8]>>, tape: Tape) -> Document<'a> {
        Document { input: input.into(), tape, spelling: None, trace: None, repairs: Vec::new(), metadata: Vec::new() }
    }

    /// Creates a document from a tape that was filled by hand; its borrowed strings are in `input`.
    pub fn from_tape(input: impl Into<Cow<'a, [u8]>>, tape: Tape) -> Document<'a> {
        Document::new(input, tape)
    }

    /// Returns the tape, for filling it or reading into it again.
    pub fn tape_mut(&mut self) -> &mut Tape {
        &mut self.tape
    }

    /// Returns the bytes that strings are borrowed from, and the tape.
    pub fn into_parts(self) -> (Cow<'a, [u8]>, Tape) {
        (self.input, self.tape)
    }

    /// Creates a document with everything that reading with detail recorded.
    pub(crate) fn from_detailed(input: impl Into<Cow<'a, [u8]>>, sink: Detailed) -> Document<'a> {
        let Detailed { tape, mut detail } = sink;
        detail.finish_notes(&tape);
        // Inner containers were recorded first.
        detail.trace.cut.sort_unstable_by_key(|cut| cut.node);
        Document {
            input: input.into(),
            tape,
            spelling: Some(Box::new(detail.spelling)),
            trace: Some(Box::new(detail.trace)),
            repairs: Vec::new(),
            metadata: Vec::new(),
        }
    }

    /// Returns the root value. The root of a document that broke off before its first value is null.
    pub fn root(&self) -> Cursor<'_> {
        Cursor::new(self, self.tape.root)
    }

    /// Returns the user header, which precedes the body of a Sereal document.
    pub fn header(&self) -> Option<Cursor<'_>> {
        self.tape.header.map(|index| Cursor::new(self, index))
    }

    /// Returns the value at this node index.
    pub fn at(&self, index: u32) -> Option<Cursor<'_>> {
        self.tape.nodes.get(index as usize).map(|_| Cursor::new(self, index))
    }

    /// Returns the path of the node at this index, from `$`.
    pub fn path(&self, index: u32) -> String {
        self.tape.path_to(index, &self.input)
    }

    /// Returns the nodes, in pre-order.
    pub fn nodes(&self) -> &[Node] {
        &self.tape.nodes
    }

    /// Returns the node at this index; null after the last one.
    #[inline]
    pub(crate) fn node(&self, index: u32) -> Node {
        self.tape.node(index)
    }

    /// Returns the tape.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// Returns the bytes that contain the borrowed strings: the input, or the data decompressed from it.
    pub fn input(&self) -> &[u8] {
        &self.input
    }

    /// Returns the number of bytes that the document was read from, after decompression; for a tape that a program
    /// filled, its size in memory.
    pub(crate) fn input_size(&self) -> usize {
        let strings = self.input.len().saturating_add(self.tape.arena.len());
        match self.tape.is_filled_by_caller() || self.input.is_empty() {
            true => strings.saturating_add(std::mem::size_of_val(self.nodes())),
            false => strings,
        }
    }

    /// Maximum number of links, references and other wrappers that a writer follows to reach a value. A chain with more
    /// steps than the tape has nodes is a cycle; each node counts twice, as a variable and as the target of a
    /// reference.
    pub(crate) fn max_link_steps(&self, limits: &Limits) -> u32 {
        let all = u32::try_from(self.nodes().len()).unwrap_or(u32::MAX).saturating_mul(2);
        limits.depth.min(all).saturating_add(64)
    }

    /// Returns the bytes of a node that has bytes.
    #[inline]
    pub fn bytes(&self, node: &Node) -> &[u8] {
        self.tape.string_bytes(node, &self.input)
    }

    /// Returns the byte form, if requested.
    pub fn spelling(&self) -> Option<&Spelling> {
        self.spelling.as_deref()
    }

    /// Returns the byte form, if requested and if it belongs to this format.
    pub(crate) fn spelling_of(&self, format: &str) -> Option<&Spelling> {
        self.spelling.as_deref().filter(|spelling| spelling.format == format)
    }

    /// Sets the byte form.
    pub(crate) fn set_spelling(&mut self, spelling: Spelling) {
        self.spelling = Some(Box::new(spelling));
    }

    /// Returns the position of each value in the input, if requested.
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_deref()
    }

    /// Changes that the reader made to the input in order to read it, because the caller asked for that:
    /// `php:repair=lengths`.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Returns the properties of the wrappers around the document.
    pub fn metadata(&self) -> &[Metadata] {
        &self.metadata
    }

    /// Sets the properties of the wrappers around the document; a writer of wrappers writes them again.
    pub fn set_metadata(&mut self, metadata: Vec<Metadata>) {
        self.metadata = metadata;
    }

    pub(crate) fn set_repairs(&mut self, repairs: Vec<Repair>) {
        self.repairs = repairs;
    }

    /// Returns a document with another tape whose nodes have the same places, and with everything else of this one.
    pub(crate) fn with_tape(&self, tape: Tape) -> Document<'_> {
        Document {
            input: Cow::Borrowed(&self.input),
            tape,
            spelling: self.spelling.clone(),
            trace: None,
            repairs: self.repairs.clone(),
            metadata: self.metadata.clone(),
        }
    }

    /// Drops the spelling and the trace.
    pub(crate) fn without_detail(mut self) -> Document<'a> {
        (self.spelling, self.trace) = (None, None);
        self
    }

    /// Returns the tape with its memory, for the next document.
    pub fn into_tape(self) -> Tape {
        self.tape
    }

    /// Returns the same document with nothing borrowed.
    pub fn into_owned(self) -> Document<'static> {
        Document {
            input: Cow::Owned(self.input.into_owned()),
            tape: self.tape,
            spelling: self.spelling,
            trace: self.trace,
            repairs: self.repairs,
            metadata: self.metadata,
        }
    }

    /// Returns the class name with this id.
    pub(crate) fn class_name(&self, id: u32) -> Option<Name<'_>> {
        self.tape.classes.get(id)
    }
}

impl PartialEq for Document<'_> {
    fn eq(&self, other: &Document<'_>) -> bool {
        Comparison::default().equal(self, other)
    }
}
