//! What PHP wrote, what it reads from these texts, and what it refuses.

use crate::fixtures::php::{Describer, key_bytes, one_nan};
use crate::fixtures::{base64, folder, load};
use icecore::raw::Reader as _;
use icecore::{Document, Key, Kind, Limits, Request, Stage, format::php};
use serde_json::Value as Json;
use std::fmt::Write;

fn read(blob: &[u8]) -> Document<'_> {
    php::read(blob, &php::ReadOptions::default(), &Limits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", blob.escape_ascii()))
}

fn read_detailed(blob: &[u8]) -> Document<'_> {
    let outcome = php::ReadOptions::default().read(blob, Request::new(&Limits::default()).detailed());
    assert!(outcome.error.is_none(), "{}: {:?}", blob.escape_ascii(), outcome.error);
    outcome.document
}

fn write_without_losses(document: &Document<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let losses = php::write(document, &php::WriteOptions::default(), &Limits::default(), &mut out).unwrap();
    assert!(losses.is_empty(), "{losses:?}");
    out
}

#[test]
fn texts_are_read_as_php_reads_them() {
    let (mut checked, mut failures) = (0, String::new());
    for fixture in load("php.jsonl") {
        let document = read(&fixture.blob);
        let Some(expected) = fixture.line.get("php") else { continue };
        checked += 1;
        let expected = one_nan(expected.clone());
        let found = Describer::default().value(document.root());
        if found != expected {
            let _ = writeln!(failures, "{}\n php {expected}\n we  {found}", fixture.name);
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(checked > 350, "{checked}");
}

#[test]
fn texts_are_rewritten_byte_for_byte() {
    let typed = Stage::parse("json:typed").unwrap();
    let spelled = Stage::parse("json:typed,spelling").unwrap();
    let (limits, mut plain) = (Limits::default(), 0);
    for fixture in load("php.jsonl") {
        let document = read_detailed(&fixture.blob);
        assert_eq!(
            write_without_losses(&document).escape_ascii().to_string(),
            fixture.blob.escape_ascii().to_string(),
            "{}",
            fixture.name
        );
        let simple = read(&fixture.blob);
        assert!(simple == document, "{}: reading with detail gives something else", fixture.name);
        if fixture.mode == "serialize" {
            plain += usize::from(write_without_losses(&simple) == fixture.blob);
        }
        for (stage, document) in [(&spelled, &document), (&typed, &simple)] {
            let mut text = Vec::new();
            let losses = icecore::write_to(document, stage, &limits, &mut text).unwrap();
            assert!(losses.is_empty(), "{}: {losses:?}", fixture.name);
            let reread = icecore::read_as(&text, &typed, &limits)
                .unwrap_or_else(|error| panic!("{}: {error}\n{}", fixture.name, String::from_utf8_lossy(&text)));
            assert!(reread == *document, "{}: {}", fixture.name, String::from_utf8_lossy(&text));
            if reread.spelling().is_some() {
                assert_eq!(
                    write_without_losses(&reread).escape_ascii().to_string(),
                    fixture.blob.escape_ascii().to_string(),
                    "{}",
                    fixture.name
                );
            }
        }
    }
    // Nothing that PHP writes needs spelling.
    let total = load("php.jsonl").iter().filter(|fixture| fixture.mode == "serialize").count();
    assert_eq!(plain, total);
}

/// Returns why we and PHP differ on a damaged input, if that is intended.
fn explain_intended_difference(document: Result<&Document<'_>, &icecore::Error>) -> Option<&'static str> {
    match document {
        Err(error) if error.expected() == Some("digits") => Some("a count of properties without digits is 0 to PHP"),
        Err(_) => None,
        Ok(document) => repeats_a_key(document).then_some("a link to what a second value of its key replaced"),
    }
}

fn repeats_a_key(document: &Document<'_>) -> bool {
    (0..document.nodes().len() as u32).filter_map(|node| document.at(node)).filter(|node| node.kind() == Kind::Map).any(
        |map| {
            let mut seen = std::collections::HashSet::new();
            map.entries().any(|(key, _)| {
                !seen.insert((key.node().payload * u64::from(key.node().kind == Kind::Int), key_text(&key)))
            })
        },
    )
}

fn key_text(key: &Key<'_>) -> Vec<u8> {
    if key.node().kind == Kind::Int { Vec::new() } else { key_bytes(key) }
}

#[test]
fn damaged_texts_are_refused_where_php_refuses_them() {
    let path = folder().join("php-mutated.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut options = php::ReadOptions::default();
    options.lenient = true;
    let (mut total, mut refused, mut same_offset, mut failures) = (0, 0, 0, String::new());
    for line in text.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        let blob = base64(line["blob"].as_str().unwrap());
        let offset = line["offset"].as_u64();
        let result = php::read(&blob, &options, &Limits::default());
        total += 1;
        let meant = explain_intended_difference(result.as_ref());
        let error = result.err();
        if error.is_some() != offset.is_some() && meant.is_none() {
            let _ = writeln!(failures, "{} php {offset:?} we {error:?}", blob.escape_ascii());
        }
        if let (Some(error), Some(offset)) = (&error, offset) {
            refused += 1;
            let says = format!("Error at offset {offset} of {} bytes", blob.len());
            if error.help().is_some_and(|help| help.contains(&says)) {
                same_offset += 1;
            } else if std::env::var_os("SHOW_OFFSETS").is_some() {
                eprintln!("{} php {offset} we {error}", blob.escape_ascii());
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(total > 2000 && refused > 1000, "{total} {refused}");
    assert!(same_offset * 1000 >= refused * 999, "{same_offset} of {refused} offsets as PHP's");
}
