//! `join`: perl's join and split.

use icecore::{Builder, ErrorKind, Limits, LossKind, Request, Stage, format::join};

fn convert(input: &[u8], from: &str, to: &str) -> String {
    let bytes = icecore::convert(input, from, to).unwrap_or_else(|error| panic!("{from} {to}: {error}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn empty_fields_are_kept() {
    for (separator, input, json) in [
        (":", "a:b", r#"["a","b"]"#),
        (":", ":a::b::", r#"["","a","","b","",""]"#),
        (":", ":", r#"["",""]"#),
        (":", "a", r#"["a"]"#),
        (":", "", "[]"),
        ("aa", "aaaaa", r#"["","","a"]"#),
        (", ", "a, b,c", r#"["a","b,c"]"#),
        (".*", "a.*b", r#"["a","b"]"#),
        ("é", "1é2", r#"["1","2"]"#),
    ] {
        let stage = format!("join:separator='{separator}'");
        assert_eq!(convert(input.as_bytes(), &stage, "json"), json);
        assert_eq!(convert(json.as_bytes(), "json", &stage), input);
    }
    assert_eq!(convert(b"a\x1cb", "join", "json"), r#"["a","b"]"#);
    assert_eq!(convert(b"a::", "join:separator=':',trim", "json"), r#"["a"]"#);
    assert_eq!(convert(b"a\tb", "join:separator=\"\\t\"", "json"), r#"["a","b"]"#);
}

#[test]
fn a_flat_hash_round_trips() {
    let hash = r#"{"title":"hoge","author":"fuga","body":"hogehoge"}"#;
    for stage in ["join:map", "join:names=title,author,body", "join:separator=\"--\",map"] {
        let bytes = icecore::convert(hash.as_bytes(), "json", stage).unwrap();
        assert_eq!(convert(&bytes, stage, "json"), hash, "{stage}");
    }
    let shuffled = br#"{"body":3,"title":1,"author":2}"#;
    assert_eq!(convert(shuffled, "json", "join:separator=':',names=title,author,body"), "1:2:3");
    let numbers = format!("[{}]", (1000..2000).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(","));
    assert_eq!(convert(convert(numbers.as_bytes(), "json", "join").as_bytes(), "join", "json"), numbers);
}

#[test]
fn values_that_would_not_round_trip_are_refused() {
    for (stage, json, path) in [
        ("join:separator=':'", r#"["a","b:c"]"#, "$[1]"),
        ("join:separator=':'", r#"[""]"#, "$[0]"),
        ("join:separator=':'", r#""""#, "$"),
        ("join:separator='aa'", r#"["xa","b"]"#, "$[0]"),
        ("join:separator='aba'", r#"["ab","b"]"#, "$[0]"),
        ("join:separator=':'", r#"[["a"]]"#, "$[0]"),
        ("join:separator=':'", r#"{"a":"b"}"#, "$"),
        ("join:separator=':',map", r#"{"a":"b","c:":1}"#, "$[\"c:\"]"),
        ("join:names=a,b", r#"{"a":"b","c":1}"#, "$.c"),
        ("join:names=a,b", r#"{"a":"b"}"#, "$"),
        ("join:map", r#"["a"]"#, "$"),
    ] {
        let error = icecore::convert(json.as_bytes(), "json", stage).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some(path)), "{stage} {json}: {error}");
    }
    assert_eq!(convert(br#"["x","a"]"#, "json", "join:separator='aa'"), "xaaa");
    for (stage, input) in [("join:names=a,b", "1\x1c2\x1c3"), ("join:map", "a")] {
        assert_eq!(icecore::convert(input.as_bytes(), stage, "json").unwrap_err().kind(), ErrorKind::Malformed);
    }
    assert_eq!(icecore::convert(b"", "join:separator=''", "json").unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn scalars_are_written_as_perl_prints_them() {
    let mut builder = Builder::new();
    builder.begin_array();
    builder
        .int(-5)
        .uint(u64::MAX)
        .float(0.1)
        .float(1e15)
        .float(f64::INFINITY)
        .bool(true)
        .bool(false)
        .null()
        .bytes(b"\xff");
    builder.end();
    let mut out = Vec::new();
    let losses =
        join::write(&builder.finish().unwrap(), &join::Options::default(), &Limits::default(), &mut out).unwrap();
    assert_eq!(out, b"-5\x1c18446744073709551615\x1c0.1\x1c1e+15\x1cInf\x1c1\x1c\x1c\x1c\xff");
    let lost: Vec<_> = losses.iter().map(|loss| (loss.kind, loss.count)).collect();
    assert_eq!(lost, [(LossKind::Bool, 2), (LossKind::Null, 1)]);
}

#[test]
fn spans_tile_the_input() {
    let stage = Stage::parse("join:separator='::',map").unwrap();
    let limits = Limits::default();
    for input in [&b"a::b::c::"[..], b"", b"::::::", b"a::b"] {
        let outcome = stage.format().read(input, stage.settings(), Request::new(&limits).detailed());
        let trace = outcome.document.trace().expect("a trace");
        let mut offset = 0;
        for span in &trace.spans {
            assert_eq!(span.start, offset);
            offset = span.end;
        }
        assert_eq!(offset, input.len() as u64);
    }
}
