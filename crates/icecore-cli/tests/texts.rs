//! Text files with serialized values in them: PHP composes the texts, and checks the result for each piece.

use crate::common::usual_or_full;
use crate::run::icecore;
use icecore::text::{from_base64, to_base64};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Part of the note when lengths became wrong: an input that is only guessed to be text is refused in this case.
const IS_DAMAGED: &str = "in plain text that looks serialized";

fn ask_php(args: &[&str]) -> (String, bool) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/php/around.php");
    let output = Command::new("php").arg(script).args(args).stderr(Stdio::inherit()).output().expect("it runs");
    (String::from_utf8(output.stdout).expect("ASCII"), output.status.success())
}

fn has_php() -> bool {
    let runs = Command::new("php").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let has_php = runs.is_ok_and(|status| status.success());
    if !has_php {
        println!("skipped: php is not installed");
    }
    has_php
}

/// A text becomes what PHP composes, or a note says that lengths became wrong. Windows may end anywhere in it.
#[test]
fn values_inside_texts_are_changed_as_php_composes_them() {
    if !has_php() {
        return;
    }
    let seed = std::env::var("ICECORE_SEED").unwrap_or_else(|_| "7".to_owned());
    let count = usual_or_full(150, 3000).to_string();
    let (texts, is_done) = ask_php(&[&seed, &count]);
    assert!(is_done);
    let (mut made, mut damaged) = (String::new(), 0);
    for (number, line) in texts.lines().enumerate() {
        let parts: Vec<_> = line.split('\t').map(|part| from_base64(part.as_bytes()).expect("Base64")).collect();
        let [text, old, new] = &parts[..] else { panic!("not three parts: {line}") };
        let before = "-".repeat(1024 - (number * 37 % text.len().clamp(1, 1000)));
        let input = [before.as_bytes(), text].concat();
        let [old, new] = [old, new].map(|text| std::str::from_utf8(text).expect("UTF-8"));
        let (stdout, stderr, code) = icecore(&["replace", old, new, "--in", "text", "--window", "1K"], &input);
        assert_eq!(code, 0, "{stderr}");
        let stdout = stdout.strip_prefix(before.as_bytes()).expect("what nobody asked for stays");
        // It would have been refused.
        let is_damaged = stderr.contains(IS_DAMAGED);
        damaged += u32::from(is_damaged);
        let (stdout, remaining) = if is_damaged { (&text[..], 99) } else { (stdout, 0) };
        writeln!(made, "{}\t{remaining}", to_base64(stdout)).expect("a string");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made");
    std::fs::write(&file, made).unwrap();
    let (sum, is_right) = ask_php(&[&seed, &count, file.to_str().unwrap()]);
    println!("{sum}{damaged} would be refused");
    assert!(is_right, "{sum}");
}

#[test]
fn unclear_texts_are_refused_in_pipes_and_files() {
    let right = |text: &str, new: &str| {
        let (stdout, stderr, code) = icecore(&["replace", "-q", "old", "newer"], text.as_bytes());
        assert_eq!((&*String::from_utf8_lossy(&stdout), code), (new, 0), "{stderr}");
    };
    right("<p>\n[x d='a:1:{i:0;s:3:\"old\";}'] old\n", "<p>\n[x d='a:1:{i:0;s:5:\"newer\";}'] newer\n");
    let refused = |text: &str, old: &str, new: &str| {
        let (stdout, stderr, code) = icecore(&["replace", "-q", old, new], text.as_bytes());
        assert!(stdout.is_empty() && code == 2 && stderr.contains("--in text"), "{text}: {code} {stderr}");
    };
    refused("<p>\n[x d='a:1:{i:0;s:9:\"old\";}'] old\n", "old", "newer");
    refused("<p>\n[x d='a:1:{i:0;s:3:\\\"old\\\";}'] old\n", "old", "newer");
    // Numbers of a value that is not certain, even if no length changes.
    refused("<p>\n[x a:1:{i:1;s:3:\"abc\";}] [s:9:\"x\";]\n", "1", "2");
    // A key: it is not known whether keys are to be changed.
    refused("<p>\n[x a:1:{s:3:\"old\";i:1;}]\n", "old", "newer");
    let (stdout, stderr, _) = icecore(&["replace", "-q", "old", "newer", "--dry-run"], b"<p>\n[x s:3:\"old\";]\n");
    let stdout = String::from_utf8(stdout).unwrap();
    assert!(stdout.contains("s:5:\"newer\";"), "{stdout} {stderr}");
    let text = b"<p>\n[x s:3:\"old\";] old\n";
    let (stdout, _, _) = icecore(&["replace", "-q", "old", "newer", "--only-serialized"], text);
    assert_eq!(stdout, text, "a text is nothing serialized");
}
