//! What plain JSON can represent, and which losses are reported otherwise.

use crate::common;

use crate::common::Palette;
use icecore::{Builder, Document, Error, ErrorKind, Limits, Stage, value::Form};

fn read_typed_json(text: &str) -> Document<'_> {
    icecore::read_as(text.as_bytes(), &Stage::parse("json:typed").unwrap(), &Limits::default()).unwrap()
}

fn write(document: &Document<'_>, stage: &str) -> Result<(String, String), Error> {
    let mut out = Vec::new();
    let losses = icecore::write_to(document, &Stage::parse(stage)?, &Limits::default(), &mut out)?;
    let losses: Vec<_> =
        losses.iter().map(|loss| format!("{} {} {}", loss.kind.as_str(), loss.count, loss.path)).collect();
    Ok((String::from_utf8(out).expect("UTF-8"), losses.join("; ")))
}

/// Writes a document, given as `json:typed`; checks the JSON and the losses.
fn assert_written_as(text: &str, stage: &str, expected: &str, losses: &str) {
    let (json, lost) = write(&read_typed_json(text), stage).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!((json.as_str(), lost.as_str()), (expected, losses), "{text} as {stage}");
}

#[test]
fn values_that_json_has_lose_nothing() {
    for text in [
        "null",
        "[true,false,null,0,-1,9223372036854775807,18446744073709551615,-18446744073709551616]",
        "[1.5,-0.0,3.0,1e100,1e-7,0.1,5e-324]",
        r#"{"a":[],"b":{},"c":{"d":[{"e":"f"}]}}"#,
        r#"["","\"\\\b\f\n\r\t\u0000/","é€😀"]"#,
    ] {
        assert_written_as(text, "json", text, "");
    }
}

