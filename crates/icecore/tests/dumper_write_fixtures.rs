//! What Data::Dumper wrote of the shapes of the other fixtures, under all its
//! settings.

#[path = "dumper/mod.rs"]
mod dumper;
mod fixtures;

use fixtures::{folder, report};

#[test]
fn the_same_text_under_all_settings() {
    let text = std::fs::read_to_string(folder().join("dumper-write.jsonl")).expect("the fixtures");
    let (mut total, mut failures) = (0, Vec::new());
    for line in text.lines() {
        let line = serde_json::from_str(line).expect("a line of JSON");
        let (texts, differ) = dumper::compare(&line);
        total += texts;
        failures.extend(differ);
    }
    report("Data::Dumper", total, &failures);
    assert!(total > 1000, "only {total}");
}
