//! `C:` payloads of PHP's own classes, as written up to PHP 7.3.
//!
//! The children of an opened object are its content, its flags and its own properties, in this order. The content is
//! the array of an `ArrayObject`, the items of a list, or `{object, data}` for each object of a storage.

use super::links::Counted;
use super::read::{Frame, Machine};
use super::spelling;
use super::token::QuotedBytes;
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Recorder, Sink};
use crate::error::Error;
use crate::format::list_to_map::MAX_KEY_IDS;

/// The way a class writes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `x:` flags, the array, `;m:` properties.
    Array,
    /// `x:` count, the objects with their data, `;m:` properties.
    Storage,
    /// Flags, and `:` before each item.
    List,
}

/// Number of nested payloads that are always allowed.
const ALWAYS_ALLOWED_PAYLOADS: usize = 1000;
/// Name of the key for the object in an element of a storage.
pub(super) const OBJECT: &[u8] = b"object";
/// Name of the key for the data of that object.
pub(super) const DATA: &[u8] = b"data";
/// The flag of an `ArrayObject` whose array is its own properties.
pub(super) const IS_SELF: i64 = 0x0100_0000;

/// Returns the family of a class; PHP ignores the case of letters.
pub(super) fn find_family(class: &[u8]) -> Option<Family> {
    const CLASSES: [(&[u8], Family); 7] = [
        (b"ArrayObject", Family::Array),
        (b"ArrayIterator", Family::Array),
        (b"RecursiveArrayIterator", Family::Array),
        (b"SplObjectStorage", Family::Storage),
        (b"SplDoublyLinkedList", Family::List),
        (b"SplQueue", Family::List),
        (b"SplStack", Family::List),
    ];
    CLASSES.iter().find(|(name, _)| name.eq_ignore_ascii_case(class)).map(|(_, family)| *family)
}

/// Returns `true` if this can begin the array of an `ArrayObject`.
pub(super) fn begins_array(byte: u8) -> bool {
    matches!(byte, b'a' | b'O' | b'C' | b'r')
}

/// Returns `true` if this can begin an object of a storage.
pub(super) fn begins_object(byte: u8) -> bool {
    matches!(byte, b'O' | b'C' | b'r')
}

/// Returns `true` if a payload begins like values of PHP.
fn begins_values(payload: &[u8]) -> bool {
    match payload {
        [b'N', b';', ..] => true,
        [first, b':', ..] => b"aOCEsSidbrRxm".contains(first),
        _ => false,
    }
}

/// The piece that was read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadStep {
    /// The array of an `ArrayObject`.
    Content,
    /// A whole element of a list or a storage, or the text before the first one.
    Element,
    /// The object of an element.
    Object,
    /// The data of that object.
    Data,
    /// The object's own properties.
    Members,
}

/// The text of the flags of a payload.
#[derive(Debug)]
struct FlagsText {
    start: usize,
    end: usize,
    /// Whether PHP writes the flags like this.
    is_default: bool,
}

/// A payload that is being read.
#[derive(Debug)]
pub(super) struct PayloadInput {
    /// `None` for a class of a program, whose form is unknown. Its values are read, with the marks
    /// and separators of any class between them.
    family: Option<Family>,
    /// The node of the object.
    object: u32,
    /// Where the payload ends.
    end: usize,
    /// Start and end of the text around it.
    outer: (usize, usize),
    step: ReadStep,
    /// For a storage, the number of objects still to read; otherwise the flags.
    flags_or_remaining: i64,
    /// Where the flags are, until they are a node.
    flags_text: Option<FlagsText>,
    /// The array made for the items, while it is open.
    content: Option<u32>,
    /// The map made for an element of a storage, while it is open.
    pair: Option<u32>,
    /// Number of items so far.
    count: u32,
    /// Number of children of the object.
    child_count: u32,
}

