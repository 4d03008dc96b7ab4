//! Judges whether the claims of the articles hold.
//!
//! A claim is a quantity of one side divided by that of the other side, or the place on the axis up to which one side
//! leads. It is measured at every size that has the parameters of the claim. The verdict uses the middle of these sizes
//! (the median of their quotients, and of the ends of their intervals), so that neither the best nor the worst size
//! decides. The text gives the range, and the number of sizes with the same verdict.

mod crossing;
#[cfg(test)]
mod tests;
mod verdict;

use crate::model::{Claim, ClaimResult, Entry, Fidelity, Interval, Operation, Point, Quantity, Role, Side, Verdict};
use crate::stats::{self, words};
use verdict::ClaimedRange;

/// Judges a claim by the measurements.
pub fn judge_claim(claim: &Claim, points: &[Point]) -> ClaimResult {
    let result = |now, verdict, words| ClaimResult { claim: claim.clone(), now, verdict, words };
    let Some(claimed) = ClaimedRange::new(claim.from, claim.to) else {
        return result(None, Verdict::Unknown, "The claim has no numbers above 0 to compare with.".to_owned());
    };
    let mut measurements: Vec<ClaimMeasurement<'_>> = Vec::new();
    let mut missing = None;
    for point in points.iter().filter(|point| matches_point(point, claim)) {
        match measure_claim(claim, point) {
            Ok(measurement) => measurements.push(measurement),
            Err(reason) => missing = missing.or(Some(reason)),
        }
    }
    if measurements.is_empty() {
        let reason = missing.unwrap_or_else(|| "no size was measured that the claim is about".to_owned());
        return result(None, Verdict::Unknown, format!("It can't be said here: {reason}."));
    }
    measurements.sort_by(|a, b| a.point.at.total_cmp(&b.point.at));
    let (now, verdict, mut words) = match claim.quantity {
        Quantity::Crossing => crossing::judge_crossing(&claimed, &measurements),
        Quantity::Time | Quantity::Size => judge_quotient(&claimed, &measurements),
    };
    words += &describe_fidelity(claim, &measurements);
    result(now, verdict, words + ".")
}

/// A size and its measurement.
struct ClaimMeasurement<'p> {
    point: &'p Point,
    over: &'p Entry,
    under: &'p Entry,
    /// The quotient of the two sides.
    quotient: Interval,
    /// A quotient closer to 1 than this counts as no difference.
    resolution: f64,
}

/// Returns true if a claim is about this point.
fn matches_point(point: &Point, claim: &Claim) -> bool {
    claim.at.iter().all(|(name, value)| point.parameters.get(name) == Some(value))
}

/// Returns the quotient at one size, or what is missing for it.
fn measure_claim<'p>(claim: &Claim, point: &'p Point) -> Result<ClaimMeasurement<'p>, String> {
    let entry = |side: &Side| {
        let found = point.entries.iter().find(|entry| entry.id == side.competitor && entry.role != Role::Twin);
        found.ok_or_else(|| format!("{} was not measured", side.competitor))
    };
    let (over, under) = (entry(&claim.over)?, entry(&claim.under)?);
    let (quotient, resolution) = match claim.quantity {
        Quantity::Size => (stats::exact_interval(find_size(over)? / find_size(under)?), 0.0),
        Quantity::Time | Quantity::Crossing => {
            let (over_operation, under_operation) =
                (required_operation(&claim.over)?, required_operation(&claim.under)?);
            let (over, under) = (find_samples(over, over_operation)?, find_samples(under, under_operation)?);
            let quotient = stats::compute_speedup(under, over).ok_or("the two were not timed in the same turns")?;
            (
                quotient,
                stats::operation_resolution(point, over_operation)
                    .max(stats::operation_resolution(point, under_operation)),
            )
        }
    };
    Ok(ClaimMeasurement { point, over, under, quotient, resolution })
}

fn required_operation(side: &Side) -> Result<Operation, String> {
    side.operation.ok_or_else(|| format!("the claim does not say which operation of {}", side.competitor))
}

fn find_samples(entry: &Entry, operation: Operation) -> Result<&[crate::model::Sample], String> {
    let cell = entry.find_cell(operation).ok_or_else(|| format!("{operation} of {} was not timed", entry.id))?;
    Ok(&cell.samples)
}

