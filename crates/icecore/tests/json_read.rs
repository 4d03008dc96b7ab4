//! Which texts are JSON, and that both ways of reading agree on them.

use crate::common;

use crate::common::{Palette, Random, on_a_small_stack};
use icecore::{
    Document, Error, ErrorKind, Limits, Request, Stage, Value,
    format::{Settings, json},
    raw::Outcome,
};

fn outcome<'a>(input: &'a [u8], limits: &Limits, detail: bool) -> Outcome<'a> {
    let mut request = Request::new(limits);
    request.detail = detail;
    json::FORMAT.read(input, &Settings::new(), request)
}

/// Reads with the fast and with the slow reader. Checks that they agree, and that the spans of the
/// slow one cover all that was read.
fn read_both_ways(input: &[u8]) -> Result<Document<'_>, Error> {
    let limits = Limits::default();
    let (fast, slow) = (outcome(input, &limits, false), outcome(input, &limits, true));
    let text = String::from_utf8_lossy(input);
    assert_eq!(fast.error, slow.error, "{text}");
    assert_eq!(fast.consumed, slow.consumed, "{text}");
    assert!(fast.document == slow.document, "{text}\n{:?}\n{:?}", fast.document, slow.document);
    let trace = slow.document.trace().expect("a trace");
    let mut end = 0;
    for span in &trace.spans {
        assert_eq!(span.start, end, "{text}: {:?}", trace.spans);
        end = span.end;
    }
    match fast.error {
        Some(error) => {
            assert!(error.offset().is_some_and(|offset| offset <= input.len() as u64), "{error}");
            Err(error)
        }
        None => {
            assert_eq!(end, slow.consumed as u64, "{text}");
            for (extent, node) in trace.extents.iter().zip(slow.document.nodes()) {
                assert!(extent.start < extent.end && extent.end <= end, "{node:?} at {extent:?}");
            }
            if fast.consumed < input.len() {
                return Err(Error::new(ErrorKind::Trailing).at(fast.consumed));
            }
            Ok(fast.document)
        }
    }
}

const ACCEPTED: &[&str] = &[
    "[]",
    "{}",
    "[ ]",
    "{ }",
    " \t\r\n[\t]\r\n",
    "null",
    "true",
    "false",
    "\"\"",
    "0",
    "-0",
    "-1",
    "42",
    "0.5",
    "-0.0",
    "1e5",
    "1E+5",
    "1e-5",
    "-1.25e10",
    "0e0",
    "0e+00",
    "1.0000000000000000000000000000000000000000000000001",
    "123456789012345678901234567890",
    "1e-400",
    "4.9e-324",
    "1.7976931348623157e308",
    "[1,2 , 3]",
    "[[],[[]],{}]",
    r#"{"":0}"#,
    r#"{"a":{"b":[{"c":null}]}}"#,
    r#"{"a":1,"a":2}"#,
    r#"{"a":1,"a":1,"b":2,"a":3}"#,
    "{\"a\" : 1 ,\n \"b\" : 2 }",
    r#"["\"\\\/\b\f\n\r\t"]"#,
    r#"["\u0000\u001f\u0041\u00e9\u20AC\uD83D\uDE00"]"#,
    r#"["\ud83d\ude00\uffff\ufdd0"]"#,
    r#"{"\u0061":1,"a":2}"#,
    "[\"\u{7f}\u{80}\u{2028}\u{feff}\u{10ffff}\"]",
    "{\"\u{e9}\":\"\u{20ac}\"}",
    r#"["\u0022 \u005c"]"#,
    "[true,false,null]",
    "\"lone string\" ",
];

