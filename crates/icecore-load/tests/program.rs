//! The command line of the load program. Its measurements are tested next to the command, in icecore-cli.

use icecore_lab::model::{Interval, Machine};
use icecore_load::page;
use icecore_load::store::{
    Entry, Goal, GoalResult, Group, Growth, GrowthPlan, GrowthSettings, Operation, Report, SCHEMA, Settings,
    TimedSample,
};
use std::process::{Command, Stdio};

/// Returns stdout, stderr and the exit code.
fn output(args: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icecore-load"));
    let done = command.arg("store").args(args).stdin(Stdio::null()).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(done.stdout), text(done.stderr), done.status.code().expect("it ends by itself"))
}

fn report() -> Report {
    let settings = Settings {
        seed: 1,
        rounds: 1,
        turns: 1,
        requests: 1,
        jobs: 1,
        connections: 1,
        batch: 1,
        concurrency: 1,
        river_concurrency: 1,
        small: true,
    };
    let goal =
        Goal { text: "more".to_owned(), wanted: 5.0, at_most: false, measured: None, met: GoalResult::Unmeasured };
    Report {
        schema: SCHEMA,
        icecore: "1".to_owned(),
        made: "then".to_owned(),
        seconds: 1.0,
        machine: Machine::default(),
        settings,
        checks: vec!["all".to_owned()],
        groups: Vec::new(),
        objects: Vec::new(),
        goals: vec![goal],
        absent: Vec::new(),
        stopped: false,
        growth: None,
    }
}

#[test]
fn the_help_names_every_option() {
    let (stdout, stderr, code) = output(&["--help"]);
    assert_eq!((stderr.as_str(), code), ("", 0));
    for word in [
        "--icecore",
        "--postgres",
        "--river",
        "--mysql",
        "--only",
        "--workers",
        "--daemons",
        "--small",
        "--json",
        "scripts/load.sh",
    ] {
        assert!(stdout.contains(word), "{word} in {stdout}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    for (args, said) in [
        (&["--rounds", "0"][..], "--rounds"),
        (&["--clients", "0"], "--clients"),
        (&["--report", "/nowhere"], "/nowhere"),
        (&["faster"], "faster"),
        (&["--only", "rivals"], "grow"),
        (&["--workers", "0"], "--workers"),
        (&["--only", "grow", "--json", "/nowhere"], "/nowhere"),
        (&["--only", "grow", "--page", "/nowhere"], "--json"),
    ] {
        let (stdout, stderr, code) = output(args);
        assert!(stdout.is_empty() && code != 0 && stderr.contains(said), "{args:?}: {code} {stderr}");
    }
}

#[test]
fn tables_are_written_between_the_marks_of_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let (json, page) = (folder.path().join("a.json"), folder.path().join("a.md"));
    std::fs::write(&json, serde_json::to_vec(&report()).expect("JSON")).expect("it is written");
    let args = ["--report", json.to_str().expect("text"), "--page", page.to_str().expect("text")];
    std::fs::write(&page, "before\n").expect("it is written");
    let (_, stderr, code) = output(&args);
    assert!(code != 0 && stderr.contains("the marks for the tables are missing"), "{stderr}");
    let marks =
        "before\n<!-- load: made by scripts/load.sh from docs/bench/store.json -->\nold\n<!-- /load -->\nafter\n";
    std::fs::write(&page, marks).expect("it is written");
    let mut written = Vec::new();
    for _ in 0..2 {
        assert_eq!(output(&args).2, 0);
        written.push(std::fs::read_to_string(&page).expect("the page"));
    }
    assert_eq!(written[0], written[1]);
    let text = &written[0];
    assert!(text.starts_with("before\n<!--") && text.ends_with("<!-- /load -->\nafter\n") && !text.contains("old"));
    assert!(text.contains("| not measured | more | ≥ 5 |  |"), "{text}");
    assert!(text.contains("### How it grows\n\nNot measured yet"), "{text}");
}

/// Makes a report in which three workers do twice as much as one.
fn growth() -> Growth {
    let entry = |id: &str, jobs| {
        let timed = |round| TimedSample { round, turn: 0, jobs, ns: 1e9, p50: None, p99: None };
        let per_second = Interval { estimate: f64::from(jobs), low: f64::from(jobs), high: f64::from(jobs) };
        let (id, name, version) = (id.to_owned(), id.replace('-', " "), "1".to_owned());
        Entry { id, name, version, samples: (0..6).map(timed).collect(), per_second, p50: None, p99: None }
    };
    let entries = vec![entry("1-worker", 1000), entry("3-workers", 2000)];
    let group = Group { operation: Operation::DrainWaiting, database: "MariaDB".to_owned(), clients: 4, entries };
    let growing = GrowthPlan {
        workers: vec![1, 3],
        daemons: Vec::new(),
        jobs: 1,
        at_once: 1,
        waiting_jobs: 1,
        waiting_at_once: 4,
        waiting_millis: 7,
        clients: 1,
        requests: 1,
    };
    Growth {
        icecore: "2".to_owned(),
        made: "later".to_owned(),
        seconds: 120.0,
        machine: Machine::default(),
        settings: GrowthSettings { seed: 1, rounds: 6, turns: 1, small: false, growing },
        checks: vec!["all workers".to_owned()],
        groups: vec![group],
        absent: Vec::new(),
        stopped: false,
    }
}

#[test]
fn a_report_of_growth_is_written_without_other_parts() {
    let report = Report { growth: Some(growth()), ..report() };
    let read: Report = serde_json::from_slice(&serde_json::to_vec(&report).expect("JSON")).expect("it is read");
    assert_eq!(read, report);
    let page = page::render_tables(&read);
    let (before, after) = page.split_once("\n### How it grows\n\n").expect("it has a heading");
    assert!(before.contains("Icecore 1, then,") && after.starts_with("Icecore 2, later, in 2.0 minutes."), "{page}");
    assert!(after.contains("#### More workers, jobs that wait 7 ms, MariaDB, 4 at once each"), "{after}");
    assert!(after.contains("|  | jobs a second | times 1 worker |"), "{after}");
    assert!(after.contains("| 1 worker | 1,000 |  |\n| 3 workers | 2,000 | 2.00 |\n"), "{after}");
}
