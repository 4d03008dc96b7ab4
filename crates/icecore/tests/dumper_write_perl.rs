//! The real Data::Dumper reads our output: random structures under random settings. Needs perl
//! with Sereal; without it, the test says so and does nothing.

use crate::dumper;

use crate::fixtures::{folder, report};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const SEED: &str = "20240229";
const STRUCTURES: &str = "4000";

#[test]
fn random_structures_are_written_like_data_dumper() {
    let probe =
        Command::new("perl").args(["-MSereal::Encoder", "-MJSON::PP", "-e", "1"]).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        println!("skipped: perl with Sereal is not installed");
        return;
    }
    let number = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let mut perl = Command::new("perl")
        .arg(folder().join("perl/dumper-write.pl"))
        .args(["random".to_owned(), number("DUMPER_SEED", SEED), number("DUMPER_STRUCTURES", STRUCTURES)])
        .stdout(Stdio::piped())
        .spawn()
        .expect("perl runs");
    let (mut total, mut failures) = (0, Vec::new());
    for line in BufReader::new(perl.stdout.take().expect("a pipe")).lines() {
        let line = serde_json::from_str(&line.expect("a line")).expect("a line of JSON");
        let (texts, differ) = dumper::compare(&line);
        total += texts;
        failures.extend(differ);
    }
    assert!(perl.wait().expect("perl ends").success());
    report("Data::Dumper", total, &failures);
    assert!(total > 10, "only {total}");
}
