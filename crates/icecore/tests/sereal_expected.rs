//! We read the same from a Sereal document as `Sereal::Decoder`.

use crate::fixtures::{expectations, load, report};
use icecore::format::sereal::ReadOptions;
use icecore::raw::Reader as _;
use icecore::{Limits, Request, Stage, read_as, value::Comparison};

const START: &str = r#"{"$icecore":1,"$strings":"bytes","#;

/// Returns an expectation with another one as its user header.
fn with_header(header: &str, body: &str) -> String {
    let header = header.strip_prefix(START).unwrap().strip_suffix('}').unwrap();
    let mut header = header.replacen("$value", "$header", 1);
    // The ids of the two start at the same numbers.
    for key in [r#""$id":"#, r#""$link":"#, r#""$alias":"#] {
        header = header.replace(key, &format!("{key}100"));
    }
    format!("{START}{header},{}", body.strip_prefix(START).unwrap())
}

#[test]
fn documents_are_read_as_perl_reads_them() {
    let limits = Limits::default();
    let typed = Stage::parse("json:typed").unwrap();
    let expected = expectations("expected.jsonl");
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in load("sereal.jsonl") {
        let mut ids: Vec<_> = fixture.expected.iter().map(String::as_str).collect();
        ids.extend(fixture.line["documents"].as_array().into_iter().flatten().filter_map(|id| id.as_str()));
        ids.extend(fixture.line["opaque"].as_str());
        let mut rest = &fixture.blob[..];
        for id in ids {
            total += 1;
            let outcome = ReadOptions::default().read(rest, Request::new(&limits));
            rest = &rest[outcome.consumed.min(rest.len())..];
            if let Some(error) = outcome.error {
                failures.push(format!("{} {}: {error}", fixture.name, fixture.mode));
                continue;
            }
            let text = match fixture.line["header"].as_str() {
                // perl does not distinguish an undefined header from no header.
                Some(header) if outcome.document.header().is_some() => with_header(&expected[header], &expected[id]),
                _ => expected[id].clone(),
            };
            let expected_document =
                read_as(text.as_bytes(), &typed, &limits).unwrap_or_else(|error| panic!("{text}: {error}"));
            if !Comparison::new().any_order().equal(&outcome.document, &expected_document) {
                let ours = icecore::write(&outcome.document, "json:typed").unwrap();
                failures.push(format!(
                    "{} {}:\n  {}\n  {text}",
                    fixture.name,
                    fixture.mode,
                    String::from_utf8_lossy(&ours)
                ));
            }
        }
    }
    report("meaning", total, &failures);
}
