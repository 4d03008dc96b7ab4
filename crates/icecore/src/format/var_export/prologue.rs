//! The text before the value: `<?php`, statements that only protect a file, and `return` or `$NAME =`.

use super::lex::Lexer;
use crate::error::Error;

/// What precedes the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prologue {
    /// The text is not a file.
    None,
    /// `<?php return`
    Return,
    /// `<?php $NAME =`
    Assignment,
}

impl Lexer<'_> {
    /// Reads the text before the value. It is cold, so that the lexer's functions are inlined where values are read.
    #[cold]
    pub(super) fn read_prologue(&mut self) -> Result<Prologue, Error> {
        if self.input.starts_with(b"\xef\xbb\xbf") {
            self.offset = 3;
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.offset += 1;
        }
        let is_file = self.rest().get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<?php"));
        if is_file {
            self.offset += 5;
            // Without one of these, PHP sees no tag: it prints the text, up to the next tag in
            // it.
            if self.peek().is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                return Err(self.unexpected_byte_error(self.offset, "a blank after `<?php`"));
            }
        } else if self.peek() == Some(b'<') && b"<?php".starts_with(self.rest()) {
            return Err(self.unexpected_byte_error(self.input.len(), "`<?php`"));
        }
        self.skip_blanks()?;
        if !is_file {
            self.take_word(b"return");
            self.skip_blanks()?;
            return Ok(Prologue::None);
        }
        while self.take_word(b"declare") {
            self.read_declaration()?;
        }
        while self.skip_guard()? {}
        let prologue = if self.take_word(b"return") {
            Prologue::Return
        } else if self.skip_assignment()? {
            Prologue::Assignment
        } else {
            return Err(self.statement_error());
        };
        self.skip_blanks()?;
        Ok(prologue)
    }

    /// Returns the error for a statement other than `return` and the assignment of a literal.
    fn statement_error(&self) -> Error {
        let start = self.offset;
        let word = self.word_at(start);
        match self.byte_at(start + word.len()) {
            Some(_) if !word.is_empty() => {
                self.code_error(start, format_args!("`{}` and not `return`", String::from_utf8_lossy(word)))
            }
            Some(b'$') => self.code_error(start, "a variable"),
            Some(_) => self.unexpected_byte_error(start, "`return`"),
            None => self.unexpected_byte_error(self.input.len(), "`return`"),
        }
    }

    /// Reads `declare(strict_types=1);`.
    fn read_declaration(&mut self) -> Result<(), Error> {
        self.expect_byte(b'(', "`(` after `declare`")?;
        self.skip_blanks()?;
        let start = self.offset;
        if !self.take_word(b"strict_types") {
            let word = self.word_at(start);
            return Err(match self.byte_at(start + word.len()) {
                Some(_) if !word.is_empty() => self.code_error(start, "a declaration other than `strict_types`"),
                Some(_) => self.unexpected_byte_error(start, "`strict_types`"),
                None => self.unexpected_byte_error(self.input.len(), "`strict_types`"),
            });
        }
        self.expect_byte(b'=', "`=` after `strict_types`")?;
        self.skip_blanks()?;
        if !matches!(self.word_at(self.offset), b"0" | b"1") {
            return Err(self.unexpected_byte_error(self.offset, "0 or 1"));
        }
        self.offset += 1;
        self.expect_byte(b')', "`)` after the declaration")?;
        self.expect_byte(b';', "`;` after the declaration")?;
        self.skip_blanks()
    }

    /// Skips a statement that ends the file unless a constant is defined, as programs write it so that a web server
    /// does not run the file alone: `defined('X') or die();` or `if (!defined('X')) exit;`. Returns `false`, and skips
    /// nothing, if there is another statement.
    fn skip_guard(&mut self) -> Result<bool, Error> {
        let start = self.offset;
        if self.skip_guard_tokens()?.is_some() {
            self.skip_blanks()?;
            return Ok(true);
        }
        self.offset = start;
        Ok(false)
    }

    /// Skips the tokens of a guard; `None` if there is another token.
    #[cold]
    fn skip_guard_tokens(&mut self) -> Result<Option<()>, Error> {
        let has_if = self.take_word(b"if");
        if has_if && !(self.take_token(b"(")? && self.take_token(b"!")?) {
            return Ok(None);
        }
        self.skip_blanks()?;
        if !(self.take_word(b"defined") && self.take_token(b"(")? && self.take_string()? && self.take_token(b")")?) {
            return Ok(None);
        }
        let has_braces = if has_if {
            if !self.take_token(b")")? {
                return Ok(None);
            }
            self.take_token(b"{")?
        } else {
            self.skip_blanks()?;
            if !self.take_word(b"or") && !self.take_token(b"||")? {
                return Ok(None);
            }
            false
        };
        self.skip_blanks()?;
        let has_end = self.take_word(b"die") || self.take_word(b"exit") || has_if && self.take_word(b"return");
        if !has_end
            || self.take_token(b"(")?
                && !{
                    self.take_string()?;
                    self.take_token(b")")?
                }
        {
            return Ok(None);
        }
        let is_closed = self.take_token(b";")? && (!has_braces || self.take_token(b"}")?);
        Ok(is_closed.then_some(()))
    }

    /// Skips `$NAME =` before a literal. Returns `false`, and skips nothing, if there is another statement.
    fn skip_assignment(&mut self) -> Result<bool, Error> {
        let start = self.offset;
        if self.take_token(b"$")? {
            let name = self.word_at(self.offset).len();
            self.offset += name;
            self.skip_blanks()?;
            let is_assignment = name > 0 && self.peek() == Some(b'=') && self.byte_at(self.offset + 1) != Some(b'=');
            if is_assignment {
                self.offset += 1;
                return Ok(true);
            }
        }
        self.offset = start;
        Ok(false)
    }

    /// Consumes this token after blanks, if it is here.
    fn take_token(&mut self, token: &[u8]) -> Result<bool, Error> {
        self.skip_blanks()?;
        let is_match = self.rest().starts_with(token);
        self.offset += if is_match { token.len() } else { 0 };
        Ok(is_match)
    }

    /// Consumes a string without escapes after blanks, if it is here.
    fn take_string(&mut self) -> Result<bool, Error> {
        self.skip_blanks()?;
        let Some((quote @ (b'\'' | b'"'), text)) = self.rest().split_first() else { return Ok(false) };
        let Some(len) = text.iter().position(|byte| byte == quote || *byte == b'\\') else { return Ok(false) };
        let is_closed = text.get(len) == Some(quote);
        self.offset += if is_closed { len + 2 } else { 0 };
        Ok(is_closed)
    }
}
