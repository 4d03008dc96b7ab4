//! `pack` with the fixtures that perl made, and with hostile input.

use crate::common::usual_or_full;
use crate::packing;
use crate::packing::hostile;

use crate::packing::{Question, unhex};
use icecore::raw::Reader as _;
use icecore::{Builder, Document, ErrorKind, Limits, LossKind, Request, Stage, format::pack};

/// Returns the questions of the fixtures, and perl's answers.
fn fixtures() -> Vec<(Question, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pack.jsonl");
    let text = std::fs::read_to_string(path).expect("the fixtures");
    let line = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let ask = line["ask"].as_str().expect("a question");
        let mut words = ask.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (operation, template, data) = (word(), String::from_utf8(unhex(word())).expect("ASCII"), word());
        let question = match operation {
            "u" => Question::Unpack(template, unhex(data)),
            _ => Question::Pack(template, data.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()),
        };
        (question, line["said"].as_str().expect("an answer").to_owned())
    };
    text.lines().map(line).collect()
}

#[test]
fn templates_pack_and_unpack_like_perl() {
    let fixtures = fixtures();
    let mut failures = Vec::new();
    for (question, said) in &fixtures {
        let ours = packing::run(question);
        if !packing::is_same(&ours, said) {
            failures.push(format!("{question:?}\n  perl {said}\n  ours {ours}"));
        }
    }
    println!("{}", failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n"));
    assert!(failures.is_empty(), "{} of {} differ", failures.len(), fixtures.len());
    assert!(fixtures.len() > 4000);
}

/// Returns the document, the number of bytes read, and the error.
fn outcome<'a>(template: &str, data: &'a [u8], detail: bool) -> (Document<'a>, usize, Option<icecore::Error>) {
    let limits = Limits::default();
    let request = Request::new(&limits);
    let request = if detail { request.detailed() } else { request };
    let outcome = pack::Options::new(template).read(data, request);
    (outcome.document, outcome.consumed, outcome.error)
}

/// The detailed reading has no separate loops for common templates.
#[test]
fn both_readers_agree_on_damaged_data() {
    for (question, _) in fixtures() {
        let Question::Unpack(template, data) = question else { continue };
        for len in 0..=data.len() {
            let mut bytes = data[..len].to_vec();
            if let Some(byte) = bytes.get_mut(len / 2) {
                *byte ^= 0x81;
            }
            let (fast, fast_consumed, fast_error) = outcome(&template, &bytes, false);
            let (slow, consumed, error) = outcome(&template, &bytes, true);
            let kind = |error: &Option<icecore::Error>| error.as_ref().map(|error| error.kind());
            assert_eq!(kind(&fast_error), kind(&error), "{template}");
            assert_eq!(fast_consumed, consumed, "{template}");
            assert!(fast == slow, "{template} {bytes:?}\n{fast:?}\n{slow:?}");
            assert!(consumed <= bytes.len(), "{template}");
            if error.is_none() {
                let trace = slow.trace().expect("a trace");
                let mut offset = 0;
                for span in &trace.spans {
                    assert_eq!(span.start, offset, "{template} {bytes:?}: {:?}", trace.spans);
                    offset = span.end;
                }
                assert_eq!(offset, consumed as u64, "{template} {bytes:?}: {:?}", trace.spans);
            }
        }
    }
}

/// Runs on a thread whose stack is small.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(128 << 10).spawn(run).expect("a thread").join().expect("no panic");
}

fn list(items: usize) -> Document<'static> {
    let mut builder = Builder::new();
    builder.begin_array();
    for item in 0..items {
        builder.int(item as i64);
    }
    builder.end();
    builder.finish().expect("a list")
}

fn packed(template: &str, document: &Document<'_>) -> Result<Vec<u8>, ErrorKind> {
    let mut out = Vec::new();
    let options = pack::Options::new(template);
    pack::write(document, &options, &Limits::default(), &mut out).map(|_| out).map_err(|error| error.kind())
}

