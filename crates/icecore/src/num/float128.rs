//! Floats of more than 64 bits: IEEE 754 binary128, and the forms of C's `long double` that are converted to it.
//!
//! A binary128 is stored as its 16 bytes, least significant first: 1 bit of sign, 15 of exponent, 112 of fraction.

use super::bigint;

/// Number of stored bits of the fraction.
const FRACTION_BITS: u32 = 112;
const FRACTION_MASK: u128 = (1 << FRACTION_BITS) - 1;
/// The highest bit of a significand. It is not stored.
const IMPLICIT_BIT: u128 = 1 << FRACTION_BITS;
/// The stored exponent of infinity and NaN.
const EXPONENT_MAX: i32 = 0x7FFF;
/// Exponent of two of the last bit of a subnormal.
const MIN_EXPONENT: i32 = -16382 - FRACTION_BITS as i32;
/// The bit of a NaN that raises no exception.
const QUIET_BIT: u128 = 1 << (FRACTION_BITS - 1);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    /// With its payload: the fraction, which is not zero.
    Nan(u128),
    Infinite,
    Zero,
    /// `significand * 2^exponent`; the significand is not zero.
    Finite(u128, i32),
}

fn unpack_number(bytes: &[u8; 16]) -> (bool, Number) {
    let bits = u128::from_le_bytes(*bytes);
    let (fraction, exponent) = (bits & FRACTION_MASK, (bits >> FRACTION_BITS) as i32 & EXPONENT_MAX);
    let number = match (exponent, fraction) {
        (EXPONENT_MAX, 0) => Number::Infinite,
        (EXPONENT_MAX, payload) => Number::Nan(payload),
        (0, 0) => Number::Zero,
        (0, fraction) => Number::Finite(fraction, MIN_EXPONENT),
        (exponent, fraction) => Number::Finite(fraction | IMPLICIT_BIT, MIN_EXPONENT + exponent - 1),
    };
    (bits >> 127 != 0, number)
}

fn pack_number(negative: bool, number: Number) -> [u8; 16] {
    let (exponent, fraction) = match number {
        Number::Nan(payload) => (EXPONENT_MAX, if payload & FRACTION_MASK == 0 { QUIET_BIT } else { payload }),
        Number::Infinite => (EXPONENT_MAX, 0),
        Number::Zero => (0, 0),
        Number::Finite(significand, exponent) => {
            let (rounded, exponent) = round_significand(significand, exponent, FRACTION_BITS + 1, MIN_EXPONENT);
            let biased = if rounded & IMPLICIT_BIT == 0 { 0 } else { exponent - MIN_EXPONENT + 1 };
            if biased >= EXPONENT_MAX { (EXPONENT_MAX, 0) } else { (biased, rounded) }
        }
    };
    let bits = u128::from(negative) << 127 | (exponent as u128) << FRACTION_BITS | fraction & FRACTION_MASK;
    bits.to_le_bytes()
}

/// Rounds `significand * 2^exponent` to `bits` bits, the last of which is at least 2^`min_exponent`; ties go to even.
/// The result has all of its bits, unless it is too small for that.
fn round_significand(significand: u128, exponent: i32, bits: u32, min_exponent: i32) -> (u128, i32) {
    if significand == 0 {
        return (0, min_exponent);
    }
    let surplus = (128 - significand.leading_zeros()) as i32 - bits as i32;
    let shift = surplus.max(min_exponent - exponent);
    if shift <= 0 {
        return (significand << -shift, exponent + shift);
    }
    let (mut kept, rest, half) = match shift {
        1..=127 => (significand >> shift, significand & ((1 << shift) - 1), 1u128 << (shift - 1)),
        128 => (0, significand, 1u128 << 127),
        _ => (0, 0, 1),
    };
    if rest > half || rest == half && kept & 1 == 1 {
        kept += 1;
    }
    if kept >> bits != 0 { (kept >> 1, exponent + shift + 1) } else { (kept, exponent + shift) }
}

