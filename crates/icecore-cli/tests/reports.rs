//! Reports of commands about inputs, as text and as JSON, and exit codes.

use crate::run::icecore;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Returns the objects of `--report json`, and the exit code, which the last object also contains.
fn report(args: &[&str]) -> (Vec<Value>, i32) {
    let (_, stderr, code) = icecore(&[args, &["--report", "json"]].concat(), b"");
    let lines: Vec<Value> = stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let end = lines.last().expect("an end");
    assert_eq!((&end["type"], &end["code"]), (&"end".into(), &code.into()), "{args:?}");
    (lines, code)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let object = br#"O:1:"A":1:{s:1:"x";d:INF;}"#;
    put("good.ser", object);
    put("half.ser", &object[..20]);
    put("plain.json", b"[1]");
    put("no.bin", b"\x01\x02nothing");
    put("rows.csv", b"id,v\n1,i:5;\n2,s:9:oops\n3,\"O:1:\"\"A\"\":0:{}\"\n");
    folder
}

fn path_in(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// One input leads to a finding, one can't be decoded, one is missing.
#[test]
fn the_highest_exit_code_counts_in_every_command() {
    let folder = folder();
    let file = |name: &str| path_in(folder.path(), name);
    let (plain, half, missing) = (&*file("plain.json"), &*file("half.ser"), &*file("missing"));
    for command in [
        &["get", ".x"][..],
        &["inspect", "--path", "$.x"],
        &["query", "-e", "null"],
        &["edit", "--dry-run", "--delete", ".x"],
    ] {
        let codes = |files: &[&str]| report(&[command, files].concat()).1;
        assert_eq!(codes(&[plain]), 1, "{command:?}");
        assert_eq!(codes(&[plain, missing]), 2, "{command:?}");
        assert_eq!(codes(&[missing, half, plain]), 4, "{command:?}");
        assert_eq!(codes(&[half, plain]), 4, "{command:?}");
    }
    assert_eq!(report(&["query", ".x", half, plain]).1, 5);
    assert_eq!(report(&["diff", plain, &file("good.ser")]).1, 1);
    assert_eq!(report(&["diff", plain, half]).1, 4);
    assert_eq!(report(&["diff", missing, half]).1, 4);
}

#[test]
fn losses_notes_and_errors_have_fields() {
    let folder = folder();
    let file = |name: &str| path_in(folder.path(), name);
    let (lines, code) = report(&["convert", &file("good.ser")]);
    assert_eq!((code, lines.len()), (0, 3));
    let kinds: Vec<_> = lines.iter().map(|line| line["kind"].as_str().unwrap_or("")).collect();
    assert_eq!(kinds, ["class", "float", ""]);
    for loss in &lines[..2] {
        assert_eq!((&loss["type"], &loss["count"]), (&"loss".into(), &1.into()));
        assert!(loss["path"].as_str().unwrap().starts_with('$') && loss["code"].is_null(), "{loss}");
        assert_eq!(loss["file"].as_str(), Some(&*file("good.ser")));
    }
    let (lines, code) = report(&["convert", "--strict", &file("good.ser")]);
    assert_eq!((code, &lines[0]["type"], &lines[0]["code"]), (1, &"loss".into(), &1.into()));
    for command in ["convert", "inspect", "classes"] {
        let (lines, code) = report(&[command, &file("half.ser"), &file("plain.json")]);
        let error = &lines[0];
        assert_eq!((code, &error["type"], &error["kind"]), (4, &"error".into(), &"truncated".into()), "{command}");
        assert_eq!((&error["offset"], &error["format"]), (&20.into(), &"php".into()), "{command}");
        for field in ["path", "expected", "found", "message"] {
            assert!(error[field].is_string(), "{command} {field}: {error}");
        }
        assert_eq!(lines.last().unwrap()["undecodable"], 1, "{command}");
        assert_eq!(lines.last().unwrap()["inputs"], 2, "{command}");
    }
    let (lines, code) = report(&["detect", &file("missing"), &file("no.bin")]);
    assert_eq!((code, &lines[0]["kind"], &lines[0]["code"]), (2, &"io".into(), &2.into()));
    let (lines, code) = report(&["inspect", "--path", "$.y", &file("good.ser")]);
    assert_eq!((code, &lines[0]["kind"], &lines[0]["path"]), (1, &"absent".into(), &"$.y".into()));
    let (lines, code) = report(&["rows", "--in", "csv", "-c", "v=php", &file("rows.csv")]);
    assert_eq!((code, &lines[0]["record"], &lines[0]["kind"]), (4, &2.into(), &"malformed".into()));
    assert_eq!((&lines[1]["type"], &lines[1]["record"]), (&"loss".into(), &3.into()));
    let (lines, code) = report(&["convert", "--each", "--strict", &file("good.ser")]);
    assert_eq!((code, &lines[0]["record"], &lines[0]["kind"]), (1, &1.into(), &"loss".into()));
    // Every message as JSON is the same as the text for people.
    let (_, stderr, _) = icecore(&["convert", &file("half.ser")], b"");
    let (lines, _) = report(&["convert", &file("half.ser")]);
    assert!(stderr.contains(lines[0]["message"].as_str().unwrap()), "{stderr}");
    let (_, stderr, code) = icecore(&["-q", "convert", "--report", "json", &file("good.ser")], b"");
    assert_eq!((stderr.lines().count(), code), (1, 0), "{stderr}");
}

#[test]
fn summary_dash_prints_to_stdout() {
    let folder = folder();
    let file = |name: &str| path_in(folder.path(), name);
    for args in [
        &["convert", "--each", "--summary", "-", "-o", "/dev/null", &file("plain.json")][..],
        &["rows", "--in", "lines", "--summary", "-", "-o", "/dev/null", &file("plain.json")],
    ] {
        let (stdout, stderr, code) = icecore(args, b"");
        let summary: Value =
            serde_json::from_slice(&stdout).unwrap_or_else(|error| panic!("{args:?} {error}: {stderr}"));
        assert_eq!((code, &summary["records"]), (0, &1.into()), "{args:?}");
    }
}

/// With one input, and among others that are good.
#[test]
fn exit_codes_tell_errors_apart() {
    let folder = folder();
    let file = |name: &str| path_in(folder.path(), name);
    let commands: &[&[&str]] = &[
        &["inspect"],
        &["inspect", "--json"],
        &["classes"],
        &["classes", "--deep"],
        &["convert"],
        &["convert", "--each"],
        &["convert", "--strict", "-t", "json:typed"],
    ];
    let cases = [("missing", 2, "No such file"), ("half.ser", 4, "ends too early"), ("plain.json", 0, "")];
    for command in commands {
        for (name, expected, message) in cases {
            for files in [vec![name], vec!["plain.json", name, "plain.json"]] {
                let files: Vec<_> = files.into_iter().map(file).collect();
                let args: Vec<&str> = command.iter().copied().chain(files.iter().map(String::as_str)).collect();
                let (stdout, stderr, code) = icecore(&args, b"");
                assert_eq!(code, expected, "{args:?}: {stderr}");
                assert!(stderr.contains(message) && (expected == 0 || stderr.contains(name)), "{args:?}: {stderr}");
                // The others are shown nevertheless.
                assert!(files.len() == 1 || !stdout.is_empty(), "{args:?}");
            }
        }
        let (_, stderr, code) = icecore(&[command, &[&*file("missing"), &*file("half.ser")][..]].concat(), b"");
        assert_eq!(code, 4, "the worst of all: {stderr}");
    }
    for (args, expected) in [
        (&["inspect", "--path", "$.x", &file("good.ser"), &file("plain.json"), &file("good.ser")][..], 1),
        (&["inspect", "--path", "$.x", &file("plain.json"), &file("missing")], 2),
        (&["inspect", "--path", "$.x", &file("plain.json"), &file("half.ser")], 4),
        (&["inspect", "--path", "$[", &file("plain.json")], 2),
        (&["detect", &file("missing"), &file("plain.json")], 2),
        (&["detect", &file("no.bin")], 0),
        (&["rows", "--in", "csv", "-c", "v", &file("missing")], 2),
        (&["rows", "--in", "csv", "-c", "v=php", &file("rows.csv"), &file("missing")], 4),
        (&["rows", "--in", "csv", "-c", "w", &file("rows.csv")], 2),
        (&["bench", "--data", &file("missing")], 2),
        (&["bench", "--data", &file("half.ser")], 4),
        (&["bench", "--show", &file("missing")], 2),
        (&["bench", "--show", &file("plain.json")], 2),
        (&["bench", "--only", "perl/seral", "--list"], 2),
        (&["formats", "jsn"], 2),
        (&["man", "jsn"], 2),
        (&["convert", "--limit", "5", &file("plain.json")], 2),
    ] {
        let (_, stderr, code) = icecore(args, b"");
        assert_eq!(code, expected, "{args:?}: {stderr}");
        assert!(expected == 0 || !stderr.is_empty(), "{args:?}");
    }
    // If one of several inputs lacks a path, the error names that input, and the others are shown.
    let (stdout, stderr, _) = icecore(&["inspect", "--path", "$.x", &file("plain.json"), &file("good.ser")], b"");
    assert!(stderr.contains("plain.json: expected something at `$.x`") && !stdout.is_empty(), "{stderr}");
    let (_, stderr, _) = icecore(&["bench", "--only", "perl/seral", "--list"], b"");
    assert!(stderr.contains("did you mean perl/sereal?"), "{stderr}");
}

#[test]
fn option_items_sets_the_length_of_lists() {
    let list = format!("[{}]", (0..100).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let rows = |args: &[&str]| {
        let (out, _, code) = icecore(&[&["inspect"], args].concat(), list.as_bytes());
        assert_eq!(code, 0);
        let out = String::from_utf8(out).unwrap();
        (out.lines().filter(|line| line.contains("] int ")).count(), out.contains(" more"))
    };
    assert_eq!(rows(&[]), (32, true));
    assert_eq!(rows(&["--items", "5"]), (5, true));
    assert_eq!(rows(&["--items", "1K", "--limit", "depth=20"]), (100, false));
    assert_eq!(rows(&["--all"]), (100, false));
    assert_eq!(rows(&["--all", "--items", "7"]), (7, true));
    assert_eq!(rows(&["--depth", "0"]), (0, false));
}

/// All commands are in the help.
#[test]
fn help_names_every_command() {
    let (out, _, _) = icecore(&["help"], b"");
    let help = String::from_utf8(out).unwrap();
    for command in ["inspect", "detect", "classes", "convert", "rows", "bench", "formats", "completions", "man"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{command} "))), "{command}: {help}");
        assert_eq!(icecore(&["help", command], b"").2, 0, "{command}");
    }
}
