//! What Data::Dumper wrote of the shapes of the other fixtures, under all its
//! settings.

use crate::dumper;

use crate::fixtures::{base64, folder, report};
use icecore::{Limits, Request, Stage};
use serde_json::Value;

fn lines() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("dumper-write.jsonl")).expect("the fixtures");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn the_same_text_under_all_settings() {
    let (mut total, mut failures) = (0, Vec::new());
    for line in lines() {
        let (texts, differ) = dumper::compare(&line);
        total += texts;
        failures.extend(differ);
    }
    report("Data::Dumper", total, &failures);
    assert!(total > 1000, "only {total}");
}

/// What the settings were shows in the text.
#[test]
fn a_text_that_is_read_comes_back() {
    let stage = Stage::parse("dumper").expect("a stage");
    let target = Stage::parse("dumper:trusted").expect("a stage");
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for line in lines() {
        for pair in line["texts"].as_array().expect("texts") {
            let (settings, text) = (&pair[0], base64(pair[1].as_str().expect("a text")));
            let has = |name: &str| !settings[name].is_null();
            // These do not show, or a document can't say what they make of it.
            if ["Deepcopy", "Maxdepth", "Toaster", "Useperl", "Sparseseen"].into_iter().any(has) {
                continue;
            }
            // Nor does this: without names, that `(` is an array by its name; where
            // nothing is nested, that there are no lines; in which kind of string
            // `\x{e9}` was.
            let is_bare = has("Terse") && has("Names");
            let is_string = line["name"].as_str().is_some_and(|name| name.starts_with("strings/"));
            let is_flat = settings["Indent"] == 0 && (is_string || !text.windows(2).any(is_nested));
            if is_bare || is_flat || text.windows(6).any(is_latin1_escape) {
                continue;
            }
            // A pad that ends in a blank, and a pair in records, are not seen yet.
            if has("Pair") || settings["Pad"].as_str().is_some_and(|pad| pad.ends_with(' ')) {
                continue;
            }
            total += 1;
            let again = icecore::read_with(&text, &stage, Request::new(&limits).detailed()).and_then(|document| {
                let mut again = Vec::new();
                icecore::write_to(&document, &target, &limits, &mut again)?;
                Ok(again)
            });
            if again.as_ref() != Ok(&text) {
                let name = &line["name"];
                let again = again.map(|again| String::from_utf8_lossy(&again).into_owned());
                failures.push(format!("{name} {settings}\n{}\n{again:?}", String::from_utf8_lossy(&text)));
            }
        }
    }
    report("texts", total, &failures);
    assert!(total > 500, "only {total}");
}

/// Something in brackets; not `\x{`.
fn is_nested(pair: &[u8]) -> bool {
    matches!(pair, [b'[', behind] if *behind != b']') || matches!(pair, [b'{', b'\'' | b'"'])
}

/// `\x{80}` to `\x{ff}`
fn is_latin1_escape(text: &[u8]) -> bool {
    matches!(text, [b'\\', b'x', b'{', b'8' | b'9' | b'a'..=b'f', _, b'}'])
}
