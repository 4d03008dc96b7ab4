//! Integers of any size, between decimal text and magnitude bytes.
//!
//! A magnitude is the absolute value, least significant byte first, without zero bytes at its end. The work is
//! quadratic in the number of digits, so callers limit that by [`Limits::digits`](crate::Limits::digits).

/// An integer in the smallest of three forms that can represent it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Integer {
    /// It fits an `i64`.
    Int(i64),
    /// It is above `i64::MAX` and fits a `u64`.
    Uint(u64),
    /// It is beyond 64 bits.
    Big {
        /// Whether it is negative.
        negative: bool,
        /// Magnitude, least significant byte first.
        magnitude: Vec<u8>,
    },
}

impl Integer {
    /// Returns the integer with this sign and magnitude; zero bytes at the end of the magnitude are allowed.
    ///
    /// ```
    /// use icecore::num::bigint::Integer;
    /// assert_eq!(Integer::new(true, &[1, 0, 0]), Integer::Int(-1));
    /// assert_eq!(Integer::new(false, &[0xFF; 8]), Integer::Uint(u64::MAX));
    /// ```
    pub fn new(negative: bool, magnitude: &[u8]) -> Integer {
        let magnitude = trim_zero_bytes(magnitude);
        if magnitude.len() <= 8 {
            let mut word = [0; 8];
            word[..magnitude.len()].copy_from_slice(magnitude);
            let word = u64::from_le_bytes(word);
            match (negative, i64::try_from(word)) {
                (false, Ok(int)) => return Integer::Int(int),
                (false, Err(_)) => return Integer::Uint(word),
                (true, _) if word <= 1 << 63 => return Integer::Int((word as i64).wrapping_neg()),
                (true, _) => {}
            }
        }
        Integer::Big { negative, magnitude: magnitude.to_vec() }
    }

    /// Parses an integer: digits, optionally after a `-`. `None` for other texts, including the empty text.
    ///
    /// ```
    /// use icecore::num::bigint::Integer;
    /// assert_eq!(Integer::parse(b"-12"), Some(Integer::Int(-12)));
    /// assert_eq!(
    ///     Integer::parse(b"18446744073709551616"),
    ///     Some(Integer::Big { negative: false, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 0, 1] }),
    /// );
    /// assert_eq!(Integer::parse(b"1.0"), None);
    /// ```
    pub fn parse(text: &[u8]) -> Option<Integer> {
        let (negative, digits) = match text.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(Integer::new(negative, &magnitude_of(digits)))
    }
}

/// The number of decimal digits that always fit in a `u64`.
const CHUNK_DIGITS: usize = 19;

/// Returns the magnitude of these decimal digits.
fn magnitude_of(digits: &[u8]) -> Vec<u8> {
    let mut limbs: Vec<u64> = Vec::with_capacity(digits.len() / CHUNK_DIGITS + 1);
    // All chunks but the first have `CHUNK_DIGITS` digits; the first has what is left over.
    let mut rest = digits;
    let mut len = match digits.len() % CHUNK_DIGITS {
        0 => CHUNK_DIGITS,
        left_over => left_over,
    };
    while let Some((chunk, after)) = rest.split_at_checked(len).filter(|_| !rest.is_empty()) {
        let value = chunk.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit & 0x0F));
        multiply_add(&mut limbs, 10u64.pow(chunk.len() as u32), value);
        (rest, len) = (after, CHUNK_DIGITS);
    }
    let mut bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    bytes.truncate(trim_zero_bytes(&bytes).len());
    bytes
}

/// `limbs = limbs * factor + plus`.
pub(super) fn multiply_add(limbs: &mut Vec<u64>, factor: u64, plus: u64) {
    let mut carry = plus;
    for limb in limbs.iter_mut() {
        let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        *limb = product as u64;
        carry = (product >> 64) as u64;
    }
    if carry > 0 {
        limbs.push(carry);
    }
}

fn trim_zero_bytes(magnitude: &[u8]) -> &[u8] {
    let len = magnitude.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &magnitude[..len]
}

