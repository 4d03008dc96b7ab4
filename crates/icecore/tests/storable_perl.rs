//! The real Storable reads our output.

use crate::fixtures::{Fixture, expectations, load, perl, report};
use icecore::{Document, Limits, Stage, format::storable, value::Comparison};
use std::collections::BTreeMap;

/// Returns the options that write the header of the fixture's mode.
fn write_options(fixture: &Fixture) -> storable::WriteOptions {
    let mut options = storable::WriteOptions::default();
    options.file = Some(fixture.mode.contains("store"));
    options.netorder = fixture.mode.starts_with('n');
    options
}

fn write_document(document: &Document<'_>, fixture: &Fixture) -> Vec<u8> {
    let mut out = Vec::new();
    let losses = storable::write(document, &write_options(fixture), &Limits::default(), &mut out);
    let losses = losses.unwrap_or_else(|error| panic!("{} {}: {error}", fixture.name, fixture.mode));
    assert!(losses.is_empty(), "{} {}: {losses:?}", fixture.name, fixture.mode);
    out
}

fn from_typed(text: &str) -> Document<'_> {
    let typed = Stage::parse("json:typed").unwrap();
    icecore::read_as(text.as_bytes(), &typed, &Limits::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The first byte in which an image written from its meaning may differ from the original: the byte
/// in the original, ours, and why the meaning does not determine it.
const NOT_IN_THE_MEANING: &[(u8, u8, &str)] = &[
    (25, 3, "whether a hash once had a key with a flag that is there no more, or one in ASCII that was in UTF-8"),
    (2, 0, "whether an ASCII key was in UTF-8 before"),
    (22, 20, "whether an ASCII key that is absent was in UTF-8 before"),
];

#[test]
fn most_images_are_rewritten_from_their_values_alone() {
    let (mut total, mut same, mut failures) = (0, 0, Vec::new());
    let mut reasons = BTreeMap::new();
    for fixture in load("storable.jsonl") {
        total += 1;
        let document = storable::read(&fixture.blob, &fixture.storable_options(), &Limits::default()).unwrap();
        let out = write_document(&document, &fixture);
        let offset = out.iter().zip(&fixture.blob).take_while(|(a, b)| a == b).count();
        let differ = (fixture.blob.get(offset).copied(), out.get(offset).copied());
        if differ == (None, None) {
            same += 1;
        } else if let Some((.., reason)) =
            NOT_IN_THE_MEANING.iter().find(|(theirs, ours, _)| (Some(*theirs), Some(*ours)) == differ)
        {
            *reasons.entry(reason).or_insert(0) += 1;
        } else {
            let windows = [&fixture.blob, &out].map(|image| icecore::text::window(image, offset as u64)).concat();
            failures.push(format!("{} {}: differs at {offset}\n{windows}", fixture.name, fixture.mode));
        }
    }
    report("meaning", total, &failures);
    assert!(same >= 4960, "only {same} of {total} are the same: {reasons:#?}");
    assert_eq!(reasons.len(), NOT_IN_THE_MEANING.len(), "{reasons:#?}");
}

/// Returns `true` if the mode changes more than the order of keys.
fn changes_more_than_key_order(fixture: &Fixture) -> bool {
    !fixture.mode.contains("canonical")
}

#[test]
fn real_storable_reads_images_written_from_typed_json() {
    let expected = expectations("expected.jsonl");
    let mut questions = Vec::new();
    for fixture in load("storable.jsonl").into_iter().filter(changes_more_than_key_order) {
        // If a hook froze the value, the expectation is what the hook made of it.
        let id = fixture.expected.as_ref().filter(|_| fixture.line["classes"].is_null());
        if fixture.name == "regexps/text" {
            // A pattern is written in UTF-8 and read as bytes, so it differs each time.
            continue;
        }
        let Some(text) = id.map(|id| &expected[id]) else { continue };
        let image = write_document(&from_typed(text), &fixture);
        questions.push((format!("{} {}", fixture.name, fixture.mode), text.clone(), image));
    }
    assert_perl_reads("from typed JSON", questions);
}

#[test]
fn real_storable_reads_images_written_without_spelling() {
    let expected = expectations("expected.jsonl");
    let (mut questions, mut hooked) = (Vec::new(), Vec::new());
    for fixture in load("storable.jsonl").into_iter().filter(changes_more_than_key_order) {
        let document = storable::read(&fixture.blob, &fixture.storable_options(), &Limits::default()).unwrap();
        let image = write_document(&document, &fixture);
        let name = format!("{} {}", fixture.name, fixture.mode);
        if !fixture.line["classes"].is_null() {
            hooked.push((name, fixture.blob, image));
        } else if let Some(id) = fixture.expected.as_ref().filter(|_| image != fixture.blob) {
            questions.push((name, expected[id].clone(), image));
        }
    }
    // What hooks receive is compared with what the original gives them.
    let originals: Vec<_> = hooked.iter().map(|(_, blob, _)| blob.clone()).collect();
    let Some(answers) = perl::ask("storable", "Storable", &originals) else { return };
    for ((name, _, image), answer) in hooked.into_iter().zip(answers) {
        if let Ok(text) = answer {
            questions.push((name, text, image));
        }
    }
    assert_perl_reads("from meaning", questions);
}

/// Checks that perl reads from each image the value given as typed JSON.
fn assert_perl_reads(context: &str, questions: Vec<(String, String, Vec<u8>)>) {
    let images: Vec<_> = questions.iter().map(|(.., image)| image.clone()).collect();
    let Some(answers) = perl::ask("storable", "Storable", &images) else { return };
    let mut failures = Vec::new();
    for ((name, text, image), answer) in questions.iter().zip(&answers) {
        let is_same = answer.as_ref().is_ok_and(|answer| {
            answer == text || Comparison::new().any_order().any_ascii().equal(&from_typed(answer), &from_typed(text))
        });
        if !is_same {
            failures.push(format!("{name}:\n  {answer:?}\n  {text}\n{image:02x?}"));
        }
    }
    report(context, questions.len(), &failures);
}
