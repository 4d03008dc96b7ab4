//! `C:` payloads of PHP's own classes: what PHP 8 reads from them, and what it refuses.

use crate::common;

use crate::common::on_a_small_stack;
use crate::fixtures::php::Describer;
use crate::fixtures::{base64, folder, load};
use icecore::raw::Reader as _;
use icecore::{Document, ErrorKind, Kind, Limits, Request, Stage, format::php, raw::Outcome};
use serde_json::Value as Json;
use std::fmt::Write;

fn read_both_ways(blob: &[u8]) -> Outcome<'_> {
    common::read_both_ways(&php::ReadOptions::default(), blob, &Limits::default())
}

fn read_whole(blob: &[u8]) -> Document<'_> {
    let outcome = read_both_ways(blob);
    assert!(outcome.error.is_none(), "{}: {:?}", blob.escape_ascii(), outcome.error);
    outcome.document
}

fn write_to_text(document: &Document<'_>) -> String {
    let mut out = Vec::new();
    let losses = php::write(document, &php::WriteOptions::default(), &Limits::default(), &mut out).unwrap();
    assert!(losses.is_empty(), "{losses:?} {}", out.escape_ascii());
    out.escape_ascii().to_string()
}

/// Returns `true` if PHP shows a handmade text differently from its content: empty payloads, an object that
/// is in a storage twice, and list items and own properties, which PHP copies.
fn shows_otherwise(blob: &[u8]) -> bool {
    let text = String::from_utf8_lossy(blob);
    text.contains(":0:{}") && text.contains("C:") && !text.contains("x:") && !text.contains("i:4;")
        || text.contains("C:11:\"ArrayObject\":0:{}")
        || text.contains("r:3;,i:")
        || text.contains("arrayobject")
        || text.contains("i:1;R:4;")
        || text.contains(":R:3;:r:1;")
        || text.contains("i:1;R:7;")
}

