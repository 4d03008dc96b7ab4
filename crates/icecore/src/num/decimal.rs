//! Decimal numbers of few digits: most floats that people write.

/// Powers of ten, by how many digits stand behind the point.
pub(crate) const POWERS: [i64; 7] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

/// The digits of a number with up to six of them behind the point and not more
/// than fifteen in all, and how many stand behind the point. No other number of
/// so few digits is this float, so it is the shortest text. `None` for others,
/// and for whole numbers that end with 0.
#[inline]
pub(crate) fn few_digits(value: f64) -> Option<(i64, usize)> {
    if !(1e-3..1e9).contains(&value) {
        return None;
    }
    // It is below 2^53, and one half more than needed is cut off.
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