/// Returns the binary128 with exactly the value of a double.
///
/// ```
/// use icecore::num::float128::{from_f64, to_f64};
/// assert_eq!(to_f64(&from_f64(0.1)), 0.1);
/// ```
pub fn from_f64(value: f64) -> [u8; 16] {
    // A double has 52 bits of fraction and 11 of exponent. The exponent of two of its last bit is the stored exponent
    // minus 1075, and -1074 for a subnormal.
    let bits = value.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i32 & 0x7FF);
    let number = match (exponent, fraction) {
        (0x7FF, 0) => Number::Infinite,
        (0x7FF, payload) => Number::Nan(u128::from(payload) << (FRACTION_BITS - 52)),
        (0, 0) => Number::Zero,
        (0, fraction) => Number::Finite(u128::from(fraction), -1074),
        (exponent, fraction) => Number::Finite(u128::from(fraction | 1 << 52), exponent - 1075),
    };
    pack_number(value.is_sign_negative(), number)
}

/// Returns the nearest double; ties go to even.
pub fn to_f64(bytes: &[u8; 16]) -> f64 {
    let (negative, number) = unpack_number(bytes);
    let bits = match number {
        Number::Infinite => 0x7FF << 52,
        Number::Nan(payload) => {
            let payload = (payload >> (FRACTION_BITS - 52)) as u64;
            0x7FF << 52 | if payload == 0 { 1 << 51 } else { payload }
        }
        Number::Zero => 0,
        Number::Finite(significand, exponent) => {
            let (rounded, exponent) = round_significand(significand, exponent, 53, -1074);
            let biased = if rounded >> 52 == 0 { 0 } else { (exponent + 1075) as u64 };
            if biased >= 0x7FF { 0x7FF << 52 } else { biased << 52 | rounded as u64 & ((1 << 52) - 1) }
        }
    };
    f64::from_bits(bits | u64::from(negative) << 63)
}

/// Returns the double with the same value (for NaN: the same bits), if there is one.
///
/// ```
/// use icecore::num::float128::{from_x87, to_f64_exact};
/// let one_and_a_bit = from_x87(&[1, 0, 0, 0, 0, 0, 0, 0x80, 0xFF, 0x3F]);
/// assert_eq!(to_f64_exact(&one_and_a_bit), None);
/// ```
pub fn to_f64_exact(bytes: &[u8; 16]) -> Option<f64> {
    Some(to_f64(bytes)).filter(|value| from_f64(*value) == *bytes)
}

/// Returns the value of an x87 80-bit extended float, least significant byte first (C's `long double` on x86, without
/// its padding), which is exact. Invalid operands (unnormals, pseudo-infinities) become NaN, as in the processor.
pub fn from_x87(bytes: &[u8; 10]) -> [u8; 16] {
    let [significand @ .., low, high] = *bytes;
    let significand = u64::from_le_bytes(significand);
    let top = u16::from_le_bytes([low, high]);
    let (negative, exponent) = (top & 0x8000 != 0, i32::from(top & 0x7FFF));
    let has_integer_bit = significand >> 63 == 1;
    let fraction = u128::from(significand << 1 >> 1) << (FRACTION_BITS - 63);
    let number = match (exponent, has_integer_bit) {
        (_, false) if exponent > 0 => Number::Nan(QUIET_BIT),
        (EXPONENT_MAX, _) if fraction == 0 => Number::Infinite,
        (EXPONENT_MAX, _) => Number::Nan(fraction),
        _ if significand == 0 => Number::Zero,
        _ => Number::Finite(u128::from(significand), exponent.max(1) - 16383 - 63),
    };
    pack_number(negative, number)
}

/// Returns the nearest x87 80-bit extended float; ties go to even.
///
/// ```
/// use icecore::num::float128::{from_f64, to_x87};
/// assert_eq!(to_x87(&from_f64(1.0)), [0, 0, 0, 0, 0, 0, 0, 0x80, 0xFF, 0x3F]);
/// ```
pub fn to_x87(bytes: &[u8; 16]) -> [u8; 10] {
    const INTEGER_BIT: u64 = 1 << 63;
    let (negative, number) = unpack_number(bytes);
    let (significand, exponent) = match number {
        Number::Infinite => (INTEGER_BIT, 0x7FFF),
        Number::Nan(payload) => {
            let payload = (payload >> (FRACTION_BITS - 63)) as u64;
            (INTEGER_BIT | if payload == 0 { 1 << 62 } else { payload }, 0x7FFF)
        }
        Number::Zero => (0, 0),
        Number::Finite(significand, exponent) => {
            let (rounded, exponent) = round_significand(significand, exponent, 64, -16382 - 63);
            let rounded = rounded as u64;
            let biased = if rounded & INTEGER_BIT == 0 { 0 } else { exponent + 16383 + 63 };
            if biased >= EXPONENT_MAX { (INTEGER_BIT, 0x7FFF) } else { (rounded, biased as u16) }
        }
    };
    let [low, high] = (exponent | u16::from(negative) << 15).to_le_bytes();
    let [a, b, c, d, e, f, g, h] = significand.to_le_bytes();
    [a, b, c, d, e, f, g, h, low, high]
}