fn find_size(entry: &Entry) -> Result<f64, String> {
    let size = entry.size.filter(|size| *size > 0).ok_or_else(|| format!("{} wrote no bytes", entry.id))?;
    Ok(size as f64)
}

/// Judges a claim about a quotient: the range over all sizes, and the verdict on their middle.
fn judge_quotient(
    claimed: &ClaimedRange,
    measurements: &[ClaimMeasurement<'_>],
) -> (Option<Interval>, Verdict, String) {
    let median = |value_of: &dyn Fn(&ClaimMeasurement<'_>) -> f64| {
        let mut values: Vec<f64> = measurements.iter().map(|measurement| value_of(measurement).ln()).collect();
        stats::median_of_values(&mut values).unwrap_or_default().exp()
    };
    let typical = Interval {
        estimate: median(&|measurement| measurement.quotient.estimate),
        low: median(&|measurement| measurement.quotient.low),
        high: median(&|measurement| measurement.quotient.high),
    };
    let mut resolutions: Vec<f64> = measurements.iter().map(|measurement| measurement.resolution).collect();
    let resolution = stats::median_of_values(&mut resolutions).unwrap_or_default();
    let all = Interval {
        estimate: typical.estimate,
        low: measurements.iter().map(|measurement| measurement.quotient.low).fold(f64::INFINITY, f64::min),
        high: measurements.iter().map(|measurement| measurement.quotient.high).fold(0.0, f64::max),
    };
    let middle_verdict = claimed.judge_interval(&typical, resolution);
    let verdict = claimed.restrict_verdict(middle_verdict, &all, resolution);
    let verdict_text = claimed.describe_verdict(verdict);
    if let [measurement] = measurements {
        let words =
            format!("{} times then, {}: {verdict_text}", claimed.format_range(), format_current(&measurement.quotient));
        return (Some(measurement.quotient), verdict, words);
    }
    let by_estimate =
        |a: &&ClaimMeasurement<'_>, b: &&ClaimMeasurement<'_>| a.quotient.estimate.total_cmp(&b.quotient.estimate);
    let describe_extreme = |measurement: Option<&ClaimMeasurement<'_>>| {
        measurement
            .map(|measurement| {
                format!("{} at {}", words::format_number(measurement.quotient.estimate), measurement.point.name)
            })
            .unwrap_or_default()
    };
    let same_count = measurements
        .iter()
        .filter(|measurement| claimed.judge_interval(&measurement.quotient, measurement.resolution) == middle_verdict)
        .count();
    let words = format!(
        "{} times then, {} now in the middle of {} sizes (from {} to {}): {verdict_text}, the same at {same_count} of them",
        claimed.format_range(),
        words::format_number(typical.estimate),
        measurements.len(),
        describe_extreme(measurements.iter().min_by(by_estimate)),
        describe_extreme(measurements.iter().max_by(by_estimate)),
    );
    (Some(all), verdict, words)
}

/// Formats an interval: `1.7 now (1.6 to 1.8)`.
fn format_current(interval: &Interval) -> String {
    let text = words::format_interval(interval);
    match text.split_once(' ') {
        Some((number, error)) => format!("{number} now {error}"),
        None => format!("{text} now"),
    }
}

/// Returns remarks for competitors whose output differs from the input. A claim about them is still judged.
fn describe_fidelity(claim: &Claim, measurements: &[ClaimMeasurement<'_>]) -> String {
    let mut remarks = String::new();
    let mut sides =
        vec![(&claim.over.competitor, measurements.iter().map(|measurement| measurement.over).collect::<Vec<_>>())];
    if claim.under.competitor != claim.over.competitor {
        sides.push((&claim.under.competitor, measurements.iter().map(|measurement| measurement.under).collect()));
    }
    for (id, entries) in sides {
        let differs = entries.iter().any(|entry| matches!(entry.fidelity, Fidelity::Differs { .. }));
        let alike = entries.iter().any(|entry| matches!(entry.fidelity, Fidelity::Alike { .. }));
        match (differs, alike) {
            (true, _) => remarks += &format!("; what {id} gives back differs from what went in"),
            (false, true) => remarks += &format!("; what {id} gives back is alike, not the same"),
            (false, false) => (),
        }
    }
    remarks
}
