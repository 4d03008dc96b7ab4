//! Numbers, and the ends of ranges, as Ruby's `to_s` shows them.

use super::Known;
use crate::document::{Cursor, Value};
use crate::limits::Limits;
use crate::num::bigint;

/// Maximum number of zeros in a decimal that is written without an exponent.
const MAX_ZEROS: i64 = 40;

/// Returns the text of an integer of any size.
pub(super) fn format_integer(value: Cursor<'_>, limits: &Limits) -> Option<String> {
    match value.target().value() {
        Value::Int(value) => Some(value.to_string()),
        Value::Uint(value) => Some(value.to_string()),
        Value::BigInt(value) if !bigint::exceeds(value.magnitude, limits.digits) => {
            let mut digits = Vec::new();
            bigint::push_decimal(value.negative, value.magnitude, &mut digits);
            String::from_utf8(digits).ok()
        }
        _ => None,
    }
}

/// Returns the text of a number that may be part of a complex number.
fn format_real(value: Cursor<'_>, limits: &Limits) -> Option<String> {
    let value = value.target();
    match value.value() {
        Value::Float(float) => Some(self::format_float(float)),
        Value::Opaque(..) => match Known::of(value)? {
            Known::Rational { numerator, denominator } => format_rational(numerator, denominator, limits),
            Known::Decimal(text) => Some(format_decimal(text)),
            _ => None,
        },
        _ => format_integer(value, limits),
    }
}

pub(super) fn format_rational(numerator: Cursor<'_>, denominator: Cursor<'_>, limits: &Limits) -> Option<String> {
    Some(format!("{}/{}", format_integer(numerator, limits)?, format_integer(denominator, limits)?))
}

pub(super) fn format_complex(re: Cursor<'_>, im: Cursor<'_>, limits: &Limits) -> Option<String> {
    let (re, im) = (format_real(re, limits)?, format_real(im, limits)?);
    let sign = if im.starts_with('-') { "" } else { "+" };
    // Ruby writes `1+NaN*i`, but `1+2i`.
    let star = if im.ends_with(|c: char| c.is_ascii_digit()) { "" } else { "*" };
    Some(format!("{re}{sign}{im}{star}i"))
}

/// Returns the text of an end of a range: nil, a number, a string or another value that can be text.
pub(super) fn format_range_end(value: Cursor<'_>, limits: &Limits) -> Option<String> {
    let value = value.target();
    match value.value() {
        Value::Null => Some(String::new()),
        Value::Float(_) | Value::Int(_) | Value::Uint(_) | Value::BigInt(_) => format_real(value, limits),
        Value::Text(_) | Value::Bytes(_) | Value::Encoded(..) | Value::Symbol(..) => value.as_str().map(str::to_owned),
        Value::Opaque(..) => Known::of(value)?.text(limits),
        _ => None,
    }
}

/// Returns the text of a float. Like Ruby, it uses an exponent for more than 15 digits before the point and for numbers
/// below 0.0001.
fn format_float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_infinite() {
        return format!("{sign}Infinity");
    }
    let (digits, point) = match value.abs() {
        0.0 => (b"0".to_vec(), 1),
        value => crate::num::shortest_digits(value),
    };
    let digits = String::from_utf8_lossy(&digits);
    match i64::from(point) - 1 {
        exponent @ -4..=14 => format!("{sign}{}", format_without_exponent(&digits, exponent + 1)),
        exponent => {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { "0" } else { rest };
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{first}.{rest}e{exponent_sign}{:02}", exponent.abs())
        }
    }
}

/// Returns the text of the number `0.DIGITS` times 10 to the power of `point`, without an exponent.
fn format_without_exponent(digits: &str, point: i64) -> String {
    let len = digits.len() as i64;
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    if point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else if point >= len {
        format!("{digits}{}.0", zeros(point - len))
    } else {
        let (integer_part, rest) = digits.split_at(point as usize);
        format!("{integer_part}.{rest}")
    }
}

/// Splits the text of a decimal such as `0.125e1` into sign, digits and exponent; `None` if it is not a decimal. The
/// digits of `NaN`, `Infinity` and zero are empty.
pub(super) fn split_decimal(text: &str) -> Option<(&str, &str, i64)> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    if matches!(rest, "Infinity" | "0.0") || text == "NaN" {
        return Some((sign, "", 0));
    }
    let (digits, exponent) = rest.strip_prefix("0.")?.split_once('e')?;
    let power = exponent.strip_prefix('-').unwrap_or(exponent);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (are_digits(digits) && are_digits(power)).then_some(())?;
    Some((sign, digits, exponent.parse().ok()?))
}

/// Returns the text of a `BigDecimal`: without an exponent, unless that needs many zeros.
pub(super) fn format_decimal(text: &str) -> String {
    match split_decimal(text) {
        Some((sign, digits, exponent)) if !digits.is_empty() => {
            let zeros =
                if exponent > 0 { exponent.saturating_sub(digits.len() as i64) } else { exponent.saturating_neg() };
            if zeros <= MAX_ZEROS {
                format!("{sign}{}", format_without_exponent(digits, exponent))
            } else {
                text.to_owned()
            }
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_without_exponent_are_used_if_short() {
        for (text, expected) in [
            ("0.125e1", "1.25"),
            ("-0.5e1", "-5.0"),
            ("0.1e3", "100.0"),
            ("0.1e-2", "0.001"),
            ("0.1e0", "0.1"),
            ("0.1e101", "0.1e101"),
            ("0.1e-99", "0.1e-99"),
            ("-0.0", "-0.0"),
            ("NaN", "NaN"),
            ("-Infinity", "-Infinity"),
        ] {
            assert_eq!(format_decimal(text), expected);
        }
        for text in ["", "1.5", "0.e1", "0.1", "0.1e", "-NaN", "0.1e99999999999999999999", "0.1e+1", "0.x1e1"] {
            assert!(split_decimal(text).is_none(), "{text}");
        }
    }
}
