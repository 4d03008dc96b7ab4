//! Reads Storable's blobs. The reader is a machine: a loop with its own stack.
//!
//! `FAST` adds the loops of [`super::read_fast`]. Without it this is the reference reader. The same tests run on
//! both.

use super::image::Image;
use super::numbers::{NumberedValue, Numbers};
use super::spelling::value as code;
use super::{ReadOptions, float, tag};
use crate::document::{Form, Kind, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::limits::Limits;
use std::collections::HashMap;

/// Maximum number of entries of a map whose keys get ids. The keys of larger maps seldom occur again.
pub(super) const MAX_ENTRIES_WITH_IDS: u32 = 256;
/// The shortest entry of a HASH: a value, and the length of a key.
pub(super) const MIN_ENTRY: usize = 5;
/// The shortest entry of a FLAG_HASH: a value, flags, and a key that is a scalar.
pub(super) const MIN_FLAG_ENTRY: usize = 4;
/// Number of ids that a table of keys can assign, minus a margin.
pub(super) const MAX_KEY_IDS: usize = 65_000;

/// Current state of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Array,
    /// A hash. If [`Frame::value`] is set, the key of that value is next.
    Hash,
    FlagHash,
    /// A tied variable whose object was read.
    Tied,
    TiedKey,
    TiedIndex,
    /// A hook record; its inner objects are being read. [`Frame::flags`] is the last hook flags, [`Frame::remaining`]
    /// is the type of the object, and [`Frame::has_slot`] tells if the record is a large one. [`Frame::value`] is
    /// [`NONE`], except after an inner object: then the next byte is hook flags again.
    Hook,
    /// The object of a tied variable that was frozen by a hook.
    HookExtra,
}

/// A container that is still open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) state: State,
    /// Flags of the record.
    pub(super) flags: u8,
    /// Id of the previous key, used for the prediction.
    pub(super) last_key: u16,
    /// Its node.
    pub(super) node: u32,
    /// Number of nodes directly before it that only wrap it: objects and references.
    pub(super) wrapper_count: u32,
    /// Number of children still to read.
    pub(super) remaining: u32,
    /// Number of children so far.
    pub(super) count: u32,
    /// The last value, if its key was not read yet; otherwise `NONE`.
    pub(super) value: u32,
    /// Whether a node for its key was reserved before the value.
    pub(super) has_slot: bool,
}

/// [`Frame::value`] if no value waits for its key.
pub(super) const NONE: u32 = u32::MAX;

/// The records before a value: how it is reached, and its class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefix {
    /// `REF` and related flags, if a reference was read or is implied.
    pub(super) flags: u8,
    pub(super) class: Option<u32>,
    /// Whether a reference is implied. Storable does not write one before the root, or before an object of a hook.
    pub(super) has_implied_reference: bool,
    /// Number of wrapper nodes that were written, and how many of them are references.
    pub(super) wrapper_count: u32,
    pub(super) reference_count: u32,
    /// Offset of its start in the input.
    pub(super) start: usize,
    /// The first node of the value and its wrappers.
    pub(super) first_node: u32,
}

pub(super) struct Machine<'a, 's, S: Sink, const FAST: bool> {
    pub(super) scan: Scan<'a>,
    pub(super) sink: &'s mut S,
    pub(super) image: Image,
    pub(super) is_little_endian: bool,
    /// Whether integers are 64 bits, little-endian.
    pub(super) has_plain_64_bit_integers: bool,
    pub(super) limits: &'s Limits,
    pub(super) options: &'s ReadOptions,
    pub(super) frames: Vec<Frame>,
    pub(super) numbers: Numbers,
    /// Ids of the classes on the tape, by the number that Storable gives a class.
    pub(super) classes: Vec<u32>,
    /// The first number of each class, if spelling is recorded.
    pub(super) first_numbers: HashMap<u32, u32>,
    /// Notes for the value whose node is next, and for its object.
    pending_notes: Vec<(u16, u64)>,
    /// The note for the class of the next object.
    pub(super) pending_class_note: Option<u64>,
}

