//! Conversion of values to numbers and texts, without any loss.

use crate::view::{TapeView, Value};

/// An integer type of Arrow whose values fit in an `i64`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Integer {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
}

impl Integer {
    #[inline]
    pub(super) fn can_hold(self, value: i64) -> bool {
        match self {
            Integer::I64 => true,
            Integer::I8 => i8::try_from(value).is_ok(),
            Integer::I16 => i16::try_from(value).is_ok(),
            Integer::I32 => i32::try_from(value).is_ok(),
            Integer::U8 => u8::try_from(value).is_ok(),
            Integer::U16 => u16::try_from(value).is_ok(),
            Integer::U32 => u32::try_from(value).is_ok(),
        }
    }
}

/// Returns the value as an integer. Text counts if it is written like an integer.
#[inline]
pub(super) fn to_integer(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        Value::Text(text) => parse_integer(text),
        Value::Float(value) => {
            let integer = *value as i64;
            // The cast turns 2^63 into the largest integer, 2^63 - 1. This is a different value, so it is refused.
            (integer as f64 == *value && integer != i64::MAX).then_some(integer)
        }
        _ => None,
    }
}

pub(super) fn to_unsigned(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Uint(value) => Some(*value),
        Value::Text(text) => parse_integer(text),
        value => to_integer(value).and_then(|value| u64::try_from(value).ok()),
    }
}

/// Parses an integer in its usual form. A plus sign, leading zeros and `-0` are refused, because the integer would
/// not preserve such a text.
pub(super) fn parse_integer<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_usual = match digits {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if is_usual { std::str::from_utf8(text).ok()?.parse().ok() } else { None }
}

#[inline]
pub(super) fn to_float(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Int(value) => (*value as f64 as i128 == i128::from(*value)).then_some(*value as f64),
        Value::Uint(value) => (*value as f64 as u128 == u128::from(*value)).then_some(*value as f64),
        Value::Text(text) => {
            let text = std::str::from_utf8(text).ok()?;
            let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
            text.parse().ok().filter(|value: &f64| is_decimal && value.is_finite())
        }
        _ => None,
    }
}

pub(super) fn to_float32(value: &Value<'_>) -> Option<f32> {
    let wide = to_float(value)?;
    (f64::from(wide as f32) == wide || wide.is_nan()).then_some(wide as f32)
}

/// Calls `push` with the text of a value. Numbers are converted to text. Returns `false` if the value has no text, or
/// if `push` does.
#[inline]
pub(super) fn with_text(view: &TapeView<'_>, node: u32, value: &Value<'_>, push: impl FnOnce(&[u8]) -> bool) -> bool {
    match value {
        Value::Text(text) if text.is_ascii() => push(text),
        Value::Text(bytes) => view.make_text(node, bytes).is_some_and(|text| push(text.as_bytes())),
        Value::Int(value) => push(itoa::Buffer::new().format(*value).as_bytes()),
        Value::Uint(value) => push(itoa::Buffer::new().format(*value).as_bytes()),
        _ => false,
    }
}
