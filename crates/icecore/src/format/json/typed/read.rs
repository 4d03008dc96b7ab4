//! Reads `json:typed`: first as plain JSON, then each of its nodes is converted to the
//! node that it describes.

mod build;
mod source;

use super::PlainStringKind;
use super::form::Name;
use super::key::KeyMeaning;
use crate::document::{Detailed, Document, IS_KEY, Kind, NO_NODE, Node, Spelling, Tape, Trace};
use crate::error::{Error, ErrorKind};
use crate::format::json::{ReadOptions, read_plain};
use crate::format::{Outcome, Request};
use crate::limits::Limits;
use source::ResolvedKey;
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum number of levels of JSON that one level of a document needs: `$id`, `$weak`,
/// `$overload`, `$map`, its list and a pair, and some reserve.
const JSON_LEVELS_PER_LEVEL: u32 = 8;

/// Reads a document from `json:typed`.
pub(in crate::format::json) fn read_typed<'a>(
    input: &'a [u8],
    options: &ReadOptions,
    request: Request<'_>,
) -> Outcome<'a> {
    let Request { limits, detail, mut tape, .. } = request;
    tape.clear();
    let plain_limits = Limits { depth: limits.depth.saturating_mul(JSON_LEVELS_PER_LEVEL), ..limits.clone() };
    let read_untyped = |detail| {
        read_plain(input, options, Request { limits: &plain_limits, detail, salvages: false, tape: Tape::new() })
    };
    let Outcome { document, consumed, error } = read_untyped(detail);
    if error.is_some() {
        return Outcome { document, consumed, error };
    }
    let trace = document.trace().cloned();
    let mut reader = TypedReader::new(input, document.into_tape(), limits, tape);
    let (node_error, spelling) = match reader.read_document() {
        Ok(spelling) => (None, spelling),
        Err(error) => (Some(error), None),
    };
    let error = node_error.map(|node_error| {
        // Positions in the input are only needed now.
        let detailed_trace = if trace.is_none() { read_untyped(true).document.trace().cloned() } else { None };
        let extents = trace.as_ref().or(detailed_trace.as_ref()).map(|trace| &trace.extents);
        let start =
            extents.and_then(|extents| extents.get(node_error.plain_node as usize)).map_or(0, |extent| extent.start);
        let found = reader.describe_value(node_error.plain_node);
        let error = node_error.error.at(usize::try_from(start).unwrap_or(usize::MAX)).finding(found);
        let error = error.on_path(reader.next_value_path());
        reader.close_open_containers();
        error
    });
    let TypedReader { tape, plain_nodes, .. } = reader;
    let mut document = match trace {
        None => Document::new(input, tape),
        Some(trace) => {
            let mut sink = Detailed { tape, ..Detailed::default() };
            sink.detail.trace = convert_trace(trace, &plain_nodes);
            Document::from_detailed(input, sink)
        }
    };
    if let Some(spelling) = spelling {
        document.set_spelling(spelling);
    }
    Outcome { document, consumed, error }
}

/// Converts the trace of the plain document to one of the document that it describes;
/// `plain_nodes` has the plain node for each node.
fn convert_trace(trace: Trace, plain_nodes: &[u32]) -> Trace {
    let extents = plain_nodes
        .iter()
        .map(|plain_node| trace.extents.get(*plain_node as usize).copied().unwrap_or_default())
        .collect();
    let mut nodes = vec![NO_NODE; trace.extents.len()];
    for (index, plain_node) in (0u32..).zip(plain_nodes) {
        if let Some(node) = nodes.get_mut(*plain_node as usize) {
            *node = index;
        }
    }
    // A node that only describes another one belongs to it.
    let mut last = NO_NODE;
    for node in &mut nodes {
        last = if *node == NO_NODE { last } else { *node };
        *node = last;
    }
    let mut spans = trace.spans;
    for span in &mut spans {
        span.node = nodes.get(span.node as usize).copied().unwrap_or(NO_NODE);
    }
    Trace { spans, extents, layer: trace.layer, cut: Vec::new() }
}

/// An error at a node of the plain document.
pub(super) struct NodeError {
    plain_node: u32,
    error: Error,
}

impl NodeError {
    #[cold]
    pub(super) fn new(plain_node: u32, expected: impl Into<Cow<'static, str>>) -> NodeError {
        NodeError { plain_node, error: Error::new(ErrorKind::Malformed).expecting(expected) }
    }

    #[cold]
    fn from_error(plain_node: u32, error: Error) -> NodeError {
        NodeError { plain_node, error }
    }

