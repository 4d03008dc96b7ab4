//! What users see of a claim.

use super::*;
use crate::model::Sample;
use crate::stats::synthetic::{SimulatedMachine, make_entry, make_point};
use Operation::{Read, Write};
use fastrand::Rng;

fn timed_samples(seed: u64, ns: f64) -> Vec<Sample> {
    let machine = SimulatedMachine { process: 0.005, noise: 0.01, ..SimulatedMachine::default() };
    machine.sample_program(&mut Rng::with_seed(seed), ns)
}

/// Makes a point with two competitors. `slow` takes `ratio` times as long, and `fast` writes `ratio` times faster
/// than it reads.
fn make_size(size: f64, ratio: f64) -> Point {
    let mut made = make_point(
        size,
        vec![
            make_entry("slow", 1360, vec![(Read, timed_samples(10 + size as u64, 100.0 * ratio))]),
            make_entry("fast", 1000, vec![(Read, timed_samples(2, 100.0)), (Write, timed_samples(3, 100.0 / ratio))]),
        ],
    );
    made.name = format!("{size} objects");
    made.parameters = [("count".to_owned(), size as i64)].into();
    made
}

fn make_side(competitor: &str, operation: Option<Operation>) -> Side {
    Side { competitor: competitor.to_owned(), operation }
}

fn make_claim(quantity: Quantity, from: f64, to: f64) -> Claim {
    Claim {
        text: "fast is faster".to_owned(),
        source: "an article".to_owned(),
        quantity,
        over: make_side("slow", Some(Read)),
        under: make_side("fast", Some(Read)),
        from,
        to,
        at: [].into(),
        explanation: String::new(),
    }
}

#[test]
fn a_measured_ratio_is_compared_with_the_claim() {
    let judged = |ratio| judge_claim(&make_claim(Quantity::Time, 2.9, 2.9), &[make_size(1.0, ratio)]);
    let found = judged(1.7);
    let now = found.now.unwrap();
    assert!(now.low < 1.7 && 1.7 < now.high && now.high - now.low < 0.1, "{now:?}");
    assert_eq!(found.verdict, Verdict::Weaker);
    assert!(found.words.starts_with("2.9 times then, 1.") && found.words.ends_with("): weaker."), "{}", found.words);
    assert!(found.words.contains(" now ("), "{}", found.words);
    assert_eq!(judged(2.8).verdict, Verdict::Holds);
    assert_eq!(judged(5.0).verdict, Verdict::Stronger);
    assert_eq!(judged(1.0).verdict, Verdict::Gone);
    assert_eq!(judged(0.5).verdict, Verdict::Reversed);
}

#[test]
fn sizes_are_compared_exactly() {
    let found = judge_claim(&make_claim(Quantity::Size, 1.3, 1.35), &[make_size(1.0, 1.0)]);
    assert_eq!(found.now, Some(stats::exact_interval(1.36)));
    assert_eq!(found.words, "1.3 to 1.35 times then, 1.36 now: holds.");
}

#[test]
fn a_claim_may_compare_two_operations_of_one_competitor() {
    let mut claim = make_claim(Quantity::Time, 2.0, 2.0);
    (claim.over, claim.under) = (make_side("fast", Some(Read)), make_side("fast", Some(Write)));
    let found = judge_claim(&claim, &[make_size(1.0, 2.0)]);
    assert_eq!(found.verdict, Verdict::Holds, "{}", found.words);
}

#[test]
fn the_median_over_all_sizes_decides() {
    let points = [make_size(1000.0, 3.4), make_size(10.0, 1.2), make_size(100.0, 3.0)];
    let found = judge_claim(&make_claim(Quantity::Time, 2.9, 2.9), &points);
    // At 10 objects, less than half of the difference remains.
    assert_eq!(found.verdict, Verdict::Partly);
    let now = found.now.unwrap();
    assert!(now.low < 1.2 && (2.9..3.1).contains(&now.estimate) && now.high > 3.4, "{now:?}");
    assert!(found.words.contains("now in the middle of 3 sizes (from 1."), "{}", found.words);
    assert!(found.words.contains(" at 10 objects to 3."), "{}", found.words);
    assert!(
        found.words.ends_with(" at 1000 objects): holds in the middle, not throughout, the same at 2 of them."),
        "{}",
        found.words
    );
}

#[test]
fn only_the_sizes_of_the_claim_are_used() {
    let points = [make_size(10.0, 1.2), make_size(100.0, 3.0)];
    let mut claim = make_claim(Quantity::Time, 1.2, 1.2);
    claim.at = [("count".to_owned(), 10)].into();
    assert_eq!(judge_claim(&claim, &points).verdict, Verdict::Holds);
    claim.at = [("count".to_owned(), 100)].into();
    assert_eq!(judge_claim(&claim, &points).verdict, Verdict::Stronger);
    claim.at = [("count".to_owned(), 7)].into();
    let found = judge_claim(&claim, &points);
    assert_eq!((found.now, found.verdict), (None, Verdict::Unknown));
    assert_eq!(found.words, "It can't be said here: no size was measured that the claim is about.");
}

