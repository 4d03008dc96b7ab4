//! Runs every scenario at small size with the real runtimes: which competitors are right, which are not, and whether
//! everything is measured.

use crate::common;

use icecore_lab::model::{Entry, Fidelity, Operation, Role, ScenarioReport};
use icecore_lab::run::{Options, run_scenarios};
use icecore_lab::scenario::{self, Scenario};
use std::sync::atomic::AtomicBool;

/// Competitors whose answer is not exactly the value, and the difference.
const INEXACT: [(&str, &str, &str); 7] = [
    ("int-list", "perl/pack-a16", AS_TEXT),
    ("int-list", "perl/pack-a8", AS_TEXT),
    ("int-list", "perl/pack-la", AS_TEXT),
    ("int-list", "perl/pack-na", AS_TEXT),
    ("int-list", "perl/split-join", AS_TEXT),
    ("job-hash", "perl/dumper-pp", "alike: text came back as numbers, 4 times"),
    ("php-objects", "php/json", "differs: objects came back without their class, at $"),
];

const AS_TEXT: &str = "alike: numbers came back as text, 1000 times, first at $[0]";

/// Scenarios whose own tests run them and call [`check`], so that none runs twice.
const ELSEWHERE: [&str; 3] = ["php-objects", "pending-store", "ruby-base64"];

/// Returns the options of these runs.
pub fn options() -> Options {
    let mut options = Options { modules: common::find_modules(), ..Options::default().small() };
    // Errors occur in every round, so one is enough; `make test-all` sets `ICECORE_FULL`.
    if std::env::var_os("ICECORE_FULL").is_none() {
        (options.rounds, options.turns) = (1, 1);
    }
    options
}

#[test]
fn every_scenario_runs_and_every_answer_is_as_expected() {
    let options = options();
    let all = scenario::list_scenarios().expect("their files are right");
    assert!(ELSEWHERE.iter().all(|name| all.iter().any(|one| one.name == *name)));
    let is_run_here = |one: &Scenario| !ELSEWHERE.contains(&&*one.name);
    let scenarios: Vec<Scenario> = all.into_iter().filter(is_run_here).collect();
    let report = run_scenarios(&scenarios, &options, &mut (), &AtomicBool::new(false)).expect("it runs");
    assert_eq!(report.scenarios.len(), scenarios.len());
    let pairs = report.scenarios.iter().zip(&scenarios);
    let wrong: Vec<String> = pairs.flat_map(|(scenario, asked)| check_scenario(scenario, asked, &options)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that everything is measured. Returns the answers that are not as expected.
#[must_use]
pub fn check_scenario(scenario: &ScenarioReport, asked: &Scenario, options: &Options) -> Vec<String> {
    let language = asked.language.as_deref().expect("each has a language");
    if !common::is_installed(language) {
        println!("left out: {}, as {language} is missing", scenario.name);
        return Vec::new();
    }
    let is_baseline = |id: &str| asked.baseline.as_deref() == Some(id);
    if let Some(one) = scenario.absent.iter().find(|one| is_baseline(&one.competitor) && one.install.is_some()) {
        println!("left out: {}, as {}", scenario.name, one.why);
        return Vec::new();
    }
    assert!(!scenario.stopped);
    assert_eq!(scenario.points.len(), asked.small_sizes().count(), "{}", scenario.name);
    check_completeness(scenario, options);
    assert_eq!(scenario.claims.len(), asked.claims.len());
    let mut wrong = list_wrong_answers(scenario);
    let failed =
        scenario.absent.iter().filter(|one| one.install.is_none() && !one.why.starts_with("it can't carry this"));
    wrong.extend(failed.map(|one| format!("{}: {one:?}", scenario.name)));
    wrong
}

#[test]
fn a_waiting_scenario_starts_no_runner() {
    let scenario =
        scenario::parse_scenario("later", "title = \"later\"\nwaits = \"the sequel\"\n").expect("a scenario");
    let options = Options { only: vec!["nobody".to_owned()], ..Options::default().small() };
    let report = run_scenarios(&[scenario], &options, &mut (), &AtomicBool::new(false)).expect("it runs");
    assert!(report.scenarios[0].points.is_empty());
    assert_eq!(report.scenarios[0].notes, ["It waits for the sequel."]);
}

/// Checks that all competitors have all their samples, the baseline and its twin exist, and floors are lower.
fn check_completeness(scenario: &ScenarioReport, options: &Options) {
    let baseline = scenario.baseline.as_deref().expect("a baseline");
    for point in &scenario.points {
        let of = |role: Role| point.entries.iter().filter(move |entry| entry.role == role);
        assert!(
            of(Role::Competitor).any(|entry| entry.id == baseline),
            "{}: {baseline} {:?}",
            scenario.name,
            scenario.absent
        );
        assert_eq!(of(Role::Twin).count(), 1, "{}", scenario.name);
        assert!(of(Role::Competitor).count() > 1, "{}", scenario.name);
        for entry in &point.entries {
            assert!(!entry.cells.is_empty(), "{}: {}", scenario.name, entry.id);
            for cell in &entry.cells {
                let max_samples = (options.rounds * options.turns) as usize;
                let min_samples = options.rounds as usize;
                assert!(
                    (min_samples..=max_samples).contains(&cell.samples.len()),
                    "{}: {} {}",
                    scenario.name,
                    entry.id,
                    cell.operation
                );
                assert!(cell.samples.iter().all(|sample| sample.ns > 0.0));
                let is_baseline = entry.id == baseline && entry.role != Role::Twin;
                assert_eq!(cell.against.is_none(), is_baseline, "{}: {} {}", scenario.name, entry.id, cell.operation);
            }
            let writes = entry.find_cell(Operation::Write).is_some() && entry.role == Role::Competitor;
            assert!(!writes || entry.size.is_some_and(|size| size > 0), "{}: {}", scenario.name, entry.id);
        }
    }
}

/// Returns the answers that are not as expected.
fn list_wrong_answers(scenario: &ScenarioReport) -> Vec<String> {
    let mut wrong = Vec::new();
    for entry in scenario.points.iter().flat_map(|point| &point.entries) {
        let fidelity = match &entry.fidelity {
            Fidelity::Exact => "exact".to_owned(),
            Fidelity::Unchecked => "unchecked".to_owned(),
            Fidelity::Alike { differences } => format!("alike: {}", differences.join("; ")),
            Fidelity::Differs { differences } => format!("differs: {}", differences.join("; ")),
            _ => "?".to_owned(),
        };
        if !fidelity.starts_with(expected_fidelity(scenario, entry)) {
            wrong.push(format!("{}: {}: {fidelity}", scenario.name, entry.id));
        }
    }
    wrong
}

fn expected_fidelity(scenario: &ScenarioReport, entry: &Entry) -> &'static str {
    let known = INEXACT.iter().find(|(name, id, _)| *name == scenario.name && *id == entry.id);
    match entry.role {
        Role::Floor | Role::Twin => "unchecked",
        _ => known.map_or("exact", |(_, _, fidelity)| fidelity),
    }
}
