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
    pub(super) place: Location,
    pub(super) len: usize,
}

impl Text {
    pub(super) fn node(self, tape: &mut Tape) -> Node {
        tape.placed(self.kind, self.place, self.len)
    }

    /// Returns the bytes of a string in the input.
    pub(super) fn bytes_of_input<'d>(&self, input: &'d [u8]) -> &'d [u8] {
        let Location::Input(start) = self.place else { return &[] };
        let start = start as usize;
        start.checked_add(self.len).and_then(|end| input.get(start..end)).unwrap_or(&[])
    }

    pub(super) fn bytes<'d>(&self, tape: &'d Tape, input: &'d [u8]) -> &'d [u8] {
        let (base, start) = match self.place {
            Location::Input(start) => (input, start as usize),
            Location::Arena(start) => (&tape.arena[..], start as usize),
        };
        start.checked_add(self.len).and_then(|end| base.get(start..end)).unwrap_or(&[])
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
    pub(super) fn quoted(&mut self, lexer: &mut Lexer<'_>) -> Result<Text, Error> {
        let start = lexer.at;
        let text = match lexer.peek() {
            Some(b'\'') => {
                lexer.at += 1;
                self.single(lexer, b'\'', b'\'')?
            }
            Some(b'"') => {
                lexer.at += 1;
                self.double(lexer, b'"', b'"')?
            }
            _ => return Err(lexer.wrong(start, "a string in quotes")),
        };
        self.check(text, start)
    }

    /// Reads the string after `q` or `qq`, whose delimiter is here.
    pub(super) fn delimited(&mut self, lexer: &mut Lexer<'_>, doubled: bool) -> Result<Text, Error> {
        let start = lexer.at;
        let Some(open) = lexer.peek() else { return Err(lexer.wrong(start, "a delimiter")) };
        lexer.at += 1;
        let close = closing(open);
        let text = if doubled { self.double(lexer, open, close)? } else { self.single(lexer, open, close)? };
        self.check(text, start)
    }

    fn check(&self, text: Text, start: usize) -> Result<Text, Error> {
        if text.len as u64 > self.limits.string {
            return Err(self.limits.too_long(text.len as u64).at(start));
        }
        Ok(text)
    }

    /// Reads up to `close`; only delimiters and `\` may be escaped.
    #[inline]
    fn single(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let start = lexer.at;
        let rest = lexer.rest();
        let plain = rest.iter().position(|byte| *byte == close || *byte == b'\\' || *byte == open);
        steps::count(plain.unwrap_or(rest.len()));
        match plain {
            Some(len) if rest[len] == close => {
                lexer.at += len + 1;
                let kind = if lexer.utf8 { kind(lexer, &rest[..len]) } else { Kind::Bytes };
                Ok(Text { kind, place: Location::Input(start as u64), len })
            }
            _ => self.single_escaped(lexer, open, close),
        }
    }

    #[cold]
    fn single_escaped(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let from = self.tape.arena.len();
        let mut level = 0usize;
        loop {
            let Some(byte) = lexer.peek() else { return Err(unclosed(lexer, close)) };
            lexer.at += 1;
            if byte == b'\\' {
                match lexer.peek() {
                    Some(next) if next == b'\\' || next == open || next == close => {
                        lexer.at += 1;
                        self.tape.arena.push(next);
                    }
                    _ => self.tape.arena.push(byte),
                }
                continue;
            }
            if byte == close && level == 0 {
                break;
            }
            level = if byte == close { level - 1 } else { level + usize::from(byte == open) };
            self.tape.arena.push(byte);
        }
        let kind = kind(lexer, &self.tape.arena[from..]);
        Ok(Text { kind, place: Location::Arena(from as u64), len: self.tape.arena.len() - from })
    }

    /// Reads up to `close`, with escapes.
    fn double(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let start = lexer.at;
        let rest = lexer.rest();
        let stops = |byte: &u8| *byte == close || *byte == b'\\' || *byte == open || matches!(*byte, b'$' | b'@');
        let plain = rest.iter().position(stops);
        steps::count(plain.unwrap_or(rest.len()));
        if let Some(len) = plain
            && rest[len] == close
        {
            lexer.at += len + 1;
            return Ok(Text { kind: kind(lexer, &rest[..len]), place: Location::Input(start as u64), len });
        }
        self.double_escaped(lexer, open, close)
    }

    fn double_escaped(&mut self, lexer: &mut Lexer<'_>, open: u8, close: u8) -> Result<Text, Error> {
        let mut made =
            Made { from: self.tape.arena.len(), utf8: lexer.utf8, is_wide: false, arena: &mut self.tape.arena };
        let mut level = 0usize;
        loop {
            let at = lexer.at;
            let Some(byte) = lexer.peek() else { return Err(unclosed(lexer, close)) };
            lexer.at += 1;
            match byte {
                b'\\' => made.escape(lexer)?,
                b'$' | b'@' if is_interpolated(lexer, byte, close) => return Err(interpolation(lexer, at)),
                _ if byte == close && level == 0 => break,
                _ => {
                    level = if byte == close { level - 1 } else { level + usize::from(byte == open) };
                    made.raw(byte);
                }
            }
        }
        let (from, is_wide) = (made.from, made.is_wide);
        let kind = if is_wide { Kind::Text } else { kind(lexer, &self.tape.arena[from..]) };
        Ok(Text { kind, place: Location::Arena(from as u64), len: self.tape.arena.len() - from })
    }
}