/// Returns `true` if an integer of this magnitude certainly has more than `digits` decimal digits.
pub fn exceeds(magnitude: &[u8], digits: u32) -> bool {
    // log10(256) is a little above 2.408.
    (trim_zero_bytes(magnitude).len() as u64).saturating_sub(1) * 2408 / 1000 > u64::from(digits)
}

/// Appends the decimal text of an integer.
///
/// ```
/// let mut text = Vec::new();
/// icecore::num::bigint::push_decimal(true, &[0, 0, 0, 0, 0, 0, 0, 0, 1], &mut text);
/// assert_eq!(text, b"-18446744073709551616");
/// ```
pub fn push_decimal(negative: bool, magnitude: &[u8], out: &mut Vec<u8>) {
    const BILLION: u64 = 1_000_000_000;
    let mut limbs: Vec<u32> = trim_zero_bytes(magnitude)
        .chunks(4)
        .map(|chunk| chunk.iter().rev().fold(0, |limb, byte| limb << 8 | u32::from(*byte)))
        .collect();
    if limbs.is_empty() {
        out.push(b'0');
        return;
    }
    if negative {
        out.push(b'-');
    }
    // Nine digits at a time, from the last to the first.
    let mut groups = Vec::with_capacity(limbs.len() * 32 / 29 + 1);
    while !limbs.is_empty() {
        let mut rest = 0u64;
        for limb in limbs.iter_mut().rev() {
            let value = rest << 32 | u64::from(*limb);
            *limb = (value / BILLION) as u32;
            rest = value % BILLION;
        }
        groups.push(rest as u32);
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
    }
    let mut groups = groups.iter().rev();
    if let Some(first) = groups.next() {
        out.extend_from_slice(itoa::Buffer::new().format(*first).as_bytes());
    }
    for group in groups {
        let mut digits = [b'0'; 9];
        let mut rest = *group;
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        out.extend_from_slice(&digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(integer: &Integer) -> String {
        match integer {
            Integer::Int(int) => int.to_string(),
            Integer::Uint(uint) => uint.to_string(),
            Integer::Big { negative, magnitude } => {
                let mut out = Vec::new();
                push_decimal(*negative, magnitude, &mut out);
                String::from_utf8(out).unwrap()
            }
        }
    }

    #[test]
    fn text_round_trips() {
        let mut cases: Vec<String> = [
            "0",
            "-1",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "-9223372036854775809",
            "18446744073709551615",
            "18446744073709551616",
            "-18446744073709551615",
            "340282366920938463463374607431768211456",
        ]
        .map(String::from)
        .to_vec();
        for len in 1..200 {
            cases.push("9".repeat(len));
            cases.push(format!("-1{}", "0".repeat(len)));
            cases.push("1234567890".repeat(len / 10 + 1)[..len].to_owned());
        }
        for case in cases {
            assert_eq!(text(&Integer::parse(case.as_bytes()).unwrap()), case);
        }
    }

    #[test]
    fn the_smallest_form_is_used() {
        assert_eq!(Integer::parse(b"9223372036854775807"), Some(Integer::Int(i64::MAX)));
        assert_eq!(Integer::parse(b"9223372036854775808"), Some(Integer::Uint(1 << 63)));
        assert_eq!(Integer::parse(b"-9223372036854775808"), Some(Integer::Int(i64::MIN)));
        assert!(matches!(Integer::parse(b"-9223372036854775809"), Some(Integer::Big { negative: true, .. })));
        assert_eq!(Integer::parse(b"-000"), Some(Integer::Int(0)));
        assert_eq!(Integer::new(true, &[]), Integer::Int(0));
    }

    #[test]
    fn other_text_is_not_an_integer() {
        for text in ["", "-", "+1", "1 ", "1e5", "--1", "0x1"] {
            assert_eq!(Integer::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn magnitudes_with_too_many_digits_are_detected() {
        let Some(Integer::Big { magnitude, .. }) = Integer::parse("9".repeat(1000).as_bytes()) else { panic!() };
        assert!(!exceeds(&magnitude, 1000));
        assert!(exceeds(&magnitude, 990));
    }
}