impl<'a, 's, S: Sink, const FAST: bool> Machine<'a, 's, S, FAST> {
    pub(super) fn new(
        scan: Scan<'a>,
        image: Image,
        options: &'s ReadOptions,
        limits: &'s Limits,
        sink: &'s mut S,
    ) -> Self {
        let is_little_endian = image.is_little();
        let has_plain_64_bit_integers = is_little_endian && image.iv_size == 8 && !image.is_mixed();
        Machine {
            scan,
            sink,
            image,
            is_little_endian,
            has_plain_64_bit_integers,
            limits,
            options,
            frames: Vec::new(),
            numbers: Numbers::default(),
            classes: Vec::new(),
            first_numbers: HashMap::new(),
            pending_notes: Vec::new(),
            pending_class_note: None,
        }
    }

    /// Reads the root and everything in it.
    pub(super) fn read_document(&mut self) -> Result<(), Error> {
        self.read_value(true)?;
        while let Some(frame) = self.frames.last() {
            crate::steps::count(1);
            if self.sink.tape().nodes.len() >= self.limits.nodes as usize {
                return Err(self.limits.too_many_nodes().at(self.scan.offset));
            }
            match frame.state {
                State::Array => self.continue_array()?,
                State::Hash | State::FlagHash => self.continue_hash()?,
                State::Tied => self.continue_tied()?,
                State::TiedKey => self.continue_tied_key()?,
                State::TiedIndex => self.continue_tied_index()?,
                State::Hook => self.continue_hook()?,
                State::HookExtra => self.close_container(),
            }
        }
        Ok(())
    }

    // -- Small helpers ------------------------------------------------------

