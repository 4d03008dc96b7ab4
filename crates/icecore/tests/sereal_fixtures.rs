//! Sereal compared with the output of the real `Sereal::Encoder`.

use crate::fixtures::{Fixture, load, report};
use icecore::format::sereal::{Compress, ReadOptions, SortKeys, WriteOptions};
use icecore::raw::Reader as _;
use icecore::{Document, Limits, Request, format::sereal, raw::Outcome};

/// Returns the fixtures that the real decoder can read. With `aliased_dedupe_strings` the encoder
/// may write an ALIAS after a REFN, which it can't read.
fn load_readable_fixtures() -> Vec<Fixture> {
    let mut fixtures = load("sereal.jsonl");
    let is_broken = |note: &str| note.contains("ALIAS tag not inside container");
    fixtures.retain(|fixture| !fixture.line["note"].as_str().is_some_and(is_broken));
    fixtures
}

/// Reads the documents of a blob, one after the other.
fn documents<'a>(blob: &'a [u8], read: impl Fn(&'a [u8]) -> Outcome<'a>) -> Result<Vec<Document<'a>>, String> {
    let mut documents = Vec::new();
    let mut rest = blob;
    while !rest.is_empty() {
        let outcome = read(rest);
        if let Some(error) = outcome.error {
            return Err(error.to_string());
        }
        rest = &rest[outcome.consumed..];
        documents.push(outcome.document);
    }
    Ok(documents)
}

fn plain() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.reference = true;
    options
}

#[test]
fn fast_and_reference_readers_agree() {
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in load_readable_fixtures() {
        total += 1;
        let fast = documents(&fixture.blob, |rest| ReadOptions::default().read(rest, Request::new(&limits)));
        let slow = documents(&fixture.blob, |rest| plain().read(rest, Request::new(&limits)));
        let traced = documents(&fixture.blob, |rest| plain().read(rest, Request::new(&limits).detailed()));
        match (fast, slow, traced) {
            (Ok(a), Ok(b), Ok(c)) if a == b && a == c => {}
            (Ok(_), Ok(_), Ok(_)) => failures.push(format!("{} {}: they differ", fixture.name, fixture.mode)),
            (a, b, c) => {
                failures.push(format!("{} {}: {:?} {:?} {:?}", fixture.name, fixture.mode, a.err(), b.err(), c.err()))
            }
        }
    }
    report("reading", total, &failures);
}

/// Returns the document with an uncompressed body.
fn decompress(blob: &[u8]) -> Vec<u8> {
    let limits = Limits::default();
    let mut out = Vec::new();
    for document in
        documents(blob, |rest| ReadOptions::default().read(rest, Request::new(&limits).detailed())).unwrap_or_default()
    {
        let trace = document.trace().unwrap();
        out.extend(document.spelling().unwrap().header.iter().flat_map(|(_, value)| value.to_le_bytes()));
        out.extend_from_slice(trace.layer.as_deref().unwrap_or(blob));
    }
    out
}

fn describe_difference(fixture: &Fixture, out: &[u8]) -> String {
    let offset = out.iter().zip(&fixture.blob).take_while(|(a, b)| a == b).count();
    format!(
        "{} {}: differs at {offset}\n{}{}",
        fixture.name,
        fixture.mode,
        icecore::text::window(&fixture.blob, offset as u64),
        icecore::text::window(out, offset as u64)
    )
}

#[test]
fn documents_are_rewritten_byte_for_byte() {
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in &load_readable_fixtures() {
        total += 1;
        let mut out = Vec::new();
        let read = documents(&fixture.blob, |rest| ReadOptions::default().read(rest, Request::new(&limits).detailed()));
        let written = read.unwrap().iter().try_for_each(|document| {
            let losses = sereal::write(document, &WriteOptions::default(), &limits, &mut out)?;
            assert!(losses.is_empty(), "{} {}: {losses:?}", fixture.name, fixture.mode);
            Ok::<_, icecore::Error>(())
        });
        if let Err(error) = written {
            failures.push(format!("{} {}: {error}", fixture.name, fixture.mode));
        } else if out != fixture.blob && decompress(&out) != decompress(&fixture.blob) {
            failures.push(describe_difference(fixture, &out));
        }
    }
    report("writing again", total, &failures);
}

