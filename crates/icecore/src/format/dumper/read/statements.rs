//! Statements: `$VAR1 = …;`, a bare value, and assignments that complete earlier
//! values.

use super::Machine;
use super::frames::Shape;
use super::heap::{PendingPath, Root};
use super::path::{Part, Parts, glob_name};
use crate::document::{NO_KEY, NO_NODE, Sink};
use crate::error::Error;

/// Whether another statement may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    More,
    End,
}

impl<'a, S: Sink> Machine<'a, '_, S> {
    /// Reads everything that belongs to one document.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        if self.lexer.rest().starts_with(b"\xef\xbb\xbf") {
            self.lexer.at += 3;
        }
        self.lexer.skip_pad();
        loop {
            self.lexer.skip();
            self.cover(self.lexer.at);
            if self.lexer.peek().is_none() {
                return match self.roots.is_empty() {
                    true => Err(self.lexer.wrong(self.lexer.at, "a value")),
                    false => Ok(()),
                };
            }
            if self.statement()? == After::End {
                self.cover(self.lexer.at);
                return Ok(());
            }
        }
    }

    fn statement(&mut self) -> Result<After, Error> {
        if self.at_data() {
            self.lexer.at = self.lexer.input.len();
            self.piece_of_none(self.lexer.at, "behind");
            return Ok(After::End);
        }
        if self.pragma()? {
            return Ok(After::More);
        }
        match self.lexer.peek() {
            Some(b'1') if self.is_last_word() => Ok(After::End),
            Some(sigil @ (b'$' | b'@' | b'%')) => self.assignment(sigil),
            Some(b'm' | b'o' | b'l') if self.declares() => {
                self.lexer.skip();
                match self.lexer.peek() {
                    Some(sigil @ (b'$' | b'@' | b'%')) => self.assignment(sigil),
                    Some(b'(') => Err(self.lexer.code(self.lexer.at, "a list of variables")),
                    _ => Err(self.lexer.wrong(self.lexer.at, "a variable")),
                }
            }
            Some(b'*') => self.glob_statement(),
            _ if !self.roots.is_empty() => match self.is_bare() {
                // Another document.
                true => Ok(After::End),
                false => Err(self.other_statement()),
            },
            _ => self.bare(),
        }
    }

    /// Error for anything other than an assignment after assignments.
    #[cold]
    fn other_statement(&self) -> Error {
        match self.lexer.peek() {
            Some(byte) if super::lex::is_word_start(byte) => {
                let word = String::from_utf8_lossy(self.lexer.name_at(self.lexer.at)).into_owned();
                self.lexer.code(self.lexer.at, format_args!("`{word}`"))
            }
            _ => self.lexer.unexpected("another variable or the end of the input"),
        }
    }

    /// Whether `__END__` or `__DATA__` is here.
    fn at_data(&self) -> bool {
        !self.roots.is_empty() && matches!(self.lexer.word_at(self.lexer.at), b"__END__" | b"__DATA__")
    }

    /// Reads `use strict;` and similar lines, which determine how a text is read.
    fn pragma(&mut self) -> Result<bool, Error> {
        let start = self.lexer.at;
        if !matches!(self.lexer.word_at(start), b"use" | b"no") || self.lexer.byte(start + 3) == Some(b'=') {
            return Ok(false);
        }
        self.lexer.at += self.lexer.word_at(start).len();
        self.lexer.skip();
        let name = self.lexer.word_at(self.lexer.at);
        self.lexer.at += name.len();
        self.lexer.skip();
        if self.lexer.peek() == Some(b';') && matches!(name, b"strict" | b"warnings" | b"utf8") {
            self.lexer.utf8 |= name == b"utf8";
            self.lexer.at += 1;
            self.piece_of_none(start, "pragma");
            return Ok(true);
        }
        Err(match self.lexer.peek() {
            None => self.lexer.wrong(self.lexer.at, "`;`"),
            Some(_) => self.lexer.code(start, format_args!("`use {}`", String::from_utf8_lossy(name))),
        })
    }

    /// Consumes `my`, `our` or `local`, if it is here.
    fn declares(&mut self) -> bool {
        self.lexer.take_word(b"my") || self.lexer.take_word(b"our") || self.lexer.take_word(b"local")
    }

    /// Consumes the `1;` at the end of a file that perl loads.
    fn is_last_word(&mut self) -> bool {
        if self.roots.is_empty() {
            return false;
        }
        let mut behind = self.lexer;
        behind.at += 1;
        behind.skip();
        if behind.peek() == Some(b';') {
            behind.at += 1;
            behind.skip();
        }
        let is_end = behind.peek().is_none() || matches!(behind.word_at(behind.at), b"__END__" | b"__DATA__");
        if is_end {
            let start = self.lexer.at;
            self.lexer.at = behind.input.len();
            self.piece_of_none(start, "behind");
        }
        is_end
    }

    // -- Assignments -----------------------------------------------------------

    /// Reads `$name = X;` or `$name->[0] = X;`.
    fn assignment(&mut self, sigil: u8) -> Result<After, Error> {
        let start = self.lexer.at;
        let mut parts = Parts::new(self.lexer);
        let first = parts.next(self.sink.tape(), self.limits);
        let mut is_path = false;
        let ended = loop {
            match parts.next(self.sink.tape(), self.limits) {
                Ok(Some(_)) => is_path = true,
                ended => break ended,
            }
        };
        self.lexer.at = parts.lexer.at;
        let first = first?;
        ended?;
        let name = match first {
            Some(Part::Name(_, name)) if !is_path => name,
            _ => {
                self.equals()?;
                self.piece_of_none(start, "path");
                self.lexer.skip();
                let node = self.sink.tape().len();
                self.repairs = true;
                self.value()?;
                self.jobs.push(PendingPath { at: start, node, referred: false, sets: true });
                return self.end_of_statement();
            }
        };
        if self.is_bare() || self.names.contains(&(sigil, name)) {
            // The next text begins here.
            self.lexer.at = start;
            return Ok(After::End);
        }
        self.equals()?;
        self.root(sigil, name, Vec::new(), start);
        self.lexer.skip();
        let list = self.lexer.at;
        match (sigil, self.lexer.peek()) {
            (b'$', _) => self.value()?,
            (_, Some(b'(')) => {
                self.lexer.at += 1;
                let shape = if sigil == b'@' { Shape::Array } else { Shape::Map };
                self.open(shape, b')', NO_KEY, list)?;
                self.rest_of_value()?;
            }
            // `@a = @{$VAR1->[0]};`: the same array again.
            (_, Some(b'@' | b'%')) => self.path(NO_KEY, list, true)?,
            _ => return Err(self.lexer.unexpected("`(`")),
        }
        self.end_of_statement()
    }

    /// Reads `*name = X;`, or the value `*name`.
    fn glob_statement(&mut self) -> Result<After, Error> {
        let start = self.lexer.at;
        let glob = glob_name(&mut self.lexer, self.sink.tape(), self.limits)?;
        let input = self.lexer.input;
        let name = &input[start + 1..self.lexer.at];
        let mut behind = self.lexer;
        behind.skip();
        if behind.peek() != Some(b'=') {
            self.lexer.at = start;
            return if self.roots.is_empty() { self.bare() } else { Err(self.lexer.code(start, "a glob")) };
        }
        if self.is_bare() {
            self.lexer.at = start;
            return Ok(After::End);
        }
        self.equals()?;
        self.root(b'*', name, glob, start);
        self.value()?;
        self.end_of_statement()
    }

    /// Consumes the `=` of an assignment.
    fn equals(&mut self) -> Result<(), Error> {
        self.lexer.skip();
        match self.lexer.rest() {
            [b'=', b'=' | b'~' | b'>', ..] => Err(self.lexer.unexpected("`=`")),
            [b'=', ..] => {
                self.lexer.at += 1;
                Ok(())
            }
            _ => Err(self.lexer.unexpected("`=`")),
        }
    }

    /// Begins a value with this name.
    fn root(&mut self, sigil: u8, name: &'a [u8], glob: Vec<u8>, start: usize) {
        let node = self.sink.tape().len();
        self.sink.tape().root = node;
        self.piece_of_none(start, "name");
        if sigil != 0 {
            self.names.insert((sigil, name));
        }
        self.roots.push(Root { sigil, name, glob, node });
    }

    /// Whether the value has no name: then it is the only one.
    fn is_bare(&self) -> bool {
        self.roots.first().is_some_and(|root| root.sigil == 0)
    }

    /// Consumes `;`; only the end of the input may replace it.
    fn end_of_statement(&mut self) -> Result<After, Error> {
        let end = self.lexer.at;
        self.lexer.skip();
        match self.lexer.peek() {
            Some(b';') => {
                self.lexer.at += 1;
                Ok(After::More)
            }
            // A number or a word might continue.
            None if self.lexer.byte(end.wrapping_sub(1)).is_some_and(|byte| b"]})'\"".contains(&byte)) => {
                Ok(After::End)
            }
            _ => Err(self.lexer.unexpected("`;`")),
        }
    }

    // -- Bare values -------------------------------------------------------------

    /// Reads a value without a name, with or without `return`.
    fn bare(&mut self) -> Result<After, Error> {
        let start = self.lexer.at;
        let mut returns = false;
        if self.lexer.word_at(start) == b"return" {
            self.lexer.at += b"return".len();
            self.lexer.skip();
            returns = true;
        }
        self.root(0, &[], Vec::new(), start);
        let list = self.lexer.at;
        if self.lexer.peek() == Some(b'(') {
            self.lexer.at += 1;
            let shape = if self.begins_pairs() { Shape::Map } else { Shape::Array };
            self.open(shape, b')', NO_KEY, list)?;
            self.rest_of_value()?;
        } else {
            self.value()?;
        }
        self.lexer.skip();
        match self.lexer.peek() {
            Some(b';') => {
                self.lexer.at += 1;
                Ok(After::More)
            }
            None => Ok(After::End),
            _ if returns => Err(self.lexer.unexpected("`;`")),
            Some(b'\'' | b'"' | b'[' | b'{' | b'(' | b'\\' | b'$' | b'%' | b'@' | b'*' | b'!') => Ok(After::End),
            Some(b'-') if matches!(self.lexer.byte(self.lexer.at + 1), Some(b'0'..=b'9')) => Ok(After::End),
            Some(byte) if super::lex::is_word(byte) && !self.lexer.is_operator() => Ok(After::End),
            _ => Err(self.lexer.unexpected("`;` or the end of the input")),
        }
    }

    /// Whether the list in brackets that begins here consists of keys and values.
    fn begins_pairs(&mut self) -> bool {
        let (lexer, arena) = (self.lexer, self.sink.tape().arena.len());
        self.lexer.skip();
        let start = self.lexer.at;
        let is_key = match self.lexer.peek() {
            Some(b'\'' | b'"') => {
                let strings = &mut super::string::Strings { tape: self.sink.tape(), limits: self.limits };
                strings.quoted(&mut self.lexer).is_ok()
            }
            Some(byte) if super::lex::is_word(byte) || byte == b'-' => {
                self.lexer.at += usize::from(byte == b'-');
                self.lexer.at += self.lexer.name_at(self.lexer.at).len();
                self.lexer.at > start
            }
            _ => false,
        };
        self.lexer.skip();
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

    fn piece_of_none(&mut self, start: usize, what: &'static str) {
        self.piece(start, NO_NODE, what);
    }
}
