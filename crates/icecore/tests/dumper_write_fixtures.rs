//! What Data::Dumper wrote for the shapes of the other fixtures, under all its settings.

use crate::dumper;

use crate::fixtures::{base64, folder, report};
use icecore::{Limits, Request, Stage};
use serde_json::Value;

fn lines() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("dumper-write.jsonl")).expect("the fixtures");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn texts_equal_data_dumpers_under_all_settings() {
    let (mut total, mut failures) = (0, Vec::new());
    for line in lines() {
        let (texts, differ) = dumper::compare(&line);
        total += texts;
        failures.extend(differ);
    }
    report("Data::Dumper", total, &failures);
    assert!(total > 1000, "only {total}");
}

/// The settings are recognized from the text.
#[test]
fn texts_are_rewritten_byte_for_byte() {
    let stage = Stage::parse("dumper").expect("a stage");
    let target = Stage::parse("dumper:trusted").expect("a stage");
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for line in lines() {
        for pair in line["texts"].as_array().expect("texts") {
            let (settings, text) = (&pair[0], base64(pair[1].as_str().expect("a text")));
            let has = |name: &str| !settings[name].is_null();
            // These settings are not visible in the text, or a document can't represent their effect.
            if ["Deepcopy", "Maxdepth", "Toaster", "Useperl", "Sparseseen"].into_iter().any(has) {
                continue;
            }
            // Other facts are not visible either: without names, that `(` is an array because of its
            // name; if nothing is nested, that the text has no line breaks; in which kind of string
            // `\x{e9}` was.
            let is_bare = has("Terse") && has("Names");
            let is_string = line["name"].as_str().is_some_and(|name| name.starts_with("strings/"));
            let is_flat = settings["Indent"] == 0 && (is_string || !text.windows(2).any(is_nested));
            if is_bare || is_flat || text.windows(6).any(is_latin1_escape) {
                continue;
            }
            // A pad that ends in a blank, and `Pair` in records, are not recognized yet.
            if has("Pair") || settings["Pad"].as_str().is_some_and(|pad| pad.ends_with(' ')) {
                continue;
            }
            total += 1;
            let rewritten = icecore::read_with(&text, &stage, Request::new(&limits).detailed()).and_then(|document| {
                let mut rewritten = Vec::new();
                icecore::write_to(&document, &target, &limits, &mut rewritten)?;
                Ok(rewritten)
            });
            if rewritten.as_ref() != Ok(&text) {
                let name = &line["name"];
                let rewritten = rewritten.map(|rewritten| String::from_utf8_lossy(&rewritten).into_owned());
                failures.push(format!("{name} {settings}\n{}\n{rewritten:?}", String::from_utf8_lossy(&text)));
            }
        }
    }
    report("texts", total, &failures);
    assert!(total > 500, "only {total}");
}

/// Returns `true` if something is in brackets; `\x{` does not count.
fn is_nested(pair: &[u8]) -> bool {
    matches!(pair, [b'[', behind] if *behind != b']') || matches!(pair, [b'{', b'\'' | b'"'])
}

/// Returns `true` if this is `\x{80}` to `\x{ff}`.
fn is_latin1_escape(text: &[u8]) -> bool {
    matches!(text, [b'\\', b'x', b'{', b'8' | b'9' | b'a'..=b'f', _, b'}'])
}
