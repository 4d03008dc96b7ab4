//! `json:typed` represents the full meaning of a document.

use crate::common;

use crate::common::{Palette, has_kind, on_a_small_stack};
use std::collections::HashSet;

use icecore::{Document, ErrorKind, Kind, Limits, Request, Stage, format::json, raw::Outcome};

const KINDS: &[Kind] = &[
    Kind::Null,
    Kind::Bool,
    Kind::Int,
    Kind::Uint,
    Kind::BigInt,
    Kind::Float,
    Kind::Float32,
    Kind::Float128,
    Kind::Bytes,
    Kind::Text,
    Kind::Encoded,
    Kind::Symbol,
    Kind::Module,
    Kind::EnumCase,
    Kind::Hole,
    Kind::Link,
    Kind::Alias,
    Kind::Array,
    Kind::Map,
    Kind::Ref,
    Kind::Object,
    Kind::Opaque,
    Kind::Attrs,
    Kind::Regexp,
    Kind::Code,
    Kind::VString,
    Kind::Tied,
];

fn write_typed_json(document: &Document<'_>, options: &str) -> String {
    let stage = Stage::parse(&format!("json:typed{options}")).unwrap();
    let (mut limits, mut out) = (Limits::default(), Vec::new());
    // Indented text grows with the square of the depth.
    limits.growth = u64::MAX;
    icecore::write_to(document, &stage, &limits, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn read_typed(text: &str) -> Document<'_> {
    let stage = Stage::parse("json:typed").unwrap();
    match icecore::read_as(text.as_bytes(), &stage, &Limits::default()) {
        Ok(document) => document,
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[test]
fn every_document_round_trips() {
    let mut seen: HashSet<&Kind> = HashSet::new();
    for seed in 0..6000 {
        let document = common::document(seed, Palette::All);
        seen.extend(KINDS.iter().filter(|kind| has_kind(&document, **kind)));
        let text = write_typed_json(&document, "");
        let reread = read_typed(&text);
        assert!(document == reread, "seed {seed}\n{document:?}\n{text}\n{reread:?}");
        assert_eq!(write_typed_json(&reread, ""), text, "seed {seed}");
        if seed % 4 == 0 {
            for options in [",indent=2", ",ascii", ",indent=1,ascii"] {
                let text = write_typed_json(&document, options);
                assert!(document == read_typed(&text), "seed {seed}{options}\n{text}");
                assert!(text.is_ascii() || !options.contains("ascii"));
            }
        }
    }
    let missing: Vec<_> = KINDS.iter().filter(|kind| !seen.contains(kind)).collect();
    assert!(missing.is_empty(), "the documents had no {missing:?}");
}

/// The forms that `docs/json-typed.md` lists, as the writer writes them.
const FORMS: &[&str] = &[
    r#"[null,true,false,12,-1,18446744073709551616,1.0,-0.0,1e100,"abc"]"#,
    r#"[{"$float":"inf"},{"$float":"-inf"},{"$float":"nan"},{"$float":"nan:fff8000000000000"}]"#,
    r#"{"$float128":"3fff8000000000000000000000000001"}"#,
    r#"["a","b","c","d",{"$bytes":"abc"},{"$bytes":""},{"$latin1":"café"},{"$base64":"gIGCgw=="}]"#,
    r#"{"$icecore":1,"$strings":"bytes","$value":["abc",{"$text":"abc"},"caf\u0000é",{"$latin1":"é"},"x"]}"#,
    r#"[{"$text":{"$latin1":"éx"}}]"#,
    r#"[{"$string":"abc","$encoding":"Shift_JIS"},{"$string":{"$latin1":"é"},"$encoding":null}]"#,
    r#"[{"$symbol":"abc"},{"$symbol":{"$latin1":"é"},"$encoding":"EUC-JP"}]"#,
    r#"["a",{"$hole":1}]"#,
    r#"{"a":1,"$$class":2,"$$$":3,"$b:x":4,"$l:é":5,"":6}"#,
    r#"{"$icecore":1,"$strings":"bytes","$value":{"a":"b","$$a":1,"$t:a":2,"$l:é":{}}}"#,
    r#"{"$map":[["a",1],["a",2],[3,4],[[],5],[{"$symbol":"s"},6]]}"#,
    r#"{"$map":[["a",1],["b",2]],"$restricted":true,"$locked":[1],"$placeholders":["c","d"]}"#,
    r#"{"$map":[["a"],["b",2]],"$restricted":true}"#,
    r#"{"$map":[],"$identity":true,"$default":[1]}"#,
    r#"[{"$ref":1},{"$ref":{"$ref":null}}]"#,
    r#"[{"$id":1,"$value":[]},{"$weak":{"$link":1}}]"#,
    r#"{"$id":1,"$value":{"self":{"$weak":{"$link":1}}}}"#,
    r#"[{"$id":1,"$value":"x"},{"$alias":1},{"$ref":{"$alias":1}}]"#,
    r#"[{"$link":1},{"$id":1,"$value":{"$overload":{"$class":"A","$value":{}}}}]"#,
    r#"{"$map":[[{"$id":1,"$value":"k"},{"$link":1}]]}"#,
    r#"[{"$class":"Employee","$value":{"name":"Alice"}},{"$class":{"$bytes":"A"},"$form":"struct","$value":1}]"#,
    r#"[{"$class":"A","$value":"x"},{"$class":"A","$form":"usual","$value":1},{"$class":"A","$value":{"$ref":1}}]"#,
    r#"{"$opaque":"hook","$class":"A","$payload":"frozen","$links":[[],{}]}"#,
    r#"[{"$opaque":"freeze","$class":"A","$payload":[1]},{"$opaque":"C","$class":"B","$payload":""}]"#,
    r#"[{"$opaque":"u","$class":"A","$payload":1},{"$opaque":"U","$class":"A","$payload":2}]"#,
    r#"[{"$opaque":"d","$class":"A","$payload":1},{"$opaque":"hook","$class":"A"}]"#,
    r#"[{"$regexp":"a.c","$flags":"ix"},{"$regexp":"","$flags":"","$bare":true}]"#,
    r#"[{"$code":"sub { 1 }"},{"$vstring":"v1.2","$value":"\u0001\u0002"}]"#,
    r#"[{"$tied":"scalar","$value":null},{"$tied":"array","$value":1},{"$tied":"hash","$value":{}}]"#,
    r#"{"$tied":"element","$value":[],"$key":3}"#,
    r#"[{"$enum":"Suit:Hearts"},{"$module":"A","$form":"class"},{"$module":"B","$form":"module"}]"#,
    r#"{"$attributes":{"a":1},"$value":"x"}"#,
    r#"{"$attributes":{"$map":[[{"$symbol":"@a"},1]]},"$value":"x"}"#,
    r#"{"$class":"A","$attributes":{},"$value":"x"}"#,
    r#"[{"$extended":"M","$value":[]},{"$subclass":"L","$attributes":{"a":1},"$value":[]}]"#,
    r#"{"$icecore":1,"$strings":"text","$header":[1],"$value":[]}"#,
];

#[test]
fn every_documented_form_is_read_and_written() {
    for text in FORMS {
        // Text with typed forms needs a frame, unless it has one already.
        let is_plain = !text.contains("\"$");
        let json = if is_plain || text.starts_with("{\"$icecore\"") {
            (*text).to_owned()
        } else {
            format!(r#"{{"$icecore":1,"$strings":"text","$value":{text}}}"#)
        };
        assert_eq!(write_typed_json(&read_typed(text), ""), json);
    }
}

#[test]
fn equivalent_forms_are_read_as_equal() {
    for (one, other) in [
        (r#"{"$icecore":1,"$value":[1]}"#, "[1]"),
        (r#"{"$value":["a"],"$strings":"bytes","$icecore":1}"#, r#"[{"$bytes":"a"}]"#),
        (r#"{"$value":1,"$class":"A"}"#, r#"{"$class":"A","$value":1}"#),
        (r#"{"$base64":"YWJj"}"#, r#"{"$bytes":"abc"}"#),
        (r#"{"$latin1":"abc"}"#, r#"{"$bytes":"abc"}"#),
        (r#"{"$text":"abc"}"#, r#""abc""#),
        (r#"{"$t:a":1}"#, r#"{"a":1}"#),
        (r#"{"$map":[["a",1]]}"#, r#"{"a":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"$map":[["a",1],["a",2]]}"#),
        (r#"{"$weak":{"$id":7,"$value":[{"$link":7}]}}"#, r#"{"$id":1,"$value":{"$weak":[{"$link":1}]}}"#),
        (r#"[{"$link":9},{"$id":9,"$value":[]}]"#, r#"[{"$id":1,"$value":[]},{"$link":1}]"#),
        (r#"{"$map":[["a",1]],"$restricted":false}"#, r#"{"a":1}"#),
        (r#"{"$map":[["b"]],"$restricted":true}"#, r#"{"$map":[],"$restricted":true,"$placeholders":["b"]}"#),
        (r#"{"$float":1.5}"#, "1.5"),
    ] {
        assert!(read_typed(one) == read_typed(other), "{one} and {other}");
    }
}

#[test]
fn forms_with_different_meanings_are_not_equal() {
    for (one, other) in [
        ("1", "1.0"),
        ("0.0", "-0.0"),
        (r#""a""#, r#"{"$bytes":"a"}"#),
        (r#"[{"$id":1,"$value":[]},{"$link":1}]"#, "[[],[]]"),
        (r#"[{"$id":1,"$value":[]},{"$link":1}]"#, r#"[{"$id":1,"$value":[]},{"$alias":1}]"#),
        (r#"{"$ref":1}"#, "1"),
        (r#"{"$weak":[]}"#, "[]"),
        (r#"[null]"#, r#"[{"$hole":1}]"#),
        (r#"{"$symbol":"a"}"#, r#"{"$symbol":"a","$encoding":"EUC-JP"}"#),
        (r#"{"$class":"A","$value":[]}"#, r#"{"$class":"B","$value":[]}"#),
    ] {
        assert!(read_typed(one) != read_typed(other), "{one} and {other}");
    }
}

#[test]
fn errors_name_the_key_and_the_path() {
    let stage = Stage::parse("json:typed").unwrap();
    for (text, message) in [
        (
            r#"{"a":{"$clas":"A"}}"#,
            "malformed input (json) at offset 14 at $.a: expected a $ key of json:typed, version 1, found `$clas` (a plain key that starts with $ is written with $$)",
        ),
        (
            r#"{"a":{"$class":"A"}}"#,
            "malformed input (json) at offset 5 at $.a: expected `$value` next to `$class`, found none",
        ),
        (
            r#"[{"$ref":1,"$value":2}]"#,
            "malformed input (json) at offset 20 at $[0]: expected no `$value` next to `$ref`, found one",
        ),
        (
            r#"[{"$ref":1,"x":2}]"#,
            "malformed input (json) at offset 15 at $[0]: expected only $ keys next to a $ key, found the key `x` (a plain key that starts with $ is written with $$)",
        ),
        (
            r#"{"x":1,"$ref":2}"#,
            "malformed input (json) at offset 14 at ${1}: expected only plain keys next to a plain key, found `$ref` (a plain key that starts with $ is written with $$)",
        ),
        (
            r#"[{"$value":1}]"#,
            "malformed input (json) at offset 1 at $[0]: expected a form of json:typed, found `$value` alone",
        ),
        (
            r#"[{"$link":3}]"#,
            "bad link (json) at offset 10 at $[0]: expected the number of an $id, found 3, which no value has",
        ),
        (
            r#"[{"$link":"x"}]"#,
            "malformed input (json) at offset 10 at $[0]: expected the number of an $id, found \"x\"",
        ),
        (
            r#"[{"$id":1,"$value":1},{"$id":1,"$value":2}]"#,
            "malformed input (json) at offset 22 at $[1]: expected a number of its own for each $id, found 1 again",
        ),
        (
            r#"[{"$id":1,"$value":{"$alias":1}}]"#,
            "bad link (json) at offset 29 at $[0]: expected a link to a value, found one that only leads to other links",
        ),
        (
            r#"{"$icecore":2,"$value":1}"#,
            "not supported (json) at offset 12 at $: expected version 1 of json:typed, found version 2",
        ),
        (
            r#"{"$icecore":1,"$strings":"latin1","$value":1}"#,
            "malformed input (json) at offset 25 at $: expected \"text\" or \"bytes\" for $strings, found \"latin1\"",
        ),
        (
            r#"{"$icecore":1}"#,
            "malformed input (json) at offset 0 at $: expected `$value` next to `$icecore`, found none",
        ),
        (
            r#"{"$latin1":"€"}"#,
            "malformed input (json) at offset 11 at $: expected characters up to U+00FF for $latin1, found \"€\"",
        ),
        (
            r#"{"$base64":"YQ="}"#,
            "malformed input (json) at offset 11 at $: expected Base64 with its padding, found something else from character 3 on",
        ),
        (
            r#"{"$float128":"12"}"#,
            "malformed input (json) at offset 13 at $: expected 32 hex digits for $float128, found \"12\"",
        ),
        (
            r#"{"$map":[["a",1,2]]}"#,
            "malformed input (json) at offset 9 at ${0}: expected a pair, or only a key, in $map, found an array of 3",
        ),
        (
            r#"{"$map":[["a",1]],"$locked":[1]}"#,
            "malformed input (json) at offset 29 at $: expected the position of a pair of $map, from 0, found the number 1",
        ),
        (
            r#"{"$opaque":"x","$class":"A"}"#,
            "malformed input (json) at offset 11 at $: expected the word for a form, as docs/json-typed.md lists them, found \"x\"",
        ),
        (
            r#"{"$icecore":1,"$value":[1,}"#,
            "malformed input (json) at offset 26 at $[\"$value\"][1]: expected a JSON value, found `}` (is there a bracket of the wrong kind, or an extra comma? The option `relaxed` accepts such a comma)",
        ),
    ] {
        let error = icecore::read_as(text.as_bytes(), &stage, &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn typed_json_is_detected_by_its_first_key() {
    let text = br#" { "$icecore": 1, "$value": {"$ref": 1} }"#;
    let document = icecore::read(text).unwrap();
    assert_eq!(document.root().kind(), Kind::Ref);
    let plain = Stage::parse("json:typed=no").unwrap();
    let document = icecore::read_as(text, &plain, &Limits::default()).unwrap();
    assert_eq!(document.root().kind(), Kind::Map);
    let document = icecore::read(br#"{"$ref":1}"#).unwrap();
    assert_eq!(document.root().kind(), Kind::Map);
}

#[test]
fn spelling_is_read_and_written() {
    let text = concat!(
        r#"{"$icecore":1,"$strings":"text","$spelling":{"format":"json","header":[[1,2],[3,18446744073709551615]],"#,
        r#""notes":[[0,1,2],[1,1,5],[1,2,0]],"bytes":"MS4xMDAx"},"$value":[1.1]}"#
    );
    let document = read_typed(text);
    let spelling = document.spelling().expect("a spelling");
    assert_eq!((spelling.format.as_str(), spelling.notes.len()), ("json", 3));
    assert_eq!(write_typed_json(&document, ",spelling"), text);
    assert_eq!(write_typed_json(&document, ""), "[1.1]");
}

#[test]
fn spelling_keeps_the_digits_of_numbers() {
    let text = br#"{"a":1.10,"b":[1E5,-0,2],"c":0.1000000000000000055511151231257827}"#;
    let stage = Stage::parse("json").unwrap();
    let document = icecore::read_with(text, &stage, Request::new(&Limits::default()).detailed()).unwrap();
    let with_spelling = write_typed_json(&document, ",spelling");
    let reread = read_typed(&with_spelling);
    assert_eq!(icecore::write(&reread, "json").unwrap(), text);
    // A different value in the same place keeps nothing of the old text.
    let edited = with_spelling.replace("{\"a\":1.1,", "{\"a\":1.25,");
    assert_eq!(
        icecore::write(&read_typed(&edited), "json").unwrap(),
        String::from_utf8_lossy(text).replace("1.10", "1.25").as_bytes()
    );
}

#[test]
fn both_readers_agree_on_damaged_text() {
    fn read(text: &[u8], detail: bool) -> Outcome<'_> {
        let (stage, limits) = (Stage::parse("json:typed").unwrap(), Limits::default());
        let mut request = Request::new(&limits);
        request.detail = detail;
        json::FORMAT.read(text, stage.settings(), request)
    }
    let check = |text: &[u8]| {
        let (fast, slow) = (read(text, false), read(text, true));
        assert_eq!(fast.error, slow.error, "{}", String::from_utf8_lossy(text));
        assert!(fast.document == slow.document, "{}", String::from_utf8_lossy(text));
        // A part of a document can be written as well.
        icecore::write(&fast.document, "json:typed").unwrap();
        let _ = icecore::write(&fast.document, "json");
    };
    for text in FORMS.iter().map(|text| text.as_bytes()) {
        for end in 0..text.len() {
            check(&text[..end]);
        }
        for offset in 0..text.len() {
            for byte in *b"\"{}[],:$0a\\ 9\xff" {
                let mut changed = text.to_vec();
                changed[offset] = byte;
                check(&changed);
            }
        }
    }
}

#[test]
fn deep_values_of_every_kind_need_no_deep_stack() {
    let levels = crate::common::levels();
    let limits = {
        let mut limits = Limits::default();
        limits.depth = levels as u32 + 10;
        limits
    };
    let stage = Stage::parse("json:typed").unwrap();
    for (open, inner, close) in [
        (r#"{"$ref":"#, "1", "}"),
        (r#"{"$class":"A","$value":"#, "{}", "}"),
        (r#"{"$map":[["a","#, "[]", "]]}"),
        (r#"{"$attributes":{},"$value":"#, "1", "}"),
        (r#"{"$weak":{"$overload":["#, "1", "]}}"),
        (r#"{"$opaque":"hook","$class":"A","$payload":1,"$links":["#, "1", "]}"),
    ] {
        let text = [open.repeat(levels), inner.to_owned(), close.repeat(levels)].concat();
        on_a_small_stack(|| {
            let read = json::FORMAT.read(text.as_bytes(), stage.settings(), Request::new(&limits));
            assert!(read.error.is_none(), "{open}: {}", read.error.unwrap());
            let mut out = Vec::new();
            icecore::write_to(&read.document, &stage, &limits, &mut out).unwrap();
            let reread = json::FORMAT.read(&out, stage.settings(), Request::new(&limits));
            assert!(reread.document == read.document);
            let plain = Stage::parse("json").unwrap();
            icecore::write_to(&read.document, &plain, &limits, &mut Vec::new()).unwrap();
        });
    }
}

#[test]
fn nested_forms_of_a_string_need_no_deep_stack() {
    let limits = {
        let mut limits = Limits::default();
        limits.depth = 200_000;
        limits
    };
    let stage = Stage::parse("json:typed").unwrap();
    for (open, close) in [
        (r#"{"$text":"#, "}"),
        (r#"{"$bytes":"#, "}"),
        (r#"{"$string":"#, r#","$encoding":null}"#),
        (r#"{"$symbol":"#, "}"),
        (r#"{"$class":"#, r#","$value":1}"#),
        (r#"{"$map":[[{"$id":1,"$value":"#, "},1]]}"),
        (r#"{"$weak":"#, "}"),
        (r#"{"$id":1,"$value":"#, "}"),
    ] {
        let text = [open.repeat(200_000), r#""a""#.to_owned(), close.repeat(200_000)].concat();
        on_a_small_stack(|| {
            let read = json::FORMAT.read(text.as_bytes(), stage.settings(), Request::new(&limits));
            assert_eq!(read.error.map(|error| error.kind()), Some(ErrorKind::Malformed), "{open}");
        });
    }
}

#[test]
fn depth_limit_counts_levels_of_the_document() {
    let deep = |levels: usize| {
        let text = [r#"{"$weak":{"$class":"A","$value":"#.repeat(levels), "1".into(), "}}".repeat(levels)].concat();
        let stage = Stage::parse("json:typed").unwrap();
        let mut limits = Limits::default();
        limits.depth = 100;
        icecore::read_as(text.as_bytes(), &stage, &limits).map(|_| ()).map_err(|error| error.kind())
    };
    assert_eq!(deep(100), Ok(()));
    assert_eq!(deep(101), Err(ErrorKind::Limit));
}

#[test]
fn expected_documents_of_fixtures_round_trip() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/expected.jsonl");
    let lines = std::fs::read_to_string(path).expect("fixtures/expected.jsonl");
    let mut count = 0;
    for line in lines.lines() {
        let start = line.find(r#","typed":"#).expect("a typed document") + r#","typed":"#.len();
        let text = &line[start..line.len() - 1];
        let document = read_typed(text);
        let rewritten = write_typed_json(&document, "");
        assert!(read_typed(&rewritten) == document, "{text}\n{rewritten}");
        assert!(read_typed(&write_typed_json(&document, ",indent=2")) == document);
        count += 1;
    }
    assert!(count > 300, "only {count}");
}
