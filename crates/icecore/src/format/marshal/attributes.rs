//! Wrappers of a value: instance variables, mixed-in modules and user classes.

use super::read::{MAX_WRAPPERS, PENDING, ReadFrame, Reader, State};
use super::spelling::value as code;
use super::symbols::ReadEncoding;
use super::tag;
use crate::document::{Form, Kind, NO_KEY, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};

/// A module or a class before a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrapper {
    class: u32,
    form: Form,
    start: usize,
}

/// The letters of the option bits of a regexp.
pub(super) const OPTIONS: [(u8, u8); 5] = [(4, b's'), (1, b'i'), (2, b'x'), (16, b'u'), (32, b'n')];

impl<S: Sink> Reader<'_, '_, S> {
    /// Reads what follows `I`.
    #[inline]
    pub(super) fn read_with_variables(&mut self, start: usize, key: u16) -> Result<(), Error> {
        let Some(tag) = self.scan.peek() else { return Err(self.scan.truncated_error(1, "a value")) };
        match tag {
            b'"' => {
                self.scan.offset += 1;
                if !S::DETAIL && self.read_utf8_string(key)? {
                    return Ok(());
                }
                self.read_wrapped_string(tag, start, key, Some(start), &[])
            }
            b'/' => {
                self.scan.offset += 1;
                self.read_wrapped_string(tag, start, key, Some(start), &[])
            }
            b':' => {
                self.scan.offset += 1;
                let node = self.sink.next_node();
                let number = self.read_new_symbol(start, true, node)?;
                let symbol = self.symbols[number].node;
                self.push_leaf(symbol, key, start);
                Ok(())
            }
            b';' => Err(self.malformed_error(self.scan.offset, "a value that has instance variables", tag)),
            b'u' => {
                self.scan.offset += 1;
                self.read_user_dump(start, key, true)
            }
            b'C' | b'e' => {
                self.scan.offset += 1;
                self.read_wrappers(tag, start, key, Some(start))
            }
            _ => {
                let node = self.sink.next_node();
                self.record_piece(start, node, "instance variables");
                self.push_container(Node::open(Kind::Attrs, 0), key, start);
                self.open_container(State::Owner, node, 1)
            }
        }
    }

    /// Reads a string with `E` as its only instance variable. This is by far the most common case. Does not consume
    /// any other value.
    #[inline]
    fn read_utf8_string(&mut self, key: u16) -> Result<bool, Error> {
        let start = self.scan.offset;
        let (place, len) = self.read_bytes("a string")?;
        if let Some(tail) = self.scan.input.get(self.scan.offset..).and_then(|rest| rest.first_chunk())
            && u64::from(u32::from_le_bytes(*tail)) == self.utf8_tail
        {
            self.scan.offset += 4;
            let mut node = self.sink.tape().new_borrowed_string(Kind::Text, place, len);
            node.key = key;
            let index = self.sink.tape().push(node);
            self.numbers.push(index);
            return Ok(true);
        }
        self.scan.offset = start;
        Ok(false)
    }

    /// Reads modules and classes before a value, and the value's beginning.
    pub(super) fn read_wrappers(
        &mut self,
        tag: u8,
        start: usize,
        key: u16,
        variables: Option<usize>,
    ) -> Result<(), Error> {
        let mut list = Vec::new();
        let (mut tag, mut wrapper_start) = (tag, if variables.is_some() { start + 1 } else { start });
        let mut piece = start;
        let identity = loop {
            if !self.may_open_wrapper(list.len()) {
                return Err(self.limits.too_deep().at(wrapper_start));
            }
            let node = self.sink.next_node() + list.len() as u32;
            self.record_piece(piece, node, tag::type_name(tag));
            let class = self.read_class(node)?;
            let form = if tag == b'C' { Form::Subclass } else { Form::Module };
            let next = self.scan.peek();
            let is_hash = tag == b'C' && matches!(next, Some(b'{' | b'}'));
            if is_hash && self.sink.tape().classes().get(class).is_some_and(|name| name.bytes == b"Hash") {
                break true;
            }
            list.push(Wrapper { class, form, start: wrapper_start });
            (wrapper_start, piece) = (self.scan.offset, self.scan.offset);
            match next {
                Some(b'C' | b'e') => tag = self.scan.read_u8("a value")?,
                _ => break false,
            }
        };
        let start = self.scan.offset;
        let tag = self.scan.read_u8("a value")?;
        if matches!(tag, b'"' | b'/') {
            return self.read_wrapped_string(tag, start, key, variables, &list);
        }
        let mut key = key;
        if let Some(start) = variables {
            let node = self.push_container(Node::open(Kind::Attrs, 0), key, start);
            self.open_container(State::Owner, node, 1)?;
            key = NO_KEY;
        }
        for wrapper in &list {
            // The wrapper around these wrappers has its value now.
            if key == NO_KEY && (variables.is_some() || wrapper.start != list[0].start) {
                self.mark_value_read();
            }
            let node = Node::open(Kind::Attrs, wrapper.class).in_form(wrapper.form);
            let node = self.push_container(node, key, wrapper.start);
            self.open_container(State::Wrapped, node, 1)?;
            key = NO_KEY;
        }
        if identity {
            if variables.is_some() || !list.is_empty() {
                self.mark_value_read();
            }
            return self.read_hash(tag, start, key, flag::IDENTITY);
        }
        // The main loop reads the next wrapper. So a long sequence of wrappers does not need the native stack.
        self.scan.offset = start;
        Ok(())
    }

