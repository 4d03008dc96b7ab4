//! Copies values between documents.
//!
//! Strings are not copied: their locations are moved. A string that is borrowed from the
//! input stays borrowed.

use super::nested::{self, Nested};
use super::{LEVELS, OpenedString};
use crate::document::{
    Cursor, Document, Form, IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, Rewrite, Tape, flag, same_node,
};
use crate::error::{Error, ErrorKind};
use crate::hash::SeededMap;
use crate::known::Known;
use crate::limits::{Limits, raise_limit_help};
use crate::string_locations::is_long_string;

/// The flags that belong to the place of a value and not to the value.
const PLACE_FLAGS: u8 = flag::REF | flag::WEAK | flag::OVERLOAD | flag::TARGET;

/// Combines documents on one tape.
pub(super) struct Copier<'l> {
    /// The tables of the new nodes.
    tape: Tape,
    rewrite: Rewrite,
    opened_strings: Vec<OpenedString>,
    limits: &'l Limits,
    /// The input of the first document.
    input: &'l [u8],
    /// Number of bytes that may still be opened.
    remaining_bytes: u64,
    expansion_limit: u64,
    /// Number of bytes to which strings may still be decompressed.
    remaining_decompressed: u64,
    /// Long strings that are not frozen data. They are remembered, so that copies of them are not examined again.
    plain_strings: SeededMap<(bool, u64, usize), ()>,
}

/// A document that is being copied.
struct CopySource<'d> {
    document: &'d Document<'d>,
    /// Positions of its input and its arena in the combined document.
    input_base: Location,
    arena_base: u64,
    /// Mapping of ids to ids in the copy; `None` for the first document, whose ids stay.
    id_translation: Option<IdTranslation>,
    level: u32,
    /// Number of containers around it.
    depth: u32,
}

/// New ids of ids that are already known.
#[derive(Default)]
struct IdTranslation {
    keys: Vec<Option<u16>>,
    classes: Vec<u32>,
    encodings: Vec<u16>,
}

fn shift_location(base: Location, delta: u64) -> Location {
    match base {
        Location::Input(start) => Location::Input(start + delta),
        Location::Arena(start) => Location::Arena(start + delta),
    }
}

