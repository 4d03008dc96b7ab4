//! Reads igbinary. The reader is a machine: a loop with its own stack.

use super::spelling as code;
use super::strings::{InputString, NONE, Strings};
use super::tag;
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::limits::Limits;

/// Maximum number of entries of a map whose keys get ids. The keys of larger maps seldom occur again.
pub(super) const MAX_ENTRIES_WITH_IDS: u32 = 256;
/// Maximum number of items that get keys if a list becomes a map. After more items the input is read again, with a
/// prescan that finds out which arrays are maps.
const MAX_ITEMS_BEFORE_PRESCAN: u32 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// An array whose keys so far are 0, 1, 2 and so on.
    List,
    Map,
    /// The body of an object.
    Properties,
}

/// A container that is still open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) state: State,
    /// Whether its keys get ids.
    pub(super) may_have_key_ids: bool,
    pub(super) node: u32,
    /// Number of entries still to read.
    pub(super) remaining: u32,
    /// Number of entries so far.
    pub(super) count: u32,
    /// Number of entries in total.
    pub(super) total: u32,
}

pub(super) struct Machine<'a, 's, S: Sink> {
    pub(super) scan: Scan<'a>,
    pub(super) sink: &'s mut S,
    pub(super) limits: &'s Limits,
    pub(super) frames: Vec<Frame>,
    depth: u32,
    strings: Strings<'a>,
    /// Nodes of arrays, objects and references, by the number that links use.
    pub(super) numbered: Vec<u32>,
    /// Tells for each array, in the order of the input, if it is a map. Present only after a prescan.
    maps: Option<Vec<bool>>,
    /// Number of arrays that were begun so far.
    array_count: usize,
    needs_prescan: bool,
    /// Notes for the value whose node is next.
    pending_notes: Vec<(u16, u64)>,
}

impl<'a, 's, S: Sink> Machine<'a, 's, S> {
    pub(super) fn new(scan: Scan<'a>, limits: &'s Limits, sink: &'s mut S) -> Self {
        Machine {
            scan,
            sink,
            limits,
            frames: Vec::new(),
            depth: 0,
            strings: Strings::default(),
            numbered: Vec::new(),
            maps: None,
            array_count: 0,
            needs_prescan: false,
            pending_notes: Vec::new(),
        }
    }

