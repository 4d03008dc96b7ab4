//! Frozen data inside strings of frozen data.

use crate::fixtures;

use icecore::{Builder, Document, ErrorKind, Kind, Limits, deep};
use serde_json::Value;

fn open<'a>(input: &'a [u8]) -> deep::Deep<'a> {
    deep::open(icecore::read(input).unwrap(), &Limits::default()).unwrap()
}

fn json(document: &Document<'_>) -> Value {
    serde_json::from_slice(&icecore::write(document, "json").unwrap()).unwrap()
}

/// Returns what PHP's serialize writes for a string.
fn php(text: &str) -> String {
    format!("s:{}:\"{text}\";", text.len())
}

#[test]
fn strings_are_opened_where_php_opens_them() {
    let all = fixtures::load("deep.jsonl");
    let mut failures = Vec::new();
    for fixture in &all {
        let ours = json(&open(&fixture.blob).document);
        if ours != fixture.line["json"] {
            failures.push(format!("{}:\n  ours {ours}\n  php  {}", fixture.name, fixture.line["json"]));
        }
    }
    fixtures::report("strings", all.len(), &failures);
}

/// The opened document is like any other: it can be written as typed JSON and read back.
#[test]
fn the_opened_document_is_well_formed() {
    let typed = icecore::Stage::parse("json:typed").unwrap();
    for fixture in fixtures::load("deep.jsonl") {
        let deep = open(&fixture.blob);
        let text = icecore::write(&deep.document, "json:typed").unwrap();
        let reread = icecore::read_as(&text, &typed, &Limits::default()).unwrap();
        assert_eq!(reread, deep.document, "{}", fixture.name);
        for format in icecore::format::all() {
            if let Ok(bytes) = icecore::write(&deep.document, format.name) {
                icecore::read_as(&bytes, &icecore::Stage::of(format), &Limits::default())
                    .unwrap_or_else(|error| panic!("{} as {}: {error}", fixture.name, format.name));
            }
        }
    }
}

#[test]
fn opened_strings_are_listed() {
    let inner = r#"a:1:{s:1:"j";s:7:"{"k":1}";}"#;
    let text = format!("a:2:{{i:0;s:1:\"x\";s:1:\"p\";{}}}", php(inner));
    let deep = open(text.as_bytes());
    let listed: Vec<_> = deep
        .opened
        .iter()
        .map(|opened| (deep.document.path(opened.node), opened.name(), opened.level, opened.offset, opened.len))
        .collect();
    let offset_of = |part: &str| text.find(part).map(|offset_of| offset_of as u64);
    assert_eq!(
        listed,
        [
            ("$.p".to_owned(), "php".to_owned(), 0, offset_of(inner), inner.len() as u64),
            ("$.p.j".to_owned(), "json".to_owned(), 1, offset_of("{\"k\""), 7),
        ]
    );
    // Bytes of the input are borrowed from it.
    let key = deep.document.find("$.p.j.k").unwrap();
    assert_eq!(key.as_i64(), Some(1));
    assert!(deep.document.tape().arena().is_empty());
}

#[test]
fn a_document_without_frozen_strings_is_unchanged() {
    let input = br#"a:1:{s:1:"a";s:4:"text";}"#;
    let limits = Limits::default();
    let stage = icecore::detect::stage_of(input).unwrap();
    let read = |detail| {
        let request = icecore::Request::new(&limits);
        icecore::read_with(input, &stage, if detail { request.detailed() } else { request }).unwrap()
    };
    let deep = deep::open(read(true), &limits).unwrap();
    assert!(deep.opened.is_empty() && deep.document.spelling().is_some());
    assert_eq!(deep.document, read(false));
}

