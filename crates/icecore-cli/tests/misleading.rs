//! Frozen data of every format under misleading names: it is changed according to its contents, or refused.

use crate::run::{self, icecore};
use std::fs;
use std::path::Path;

/// Names that say nothing about the contents of the files, or something wrong.
const NAMES: [&str; 12] =
    ["x.csv", "x.tsv", "x.sql", "x.txt", "x.ndjson", "x.json", "x.html", "x.log", "x.md", "x.yml", "x.dump", "sess_x"];

/// Formats that `convert` writes, with strings to search for.
const FORMATS: [&str; 9] =
    ["php", "php-session", "json", "var-export", "dumper", "storable", "sereal", "igbinary", "marshal"];

/// Returns a document with this number of strings.
fn document(count: usize) -> String {
    let items: Vec<String> = (0..count)
        .map(|number| format!("\"the old text, number {number};\\tin \\\"quotes\\\"\\nand lines\""))
        .collect();
    format!("{{\"first\":\"old\",\"items\":[{}],\"last\":\"x\"}}", items.join(","))
}

fn freeze(format: &str, document: &str) -> Vec<u8> {
    let (bytes, stderr, code) = icecore(&["convert", "-q", "-f", "json", "-t", format], document.as_bytes());
    assert_eq!(code, 0, "{format}: {stderr}");
    bytes
}

/// Returns the output of the command if it is told the format: the correct result.
fn expected(format: &str, bytes: &[u8], document: &str) -> Vec<u8> {
    let (new, stderr, code) = icecore(&["replace", "-q", "old", "newer", "--in", format], bytes);
    assert_eq!(code, 0, "{format}: {stderr}");
    let (json, stderr, code) = icecore(&["convert", "-q", "-f", format, "-t", "json"], &new);
    assert_eq!(code, 0, "{format}: {stderr}");
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json, serde_json::from_str::<serde_json::Value>(&document.replace("old", "newer")).unwrap(), "{format}");
    new
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Tries files of all names, in folders and in place; returns how many were refused.
fn try_names(format: &str, bytes: &[u8], expected: &[u8]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    fs::create_dir(top.join("in")).unwrap();
    NAMES.iter().for_each(|name| fs::write(top.join("in").join(name), bytes).unwrap());
    let (_, _, _) = icecore(&["replace", "-q", "old", "newer", &path(top, "in"), "--out-dir", &path(top, "out")], b"");
    let mut refused = 0;
    for name in NAMES {
        let file = top.join("in").join(name);
        match fs::read(top.join("out").join(name)) {
            Ok(new) => assert!(new == expected, "{format} {name}: wrong in a folder"),
            Err(_) => refused += 1,
        }
        let was_refused = !top.join("out").join(name).exists();
        let out = path(top, "one");
        let (_, stderr, code) =
            icecore(&["replace", "-q", "old", "newer", file.to_str().unwrap(), "-o", &out, "--force"], b"");
        assert_eq!(code != 0, was_refused, "{format} {name}: {stderr}");
        if code == 0 {
            assert!(fs::read(&out).unwrap() == expected, "{format} {name}: wrong");
        } else {
            assert!(stderr.contains("--in"), "{format} {name}: {stderr}");
        }
    }
    let (_, _, _) = icecore(&["replace", "-q", "old", "newer", &path(top, "in"), "--in-place"], b"");
    for name in NAMES {
        let new = fs::read(top.join("in").join(name)).unwrap();
        assert!(new == expected || new == bytes, "{format} {name}: wrong in its place");
        assert_eq!(new == bytes, !top.join("out").join(name).exists(), "{format} {name}");
    }
    refused
}

#[test]
fn misleading_file_names_do_not_change_the_result() {
    let mut refused = 0;
    for format in FORMATS {
        // One that is examined as a whole, and one that is longer than the first look.
        for count in [2, 1500] {
            let document = document(count);
            let bytes = freeze(format, &document);
            let expected = expected(format, &bytes, &document);
            refused += try_names(format, &bytes, &expected);
            for window in [&[][..], &["--window", "1K"], &["--window", "1M"]] {
                let (stdout, stderr, code) = icecore(&[&["replace", "-q", "old", "newer"], window].concat(), &bytes);
                let is_right = code == 0 && stdout == expected;
                assert!(
                    is_right || code != 0 && stderr.contains("--in"),
                    "{format} {count} {window:?}: {code} {stderr}"
                );
            }
        }
    }
    println!("{refused} refused");
    assert_eq!(refused, 0);
}

/// Several documents without separators, or frozen data far down in a text: it is refused, or correct.
#[test]
fn texts_with_frozen_data_are_changed_right_or_refused() {
    let value = "a:1:{i:0;s:17:\"the old, \"text\";x\";}";
    let prose = "some lines of old prose\n".repeat(20_000);
    let quoted = |quote: &str| value.replace('"', quote);
    let texts = [
        format!("{value}\n{value}\n"),
        format!("user|{value}\nuser|{value}\n"),
        format!("{prose}{value}\n"),
        format!("{prose}1,\"{}\",x\n", quoted("\"\"")),
        format!("{prose}INSERT INTO t VALUES (1,'{}');\n", quoted("\\\"")),
        format!("{prose}[box data='{}']\n", quoted("&quot;")),
    ];
    let right = value.replace("s:17", "s:19").replace("old", "newer");
    let folder = tempfile::tempdir().unwrap();
    for text in &texts {
        for name in NAMES {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            let (stdout, stderr, code) = icecore(&["replace", "-q", "old", "newer", file.to_str().unwrap()], b"");
            let stdout = String::from_utf8(stdout).unwrap();
            if code != 0 {
                assert!(stdout.is_empty() && stderr.contains("--in"), "{name}: {stderr}");
                continue;
            }
            let count = |text: &str, value: &str| {
                ["\"", "\"\"", "\\\"", "&quot;"]
                    .iter()
                    .map(|quote| text.matches(&value.replace('"', quote)).count())
                    .sum::<usize>()
            };
            // Data that can't be changed inside other text is left as it is.
            let found = count(&stdout, &right) + count(&stdout, value);
            assert_eq!(found, count(text, value), "{name}: {}", &text[text.len().saturating_sub(80)..]);
        }
        // The output for a pipe that is longer than its window may have begun. It is not complete, but correct so far.
        let output = run::output(run::ICECORE, &["replace", "-q", "old", "newer"], text.as_bytes());
        if output.status.code() == Some(0) {
            let parts: Vec<_> = text.split(value).map(|text| text.replace("old", "newer")).collect();
            assert_eq!(String::from_utf8_lossy(&output.stdout), parts.join(&right));
            assert!(parts.len() > 1, "{}", &text[text.len().saturating_sub(80)..]);
        }
    }
    let read = "$value = unserialize(stream_get_contents(STDIN)); exit($value === ['the newer, \"text\";x'] ? 0 : 1);";
    if std::process::Command::new("php").arg("-v").output().is_ok() {
        assert!(run::output("php", &["-r", read], right.as_bytes()).status.success());
    }
}
