//! Statements: `$VAR1 = …;`, a bare value, and assignments that complete earlier
//! values.

use super::Machine;
use super::frames::Construct;
use super::heap::{PendingPath, Root};
use super::path::{PathStep, PathSteps, read_glob_name};
use crate::document::{NO_KEY, NO_NODE, Sink};
use crate::error::Error;

/// Whether another statement may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Continuation {
    More,
    End,
}

impl<'a, S: Sink> Machine<'a, '_, S> {
    /// Reads everything that belongs to one document.
    pub(super) fn read_document(&mut self) -> Result<(), Error> {
        if self.lexer.rest().starts_with(b"\xef\xbb\xbf") {
            self.lexer.position += 3;
        }
        self.lexer.skip_pad();
        loop {
            self.lexer.skip_blanks();
            self.cover_gap(self.lexer.position);
            if self.lexer.peek().is_none() {
                return match self.roots.is_empty() {
                    true => Err(self.lexer.syntax_error(self.lexer.position, "a value")),
                    false => Ok(()),
                };
            }
            if self.read_statement()? == Continuation::End {
                self.cover_gap(self.lexer.position);
                return Ok(());
            }
        }
    }

    fn read_statement(&mut self) -> Result<Continuation, Error> {
        if self.is_at_data_section() {
            self.lexer.position = self.lexer.input.len();
            self.record_unowned_piece(self.lexer.position, "behind");
            return Ok(Continuation::End);
        }
        if self.read_pragma()? {
            return Ok(Continuation::More);
        }
        match self.lexer.peek() {
            Some(b'1') if self.take_final_one() => Ok(Continuation::End),
            Some(b';' | b'$' | b'@' | b'%') if self.take_final_variable() => Ok(Continuation::End),
            Some(sigil @ (b'$' | b'@' | b'%')) => self.read_assignment(sigil),
            Some(b'm' | b'o' | b'l') if self.take_declarator() => {
                self.lexer.skip_blanks();
                match self.lexer.peek() {
                    Some(sigil @ (b'$' | b'@' | b'%')) => self.read_assignment(sigil),
                    Some(b'(') => Err(self.lexer.code_error(self.lexer.position, "a list of variables")),
                    _ => Err(self.lexer.syntax_error(self.lexer.position, "a variable")),
                }
            }
            Some(b'*') => self.read_glob_statement(),
            _ if !self.roots.is_empty() => match self.is_bare() {
                // A second value without a name begins another document.
                true => Ok(Continuation::End),
                false => Err(self.other_statement_error()),
            },
            _ => self.read_bare_value(),
        }
    }

    /// Returns the error for anything other than an assignment after assignments.
    #[cold]
    fn other_statement_error(&self) -> Error {
        match self.lexer.peek() {
            Some(byte) if super::lex::is_word_start(byte) => {
                let word = String::from_utf8_lossy(self.lexer.name_at(self.lexer.position)).into_owned();
                self.lexer.code_error(self.lexer.position, format_args!("`{word}`"))
            }
            _ => self.lexer.unexpected_token_error("another variable or the end of the input"),
        }
    }

    /// Returns `true` if `__END__` or `__DATA__` is here.
    fn is_at_data_section(&self) -> bool {
        !self.roots.is_empty() && matches!(self.lexer.word_at(self.lexer.position), b"__END__" | b"__DATA__")
    }

    /// Reads `use strict;` and similar lines, which determine how a text is read.
    fn read_pragma(&mut self) -> Result<bool, Error> {
        let start = self.lexer.position;
        if !matches!(self.lexer.word_at(start), b"use" | b"no") || self.lexer.byte_at(start + 3) == Some(b'=') {
            return Ok(false);
        }
        self.lexer.position += self.lexer.word_at(start).len();
        self.lexer.skip_blanks();
        let name = self.lexer.word_at(self.lexer.position);
        self.lexer.position += name.len();
        self.lexer.skip_blanks();
        if self.lexer.peek() == Some(b';') && matches!(name, b"strict" | b"warnings" | b"utf8") {
            self.lexer.utf8 |= name == b"utf8";
            self.lexer.position += 1;
            self.record_unowned_piece(start, "pragma");
            return Ok(true);
        }
        Err(match self.lexer.peek() {
            None => self.lexer.syntax_error(self.lexer.position, "`;`"),
            Some(_) => self.lexer.code_error(start, format_args!("`use {}`", String::from_utf8_lossy(name))),
        })
    }

    /// Consumes `my`, `our` or `local`, if it is here.
    fn take_declarator(&mut self) -> bool {
        self.lexer.take_word(b"my") || self.lexer.take_word(b"our") || self.lexer.take_word(b"local")
    }

    /// Consumes the `1;` at the end of a file that perl loads.
    fn take_final_one(&mut self) -> bool {
        if self.roots.is_empty() {
            return false;
        }
        let mut lookahead = self.lexer;
        lookahead.position += 1;
        lookahead.skip_blanks();
        if lookahead.peek() == Some(b';') {
            lookahead.position += 1;
            lookahead.skip_blanks();
        }
        let is_end =
            lookahead.peek().is_none() || matches!(lookahead.word_at(lookahead.position), b"__END__" | b"__DATA__");
        if is_end {
            let start = self.lexer.position;
            self.lexer.position = lookahead.input.len();
            self.record_unowned_piece(start, "behind");
        }
        is_end
    }

    /// Consumes the name of the only value at the end of the text, as in `$D = {…};;$D` of CGI::Session.
    fn take_final_variable(&mut self) -> bool {
        let [root] = &self.roots[..] else { return false };
        let mut lookahead = self.lexer;
        if lookahead.peek() == Some(b';') {
            lookahead.position += 1;
            lookahead.skip_blanks();
        }
        if root.sigil == 0 || lookahead.peek() != Some(root.sigil) {
            return false;
        }
        lookahead.position += 1;
        if lookahead.name_at(lookahead.position) != root.name {
            return false;
        }
        lookahead.position += root.name.len();
        lookahead.skip_blanks();
        if lookahead.peek() == Some(b';') {
            lookahead.position += 1;
            lookahead.skip_blanks();
        }
        if lookahead.peek().is_some() {
            return false;
        }
        let start = self.lexer.position;
        self.lexer.position = lookahead.position;
        self.record_unowned_piece(start, "result");
        self.layout.observe_result();
        true
    }

    // -- Assignments -----------------------------------------------------------

    /// Reads `$name = X;` or `$name->[0] = X;`.
    fn read_assignment(&mut self, sigil: u8) -> Result<Continuation, Error> {
        let start = self.lexer.position;
        let mut steps = PathSteps::new(self.lexer);
        let first = steps.next(self.sink.tape(), self.limits);
        let mut is_path = false;
        let result = loop {
            match steps.next(self.sink.tape(), self.limits) {
                Ok(Some(_)) => is_path = true,
                result => break result,
            }
        };
        self.lexer.position = steps.lexer.position;
        let first = first?;
        result?;
        let name = match first {
            Some(PathStep::Name(_, name)) if !is_path => name,
            _ => {
                self.expect_equals_sign()?;
                self.record_unowned_piece(start, "path");
                self.lexer.skip_blanks();
                let node = self.sink.tape().len();
                self.has_repairs = true;
                self.read_value()?;
                self.pending_paths.push(PendingPath { offset: start, node, is_referenced: false, is_statement: true });
                return self.read_statement_end();
            }
        };
        if self.is_bare() || self.names.contains(&(sigil, name)) {
            // The next text begins here.
            self.lexer.position = start;
            return Ok(Continuation::End);
        }
        self.expect_equals_sign()?;
        self.begin_root(sigil, name, Vec::new(), start);
        self.lexer.skip_blanks();
        let list_start = self.lexer.position;
        match (sigil, self.lexer.peek()) {
            (b'$', _) => self.read_value()?,
            (_, Some(b'(')) => {
                self.lexer.position += 1;
                let construct = if sigil == b'@' { Construct::Array } else { Construct::Map };
                self.open_frame(construct, b')', NO_KEY, list_start)?;
                self.read_rest_of_value()?;
            }
            // `@a = @{$VAR1->[0]};`: the same array again.
            (_, Some(b'@' | b'%')) => self.read_path(NO_KEY, list_start, true)?,
            _ => return Err(self.lexer.unexpected_token_error("`(`")),
        }
        self.read_statement_end()
    }

    /// Reads `*name = X;`, or the value `*name`.
    fn read_glob_statement(&mut self) -> Result<Continuation, Error> {
        let start = self.lexer.position;
        let glob = read_glob_name(&mut self.lexer, self.sink.tape(), self.limits)?;
        let input = self.lexer.input;
        let name = &input[start + 1..self.lexer.position];
        let mut lookahead = self.lexer;
        lookahead.skip_blanks();
        if lookahead.peek() != Some(b'=') {
            self.lexer.position = start;
            return if self.roots.is_empty() {
                self.read_bare_value()
            } else {
                Err(self.lexer.code_error(start, "a glob"))
            };
        }
        if self.is_bare() {
            self.lexer.position = start;
            return Ok(Continuation::End);
        }
        self.expect_equals_sign()?;
        self.begin_root(b'*', name, glob, start);
        self.read_value()?;
        self.read_statement_end()
    }

    /// Consumes the `=` of an assignment.
    fn expect_equals_sign(&mut self) -> Result<(), Error> {
        self.lexer.skip_blanks();
        match self.lexer.rest() {
            [b'=', b'=' | b'~' | b'>', ..] => Err(self.lexer.unexpected_token_error("`=`")),
            [b'=', ..] => {
                self.lexer.position += 1;
                Ok(())
            }
            _ => Err(self.lexer.unexpected_token_error("`=`")),
        }
    }

    /// Begins a value with this name.
    fn begin_root(&mut self, sigil: u8, name: &'a [u8], glob: Vec<u8>, start: usize) {
        let node = self.sink.tape().len();
        self.sink.tape().root = node;
        self.record_unowned_piece(start, "name");
        if sigil != 0 {
            self.names.insert((sigil, name));
        }
        self.roots.push(Root { sigil, name, glob, node });
    }

    /// Returns `true` if the value of this document has no name. Such a value is the only one of its document.
    fn is_bare(&self) -> bool {
        self.roots.first().is_some_and(|root| root.sigil == 0)
    }

    /// Consumes `;`; only the end of the input may replace it.
    fn read_statement_end(&mut self) -> Result<Continuation, Error> {
        let end = self.lexer.position;
        self.lexer.skip_blanks();
        match self.lexer.peek() {
            Some(b';') => {
                self.lexer.position += 1;
                Ok(Continuation::More)
            }
            // The text may end after a bracket or a quote. After a number or a word, the text may be cut off in the
            // middle.
            None if self.lexer.byte_at(end.wrapping_sub(1)).is_some_and(|byte| b"]})'\"".contains(&byte)) => {
                Ok(Continuation::End)
            }
            _ => Err(self.lexer.unexpected_token_error("`;`")),
        }
    }

    // -- Bare values -------------------------------------------------------------

    /// Reads a value without a name, with or without `return`.
    fn read_bare_value(&mut self) -> Result<Continuation, Error> {
        let start = self.lexer.position;
        let mut returns = false;
        if self.lexer.word_at(start) == b"return" {
            self.lexer.position += b"return".len();
            self.lexer.skip_blanks();
            returns = true;
        }
        self.begin_root(0, &[], Vec::new(), start);
        let list_start = self.lexer.position;
        if self.lexer.peek() == Some(b'(') {
            self.lexer.position += 1;
            let construct = if self.begins_pairs() { Construct::Map } else { Construct::Array };
            self.open_frame(construct, b')', NO_KEY, list_start)?;
            self.read_rest_of_value()?;
        } else {
            self.read_value()?;
        }
        self.lexer.skip_blanks();
        match self.lexer.peek() {
            Some(b';') => {
                self.lexer.position += 1;
                Ok(Continuation::More)
            }
            None => Ok(Continuation::End),
            _ if returns => Err(self.lexer.unexpected_token_error("`;`")),
            Some(b'\'' | b'"' | b'[' | b'{' | b'(' | b'\\' | b'$' | b'%' | b'@' | b'*' | b'!') => Ok(Continuation::End),
            Some(b'-') if matches!(self.lexer.byte_at(self.lexer.position + 1), Some(b'0'..=b'9')) => {
                Ok(Continuation::End)
            }
            Some(byte) if super::lex::is_word_byte(byte) && !self.lexer.is_at_operator() => Ok(Continuation::End),
            _ => Err(self.lexer.unexpected_token_error("`;` or the end of the input")),
        }
    }

    /// Returns `true` if the list in brackets that begins here consists of keys and values.
    fn begins_pairs(&mut self) -> bool {
        let (lexer, arena) = (self.lexer, self.sink.tape().arena.len());
        self.lexer.skip_blanks();
        let start = self.lexer.position;
        let is_key = match self.lexer.peek() {
            Some(b'\'' | b'"') => {
                let strings = &mut super::string::Strings { tape: self.sink.tape(), limits: self.limits };
                strings.read_quoted(&mut self.lexer).is_ok()
            }
            Some(byte) if super::lex::is_word_byte(byte) || byte == b'-' => {
                self.lexer.position += usize::from(byte == b'-');
                self.lexer.position += self.lexer.name_at(self.lexer.position).len();
                self.lexer.position > start
            }
            _ => false,
        };
        self.lexer.skip_blanks();
        let rest = self.lexer.rest();
        let is_pair = if self.pair.is_empty() {
            rest.starts_with(b"=>") || rest.first() == Some(&b':')
        } else {
            rest.starts_with(&self.pair)
        };
        self.lexer = lexer;
        self.sink.tape().arena.truncate(arena);
        is_key && is_pair
    }

    fn record_unowned_piece(&mut self, start: usize, name: &'static str) {
        self.record_piece(start, NO_NODE, name);
    }
}