    #[cold]
    fn finding(self, found: impl Into<Cow<'static, str>>) -> NodeError {
        NodeError { plain_node: self.plain_node, error: self.error.finding(found) }
    }

    #[cold]
    fn helping(self, help: impl Into<Cow<'static, str>>) -> NodeError {
        NodeError { plain_node: self.plain_node, error: self.error.helping(help) }
    }
}

/// Where a value goes: its key, or its own role as a key.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u16,
    flags: u8,
}

/// Tasks still to do, the next one last.
enum ReadTask {
    Value {
        plain_node: u32,
        slot: Slot,
    },
    /// The value of a key that is allowed but absent.
    Absent {
        plain_node: u32,
        slot: Slot,
    },
    /// The items between two nodes, as children.
    Items {
        next: u32,
        end: u32,
    },
    /// The entries between two nodes; `index` is the number of the next one.
    Entries {
        next: u32,
        end: u32,
        index: u32,
    },
    /// The pairs of a `$map`, and the indexes of those with a read-only value, ascending.
    Pairs {
        next: u32,
        end: u32,
        index: u32,
        locked: Vec<u64>,
    },
    /// The keys of a `$placeholders`.
    Placeholders {
        next: u32,
        end: u32,
        index: u32,
    },
    /// Sets the form of an object that does not specify it.
    Form {
        node: u32,
    },
    Close {
        node: u32,
        count: u32,
    },
}

/// A link whose target may follow later in the plain document.
struct UnresolvedLink {
    node: u32,
    /// The number that `$id` assigns to its target.
    number: u64,
    /// Its place in the plain document, for errors.
    plain_node: u32,
}

/// Converts a plain document to the one that it describes.
pub(super) struct TypedReader<'a, 'r> {
    input: &'a [u8],
    /// The plain document. Its arena was moved to the other tape.
    source: Tape,
    limits: &'r Limits,
    tape: Tape,
    strings: PlainStringKind,
    tasks: Vec<ReadTask>,
    depth: u32,
    /// Meanings of the keys of the plain document, by id.
    keys: Vec<Option<ResolvedKey>>,
    ids: HashMap<u64, u32>,
    links: Vec<UnresolvedLink>,
    /// For each node, the node of the plain document that it came from.
    plain_nodes: Vec<u32>,
    /// The key of the value that is being read.
    current_key: u16,
}

impl<'a, 'r> TypedReader<'a, 'r> {
    fn new(input: &'a [u8], mut source: Tape, limits: &'r Limits, mut tape: Tape) -> TypedReader<'a, 'r> {
        tape.arena = std::mem::take(&mut source.arena);
        tape.long_strings = std::mem::take(&mut source.long_strings);
        TypedReader {
            input,
            source,
            limits,
            tape,
            strings: PlainStringKind::Text,
            tasks: Vec::new(),
            depth: 0,
            keys: Vec::new(),
            ids: HashMap::new(),
            links: Vec::new(),
            plain_nodes: Vec::new(),
            current_key: 0,
        }
    }

    fn read_document(&mut self) -> Result<Option<Spelling>, NodeError> {
        let mut spelling = None;
        let mut value = self.source.root;
        if self.is_outermost(value) {
            let values = self.read_form_values(value)?;
            self.find_form_keys(value, &values)?;
            self.read_version(&values)?;
            if let Some(header) = values.get(Name::Header) {
                self.tape.header = Some(self.tape.len());
                self.read_value(header, Slot::default())?;
                self.run_tasks()?;
            }
            spelling =
                values.get(Name::Spelling).map(|spelling_place| self.read_spelling(spelling_place)).transpose()?;
            value = values.get(Name::Value).unwrap_or(value);
        }
        self.tape.root = self.tape.len();
        self.read_value(value, Slot::default())?;
        self.run_tasks()?;
        self.resolve_links()?;
        Ok(spelling)
    }

    fn read_version(&mut self, values: &source::FormValues) -> Result<(), NodeError> {
        if let Some(plain_node) = values.get(Name::Icecore) {
            match self.source_number(plain_node) {
                Some(1) => {}
                Some(higher) if higher > 1 => {
                    let error = Error::new(ErrorKind::Unsupported).expecting("version 1 of json:typed");
                    return Err(NodeError::from_error(plain_node, error.finding(format!("version {higher}"))));
                }
                _ => return Err(NodeError::new(plain_node, "the version for $icecore, 1")),
            }
        }
        if let Some(plain_node) = values.get(Name::Strings) {
            self.strings = match self.source_text(plain_node) {
                Some(b"text") => PlainStringKind::Text,
                Some(b"bytes") => PlainStringKind::Bytes,
                _ => return Err(NodeError::new(plain_node, "\"text\" or \"bytes\" for $strings")),
            };
        }
        Ok(())
    }