#[test]
fn payloads_are_read_as_php_reads_them() {
    let (mut checked, mut failures) = (0, String::new());
    for fixture in load("php-spl.jsonl") {
        let document = read_whole(&fixture.blob);
        let rewritten = base64(fixture.line["again"].as_str().unwrap());
        let modern = read_whole(&rewritten);
        if fixture.mode == "hand" && shows_otherwise(&fixture.blob) {
            continue;
        }
        checked += 1;
        let found = Describer::default().value(document.root());
        let expected = Describer::default().value(modern.root());
        if found != expected {
            let _ =
                writeln!(failures, "{}\n {}\n php {expected}\n we  {found}", fixture.name, fixture.blob.escape_ascii());
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(checked > 370, "{checked}");
}

#[test]
fn payloads_are_rewritten_byte_for_byte() {
    let typed = Stage::parse("json:typed").unwrap();
    let spelled = Stage::parse("json:typed,spelling").unwrap();
    let limits = Limits::default();
    for fixture in load("php-spl.jsonl") {
        let text = fixture.blob.escape_ascii().to_string();
        let document = read_whole(&fixture.blob);
        assert_eq!(write_to_text(&document), text, "{}", fixture.name);
        let simple = php::read(&fixture.blob, &php::ReadOptions::default(), &limits).unwrap();
        if fixture.mode == "made" {
            assert_eq!(write_to_text(&simple), text, "{}", fixture.name);
        }
        for (stage, document) in [(&spelled, &document), (&typed, &simple)] {
            let mut json = Vec::new();
            assert!(icecore::write_to(document, stage, &limits, &mut json).unwrap().is_empty());
            let reread = icecore::read_as(&json, &typed, &limits).unwrap();
            assert!(reread == *document, "{}: {}", fixture.name, String::from_utf8_lossy(&json));
            if reread.spelling().is_some() || fixture.mode == "made" {
                assert_eq!(write_to_text(&reread), text, "{}", fixture.name);
            }
        }
    }
}

#[test]
fn damaged_payloads_are_refused_where_php_refuses_them() {
    let text = std::fs::read_to_string(folder().join("php-spl-mutated.jsonl")).unwrap();
    let mut options = php::ReadOptions::default();
    options.lenient = true;
    let (mut total, mut accepted, mut same_offset, mut failures) = (0, 0, 0, String::new());
    for line in text.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        let blob = base64(line["blob"].as_str().unwrap());
        total += 1;
        read_both_ways(&blob);
        let error = php::read(&blob, &options, &Limits::default()).err();
        let expected_error = line["error"].as_str();
        if error.is_some() != expected_error.is_some()
            && error.as_ref().and_then(icecore::Error::expected) != Some("digits")
        {
            let _ = writeln!(failures, "{} php {expected_error:?} we {error:?}", blob.escape_ascii());
        }
        match (error, expected_error) {
            (Some(error), Some(expected_error)) => {
                same_offset += usize::from(error.help().is_some_and(|help| help.contains(expected_error)))
            }
            (None, None) => accepted += 1,
            _ => {}
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(total == 1500 && accepted > 80, "{total} {accepted}");
    assert!(same_offset * 100 >= (total - accepted) * 90, "{same_offset} of {} offsets as PHP's", total - accepted);
}

#[test]
fn every_cut_is_reported_as_truncation() {
    for fixture in load("php-spl.jsonl").iter().filter(|fixture| fixture.blob.len() < 600) {
        for len in 0..fixture.blob.len() {
            let error =
                read_both_ways(&fixture.blob[..len]).error.unwrap_or_else(|| panic!("{} cut at {len}", fixture.name));
            assert_eq!(error.kind(), ErrorKind::Truncated, "{} cut at {len}: {error}", fixture.name);
        }
    }
}

#[test]
fn editing_a_payload_updates_its_lengths() {
    let typed = Stage::parse("json:typed").unwrap();
    let text = br#"a:2:{i:0;C:8:"SplQueue":49:{i:4;:C:11:"ArrayObject":16:{x:i:0;a:0:{};m:a:0:{}}:i:1;}i:1;N;}"#;
    assert_eq!(read_both_ways(text).error.map(|error| error.kind()), Some(ErrorKind::Malformed));
    let text =
        br#"a:2:{i:0;C:8:"SplQueue":67:{i:4;:C:11:"ArrayObject":33:{x:i:0;a:1:{i:0;s:1:"a";};m:a:0:{}}:i:1;}i:1;N;}"#;
    let json = icecore::write(&read_whole(text), "json:typed").unwrap();
    let json = String::from_utf8(json).unwrap().replace("\"a\"", "\"a text that is longer\"");
    let edited = icecore::read_as(json.as_bytes(), &typed, &Limits::default()).unwrap();
    let expected = r#"a:2:{i:0;C:8:"SplQueue":88:{i:4;:C:11:"ArrayObject":54:{x:i:0;a:1:{i:0;s:21:"a text that is longer";};m:a:0:{}}:i:1;}i:1;N;}"#;
    assert_eq!(write_to_text(&edited), expected.replace('"', "\\\""));
    assert!(read_whole(expected.as_bytes()) == edited);
}

#[test]
fn links_lead_into_opened_payloads() {
    let read = |text: &'static [u8]| php::read(text, &php::ReadOptions::default(), &Limits::default());
    let document = read(br#"a:2:{i:0;C:8:"SplQueue":32:{i:4;:O:1:"A":1:{s:1:"x";i:7;}:N;}i:1;r:4;}"#).unwrap();
    let item = document.find("$[1]").unwrap().target();
    assert_eq!((item.kind(), item.path().as_str()), (Kind::Object, "$[0]#0[0]"));
    // Links after the payload of a user's class can't be resolved.
    let error = read(br#"a:3:{i:0;C:1:"X":2:{ab}i:1;O:1:"A":0:{}i:2;r:3;}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let error = read(br#"a:2:{i:0;C:8:"SplQueue":8:{i:4;:N;}i:1;R:3;}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    let error = read(br#"a:2:{i:0;C:8:"SplQueue":7:{i:4;:N;}i:1;R:3;}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn deep_payloads_need_no_deep_stack() {
    on_a_small_stack(|| {
        for (class, front, back) in [
            ("SplQueue", "i:4;:", ""),
            ("ArrayObject", "x:i:0;", ";m:a:0:{}"),
            ("SplObjectStorage", "x:i:1;", ";m:a:0:{}"),
        ] {
            let mut blob = format!("C:{}:\"{class}\":0:{{}}", class.len());
            let (mut fronts, mut backs) = (Vec::new(), String::new());
            let mut len = blob.len();
            for _ in 0..20_000 {
                let inner = front.len() + len + back.len();
                fronts.push(format!("C:{}:\"{class}\":{inner}:{{{front}", class.len()));
                backs += back;
                backs.push('}');
                len = fronts.last().unwrap().len() + len + back.len() + 1;
            }
            fronts.reverse();
            blob = fronts.concat() + &blob + &backs;
            let error = php::read(blob.as_bytes(), &php::ReadOptions::default(), &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            let mut limits = Limits::default();
            limits.depth = u32::MAX - 100;
            let outcome = php::ReadOptions::default().read(blob.as_bytes(), Request::new(&limits).detailed());
            assert_eq!(outcome.error, None);
            let mut out = Vec::new();
            assert!(
                php::write(&outcome.document, &php::WriteOptions::default(), &limits, &mut out).unwrap().is_empty()
            );
            assert!(out == blob.as_bytes());
        }
    });
}

/// The payload of a program's class is read if it begins like frozen data.
#[test]
fn option_payloads_reads_payloads_with_serialized_values() {
    let read = |text: &str| {
        let stage = Stage::parse("php:payloads").unwrap();
        icecore::read_as(text.as_bytes(), &stage, &Limits::default()).map(|document| {
            let typed = icecore::write(&document, "json:typed").unwrap();
            String::from_utf8(typed).unwrap()
        })
    };
    let frozen = |payload: &str| format!("C:3:\"Bag\":{}:{{{payload}}}", payload.len());
    for (payload, expected) in [
        ("hello", r#"{"$opaque":"C","$class":"Bag","$payload":"hello"}"#),
        ("", r#"{"$opaque":"C","$class":"Bag","$payload":""}"#),
        ("i:7;", r#"{"$opaque":"C","$class":"Bag","$payload":7}"#),
    ] {
        let found = read(&frozen(payload)).unwrap();
        assert!(found.contains(expected), "{payload}: {found}");
    }
    // Payloads as such classes write them: several values, with the marks and separators of PHP's
    // own classes.
    for payload in [
        "O:4:\"Item\":0:{}i:1;",
        "x:i:0;a:1:{i:0;O:4:\"Item\":0:{}};m:a:0:{}",
        "i:4;:i:1;:O:4:\"Item\":0:{}",
        "E:6:\"Item:A\";",
    ] {
        let document = Stage::parse("php:payloads").unwrap();
        let text = frozen(payload);
        let document = icecore::read_as(text.as_bytes(), &document, &Limits::default()).unwrap();
        let classes = document.classes().iter().filter(|class| class.name == b"Item" || class.name == b"Bag").count();
        assert_eq!(classes, 2, "{payload}");
    }
    // Link numbers count the values of a payload that is read, and nothing in one that is not read.
    let found = read(&format!("a:3:{{i:0;{}i:1;i:7;i:2;R:5;}}", frozen("a:1:{i:0;i:5;}"))).unwrap();
    assert!(found.ends_with(r#"{"$id":1,"$value":7},{"$alias":1}]}"#), "{found}");
    let found = read(&format!("a:3:{{i:0;{}i:1;i:7;i:2;R:3;}}", frozen("hello"))).unwrap();
    assert!(found.ends_with(r#"{"$id":1,"$value":7},{"$alias":1}]}"#), "{found}");
    for payload in ["a:1:{i:0;O:4:\"Item\":0:{}", "O:4:\"Item\":1:{}", "i:1;x", "s:999:\"", "E:0:\"\";", "R:9;"] {
        let error = read(&frozen(payload)).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated | ErrorKind::BadLink),
            "{payload}: {error}"
        );
    }
}