    #[inline]
    pub(super) fn read_u32(&mut self, expected: &'static str) -> Result<u32, Error> {
        let bytes = self.scan.read_array::<4>(expected)?;
        Ok(if self.is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    pub(super) fn read_u64(&mut self, expected: &'static str) -> Result<u64, Error> {
        let bytes = self.scan.read_array::<8>(expected)?;
        Ok(if self.is_little_endian { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// Decodes an integer whose byte order is neither big-endian nor little-endian. The image's header has a digit
    /// for each byte: the place of this byte in the integer, counted from 1 for the lowest.
    pub(super) fn decode_mixed_order(&self, bytes: &[u8]) -> u64 {
        bytes
            .iter()
            .zip(self.image.byteorder.iter())
            .fold(0, |sum, (byte, digit)| sum | u64::from(*byte) << (8 * u32::from(digit.wrapping_sub(b'1') & 7)))
    }

    /// Records a span of the node `node`, up to here.
    #[inline]
    pub(super) fn record_piece(&mut self, start: usize, node: u32, name: &'static str) {
        self.sink.record_span(start, self.scan.offset, node, name);
    }

    #[inline]
    pub(super) fn record_end(&mut self, node: u32) {
        self.sink.record_end(node, self.scan.offset);
    }

    /// Keeps a note for the next node that is not a wrapper.
    pub(super) fn defer_note(&mut self, code: u16, value: u64) {
        if S::DETAIL {
            self.pending_notes.push((code, value));
        }
    }

    /// Assigns the kept notes to the node `node`.
    #[inline]
    pub(super) fn attach_notes(&mut self, node: u32) {
        if S::DETAIL {
            while let Some((code, value)) = self.pending_notes.pop() {
                self.sink.record_note(node, code, value);
            }
        }
    }

    pub(super) fn defer_tag_note(&mut self, tag: u8, default: u8) {
        if tag != default {
            self.defer_note(code::TAG, u64::from(tag));
        }
    }

    /// Checks the depth before the next level. Storable counts a blessed container once, so an object around a
    /// container does not count as a level. `reference_count` is the number of references around the next value.
    #[inline]
    pub(super) fn check_depth(&self, reference_count: u32) -> Result<(), Error> {
        if self.frames.len() + reference_count as usize >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(self.scan.offset));
        }
        Ok(())
    }

    /// Reads a string of `len` bytes as a node that is not on the tape yet.
    #[inline]
    pub(super) fn read_string(&mut self, kind: Kind, len: u64, expected: &'static str) -> Result<Node, Error> {
        if len > self.limits.string {
            return Err(self.limits.too_long(len).at(self.scan.offset));
        }
        let start = self.scan.offset;
        let len = usize::try_from(len).map_err(|_| self.scan.truncated_error(usize::MAX, expected))?;
        self.scan.read_bytes(len, expected)?;
        Ok(self.sink.tape().new_borrowed_string(kind, start, len))
    }

    /// Checks a count of elements that need at least `min_size` bytes each.
    pub(super) fn check_count(&mut self, count: u64, min_size: usize, subject: &'static str) -> Result<u32, Error> {
        let max_count = self.scan.remaining_len() / min_size.max(1);
        match u32::try_from(count) {
            Ok(count) if count as usize <= max_count => Ok(count),
            _ => {
                let error = Error::new(ErrorKind::Truncated)
                    .at(self.scan.offset)
                    .expecting(format!("{count} {subject}, at least {min_size} bytes each"))
                    .finding(format!("only {} bytes", self.scan.remaining_len()));
                self.sink.defer_count_error(error, count, self.scan.input)
            }
        }
    }

    /// Closes open containers, so that the nodes read so far are a document.
    pub(super) fn close_unfinished(&mut self) {
        while let Some(frame) = self.frames.last() {
            let (node, total) = (frame.node, frame.count.saturating_add(frame.remaining));
            self.sink.record_cut(node, Some(total));
            self.close_container();
        }
    }

    /// Closes the innermost container and its wrappers.
    pub(super) fn close_container(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.sink.tape().close_container(frame.node, frame.count);
            self.record_end(frame.node);
            self.close_wrappers(frame.node, frame.wrapper_count);
        }
    }

    /// Closes the `wrapper_count` nodes before `node`.
    pub(super) fn close_wrappers(&mut self, node: u32, wrapper_count: u32) {
        for k in 1..=wrapper_count {
            self.sink.tape().close_container(node - k, 1);
            self.record_end(node - k);
        }
    }

    // -- Values ------------------------------------------------------------

    /// Reads a leaf completely, or the beginning of a container. With `is_referent`, a reference to the value is
    /// implied.
    pub(super) fn read_value(&mut self, is_referent: bool) -> Result<(), Error> {
        let mut prefix = Prefix { start: self.scan.offset, first_node: self.sink.next_node(), ..Prefix::default() };
        if is_referent {
            prefix.flags = flag::REF;
            prefix.has_implied_reference = true;
        }
        loop {
            let start = self.scan.offset;
            crate::steps::count(1);
            let tag = self.scan.read_u8("a tag")?;
            let node = prefix.first_node;
            self.record_piece(start, node, tag::name_of(tag));
            let flags = match tag {
                tag::REF => flag::REF,
                tag::OVERLOAD => flag::REF | flag::OVERLOAD,
                tag::WEAKREF => flag::REF | flag::WEAK,
                tag::WEAKOVERLOAD => flag::REF | flag::WEAK | flag::OVERLOAD,
                tag::BLESS | tag::IX_BLESS => {
                    if prefix.class.is_some() {
                        return Err(self.malformed_error(start, "a value after the class", "another class"));
                    }
                    prefix.class = Some(self.read_class(tag, node)?);
                    continue;
                }
                _ => return self.read_tagged_value(tag, start, prefix),
            };
            self.begin_reference(flags, &mut prefix)?;
        }
    }

    /// Handles a reference. It becomes a flag of its target. If another reference or a class is before it, a node is
    /// written for that one.
    pub(super) fn begin_reference(&mut self, flags: u8, prefix: &mut Prefix) -> Result<(), Error> {
        if let Some(class) = prefix.class.take() {
            self.wrap_in_object(class, prefix)?;
        } else if prefix.flags & flag::REF != 0 {
            self.push_wrapper(Node::open(Kind::Ref, 0).with(prefix.flags), prefix)?;
        }
        prefix.flags = flags;
        prefix.has_implied_reference = false;
        let next = self.sink.next_node();
        self.numbers.assign_next(NumberedValue::Variable(next));
        Ok(())
    }

    /// Writes an object around a value that is not a container. Either a reference refers to the value, or the
    /// variable itself is blessed.
    pub(super) fn wrap_in_object(&mut self, class: u32, prefix: &mut Prefix) -> Result<(), Error> {
        let node = Node::open(Kind::Object, class).with(prefix.flags);
        if prefix.flags & flag::REF != 0 {
            self.push_wrapper(node, prefix)?;
            self.push_wrapper(Node::open(Kind::Ref, 0), prefix)
        } else {
            self.push_wrapper(node.in_form(Form::Variable), prefix)
        }
    }

    /// Writes a node that only wraps the next one.
    pub(super) fn push_wrapper(&mut self, node: Node, prefix: &mut Prefix) -> Result<(), Error> {
        self.check_depth(prefix.reference_count)?;
        let index = self.sink.tape().push(node);
        self.sink.record_begin(index, prefix.start);
        if let Some(form) = self.pending_class_note.take_if(|_| node.kind == Kind::Object) {
            self.sink.record_note(index, code::CLASS, form);
        }
        prefix.wrapper_count += 1;
        prefix.reference_count += u32::from(node.kind == Kind::Ref);
        Ok(())
    }

    /// Writes the wrappers of a scalar, and assigns its number.
    pub(super) fn push_scalar_wrappers(&mut self, prefix: &mut Prefix) -> Result<(), Error> {
        if let Some(class) = prefix.class.take() {
            self.wrap_in_object(class, prefix)?;
        } else if prefix.flags & flag::REF != 0 {
            self.push_wrapper(Node::open(Kind::Ref, 0).with(prefix.flags), prefix)?;
        }
        let node = self.sink.next_node();
        self.numbers.assign_next(NumberedValue::Variable(node));
        Ok(())
    }

    /// Writes the wrapper of a container, assigns its number, and returns the remaining
    /// flags for the container's own node.
    pub(super) fn push_container_wrapper(&mut self, prefix: &mut Prefix) -> Result<u8, Error> {
        let target = self.sink.next_node();
        self.numbers.assign_next(NumberedValue::Referent(target));
        if S::DETAIL && prefix.flags & flag::REF == 0 {
            self.sink.record_note(target, code::BARE, 1);
        }
        match prefix.class.take() {
            Some(class) => {
                self.push_wrapper(Node::open(Kind::Object, class).with(prefix.flags), prefix)?;
                Ok(0)
            }
            None => Ok(prefix.flags),
        }
    }

    /// Writes a complete scalar.
    pub(super) fn push_leaf(&mut self, node: Node, mut prefix: Prefix) -> Result<u32, Error> {
        self.push_scalar_wrappers(&mut prefix)?;
        let index = self.sink.tape().push(node);
        self.sink.record_begin(index, prefix.start);
        self.record_end(index);
        self.attach_notes(index);
        self.close_wrappers(index, prefix.wrapper_count);
        Ok(index)
    }

    /// Opens a container.
    pub(super) fn open_container(
        &mut self,
        state: State,
        node: Node,
        remaining: u32,
        prefix: Prefix,
    ) -> Result<u32, Error> {
        self.check_depth(0)?;
        let index = self.sink.tape().push(node);
        self.sink.record_begin(index, prefix.start);
        self.attach_notes(index);
        let frame = Frame {
            state,
            flags: 0,
            last_key: 0,
            node: index,
            wrapper_count: prefix.wrapper_count,
            remaining,
            count: 0,
            value: NONE,
            has_slot: false,
        };
        self.frames.push(frame);
        Ok(index)
    }

    /// Reads a value that is neither a reference nor a class.
    pub(super) fn read_tagged_value(&mut self, tag: u8, start: usize, prefix: Prefix) -> Result<(), Error> {
        let node = prefix.first_node;
        match tag {
            tag::OBJECT => return self.read_back_reference(start, prefix),
            tag::ARRAY => {
                let count_start = self.scan.offset;
                let count = self.read_u32("an array's count")?;
                self.record_piece(count_start, node, "count");
                let count = self.check_count(u64::from(count), 1, "items")?;
                return self.begin_array(count, prefix);
            }
            tag::HASH => {
                let count_start = self.scan.offset;
                let count = self.read_u32("a hash's count")?;
                self.record_piece(count_start, node, "count");
                let count = self.check_count(u64::from(count), MIN_ENTRY, "entries")?;
                return self.begin_hash(None, count, prefix);
            }
            tag::FLAG_HASH => {
                let flags_start = self.scan.offset;
                let flags = self.scan.read_u8("a hash's flags")?;
                self.record_piece(flags_start, node, "hash flags");
                let count_start = self.scan.offset;
                let count = self.read_u32("a hash's count")?;
                self.record_piece(count_start, node, "count");
                let count = self.check_count(u64::from(count), MIN_FLAG_ENTRY, "entries")?;
                return self.begin_hash(Some(flags), count, prefix);
            }
            tag::HOOK => return self.begin_hook(prefix, false),
            tag::TIED_ARRAY | tag::TIED_HASH | tag::TIED_SCALAR | tag::TIED_KEY | tag::TIED_IDX => {
                return self.begin_tied(tag, prefix);
            }
            tag::CODE => return self.read_code(prefix),
            tag::REGEXP => return self.read_regexp(prefix),
            tag::VSTRING | tag::LVSTRING => return self.read_v_string(tag, prefix),
            tag::LOBJECT => return self.read_large_object(start, prefix),
            _ => {}
        }
        let slot = prefix.flags & flag::REF == 0 && prefix.class.is_none();
        let Some((leaf, default)) = self.read_scalar(tag, node, slot)? else {
            return Err(self.unknown_tag_error(tag, start));
        };
        self.defer_tag_note(tag, default);
        self.push_leaf(leaf, prefix)?;
        Ok(())
    }

    /// Returns the node of a scalar, and the tag that the writer would choose for it;
    /// `None` if the tag is not that of a scalar. `fills_slot` states whether the scalar fills its slot
    /// itself, without a reference or class before it.
    pub(super) fn read_scalar(&mut self, tag: u8, node: u32, fills_slot: bool) -> Result<Option<(Node, u8)>, Error> {
        let start = self.scan.offset;
        let (leaf, default) = match tag {
            tag::SCALAR | tag::UTF8STR => {
                let len = self.scan.read_u8("a string's length")?;
                self.record_piece(start, node, "length");
                return self.read_text(tag, u64::from(len), node).map(Some);
            }
            tag::LSCALAR | tag::LUTF8STR => {
                let len = self.read_u32("a string's length")?;
                self.record_piece(start, node, "length");
                return self.read_text(tag, u64::from(len), node).map(Some);
            }
            tag::BYTE => (Node::int(i64::from(self.scan.read_u8("a small integer")?) - 128), tag::BYTE),
            tag::NETINT => {
                let value = i64::from(i32::from_be_bytes(self.scan.read_array("an integer")?));
                (Node::int(value), self.default_integer_tag(value))
            }
            tag::INTEGER => {
                let value = self.read_integer()?;
                (Node::int(value), self.default_integer_tag(value))
            }
            tag::DOUBLE => {
                let raw = self.scan.read_bytes(usize::from(self.image.nv_size), "a float")?;
                let is_little_endian = self.is_native_little();
                let leaf =
                    float::decode_native_float(self.sink.tape(), raw, is_little_endian, self.options.long_double);
                let default = super::default_tags::float_tag(&leaf, self.image.netorder);
                self.note_float(raw, &leaf);
                (leaf, default)
            }
            tag::SV_UNDEF if fills_slot && self.is_in_array() => (Node::leaf(Kind::Hole, 0), tag),
            tag::SVUNDEF_ELEM if fills_slot && self.is_in_array() => {
                (Node::leaf(Kind::Null, 0).with(flag::OWN | flag::ITEM), tag::UNDEF)
            }
            tag::UNDEF | tag::SVUNDEF_ELEM => (Node::leaf(Kind::Null, 0), tag::UNDEF),
            tag::SV_UNDEF => (Node::leaf(Kind::Null, 0).with(flag::OWN), tag::UNDEF),
            tag::SV_YES => (Node::leaf(Kind::Bool, 1).with(flag::OWN), self.default_bool_tag(true)),
            tag::SV_NO => (Node::leaf(Kind::Bool, 0).with(flag::OWN), self.default_bool_tag(false)),
            tag::BOOLEAN_TRUE => (Node::leaf(Kind::Bool, 1), self.default_bool_tag(true)),
            tag::BOOLEAN_FALSE => (Node::leaf(Kind::Bool, 0), self.default_bool_tag(false)),
            _ => return Ok(None),
        };
        self.record_piece(start, node, "value");
        Ok(Some((leaf, default)))
    }

    fn is_in_array(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.state == State::Array)
    }

    pub(super) fn read_text(&mut self, tag: u8, len: u64, node: u32) -> Result<(Node, u8), Error> {
        let start = self.scan.offset;
        let kind = if matches!(tag, tag::UTF8STR | tag::LUTF8STR) { Kind::Text } else { Kind::Bytes };
        let leaf = self.read_string(kind, len, "a string")?;
        self.record_piece(start, node, "string");
        Ok((leaf, super::default_tags::string_tag(kind, len)))
    }

    /// Returns `true` if native numbers have the least significant byte first. In network order
    /// there should be none; Storable then reads them in the order of the machine that it
    /// runs on, which nearly always is little-endian.
    pub(super) fn is_native_little(&self) -> bool {
        self.is_little_endian || self.image.netorder
    }

    pub(super) fn read_integer(&mut self) -> Result<i64, Error> {
        let bytes = self.scan.read_bytes(usize::from(self.image.iv_size), "an integer")?;
        let value = if self.image.is_mixed() {
            self.decode_mixed_order(bytes)
        } else if self.is_native_little() {
            bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        } else {
            bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        Ok(if bytes.len() == 4 { i64::from(value as u32 as i32) } else { value as i64 })
    }

    pub(super) fn default_integer_tag(&self, value: i64) -> u8 {
        super::default_tags::integer_tag(value, self.image.netorder)
    }

    pub(super) fn default_bool_tag(&self, value: bool) -> u8 {
        super::default_tags::bool_tag(value, self.image.minor >= 12)
    }

    /// Keeps the bytes of a float that the writer would write differently.
    pub(super) fn note_float(&mut self, raw: &[u8], leaf: &Node) {
        if !S::DETAIL {
            return;
        }
        let is_default = leaf.kind == Kind::Float
            && raw.len() == 8
            && (if self.is_little_endian { leaf.payload.to_le_bytes() } else { leaf.payload.to_be_bytes() }) == raw;
        if !is_default && let Some(detail) = self.sink.detail() {
            let stored_range = detail.store_bytes(raw);
            self.defer_note(code::FLOAT, stored_range);
        }
    }

    pub(super) fn node_at(&self, node: u32) -> Option<Node> {
        self.sink.nodes().get(node as usize).copied()
    }

    #[cold]
    pub(super) fn malformed_error(&self, offset: usize, expected: &'static str, found: &'static str) -> Error {
        Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(found)
    }

    #[cold]
    pub(super) fn unknown_tag_error(&self, tag: u8, offset: usize) -> Error {
        Error::new(ErrorKind::Malformed)
            .at(offset)
            .expecting("a tag from 0 to 35")
            .finding(format!("{tag} (0x{tag:02x})"))
    }
}

impl Frame {
    /// Returns the flags of the hash's node.
    pub(super) fn flags_of_hash(&self, nodes: &[Node]) -> u8 {
        nodes.get(self.node as usize).map_or(0, |node| node.flags)
    }
}
