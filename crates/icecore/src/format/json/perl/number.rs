//! Floats as perl's modules print them.

use super::{InfNan, Style};
use crate::num::general;

/// Writes a float as C's `%.15g` does.
pub(super) fn put_float(value: f64, style: &Style, out: &mut Vec<u8>) {
    if !value.is_finite() {
        let word = match (value.is_nan(), value.is_sign_negative()) {
            (true, true) if style.inf_nan != InfNan::Unified => "-nan",
            (true, _) => "nan",
            (_, true) => "-inf",
            _ => "inf",
        };
        match style.inf_nan {
            InfNan::Null => out.extend_from_slice(b"null"),
            InfNan::Bare => out.extend_from_slice(word.as_bytes()),
            InfNan::Quoted | InfNan::Unified => out.extend_from_slice(format!("\"{word}\"").as_bytes()),
        }
        return;
    }
    let text = general::percent_g(value);
    out.extend_from_slice(text.as_bytes());
    if style.point_zero && !text.contains(['.', 'e']) {
        out.extend_from_slice(b".0");
    }
}
