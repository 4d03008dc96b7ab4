//! A small run of the scenario over the web, with real servers if they are installed.

use crate::common;

use icecore_lab::model::{Fidelity, Operation, Role};
use icecore_lab::run::{MeasuredSize, Options};
use icecore_lab::scenario::Scenario;
use icecore_load::web::{self, Plan, Watch};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time limit of a test; it only ends one that would hang.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Records the turns, and stops after this number of them.
struct TurnRecorder<'s> {
    folder: &'s Path,
    seen: Vec<(u32, u32)>,
    stop_at: usize,
    stop: &'s AtomicBool,
}

impl Watch for TurnRecorder<'_> {
    fn report_progress(&mut self, _: &str, done: f64, _: Option<Duration>) {
        assert!((0.0..=1.0).contains(&done));
    }

    fn begin_turn(&mut self, round: u32, turn: u32) {
        assert!(any_process_uses(self.folder), "no server is there");
        self.seen.push((round, turn));
        if self.seen.len() == self.stop_at {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn measure(scenario: &Scenario, only: &[String], stop_at: usize) -> (MeasuredSize, Vec<(u32, u32)>) {
    let folder = tempfile::tempdir().expect("a folder");
    let stop = AtomicBool::new(false);
    let mut turns = TurnRecorder { folder: folder.path(), seen: Vec::new(), stop_at, stop: &stop };
    let size = scenario.small_sizes().next().expect("a size");
    let modules = common::find_modules();
    let plan = Plan {
        scenario,
        size,
        folder: folder.path(),
        rounds: 2,
        turns: 2,
        requests: 40,
        budget: None,
        seed: 7,
        only,
        modules: modules.as_deref(),
        stop: &stop,
    };
    let outcome = web::measure_pages(&plan, &mut turns).expect("it runs");
    // The system needs a moment to remove killed processes.
    let end = Instant::now() + TIME_LIMIT;
    while any_process_uses(folder.path()) {
        assert!(Instant::now() < end, "a server is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
    (outcome, turns.seen)
}

/// Returns `true` if a process has a file in the folder open: the servers and all of their children have their logs
/// open.
fn any_process_uses(folder: &Path) -> bool {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    entries(Path::new("/proc"))
        .flat_map(|process| entries(&process.join("fd")))
        .any(|file| std::fs::read_link(file).is_ok_and(|target| target.starts_with(folder)))
}

#[test]
fn pages_are_checked_and_then_timed() {
    if web::check_tools().is_err() {
        return;
    }
    let scenario = web::parse_web_scenario().expect("its file is right");
    let (outcome, turns) = measure(&scenario, &[], usize::MAX);
    assert_eq!(turns, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    let may_be_missing = ["php/igbinary", "php/icecore"];
    let absent = &outcome.absent;
    assert!(absent.iter().all(|absent| may_be_missing.contains(&absent.competitor.as_str())), "{absent:?}");
    assert_eq!(outcome.notes, Vec::<String>::new());
    assert_eq!(outcome.twin.len(), 2);
    let clients: Vec<i64> = outcome.points.iter().map(|point| point.parameters["clients"]).collect();
    assert_eq!(clients, [1, 10]);
    for point in &outcome.points {
        assert_eq!(point.entries.len() + outcome.absent.len(), 11);
        for entry in &point.entries {
            let lossy = matches!(entry.fidelity, Fidelity::Differs { .. });
            assert_eq!(lossy, entry.id == "php/json", "{}: {:?}", entry.id, entry.fidelity);
            let cell = entry.find_cell(Operation::Request).expect("it was measured");
            let pairs: Vec<(u32, u32)> = cell.samples.iter().map(|sample| (sample.round, sample.turn)).collect();
            assert_eq!(pairs, turns, "{}", entry.id);
            assert!(cell.samples.iter().all(|sample| sample.ns > 1000.0), "{:?}", cell.samples);
            let is_baseline = entry.id == "php/serialize" && entry.role == Role::Competitor;
            assert_eq!(cell.against.is_none(), is_baseline, "{}", entry.id);
        }
    }
}

#[test]
fn a_stopped_run_keeps_its_results() {
    if web::check_tools().is_err() {
        return;
    }
    let scenario = web::parse_web_scenario().expect("its file is right");
    let only = ["php/serialize".to_owned(), "php/json".to_owned()];
    let (outcome, turns) = measure(&scenario, &only, 3);
    assert_eq!(turns, [(0, 0), (0, 1), (1, 0)]);
    assert_eq!(outcome.absent, []);
    for point in &outcome.points {
        assert_eq!(point.entries.len(), 3);
        assert!(point.entries.iter().all(|entry| entry.cells[0].samples.len() == 2));
    }
}

#[test]
fn the_web_scenario_runs_like_other_scenarios() {
    if web::check_tools().is_err() {
        return;
    }
    let options = Options { only: vec!["php/serialize".into(), "php/json".into()], ..Options::default().small() };
    let report = web::measure_scenario(&options, &mut (), &AtomicBool::new(false)).expect("it runs");
    let scenario = &report.scenarios[0];
    let places: Vec<(f64, i64)> = scenario.points.iter().map(|point| (point.at, point.parameters["clients"])).collect();
    assert_eq!(places, [(42.0, 1), (42.0, 10), (302.0, 1), (302.0, 10)]);
    assert_eq!(scenario.claims.len(), 4);
    assert!(scenario.noise.spread > 0.0, "the machine was looked at between the turns");
}