    /// Marks the value of the innermost wrapper as read.
    fn mark_value_read(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.remaining = 0;
            frame.count = 1;
        }
    }

    /// Reads a string or a regexp, and its wrappers.
    pub(super) fn read_wrapped_string(
        &mut self,
        tag: u8,
        start: usize,
        key: u16,
        variables: Option<usize>,
        wrappers: &[Wrapper],
    ) -> Result<(), Error> {
        let first = self.sink.next_node();
        let (place, len) = self.read_bytes(if tag == b'"' { "a string" } else { "a regexp" })?;
        let options = if tag == b'/' { self.scan.read_u8("the options of a regexp")? } else { 0 };
        let begin = variables.filter(|_| wrappers.is_empty()).unwrap_or(start);
        self.record_piece(begin, first, tag::type_name(tag));
        let number = self.numbers.len();
        self.numbers.push(PENDING);
        let mut string = self.sink.tape().new_borrowed_string(Kind::Bytes, place, len);
        let remaining = if variables.is_some() { self.read_payload_variables(&mut string, first)? } else { 0 };
        let mut key = key;
        let attributes = self.sink.next_node();
        if let (Some(start), true) = (variables, remaining > 0) {
            self.push_container(Node::open(Kind::Attrs, 0), std::mem::take(&mut key), start);
        }
        let outer = self.sink.next_node();
        for wrapper in wrappers {
            let node = Node::open(Kind::Attrs, wrapper.class).in_form(wrapper.form);
            self.push_container(node, std::mem::take(&mut key), wrapper.start);
        }
        let value_node = self.sink.next_node();
        if tag == b'"' {
            self.push_leaf(string, key, begin);
        } else {
            self.push_container(Node::open(Kind::Regexp, 0), key, begin);
            self.push_leaf(string, NO_KEY, start);
            let letters: Vec<u8> =
                OPTIONS.iter().filter(|(bit, _)| options & bit != 0).map(|(_, letter)| *letter).collect();
            let flags = self.sink.tape().new_owned_string(Kind::Bytes, &letters);
            self.push_leaf(flags, NO_KEY, start);
            self.sink.tape().close_container(value_node, 2);
            self.end_node(value_node);
            if options & !OPTIONS.iter().fold(0, |all, (bit, _)| all | bit) != 0 {
                self.sink.record_note(value_node, code::OPTIONS, u64::from(options));
            }
        }
        self.numbers[number] = value_node;
        for wrapper in (outer..value_node).rev() {
            self.sink.tape().close_container(wrapper, 1);
            self.end_node(wrapper);
        }
        if remaining > 0 {
            self.open_container(State::Variables, attributes, remaining)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.count = 1;
            }
        }
        Ok(())
    }

    /// Reads the count of a string's instance variables, and the encoding if it is
    /// first. Returns how many are left.
    fn read_payload_variables(&mut self, string: &mut Node, node: u32) -> Result<u32, Error> {
        let start = self.scan.offset;
        let mut remaining = self.read_count("instance variables", 2)?;
        self.record_piece(start, node, "count");
        if remaining > 0 && self.is_encoding_next() {
            let variable = self.read_symbol(node)?;
            if let Some(encoding) = self.read_encoding(variable, node)? {
                *string = self.with_encoding(*string, encoding)?;
                remaining -= 1;
            }
        }
        Ok(remaining)
    }

    /// Returns `true` if the next instance variable gives the encoding.
    pub(super) fn is_encoding_next(&self) -> bool {
        let rest = self.scan.input.get(self.scan.offset..).unwrap_or(&[]);
        let (name, value) = match rest {
            [b':', 6, b'E', value, ..] => (&b"E"[..], *value),
            [b':', 13, rest @ ..] if rest.starts_with(b"encoding") => return true,
            [b';', ..] => {
                let mut ahead = self.scan;
                ahead.offset += 1;
                let Some(number) = read_small_integer(&mut ahead) else { return false };
                let Some(symbol) = self.symbols.get(number) else { return false };
                match (self.name_bytes(&symbol.node), ahead.peek()) {
                    (name, Some(value)) => (name, value),
                    _ => return false,
                }
            }
            _ => return false,
        };
        name == b"encoding" || name == b"E" && matches!(value, b'T' | b'F')
    }

    /// Returns the bytes of a name in the input.
    fn name_bytes(&self, node: &Node) -> &[u8] {
        let crate::document::Location::Input(start) = node.location() else { return &[] };
        let start = start as usize;
        self.scan.input.get(start..start.saturating_add(node.aux as usize)).unwrap_or(&[])
    }

    /// Reads an object that its class dumped to a string. The object gets its number after the instance variables of
    /// the string, because Ruby makes the object only then.
    pub(super) fn read_user_dump(&mut self, start: usize, key: u16, has_variables: bool) -> Result<(), Error> {
        let node = self.sink.next_node();
        self.record_piece(start, node, "dumped object");
        let class = self.read_class(node)?;
        let payload_start = self.scan.offset;
        let (place, len) = self.read_bytes("a dumped object")?;
        self.record_piece(payload_start, node + 1, "payload");
        self.push_container(Node::open(Kind::Opaque, class).in_form(Form::UserDump), key, start);
        let mut string = self.sink.tape().new_borrowed_string(Kind::Bytes, place, len);
        let remaining = if has_variables { self.read_payload_variables(&mut string, node + 1)? } else { 0 };
        if remaining > 0 {
            let attributes = self.push_container(Node::open(Kind::Attrs, 0), NO_KEY, payload_start);
            self.push_leaf(string, NO_KEY, payload_start);
            self.open_container(State::Payload, attributes, remaining)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.count = 1;
            }
            return Ok(());
        }
        self.push_leaf(string, NO_KEY, payload_start);
        self.sink.tape().close_container(node, 1);
        self.end_node(node);
        self.numbers.push(node);
        Ok(())
    }

    /// Reads the count of the instance variables of the value that was just read.
    pub(super) fn begin_variables(&mut self) -> Result<(), Error> {
        let start = self.scan.offset;
        let count = self.read_count("instance variables", 2)?;
        let node = self.frames.last().map_or(0, |frame| frame.node);
        self.record_piece(start, node, "count");
        if let Some(frame) = self.frames.last_mut() {
            // The value is complete, so its variables are the contents of this level.
            self.wrapper_count -= 1;
            frame.state = State::Variables;
            frame.remaining = count;
        }
        Ok(())
    }

    /// Reads members of an object, or instance variables.
    pub(super) fn read_members(&mut self, mut frame: ReadFrame) -> Result<(), Error> {
        let depth = self.frames.len();
        if !S::DETAIL && frame.state == State::Members {
            if self.read_fast_entries(frame)? {
                return Ok(());
            }
            frame = self.frames.last().copied().unwrap_or(frame);
        }
        let mut remaining = frame.remaining;
        while remaining > 0 && self.frames.len() == depth {
            remaining -= 1;
            let (start, node) = (self.scan.offset, self.sink.next_node());
            let symbol = self.read_symbol(node)?;
            let found_encoding = match frame.state {
                State::Members => None,
                _ => self.read_encoding(symbol, node)?,
            };
            if let Some(top) = self.frames.last_mut() {
                top.remaining = remaining;
                top.count += u32::from(found_encoding.is_none());
            }
            if let Some(encoding) = found_encoding {
                self.apply_late_encoding(frame.node, encoding, start)?;
                continue;
            }
            let key = match self.intern_symbol_key(symbol) {
                Some(key) => key,
                None => {
                    let symbol = self.symbols[symbol].node;
                    self.push_key_node(symbol, start)
                }
            };
            self.read_value(key)?;
        }
        if frame.remaining == 0 {
            self.close_container();
        }
        Ok(())
    }

    /// Applies the encoding to a value that is already on the tape.
    fn apply_late_encoding(&mut self, attributes: u32, encoding: ReadEncoding, start: usize) -> Result<(), Error> {
        for index in attributes + 1..attributes + 1 + MAX_WRAPPERS {
            let Some(node) = self.sink.nodes().get(index as usize).copied() else { break };
            match node.kind {
                Kind::Attrs | Kind::Regexp => {}
                Kind::Bytes | Kind::Text | Kind::Encoded => {
                    let mut bare = node;
                    bare.payload &= !(0x7FFF << 48);
                    bare = self.with_encoding(bare, encoding)?;
                    self.sink.tape().replace_node(index, bare);
                    return Ok(());
                }
                Kind::Module => {
                    let noted = match encoding {
                        ReadEncoding::Ascii => code::NAME_IN_ASCII,
                        ReadEncoding::Utf8 => code::NAME_IN_UTF8,
                        ReadEncoding::Named(id) => code::NAME_IN_FIRST + u64::from(id),
                    };
                    self.sink.record_note(index, code::NAME_ENCODING, noted);
                    return Ok(());
                }
                _ => break,
            }
        }
        Err(Error::new(ErrorKind::Malformed)
            .at(start)
            .expecting("the instance variable of a value that has no encoding")
            .finding("an encoding"))
    }
}

/// Reads an integer that is not negative.
fn read_small_integer(scan: &mut crate::format::Scan<'_>) -> Option<usize> {
    let head = scan.peek()?;
    scan.offset += 1;
    match head {
        // -5 is another spelling of 0.
        0 | 0xFB => Some(0),
        5..=127 => Some(usize::from(head) - 5),
        1..=4 => {
            let bytes = scan.read_bytes(usize::from(head), "an integer").ok()?;
            Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
        }
        _ => None,
    }
}
