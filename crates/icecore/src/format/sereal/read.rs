//! Reads a body. The reader is a machine: a loop with its own stack.
//!
//! `FAST` adds the loops of `read_fast.rs` for common documents. Without it this is the reference reader, which reads
//! all tags here, with the same result.

mod objects;
mod recorder;
mod references;
mod words;

use super::header::{OffsetBase, describe_tag};
use super::read_fast::Predictions;
use super::spelling::{self, Speller, code, pad_place, tracked};
use super::tag::{self, TRACK};
use super::{ReadOptions, deferred_bless};
use crate::document::{KEY_NODE, Kind, NO_KEY, NO_NODE, Node, Recorder, Sink, Tape, flag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::hash::SeededMap;
use crate::limits::Limits;
use std::collections::HashMap;

/// Maximum number of entries of a map whose keys get ids. The keys of larger maps are nodes.
pub(super) const MAX_ENTRIES_WITH_IDS: u32 = 256;
/// The only modifiers that the perl decoder knows.
const MODIFIERS: &[u8] = b"msixpn";

/// Reads a varint.
#[inline]
pub(super) fn read_varint(scan: &mut Scan<'_>, expected: &'static str) -> Result<u64, Error> {
    match scan.peek() {
        Some(byte) if byte < 0x80 => {
            scan.offset += 1;
            Ok(u64::from(byte))
        }
        _ => read_long_varint(scan, expected),
    }
}

fn read_long_varint(scan: &mut Scan<'_>, expected: &'static str) -> Result<u64, Error> {
    let start = scan.offset;
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = scan.read_u8(expected)?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 && (shift < 63 || byte <= 1) {
            return Ok(value);
        }
    }
    Err(Error::new(ErrorKind::Malformed)
        .at(start)
        .expecting(format!("{expected} of at most 64 bits"))
        .finding("a longer one"))
}

/// Role of the children of an open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Items.
    Array,
    /// Entries whose keys have ids.
    Map,
    /// Entries with key nodes.
    BigMap,
    /// The variable that is the target of a reference.
    Ref,
    /// The reference that is the body of an object.
    Object,
    /// The reference to the array that FREEZE returned.
    Opaque,
}

/// An open container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) node: u32,
    /// Number of children or entries still to read.
    pub(super) remaining: u32,
    pub(super) count: u32,
    pub(super) role: Role,
    /// The id of the last key.
    pub(super) last_key: u16,
    /// For an object: the node of its variable. For a reference: the object, if the reference is the body of one.
    pub(super) owner: u32,
}

/// Meaning of a tracked tag.
#[derive(Clone, Copy, Debug)]
struct TrackedTag {
    /// The variable that ALIAS refers to.
    variable: u32,
    /// The node that REFP refers to: the object at this tag, or the variable if there is no object.
    referent: u32,
    /// The node of the tag, for the spelling. It is `NO_NODE` for the tag of a key or a class name. Such a tag
    /// becomes an item only by a COPY of it.
    node: u32,
    /// One of the constants of [`tracked`].
    tag_role: u64,
    /// Whether something refers to the tag.
    is_used: bool,
    /// Whether a COPY read the tag again, or the tag is an ALIAS. Then the variable is not the variable of `node`.
    is_reread: bool,
}

impl TrackedTag {
    /// Returns `true` if this is not the first possible tag of its variable.
    fn is_later_tag(&self) -> bool {
        matches!(self.tag_role, tracked::AFTER | tracked::BODY | tracked::REFN | tracked::AT_WEAKEN)
    }
}

/// A COPY that is being read.
#[derive(Clone, Copy, Debug)]
struct ActiveCopy<'i> {
    /// Where reading continues after the copied value.
    resume: Scan<'i>,
    /// Offset of the tag COPY.
    tag_offset: usize,
    /// Offset of the value that is copied.
    source: usize,
    /// Length of the stack at which the copy is complete.
    stack_len: usize,
    /// The node of the copy.
    node: u32,
}

/// A string as a key, a class name or a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'i> {
    pub(super) kind: Kind,
    /// Offset of its tag. For a COPY, this is the tag of the string that was copied.
    pub(super) tag_offset: usize,
    pub(super) start: usize,
    pub(super) bytes: &'i [u8],
    pub(super) is_copied: bool,
}

