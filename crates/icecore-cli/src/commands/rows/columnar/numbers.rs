//! Texts of floats and decimals.

use std::ops::RangeInclusive;

/// The exponents of ten of floats that are written without one.
const PLAIN_EXPONENTS: RangeInclusive<i32> = -5..=9;
/// Longer than the digits of any float.
const MAX_DIGITS: usize = 24;

/// Writes a float as JSON: its shortest digits that read back as the same float, with a point. What is not finite has
/// no text in JSON, and is null.
pub fn print_float<F: zmij::Float + Copy + Into<f64>>(value: F, out: &mut Vec<u8>) {
    let number: f64 = value.into();
    if !number.is_finite() {
        return out.extend_from_slice(b"null");
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    // Both write these in the same way.
    if number == 0.0 || (1e-4..1e10).contains(&number.abs()) {
        return out.extend_from_slice(text.as_bytes());
    }
    print_with_exponent(text, out);
}

/// Writes a float that may need an exponent.
fn print_with_exponent(text: &str, out: &mut Vec<u8>) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut buffer = [0; MAX_DIGITS];
    let (mut len, mut leading_zeros) = (0, 0);
    for digit in whole.bytes().chain(fraction.bytes()) {
        if len == 0 && digit == b'0' {
            leading_zeros += 1;
        } else if let Some(slot) = buffer.get_mut(len) {
            (*slot, len) = (digit, len + 1);
        }
    }
    let exponent = exponent.parse::<i32>().unwrap_or(0) + whole.len() as i32 - leading_zeros - 1;
    if PLAIN_EXPONENTS.contains(&exponent) {
        return out.extend_from_slice(text.as_bytes());
    }
    while len > 1 && buffer[len - 1] == b'0' {
        len -= 1;
    }
    let [first, rest @ ..] = &buffer[..len] else { return };
    if unsigned.len() < mantissa.len() {
        out.push(b'-');
    }
    out.extend_from_slice(&[*first, b'.']);
    out.extend_from_slice(if rest.is_empty() { b"0" } else { rest });
    out.push(b'e');
    out.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
}

/// Writes a decimal: an integer that has so many digits after its point, or so many zeros more if `scale` is negative.
pub fn print_decimal(integer: &str, scale: i8, out: &mut Vec<u8>) {
    let digits = integer.strip_prefix('-').unwrap_or(integer);
    if digits.len() < integer.len() {
        out.push(b'-');
    }
    let places = usize::from(scale.unsigned_abs());
    match digits.len().checked_sub(places) {
        _ if scale == 0 || digits == "0" && scale < 0 => out.extend_from_slice(digits.as_bytes()),
        _ if scale < 0 => {
            out.extend_from_slice(digits.as_bytes());
            out.resize(out.len() + places, b'0');
        }
        Some(point @ 1..) => {
            out.extend_from_slice(&digits.as_bytes()[..point]);
            out.push(b'.');
            out.extend_from_slice(&digits.as_bytes()[point..]);
        }
        _ => {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + places - digits.len(), b'0');
            out.extend_from_slice(digits.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{print_decimal, print_float};

    #[test]
    fn floats_are_json() {
        let text = |value: f64| {
            let mut out = Vec::new();
            print_float(value, &mut out);
            String::from_utf8(out).expect("text")
        };
        for (value, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.5, "1.5"),
            (-123_456_789.25, "-123456789.25"),
            (9_999_999_999.0, "9999999999.0"),
            (1e10, "1.0e10"),
            (-12_345_678_901.5, "-1.23456789015e10"),
            (1e15, "1.0e15"),
            (1e16, "1.0e16"),
            (1e-4, "0.0001"),
            (1e-5, "0.00001"),
            (1.25e-5, "0.0000125"),
            (-1e-6, "-1.0e-6"),
            (1e300, "1.0e300"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5.0e-324"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
        ] {
            assert_eq!(text(value), expected);
        }
        let mut out = Vec::new();
        [0.1_f32, 1e-5, 9_999_999_000.0, 1e10, f32::MAX, 1e-45].into_iter().for_each(|value| {
            print_float(value, &mut out);
            out.push(b' ');
        });
        assert_eq!(out, b"0.1 0.00001 9999999000.0 1.0e10 3.4028235e38 1.0e-45 ");
    }

    #[test]
    fn decimals_keep_all_digits() {
        for (integer, scale, expected) in [
            ("0", 0, "0"),
            ("0", 2, "0.00"),
            ("0", -2, "0"),
            ("-7", 0, "-7"),
            ("-7", 1, "-0.7"),
            ("7", 3, "0.007"),
            ("123", 2, "1.23"),
            ("-123", 3, "-0.123"),
            ("12", -3, "12000"),
        ] {
            let mut out = Vec::new();
            print_decimal(integer, scale, &mut out);
            assert_eq!(String::from_utf8(out).expect("text"), expected, "{integer} {scale}");
        }
    }
}