    fn run_tasks(&mut self) -> Result<(), NodeError> {
        while let Some(task) = self.tasks.pop() {
            match task {
                ReadTask::Value { plain_node, slot } => self.read_value(plain_node, slot)?,
                ReadTask::Absent { plain_node, slot } => self.push_absent(slot, plain_node)?,
                ReadTask::Items { next, end } => {
                    if next < end {
                        self.tasks.push(ReadTask::Items { next: self.source.index_after(next), end });
                        self.read_value(next, Slot::default())?;
                    }
                }
                ReadTask::Entries { next, end, index } => self.read_entry(next, end, index)?,
                ReadTask::Pairs { next, end, index, locked } => self.read_pair(next, end, index, locked)?,
                ReadTask::Placeholders { next, end, index } => self.read_placeholder(next, end, index)?,
                ReadTask::Form { node } => self.set_object_form(node),
                ReadTask::Close { node: at, count } => {
                    self.tape.close_container(at, count);
                    self.depth -= 1;
                }
            }
        }
        Ok(())
    }

    /// Sets the targets of the links.
    fn resolve_links(&mut self) -> Result<(), NodeError> {
        for UnresolvedLink { node, number, plain_node } in &self.links {
            let Some(target) = self.ids.get(number) else {
                let error = Error::new(ErrorKind::BadLink)
                    .expecting("the number of an $id")
                    .finding(format!("{number}, which no value has"))
                    .on_path(self.tape.path_to(*node, self.input));
                return Err(NodeError::from_error(*plain_node, error));
            };
            self.tape.nodes[*node as usize].payload = u64::from(*target);
            if self.tape.nodes[*node as usize].kind == Kind::Copy {
                if self.tape.index_after(*target) > *node {
                    let error = Error::new(ErrorKind::BadLink)
                        .expecting("a $copy of a value that is complete before it")
                        .finding(format!("one of {number}"))
                        .on_path(self.tape.path_to(*node, self.input));
                    return Err(NodeError::from_error(*plain_node, error));
                }
                self.tape.mark_copied(*target);
            }
        }
        // Links may refer to links, but not in a circle.
        let link = |index: u32| {
            let node = &self.tape.nodes[index as usize];
            node.kind.is_again().then_some(node.payload as u32)
        };
        for UnresolvedLink { node, plain_node, .. } in &self.links {
            let mut target = link(*node);
            for _ in 0..16 {
                target = target.and_then(link);
            }
            if target.is_some() {
                let error = Error::new(ErrorKind::BadLink)
                    .expecting("a link to a value")
                    .finding("one that only leads to other links")
                    .on_path(self.tape.path_to(*node, self.input));
                return Err(NodeError::from_error(*plain_node, error));
            }
        }
        Ok(())
    }

    /// Returns the path of the value that would be next.
    fn next_value_path(&mut self) -> String {
        let mut next = Node::leaf(Kind::Null, 0);
        next.key = self.current_key;
        let index = self.tape.push(next);
        let path = self.tape.path_to(index, self.input);
        self.tape.nodes.pop();
        path
    }

    /// Completes the document after an error.
    fn close_open_containers(&mut self) {
        // A key that is itself cut off stays, without a value.
        if self.tape.nodes.last().is_some_and(|node| node.key == IS_KEY && !node.kind.is_container()) {
            self.tape.nodes.pop();
        }
        while let Some(task) = self.tasks.pop() {
            if let ReadTask::Close { node: at, .. } = task {
                let (mut child, mut count) = (at + 1, 0);
                while child < self.tape.len() {
                    count += u32::from(self.tape.nodes[child as usize].key != IS_KEY);
                    child = self.tape.index_after(child);
                }
                self.tape.close_container(at, count);
            }
        }
        for link in &self.links {
            if let Some(node) = self.tape.nodes.get_mut(link.node as usize) {
                *node = Node { key: node.key, ..Node::leaf(Kind::Null, 0) };
            }
        }
        self.plain_nodes.truncate(self.tape.nodes.len());
    }

    /// Returns the meaning of the key of an entry in the plain document.
    fn read_key(&mut self, entry: &source::SourceEntry) -> KeyMeaning {
        self.resolve_key(entry).0
    }
}
