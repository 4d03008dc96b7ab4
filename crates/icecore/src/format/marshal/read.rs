//! Reads Ruby's Marshal dumps. The reader is a machine: a loop with its own stack.

use super::read_fast::RecordOutcome;
use super::symbols::Symbol;
use super::tag;
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::limits::Limits;
use std::collections::HashMap;

/// Maximum number of entries of a map whose keys get ids. The keys of larger maps seldom occur again.
pub(super) const MAX_ENTRIES_WITH_IDS: u32 = 256;
/// Maximum number of wrappers between an encoding and its string. This many wrappers of a value do not count as levels.
pub(super) const MAX_WRAPPERS: u32 = 64;
/// Number of values that are read before the machine checks limits again.
pub(super) const BATCH: u32 = 1024;

/// Current state of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Array,
    /// A hash.
    Hash {
        /// Whether the key of the next value was read and is a node.
        has_key: bool,
    },
    /// The default value of a hash.
    Default,
    /// The names and values of an object. The node of the object is directly before the frame's node.
    Members,
    /// One value. The container around it ends with this value.
    Part,
    /// A value inside of a module or a class. The wrapper around it ends with this value.
    Wrapped,
    /// A value, followed by its instance variables.
    Owner,
    /// Instance variables of the value in an `Attrs`.
    Variables,
    /// Instance variables of the payload of an object with a dump, `u`. The node of the object is directly before the
    /// frame's node.
    Payload,
}

impl State {
    /// Returns `true` for a wrapper whose value is not complete. A wrapper and its value are one level of nesting.
    fn is_wrapper(self) -> bool {
        matches!(self, State::Wrapped | State::Owner)
    }
}

/// A container that is still open.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadFrame {
    pub(super) state: State,
    /// Its node.
    pub(super) node: u32,
    /// Number of children still to read.
    pub(super) remaining: u32,
    /// Number of children so far.
    pub(super) count: u32,
}

/// An object that has a number for links, but is not a node of the tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct OffTapeObject {
    /// A string that is a key or the name of an encoding. If a sink removes nodes, it may also be a float.
    pub(super) node: Node,
    /// Its id as a key, or 0 if it does not have one yet.
    pub(super) key: u16,
}

/// Bit in the entry of an object number. It means that the object is an [`OffTapeObject`].
pub(super) const OFF_TAPE_BIT: u32 = 1 << 31;
/// An object that is not on the tape yet.
pub(super) const PENDING: u32 = u32::MAX;

/// Memory for the next document that is read onto the same tape.
#[derive(Default)]
pub(super) struct ReaderMemory {
    frames: Vec<ReadFrame>,
    symbols: Vec<Symbol>,
    numbers: Vec<u32>,
    off_tape_objects: Vec<OffTapeObject>,
    /// The ids of the symbols of the last document, by number: the id as a key, and the id as a class.
    predicted_symbols: Vec<(u16, u32)>,
}

/// Number of symbols that are predicted.
const MAX_PREDICTED_SYMBOLS: usize = 256;
/// Number of entries of each of these vectors that are kept.
const MAX_KEPT_ENTRIES: usize = 1 << 16;

pub(super) struct Reader<'a, 's, S: Sink> {
    memory: Box<ReaderMemory>,
    pub(super) predicted_symbols: Vec<(u16, u32)>,
    pub(super) scan: Scan<'a>,
    pub(super) sink: &'s mut S,
    pub(super) limits: &'s Limits,
    pub(super) frames: Vec<ReadFrame>,
    /// Number of frames that do not count as levels: wrappers whose value is not complete.
    pub(super) wrapper_count: usize,
    pub(super) symbols: Vec<Symbol>,
    /// The four bytes that follow a string in UTF-8, if the symbol `E` already has a number. Otherwise a value that
    /// four bytes can't have.
    pub(super) utf8_tail: u64,
    /// The nodes of objects by number.
    pub(super) numbers: Vec<u32>,
    /// The nodes of all numbers below this one were removed from the tape.
    pub(super) removed_below: usize,
    pub(super) off_tape_objects: Vec<OffTapeObject>,
    /// The ids of encodings, by the location of their names.
    pub(super) encodings: HashMap<(u64, u32), u16>,
    /// The first number of each float and of each key, if spelling is recorded.
    pub(super) float_numbers: HashMap<u64, i64>,
    pub(super) key_numbers: HashMap<(Kind, u16, &'a [u8]), i64>,
}

impl<'a, 's, S: Sink> Reader<'a, 's, S> {
    pub(super) fn new(scan: Scan<'a>, limits: &'s Limits, sink: &'s mut S) -> Self {
        let mut memory = sink.tape().memory.take_or_default::<ReaderMemory>();
        let kept = std::mem::take(&mut *memory);
        Reader {
            memory,
            predicted_symbols: kept.predicted_symbols,
            scan,
            sink,
            limits,
            frames: kept.frames,
            wrapper_count: 0,
            symbols: kept.symbols,
            utf8_tail: u64::MAX,
            numbers: kept.numbers,
            removed_below: 0,
            off_tape_objects: kept.off_tape_objects,
            float_numbers: HashMap::new(),
            encodings: HashMap::new(),
            key_numbers: HashMap::new(),
        }
    }