impl<S: Sink> Machine<'_, '_, S> {
    /// Opens the payload of the object at `object` of the tape. Until it is closed, the text ends with
    /// the payload.
    pub(super) fn open_payload(
        &mut self,
        family: Option<Family>,
        object: u32,
        start: usize,
        len: usize,
    ) -> Result<(), Error> {
        // Payloads do not count as levels, but their depth is limited, too.
        if self.payloads.len() >= (self.limits.depth as usize).max(ALWAYS_ALLOWED_PAYLOADS) {
            return Err(self.limits.too_deep().at(start));
        }
        let end = start + len;
        let outer = (self.tokens.base, self.tokens.input.len());
        self.tokens.base = start;
        self.tokens.input = &self.tokens.input[..end];
        self.tokens.offset = start;
        self.frames.push(Frame::for_payload(object));
        self.payloads.push(PayloadInput {
            family,
            object,
            end,
            outer,
            step: ReadStep::Element,
            flags_or_remaining: 0,
            flags_text: None,
            content: None,
            pair: None,
            count: 0,
            child_count: 0,
        });
        let Some(family) = family else {
            self.slots.record_payload(object, Counted::Values);
            return Ok(());
        };
        self.slots.record_payload(object, Counted::Number);
        if family != Family::List {
            self.read_mark(b'x', "`x:`", object)?;
        }
        let number_start = self.tokens.offset;
        self.tokens.expect_next(|byte| byte == b'i', "an integer")?;
        let (number, is_default) = self.read_integer()?;
        if family == Family::Storage && number < 0 {
            return Err(self.tokens.unexpected_byte_error(
                number_start,
                self.tokens.offset - 1,
                "a number that is not below 0",
            ));
        }
        let number_end = self.tokens.offset;
        self.sink.record_span(
            number_start,
            number_end,
            object,
            if family == Family::Storage { "count" } else { "flags" },
        );
        if family == Family::Storage && !is_default {
            self.keep_source(object, spelling::COUNT, number_start, number_end);
        }
        let Some(payload) = self.payloads.last_mut() else { return Ok(()) };
        payload.flags_or_remaining = number;
        if family != Family::Storage {
            payload.flags_text = Some(FlagsText { start: number_start, end: number_end, is_default });
        }
        if family == Family::Array {
            if number & IS_SELF != 0 {
                return self.read_members();
            }
            // The array is read in the next step, because it may itself be an object with a payload.
            return Ok(());
        }
        let content = self.push_slotless(Node::open(Kind::Array, 0));
        if let Some(payload) = self.payloads.last_mut() {
            payload.content = Some(content);
            payload.child_count = 1;
        }
        Ok(())
    }

    /// Continues after a value in the innermost payload.
    pub(super) fn payload_step(&mut self) -> Result<(), Error> {
        if self.sink.nodes().len() >= self.limits.nodes as usize {
            return Err(self.limits.too_many_nodes().at(self.tokens.offset));
        }
        let Some(payload) = self.payloads.last_mut() else { return Ok(()) };
        let object = payload.object;
        match (payload.step, payload.family) {
            (ReadStep::Members, _) => {
                self.close_payload();
                Ok(())
            }
            (ReadStep::Content, _) => {
                self.read_separator(b';', "`;` after the array", object)?;
                self.read_members()
            }
            (ReadStep::Object, _) if self.tokens.input.get(self.tokens.offset) == Some(&b',') => {
                payload.step = ReadStep::Data;
                self.read_separator(b',', "`,`", object)?;
                let key = self.place_fixed_key(DATA);
                self.read_value(key)
            }
            (ReadStep::Object | ReadStep::Data, _) => {
                let entries = if payload.step == ReadStep::Data { 2 } else { 1 };
                payload.step = ReadStep::Element;
                let pair = payload.pair.take();
                self.close_slotless(pair, entries);
                Ok(())
            }
            (ReadStep::Element, Some(Family::List)) => self.read_list_item(),
            (ReadStep::Element, None) => self.read_payload_value(),
            (ReadStep::Element, Some(Family::Array)) => {
                payload.step = ReadStep::Content;
                payload.child_count = 1;
                self.tokens.expect_next(begins_array, "an array or an object: a, O, C or r")?;
                self.read_value(NO_KEY)
            }
            (ReadStep::Element, Some(Family::Storage)) => self.read_storage_element(),
        }
    }

    /// Reads an item of a list, or its end.
    fn read_list_item(&mut self) -> Result<(), Error> {
        let Some(payload) = self.payloads.last_mut() else { return Ok(()) };
        let object = payload.object;
        if self.tokens.input.get(self.tokens.offset) == Some(&b':') {
            payload.count += 1;
            self.read_separator(b':', "`:`", object)?;
            return self.read_value(NO_KEY);
        }
        // At the end of a payload PHP expects the NUL byte that ends each of its strings in memory. So only a NUL
        // byte is accepted here.
        if self.tokens.offset < payload.end {
            self.tokens.expect_next(|byte| byte == 0, "`:` and an item, or the end of the payload")?;
        }
        self.close_content();
        self.close_payload();
        Ok(())
    }

