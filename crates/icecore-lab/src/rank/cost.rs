//! The cost of one use of a competitor.

use super::{Part, Share, Weights};
use crate::model::{Entry, Interval, Sample};
use crate::stats;
use std::collections::HashMap;

/// The cost of a use, and its samples.
pub(super) struct Cost {
    /// Cost in nanoseconds.
    pub estimate: f64,
    pub parts: Vec<Share>,
    /// One sample for each round and turn in which all operations were timed. If only bytes count, the list is empty,
    /// because a number of bytes has no error.
    samples: Vec<Sample>,
}

impl Cost {
    /// Computes the cost of an entry. If something was not measured, returns a text about it.
    ///
    /// The operations of each round and turn are added up before the median is taken, so that a slow process counts as
    /// slow in all its operations.
    pub fn from_entry(entry: &Entry, weights: &Weights) -> Result<Cost, String> {
        let mut byte_cost = 0.0;
        let mut costs = Vec::new();
        let mut timed: Vec<(&[Sample], f64)> = Vec::new();
        for &(part, weight) in weights.parts() {
            let cost = weight * find_amount(entry, part)?;
            costs.push((part, cost));
            match part {
                Part::Time(operation) => {
                    timed.push((entry.find_cell(operation).map_or(&[], |cell| &cell.samples), weight));
                }
                Part::Size | Part::Memory => byte_cost += cost,
            }
        }
        let sum: f64 = costs.iter().map(|(_, cost)| cost).sum();
        let to_share = |(part, cost)| Share { part, cost, share: cost / sum };
        let parts = costs.into_iter().map(to_share).collect();
        if timed.is_empty() {
            return Ok(Cost { estimate: byte_cost, parts, samples: Vec::new() });
        }
        let samples = sum_weighted_samples(&timed, byte_cost);
        let estimate = stats::median_of_samples(&samples).ok_or("its operations were not timed in the same turns")?;
        Ok(Cost { estimate, parts, samples })
    }

    /// Returns the cost with its error.
    pub fn to_interval(&self) -> Interval {
        match self.samples.is_empty() {
            true => stats::exact_interval(self.estimate),
            false => stats::summarize_samples(&self.samples).median,
        }
    }

    /// Returns how many times as much another one costs.
    pub fn relative_cost_of(&self, other: &Cost) -> Interval {
        stats::compute_speedup(&self.samples, &other.samples).unwrap_or_else(|| {
            // Without a common turn, slowdowns of the machine do not cancel out. So the ends of the interval combine
            // the lowest cost of one side with the highest of the other.
            let (own, other) = (self.to_interval(), other.to_interval());
            Interval { estimate: other.estimate / own.estimate, low: other.low / own.high, high: other.high / own.low }
        })
    }

    /// Returns true if another cost can't be distinguished from this one. Bytes are exact, so they are tied only if
    /// they are equal.
    pub fn is_tied(&self, other: &Cost, resolution: f64) -> bool {
        let resolution = if self.samples.is_empty() { 0.0 } else { resolution };
        stats::is_tie(&self.relative_cost_of(other), resolution)
    }
}

/// Returns the nanoseconds or bytes of a part.
fn find_amount(entry: &Entry, part: Part) -> Result<f64, String> {
    let missing = || match part {
        Part::Time(_) => format!("{} was not timed", part.noun()),
        Part::Size => "it wrote no bytes that could be counted".to_owned(),
        Part::Memory => "its memory was not measured".to_owned(),
    };
    let amount = match part {
        Part::Time(operation) => entry.find_cell(operation).and_then(|cell| stats::median_of_samples(&cell.samples)),
        Part::Size => entry.size.filter(|size| *size > 0).map(|size| size as f64),
        Part::Memory => memory_growth(entry),
    };
    amount.ok_or_else(missing)
}

/// Returns the growth of memory from the first step to the peak. It is at least one byte, so that it can be a
/// divisor.
fn memory_growth(entry: &Entry) -> Option<f64> {
    let start = entry.memory.first()?.resident;
    let peak = entry.memory.iter().map(|step| step.peak.max(step.resident)).max()?;
    Some(peak.saturating_sub(start).max(1) as f64)
}

/// Returns the weighted sums of operations, for each turn in which all of them were timed.
fn sum_weighted_samples(timed: &[(&[Sample], f64)], byte_cost: f64) -> Vec<Sample> {
    let mut sums: HashMap<(u32, u32), (f64, usize)> = HashMap::new();
    for (samples, weight) in timed {
        for sample in samples.iter().filter(|sample| stats::is_usable(sample)) {
            let (sum, count) = sums.entry((sample.round, sample.turn)).or_insert((byte_cost, 0));
            *sum += weight * sample.ns;
            *count += 1;
        }
    }
    let complete = sums.into_iter().filter(|(_, (_, count))| *count == timed.len());
    let mut samples: Vec<Sample> = complete.map(|((round, turn), (ns, _))| Sample { round, turn, ns }).collect();
    samples.sort_unstable_by_key(|sample| (sample.round, sample.turn));
    samples
}