/// Returns the value of a pair of doubles (C's `long double` on PowerPC): their sum, rounded if it needs more than 113
/// bits.
///
/// ```
/// use icecore::num::float128::{from_double_double, to_double_double};
/// let low = 2f64.powi(-100);
/// assert_eq!(to_double_double(&from_double_double(1.0, low)), (1.0, low));
/// ```
pub fn from_double_double(high: f64, low: f64) -> [u8; 16] {
    if low == 0.0 || !high.is_finite() {
        return from_f64(high);
    }
    if high == 0.0 || !low.is_finite() {
        return from_f64(low);
    }
    let (negative, number) = add_numbers(unpack_number(&from_f64(high)), unpack_number(&from_f64(low)));
    pack_number(negative, number)
}

/// Returns the two doubles whose sum is nearest: the nearest double, and the double nearest to the rest.
pub fn to_double_double(bytes: &[u8; 16]) -> (f64, f64) {
    let high = to_f64(bytes);
    if !high.is_finite() || high == 0.0 {
        return (high, 0.0);
    }
    let (negative, rest) = add_numbers(unpack_number(bytes), unpack_number(&from_f64(-high)));
    match rest {
        Number::Zero => (high, 0.0),
        rest => (high, to_f64(&pack_number(negative, rest))),
    }
}

/// Returns the sum of two numbers that are finite and not zero. Bits far below the last bit are kept as one sticky bit,
/// so that rounding is correct.
fn add_numbers((neg_a, a): (bool, Number), (neg_b, b): (bool, Number)) -> (bool, Number) {
    let (Number::Finite(sig_a, exp_a), Number::Finite(sig_b, exp_b)) = (a, b) else { return (neg_a, a) };
    // The highest bit moves to bit 125: one bit is left for a carry.
    let lift = |significand: u128, exponent: i32| {
        let shift = significand.leading_zeros() as i32 - 2;
        (significand << shift, exponent - shift)
    };
    let ((sig_a, exp_a), (sig_b, exp_b)) = (lift(sig_a, exp_a), lift(sig_b, exp_b));
    let is_b_larger = (exp_b, sig_b) > (exp_a, sig_a);
    let (negative, sig_large, exponent) = if is_b_larger { (neg_b, sig_b, exp_b) } else { (neg_a, sig_a, exp_a) };
    let (sig_small, exp_small) = if is_b_larger { (sig_a, exp_a) } else { (sig_b, exp_b) };
    let aligned = match exponent - exp_small {
        shift @ 0..=127 => {
            let lost = sig_small & ((1u128 << shift) - 1) != 0;
            sig_small >> shift | u128::from(lost)
        }
        _ => 1,
    };
    let sum = if neg_a == neg_b { sig_large + aligned } else { sig_large - aligned };
    if sum == 0 { (false, Number::Zero) } else { (negative, Number::Finite(sum, exponent)) }
}

/// Number of significant digits that distinguish any two binary128 values.
const DIGITS: usize = 36;

/// Number of digits of a decimal that are used; for the rest it is enough to know whether one of them is not zero.
const MAX_USED_DIGITS: usize = 60;
/// The highest power of ten in 64 bits is 10^19, so numbers are multiplied and divided in steps of this power.
const STEP_POWER: i64 = 19;
/// The highest power of ten, a multiple of [`STEP_POWER`], for which the division is exact.
const MAX_EXACT_POWER: i64 = 22 * STEP_POWER;