#[test]
fn hostile_templates_need_little_memory_and_stack() {
    let size = usual_or_full(20_000, 100_000);
    for template in hostile::templates(size) {
        on_a_small_stack(move || {
            let options = pack::Options::new(&template);
            for byte in [0u8, b'_', 0xFF, b'1'] {
                let data = vec![byte; size];
                let limits = Limits::default();
                let outcome = options.read(&data, Request::new(&limits));
                assert!(outcome.document.nodes().len() <= 2_000_000);
                assert!(
                    outcome.document.tape().arena().len() <= 64_000_000,
                    "{}",
                    outcome.document.tape().arena().len()
                );
            }
            let mut out = Vec::new();
            let _ = pack::write(&list(1000), &options, &Limits::default(), &mut out);
            assert!(out.len() <= 64_000_000, "{}", out.len());
        });
    }
}

#[test]
fn values_that_do_not_fit_are_reported_as_losses() {
    for (template, json, bytes, kinds) in [
        ("C", "[300]", &[44][..], &[LossKind::Wrapped][..]),
        ("c", "[200]", &[200], &[LossKind::Wrapped]),
        ("N", "[-1]", &[255, 255, 255, 255], &[LossKind::Wrapped]),
        ("l", "[-1]", &[255, 255, 255, 255], &[]),
        ("q", "[18446744073709551615]", &[255; 8], &[LossKind::Wrapped]),
        ("Q", "[18446744073709551615]", &[255; 8], &[]),
        ("n", "[2.5]", &[0, 2], &[LossKind::Precision]),
        ("f<", "[0.1]", &[0xCD, 0xCC, 0xCC, 0x3D], &[LossKind::Precision]),
        ("C", r#"["12abc"]"#, &[12], &[LossKind::Numeric]),
        ("C", "[null]", &[0], &[LossKind::Null]),
        ("aC", "[true, true]", b"1\x01", &[LossKind::Bool]),
        ("a2", r#"["abc"]"#, b"ab", &[LossKind::Width]),
        ("C2", "[1]", &[1, 0], &[LossKind::Missing]),
        ("C", "[1, 2, 3]", &[1], &[LossKind::Surplus]),
        ("a*", r#"["é"]"#, &[0xE9], &[]),
        ("a*", r#"["€"]"#, "€".as_bytes(), &[LossKind::Wide]),
        ("H2", r#"["zz"]"#, &[0x33], &[LossKind::Numeric]),
    ] {
        let document = icecore::read(json.as_bytes()).unwrap();
        let mut out = Vec::new();
        let losses = pack::write(&document, &pack::Options::new(template), &Limits::default(), &mut out).unwrap();
        let lost: Vec<_> = losses.iter().map(|loss| loss.kind).collect();
        assert_eq!((&out[..], &lost[..]), (bytes, kinds), "{template} {json}");
    }
    let document = icecore::read(b"[1, 2, 3]").unwrap();
    let losses = pack::write(&document, &pack::Options::new("C"), &Limits::default(), &mut Vec::new()).unwrap();
    assert_eq!(losses.iter().map(|loss| (loss.count, loss.path.as_str())).collect::<Vec<_>>(), [(2, "$[1]")]);
}

#[test]
fn values_that_cannot_be_packed_are_refused() {
    for (template, json, path) in [
        ("a*", "[[1]]", "$[0]"),
        ("a*", r#"{"a":1}"#, "$"),
        ("w", "[-1]", "$[0]"),
        ("N*", r#"[1, "inf"]"#, "$[1]"),
        ("X", "[]", "$"),
    ] {
        let document = icecore::read(json.as_bytes()).unwrap();
        let mut out = b"before".to_vec();
        let error = pack::write(&document, &pack::Options::new(template), &Limits::default(), &mut out).unwrap_err();
        assert_eq!(
            (error.kind(), error.path()),
            (ErrorKind::Unrepresentable, Some(path)),
            "{template} {json}: {error}"
        );
        assert_eq!(out, b"before");
    }
    assert_eq!(packed("p", &list(1)), Err(ErrorKind::Unsupported));
    assert_eq!(packed("Y", &list(1)), Err(ErrorKind::Usage));
    assert_eq!(packed("x1000000000", &list(1)), Err(ErrorKind::Limit));
}

const HASH: &str = r#"{"title":"hoge","author":"fuga","body":"hogehoge"}"#;

fn convert(input: &[u8], from: &str, to: &str) -> String {
    String::from_utf8_lossy(&icecore::convert(input, from, to).unwrap_or_else(|error| panic!("{from} {to}: {error}")))
        .into_owned()
}

#[test]
fn a_flat_hash_round_trips() {
    for template in ["(A16)*", "(l/A*)*", "(N/A*)*", "(a8)3"] {
        let names = format!("pack:template='{template}',names=title,author,body");
        let bytes = icecore::convert(HASH.as_bytes(), "json", &names).unwrap();
        assert_eq!(convert(&bytes, &names, "json").replace('\0', "").replace("\\u0000", ""), HASH, "{template}");
    }
    for template in ["(A16)*", "(l/A*)*", "(N/A*)*", "(Z*)*"] {
        let map = format!("pack:template='{template}',map");
        let bytes = icecore::convert(HASH.as_bytes(), "json", &map).unwrap();
        assert_eq!(convert(&bytes, &map, "json"), HASH, "{template}");
    }
    let error = icecore::convert(HASH.as_bytes(), "json", "pack:template='A*',names=title,author").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some("$.body")), "{error}");
    let error = icecore::convert(b"abc", "pack:template='(a)*',names=a,b", "json").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
    let error = icecore::convert(b"abc", "pack:template='(a)*',map", "json").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
}

#[test]
fn a_thousand_integers_round_trip() {
    let json = format!("[{}]", (1000..2000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let text = format!("[{}]", (1000..2000).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(","));
    for (template, back) in
        [("l*", &json), ("N*", &json), ("w*", &json), ("(A8)*", &text), ("(l/A*)*", &text), ("(N/A*)*", &text)]
    {
        let stage = format!("pack:template='{template}'");
        let bytes = icecore::convert(json.as_bytes(), "json", &stage).unwrap();
        assert_eq!(convert(&bytes, &stage, "json"), *back, "{template}");
    }
}

#[test]
fn options_exact_utf8_and_names_have_their_effect() {
    let error = icecore::convert(b"abcd\n", "pack:template='N',exact", "json").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Trailing, Some(4)));
    assert!(error.to_string().contains("one by one"), "{error}");
    assert_eq!(convert(b"\0\0\0\x01\n", "pack:template=N", "json"), "[1]");
    assert_eq!(convert("é€".as_bytes(), "pack:template='a1 W',utf8", "json"), r#"["é",8364]"#);
    assert_eq!(
        icecore::convert(r#"["é",200]"#.as_bytes(), "json", "pack:template='a*C',utf8").unwrap(),
        "éÈ".as_bytes()
    );
    let stage = "pack:template='(N/a*)*',encode";
    let bytes = icecore::convert(r#"["日本"]"#.as_bytes(), "json", stage).unwrap();
    assert_eq!(bytes, [b"\0\0\0\x06", "日本".as_bytes()].concat());
    assert_eq!(convert(&bytes, stage, "json"), r#"["日本"]"#);
    let error = icecore::convert(b"", "pack", "json").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(Stage::parse("pack:template='a',names=a,map").is_ok());
    assert_eq!(icecore::convert(b"", "pack:template='a',names=a,map", "json").unwrap_err().kind(), ErrorKind::Usage);
}

/// A prepared stage reads and writes the same.
#[test]
fn a_codec_packs_and_unpacks_the_same() {
    let codec = icecore::Codec::new(Stage::parse("pack:template='(n/a*)*'").unwrap());
    let mut tape = icecore::raw::Tape::new();
    for input in [&b"\0\x01a\0\x02bc"[..], b"", b"\0\0"] {
        let filled = codec.read(input, &mut tape);
        assert_eq!((filled.consumed, filled.error), (input.len(), None));
        let document = Document::from_tape(input, std::mem::take(&mut tape));
        let mut out = Vec::new();
        assert!(codec.write(&document, &mut out).unwrap().is_empty());
        assert_eq!(out, input);
    }
}
