//! Compares two competitors by quotients of samples that were taken side by side.

use super::bootstrap::Rounds;
use super::{interval, is_usable};
use crate::model::{Comparison, Interval, Sample};
use std::collections::HashMap;

/// Returns how many times faster the candidate is than the reference: the median of the reference's time divided by
/// the candidate's, for all pairs with the same round and turn. Samples without a partner are left out. Without any
/// pair the result is `None`, and a single pair gives an interval that is not [known](super::is_known).
///
/// The computation uses logarithms, because the logarithms of twice as fast and half as fast differ only in their
/// sign. So the result is the inverse if the sides are swapped.
pub fn compute_speedup(candidate: &[Sample], reference: &[Sample]) -> Option<Interval> {
    let turn_of = |sample: &Sample| (sample.round, sample.turn);
    let partners: HashMap<_, f64> =
        candidate.iter().filter(|sample| is_usable(sample)).map(|sample| (turn_of(sample), sample.ns)).collect();
    let pairs = reference.iter().filter(|sample| is_usable(sample));
    let ratios = pairs.filter_map(|sample| Some((sample.round, (sample.ns / partners.get(&turn_of(sample))?).ln())));
    ratios.collect::<Rounds>().median_interval_of_logs()
}

/// Returns how many times faster the candidate is than the reference, and whether this is a tie: the interval
/// includes 1, or the ratio is closer to 1 than `resolution`, the distance of the baseline from itself.
pub fn compare_samples(candidate: &[Sample], reference: &[Sample], resolution: f64) -> Option<Comparison> {
    compute_speedup(candidate, reference).map(|times| Comparison { times, tie: interval::is_tie(&times, resolution) })
}

#[cfg(test)]
mod tests {
    use super::super::is_known;
    use super::super::surplus::count_multiplications;
    use super::super::synthetic::{SimulatedMachine, sample_run, samples_from_times};
    use super::*;

    const TRUE_RATIO: f64 = 1.3;

    /// Returns the share of 300 runs whose interval contains [`TRUE_RATIO`], and the mean difference between the
    /// logarithms of its ends.
    fn coverage(machine: SimulatedMachine) -> (f64, f64) {
        let mut covered = 0;
        let mut width = 0.0;
        for seed in 0..300 {
            let (candidate, reference) = machine.sample_pair(seed, TRUE_RATIO);
            let found = compute_speedup(&candidate, &reference).unwrap();
            assert!(found.low <= found.estimate && found.estimate <= found.high);
            covered += usize::from(found.low <= TRUE_RATIO && TRUE_RATIO <= found.high);
            width += (found.high / found.low).ln();
        }
        (covered as f64 / 300.0, width / 300.0)
    }

    #[test]
    fn intervals_cover_the_ratio_if_processes_differ_most() {
        let machine = SimulatedMachine { process: 0.03, noise: 0.01, turns: 10, ..SimulatedMachine::default() };
        for (rounds, widest) in [(3, 0.35), (5, 0.15), (10, 0.08), (15, 0.065)] {
            let (covered, width) = coverage(SimulatedMachine { rounds, ..machine });
            assert!((0.90..=0.995).contains(&covered), "{rounds} rounds: {covered}");
            assert!(width < widest, "{rounds} rounds: {width}");
        }
    }

    #[test]
    fn intervals_cover_the_ratio_if_turns_differ_most() {
        let machine = SimulatedMachine { process: 0.01, noise: 0.06, turns: 10, ..SimulatedMachine::default() };
        for (rounds, widest) in [(5, 0.135), (10, 0.08), (15, 0.06)] {
            let (covered, width) = coverage(SimulatedMachine { rounds, ..machine });
            assert!((0.92..=1.0).contains(&covered), "{rounds} rounds: {covered}");
            assert!(width < widest, "{rounds} rounds: {width}");
        }
    }

