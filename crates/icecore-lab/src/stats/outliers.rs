//! Samples that are far from the others.

use super::{is_usable, median_of_values};
use crate::model::Sample;

/// Maximum score of a sample that is not an outlier. If the samples had a normal distribution, this would be a
/// distance of three and a half standard deviations.
const MAX_SCORE: f64 = 3.5;

/// Minimum number of samples. With fewer, no outliers are determined.
const MIN_SAMPLES: usize = 5;

/// The median absolute deviation of a normal distribution is this many standard deviations.
const DEVIATION_TO_SCORE: f64 = 0.6745;

/// Minimum deviation: half a percent. Smaller differences may come from the resolution of a clock.
const MIN_DEVIATION: f64 = 0.005;

/// Returns the indexes of outliers, and of samples that are not valid times.
///
/// Outliers are determined by the modified z-score: the distance from the median in median absolute deviations. Of
/// the usual measures it is the most robust against clusters of outliers. It fails only if half of the samples are
/// outliers, while Tukey's fences fail at a quarter. The distances are taken from the logarithms of the times,
/// because times have a long tail towards slow values, and such values are not errors.
pub(super) fn find_outliers(samples: &[Sample]) -> Vec<usize> {
    let mut logs: Vec<f64> = samples.iter().filter(|sample| is_usable(sample)).map(|sample| sample.ns.ln()).collect();
    let has_enough = logs.len() >= MIN_SAMPLES;
    let median = median_of_values(&mut logs).unwrap_or_default();
    let mut distances: Vec<f64> = logs.iter().map(|log| (log - median).abs()).collect();
    let deviation = median_of_values(&mut distances).unwrap_or_default().max(MIN_DEVIATION);
    let is_far =
        |sample: &Sample| has_enough && DEVIATION_TO_SCORE * (sample.ns.ln() - median).abs() / deviation > MAX_SCORE;
    let is_outlier = |sample: &Sample| !is_usable(sample) || is_far(sample);
    samples.iter().enumerate().filter(|(_, sample)| is_outlier(sample)).map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::super::summarize_samples;
    use super::super::synthetic::{sample_run, samples_from_times};
    use super::*;

    #[test]
    fn one_outlier_is_listed_and_hardly_moves_the_median() {
        let mut samples = sample_run(4, 5, 20, 0.01, 0.02);
        let clean = summarize_samples(&samples);
        samples[33].ns *= 50.0;
        let found = summarize_samples(&samples);
        assert!(found.outliers.contains(&33));
        let is_near = |found: f64, clean: f64| (found / clean - 1.0).abs() < 0.01;
        assert!(is_near(found.median.estimate, clean.median.estimate));
        assert!(is_near(found.median.low, clean.median.low) && is_near(found.median.high, clean.median.high));
        assert!(found.slowest > 4000.0);
    }

    #[test]
    fn outliers_that_are_a_fifth_of_the_samples_are_found() {
        let mut samples = sample_run(4, 5, 20, 0.01, 0.02);
        samples.iter_mut().filter(|sample| sample.round == 2).for_each(|sample| sample.ns *= 2.0);
        assert!((40..60).all(|place| find_outliers(&samples).contains(&place)));
    }

    #[test]
    fn ordinary_noise_has_hardly_any_outliers() {
        let listed: usize = (0..50).map(|seed| find_outliers(&sample_run(seed, 5, 20, 0.0, 0.05)).len()).sum();
        assert!(listed < 25, "{listed} of 5000");
    }

    #[test]
    fn the_grain_of_a_clock_makes_no_outliers() {
        assert!(find_outliers(&samples_from_times(&[100.0, 100.0, 100.0, 100.0, 100.0, 101.0])).is_empty());
        assert_eq!(find_outliers(&samples_from_times(&[100.0, 100.0, 100.0, 100.0, 100.0, 110.0])), [5]);
    }

    #[test]
    fn four_samples_have_no_outliers() {
        assert!(find_outliers(&samples_from_times(&[1.0, 1.0, 1.0, 50.0])).is_empty());
    }
}
