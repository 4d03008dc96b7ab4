//! `C:` payloads of PHP's own classes, as written up to PHP 7.3.
//!
//! The content of an opened object comes first: the array of an `ArrayObject`, the items of a list,
//! `{object, data}` for each object of a storage. Its flags and its own properties follow.

use super::links::Counted;
use super::read::{Frame, Machine};
use super::spelling;
use super::token::Scanned;
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Recorder, Sink};
use crate::error::Error;
use crate::format::list_to_map::IDS;

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

/// How many nested payloads are always allowed.
const PAYLOADS: usize = 1000;
/// Name of the key for the object in an element of a storage.
pub(super) const OBJECT: &[u8] = b"object";
/// Name of the key for the data of that object.
pub(super) const DATA: &[u8] = b"data";
/// The flag of an `ArrayObject` whose array is its own properties.
pub(super) const IS_SELF: i64 = 0x0100_0000;

/// Returns the family of a class; PHP ignores the case of letters.
pub(super) fn family(class: &[u8]) -> Option<Family> {
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

/// Whether this can begin the array of an `ArrayObject`.
pub(super) fn begins_array(byte: u8) -> bool {
    matches!(byte, b'a' | b'O' | b'C' | b'r')
}

/// Whether this can begin an object of a storage.
pub(super) fn begins_object(byte: u8) -> bool {
    matches!(byte, b'O' | b'C' | b'r')
}

/// Whether a payload begins like values of PHP.
fn begins_values(payload: &[u8]) -> bool {
    match payload {
        [b'N', b';', ..] => true,
        [first, b':', ..] => b"aOCEsSidbrRxm".contains(first),
        _ => false,
    }
}

/// The piece that was read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
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

/// A payload that is being read.
#[derive(Debug)]
pub(super) struct Payload {
    /// `None` for a class of a program, whose form is unknown. Its values are read, with the marks
    /// and separators of any class between them.
    family: Option<Family>,
    /// The node of the object.
    at: u32,
    /// Where the payload ends.
    end: usize,
    /// Start and end of the text around it.
    outer: (usize, usize),
    step: Step,
    /// The flags, or the number of objects still to read.
    number: i64,
    /// Where the number is, if it is not a node yet, and whether PHP writes it like this.
    source: Option<(usize, usize, bool)>,
    /// The array made for the items, while it is open.
    content: Option<u32>,
    /// The map made for an element of a storage, while it is open.
    pair: Option<u32>,
    /// Number of items so far.
    count: u32,
    /// Number of children of the object.
    parts: u32,
}

impl<S: Sink> Machine<'_, '_, S> {
    /// Opens the payload of the object at `at`, which is on the tape. Until it is closed, the text
    /// ends with the payload.
    pub(super) fn open_payload(
        &mut self,
        family: Option<Family>,
        at: u32,
        start: usize,
        len: usize,
    ) -> Result<(), Error> {
        // Payloads do not count as levels, but their depth is limited, too.
        if self.payloads.len() >= (self.limits.depth as usize).max(PAYLOADS) {
            return Err(self.limits.too_deep().at(start));
        }
        let end = start + len;
        let outer = (self.tokens.base, self.tokens.input.len());
        self.tokens.base = start;
        self.tokens.input = &self.tokens.input[..end];
        self.tokens.at = start;
        self.frames.push(Frame::of_payload(at));
        self.payloads.push(Payload {
            family,
            at,
            end,
            outer,
            step: Step::Element,
            number: 0,
            source: None,
            content: None,
            pair: None,
            count: 0,
            parts: 0,
        });
        let Some(family) = family else {
            self.slots.opened(at, Counted::Values);
            return Ok(());
        };
        self.slots.opened(at, Counted::Number);
        if family != Family::List {
            self.mark(b'x', "`x:`", at)?;
        }
        let from = self.tokens.at;
        self.tokens.expect(|byte| byte == b'i', "an integer")?;
        let (number, is_default) = self.integer()?;
        if family == Family::Storage && number < 0 {
            return Err(self.tokens.wrong(from, self.tokens.at - 1, "a number that is not below 0"));
        }
        let until = self.tokens.at;
        self.sink.span(from, until, at, if family == Family::Storage { "count" } else { "flags" });
        if family == Family::Storage && !is_default {
            self.keep(at, spelling::COUNT, from, until);
        }
        let Some(payload) = self.payloads.last_mut() else { return Ok(()) };
        payload.number = number;
        if family != Family::Storage {
            payload.source = Some((from, until, is_default));
        }
        if family == Family::Array {
            if number & IS_SELF != 0 {
                return self.members();
            }
            // The array is read in the next step: it may be such an object itself.
            return Ok(());
        }
        let content = self.made(Node::open(Kind::Array, 0));
        if let Some(payload) = self.payloads.last_mut() {
            payload.content = Some(content);
            payload.parts = 1;
        }
        Ok(())
    }

    /// Continues after a value in the innermost payload.
    pub(super) fn payload_step(&mut self) -> Result<(), Error> {
        if self.sink.nodes().len() >= self.limits.nodes as usize {
            return Err(self.limits.too_many_nodes().at(self.tokens.at));
        }
        let Some(payload) = self.payloads.last_mut() else { return Ok(()) };
        let at = payload.at;
        match (payload.step, payload.family) {
            (Step::Members, _) => {
                self.payload_end();
                Ok(())
            }
            (Step::Content, _) => {
                self.separator(b';', "`;` after the array", at)?;
                self.members()
            }
            (Step::Object, _) if self.tokens.input.get(self.tokens.at) == Some(&b',') => {
                payload.step = Step::Data;
                self.separator(b',', "`,`", at)?;
                let key = self.named(DATA);
                self.value(key)
            }
            (Step::Object | Step::Data, _) => {
                let entries = if payload.step == Step::Data { 2 } else { 1 };
                payload.step = Step::Element;
                let pair = payload.pair.take();
                self.close_made(pair, entries);
                Ok(())
            }
            (Step::Element, Some(Family::List)) => self.item(),
            (Step::Element, None) => self.next_value(),
            (Step::Element, Some(Family::Array)) => {
                payload.step = Step::Content;
                payload.parts = 1;
                self.tokens.expect(begins_array, "an array or an object: a, O, C or r")?;
                self.value(NO_KEY)
            }
            (Step::Element, Some(Family::Storage)) => self.element(),
        }
    }

    /// Reads an item of a list, or its end.
    fn item(&mut self) -> Result<(), Error> {
        let Some(payload) = self.payloads.last_mut() else { return Ok(()) };
        let at = payload.at;
        if self.tokens.input.get(self.tokens.at) == Some(&b':') {
            payload.count += 1;
            self.separator(b':', "`:`", at)?;
            return self.value(NO_KEY);
        }
        // PHP expects the zero byte that ends each of its strings in memory.
        if self.tokens.at < payload.end {
            self.tokens.expect(|byte| byte == 0, "`:` and an item, or the end of the payload")?;
        }
        self.close_content();
        self.payload_end();
        Ok(())
    }

    /// Reads a value of a payload of unknown form, or its end.
    fn next_value(&mut self) -> Result<(), Error> {
        let Some(at) = self.payloads.last().map(|payload| payload.at) else { return Ok(()) };
        while let Some(byte) = self.tokens.input.get(self.tokens.at).copied() {
            match byte {
                b':' | b';' | b',' | 0 => self.separator(byte, "a separator", at)?,
                b'x' | b'm' => self.mark(byte, "`x:` or `m:`", at)?,
                _ => {
                    if let Some(payload) = self.payloads.last_mut() {
                        payload.parts += 1;
                    }
                    return self.value(NO_KEY);
                }
            }
        }
        self.payload_end();
        Ok(())
    }

    /// Reads an element of a storage, or what follows the last one.
    fn element(&mut self) -> Result<(), Error> {
        let Some(payload) = self.payloads.last() else { return Ok(()) };
        let (at, number) = (payload.at, payload.number);
        // The integer of the count ends with its own `;`.
        if payload.count > 0 {
            self.separator(b';', "`;` after the element", at)?;
        }
        if number == 0 {
            self.close_content();
            return self.members();
        }
        self.tokens.expect(begins_object, "an object: O, C or r")?;
        let pair = self.made(Node::open(Kind::Map, 0));
        if let Some(payload) = self.payloads.last_mut() {
            payload.number -= 1;
            payload.count += 1;
            payload.pair = Some(pair);
            payload.step = Step::Object;
        }
        let key = self.named(OBJECT);
        self.value(key)
    }

    /// Reads `m:` and the object's own properties.
    fn members(&mut self) -> Result<(), Error> {
        let Some(at) = self.payloads.last().map(|payload| payload.at) else { return Ok(()) };
        self.mark(b'm', "`m:`", at)?;
        // The array is child 0; the flags are next.
        if self.payloads.last().is_some_and(|payload| payload.parts > 0) {
            self.flags();
        }
        if let Some(payload) = self.payloads.last_mut() {
            payload.step = Step::Members;
            payload.parts += 1;
        }
        self.tokens.expect(|byte| byte == b'a', "the array of the properties")?;
        self.value(NO_KEY)
    }

    /// Puts the flags on the tape, if they exist and are not there yet.
    fn flags(&mut self) {
        let Some(payload) = self.payloads.last_mut() else { return };
        let Some((start, end, is_default)) = payload.source.take() else { return };
        payload.parts += 1;
        let node = Node::int(payload.number);
        let at = self.sink.tape().push(node);
        self.slots.silent(at);
        if !is_default {
            self.keep(at, spelling::SOURCE, start, end);
        }
        self.sink.extent(at, start, end);
    }

    fn payload_end(&mut self) {
        self.flags();
        self.frames.pop();
        let Some(payload) = self.payloads.pop() else { return };
        let Payload { at, end, outer, parts, .. } = payload;
        let behind = self.tokens.at;
        self.leave(outer);
        self.sink.tape().close(at, parts);
        if behind < end {
            self.keep(at, spelling::TAIL, behind, end);
        }
        self.sink.span(behind, end, at, "ignored");
        self.sink.span(end, end + 1, at, "end");
        self.tokens.at = end + 1;
        self.sink.end(at, end + 1);
    }

    /// Closes a payload that was not read to its end.
    pub(super) fn abandon_payload(&mut self) {
        let pair = self.payloads.last_mut().and_then(|payload| payload.pair.take());
        let filled = pair.map_or(0, |pair| u32::from(self.sink.tape().len() > pair + 1));
        self.close_made(pair, filled);
        self.close_content();
        let Some(payload) = self.payloads.pop() else { return };
        let tape = self.sink.tape();
        let (mut parts, mut child) = (0, payload.at + 1);
        while child < tape.len() {
            (parts, child) = (parts + 1, tape.next(child));
        }
        tape.close(payload.at, parts);
        let end = self.tokens.at;
        self.sink.end(payload.at, end);
        self.leave(payload.outer);
    }

    /// Restores the text around the payload.
    fn leave(&mut self, (base, end): (usize, usize)) {
        self.tokens.base = base;
        self.tokens.input = &self.whole[..end];
    }

    fn close_content(&mut self) {
        let Some(payload) = self.payloads.last_mut() else { return };
        let (content, count) = (payload.content.take(), payload.count);
        self.close_made(content, count);
    }

    // -- Small pieces --------------------------------------------------------

    /// Reads a letter and `:`.
    fn mark(&mut self, letter: u8, expected: &'static str, at: u32) -> Result<(), Error> {
        let start = self.tokens.at;
        self.tokens.expect_byte(letter, expected)?;
        self.tokens.expect_byte(b':', expected)?;
        self.sink.span(start, start + 2, at, "mark");
        Ok(())
    }

    fn separator(&mut self, byte: u8, expected: &'static str, at: u32) -> Result<(), Error> {
        let start = self.tokens.at;
        self.tokens.expect_byte(byte, expected)?;
        self.sink.span(start, start + 1, at, "separator");
        Ok(())
    }

    /// Pushes a node without a text of its own: links do not count it.
    fn made(&mut self, node: Node) -> u32 {
        let start = self.tokens.at;
        let at = self.sink.tape().push(node);
        self.slots.silent(at);
        self.sink.begin(at, start);
        at
    }

    fn close_made(&mut self, at: Option<u32>, count: u32) {
        let Some(at) = at else { return };
        let end = self.tokens.at;
        self.sink.tape().close(at, count);
        self.sink.end(at, end);
    }

    /// Returns a key without a text of its own.
    fn named(&mut self, name: &'static [u8]) -> u16 {
        let at = self.tokens.at;
        let tape = self.sink.tape();
        if tape.keys.len() < IDS
            && let Some(id) = tape.intern_key(Node::leaf(Kind::Bytes, 0), name)
        {
            return id;
        }
        let node = tape.owned(Kind::Bytes, name);
        let key = tape.push(Node { key: IS_KEY, ..node });
        self.sink.extent(key, at, at);
        KEY_NODE
    }

    /// Reads `C:`. It is opened if the class is PHP's own. Otherwise only the class knows the form
    /// of its payload, which stays bytes.
    pub(super) fn opaque(&mut self, key: u16) -> Result<(), Error> {
        let start = self.tokens.at;
        let (name, len, is_default) = self.tokens.opaque()?;
        let class = self.class(name)?;
        self.check_length(len, start)?;
        let end = self.tokens.at;
        let payload = end - 1 - len;
        let at = self.sink.tape().push(Node { key, ..Node::open(Kind::Opaque, class).in_form(Form::Serializable) });
        if S::DETAIL {
            self.begin(at, start);
            self.sink.span(start, payload, at, "head");
            if !is_default {
                self.keep(at, spelling::HEAD, start, payload);
            }
        }
        let Scanned { start: first, len: letters, .. } = name;
        match family(&self.tokens.input[first..first + letters]) {
            family @ Some(_) if len > 0 => return self.open_payload(family, at, payload, len),
            Some(_) => self.slots.opened(at, Counted::Nothing),
            None if self.options.payloads => {
                if begins_values(&self.tokens.input[payload..payload + len]) {
                    return self.open_payload(None, at, payload, len);
                }
                self.slots.opened(at, Counted::Nothing);
            }
            None => {}
        }
        let tape = self.sink.tape();
        let raw = tape.borrowed(Kind::Bytes, payload, len);
        tape.push(raw);
        tape.close(at, 1);
        if S::DETAIL {
            self.sink.span(payload, end - 1, at + 1, "payload");
            self.sink.span(end - 1, end, at, "end");
            self.sink.extent(at + 1, payload, end - 1);
            self.sink.end(at, end);
        }
        Ok(())
    }
}