impl<'l> Copier<'l> {
    pub(super) fn new(document: &'l Document<'_>, limits: &'l Limits) -> Copier<'l> {
        let old = document.tape();
        let mut tape = Tape::new();
        (tape.keys, tape.classes, tape.encodings) = (old.keys.clone(), old.classes.clone(), old.encodings.clone());
        tape.arena.clone_from(&old.arena);
        tape.first_item = old.first_item;
        let max_values = limits.expanded_from(document.input().len() + old.arena.len());
        Copier {
            tape,
            rewrite: Rewrite::default(),
            opened_strings: Vec::new(),
            limits,
            input: document.input(),
            remaining_bytes: max_values,
            expansion_limit: max_values,
            remaining_decompressed: limits.decompressed,
            plain_strings: SeededMap::default(),
        }
    }

    /// Copies the document with its strings opened. Returns `None` if there was nothing to open.
    pub(super) fn copy_document(mut self, document: &Document<'_>) -> Result<Option<(Tape, Vec<OpenedString>)>, Error> {
        let source = CopySource {
            document,
            input_base: Location::Input(0),
            arena_base: 0,
            id_translation: None,
            level: 0,
            depth: 0,
        };
        self.rewrite = Rewrite::new(document.nodes().len());
        self.copy_nodes(source, 0, document.tape().len())?;
        (self.tape.root, self.tape.header) = (document.tape().root, document.tape().header);
        self.rewrite.finish(&mut self.tape);
        Ok((!self.opened_strings.is_empty()).then_some((self.tape, self.opened_strings)))
    }

    /// Copies the nodes from `start` to `end`.
    fn copy_nodes(&mut self, mut source: CopySource<'_>, start: u32, end: u32) -> Result<(), Error> {
        let document = source.document;
        // Strings before this node are not opened.
        let mut sealed_end = start;
        for index in start..end {
            let Some(node) = document.nodes().get(index as usize).copied() else { break };
            self.rewrite.reach_node(index);
            self.rewrite.check_limits(self.limits, 0)?;
            if is_sealed(document, index, &node) {
                sealed_end = sealed_end.max(document.tape().index_after(index));
            }
            let key = self.translate_key(&mut source, &node)?;
            let depth = source.depth + self.rewrite.depth() as u32;
            if index >= sealed_end
                && may_be_opened(&node, self.rewrite.parent())
                && let Some(copy) = self.copy_nested_string(&source, &node, key, depth)?
            {
                let new = &mut self.rewrite.nodes[copy as usize];
                new.key = key;
                new.flags |= node.flags & PLACE_FLAGS;
                self.rewrite.record_position(copy);
                continue;
            }
            let mut new = self.translate_node(&mut source, &node)?;
            new.key = key;
            self.rewrite.record_position(self.rewrite.len());
            if node.kind.is_again() {
                self.rewrite.push_old_link(new);
            } else if node.kind.is_container() {
                self.rewrite.open_container(new, document.tape().index_after(index));
            } else {
                self.rewrite.push(new);
            }
        }
        // It was checked before that a copied root does not have links to nodes outside of it.
        self.rewrite.relink_targets(end, same_node);
        Ok(())
    }

    /// Copies the value in a string to the end of the tape, if the string is frozen data.
    fn copy_nested_string(
        &mut self,
        source: &CopySource<'_>,
        node: &Node,
        key: u16,
        depth: u32,
    ) -> Result<Option<u32>, Error> {
        let document = source.document;
        let bytes = document.bytes(node);
        let location = source.locate_string(node);
        let string_id = match location {
            Location::Input(start) => (true, start, bytes.len()),
            Location::Arena(start) => (false, start, bytes.len()),
        };
        if is_long_string(bytes) && self.plain_strings.contains_key(&string_id) {
            return Ok(None);
        }
        let mut limits = self.limits.clone();
        limits.depth = limits.depth.saturating_sub(depth);
        limits.nodes = limits.nodes.saturating_sub(self.rewrite.len());
        limits.decompressed = self.remaining_decompressed;
        let nested = nested::read_nested(bytes, &mut limits);
        self.remaining_decompressed = limits.decompressed;
        let nested = nested.map_err(|error| self.refused_string_error(key, error))?;
        let Some(Nested { stage, document: inner }) = nested else {
            if is_long_string(bytes) {
                self.plain_strings.insert(string_id, ());
            }
            return Ok(None);
        };
        let (root, end) = (inner.root().index(), inner.root().index_after());
        let inner_nodes = inner.nodes().get(root as usize..end as usize).unwrap_or(&[]);
        let leads_out =
            |node: &Node| node.kind.is_again() && !(u64::from(root)..u64::from(end)).contains(&node.payload);
        if inner_nodes.is_empty() || inner_nodes.iter().any(leads_out) {
            return Ok(None);
        }
        if source.level >= LEVELS {
            let error = Error::new(ErrorKind::Limit)
                .expecting(format!("at most {LEVELS} levels of strings in strings"))
                .finding("a deeper one");
            return Err(self.refused_string_error(key, error));
        }
        let len = bytes.len() as u64;
        // Decompressed data is longer than the string.
        let cost = len.max(inner.input().len() as u64);
        let Some(remaining) = self.remaining_bytes.checked_sub(cost) else { return Err(self.expansion_error(key)) };
        self.remaining_bytes = remaining;
        let input = match offset_in_slice(bytes, inner.input()) {
            Some(delta) => shift_location(location, delta),
            None => Location::Arena(self.append_to_arena(inner.input())),
        };
        let arena = self.append_to_arena(inner.tape().arena());
        let offset = match location {
            Location::Input(start) => Some(start),
            Location::Arena(_) => None,
        };
        self.opened_strings.push(OpenedString { node: 0, stage, level: source.level, offset, len });
        let position = self.opened_strings.len() - 1;
        let names = Some(IdTranslation::default());
        let source = CopySource {
            document: &inner,
            input_base: input,
            arena_base: arena,
            id_translation: names,
            level: source.level + 1,
            depth,
        };
        let outer = self.rewrite.begin_nested(root, end);
        self.copy_nodes(source, root, end)?;
        let copy = self.rewrite.end_nested(outer).new_position(root);
        self.opened_strings[position].node = copy;
        Ok(Some(copy))
    }

    /// Returns the error of a limit for the string that would be copied next.
    #[cold]
    fn refused_string_error(&mut self, key: u16, error: Error) -> Error {
        self.tape.nodes = std::mem::take(&mut self.rewrite.nodes);
        let index = self.tape.push(Node { key, ..Node::leaf(Kind::Null, 0) });
        error.below(&self.tape.path_to(index, self.input)).in_layer("string that is opened")
    }

    #[cold]
    fn expansion_error(&mut self, key: u16) -> Error {
        let error = Error::new(ErrorKind::Limit)
            .expecting(format!("at most {} bytes of strings that are opened", self.expansion_limit))
            .finding("more of them")
            .helping(raise_limit_help("expansion"));
        self.refused_string_error(key, error)
    }

    /// Appends bytes to the arena; returns their start.
    fn append_to_arena(&mut self, bytes: &[u8]) -> u64 {
        let start = self.tape.arena.len() as u64;
        self.tape.arena.extend_from_slice(bytes);
        start
    }

    /// Returns the node for the copy; for a container, its beginning.
    fn translate_node(&mut self, source: &mut CopySource<'_>, node: &Node) -> Result<Node, Error> {
        let mut new = *node;
        if node.kind.is_container() {
            new.set_end(0);
            if let (true, Some(names)) = (node.class() != 0, &mut source.id_translation) {
                let class = names.translate_class(&mut self.tape, source.document, node.class())?;
                new.set_class(class);
            }
        } else if node.kind.has_bytes() {
            let len = source.document.bytes(node).len();
            new = self.tape.new_string_at(node.kind, source.locate_string(node), len);
            new.flags = node.flags;
            if node.kind == Kind::Module {
                return Ok(new.in_form(node.form()));
            }
            let encoding = match (source.is_long(node), &mut source.id_translation) {
                (true, _) => 0,
                (false, Some(names)) => names.translate_encoding(&mut self.tape, source.document, node.encoding())?,
                (false, None) => node.encoding(),
            };
            new.set_encoding(encoding);
        }
        Ok(new)
    }

    /// Returns the key of the value for the copy; a key that can't have an id is put before the value.
    fn translate_key(&mut self, source: &mut CopySource<'_>, node: &Node) -> Result<u16, Error> {
        let document = source.document;
        let Some(names) = &mut source.id_translation else { return Ok(node.key) };
        if matches!(node.key, NO_KEY | KEY_NODE | IS_KEY) {
            return Ok(node.key);
        }
        let id = usize::from(node.key);
        if names.keys.len() <= id {
            names.keys.resize(id + 1, None);
        }
        if let Some(known) = names.keys[id] {
            return Ok(known);
        }
        let Some(name) = document.tape().keys().get(u32::from(node.key)) else { return Ok(NO_KEY) };
        let mut key = name.node;
        if key.kind.has_bytes() {
            let encoding = names.translate_encoding(&mut self.tape, document, key.encoding())?;
            key = Node::leaf(key.kind, 0).with(key.flags);
            key.set_encoding(encoding);
        }
        key.key = NO_KEY;
        if let Some(known) = self.tape.intern_key(key, name.bytes) {
            names.keys[id] = Some(known);
            return Ok(known);
        }
        let mut key_node = if key.kind.has_bytes() { self.tape.new_owned_string(key.kind, name.bytes) } else { key };
        key_node.flags = key.flags;
        if key.kind.has_bytes() {
            key_node.set_encoding(key.encoding());
        }
        key_node.key = IS_KEY;
        self.rewrite.push(key_node);
        Ok(KEY_NODE)
    }
}

impl IdTranslation {
    fn translate_class(&mut self, tape: &mut Tape, document: &Document<'_>, id: u32) -> Result<u32, Error> {
        let index = id as usize;
        if self.classes.len() <= index {
            self.classes.resize(index + 1, 0);
        }
        if self.classes[index] == 0
            && let Some(name) = document.class_name(id)
        {
            self.classes[index] = tape.intern_class(name.node.kind, name.bytes)?;
        }
        Ok(self.classes[index])
    }

