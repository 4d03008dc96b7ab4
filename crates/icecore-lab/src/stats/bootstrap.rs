//! Bootstrap of a median over processes: how much the median would have moved with other processes and other turns.
//!
//! A draw picks, with replacement, as many rounds as there are, and as many values of each picked round as it has. The
//! ends of the interval are percentiles of the medians of all possible draws. They are computed, not simulated, so the
//! same samples always give the same interval.

use super::interval::{self, HUNDREDFOLD};
use super::median_of_values;
use super::surplus::Surplus;
use crate::model::Interval;
use std::collections::{BTreeMap, HashMap};

/// Share of all draws whose median is below the interval. The same share is above it.
const TAIL_PROBABILITY: f64 = 0.025;

/// Maximum number of values in the computation: the number of rounds times the values of the largest round. The work
/// for one threshold grows with its square, and reports may come from anyone.
const MAX_VALUES: usize = 2048;

/// If [`MAX_VALUES`] is exceeded, about this many rounds are used at most. So each large round keeps at least eight
/// values. These are enough to show their spread.
const MAX_ROUNDS: usize = 256;

/// The factor by which two processes of the same program may differ for reasons that a single process can't show,
/// such as its memory layout or the seed of its hashes.
const PROCESS_FACTOR: f64 = 1.05;

/// Values grouped by process.
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
    /// Returns the median of the values and its 95 % confidence interval. The values must be positive. Returns `None`
    /// if there is no value.
    ///
    /// One value says nothing about its own error, so its interval extends to a hundredfold in both directions. With a
    /// single process, only turns can be drawn, and the unknown difference to other processes adds 5 % on both sides.
    pub(super) fn median_interval(&self) -> Option<Interval> {
        let estimate = median_of_values(&mut self.rounds.concat())?;
        let (low, high) = self.compute_percentiles();
        Some(self.widen_interval(estimate, low, high))
    }

    /// Returns the same as [`Rounds::median_interval`], but for values that are logarithms. The interval is not
    /// logarithmic.
    pub(super) fn median_interval_of_logs(&self) -> Option<Interval> {
        let estimate = median_of_values(&mut self.rounds.concat())?;
        let (low, high) = self.compute_percentiles();
        Some(self.widen_interval(estimate.exp(), low.exp(), high.exp()))
    }

    /// Widens the percentiles by the errors that a draw can't show: too few rounds or turns, and the unknown
    /// difference between one process and others.
    fn widen_interval(&self, estimate: f64, low: f64, high: f64) -> Interval {
        let values = self.rounds.iter().map(Vec::len).sum();
        if values == 1 {
            return interval::unknown_interval(estimate);
        }
        let (units, process) = match self.rounds.len() {
            1 => (values, PROCESS_FACTOR),
            rounds => (rounds, 1.0),
        };
        let widened_factor = |end: f64| (end / estimate).powf(widening_exponent(units));
        Interval {
            estimate,
            low: estimate * (widened_factor(low) / process).clamp(1.0 / HUNDREDFOLD, 1.0),
            high: estimate * (widened_factor(high) * process).clamp(1.0, HUNDREDFOLD),
        }
    }

    /// Returns the values between which the middle 95 % of the medians of all draws lie.
    ///
    /// The upper end is the lower end of the negated values. So the interval of the negated values is exactly the
    /// mirror image.
    fn compute_percentiles(&self) -> (f64, f64) {
        let rounds = self.thin_rounds();
        let negated: Vec<Vec<f64>> =
            rounds.iter().map(|round| round.iter().rev().map(|value| -value).collect()).collect();
        let middle = |[lower, upper]: [f64; 2]| (lower + upper) / 2.0;
        (middle(find_lower_ends(&rounds)), -middle(find_lower_ends(&negated)))
    }

    /// Returns the rounds for the computation, each in ascending order: all of them, unless that would take too long.
    ///
    /// Evenly spaced rounds replace all if there are too many. Evenly spaced order
    /// statistics replace all values of a round that has too many. Fewer values resemble a
    /// smaller measurement, so the interval becomes wider, not narrower. The estimate
    /// remains the median of all values.
    fn thin_rounds(&self) -> Vec<Vec<f64>> {
        let round_count = self.rounds.len();
        let max_len = self.rounds.iter().map(Vec::len).max().unwrap_or(0);
        let (rounds, values) = match round_count.saturating_mul(max_len) <= MAX_VALUES {
            true => (round_count, max_len),
            false => {
                let rounds = round_count.min(MAX_ROUNDS.max(MAX_VALUES / max_len));
                (rounds, MAX_VALUES / rounds)
            }
        };
        let sorted_round = |index: usize| {
            let mut round = self.rounds[index].clone();
            round.sort_unstable_by(f64::total_cmp);
            pick_evenly(round, values)
        };
        (0..rounds).map(|index| sorted_round((2 * index + 1) * round_count / (2 * rounds))).collect()
    }
}

