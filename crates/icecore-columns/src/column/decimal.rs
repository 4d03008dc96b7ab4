//! Fixed-point numbers.

use crate::view::{TapeView, Value};
use icecore::{Known, Limits};
use std::fmt::Write;

/// Maximum length of a number as text. A longer one is not read, because it never fits.
const MAX_TEXT_LEN: usize = 400;

/// Returns a value as an integer in units of the last decimal place, or `None` if that would lose something. A float
/// is converted by its shortest digits.
pub(super) fn read_unscaled(view: &TapeView<'_>, node: u32, digits: u8, scale: i8) -> Option<i128> {
    let mut text = TextOnStack::default();
    let unscaled = match view.read_value(node) {
        Value::Int(value) => scale_integer(i128::from(value), scale)?,
        Value::Uint(value) => scale_integer(i128::from(value), scale)?,
        Value::Text(text) => parse_unscaled(text, scale)?,
        Value::Float(value) if value.is_finite() => {
            write!(text, "{value}").ok()?;
            parse_unscaled(text.as_bytes(), scale)?
        }
        _ => read_special_number(view, node, scale)?,
    };
    let bound = 10i128.checked_pow(u32::from(digits))?;
    (-bound + 1..bound).contains(&unscaled).then_some(unscaled)
}

/// Reads an integer of any size, or a `BigDecimal` of Ruby.
fn read_special_number(view: &TapeView<'_>, node: u32, scale: i8) -> Option<i128> {
    let value = view.document?.at(node)?;
    if let icecore::Value::BigInt(number) = value.value() {
        let mut bytes = [0; 16];
        bytes.get_mut(..number.magnitude.len())?.copy_from_slice(number.magnitude);
        let magnitude = i128::try_from(u128::from_le_bytes(bytes)).ok()?;
        return scale_integer(if number.negative { -magnitude } else { magnitude }, scale);
    }
    let known = Known::of(value).filter(|known| matches!(known, Known::Decimal(_)))?;
    parse_unscaled(known.text(&Limits::default())?.as_bytes(), scale)
}

fn scale_integer(value: i128, scale: i8) -> Option<i128> {
    value.checked_mul(10i128.checked_pow(u32::try_from(scale).ok()?)?)
}

/// Parses a number such as `-12.50` or `1e3`. Digits after the last decimal place must be zeros.
fn parse_unscaled(text: &[u8], scale: i8) -> Option<i128> {
    if text.len() > MAX_TEXT_LEN {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let digits = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (integer_part, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number =
        !integer_part.is_empty() && integer_part.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if !is_number || digits.ends_with('.') {
        return None;
    }
    let mut unscaled: i128 = 0;
    for byte in integer_part.bytes().chain(fraction.bytes()) {
        unscaled = unscaled.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
    }
    let places = i32::from(scale).checked_add(exponent)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10i128.checked_pow(places.unsigned_abs());
    let unscaled = match power {
        _ if unscaled == 0 => 0,
        Some(power) if places >= 0 => unscaled.checked_mul(power)?,
        Some(power) if unscaled % power == 0 => unscaled / power,
        _ => return None,
    };
    Some(if mantissa.starts_with('-') { -unscaled } else { unscaled })
}

/// A text on the stack, with space for the digits of any float.
struct TextOnStack {
    bytes: [u8; MAX_TEXT_LEN],
    len: usize,
}

impl Default for TextOnStack {
    fn default() -> TextOnStack {
        TextOnStack { bytes: [0; MAX_TEXT_LEN], len: 0 }
    }
}

impl TextOnStack {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Write for TextOnStack {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
