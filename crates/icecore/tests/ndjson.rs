//! JSON lines, and many documents with one converter.

use icecore::{Converter, ErrorKind, Limits, Request, Stage, format::json};

fn read(input: &[u8]) -> Result<String, icecore::Error> {
    let document = json::lines::read(input, &json::ReadOptions::default(), &Limits::default())?;
    Ok(String::from_utf8(icecore::write(&document, "json")?).unwrap())
}

#[test]
fn lines_are_read_as_items_of_an_array() {
    for (input, expected) in [
        ("", "[]"),
        ("\n \n\r\n", "[]"),
        ("1", "[1]"),
        ("1\n2\r\n\n \"x\" \n", "[1,2,\"x\"]"),
        (
            "{\"a\":[1,2],\"b\":\"x\"}\n{\"a\":[],\"b\":\"y\\n\"}\n[]\n{}",
            r#"[{"a":[1,2],"b":"x"},{"a":[],"b":"y\n"},[],{}]"#,
        ),
    ] {
        assert_eq!(read(input.as_bytes()).unwrap(), expected, "{input:?}");
    }
}

#[test]
fn each_item_of_an_array_is_written_as_a_line() {
    for (json, lines) in [
        ("[]", ""),
        ("[1]", "1\n"),
        (r#"[{"a":1},[2,[3]],"x\ny",null]"#, "{\"a\":1}\n[2,[3]]\n\"x\\ny\"\nnull\n"),
        (r#"{"a":[1,2]}"#, "{\"a\":[1,2]}\n"),
        ("5", "5\n"),
    ] {
        let found = icecore::convert(json.as_bytes(), "json", "ndjson").unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), lines, "{json}");
    }
    let sorted = icecore::convert(br#"[{"b":1,"a":2}]"#, "json", "ndjson:sort_keys").unwrap();
    assert_eq!(sorted, b"{\"a\":2,\"b\":1}\n");
    assert_eq!(Stage::parse("ndjson:indent=2").unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn a_linked_array_is_written_in_lines() {
    let typed = br#"{"$icecore":1,"$value":{"$id":1,"$value":[1,{"up":{"$link":1}}]}}"#;
    assert_eq!(icecore::convert(typed, "json", "ndjson:cycles=null").unwrap(), b"1\n{\"up\":null}\n");
}

#[test]
fn typed_lines_are_whole_documents() {
    let document = br#"{"$icecore":1,"$strings":"text","$value":[{"$id":1,"$value":[1]},{"$link":1}]}"#;
    let typed = icecore::convert(document, "json", "ndjson:typed").unwrap();
    assert_eq!(typed.strip_suffix(b"\n").unwrap(), document);
    assert_eq!(icecore::convert(&typed, "ndjson", "json:typed").unwrap(), document);
    assert_eq!(icecore::convert(b"[1,[2]]", "json", "ndjson:typed").unwrap(), b"1\n[2]\n");
    let error = icecore::convert(&[&typed[..], &typed].concat(), "ndjson", "json").unwrap_err();
    assert!(error.to_string().contains("one by one"), "{error}");
}

#[test]
fn numbers_keep_their_text() {
    assert_eq!(icecore::convert(b"1.10\n{\"a\":1E5}\n", "ndjson", "ndjson").unwrap(), b"1.10\n{\"a\":1E5}\n");
}

#[test]
fn errors_name_the_line() {
    for (input, kind, offset, words) in [
        ("{\"a\":1}\n{\"a\":\n{}\n", ErrorKind::Malformed, 13, "found the end of the line, in line 2"),
        ("{\"a\":1}\n\n{\"a\":tru}\n", ErrorKind::Malformed, 17, "found `}`, in line 3"),
        ("1 2\n", ErrorKind::Malformed, 2, "the end of the line"),
        ("1\n[1,\n", ErrorKind::Malformed, 5, "at $[1][1]"),
        ("1\n[1", ErrorKind::Truncated, 4, "in line 2"),
        ("1\n\"x", ErrorKind::Truncated, 4, "in line 2"),
        ("1\n\"x\n\"", ErrorKind::Malformed, 4, "in line 2"),
    ] {
        let error = read(input.as_bytes()).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, Some(offset)), "{input:?}: {error}");
        assert!(error.to_string().contains(words), "{input:?}: {error}");
    }
}

/// Compares reading with and without shortcuts, for each prefix of some lines and with each byte
/// changed: both give the same document or the same error, and the spans cover everything.
#[test]
fn both_readers_agree_on_damaged_lines() {
    let lines = b"{\"id\":1,\"name\":\"ab\",\"l\":[1,2,{\"id\":3}]}\n{\"id\":2,\"name\":\"a\\n\",\"l\":[]}\r\n\n[1,\"x\",2.5]\n 7 \n{\"id\":-3,\"name\":\"abcdefghijklmnopqrst\",\"l\":null}\n";
    let stage = Stage::parse("ndjson").unwrap();
    let limits = Limits::default();
    let mut inputs: Vec<Vec<u8>> = (0..=lines.len()).map(|end| lines[..end].to_vec()).collect();
    for offset in 0..lines.len() {
        for byte in [b'\n', b'"', b'}', b'x', b'0', 0xFF] {
            let mut input = lines.to_vec();
            input[offset] = byte;
            inputs.push(input);
        }
    }
    let mut good = 0;
    for input in inputs {
        let fast = stage.format().read(&input, stage.settings(), Request::new(&limits));
        let slow = stage.format().read(&input, stage.settings(), Request::new(&limits).detailed());
        let text = String::from_utf8_lossy(&input);
        assert_eq!(fast.error, slow.error, "{text}");
        assert_eq!(fast.consumed, slow.consumed, "{text}");
        assert_eq!(fast.document, slow.document, "{text}");
        if fast.error.is_none() {
            good += 1;
            let mut offset = 0;
            for span in slow.document.trace().unwrap().spans.iter() {
                assert_eq!(span.start, offset, "{text}");
                offset = span.end;
            }
            assert_eq!(offset as usize, input.len());
        }
    }
    assert!(good > 20, "{good}");
}

#[test]
fn json_lines_are_detected() {
    let name = |input: &[u8]| icecore::detect::stage_of(input).map(|stage| stage.name()).unwrap_or_default();
    assert_eq!(name(b"{\"a\":1}\n{\"a\":2}\n"), "ndjson");
    assert_eq!(name(b"{\"a\":1}\n{\"a\":2}"), "ndjson");
    assert_eq!(name(b"{\"a\":1}\n{\"a\":2}\nbroken\n"), "ndjson");
    assert_eq!(name(b"{\"a\":1}\n"), "json");
    assert_eq!(name(b"{\n\"a\":1}\n"), "json");
    assert_eq!(name(b"[1,\n2]\n"), "json");
}

/// A converter gives the same output for each document as a new one would.
#[test]
fn a_reused_converter_gives_the_same_output() {
    let documents: &[&[u8]] = &[
        br#"{"id":1,"name":"Alice"}"#,
        br#"{"name":"Bob","id":2,"more":{"id":3,"name":{"id":4}}}"#,
        br#"{"id":1,"id":2}"#,
        br#"[{"a":1},{"b":{"a":2,"c":3},"a":1}]"#,
        br#"{"a":[{"a":{"a":1}}],"b":1}"#,
        b"[1,",
        br#"{"id":1,"name":"Al\u0069ce","n\u0061me":1}"#,
        br#"{"$icecore":1,"$value":{"$map":[[1,2],["1",3]]}}"#,
        br#"{"$icecore":1,"$value":{"$class":"A","$value":{"x":1}}}"#,
        br#"{"$icecore":1,"$value":{"$id":1,"$value":{"me":{"$link":1}}}}"#,
        br#"{"":0,"a very long key that is longer than sixteen bytes":1}"#,
        br#"{"":1,"a very long key that is longer than sixteen bytes":{"":2}}"#,
    ];
    for stage in ["json", "json:sort_keys", "json:indent=1", "json:ascii,class=k", "json:typed", "sereal", "php"] {
        let to = Stage::parse(stage).unwrap();
        let from = Stage::parse("json").unwrap();
        let other = Stage::parse("sereal").unwrap();
        let mut converter = Converter::new(from.clone(), to.clone());
        let mut others = Converter::new(other.clone(), to.clone());
        for round in 0..3 {
            for input in documents {
                let (mut kept, mut fresh) = (Vec::new(), Vec::new());
                let done = converter.convert(input, &mut kept);
                let result = Converter::new(from.clone(), to.clone()).convert(input, &mut fresh);
                let text = String::from_utf8_lossy(input);
                assert_eq!(
                    (done.is_read, &done.written, done.consumed),
                    (result.is_read, &result.written, result.consumed),
                    "{round} {stage} {text}"
                );
                if done.written.is_ok() {
                    assert_eq!(kept, fresh, "{round} {stage} {text}");
                }
                let Ok(sereal) = icecore::convert(input, "json", "sereal") else { continue };
                let (mut kept, mut fresh) = (Vec::new(), Vec::new());
                let done = others.convert(&sereal, &mut kept);
                let result = Converter::new(other.clone(), to.clone()).convert(&sereal, &mut fresh);
                assert_eq!((done.is_read, &done.written), (result.is_read, &result.written), "{round} {stage} {text}");
                if done.written.is_ok() {
                    assert_eq!(kept, fresh, "{round} {stage} {text}");
                }
            }
        }
    }
}
