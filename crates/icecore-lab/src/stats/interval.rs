//! Small things about intervals.

use crate::model::Interval;

/// No interval reaches further than this factor: with that, nothing is known, and a
/// chart can still be drawn.
pub(super) const HUNDREDFOLD: f64 = 100.0;

/// Of a number that is not measured but counted.
pub fn exact(value: f64) -> Interval {
    Interval { estimate: value, low: value, high: value }
}

/// Of a single observation: a guess, and no idea of its error.
pub(super) fn unknown(estimate: f64) -> Interval {
    Interval { estimate, low: estimate / HUNDREDFOLD, high: estimate * HUNDREDFOLD }
}

/// Whether an interval says anything. That of a single sample does not: it reaches
/// from a hundredth to a hundredfold, and is best shown as the number alone.
pub fn is_known(interval: &Interval) -> bool {
    interval.estimate > 0.0
        && (interval.low > interval.estimate / HUNDREDFOLD * 1.001
            || interval.high < interval.estimate * HUNDREDFOLD * 0.999)
}

/// Whether a ratio is no more than noise: its interval includes 1, or it is closer to
/// 1 than `resolution`, or nothing is known of it.
pub fn is_tie(times: &Interval, resolution: f64) -> bool {
    (times.low <= 1.0 && 1.0 <= times.high) || distance(times.estimate) < resolution || !is_known(times)
}

/// How far a ratio is from 1, to whichever side.
pub(super) fn distance(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_includes_one_or_is_within_the_resolution() {
        let of = |estimate, low, high| Interval { estimate, low, high };
        assert!(is_tie(&of(1.1, 0.99, 1.2), 0.01));
        assert!(is_tie(&of(1.02, 1.01, 1.03), 0.03));
        assert!(is_tie(&of(0.98, 0.97, 0.99), 0.03));
        assert!(!is_tie(&of(1.02, 1.01, 1.03), 0.01));
        assert!(!is_tie(&of(0.5, 0.4, 0.6), 0.1));
        assert!(is_tie(&unknown(500.0), 0.01));
    }

    #[test]
    fn only_the_widest_interval_is_unknown() {
        assert!(!is_known(&unknown(3.0)));
        assert!(is_known(&exact(3.0)));
        assert!(is_known(&Interval { estimate: 1.0, low: 0.01, high: 2.0 }));
    }
}
