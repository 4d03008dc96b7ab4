//! Floats in the byte forms of other machines.

use crate::document::{Kind, Node, Tape};
use crate::num::float128;

/// Representation of a long double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LongDouble {
    /// The 80-bit format of the x87, padded.
    X87,
    /// IEEE 754 binary128.
    Quad,
    /// Two doubles whose sum is the value (PowerPC).
    DoubleDouble,
}

/// Returns the node for a native float. The byte order is that of the image.
pub(super) fn decode_native_float(
    tape: &mut Tape,
    bytes: &[u8],
    is_little_endian: bool,
    kind: Option<LongDouble>,
) -> Node {
    let f64_at = |offset: usize| {
        let mut raw = [0; 8];
        if let Some(bytes) = bytes.get(offset..offset + 8) {
            raw.copy_from_slice(bytes);
        }
        if is_little_endian { f64::from_le_bytes(raw) } else { f64::from_be_bytes(raw) }
    };
    if bytes.len() == 8 {
        return Node::float(f64_at(0));
    }
    let mut raw = [0; 16];
    let n = bytes.len().min(16);
    raw[..n].copy_from_slice(&bytes[..n]);
    if !is_little_endian {
        raw[..n].reverse();
    }
    let wide = match kind.unwrap_or_else(|| guess_representation(&raw, n, f64_at(0), f64_at(8))) {
        LongDouble::X87 => float128::from_x87(&x87_bytes(&raw, n, is_little_endian)),
        LongDouble::Quad => raw,
        LongDouble::DoubleDouble => float128::from_double_double(f64_at(0), f64_at(8)),
    };
    match float128::to_f64_exact(&wide) {
        Some(value) => Node::float(value),
        None => tape.new_owned_string(Kind::Float128, &wide),
    }
}

/// Returns the ten bytes of an x87 float, least significant first. The big-endian form
/// (m68k) has its padding between exponent and mantissa.
fn x87_bytes(raw: &[u8; 16], size: usize, is_little_endian: bool) -> [u8; 10] {
    let mut ten = [0; 10];
    ten.copy_from_slice(&raw[..10]);
    if !is_little_endian && size == 12 {
        ten[8..].copy_from_slice(&raw[10..12]);
    }
    ten
}

/// Guesses the representation of a float of 12 or 16 bytes, because the header does not
/// give it.
///
/// `raw` has the least significant byte first. An x87 float has an explicit leading bit
/// and, as perl writes it, its exponent in bytes 8 and 9.
fn guess_representation(raw: &[u8; 16], size: usize, first: f64, second: f64) -> LongDouble {
    if size == 12 {
        return LongDouble::X87;
    }
    let exponent = |offset: usize| i32::from(u16::from_le_bytes([raw[offset], raw[offset + 1]]) & 0x7FFF);
    let is_double_exponent = |exponent: i32| (16383 - 1100..=16383 + 1100).contains(&exponent) || exponent == 0x7FFF;
    if raw[7] & 0x80 != 0
        && is_double_exponent(exponent(8))
        && !(is_double_exponent(exponent(14)) && raw[10..14] != [0; 4])
    {
        return LongDouble::X87;
    }
    let is_pair = second == 0.0 || second.abs() <= first.abs() * f64::EPSILON;
    if is_double_exponent(exponent(14)) || raw.iter().all(|byte| *byte == 0) {
        LongDouble::Quad
    } else if is_pair && (first.is_normal() || first.is_nan() || first.is_infinite()) {
        LongDouble::DoubleDouble
    } else if exponent(8) != 0 && raw[7] & 0x80 != 0 {
        LongDouble::X87
    } else {
        LongDouble::Quad
    }
}