    /// Reads the root and everything in it.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        self.read_value(NO_KEY)?;
        while let Some(frame) = self.frames.last() {
            if frame.remaining == 0 {
                self.close_container();
            } else if self.sink.nodes().len() >= self.limits.nodes as usize {
                return Err(self.limits.too_many_nodes().at(self.scan.offset));
            } else {
                self.read_entry()?;
            }
            if self.frames.len() == 1 {
                self.sink.finish_child()?;
            }
        }
        Ok(())
    }

    pub(super) fn needs_prescan(&self) -> bool {
        self.needs_prescan
    }

    pub(super) fn use_prescan(&mut self, maps: Vec<bool>) {
        self.maps = Some(maps);
    }

    pub(super) fn into_sink(self) -> &'s mut S {
        self.sink
    }

    pub(super) fn input_offset(&self) -> usize {
        self.scan.offset
    }

    /// Closes the open containers after an error, so that the nodes so far are a document. Returns the path of the
    /// value that could not be read.
    pub(super) fn close_open_containers(&mut self) -> String {
        let next = self.sink.next_node();
        let path = self.sink.tape().path_to(next, self.scan.input);
        // The last node may be a key whose value was not read.
        if self.sink.nodes().last().is_some_and(|node| node.key == IS_KEY) {
            self.sink.tape().nodes.pop();
        }
        while let Some(frame) = self.frames.last() {
            let (index, total) = (frame.node, frame.total);
            self.sink.record_cut(index, Some(total));
            self.close_container();
        }
        path
    }

    // -- Small helpers ------------------------------------------------------

    /// Records a span of the next node, up to here.
    #[inline]
    pub(super) fn record_span(&mut self, start: usize, name: &'static str) {
        self.sink.record_span(start, self.scan.offset, self.sink.next_node(), name);
    }

    #[inline]
    pub(super) fn add_note(&mut self, code: u16, value: u64) {
        if S::DETAIL {
            self.pending_notes.push((code, value));
        }
    }

    #[inline]
    pub(super) fn add_string_notes(&mut self, text: &InputString, tag: u8, tag_code: u16, number_code: u16) {
        if S::DETAIL {
            if tag != text.default {
                self.pending_notes.push((tag_code, u64::from(tag)));
            }
            if let Some(noted_number) = text.noted_number {
                self.pending_notes.push((number_code, noted_number));
            }
        }
    }

    /// Reads a number of 1, 2 or 4 bytes. The three tags for these widths follow each other, and `first` is the first
    /// one.
    #[inline]
    pub(super) fn read_number(&mut self, tag: u8, first: u8, expected: &'static str) -> Result<u64, Error> {
        match tag - first {
            0 => self.scan.read_u8(expected).map(u64::from),
            1 => self.scan.read_array(expected).map(|bytes| u64::from(u16::from_be_bytes(bytes))),
            _ => self.scan.read_array(expected).map(|bytes| u64::from(u32::from_be_bytes(bytes))),
        }
    }

    #[cold]
    pub(super) fn malformed_error(&self, offset: usize, expected: &'static str, tag: u8) -> Error {
        Error::new(ErrorKind::Malformed)
            .at(offset)
            .expecting(expected)
            .finding(format!("{} (0x{tag:02x})", tag::tag_name(tag)))
    }

    /// Puts a node on the tape, with the notes that were kept for it.
    #[inline]
    pub(super) fn push_node(&mut self, mut node: Node, key: u16, start: usize) -> u32 {
        node.key = key;
        let index = self.sink.tape().push(node);
        if S::DETAIL {
            self.sink.record_begin(index, start);
            if !node.kind.is_container() {
                self.sink.record_end(index, self.scan.offset);
            }
            for (code, value) in self.pending_notes.drain(..) {
                self.sink.record_note(index, code, value);
            }
        }
        index
    }

    fn close_container(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let has_object = frame.state == State::Properties;
        self.depth -= 1 + u32::from(has_object);
        self.sink.tape().close_container(frame.node, frame.count);
        if has_object {
            self.sink.tape().close_container(frame.node - 1, 1);
        }
        self.sink.record_end(frame.node, self.scan.offset);
        if has_object {
            self.sink.record_end(frame.node - 1, self.scan.offset);
        }
    }

    pub(super) fn increase_depth(&mut self, levels: u32) -> Result<(), Error> {
        if self.depth + levels > self.limits.depth {
            return Err(self.limits.too_deep().at(self.scan.offset));
        }
        self.depth += levels;
        Ok(())
    }

    /// Reads a string. Returns `None` if the tag is not a tag of strings.
    #[inline]
    pub(super) fn read_string(&mut self, tag: u8) -> Result<Option<InputString>, Error> {
        let start = self.scan.offset;
        let len = match tag {
            tag::EMPTY => {
                return Ok(Some(InputString { start, len: 0, number: NONE, default: tag, noted_number: None }));
            }
            // A string again, with a number of 1, 2 or 4 bytes.
            0x0e..=0x10 => return self.read_repeated_string(tag).map(Some),
            // A string with a length of 1, 2 or 4 bytes.
            0x11..=0x13 => self.read_number(tag, tag::STRING, "a string's length")?,
            tag::STRING64 => u64::from_be_bytes(self.scan.read_array("a string's length")?),
            _ => return Ok(None),
        };
        self.record_span(start, "length");
        self.read_string_bytes(len).map(Some)
    }

    /// Reads the bytes of a string and assigns its number.
    pub(super) fn read_string_bytes(&mut self, len: u64) -> Result<InputString, Error> {
        if len > self.limits.string {
            return Err(self.limits.too_long(len).at(self.scan.offset));
        }
        let start = self.scan.offset;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = self.scan.read_bytes(len, "a string")?;
        self.record_span(start, "string");
        let number = self.strings.add(start, len);
        let mut noted_number = None;
        if S::DETAIL {
            let is_known = len == 0 || self.strings.record_first(bytes, number).is_some();
            noted_number = is_known.then_some(0);
        }
        Ok(InputString { start, len, number, default: tag::for_string(len), noted_number })
    }

    fn read_repeated_string(&mut self, tag: u8) -> Result<InputString, Error> {
        let offset = self.scan.offset;
        let number = self.read_number(tag, tag::STRING_ID, "a string's number")?;
        self.find_string(number, offset, tag::STRING_ID)
    }

    /// Returns the string with this number.
    pub(super) fn find_string(&mut self, number: u64, offset: usize, tag: u8) -> Result<InputString, Error> {
        let Some((start, len)) = self.strings.get(number) else {
            return Err(Error::new(ErrorKind::BadLink)
                .at(offset)
                .expecting(format!("the number of one of {} strings", self.strings.len()))
                .finding(number.to_string()));
        };
        self.record_span(offset, "number");
        let mut noted_number = None;
        let number = number as u32;
        if S::DETAIL {
            let bytes = &self.scan.input[start..start + len];
            let is_first = len > 0 && self.strings.record_first(bytes, number).is_none_or(|first| first == number);
            noted_number = (!is_first).then(|| u64::from(number) + 1);
        }
        Ok(InputString { start, len, number, default: tag::narrowest_for(tag, u64::from(number)), noted_number })
    }

    /// Reads an integer. Returns `None` if the tag is not a tag of integers.
    #[inline]
    fn read_integer(&mut self, tag: u8) -> Result<Option<i64>, Error> {
        let offset = self.scan.offset;
        let magnitude = match tag {
            0x06 | 0x07 => u64::from(self.scan.read_u8("an integer")?),
            0x08 | 0x09 => u64::from(u16::from_be_bytes(self.scan.read_array("an integer")?)),
            0x0a | 0x0b => u64::from(u32::from_be_bytes(self.scan.read_array("an integer")?)),
            tag::INT64 | tag::INT64_NEGATIVE => u64::from_be_bytes(self.scan.read_array("an integer")?),
            _ => return Ok(None),
        };
        let value = if tag & 1 == 1 { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
        self.record_span(offset, "value");
        match value {
            Some(value) => Ok(Some(value)),
            None => Err(Error::new(ErrorKind::Malformed)
                .at(offset)
                .expecting("an integer of 64 bits with its sign")
                .finding(format!("the magnitude {magnitude}"))),
        }
    }

    // -- Containers --------------------------------------------------------

    /// Reads a key and the beginning of its value.
    fn read_entry(&mut self) -> Result<(), Error> {
        let top = self.frames.len() - 1;
        self.frames[top].remaining -= 1;
        let frame = self.frames[top];
        let start = self.scan.offset;
        let tag = self.scan.read_u8("a key")?;
        self.record_span(start, tag::tag_name(tag));
        // A property without a value has a null instead of a key, and a value does not follow.
        if tag == tag::NULL {
            self.sink.record_note(frame.node, code::OMITTED, u64::from(frame.count));
            return Ok(());
        }
        let key = if let Some(value) = self.read_integer(tag)? {
            if S::DETAIL && tag != tag::for_integer(value) {
                self.add_note(code::KEY_TAG, u64::from(tag));
            }
            if frame.state == State::List && value == i64::from(frame.count) {
                NO_KEY
            } else {
                self.ensure_map(top, start)?;
                self.place_integer_key(value, frame.may_have_key_ids)
            }
        } else if let Some(text) = self.read_string(tag)? {
            self.add_string_notes(&text, tag, code::KEY_TAG, code::KEY_STRING);
            self.ensure_map(top, start)?;
            self.place_string_key(&text, frame.may_have_key_ids)
        } else {
            return Err(self.malformed_error(start, "a key: an integer or a string", tag));
        };
        self.read_value(key)?;
        self.frames[top].count += 1;
        Ok(())
    }

    /// Changes an array into a map, if it is still a list. Its current key showed that it is not a list.
    #[inline]
    fn ensure_map(&mut self, top: usize, start: usize) -> Result<(), Error> {
        if self.frames[top].state == State::List { self.convert_to_map(top, start) } else { Ok(()) }
    }

    #[cold]
    fn convert_to_map(&mut self, top: usize, start: usize) -> Result<(), Error> {
        let Frame { node, count, .. } = self.frames[top];
        self.frames[top].state = State::Map;
        let end = self.sink.next_node();
        let tape = self.sink.tape();
        tape.nodes[node as usize].kind = Kind::Map;
        let mut child = node + 1;
        let mut key = 0;
        while child < end && count <= MAX_ITEMS_BEFORE_PRESCAN {
            let Some(id) = tape.intern_key(Node::int(key), b"") else { break };
            tape.set_key(child, id);
            child = tape.index_after(child);
            key += 1;
        }
        // Some items did not get keys. The caller reads the input again with a prescan, so this error is not
        // reported.
        if child < end {
            self.needs_prescan = true;
            return Err(Error::new(ErrorKind::Malformed).at(start));
        }
        Ok(())
    }

    fn place_integer_key(&mut self, value: i64, may_have_id: bool) -> u16 {
        let node = Node::int(value);
        if may_have_id && let Some(id) = self.sink.tape().intern_key(node, b"") {
            return id;
        }
        self.push_key_node(node)
    }

    #[inline]
    fn place_string_key(&mut self, text: &InputString, may_have_id: bool) -> u16 {
        let known = self.strings.key_id(text.number);
        if known != 0 {
            return known;
        }
        let (start, len) = (text.start, text.len);
        let input = self.scan.input;
        if may_have_id {
            let tape = self.sink.tape();
            let mut id = tape.keys.recall_short(Kind::Bytes, 0, input, start, len);
            if id == 0 {
                id = tape.intern_key(Node::leaf(Kind::Bytes, 0), &input[start..start + len]).unwrap_or(0);
            }
            if id != 0 {
                self.strings.set_key_id(text.number, id);
                return id;
            }
        }
        let node = self.sink.tape().new_borrowed_string(Kind::Bytes, start, len);
        self.push_key_node(node)
    }

    /// Pushes a key as a node.
    fn push_key_node(&mut self, mut node: Node) -> u16 {
        node.key = IS_KEY;
        let index = self.sink.tape().push(node);
        let end = self.scan.offset;
        self.sink.record_extent(index, end, end);
        KEY_NODE
    }

    /// Reads the number of entries of an array or object. Each needs at least one byte.
    pub(super) fn read_count(&mut self, tag: u8) -> Result<u32, Error> {
        let offset = self.scan.offset;
        let count = self.read_number(tag, tag::ARRAY, "a count")?;
        let remaining = self.scan.remaining_len();
        if count > remaining as u64 {
            let error = Error::new(ErrorKind::Truncated)
                .at(self.scan.offset)
                .expecting(format!("{count} entries"))
                .finding(format!("only {remaining} bytes"));
            return self.sink.defer_count_error(error, count, self.scan.input);
        }
        self.record_span(offset, "count");
        Ok(count as u32)
    }

    // -- Values ------------------------------------------------------------

    /// Reads a leaf completely, or the beginning of a container.
    fn read_value(&mut self, key: u16) -> Result<(), Error> {
        let start = self.scan.offset;
        let mut tag = self.scan.read_u8("a value")?;
        self.record_span(start, tag::tag_name(tag));
        let mut is_reference = false;
        if tag == tag::REFERENCE {
            is_reference = true;
            let offset = self.scan.offset;
            tag = self.scan.read_u8("a value")?;
            self.record_span(offset, tag::tag_name(tag));
            if tag == tag::REFERENCE {
                return Err(self.malformed_error(offset, "a value after the reference", tag));
            }
            if !matches!(tag, 0x01..=0x03 | 0x22..=0x24) {
                self.add_note(code::REFERENCE, 1);
            }
        }
        let leaf = match tag {
            tag::NULL => Node::leaf(Kind::Null, 0),
            tag::FALSE | tag::TRUE => Node::leaf(Kind::Bool, u64::from(tag - tag::FALSE)),
            tag::FLOAT => {
                let offset = self.scan.offset;
                let bits = u64::from_be_bytes(self.scan.read_array("a float")?);
                self.record_span(offset, "value");
                Node::leaf(Kind::Float, bits)
            }
            0x14..=0x1c => {
                let number = self.numbered.len();
                if tag < tag::OBJECT {
                    self.read_array(tag, key, start)?;
                } else {
                    self.read_object(tag, key, start)?;
                }
                if is_reference {
                    self.mark_reference(number);
                }
                return Ok(());
            }
            0x01..=0x03 => return self.read_link(tag, tag::ARRAY_REF, is_reference, key, start),
            0x22..=0x24 => return self.read_link(tag, tag::OBJECT_REF, is_reference, key, start),
            _ => {
                if let Some(value) = self.read_integer(tag)? {
                    if S::DETAIL && tag != tag::for_integer(value) {
                        self.add_note(code::TAG, u64::from(tag));
                    }
                    Node::int(value)
                } else if let Some(text) = self.read_string(tag)? {
                    self.add_string_notes(&text, tag, code::TAG, code::STRING);
                    self.sink.tape().new_borrowed_string(Kind::Bytes, text.start, text.len)
                } else {
                    return Err(self.malformed_error(start, "a value", tag));
                }
            }
        };
        let index = self.push_node(leaf, key, start);
        if is_reference {
            self.numbered.push(index);
            self.mark_reference(self.numbered.len() - 1);
        }
        Ok(())
    }

    /// Marks the value with this number as a PHP reference. A later link by reference to it shares the variable. A link
    /// by reference to a value without this mark makes a variable of its own.
    #[cold]
    fn mark_reference(&mut self, number: usize) {
        if let Some(index) = self.numbered.get(number).copied() {
            self.sink.tape().set_flags(index, flag::REF);
        }
    }

    fn read_array(&mut self, tag: u8, key: u16, start: usize) -> Result<(), Error> {
        let remaining = self.read_count(tag)?;
        self.increase_depth(1)?;
        if S::DETAIL && tag != tag::narrowest_for(tag::ARRAY, u64::from(remaining)) {
            self.add_note(code::TAG, u64::from(tag));
        }
        let is_map = self.maps.as_ref().is_some_and(|maps| maps.get(self.array_count) == Some(&true));
        self.array_count += 1;
        let (kind, state) = if is_map { (Kind::Map, State::Map) } else { (Kind::Array, State::List) };
        let node = self.push_node(Node::open(kind, 0), key, start);
        self.numbered.push(node);
        self.frames.push(Frame {
            state,
            may_have_key_ids: remaining <= MAX_ENTRIES_WITH_IDS,
            node,
            remaining,
            count: 0,
            total: remaining,
        });
        Ok(())
    }

    /// Reads a reference to an earlier value.
    fn read_link(&mut self, tag: u8, first: u8, is_reference: bool, key: u16, start: usize) -> Result<(), Error> {
        let offset = self.scan.offset;
        let number = self.read_number(tag, first, "a number")?;
        if !self.sink.has_all_nodes() {
            return Err(Error::new(ErrorKind::BadLink).at(start).expecting("a document without links"));
        }
        let target = usize::try_from(number).ok().and_then(|number| self.numbered.get(number).copied());
        let Some(target) = target else {
            return Err(Error::new(ErrorKind::BadLink)
                .at(offset)
                .expecting(format!("the number of one of {} arrays, objects and references", self.numbered.len()))
                .finding(number.to_string()));
        };
        self.record_span(offset, "number");
        let node = self.sink.nodes()[target as usize];
        let is_object = matches!(node.kind, Kind::Object | Kind::Opaque | Kind::EnumCase);
        let is_array = matches!(node.kind, Kind::Array | Kind::Map);
        if !is_reference && !is_object && !is_array {
            return Err(Error::new(ErrorKind::BadLink)
                .at(offset)
                .expecting("the number of an array or an object")
                .finding(format!("{number}, a variable that holds a scalar")));
        }
        let default = if is_object { tag::OBJECT_REF } else { tag::ARRAY_REF };
        if S::DETAIL && tag != tag::narrowest_for(default, number) {
            self.add_note(code::TAG, u64::from(tag));
        }
        // A link to an array that is not by reference means an equal array. Inside of the array itself, while it is
        // open and its end is unknown, a copy would be infinite, so it is a link.
        let is_copy = is_array && !is_reference && node.end() != 0;
        let kind = match is_reference {
            true => Kind::Alias,
            false if is_copy => Kind::Copy,
            false => Kind::Link,
        };
        if is_copy {
            self.sink.tape().mark_copied(target);
        } else {
            self.sink.tape().mark_target(target);
        }
        self.push_node(Node::leaf(kind, u64::from(target)), key, start);
        Ok(())
    }
}