    #[test]
    fn intervals_cover_the_ratio_with_one_sample_per_process() {
        let machine = SimulatedMachine { turns: 1, process: 0.03, noise: 0.03, ..SimulatedMachine::default() };
        for rounds in [3, 5, 10] {
            let (covered, _) = coverage(SimulatedMachine { rounds, ..machine });
            assert!((0.90..=0.995).contains(&covered), "{rounds} rounds: {covered}");
        }
    }

    #[test]
    fn slowing_both_sides_of_a_pair_does_not_move_the_ratio() {
        let (mut candidate, mut reference) =
            SimulatedMachine { process: 0.01, noise: 0.01, ..SimulatedMachine::default() }.sample_pair(3, TRUE_RATIO);
        let clean = compute_speedup(&candidate, &reference).unwrap();
        for sample in candidate.iter_mut().chain(&mut reference).filter(|sample| (sample.turn + sample.round) % 3 == 0)
        {
            sample.ns *= 3.0;
        }
        let found = compute_speedup(&candidate, &reference).unwrap();
        let is_near = |found: f64, clean: f64| (found / clean - 1.0).abs() < 1e-9;
        assert!(
            is_near(found.estimate, clean.estimate) && is_near(found.low, clean.low) && is_near(found.high, clean.high)
        );
    }

    #[test]
    fn a_drift_over_the_run_does_not_move_the_ratio() {
        let mean = |drift| {
            let machine = SimulatedMachine { process: 0.01, noise: 0.02, drift, ..SimulatedMachine::default() };
            let logs = (0..50).map(|seed| {
                let (candidate, reference) = machine.sample_pair(seed, TRUE_RATIO);
                compute_speedup(&candidate, &reference).unwrap().estimate.ln()
            });
            (logs.sum::<f64>() / 50.0).exp()
        };
        assert!((mean(1.0) / mean(0.0) - 1.0).abs() < 1e-9);
        assert!((mean(1.0) / TRUE_RATIO - 1.0).abs() < 0.01);
    }

    #[test]
    fn only_equal_competitors_are_ties() {
        let machine = SimulatedMachine { process: 0.02, noise: 0.03, ..SimulatedMachine::default() };
        let ties = |ratio, runs| {
            let ties = (0..runs).filter(|&seed| {
                let (candidate, reference) = machine.sample_pair(seed, ratio);
                compare_samples(&candidate, &reference, 0.01).unwrap().tie
            });
            ties.count()
        };
        let equals = ties(1.0, 200);
        assert!((180..200).contains(&equals), "{equals}");
        assert_eq!(ties(1.3, 100), 0);
        assert_eq!(ties(1.0 / 1.3, 100), 0);
    }

    #[test]
    fn differences_below_the_resolution_are_ties() {
        let (candidate, reference) =
            SimulatedMachine { process: 0.0, noise: 0.001, ..SimulatedMachine::default() }.sample_pair(1, 1.03);
        assert!(!compare_samples(&candidate, &reference, 0.01).unwrap().tie);
        assert!(compare_samples(&candidate, &reference, 0.05).unwrap().tie);
    }

    #[test]
    fn one_outlier_hardly_moves_the_ratio() {
        let (candidate, mut reference) =
            SimulatedMachine { process: 0.01, noise: 0.02, ..SimulatedMachine::default() }.sample_pair(5, TRUE_RATIO);
        let clean = compute_speedup(&candidate, &reference).unwrap();
        reference[17].ns *= 50.0;
        let found = compute_speedup(&candidate, &reference).unwrap();
        assert!((found.estimate / clean.estimate - 1.0).abs() < 0.005);
        assert!((found.low / clean.low - 1.0).abs() < 0.01 && (found.high / clean.high - 1.0).abs() < 0.01);
    }

