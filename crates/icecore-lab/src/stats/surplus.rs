//! The surplus of a draw: how many more of its values are at most a threshold than above it.

#[cfg(test)]
thread_local! {
    static MULTIPLICATIONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts how many probabilities are multiplied while this runs. They are nearly all of
/// the work of an interval.
#[cfg(test)]
pub(crate) fn count_multiplications(run: impl FnOnce()) -> usize {
    let before = MULTIPLICATIONS.get();
    run();
    MULTIPLICATIONS.get() - before
}

/// A probability of at most this size is left out. A few thousand of them together are less than the rounding error
/// of the others. Leaving them out makes the most expensive sums a few times cheaper.
const NEGLIGIBLE: f64 = 1e-20;

/// The distribution of a surplus: all possible values in ascending order, each with its
/// probability.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Surplus(Vec<(i64, f64)>);

impl Surplus {
    /// Computes the surplus of one round that is picked at random, and whose values are drawn
    /// with replacement. A round is given by the number of its values, and the number of
    /// those that are at most the threshold.
    pub(super) fn from_rounds(rounds: &[(usize, usize)]) -> Surplus {
        let max_values = rounds.iter().map(|(values, _)| *values).max().unwrap_or(0);
        let mut dense = vec![0.0; 2 * max_values + 1];
        for &(values, hits) in rounds {
            for (drawn, probability) in binomial_probabilities(values, hits).into_iter().enumerate() {
                // `drawn` values are at most the threshold and `values - drawn` are above it. The first index is the
                // surplus `-max_values`.
                dense[max_values + 2 * drawn - values] += probability / rounds.len() as f64;
            }
        }
        Surplus::from_dense(-(max_values as i64), &dense)
    }

    /// Keeps the probabilities that matter. Every second one is zero if all rounds have the
    /// same number of values, and most are [`NEGLIGIBLE`] if there are many values.
    fn from_dense(lowest: i64, dense: &[f64]) -> Surplus {
        let all = (lowest..).zip(dense.iter().copied());
        Surplus(all.filter(|(_, probability)| *probability > NEGLIGIBLE).collect())
    }

    /// Computes the sum of `count` independent surpluses like this one.
    pub(super) fn repeat(&self, count: usize) -> Surplus {
        match count {
            0 => Surplus(vec![(0, 1.0)]),
            1 => self.clone(),
            _ => {
                let half = self.repeat(count / 2);
                let even = half.add(&half);
                if count.is_multiple_of(2) { even } else { even.add(self) }
            }
        }
    }

    /// Computes the sum of this surplus and an independent other one.
    pub(super) fn add(&self, other: &Surplus) -> Surplus {
        let ends = |surplus: &Surplus| Some((surplus.0.first()?.0, surplus.0.last()?.0));
        let Some(((low, high), (other_low, other_high))) = ends(self).zip(ends(other)) else {
            return Surplus(Vec::new());
        };
        #[cfg(test)]
        MULTIPLICATIONS.set(MULTIPLICATIONS.get() + self.0.len() * other.0.len());
        let lowest = low + other_low;
        let mut dense = vec![0.0; (high + other_high - lowest) as usize + 1];
        for &(surplus, probability) in &self.0 {
            let row = &mut dense[(surplus - low) as usize..];
            for &(other_surplus, other_probability) in &other.0 {
                row[(other_surplus - other_low) as usize] += probability * other_probability;
            }
        }
        Surplus::from_dense(lowest, &dense)
    }

    /// Computes the probability that the sum of this surplus and an independent other one is at least `min`. It does
    /// not compute all probabilities of the sum, because that would cost the most.
    pub(super) fn probability_of_sum(&self, other: &Surplus, min: i64) -> f64 {
        #[cfg(test)]
        MULTIPLICATIONS.set(MULTIPLICATIONS.get() + self.0.len());
        let mut from_above = other.0.iter().rev().peekable();
        let mut enough_probability = 0.0;
        let mut sum = 0.0;
        // The larger this surplus is, the smaller the other one may be. So `enough_probability` only grows, and each
        // item of `other` is visited once.
        for (surplus, probability) in &self.0 {
            while let Some((_, more)) = from_above.next_if(|(other, _)| surplus + other >= min) {
                enough_probability += more;
            }
            sum += probability * enough_probability;
        }
        sum
    }
}

/// Computes the probabilities of 0 to `values` hits, if `values` values are drawn with
/// replacement from as many, of which `hits` are hits.
///
/// `hits` is also the most probable number. The probabilities are computed from there outwards as multiples of the
/// largest one, and scaled at the end. So a probability that matters can't underflow. If all values are hits, or
/// none, the loop that would divide by zero does not run.
fn binomial_probabilities(values: usize, hits: usize) -> Vec<f64> {
    let (all, hit, missed) = (values as f64, hits as f64, (values - hits) as f64);
    let mut weights = vec![0.0; values + 1];
    weights[hits] = 1.0;
    for drawn in hits..values {
        let ratio = (all - drawn as f64) / (drawn as f64 + 1.0) * (hit / missed);
        weights[drawn + 1] = weights[drawn] * ratio;
    }
    for drawn in (0..hits).rev() {
        let ratio = (drawn as f64 + 1.0) / (all - drawn as f64) * (missed / hit);
        weights[drawn] = weights[drawn + 1] * ratio;
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn binomial_probabilities_are_exact() {
        assert_eq!(binomial_probabilities(3, 0), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(binomial_probabilities(3, 3), [0.0, 0.0, 0.0, 1.0]);
        let expected = [16.0, 32.0, 24.0, 8.0, 1.0].map(|share| share / 81.0);
        let third = binomial_probabilities(12, 4);
        assert_eq!(third.len(), 13);
        let of_four = |hits| binomial_probabilities(4, hits);
        assert!(of_four(2).iter().zip([1.0, 4.0, 6.0, 4.0, 1.0]).all(|(found, share)| is_near(*found, share / 16.0)));
        // Twelve values of which a third are hits are three times four such values.
        let mut thrice_four = vec![0.0; 13];
        for (first_hits, first) in expected.iter().enumerate() {
            for (second_hits, second) in expected.iter().enumerate() {
                for (third_hits, third) in expected.iter().enumerate() {
                    thrice_four[first_hits + second_hits + third_hits] += first * second * third;
                }
            }
        }
        assert!(third.iter().zip(thrice_four).all(|(found, share)| is_near(*found, share)));
    }

    #[test]
    fn large_binomials_have_the_right_mean_and_deviation() {
        for hits in [1, 2, 700, 1024, 2047] {
            let probabilities = binomial_probabilities(2048, hits);
            let moment = |of: &dyn Fn(f64) -> f64| -> f64 {
                probabilities.iter().enumerate().map(|(drawn, probability)| of(drawn as f64) * probability).sum()
            };
            let (mean, share) = (hits as f64, hits as f64 / 2048.0);
            assert!((moment(&|_| 1.0) - 1.0).abs() < 1e-12);
            assert!((moment(&|drawn| drawn) / mean - 1.0).abs() < 1e-9);
            let variance = moment(&|drawn| (drawn - mean).powi(2));
            assert!((variance / (mean * (1.0 - share)) - 1.0).abs() < 1e-9, "{variance}");
        }
    }

    #[test]
    fn surpluses_add_up() {
        // A round of one value below the threshold, and one of two values of which one is.
        let pick = Surplus::from_rounds(&[(1, 1), (2, 1)]);
        assert_eq!(pick, Surplus(vec![(-2, 0.125), (0, 0.25), (1, 0.5), (2, 0.125)]));
        assert_eq!(pick.repeat(0), Surplus(vec![(0, 1.0)]));
        assert_eq!(pick.repeat(1), pick);
        assert_eq!(pick.repeat(2), pick.add(&pick));
        let five = pick.repeat(5);
        let one_by_one = (0..5).fold(pick.repeat(0), |sum, _| sum.add(&pick));
        assert_eq!(five.0.len(), one_by_one.0.len());
        assert!(five.0.iter().zip(&one_by_one.0).all(|(left, right)| left.0 == right.0 && is_near(left.1, right.1)));
        for min in -11..=11 {
            let expected: f64 = five.0.iter().filter(|one| one.0 >= min).map(|one| one.1).sum();
            let found = pick.repeat(2).probability_of_sum(&pick.repeat(3), min);
            assert!(is_near(found, expected), "{min}: {found} {expected}");
        }
    }

    #[test]
    fn rounds_of_equal_length_have_no_odd_surpluses() {
        let pick = Surplus::from_rounds(&[(4, 1), (4, 3)]);
        assert_eq!(pick.0.iter().map(|one| one.0).collect::<Vec<_>>(), [-4, -2, 0, 2, 4]);
        assert_eq!(pick.repeat(3).0.len(), 13);
    }
}
