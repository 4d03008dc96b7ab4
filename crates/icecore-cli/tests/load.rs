//! The load program, with small numbers: the daemon next to the article's in Perl, over SQLite, a walk through objects,
//! and more daemons and workers. The tests check that everything was counted and reported, never how fast it was.

use icecore_load::page;
use icecore_load::store::{
    GoalResult, Group, GrowthPlan, Operation, Options, Report, describe_missing_modules, run_all, run_growth,
};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

/// Returns what is needed and missing.
fn find_missing_program(options: &Options) -> Option<String> {
    match Command::new("perl").arg("-v").stdout(Stdio::null()).status() {
        Err(_) => Some("perl is not installed".to_owned()),
        Ok(_) => describe_missing_modules(options).expect("the programs are in benches/store"),
    }
}

#[test]
fn load_on_daemons_is_counted_and_reported() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/store");
    let mut options = Options::new(env!("CARGO_BIN_EXE_icecore").into(), programs).small();
    (options.rounds, options.requests, options.clients) = (2, 64, vec![1, 32]);
    options.objects = vec![90, 900];
    (options.growing.workers, options.growing.daemons) = (Vec::new(), Vec::new());
    if let Some(what) = find_missing_program(&options) {
        eprintln!("skipped: {what}");
        return;
    }
    let report = run_all(&options, &AtomicBool::new(false), &|message| eprintln!("{message}")).expect("it runs");
    // River and the library next to it are for scripts/load.sh.
    let absent: Vec<&str> = report.absent.iter().map(|absent| absent.competitor.as_str()).collect();
    let only_those = absent.iter().all(|one| ["icecore/library", "river"].contains(one));
    assert!(only_those, "{:?}", report.absent);
    check_daemons(&report, &options);
    check_objects(&report);
    check_goals(&report);
    // The report can be read back and drawn.
    assert_eq!(report.growth, None);
    let text = serde_json::to_string(&report).expect("it is written");
    let read: Report = serde_json::from_str(&text).expect("it is read");
    let page = page::render_tables(&read);
    for words in
        ["Turnaround, SQLite, 32 clients", "icecore serve", "an event loop", "a process a client", "Not measured yet"]
    {
        assert!(page.contains(words), "{words} in {page}");
    }
}

fn check_daemons(report: &Report, options: &Options) {
    assert_eq!(report.checks.len(), 3 + 2, "{:?}", report.checks);
    assert_eq!(report.groups.len(), 2);
    for (group, clients) in report.groups.iter().zip([1, 32]) {
        assert_eq!(
            (group.operation, group.database.as_str(), group.clients),
            (Operation::Turnaround, "SQLite", clients)
        );
        let ids: Vec<&str> = group.entries.iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!(ids, ["icecore/serve", "perl/loop", "perl/fork"]);
        for entry in &group.entries {
            let places: Vec<(u32, u32)> = entry.samples.iter().map(|timed| (timed.round, timed.turn)).collect();
            assert_eq!(places, [(0, 0), (1, 0)], "{}", entry.id);
            let requests = if clients == 32 { options.requests } else { 8 };
            for timed in &entry.samples {
                assert_eq!(timed.jobs, requests, "{}", entry.id);
                let (Some(p50), Some(p99)) = (timed.p50, timed.p99) else { panic!("no percentiles: {timed:?}") };
                assert!(0.0 < p50 && p50 <= p99 && p99 <= timed.ns, "{timed:?}");
            }
            assert!(entry.per_second.estimate > 0.0 && !entry.version.is_empty(), "{entry:?}");
        }
    }
}

fn check_objects(report: &Report) {
    let counts: Vec<u32> = report.objects.iter().map(|objects| objects.count).collect();
    assert_eq!(counts, [90, 900]);
    for objects in &report.objects {
        assert_eq!((objects.samples.len(), objects.peaks.len()), (2, 2));
        assert!(objects.bytes > u64::from(objects.count) * 40);
        assert!(objects.peaks.iter().all(|peak| peak.bytes > 0) && objects.per_second.estimate > 0.0);
    }
}

fn check_goals(report: &Report) {
    let unmeasured: Vec<bool> = report.goals.iter().map(|goal| goal.met == GoalResult::Unmeasured).collect();
    // Two on SQLite, two on PostgreSQL, three against River, a million objects, memory.
    assert_eq!(unmeasured, [false, false, true, true, true, true, true, true, true], "{:?}", report.goals);
}