/// Returns the kind of bytes in the text: with `use utf8` they are text.
fn kind(lexer: &Lexer<'_>, bytes: &[u8]) -> Kind {
    if lexer.utf8 && !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() { Kind::Text } else { Kind::Bytes }
}

/// Returns the closing delimiter for an opening one.
pub(super) fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        _ => open,
    }
}

#[cold]
fn unclosed(lexer: &Lexer<'_>, close: u8) -> Error {
    lexer.wrong(lexer.input.len(), if close == b'\'' { "`'`" } else { "the end of the string" })
}

#[cold]
fn interpolation(lexer: &Lexer<'_>, at: usize) -> Error {
    lexer.code_that(at, "a variable in a string", "code is not run; `\\$` and `\\@` are the characters themselves")
}

/// Whether the `$` or `@` before the position begins a variable.
fn is_interpolated(lexer: &Lexer<'_>, sigil: u8, close: u8) -> bool {
    match lexer.peek() {
        None => false,
        Some(next) if next == close => false,
        Some(next) if sigil == b'$' => !matches!(next, b' ' | b'\n' | b'\t' | b'\r' | b'(' | b'|' | b'%' | b'\\'),
        Some(next) => super::lex::is_word_start(next) || matches!(next, b'{' | b'$' | b':' | b'-' | b'+'),
    }
}

/// A string that is built in the arena.
struct Made<'t> {
    arena: &'t mut Vec<u8>,
    from: usize,
    utf8: bool,
    /// Whether it has a character above 0xFF: then it is UTF-8 from `from` on.
    is_wide: bool,
}