const REJECTED: &[(&[u8], ErrorKind)] = &[
    (b"", ErrorKind::Truncated),
    (b" \n", ErrorKind::Truncated),
    (b"[", ErrorKind::Truncated),
    (b"[1", ErrorKind::Truncated),
    (b"[1,", ErrorKind::Truncated),
    (b"{", ErrorKind::Truncated),
    (b"{\"a\"", ErrorKind::Truncated),
    (b"{\"a\":", ErrorKind::Truncated),
    (b"{\"a\":1", ErrorKind::Truncated),
    (b"{\"a\":1,", ErrorKind::Truncated),
    (b"\"", ErrorKind::Truncated),
    (b"\"a", ErrorKind::Truncated),
    (b"\"\\", ErrorKind::Truncated),
    (b"\"\\u", ErrorKind::Truncated),
    (b"\"\\u00", ErrorKind::Truncated),
    (b"-", ErrorKind::Truncated),
    (b"1.", ErrorKind::Truncated),
    (b"1e", ErrorKind::Truncated),
    (b"1e+", ErrorKind::Truncated),
    (b"tru", ErrorKind::Truncated),
    (b"n", ErrorKind::Truncated),
    (b"[1,]", ErrorKind::Malformed),
    (b"[,1]", ErrorKind::Malformed),
    (b"[,]", ErrorKind::Malformed),
    (b"[1,,2]", ErrorKind::Malformed),
    (b"[1 2]", ErrorKind::Malformed),
    (b"[1:2]", ErrorKind::Malformed),
    (b"[1}", ErrorKind::Malformed),
    (b"{]", ErrorKind::Malformed),
    (b"]", ErrorKind::Malformed),
    (b"{\"a\":1,}", ErrorKind::Malformed),
    (b"{,\"a\":1}", ErrorKind::Malformed),
    (b"{\"a\"}", ErrorKind::Malformed),
    (b"{\"a\",1}", ErrorKind::Malformed),
    (b"{\"a\":1 \"b\":2}", ErrorKind::Malformed),
    (b"{\"a\":1:2}", ErrorKind::Malformed),
    (b"{\"a\"::1}", ErrorKind::Malformed),
    (b"{a:1}", ErrorKind::Malformed),
    (b"{'a':1}", ErrorKind::Malformed),
    (b"{1:1}", ErrorKind::Malformed),
    (b"{null:1}", ErrorKind::Malformed),
    (b"['a']", ErrorKind::Malformed),
    (b"01", ErrorKind::Malformed),
    (b"-01", ErrorKind::Malformed),
    (b"[00]", ErrorKind::Malformed),
    (b"+1", ErrorKind::Malformed),
    (b".5", ErrorKind::Malformed),
    (b"[-.5]", ErrorKind::Malformed),
    (b"[1.]", ErrorKind::Malformed),
    (b"[1.e5]", ErrorKind::Malformed),
    (b"[1e]", ErrorKind::Malformed),
    (b"[1e+]", ErrorKind::Malformed),
    (b"[0x10]", ErrorKind::Malformed),
    (b"[1_000]", ErrorKind::Malformed),
    (b"[1a]", ErrorKind::Malformed),
    (b"[- 1]", ErrorKind::Malformed),
    (b"[--1]", ErrorKind::Malformed),
    (b"[1.5.2]", ErrorKind::Malformed),
    (b"[NaN]", ErrorKind::Malformed),
    (b"[Infinity]", ErrorKind::Malformed),
    (b"[-Infinity]", ErrorKind::Malformed),
    (b"[nul]", ErrorKind::Malformed),
    (b"[nulll]", ErrorKind::Malformed),
    (b"[True]", ErrorKind::Malformed),
    (b"[truE]", ErrorKind::Malformed),
    (b"[\"a\nb\"]", ErrorKind::Malformed),
    (b"[\"a\tb\"]", ErrorKind::Malformed),
    (b"[\"\0\"]", ErrorKind::Malformed),
    (b"[\"\\x41\"]", ErrorKind::Malformed),
    (b"[\"\\'\"]", ErrorKind::Malformed),
    (b"[\"\\a\"]", ErrorKind::Malformed),
    (b"[\"\\\n\"]", ErrorKind::Malformed),
    (b"[\"\\u00g0\"]", ErrorKind::Malformed),
    (b"[\"\\u 041\"]", ErrorKind::Malformed),
    (b"[\"\\U0041\"]", ErrorKind::Malformed),
    (b"[\"\\ud800\"]", ErrorKind::Malformed),
    (b"[\"\\udc00\"]", ErrorKind::Malformed),
    (b"[\"\\ud800\\u0041\"]", ErrorKind::Malformed),
    (b"[\"\\ud800\\ud800\"]", ErrorKind::Malformed),
    (b"[\"\\ud800x\"]", ErrorKind::Malformed),
    (b"[\"\x80\"]", ErrorKind::Malformed),
    (b"[\"\xff\"]", ErrorKind::Malformed),
    (b"[\"\xc0\xaf\"]", ErrorKind::Malformed),
    (b"[\"\xed\xa0\x80\"]", ErrorKind::Malformed),
    (b"[\"\xf4\x90\x80\x80\"]", ErrorKind::Malformed),
    (b"[\"\xe2\x82\"]", ErrorKind::Malformed),
    (b"{\"\xff\":1}", ErrorKind::Malformed),
    (b"[\"\\n\xff\"]", ErrorKind::Malformed),
    (b"[\xff]", ErrorKind::Malformed),
    (b"\xef\xbb\xbf[]", ErrorKind::Malformed),
    (b"\xfe\xff\0[\0]", ErrorKind::Malformed),
    (b"[1] // no", ErrorKind::Trailing),
    (b"[1] [2]", ErrorKind::Trailing),
    (b"{} x", ErrorKind::Trailing),
    (b"\"a\"b", ErrorKind::Trailing),
    (b"1 2", ErrorKind::Trailing),
    (b"nullx", ErrorKind::Trailing),
    (b"[]]", ErrorKind::Trailing),
    (b"[]\0", ErrorKind::Trailing),
    (b"/* no */ []", ErrorKind::Malformed),
    (b"[1, /* no */ 2]", ErrorKind::Malformed),
    (b"[\x0c]", ErrorKind::Malformed),
    (b"[\xc2\xa0]", ErrorKind::Malformed),
    (b"<html>", ErrorKind::Malformed),
    (b"*", ErrorKind::Malformed),
    (b"[1e400]", ErrorKind::Unsupported),
    (b"[-1.5e999]", ErrorKind::Unsupported),
    (b"[1e99999999999999999999]", ErrorKind::Unsupported),
];