    /// Keeps the memory for the next document.
    pub(super) fn return_memory(mut self) {
        fn take_emptied<T>(list: &mut Vec<T>) -> Vec<T> {
            let mut list = std::mem::take(list);
            list.clear();
            list.shrink_to(MAX_KEPT_ENTRIES);
            list
        }
        let mut predicted_symbols = take_emptied(&mut self.predicted_symbols);
        predicted_symbols
            .extend(self.symbols.iter().take(MAX_PREDICTED_SYMBOLS).map(|symbol| (symbol.key, symbol.class)));
        let mut memory = self.memory;
        *memory = ReaderMemory {
            frames: take_emptied(&mut self.frames),
            symbols: take_emptied(&mut self.symbols),
            numbers: take_emptied(&mut self.numbers),
            off_tape_objects: take_emptied(&mut self.off_tape_objects),
            predicted_symbols,
        };
        self.sink.tape().memory.put_back(memory);
    }

    /// Reads the root and everything in it.
    pub(super) fn read_document(&mut self) -> Result<(), Error> {
        let is_begun = !S::DETAIL && !S::PARTS && !matches!(self.read_record(NO_KEY)?, RecordOutcome::Other);
        if !is_begun {
            self.read_value(NO_KEY)?;
        }
        while let Some(frame) = self.frames.last().copied() {
            let node_limit = self.limits.nodes.min(OFF_TAPE_BIT - 1);
            if self.sink.tape().nodes().len() >= node_limit as usize {
                return Err(self.limits.too_many_nodes().at(self.scan.offset));
            }
            match frame.state {
                State::Array => self.read_items(frame)?,
                State::Hash { has_key } => self.read_entries(frame, has_key)?,
                State::Default => {
                    // The default value is not an entry, so it does not count.
                    self.advance_top(State::Part, 0);
                    self.read_value(NO_KEY)?;
                }
                State::Part | State::Wrapped | State::Owner if frame.remaining > 0 => {
                    self.advance_top(frame.state, 1);
                    self.read_value(NO_KEY)?;
                }
                State::Part | State::Wrapped => self.close_container(),
                State::Owner => self.begin_variables()?,
                State::Members | State::Variables | State::Payload => self.read_members(frame)?,
            }
        }
        Ok(())
    }

    // -- Small helpers --------------------------------------------------------

    /// Reads an integer: a byte, or a count of bytes and these bytes.
    #[inline]
    pub(super) fn read_integer(&mut self) -> Result<i64, Error> {
        let head = self.scan.read_u8("an integer")? as i8;
        match head {
            0 => Ok(0),
            5..=127 => Ok(i64::from(head) - 5),
            -128..=-5 => Ok(i64::from(head) + 5),
            _ => {
                let len = usize::from(head.unsigned_abs());
                let bytes = self.scan.read_bytes(len, "an integer")?;
                let filler = if head < 0 { 0xFF } else { 0 };
                let mut word = [filler; 8];
                word[..len].copy_from_slice(bytes);
                Ok(i64::from_le_bytes(word))
            }
        }
    }

