//! What users see of a comparison of two reports.

use super::*;
use crate::model::{Machine as Computer, NoiseLevel, Runtime, Sample, Settings};
use crate::stats::synthetic::{SimulatedMachine, make_entry, make_point};
use Operation::{Read, Write};
use fastrand::Rng;

fn timed_samples(seed: u64, ns: f64) -> Vec<Sample> {
    let machine = SimulatedMachine { process: 0.01, noise: 0.02, ..SimulatedMachine::default() };
    machine.sample_program(&mut Rng::with_seed(seed), ns)
}

/// Returns a run on a machine that is slower by the factor `slow`, in which `other` takes `ratio` times as long as the
/// baseline.
fn make_report(seed: u64, slow: f64, ratio: f64) -> Report {
    let mut report = make_point(
        1.0,
        vec![
            make_entry("base", 1000, vec![(Read, timed_samples(seed, 100.0 * slow))]),
            make_entry("other", 2000, vec![(Read, timed_samples(seed + 100, 100.0 * slow * ratio))]),
        ],
    );
    report.name = "1,000 objects".to_owned();
    let scenario = ScenarioReport {
        name: "mix".to_owned(),
        title: String::new(),
        about: String::new(),
        operations: vec![Read],
        baseline: Some("base".to_owned()),
        axis: String::new(),
        points: vec![report],
        published: vec![],
        claims: vec![],
        absent: vec![],
        noise: crate::model::Noise {
            level: NoiseLevel::Quiet,
            spread: 0.0,
            drift: 0.0,
            resolution: 0.01,
            words: String::new(),
        },
        stopped: false,
        notes: vec![],
    };
    Report {
        schema: crate::model::SCHEMA,
        icecore: String::new(),
        made: String::new(),
        seconds: 1.0,
        machine: Computer::default(),
        settings: Settings { seed: 1, rounds: 5, turns: 20, sample_ms: 1, small: false },
        scenarios: vec![scenario],
    }
}

fn second_entry(report: &mut Report) -> &mut Entry {
    &mut report.scenarios[0].points[0].entries[1]
}

fn compare_by_default(old: &Report, new: &Report) -> ReportComparison {
    compare_reports(old, new, Threshold::default())
}

fn find_change(compared: &ReportComparison, competitor: &str, quantity: ComparedQuantity) -> Change {
    let found: Vec<_> =
        compared.findings.iter().filter(|one| one.competitor == competitor && one.what == quantity).collect();
    assert_eq!(found.len(), 1, "{compared:#?}");
    found[0].change
}

#[test]
fn a_slower_machine_is_not_a_regression() {
    let found = compare_by_default(&make_report(1, 1.0, 2.0), &make_report(2, 3.0, 2.0));
    assert!(!found.has_regressions());
    assert_eq!(find_change(&found, "other", ComparedQuantity::Time(Read)), Change::Same);
    assert_eq!(find_change(&found, "base", ComparedQuantity::Time(Read)), Change::Same);
    let finding = found.findings.iter().find(|one| one.what == ComparedQuantity::Time(Read)).unwrap();
    assert!(finding.new.unwrap() > 2.5 * finding.old.unwrap());
}

#[test]
fn only_a_slower_competitor_is_a_regression() {
    let worse = compare_by_default(&make_report(1, 1.0, 2.0), &make_report(2, 0.5, 2.6));
    assert!(worse.has_regressions());
    assert_eq!(find_change(&worse, "other", ComparedQuantity::Time(Read)), Change::Worse);
    let times = worse.findings_with_change(Change::Worse).next().unwrap().times.unwrap();
    assert!(times.low < 1.3 && 1.3 < times.high, "{times:?}");
    let better = compare_by_default(&make_report(1, 1.0, 2.6), &make_report(2, 2.0, 2.0));
    assert!(!better.has_regressions());
    assert_eq!(find_change(&better, "other", ComparedQuantity::Time(Read)), Change::Improved);
}

#[test]
fn a_difference_within_the_interval_is_not_a_regression() {
    for seed in 0..40 {
        let found = compare_by_default(&make_report(seed, 1.0, 2.0), &make_report(seed + 1000, 1.0, 2.2));
        assert_eq!(
            find_change(&found, "other", ComparedQuantity::Time(Read)),
            Change::Same,
            "11 % may be 9 %, seed {seed}"
        );
    }
}

#[test]
fn only_changes_above_the_threshold_are_regressions() {
    let (old, new) = (make_report(1, 1.0, 2.0), make_report(2, 1.0, 2.6));
    let regressions = |text: &str| compare_reports(&old, &new, text.parse().unwrap()).has_regressions();
    assert!(regressions("10%") && regressions("0.2"));
    assert!(!regressions("30%") && !regressions("100%"));
}

#[test]
fn a_difference_below_that_of_the_twin_is_not_a_regression() {
    let (old, mut new) = (make_report(1, 1.0, 2.0), make_report(2, 1.0, 2.6));
    let entries = &mut new.scenarios[0].points[0].entries;
    let mut twin = make_entry("base", 1000, vec![(Read, timed_samples(7, 200.0))]);
    twin.role = Role::Twin;
    twin.cells[0].against = stats::compare_samples(&twin.cells[0].samples, &entries[0].cells[0].samples, 0.01);
    entries.push(twin);
    assert_eq!(find_change(&compare_by_default(&old, &new), "other", ComparedQuantity::Time(Read)), Change::Same);
    new.scenarios[0].points[0].entries.pop();
    assert_eq!(find_change(&compare_by_default(&old, &new), "other", ComparedQuantity::Time(Read)), Change::Worse);
}