/// Returns at most `max_values` of the values, evenly spaced. They are taken in pairs from both ends, so that the
/// choice from the negated values is the mirror image.
fn pick_evenly(sorted: Vec<f64>, max_values: usize) -> Vec<f64> {
    let (len, pairs) = (sorted.len(), max_values / 2);
    if len <= max_values {
        return sorted;
    }
    let lower: Vec<usize> = (0..pairs).map(|pair| (2 * pair + 1) * len / (4 * pairs)).collect();
    let upper = lower.iter().rev().map(|index| len - 1 - index);
    lower.iter().copied().chain(upper).map(|index| sorted[index]).collect()
}

/// Returns the percentiles for [`TAIL_PROBABILITY`] of the lower median of a draw and of the upper one. Each is the
/// smallest value that the median does not exceed with at least this probability. The median of an even number of
/// values is halfway between the lower and the upper one. For an odd number the two are the same.
fn find_lower_ends(rounds: &[Vec<f64>]) -> [f64; 2] {
    let mut values = rounds.concat();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    // Both searches test mostly the same thresholds, so the probabilities are kept.
    let mut known_probabilities = HashMap::new();
    [0, 1].map(|median_index| {
        let is_below = |value: &f64| {
            let probabilities: &[f64; 2] =
                known_probabilities.entry(value.to_bits()).or_insert_with(|| compute_probabilities(rounds, *value));
            probabilities[median_index] < TAIL_PROBABILITY
        };
        // No median exceeds the largest value, so its probability is 1, and the search always finds a value.
        let index = values.partition_point(is_below).min(values.len() - 1);
        values[index]
    })
}

/// Computes the probabilities that the lower median of a draw is at most the threshold, and
/// that the upper one is.
///
/// The lower median is at most the threshold if the surplus of the drawn values is 0 or
/// more, and the upper one if it is 1 or more.
fn compute_probabilities(rounds: &[Vec<f64>], threshold: f64) -> [f64; 2] {
    let counts = rounds.iter().map(|round| (round.len(), round.partition_point(|value| *value <= threshold)));
    let one_round = Surplus::from_rounds(&counts.collect::<Vec<_>>());
    let half = one_round.repeat(rounds.len() / 2);
    let others = if rounds.len().is_multiple_of(2) { half.clone() } else { half.add(&one_round) };
    [0, 1].map(|min| half.probability_of_sum(&others, min))
}

