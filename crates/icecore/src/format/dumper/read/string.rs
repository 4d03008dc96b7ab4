//! Strings in quotes.

use super::lex::Lexer;
use crate::document::{Kind, Location, Node, Tape};
use crate::error::{Error, ErrorKind};
use crate::format::scan::utf8;
use crate::limits::Limits;
use crate::steps;

/// A string that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Text {
    pub(super) kind: Kind,
    pub(super) location: Location,
    pub(super) len: usize,
}

impl Text {
    pub(super) fn into_node(self, tape: &mut Tape) -> Node {
        tape.new_string_at(self.kind, self.location, self.len)
    }

    /// Returns the bytes of a string in the input.
    pub(super) fn bytes_of_input<'d>(&self, input: &'d [u8]) -> &'d [u8] {
        let Location::Input(start) = self.location else { return &[] };
        let start = start as usize;
        start.checked_add(self.len).and_then(|end| input.get(start..end)).unwrap_or(&[])
    }

    pub(super) fn bytes<'d>(&self, tape: &'d Tape, input: &'d [u8]) -> &'d [u8] {
        let (source, start) = match self.location {
            Location::Input(start) => (input, start as usize),
            Location::Arena(start) => (&tape.arena[..], start as usize),
        };
        start.checked_add(self.len).and_then(|end| source.get(start..end)).unwrap_or(&[])
    }
}

/// Where and how strings are read.
pub(super) struct Strings<'t> {
    pub(super) tape: &'t mut Tape,
    pub(super) limits: &'t Limits,
}

impl Strings<'_> {
    /// Reads the string in quotes that begins here.
    #[inline]
    pub(super) fn read_quoted(&mut self, lexer: &mut Lexer<'_>) -> Result<Text, Error> {
        let start = lexer.position;
        let text = match lexer.peek() {
            Some(b'\'') => {
                lexer.position += 1;
                self.read_single_quoted(lexer, b'\'', b'\'')?
            }
            Some(b'"') => {
                lexer.position += 1;
                self.read_double_quoted(lexer, b'"', b'"')?
            }
            _ => return Err(lexer.syntax_error(start, "a string in quotes")),
        };
        self.check_length(text, start)
    }

    /// Reads the string after `q` or `qq`, whose delimiter is here.
    pub(super) fn read_delimited(&mut self, lexer: &mut Lexer<'_>, is_double_quoted: bool) -> Result<Text, Error> {
        let start = lexer.position;
        let Some(open) = lexer.peek() else { return Err(lexer.syntax_error(start, "a delimiter")) };
        lexer.position += 1;
        let close = closing_delimiter(open);
        let text = if is_double_quoted {
            self.read_double_quoted(lexer, open, close)?
        } else {
            self.read_single_quoted(lexer, open, close)?
        };
        self.check_length(text, start)
    }

    fn check_length(&self, text: Text, start: usize) -> Result<Text, Error> {
        if text.len as u64 > self.limits.string {
            return Err(self.limits.too_long(text.len as u64).at(start));
        }
        Ok(text)
    }

    /// Reads up to `close`; only delimiters and `\` may be escaped.
    #[inline]
    fn read_single_quoted(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let start = lexer.position;
        let rest = lexer.rest();
        let first_stop = rest.iter().position(|byte| *byte == close || *byte == b'\\' || *byte == open);
        steps::count(first_stop.unwrap_or(rest.len()));
        match first_stop {
            Some(len) if rest[len] == close => {
                lexer.position += len + 1;
                let kind = if lexer.utf8 { string_kind(lexer, &rest[..len]) } else { Kind::Bytes };
                Ok(Text { kind, location: Location::Input(start as u64), len })
            }
            _ => self.read_single_escaped(lexer, open, close),
        }
    }

    #[cold]
    fn read_single_escaped(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let start_in_arena = self.tape.arena.len();
        let mut nested_brackets = 0usize;
        loop {
            let Some(byte) = lexer.peek() else { return Err(unclosed_error(lexer, close)) };
            lexer.position += 1;
            if byte == b'\\' {
                match lexer.peek() {
                    Some(next) if next == b'\\' || next == open || next == close => {
                        lexer.position += 1;
                        self.tape.arena.push(next);
                    }
                    _ => self.tape.arena.push(byte),
                }
                continue;
            }
            if byte == close && nested_brackets == 0 {
                break;
            }
            nested_brackets =
                if byte == close { nested_brackets - 1 } else { nested_brackets + usize::from(byte == open) };
            self.tape.arena.push(byte);
        }
        let kind = string_kind(lexer, &self.tape.arena[start_in_arena..]);
        Ok(Text { kind, location: Location::Arena(start_in_arena as u64), len: self.tape.arena.len() - start_in_arena })
    }

    /// Reads up to `close`, with escapes.
    fn read_double_quoted(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let start = lexer.position;
        let rest = lexer.rest();
        let stops = |byte: &u8| *byte == close || *byte == b'\\' || *byte == open || matches!(*byte, b'$' | b'@');
        let first_stop = rest.iter().position(stops);
        steps::count(first_stop.unwrap_or(rest.len()));
        if let Some(len) = first_stop
            && rest[len] == close
        {
            lexer.position += len + 1;
            return Ok(Text { kind: string_kind(lexer, &rest[..len]), location: Location::Input(start as u64), len });
        }
        self.read_double_escaped(lexer, open, close)
    }

    fn read_double_escaped(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let mut builder = StringBuilder {
            start_in_arena: self.tape.arena.len(),
            utf8: lexer.utf8,
            is_wide: false,
            arena: &mut self.tape.arena,
        };
        let mut nested_brackets = 0usize;
        loop {
            let offset = lexer.position;
            let Some(byte) = lexer.peek() else { return Err(unclosed_error(lexer, close)) };
            lexer.position += 1;
            match byte {
                b'\\' => builder.read_escape(lexer)?,
                b'$' | b'@' if is_interpolated(lexer, byte, close) => return Err(interpolation_error(lexer, offset)),
                _ if byte == close && nested_brackets == 0 => break,
                _ => {
                    nested_brackets =
                        if byte == close { nested_brackets - 1 } else { nested_brackets + usize::from(byte == open) };
                    builder.push_raw_byte(byte);
                }
            }
        }
        let (start_in_arena, is_wide) = (builder.start_in_arena, builder.is_wide);
        let kind = if is_wide { Kind::Text } else { string_kind(lexer, &self.tape.arena[start_in_arena..]) };
        Ok(Text { kind, location: Location::Arena(start_in_arena as u64), len: self.tape.arena.len() - start_in_arena })
    }
}

