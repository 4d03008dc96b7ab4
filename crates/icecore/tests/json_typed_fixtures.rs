//! A blob of another format goes through `json:typed` and back.

use crate::fixtures;

use icecore::{Document, Limits, Request, Stage};

/// Reads a document with its byte form.
fn read_detailed<'a>(input: &'a [u8], stage: &Stage, limits: &Limits) -> Option<Document<'a>> {
    icecore::read_with(input, stage, Request::new(limits).detailed()).ok()
}

/// Checks every blob of the file: its typed JSON gives the same output as the blob itself.
fn assert_typed_json_is_lossless(file: &str, format: &str, min_count: usize) {
    let limits = Limits::default();
    let (stage, typed) = (Stage::parse(format).unwrap(), Stage::parse("json:typed").unwrap());
    let mut count = 0;
    for fixture in fixtures::load(file) {
        let Some(document) = read_detailed(&fixture.blob, &stage, &limits) else { continue };
        let name = format!("{} {}", fixture.name, fixture.mode);
        let meaning = icecore::write(&document, "json:typed").unwrap();
        let reread = icecore::read_as(&meaning, &typed, &limits).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(reread == document, "{name}\n{}", String::from_utf8_lossy(&meaning));
        let spelled = icecore::write(&document, "json:typed,spelling,indent=1").unwrap();
        let reread = icecore::read_as(&spelled, &typed, &limits).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(reread == document, "{name}");
        assert_eq!(reread.spelling(), document.spelling(), "{name}");
        let (mut one, mut other) = (Vec::new(), Vec::new());
        let written = icecore::write_to(&document, &stage, &limits, &mut one);
        let rewritten = icecore::write_to(&reread, &stage, &limits, &mut other);
        assert_eq!(written.err(), rewritten.err(), "{name}");
        assert!(one == other, "{name}\n{document:?}\n{reread:?}");
        count += 1;
    }
    assert!(count >= min_count, "only {count} of {file}");
}

#[test]
fn storable_blobs_round_trip_byte_for_byte() {
    assert_typed_json_is_lossless("storable.jsonl", "storable", 1000);
}

#[test]
fn sereal_blobs_round_trip_byte_for_byte() {
    assert_typed_json_is_lossless("sereal.jsonl", "sereal", 1000);
}

/// Replaces the only occurrence of a part.
fn replace_only_occurrence(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let places: Vec<_> = (0..bytes.len()).filter(|offset| bytes[*offset..].starts_with(part)).collect();
    let [offset] = places[..] else { panic!("{} times there", places.len()) };
    [&bytes[..offset], by, &bytes[offset + part.len()..]].concat()
}

#[test]
fn editing_one_string_changes_only_that_string() {
    let limits = Limits::default();
    for (file, format, before, after) in [
        ("storable.jsonl", "storable", &b"\x0a\x0aEmployee_7"[..], &b"\x0a\x0dSomebody else"[..]),
        ("sereal.jsonl", "sereal", b"\x6aEmployee_7", b"\x6dSomebody else"),
    ] {
        let stage = Stage::parse(format).unwrap();
        let mut count = 0;
        for fixture in fixtures::load(file).iter().filter(|fixture| fixture.name.contains("employees")) {
            if !fixture.blob.windows(before.len()).any(|window| window == before) {
                continue;
            }
            let Some(document) = read_detailed(&fixture.blob, &stage, &limits) else { continue };
            let text = icecore::write(&document, "json:typed,spelling,indent=2").unwrap();
            let edited = replace_only_occurrence(&text, b"\"Employee_7\"", b"\"Somebody else\"");
            let edited = icecore::read_as(&edited, &Stage::parse("json:typed").unwrap(), &limits).unwrap();
            let written = icecore::write(&edited, format).unwrap();
            assert!(
                written == replace_only_occurrence(&fixture.blob, before, after),
                "{} {}",
                fixture.name,
                fixture.mode
            );
            count += 1;
        }
        assert!(count > 2, "only {count} of {file}");
    }
}
