//! Numbers.

use super::lex::Lexer;
use crate::error::{Error, ErrorKind};

/// A PHP number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// Returns the negated number. The smallest integer has no positive counterpart, so
    /// the result is a float.
    pub(super) fn negated(self) -> Number {
        match self {
            Number::Int(value) => value.checked_neg().map_or_else(|| Number::Float(-(value as f64)), Number::Int),
            Number::Float(value) => Number::Float(-value),
        }
    }
}

impl Lexer<'_> {
    /// Reads a number without sign.
    pub(super) fn read_number(&mut self) -> Result<Number, Error> {
        let start = self.offset;
        if self.peek() == Some(b'0') {
            let radix = match self.byte_at(start + 1) {
                Some(b'x' | b'X') => 16,
                Some(b'b' | b'B') => 2,
                Some(b'o' | b'O') => 8,
                _ => 10,
            };
            if radix != 10 {
                self.offset += 2;
                let digits = self.read_digits(radix);
                if digits.is_empty() {
                    return Err(self.unexpected_byte_error(self.offset, "digits"));
                }
                return Ok(parse_radix(&digits, radix));
            }
        }
        let mut text = self.read_digits(10);
        let mut is_float = false;
        if self.peek() == Some(b'.')
            && (!text.is_empty() || self.byte_at(self.offset + 1).is_some_and(|b| b.is_ascii_digit()))
        {
            is_float = true;
            self.offset += 1;
            text.push(b'.');
            text.extend(self.read_digits(10));
        }
        if let Some(b'e' | b'E') = self.peek() {
            let sign = usize::from(matches!(self.byte_at(self.offset + 1), Some(b'+' | b'-')));
            if self.byte_at(self.offset + 1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                is_float = true;
                text.push(b'e');
                text.extend_from_slice(&self.input[self.offset + 1..self.offset + 1 + sign]);
                self.offset += 1 + sign;
                text.extend(self.read_digits(10));
            } else if self.byte_at(self.offset + 1 + sign).is_none() && !text.is_empty() {
                return Err(self.unexpected_byte_error(self.input.len(), "the digits of the exponent"));
            }
        }
        if !is_float && text.len() > 1 && text[0] == b'0' {
            return match text.iter().position(|digit| *digit > b'7') {
                Some(_) => Err(Error::new(ErrorKind::Malformed)
                    .at(start)
                    .expecting("octal digits after the leading 0")
                    .finding("8 or 9")),
                None => Ok(parse_radix(&text, 8)),
            };
        }
        let text = std::str::from_utf8(&text).unwrap_or("");
        match text.parse::<i64>() {
            Ok(value) if !is_float => Ok(Number::Int(value)),
            _ => text.parse().map(Number::Float).map_err(|_| self.unexpected_byte_error(start, "a number")),
        }
    }

    /// Reads digits, with optional single `_` between them.
    fn read_digits(&mut self, radix: u32) -> Vec<u8> {
        let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| char::from(byte).is_digit(radix));
        let mut digits = Vec::new();
        while let Some(byte) = self.peek() {
            if is_digit(Some(byte)) {
                digits.push(byte);
            } else if !(byte == b'_' && !digits.is_empty() && is_digit(self.byte_at(self.offset + 1))) {
                break;
            }
            self.offset += 1;
        }
        digits
    }
}

/// Converts digits to an integer; if there are too many, to a float, computed as PHP
/// does.
fn parse_radix(digits: &[u8], radix: u32) -> Number {
    let value_of = |digit: u8| char::from(digit).to_digit(radix).unwrap_or(0);
    let integer = digits
        .iter()
        .try_fold(0i64, |value, digit| value.checked_mul(i64::from(radix))?.checked_add(value_of(*digit).into()));
    let scale = f64::from(radix);
    integer.map_or_else(
        || {
            Number::Float(digits.iter().fold(0.0, |value, digit| match radix {
                16 => value * scale + f64::from(value_of(*digit)),
                // PHP adds the letter and subtracts '0' again: both steps round.
                _ => value * scale + f64::from(*digit) - f64::from(b'0'),
            }))
        },
        Number::Int,
    )
}

/// Returns the integer that PHP makes of a float used as an array key.
pub(super) fn float_key(value: f64) -> i64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if !value.is_finite() {
        return 0;
    }
    if (-HALF..HALF).contains(&value) {
        return value as i64;
    }
    let mut rest = value % (2.0 * HALF);
    if rest < 0.0 {
        rest += 2.0 * HALF;
    }
    if rest >= HALF {
        rest -= 2.0 * HALF;
    }
    rest as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_like_php() {
        for (text, number) in [
            ("0", Number::Int(0)),
            ("0x7fffffffffffffff", Number::Int(i64::MAX)),
            ("017_1", Number::Int(121)),
            ("0o17", Number::Int(15)),
            ("0b11", Number::Int(3)),
            ("1_000", Number::Int(1000)),
            ("9223372036854775808", Number::Float(9_223_372_036_854_775_808.0)),
            ("0xfffffffffffffffff", Number::Float(2.9514790517935283e20)),
            (
                "0b1000000000000000000000000000000000000000000000000000010000000000",
                Number::Float(9223372036854774784.0),
            ),
            ("0777777777777777777777777", Number::Float(4.722366482869645e21)),
            ("09.5", Number::Float(9.5)),
            ("5.", Number::Float(5.0)),
            (".5", Number::Float(0.5)),
            ("1.e5", Number::Float(1e5)),
            ("1e1000", Number::Float(f64::INFINITY)),
        ] {
            let mut lexer = Lexer { input: text.as_bytes(), offset: 0 };
            assert_eq!(lexer.read_number().unwrap(), number, "{text}");
            assert_eq!(lexer.offset, text.len(), "{text}");
        }
        for text in ["08", "0x", "0x_1"] {
            assert!(Lexer { input: text.as_bytes(), offset: 0 }.read_number().is_err(), "{text}");
        }
    }

    #[test]
    fn keys_wrap_around_as_in_php() {
        assert_eq!(float_key(-1.9), -1);
        assert_eq!(float_key(1e19), -8446744073709551616);
        assert_eq!(float_key(-1e19), 8446744073709551616);
        assert_eq!(float_key(3e19), -6893488147419103232);
        assert_eq!(float_key(1e300), 0);
        assert_eq!(float_key(f64::NAN), 0);
    }
}