/// Returns the options with which the encoder wrote this mode; `None` if the document does not show them.
fn encoder(mode: &str) -> Option<WriteOptions> {
    let mut options = WriteOptions::default();
    for word in mode.split(',') {
        match word {
            "v1" | "v2" | "v3" | "v4" | "v5" => options.protocol = word[1..].parse().ok(),
            "canonical" => options.canonical = true,
            "dedupe_strings" => options.dedupe_strings = true,
            "aliased_dedupe_strings" => return None,
            "no_shared_hashkeys" => options.no_shared_hashkeys = true,
            "sort_keys=1" => options.sort_keys = SortKeys::Length,
            "sort_keys=2" => options.sort_keys = SortKeys::Perl,
            "sort_keys=3" => options.sort_keys = SortKeys::PerlReverse,
            "snappy" if options.protocol == Some(1) => options.compress = Some(Compress::SnappyToEnd),
            "snappy" | "snappy_incr" => options.compress = Some(Compress::Snappy),
            "zlib" => options.compress = Some(Compress::Zlib),
            "zstd" => options.compress = Some(Compress::Zstd),
            "use_standard_double" | "freeze_callbacks" | "no_bless_objects" => {}
            _ => return None,
        }
    }
    options.threshold = Some(0);
    Some(options)
}

/// Codes of notes for circumstances that a document does not show: whether something else in the
/// program referred to a value (REFN), which undef or boolean it was (the tag of a leaf), whether a
/// weak reference was the only one (PAD), and which of several offsets the encoder uses for a
/// string that it also copied (tracks and detours).
const CIRCUMSTANCES: [u16; 5] = [1, 2, 4, 8, 22];

/// Structures that show more such circumstances: hashes that share no keys with others, and aliases
/// of perl's own booleans. The encoder writes the modifier `n`, which the decoder refuses.
const CIRCUMSTANTIAL: [&str; 4] = ["restricted/nested", "bools/alias", "regexps/flags-n", "regexps/flags-msixn"];

/// Returns the notes that follow from rules.
fn by_rules(document: &Document<'_>) -> Vec<(u32, u16, u64)> {
    let spelling = document.spelling().unwrap();
    let notes = spelling.notes.iter().filter(|note| !CIRCUMSTANCES.contains(&note.code));
    notes.map(|note| (note.ordinal, note.code, note.value)).collect()
}

#[test]
fn documents_without_spelling_get_the_encoders_bytes() {
    let limits = Limits::default();
    let (mut total, mut same, mut failures) = (0, 0, Vec::new());
    for fixture in &load_readable_fixtures() {
        let Some(options) = encoder(&fixture.mode).filter(|_| !CIRCUMSTANTIAL.contains(&fixture.name.as_str())) else {
            continue;
        };
        total += 1;
        let document = sereal::read(&fixture.blob, &ReadOptions::default(), &limits).unwrap();
        let mut out = Vec::new();
        if let Err(error) = sereal::write(&document, &options, &limits, &mut out) {
            failures.push(format!("{} {}: {error}", fixture.name, fixture.mode));
            continue;
        }
        if out == fixture.blob {
            same += 1;
            continue;
        }
        let read = |blob| ReadOptions::default().read(blob, Request::new(&limits).detailed());
        let (ours, theirs) = (read(&out), read(&fixture.blob));
        if ours.document != theirs.document || by_rules(&ours.document) != by_rules(&theirs.document) {
            failures.push(describe_difference(fixture, &out));
        }
    }
    println!("{same} of {total} the same to the byte");
    report("writing by the encoder's rules", total, &failures);
}
