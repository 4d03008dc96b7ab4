//! A blob of another format goes through `json:typed` and back.

mod fixtures;

use icecore::{Document, Limits, Request, Stage};

/// Reads, with the byte form.
fn detailed<'a>(input: &'a [u8], stage: &Stage, limits: &Limits) -> Option<Document<'a>> {
    icecore::read_with(input, stage, Request::new(limits).detailed()).ok()
}

/// Every blob of the file: what is written from its typed JSON is what is
/// written from itself.
fn goes_through(file: &str, format: &str, least: usize) {
    let limits = Limits::default();
    let (stage, typed) = (Stage::parse(format).unwrap(), Stage::parse("json:typed").unwrap());
    let mut count = 0;
    for fixture in fixtures::load(file) {
        let Some(document) = detailed(&fixture.blob, &stage, &limits) else { continue };
        let what = format!("{} {}", fixture.name, fixture.mode);
        let meaning = icecore::write(&document, "json:typed").unwrap();
        let again = icecore::read_as(&meaning, &typed, &limits).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(again == document, "{what}\n{}", String::from_utf8_lossy(&meaning));
        let spelled = icecore::write(&document, "json:typed,spelling,indent=1").unwrap();
        let again = icecore::read_as(&spelled, &typed, &limits).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(again == document, "{what}");
        assert_eq!(again.spelling(), document.spelling(), "{what}");
        let (mut one, mut other) = (Vec::new(), Vec::new());
        let written = icecore::write_to(&document, &stage, &limits, &mut one);
        let rewritten = icecore::write_to(&again, &stage, &limits, &mut other);
        assert_eq!(written.err(), rewritten.err(), "{what}");
        assert!(one == other, "{what}\n{document:?}\n{again:?}");
        count += 1;
    }
    assert!(count >= least, "only {count} of {file}");
}

#[test]
fn storable_comes_back_byte_for_byte() {
    goes_through("storable.jsonl", "storable", 1000);
}

#[test]
fn sereal_comes_back_byte_for_byte() {
    goes_through("sereal.jsonl", "sereal", 1000);
}
