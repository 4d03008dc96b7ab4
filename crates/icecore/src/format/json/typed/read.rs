//! Reads `json:typed`: first as plain JSON, then each of its nodes is converted to the
//! node that it describes.

mod build;
mod source;

use super::Strings;
use super::form::Name;
use super::key::Read;
use crate::document::{Detailed, Document, IS_KEY, Kind, NO_NODE, Node, Spelling, Tape, Trace};
use crate::error::{Error, ErrorKind};
use crate::format::json::{ReadOptions, read_plain};
use crate::format::{Outcome, Request};
use crate::limits::Limits;
use source::KeyOf;
use std::borrow::Cow;
use std::collections::HashMap;

/// How many levels of JSON one level of a document needs at most: `$id`, `$weak`,
/// `$overload`, `$map`, its list and a pair, and some reserve.
const LEVELS: u32 = 8;

/// Reads a document from `json:typed`.
pub(in crate::format::json) fn read<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    tape.clear();
    let loose = Limits { depth: limits.depth.saturating_mul(LEVELS), ..limits.clone() };
    let plain = |detail| read_plain(input, options, Request { limits: &loose, detail, tape: Tape::new() });
    let Outcome { document, consumed, error } = plain(detail);
    if error.is_some() {
        return Outcome { document, consumed, error };
    }
    let trace = document.trace().cloned();
    let mut reader = Reader::new(input, document.into_tape(), limits, tape);
    let (wrong, spelling) = match reader.document() {
        Ok(spelling) => (None, spelling),
        Err(wrong) => (Some(wrong), None),
    };
    let error = wrong.map(|wrong| {
        // Positions in the input are only needed now.
        let again = if trace.is_none() { plain(true).document.trace().cloned() } else { None };
        let extents = trace.as_ref().or(again.as_ref()).map(|trace| &trace.extents);
        let start = extents.and_then(|extents| extents.get(wrong.at as usize)).map_or(0, |extent| extent.start);
        let found = reader.describe(wrong.at);
        let error = wrong.error.at(usize::try_from(start).unwrap_or(usize::MAX)).finding(found);
        let error = error.on_path(reader.path());
        reader.close_all();
        error
    });
    let Reader { tape, places, .. } = reader;
    let mut document = match trace {
        None => Document::new(input, tape),
        Some(trace) => {
            let mut sink = Detailed { tape, ..Detailed::default() };
            sink.detail.trace = retraced(trace, &places);
            Document::detailed(input, sink)
        }
    };
    if let Some(spelling) = spelling {
        document.set_spelling(spelling);
    }
    Outcome { document, consumed, error }
}

