//! Floats as text: the shortest digits that read back as the same float.

/// The length of the longest text, `-1.2345678901234567e-300`.
const MAX_LEN: usize = 24;

/// Prints floats; contains the text of the last one.
pub(crate) struct FloatText {
    digits: zmij::Buffer,
    text: [u8; MAX_LEN],
}

impl FloatText {
    #[inline]
    pub(crate) fn new() -> FloatText {
        FloatText { digits: zmij::Buffer::new(), text: [0; MAX_LEN] }
    }

    /// Returns the text of a float: with a point or an exponent, and without a sign before a positive exponent. Other
    /// values are `NaN`, `inf` and `-inf`.
    #[inline]
    pub(crate) fn print(&mut self, value: f64) -> &[u8] {
        let text = self.digits.format(value).as_bytes();
        // From this value on there is an exponent, which zmij prints as `e+16`.
        if value.abs() >= 1e16 { without_plus(text, &mut self.text) } else { text }
    }
}

#[cold]
fn without_plus<'t>(text: &'t [u8], buffer: &'t mut [u8; MAX_LEN]) -> &'t [u8] {
    let Some(plus) = text.iter().position(|byte| *byte == b'+') else { return text };
    let (Some(front), Some(back)) = (text.get(..plus), text.get(plus + 1..)) else { return text };
    let len = front.len() + back.len();
    let Some(place) = buffer.get_mut(..len) else { return text };
    place[..plus].copy_from_slice(front);
    place[plus..].copy_from_slice(back);
    place
}

#[cfg(test)]
mod tests {
    use super::FloatText;

    fn check(value: f64) {
        let (mut ours, mut theirs) = (FloatText::new(), ryu::Buffer::new());
        let (ours, theirs) = (ours.print(value), theirs.format(value));
        assert_eq!(ours, theirs.as_bytes(), "{theirs}, bits {:016x}", value.to_bits());
    }

    /// Until 2026 the engine printed floats by ryu. `ICECORE_ROUNDS=N` tries 1,000 times N floats of each kind.
    #[test]
    fn floats_have_the_digits_that_ryu_prints() {
        let rounds: u64 = std::env::var("ICECORE_ROUNDS").map_or(50, |text| text.parse().expect("a number"));
        for value in [0.0, 1.0, 0.1, 1e15, 1e16, 1e17, 1e21, 1e-4, 1e-5, 1e-6, f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            check(value);
            check(-value);
        }
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().for_each(check);
        for exponent in -324..309 {
            let power: f64 = format!("1e{exponent}").parse().expect("a float");
            for bits in power.to_bits().saturating_sub(2)..power.to_bits() + 3 {
                check(f64::from_bits(bits));
            }
        }
        for exponent in 0..2047_u64 {
            // A power of two: its lower neighbour is nearer than its upper one.
            check(f64::from_bits(exponent << 52));
            check(f64::from_bits((exponent << 52) + 1));
            check(f64::from_bits((exponent << 52).saturating_sub(1)));
        }
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for _ in 0..rounds * 1_000 {
            check(f64::from_bits(next()));
            // Typical values of programs: few digits after a point, integers, sums.
            check((next() % 1_000_000_000) as f64 / 10f64.powi((next() % 12) as i32));
            check(next() as f64);
            check((next() % 1_000) as f64 * 0.1 + (next() % 1_000) as f64 * 0.01);
        }
    }
}
