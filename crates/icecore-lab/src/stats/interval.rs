//! Helpers for intervals.

use crate::model::Interval;

/// Maximum factor of an interval. An interval this wide means that nothing is known. It is finite, so that a chart
/// can draw it.
pub(super) const HUNDREDFOLD: f64 = 100.0;

/// Returns the interval of an exact number. Such a number was counted, so it does not have an error.
pub fn exact_interval(value: f64) -> Interval {
    Interval { estimate: value, low: value, high: value }
}

/// Returns the interval of a single observation, whose error is unknown.
pub(super) fn unknown_interval(estimate: f64) -> Interval {
    Interval { estimate, low: estimate / HUNDREDFOLD, high: estimate * HUNDREDFOLD }
}

/// Returns true if an interval contains information. The interval of a single sample does not: it extends from a
/// hundredth to a hundredfold, and only its estimate should be shown.
pub fn is_known(interval: &Interval) -> bool {
    interval.estimate > 0.0
        && (interval.low > interval.estimate / HUNDREDFOLD * 1.001
            || interval.high < interval.estimate * HUNDREDFOLD * 0.999)
}

/// Returns true if a ratio can't be distinguished from noise: its interval includes 1, or it is closer to 1 than
/// `resolution`, or its interval is unknown.
pub fn is_tie(times: &Interval, resolution: f64) -> bool {
    (times.low <= 1.0 && 1.0 <= times.high) || distance_from_one(times.estimate) < resolution || !is_known(times)
}

/// Returns how far a ratio is from 1, in either direction.
pub(super) fn distance_from_one(ratio: f64) -> f64 {
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
        assert!(is_tie(&unknown_interval(500.0), 0.01));
    }

    #[test]
    fn only_the_widest_interval_is_unknown() {
        assert!(!is_known(&unknown_interval(3.0)));
        assert!(is_known(&exact_interval(3.0)));
        assert!(is_known(&Interval { estimate: 1.0, low: 0.01, high: 2.0 }));
    }
}
