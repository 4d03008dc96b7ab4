//! Texts of floats and decimals.

/// The first digit of floats that are written without an exponent is at most so many places after the point.
const MAX_PLAIN_PLACE: usize = 5;

/// Writes a float as JSON: its shortest digits that read back as the same float, with a point. What is not finite has
/// no text in JSON, and is null.
pub fn print_double(value: f64, out: &mut Vec<u8>) {
    if !value.is_finite() {
        return out.extend_from_slice(b"null");
    }
    print_shortest(value, zmij::Buffer::new().format_finite(value), out);
}

/// The same for a float of 32 bits. Of two texts that are equally near, the one that is farther from zero is written; and
/// none that is in the middle between a float and the next one to zero, though it would be read as that float.
pub fn print_single(value: f32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        return out.extend_from_slice(b"null");
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    if value.abs() >= LEAST_WITH_SHORT_MIDDLE && is_middle_to_zero(value, text) {
        return print_shortest(value.into(), &nearest_digits(value), out);
    }
    print_shortest(value.into(), text, out);
    if is_tie(value, text)
        && let Some(last) = out.last_mut()
    {
        // It is even.
        *last += 1;
    }
}

/// Below 2^25, what is in the middle between two floats has more digits than they have.
const LEAST_WITH_SHORT_MIDDLE: f32 = 33_554_432.0;

/// Returns the distance of a float above 2^24 to its neighbours; `None` for powers of two, which have two distances.
fn step(value: f32) -> Option<u128> {
    (!is_power_of_two(value)).then(|| 1 << ((value.to_bits() << 1 >> 24) - 150))
}

fn is_power_of_two(value: f32) -> bool {
    value.to_bits() << 9 == 0
}

fn is_middle_to_zero(value: f32, text: &str) -> bool {
    let middle = step(value).map(|step| f64::from(value.abs()) - (step / 2) as f64);
    middle.is_some() && text.trim_start_matches('-').parse().ok() == middle
}

/// Returns the digits of a float above 2^24 up to the last one that tells it from its neighbours.
fn nearest_digits(value: f32) -> String {
    let place = 10_u128.pow(step(value).unwrap_or(1).ilog10());
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}.0", (value.abs() as u128 + place / 2) / place * place)
}

/// Returns whether a float is in the middle between its shortest text and the next one that is farther from zero.
fn is_tie(value: f32, text: &str) -> bool {
    /// Floats have 24 bits. So a decimal that is not a float itself, with half of a digit added, has at least 2^23 as
    /// its digits: seven of them. And for the sum to be a float, 5^places divides twice the digits plus one.
    const MIN_DIGITS: usize = 7;
    const MAX_PLACES: usize = 11;
    if text.len() <= MIN_DIGITS
        || is_power_of_two(value)
        || !matches!(text.as_bytes().last(), Some(b'0' | b'2' | b'4' | b'6' | b'8'))
    {
        return false;
    }
    let Some((whole, fraction)) = text.split_once('.').filter(|(_, fraction)| fraction.len() <= MAX_PLACES) else {
        return false;
    };
    let digits = whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit);
    let digits = digits.fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0'));
    // Both sides are exact: a float has 24 bits, and 5^11 has 26.
    f64::from(value.abs()) * 2.0 * 10_f64.powi(fraction.len() as i32) == (2 * digits + 1) as f64
}

fn print_shortest(value: f64, text: &str, out: &mut Vec<u8>) {
    // Most floats have the same text here and there.
    if value == 0.0 || (1e-4..1e10).contains(&value.abs()) {
        return out.extend_from_slice(text.as_bytes());
    }
    print_with_exponent(text, out);
}

/// Writes a float that is 1e10 or more, or less than 1e-4, with an exponent. Only from 1e-5 on it has none.
fn print_with_exponent(text: &str, out: &mut Vec<u8>) {
    /// `e-308`
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
        // The point moves behind the first digit.
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

/// Takes zeros from the end of a number that starts with a digit and a point, and leaves one digit after the point.
fn trim_zeros(start: usize, out: &mut Vec<u8>) {
    let shortest = start + "1.0".len();
    let zeros = out[shortest..].iter().rev().take_while(|digit| **digit == b'0').count();
    out.truncate(out.len() - zeros);
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
    use super::{print_decimal, print_double, print_single};

    #[test]
    fn floats_are_json() {
        let text = |value: f64| {
            let mut out = Vec::new();
            print_double(value, &mut out);
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
        let ties = [0.002_441_406_3, -6.019_531_3, 0.000_244_140_63, 97_296_864.0];
        [0.1_f32, 1e-5, 9_999_999_000.0, 1e10, f32::MAX, 1e-45].into_iter().chain(ties).for_each(|value| {
            print_single(value, &mut out);
            out.push(b' ');
        });
        assert_eq!(
            out,
            b"0.1 0.00001 9999999000.0 1.0e10 3.4028235e38 1.0e-45 0.0024414063 -6.0195313 0.00024414062 97296864.0 "
        );
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
