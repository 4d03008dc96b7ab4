//! Statistics of samples. Pure functions: no clock, no input, no random numbers.
//!
//! Timings on a shared machine have three problems. Each has a remedy:
//!
//! - *The machine changes while it runs.* Competitors take turns, and only times
//!   that were measured side by side are divided by each other ([`compute_speedup`]), so that
//!   a slowdown of both cancels out.
//! - *Samples of one process are similar.* Its memory layout and the seed of its
//!   hashes stay the same. The bootstrap draws whole processes (rounds), then turns
//!   within them, so that a hundred samples of one process count as one process and
//!   not as a hundred independent ones.
//! - *Some samples are far off.* Medians are hardly affected by them. They are
//!   [listed](crate::model::Summary::outliers), and never dropped.
//!
//! A sample that is not a positive, finite number is not a measurement. It is left out of every estimate, and listed
//! with the outliers.

mod bootstrap;
mod interval;
mod noise;
mod outliers;
mod pairs;
mod surplus;
#[cfg(test)]
pub(crate) mod synthetic;
pub(crate) mod words;

pub use interval::{exact_interval, is_known, is_tie};
pub use noise::{MIN_RESOLUTION, assess_noise, operation_resolution};
pub use pairs::{compare_samples, compute_speedup};
#[cfg(test)]
pub(crate) use surplus::count_multiplications;

use crate::model::{Interval, Sample, Summary};
use bootstrap::Rounds;

/// Returns the median of the samples with its interval, the fastest and slowest sample, and the outliers.
///
/// Without any usable sample all numbers are 0. A single sample gives an interval that is not [known](is_known).
pub fn summarize_samples(samples: &[Sample]) -> Summary {
    let usable = || samples.iter().filter(|sample| is_usable(sample));
    let rounds: Rounds = usable().map(|sample| (sample.round, sample.ns)).collect();
    let ends = usable().fold(None, |ends: Option<(f64, f64)>, sample| {
        let (low, high) = ends.unwrap_or((sample.ns, sample.ns));
        Some((low.min(sample.ns), high.max(sample.ns)))
    });
    let (fastest, slowest) = ends.unwrap_or((0.0, 0.0));
    Summary {
        median: rounds.median_interval().unwrap_or(Interval { estimate: 0.0, low: 0.0, high: 0.0 }),
        fastest,
        slowest,
        outliers: outliers::find_outliers(samples),
    }
}

/// Returns only the median of the usable samples, or `None` if there are none.
pub(crate) fn median_of_samples(samples: &[Sample]) -> Option<f64> {
    median_of_values(&mut samples.iter().filter(|sample| is_usable(sample)).map(|sample| sample.ns).collect::<Vec<_>>())
}

/// Returns true if a sample is a valid time (or cost): positive, and far enough from the limits of floats that
/// quotients and products stay finite.
pub(crate) fn is_usable(sample: &Sample) -> bool {
    (1e-12..1e30).contains(&sample.ns)
}

/// Returns the median of a list, and reorders the list. Returns `None` if the list is empty.
pub(crate) fn median_of_values(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, middle, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    let middle = *middle;
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(previous) if !is_odd => Some((previous + middle) / 2.0),
        _ => Some(middle),
    }
}

#[cfg(test)]
mod tests {
    use super::synthetic::{sample_run, samples_from_times};
    use super::*;

    #[test]
    fn a_summary_has_the_median_the_fastest_and_the_slowest() {
        let found = summarize_samples(&samples_from_times(&[3.0, 1.0, 2.0, 5.0, 4.0]));
        assert_eq!((found.median.estimate, found.fastest, found.slowest), (3.0, 1.0, 5.0));
        assert!(found.median.low < 3.0 && found.median.high > 3.0);
        assert_eq!(summarize_samples(&samples_from_times(&[1.0, 2.0, 3.0, 10.0])).median.estimate, 2.5);
    }

    #[test]
    fn a_summary_of_no_samples_is_zero() {
        let found = summarize_samples(&[]);
        assert_eq!((found.median.estimate, found.fastest, found.slowest), (0.0, 0.0, 0.0));
        assert!(found.outliers.is_empty());
    }

    #[test]
    fn one_sample_gives_an_unknown_interval() {
        let found = summarize_samples(&samples_from_times(&[7.0]));
        assert_eq!(found.median.estimate, 7.0);
        assert!(!is_known(&found.median));
        assert!(found.median.low <= 0.07 * 1.001 && found.median.high >= 700.0 * 0.999);
    }

    #[test]
    fn two_samples_give_a_wide_interval() {
        let found = summarize_samples(&samples_from_times(&[10.0, 11.0]));
        assert!(found.median.low < 8.0 && found.median.high > 13.0, "{found:?}");
    }

    #[test]
    fn invalid_samples_are_ignored_and_listed() {
        let mut samples = sample_run(1, 5, 10, 0.01, 0.03);
        let clean = summarize_samples(&samples);
        for ns in [f64::NAN, 0.0, -5.0, f64::INFINITY, f64::NEG_INFINITY, 1e300, 5e-324] {
            samples.push(Sample { round: 9, turn: 0, ns });
        }
        let found = summarize_samples(&samples);
        assert_eq!(found.median, clean.median);
        assert_eq!((found.fastest, found.slowest), (clean.fastest, clean.slowest));
        assert!((50..57).all(|place| found.outliers.contains(&place)), "{:?}", found.outliers);
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        let mut samples = sample_run(1, 5, 10, 0.02, 0.05);
        let median = summarize_samples(&samples).median;
        samples.reverse();
        assert_eq!(summarize_samples(&samples).median, median);
    }

    #[test]
    fn more_processes_narrow_the_interval_more_than_more_turns() {
        let width = |rounds, turns| {
            let widths = (0..20).map(|seed| {
                let found = summarize_samples(&sample_run(seed, rounds, turns, 0.05, 0.02)).median;
                (found.high / found.low).ln()
            });
            widths.sum::<f64>() / 20.0
        };
        assert!(width(20, 10) < 0.6 * width(5, 10));
        assert!(width(5, 100) > 0.7 * width(5, 10));
    }

    #[test]
    fn intervals_cover_the_true_median() {
        let covered = (0..300).filter(|&seed| {
            let found = summarize_samples(&sample_run(seed, 5, 20, 0.03, 0.03)).median;
            found.low <= 100.0 && 100.0 <= found.high
        });
        let share = covered.count() as f64 / 300.0;
        assert!((0.90..=0.995).contains(&share), "{share}");
    }
}