impl Made<'_> {
    /// Appends a byte of the text.
    fn raw(&mut self, byte: u8) {
        if self.utf8 && byte >= 0x80 {
            self.widen();
        }
        if self.is_wide && byte >= 0x80 && !self.utf8 {
            utf8::push(u64::from(byte), self.arena);
        } else {
            self.arena.push(byte);
        }
    }

    /// Appends a character by its number.
    fn character(&mut self, number: u64, wide: bool) {
        if wide || number > 0xFF {
            self.widen();
        }
        match u8::try_from(number) {
            Ok(byte) if !self.is_wide => self.arena.push(byte),
            _ => utf8::push(number, self.arena),
        }
    }

    /// Converts the string so far to UTF-8.
    fn widen(&mut self) {
        if self.is_wide {
            return;
        }
        self.is_wide = true;
        if !self.arena[self.from..].is_ascii() {
            let bytes = self.arena.split_off(self.from);
            for byte in bytes {
                utf8::push(u64::from(byte), self.arena);
            }
        }
    }

    /// Reads the escape after `\`.
    fn escape(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        let at = lexer.at - 1;
        let Some(byte) = lexer.peek() else { return Err(lexer.wrong(lexer.input.len(), "an escaped character")) };
        lexer.at += 1;
        let plain = match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'f' => b'\x0c',
            b'a' => b'\x07',
            b'b' => b'\x08',
            b'e' => b'\x1b',
            b'x' => return self.hexadecimal(lexer, at),
            b'0'..=b'7' => return self.octal(lexer),
            b'o' => {
                let number = braced(lexer, at, 8, "`\\o{…}`")?;
                self.character(number, false);
                return Ok(());
            }
            b'N' => return self.named(lexer, at),
            b'c' => {
                let Some(control) = lexer.peek() else { return Err(lexer.wrong(lexer.at, "a control character")) };
                lexer.at += 1;
                control.to_ascii_uppercase() ^ 64
            }
            b'l' | b'u' | b'L' | b'U' | b'Q' | b'F' | b'E' => {
                return Err(lexer.code(at, format_args!("`\\{}`, which changes what follows", char::from(byte))));
            }
            _ => {
                self.raw(byte);
                return Ok(());
            }
        };
        self.character(u64::from(plain), false);
        Ok(())
    }

    /// Reads `\x41` or `\x{263a}`.
    fn hexadecimal(&mut self, lexer: &mut Lexer<'_>, at: usize) -> Result<(), Error> {
        if lexer.peek() == Some(b'{') {
            let number = braced(lexer, at, 16, "`\\x{…}`")?;
            self.character(number, number > 0x7F && !lexer.narrow);
            return Ok(());
        }
        let number = digits(lexer, 16, 2);
        self.character(number, false);
        Ok(())
    }

    /// Reads `\0` or `\101`: up to three digits.
    fn octal(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        lexer.at -= 1;
        let number = digits(lexer, 8, 3);
        self.character(number, false);
        Ok(())
    }

    /// Reads `\N{U+263A}`.
    fn named(&mut self, lexer: &mut Lexer<'_>, at: usize) -> Result<(), Error> {
        if !lexer.take(b"{U+") {
            return Err(match lexer.is_cut_off(lexer.at, &[b"{U+"]) {
                true => lexer.wrong(lexer.input.len(), "`\\N{U+…}`"),
                false => lexer.code(at, "a character by its name"),
            });
        }
        lexer.at -= 1;
        let number = braced_from(lexer, at, 16, "`\\N{U+…}`")?;
        self.character(number, true);
        Ok(())
    }
}

/// Reads up to `most` digits.
fn digits(lexer: &mut Lexer<'_>, radix: u32, most: usize) -> u64 {
    let mut number = 0;
    for _ in 0..most {
        let Some(digit) = lexer.peek().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
        number = number * u64::from(radix) + u64::from(digit);
        lexer.at += 1;
    }
    number
}

/// Reads the number in braces; checks the opening brace.
fn braced(lexer: &mut Lexer<'_>, at: usize, radix: u32, expected: &'static str) -> Result<u64, Error> {
    if lexer.peek() != Some(b'{') {
        return Err(lexer.wrong(lexer.at, expected));
    }
    braced_from(lexer, at, radix, expected)
}

/// The same, with any opening brace.
fn braced_from(lexer: &mut Lexer<'_>, at: usize, radix: u32, expected: &'static str) -> Result<u64, Error> {
    lexer.at += 1;
    let mut number = Some(0u64);
    loop {
        let Some(byte) = lexer.peek() else { return Err(lexer.wrong(lexer.at, expected)) };
        if let Some(digit) = char::from(byte).to_digit(radix) {
            number = number.and_then(|number| number.checked_mul(u64::from(radix))?.checked_add(u64::from(digit)));
        } else if byte == b'}' {
            break;
        } else if !matches!(byte, b'_' | b' ' | b'\t') {
            return Err(lexer.wrong(lexer.at, expected));
        }
        lexer.at += 1;
    }
    lexer.at += 1;
    number.filter(|number| i64::try_from(*number).is_ok()).ok_or_else(|| {
        Error::new(ErrorKind::Malformed)
            .at(at)
            .expecting("the number of a character, at most 0x7fffffffffffffff")
            .finding("a larger one")
    })
}
