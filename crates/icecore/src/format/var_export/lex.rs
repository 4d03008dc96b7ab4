//! The lexer of PHP text: tokens that need no context.

use crate::error::{Error, ErrorKind};
use crate::format::scan;
pub(super) use crate::format::scan::{is_word_byte, is_word_start};

/// The input and the position in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    pub(super) input: &'a [u8],
    pub(super) offset: usize,
}

impl<'a> Lexer<'a> {
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.input.get(self.offset).copied()
    }

    #[inline]
    pub(super) fn byte_at(&self, offset: usize) -> Option<u8> {
        self.input.get(offset).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.input.get(self.offset..).unwrap_or(&[])
    }

    // -- Errors -----------------------------------------------------------------

    /// Returns the error for an unexpected byte at `offset`.
    #[cold]
    pub(super) fn unexpected_byte_error(&self, offset: usize, expected: &'static str) -> Error {
        scan::unexpected_byte_error(self.input, offset, expected)
    }

    /// Returns the error for text at `offset` that PHP would have to run.
    #[cold]
    pub(super) fn code_error(&self, offset: usize, found: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::Unsupported)
            .at(offset)
            .expecting("a literal value")
            .finding(format!("{found}"))
            .helping("code is not run; let PHP evaluate it and export the result")
    }

    /// Returns the error for anything other than `expected` here: an operator is code.
    #[cold]
    pub(super) fn unexpected_token_error(&self, expected: &'static str) -> Error {
        match self.peek() {
            Some(byte @ (b'+' | b'-' | b'*' | b'/' | b'%' | b'.' | b'?' | b'|' | b'&' | b'^' | b'<' | b'>' | b'!')) => {
                self.code_error(self.offset, format_args!("the operator `{}`", char::from(byte)))
            }
            Some(b'=') if self.byte_at(self.offset + 1).is_none() => {
                self.unexpected_byte_error(self.offset + 1, "`=>`")
            }
            Some(b'=') if self.byte_at(self.offset + 1) != Some(b'>') => {
                self.code_error(self.offset, "the operator `=`")
            }
            Some(b'[' | b'(') => self.code_error(self.offset, "an access to the value before it"),
            _ => self.unexpected_byte_error(self.offset, expected),
        }
    }

    // -- Small pieces -------------------------------------------------------------

    /// Skips blanks and comments.
    #[inline]
    pub(super) fn skip_blanks(&mut self) -> Result<(), Error> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.offset += 1,
                Some(b'#' | b'/') if self.is_comment() => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    #[cold]
    fn is_comment(&self) -> bool {
        match self.rest() {
            [b'#', b'[', ..] => false,
            [b'#', ..] | [b'/', b'/' | b'*', ..] => true,
            _ => false,
        }
    }

    fn skip_comment(&mut self) -> Result<(), Error> {
        if self.byte_at(self.offset + 1) == Some(b'*') && self.peek() == Some(b'/') {
            let body = self.input.get(self.offset + 2..).unwrap_or(&[]);
            let Some(len) = body.windows(2).position(|pair| pair == b"*/") else {
                return Err(self.unexpected_byte_error(self.input.len(), "`*/` at the end of the comment"));
            };
            self.offset += len + 4;
            return Ok(());
        }
        // To the end of the line, or of the PHP part.
        while let Some(byte) = self.peek() {
            if byte == b'\n' || byte == b'\r' || self.rest().starts_with(b"?>") {
                break;
            }
            self.offset += 1;
        }
        Ok(())
    }

    pub(super) fn expect_byte(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        self.skip_blanks()?;
        if self.peek() != Some(byte) {
            return Err(self.unexpected_token_error(expected));
        }
        self.offset += 1;
        Ok(())
    }

    /// Consumes the comma, if it is here.
    pub(super) fn take_comma(&mut self) -> Result<bool, Error> {
        self.skip_blanks()?;
        let has_comma = self.peek() == Some(b',');
        self.offset += usize::from(has_comma);
        Ok(has_comma)
    }

    /// Returns the letters, digits and `_` from `offset` on.
    pub(super) fn word_at(&self, offset: usize) -> &'a [u8] {
        let rest = self.input.get(offset..).unwrap_or(&[]);
        let len = rest.iter().take_while(|byte| is_word_byte(**byte)).count();
        &rest[..len]
    }

    /// Consumes this word, in upper or lower case, if it is here.
    pub(super) fn take_word(&mut self, word: &[u8]) -> bool {
        let is_match = self.word_at(self.offset).eq_ignore_ascii_case(word);
        if is_match {
            self.offset += word.len();
        }
        is_match
    }

    /// Reads the name at the position with all its parts: `\Ns\Cls`.
    pub(super) fn read_name(&mut self) -> Result<&'a [u8], Error> {
        let start = self.offset;
        if self.peek() == Some(b'\\') {
            self.offset += 1;
        }
        loop {
            if !self.peek().is_some_and(is_word_start) {
                return Err(self.unexpected_byte_error(self.offset, "a name"));
            }
            self.offset += self.word_at(self.offset).len();
            if self.peek() != Some(b'\\') {
                return Ok(&self.input[start..self.offset]);
            }
            self.offset += 1;
        }
    }
}
