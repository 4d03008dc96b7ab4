//! Detail: data that is recorded on request, in addition to the tape. The trace says which bytes each node has, and
//! the spelling says which of several byte forms the input uses.

use super::node::IS_KEY;
use super::tape::Tape;
use crate::error::Error;

/// One choice that the original made where its format allows several.
///
/// The format defines `code` and `value`. The *ordinal* says to which value a note belongs. It is the position of the
/// value among all nodes in pre-order. Plain keys are not counted, but a key that is a container or a link is
/// counted. So the ordinal does not depend on which keys have ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Ordinal of the value.
    pub ordinal: u32,
    /// Kind of choice.
    pub code: u16,
    /// The choice.
    pub value: u64,
}

/// The spelling of a document: the choices between byte forms that its format allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// The name of the format that this belongs to.
    pub format: String,
    /// Choices for the whole document, such as header fields; the format defines them.
    pub header: Vec<(u16, u64)>,
    /// Choices for single values, in the order of the values.
    pub notes: Vec<Note>,
    /// Bytes that choices refer to by position and length.
    pub bytes: Vec<u8>,
}

/// The smallest named piece of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset of the first byte after it.
    pub end: u64,
    /// The node that it belongs to; [`NO_NODE`] for headers and the like.
    pub node: u32,
    /// 0 if the bytes are in the input, 1 if they are in data that was decompressed from it.
    pub layer: u8,
    /// Name of the piece in the format's description.
    pub name: &'static str,
}

/// [`Span::node`] of pieces that do not belong to a value.
pub const NO_NODE: u32 = u32::MAX;

/// The bytes of a node with everything in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset of the first byte after it; 0 while the node is open.
    pub end: u64,
    /// As in [`Span::layer`].
    pub layer: u8,
    /// Whether the node was read from a copy: its bytes belong to another value.
    pub copied: bool,
}

/// Which bytes a document came from.
///
/// The spans of a layer, in order, cover it without gap or overlap.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The spans in the order of reading, layer 0 first.
    pub spans: Vec<Span>,
    /// The extent of each node, by index.
    pub extents: Vec<Extent>,
    /// Decompressed data, if there is any: layer 1.
    pub layer: Option<Vec<u8>>,
    /// The containers that were open where reading stopped.
    pub cut: Vec<Cut>,
}

impl Trace {
    /// Returns the entry of the container `node`, if it was open where reading stopped.
    ///
    /// ```
    /// use icecore::{Limits, Request, Stage};
    /// let stage = Stage::parse("php")?;
    /// let limits = Limits::new();
    /// let request = Request::new(&limits).detailed();
    /// let document = stage.format().read(b"a:3:{i:0;i:5;i:1", stage.settings(), request).document;
    /// assert_eq!(document.trace().and_then(|trace| trace.cut_at(0)).and_then(|cut| cut.of), Some(3));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn cut_at(&self, node: u32) -> Option<Cut> {
        self.cut.binary_search_by_key(&node, |cut| cut.node).ok().map(|index| self.cut[index])
    }
}

/// A container that was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Node of the container.
    pub node: u32,
    /// Number of children or entries that the input declares, if it declares one.
    pub of: Option<u32>,
}

/// What reading with detail records.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// Choices of byte form. During reading, ordinals are node indexes.
    pub spelling: Spelling,
    /// The bytes of each node.
    pub trace: Trace,
    /// The layer that is being read.
    pub(crate) layer: u8,
    /// Whether the reader is in a copy, whose bytes were already recorded.
    pub(crate) is_in_copy: bool,
    /// Whether a count that is too large for the rest of the input is an error only at the end of the reading.
    pub(crate) defers_count_errors: bool,
    /// The first of these errors, and the path of the container.
    pub(crate) count_error: Option<(Error, String)>,
}

impl Detail {
    /// Returns the first error of a count, if there was one.
    pub(crate) fn take_count_error(&mut self) -> Option<Error> {
        self.count_error.take().map(|(error, path)| error.on_path(path))
    }

    /// Records a span, unless it is empty or was already read.
    pub(crate) fn record_span(&mut self, start: usize, end: usize, node: u32, name: &'static str) {
        if start < end && !self.is_in_copy {
            let (start, end, layer) = (start as u64, end as u64, self.layer);
            self.trace.spans.push(Span { start, end, node, layer, name });
        }
    }

    /// Records that the node `node` starts here.
    pub(crate) fn record_begin(&mut self, node: u32, start: usize) {
        let index = node as usize;
        if self.trace.extents.len() <= index {
            self.trace.extents.resize(index + 1, Extent::default());
        }
        let (start, layer, copied) = (start as u64, self.layer, self.is_in_copy);
        self.trace.extents[index] = Extent { start, end: 0, layer, copied };
    }

    /// Records that the node `node` ends here.
    pub(crate) fn record_end(&mut self, node: u32, end: usize) {
        if let Some(extent) = self.trace.extents.get_mut(node as usize) {
            extent.end = end as u64;
        }
    }

    /// Records a choice for the node `node`.
    pub(crate) fn record_note(&mut self, node: u32, code: u16, value: u64) {
        self.spelling.notes.push(Note { ordinal: node, code, value });
    }

    /// Records a choice for the whole document.
    pub(crate) fn record_header_note(&mut self, code: u16, value: u64) {
        self.spelling.header.push((code, value));
    }

