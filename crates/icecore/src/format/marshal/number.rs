//! Marshal's integers and floats.

use crate::num::decimal::{POWERS, few_digits};
use crate::num::float128;

/// Appends a fixnum: a byte for small ones, otherwise a count and little-endian bytes.
pub(super) fn push_integer(value: i64, buf: &mut Vec<u8>) {
    match value {
        0 => buf.push(0),
        1..=122 => buf.push(value as u8 + 5),
        -123..=-1 => buf.push((value - 5) as u8),
        _ => {
            let bytes = value.to_le_bytes();
            let filler = if value < 0 { 0xFF } else { 0 };
            let len = bytes.iter().rposition(|byte| *byte != filler).map_or(1, |last| last + 1);
            buf.push(if value < 0 { (len as u8).wrapping_neg() } else { len as u8 });
            buf.extend_from_slice(&bytes[..len]);
        }
    }
}

/// Returns `true` if Ruby writes this integer as a fixnum.
pub(super) fn is_fixnum(value: i64) -> bool {
    (-(1 << 30)..1 << 30).contains(&value)
}

/// Returns `true` if a 64-bit Ruby stores this float in the reference itself. All equal floats of this kind are the
/// same object, so later ones are links.
pub(super) fn is_immediate(bits: u64) -> bool {
    bits == 0 || matches!(bits >> 60 & 7, 3 | 4) && bits != 0x3000_0000_0000_0000
}

/// Appends the text that Ruby writes for a float.
pub(super) fn push_float(value: f64, buf: &mut Vec<u8>) {
    if value.is_nan() {
        return buf.extend_from_slice(b"nan");
    }
    if value.is_sign_negative() {
        buf.push(b'-');
    }
    if value.is_infinite() {
        return buf.extend_from_slice(b"inf");
    }
    if value == 0.0 {
        return buf.push(b'0');
    }
    if let Some((digits, scale)) = few_digits(value.abs()) {
        let mut int_buffer = itoa::Buffer::new();
        let ten = POWERS[scale];
        buf.extend_from_slice(int_buffer.format(digits / ten).as_bytes());
        if scale > 0 {
            // A 1 is put before the digits after the point, so that leading zeros among them are written. Then the
            // point replaces this 1.
            let point = buf.len();
            buf.extend_from_slice(int_buffer.format(ten + digits % ten).as_bytes());
            buf[point] = b'.';
        }
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value.abs());
    if let Some(same) = strip_plain_decimal(text.as_bytes()) {
        return buf.extend_from_slice(same);
    }
    push_decimal(text, buf);
}

/// Appends a decimal number above zero as Ruby writes it.
fn push_decimal(text: &str, buf: &mut Vec<u8>) {
    let (digits, len, point) = split_decimal(text);
    let digits = &digits[..len];
    let count = len as i32;
    if point < -3 || point > count {
        buf.push(digits[0]);
        if len > 1 {
            buf.push(b'.');
            buf.extend_from_slice(&digits[1..]);
        }
        buf.push(b'e');
        buf.extend_from_slice(itoa::Buffer::new().format(point - 1).as_bytes());
    } else if point > 0 {
        let (integer_part, rest) = digits.split_at(point as usize);
        buf.extend_from_slice(integer_part);
        if !rest.is_empty() {
            buf.push(b'.');
            buf.extend_from_slice(rest);
        }
    } else {
        buf.extend_from_slice(b"0.");
        buf.resize(buf.len() + point.unsigned_abs() as usize, b'0');
        buf.extend_from_slice(digits);
    }
}

/// Returns the part of this text that Ruby writes, too. `None` if Ruby writes, or may
/// write, an exponent.
#[inline]
fn strip_plain_decimal(text: &[u8]) -> Option<&[u8]> {
    if text.starts_with(b"0.0000") || text.contains(&b'e') {
        return None;
    }
    match text {
        [integer_part @ .., b'.', b'0'] => {
            integer_part.last().is_some_and(|last| *last != b'0').then_some(integer_part)
        }
        _ => Some(text),
    }
}