/// The place of a value: its key, its node, and the variable that contains it.
#[derive(Clone, Copy)]
struct Slot {
    key: u16,
    node: u32,
    /// The variable: the object, if this is the body of one.
    variable: u32,
    /// The object that refers to this variable.
    pub(super) owner: u32,
    /// The role of its container.
    parent: Option<Role>,
    /// Offset of its tag WEAKEN, if it has one.
    weaken_offset: Option<usize>,
}

/// Reads one body.
pub(super) struct Machine<'i, 'r, S, const FAST: bool> {
    pub(super) scan: Scan<'i>,
    pub(super) sink: &'r mut S,
    pub(super) limits: &'r Limits,
    pub(super) options: &'r ReadOptions,
    pub(super) offset_base: OffsetBase,
    pub(super) stack: Vec<Frame>,
    /// Number of frames of objects. Sereal counts a blessed container once, so these do not count as levels.
    object_frame_count: usize,
    pub(super) predictions: Predictions,
    pub(super) speller: &'r mut Speller,
    /// Whether strings are copied, because the document borrows from another buffer.
    pub(super) copies_strings: bool,
    /// Whether this is the user header, which is not a root.
    pub(super) is_header: bool,
    tracked: HashMap<usize, TrackedTag>,
    classes: HashMap<usize, u32>,
    /// The ids of long keys, by offset.
    long_keys: SeededMap<usize, u16>,
    active_copy: Option<ActiveCopy<'i>>,
    /// Number of nodes that may still come from copies.
    remaining_copied_nodes: u64,
    /// A regular expression that is not complete.
    open_regexp: Option<u32>,
    /// Objects that are a REFP to a scalar: see `deferred_bless.rs`.
    deferred_blesses: Vec<u32>,
}

impl<'i, 'r, S: Sink, const FAST: bool> Machine<'i, 'r, S, FAST> {
    pub(super) fn new(
        scan: Scan<'i>,
        offset_base: OffsetBase,
        sink: &'r mut S,
        speller: &'r mut Speller,
        limits: &'r Limits,
        options: &'r ReadOptions,
    ) -> Self {
        Machine {
            scan,
            sink,
            limits,
            options,
            offset_base,
            stack: Vec::new(),
            object_frame_count: 0,
            predictions: Predictions::default(),
            speller,
            copies_strings: false,
            is_header: false,
            tracked: HashMap::new(),
            classes: HashMap::new(),
            long_keys: SeededMap::default(),
            active_copy: None,
            remaining_copied_nodes: limits.expanded_from(scan.input.len()),
            open_regexp: None,
            deferred_blesses: Vec::new(),
        }
    }

    /// Reads the value here, and returns its end. After an error, the values read so
    /// far stay on the tape as containers that end there.
    pub(super) fn read(mut self) -> (usize, Option<Error>) {
        let error = self.read_body().err().map(|error| {
            let error = self.error_in_copy(error);
            let tape = self.sink.tape();
            let path = tape.path_to(tape.len(), self.scan.input);
            error.on_path(path)
        });
        let mut missing = u32::from(error.is_some());
        if let Some(node) = self.open_regexp {
            let child_count = self.tape().len() - node - 1;
            self.tape().close_container(node, child_count);
            missing = 0;
        }
        while let Some(frame) = self.stack.pop() {
            self.sink.record_cut(frame.node, Some(frame.count));
            self.tape().close_container(frame.node, frame.count.saturating_sub(frame.remaining + missing));
            missing = 0;
        }
        self.note_unused_tracks();
        if error.is_none() && !self.deferred_blesses.is_empty() {
            deferred_bless::apply_deferred_blesses(self.sink, self.speller, &self.deferred_blesses);
        }
        (self.scan.offset, error)
    }

    fn read_body(&mut self) -> Result<(), Error> {
        self.read_value(NO_KEY)?;
        loop {
            let is_copying = self.active_copy.is_some();
            let Some(top) = self.stack.last_mut() else { return Ok(()) };
            if top.remaining == 0 {
                self.close_container()?;
                continue;
            }
            if FAST && !is_copying && self.read_common_values()? {
                continue;
            }
            let Some(top) = self.stack.last_mut() else { return Ok(()) };
            top.remaining -= 1;
            match top.role {
                Role::Map => {
                    let key = self.read_key()?;
                    self.read_value(key)?;
                }
                Role::BigMap => {
                    self.read_key_node()?;
                    self.read_value(KEY_NODE)?;
                }
                _ => self.read_value(NO_KEY)?,
            }
        }
    }

