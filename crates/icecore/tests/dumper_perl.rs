//! Reading a text of Data::Dumper gives the same value as perl's own eval.

use crate::common;
use crate::fixtures;

use crate::fixtures::{base64, load, report};
use icecore::{
    Document, Limits,
    format::{dumper, storable},
    raw::Outcome,
    value::Comparison,
};
use serde_json::Value;
use std::process::{Command, Stdio};

fn image(line: &Value) -> Vec<u8> {
    base64(line["image"].as_str().expect("an image"))
}

fn read_both_ways<'a>(text: &'a [u8], options: &dumper::ReadOptions) -> Outcome<'a> {
    common::read_both_ways(options, text, &Limits::default())
}

/// Compares two documents. Storable wraps a value that is not a reference; Data::Dumper does not.
fn is_same(text: &Document<'_>, image: &Document<'_>) -> bool {
    Comparison::new().any_order().any_ascii().equal(text, image)
}

/// Returns the read options for the settings that a text does not show.
fn options(mode: &str) -> dumper::ReadOptions {
    let setting = |name: &str| mode.split(',').find_map(|setting| setting.strip_prefix(name)).map(str::to_owned);
    let mut options = dumper::ReadOptions::default();
    options.narrow = true;
    if mode.contains("Terse=1") {
        options.pad = setting("Pad=");
    }
    options
}

/// Returns the lines in which two tapes differ.
fn describe_difference(found: &Document<'_>, expected: &Document<'_>) -> String {
    let lines = |document| format!("{document:?}").lines().map(|line| line.replace(" ref", "")).collect::<Vec<_>>();
    let (found, expected) = (lines(found), lines(expected));
    let both = found.iter().zip(&expected).filter(|(a, b)| a != b).take(12);
    format!(
        "{}{} and {} nodes",
        both.map(|(a, b)| format!("{a}\n{b}\n")).collect::<String>(),
        found.len(),
        expected.len()
    )
}

fn compare(name: &str, text: &[u8], image: &[u8], failures: &mut Vec<String>) {
    let options = storable::ReadOptions::default();
    let expected =
        storable::read(image, &options, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let outcome = read_both_ways(text, &self::options(name));
    let printed = String::from_utf8_lossy(text);
    if let Some(error) = outcome.error {
        failures.push(format!("{name}: {error}\n{printed}"));
    } else if outcome.consumed != text.len() {
        failures.push(format!("{name}: {} bytes are left of\n{printed}", text.len() - outcome.consumed));
    } else if !is_same(&outcome.document, &expected) {
        failures.push(format!("{name}:\n{printed}\n{}", describe_difference(&outcome.document, &expected)));
    }
}

#[test]
fn texts_are_read_as_perl_evaluates_them() {
    let (mut failures, mut total) = (Vec::new(), 0);
    for fixture in load("dumper-read.jsonl") {
        let name = format!("{} {}", fixture.name, fixture.mode);
        compare(&name, &fixture.blob, &image(&fixture.line), &mut failures);
        total += 1;
    }
    report("Data::Dumper", total, &failures);
    assert!(total > 1000, "{total}");
}

/// Random structures under random settings; `ICECORE_SEED` selects others.
#[test]
fn random_texts_are_read_as_perl_evaluates_them() {
    let has = Command::new("perl")
        .args(["-MData::Dumper", "-MStorable", "-Mv5.36", "-e", "1"])
        .stderr(Stdio::null())
        .status();
    if !has.is_ok_and(|status| status.success()) {
        eprintln!("skipped: perl 5.36 with Data::Dumper is not installed");
        return;
    }
    let seed = std::env::var("ICECORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_240_301_u64);
    eprintln!("ICECORE_SEED={seed}");
    let script = fixtures::folder().join("perl/dumper_read.pl");
    let output =
        Command::new("perl").arg(script).args([seed.to_string(), "400".to_owned()]).output().expect("perl runs");
    let (mut failures, mut total) = (Vec::new(), 0);
    for line in String::from_utf8(output.stdout).expect("UTF-8").lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = base64(line["blob"].as_str().expect("a text"));
        compare(
            &format!("{} {}", line["name"], line["mode"].as_str().expect("settings")).replace(' ', " "),
            &text,
            &image(&line),
            &mut failures,
        );
        total += 1;
    }
    report("random", total, &failures);
    assert!(total > 100, "{total}");
}