/// Returns the digits of a decimal number without zeros at either end, their number,
/// and how many of them are before the point.
fn split_decimal(text: &str) -> ([u8; 32], usize, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mut digits = [0; 32];
    let (mut len, mut point, mut is_past_point) = (0, 0, false);
    for byte in mantissa.bytes() {
        if byte == b'.' {
            is_past_point = true;
        } else if len == 0 && byte == b'0' {
            point -= i32::from(is_past_point);
        } else {
            digits[len.min(31)] = byte;
            len = (len + 1).min(31);
            point += i32::from(!is_past_point);
        }
    }
    while len > 1 && digits[len - 1] == b'0' {
        len -= 1;
    }
    (digits, len, point + exponent.parse::<i32>().unwrap_or(0))
}

/// Returns the float for a short decimal without an exponent, if its digits and its
/// power of ten are exact floats, so that one division is enough.
#[inline]
pub(super) fn parse_short_float(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > 17 || !digits.first()?.is_ascii_digit() || !digits.last()?.is_ascii_digit() {
        return None;
    }
    let (mut mantissa, mut point) = (0u64, digits.len() - 1);
    for (index, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => mantissa = mantissa * 10 + u64::from(byte - b'0'),
            b'.' if point == digits.len() - 1 => point = index,
            _ => return None,
        }
    }
    if mantissa > 1 << 53 {
        return None;
    }
    let value = mantissa as f64 / TENS[digits.len() - 1 - point];
    Some(if negative { -value } else { value })
}

const TENS: [f64; 17] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];

/// Returns the float for this text, as Ruby reads it. `strtod` takes as much of the text as it can, and bytes of a
/// mantissa may follow. A text that is not a number is 0, so this does not fail.
pub(super) fn parse_float(text: &[u8]) -> f64 {
    // Ruby compares the text with a function of C, so it ends at the first NUL byte.
    let head = text.split(|byte| *byte == 0).next().unwrap_or(text);
    match head {
        b"nan" => return f64::NAN,
        b"inf" => return f64::INFINITY,
        b"-inf" => return f64::NEG_INFINITY,
        _ => {}
    }
    let len = measure_number(head);
    let value = match std::str::from_utf8(&head[..len]) {
        Ok(number) if head[..len].contains(&b'x') || head[..len].contains(&b'X') => parse_hexadecimal(number),
        Ok(number) => number.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']).parse().unwrap_or(0.0),
        Err(_) => 0.0,
    };
    add_mantissa(value, &text[len..])
}

/// Returns how much of the text `strtod` consumes.
fn measure_number(text: &[u8]) -> usize {
    let digits = |start: usize| text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut offset = text.iter().take_while(|byte| matches!(byte, b' ' | 9..=13)).count();
    offset += usize::from(matches!(text.get(offset), Some(b'+' | b'-')));
    if text.get(offset) == Some(&b'0') && matches!(text.get(offset + 1), Some(b'x' | b'X')) {
        let hex = text[offset + 2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        return if hex > 0 { offset + 2 + hex } else { offset + 1 };
    }
    let integer_len = digits(offset);
    offset += integer_len;
    if text.get(offset) == Some(&b'.') && digits(offset + 1) > 0 {
        offset += 1 + digits(offset + 1);
    } else if integer_len == 0 {
        return 0;
    }
    if matches!(text.get(offset), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(offset + 1), Some(b'+' | b'-')));
        if offset + 1 + sign <= text.len() && digits(offset + 1 + sign) > 0 {
            offset += 1 + sign + digits(offset + 1 + sign);
        }
    }
    offset
}

fn parse_hexadecimal(text: &str) -> f64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = digits
        .bytes()
        .skip(2)
        .fold(0.0, |sum, digit| sum * 16.0 + f64::from(char::from(digit).to_digit(16).unwrap_or(0)));
    if negative { -value } else { value }
}

