//! Output on a terminal.
#![cfg(target_os = "linux")]

use crate::run;

use crate::pty::{run_on_terminal, start};
use std::fs;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), "{\"k\":[1,\"x\u{9b}31m\",null]}").unwrap();
    fs::write(folder.path().join("l.ndjson"), "{\"k\":1}\n{\"k\":2}\n").unwrap();
    folder
}

#[test]
fn json_on_a_terminal_is_indented_and_coloured() {
    let folder = folder();
    let show = |command: &str| run_on_terminal(folder.path(), command);
    let Some((text, code)) = show("icecore convert -t json:typed=no a.json") else { return };
    let number = "\x1b[33m1\x1b[0m";
    let pretty = format!(
        "{{\n  \x1b[1m\"k\"\x1b[0m: [\n    {number},\n    \x1b[32m\"x\\u009b31m\"\x1b[0m,\n    \x1b[33mnull\x1b[0m\n  ]\n}}\n"
    );
    assert_eq!((text.as_str(), code), (pretty.as_str(), 0));
    for (command, expected) in [
        ("icecore --color never convert a.json", "{\n  \"k\": [\n    1,\n    \"x\\u009b31m\",\n    null\n  ]\n}\n"),
        ("NO_COLOR=1 icecore convert a.json", "{\n  \"k\": [\n    1,\n    \"x\\u009b31m\",\n    null\n  ]\n}\n"),
        ("icecore --color never convert -t json:indent=0 a.json", "{\"k\":[1,\"x\\u009b31m\",null]}\n"),
        ("icecore --color never convert --each l.ndjson", "{\"k\":1}\n{\"k\":2}\n"),
        ("icecore --color never convert -t ndjson l.ndjson", "{\"k\":1}\n{\"k\":2}\n"),
        ("icecore convert -t ndjson l.ndjson 2>/dev/null | cat", "{\"k\":1}\n{\"k\":2}\n"),
        ("icecore convert a.json -o out; cat out", "{\"k\":[1,\"x\u{9b}31m\",null]}\n"),
        ("icecore --color never rows --in lines -c x a.json 2>/dev/null | cut -c 1-9", "{\"x\":{\"k\"\n"),
    ] {
        assert_eq!(show(command).unwrap(), (expected.to_owned(), 0), "{command}");
        let _ = fs::remove_file(folder.path().join("out"));
    }
    let (rows, _) = show("icecore rows --in ndjson -c k l.ndjson").unwrap();
    assert_eq!(rows, format!("{{\x1b[1m\"k\"\x1b[0m:{number}}}\n{{\x1b[1m\"k\"\x1b[0m:\x1b[33m2\x1b[0m}}\n"));
    let (classes, _) = show("icecore --color never classes --json a.json").unwrap();
    assert_eq!(classes, "{\n  \"classes\": [],\n  \"code\": []\n}\n");
}

/// A pipe gets the same bytes, regardless of the options.
#[test]
fn a_pipe_gets_plain_output_with_any_options() {
    let plain = "{\"k\":[1,\"x\u{9b}31m\",null]}\n";
    for args in [&["convert"][..], &["--color", "always", "convert"], &["convert", "--force"]] {
        let (stdout, stderr, code) = run::icecore(args, plain.as_bytes());
        assert_eq!((String::from_utf8(stdout).unwrap().as_str(), stderr.as_str(), code), (plain, "", 0), "{args:?}");
    }
    let (stdout, _, code) = run::icecore(&["convert", "-t", "sereal"], b"[1]");
    assert_eq!((stdout.starts_with(b"=\xf3rl"), code), (true, 0));
}

#[test]
fn binary_output_to_a_terminal_is_refused() {
    let folder = folder();
    for target in ["storable", "sereal", "igbinary", "marshal", "gzip/php", "pack:template=C"] {
        let command = format!("icecore convert --from-opt typed=no -t {target} a.json");
        let Some((text, code)) = run_on_terminal(folder.path(), &command) else { return };
        assert_eq!(code, 2, "{target}: {text}");
        assert!(text.contains("is a terminal") && text.contains("`-o FILE`") && text.contains("`--force`"), "{text}");
    }
    for target in ["php", "var-export", "dumper", "base64/sereal", "hex/marshal", "json:typed", "base64/gzip/php"] {
        let (text, code) = run_on_terminal(folder.path(), &format!("icecore convert -t {target} a.json")).unwrap();
        assert_eq!(code, 0, "{target}: {text}");
    }
    for command in [
        "icecore convert --force -t sereal a.json",
        "icecore convert -t sereal a.json -o a.srl",
        "icecore convert -t sereal a.json > b.srl",
        "icecore convert -t sereal a.json --out-dir out",
    ] {
        let (text, code) = run_on_terminal(folder.path(), command).unwrap();
        assert_eq!(code, 0, "{command}: {text}");
    }
}

#[test]
fn no_escape_sequence_of_data_reaches_a_terminal() {
    let folder = folder();
    let evil = "{\"k\":\"\u{9b}31m\\u001b[31mred\"}";
    fs::write(folder.path().join("evil.json"), evil).unwrap();
    fs::write(folder.path().join("evil.csv"), "id,x\n1,\"\x1b[31mred\"\n").unwrap();
    for command in [
        "get '$.k' evil.json",
        "get -r '$.k' evil.json",
        "get -p '$.k' evil.json",
        "paths evil.json",
        "query . evil.json",
        "query -r .k evil.json",
        "query -t php . evil.json",
        "inspect --all evil.json",
        "convert evil.json",
        "convert -t php evil.json",
        "convert -t dumper evil.json",
        "edit --set '$.n=1' evil.json",
        "diff evil.json a.json",
        "rows --in csv -t csv -c id evil.csv",
        "rows -c id evil.csv",
        "replace red blue evil.csv",
        "replace --dry-run red blue evil.csv",
    ] {
        let Some((text, code)) = run_on_terminal(folder.path(), &format!("icecore -q --color never {command}")) else {
            return;
        };
        assert!(!text.contains(['\x1b', '\u{9b}']), "{command}: {text:?}");
        assert!(code < 2 && text.contains("31m"), "{command}: {text:?}");
    }
}

#[cfg(feature = "store")]
#[test]
fn a_worker_without_jobs_says_that_it_waits() {
    let folder = folder();
    let work = "icecore --color never work --db sqlite:a.db --queue mail --create --exec cat";
    let until_stopped = "while [ ! -e stop ]; do sleep 0.1; done; kill -TERM $!; wait $!";
    let Some(mut running) = start(folder.path(), &format!("{work} & {until_stopped}")) else { return };
    running.wait_for("icecore: mail: waiting for jobs of this queue; Ctrl-C stops the worker");
    fs::write(folder.path().join("stop"), "").unwrap();
    let (text, code) = running.end();
    assert_eq!((text.matches("waiting").count(), text.contains("0 done"), code), (1, true, 0), "{text}");
    let (text, _) = run_on_terminal(folder.path(), &format!("{work} --until-empty")).unwrap();
    assert!(!text.contains("waiting"), "{text}");
}