#[test]
fn wrapped_strings_are_opened() {
    let mut builder = Builder::new();
    builder.begin_array();
    builder.bytes(r#"1735689600a:1:{s:1:"a";i:1;}"#);
    builder.bytes(r#"a:1:{s:1:\"a\";s:6:\"i:7;\\\"\";}"#);
    builder.bytes(b"\x04\x08[\x07i\x06I\"\x06x\x06:\x06ET");
    builder.end();
    let deep = deep::open(builder.finish().unwrap(), &Limits::default()).unwrap();
    let names: Vec<_> = deep.opened.iter().map(deep::OpenedString::name).collect();
    assert_eq!(names, ["laravel-cache/php", "slashes/php", "marshal"]);
    assert_eq!(json(&deep.document), serde_json::json!([{"a": 1}, {"a": "i:7;\\\""}, [1, "x"]]));
    assert!(deep.opened.iter().all(|opened| opened.offset.is_none()), "they are in the arena");
}

#[test]
fn a_string_with_bytes_after_its_value_is_not_opened() {
    // PHP itself ignores trailing bytes up to version 8.2.
    let text = format!("a:1:{{i:0;{}}}", php("a:1:{i:0;i:1;}x"));
    assert!(open(text.as_bytes()).opened.is_empty());
}

#[test]
fn links_in_opened_strings_keep_their_targets() {
    // In the string: an object in an array, and a link to it. Outside: other objects before and after.
    let inner = r#"a:2:{i:0;O:1:"A":1:{s:4:"self";r:2;}i:1;r:2;}"#;
    let text = format!(r#"a:3:{{i:0;O:1:"B":0:{{}}i:1;{}i:2;r:2;}}"#, php(inner));
    let deep = open(text.as_bytes());
    let part = deep.document.find("$[1][0]").unwrap();
    let link = deep.document.find("$[1][1]").unwrap();
    assert_eq!((link.kind(), link.target().index()), (Kind::Link, part.index()));
    let own = part.get("self").unwrap();
    assert_eq!((own.kind(), own.target().index()), (Kind::Link, part.index()));
    let outer = deep.document.find("$[2]").unwrap();
    assert_eq!(outer.target().class(), b"B");
    let error = icecore::write(&deep.document, "json").unwrap_err();
    assert_eq!(error.path(), Some("$[1][0].self"), "{error}");
}

#[test]
fn a_link_to_an_opened_string_refers_to_its_content() {
    let text = r#"a:2:{i:0;s:14:"a:1:{i:0;i:1;}";i:1;R:2;}"#;
    let deep = open(text.as_bytes());
    let link = deep.document.find("$[1]").unwrap();
    assert_eq!(link.kind(), Kind::Alias);
    assert_eq!((link.target().kind(), link.target().len()), (Kind::Array, 1));
    let php = icecore::write(&deep.document, "php").unwrap();
    assert_eq!(php, br#"a:2:{i:0;a:1:{i:0;i:1;}i:1;R:2;}"#);
}

#[test]
fn classes_keys_and_encodings_are_merged() {
    // {"k" => "a" in Shift_JIS, o: Pair} in a string of another dump, which has other names.
    let inner =
        b"\x04\x08{\x07I\"\x06k\x06:\x06ETI\"\x06a\x06:\x0dencoding\"\x0eShift_JIS:\x06oo:\x09Pair\x06:\x0b@right0";
    let mut outer =
        b"\x04\x08{\x08:\x06oo:\x0aOther\x06:\x0a@leftI\"\x06a\x06:\x0dencoding\"\x0bEUC-JP:\x06s\"".to_vec();
    outer.push(inner.len() as u8 + 5);
    outer.extend_from_slice(inner);
    outer.extend_from_slice(b":\x06zi\x06");
    let deep = open(&outer);
    let typed = String::from_utf8(icecore::write(&deep.document, "json:typed").unwrap()).unwrap();
    assert!(typed.contains(r#""$encoding":"Shift_JIS""#) && typed.contains(r#""$encoding":"EUC-JP""#), "{typed}");
    assert_eq!(deep.document.find("$.s.o").unwrap().class(), b"Pair");
    assert_eq!(deep.document.find("$.o").unwrap().class(), b"Other");
}

#[test]
fn frozen_data_in_payloads_is_opened() {
    use icecore::{Stage, value::Form};
    let mut builder = Builder::new();
    builder.begin_array();
    for form in [Form::Serializable, Form::UserDump, Form::Hook, Form::Freeze] {
        builder.begin_opaque("A", form);
        builder.bytes("a:1:{i:0;i:1;}").end();
    }
    builder.begin_attributes();
    builder.text("[1]").symbol_key("@a", "").text("{}");
    builder.end();
    builder.end();
    let deep = deep::open(builder.finish().unwrap(), &Limits::default()).unwrap();
    let paths: Vec<_> = deep.opened.iter().map(|opened| deep.document.path(opened.node)).collect();
    assert_eq!(paths, ["$[0]#0", "$[1]#0", "$[4]#0", "$[4]#1"]);
    for format in icecore::format::all() {
        let Ok(bytes) = icecore::write(&deep.document, format.name) else { continue };
        let read = icecore::read_as(&bytes, &Stage::of(format), &Limits::default());
        assert!(read.is_ok(), "{}: {read:?}", format.name);
    }
}

#[test]
fn strings_of_regexps_and_code_are_not_opened() {
    let inner = r#"a:1:{s:1:"a";i:1;}"#;
    let mut builder = Builder::new();
    builder.begin_array();
    builder.regexp(inner, "");
    builder.begin_code();
    builder.bytes(inner).end();
    builder.begin_map();
    builder.key().begin_array();
    builder.bytes(inner).end();
    builder.bytes(inner);
    builder.end();
    builder.end();
    let document = builder.finish().unwrap();
    let deep = deep::open(document, &Limits::default()).unwrap();
    assert_eq!(deep.opened.len(), 1);
    assert_eq!(deep.document.path(deep.opened[0].node), "$[2]{0}");
}

/// Wraps `i:1;` this many times.
fn nest(levels: usize, wrap: fn(&str) -> String) -> String {
    let mut text = "i:1;".to_owned();
    for _ in 0..levels {
        text = wrap(&text);
    }
    text
}

#[test]
fn levels_of_strings_are_limited() {
    for wrap in [php as fn(&str) -> String, |text| format!("a:1:{{i:0;{}}}", php(text))] {
        let text = nest(deep::LEVELS as usize, wrap);
        assert_eq!(open(text.as_bytes()).opened.len(), deep::LEVELS as usize);
        let text = nest(deep::LEVELS as usize + 1, wrap);
        let error = deep::open(icecore::read(text.as_bytes()).unwrap(), &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(error.path().is_some() && error.to_string().contains("levels of strings"), "{error}");
    }
    // Very many levels, on a small stack.
    std::thread::Builder::new()
        .stack_size(128 << 10)
        .spawn(|| {
            let text = nest(5000, php);
            let error = deep::open(icecore::read(text.as_bytes()).unwrap(), &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn depth_limit_counts_levels_inside_strings() {
    let list = |depth: usize| "a:1:{i:0;".repeat(depth) + "i:1;" + &"}".repeat(depth);
    let text = format!("a:1:{{i:0;a:1:{{s:1:\"k\";{}}}}}", php(&list(8)));
    let read = || icecore::read(text.as_bytes()).unwrap();
    let mut limits = Limits::default();
    limits.depth = 10;
    assert!(deep::open(read(), &limits).is_ok());
    limits.depth = 9;
    let error = deep::open(read(), &limits).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Limit, Some("$[0].k[0][0][0][0][0][0][0]")), "{error}");
}

#[test]
fn opened_bytes_are_limited() {
    let text = nest(3, php);
    let mut limits = Limits::default();
    limits.expansion = 0;
    assert!(deep::open(icecore::read(text.as_bytes()).unwrap(), &limits).is_ok(), "a little is always allowed");
    let large = php(&php(&"x".repeat(900_000)));
    let error = deep::open(icecore::read(php(&large).as_bytes()).unwrap(), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("expansion"), "{error}");
    assert_eq!(open(php(&large).as_bytes()).opened.len(), 2);
}

#[test]
fn opened_nodes_are_limited() {
    let inner = format!("a:100:{{{}}}", (0..100).map(|i| format!("i:{i};N;")).collect::<String>());
    let text = format!("a:1:{{i:0;{}}}", php(&inner));
    let mut limits = Limits::default();
    limits.nodes = 50;
    let error = deep::open(icecore::read(text.as_bytes()).unwrap(), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn damaged_strings_do_not_panic() {
    let blobs: Vec<_> = ["php.jsonl", "marshal.jsonl", "storable.jsonl", "sereal.jsonl", "igbinary.jsonl"]
        .iter()
        .flat_map(|file| fixtures::load(file).into_iter().step_by(7).map(|fixture| fixture.blob))
        .collect();
    let mut same = 0;
    for blob in &blobs {
        for end in [blob.len(), blob.len() / 2, blob.len().saturating_sub(1)] {
            let mut builder = Builder::new();
            builder.begin_map();
            builder.bytes_key("before").bytes("x");
            builder.bytes_key("blob").bytes(&blob[..end]);
            builder.bytes_key("behind").bytes(&blob[..end]);
            builder.end();
            let mut limits = Limits::default();
            limits.nodes = 100_000;
            let Ok(deep) = deep::open(builder.finish().unwrap(), &limits) else { continue };
            assert_eq!(deep.document.root().len(), 3);
            // The string alone opens as the document that it contains.
            let Some(stage) = deep::stage_of(&blob[..end], &limits) else { continue };
            let mut builder = Builder::new();
            builder.bytes(&blob[..end]);
            let alone = deep::open(builder.finish().unwrap(), &limits).unwrap();
            let own = icecore::read_as(&blob[..end], &stage, &limits).unwrap();
            if alone.opened.len() == 1 && own.header().is_none() {
                assert_eq!(alone.document, own);
                same += 1;
            }
        }
    }
    assert!(same > 200, "only {same}");
}
