//! Strings.

use super::lex::{Lexer, is_word_start};
use crate::error::{Error, ErrorKind};

/// A string that was read.
pub(super) enum StringLiteral {
    /// It is in the input as it is: its start and length.
    Plain(usize, usize),
    /// It was joined from parts, or had escapes.
    Decoded(Vec<u8>),
}

impl Lexer<'_> {
    /// Returns `true` if a string starts here.
    pub(super) fn is_string(&self) -> bool {
        matches!(self.rest(), [b'\'' | b'"', ..] | [b'b' | b'B', b'\'' | b'"', ..])
    }

    /// Reads a string, or several of them joined by `.`.
    pub(super) fn read_string(&mut self) -> Result<StringLiteral, Error> {
        let mut text = self.read_literal()?;
        loop {
            let end = self.offset;
            self.skip_blanks()?;
            if self.peek() != Some(b'.') {
                self.offset = end;
                return Ok(text);
            }
            let dot = self.offset;
            self.offset += 1;
            self.skip_blanks()?;
            if self.peek().is_none() {
                return Err(self.unexpected_byte_error(self.offset, "a string after `.`"));
            }
            if !self.is_string() {
                return Err(self.code_error(dot, "the operator `.` with something that is not a string"));
            }
            let mut decoded = match text {
                StringLiteral::Plain(start, len) => self.input[start..start + len].to_vec(),
                StringLiteral::Decoded(decoded) => decoded,
            };
            match self.read_literal()? {
                StringLiteral::Plain(start, len) => decoded.extend_from_slice(&self.input[start..start + len]),
                StringLiteral::Decoded(more) => decoded.extend_from_slice(&more),
            }
            text = StringLiteral::Decoded(decoded);
        }
    }

    /// Reads a string in quotes.
    fn read_literal(&mut self) -> Result<StringLiteral, Error> {
        if let Some(b'b' | b'B') = self.peek() {
            self.offset += 1;
        }
        match self.peek() {
            Some(b'\'') => self.read_single_quoted(),
            _ => self.read_double_quoted(),
        }
    }

    fn read_single_quoted(&mut self) -> Result<StringLiteral, Error> {
        let start = self.offset + 1;
        let mut decoded = Vec::new();
        let mut copied_until = start;
        let mut offset = start;
        loop {
            match self.byte_at(offset) {
                Some(b'\'') => break,
                Some(b'\\') => {
                    if let Some(b'\'' | b'\\') = self.byte_at(offset + 1) {
                        decoded.extend_from_slice(&self.input[copied_until..offset]);
                        copied_until = offset + 1;
                        offset += 1;
                    }
                    offset += 1;
                }
                Some(_) => offset += 1,
                None => return Err(self.unexpected_byte_error(offset, "`'` at the end of the string")),
            }
        }
        self.offset = offset + 1;
        if copied_until == start {
            return Ok(StringLiteral::Plain(start, offset - start));
        }
        decoded.extend_from_slice(&self.input[copied_until..offset]);
        Ok(StringLiteral::Decoded(decoded))
    }

    fn read_double_quoted(&mut self) -> Result<StringLiteral, Error> {
        let start = self.offset + 1;
        let unescaped_len =
            self.input[start..].iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | b'$' | b'{')).count();
        if self.byte_at(start + unescaped_len) == Some(b'"') {
            self.offset = start + unescaped_len + 1;
            return Ok(StringLiteral::Plain(start, unescaped_len));
        }
        let mut decoded = self.input[start..start + unescaped_len].to_vec();
        let mut offset = start + unescaped_len;
        loop {
            match (self.byte_at(offset), self.byte_at(offset + 1)) {
                (Some(b'"'), _) => break,
                (Some(b'$'), Some(next)) if is_word_start(next) || next == b'{' => {
                    return Err(self.code_error(offset, "a variable in a string"));
                }
                (Some(b'{'), Some(b'$')) => return Err(self.code_error(offset, "a variable in a string")),
                (Some(b'\\'), Some(_)) => offset = self.decode_escape(offset, &mut decoded)?,
                (Some(byte), _) => {
                    decoded.push(byte);
                    offset += 1;
                }
                (None, _) => return Err(self.unexpected_byte_error(offset, "`\"` at the end of the string")),
            }
        }
        self.offset = offset + 1;
        Ok(StringLiteral::Decoded(decoded))
    }

    /// Reads the escape at `offset`; returns its end.
    fn decode_escape(&self, offset: usize, out: &mut Vec<u8>) -> Result<usize, Error> {
        let digits = |start: usize, radix: u32, max_len: usize| {
            let rest = self.input.get(start..).unwrap_or(&[]);
            rest.iter().take(max_len).take_while(|byte| char::from(**byte).is_digit(radix)).count()
        };
        let value = |start: usize, len: usize, radix: u32| {
            let digits = self.input[start..start + len].iter().filter_map(|byte| char::from(*byte).to_digit(radix));
            digits.fold(0u32, |value, digit| value.saturating_mul(radix).saturating_add(digit))
        };
        let next = self.byte_at(offset + 1).unwrap_or(b'\\');
        let decoded = match next {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'v' => 0x0b,
            b'e' => 0x1b,
            b'f' => 0x0c,
            b'\\' | b'$' | b'"' => next,
            b'0'..=b'7' => {
                let len = digits(offset + 1, 8, 3);
                // Bits beyond a byte are cut off.
                out.push(value(offset + 1, len, 8) as u8);
                return Ok(offset + 1 + len);
            }
            b'x' if digits(offset + 2, 16, 2) > 0 => {
                let len = digits(offset + 2, 16, 2);
                out.push(value(offset + 2, len, 16) as u8);
                return Ok(offset + 2 + len);
            }
            b'u' if self.byte_at(offset + 2) == Some(b'{') => {
                let len = digits(offset + 3, 16, usize::MAX);
                if len == 0 || self.byte_at(offset + 3 + len) != Some(b'}') {
                    return Err(self.unexpected_byte_error(offset + 3 + len, "hexadecimal digits and `}` after `\\u{`"));
                }
                if !push_utf8(value(offset + 3, len, 16), out) {
                    return Err(Error::new(ErrorKind::Malformed)
                        .at(offset)
                        .expecting("a code point of Unicode")
                        .finding("a number above 0x10FFFF"));
                }
                return Ok(offset + 4 + len);
            }
            _ => {
                out.extend_from_slice(&[b'\\', next]);
                return Ok(offset + 2);
            }
        };
        out.push(decoded);
        Ok(offset + 2)
    }
}

/// Appends a code point in UTF-8; also halves of surrogates, as PHP does.
fn push_utf8(code: u32, out: &mut Vec<u8>) -> bool {
    if let Some(c) = char::from_u32(code) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        return true;
    }
    if code < 0x11_0000 {
        out.extend_from_slice(&[
            0xe0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3f) as u8,
            0x80 | (code & 0x3f) as u8,
        ]);
    }
    code < 0x11_0000
}