#[test]
fn valid_json_is_read() {
    for text in ACCEPTED {
        if let Err(error) = read_both_ways(text.as_bytes()) {
            panic!("{text}: {error}");
        }
    }
}

#[test]
fn invalid_json_is_refused() {
    for (text, kind) in REJECTED {
        match read_both_ways(text) {
            Ok(_) => panic!("{} was read", String::from_utf8_lossy(text)),
            Err(error) => assert_eq!(error.kind(), *kind, "{}: {error}", String::from_utf8_lossy(text)),
        }
    }
}

#[test]
fn errors_name_the_offset_the_path_and_the_cause() {
    for (text, message) in [
        (&b"{\"a\": [1, x]}"[..], "malformed input at offset 10 at $.a[1]: expected a JSON value, found `x`"),
        (
            b"{\"a\": 1, 'b': 2}",
            "malformed input at offset 9 at ${1}: expected a name in quotes, found `'` (strings need double quotes; the option `singlequote` accepts single ones)",
        ),
        (b"[1, 2", "the input ends too early at offset 5 at $[2]: expected `,` or `]`, found the end of the input"),
        (
            b"{\"a\": [\"x\ty\"]}",
            "malformed input at offset 9 at $.a[0]: expected an escape for a control character, found the byte 0x09 itself (write it as \\u0009)",
        ),
        (
            b"[1e400]",
            "not supported at offset 1 at $[0]: expected a number that a 64-bit float can hold, below 1.8e308, found a larger one (`json:bignum` reads its digits as a string; nothing becomes infinity by itself)",
        ),
        (
            b"\xef\xbb\xbf{}",
            "malformed input at offset 0 at $: expected a JSON value, found a byte order mark (remove the first three bytes: JSON has none)",
        ),
        (
            b"{\"a\":\"\xe9\"}",
            "malformed input at offset 6 at $.a: expected UTF-8, found the byte 0xe9 (JSON is UTF-8; convert the text first)",
        ),
        (
            b"[\"\\ud800\"]",
            "malformed input at offset 2 at $[0]: expected a pair of surrogates, found half of one, \\ud800 (`surrogates=replace` reads it as U+FFFD)",
        ),
    ] {
        let error = read_both_ways(text).unwrap_err().to_string();
        assert_eq!(error, message);
    }
}

