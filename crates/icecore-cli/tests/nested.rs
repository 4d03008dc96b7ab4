//! Frozen data in strings: the output of `classes` and `rows` for it, and paths into it. `--path` accepts every path
//! that any output shows.

use crate::run::icecore;
use icecore::{Builder, Document};
use serde_json::Value;
use std::fs;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

/// A job of Laravel: JSON that contains an object of PHP in a string.
const JOB: &str = r#"{"uuid":"x","data":{"command":"O:8:\"SendMail\":1:{s:2:\"to\";O:1:\"A\":0:{}}"}}"#;

#[test]
fn classes_suggests_deep_for_frozen_strings() {
    let (stdout, stderr, code) = icecore(&["classes"], JOB.as_bytes());
    assert_eq!((text(stdout).as_str(), code), ("no classes\n", 0));
    assert!(stderr.contains("$.data.command is frozen data itself (php)") && stderr.contains("--deep"), "{stderr}");
    let (_, stderr, _) = icecore(&["-q", "classes"], JOB.as_bytes());
    assert_eq!(stderr, "");
    let (stdout, stderr, code) = icecore(&["classes", "--deep"], JOB.as_bytes());
    let stdout = text(stdout);
    assert_eq!(code, 0);
    assert!(stdout.contains("SendMail  $.data.command") && stdout.contains("A         $.data.command.to"), "{stdout}");
    assert!(stderr.contains("1 string opened (1 php), first at $.data.command"), "{stderr}");
    let (stdout, _, _) = icecore(&["classes", "--deep", "--as", "php"], JOB.as_bytes());
    assert_eq!(text(stdout), "'allowed_classes' => ['A', 'SendMail']\n");
    // Without a frozen string there is no message.
    for plain in [r#"{"a":"text","b":"i:5","c":"aGVsbG8gd29ybGQ="}"#, "[]"] {
        let (_, stderr, _) = icecore(&["classes"], plain.as_bytes());
        assert_eq!(stderr, "", "{plain}");
    }
}

/// Typical contents of fields: serialized text, Base64 of it, compressed, twice.
#[test]
fn classes_deep_finds_classes_in_encoded_fields() {
    let mut builder = Builder::new();
    builder.begin_object("Hidden");
    builder.begin_map();
    builder.text_key("n").int(1);
    builder.end().end();
    let object = builder.finish().unwrap();
    for stage in ["php", "base64/php", "base64/marshal", "base64/gzip/storable", "hex/sereal", "base64url/igbinary"] {
        let bytes = icecore::write(&object, stage).unwrap();
        let mut builder = Builder::new();
        builder.begin_map();
        builder.text_key("list").begin_array();
        builder.text("x").bytes(&bytes).end();
        builder.end();
        let json = icecore::write(&builder.finish().unwrap(), "json").unwrap();
        let (_, stderr, _) = icecore(&["classes"], &json);
        assert!(stderr.contains("$.list[1] is frozen data itself"), "{stage}: {stderr}");
        let (stdout, stderr, code) = icecore(&["classes", "--deep", "--json"], &json);
        let stdout: Value = serde_json::from_slice(&stdout).unwrap();
        assert_eq!((code, &stdout["classes"][0]["path"]), (0, &Value::from("$.list[1]")), "{stage}: {stderr}");
    }
}

/// Names of keys that are difficult for paths.
const KEYS: &[&str] = &["a b", "x.y", "[0]", "\u{202e}", "\u{e0041}\n", "…(2 bytes)…", "\\", "\"", "", "{1}", "é"];

/// Returns a document with classes, links and odd keys everywhere, and with such documents in its strings.
fn build_tangled_document(level: u32) -> Document<'static> {
    let mut builder = Builder::new();
    let top = builder.begin_map().at();
    for (index, key) in KEYS.iter().enumerate() {
        builder.text_key(&format!("{key}{}", if index % 2 == 0 { "k".repeat(200 * index) } else { String::new() }));
        builder.begin_array();
        builder.begin_object(format!("Class{index}::L{level}"));
        builder.begin_map();
        builder.bytes_key(b"\0*\0member").float(1.5);
        builder.text_key("self").link(top);
        builder.end().end();
        builder.end();
    }
    builder.text_key("down");
    for _ in 0..80 {
        builder.begin_array();
    }
    builder.begin_object("Deepest");
    builder.begin_map();
    builder.end().end();
    for _ in 0..80 {
        builder.end();
    }
    if level > 0 {
        let stage = ["php", "base64/sereal", "gzip/base64/marshal"][level as usize % 3];
        let inside = icecore::write(&build_tangled_document(level - 1), stage).unwrap();
        builder.text_key("job data").begin_array();
        builder.bytes(&inside).end();
    }
    builder.end();
    builder.finish().unwrap()
}

