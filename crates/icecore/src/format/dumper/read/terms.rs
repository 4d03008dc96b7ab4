//! Values: all forms that are allowed where a value is expected.

use super::super::NO_FUNCTIONS;
use super::Machine;
use super::frames::{Construct, Frame};
use super::heap::PendingPath;
use super::lex::{is_word_byte, is_word_start};
use super::number::{Number, parse_v_string_numbers};
use super::path::{PathSteps, read_glob_name, read_glob_part};
use super::regexp::{read_flags as regexp_flags, read_regexp};
use super::string::Strings;
use crate::document::{Form, Kind, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::scan::utf8;

/// Words at which a text may be cut off.
const WORDS: &[&[u8]] = &[b"undef", b"bless(", b"do{", b"qr/", b"sub {", b"qq", b"v1"];

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads a leaf completely, or the beginning of any other value. `is_referenced` is set if `\` precedes the
    /// value.
    #[inline]
    pub(super) fn read_term(&mut self, key: u16, is_referenced: bool) -> Result<(), Error> {
        let start = self.lexer.position;
        match self.lexer.peek() {
            Some(b'\'' | b'"') => {
                if S::DETAIL {
                    self.layout.observe_quote(&self.lexer);
                }
                self.read_string(key, start, |strings, lexer| strings.read_quoted(lexer))
            }
            Some(b'0'..=b'9') => self.read_number(key, start, false),
            Some(b'[') => {
                self.lexer.position += 1;
                self.open_frame(Construct::Array, b']', key, start)
            }
            Some(b'{') => {
                self.lexer.position += 1;
                self.open_frame(Construct::Map, b'}', key, start)
            }
            _ => self.read_rare_term(key, is_referenced),
        }
    }

    fn read_rare_term(&mut self, key: u16, is_referenced: bool) -> Result<(), Error> {
        let start = self.lexer.position;
        let next = self.lexer.byte_at(start + 1);
        match self.lexer.peek() {
            Some(b'-') if matches!(next, Some(b'0'..=b'9' | b'.')) => {
                self.lexer.position += 1;
                self.read_number(key, start, true)
            }
            Some(b'-') if next.is_some_and(is_word_start) => self.read_word(key, start),
            Some(b'.') if matches!(next, Some(b'0'..=b'9')) => self.read_number(key, start, false),
            Some(b'+') => {
                while self.lexer.take(b"+") {
                    self.lexer.skip_blanks();
                }
                self.read_term(key, is_referenced)
            }
            Some(b'!') => self.read_boolean(key, start),
            Some(b'\\') => self.read_reference(key, start),
            Some(b'$') => self.read_path(key, start, is_referenced),
            Some(b'*') => self.read_glob(key, start),
            Some(b'@' | b'%') => Err(self.lexer.code_error(start, "an array or a hash in a list")),
            Some(b'&') => Err(self.lexer.code_error(start, "a call")),
            Some(b'`') => Err(self.lexer.code_error(start, "a command in backticks")),
            Some(b'<') if next == Some(b'<') => Err(self.lexer.code_error(start, "a here-document")),
            Some(b'<') => Err(self.lexer.code_error(start, "reading from a file")),
            Some(b'(') => Err(self.lexer.code_error(start, "a list in brackets")),
            Some(byte) if is_word_start(byte) => self.read_word(key, start),
            // The start of a number or of a boolean.
            Some(b'-' | b'.') if next.is_none() => Err(self.lexer.syntax_error(start + 1, "a value")),
            _ => Err(self.lexer.syntax_error(start, "a value")),
        }
    }

    fn read_string(
        &mut self,
        key: u16,
        start: usize,
        read: impl FnOnce(&mut Strings<'_>, &mut super::lex::Lexer<'_>) -> Result<super::string::Text, Error>,
    ) -> Result<(), Error> {
        let text = read(&mut Strings { tape: self.sink.tape(), limits: self.limits }, &mut self.lexer)?;
        let node = text.into_node(self.sink.tape());
        self.push_leaf(node, key, start);
        Ok(())
    }

    fn read_number(&mut self, key: u16, start: usize, negative: bool) -> Result<(), Error> {
        match self.lexer.read_number(negative)? {
            Number::Node(node) => self.push_leaf(node, key, start),
            Number::VString(text_start, text_end) => self.push_v_string(key, start, text_start, text_end)?,
        }
        Ok(())
    }

    /// Reads `!!1` or `!0`.
    fn read_boolean(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let rest = self.lexer.rest();
        let exclamation_marks = rest.iter().take_while(|byte| **byte == b'!').count();
        let value = match rest.get(exclamation_marks) {
            Some(b'0') => false,
            Some(b'1') => true,
            Some(_) => return Err(self.lexer.code_error(start, "the operator `!`")),
            None => return Err(self.lexer.syntax_error(start + exclamation_marks, "0 or 1")),
        };
        self.lexer.position += exclamation_marks + 1;
        if self.lexer.peek().is_some_and(|byte| is_word_byte(byte) || byte == b'.') {
            return Err(self.lexer.code_error(start, "the operator `!`"));
        }
        self.push_leaf(Node::leaf(Kind::Bool, u64::from(value ^ (exclamation_marks % 2 == 1))), key, start);
        Ok(())
    }

    fn push_v_string(&mut self, key: u16, start: usize, text_start: usize, text_end: usize) -> Result<(), Error> {
        let text = self.lexer.slice(text_start, text_end);
        let mut numbers = Vec::new();
        for number in parse_v_string_numbers(text) {
            let number = number.filter(|number| i64::try_from(*number).is_ok());
            numbers.push(number.ok_or_else(|| self.lexer.syntax_error(text_start, "a v-string of smaller numbers"))?);
        }
        let is_wide = numbers.iter().any(|number| *number > 0xFF);
        let mut value = Vec::new();
        for number in numbers {
            match u8::try_from(number) {
                Ok(byte) if !is_wide => value.push(byte),
                _ => utf8::push_character(number, &mut value),
            }
        }
        let tape = self.sink.tape();
        let source = tape.new_borrowed_string(Kind::Bytes, text_start, text_end - text_start);
        let value = tape.new_owned_string(if is_wide { Kind::Text } else { Kind::Bytes }, &value);
        self.push_pair(Kind::VString, [source, value], key, start);
        Ok(())
    }

    /// Reads `*::STDOUT`, or a part of a glob.
    fn read_glob(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let name = read_glob_name(&mut self.lexer, self.sink.tape(), self.limits)?;
        if read_glob_part(&mut self.lexer).is_some() {
            self.lexer.position = start;
            return self.read_path(key, start, false);
        }
        let node = self.sink.tape().new_owned_string(Kind::Module, &[b"*", &name[..]].concat());
        self.push_leaf(node.in_form(Form::Variable), key, start);
        Ok(())
    }

    /// Reads a path. Its target is searched after the whole text was read, because it may come later.
    pub(super) fn read_path(&mut self, key: u16, start: usize, is_referenced: bool) -> Result<(), Error> {
        let mut steps = PathSteps::new(self.lexer);
        let result = loop {
            match steps.next(self.sink.tape(), self.limits) {
                Ok(Some(_)) => {}
                result => break result,
            }
        };
        self.lexer.position = steps.lexer.position;
        result?;
        let node = self.sink.tape().len();
        self.push_leaf(Node::leaf(Kind::Null, 0), key, start);
        self.pending_paths.push(PendingPath { offset: start, node, is_referenced, is_statement: false });
        Ok(())
    }

    /// Reads what follows `\`.
    fn read_reference(&mut self, key: u16, start: usize) -> Result<(), Error> {
        self.lexer.position += 1;
        self.lexer.skip_blanks();
        match self.lexer.peek() {
            Some(b'@' | b'%' | b'&') => self.read_path(key, self.lexer.position, true),
            Some(b'(') => {
                self.lexer.position += 1;
                self.read_my_variable()?;
                self.lexer.expect(b'=', "`=`")?;
                self.open_frame(Construct::Scalar, b')', key, start)
            }
            None => Err(self.lexer.syntax_error(self.lexer.position, "a value after `\\`")),
            _ => self.open_frame(Construct::Ref, 0, key, start),
        }
    }

    /// Reads `my $o`. Returns the name.
    fn read_my_variable(&mut self) -> Result<Vec<u8>, Error> {
        self.lexer.skip_blanks();
        if !self.lexer.take_word(b"my") {
            return Err(match self.lexer.is_cut_off(self.lexer.position, &[b"my "]) {
                true => self.lexer.syntax_error(self.lexer.input.len(), "`my $o`"),
                false => self.lexer.code_error(self.lexer.position, "something other than `my $o`"),
            });
        }
        self.lexer.expect(b'$', "`$o`")?;
        let name = self.lexer.word_at(self.lexer.position);
        if name.is_empty() {
            return Err(self.lexer.syntax_error(self.lexer.position, "a name"));
        }
        self.lexer.position += name.len();
        Ok(name.to_vec())
    }

    // -- Words ---------------------------------------------------------------

    fn read_word(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let negative = self.lexer.peek() == Some(b'-');
        let word = self.lexer.name_at(start + usize::from(negative));
        let end = start + usize::from(negative) + word.len();
        let mut lookahead = self.lexer;
        lookahead.position = end;
        lookahead.skip_blanks();
        if lookahead.rest().starts_with(b"=>") {
            self.lexer.position = end;
            let node = self.sink.tape().new_borrowed_string(Kind::Bytes, start, end - start);
            self.push_leaf(node, key, start);
            return Ok(());
        }
        if negative {
            return Err(self.lexer.code_error(start, "the operator `-`"));
        }
        if word.first() == Some(&b'v')
            && let Some((text_start, text_end)) = self.lexer.read_v_string()
        {
            return self.push_v_string(key, start, text_start, text_end);
        }
        if end == self.lexer.input.len() && self.lexer.is_cut_off(start, WORDS) {
            return Err(self.lexer.syntax_error(end, "a value"));
        }
        self.lexer.position = end;
        match word {
            b"undef" => {
                if lookahead.rest().starts_with(b"()") {
                    self.lexer.position = lookahead.position + 2;
                }
                self.push_leaf(Node::leaf(Kind::Null, 0), key, start);
                Ok(())
            }
            b"bless" => {
                self.lexer.expect(b'(', "`(` after `bless`")?;
                self.open_frame(Construct::Bless, b')', key, start)
            }
            b"do" => self.read_do_block(key, start),
            b"qr" => {
                self.skip_to_delimiter();
                let (pattern, flags) = read_regexp(&mut self.lexer)?;
                let tape = self.sink.tape();
                let parts = [tape.new_owned_string(Kind::Bytes, &pattern), tape.new_owned_string(Kind::Bytes, &flags)];
                self.push_pair(Kind::Regexp, parts, key, start);
                Ok(())
            }
            b"q" | b"qq" => {
                self.skip_to_delimiter();
                self.read_string(key, start, |strings, lexer| strings.read_delimited(lexer, word == b"qq"))
            }
            b"sub" => self.read_sub(key, start),
            _ => self.read_other_word(word, key, start),
        }
    }

    /// Skips blanks before the delimiter of `q`, `qq` or `qr`.
    fn skip_to_delimiter(&mut self) {
        // Directly after the word, `#` is a delimiter; after blanks it begins a comment.
        if self.lexer.peek() != Some(b'#') {
            self.lexer.skip_blanks();
        }
    }

    /// Reads `do{\(my $o = X)}`, `do{my $o}`, `do{my $o = '…'; qr/$o/}` or `do{package
    /// Icecore::None; v65}`.
    fn read_do_block(&mut self, key: u16, start: usize) -> Result<(), Error> {
        self.lexer.skip_blanks();
        match self.lexer.peek() {
            Some(b'{') => self.lexer.position += 1,
            None => return Err(self.lexer.syntax_error(self.lexer.position, "`{` after `do`")),
            Some(_) => return Err(self.lexer.code_error(start, "`do` with a file")),
        }
        self.lexer.skip_blanks();
        if self.lexer.peek() == Some(b'\\') {
            self.lexer.position += 1;
            self.lexer.expect(b'(', "`(`")?;
            self.read_my_variable()?;
            self.lexer.expect(b'=', "`=`")?;
            return self.open_frame(Construct::Do, b')', key, start);
        }
        if self.lexer.peek() == Some(b'p') {
            return self.read_packaged_v_string(key, start);
        }
        let name = self.read_my_variable()?;
        self.lexer.skip_blanks();
        if self.lexer.peek() == Some(b'=') {
            self.lexer.position += 1;
            return self.read_regexp_of_variable(&name, key, start);
        }
        self.lexer.expect(b'}', "`}`")?;
        self.push_leaf(Node::leaf(Kind::Null, 0), key, start);
        Ok(())
    }

    /// Reads `package Icecore::None; v65}`: a v-string that could be the name of a function
    /// elsewhere.
    fn read_packaged_v_string(&mut self, key: u16, start: usize) -> Result<(), Error> {
        if !self.lexer.take(NO_FUNCTIONS) {
            return Err(match NO_FUNCTIONS.starts_with(self.lexer.rest()) {
                true => self.lexer.syntax_error(self.lexer.input.len(), "a v-string"),
                false => self.lexer.code_error(start, "a block of code"),
            });
        }
        let value_start = self.lexer.position;
        let Some((text_start, text_end)) =
            self.lexer.read_v_string().filter(|_| self.lexer.byte_at(value_start) == Some(b'v'))
        else {
            return Err(match b"v".starts_with(self.lexer.slice(value_start, self.lexer.input.len())) {
                true => self.lexer.syntax_error(self.lexer.input.len(), "a v-string"),
                false => self.lexer.code_error(start, "a block of code"),
            });
        };
        if text_end == self.lexer.input.len() {
            return Err(self.lexer.syntax_error(text_end, "`}`"));
        }
        self.push_v_string(key, value_start, text_start, text_end)?;
        self.lexer.expect(b'}', "`}`")
    }

    /// Reads `'…'; qr/$o/i}`: a pattern in which perl must not find variables.
    fn read_regexp_of_variable(&mut self, name: &[u8], key: u16, start: usize) -> Result<(), Error> {
        self.lexer.skip_blanks();
        if self.lexer.peek().is_some_and(|byte| !matches!(byte, b'\'' | b'"')) {
            return Err(self.lexer.code_error(start, "a block of code"));
        }
        let text = Strings { tape: self.sink.tape(), limits: self.limits }.read_quoted(&mut self.lexer)?;
        self.lexer.expect(b';', "`;`")?;
        self.lexer.skip_blanks();
        let regexp = [b"qr/$", name, b"/"].concat();
        if !self.lexer.take(&regexp) {
            return Err(match regexp.starts_with(self.lexer.rest()) {
                true => self.lexer.syntax_error(self.lexer.input.len(), "a regular expression of the variable"),
                false => self.lexer.code_error(start, "a block of code"),
            });
        }
        let flags = regexp_flags(&mut self.lexer)?;
        self.lexer.expect(b'}', "`}`")?;
        let tape = self.sink.tape();
        let parts = [text.into_node(tape), tape.new_owned_string(Kind::Bytes, &flags)];
        self.push_pair(Kind::Regexp, parts, key, start);
        Ok(())
    }

    /// Reads `sub { "DUMMY" }`.
    fn read_sub(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let mut is_complete = true;
        for piece in [&b"{"[..], b"\"DUMMY\"", b"}"] {
            self.lexer.skip_blanks();
            if !self.lexer.take(piece) {
                is_complete = false;
                break;
            }
        }
        if !is_complete {
            let rest = self.lexer.rest();
            return Err(match [&b"{"[..], b"\"DUMMY\"", b"}"].iter().any(|piece| piece.starts_with(rest)) {
                true => self.lexer.syntax_error(self.lexer.input.len(), "`sub { \"DUMMY\" }`"),
                false => self.lexer.code_error_with_help(
                    start,
                    "the code of a sub",
                    "without Deparse, Data::Dumper writes `sub { \"DUMMY\" }`",
                ),
            });
        }
        let node = self.sink.tape().push(Node { key, ..Node::open(Kind::Code, 0) });
        self.sink.record_begin(node, start);
        self.record_piece(start, node, "value");
        let text = self.sink.tape().new_owned_string(Kind::Bytes, b"{ \"DUMMY\" }");
        let child = self.sink.tape().push(text);
        self.sink.record_begin(child, start);
        self.record_end(child);
        self.sink.tape().close_container(node, 1);
        self.record_end(node);
        Ok(())
    }

    /// Reads a call that blesses under another name, or reports code.
    fn read_other_word(&mut self, word: &[u8], key: u16, start: usize) -> Result<(), Error> {
        let word_text = String::from_utf8_lossy(word).into_owned();
        let rest = self.lexer.rest();
        if rest.starts_with(b"( ") && matches!(rest.get(2), Some(b'[' | b'{' | b'\\' | b'd' | b'q' | b's')) {
            self.lexer.position += 1;
            return self.open_frame(Construct::Call, b')', key, start);
        }
        let mut lookahead = self.lexer;
        lookahead.skip_blanks();
        Err(match lookahead.peek() {
            None => self.lexer.syntax_error(self.lexer.input.len(), "a value"),
            Some(_) if matches!(lookahead.rest(), b":" | b"(" | b"( ") => {
                self.lexer.syntax_error(self.lexer.input.len(), "a value")
            }
            Some(b'(') => self.lexer.code_error(start, format_args!("`{word_text}(`, a call")),
            _ => self.lexer.code_error(start, format_args!("`{word_text}`")),
        })
    }

    // -- After a value ---------------------------------------------------------

    /// Reads the end of a construct around a value.
    pub(super) fn read_wrapper_end(&mut self, frame: &Frame) -> Result<(), Error> {
        match frame.construct {
            Construct::Scalar => self.read_tail(frame, |machine| machine.lexer.expect(b')', "`)`"))?,
            Construct::Do => self.read_tail(frame, |machine| {
                machine.lexer.expect(b')', "`)`")?;
                machine.lexer.expect(b'}', "`}`")
            })?,
            Construct::Bless => self.read_class(frame)?,
            Construct::Call => self.read_class(frame).map_err(|error| match error.kind() {
                ErrorKind::Truncated => error,
                _ => self.call_error(frame),
            })?,
            _ => {}
        }
        self.close_frame();
        Ok(())
    }

    #[cold]
    fn call_error(&self, frame: &Frame) -> Error {
        let name = String::from_utf8_lossy(self.lexer.name_at(frame.start)).into_owned();
        self.lexer.code_error(frame.start, format_args!("`{name}(`, a call"))
    }

    fn read_tail(&mut self, frame: &Frame, read: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.lexer.skip_blanks();
        let start = self.lexer.position;
        read(self)?;
        self.record_piece(start, frame.node, "end");
        Ok(())
    }

    /// Reads `, 'C' )`.
    fn read_class(&mut self, frame: &Frame) -> Result<(), Error> {
        self.lexer.skip_blanks();
        if self.lexer.peek() == Some(b')') {
            return Err(self.lexer.code_error(frame.start, "`bless` without a class"));
        }
        self.lexer.expect(b',', "`,` and a class")?;
        self.lexer.skip_blanks();
        let start = self.lexer.position;
        if matches!(self.lexer.peek(), Some(byte) if byte != b'\'' && byte != b'"') {
            return Err(self.lexer.code_error(start, "a class that is not a string"));
        }
        let len = self.sink.tape().arena.len();
        let text = Strings { tape: self.sink.tape(), limits: self.limits }.read_quoted(&mut self.lexer)?;
        let name = text.bytes(self.sink.tape(), self.lexer.input).to_vec();
        self.sink.tape().arena.truncate(len);
        self.record_piece(start, frame.node, "class");
        let class = self.sink.tape().intern_class(Kind::Bytes, &name).map_err(|error| error.at(start))?;
        let body = self.sink.nodes().get(frame.node as usize + 1).copied().unwrap_or(Node::leaf(Kind::Null, 0));
        let is_path = self.pending_paths.last().is_some_and(|pending_path| pending_path.node == frame.node + 1);
        if is_path {
            return Err(self.lexer.code_error(frame.start, "a reference that is blessed at its second occurrence"));
        }
        if body.kind == Kind::Object {
            return Err(self.lexer.code_error(frame.start, "an object that is blessed twice"));
        }
        if !body.kind.is_container() || body.kind == Kind::VString {
            return Err(self.malformed_error(frame.start, "a reference that is blessed", "another value"));
        }
        if frame.construct == Construct::Call {
            let is_name = name.iter().all(|byte| is_word_byte(*byte) || matches!(byte, b':' | b'\''));
            if b" )".starts_with(self.lexer.rest()) && self.lexer.rest().len() < 2 {
                return Err(self.lexer.syntax_error(self.lexer.input.len(), "` )`"));
            }
            if !is_name || name.is_empty() || !self.lexer.rest().starts_with(b" )") {
                return Err(self.call_error(frame));
            }
            if S::DETAIL {
                let name = self.lexer.name_at(frame.start);
                self.layout.observe_bless_name(name);
            }
        }
        self.read_tail(frame, |machine| {
            if machine.lexer.peek() == Some(b',') {
                machine.lexer.position += 1;
            }
            machine.lexer.expect(b')', "`)`")
        })?;
        self.sink.tape().set_class(frame.node, class);
        Ok(())
    }
}