/// Converts the trace of the plain document to one of the document that it describes;
/// `places` has the plain node for each node.
fn retraced(trace: Trace, places: &[u32]) -> Trace {
    let extents = places.iter().map(|place| trace.extents.get(*place as usize).copied().unwrap_or_default()).collect();
    let mut nodes = vec![NO_NODE; trace.extents.len()];
    for (at, place) in (0u32..).zip(places) {
        if let Some(node) = nodes.get_mut(*place as usize) {
            *node = at;
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
pub(super) struct Wrong {
    at: u32,
    error: Error,
}

impl Wrong {
    #[cold]
    pub(super) fn new(at: u32, expected: impl Into<Cow<'static, str>>) -> Wrong {
        Wrong { at, error: Error::new(ErrorKind::Malformed).expecting(expected) }
    }

    #[cold]
    fn of(at: u32, error: Error) -> Wrong {
        Wrong { at, error }
    }

    #[cold]
    fn finding(self, found: impl Into<Cow<'static, str>>) -> Wrong {
        Wrong { at: self.at, error: self.error.finding(found) }
    }

    #[cold]
    fn helping(self, help: impl Into<Cow<'static, str>>) -> Wrong {
        Wrong { at: self.at, error: self.error.helping(help) }
    }
}

/// Where a value goes: its key, or its own role as a key.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u16,
    flags: u8,
}

/// Tasks still to do, the next one last.
enum Task {
    Value {
        at: u32,
        slot: Slot,
    },
    /// The value of a key that is allowed but absent.
    Absent {
        at: u32,
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
        at: u32,
    },
    Close {
        at: u32,
        count: u32,
    },
}

/// Converts a plain document to the one that it describes.
pub(super) struct Reader<'a, 'r> {
    input: &'a [u8],
    /// The plain document. Its arena was moved to the other tape.
    source: Tape,
    limits: &'r Limits,
    tape: Tape,
    strings: Strings,
    tasks: Vec<Task>,
    depth: u32,
    /// Meanings of the keys of the plain document, by id.
    keys: Vec<Option<KeyOf>>,
    ids: HashMap<u64, u32>,
    /// The links: node, number and position in the plain document.
    links: Vec<(u32, u64, u32)>,
    /// For each node, the node of the plain document that it came from.
    places: Vec<u32>,
    /// The key of the value that is being read.
    pending: u16,
}

impl<'a, 'r> Reader<'a, 'r> {
    fn new(input: &'a [u8], mut source: Tape, limits: &'r Limits, mut tape: Tape) -> Reader<'a, 'r> {
        tape.arena = std::mem::take(&mut source.arena);
        tape.long = std::mem::take(&mut source.long);
        Reader {
            input,
            source,
            limits,
            tape,
            strings: Strings::Text,
            tasks: Vec::new(),
            depth: 0,
            keys: Vec::new(),
            ids: HashMap::new(),
            links: Vec::new(),
            places: Vec::new(),
            pending: 0,
        }
    }

    fn document(&mut self) -> Result<Option<Spelling>, Wrong> {
        let mut spelling = None;
        let mut value = self.source.root;
        if self.is_outermost(value) {
            let parts = self.parts(value)?;
            self.check_parts(value, &parts)?;
            self.version(&parts)?;
            if let Some(at) = parts.get(Name::Header) {
                self.tape.header = Some(self.tape.len());
                self.value(at, Slot::default())?;
                self.run()?;
            }
            spelling = parts.get(Name::Spelling).map(|at| self.spelling(at)).transpose()?;
            value = parts.get(Name::Value).unwrap_or(value);
        }
        self.tape.root = self.tape.len();
        self.value(value, Slot::default())?;
        self.run()?;
        self.resolve()?;
        Ok(spelling)
    }

    fn version(&mut self, parts: &source::Parts) -> Result<(), Wrong> {
        if let Some(at) = parts.get(Name::Icecore) {
            match self.source_number(at) {
                Some(1) => {}
                Some(higher) if higher > 1 => {
                    let error = Error::new(ErrorKind::Unsupported).expecting("version 1 of json:typed");
                    return Err(Wrong::of(at, error.finding(format!("version {higher}"))));
                }
                _ => return Err(Wrong::new(at, "the version for $icecore, 1")),
            }
        }
        if let Some(at) = parts.get(Name::Strings) {
            self.strings = match self.source_text(at) {
                Some(b"text") => Strings::Text,
                Some(b"bytes") => Strings::Bytes,
                _ => return Err(Wrong::new(at, "\"text\" or \"bytes\" for $strings")),
            };
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Wrong> {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Value { at, slot } => self.value(at, slot)?,
                Task::Absent { at, slot } => self.absent(slot, at)?,
                Task::Items { next, end } => {
                    if next < end {
                        self.tasks.push(Task::Items { next: self.source.next(next), end });
                        self.value(next, Slot::default())?;
                    }
                }
                Task::Entries { next, end, index } => self.entry(next, end, index)?,
                Task::Pairs { next, end, index, locked } => self.pair(next, end, index, locked)?,
                Task::Placeholders { next, end, index } => self.placeholder(next, end, index)?,
                Task::Form { at } => self.object_form(at),
                Task::Close { at, count } => {
                    self.tape.close(at, count);
                    self.depth -= 1;
                }
            }
        }
        Ok(())
    }

    /// Sets the targets of the links.
    fn resolve(&mut self) -> Result<(), Wrong> {
        for (node, number, place) in &self.links {
            let Some(target) = self.ids.get(number) else {
                let error = Error::new(ErrorKind::BadLink)
                    .expecting("the number of an $id")
                    .finding(format!("{number}, which none has"))
                    .on_path(self.tape.path_to(*node, self.input));
                return Err(Wrong::of(*place, error));
            };
            self.tape.nodes[*node as usize].payload = u64::from(*target);
            if self.tape.nodes[*node as usize].kind == Kind::Copy {
                if self.tape.next(*target) > *node {
                    let error = Error::new(ErrorKind::BadLink)
                        .expecting("a $copy of a value that is complete before it")
                        .finding(format!("one of {number}"))
                        .on_path(self.tape.path_to(*node, self.input));
                    return Err(Wrong::of(*place, error));
                }
                self.tape.mark_copied(*target);
            }
        }
        // Links may refer to links, but not in a circle.
        let link = |at: u32| {
            let node = &self.tape.nodes[at as usize];
            node.kind.is_again().then_some(node.payload as u32)
        };
        for (node, _, place) in &self.links {
            let mut at = link(*node);
            for _ in 0..16 {
                at = at.and_then(link);
            }
            if at.is_some() {
                let error = Error::new(ErrorKind::BadLink)
                    .expecting("a link to a value")
                    .finding("one that only leads to other links")
                    .on_path(self.tape.path_to(*node, self.input));
                return Err(Wrong::of(*place, error));
            }
        }
        Ok(())
    }

    /// Returns the path of the value that would be next.
    fn path(&mut self) -> String {
        let mut next = Node::leaf(Kind::Null, 0);
        next.key = self.pending;
        let at = self.tape.push(next);
        let path = self.tape.path_to(at, self.input);
        self.tape.nodes.pop();
        path
    }

    /// Completes the document after an error.
    fn close_all(&mut self) {
        // A key that is itself cut off stays, without a value.
        if self.tape.nodes.last().is_some_and(|node| node.key == IS_KEY && !node.kind.is_container()) {
            self.tape.nodes.pop();
        }
        while let Some(task) = self.tasks.pop() {
            if let Task::Close { at, .. } = task {
                let (mut child, mut count) = (at + 1, 0);
                while child < self.tape.len() {
                    count += u32::from(self.tape.nodes[child as usize].key != IS_KEY);
                    child = self.tape.next(child);
                }
                self.tape.close(at, count);
            }
        }
        for (node, ..) in &self.links {
            if let Some(node) = self.tape.nodes.get_mut(*node as usize) {
                *node = Node { key: node.key, ..Node::leaf(Kind::Null, 0) };
            }
        }
        self.places.truncate(self.tape.nodes.len());
    }

    /// Returns the meaning of the key of an entry in the plain document.
    fn read_key(&mut self, entry: &source::Entry) -> Read {
        self.key_of(entry).0
    }
}
