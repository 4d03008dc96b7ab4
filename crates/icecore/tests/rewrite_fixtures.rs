//! Data of every format that the real modules wrote: without a replacement nothing changes, and a
//! replacement followed by its reverse gives the same bytes.

use crate::fixtures;

use crate::replacing::Pair;
use icecore::rewrite::{self, Rewriting, Tally};
use icecore::{Kind, Limits, Request, Stage};

/// A text that no fixture contains.
const NEW_TEXT: &[u8] = b"xQzQx";

#[derive(Default, Debug)]
struct Counts {
    read: u32,
    restored: u32,
    respelled: u32,
    unchanged: u32,
    refused: u32,
    failures: Vec<String>,
}

fn replace_in_document(bytes: &[u8], stage: &Stage, old: &[u8], new: &[u8]) -> Result<Vec<u8>, icecore::Error> {
    let mut pair = Pair::new(old, new);
    pair.plain.clear();
    rewrite::document(bytes, stage, &mut pair, &Rewriting::default(), &mut Tally::default())
        .map(|edits| edits.apply(bytes))
}

/// Returns a text that is in some string value.
fn find_text(bytes: &[u8], stage: &Stage) -> Option<Vec<u8>> {
    let limits = Limits::default();
    let document = icecore::read_with(bytes, stage, Request::new(&limits)).ok()?;
    let is_text = |bytes: &&[u8]| bytes.len() >= 2 && bytes.len() < 1000 && bytes.iter().all(u8::is_ascii_alphanumeric);
    let mut strings = document.nodes().iter().filter(|node| matches!(node.kind, Kind::Bytes | Kind::Text));
    strings.find(|node| is_text(&document.bytes(node))).map(|node| document.bytes(node).to_vec())
}

fn is_same(a: &[u8], b: &[u8], stage: &Stage) -> bool {
    let limits = Limits::default();
    let read = |bytes| icecore::read_with(bytes, stage, Request::new(&limits)).unwrap().into_owned();
    read(a) == read(b)
}

fn check(counts: &mut Counts, name: &str, bytes: &[u8], stage: &str) {
    let stage = Stage::parse(stage).unwrap();
    let limits = Limits::default();
    if icecore::read_with(bytes, &stage, Request::new(&limits)).is_err() {
        return;
    }
    counts.read += 1;
    match replace_in_document(bytes, &stage, b"no string has this", NEW_TEXT) {
        Ok(same) if same == bytes => {}
        Ok(_) => counts.failures.push(format!("{name}: changed without a change")),
        Err(error) => counts.failures.push(format!("{name}: {error}")),
    }
    let Some(old) = find_text(bytes, &stage) else { return };
    let changed = match replace_in_document(bytes, &stage, &old, NEW_TEXT) {
        Ok(changed) => changed,
        Err(error) => {
            counts.refused += 1;
            if counts.refused < 5 {
                println!("{name}: {:?}: {error}", String::from_utf8_lossy(&old));
            }
            return;
        }
    };
    if changed == bytes {
        // The text is in a key, or in data that only its class understands.
        counts.unchanged += 1;
        return;
    }
    match replace_in_document(&changed, &stage, NEW_TEXT, &old) {
        Ok(back) if back == bytes => counts.restored += 1,
        // A spelling that belonged only to the old text is lost with it: that a repeated string was
        // not stored once, or how it was compressed.
        Ok(back) if is_same(&back, bytes, &stage) => counts.respelled += 1,
        Ok(_) => counts.failures.push(format!("{name}: {:?} does not come back", String::from_utf8_lossy(&old))),
        Err(error) => counts.failures.push(format!("{name}: back: {error}")),
    }
}

fn check_files(files: &[&str], stage: &str, min_restored: u32) {
    let mut counts = Counts::default();
    for file in files {
        for fixture in fixtures::load(file) {
            check(&mut counts, &format!("{} {}", fixture.name, fixture.mode), &fixture.blob, stage);
        }
    }
    for failure in counts.failures.iter().take(10) {
        println!("{failure}");
    }
    let failures = counts.failures.len();
    counts.failures.clear();
    println!("{stage}: {counts:?}");
    assert_eq!(failures, 0, "{stage}");
    assert!(counts.restored >= min_restored, "{stage}: only {}", counts.restored);
    assert!(counts.respelled <= counts.restored / 10, "{stage}: {} spelled otherwise", counts.respelled);
}

#[test]
fn php_texts_survive_a_replacement_and_its_reverse() {
    check_files(&["php.jsonl", "php-spl.jsonl"], "php", 50);
}

#[test]
fn sessions_survive_a_replacement_and_its_reverse() {
    check_files(&["php-session.jsonl"], "php-session", 20);
}

#[test]
fn var_export_texts_survive_a_replacement_and_its_reverse() {
    check_files(&["var-export.jsonl"], "var-export", 50);
}

#[test]
fn dumper_texts_survive_a_replacement_and_its_reverse() {
    check_files(&["dumper-read.jsonl"], "dumper", 50);
}

#[test]
fn igbinary_blobs_survive_a_replacement_and_its_reverse() {
    check_files(&["igbinary.jsonl"], "igbinary", 50);
}

#[test]
fn marshal_dumps_survive_a_replacement_and_its_reverse() {
    check_files(&["marshal.jsonl", "marshal-known.jsonl"], "marshal", 50);
}

#[test]
fn storable_images_survive_a_replacement_and_its_reverse() {
    check_files(&["storable.jsonl", "storable-arch.jsonl"], "storable", 50);
}

#[test]
fn sereal_blobs_survive_a_replacement_and_its_reverse() {
    check_files(&["sereal.jsonl"], "sereal", 50);
}

#[test]
fn json_texts_survive_a_replacement_and_its_reverse() {
    let mut counts = Counts::default();
    for (_, text) in fixtures::expectations("expected.jsonl") {
        check(&mut counts, &text, text.as_bytes(), "json:typed=no");
    }
    assert!(counts.failures.is_empty(), "{:?}", counts.failures);
    assert!(counts.restored > 50, "{counts:?}");
}
