//! Numbers as Perl writes them, and v-strings.

use super::lex::{Lexer, is_word_byte};
use crate::document::Node;
use crate::error::{Error, ErrorKind};

/// Value of a token that starts with a digit or a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Node(Node),
    /// The text of a v-string.
    VString(usize, usize),
}

impl Lexer<'_> {
    /// Reads the number that begins here, with a digit or a point.
    pub(super) fn read_number(&mut self, negative: bool) -> Result<Number, Error> {
        let start = self.position;
        if let Some(node) = self.read_short_decimal(negative) {
            return Ok(Number::Node(node));
        }
        let node = match self.rest() {
            [b'0', b'x' | b'X', ..] => self.read_radix_integer(start + 2, 16, negative)?,
            [b'0', b'b' | b'B', ..] => self.read_radix_integer(start + 2, 2, negative)?,
            [b'0', b'o' | b'O', ..] => self.read_radix_integer(start + 2, 8, negative)?,
            [b'0', b'0'..=b'9' | b'_', ..] => self.read_radix_integer(start + 1, 8, negative)?,
            _ => return self.read_decimal(negative),
        };
        self.check_number_end(start)?;
        Ok(Number::Node(node))
    }

    /// Reads up to 18 plain digits, if nothing that could belong to them follows.
    #[inline]
    fn read_short_decimal(&mut self, negative: bool) -> Option<Node> {
        let (mut value, mut end) = (0i64, self.position);
        while let Some(digit @ b'0'..=b'9') = self.byte_at(end) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            end += 1;
        }
        let len = end - self.position;
        let is_plain = (1..=18).contains(&len) && (len == 1 || self.peek() != Some(b'0'));
        if !is_plain || self.byte_at(end).is_some_and(|byte| is_word_byte(byte) || byte == b'.') {
            return None;
        }
        self.position = end;
        Some(Node::int(if negative { -value } else { value }))
    }

    fn read_radix_integer(&mut self, start: usize, radix: u32, negative: bool) -> Result<Node, Error> {
        let (mut value, mut float, mut digits, mut end) = (Some(0u64), 0f64, 0, start);
        while let Some(byte) = self.byte_at(end) {
            if let Some(digit) = char::from(byte).to_digit(radix) {
                value = value.and_then(|value| value.checked_mul(u64::from(radix))?.checked_add(u64::from(digit)));
                float = float * f64::from(radix) + f64::from(digit);
                digits += 1;
            } else if byte != b'_' {
                break;
            }
            end += 1;
        }
        if digits == 0 && radix != 8 {
            return Err(self.syntax_error(end, "a digit"));
        }
        self.position = end;
        Ok(integer_node(value, float, negative))
    }

    fn read_decimal(&mut self, negative: bool) -> Result<Number, Error> {
        let start = self.position;
        let mut end = self.end_of_digits(start);
        let mut is_float = false;
        if self.byte_at(end) == Some(b'.') && self.byte_at(end + 1) != Some(b'.') {
            let fraction_end = self.end_of_digits(end + 1);
            if fraction_end > end + 1
                && self.byte_at(fraction_end) == Some(b'.')
                && matches!(self.byte_at(fraction_end + 1), Some(b'0'..=b'9'))
            {
                return self.read_dotted_v_string(start, end, negative);
            }
            if fraction_end > end + 1
                && self.byte_at(fraction_end) == Some(b'.')
                && fraction_end + 1 == self.input.len()
            {
                return Err(self.syntax_error(fraction_end + 1, "a digit"));
            }
            (end, is_float) = (fraction_end, true);
        }
        if matches!(self.byte_at(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte_at(end + 1), Some(b'+' | b'-')));
            let exponent_end = self.end_of_digits(end + 1 + sign);
            if exponent_end > end + 1 + sign {
                (end, is_float) = (exponent_end, true);
            } else if exponent_end == self.input.len() {
                return Err(self.syntax_error(exponent_end, "the digits of an exponent"));
            }
        }
        let text: String =
            self.slice(start, end).iter().filter(|byte| **byte != b'_').map(|byte| char::from(*byte)).collect();
        self.position = end;
        self.check_number_end(start)?;
        let value = if is_float { None } else { text.parse::<u64>().ok() };
        let float = text.parse::<f64>().unwrap_or(f64::NAN);
        Ok(Number::Node(if is_float {
            Node::float(if negative { -float } else { float })
        } else {
            integer_node(value, float, negative)
        }))
    }

    /// Returns the offset after the digits and `_` from `offset` on.
    fn end_of_digits(&self, offset: usize) -> usize {
        let rest = self.input.get(offset..).unwrap_or(&[]);
        offset + rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
    }

    /// Reads `1.22.333`: a v-string without `v`. Its first point is at `point`.
    fn read_dotted_v_string(&mut self, start: usize, point: usize, negative: bool) -> Result<Number, Error> {
        self.position = point;
        while self.peek() == Some(b'.') && matches!(self.byte_at(self.position + 1), Some(b'0'..=b'9')) {
            self.position = self.end_of_digits(self.position + 1);
        }
        self.check_number_end(start)?;
        if negative {
            return Err(self.code_error(start, "a v-string after `-`"));
        }
        Ok(Number::VString(start, self.position))
    }

    /// Reads the v-string that begins here with `v`, if there is one.
    pub(super) fn read_v_string(&mut self) -> Option<(usize, usize)> {
        let start = self.position;
        let mut end = self.end_of_digits(start + 1);
        if !matches!(self.byte_at(start + 1), Some(b'0'..=b'9')) {
            return None;
        }
        while self.byte_at(end) == Some(b'.') && matches!(self.byte_at(end + 1), Some(b'0'..=b'9')) {
            end = self.end_of_digits(end + 1);
        }
        if self.byte_at(end).is_some_and(is_word_byte) {
            return None;
        }
        self.position = end;
        Some((start, end))
    }

    fn check_number_end(&self, start: usize) -> Result<(), Error> {
        if !self.peek().is_some_and(is_word_byte) {
            return Ok(());
        }
        let end = self.position + self.word_at(self.position).len();
        let word = String::from_utf8_lossy(self.slice(start, end)).into_owned();
        Err(Error::new(ErrorKind::Malformed).at(start).expecting("a number").finding(format!("`{word}`")))
    }
}

