//! Serialized values inside of other text: PHP composes texts, and judges what became of each piece.

use crate::fixtures::folder;
use crate::replacing::{Pair, value};
use icecore::text::{from_base64, to_base64};
use std::fmt::Write as _;
use std::process::{Command, Stdio};

/// A text comes out as PHP composes it, or it stays as it is and is counted.
#[test]
fn php_composes_the_same() {
    let runs = Command::new("php").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !runs.is_ok_and(|status| status.success()) {
        println!("skipped: php is not installed");
        return;
    }
    let number = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let ask_php = |more: Option<&str>| {
        let numbers = [number("ICECORE_SEED", "7"), number("ICECORE_REPLACES", "1500")];
        let mut command = Command::new("php");
        command.arg(folder().join("php/around.php")).args(numbers).args(more);
        let done = command.stderr(Stdio::inherit()).output().expect("it runs");
        (String::from_utf8(done.stdout).expect("ASCII"), done.status.success())
    };
    let (texts, is_done) = ask_php(None);
    assert!(is_done);
    let mut made = String::new();
    for line in texts.lines() {
        let parts: Vec<_> = line.split('\t').map(|part| from_base64(part.as_bytes()).expect("Base64")).collect();
        let [text, old, new] = &parts[..] else { panic!("not three parts: {line}") };
        let (text, tally) = value(text, &mut Pair::new(old, new));
        let left = tally.embedded + tally.broken + tally.unsayable + tally.opaque + tally.signed + tally.beyond;
        writeln!(made, "{}\t{left}", to_base64(&text)).expect("a string");
    }
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("embedded-made.txt");
    std::fs::write(&file, made).unwrap();
    let (sum, is_right) = ask_php(file.to_str());
    println!("{sum}");
    assert!(is_right, "{sum}");
}
