//! What goes to a terminal: a pseudo terminal, as util-linux's `script` makes it.
#![cfg(target_os = "linux")]

mod run;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a command writes to a terminal, both streams, and its exit code; `None` without `script`.
fn terminal(folder: &Path, command: &str) -> Option<(String, i32)> {
    let out = folder.join("typescript");
    let done = Command::new("script")
        .args(["-q", "-e", "-c", command])
        .arg(&out)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .env("PATH", run_path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let Ok(done) = done else {
        eprintln!("skipped: there is no `script` here");
        return None;
    };
    let text = String::from_utf8_lossy(&fs::read(out).unwrap()).replace("\r\n", "\n");
    // `script` notes when it began and ended.
    let lines = text.lines().filter(|line| !line.starts_with("Script "));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    Some((format!("{}\n", text.trim_end()), done.code()?))
}

fn run_path() -> String {
    let here = Path::new(run::ICECORE).parent().unwrap().display();
    format!("{here}:{}", std::env::var("PATH").unwrap_or_default())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), "{\"k\":[1,\"x\u{9b}31m\",null]}").unwrap();
    fs::write(folder.path().join("l.ndjson"), "{\"k\":1}\n{\"k\":2}\n").unwrap();
    folder
}

#[test]
fn json_on_a_terminal_is_laid_out_and_painted() {
    let folder = folder();
    let shown = |command: &str| terminal(folder.path(), command);
    let Some((text, code)) = shown("icecore convert -t json:typed=no a.json") else { return };
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
        assert_eq!(shown(command).unwrap(), (expected.to_owned(), 0), "{command}");
        let _ = fs::remove_file(folder.path().join("out"));
    }
    let (rows, _) = shown("icecore rows --in ndjson -c k l.ndjson").unwrap();
    assert_eq!(rows, format!("{{\x1b[1m\"k\"\x1b[0m:{number}}}\n{{\x1b[1m\"k\"\x1b[0m:\x1b[33m2\x1b[0m}}\n"));
    let (classes, _) = shown("icecore --color never classes --json a.json").unwrap();
    assert_eq!(classes, "{\n  \"classes\": []\n}\n");
}

/// Whatever is asked for, a pipe gets the bytes that it always got.
#[test]
fn a_pipe_gets_what_it_always_got() {
    let plain = "{\"k\":[1,\"x\u{9b}31m\",null]}\n";
    for args in [&["convert"][..], &["--color", "always", "convert"], &["convert", "--force"]] {
        let (out, said, code) = run::icecore(args, plain.as_bytes());
        assert_eq!((String::from_utf8(out).unwrap().as_str(), said.as_str(), code), (plain, "", 0), "{args:?}");
    }
    let (out, _, code) = run::icecore(&["convert", "-t", "sereal"], b"[1]");
    assert_eq!((out.starts_with(b"=\xf3rl"), code), (true, 0));
}

#[test]
fn binary_is_kept_off_a_terminal() {
    let folder = folder();
    for target in ["storable", "sereal", "igbinary", "marshal", "gzip/php", "pack:template=C"] {
        let command = format!("icecore convert --from-opt typed=no -t {target} a.json");
        let Some((text, code)) = terminal(folder.path(), &command) else { return };
        assert_eq!(code, 2, "{target}: {text}");
        assert!(text.contains("is a terminal") && text.contains("`-o FILE`") && text.contains("`--force`"), "{text}");
    }
    for target in ["php", "var-export", "dumper", "base64/sereal", "hex/marshal", "json:typed", "base64/gzip/php"] {
        let (text, code) = terminal(folder.path(), &format!("icecore convert -t {target} a.json")).unwrap();
        assert_eq!(code, 0, "{target}: {text}");
    }
    for command in [
        "icecore convert --force -t sereal a.json",
        "icecore convert -t sereal a.json -o a.srl",
        "icecore convert -t sereal a.json > b.srl",
        "icecore convert -t sereal a.json --out-dir out",
    ] {
        let (text, code) = terminal(folder.path(), command).unwrap();
        assert_eq!(code, 0, "{command}: {text}");
    }
}