/// Returns the exponent by which the interval is widened, on logarithms, for few processes. The true median lies
/// outside of five values one time in sixteen, and outside of two every second time. No draw can show this. The
/// factors were chosen so that 95 of 100 simulated runs, whose processes differ more than their turns, are covered.
fn widening_exponent(units: usize) -> f64 {
    match units {
        0..=2 => 8.0,
        3 => 3.0,
        4 => 1.9,
        5 => 1.6,
        6..=9 => 1.25,
        _ => 1.1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::surplus::count_multiplications;
    use super::*;
    use fastrand::Rng;

    fn make_rounds(values: &[&[f64]]) -> Rounds {
        Rounds { rounds: values.iter().map(|round| round.to_vec()).collect() }
    }

    /// Returns rounds of these lengths. Values are rounded to the grain, so that some are equal.
    fn random_rounds(lengths: &[usize], grain: f64, random: &mut Rng) -> Rounds {
        let mut round = |length: &usize| {
            let process = random.f64();
            (0..*length).map(|_| ((process + random.f64()) / grain).round() * grain).collect()
        };
        Rounds { rounds: lengths.iter().map(&mut round).collect() }
    }

    /// Returns the lower and the upper median, which are equal for an odd number of values.
    fn medians(values: &mut [f64]) -> [f64; 2] {
        values.sort_unstable_by(f64::total_cmp);
        [values[(values.len() - 1) / 2], values[values.len() / 2]]
    }

    /// Returns the medians of random draws in ascending order, for comparison with the exact ends.
    fn drawn_medians(rounds: &Rounds, draws: usize) -> [Vec<f64>; 2] {
        let rounds = &rounds.rounds;
        let mut random = Rng::with_seed(1);
        let mut found = [Vec::with_capacity(draws), Vec::with_capacity(draws)];
        let mut drawn = Vec::new();
        for _ in 0..draws {
            drawn.clear();
            for _ in 0..rounds.len() {
                let round = &rounds[random.usize(0..rounds.len())];
                drawn.extend((0..round.len()).map(|_| round[random.usize(0..round.len())]));
            }
            let [lower, upper] = medians(&mut drawn);
            found[0].push(lower);
            found[1].push(upper);
        }
        found.iter_mut().for_each(|medians| medians.sort_unstable_by(f64::total_cmp));
        found
    }

    /// Returns all draws of a few small rounds, each with its probability.
    fn all_draws(rounds: &[Vec<f64>]) -> Vec<(Vec<f64>, f64)> {
        let mut draws = vec![(Vec::new(), 1.0)];
        for _ in rounds {
            draws = draws
                .iter()
                .flat_map(|(drawn, probability)| {
                    rounds.iter().flat_map(move |round| {
                        let mut picked = vec![(drawn.clone(), probability / rounds.len() as f64)];
                        for _ in round {
                            let extend_draw = |(drawn, probability): &(Vec<f64>, f64)| {
                                let longer = |value: &f64| {
                                    ([drawn.as_slice(), &[*value]].concat(), probability / round.len() as f64)
                                };
                                round.iter().map(longer).collect::<Vec<_>>()
                            };
                            picked = picked.iter().flat_map(extend_draw).collect();
                        }
                        picked
                    })
                })
                .collect();
        }
        draws
    }

    #[test]
    fn probabilities_equal_those_of_all_draws() {
        for rounds in [
            make_rounds(&[&[1.0]]),
            make_rounds(&[&[1.0, 2.0, 3.0, 4.0]]),
            make_rounds(&[&[1.0, 2.0], &[1.5, 3.0]]),
            make_rounds(&[&[1.0, 1.0, 2.0], &[2.0]]),
            make_rounds(&[&[1.0, 4.0], &[2.0], &[2.0, 3.0]]),
        ] {
            let draws = all_draws(&rounds.rounds);
            for threshold in [0.5, 1.0, 1.5, 2.0, 3.0, 4.0] {
                let mut expected = [0.0; 2];
                for (drawn, probability) in &draws {
                    for (expected, median) in expected.iter_mut().zip(medians(&mut drawn.clone())) {
                        *expected += if median <= threshold { *probability } else { 0.0 };
                    }
                }
                let found = compute_probabilities(&rounds.rounds, threshold);
                let is_same = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
                assert!(is_same, "{:?} at {threshold}: {found:?} {expected:?}", rounds.rounds);
            }
        }
    }

    #[test]
    fn percentiles_agree_with_many_random_draws() {
        let lengths: [&[usize]; 10] =
            [&[2], &[7], &[30], &[1, 1], &[1; 6], &[3; 9], &[4; 5], &[1, 2, 3, 4], &[15, 1, 1], &[6, 6, 5, 6, 6]];
        // Four standard deviations of the share of draws that are below a percentile.
        let draws = 20_000;
        let noise = (4.0 * (draws as f64 * TAIL_PROBABILITY * (1.0 - TAIL_PROBABILITY)).sqrt()) as usize;
        let tail = (draws as f64 * TAIL_PROBABILITY) as usize;
        let mut source = Rng::with_seed(3);
        for lengths in lengths {
            for grain in [1e-9, 0.25] {
                let rounds = random_rounds(lengths, grain, &mut source);
                let drawn = drawn_medians(&rounds, draws);
                let sorted = rounds.thin_rounds();
                let negated = sorted.iter().map(|round| round.iter().rev().map(|value| -value).collect());
                let [lower, upper] = find_lower_ends(&sorted);
                // The upper median becomes the lower one if all values are negated.
                let [above, below] = find_lower_ends(&negated.collect::<Vec<_>>()).map(|end| -end);
                for (drawn, [low, high]) in drawn.iter().zip([[lower, below], [upper, above]]) {
                    let is_low = drawn[tail - noise] <= low && low <= drawn[tail + noise];
                    let is_high = drawn[draws - 1 - tail - noise] <= high && high <= drawn[draws - 1 - tail + noise];
                    assert!(is_low && is_high, "{lengths:?}, {grain}: {low} to {high}");
                }
            }
        }
    }

    #[test]
    fn negated_values_have_mirrored_percentiles() {
        let mut source = Rng::with_seed(5);
        for lengths in [&[2][..], &[20; 5], &[3, 4, 5], &[4096], &[5000, 3], &[2000; 300]] {
            let rounds = random_rounds(lengths, 1e-9, &mut source);
            let negate = |round: &Vec<f64>| round.iter().map(|value| -value).collect();
            let negated = Rounds { rounds: rounds.rounds.iter().map(negate).collect() };
            let ((low, high), (mirrored_low, mirrored_high)) =
                (rounds.compute_percentiles(), negated.compute_percentiles());
            assert_eq!((low, high), (-mirrored_high, -mirrored_low), "{lengths:?}");
        }
    }

    #[test]
    fn rounds_within_the_limit_are_not_thinned() {
        let mut source = Rng::with_seed(5);
        for lengths in [&[MAX_VALUES][..], &[1; MAX_VALUES], &[20; 100], &[1, 100, 2]] {
            let rounds = random_rounds(lengths, 1e-9, &mut source);
            let kept: Vec<usize> = rounds.thin_rounds().iter().map(Vec::len).collect();
            assert_eq!(kept, lengths);
        }
    }

    /// Returns the lengths of one large round among many small ones.
    fn lengths_with_one_large(large: usize, small: usize) -> Vec<usize> {
        [vec![1; small / 2], vec![large], vec![1; small - small / 2]].concat()
    }

    #[test]
    fn work_is_bounded_by_thinning_large_rounds() {
        let mut source = Rng::with_seed(5);
        let mut work = |lengths: &[usize]| {
            let rounds = random_rounds(lengths, 1e-9, &mut source);
            let kept = rounds.thin_rounds();
            let largest = kept.iter().map(Vec::len).max().unwrap_or(0);
            assert!(kept.len() * largest <= MAX_VALUES, "{} rounds of {largest}", kept.len());
            count_multiplications(|| assert!(rounds.median_interval().is_some()))
        };
        let counts = [
            &[1_000_000][..],
            &[1; 1_000_000],
            &[1000; 1000],
            &lengths_with_one_large(500_000, 500_000),
            &lengths_with_one_large(2000, 1000),
            &[2; 1025],
        ]
        .map(&mut work);
        // About twelve to sixteen thresholds are tested for each end.
        assert!(counts.iter().all(|work| *work < 16 * MAX_VALUES * MAX_VALUES), "{counts:?}");
    }

    #[test]
    fn thinning_does_not_narrow_the_interval() {
        let width = |rounds: &[Vec<f64>]| {
            let negated: Vec<Vec<f64>> =
                rounds.iter().map(|round| round.iter().rev().map(|value| -value).collect()).collect();
            -find_lower_ends(&negated)[0] - find_lower_ends(rounds)[0]
        };
        let mut source = Rng::with_seed(5);
        for lengths in [&[6000][..], &[20_000, 20_000], &[1000; 3], &[8; 400], &lengths_with_one_large(100, 30)] {
            let mut ratio = 0.0;
            for _ in 0..2 {
                let rounds = random_rounds(lengths, 1e-9, &mut source);
                let mut all = rounds.rounds.clone();
                all.iter_mut().for_each(|round| round.sort_unstable_by(f64::total_cmp));
                let thinned = rounds.thin_rounds();
                assert!(thinned.concat().len() < all.concat().len());
                ratio += width(&thinned) / width(&all) / 2.0;
            }
            assert!(ratio > 0.95, "{} rounds: {ratio}", lengths.len());
        }
    }
}