/// Returns the kind of a string with these bytes. With `use utf8`, bytes beyond ASCII are text.
fn string_kind(lexer: &Lexer<'_>, bytes: &[u8]) -> Kind {
    if lexer.utf8 && !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() { Kind::Text } else { Kind::Bytes }
}

/// Returns the closing delimiter for an opening one.
pub(super) fn closing_delimiter(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        _ => open,
    }
}

#[cold]
fn unclosed_error(lexer: &Lexer<'_>, close: u8) -> Error {
    lexer.syntax_error(lexer.input.len(), if close == b'\'' { "`'`" } else { "the end of the string" })
}

#[cold]
fn interpolation_error(lexer: &Lexer<'_>, offset: usize) -> Error {
    lexer.code_error_with_help(
        offset,
        "a variable in a string",
        "code is not run; `\\$` and `\\@` are the characters themselves",
    )
}

/// Returns `true` if the `$` or `@` before the position begins a variable.
fn is_interpolated(lexer: &Lexer<'_>, sigil: u8, close: u8) -> bool {
    match lexer.peek() {
        None => false,
        Some(next) if next == close => false,
        Some(next) if sigil == b'$' => !matches!(next, b' ' | b'\n' | b'\t' | b'\r' | b'(' | b'|' | b'%' | b'\\'),
        Some(next) => super::lex::is_word_start(next) || matches!(next, b'{' | b'$' | b':' | b'-' | b'+'),
    }
}

/// A string that is built in the arena.
struct StringBuilder<'t> {
    arena: &'t mut Vec<u8>,
    start_in_arena: usize,
    utf8: bool,
    /// Whether the string has a character above 0xFF. Then its bytes in the arena, from `start_in_arena` on, are
    /// UTF-8.
    is_wide: bool,
}

