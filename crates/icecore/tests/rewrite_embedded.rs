//! Serialized values inside other text: PHP composes the texts and checks the result for each piece.

use crate::fixtures::{self, folder};
use crate::replacing::{Pair, value};
use icecore::rewrite::{Rewriting, Tally};
use icecore::text::{from_base64, to_base64};
use std::fmt::Write as _;
use std::process::{Command, Stdio};

/// The output is what PHP composes, or the text stays as it is and is counted.
#[test]
fn embedded_values_are_changed_as_php_composes_them() {
    let runs = Command::new("php").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !runs.is_ok_and(|status| status.success()) {
        println!("skipped: php is not installed");
        return;
    }
    let number = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let ask_php = |more: Option<&str>| {
        let numbers = [number("ICECORE_SEED", "7"), number("ICECORE_REPLACES", "1500")];
        let mut command = Command::new("php");
        command.arg(folder().join("php/around.php")).args(numbers).args(more);
        let output = command.stderr(Stdio::inherit()).output().expect("it runs");
        (String::from_utf8(output.stdout).expect("ASCII"), output.status.success())
    };
    let (texts, is_done) = ask_php(None);
    assert!(is_done);
    let mut changed = String::new();
    for line in texts.lines() {
        let parts: Vec<_> = line.split('\t').map(|part| from_base64(part.as_bytes()).expect("Base64")).collect();
        let [text, old, new] = &parts[..] else { panic!("not three parts: {line}") };
        let (text, tally) = value(text, &mut Pair::new(old, new));
        let uncertain =
            tally.embedded + tally.broken + tally.unrepresentable + tally.opaque + tally.signed + tally.beyond;
        writeln!(changed, "{}\t{uncertain}", to_base64(&text)).expect("a string");
    }
    let name = format!("embedded-made-{}.txt", std::process::id());
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, changed).unwrap();
    let (sum, is_right) = ask_php(file.to_str());
    std::fs::remove_file(&file).unwrap();
    println!("{sum}");
    assert!(is_right, "{sum}");
}

/// Data that can be read, but not written with the same bytes, stays, even if it contains a
/// document that could be changed by itself.
#[test]
fn data_that_cannot_be_rewritten_exactly_is_kept() {
    let mut count = 0;
    for fixture in fixtures::load("storable-arch.jsonl") {
        let stage = icecore::Stage::parse("storable").unwrap();
        let mut pair = Pair::new(b"2147483648", b"-1");
        let refused =
            icecore::rewrite::document(&fixture.blob, &stage, &mut pair, &Rewriting::default(), &mut Tally::default());
        if refused.is_ok() || icecore::read(&fixture.blob).is_err() {
            continue;
        }
        let (same, tally) = value(&fixture.blob, &mut pair);
        if same == fixture.blob && tally.unrepresentable == 0 {
            continue;
        }
        assert_eq!((same == fixture.blob, tally.unrepresentable, tally.changed, tally.broken), (true, 1, 0, 0));
        count += 1;
    }
    assert!(count > 0, "none is so");
}