#[test]
fn missing_measurements_are_named() {
    let points = [make_size(10.0, 2.0)];
    let words = |change: fn(&mut Claim)| {
        let mut claim = make_claim(Quantity::Time, 2.0, 2.0);
        change(&mut claim);
        let found = judge_claim(&claim, &points);
        assert_eq!((found.now, found.verdict), (None, Verdict::Unknown));
        found.words
    };
    assert!(words(|claim| claim.over = make_side("gone", Some(Read))).ends_with("gone was not measured."));
    assert!(words(|claim| claim.over = make_side("slow", Some(Write))).ends_with("write of slow was not timed."));
    assert!(words(|claim| claim.over = make_side("slow", None)).ends_with("which operation of slow."));
    assert!(words(|claim| claim.from = -1.0).contains("no numbers above 0"));
}

#[test]
fn one_sample_leaves_a_claim_unknown() {
    let mut size = make_size(1.0, 3.0);
    size.entries.iter_mut().flat_map(|entry| &mut entry.cells).for_each(|cell| cell.samples.truncate(1));
    let found = judge_claim(&make_claim(Quantity::Time, 2.9, 2.9), &[size.clone()]);
    assert_eq!(found.verdict, Verdict::Unknown);
    assert!(found.words.contains("one sample, its error is not known"), "{}", found.words);
    assert_eq!(judge_claim(&make_claim(Quantity::Crossing, 2.9, 2.9), &[size]).verdict, Verdict::Unknown);
}

#[test]
fn competitors_with_wrong_output_are_judged_with_a_note() {
    let mut size = make_size(1.0, 2.9);
    size.entries[1].fidelity = Fidelity::Differs { differences: vec![] };
    let found = judge_claim(&make_claim(Quantity::Time, 2.9, 2.9), &[size.clone()]);
    assert_eq!(found.verdict, Verdict::Holds);
    assert!(found.words.ends_with("holds; what fast gives back differs from what went in."), "{}", found.words);
    size.entries[1].fidelity = Fidelity::Alike { differences: vec![] };
    let found = judge_claim(&make_claim(Quantity::Time, 2.9, 2.9), &[size]);
    assert!(found.words.ends_with("what fast gives back is alike, not the same."), "{}", found.words);
}

fn crossing_claim(from: f64, to: f64, ratios: &[(f64, f64)]) -> ClaimResult {
    let points: Vec<Point> = ratios.iter().map(|&(size, ratio)| make_size(size, ratio)).collect();
    judge_claim(&make_claim(Quantity::Crossing, from, to), &points)
}

#[test]
fn a_crossing_is_interpolated_between_sizes() {
    let found = crossing_claim(4000.0, 6000.0, &[(1000.0, 0.5), (2500.0, 0.5), (10000.0, 2.0), (40000.0, 3.0)]);
    let now = found.now.unwrap();
    assert_eq!((now.low, now.high), (2500.0, 10000.0));
    assert!((now.estimate / 5000.0 - 1.0).abs() < 0.02, "{now:?}");
    assert_eq!(found.verdict, Verdict::Holds);
    assert!(
        found.words.starts_with("slow led up to 4000 to 6000 then, up to about ")
            && found.words.ends_with(" now (between 2500 and 10000): holds."),
        "{}",
        found.words
    );
}

#[test]
fn a_crossing_may_have_moved() {
    let further = crossing_claim(4000.0, 6000.0, &[(8000.0, 0.5), (16000.0, 0.7), (32000.0, 2.0)]);
    assert_eq!(further.verdict, Verdict::Stronger, "{}", further.words);
    let nearer = crossing_claim(4000.0, 6000.0, &[(100.0, 0.5), (1000.0, 0.7), (2000.0, 2.0), (5000.0, 4.0)]);
    assert_eq!(nearer.verdict, Verdict::Weaker, "{}", nearer.words);
}

#[test]
fn a_tie_ends_the_lead() {
    let found = crossing_claim(4000.0, 6000.0, &[(10.0, 1.0), (100.0, 0.8), (4000.0, 1.0), (8000.0, 1.5)]);
    let now = found.now.unwrap();
    assert!(now.low == 4000.0 && (4000.0..4300.0).contains(&now.estimate), "{now:?}");
}

#[test]
fn claims_without_a_crossing_are_stronger_unknown_or_reversed() {
    let ahead = crossing_claim(4000.0, 6000.0, &[(1000.0, 0.5), (100_000.0, 0.5)]);
    assert_eq!((ahead.now, ahead.verdict), (None, Verdict::Stronger));
    assert_eq!(ahead.words, "slow led up to 4000 to 6000 then, and at all sizes up to 100000 now: stronger.");
    let short = crossing_claim(4000.0, 6000.0, &[(1000.0, 0.5), (5000.0, 0.5)]);
    assert_eq!((short.now, short.verdict), (None, Verdict::Unknown));
    let reversed = crossing_claim(4000.0, 6000.0, &[(1000.0, 2.0), (100_000.0, 2.0)]);
    assert_eq!((reversed.now, reversed.verdict), (None, Verdict::Reversed));
    let large = crossing_claim(4000.0, 6000.0, &[(5000.0, 2.0), (100_000.0, 2.0)]);
    assert_eq!((large.now, large.verdict), (None, Verdict::Unknown));
    let mixed = crossing_claim(4000.0, 6000.0, &[(1000.0, 2.0), (100_000.0, 0.5)]);
    assert_eq!((mixed.now, mixed.verdict), (None, Verdict::Weaker));
}