    /// Stores bytes for a choice. Returns their position in the upper half, and their length in the lower half.
    pub(crate) fn store_bytes(&mut self, bytes: &[u8]) -> u64 {
        let start = self.spelling.bytes.len() as u64;
        self.spelling.bytes.extend_from_slice(bytes);
        start << 32 | bytes.len() as u64 & 0xFFFF_FFFF
    }

    /// Turns the node indexes of notes into ordinals and sorts them.
    pub(crate) fn finish_notes(&mut self, tape: &Tape) {
        let ordinals = Ordinals::from_tape(tape);
        for note in &mut self.spelling.notes {
            note.ordinal = ordinals.node_to_ordinal(note.ordinal);
        }
        self.spelling.notes.sort_by_key(|note| note.ordinal);
    }
}

/// Ordinals of nodes: see [`Note`].
#[derive(Debug)]
pub(crate) struct Ordinals {
    /// The indexes of the plain keys on the tape, ascending.
    keys: Vec<u32>,
}

impl Ordinals {
    pub(crate) fn from_tape(tape: &Tape) -> Ordinals {
        let keys = (0..tape.len())
            .zip(tape.nodes())
            .filter(|(_, node)| node.key == IS_KEY && is_plain_key(node.kind))
            .map(|(index, _)| index)
            .collect();
        Ordinals { keys }
    }

    pub(crate) fn node_to_ordinal(&self, node: u32) -> u32 {
        node - self.keys.partition_point(|key| *key < node) as u32
    }

    /// Returns the node with this ordinal.
    pub(crate) fn ordinal_to_node(&self, ordinal: u32) -> u32 {
        // `n` keys are before the key at position `n`, so `key - n` other nodes are before it. This number never
        // decreases from one key to the next, so a binary search is possible.
        let (mut low, mut high) = (0, self.keys.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.keys[middle] - middle as u32 <= ordinal { low = middle + 1 } else { high = middle }
        }
        ordinal.saturating_add(low as u32)
    }
}

/// Returns `true` if a key of this kind could have an id.
pub(crate) fn is_plain_key(kind: super::Kind) -> bool {
    kind.is_string() || kind == super::Kind::Int
}

impl Spelling {
    /// Returns the choice for the whole document with this code.
    pub fn get(&self, code: u16) -> Option<u64> {
        self.header.iter().find(|(known, _)| *known == code).map(|(_, value)| *value)
    }

    /// Returns the choices for the value with this ordinal.
    pub fn notes_of(&self, ordinal: u32) -> &[Note] {
        let start = self.notes.partition_point(|note| note.ordinal < ordinal);
        let len = self.notes[start..].iter().take_while(|note| note.ordinal == ordinal).count();
        &self.notes[start..start + len]
    }

    /// Returns the bytes that were stored for a choice. Its value is their location in [`Spelling::bytes`]: the
    /// position in the upper 32 bits, the length in the lower ones.
    pub fn stored_bytes(&self, location: u64) -> &[u8] {
        let (start, len) = ((location >> 32) as usize, (location & 0xFFFF_FFFF) as usize);
        self.bytes.get(start..start.saturating_add(len)).unwrap_or(&[])
    }
}

/// A spelling whose choices are looked up by node, for a writer that replays them.
#[derive(Debug)]
pub(crate) struct Replay<'d> {
    pub(crate) spelling: &'d Spelling,
    pub(crate) ordinals: Ordinals,
}

impl<'d> Replay<'d> {
    pub(crate) fn new(spelling: &'d Spelling, tape: &Tape) -> Replay<'d> {
        Replay { spelling, ordinals: Ordinals::from_tape(tape) }
    }

    /// Returns the choices for the node at `index`.
    pub(crate) fn notes_at(&self, index: u32) -> &'d [Note] {
        self.spelling.notes_of(self.ordinals.node_to_ordinal(index))
    }

    /// Returns the choice of this kind for the node at `index`.
    pub(crate) fn note_value(&self, index: u32, code: u16) -> Option<u64> {
        self.notes_at(index).iter().find(|note| note.code == code).map(|note| note.value)
    }

    /// Returns the choice of this kind for the node at `index`, if its value is stored bytes.
    pub(crate) fn stored_bytes(&self, index: u32, code: u16) -> Option<&'d [u8]> {
        self.note_value(index, code).map(|kept| self.spelling.stored_bytes(kept))
    }
}

/// Notes that are read during a walk in pre-order.
#[derive(Debug)]
pub(crate) struct NoteReader<'d> {
    rest: &'d [Note],
}

impl<'d> NoteReader<'d> {
    pub(crate) fn new(spelling: Option<&'d Spelling>) -> NoteReader<'d> {
        NoteReader { rest: spelling.map_or(&[], |spelling| &spelling.notes) }
    }

    /// Returns the notes of the value with this ordinal. Ordinals must not decrease from call to call.
    pub(crate) fn take_notes(&mut self, ordinal: u32) -> &'d [Note] {
        if self.rest.is_empty() {
            return &[];
        }
        let skip = self.rest.iter().take_while(|note| note.ordinal < ordinal).count();
        let count = self.rest[skip..].iter().take_while(|note| note.ordinal == ordinal).count();
        let (notes, rest) = self.rest[skip..].split_at(count);
        self.rest = rest;
        notes
    }
}
