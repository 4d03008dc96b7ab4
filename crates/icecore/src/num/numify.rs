//! Conversion of strings to numbers by Perl's rules.

use std::borrow::Cow;

/// A number in the forms of a perl scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PerlNumber {
    /// The value as a float.
    pub(crate) float: f64,
    /// Whether it is negative, and the part before the point. `None` if that part is too large, or if the string has an
    /// exponent or does not end with the number.
    integer: Option<(bool, u64)>,
    /// Whether the whole string is a number.
    pub(crate) is_number: bool,
    /// Whether the text means infinity or not-a-number.
    pub(crate) is_special: bool,
}

const SPACE: &[u8] = b" \t\n\r\x0b\x0c";

impl PerlNumber {
    /// Returns the number at the beginning of a string; zero if there is none.
    pub(crate) fn from_text(text: &[u8]) -> PerlNumber {
        let front = text.iter().take_while(|byte| SPACE.contains(byte)).count();
        let rest = &text[front..];
        let negative = rest.first() == Some(&b'-');
        let unsigned = if negative || rest.first() == Some(&b'+') { &rest[1..] } else { rest };
        let syntax = NumericSyntax::from_text(unsigned);
        let is_rest_blank = |len: usize| unsigned[len..].iter().all(|byte| SPACE.contains(byte));
        if syntax.digits == 0 {
            return match parse_special(unsigned) {
                Some(float) => {
                    let float = if negative && float.is_infinite() { -float } else { float };
                    PerlNumber { float, integer: None, is_number: true, is_special: true }
                }
                None => PerlNumber { float: 0.0, integer: Some((false, 0)), is_number: false, is_special: false },
            };
        }
        let is_number = is_rest_blank(syntax.len);
        let magnitude = parse_decimal(&unsigned[..syntax.len]);
        let integer_value = (is_number && !syntax.has_exponent)
            .then(|| unsigned[..syntax.integer_len].iter().try_fold(0u64, |value, digit| append_digit(value, *digit)))
            .flatten();
        PerlNumber {
            float: if negative { -magnitude } else { magnitude },
            integer: integer_value.map(|value| (negative, value)),
            is_number,
            is_special: false,
        }
    }

    /// Returns the value as an integer of 64 bits, in two's complement, wrapped as perl does it; `None` if it is
    /// infinite or not a number.
    pub(crate) fn to_bits(self) -> Option<u64> {
        match self.integer {
            Some((false, value)) => Some(value),
            Some((true, value)) if value <= 1 << 63 => Some(value.wrapping_neg()),
            _ if self.is_special => None,
            _ => Some(float_bits(self.float)),
        }
    }
}

/// Returns a float as an integer of 64 bits, truncated and clamped.
pub(crate) fn float_bits(value: f64) -> u64 {
    // Casts saturate.
    if value < 0.0 { value as i64 as u64 } else { value as u64 }
}

fn append_digit(value: u64, digit: u8) -> Option<u64> {
    value.checked_mul(10)?.checked_add(u64::from(digit & 0x0F))
}

/// The structure of a number without its sign.
struct NumericSyntax {
    /// Length of the number.
    len: usize,
    /// Length up to its point or exponent.
    integer_len: usize,
    /// Number of digits before its exponent.
    digits: usize,
    has_exponent: bool,
}

impl NumericSyntax {
    fn from_text(text: &[u8]) -> NumericSyntax {
        let digits_from = |offset: usize| text[offset..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let integer_len = digits_from(0);
        let mut syntax = NumericSyntax { len: integer_len, integer_len, digits: integer_len, has_exponent: false };
        if text.get(integer_len) == Some(&b'.') {
            let fraction = digits_from(integer_len + 1);
            syntax.digits += fraction;
            syntax.len += 1 + fraction;
        }
        if syntax.digits > 0 && matches!(text.get(syntax.len), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(text.get(syntax.len + 1), Some(b'+' | b'-')));
            let digits = text.get(syntax.len + 1 + sign..).map_or(0, |_| digits_from(syntax.len + 1 + sign));
            if digits > 0 {
                syntax.len += 1 + sign + digits;
                syntax.has_exponent = true;
            }
        }
        syntax
    }
}

/// Returns the float with these digits, which were already validated.
fn parse_decimal(text: &[u8]) -> f64 {
    // The standard library does not accept a leading point.
    let text: Cow<'_, [u8]> = match text {
        [b'.', ..] => [b"0", text].concat().into(),
        _ => text.into(),
    };
    std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Parses `Inf`, `Infinity` and `NaN` in any case.
fn parse_special(text: &[u8]) -> Option<f64> {
    let starts = |word: &[u8]| text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word));
    if starts(b"inf") {
        Some(f64::INFINITY)
    } else if starts(b"nan") {
        // The NaN that perl uses.
        Some(f64::from_bits(0xFFF8 << 48))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::PerlNumber;

    #[test]
    fn strings_become_numbers_like_in_perl() {
        for (text, bits, float) in [
            ("", 0, 0.0),
            ("12abc", 12, 12.0),
            (" 12 ", 12, 12.0),
            ("-1", u64::MAX, -1.0),
            ("+7", 7, 7.0),
            ("3.99", 3, 3.99),
            (".5", 0, 0.5),
            ("5.", 5, 5.0),
            ("1e3", 1000, 1000.0),
            ("1e", 1, 1.0),
            ("0x1A", 0, 0.0),
            ("1_000", 1, 1.0),
            ("18446744073709551615", u64::MAX, 18446744073709551615.0),
            ("18446744073709551616", u64::MAX, 18446744073709551616.0),
            ("-9223372036854775808", 1 << 63, -9223372036854775808.0),
            ("-9223372036854775809", 1 << 63, -9223372036854775809.0),
            ("12345678901234567890.5", 12345678901234567890, 12345678901234567890.5),
        ] {
            let number = PerlNumber::from_text(text.as_bytes());
            assert_eq!((number.to_bits(), number.float), (Some(bits), float), "{text}");
        }
        assert_eq!(PerlNumber::from_text(b"-Infinity").float, f64::NEG_INFINITY);
        assert_eq!(PerlNumber::from_text(b"nan").to_bits(), None);
        assert_eq!(PerlNumber::from_text(b"1e999").to_bits(), Some(u64::MAX));
    }
}
