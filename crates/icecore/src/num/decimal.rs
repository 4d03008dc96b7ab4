//! Decimal numbers with few digits: most floats that people write.

/// Powers of ten, by the number of digits after the point.
pub(crate) const POWERS: [i64; 7] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

/// Returns the digits of a number with up to six digits after the point and at most fifteen in total, and the number of
/// digits after the point. At most one number with so few digits is this float, so the text is the shortest. `None` for
/// other floats, and for integers that end with 0.
#[inline]
pub(crate) fn few_digits(value: f64) -> Option<(i64, usize)> {
    if !(1e-3..1e9).contains(&value) {
        return None;
    }
    // The product is below 2^53; adding one half and truncating rounds it.
    let mut digits = (value * 1e6 + 0.5) as i64;
    if digits as f64 / 1e6 != value {
        return None;
    }
    let mut scale = 6;
    while scale > 0 && digits % 10 == 0 {
        digits /= 10;
        scale -= 1;
    }
    (scale > 0 || digits % 10 != 0).then_some((digits, scale))
}
