//! Crossings: the place on the axis up to which one side leads.

use super::ClaimMeasurement;
use super::verdict::{ClaimedRange, overlaps_range};
use crate::model::{Interval, Verdict};
use crate::stats::{self, words};

/// Tolerance for a claimed place on the axis.
const TOLERANCE: f64 = 1.2;

/// Judges a claim about a crossing. The crossing lies between the first size at which `over` takes longer, by more than
/// noise, and the size before it. It is interpolated on logarithms of the place and of the quotient. The two sizes are
/// the ends of its interval.
///
/// If all sizes are on one side, there is no crossing to report, and a verdict is given only if the sizes reach far
/// enough for it.
pub(super) fn judge_crossing(
    claimed: &ClaimedRange,
    measurements: &[ClaimMeasurement<'_>],
) -> (Option<Interval>, Verdict, String) {
    let (from, to) = (claimed.from / TOLERANCE, claimed.to * TOLERANCE);
    let then = claimed.format_range();
    let leader = measurements.first().map_or("", |measurement| &measurement.over.id);
    if measurements.iter().all(|measurement| !stats::is_known(&measurement.now)) {
        let words = format!("{leader} led up to {then} then; one sample of each now, too uncertain to tell");
        return (None, Verdict::Unknown, words);
    }
    let slower = measurements.iter().position(is_slower);
    match slower.map(|place| measurements.split_at(place)) {
        None => {
            let last = measurements.last().map_or(0.0, |measurement| measurement.point.at);
            let all =
                format!("{leader} led up to {then} then, and at all sizes up to {} now", words::format_number(last));
            match last > to {
                true => (None, Verdict::Stronger, format!("{all}: stronger")),
                false => (None, Verdict::Unknown, format!("{all}: too small to tell where it ends")),
            }
        }
        Some(([], slower)) => {
            let first = slower.first().map_or(0.0, |measurement| measurement.point.at);
            let none =
                format!("{leader} led up to {then} then, and takes longer from {} on now", words::format_number(first));
            match () {
                () if first > from => (None, Verdict::Unknown, format!("{none}: too large to tell where it began")),
                () if slower.iter().all(is_slower) => {
                    (None, Verdict::Reversed, format!("{none}, at all sizes: reversed, the other side is ahead"))
                }
                () => (None, Verdict::Weaker, format!("{none}, though not at all sizes: weaker")),
            }
        }
        Some((before, after)) => {
            let now = interpolate_crossing(before, after);
            let verdict = match () {
                () if overlaps_range(&now, from, to) => Verdict::Holds,
                () if now.estimate > to => Verdict::Stronger,
                () => Verdict::Weaker,
            };
            let verdict_text = claimed.describe_verdict(verdict);
            let words = format!(
                "{leader} led up to {then} then, up to about {} now (between {} and {}): {verdict_text}",
                words::format_number(now.estimate),
                words::format_number(now.low),
                words::format_number(now.high)
            );
            (Some(now), verdict, words)
        }
    }
}

/// Returns whether `over` takes longer, by more than noise.
fn is_slower(one: &ClaimMeasurement<'_>) -> bool {
    one.now.estimate > 1.0 && !stats::is_tie(&one.now, one.resolution)
}

/// Returns where the quotient passes 1 between two sizes.
fn interpolate_crossing(before: &[ClaimMeasurement<'_>], after: &[ClaimMeasurement<'_>]) -> Interval {
    let (Some(before), Some(after)) = (before.last(), after.first()) else { return stats::exact_interval(0.0) };
    let (low, high) = (before.point.at, after.point.at);
    let (rise, goal) = ((after.now.estimate / before.now.estimate).ln(), -before.now.estimate.ln());
    let part = if rise > 0.0 { (goal / rise).clamp(0.0, 1.0) } else { 0.5 };
    let estimate = match low > 0.0 {
        true => (low.ln() + part * (high / low).ln()).exp(),
        false => low + part * (high - low),
    };
    Interval { estimate: estimate.max(low).min(high), low, high }
}