/// Returns the binary128 nearest to `digits * 10^exponent`; ties go to even. Below 10^-400 the last bits may be wrong.
///
/// ```
/// use icecore::num::float128::{nearest, push_decimal};
/// let mut text = Vec::new();
/// push_decimal(&nearest(true, b"15", -1), &mut text);
/// assert_eq!(text, b"-1.5");
/// ```
pub fn nearest(negative: bool, digits: &[u8], exponent: i64) -> [u8; 16] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = &digits[zeros..];
    let (used_digits, rest) = digits.split_at(digits.len().min(MAX_USED_DIGITS));
    let mut sticky = rest.iter().any(|digit| *digit != b'0');
    let exponent = exponent.saturating_add(rest.len() as i64);
    let mut limbs = Vec::new();
    for digit in used_digits {
        bigint::multiply_add(&mut limbs, 10, u64::from(digit.wrapping_sub(b'0')));
    }
    let scale = used_digits.len() as i64 + exponent;
    let number = match (limbs.iter().all(|limb| *limb == 0), scale) {
        // A binary128 can be neither this small nor this large.
        (true, _) | (_, ..-5100) => Number::Zero,
        (_, 5001..) => Number::Infinite,
        _ if exponent >= 0 => {
            multiply_by_power(&mut limbs, exponent);
            highest_bits(limbs, 0, sticky)
        }
        _ => {
            let mut remaining = -exponent;
            // The quotient has more bits than a significand: a power of ten has less than 3 3/8 bits for each digit.
            let mut shift =
                3 * remaining.min(MAX_EXACT_POWER) as i32 + 3 * remaining.min(MAX_EXACT_POWER) as i32 / 8 + 128;
            shift_left(&mut limbs, shift as u32);
            while remaining > 0 {
                let step = remaining.min(STEP_POWER);
                if -exponent - remaining >= MAX_EXACT_POWER {
                    // Far below the range of a double, so it is enough to keep some bits.
                    let surplus = limbs.len().saturating_sub(6);
                    sticky |= limbs.drain(..surplus).any(|limb| limb != 0);
                    shift_left(&mut limbs, 64);
                    shift += 64 - 64 * surplus as i32;
                }
                sticky |= divide_limbs(&mut limbs, 10u64.pow(step as u32)) != 0;
                remaining -= step;
            }
            highest_bits(limbs, -shift, sticky)
        }
    };
    pack_number(negative, number)
}

fn multiply_by_power(limbs: &mut Vec<u64>, mut power: i64) {
    while power > 0 {
        let step = power.min(STEP_POWER);
        bigint::multiply_add(limbs, 10u64.pow(step as u32), 0);
        power -= step;
    }
}

/// Divides, and returns the remainder.
fn divide_limbs(limbs: &mut Vec<u64>, divisor: u64) -> u64 {
    let mut rest = 0u64;
    for limb in limbs.iter_mut().rev() {
        let dividend = u128::from(rest) << 64 | u128::from(*limb);
        (*limb, rest) = ((dividend / u128::from(divisor)) as u64, (dividend % u128::from(divisor)) as u64);
    }
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
    rest
}

/// Returns the 128 highest bits of `limbs * 2^exponent`; the lowest of them is set if any lower bit is set.
fn highest_bits(mut limbs: Vec<u64>, exponent: i32, sticky: bool) -> Number {
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
    let Some(last) = limbs.last() else { return Number::Zero };
    let bits = 64 * limbs.len() as i32 - last.leading_zeros() as i32;
    let surplus = (bits - 128).max(0);
    let lost = shift_right(&mut limbs, surplus as u32);
    let high = limbs.get(1).copied().unwrap_or(0);
    let significand = u128::from(high) << 64 | u128::from(limbs.first().copied().unwrap_or(0));
    Number::Finite(significand | u128::from(sticky || lost), exponent + surplus)
}

