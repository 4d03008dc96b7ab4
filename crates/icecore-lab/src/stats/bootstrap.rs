//! The bootstrap of a median over processes: how far the median would have moved,
//! had other processes and other turns been drawn.

use super::interval::{self, HUNDREDFOLD};
use super::median;
use crate::model::Interval;
use std::collections::BTreeMap;

/// How often the data is drawn again. More of it moves the ends by less than the
/// noise that they describe.
pub(super) const DRAWS: usize = 2000;

/// How much two processes of the same program may differ for reasons that one of
/// them cannot show: where its memory lies, which seed its hashes have.
const PROCESS: f64 = 1.05;

#[cfg(test)]
thread_local! {
    /// How many values were drawn: nearly all of the work is that.
    static DRAWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many values are drawn while this runs.
#[cfg(test)]
pub(crate) fn drawn(run: impl FnOnce()) -> usize {
    let before = DRAWN.get();
    run();
    DRAWN.get() - before
}

/// Values by the process they come from.
#[derive(Default)]
pub(super) struct Rounds {
    rounds: Vec<Vec<f64>>,
}

impl FromIterator<(u32, f64)> for Rounds {
    fn from_iter<I: IntoIterator<Item = (u32, f64)>>(values: I) -> Rounds {
        let mut rounds = BTreeMap::<u32, Vec<f64>>::new();
        for (round, value) in values {
            rounds.entry(round).or_default().push(value);
        }
        Rounds { rounds: rounds.into_values().collect() }
    }
}

impl Rounds {
    /// The median of the values, which are positive, and where it lies with 95 %
    /// confidence; none without any value.
    ///
    /// One value says nothing about its own error: the interval reaches a hundredfold
    /// both ways. Of one process only the turns can be drawn; that no second one was
    /// seen adds 5 % on both sides.
    pub(super) fn interval(&self, seed: u64) -> Option<Interval> {
        let estimate = median(&mut self.rounds.concat())?;
        let (low, high) = self.percentiles(seed);
        Some(self.widened(estimate, low, high))
    }

    /// The same of values that are logarithms; the interval is not.
    pub(super) fn interval_of_logs(&self, seed: u64) -> Option<Interval> {
        let estimate = median(&mut self.rounds.concat())?;
        let (low, high) = self.percentiles(seed);
        Some(self.widened(estimate.exp(), low.exp(), high.exp()))
    }

    /// What the draws say, and what they cannot.
    fn widened(&self, estimate: f64, low: f64, high: f64) -> Interval {
        let values = self.rounds.iter().map(Vec::len).sum();
        if values == 1 {
            return interval::unknown(estimate);
        }
        let (units, process) = match self.rounds.len() {
            1 => (values, PROCESS),
            rounds => (rounds, 1.0),
        };
        let widen = |end: f64| (end / estimate).powf(stretch(units));
        Interval {
            estimate,
            low: estimate * (widen(low) / process).clamp(1.0 / HUNDREDFOLD, 1.0),
            high: estimate * (widen(high) * process).clamp(1.0, HUNDREDFOLD),
        }
    }

    /// Between which values the middle 95 % of the medians of all draws lie.
    fn percentiles(&self, seed: u64) -> (f64, f64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut drawn = Vec::with_capacity(self.rounds.iter().map(Vec::len).sum());
        let mut medians = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            drawn.clear();
            for _ in 0..self.rounds.len() {
                let round = &self.rounds[random.usize(0..self.rounds.len())];
                drawn.extend((0..round.len()).map(|_| round[random.usize(0..round.len())]));
            }
            #[cfg(test)]
            DRAWN.set(DRAWN.get() + drawn.len());
            medians.extend(median(&mut drawn));
        }
        medians.sort_unstable_by(f64::total_cmp);
        let tail = DRAWS * 25 / 1000;
        (medians[tail], medians[DRAWS - 1 - tail])
    }
}

/// By how much the distance of the ends is widened, on logarithms, for few processes:
/// the median of five lies outside of all five one time in sixteen, that of two every
/// second time, and no draw can show it. The factors are those with which simulated
/// runs, whose processes differ more than their turns, are covered 95 times in 100.
fn stretch(units: usize) -> f64 {
    match units {
        0..=2 => 8.0,
        3 => 3.0,
        4 => 1.9,
        5 => 1.6,
        6..=9 => 1.25,
        _ => 1.1,
    }
}