/// Number of bits of the mantissa that the text provides, if more bytes follow.
const MANTISSA_BITS: i32 = 37;

/// Adds the lower bits of the mantissa. Ruby 1.6 to 1.8 wrote a text that was not exact, and after it a NUL byte and
/// these bits.
fn add_mantissa(value: f64, tail: &[u8]) -> f64 {
    let [0, tail @ ..] = tail else { return value };
    if tail.is_empty() || !value.is_finite() {
        return value;
    }
    let (fraction, exponent) = split_float(value);
    let mut mantissa = (fraction.abs() * 2f64.powi(MANTISSA_BITS)).trunc();
    let mut bits = 0;
    for chunk in tail.chunks(4).take(64) {
        bits += 8 * chunk.len() as i32;
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        // The power is applied in two steps, because one factor alone may be too small for a float.
        mantissa += f64::from(word) * 2f64.powi(-32) * 2f64.powi(32 - bits);
    }
    let exponent = exponent - MANTISSA_BITS;
    let half = exponent / 2;
    let joined = mantissa * 2f64.powi(half) * 2f64.powi(exponent - half);
    if value < 0.0 { -joined } else { joined }
}

/// Splits a float into a fraction of at least a half and a power of two.
fn split_float(value: f64) -> (f64, i32) {
    let bits = value.to_bits();
    match (bits >> 52 & 0x7FF) as i32 {
        _ if value == 0.0 => (0.0, 0),
        0 => {
            let (fraction, exponent) = split_float(value * 2f64.powi(64));
            (fraction, exponent - 64)
        }
        exponent => (f64::from_bits(bits & !(0x7FF << 52) | 1022 << 52), exponent - 1022),
    }
}

/// Returns the nearest float of a binary128, and whether it is the same number.
pub(super) fn narrow_float128(bytes: &[u8]) -> (f64, bool) {
    let bytes = bytes.try_into().unwrap_or([0; 16]);
    (float128::to_f64(&bytes), float128::to_f64_exact(&bytes).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_like_ruby() {
        for (value, text) in [
            (1.5, "1.5"),
            (100.0, "1e2"),
            (10.0, "1e1"),
            (12.0, "12"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e300, "1e300"),
            (-0.0, "-0"),
            (f64::NEG_INFINITY, "-inf"),
            (123456.789, "123456.789"),
            (5e-324, "5e-324"),
        ] {
            let text = if value == 0.00001 { "1e-5" } else { text };
            let mut out = Vec::new();
            push_float(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
            assert_eq!(parse_float(text.as_bytes()).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn fast_and_general_paths_write_the_same_floats() {
        let mut number = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0..200_000 {
            number = number.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
            let scale = 10f64.powi((round % 20) - 9);
            let value = (number >> (20 + round % 43)) as f64 / scale;
            let (mut buffer, mut out, mut long) = (zmij::Buffer::new(), Vec::new(), Vec::new());
            push_float(value, &mut out);
            if value != 0.0 {
                push_decimal(buffer.format_finite(value), &mut long);
                assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&long));
            }
            assert_eq!(parse_float(&out).to_bits(), value.to_bits());
            if let Some(short) = parse_short_float(&out) {
                assert_eq!(short.to_bits(), value.to_bits());
            }
        }
    }

    #[test]
    fn integers_take_few_bytes() {
        for (value, bytes) in [
            (0, &b"\0"[..]),
            (1, b"\x06"),
            (122, b"\x7f"),
            (123, b"\x01\x7b"),
            (-1, b"\xfa"),
            (-123, b"\x80"),
            (-124, b"\xff\x84"),
            (-256, b"\xff\x00"),
            (-257, b"\xfe\xff\xfe"),
            (65536, b"\x03\0\0\x01"),
        ] {
            let mut out = Vec::new();
            push_integer(value, &mut out);
            assert_eq!(out, bytes, "{value}");
        }
    }
}
