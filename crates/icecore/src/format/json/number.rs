//! The grammar of numbers, their values, and how they are written.

use crate::document::{Kind, Node, flag};
use crate::num::FloatText;
use crate::num::bigint::{self, Integer};

/// Form of the bytes where a number is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberSyntax {
    /// An integer, up to this offset.
    Integer(usize),
    /// A number with a fraction or an exponent, up to this offset.
    Decimal(usize),
    /// Not a number: the offset of the error, and what was expected there.
    Broken(usize, &'static str),
}

/// Returns the form of the number that starts at `start`.
pub(super) fn classify_number(input: &[u8], start: usize) -> NumberSyntax {
    let digits = |mut offset: usize| {
        while input.get(offset).is_some_and(u8::is_ascii_digit) {
            offset += 1;
        }
        offset
    };
    let first = start + usize::from(input.get(start) == Some(&b'-'));
    let mut offset = digits(first);
    if offset == first {
        return NumberSyntax::Broken(offset, "a digit");
    }
    if offset > first + 1 && input[first] == b'0' {
        return NumberSyntax::Broken(first + 1, "no digit after a leading zero");
    }
    let integer_end = offset;
    if input.get(offset) == Some(&b'.') {
        let fraction = offset + 1;
        offset = digits(fraction);
        if offset == fraction {
            return NumberSyntax::Broken(offset, "a digit after the point");
        }
    }
    if matches!(input.get(offset), Some(b'e' | b'E')) {
        let sign = offset + 1;
        let exponent = sign + usize::from(matches!(input.get(sign), Some(b'+' | b'-')));
        offset = digits(exponent);
        if offset == exponent {
            return NumberSyntax::Broken(offset, "a digit of the exponent");
        }
    }
    if offset == integer_end { NumberSyntax::Integer(offset) } else { NumberSyntax::Decimal(offset) }
}

/// Returns the integer of up to 18 digits that starts at `start`, and its end. `None` for
/// anything else, also for longer numbers.
#[inline]
pub(super) fn parse_short_integer(input: &[u8], start: usize) -> Option<(i64, usize)> {
    let negative = *input.get(start)? == b'-';
    let first = start + usize::from(negative);
    let mut offset = first;
    let mut value = 0i64;
    while let Some(digit) = input.get(offset).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        // Beyond 18 digits this wraps; the value is then not used.
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
        offset += 1;
    }
    // Any 18 digits are below 2^63, so one check after the loop replaces one for each digit.
    let len = offset - first;
    if len == 0 || len > 18 || len > 1 && input[first] == b'0' || matches!(input.get(offset), Some(b'.' | b'e' | b'E'))
    {
        return None;
    }
    Some((if negative { -value } else { value }, offset))
}

/// Powers of ten that a double holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Returns the decimal `digits.digits` that starts at `start`, and its end, if one correctly
/// rounded division gives its value: at most 15 digits. `None` for anything else.
#[inline]
pub(super) fn parse_short_decimal(input: &[u8], start: usize) -> Option<(f64, usize)> {
    let negative = *input.get(start)? == b'-';
    let first = start + usize::from(negative);
    let (mut offset, mut value, mut point) = (first, 0u64, None);
    while let Some(byte) = input.get(offset) {
        match byte {
            b'0'..=b'9' => value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() => point = Some(offset),
            _ => break,
        }
        offset += 1;
    }
    let point = point?;
    let (integer_len, fraction_len) = (point - first, offset - point - 1);
    let is_default = integer_len > 0
        && fraction_len > 0
        && integer_len + fraction_len <= 15
        && (integer_len == 1 || input[first] != b'0');
    if !is_default || matches!(input.get(offset), Some(b'.' | b'e' | b'E')) {
        return None;
    }
    // 15 digits are below 2^53, so both numbers are exact, and a division of exact numbers
    // is rounded correctly.
    let value = value as f64 / TENS.get(fraction_len)?;
    Some((if negative { -value } else { value }, offset))
}

/// Returns the double nearest to a decimal; infinite if the decimal is beyond all doubles.
pub(super) fn parse_decimal(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Returns the significant digits of a decimal, and the power of ten that multiplies them.
pub(super) fn significant_digits(text: &[u8]) -> Option<(Vec<u8>, i64)> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mark = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (mantissa, exponent) = text.split_at(mark.unwrap_or(text.len()));
    let exponent = match exponent.get(1..) {
        Some(exponent) => std::str::from_utf8(exponent).ok()?.parse::<i64>().ok()?,
        None => 0,
    };
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let fraction = mantissa.len().saturating_sub(point + 1);
    let digits = mantissa.iter().copied().filter(|byte| *byte != b'.').skip_while(|digit| *digit == b'0');
    let mut digits: Vec<u8> = digits.collect();
    let mut power = exponent.checked_sub(fraction as i64)?;
    while digits.last() == Some(&b'0') {
        digits.pop();
        power = power.checked_add(1)?;
    }
    Some((digits, power))
}

