//! The lexer of Perl text: tokens that need no context.

use crate::error::{Error, ErrorKind};
use crate::format::scan;
pub(super) use crate::format::scan::{is_word_byte, is_word_start};
use crate::steps;

/// The input and the position in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    pub(super) input: &'a [u8],
    pub(super) position: usize,
    /// Text at the start of each line, without a meaning: the setting `Pad`.
    pub(super) pad: &'a [u8],
    /// Whether the pad may also occur inside of lines, as with `Indent=0`. This is set only if a value can't begin
    /// with the pad.
    pub(super) may_have_pad_within: bool,
    /// `use utf8`: the bytes of the text are UTF-8.
    pub(super) utf8: bool,
    /// `\x{…}` below 256 is a byte.
    pub(super) has_byte_escapes: bool,
}

pub(super) const HELP_CODE: &str = "code is not run; let perl evaluate it and dump the result";

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c')
}

impl<'a> Lexer<'a> {
    pub(super) fn new(input: &'a [u8], pad: &'a [u8]) -> Lexer<'a> {
        let may_have_pad_within = pad.first().is_some_and(|byte| b"#>|/".contains(byte));
        Lexer { input, position: 0, pad, may_have_pad_within, utf8: false, has_byte_escapes: false }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        steps::count(1);
        self.input.get(self.position).copied()
    }

    #[inline]
    pub(super) fn byte_at(&self, offset: usize) -> Option<u8> {
        steps::count(1);
        self.input.get(offset).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.input.get(self.position..).unwrap_or(&[])
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        self.input.get(start..end).unwrap_or(&[])
    }

    // -- Errors -----------------------------------------------------------------

    /// Returns the error for an unexpected byte at `offset`.
    #[cold]
    pub(super) fn syntax_error(&self, offset: usize, expected: &'static str) -> Error {
        scan::unexpected_byte_error(self.input, offset, expected)
    }

    /// Returns the error for text at `offset` that perl would have to run.
    #[cold]
    pub(super) fn code_error(&self, offset: usize, found: impl std::fmt::Display) -> Error {
        self.code_error_with_help(offset, found, HELP_CODE)
    }

    /// Like [`Self::code_error`], with other advice.
    #[cold]
    pub(super) fn code_error_with_help(
        &self,
        offset: usize,
        found: impl std::fmt::Display,
        help: &'static str,
    ) -> Error {
        Error::new(ErrorKind::Unsupported)
            .at(offset)
            .expecting("output of Data::Dumper")
            .finding(found.to_string())
            .helping(help)
    }

    /// Returns the error for anything other than `expected` here: an operator is code.
    #[cold]
    pub(super) fn unexpected_token_error(&self, expected: &'static str) -> Error {
        let rest = self.rest();
        match rest {
            // These tokens may be the beginning of an operator at the end of a text that is cut off.
            [] | [b'=' | b'-' | b':' | b'.'] => self.syntax_error(self.input.len(), expected),
            [b'-', b'>', after_arrow @ ..] => match after_arrow.trim_ascii_start().first() {
                Some(byte) if is_word_start(*byte) => {
                    self.code_error_with_help(self.position, "a method call", "Data::Dumper adds it if Toaster is set")
                }
                _ => self.code_error(self.position, "an access to the value before it"),
            },
            [b'=', b'>', ..] => self.syntax_error(self.position, expected),
            [
                b'+' | b'-' | b'*' | b'/' | b'%' | b'.' | b'?' | b'|' | b'&' | b'^' | b'<' | b'>' | b'!' | b'=' | b'~',
                ..,
            ] => self.code_error(self.position, format_args!("the operator `{}`", char::from(rest[0]))),
            [b'(', ..] => self.code_error(self.position, "a call"),
            [b'[' | b'{', ..] => self.code_error(self.position, "an access to the value before it"),
            [byte, ..] if byte.is_ascii_lowercase() => {
                let word = String::from_utf8_lossy(self.word_at(self.position)).into_owned();
                self.code_error(self.position, format_args!("`{word}`"))
            }
            _ => self.syntax_error(self.position, expected),
        }
    }

    // -- Small pieces -------------------------------------------------------------

    /// Skips blanks, comments, and the pad at the start of lines.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        if !self.pad.is_empty() {
            return self.skip_blanks_and_pads();
        }
        while let Some(byte) = self.peek() {
            match byte {
                _ if is_blank(byte) => self.position += 1,
                b'#' => self.skip_comment(),
                _ => return,
            }
        }
    }

    fn skip_blanks_and_pads(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.position += 1;
                    self.skip_pad();
                }
                _ if self.may_have_pad_within && self.rest().starts_with(self.pad) => self.position += self.pad.len(),
                _ if is_blank(byte) => self.position += 1,
                b'#' => self.skip_comment(),
                _ => return,
            }
        }
    }

    #[cold]
    fn skip_comment(&mut self) {
        let rest = self.rest();
        let len = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        steps::count(len);
        self.position += len;
    }

    #[cold]
    pub(super) fn skip_pad(&mut self) {
        if self.rest().starts_with(self.pad) {
            self.position += self.pad.len();
        }
    }

    /// Skips blanks, then consumes this byte.
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return Err(self.unexpected_token_error(expected));
        }
        self.position += 1;
        Ok(())
    }

    /// Returns the letters, digits and `_` from `offset` on.
    pub(super) fn word_at(&self, offset: usize) -> &'a [u8] {
        let rest = self.input.get(offset..).unwrap_or(&[]);
        let len = rest.iter().take_while(|byte| is_word_byte(**byte)).count();
        steps::count(len + 1);
        &rest[..len]
    }

    /// Returns the name from `offset` on with its packages: `Foo::bar`, `::x`.
    pub(super) fn name_at(&self, offset: usize) -> &'a [u8] {
        let mut end = offset;
        loop {
            end += self.word_at(end).len();
            if self.byte_at(end) != Some(b':') || self.byte_at(end + 1) != Some(b':') {
                return self.slice(offset, end);
            }
            end += 2;
        }
    }

    /// Consumes this word, if it is here as a whole.
    pub(super) fn take_word(&mut self, word: &[u8]) -> bool {
        let found =
            self.rest().starts_with(word) && !self.byte_at(self.position + word.len()).is_some_and(is_word_byte);
        if found {
            self.position += word.len();
        }
        found
    }

    /// Returns `true` if the word here is an operator on the previous value.
    pub(super) fn is_at_operator(&self) -> bool {
        const OPERATORS: &[&[u8]] = &[
            b"x", b"eq", b"ne", b"lt", b"gt", b"le", b"ge", b"cmp", b"and", b"or", b"xor", b"not", b"if", b"unless",
            b"for", b"foreach", b"while", b"until", b"isa",
        ];
        OPERATORS.contains(&self.word_at(self.position))
    }

    /// Consumes these bytes, if they are here.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        steps::count(1);
        let found = self.rest().starts_with(bytes);
        if found {
            self.position += bytes.len();
        }
        found
    }

    /// Returns `true` if the input ends within one of these words.
    pub(super) fn is_cut_off(&self, offset: usize, words: &[&[u8]]) -> bool {
        let rest = self.input.get(offset..).unwrap_or(&[]);
        words.iter().any(|word| word.len() > rest.len() && word.starts_with(rest))
    }
}