    #[inline]
    pub(super) fn tape(&mut self) -> &mut Tape {
        self.sink.tape()
    }

    /// Called when a value is complete.
    #[inline]
    pub(super) fn finish_value(&mut self) -> Result<(), Error> {
        if let Some(copy) = self.active_copy
            && copy.stack_len == self.stack.len()
        {
            self.end_copy(copy)?;
        }
        if self.stack.len() == 1 && !self.is_header {
            self.sink.finish_child()?;
        }
        Ok(())
    }

    fn close_container(&mut self) -> Result<(), Error> {
        if let Some(frame) = self.stack.pop() {
            self.object_frame_count -= usize::from(frame.role == Role::Object);
            self.tape().close_container(frame.node, frame.count);
            self.record_end(frame.node);
        }
        self.finish_value()
    }

    /// Appends a node.
    #[inline]
    fn push(&mut self, node: Node) -> Result<u32, Error> {
        if self.sink.tape().len() >= self.limits.nodes {
            return Err(self.limits.too_many_nodes().at(self.scan.offset));
        }
        Ok(self.sink.tape().push(node))
    }

    /// Returns the number of open containers and references.
    pub(super) fn level_count(&self) -> usize {
        self.stack.len() - self.object_frame_count
    }

    /// Opens a container.
    fn open_container(&mut self, mut node: Node, slot: &Slot, role: Role, count: u32, owner: u32) -> Result<(), Error> {
        let is_object = role == Role::Object;
        if !is_object && self.level_count() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(self.scan.offset));
        }
        node.key = slot.key;
        node.flags |= slot.weak_flag();
        let node = self.push(node)?;
        self.object_frame_count += usize::from(is_object);
        self.stack.push(Frame { node, remaining: count, count, role, last_key: 0, owner });
        Ok(())
    }

    /// Appends a leaf that ends here.
    fn push_leaf(&mut self, mut node: Node, slot: &Slot) -> Result<(), Error> {
        node.key = slot.key;
        node.flags |= slot.weak_flag();
        let index = self.push(node)?;
        self.record_end(index);
        self.finish_value()
    }

    fn next_slot(&mut self, key: u16) -> Slot {
        let node = self.tape().len();
        let mut slot = Slot { key, node, variable: node, owner: NO_NODE, parent: None, weaken_offset: None };
        if let Some(top) = self.stack.last() {
            slot.parent = Some(top.role);
            match top.role {
                Role::Object | Role::Opaque => slot.variable = top.owner,
                Role::Ref => slot.owner = top.owner,
                _ => {}
            }
        }
        slot
    }

    /// Returns the object that refers to the variable of this slot.
    fn find_owner(&self, slot: &Slot) -> u32 {
        match self.stack.iter().rev().find(|frame| !matches!(frame.role, Role::Object | Role::Opaque)) {
            Some(frame) if slot.owner == NO_NODE && frame.role == Role::Ref => frame.owner,
            _ => slot.owner,
        }
    }

    /// Reads a value: an item, in Sereal's terms.
    fn read_value(&mut self, key: u16) -> Result<(), Error> {
        let mut slot = self.next_slot(key);
        self.record_begin(slot.node);
        let mut may_be_alias = matches!(slot.parent, Some(Role::Array | Role::Map | Role::BigMap));
        let mut pad_count = 0;
        loop {
            let tag_offset = self.scan.offset;
            let byte = self.scan.read_u8("a tag")?;
            let tag = byte & !TRACK;
            if byte != tag {
                let referent = self.find_owner(&slot);
                let is_body = matches!(slot.parent, Some(Role::Object | Role::Opaque));
                let tag_role = match (tag == tag::WEAKEN, is_body) {
                    (true, true) => tracked::AT_WEAKEN,
                    (true, false) => tracked::WEAKEN,
                    (false, false) if slot.weaken_offset.is_none() => tracked::MAIN,
                    (false, false) => tracked::AFTER,
                    (false, true) => tracked::BODY,
                };
                self.record_tracked_tag(tag_offset, slot.variable, referent, slot.node, tag_role);
            }
            self.record_span(tag_offset, slot.node, tag::name_of(tag));
            match tag {
                tag::PAD => {
                    pad_count += 1;
                    let place = if slot.weaken_offset.is_some() { pad_place::AFTER_WEAKEN } else { pad_place::FIRST };
                    if self.scan.peek() != Some(tag::PAD) {
                        self.sink.record_note(slot.node, code::PADS, place << 32 | pad_count);
                        pad_count = 0;
                    }
                }
                tag::WEAKEN => {
                    slot.weaken_offset = Some(tag_offset);
                    may_be_alias = false;
                }
                tag::COPY => {
                    self.begin_copy(&slot, tag_offset)?;
                    may_be_alias = false;
                }
                tag::ALIAS if may_be_alias => return self.read_alias(&slot, tag_offset, byte != tag),
                _ => return self.read_item(&slot, tag_offset, tag),
            }
        }
    }

    fn read_item(&mut self, slot: &Slot, tag_offset: usize, tag: u8) -> Result<(), Error> {
        match tag {
            tag::REFN => return self.read_refn(slot),
            tag::REFP => return self.read_refp(slot, tag_offset),
            tag::ARRAYREF..tag::HASHREF => {
                let node = Node::open(Kind::Array, 0).with(flag::REF);
                return self.read_container(node, slot, u64::from(tag - tag::ARRAYREF));
            }
            tag::HASHREF..tag::SHORT_BINARY => {
                let node = Node::open(Kind::Map, 0).with(flag::REF);
                return self.read_container(node, slot, u64::from(tag - tag::HASHREF));
            }
            tag::OBJECT | tag::OBJECTV | tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE => {
                return self.read_object(slot, tag_offset, tag);
            }
            _ => {}
        }
        self.reject_missing_reference(slot, tag_offset, tag)?;
        match tag {
            tag::POS..tag::NEG => self.push_leaf(Node::int(i64::from(tag)), slot),
            tag::NEG..tag::VARINT => self.push_leaf(Node::int(i64::from(tag) - 32), slot),
            tag::VARINT => {
                let value = self.read_number(slot.node, "VARINT")?;
                self.note_tag(slot.node, tag, value > 15);
                self.push_leaf(Node::uint(value), slot)
            }
            tag::ZIGZAG => {
                let value = self.read_number(slot.node, "ZIGZAG")?;
                let value = (value >> 1) as i64 ^ -((value & 1) as i64);
                self.note_tag(slot.node, tag, value < -16);
                self.push_leaf(Node::int(value), slot)
            }
            tag::FLOAT => {
                let start = self.scan.offset;
                let bits = u32::from_le_bytes(self.scan.read_array("FLOAT")?);
                self.record_span(start, slot.node, "number");
                self.push_leaf(Node::leaf(Kind::Float32, u64::from(bits)), slot)
            }
            tag::DOUBLE => {
                let start = self.scan.offset;
                let value = f64::from_le_bytes(self.scan.read_array("DOUBLE")?);
                self.record_span(start, slot.node, "number");
                self.note_tag(slot.node, tag, !super::write::fits_in_f32(value));
                self.push_leaf(Node::float(value), slot)
            }
            tag::LONG_DOUBLE | tag::FLOAT_128 => self.read_wide_float(slot, tag),
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY.. => {
                let word = self.read_word_rest(slot.node, tag_offset, tag)?;
                let node = self.string_node(&word);
                self.note_string(slot.node, tag, &word);
                self.push_leaf(node, slot)
            }
            tag::UNDEF | tag::CANONICAL_UNDEF => {
                self.note_tag(slot.node, tag, tag == tag::UNDEF);
                let own = slot.singleton_flag(tag == tag::CANONICAL_UNDEF);
                self.push_leaf(Node::leaf(Kind::Null, 0).with(own), slot)
            }
            tag::YES | tag::NO | tag::TRUE | tag::FALSE => {
                self.note_tag(slot.node, tag, matches!(tag, tag::YES | tag::NO));
                let own = slot.singleton_flag(matches!(tag, tag::TRUE | tag::FALSE));
                self.push_leaf(Node::leaf(Kind::Bool, u64::from(matches!(tag, tag::YES | tag::TRUE))).with(own), slot)
            }
            tag::ARRAY | tag::HASH => {
                // This variable is itself an array, without a reference. Perl does not have such variables, but some
                // encoders write arrays in this way.
                if let Some(tracked) = self.tracked.get_mut(&tag_offset) {
                    tracked.referent = slot.variable;
                }
                self.sink.record_note(slot.node, code::BARE, 0);
                let count = self.read_number(slot.node, "the count")?;
                let kind = if tag == tag::ARRAY { Kind::Array } else { Kind::Map };
                self.read_container(Node::open(kind, 0), slot, count)
            }
            tag::REGEXP => self.read_regexp(slot, flag::BARE),
            _ => Err(self.unexpected_tag_error(tag_offset, tag, "the tag of a value")),
        }
    }

    /// Reports that WEAKEN or OBJECT need a reference.
    fn reject_missing_reference(&self, slot: &Slot, tag_offset: usize, tag: u8) -> Result<(), Error> {
        let (error_offset, expected) = match (slot.weaken_offset, slot.parent) {
            (Some(weaken_offset), _) => (weaken_offset, "a reference after WEAKEN"),
            (None, Some(Role::Object)) => (tag_offset, "a reference to bless"),
            (None, Some(Role::Opaque)) => (tag_offset, "a reference to an array after OBJECT_FREEZE"),
            _ => return Ok(()),
        };
        Err(self.unexpected_tag_error(error_offset, tag, expected))
    }

    fn check_frozen_array(&self, slot: &Slot, kind: Kind) -> Result<(), Error> {
        if slot.parent != Some(Role::Opaque) || kind == Kind::Array {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Malformed)
            .at(self.scan.offset.saturating_sub(1))
            .expecting("a reference to an array after OBJECT_FREEZE")
            .finding("something else"))
    }

    #[cold]
    fn unexpected_tag_error(&self, offset: usize, tag: u8, expected: &'static str) -> Error {
        Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(describe_tag(tag))
    }

    /// Reads a varint after a tag.
    fn read_number(&mut self, node: u32, subject: &'static str) -> Result<u64, Error> {
        self.read_noted_number(node, subject, code::WIDTH)
    }

    fn read_noted_number(&mut self, node: u32, subject: &'static str, code: u16) -> Result<u64, Error> {
        let start = self.scan.offset;
        let value = read_varint(&mut self.scan, subject)?;
        if S::DETAIL {
            self.record_span(start, node, subject);
            let width = self.scan.offset - start;
            if width != spelling::varint_width(value) {
                self.sink.record_note(node, code, width as u64);
            }
        }
        Ok(value)
    }

    /// Reads a container with `count` children, which is not checked against the input
    /// yet.
    fn read_container(&mut self, node: Node, slot: &Slot, count: u64) -> Result<(), Error> {
        self.check_frozen_array(slot, node.kind)?;
        let is_map = node.kind == Kind::Map;
        let (max_count, min_size) =
            if is_map { (self.options.max_num_hash_entries, 2) } else { (self.options.max_num_array_entries, 1) };
        if max_count.is_some_and(|limit| count > limit) {
            return Err(Error::new(ErrorKind::Limit)
                .at(self.scan.offset)
                .expecting(format!("at most {} {}", max_count.unwrap_or(0), if is_map { "entries" } else { "items" }))
                .finding(format!("{count}")));
        }
        let bytes = count.saturating_mul(min_size);
        let mut count = count;
        if bytes > self.scan.remaining_len() as u64 {
            let subject = if is_map { "entries" } else { "items" };
            let error = self.scan.truncated_error(usize::try_from(bytes).unwrap_or(usize::MAX), subject);
            count = self.sink.defer_count_error(error, count, self.scan.input)?.into();
        }
        let count = u32::try_from(count).map_err(|_| self.limits.too_many_nodes().at(self.scan.offset))?;
        let role = match (is_map, count) {
            (false, _) => Role::Array,
            (true, 0..=MAX_ENTRIES_WITH_IDS) => Role::Map,
            (true, _) => Role::BigMap,
        };
        self.open_container(node, slot, role, count, NO_NODE)
    }

    fn kind_of(&mut self, node: u32) -> Option<Kind> {
        self.tape().nodes().get(node as usize).map(|node| node.kind)
    }
}

impl Slot {
    /// Returns the flags of perl's singletons: a reference to one does not refer to a
    /// separate variable.
    fn singleton_flag(&self, is_own: bool) -> u8 {
        if is_own && self.parent == Some(Role::Ref) { flag::OWN } else { 0 }
    }

    fn weak_flag(&self) -> u8 {
        if self.weaken_offset.is_some() { flag::WEAK } else { 0 }
    }
}