    /// Reads a value of a payload of unknown form, or its end.
    fn read_payload_value(&mut self) -> Result<(), Error> {
        let Some(object) = self.payloads.last().map(|payload| payload.object) else { return Ok(()) };
        while let Some(byte) = self.tokens.input.get(self.tokens.offset).copied() {
            match byte {
                b':' | b';' | b',' | 0 => self.read_separator(byte, "a separator", object)?,
                b'x' | b'm' => self.read_mark(byte, "`x:` or `m:`", object)?,
                _ => {
                    if let Some(payload) = self.payloads.last_mut() {
                        payload.child_count += 1;
                    }
                    return self.read_value(NO_KEY);
                }
            }
        }
        self.close_payload();
        Ok(())
    }

    /// Reads an element of a storage, or what follows the last one.
    fn read_storage_element(&mut self) -> Result<(), Error> {
        let Some(payload) = self.payloads.last() else { return Ok(()) };
        let (object, remaining) = (payload.object, payload.flags_or_remaining);
        // Before the first element, the `;` is the end of the count. After an element, a `;` of its own follows.
        if payload.count > 0 {
            self.read_separator(b';', "`;` after the element", object)?;
        }
        if remaining == 0 {
            self.close_content();
            return self.read_members();
        }
        self.tokens.expect_next(begins_object, "an object: O, C or r")?;
        let pair = self.push_slotless(Node::open(Kind::Map, 0));
        if let Some(payload) = self.payloads.last_mut() {
            payload.flags_or_remaining -= 1;
            payload.count += 1;
            payload.pair = Some(pair);
            payload.step = ReadStep::Object;
        }
        let key = self.place_fixed_key(OBJECT);
        self.read_value(key)
    }

    /// Reads `m:` and the object's own properties.
    fn read_members(&mut self) -> Result<(), Error> {
        let Some(object) = self.payloads.last().map(|payload| payload.object) else { return Ok(()) };
        self.read_mark(b'm', "`m:`", object)?;
        // The array is the first child. If it is on the tape, the flags follow it.
        if self.payloads.last().is_some_and(|payload| payload.child_count > 0) {
            self.push_flags();
        }
        if let Some(payload) = self.payloads.last_mut() {
            payload.step = ReadStep::Members;
            payload.child_count += 1;
        }
        self.tokens.expect_next(|byte| byte == b'a', "the array of the properties")?;
        self.read_value(NO_KEY)
    }

    /// Puts the flags on the tape, if they exist and are not there yet.
    fn push_flags(&mut self) {
        let Some(payload) = self.payloads.last_mut() else { return };
        let Some(FlagsText { start, end, is_default }) = payload.flags_text.take() else { return };
        payload.child_count += 1;
        let node = Node::int(payload.flags_or_remaining);
        let index = self.sink.tape().push(node);
        self.slots.record_slotless(index);
        if !is_default {
            self.keep_source(index, spelling::SOURCE, start, end);
        }
        self.sink.record_extent(index, start, end);
    }

    fn close_payload(&mut self) {
        self.push_flags();
        self.frames.pop();
        let Some(payload) = self.payloads.pop() else { return };
        let PayloadInput { object, end, outer, child_count, .. } = payload;
        let read_end = self.tokens.offset;
        self.leave_payload(outer);
        self.sink.tape().close_container(object, child_count);
        if read_end < end {
            self.keep_source(object, spelling::TAIL, read_end, end);
        }
        self.sink.record_span(read_end, end, object, "ignored");
        self.sink.record_span(end, end + 1, object, "end");
        self.tokens.offset = end + 1;
        self.sink.record_end(object, end + 1);
    }

    /// Closes a payload that was not read to its end.
    pub(super) fn abandon_payload(&mut self) {
        let pair = self.payloads.last_mut().and_then(|payload| payload.pair.take());
        let filled = pair.map_or(0, |pair| u32::from(self.sink.tape().len() > pair + 1));
        self.close_slotless(pair, filled);
        self.close_content();
        let Some(payload) = self.payloads.pop() else { return };
        let tape = self.sink.tape();
        let (mut child_count, mut child) = (0, payload.object + 1);
        while child < tape.len() {
            (child_count, child) = (child_count + 1, tape.index_after(child));
        }
        tape.close_container(payload.object, child_count);
        let end = self.tokens.offset;
        self.sink.record_end(payload.object, end);
        self.leave_payload(payload.outer);
    }