    #[test]
    fn swapping_the_sides_inverts_the_ratio() {
        let (candidate, reference) = SimulatedMachine::default().sample_pair(5, TRUE_RATIO);
        let (forward, back) =
            (compute_speedup(&candidate, &reference).unwrap(), compute_speedup(&reference, &candidate).unwrap());
        assert!((forward.estimate * back.estimate - 1.0).abs() < 1e-9);
        assert!((forward.low * back.high - 1.0).abs() < 1e-9 && (forward.high * back.low - 1.0).abs() < 1e-9);
    }

    #[test]
    fn samples_without_a_partner_are_ignored() {
        let (candidate, reference) = SimulatedMachine::default().sample_pair(5, TRUE_RATIO);
        let paired = compute_speedup(&candidate[..40], &reference[..40]);
        assert_eq!(compute_speedup(&candidate, &reference[..40]), paired);
        assert_eq!(compute_speedup(&candidate[..40], &reference), paired);
        assert_eq!(compute_speedup(&candidate[..40], &reference[40..]), None);
        assert_eq!(compute_speedup(&[], &reference), None);
        assert_eq!(compare_samples(&[], &[], 0.01), None);
    }

    #[test]
    fn invalid_samples_are_ignored_with_their_partner() {
        let (mut candidate, mut reference) = SimulatedMachine::default().sample_pair(5, TRUE_RATIO);
        let clean = compute_speedup(&candidate[4..], &reference[4..]);
        (candidate[0].ns, candidate[1].ns, reference[2].ns, reference[3].ns) = (f64::NAN, 0.0, f64::INFINITY, -1.0);
        assert_eq!(compute_speedup(&candidate, &reference), clean);
    }

    #[test]
    fn a_single_pair_gives_an_unknown_interval() {
        let found = compare_samples(&samples_from_times(&[1.0]), &samples_from_times(&[3.0]), 0.01).unwrap();
        assert!((found.times.estimate - 3.0).abs() < 1e-9);
        assert!(found.tie && !is_known(&found.times));
        assert!(found.times.low < 0.04 && found.times.high > 290.0);
    }

    #[test]
    fn two_pairs_that_agree_by_chance_are_a_tie() {
        let found =
            compare_samples(&samples_from_times(&[1.0, 1.0]), &samples_from_times(&[1.05, 1.10]), 0.01).unwrap();
        assert!(found.tie, "{found:?}");
    }

    #[test]
    fn one_process_cannot_show_a_difference_of_a_few_percent() {
        let one = SimulatedMachine { rounds: 1, turns: 100, process: 0.0, noise: 0.01, ..SimulatedMachine::default() };
        let (candidate, reference) = one.sample_pair(1, 1.04);
        assert!(compare_samples(&candidate, &reference, 0.01).unwrap().tie);
        let (candidate, reference) = one.sample_pair(1, 1.2);
        assert!(!compare_samples(&candidate, &reference, 0.01).unwrap().tie);
    }

    #[test]
    fn work_is_quadratic_in_the_number_of_turns() {
        let work = |turns| {
            let (candidate, reference) = (sample_run(1, 5, turns, 0.02, 0.03), sample_run(2, 5, turns, 0.02, 0.03));
            count_multiplications(|| assert!(compute_speedup(&candidate, &reference).is_some()))
        };
        let all = [10, 20, 40, 80].map(work);
        assert!(all[0] > 0);
        // Twice as many values take a little more than four times the work: they have one more threshold to test.
        assert!(all.windows(2).all(|pair| pair[1] < 5 * pair[0]), "{all:?}");
    }

    #[test]
    fn work_is_quadratic_in_the_number_of_rounds() {
        let work = |rounds| {
            let (candidate, reference) = (sample_run(1, rounds, 5, 0.02, 0.03), sample_run(2, rounds, 5, 0.02, 0.03));
            count_multiplications(|| assert!(compute_speedup(&candidate, &reference).is_some()))
        };
        let all = [8, 16, 32, 64].map(work);
        assert!(all[0] > 0);
        assert!(all.windows(2).all(|pair| pair[1] < 5 * pair[0]), "{all:?}");
    }
}
