//! The real `Sereal::Decoder` reads our output as the same document.
//!
//! If perl or its Sereal is not installed, the test says that it was skipped.

use crate::fixtures;

use crate::common::{Palette, document};
use crate::fixtures::checker;
use crate::fixtures::perl::base64;
use icecore::format::sereal::{self, Compress, ReadOptions, WriteOptions};
use icecore::{Document, Kind, Limits, Stage, value::Comparison};
use std::process::Command;

/// Returns what the real decoder reads from each blob, as lines of JSON.
fn ask_perl(blobs: &[Vec<u8>]) -> Option<Vec<String>> {
    if !checker::has("perl with Sereal::Decoder", Command::new("perl").args(["-MSereal::Decoder", "-e1"])) {
        return None;
    }
    let question = |blob: &Vec<u8>| format!("{{\"format\":\"sereal\",\"blob\":\"{}\"}}", base64(blob));
    let questions: Vec<_> = blobs.iter().map(question).collect();
    let script = fixtures::folder().join("perl/check.pl");
    Some(checker::ask(Command::new("perl").arg(script).arg("--plain"), &questions))
}

fn assert_perl_reads(context: &str, questions: Vec<(String, Document<'_>, Vec<u8>)>) {
    let blobs: Vec<_> = questions.iter().map(|(.., blob)| blob.clone()).collect();
    let Some(answers) = ask_perl(&blobs) else { return };
    assert_eq!(answers.len(), questions.len());
    let typed = Stage::parse("json:typed").unwrap();
    let mut failures = Vec::new();
    for ((name, document, blob), answer) in questions.iter().zip(&answers) {
        // Kept as text, because numbers must not change.
        let text = answer.strip_prefix("{\"typed\":").and_then(|text| text.strip_suffix('}')).unwrap_or_default();
        let read = icecore::read_as(text.as_bytes(), &typed, &Limits::default());
        match read {
            Ok(read) if Comparison::new().any_order().equal(&read, document) => {}
            _ => failures.push(format!("{name}: {answer}\n{blob:02x?}\n{document:?}")),
        }
    }
    fixtures::report(context, questions.len(), &failures);
}

fn write_document(document: &Document<'_>, options: &WriteOptions) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    sereal::write(document, options, &Limits::default(), &mut out).ok().filter(icecore::Losses::is_empty).map(|_| out)
}

#[test]
fn perl_reads_rewritten_fixtures() {
    let all = fixtures::load("sereal.jsonl");
    let mut options = WriteOptions::default();
    options.threshold = Some(0);
    let mut questions = Vec::new();
    let compressions = [Compress::None, Compress::Snappy, Compress::Zlib, Compress::Zstd];
    for (turn, fixture) in all.iter().filter(|fixture| fixture.mode == "v5" && fixture.expected.is_some()).enumerate() {
        let Ok(document) = sereal::read(&fixture.blob, &ReadOptions::default(), &Limits::default()) else { continue };
        if document.header().is_some() {
            // Only the body is compared with perl.
            continue;
        }
        options.protocol = Some((3 + turn % 3) as u8);
        options.compress = Some(compressions[turn % 4]);
        options.canonical = turn % 5 == 0;
        options.dedupe_strings = turn % 7 == 0;
        // Only documents without losses, because perl can't give back what was lost.
        if let Some(blob) = write_document(&document, &options) {
            questions.push((format!("{} {options:?}", fixture.name), document, blob));
        }
    }
    assert_perl_reads("perl's documents", questions);
}

/// Returns `true` if a document has something that perl can't represent or expresses differently: floats that
/// are too wide, patterns that it would compile, strings that are not Unicode, links to something
/// other than an array, a hash or an object, and objects that are links.
fn has_what_perl_says_otherwise(document: &Document<'_>) -> bool {
    let nodes = document.nodes();
    let is_object = |index: usize| nodes.get(index).is_some_and(|node| node.kind == Kind::Object);
    nodes.iter().enumerate().any(|(index, node)| match node.kind {
        Kind::Float128 | Kind::Regexp => true,
        Kind::Text => std::str::from_utf8(document.bytes(node)).is_err(),
        Kind::Link => {
            let to = nodes[node.payload as usize].kind;
            !matches!(to, Kind::Array | Kind::Map | Kind::Object) || index > 0 && is_object(index - 1)
        }
        _ => false,
    }) || document
        .tape()
        .keys()
        .iter()
        .any(|key| key.node.kind == Kind::Text && std::str::from_utf8(key.bytes).is_err())
}

#[test]
fn perl_reads_random_documents() {
    let mut questions = Vec::new();
    for seed in 0..400 {
        let original = document(seed, Palette::Perl);
        if has_what_perl_says_otherwise(&original) {
            continue;
        }
        if let Some(blob) = write_document(&original, &WriteOptions::default()) {
            questions.push((format!("random {seed}"), original, blob));
        }
    }
    assert_perl_reads("random documents", questions);
}