impl StringBuilder<'_> {
    /// Appends a byte of the text.
    fn push_raw_byte(&mut self, byte: u8) {
        if self.utf8 && byte >= 0x80 {
            self.widen_to_utf8();
        }
        if self.is_wide && byte >= 0x80 && !self.utf8 {
            utf8::push_character(u64::from(byte), self.arena);
        } else {
            self.arena.push(byte);
        }
    }

    /// Appends a character by its number. If `is_text`, the string is text, even if the number is a byte.
    fn push_character(&mut self, number: u64, is_text: bool) {
        if is_text || number > 0xFF {
            self.widen_to_utf8();
        }
        match u8::try_from(number) {
            Ok(byte) if !self.is_wide => self.arena.push(byte),
            _ => utf8::push_character(number, self.arena),
        }
    }

    /// Converts the string so far to UTF-8.
    fn widen_to_utf8(&mut self) {
        if self.is_wide {
            return;
        }
        self.is_wide = true;
        if !self.arena[self.start_in_arena..].is_ascii() {
            let bytes = self.arena.split_off(self.start_in_arena);
            for byte in bytes {
                utf8::push_character(u64::from(byte), self.arena);
            }
        }
    }

    /// Reads the escape after `\`.
    fn read_escape(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        let start = lexer.position - 1;
        let Some(byte) = lexer.peek() else {
            return Err(lexer.syntax_error(lexer.input.len(), "an escaped character"));
        };
        lexer.position += 1;
        let decoded = match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'f' => b'\x0c',
            b'a' => b'\x07',
            b'b' => b'\x08',
            b'e' => b'\x1b',
            b'x' => return self.read_hex_escape(lexer, start),
            b'0'..=b'7' => return self.read_octal_escape(lexer),
            b'o' => {
                let number = read_braced_number(lexer, start, 8, "`\\o{…}`")?;
                self.push_character(number, false);
                return Ok(());
            }
            b'N' => return self.read_named_escape(lexer, start),
            b'c' => {
                let Some(control) = lexer.peek() else {
                    return Err(lexer.syntax_error(lexer.position, "a control character"));
                };
                lexer.position += 1;
                control.to_ascii_uppercase() ^ 64
            }
            b'l' | b'u' | b'L' | b'U' | b'Q' | b'F' | b'E' => {
                return Err(
                    lexer.code_error(start, format_args!("`\\{}`, which changes what follows", char::from(byte)))
                );
            }
            _ => {
                self.push_raw_byte(byte);
                return Ok(());
            }
        };
        self.push_character(u64::from(decoded), false);
        Ok(())
    }

    /// Reads `\x41` or `\x{263a}`.
    fn read_hex_escape(&mut self, lexer: &mut Lexer<'_>, start: usize) -> Result<(), Error> {
        if lexer.peek() == Some(b'{') {
            let number = read_braced_number(lexer, start, 16, "`\\x{…}`")?;
            self.push_character(number, number > 0x7F && !lexer.has_byte_escapes);
            return Ok(());
        }
        let number = read_digits(lexer, 16, 2);
        self.push_character(number, false);
        Ok(())
    }

    /// Reads `\0` or `\101`: up to three digits.
    fn read_octal_escape(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        lexer.position -= 1;
        let number = read_digits(lexer, 8, 3);
        self.push_character(number, false);
        Ok(())
    }

    /// Reads `\N{U+263A}`.
    fn read_named_escape(&mut self, lexer: &mut Lexer<'_>, start: usize) -> Result<(), Error> {
        if !lexer.take(b"{U+") {
            return Err(match lexer.is_cut_off(lexer.position, &[b"{U+"]) {
                true => lexer.syntax_error(lexer.input.len(), "`\\N{U+…}`"),
                false => lexer.code_error(start, "a character by its name"),
            });
        }
        lexer.position -= 1;
        let number = read_number_to_brace(lexer, start, 16, "`\\N{U+…}`")?;
        self.push_character(number, true);
        Ok(())
    }
}

/// Reads up to `max_digits` digits.
fn read_digits(lexer: &mut Lexer<'_>, radix: u32, max_digits: usize) -> u64 {
    let mut number = 0;
    for _ in 0..max_digits {
        let Some(digit) = lexer.peek().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
        number = number * u64::from(radix) + u64::from(digit);
        lexer.position += 1;
    }
    number
}

/// Reads the number in braces; checks the opening brace.
fn read_braced_number(lexer: &mut Lexer<'_>, start: usize, radix: u32, expected: &'static str) -> Result<u64, Error> {
    if lexer.peek() != Some(b'{') {
        return Err(lexer.syntax_error(lexer.position, expected));
    }
    read_number_to_brace(lexer, start, radix, expected)
}

/// Like [`read_braced_number`], with any opening brace.
fn read_number_to_brace(lexer: &mut Lexer<'_>, start: usize, radix: u32, expected: &'static str) -> Result<u64, Error> {
    lexer.position += 1;
    let mut number = Some(0u64);
    loop {
        let Some(byte) = lexer.peek() else { return Err(lexer.syntax_error(lexer.position, expected)) };
        if let Some(digit) = char::from(byte).to_digit(radix) {
            number = number.and_then(|number| number.checked_mul(u64::from(radix))?.checked_add(u64::from(digit)));
        } else if byte == b'}' {
            break;
        } else if !matches!(byte, b'_' | b' ' | b'\t') {
            return Err(lexer.syntax_error(lexer.position, expected));
        }
        lexer.position += 1;
    }
    lexer.position += 1;
    number.filter(|number| i64::try_from(*number).is_ok()).ok_or_else(|| {
        Error::new(ErrorKind::Malformed)
            .at(start)
            .expecting("the number of a character, at most 0x7fffffffffffffff")
            .finding("a larger one")
    })
}
