//! Verdicts on quotients.

use crate::model::{Interval, Verdict};
use crate::stats::{self, words};

/// The numbers of a claim, in ascending order.
pub(super) struct ClaimedRange {
    pub from: f64,
    pub to: f64,
}

/// Maximum factor by which a quotient may differ from the claimed numbers.
const TOLERANCE: f64 = 1.2;

impl ClaimedRange {
    /// Creates the numbers of a claim. Returns `None` if they can't be quotients.
    pub fn new(from: f64, to: f64) -> Option<ClaimedRange> {
        let can_be_quotient = |number: f64| number > 0.0 && number.is_finite();
        (can_be_quotient(from) && can_be_quotient(to)).then_some(ClaimedRange { from: from.min(to), to: from.max(to) })
    }

    /// Returns the verdict on a quotient.
    ///
    /// A claim that one side is ahead has both numbers on the same side of 1. It holds if the current interval
    /// overlaps them. The tolerance is a fifth, but at most half of the claimed difference, so a claimed advantage of
    /// 10 % is weaker if it is 2 % now. If only noise is visible, the difference is gone. If the noise is so large
    /// that it could also hide half of the claimed difference, the verdict is unknown.
    ///
    /// A claim that both sides are equal has 1 between its numbers. It holds under the same rule, and fails if a
    /// difference is visible now.
    pub fn judge_interval(&self, now: &Interval, resolution: f64) -> Verdict {
        if !stats::is_known(now) {
            return Verdict::Unknown;
        }
        match () {
            () if self.to < 1.0 => self.to_inverse().judge_lead(&invert_interval(now), resolution),
            () if self.from > 1.0 => self.judge_lead(now, resolution),
            () => self.judge_equality(now, resolution),
        }
    }

    /// Restricts a verdict on the middle by the interval of all measurements. At its worst end, at least half of a
    /// claimed difference must remain; if equality was claimed, all of it must be within the tolerance.
    pub fn restrict_verdict(&self, verdict: Verdict, all: &Interval, resolution: f64) -> Verdict {
        let is_supported = match () {
            () if self.to < 1.0 => 1.0 / all.high >= (1.0 / self.to).sqrt(),
            () if self.from > 1.0 => all.low >= self.from.sqrt(),
            () => {
                let (from, to) = self.tolerated_range(resolution);
                from <= all.low && all.high <= to
            }
        };
        match verdict {
            Verdict::Holds | Verdict::Stronger if !is_supported => Verdict::Partly,
            verdict => verdict,
        }
    }

    /// Judges a claim that `over` is larger than `under`.
    fn judge_lead(&self, now: &Interval, resolution: f64) -> Verdict {
        // The square root of a quotient is half of its difference from 1, on logarithms.
        let from = self.from / self.from.sqrt().min(TOLERANCE);
        let to = self.to * self.to.sqrt().min(TOLERANCE);
        match () {
            () if stats::is_tie(now, resolution) && now.high >= self.from.sqrt() => Verdict::Unknown,
            () if stats::is_tie(now, resolution) => Verdict::Gone,
            () if now.high < 1.0 => Verdict::Reversed,
            () if overlaps_range(now, from, to) => Verdict::Holds,
            () if now.estimate > to => Verdict::Stronger,
            () => Verdict::Weaker,
        }
    }

    /// Judges a claim that there is no difference.
    fn judge_equality(&self, now: &Interval, resolution: f64) -> Verdict {
        let (from, to) = self.tolerated_range(resolution);
        if overlaps_range(now, from, to) { Verdict::Holds } else { Verdict::Differs }
    }

    /// Returns the range that counts as equal, for a claim that there is no difference.
    fn tolerated_range(&self, resolution: f64) -> (f64, f64) {
        let tolerance = |end: f64| end.max(1.0 / end).sqrt().clamp((1.0 + resolution).min(TOLERANCE), TOLERANCE);
        (self.from / tolerance(self.from), self.to * tolerance(self.to))
    }

    fn to_inverse(&self) -> ClaimedRange {
        ClaimedRange { from: 1.0 / self.to, to: 1.0 / self.from }
    }

    /// Formats the claimed numbers: `2.9`, `16 to 24`.
    pub fn format_range(&self) -> String {
        let (from, to) = (words::format_number(self.from), words::format_number(self.to));
        if from == to { from } else { format!("{from} to {to}") }
    }

