//! Crossings: the place on the axis up to which one side leads.

use super::ClaimMeasurement;
use super::verdict::{ClaimedRange, overlaps_range};
use crate::model::{Interval, Verdict};
use crate::stats::{self, words};

/// Factor by which a crossing may differ from the claimed place on the axis.
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
    let claimed_text = claimed.format_range();
    let leader = measurements.first().map_or("", |measurement| &measurement.over.id);
    if measurements.iter().all(|measurement| !stats::is_known(&measurement.quotient)) {
        let words = format!("{leader} led up to {claimed_text} then; one sample of each now, too uncertain to tell");
        return (None, Verdict::Unknown, words);
    }
    let slower = measurements.iter().position(is_slower);
    match slower.map(|index| measurements.split_at(index)) {
        None => {
            let last = measurements.last().map_or(0.0, |measurement| measurement.point.at);
            let leads_everywhere = format!(
                "{leader} led up to {claimed_text} then, and at all sizes up to {} now",
                words::format_number(last)
            );
            match last > to {
                true => (None, Verdict::Stronger, format!("{leads_everywhere}: stronger")),
                false => (None, Verdict::Unknown, format!("{leads_everywhere}: too small to tell where it ends")),
            }
        }
        Some(([], slower)) => {
            let first = slower.first().map_or(0.0, |measurement| measurement.point.at);
            let leads_nowhere = format!(
                "{leader} led up to {claimed_text} then, and takes longer from {} on now",
                words::format_number(first)
            );
            match () {
                () if first > from => {
                    (None, Verdict::Unknown, format!("{leads_nowhere}: too large to tell where it began"))
                }
                () if slower.iter().all(is_slower) => (
                    None,
                    Verdict::Reversed,
                    format!("{leads_nowhere}, at all sizes: reversed, the other side is ahead"),
                ),
                () => (None, Verdict::Weaker, format!("{leads_nowhere}, though not at all sizes: weaker")),
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
                "{leader} led up to {claimed_text} then, up to about {} now (between {} and {}): {verdict_text}",
                words::format_number(now.estimate),
                words::format_number(now.low),
                words::format_number(now.high)
            );
            (Some(now), verdict, words)
        }
    }
}

/// Returns true if `over` takes longer, by more than noise.
fn is_slower(measurement: &ClaimMeasurement<'_>) -> bool {
    measurement.quotient.estimate > 1.0 && !stats::is_tie(&measurement.quotient, measurement.resolution)
}

/// Returns the place on the axis between two sizes at which the quotient passes 1.
fn interpolate_crossing(before: &[ClaimMeasurement<'_>], after: &[ClaimMeasurement<'_>]) -> Interval {
    let (Some(before), Some(after)) = (before.last(), after.first()) else { return stats::exact_interval(0.0) };
    let (low, high) = (before.point.at, after.point.at);
    let total_rise = (after.quotient.estimate / before.quotient.estimate).ln();
    // The quotient passes 1, whose logarithm is 0.
    let rise_to_crossing = -before.quotient.estimate.ln();
    let fraction = if total_rise > 0.0 { (rise_to_crossing / total_rise).clamp(0.0, 1.0) } else { 0.5 };
    let estimate = match low > 0.0 {
        true => (low.ln() + fraction * (high / low).ln()).exp(),
        false => low + fraction * (high - low),
    };
    Interval { estimate: estimate.max(low).min(high), low, high }
}