    /// Reads a count of elements that need at least `min_size` bytes each.
    #[inline]
    pub(super) fn read_count(&mut self, subject: &'static str, min_size: usize) -> Result<u32, Error> {
        let start = self.scan.offset;
        let count = self.read_integer()?;
        match u32::try_from(count) {
            Ok(count) if count as usize <= self.scan.remaining_len() / min_size => Ok(count),
            _ if count < 0 => Err(Error::new(ErrorKind::Malformed)
                .at(start)
                .expecting(format!("a number of {subject}"))
                .finding(count.to_string())),
            _ => {
                let error = Error::new(ErrorKind::Truncated)
                    .at(self.scan.input.len())
                    .expecting(format!("{count} {subject}, at least {min_size} bytes each"))
                    .finding(format!("only {} bytes", self.scan.remaining_len()));
                self.sink.defer_count_error(error, count.unsigned_abs(), self.scan.input)
            }
        }
    }

    /// Reads a length and this many bytes; returns where they are.
    #[inline]
    pub(super) fn read_bytes(&mut self, subject: &'static str) -> Result<(usize, usize), Error> {
        let offset = self.scan.offset;
        let len = self.read_integer()?;
        let Ok(len) = usize::try_from(len) else {
            return Err(Error::new(ErrorKind::Malformed)
                .at(offset)
                .expecting(format!("the length of {subject}"))
                .finding(len.to_string()));
        };
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(offset));
        }
        let start = self.scan.offset;
        self.scan.read_bytes(len, subject)?;
        Ok((start, len))
    }

    #[cold]
    pub(super) fn malformed_error(&self, offset: usize, expected: &'static str, found: u8) -> Error {
        let found_text = if found.is_ascii_graphic() { char::from(found).to_string() } else { format!("{found:#04x}") };
        Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(found_text)
    }

    #[cold]
    pub(super) fn bad_link_error(&self, offset: usize, number: i64) -> Error {
        Error::new(ErrorKind::BadLink)
            .at(offset)
            .expecting(match self.numbers.len() {
                0 => "an object: none has a number yet".to_owned(),
                n => format!("the number of an object before this one, 0 to {}", n - 1),
            })
            .finding(number.to_string())
    }

    /// Records a span of the node `node`, up to here.
    #[inline]
    pub(super) fn record_piece(&mut self, start: usize, node: u32, name: &'static str) {
        self.sink.record_span(start, self.scan.offset, node, name);
    }

    #[inline]
    pub(super) fn end_node(&mut self, node: u32) {
        self.sink.record_end(node, self.scan.offset);
    }

    /// Puts a leaf on the tape.
    #[inline]
    pub(super) fn push_leaf(&mut self, mut node: Node, key: u16, start: usize) -> u32 {
        node.key = key;
        let index = self.sink.tape().push(node);
        self.sink.record_begin(index, start);
        self.end_node(index);
        index
    }

    /// Puts the node of a container on the tape.
    pub(super) fn push_container(&mut self, mut node: Node, key: u16, start: usize) -> u32 {
        node.key = key;
        let index = self.sink.tape().push(node);
        self.sink.record_begin(index, start);
        index
    }

    /// Returns `true` if the limit allows another level.
    #[inline]
    pub(super) fn may_open_level(&self) -> bool {
        self.frames.len() - self.wrapper_count < self.limits.depth as usize
    }

    /// Returns `true` if another wrapper may be opened after `pending_count` that have no frame yet. A value usually
    /// has up to three: variables, a module and a class. Further ones count as levels, except for the first few.
    pub(super) fn may_open_wrapper(&self, pending_count: usize) -> bool {
        let levels = self.frames.len() - self.wrapper_count;
        let surplus = (self.wrapper_count + pending_count).saturating_sub(3 * levels + MAX_WRAPPERS as usize);
        levels + surplus < self.limits.depth as usize
    }

    /// Opens a container that was put on the tape.
    #[inline]
    pub(super) fn open_container(&mut self, state: State, node: u32, remaining: u32) -> Result<(), Error> {
        if state.is_wrapper() {
            if !self.may_open_wrapper(0) {
                return Err(self.limits.too_deep().at(self.scan.offset));
            }
            self.wrapper_count += 1;
        } else if !self.may_open_level() {
            return Err(self.limits.too_deep().at(self.scan.offset));
        }
        self.frames.push(ReadFrame { state, node, remaining, count: 0 });
        Ok(())
    }

    pub(super) fn advance_top(&mut self, state: State, count: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.state = state;
            frame.count += count;
            frame.remaining -= count;
        }
    }

    /// Closes the innermost container.
    pub(super) fn close_container(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.wrapper_count -= usize::from(frame.state.is_wrapper());
        self.sink.tape().close_container(frame.node, frame.count);
        self.end_node(frame.node);
        if matches!(frame.state, State::Members | State::Payload) {
            self.sink.tape().close_container(frame.node - 1, 1);
            self.end_node(frame.node - 1);
        }
        if frame.state == State::Payload {
            self.numbers.push(frame.node - 1);
        }
    }

    /// Closes open containers, so that the nodes read so far are a document.
    pub(super) fn close_open_containers(&mut self) {
        while let Some(frame) = self.frames.last() {
            let (node, expected_count) = (frame.node, frame.count.saturating_add(frame.remaining));
            self.sink.record_cut(node, Some(expected_count));
            self.close_container();
        }
    }

    // -- Containers ----------------------------------------------------------

    fn read_items(&mut self, frame: ReadFrame) -> Result<(), Error> {
        let depth = self.frames.len();
        if depth == 1 {
            self.finish_root_item()?;
        }
        if !S::DETAIL {
            return self.read_fast_items(frame);
        }
        let batch = frame.remaining.min(BATCH);
        let mut items_read = 0;
        while items_read < batch && self.frames.len() == depth {
            items_read += 1;
            // The frame is updated before the value is read, because a nested container is read after a new frame.
            if let Some(top) = self.frames.last_mut() {
                top.remaining -= 1;
                top.count += 1;
            }
            self.read_value(NO_KEY)?;
        }
        if frame.remaining == 0 {
            self.close_container();
        }
        Ok(())
    }

    fn read_entries(&mut self, mut frame: ReadFrame, mut has_key: bool) -> Result<(), Error> {
        if !S::DETAIL && !has_key && self.is_plain_hash(frame) {
            if self.read_fast_entries(frame)? {
                return Ok(());
            }
            frame = self.frames.last().copied().unwrap_or(frame);
        }
        if frame.remaining == 0 {
            if self.sink.nodes().get(frame.node as usize).is_some_and(|node| node.has(flag::DEFAULT)) {
                self.advance_top(State::Default, 0);
            } else {
                self.close_container();
            }
            return Ok(());
        }
        let depth = self.frames.len();
        let top = depth - 1;
        for _ in 0..frame.remaining.min(BATCH) {
            let key = if has_key { KEY_NODE } else { self.read_key(frame.node)? };
            if key == KEY_NODE {
                self.frames[top].state = State::Hash { has_key: true };
            }
            if self.frames.len() > depth {
                return Ok(());
            }
            has_key = false;
            let frame = &mut self.frames[top];
            frame.state = State::Hash { has_key: false };
            frame.remaining -= 1;
            frame.count += 1;
            self.read_value(key)?;
            if self.frames.len() > depth {
                return Ok(());
            }
        }
        Ok(())
    }

    // -- Values --------------------------------------------------------------

    /// Reads a leaf completely, or the beginning of a container.
    #[inline]
    pub(super) fn read_value(&mut self, key: u16) -> Result<(), Error> {
        let start = self.scan.offset;
        let tag = self.scan.read_u8("a value")?;
        self.read_tagged(tag, start, key)
    }

    pub(super) fn read_tagged(&mut self, tag: u8, start: usize, key: u16) -> Result<(), Error> {
        let node = self.sink.next_node();
        match tag {
            b'0' => drop(self.push_spanned_leaf(Node::leaf(Kind::Null, 0), key, start, tag::type_name(tag))),
            b'T' => drop(self.push_spanned_leaf(Node::leaf(Kind::Bool, 1), key, start, tag::type_name(tag))),
            b'F' => drop(self.push_spanned_leaf(Node::leaf(Kind::Bool, 0), key, start, tag::type_name(tag))),
            b'i' => {
                let value = self.read_integer()?;
                self.push_spanned_leaf(Node::int(value), key, start, tag::type_name(tag));
            }
            b':' | b';' => {
                let number = if tag == b';' {
                    self.read_symbol_link(start, node)?
                } else {
                    self.read_new_symbol(start, false, node)?
                };
                let symbol = self.symbols[number].node;
                self.push_leaf(symbol, key, start);
            }
            b'"' => {
                let (place, len) = self.read_bytes("a string")?;
                let string = self.sink.tape().new_borrowed_string(Kind::Bytes, place, len);
                self.numbers.push(node);
                self.push_spanned_leaf(string, key, start, tag::type_name(tag));
            }
            b'I' => self.read_with_variables(start, key)?,
            b'@' => self.read_link(start, key)?,
            b'f' => self.read_float(start, key)?,
            b'l' => self.read_bignum(start, key)?,
            b'/' => self.read_wrapped_string(tag, start, key, None, &[])?,
            b'C' | b'e' => self.read_wrappers(tag, start, key, None)?,
            b'[' => {
                let count = self.read_count("items", 1)?;
                self.numbers.push(node);
                self.record_piece(start, node, tag::type_name(tag));
                self.push_container(Node::open(Kind::Array, 0), key, start);
                self.open_container(State::Array, node, count)?;
            }
            b'{' | b'}' => self.read_hash(tag, start, key, 0)?,
            b'o' | b'S' => {
                self.numbers.push(node);
                self.record_piece(start, node, tag::type_name(tag));
                let form = if tag == b'o' { Form::Usual } else { Form::Struct };
                let class = self.read_class(node)?;
                self.push_container(Node::open(Kind::Object, class).in_form(form), key, start);
                let count_start = self.scan.offset;
                let count = self.read_count("members", 2)?;
                self.record_piece(count_start, node + 1, "count");
                self.push_container(Node::open(Kind::Map, 0), NO_KEY, count_start);
                self.open_container(State::Members, node + 1, count)?;
            }
            b'U' | b'd' => {
                self.record_piece(start, node, tag::type_name(tag));
                let form = if tag == b'U' { Form::UserMarshal } else { Form::Data };
                let class = self.read_class(node)?;
                self.numbers.push(node);
                self.push_container(Node::open(Kind::Opaque, class).in_form(form), key, start);
                self.open_container(State::Part, node, 1)?;
            }
            b'u' => self.read_user_dump(start, key, false)?,
            b'c' | b'm' | b'M' => {
                let (place, len) = self.read_bytes("a name")?;
                let form = match tag {
                    b'c' => Form::Usual,
                    b'm' => Form::Module,
                    _ => Form::OldModule,
                };
                let name = self.sink.tape().new_borrowed_string(Kind::Module, place, len).in_form(form);
                self.numbers.push(node);
                self.push_spanned_leaf(name, key, start, tag::type_name(tag));
            }
            other => return Err(self.malformed_error(start, "the type of a value", other)),
        }
        Ok(())
    }

    /// Puts a leaf on the tape, with a span for its bytes.
    #[inline]
    pub(super) fn push_spanned_leaf(&mut self, node: Node, key: u16, start: usize, name: &'static str) -> u32 {
        let index = self.push_leaf(node, key, start);
        self.record_piece(start, index, name);
        index
    }

    pub(super) fn read_hash(&mut self, tag: u8, start: usize, key: u16, flags: u8) -> Result<(), Error> {
        let node = self.sink.next_node();
        let count = self.read_count("entries", 2)?;
        self.numbers.push(node);
        self.record_piece(start, node, tag::type_name(tag));
        let default = if tag == b'}' { flag::DEFAULT } else { 0 };
        self.push_container(Node::open(Kind::Map, 0).with(flags | default), key, start);
        self.open_container(State::Hash { has_key: false }, node, count)
    }

    /// Returns `true` if a map is small enough for its keys to get ids.
    pub(super) fn has_key_ids(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.remaining.saturating_add(frame.count) <= MAX_ENTRIES_WITH_IDS)
    }

    /// Puts a key on the tape.
    pub(super) fn push_key_node(&mut self, node: Node, start: usize) -> u16 {
        self.push_leaf(node, IS_KEY, start);
        KEY_NODE
    }
}
