//! Reads JSON by RFC 8259, in one loop with its own stack.
//!
//! `read_document` reads the beginning of each value, and `continue_after_value` reads the tokens between two values.
//! They are not recursive. An open container is an entry of `open`, so a limit bounds the depth, and not the native
//! stack.
//!
//! `S::DETAIL`, `FAST` and `RELAXED` are constants, so the reader that most callers use contains no code for spans
//! and options. The shortcuts in `fast.rs` stop before anything uncommon, also before an error, and the code here
//! continues. So each error is raised in only one place.

mod fast;
mod relaxed;
mod strings;

use super::key_prediction::KeyPrediction;
use super::number::{self, NumberSyntax, canonical_text};
use super::{NUMBER_TEXT, ReadOptions, Relaxed, Surrogates};
use crate::document::{IS_KEY, KEY_NODE, Kind, Location, NO_KEY, NO_NODE, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::num::float128;
use std::collections::HashSet;

/// Maximum number of keys of a map that get ids; the others become nodes of the tape. The keys of a larger map seldom
/// occur again, so they would only fill the table of names.
const MAX_ENTRIES_WITH_IDS: u32 = 256;

/// A container that is not closed yet.
struct ReadFrame {
    node: u32,
    count: u32,
    is_map: bool,
    /// Whether it is an object that Perl's method FREEZE froze, `("Class")[…]`. It has only one value.
    is_tag: bool,
    /// Id of the previous key; 0 at the start.
    previous_key: u16,
}

/// The machine. `FAST` adds shortcuts that give the same document and the same error. `RELAXED` adds the options for
/// input beyond RFC 8259.
pub(super) struct Reader<'a, 's, S, const FAST: bool, const RELAXED: bool> {
    input: &'a [u8],
    offset: usize,
    sink: &'s mut S,
    limits: &'s Limits,
    surrogates: Surrogates,
    relaxed: Relaxed,
    /// Keys of each open map, by the index of the map; only used with `dupkeys=error`.
    known_keys: HashSet<(u32, Vec<u8>)>,
    open: Vec<ReadFrame>,
    /// The key of the next value.
    key: u16,
    /// For each id of a key: its text in the input, and the next key. They stay on the tape between documents, so the
    /// keys of small similar documents are predicted, too.
    predictions: Vec<KeyPrediction>,
}

/// Where the bytes of a string are.
struct StringToken {
    location: Location,
    len: usize,
    has_escapes: bool,
}

impl<'a, 's, S: Sink, const FAST: bool, const RELAXED: bool> Reader<'a, 's, S, FAST, RELAXED> {
    /// Shortcuts record no spans, so a reader with detail does not use them.
    const SHORTCUTS: bool = FAST && !S::DETAIL;

    pub(super) fn new(input: &'a [u8], sink: &'s mut S, limits: &'s Limits, options: &ReadOptions) -> Self {
        let predictions = std::mem::take(sink.tape().memory.get_or_default::<Vec<KeyPrediction>>());
        Reader {
            input,
            offset: 0,
            sink,
            limits,
            surrogates: options.surrogates,
            relaxed: options.relaxed,
            known_keys: HashSet::new(),
            open: Vec::new(),
            key: NO_KEY,
            predictions,
        }
    }

    /// Reads one document. Returns the number of bytes that were read, and the error that stopped reading.
    pub(super) fn read(mut self) -> (usize, Option<Error>) {
        let error = self.read_document().err().map(|error| {
            let error = error.on_path(self.next_value_path());
            self.close_open_containers();
            error
        });
        self.return_predictions();
        (self.offset, error)
    }

    /// Reads the document on one line of the input, with its line feed. Returns `true` if
    /// the line has one.
    pub(super) fn read_line(&mut self, input: &'a [u8], root: u32, start: usize, end: usize) -> Result<bool, Error> {
        self.input = input.get(..end).unwrap_or(input);
        self.offset = start;
        self.skip_whitespace();
        let has_document = self.offset < end;
        if has_document {
            let read = self.read_document().and_then(|()| match self.peek() {
                Some(_) => Err(self.unexpected_error("the end of the line")),
                None => Ok(()),
            });
            if let Err(error) = read {
                let error = error.on_path(self.next_value_path());
                self.close_open_containers();
                return Err(error);
            }
        }
        self.input = input;
        if self.peek().is_some() {
            self.read_punctuation(root, "line feed");
        }
        Ok(has_document)
    }

    /// Returns the offset after the last token that was read.
    pub(super) fn position(&self) -> usize {
        self.offset
    }

    /// Puts the predictions on the tape for the next reader.
    pub(super) fn return_predictions(&mut self) {
        *self.sink.tape().memory.get_or_default() = std::mem::take(&mut self.predictions);
    }

    fn read_document(&mut self) -> Result<(), Error> {
        if self.input.starts_with(b"\xEF\xBB\xBF") {
            return Err(Error::new(ErrorKind::Malformed)
                .at(0)
                .expecting("a JSON value")
                .finding("a byte order mark")
                .helping("remove the first three bytes: JSON has none"));
        }
        loop {
            self.skip_whitespace();
            let Some(first) = self.peek() else { return Err(self.unexpected_error("a JSON value")) };
            let complete = match first {
                b'"' => self.read_string_value()?,
                b'-' | b'0'..=b'9' => self.read_number()?,
                b'{' => self.open_container(Kind::Map, b'}')?,
                b'[' => self.open_container(Kind::Array, b']')?,
                b't' => self.read_literal("true", Node::leaf(Kind::Bool, 1))?,
                b'f' => self.read_literal("false", Node::leaf(Kind::Bool, 0))?,
                b'n' => self.read_literal("null", Node::leaf(Kind::Null, 0))?,
                b'\'' if RELAXED && self.relaxed.singlequote => self.read_string_value()?,
                b'(' if RELAXED && self.relaxed.tags => self.read_tag()?,
                _ => return Err(self.unexpected_error("a JSON value")),
            };
            if complete && !self.continue_after_value()? {
                self.skip_whitespace();
                return Ok(());
            }
        }
    }

    /// Continues after a complete value, up to the start of the next one. Returns `false` if
    /// there is none.
    #[inline]
    fn continue_after_value(&mut self) -> Result<bool, Error> {
        loop {
            let depth = self.open.len();
            let Some(top) = self.open.last_mut() else { return Ok(false) };
            top.count += 1;
            let (is_map, index, count) = (top.is_map, top.node, top.count);
            if RELAXED && top.is_tag {
                self.close_tag(index);
                continue;
            }
            if depth == 1 {
                self.sink.finish_child()?;
            }
            self.skip_whitespace();
            match (self.peek(), is_map) {
                (Some(b','), _) => {
                    self.read_punctuation(index, "value-separator");
                    if RELAXED && self.skip_after_comma(is_map) {
                        self.close_container(index, count, if is_map { "end-object" } else { "end-array" });
                        continue;
                    }
                    if !self.read_first_or_next(is_map)? {
                        return Ok(true);
                    }
                }
                (Some(b'}'), true) => self.close_container(index, count, "end-object"),
                (Some(b']'), false) => self.close_container(index, count, "end-array"),
                (_, true) => return Err(self.unexpected_error("`,` or `}`")),
                (_, false) => return Err(self.unexpected_error("`,` or `]`")),
            }
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.input.get(self.offset).copied()
    }

    /// Skips whitespace.
    #[inline]
    fn skip_whitespace(&mut self) {
        let start = self.offset;
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.offset += 1;
        }
        if RELAXED {
            self.skip_comments();
        }
        if S::DETAIL {
            let node = self.open.last().map_or(NO_NODE, |top| top.node);
            self.record_span(start, node, "whitespace");
        }
    }

    /// Consumes one byte, which the caller has checked.
    #[inline]
    fn read_punctuation(&mut self, node: u32, name: &'static str) {
        self.offset += 1;
        if S::DETAIL {
            self.record_span(self.offset - 1, node, name);
        }
    }

    /// Records a span up to here.
    #[inline]
    fn record_span(&mut self, start: usize, node: u32, name: &'static str) {
        self.sink.record_span(start, self.offset, node, name);
    }

    /// Records a span up to here that covers a whole node.
    #[inline]
    fn record_node_span(&mut self, start: usize, node: u32, name: &'static str) {
        let end = self.offset;
        self.sink.record_span(start, end, node, name);
        self.sink.record_extent(node, start, end);
    }

    #[inline]
    fn push_node(&mut self, mut node: Node) -> Result<u32, Error> {
        let key = self.key;
        let tape = self.sink.tape();
        if tape.len() >= self.limits.nodes {
            return Err(self.limits.too_many_nodes().at(self.offset));
        }
        node.key = key;
        let index = tape.push(node);
        self.key = NO_KEY;
        Ok(index)
    }

    /// Opens a container. Returns `true` if it is already complete.
    #[inline]
    fn open_container(&mut self, kind: Kind, close: u8) -> Result<bool, Error> {
        let is_map = kind == Kind::Map;
        if self.open.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(self.offset));
        }
        let node = self.push_node(Node::open(kind, 0))?;
        self.sink.record_begin(node, self.offset);
        self.read_punctuation(node, if is_map { "begin-object" } else { "begin-array" });
        self.open.push(ReadFrame { node, count: 0, is_map, is_tag: false, previous_key: 0 });
        self.skip_whitespace();
        if self.peek() == Some(close) {
            self.close_container(node, 0, if is_map { "end-object" } else { "end-array" });
            return Ok(true);
        }
        self.read_first_or_next(is_map)
    }

    /// Continues with the first or next entry of the innermost container. Returns `true` if
    /// an entry was read that is the last one.
    #[inline]
    fn read_first_or_next(&mut self, is_map: bool) -> Result<bool, Error> {
        if is_map {
            if Self::SHORTCUTS && (!S::PARTS || self.open.len() > 1) && self.read_members() {
                return Ok(true);
            }
            self.read_name()?;
        } else if Self::SHORTCUTS {
            self.read_items()?;
        }
        Ok(false)
    }

    /// Closes the innermost container.
    #[inline]
    fn close_container(&mut self, index: u32, count: u32, name: &'static str) {
        self.read_punctuation(index, name);
        self.open.pop();
        self.sink.tape().close_container(index, count);
        self.sink.record_end(index, self.offset);
    }

    /// Reads the name of an entry and the colon after it.
    #[inline]
    fn read_name(&mut self) -> Result<(), Error> {
        self.skip_whitespace();
        if !(Self::SHORTCUTS && self.read_predicted_name()) {
            self.read_new_name()?;
        }
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.unexpected_error("`:`"));
        }
        let node = self.open.last().map_or(NO_NODE, |top| top.node);
        self.read_punctuation(node, "name-separator");
        Ok(())
    }

    fn read_new_name(&mut self) -> Result<(), Error> {
        let start = self.offset;
        let text = match self.peek() {
            Some(b'"') => self.read_string()?,
            Some(b'\'') if RELAXED && self.relaxed.singlequote => self.read_string()?,
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'_') if RELAXED && self.relaxed.barekey => self.read_bare_name()?,
            _ => {
                return Err(self.unexpected_error(match self.open.last() {
                    Some(top) if top.count == 0 => "a name in quotes or `}`",
                    _ => "a name in quotes",
                }));
            }
        };
        if RELAXED && self.relaxed.unique_keys {
            self.check_key_is_new(&text, start)?;
        }
        let Some(top) = self.open.last_mut() else { return Ok(()) };
        let (map, previous_key) = (top.node, top.previous_key);
        let mut id = None;
        if top.count < MAX_ENTRIES_WITH_IDS {
            let tape = self.sink.tape();
            let bytes = match text.location {
                Location::Input(start) => self.input.get(start as usize..start as usize + text.len),
                Location::Arena(start) => tape.arena.get(start as usize..start as usize + text.len),
            };
            id =
                tape.keys.intern(Node::leaf(Kind::Text, 0), bytes.unwrap_or(&[])).and_then(|id| u16::try_from(id).ok());
        }
        if let Some(id) = id {
            self.sink.tape().keys.learn_next(previous_key, id);
            // The table of names has its own copy of the text, so the bytes in the arena are removed again.
            if let Location::Arena(start) = text.location {
                self.sink.tape().arena.truncate(start as usize);
            }
            if Self::SHORTCUTS && !text.has_escapes {
                self.learn_name(previous_key, id, start + 1, text.len);
            }
            self.key = id;
            if S::DETAIL {
                self.record_span(start, map, "name");
            }
        } else {
            self.key = IS_KEY;
            let node = self.sink.tape().new_string_at(Kind::Text, text.location, text.len);
            let node = self.push_node(node)?;
            self.key = KEY_NODE;
            self.record_node_span(start, node, "name");
        }
        if let Some(top) = self.open.last_mut() {
            top.previous_key = id.unwrap_or(0);
        }
        Ok(())
    }

    #[inline]
    fn read_string_value(&mut self) -> Result<bool, Error> {
        let start = self.offset;
        let text = self.read_string()?;
        let node = self.sink.tape().new_string_at(Kind::Text, text.location, text.len);
        let node = self.push_node(node)?;
        self.record_node_span(start, node, "string");
        Ok(true)
    }

    #[inline]
    fn read_number(&mut self) -> Result<bool, Error> {
        // Short integers are the most common numbers, and decimals with few digits are the next. The values of both
        // are found without rounding.
        if Self::SHORTCUTS {
            if let Some((value, end)) = number::parse_short_integer(self.input, self.offset) {
                self.push_node(Node::int(value))?;
                self.offset = end;
                return Ok(true);
            }
            if let Some((value, end)) = number::parse_short_decimal(self.input, self.offset) {
                self.push_node(Node::float(value))?;
                self.offset = end;
                return Ok(true);
            }
        }
        self.read_long_number()
    }

    #[inline(never)]
    fn read_long_number(&mut self) -> Result<bool, Error> {
        let start = self.offset;
        let (node, end) = match number::classify_number(self.input, start) {
            NumberSyntax::Broken(offset, expected) => {
                // The error of the number is at a byte inside of it. The document so far ends before the number, so
                // the offset goes back.
                self.offset = offset;
                let error = self.unexpected_error(expected);
                self.offset = start;
                return Err(error);
            }
            NumberSyntax::Integer(end) => (self.parse_integer(start, end)?, end),
            NumberSyntax::Decimal(end) => (self.parse_decimal(start, end)?, end),
        };
        let index = self.push_node(node)?;
        self.offset = end;
        if S::DETAIL {
            let input = self.input;
            let text = input.get(start..end).unwrap_or(&[]);
            if node.kind != Kind::Text && canonical_text(&node, self.sink.tape().string_bytes(&node, input)) != text {
                self.sink.record_note_bytes(index, NUMBER_TEXT, text);
            }
            self.record_node_span(start, index, "number");
        }
        Ok(true)
    }

    fn parse_integer(&mut self, start: usize, end: usize) -> Result<Node, Error> {
        if end - start > self.limits.digits as usize + 1 {
            return Err(self.limits.too_many_digits().at(start));
        }
        match number::parse_integer(self.input.get(start..end).unwrap_or(&[])) {
            Some(Ok(node)) => Ok(node),
            Some(Err((negative, magnitude))) => {
                let node = self.sink.tape().new_owned_string(Kind::BigInt, &magnitude);
                Ok(if negative { node.with(flag::NEGATIVE) } else { node })
            }
            None => Err(self.unexpected_error("an integer")),
        }
    }

    fn parse_decimal(&mut self, start: usize, end: usize) -> Result<Node, Error> {
        let text = self.input.get(start..end).unwrap_or(&[]);
        if RELAXED && self.relaxed.bignum && !relaxed::is_exact_as_float(text) {
            return Ok(self.sink.tape().new_string_at(Kind::Text, Location::Input(start as u64), text.len()));
        }
        match number::parse_decimal(text) {
            Some(value) if value.is_finite() => {
                // A number that is not zero may be too small for a double, and become 0. Then its text must be kept,
                // too.
                if number::has_many_digits(text) || value == 0.0 {
                    return Ok(self.long_decimal_node(text, value));
                }
                Ok(Node::float(value))
            }
            _ => Err(Error::new(ErrorKind::Unsupported)
                .at(start)
                .expecting("a number that a 64-bit float can hold, below 1.8e308")
                .finding("a larger one")
                .helping("`json:bignum` reads its digits as a string; nothing becomes infinity by itself")),
        }
    }

    /// Returns the node of a decimal that may have more digits than a double can
    /// represent.
    fn long_decimal_node(&mut self, text: &[u8], value: f64) -> Node {
        let Some((digits, exponent)) = number::significant_digits(text) else { return Node::float(value) };
        if digits.len() <= number::DIGITS_OF_A_DOUBLE && (value != 0.0 || digits.is_empty()) {
            return Node::float(value);
        }
        let wide = float128::nearest(text.starts_with(b"-"), &digits, exponent);
        if float128::to_f64_exact(&wide).is_some() {
            return Node::float(value);
        }
        self.sink.tape().new_owned_string(Kind::Float128, &wide)
    }

    fn read_literal(&mut self, word: &'static str, node: Node) -> Result<bool, Error> {
        let start = self.offset;
        let rest = self.input.get(start..).unwrap_or(&[]);
        if !rest.starts_with(word.as_bytes()) {
            let same = rest.iter().zip(word.as_bytes()).take_while(|(byte, expected)| byte == expected).count();
            self.offset = start + same;
            let error = self.unexpected_error(match word {
                "true" => "`true`",
                "false" => "`false`",
                _ => "`null`",
            });
            self.offset = start;
            return Err(error);
        }
        let index = self.push_node(node)?;
        self.offset += word.len();
        self.record_node_span(start, index, "literal");
        Ok(true)
    }

    #[cold]
    fn unexpected_error(&self, expected: &'static str) -> Error {
        let Some(byte) = self.peek() else {
            return Error::new(ErrorKind::Truncated)
                .at(self.input.len())
                .expecting(expected)
                .finding("the end of the input");
        };
        let found = match byte {
            0x21..=0x7E => format!("`{}`", char::from(byte)),
            b' ' => "a blank".to_owned(),
            b'\n' | b'\r' => "the end of the line".to_owned(),
            _ => format!("the byte 0x{byte:02x}"),
        };
        let error = Error::new(ErrorKind::Malformed).at(self.offset).expecting(expected).finding(found);
        match byte {
            b'\'' => error.helping("strings need double quotes; the option `singlequote` accepts single ones"),
            b'/' | b'#' => error.helping("JSON has no comments; the options `relaxed` and `comments` skip them"),
            b'}' | b']' => error.helping(
                "is there a bracket of the wrong kind, or an extra comma? The option `relaxed` accepts such a comma",
            ),
            b'N' | b'I' => error.helping("JSON has neither NaN nor Infinity"),
            _ => error,
        }
    }

    #[cold]
    fn truncated_error(&self, subject: &'static str, start: usize) -> Error {
        Error::new(ErrorKind::Truncated)
            .at(self.input.len())
            .expecting(format!("the end of {subject} that starts at offset {start}"))
            .finding("the end of the input")
    }

    /// Returns the path of the value that would be next. To find the path, a node is put on the tape in its place,
    /// and removed again.
    fn next_value_path(&mut self) -> String {
        let (key, input) = (self.key, self.input);
        let tape = self.sink.tape();
        let mut next = Node::leaf(Kind::Null, 0);
        next.key = key;
        let index = tape.push(next);
        let path = tape.path_to(index, input);
        tape.nodes.pop();
        path
    }

    /// Closes open containers, so that the nodes before an error are a document.
    fn close_open_containers(&mut self) {
        let tape = self.sink.tape();
        if tape.nodes.last().is_some_and(|node| node.key == IS_KEY) {
            tape.nodes.pop();
        }
        while let Some(open) = self.open.pop() {
            self.sink.tape().close_container(open.node, open.count);
            self.sink.record_cut(open.node, None);
        }
    }
}