/// 17 digits distinguish any two doubles. For a decimal with more digits there may be no
/// equal double.
pub(super) const DIGITS_OF_A_DOUBLE: usize = 17;

/// Returns `true` if a decimal has more digits than a double can represent. The length is checked
/// first, because most decimals are short.
pub(super) fn has_many_digits(text: &[u8]) -> bool {
    let mantissa = || text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let digits = || mantissa().filter(|byte| byte.is_ascii_digit()).skip_while(|digit| **digit == b'0');
    text.len() > DIGITS_OF_A_DOUBLE && digits().count() > DIGITS_OF_A_DOUBLE
}

/// Returns the node of an integer that fits into 64 bits, otherwise its sign and magnitude.
pub(super) fn parse_integer(text: &[u8]) -> Option<Result<Node, (bool, Vec<u8>)>> {
    Some(match Integer::parse(text)? {
        Integer::Int(value) => Ok(Node::int(value)),
        Integer::Uint(value) => Ok(Node::leaf(Kind::Uint, value)),
        Integer::Big { negative, magnitude } => Err((negative, magnitude)),
    })
}

/// Returns the default spelling of a number.
pub(super) fn canonical_text(node: &Node, bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    push_canonical(node, bytes, &mut text);
    text
}

/// Appends a number in its default spelling.
pub(super) fn push_canonical(node: &Node, bytes: &[u8], out: &mut Vec<u8>) {
    match node.kind {
        Kind::Int => out.extend_from_slice(itoa::Buffer::new().format(node.payload as i64).as_bytes()),
        Kind::Uint => out.extend_from_slice(itoa::Buffer::new().format(node.payload).as_bytes()),
        Kind::BigInt => bigint::push_decimal(node.has(flag::NEGATIVE), bytes, out),
        Kind::Float => out.extend_from_slice(FloatText::new().print(f64::from_bits(node.payload))),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_syntax_is_recognized() {
        for (text, expected) in [
            ("0", NumberSyntax::Integer(1)),
            ("-0,", NumberSyntax::Integer(2)),
            ("12x", NumberSyntax::Integer(2)),
            ("1.5", NumberSyntax::Decimal(3)),
            ("1e5", NumberSyntax::Decimal(3)),
            ("-1.25E-10]", NumberSyntax::Decimal(9)),
            ("0e+1", NumberSyntax::Decimal(4)),
            ("-", NumberSyntax::Broken(1, "a digit")),
            ("01", NumberSyntax::Broken(1, "no digit after a leading zero")),
            ("-00", NumberSyntax::Broken(2, "no digit after a leading zero")),
            ("1.", NumberSyntax::Broken(2, "a digit after the point")),
            ("1.e5", NumberSyntax::Broken(2, "a digit after the point")),
            ("1e", NumberSyntax::Broken(2, "a digit of the exponent")),
            ("1e+", NumberSyntax::Broken(3, "a digit of the exponent")),
        ] {
            assert_eq!(classify_number(text.as_bytes(), 0), expected, "{text}");
        }
    }

    #[test]
    fn fast_paths_agree_with_the_general_one() {
        let mut cases: Vec<String> =
            ["", "-", "0", "-0", "00", "01", "1", "-12", "1.", ".5", "1.5.2", "1e5", "1.5e3", "-0.0", "0.1", "1,5"]
                .map(String::from)
                .to_vec();
        for len in 1..25 {
            let digits = &"1234567890123456789012345"[..len];
            cases.extend([digits.to_owned(), format!("-{digits}"), format!("{digits}.5"), format!("0.{digits}")]);
        }
        for case in cases {
            let text = case.as_bytes();
            let syntax = classify_number(text, 0);
            if let Some((value, end)) = parse_short_integer(text, 0) {
                assert_eq!(syntax, NumberSyntax::Integer(end), "{case}");
                assert_eq!(case[..end].parse(), Ok(value));
            }
            if let Some((value, end)) = parse_short_decimal(text, 0) {
                assert_eq!(syntax, NumberSyntax::Decimal(end), "{case}");
                assert_eq!(case[..end].parse::<f64>().unwrap().to_bits(), value.to_bits());
            }
        }
        assert_eq!(parse_short_integer(b"123456789012345678", 0), Some((123_456_789_012_345_678, 18)));
        assert_eq!(parse_short_decimal(b"-1234567.12345678", 0), Some((-1234567.12345678, 17)));
    }
}