/// Over SQLite, and the available servers. The workers are the example `queue` of icecore-store, which
/// `ICECORE_TEST_QUEUE` names.
#[test]
fn growth_with_workers_is_counted_and_reported() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/store");
    let mut options = Options::new(env!("CARGO_BIN_EXE_icecore").into(), programs).small();
    (options.rounds, options.turns) = (2, 1);
    options.growing =
        GrowthPlan { workers: vec![1, 3], daemons: vec![1, 2], jobs: 60, waiting_jobs: 8, ..options.growing };
    (options.growing.clients, options.growing.requests) = (4, 32);
    options.library = std::env::var_os("ICECORE_TEST_QUEUE").map(Into::into);
    if cfg!(feature = "postgres") {
        options.postgres = std::env::var("ICECORE_TEST_POSTGRES").ok();
    }
    if cfg!(feature = "mysql") {
        options.mysql = std::env::var("ICECORE_TEST_MYSQL").ok();
    }
    if let Some(what) = find_missing_program(&options) {
        eprintln!("SKIPPED: {what}");
        return;
    }
    let growth = run_growth(&options, &AtomicBool::new(false), &|message| eprintln!("{message}")).expect("it runs");
    let mut databases = vec!["SQLite"];
    databases.extend(options.postgres.as_ref().map(|_| "PostgreSQL"));
    databases.extend(options.mysql.as_ref().map(|_| "MariaDB"));
    let absent: Vec<&str> = growth.absent.iter().map(|absent| absent.competitor.as_str()).collect();
    let mut operations = vec![Operation::Daemons];
    if options.library.is_some() {
        operations = vec![Operation::Drain, Operation::DrainWaiting, Operation::Daemons];
        assert_eq!(absent, Vec::<&str>::new(), "{:?}", growth.absent);
    } else {
        eprintln!("SKIPPED: more workers: ICECORE_TEST_QUEUE is not set");
        assert_eq!(absent, databases.iter().map(|name| format!("workers on {name}")).collect::<Vec<_>>());
    }
    let expected: Vec<(&str, Operation)> =
        databases.iter().flat_map(|name| operations.iter().map(|operation| (*name, *operation))).collect();
    let found: Vec<(&str, Operation)> =
        growth.groups.iter().map(|group| (group.database.as_str(), group.operation)).collect();
    assert_eq!(found, expected);
    growth.groups.iter().for_each(check_growth);
    // Each number of daemons, and all workers together, were checked.
    assert_eq!(growth.checks.len(), databases.len() * (operations.len().min(2) + 1), "{:?}", growth.checks);
    let page = page::render_growth(&growth);
    assert!(page.contains("#### More daemons, SQLite, 4 clients") && page.contains("times 1 daemon"), "{page}");
}

fn check_growth(group: &Group) {
    let (clients, ids, jobs) = match group.operation {
        Operation::Drain => (100, ["1-worker", "3-worker"], [60, 60]),
        Operation::DrainWaiting => (4, ["1-worker", "3-worker"], [8, 24]),
        _ => (4, ["1-daemon", "2-daemon"], [32, 32]),
    };
    assert_eq!(group.clients, clients);
    assert_eq!(group.entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ids);
    for (entry, jobs) in group.entries.iter().zip(jobs) {
        let places: Vec<(u32, u32, u32)> =
            entry.samples.iter().map(|timed| (timed.round, timed.turn, timed.jobs)).collect();
        assert_eq!(places, [(0, 0, jobs), (1, 0, jobs)], "{}", entry.id);
        assert!(entry.per_second.estimate > 0.0, "{entry:?}");
        assert_eq!(entry.p99.is_some(), group.operation == Operation::Daemons, "{}", entry.id);
    }
}

#[test]
fn a_folder_without_the_programs_is_an_error() {
    if Command::new("perl").arg("-v").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: perl is not installed");
        return;
    }
    let options = Options::new(env!("CARGO_BIN_EXE_icecore").into(), "/nowhere".into());
    let error = run_all(&options, &AtomicBool::new(false), &|_| ()).expect_err("there is nothing");
    assert!(error.to_string().contains("/nowhere/ask.pl"), "{error}");
}