    /// Returns the verdict in a few words.
    pub fn describe_verdict(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Holds => "holds",
            Verdict::Partly => "holds in the middle, not throughout",
            Verdict::Stronger => "stronger",
            Verdict::Differs => "a difference now",
            Verdict::Weaker => "weaker",
            Verdict::Gone => "gone, no more than noise",
            Verdict::Reversed => "reversed, the other side is ahead",
            Verdict::Unknown => "too uncertain to tell",
        }
    }
}

fn invert_interval(now: &Interval) -> Interval {
    Interval { estimate: 1.0 / now.estimate, low: 1.0 / now.high, high: 1.0 / now.low }
}

pub(super) fn overlaps_range(now: &Interval, from: f64, to: f64) -> bool {
    now.low <= to && from <= now.high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(claim: (f64, f64), now: (f64, f64, f64), resolution: f64) -> Verdict {
        let now = Interval { low: now.0, estimate: now.1, high: now.2 };
        let mirror =
            |claimed: ClaimedRange, now| claimed.to_inverse().judge_interval(&invert_interval(&now), resolution);
        let claimed = ClaimedRange::new(claim.0, claim.1).unwrap();
        let found = claimed.judge_interval(&now, resolution);
        assert_eq!(mirror(claimed, now), found, "the mirrored claim is the same claim");
        found
    }

    #[test]
    fn a_claim_holds_within_a_fifth() {
        for (now, expected) in [
            ((2.5, 2.6, 2.7), Verdict::Holds),
            ((3.3, 3.4, 3.6), Verdict::Holds),
            ((2.1, 2.3, 2.45), Verdict::Holds),
            ((1.6, 1.7, 1.8), Verdict::Weaker),
            ((3.9, 4.0, 4.1), Verdict::Stronger),
            ((0.98, 1.0, 1.02), Verdict::Gone),
            ((1.005, 1.01, 1.015), Verdict::Gone),
            ((0.5, 0.6, 0.7), Verdict::Reversed),
            ((0.9, 1.8, 3.1), Verdict::Unknown),
            ((0.9, 1.3, 2.0), Verdict::Unknown),
            ((0.029, 2.9, 290.0), Verdict::Unknown),
        ] {
            assert_eq!(verdict((2.9, 2.9), now, 0.02), expected, "{now:?}");
        }
    }

    #[test]
    fn a_small_difference_has_a_small_tolerance() {
        for (now, expected) in [
            ((1.11, 1.12, 1.13), Verdict::Holds),
            ((1.06, 1.07, 1.08), Verdict::Holds),
            ((1.02, 1.025, 1.03), Verdict::Weaker),
            ((1.24, 1.25, 1.26), Verdict::Stronger),
            ((0.91, 0.92, 0.93), Verdict::Reversed),
            ((0.99, 1.01, 1.03), Verdict::Gone),
            ((0.98, 1.08, 1.2), Verdict::Unknown),
        ] {
            assert_eq!(verdict((1.10, 1.14), now, 0.01), expected, "{now:?}");
        }
    }

    #[test]
    fn differences_below_the_noise_count_as_gone() {
        assert_eq!(verdict((1.5, 1.5), (1.04, 1.05, 1.06), 0.01), Verdict::Weaker);
        assert_eq!(verdict((1.5, 1.5), (1.04, 1.05, 1.06), 0.08), Verdict::Gone);
    }

    #[test]
    fn a_claimed_tie_may_differ_now() {
        assert_eq!(verdict((0.9, 1.1), (0.98, 1.0, 1.02), 0.01), Verdict::Holds);
        assert_eq!(verdict((0.9, 1.1), (1.1, 1.12, 1.15), 0.01), Verdict::Holds);
        assert_eq!(verdict((0.9, 1.1), (1.9, 2.0, 2.1), 0.01), Verdict::Differs);
        assert_eq!(verdict((1.0, 1.0), (1.02, 1.03, 1.04), 0.05), Verdict::Holds);
        assert_eq!(verdict((1.0, 1.0), (1.08, 1.09, 1.1), 0.05), Verdict::Differs);
    }

    #[test]
    fn ranges_that_are_not_positive_and_finite_are_refused() {
        for (from, to) in [(0.0, 1.0), (-1.0, 2.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert!(ClaimedRange::new(from, to).is_none());
        }
        assert_eq!(ClaimedRange::new(24.0, 16.0).unwrap().format_range(), "16 to 24");
    }
}
