//! Values: all forms that are allowed where a value is expected.

use super::super::NO_FUNCTIONS;
use super::Machine;
use super::frames::{Frame, Shape};
use super::heap::PendingPath;
use super::lex::{is_word, is_word_start};
use super::number::{Number, characters};
use super::path::{Parts, glob_name, glob_part};
use super::regexp::{flags as regexp_flags, regexp};
use super::string::Strings;
use crate::document::{Form, Kind, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::scan::utf8;

/// Words at which a text may be cut off.
const WORDS: &[&[u8]] = &[b"undef", b"bless(", b"do{", b"qr/", b"sub {", b"qq", b"v1"];

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads the value here: a leaf completely, anything else up to its front. `referred`: `\`
    /// precedes it.
    #[inline]
    pub(super) fn term(&mut self, key: u16, referred: bool) -> Result<(), Error> {
        let start = self.lexer.at;
        match self.lexer.peek() {
            Some(b'\'' | b'"') => {
                if S::DETAIL {
                    self.layout.quote(&self.lexer);
                }
                self.string(key, start, |strings, lexer| strings.quoted(lexer))
            }
            Some(b'0'..=b'9') => self.number(key, start, false),
            Some(b'[') => {
                self.lexer.at += 1;
                self.open(Shape::Array, b']', key, start)
            }
            Some(b'{') => {
                self.lexer.at += 1;
                self.open(Shape::Map, b'}', key, start)
            }
            _ => self.rare_term(key, referred),
        }
    }

    fn rare_term(&mut self, key: u16, referred: bool) -> Result<(), Error> {
        let start = self.lexer.at;
        let next = self.lexer.byte(start + 1);
        match self.lexer.peek() {
            Some(b'-') if matches!(next, Some(b'0'..=b'9' | b'.')) => {
                self.lexer.at += 1;
                self.number(key, start, true)
            }
            Some(b'-') if next.is_some_and(is_word_start) => self.word(key, start),
            Some(b'.') if matches!(next, Some(b'0'..=b'9')) => self.number(key, start, false),
            Some(b'+') => {
                while self.lexer.take(b"+") {
                    self.lexer.skip();
                }
                self.term(key, referred)
            }
            Some(b'!') => self.boolean(key, start),
            Some(b'\\') => self.reference(key, start),
            Some(b'$') => self.path(key, start, referred),
            Some(b'*') => self.glob(key, start),
            Some(b'@' | b'%') => Err(self.lexer.code(start, "an array or a hash in a list")),
            Some(b'&') => Err(self.lexer.code(start, "a call")),
            Some(b'`') => Err(self.lexer.code(start, "a command in backticks")),
            Some(b'<') if next == Some(b'<') => Err(self.lexer.code(start, "a here-document")),
            Some(b'<') => Err(self.lexer.code(start, "reading from a file")),
            Some(b'(') => Err(self.lexer.code(start, "a list in brackets")),
            Some(byte) if is_word_start(byte) => self.word(key, start),
            // The start of a number or of a boolean.
            Some(b'-' | b'.') if next.is_none() => Err(self.lexer.wrong(start + 1, "a value")),
            _ => Err(self.lexer.wrong(start, "a value")),
        }
    }

    fn string(
        &mut self,
        key: u16,
        start: usize,
        read: impl FnOnce(&mut Strings<'_>, &mut super::lex::Lexer<'_>) -> Result<super::string::Text, Error>,
    ) -> Result<(), Error> {
        let text = read(&mut Strings { tape: self.sink.tape(), limits: self.limits }, &mut self.lexer)?;
        let node = text.node(self.sink.tape());
        self.leaf(node, key, start);
        Ok(())
    }

    fn number(&mut self, key: u16, start: usize, negative: bool) -> Result<(), Error> {
        match self.lexer.number(negative)? {
            Number::Node(node) => self.leaf(node, key, start),
            Number::VString(from, to) => self.v_string(key, start, from, to)?,
        }
        Ok(())
    }

    /// Reads `!!1` or `!0`.
    fn boolean(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let rest = self.lexer.rest();
        let nots = rest.iter().take_while(|byte| **byte == b'!').count();
        let value = match rest.get(nots) {
            Some(b'0') => false,
            Some(b'1') => true,
            Some(_) => return Err(self.lexer.code(start, "the operator `!`")),
            None => return Err(self.lexer.wrong(start + nots, "0 or 1")),
        };
        self.lexer.at += nots + 1;
        if self.lexer.peek().is_some_and(|byte| is_word(byte) || byte == b'.') {
            return Err(self.lexer.code(start, "the operator `!`"));
        }
        self.leaf(Node::leaf(Kind::Bool, u64::from(value ^ (nots % 2 == 1))), key, start);
        Ok(())
    }

    fn v_string(&mut self, key: u16, start: usize, from: usize, to: usize) -> Result<(), Error> {
        let text = self.lexer.slice(from, to);
        let mut numbers = Vec::new();
        for number in characters(text) {
            let number = number.filter(|number| i64::try_from(*number).is_ok());
            numbers.push(number.ok_or_else(|| self.lexer.wrong(from, "a v-string of smaller numbers"))?);
        }
        let is_wide = numbers.iter().any(|number| *number > 0xFF);
        let mut value = Vec::new();
        for number in numbers {
            match u8::try_from(number) {
                Ok(byte) if !is_wide => value.push(byte),
                _ => utf8::push(number, &mut value),
            }
        }
        let tape = self.sink.tape();
        let source = tape.borrowed(Kind::Bytes, from, to - from);
        let value = tape.owned(if is_wide { Kind::Text } else { Kind::Bytes }, &value);
        self.pair_of(Kind::VString, [source, value], key, start);
        Ok(())
    }

    /// Reads `*::STDOUT`, or a part of a glob.
    fn glob(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let name = glob_name(&mut self.lexer, self.sink.tape(), self.limits)?;
        if glob_part(&mut self.lexer).is_some() {
            self.lexer.at = start;
            return self.path(key, start, false);
        }
        let node = self.sink.tape().owned(Kind::Module, &[b"*", &name[..]].concat());
        self.leaf(node.in_form(Form::Variable), key, start);
        Ok(())
    }

    /// Reads a path; its target is found when everything is read.
    pub(super) fn path(&mut self, key: u16, start: usize, referred: bool) -> Result<(), Error> {
        let mut parts = Parts::new(self.lexer);
        let ended = loop {
            match parts.next(self.sink.tape(), self.limits) {
                Ok(Some(_)) => {}
                ended => break ended,
            }
        };
        self.lexer.at = parts.lexer.at;
        ended?;
        let node = self.sink.tape().len();
        self.leaf(Node::leaf(Kind::Null, 0), key, start);
        self.jobs.push(PendingPath { at: start, node, referred, sets: false });
        Ok(())
    }

    /// Reads what follows `\`.
    fn reference(&mut self, key: u16, start: usize) -> Result<(), Error> {
        self.lexer.at += 1;
        self.lexer.skip();
        match self.lexer.peek() {
            Some(b'@' | b'%' | b'&') => self.path(key, self.lexer.at, true),
            Some(b'(') => {
                self.lexer.at += 1;
                self.my_variable()?;
                self.lexer.expect(b'=', "`=`")?;
                self.open(Shape::Scalar, b')', key, start)
            }
            None => Err(self.lexer.wrong(self.lexer.at, "what is referred to")),
            _ => self.open(Shape::Ref, 0, key, start),
        }
    }

    /// Reads `my $o`. Returns the name.
    fn my_variable(&mut self) -> Result<Vec<u8>, Error> {
        self.lexer.skip();
        if !self.lexer.take_word(b"my") {
            return Err(match self.lexer.is_cut_off(self.lexer.at, &[b"my "]) {
                true => self.lexer.wrong(self.lexer.input.len(), "`my $o`"),
                false => self.lexer.code(self.lexer.at, "something else than `my $o`"),
            });
        }
        self.lexer.expect(b'$', "`$o`")?;
        let name = self.lexer.word_at(self.lexer.at);
        if name.is_empty() {
            return Err(self.lexer.wrong(self.lexer.at, "a name"));
        }
        self.lexer.at += name.len();
        Ok(name.to_vec())
    }

    // -- Words ---------------------------------------------------------------

    fn word(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let negative = self.lexer.peek() == Some(b'-');
        let word = self.lexer.name_at(start + usize::from(negative));
        let end = start + usize::from(negative) + word.len();
        let mut behind = self.lexer;
        behind.at = end;
        behind.skip();
        if behind.rest().starts_with(b"=>") {
            self.lexer.at = end;
            let node = self.sink.tape().borrowed(Kind::Bytes, start, end - start);
            self.leaf(node, key, start);
            return Ok(());
        }
        if negative {
            return Err(self.lexer.code(start, "the operator `-`"));
        }
        if word.first() == Some(&b'v')
            && let Some((from, to)) = self.lexer.v_string()
        {
            return self.v_string(key, start, from, to);
        }
        if end == self.lexer.input.len() && self.lexer.is_cut_off(start, WORDS) {
            return Err(self.lexer.wrong(end, "a value"));
        }
        self.lexer.at = end;
        match word {
            b"undef" => {
                if behind.rest().starts_with(b"()") {
                    self.lexer.at = behind.at + 2;
                }
                self.leaf(Node::leaf(Kind::Null, 0), key, start);
                Ok(())
            }
            b"bless" => {
                self.lexer.expect(b'(', "`(` after `bless`")?;
                self.open(Shape::Bless, b')', key, start)
            }
            b"do" => self.do_block(key, start),
            b"qr" => {
                self.before_delimiter();
                let (pattern, flags) = regexp(&mut self.lexer)?;
                let tape = self.sink.tape();
                let parts = [tape.owned(Kind::Bytes, &pattern), tape.owned(Kind::Bytes, &flags)];
                self.pair_of(Kind::Regexp, parts, key, start);
                Ok(())
            }
            b"q" | b"qq" => {
                self.before_delimiter();
                self.string(key, start, |strings, lexer| strings.delimited(lexer, word == b"qq"))
            }
            b"sub" => self.sub(key, start),
            _ => self.other_word(word, key, start),
        }
    }

    /// Skips blanks before the delimiter of `q`, `qq` or `qr`.
    fn before_delimiter(&mut self) {
        // Directly after the word, `#` is a delimiter; after blanks it begins a comment.
        if self.lexer.peek() != Some(b'#') {
            self.lexer.skip();
        }
    }

    /// Reads `do{\(my $o = X)}`, `do{my $o}`, `do{my $o = '…'; qr/$o/}` or `do{package
    /// Icecore::None; v65}`.
    fn do_block(&mut self, key: u16, start: usize) -> Result<(), Error> {
        self.lexer.skip();
        match self.lexer.peek() {
            Some(b'{') => self.lexer.at += 1,
            None => return Err(self.lexer.wrong(self.lexer.at, "`{` after `do`")),
            Some(_) => return Err(self.lexer.code(start, "`do` with a file")),
        }
        self.lexer.skip();
        if self.lexer.peek() == Some(b'\\') {
            self.lexer.at += 1;
            self.lexer.expect(b'(', "`(`")?;
            self.my_variable()?;
            self.lexer.expect(b'=', "`=`")?;
            return self.open(Shape::Do, b')', key, start);
        }
        if self.lexer.peek() == Some(b'p') {
            return self.v_string_in_package(key, start);
        }
        let name = self.my_variable()?;
        self.lexer.skip();
        if self.lexer.peek() == Some(b'=') {
            self.lexer.at += 1;
            return self.regexp_of_variable(&name, key, start);
        }
        self.lexer.expect(b'}', "`}`")?;
        self.leaf(Node::leaf(Kind::Null, 0), key, start);
        Ok(())
    }

    /// Reads `package Icecore::None; v65}`: a v-string that could be the name of a function
    /// elsewhere.
    fn v_string_in_package(&mut self, key: u16, start: usize) -> Result<(), Error> {
        if !self.lexer.take(NO_FUNCTIONS) {
            return Err(match NO_FUNCTIONS.starts_with(self.lexer.rest()) {
                true => self.lexer.wrong(self.lexer.input.len(), "a v-string"),
                false => self.lexer.code(start, "a block of code"),
            });
        }
        let at = self.lexer.at;
        let Some((from, to)) = self.lexer.v_string().filter(|_| self.lexer.byte(at) == Some(b'v')) else {
            return Err(match b"v".starts_with(self.lexer.slice(at, self.lexer.input.len())) {
                true => self.lexer.wrong(self.lexer.input.len(), "a v-string"),
                false => self.lexer.code(start, "a block of code"),
            });
        };
        if to == self.lexer.input.len() {
            return Err(self.lexer.wrong(to, "`}`"));
        }
        self.v_string(key, at, from, to)?;
        self.lexer.expect(b'}', "`}`")
    }

    /// Reads `'…'; qr/$o/i}`: a pattern in which perl must not find variables.
    fn regexp_of_variable(&mut self, name: &[u8], key: u16, start: usize) -> Result<(), Error> {
        self.lexer.skip();
        if self.lexer.peek().is_some_and(|byte| !matches!(byte, b'\'' | b'"')) {
            return Err(self.lexer.code(start, "a block of code"));
        }
        let text = Strings { tape: self.sink.tape(), limits: self.limits }.quoted(&mut self.lexer)?;
        self.lexer.expect(b';', "`;`")?;
        self.lexer.skip();
        let regexp = [b"qr/$", name, b"/"].concat();
        if !self.lexer.take(&regexp) {
            return Err(match regexp.starts_with(self.lexer.rest()) {
                true => self.lexer.wrong(self.lexer.input.len(), "a regular expression of the variable"),
                false => self.lexer.code(start, "a block of code"),
            });
        }
        let flags = regexp_flags(&mut self.lexer)?;
        self.lexer.expect(b'}', "`}`")?;
        let tape = self.sink.tape();
        let parts = [text.node(tape), tape.owned(Kind::Bytes, &flags)];
        self.pair_of(Kind::Regexp, parts, key, start);
        Ok(())
    }

    /// Reads `sub { "DUMMY" }`.
    fn sub(&mut self, key: u16, start: usize) -> Result<(), Error> {
        let mut all_there = true;
        for piece in [&b"{"[..], b"\"DUMMY\"", b"}"] {
            self.lexer.skip();
            if !self.lexer.take(piece) {
                all_there = false;
                break;
            }
        }
        if !all_there {
            let rest = self.lexer.rest();
            return Err(match [&b"{"[..], b"\"DUMMY\"", b"}"].iter().any(|piece| piece.starts_with(rest)) {
                true => self.lexer.wrong(self.lexer.input.len(), "`sub { \"DUMMY\" }`"),
                false => self.lexer.code_that(
                    start,
                    "the code of a sub",
                    "without Deparse, Data::Dumper writes `sub { \"DUMMY\" }`",
                ),
            });
        }
        let at = self.sink.tape().push(Node { key, ..Node::open(Kind::Code, 0) });
        self.sink.begin(at, start);
        self.piece(start, at, "value");
        let text = self.sink.tape().owned(Kind::Bytes, b"{ \"DUMMY\" }");
        let child = self.sink.tape().push(text);
        self.sink.begin(child, start);
        self.ends(child);
        self.sink.tape().close(at, 1);
        self.ends(at);
        Ok(())
    }

    /// Reads a call that blesses under another name, or reports code.
    fn other_word(&mut self, word: &[u8], key: u16, start: usize) -> Result<(), Error> {
        let shown = String::from_utf8_lossy(word).into_owned();
        let rest = self.lexer.rest();
        if rest.starts_with(b"( ") && matches!(rest.get(2), Some(b'[' | b'{' | b'\\' | b'd' | b'q' | b's')) {
            self.lexer.at += 1;
            return self.open(Shape::Call, b')', key, start);
        }
        let mut behind = self.lexer;
        behind.skip();
        Err(match behind.peek() {
            None => self.lexer.wrong(self.lexer.input.len(), "a value"),
            Some(_) if matches!(behind.rest(), b":" | b"(" | b"( ") => {
                self.lexer.wrong(self.lexer.input.len(), "a value")
            }
            Some(b'(') => self.lexer.code(start, format_args!("`{shown}(`, a call")),
            _ => self.lexer.code(start, format_args!("`{shown}`")),
        })
    }

    // -- Behind a value --------------------------------------------------------

    /// Reads the end of a construct around a value.
    pub(super) fn wrapped(&mut self, frame: &Frame) -> Result<(), Error> {
        match frame.shape {
            Shape::Scalar => self.tail(frame, |machine| machine.lexer.expect(b')', "`)`"))?,
            Shape::Do => self.tail(frame, |machine| {
                machine.lexer.expect(b')', "`)`")?;
                machine.lexer.expect(b'}', "`}`")
            })?,
            Shape::Bless => self.class(frame)?,
            Shape::Call => self.class(frame).map_err(|error| match error.kind() {
                ErrorKind::Truncated => error,
                _ => self.call(frame),
            })?,
            _ => {}
        }
        self.close();
        Ok(())
    }

    #[cold]
    fn call(&self, frame: &Frame) -> Error {
        let name = String::from_utf8_lossy(self.lexer.name_at(frame.start)).into_owned();
        self.lexer.code(frame.start, format_args!("`{name}(`, a call"))
    }

    fn tail(&mut self, frame: &Frame, read: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.lexer.skip();
        let start = self.lexer.at;
        read(self)?;
        self.piece(start, frame.at, "end");
        Ok(())
    }

    /// Reads `, 'C' )`.
    fn class(&mut self, frame: &Frame) -> Result<(), Error> {
        self.lexer.skip();
        if self.lexer.peek() == Some(b')') {
            return Err(self.lexer.code(frame.start, "`bless` without a class"));
        }
        self.lexer.expect(b',', "`,` and a class")?;
        self.lexer.skip();
        let start = self.lexer.at;
        if matches!(self.lexer.peek(), Some(byte) if byte != b'\'' && byte != b'"') {
            return Err(self.lexer.code(start, "a class that is not a string"));
        }
        let len = self.sink.tape().arena.len();
        let text = Strings { tape: self.sink.tape(), limits: self.limits }.quoted(&mut self.lexer)?;
        let name = text.bytes(self.sink.tape(), self.lexer.input).to_vec();
        self.sink.tape().arena.truncate(len);
        self.piece(start, frame.at, "class");
        let class = self.sink.tape().intern_class(Kind::Bytes, &name).map_err(|error| error.at(start))?;
        let body = self.sink.nodes().get(frame.at as usize + 1).copied().unwrap_or(Node::leaf(Kind::Null, 0));
        let is_path = self.jobs.last().is_some_and(|job| job.node == frame.at + 1);
        if is_path {
            return Err(self.lexer.code(frame.start, "a reference that is blessed where it stands again"));
        }
        if body.kind == Kind::Object {
            return Err(self.lexer.code(frame.start, "an object that is blessed again"));
        }
        if !body.kind.is_container() || body.kind == Kind::VString {
            return Err(self.malformed(frame.start, "a reference that is blessed", "another value"));
        }
        if frame.shape == Shape::Call {
            let is_name = name.iter().all(|byte| is_word(*byte) || matches!(byte, b':' | b'\''));
            if b" )".starts_with(self.lexer.rest()) && self.lexer.rest().len() < 2 {
                return Err(self.lexer.wrong(self.lexer.input.len(), "` )`"));
            }
            if !is_name || name.is_empty() || !self.lexer.rest().starts_with(b" )") {
                return Err(self.call(frame));
            }
            if S::DETAIL {
                let name = self.lexer.name_at(frame.start);
                self.layout.blesses(name);
            }
        }
        self.tail(frame, |machine| {
            if machine.lexer.peek() == Some(b',') {
                machine.lexer.at += 1;
            }
            machine.lexer.expect(b')', "`)`")
        })?;
        self.sink.tape().set_class(frame.at, class);
        Ok(())
    }
}
