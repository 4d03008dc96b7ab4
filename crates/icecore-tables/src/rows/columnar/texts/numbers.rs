//! Texts of integers, floats and decimals.

/// A float without an exponent has its first digit at most this number of places after the point.
const MAX_PLAIN_PLACE: usize = 5;

/// Writes an integer.
pub fn print_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Writes a float of 32 or 64 bits as JSON: its shortest digits that read back as the same float, with a point.
/// Infinities and NaN have no text in JSON, and become null.
pub fn print_float<F: zmij::Float + Into<f64> + Copy>(value: F, out: &mut Vec<u8>) {
    let double: f64 = value.into();
    if !double.is_finite() {
        return out.extend_from_slice(b"null");
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    // Most floats have no exponent, neither here nor in the text of zmij.
    if double == 0.0 || (1e-4..1e10).contains(&double.abs()) {
        return out.extend_from_slice(text.as_bytes());
    }
    print_with_exponent(text, out);
}

/// Writes a float of at least 1e10, or of less than 1e-4. It gets an exponent, except from 1e-5 up to 1e-4.
fn print_with_exponent(text: &str, out: &mut Vec<u8>) {
    /// Length of `e-308`.
    const LONGEST_EXPONENT: usize = 5;
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if digits.len() < text.len() {
        out.push(b'-');
    }
    let tail = digits.len().saturating_sub(LONGEST_EXPONENT);
    if let Some(place) = digits[tail..].iter().position(|byte| *byte == b'e') {
        let (mantissa, exponent) = digits.split_at(tail + place);
        out.extend_from_slice(mantissa);
        out.extend_from_slice(if mantissa.len() == 1 { b".0e" } else { b"e" });
        let exponent = &exponent[1..];
        return out.extend_from_slice(exponent.strip_prefix(b"+").unwrap_or(exponent));
    }
    let Some(point) = digits.iter().rposition(|byte| *byte == b'.') else { return out.extend_from_slice(digits) };
    if digits[0] == b'0' {
        print_small(digits, out);
    } else {
        let start = out.len();
        out.extend_from_slice(digits);
        // Moves the point after the first digit.
        out.copy_within(start + 1..start + point, start + 2);
        out[start + 1] = b'.';
        trim_zeros(start, out);
        let exponent = point as u32 - 1;
        out.extend_from_slice(&[b'e', b'0' + (exponent / 10) as u8, b'0' + (exponent % 10) as u8]);
    }
}

/// Writes a float whose text begins with `0.0000`.
fn print_small(text: &[u8], out: &mut Vec<u8>) {
    let Some(first) = text.iter().position(|byte| !matches!(byte, b'0' | b'.')) else { return };
    let place = first - 1;
    if place <= MAX_PLAIN_PLACE {
        return out.extend_from_slice(text);
    }
    out.extend_from_slice(&[text[first], b'.']);
    out.extend_from_slice(if first + 1 == text.len() { b"0" } else { &text[first + 1..] });
    out.extend_from_slice(b"e-");
    out.extend_from_slice(itoa::Buffer::new().format(place).as_bytes());
}

/// Removes zeros from the end of a number that starts with a digit and a point, and leaves one digit after the point.
fn trim_zeros(start: usize, out: &mut Vec<u8>) {
    let shortest = start + "1.0".len();
    let zeros = out[shortest..].iter().rev().take_while(|digit| **digit == b'0').count();
    out.truncate(out.len() - zeros);
}

/// Writes a decimal. It is an integer with `scale` digits after its point. If `scale` is negative, zeros are added
/// instead.
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
    fn floats_are_printed_as_json() {
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
    }

    #[test]
    fn floats_of_32_bits_get_their_shortest_digits() {
        let text = |value: f32| {
            let mut out = Vec::new();
            print_float(value, &mut out);
            String::from_utf8(out).expect("text")
        };
        for (value, expected) in [
            (0.1, "0.1"),
            (1e-5, "0.00001"),
            (9_999_999_000.0, "9999999000.0"),
            (1e10, "1.0e10"),
            (f32::MAX, "3.4028235e38"),
            (1e-45, "1.0e-45"),
            // If two texts are equally near, the last digit is even.
            (0.002_441_406_2, "0.0024414062"),
            (-6.019_531, "-6.019531"),
        ] {
            assert_eq!(text(value), expected);
        }
        // Counts the digits without zeros at the ends and without an exponent.
        let digits = |text: &str| {
            let mantissa = text.split('e').next().unwrap_or_default().replace('.', "");
            mantissa.trim_matches('0').len()
        };
        for bits in (0..0x7F80_0000).step_by(9_973) {
            let (value, text) = (f32::from_bits(bits), text(f32::from_bits(bits)));
            assert_eq!(text.parse(), Ok(value), "{text}");
            assert_eq!(digits(&text), digits(&format!("{value:e}")), "{text}");
        }
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
