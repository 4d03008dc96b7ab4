//! Numbers without a Rust type: integers of any size, and floats of more than 64 bits.

pub mod bigint;
pub(crate) mod decimal;
pub mod float128;
mod float_text;
pub(crate) mod general;
pub(crate) mod numify;
pub(crate) mod php;

pub(crate) use float_text::FloatText;

/// Returns the shortest digits of a positive float, and the position of its point. If two decimals are equally near,
/// PHP and Ruby choose the even one, and so does zmij; the standard library does not.
pub(crate) fn shortest_digits(value: f64) -> (Vec<u8>, i32) {
    let mut buffer = zmij::Buffer::new();
    // An exponent may have a sign.
    let text = buffer.format_finite(value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (integer_part, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = integer_part.bytes().chain(fraction.bytes());
    let zeros = digits.clone().take_while(|digit| *digit == b'0').count();
    let mut digits: Vec<u8> = digits.skip(zeros).collect();
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits, integer_part.len() as i32 - zeros as i32 + exponent.parse::<i32>().unwrap_or(0))
}
