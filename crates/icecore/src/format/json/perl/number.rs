//! Floats as perl's modules print them.

use super::{InfNan, Style};
use crate::num::general;

/// Writes a float as C's `%.15g` does.
pub(super) fn put_float(value: f64, style: &Style, out: &mut Vec<u8>) {
    if !value.is_finite() {
        let word: &[u8] = match (style.inf_nan, value.is_nan(), value > 0.0) {
            (InfNan::Null, ..) => b"null",
            (InfNan::Bare, true, _) => b"nan",
            (InfNan::Bare, _, true) => b"inf",
            (InfNan::Bare, ..) => b"-inf",
            (_, true, _) => b"\"nan\"",
            (_, _, true) => b"\"inf\"",
            _ => b"\"-inf\"",
        };
        out.extend_from_slice(word);
        return;
    }
    let text = general::perl_text(value);
    out.extend_from_slice(text.as_bytes());
    if style.point_zero && !text.contains(['.', 'e']) {
        out.extend_from_slice(b".0");
    }
}