    /// Restores the text around the payload.
    fn leave_payload(&mut self, (base, end): (usize, usize)) {
        self.tokens.base = base;
        self.tokens.input = &self.full_input[..end];
    }

    fn close_content(&mut self) {
        let Some(payload) = self.payloads.last_mut() else { return };
        let (content, count) = (payload.content.take(), payload.count);
        self.close_slotless(content, count);
    }

    // -- Small pieces --------------------------------------------------------

    /// Reads a letter and `:`.
    fn read_mark(&mut self, letter: u8, expected: &'static str, index: u32) -> Result<(), Error> {
        let start = self.tokens.offset;
        self.tokens.expect_byte(letter, expected)?;
        self.tokens.expect_byte(b':', expected)?;
        self.sink.record_span(start, start + 2, index, "mark");
        Ok(())
    }

    fn read_separator(&mut self, byte: u8, expected: &'static str, index: u32) -> Result<(), Error> {
        let start = self.tokens.offset;
        self.tokens.expect_byte(byte, expected)?;
        self.sink.record_span(start, start + 1, index, "separator");
        Ok(())
    }

    /// Pushes a node that does not have a text of its own. PHP does not count it, so it does not get a slot.
    fn push_slotless(&mut self, node: Node) -> u32 {
        let start = self.tokens.offset;
        let index = self.sink.tape().push(node);
        self.slots.record_slotless(index);
        self.sink.record_begin(index, start);
        index
    }

    fn close_slotless(&mut self, index: Option<u32>, count: u32) {
        let Some(index) = index else { return };
        let end = self.tokens.offset;
        self.sink.tape().close_container(index, count);
        self.sink.record_end(index, end);
    }

    /// Returns a key without a text of its own.
    fn place_fixed_key(&mut self, name: &'static [u8]) -> u16 {
        let offset = self.tokens.offset;
        let tape = self.sink.tape();
        if tape.keys.len() < MAX_KEY_IDS
            && let Some(id) = tape.intern_key(Node::leaf(Kind::Bytes, 0), name)
        {
            return id;
        }
        let node = tape.new_owned_string(Kind::Bytes, name);
        let key = tape.push(Node { key: IS_KEY, ..node });
        self.sink.record_extent(key, offset, offset);
        KEY_NODE
    }

    /// Reads `C:`. It is opened if the class is PHP's own. Otherwise only the class knows the form
    /// of its payload, so the payload stays bytes.
    pub(super) fn read_opaque(&mut self, key: u16) -> Result<(), Error> {
        let start = self.tokens.offset;
        let (name, len, is_default) = self.tokens.read_opaque()?;
        let class = self.intern_class(name)?;
        self.check_length(len, start)?;
        let end = self.tokens.offset;
        let payload = end - 1 - len;
        let index = self.sink.tape().push(Node { key, ..Node::open(Kind::Opaque, class).in_form(Form::Serializable) });
        if S::DETAIL {
            self.begin_node(index, start);
            self.sink.record_span(start, payload, index, "head");
            if !is_default {
                self.keep_source(index, spelling::HEAD, start, payload);
            }
        }
        let QuotedBytes { start: first, len: name_len, .. } = name;
        match find_family(&self.tokens.input[first..first + name_len]) {
            _ if self.options.keeps_payloads => {}
            family @ Some(_) if len > 0 => return self.open_payload(family, index, payload, len),
            Some(_) => self.slots.record_payload(index, Counted::Nothing),
            None if self.options.payloads => {
                if begins_values(&self.tokens.input[payload..payload + len]) {
                    return self.open_payload(None, index, payload, len);
                }
                self.slots.record_payload(index, Counted::Nothing);
            }
            None => {}
        }
        let tape = self.sink.tape();
        let raw = tape.new_borrowed_string(Kind::Bytes, payload, len);
        tape.push(raw);
        tape.close_container(index, 1);
        if S::DETAIL {
            self.sink.record_span(payload, end - 1, index + 1, "payload");
            self.sink.record_span(end - 1, end, index, "end");
            self.sink.record_extent(index + 1, payload, end - 1);
            self.sink.record_end(index, end);
        }
        Ok(())
    }
}
