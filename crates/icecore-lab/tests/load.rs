//! The load program at its command line. What it measures is tested where the command is: in icecore-cli.

use icecore_lab::load::{Goal, Met, Report, SCHEMA, Settings};
use icecore_lab::model::Machine;
use std::process::{Command, Stdio};

/// Stdout, stderr and the exit code.
fn output(args: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icecore-load"));
    let done = command.args(args).stdin(Stdio::null()).output().expect("it runs");
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
    let goal = Goal { text: "more".to_owned(), wanted: 5.0, at_most: false, measured: None, met: Met::Unmeasured };
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
    }
}

#[test]
fn the_help_names_what_there_is() {
    let (stdout, stderr, code) = output(&["--help"]);
    assert_eq!((stderr.as_str(), code), ("", 0));
    for word in ["--icecore", "--postgres", "--river", "--small", "--json", "scripts/load.sh"] {
        assert!(stdout.contains(word), "{word} in {stdout}");
    }
}

#[test]
fn wrong_words_are_refused() {
    for (args, said) in [
        (&["--rounds", "0"][..], "--rounds"),
        (&["--clients", "0"], "--clients"),
        (&["--report", "/nowhere"], "/nowhere"),
        (&["faster"], "faster"),
    ] {
        let (stdout, stderr, code) = output(args);
        assert!(stdout.is_empty() && code != 0 && stderr.contains(said), "{args:?}: {code} {stderr}");
    }
}

#[test]
fn a_report_goes_between_the_marks_of_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let (json, page) = (folder.path().join("a.json"), folder.path().join("a.md"));
    std::fs::write(&json, serde_json::to_vec(&report()).expect("JSON")).expect("it is written");
    let args = ["--report", json.to_str().expect("text"), "--page", page.to_str().expect("text")];
    std::fs::write(&page, "before\n").expect("it is written");
    let (_, stderr, code) = output(&args);
    assert!(code != 0 && stderr.contains("the marks for the tables are missing"), "{stderr}");
    let marks =
        "before\n<!-- load: made by scripts/load.sh from docs/bench/store.json -->\nold\n<!-- /load -->\nbehind\n";
    std::fs::write(&page, marks).expect("it is written");
    let mut written = Vec::new();
    for _ in 0..2 {
        assert_eq!(output(&args).2, 0);
        written.push(std::fs::read_to_string(&page).expect("the page"));
    }
    assert_eq!(written[0], written[1]);
    let text = &written[0];
    assert!(text.starts_with("before\n<!--") && text.ends_with("<!-- /load -->\nbehind\n") && !text.contains("old"));
    assert!(text.contains("| not measured | more | ≥ 5 |  |"), "{text}");
}