/// Appends the value as a decimal of at most 36 significant digits, which distinguishes any two values; it always has a
/// `.` or an exponent. Returns `true` if the decimal is exact; for an infinity or NaN, returns `None` and appends
/// nothing.
///
/// ```
/// let mut text = Vec::new();
/// let exact = icecore::num::float128::push_decimal(&icecore::num::float128::from_f64(0.5), &mut text);
/// assert_eq!((text.as_slice(), exact), (&b"0.5"[..], Some(true)));
/// ```
pub fn push_decimal(bytes: &[u8; 16], out: &mut Vec<u8>) -> Option<bool> {
    let (negative, number) = unpack_number(bytes);
    let (mut digits, mut point, exact) = match number {
        Number::Nan(_) | Number::Infinite => return None,
        Number::Zero => (b"0".to_vec(), 1, true),
        Number::Finite(significand, exponent) => decimal_digits(significand, exponent),
    };
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    if negative {
        out.push(b'-');
    }
    let len = digits.len() as i32;
    match point {
        1..=21 if point >= len => {
            out.extend_from_slice(&digits);
            out.extend(std::iter::repeat_n(b'0', (point - len) as usize));
            out.extend_from_slice(b".0");
        }
        1..=21 => {
            let (integer_part, fraction) = digits.split_at(point as usize);
            out.extend_from_slice(integer_part);
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
        -5..=0 => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', -point as usize));
            out.extend_from_slice(&digits);
        }
        _ => {
            point -= 1;
            out.push(digits[0]);
            if len > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.push(b'e');
            out.extend_from_slice(itoa::Buffer::new().format(point).as_bytes());
        }
    }
    Some(exact)
}

/// Returns the first digits of `significand * 2^exponent`, rounded half to even; the position of the point, 0
/// before the first digit; and whether these are all digits.
fn decimal_digits(significand: u128, exponent: i32) -> (Vec<u8>, i32, bool) {
    let zeros = significand.trailing_zeros();
    let (significand, exponent) = (significand >> zeros, exponent + zeros as i32);
    let mut limbs = vec![significand as u64, (significand >> 64) as u64];
    // significand * 2^exponent is an integer over 10^scale. For a fraction that is exact with scale = -exponent; far
    // fewer digits are enough, and for the rest it is enough to know whether it is not zero.
    let (mut scale, mut sticky) = (0, false);
    if exponent >= 0 {
        shift_left(&mut limbs, exponent as u32);
    } else {
        let bits = 128 - significand.leading_zeros() as i32;
        // The value is about 10^((bits + exponent) * 0.301).
        let magnitude = (bits + exponent) * 301 / 1000;
        scale = (DIGITS as i32 + 3 - magnitude).clamp(0, -exponent);
        let mut remaining = scale;
        while remaining > 0 {
            let step = remaining.min(STEP_POWER as i32);
            bigint::multiply_add(&mut limbs, 10u64.pow(step as u32), 0);
            remaining -= step;
        }
        sticky = shift_right(&mut limbs, -exponent as u32);
    }
    let magnitude: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let mut digits = Vec::new();
    bigint::push_decimal(false, &magnitude, &mut digits);
    let mut point = digits.len() as i32 - scale;
    if digits.len() <= DIGITS {
        return (digits, point, !sticky);
    }
    let rest = digits.split_off(DIGITS);
    let has_more = sticky || rest[1..].iter().any(|digit| *digit != b'0');
    let exact = !has_more && rest[0] == b'0';
    let is_last_odd = digits[DIGITS - 1] & 1 == 1;
    if rest[0] > b'5' || rest[0] == b'5' && (has_more || is_last_odd) {
        match digits.iter().rposition(|digit| *digit != b'9') {
            Some(index) => {
                digits[index] += 1;
                digits[index + 1..].fill(b'0');
            }
            None => {
                digits.fill(b'0');
                digits[0] = b'1';
                point += 1;
            }
        }
    }
    (digits, point, exact)
}

fn shift_left(limbs: &mut Vec<u64>, bits: u32) {
    bigint::multiply_add(limbs, 1 << (bits % 64), 0);
    limbs.splice(0..0, std::iter::repeat_n(0, bits as usize / 64));
}