/// Returns the paths in a text: from each `$` on, to the end of the path.
fn paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        for marker in ["first at $", "to $", "  $", "at $"] {
            if let Some((_, path)) = line.split_once(marker) {
                let path = path.split(" is frozen data").next().unwrap();
                found.push(format!("${path}"));
            }
        }
    }
    found
}

#[test]
fn every_shown_path_is_accepted_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for stage in ["sereal", "php", "marshal", "storable"] {
        let path = folder.path().join(stage);
        let Ok(bytes) = icecore::write(&build_tangled_document(3), stage) else { panic!("{stage}") };
        fs::write(&path, bytes).unwrap();
        let file = path.to_str().unwrap();
        let mut all = Vec::new();
        // From every command: its table, its JSON, its messages.
        let (stdout, stderr, _) = icecore(&["classes", "--deep", file], b"");
        all.extend(paths(&text(stdout)));
        all.extend(paths(&stderr));
        for args in [&["convert", "--deep", "-t", "json:cycles=null", file][..], &["classes", file]] {
            all.extend(paths(&icecore(args, b"").1));
        }
        let (stdout, _, _) = icecore(&["classes", "--deep", "--json", file], b"");
        let classes: Value = serde_json::from_slice(&stdout).unwrap();
        all.extend(classes["classes"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap().to_owned()));
        let (_, stderr, _) = icecore(&["convert", "--deep", "--report", "json", "-t", "json:cycles=null", file], b"");
        for line in stderr.lines() {
            let stderr: Value = serde_json::from_str(line).unwrap();
            all.extend(stderr["path"].as_str().map(str::to_owned));
        }
        let (stdout, _, _) = icecore(&["inspect", "--deep", file], b"");
        all.extend(text(stdout).lines().filter_map(|line| Some(format!("${}", line.split_once("link to $")?.1))));
        all.sort();
        all.dedup();
        assert!(all.len() > 30, "{stage}: {all:#?}");
        for path in &all {
            let (stdout, stderr, code) = icecore(&["inspect", "--deep", "--path", path, file], b"");
            assert_eq!((stderr.as_str(), code), ("", 0), "{stage}: {path}");
            assert!(!stdout.is_empty(), "{stage}: {path}");
        }
        count += all.len();
    }
    assert!(count > 150, "{count}");
}

/// Joins the steps of the tree to paths.
#[test]
fn every_value_of_the_tree_has_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job");
    fs::write(&path, icecore::write(&build_tangled_document(2), "php").unwrap()).unwrap();
    let file = path.to_str().unwrap();
    let (stdout, _, _) = icecore(&["inspect", "--deep", "--json", file], b"");
    let tree: Value = serde_json::from_slice(&stdout).unwrap();
    // For each depth, the path so far; an opened string continues with its contents.
    let mut steps: Vec<String> = Vec::new();
    let mut count = 0;
    for item in tree["items"].as_array().unwrap() {
        let Some(step) = item["step"].as_str() else { continue };
        let depth = item["depth"].as_u64().unwrap() as usize;
        steps.truncate(depth);
        steps.resize(depth, String::new());
        steps.push(if depth > 0 && step == "$" { String::new() } else { step.to_owned() });
        count += 1;
        if count % 7 > 0 {
            continue;
        }
        let path = steps.concat();
        let (stdout, stderr, code) = icecore(&["inspect", "--deep", "--json", "--path", &path, file], b"");
        assert_eq!((stderr.as_str(), code), ("", 0), "{path}");
        let found: Value = serde_json::from_slice(&stdout).unwrap();
        let kind = &found["items"][0]["type"];
        // The contents of a string have the path of the string, and a body that of its object.
        let is_around = ["bytes", "text", "object"].iter().any(|around| kind == around);
        assert!(*kind == item["type"] || is_around, "{path}: {kind} {item}");
    }
    assert!(count > 200, "{count}");
}