    fn translate_encoding(&mut self, tape: &mut Tape, document: &Document<'_>, id: u16) -> Result<u16, Error> {
        if id == 0 {
            return Ok(0);
        }
        let index = usize::from(id);
        if self.encodings.len() <= index {
            self.encodings.resize(index + 1, 0);
        }
        if self.encodings[index] == 0
            && let Some(name) = document.tape().encodings().get(u32::from(id))
        {
            self.encodings[index] = tape.intern_encoding(name.bytes)?;
        }
        Ok(self.encodings[index])
    }
}

impl CopySource<'_> {
    /// Returns the location of a string's bytes in the combined document.
    fn locate_string(&self, node: &Node) -> Location {
        let location = if self.is_long(node) {
            self.document.tape().long_strings.get(node.long_index()).map_or(Location::Arena(0), |long| long.location)
        } else {
            node.location()
        };
        match location {
            Location::Input(start) => shift_location(self.input_base, start),
            Location::Arena(start) => Location::Arena(self.arena_base + start),
        }
    }

    fn is_long(&self, node: &Node) -> bool {
        node.aux == u32::MAX
    }
}

/// Returns the offset of `part` in `bytes`, if it is a subslice and not a copy.
fn offset_in_slice(bytes: &[u8], part: &[u8]) -> Option<u64> {
    let (outer, inner) = (bytes.as_ptr_range(), part.as_ptr_range());
    let is_in = outer.start <= inner.start && inner.end <= outer.end;
    is_in.then(|| (inner.start as usize - outer.start as usize) as u64)
}

/// Returns `true` if no string in this value is opened: keys, texts of code, and parts of values of Ruby's own classes.
pub(crate) fn is_sealed(document: &Document<'_>, index: u32, node: &Node) -> bool {
    match node.kind {
        _ if node.key == IS_KEY => true,
        Kind::Regexp | Kind::Code | Kind::VString => true,
        Kind::Opaque => matches!(
            Known::of(Cursor::new(document, index)),
            Some(known) if !matches!(known, Known::Map(_))
        ),
        _ => false,
    }
}

/// Returns `true` if a value is a string that may be opened in its place.
pub(crate) fn may_be_opened(node: &Node, parent: Option<&Node>) -> bool {
    matches!(node.kind, Kind::Bytes | Kind::Text | Kind::Encoded) && may_contain_nested(parent)
}

/// Returns `true` if a string in this parent is a value of its own, and not part of what a class made of it.
pub(crate) fn may_contain_nested(parent: Option<&Node>) -> bool {
    match parent.map(|parent| (parent.kind, parent.form())) {
        None | Some((Kind::Array | Kind::Map | Kind::Object | Kind::Ref | Kind::Attrs, _)) => true,
        Some((Kind::Opaque, form)) => matches!(form, Form::Serializable | Form::UserDump),
        _ => false,
    }
}