#[test]
fn escapes_in_strings_are_decoded() {
    let text = r#"{"a\n":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00x"}"#;
    let document = read_both_ways(text.as_bytes()).unwrap();
    let (key, value) = document.root().entries().next().unwrap();
    assert_eq!(key.bytes(), b"a\n");
    assert_eq!(value.as_str(), Some("\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{20ac}\u{1f600}x"));
}

#[test]
fn lone_surrogates_follow_the_option() {
    for (option, bytes) in [("replace", &b"\xef\xbf\xbdx\xef\xbf\xbd"[..]), ("keep", b"\xed\xa0\x80x\xed\xbf\xbf")] {
        let stage = Stage::parse(&format!("json:surrogates={option}")).unwrap();
        let document = icecore::read_as(br#""\ud800x\udfff""#, &stage, &Limits::default()).unwrap();
        assert_eq!(document.root().as_bytes(), Some(bytes));
    }
}

#[test]
fn numbers_are_exact() {
    let value = |text: &str| {
        let document = read_both_ways(text.as_bytes()).unwrap().into_owned();
        match document.root().value() {
            Value::Int(value) => format!("int {value}"),
            Value::Uint(value) => format!("uint {value}"),
            Value::Float(value) => format!("float {value:?}"),
            Value::BigInt(value) => format!("big {} {:02x?}", value.negative, value.magnitude),
            other => format!("{other:?}"),
        }
    };
    assert_eq!(value("-0"), "int 0");
    assert_eq!(value("9223372036854775807"), "int 9223372036854775807");
    assert_eq!(value("-9223372036854775808"), "int -9223372036854775808");
    assert_eq!(value("9223372036854775808"), "uint 9223372036854775808");
    assert_eq!(value("18446744073709551615"), "uint 18446744073709551615");
    assert_eq!(value("18446744073709551616"), "big false [00, 00, 00, 00, 00, 00, 00, 00, 01]");
    assert_eq!(value("-18446744073709551616"), "big true [00, 00, 00, 00, 00, 00, 00, 00, 01]");
    assert_eq!(value("-9223372036854775809"), "big true [01, 00, 00, 00, 00, 00, 00, 80]");
    assert_eq!(value("1e5"), "float 100000.0");
    assert_eq!(value("-0.0"), "float -0.0");
    assert_eq!(value("0.1"), "float 0.1");
    assert_eq!(value("5e-324"), "float 5e-324");
    assert_eq!(value("9007199254740993.0"), "float 9007199254740992.0");
}

#[test]
fn every_double_keeps_its_bits() {
    let mut random = Random::new(1);
    let mut text = String::from("[");
    let mut bits = Vec::new();
    for i in 0..200_000u64 {
        let value = match i % 3 {
            0 => f64::from_bits(random.bits()),
            1 => f64::from_bits((i / 3) | ((i % 2047) << 52)),
            _ => (random.below(1 << 40) as f64 - 5e11) / 10f64.powi(random.below(12) as i32),
        };
        if value.is_finite() {
            bits.push(value.to_bits());
            text += &format!("{}{value:?}", if bits.len() == 1 { "" } else { "," });
        }
    }
    text += "]";
    let document = icecore::read(text.as_bytes()).unwrap();
    let written = icecore::write(&document, "json").unwrap();
    for written in [&text.into_bytes(), &written] {
        let reread = icecore::read(written).unwrap();
        assert_eq!(reread.root().len(), bits.len());
        for (item, bits) in reread.root().items().zip(&bits) {
            assert!(
                matches!(item.value(), Value::Float(value) if value.to_bits() == *bits),
                "{:?}",
                f64::from_bits(*bits)
            );
        }
    }
}

#[test]
fn every_character_round_trips() {
    let all: String = (0..0x11_0000).filter_map(char::from_u32).collect();
    let mut builder = icecore::Builder::new();
    builder.begin_array();
    builder.text(&all);
    for c in all.chars().step_by(61) {
        builder.text(&c.to_string());
    }
    builder.end();
    let document = builder.finish().unwrap();
    for stage in ["json", "json:ascii", "json:indent=2"] {
        let text = icecore::write(&document, stage).unwrap();
        assert!(read_both_ways(&text).unwrap() == document, "{stage}");
        assert!(stage != "json:ascii" || text.is_ascii());
    }
}

#[test]
fn cut_json_is_an_error_with_a_partial_document() {
    for text in
        ACCEPTED.iter().chain(&[r#"{"id":1,"name":"x\ny","list":[1.5,-2,true,null,{"a":"\u20ac"}],"last":12e3}"#])
    {
        for end in 0..text.len() {
            let part = &text.as_bytes()[..end];
            if let Err(error) = read_both_ways(part) {
                assert!(
                    matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Malformed | ErrorKind::Trailing),
                    "{error}"
                );
            } else {
                // A shorter number or word, or less whitespace at the end.
                assert!(!text.starts_with(['{', '[']) || text.trim_end().len() <= end, "{text} up to {end}");
            }
        }
    }
}

#[test]
fn both_readers_agree_on_changed_bytes() {
    let text = br#"{"id":12,"name":"a\u00e9\n","x":[1.5,-20e1,true,null],"name":{"id":-0,"":"e"}} "#;
    for offset in 0..text.len() {
        for byte in 0..=255 {
            let mut changed = text.to_vec();
            changed[offset] = byte;
            let _ = read_both_ways(&changed);
            changed.insert(offset, text[offset]);
            let _ = read_both_ways(&changed);
        }
        let mut shorter = text.to_vec();
        shorter.remove(offset);
        let _ = read_both_ways(&shorter);
    }
}

#[test]
fn both_readers_agree_on_random_documents() {
    for seed in 0..3000 {
        let document = common::document(seed, Palette::Json);
        for stage in ["json", "json:indent=3"] {
            let text = icecore::write(&document, stage).unwrap();
            let reread = read_both_ways(&text).unwrap();
            let links = document.nodes().iter().any(|node| node.has(icecore::raw::flag::TARGET));
            assert!(links || reread == document, "{}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn a_partial_document_contains_the_values_before_the_error() {
    let limits = Limits::default();
    for detail in [false, true] {
        let outcome = outcome(br#"{"a":[1,{"b":2,"c":?"#, &limits, detail);
        assert!(outcome.error.is_some());
        let text = icecore::write(&outcome.document, "json").unwrap();
        assert_eq!(String::from_utf8_lossy(&text), r#"{"a":[1,{"b":2}]}"#);
    }
}

#[test]
fn both_readers_obey_the_limits() {
    let error = |input: &str, set: &dyn Fn(&mut Limits)| {
        let mut limits = Limits::default();
        set(&mut limits);
        let (fast, slow) = (outcome(input.as_bytes(), &limits, false), outcome(input.as_bytes(), &limits, true));
        assert_eq!(fast.error, slow.error);
        fast.error.map(|error| (error.kind(), error.offset().unwrap()))
    };
    assert_eq!(error("[[[]]]", &|limits| limits.depth = 3), None);
    assert_eq!(error("[[[]]]", &|limits| limits.depth = 2), Some((ErrorKind::Limit, 2)));
    assert_eq!(error("[1,2,3]", &|limits| limits.nodes = 4), None);
    assert_eq!(error("[1,2,3]", &|limits| limits.nodes = 3), Some((ErrorKind::Limit, 5)));
    assert_eq!(error(r#"["abc"]"#, &|limits| limits.string = 3), None);
    assert_eq!(error(r#"["abcd"]"#, &|limits| limits.string = 3), Some((ErrorKind::Limit, 1)));
    assert_eq!(error(r#"["a\ncd"]"#, &|limits| limits.string = 3), Some((ErrorKind::Limit, 1)));
    assert_eq!(error(&"9".repeat(30), &|limits| limits.digits = 30), None);
    assert_eq!(error(&"9".repeat(32), &|limits| limits.digits = 30), Some((ErrorKind::Limit, 0)));
}

#[test]
fn depth_needs_no_stack() {
    let levels = crate::common::levels();
    let limits = {
        let mut limits = Limits::default();
        limits.depth = 2 * levels as u32;
        limits
    };
    let arrays = [vec![b'['; levels], vec![b']'; levels]].concat();
    let maps = [r#"{"a":"#.repeat(levels).into_bytes(), b"1".to_vec(), vec![b'}'; levels]].concat();
    on_a_small_stack(|| {
        for text in [&arrays, &maps] {
            for detail in [false, true] {
                let read = outcome(text, &limits, detail);
                assert!(read.error.is_none());
                assert!(read.document == read.document.clone());
                let (mut plain, mut typed) = (Vec::new(), Vec::new());
                let losses = json::write(&read.document, &json::WriteOptions::default(), &limits, &mut plain).unwrap();
                assert!(losses.is_empty() && plain == *text);
                let stage = Stage::parse("json:typed").unwrap();
                icecore::write_to(&read.document, &stage, &limits, &mut typed).unwrap();
                let reread = json::FORMAT.read(&typed, stage.settings(), Request::new(&limits));
                assert!(reread.error.is_none() && reread.document == read.document);
            }
            // Cut at the deepest place.
            let read = outcome(&text[..text.len() / 2], &limits, false);
            assert_eq!(read.error.map(|error| error.kind()), Some(ErrorKind::Truncated));
        }
    });
}

#[test]
fn maps_with_more_keys_than_ids_are_read() {
    let mut text = String::from("{");
    for i in 0..70_000 {
        text += &format!("{}\"key{i}\":{i}", if i == 0 { "" } else { "," });
    }
    text += "}";
    let document = read_both_ways(text.as_bytes()).unwrap();
    assert_eq!(document.root().entries().count(), 70_000);
    assert_eq!(document.root().get("key69999").and_then(|value| value.as_i64()), Some(69_999));
    assert!(icecore::write(&document, "json").unwrap() == text.as_bytes());
}

#[test]
fn detection_is_sure_only_of_complete_documents() {
    let detect = |input: &[u8]| (json::FORMAT.detect)(input).map(|guess| guess.certainty.as_str());
    assert_eq!(detect(br#" {"a":[1,2]} "#), Some("sure"));
    assert_eq!(detect(b"12"), Some("possible"));
    assert_eq!(detect(br#"{"a":1}{"a":2}"#), Some("likely"));
    assert_eq!(detect(b"[section]\nkey = value\n"), None);
    assert_eq!(detect(b"{ not json }"), None);
    assert_eq!(detect(b""), None);
    assert_eq!(detect(b"pst0\x04\x0b"), None);
    let long = format!("[{}1]", "123456789,".repeat(100_000));
    assert_eq!(detect(long.as_bytes()), Some("likely"));
}