#[test]
fn every_kind_of_loss_is_reported_with_its_path() {
    for (text, json, losses) in [
        (r#"{"a":{"$class":"A","$value":{"b":1}}}"#, r#"{"a":{"b":1}}"#, "class 1 $.a"),
        (r#"[{"$class":"A","$value":1},{"$class":"B","$value":[]}]"#, "[1,[]]", "class 2 $[0]"),
        (r#"{"$opaque":"hook","$class":"A","$payload":"x","$links":[1]}"#, r#""x""#, "opaque 1 $"),
        (r#"{"a":{"$latin1":"é"}}"#, r#"{"a":"é"}"#, "bytes 1 $.a"),
        (r#"{"$symbol":"a"}"#, r#""a""#, "symbol 1 $"),
        (r#"{"$string":"a","$encoding":"EUC-JP"}"#, r#""a""#, "encoding 1 $"),
        (r#"{"$string":"a","$encoding":"Emacs-Mule"}"#, r#""a""#, "encoding 1 $; undecoded 1 $"),
        (r#"[{"$ref":1},{"$ref":{"$ref":0}}]"#, "[1,0]", "reference 3 $[0]"),
        (r#"[{"$id":1,"$value":[1]},{"$link":1},{"$link":1}]"#, "[[1],[1],[1]]", "sharing 2 $[1]"),
        (r#"[{"$id":1,"$value":"x"},{"$alias":1}]"#, r#"["x","x"]"#, "sharing 1 $[1]"),
        (r#"[{"$link":1},{"$id":1,"$value":[1]}]"#, "[[1],[1]]", "sharing 1 $[0]"),
        (r#"[{"$weak":[]}]"#, "[[]]", "weak 1 $[0]"),
        (r#"[{"$overload":{"$class":"A","$value":{}}}]"#, "[{}]", "overload 1 $[0]; class 1 $[0]"),
        (r#"[{"$hole":1},1]"#, "[null,1]", "hole 1 $[0]"),
        (r#"[{"$float":"inf"},{"$float":"nan"}]"#, "[null,null]", "float 2 $[0]"),
        (r#"{"$float128":"3fff8000000000000000000000000000"}"#, "1.5", ""),
        (r#"{"$float128":"3ffb999999999999999999999999999a"}"#, "0.100000000000000000000000000000000005", ""),
        (r#"{"$map":[[1,"a"],[-2,"b"]]}"#, r#"{"1":"a","-2":"b"}"#, "key 2 $[1]"),
        (r#"{"$map":[[null,1],[true,2],[1.5,3]]}"#, r#"{"null":1,"true":2,"1.5":3}"#, "key 3 ${0}"),
        (r#"{"$map":[["a",1],["a",2]]}"#, r#"{"a":1,"a":2}"#, "duplicate-key 1 $.a"),
        (r#"{"a":1,"$b:a":2}"#, r#"{"a":1,"a":2}"#, "duplicate-key 1 $.a"),
        (r#"{"$map":[[1,1],["1",2]]}"#, r#"{"1":1,"1":2}"#, "key 1 $[1]; duplicate-key 1 $[\"1\"]"),
        (r#"{"$map":[[{"$symbol":"a"},1]]}"#, r#"{"a":1}"#, "symbol 1 $.a"),
        (r#"{"$l:é":1}"#, r#"{"é":1}"#, "bytes 1 $[\"\\xe9\"]"),
        (r#"{"$regexp":"a.c","$flags":"ix"}"#, r#""(?^ix:a.c)""#, "regexp 1 $"),
        (r#"{"$code":"sub { 1 }"}"#, r#""sub { 1 }""#, "code 1 $"),
        (r#"{"$vstring":"v1.2","$value":"x"}"#, r#""x""#, "v-string 1 $"),
        (r#"{"$tied":"hash","$value":{"a":1}}"#, r#"{"a":1}"#, "tied 1 $"),
        (
            r#"{"$map":[["a",1],["b"],["c",2]],"$restricted":true,"$locked":[0],"$placeholders":["d"]}"#,
            r#"{"a":1,"c":2}"#,
            "restricted 1 $",
        ),
        (r#"{"$map":[["a"]],"$restricted":true}"#, "{}", "restricted 1 $"),
        (r#"{"$attributes":{"a":1},"$value":"x"}"#, r#""x""#, "attributes 1 $"),
        (r#"{"$map":[["a",1]],"$default":2}"#, r#"{"a":1}"#, "map-kind 1 $"),
        (r#"{"$map":[],"$identity":true,"$default":2}"#, "{}", "map-kind 1 $"),
        (r#"[{"$enum":"Suit:Hearts"},{"$module":"A","$form":"class"}]"#, r#"["Suit:Hearts","A"]"#, "name 2 $[0]"),
        (r#"{"$icecore":1,"$header":[1],"$value":2}"#, "2", "header 1 $"),
        (r#"{"$text":{"$latin1":"aÿb"}}"#, "\"a\u{fffd}b\"", "bytes 1 $"),
    ] {
        assert_written_as(text, "json", json, losses);
    }
}

#[test]
fn bytes_are_written_as_the_option_says() {
    let text = r#"{"$icecore":1,"$strings":"bytes","$value":["a","é",{"$latin1":"é\u0000ÿ"}]}"#;
    for (option, json, losses) in [
        ("", r#"["a","é","é\u0000ÿ"]"#, "bytes 1 $[2]"),
        ("bytes=base64", r#"["a","é","6QD/"]"#, "bytes 1 $[2]"),
        ("bytes=hex", r#"["a","é","e900ff"]"#, "bytes 1 $[2]"),
        ("bytes=replace", "[\"a\",\"é\",\"\u{fffd}\\u0000\u{fffd}\"]", "bytes 1 $[2]"),
        ("text=latin1", r#"["a","Ã©","é\u0000ÿ"]"#, ""),
        ("text=latin1,ascii", r#"["a","\u00c3\u00a9","\u00e9\u0000\u00ff"]"#, ""),
        ("ascii", r#"["a","\u00e9","\u00e9\u0000\u00ff"]"#, "bytes 1 $[2]"),
    ] {
        let stage = if option.is_empty() { "json".to_owned() } else { format!("json:{option}") };
        assert_written_as(text, &stage, json, losses);
    }
    let error = write(&read_typed_json(text), "json:bytes=error").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some("$[2]")));
    let key = read_typed_json(r#"[{"$l:é":1}]"#);
    let error = write(&key, "json:bytes=error").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some("$[0][\"\\xe9\"]")));
}

#[test]
fn class_names_are_kept_on_request() {
    for (text, json, losses) in [
        (r#"{"$class":"A","$value":{"x":1}}"#, r#"{"@":"A","x":1}"#, ""),
        (r#"{"$class":"A","$value":{}}"#, r#"{"@":"A"}"#, ""),
        (r#"{"$class":"A","$value":[1,2]}"#, r#"{"@":"A","value":[1,2]}"#, ""),
        (
            r#"[{"$class":"A","$value":{"$class":"B","$value":1}},2]"#,
            r#"[{"@":"A","value":{"@":"B","value":1}},2]"#,
            "",
        ),
        (r#"{"$opaque":"freeze","$class":"A","$payload":[1]}"#, r#"{"@":"A","value":[1]}"#, "opaque 1 $"),
        (r#"{"$class":"A","$value":{"b":{"$class":"B","$value":{}},"a":[]}}"#, r#"{"@":"A","b":{"@":"B"},"a":[]}"#, ""),
    ] {
        assert_written_as(text, "json:class=@", json, losses);
    }
    assert_written_as(
        r#"{"$class":"A","$value":{"b":1,"a":{"$class":"B","$value":[0]}}}"#,
        "json:class=@,sort_keys,indent=1",
        "{\n \"@\": \"A\",\n \"a\": {\n  \"@\": \"B\",\n  \"value\": [\n   0\n  ]\n },\n \"b\": 1\n}\n",
        "",
    );
}

#[test]
fn cycles_are_an_error_by_default() {
    for (text, path, json) in [
        (r#"{"$id":1,"$value":{"a":[{"$link":1}]}}"#, "$.a[0]", r#"{"a":[null]}"#),
        (r#"{"$id":1,"$value":{"$class":"A","$value":{"up":{"$weak":{"$link":1}}}}}"#, "$.up", r#"{"up":null}"#),
        (r#"{"$id":1,"$value":{"$ref":{"$link":1}}}"#, "$^", "null"),
        (
            r#"[{"$id":1,"$value":["x",{"$link":2}]},{"$id":2,"$value":{"y":{"$link":1}}}]"#,
            "$[1].y",
            r#"[["x",{"y":null}],{"y":["x",null]}]"#,
        ),
    ] {
        let error = write(&read_typed_json(text), "json").unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some(path)), "{text}");
        let (written, losses) = write(&read_typed_json(text), "json:cycles=null").unwrap();
        assert_eq!(written, json);
        assert!(losses.contains("cycle"), "{losses}");
        let (sorted, _) = write(&read_typed_json(text), "json:cycles=null,sort_keys").unwrap();
        assert_eq!(sorted, json);
    }
}

#[test]
fn multiplying_links_are_limited() {
    let mut builder = Builder::new();
    builder.begin_array();
    let mut last = builder.begin_array().at();
    builder.int(1).end();
    for _ in 0..40 {
        let next = builder.begin_array().at();
        builder.link(last);
        builder.link(last);
        builder.end();
        last = next;
    }
    builder.end();
    let error = write(&builder.finish().unwrap(), "json").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("expansion"), "{error}");
}

#[test]
fn indented_output_has_a_line_for_each_value() {
    let text = r#"{"a":[1,[],{}],"b":{"c":null}}"#;
    assert_written_as(
        text,
        "json:indent=2",
        "{\n  \"a\": [\n    1,\n    [],\n    {}\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}\n",
        "",
    );
    assert_written_as("1", "json:indent=4", "1\n", "");
    assert_written_as("[]", "json:indent=0", "[]", "");
}

#[test]
fn sorted_keys_are_in_the_order_of_their_bytes() {
    let text = r#"{"b":1,"a":{"z":[{"y":1,"x":2}],"é":3,"Z":4},"":5,"aa":6,"a\n":7}"#;
    let json = r#"{"":5,"a":{"Z":4,"z":[{"x":2,"y":1}],"é":3},"a\n":7,"aa":6,"b":1}"#;
    assert_written_as(text, "json:sort_keys", json, "");
    assert_written_as(text, "json:sorted", json, "");
    assert_written_as(
        r#"{"$map":[["b",1],["a",2],["b",3]]}"#,
        "json:sorted",
        r#"{"a":2,"b":1,"b":3}"#,
        "duplicate-key 1 $.b",
    );
    assert_written_as(r#"{"$map":[[10,1],[9,2]]}"#, "json:sorted", r#"{"10":1,"9":2}"#, "key 2 $[10]");
    let typed_sorted = write(&read_typed_json(text), "json:typed,sort_keys").unwrap().0;
    assert_eq!(typed_sorted, json);
}

#[test]
fn duplicate_keys_are_reported_across_nested_maps() {
    for (text, losses) in [
        (r#"{"$map":[["a",{"a":1}],["a",2]]}"#, "duplicate-key 1 $.a"),
        (r#"{"$map":[["a",[{"a":{"a":{"b":1}}},{"a":2}]],["b",0],["a",2]]}"#, "duplicate-key 1 $.a"),
        (r#"[{"a":1},{"a":1},{"b":{"a":1},"a":2}]"#, ""),
        (r#"{"a":{"a":{"a":{"a":1}},"b":{"a":1}},"b":{"a":1,"b":2}}"#, ""),
        (r#"{"x":{"$map":[["x",1],["x",{"x":1}],["x",3]]},"y":0}"#, "duplicate-key 2 $.x.x"),
    ] {
        let (_, lost) = write(&read_typed_json(text), "json").unwrap();
        assert_eq!(lost, losses, "{text}");
    }
    // Beyond 256 entries keys have no ids.
    let many: Vec<String> = (0..300).map(|i| format!("[\"k{i}\",{{\"k{i}\":0}}]")).collect();
    let text = format!(r#"{{"$map":[{},["k3",1],["k299",2]]}}"#, many.join(","));
    let (_, lost) = write(&read_typed_json(&text), "json").unwrap();
    assert_eq!(lost, "duplicate-key 2 $.k3");
}

#[test]
fn numbers_keep_their_text_from_json_to_json() {
    let text = br#"[1.10,1E5,-0,0.30000000000000000001,1e-400,12345678901234567890123,100,1.5,-0.0,1.0e+2]"#;
    assert_eq!(icecore::convert(text, "json", "json").unwrap(), text);
    let other = icecore::read(text).unwrap();
    let json = icecore::write(&other, "json").unwrap();
    assert_eq!(
        String::from_utf8(json).unwrap(),
        "[1.1,100000.0,0,0.300000000000000000009999999999999985,\
         1.00000000000000000000000000000000003e-400,12345678901234567890123,100,1.5,-0.0,100.0]"
    );
}

#[test]
fn keys_that_are_arrays_or_maps_become_their_json() {
    let text = r#"{"a":{"$map":[[[1,"x",null],2],[{"k":[0.5,true]},3],[[[]],4]]}}"#;
    let (json, lost) = write(&read_typed_json(text), "json").unwrap();
    assert_eq!(json, r#"{"a":{"[1,\"x\",null]":2,"{\"k\":[0.5,true]}":3,"[[]]":4}}"#);
    assert_eq!(lost, "key 3 $.a{0}");
    let sorted = write(&read_typed_json(text), "json:sort_keys").unwrap().0;
    assert_eq!(sorted, r#"{"a":{"[1,\"x\",null]":2,"[[]]":4,"{\"k\":[0.5,true]}":3}}"#);
}

#[test]
fn keys_that_are_objects_or_too_large_are_refused() {
    let error = write(&read_typed_json(r#"{"a":{"$map":[[{"$class":"C","$value":1},2]]}}"#), "json").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some("$.a{0}")));
    let deep = format!(r#"{{"a":{{"$map":[[{}{},2]]}}}}"#, "[".repeat(30), "]".repeat(30));
    let error = write(&read_typed_json(&deep), "json").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some("$.a{0}")));
}

#[test]
fn all_output_is_valid_json() {
    let mut written = 0;
    for seed in 0..4000 {
        let document = common::document(seed, Palette::All);
        for stage in [
            "json:cycles=null",
            "json:cycles=null,indent=2,sort_keys",
            "json:cycles=null,class=class,ascii",
            "json:cycles=null,bytes=base64",
            "json:cycles=null,text=latin1,bytes=replace",
        ] {
            match write(&document, stage) {
                Ok((json, _)) => {
                    written += 1;
                    let plain = Stage::parse("json").unwrap();
                    let reread = match icecore::read_as(json.as_bytes(), &plain, &Limits::default()) {
                        Ok(reread) => reread,
                        // A number that needs more than 64 bits.
                        Err(error) if common::has_kind(&document, icecore::Kind::Float128) => {
                            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}\n{json}");
                            continue;
                        }
                        Err(error) => panic!("{error}\n{json}"),
                    };
                    assert!(!stage.contains("ascii") || json.is_ascii());
                    // A document that was read from JSON has nothing left to lose.
                    let (plain, losses) = write(&reread, "json").unwrap();
                    assert!(losses.is_empty() || losses.starts_with("duplicate-key"), "{losses}\n{json}");
                    if !stage.contains("indent")
                        && !stage.contains("ascii")
                        && !common::has_kind(&document, icecore::Kind::Float128)
                    {
                        assert_eq!(plain, json);
                    }
                }
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::Unrepresentable | ErrorKind::Limit),
                    "seed {seed}: {error}"
                ),
            }
        }
    }
    assert!(written > 10_000, "only {written}");
}

#[test]
fn large_documents_reach_the_output_in_parts() {
    struct PartialOutput {
        buffer: Vec<u8>,
        all: Vec<u8>,
        longest: usize,
        calls: usize,
    }
    impl icecore::Output for PartialOutput {
        fn buffer(&mut self) -> &mut Vec<u8> {
            &mut self.buffer
        }
        fn allow_flush(&mut self) -> Result<(), Error> {
            self.longest = self.longest.max(self.buffer.len());
            self.calls += 1;
            self.all.append(&mut self.buffer);
            Ok(())
        }
    }
    let list: Vec<String> =
        (0..100_000).map(|i| format!(r#"{{"id":{i},"text":"{}"}}"#, "é\\n".repeat(i % 50))).collect();
    let text = format!("[{}]", list.join(","));
    let document = icecore::read(text.as_bytes()).unwrap();
    let mut parts = PartialOutput { buffer: Vec::new(), all: Vec::new(), longest: 0, calls: 0 };
    let stage = Stage::parse("json").unwrap();
    icecore::write_to(&document, &stage, &Limits::default(), &mut parts).unwrap();
    assert!(parts.all == text.as_bytes());
    assert!(parts.longest < 100_000 && parts.calls > 50, "{} bytes at most, {} calls", parts.longest, parts.calls);
}

#[test]
fn a_closed_output_stops_the_writer() {
    struct ClosedOutput(Vec<u8>);
    impl icecore::Output for ClosedOutput {
        fn buffer(&mut self) -> &mut Vec<u8> {
            &mut self.0
        }
        fn allow_flush(&mut self) -> Result<(), Error> {
            Err(Error::new(ErrorKind::Output))
        }
    }
    let document = icecore::read(b"[1,2,3]").unwrap();
    for stage in ["json", "json:typed"] {
        let stage = Stage::parse(stage).unwrap();
        let error =
            icecore::write_to(&document, &stage, &Limits::default(), &mut ClosedOutput(Vec::new())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
    }
}

#[test]
fn a_built_document_equals_the_typed_text() {
    let mut builder = Builder::new();
    builder.begin_object_in("A", Form::Usual);
    builder.begin_map();
    builder.text_key("x").float32(0.5);
    builder.end().end();
    assert!(builder.finish().unwrap() == read_typed_json(r#"{"$class":{"$bytes":"A"},"$value":{"x":0.5}}"#));
}
