//! The reader: a machine with an explicit stack. It accepts literals and no other PHP, so no code
//! runs.

use super::frames::{Frame, Key};
use super::leaf_text;
use super::lex::Lexer;
use super::list_to_map::DeferredKeys;
use super::number::Number;
use super::prologue::Prologue;
use super::spelling;
use super::string::StringLiteral;
use super::words::{ContainerSyntax, Opening, ValueStart};
use crate::document::{KEY_NODE, Kind, NO_KEY, NO_NODE, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

pub(super) struct Machine<'a, 's, S: Sink> {
    pub(super) lexer: Lexer<'a>,
    pub(super) sink: &'s mut S,
    pub(super) limits: &'s Limits,
    pub(super) frames: Vec<Frame>,
    pub(super) deferred_keys: DeferredKeys,
    /// Source of the key before the next value, if it must be kept.
    key_source: Option<(usize, usize)>,
    /// Offset up to which all bytes of the input have a span.
    covered_until: usize,
    /// The value that is being read: its future node, and the id of its key.
    next_value: (u32, u16),
    /// The value that was read last, until a comma or the end of its container follows.
    last_value: Option<u32>,
}

impl<'a, 's, S: Sink> Machine<'a, 's, S> {
    pub(super) fn new(input: &'a [u8], limits: &'s Limits, sink: &'s mut S) -> Self {
        Machine {
            lexer: Lexer { input, offset: 0 },
            sink,
            limits,
            frames: Vec::new(),
            deferred_keys: DeferredKeys::default(),
            key_source: None,
            covered_until: 0,
            next_value: (0, NO_KEY),
            last_value: None,
        }
    }

    /// Reads the value and the text around it.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        let is_file = self.lexer.read_prologue()? != Prologue::None;
        let start = self.lexer.offset;
        self.keep_surrounding_text(spelling::BEFORE, 0, start);
        let value = self.lexer.read_value().map_err(|error| self.lexer.constant_error(start, error))?;
        self.begin_value(value, NO_KEY, start)?;
        while let Some(frame) = self.frames.last().copied() {
            if self.sink.nodes().len() >= self.limits.nodes as usize {
                return Err(self.limits.too_many_nodes().at(self.lexer.offset));
            }
            self.read_entry(&frame)?;
        }
        let end = self.lexer.offset;
        self.read_suffix(is_file)?;
        self.keep_surrounding_text(spelling::AFTER, end, self.lexer.offset);
        self.record_gap(self.lexer.offset);
        Ok(())
    }

    /// Returns the path of what could not be read. An operator belongs to the previous value.
    pub(super) fn failed_path(&mut self, kind: ErrorKind) -> String {
        let input = self.lexer.input;
        let (index, key) = self.next_value;
        let tape = self.sink.tape();
        let Some(frame) = self.frames.last() else { return "$".to_owned() };
        if let (Some(last), ErrorKind::Unsupported) = (self.last_value, kind) {
            return tape.path_to(last, input);
        }
        let named = index == tape.len() && key != KEY_NODE && key != NO_KEY;
        let path = if named { tape.path_to_key(frame.node, key, input) } else { None };
        path.unwrap_or_else(|| tape.path_to(tape.len(), input))
    }

    /// Reads an entry of the innermost container, or its end.
    fn read_entry(&mut self, frame: &Frame) -> Result<(), Error> {
        self.lexer.skip_blanks()?;
        let start = self.lexer.offset;
        if self.lexer.peek() == Some(frame.close) {
            return self.read_end(frame);
        }
        let first = self.lexer.read_value()?;
        let end = self.lexer.offset;
        if !matches!(first, ValueStart::Open(_)) {
            self.lexer.skip_blanks()?;
        }
        if !matches!(first, ValueStart::Open(_)) && self.lexer.rest().starts_with(b"=>") {
            let node = self.make_leaf_node(&first, start)?;
            let key = self.convert_to_key(node, start)?;
            self.record_key(key, frame.syntax, start, end);
            let key = self.place_key(key, start, end);
            self.lexer.offset += 2;
            self.lexer.skip_blanks()?;
            let start = self.lexer.offset;
            self.next_value = (self.sink.nodes().len() as u32, key);
            let value = self.lexer.read_value()?;
            self.begin_value(value, key, start)?;
        } else {
            self.lexer.offset = end;
            let key = self.take_next_key(start)?;
            let key = self.place_key(key, start, start);
            self.next_value = (self.sink.nodes().len() as u32, key);
            self.begin_value(first, key, start)?;
        }
        if self.frames.last().is_some_and(|inner| inner.node != frame.node) {
            return Ok(());
        }
        self.read_separator(frame.close, self.next_value.0)
    }

    /// Consumes the comma after the entry at `last`, unless the container ends there.
    fn read_separator(&mut self, close: u8, last: u32) -> Result<(), Error> {
        self.last_value = Some(last);
        self.lexer.skip_blanks()?;
        match self.lexer.peek() {
            Some(byte) if byte == b',' || byte == close => {
                self.lexer.offset += usize::from(byte == b',');
                self.last_value = None;
                Ok(())
            }
            _ if close == b']' => Err(self.lexer.unexpected_token_error("`,` or `]`")),
            _ => Err(self.lexer.unexpected_token_error("`,` or `)`")),
        }
    }

    /// Consumes the end of the innermost container, and the comma after it.
    fn read_end(&mut self, frame: &Frame) -> Result<(), Error> {
        let start = self.lexer.offset;
        self.lexer.offset += 1;
        if frame.syntax == ContainerSyntax::State {
            self.lexer.take_comma()?;
            self.lexer.expect_byte(b')', "`)` at the end of `__set_state`")?;
        }
        let node = frame.node - u32::from(frame.syntax != ContainerSyntax::Array);
        self.record_span(start, self.lexer.offset, node, "end");
        self.close_container();
        match self.frames.last() {
            Some(outer) => self.read_separator(outer.close, node),
            None => Ok(()),
        }
    }

    /// Begins a value: a leaf completely, a container up to its beginning.
    fn begin_value(&mut self, value: ValueStart<'a>, key: u16, start: usize) -> Result<(), Error> {
        if let ValueStart::Open(opening) = value {
            return self.open_container(&opening, key, start);
        }
        let node = self.make_leaf_node(&value, start)?;
        let index = self.sink.tape().push(Node { key, ..node });
        if S::DETAIL {
            let end = self.lexer.offset;
            self.begin_node(index, start);
            self.record_span(start, end, index, "value");
            let default = leaf_text::format_leaf(&node, self.sink.tape(), self.lexer.input);
            if default != self.lexer.input[start..end] {
                self.keep_source(index, spelling::SOURCE, start, end);
            }
            self.sink.record_end(index, end);
        }
        Ok(())
    }

    /// Returns the node of a leaf.
    fn make_leaf_node(&mut self, value: &ValueStart<'a>, start: usize) -> Result<Node, Error> {
        let node = match value {
            ValueStart::Bool(value) => Node::leaf(Kind::Bool, u64::from(*value)),
            ValueStart::Number(Number::Int(value)) => Node::int(*value),
            ValueStart::Number(Number::Float(value)) => Node::float(*value),
            ValueStart::Text(StringLiteral::Plain(text_start, len)) => {
                self.check_length(*len, start)?;
                self.sink.tape().new_borrowed_string(Kind::Bytes, *text_start, *len)
            }
            ValueStart::Text(StringLiteral::Decoded(bytes)) => {
                self.check_length(bytes.len(), start)?;
                self.sink.tape().new_owned_string(Kind::Bytes, bytes)
            }
            ValueStart::Case(class, name) => {
                self.check_length(class.len() + name.len() + 1, start)?;
                let case = [class, &b":"[..], name].concat();
                self.sink.tape().new_owned_string(Kind::EnumCase, &case)
            }
            ValueStart::Null | ValueStart::Open(_) => Node::leaf(Kind::Null, 0),
        };
        Ok(node)
    }

    fn check_length(&self, len: usize, offset: usize) -> Result<(), Error> {
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(offset));
        }
        Ok(())
    }

    /// Pushes the node of a container and opens it.
    fn open_container(&mut self, opening: &Opening<'a>, key: u16, start: usize) -> Result<(), Error> {
        let Opening { syntax, class: written, close } = *opening;
        if self.frames.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(start));
        }
        let end = self.lexer.offset;
        let is_object = syntax != ContainerSyntax::Array;
        let name = written.strip_prefix(b"\\").unwrap_or(written);
        let node = if is_object {
            self.check_length(name.len(), start)?;
            let class = self.sink.tape().intern_class(Kind::Bytes, name).map_err(|error| error.at(start))?;
            Node::open(Kind::Object, class)
        } else {
            Node::open(Kind::Array, 0)
        };
        let index = self.sink.tape().push(Node { key, ..node });
        if S::DETAIL {
            self.begin_node(index, start);
            self.record_span(start, end, index, "head");
            if syntax == ContainerSyntax::State && (!written.starts_with(b"\\") || written == b"\\stdClass") {
                self.keep_source(index, spelling::CLASS, start, start + written.len());
            }
        }
        let mut body = index;
        if is_object {
            body = self.sink.tape().push(Node::open(Kind::Map, 0));
            self.sink.record_begin(body, end);
        }
        self.frames.push(Frame::new(body, syntax, name == b"stdClass", close));
        Ok(())
    }

    // -- Around the value ---------------------------------------------------------

    /// Reads the text after the value.
    fn read_suffix(&mut self, is_file: bool) -> Result<(), Error> {
        let lexer = &mut self.lexer;
        lexer.skip_blanks()?;
        let has_end = |lexer: &Lexer<'_>| lexer.rest().starts_with(b"?>");
        match lexer.peek() {
            Some(b';') => lexer.offset += 1,
            Some(b'?') if is_file && has_end(lexer) => {}
            None if is_file => return Err(lexer.unexpected_byte_error(lexer.offset, "`;` after the value")),
            None => return Ok(()),
            _ if is_file => return Err(lexer.unexpected_token_error("`;` after the value")),
            // Another document may follow; an operator would make it code.
            Some(b'\'' | b'"' | b'[' | b'(' | b'\\' | b'<') => return Ok(()),
            Some(byte) if super::lex::is_word_byte(byte) => return Ok(()),
            _ => return Err(lexer.unexpected_token_error("`;` or the end of the input")),
        }
        lexer.skip_blanks()?;
        if has_end(lexer) && is_file {
            lexer.offset += 2;
            while lexer.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                lexer.offset += 1;
            }
        }
        Ok(())
    }

    // -- Detail ------------------------------------------------------------

    /// Records where the key is, and its source if PHP writes it differently.
    fn record_key(&mut self, key: Key, syntax: ContainerSyntax, start: usize, end: usize) {
        if !S::DETAIL {
            return;
        }
        let next = self.sink.tape().len();
        self.record_span(start, end, next, "key");
        let node = match key {
            Key::Int(value) => Node::int(value),
            Key::Bytes(node) => node,
        };
        let default =
            leaf_text::format_key(&node, self.sink.tape(), self.lexer.input, syntax != ContainerSyntax::Array);
        self.key_source = (default != self.lexer.input[start..end]).then_some((start, end));
    }

    #[inline]
    fn record_span(&mut self, start: usize, end: usize, node: u32, name: &'static str) {
        if S::DETAIL {
            self.record_gap(start);
            self.sink.record_span(start, end, node, name);
            self.covered_until = end;
        }
    }

    /// Assigns the bytes up to `end` that have no span yet: blanks, comments, commas.
    fn record_gap(&mut self, end: usize) {
        let container =
            self.frames.last().map_or(NO_NODE, |frame| frame.node - u32::from(frame.syntax != ContainerSyntax::Array));
        self.sink.record_span_between(&mut self.covered_until, end, container);
    }

    /// Keeps the text around the value.
    fn keep_surrounding_text(&mut self, code: u16, start: usize, end: usize) {
        let input = self.lexer.input;
        if start < end {
            self.sink.record_header_bytes(code, &input[start..end]);
        }
    }

    /// Keeps the source text from `start` to `end` for the value at `node`.
    fn keep_source(&mut self, node: u32, code: u16, start: usize, end: usize) {
        let input = self.lexer.input;
        self.sink.record_note_bytes(node, code, input.get(start..end).unwrap_or(&[]));
    }

    /// Records that the node `index` starts here.
    #[inline]
    fn begin_node(&mut self, index: u32, start: usize) {
        if !S::DETAIL {
            return;
        }
        if let Some((start, end)) = self.key_source.take() {
            self.keep_source(index, spelling::KEY, start, end);
        }
        self.sink.record_begin(index, start);
    }
}
