//! What we read from a Storable image is what the real Storable reads from it.

mod fixtures;

use fixtures::{expectations, load, report};
use icecore::{Comparison, Limits, Stage, storable};
use std::collections::HashMap;

fn check(file: &str, expected: &HashMap<String, String>) {
    let limits = Limits::default();
    let typed = Stage::parse("json:typed").unwrap();
    let (mut total, mut failures) = (0, Vec::new());
    for f in load(file) {
        let Some(id) = &f.expected else { continue };
        total += 1;
        let text = &expected[id];
        let expected = icecore::read_as(text.as_bytes(), &typed, &limits).unwrap_or_else(|e| panic!("{text}: {e}"));
        let read = storable::read(&f.blob, &f.storable_options(), &limits).unwrap();
        if !Comparison::new().any_order().any_ascii().equal(&read, &expected) {
            let ours = icecore::write(&read, "json:typed").unwrap();
            failures.push(format!("{} {}:\n  {}\n  {text}", f.name, f.mode, String::from_utf8_lossy(&ours)));
        }
    }
    report(file, total, &failures);
}

#[test]
fn equal_to_what_perl_reads() {
    check("storable.jsonl", &expectations("expected.jsonl"));
}

#[test]
fn equal_to_what_was_written_on_other_machines() {
    check("storable-arch.jsonl", &expectations("expected-arch.jsonl"));
}