/// Returns what perl makes of an integer: a float if it does not fit into 64 bits.
fn integer_node(value: Option<u64>, float: f64, negative: bool) -> Node {
    match (value, negative) {
        (Some(value), false) => Node::uint(value),
        (Some(value), true) if value <= 1 << 63 => Node::int((value as i64).wrapping_neg()),
        (_, true) => Node::float(-float),
        (None, false) => Node::float(float),
    }
}

/// Returns the characters of a v-string's text.
pub(in crate::format::dumper) fn parse_v_string_numbers(text: &[u8]) -> impl Iterator<Item = Option<u64>> {
    let digits = text.strip_prefix(b"v").unwrap_or(text);
    digits.split(|byte| *byte == b'.').map(|part| {
        part.iter()
            .filter(|byte| byte.is_ascii_digit())
            .try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;

    fn number(text: &str) -> Option<Number> {
        let mut lexer = Lexer::new(text.as_bytes(), b"");
        let negative = lexer.peek() == Some(b'-');
        lexer.position += usize::from(negative);
        let number = lexer.read_number(negative).ok()?;
        (lexer.position == text.len()).then_some(number)
    }

    #[test]
    fn integers_of_every_form_are_read() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("42", 42),
            ("-42", -42),
            ("1_000", 1000),
            ("0x1f", 31),
            ("-0X1_F", -31),
            ("0b11", 3),
            ("0o17", 15),
            ("017", 15),
            ("00", 0),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(number(text), Some(Number::Node(Node::int(value))), "{text}");
        }
        assert_eq!(number("18446744073709551615"), Some(Number::Node(Node::uint(u64::MAX))));
    }

    #[test]
    fn floats_and_too_large_integers_are_read_as_floats() {
        for (text, value) in [
            ("1.5", 1.5),
            ("-1.5e3", -1500.0),
            (".5", 0.5),
            ("1.", 1.0),
            ("1e3", 1000.0),
            ("1_0.2_5", 10.25),
            ("18446744073709551616", 18446744073709551616.0),
            ("-9223372036854775809", -9223372036854775808.0),
            ("0xffffffffffffffff0", 295147905179352825840.0),
        ] {
            assert_eq!(number(text), Some(Number::Node(Node::float(value))), "{text}");
        }
        let Some(Number::Node(zero)) = number("-0.0") else { panic!() };
        assert!(zero.kind == Kind::Float && zero.payload == (-0.0f64).to_bits());
    }

    #[test]
    fn other_texts_are_not_numbers() {
        for text in ["08", "1x", "0x", "0xg", "1e", "12abc", "0b2"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(number("1.22.333"), Some(Number::VString(0, 8)));
    }
}