#[test]
fn sizes_are_compared_exactly() {
    let found = |bytes| {
        let mut new = make_report(2, 1.0, 2.0);
        second_entry(&mut new).size = Some(bytes);
        let compared = compare_by_default(&make_report(1, 1.0, 2.0), &new);
        (find_change(&compared, "other", ComparedQuantity::Size), compared.to_string())
    };
    assert_eq!(found(2201).0, Change::Worse);
    assert_eq!(found(1800).0, Change::Improved);
    assert_eq!(found(2000).0, Change::Same);
    let (change, text) = found(2001);
    assert_eq!(change, Change::Same);
    assert!(text.contains("2000 bytes then, 2001 bytes now"), "{text}");
}

#[test]
fn a_competitor_that_became_wrong_is_a_regression() {
    let mut new = make_report(2, 1.0, 0.1);
    second_entry(&mut new).fidelity =
        Fidelity::Differs { differences: vec!["a key is missing, first at $.a".to_owned()] };
    let found = compare_reports(&make_report(1, 1.0, 2.0), &new, "900%".parse().unwrap());
    assert!(found.has_regressions());
    assert_eq!(find_change(&found, "other", ComparedQuantity::Fidelity), Change::Worse);
    let text = found.to_string();
    assert!(text.contains("less right than it was; a key is missing, first at $.a"), "{text}");
    let back = compare_by_default(&new, &make_report(1, 1.0, 2.0));
    assert_eq!(find_change(&back, "other", ComparedQuantity::Fidelity), Change::Improved);
}

#[test]
fn unchecked_output_is_not_a_regression() {
    let mut new = make_report(2, 1.0, 2.0);
    second_entry(&mut new).fidelity = Fidelity::Unchecked;
    assert!(!compare_by_default(&make_report(1, 1.0, 2.0), &new).has_regressions());
}

#[test]
fn new_and_missing_parts_are_listed_without_failure() {
    let (old, mut new) = (make_report(1, 1.0, 2.0), make_report(2, 1.0, 2.0));
    second_entry(&mut new).id = "another".to_owned();
    new.scenarios[0].points[0].entries[0].cells.extend(make_entry("", 1, vec![(Write, timed_samples(1, 1.0))]).cells);
    let found = compare_by_default(&old, &new);
    assert!(!found.has_regressions());
    assert_eq!(find_change(&found, "another", ComparedQuantity::Part), Change::New);
    assert_eq!(find_change(&found, "other", ComparedQuantity::Part), Change::Gone);
    assert_eq!(find_change(&found, "base", ComparedQuantity::Time(Write)), Change::New);
    assert_eq!(find_change(&compare_by_default(&new, &old), "base", ComparedQuantity::Time(Write)), Change::Gone);
    new.scenarios[0].name = "elsewhere".to_owned();
    let found = compare_by_default(&old, &new);
    assert_eq!(
        (found.findings_with_change(Change::New).count(), found.findings_with_change(Change::Gone).count()),
        (2, 2)
    );
}

#[test]
fn times_need_a_baseline_and_several_samples() {
    let (mut old, mut new) = (make_report(1, 1.0, 2.0), make_report(2, 1.0, 20.0));
    (old.scenarios[0].baseline, new.scenarios[0].baseline) = (None, None);
    assert_eq!(find_change(&compare_by_default(&old, &new), "other", ComparedQuantity::Time(Read)), Change::Same);
    let (old, mut new) = (make_report(1, 1.0, 2.0), make_report(2, 1.0, 20.0));
    second_entry(&mut new).cells[0].samples.truncate(1);
    assert_eq!(find_change(&compare_by_default(&old, &new), "other", ComparedQuantity::Time(Read)), Change::Same);
}

#[test]
fn floors_and_twins_are_not_compared() {
    let mut new = make_report(2, 1.0, 20.0);
    second_entry(&mut new).role = Role::Floor;
    let mut old = make_report(1, 1.0, 2.0);
    second_entry(&mut old).role = Role::Floor;
    assert!(compare_by_default(&old, &new).findings.iter().all(|one| one.competitor == "base"));
}

#[test]
fn the_table_describes_changes_in_words() {
    let mut new = make_report(2, 1.0, 3.0);
    new.machine.processor = "new one".to_owned();
    new.machine.runtimes = vec![Runtime { language: "perl".to_owned(), version: "5.40".to_owned() }];
    let mut old = make_report(1, 1.0, 2.0);
    old.machine.processor = "old one".to_owned();
    old.machine.runtimes = vec![Runtime { language: "perl".to_owned(), version: "5.36".to_owned() }];
    let text = compare_by_default(&old, &new).to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "The old report is of another processor (old one, now new one).");
    assert_eq!(lines[1], "perl was 5.36 then, and is 5.40 now.");
    assert!(lines[2].starts_with("worse  mix other, 1,000 objects  read  1.5"), "{text}");
    assert!(lines[2].contains("times as long against the baseline; 2") && lines[2].ends_with(" ns now"), "{text}");
    assert_eq!(
        lines[3],
        "1 worse, 5 the same. Times count against the baseline's, and changes up to 10 % do not count."
    );
}

#[test]
fn reports_with_nothing_in_common_say_so() {
    let mut old = make_report(1, 1.0, 2.0);
    old.scenarios.clear();
    assert_eq!(compare_by_default(&old, &old).to_string(), "The reports have nothing in common.\n");
}