/// Shifts right. Returns `true` if a bit was lost.
fn shift_right(limbs: &mut Vec<u64>, bits: u32) -> bool {
    let limb_count = (bits as usize / 64).min(limbs.len());
    let mut lost = limbs.drain(..limb_count).any(|limb| limb != 0);
    let bits = bits % 64;
    if bits > 0 {
        let mut above = 0;
        for limb in limbs.iter_mut().rev() {
            let old_limb = *limb;
            *limb = old_limb >> bits | above << (64 - bits);
            above = old_limb & ((1 << bits) - 1);
        }
        lost |= above != 0;
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad(hex: &str) -> [u8; 16] {
        u128::from_str_radix(hex, 16).unwrap().to_le_bytes()
    }

    fn text(bytes: &[u8; 16]) -> (String, bool) {
        let mut out = Vec::new();
        let exact = push_decimal(bytes, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), exact)
    }

    #[test]
    fn decimals_round_trip() {
        let mut bits = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835u128;
        for round in 0..20_000u32 {
            bits = bits.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(round.into());
            // All magnitudes that a double can have, and a few more.
            let exponent = 0x3FFF - 1300 + (bits >> 64) % 2600;
            let wide = (exponent << FRACTION_BITS | bits & FRACTION_MASK).to_le_bytes();
            let mut text = Vec::new();
            push_decimal(&wide, &mut text);
            let text = String::from_utf8(text).unwrap();
            let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
            let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let digits = mantissa.replace('.', "");
            let power = power.parse::<i64>().unwrap() - fraction as i64;
            assert_eq!(nearest(false, digits.as_bytes(), power), wide, "{text}");
        }
    }

    #[test]
    fn decimals_of_doubles_are_read_as_the_doubles() {
        for value in doubles().into_iter().filter(|value| value.is_finite() && *value > 0.0) {
            let exact = format!("{value:.1080}");
            let digits = exact.replace('.', "");
            assert_eq!(nearest(false, digits.as_bytes(), -1080), from_f64(value), "{value}");
        }
        assert_eq!(to_f64(&nearest(false, b"1", -400)), 0.0);
        assert_ne!(nearest(false, b"1", -400), nearest(false, b"0", 0));
        let tenth = |power| nearest(true, b"1", power);
        assert!(text(&tenth(-4900)).0.starts_with("-1.0000000000000000000000000000000"));
        assert_eq!(tenth(9999), quad("ffff0000000000000000000000000000"));
        assert_eq!(tenth(-9999), quad("80000000000000000000000000000000"));
    }

    fn doubles() -> Vec<f64> {
        let mut all = vec![
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::from_bits((1 << 52) - 1),
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::from_bits(0xFFF8_0000_0000_0001),
        ];
        let mut state = 0x1234_5678_9ABC_DEF1u64;
        for _ in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            all.push(f64::from_bits(state));
        }
        all
    }

    #[test]
    fn doubles_keep_their_bits_in_every_form() {
        for value in doubles() {
            let bytes = from_f64(value);
            let bits = value.to_bits();
            assert_eq!(to_f64(&bytes).to_bits(), bits, "{value:?}");
            assert_eq!(to_f64_exact(&bytes).map(f64::to_bits), Some(bits));
            assert_eq!(from_x87(&to_x87(&bytes)), bytes, "{value:?}");
            let (high, low) = to_double_double(&bytes);
            assert_eq!((high.to_bits(), low.to_bits()), (bits, 0), "{value:?}");
            assert_eq!(from_double_double(high, low), bytes);
        }
    }

    #[test]
    fn known_values_have_the_right_bits() {
        assert_eq!(from_f64(1.0), quad("3fff0000000000000000000000000000"));
        assert_eq!(from_f64(-2.0), quad("c0000000000000000000000000000000"));
        // 0.1L on x86-64: 0xcccccccccccccccd at exponent 0x3ffb.
        let tenth = [0xCD, 0xCC, 0xCC, 0xCC, 0xCC, 0xCC, 0xCC, 0xCC, 0xFB, 0x3F];
        assert_eq!(from_x87(&tenth), quad("3ffb999999999999999a000000000000"));
        assert_eq!(to_x87(&from_x87(&tenth)), tenth);
        assert_eq!(to_f64(&from_x87(&tenth)), 0.1);
        assert_eq!(to_f64_exact(&from_x87(&tenth)), None);
    }

    #[test]
    fn ties_are_rounded_to_even() {
        // 1 + 2^-53 and 1 + 3 * 2^-53.
        assert_eq!(to_f64(&quad("3fff0000000000000800000000000000")), 1.0);
        assert_eq!(to_f64(&quad("3fff0000000000000800000000000001")), 1.0 + f64::EPSILON);
        assert_eq!(to_f64(&quad("3fff0000000000001800000000000000")), 1.0 + 2.0 * f64::EPSILON);
        // Just below 2 rounds up to 2, and the largest value overflows.
        assert_eq!(to_f64(&quad("3fffffffffffffffffffffffffffffff")), 2.0);
        assert_eq!(to_f64(&quad("7ffeffffffffffffffffffffffffffff")), f64::INFINITY);
        assert_eq!(to_x87(&quad("7ffeffffffffffffffffffffffffffff")), to_x87(&from_f64(f64::INFINITY)));
        // Half of the smallest double becomes 0, slightly more becomes the smallest double.
        assert_eq!(to_f64(&quad("3bcc0000000000000000000000000000")), 0.0);
        assert_eq!(to_f64(&quad("3bcc0000000000000000000000000001")), f64::from_bits(1));
        assert_eq!(to_f64(&quad("00000000000000000000000000000001")), 0.0);
    }

    #[test]
    fn special_forms_of_x87_are_converted() {
        let x87 = |significand: u64, exponent: u16| {
            let mut bytes = [0; 10];
            bytes[..8].copy_from_slice(&significand.to_le_bytes());
            bytes[8..].copy_from_slice(&exponent.to_le_bytes());
            bytes
        };
        // The smallest denormal, and a pseudo-denormal: it equals the smallest normal number.
        for denormal in [x87(1, 0), x87(u64::MAX >> 1, 0x8000)] {
            assert_eq!(to_x87(&from_x87(&denormal)), denormal);
        }
        assert_eq!(from_x87(&x87(1 << 63, 0)), from_x87(&x87(1 << 63, 1)));
        assert_eq!(from_x87(&x87(1 << 63, 0xFFFF)), from_f64(f64::NEG_INFINITY));
        assert!(to_f64(&from_x87(&x87(3 << 62, 0x7FFF))).is_nan());
        // Unnormal, pseudo-infinity, pseudo-NaN.
        for invalid in [x87(1, 0x3FFF), x87(0, 0x3FFF), x87(0, 0x7FFF), x87(1, 0x7FFF)] {
            assert!(to_f64(&from_x87(&invalid)).is_nan(), "{invalid:02x?}");
        }
    }

    #[test]
    fn a_pair_of_doubles_is_its_sum() {
        for (high, low) in [(1.0, 2f64.powi(-100)), (1.0, -(2f64.powi(-60))), (1e300, 1e283), (-0.1, 1e-18)] {
            assert_eq!(to_double_double(&from_double_double(high, low)), (high, low));
        }
        // Bits far below the last bit decide only a tie.
        let tie = 1.0 + f64::EPSILON;
        assert_eq!(from_double_double(tie, 1e-300), from_f64(tie));
        assert_eq!(from_double_double(1.0, -1.0), from_f64(0.0));
        assert_eq!(from_double_double(f64::INFINITY, 1.0), from_f64(f64::INFINITY));
        assert_eq!(from_double_double(-0.0, 0.0), from_f64(-0.0));
    }

    #[test]
    fn decimals_are_right_to_the_last_digit() {
        for (bytes, expected) in [
            (from_f64(0.0), ("0.0", true)),
            (from_f64(-0.0), ("-0.0", true)),
            (from_f64(3.0), ("3.0", true)),
            (from_f64(-12345.675), ("-12345.6749999999992724042385816574097", false)),
            (from_f64(1e22), ("1e22", true)),
            (from_f64(1e21), ("1e21", true)),
            (from_f64(1e20), ("100000000000000000000.0", true)),
            (from_f64(0.1), ("0.100000000000000005551115123125782702", false)),
            (from_f64(2f64.powi(-20)), ("9.5367431640625e-7", true)),
            (quad("3ffb999999999999999999999999999a"), ("0.100000000000000000000000000000000005", false)),
            (quad("3ffd5555555555555555555555555555"), ("0.333333333333333333333333333333333317", false)),
            (quad("00000000000000000000000000000001"), ("6.47517511943802511092443895822764655e-4966", false)),
            (quad("7ffeffffffffffffffffffffffffffff"), ("1.18973149535723176508575932662800702e4932", false)),
        ] {
            let (text, exact) = text(&bytes);
            assert_eq!((text.as_str(), exact), expected);
        }
        assert_eq!(push_decimal(&from_f64(f64::NAN), &mut Vec::new()), None);
    }

    #[test]
    fn the_decimal_of_a_double_reads_back_as_the_double() {
        for value in doubles().into_iter().filter(|value| value.is_finite()) {
            assert_eq!(text(&from_f64(value)).0.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }
}
