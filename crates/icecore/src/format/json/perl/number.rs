//! Floats as perl's modules print them.

use super::{NonFiniteStyle, Style};
use crate::num::general::format_percent_g;

/// Returns a finite float as C's `%.15g` prints it. With `point_zero`, an integral float
/// gets a `.0`.
pub(in crate::format::json) fn format_float(value: f64, point_zero: bool) -> String {
    let mut text = format_percent_g(value);
    if point_zero && value.fract() == 0.0 && !text.contains(['.', 'e']) {
        text.push_str(".0");
    }
    text
}

/// Returns the word that C prints for infinity and "not a number". The latter has a
/// sign too, unless it is `unified`.
pub(in crate::format::json) fn non_finite_word(value: f64, unified: bool) -> &'static str {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, true) if !unified => "-nan",
        (true, _) => "nan",
        (_, true) => "-inf",
        _ => "inf",
    }
}

/// Writes a float.
pub(super) fn write_float(value: f64, style: &Style, out: &mut Vec<u8>) {
    if value.is_finite() {
        return out.extend_from_slice(format_float(value, style.point_zero).as_bytes());
    }
    let word = non_finite_word(value, style.inf_nan == NonFiniteStyle::Unified);
    match style.inf_nan {
        NonFiniteStyle::Null => out.extend_from_slice(b"null"),
        NonFiniteStyle::Bare => out.extend_from_slice(word.as_bytes()),
        NonFiniteStyle::Quoted | NonFiniteStyle::Unified => out.extend_from_slice(format!("\"{word}\"").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_floats_get_a_point_and_a_zero() {
        for (value, text) in [(3.0, "3.0"), (0.5, "0.5"), (123_456_789_012_345.6, "123456789012346"), (1e15, "1e+15")] {
            assert_eq!(format_float(value, true), text);
        }
        assert_eq!(format_float(3.0, false), "3");
    }
}
