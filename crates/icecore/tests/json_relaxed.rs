//! Syntax outside of JSON that options of the reader allow.

use crate::common;

use crate::common::on_a_small_stack;
use icecore::{Document, Error, ErrorKind, Kind, Limits, Request, Stage, convert};

fn read<'t>(options: &str, text: &'t str) -> Result<Document<'t>, Error> {
    let stage = Stage::parse(&format!("json:{options}")).unwrap();
    let limits = Limits::default();
    let plain = icecore::read_as(text.as_bytes(), &stage, &limits);
    // The result with spans is the same.
    let detailed = icecore::read_with(text.as_bytes(), &stage, Request::new(&limits).detailed());
    match (&plain, &detailed) {
        (Ok(plain), Ok(detailed)) => assert_eq!(plain, detailed, "{options}: {text}"),
        (Err(a), Err(b)) => assert_eq!(a, b, "{options}: {text}"),
        _ => panic!("{options}: {text}: {plain:?} {detailed:?}"),
    }
    plain
}

fn json(options: &str, text: &str) -> String {
    let document = read(options, text).unwrap_or_else(|error| panic!("{options}: {text}: {error}"));
    String::from_utf8(icecore::write(&document, "json").unwrap()).unwrap()
}

fn error(options: &str, text: &str) -> (ErrorKind, u64) {
    let error = read(options, text).err().unwrap_or_else(|| panic!("{options}: {text} is read"));
    (error.kind(), error.offset().unwrap())
}

#[test]
fn relaxed_accepts_trailing_commas_comments_and_tabs() {
    for (text, expected) in [
        ("[1,]", "[1]"),
        ("[1 , \n]", "[1]"),
        (r#"{"a":1,}"#, r#"{"a":1}"#),
        (r#"{"a":[],"b":{},}"#, r#"{"a":[],"b":{}}"#),
        ("# one\n# two\r[1 # three\n, # ] four\n2]# five", "[1,2]"),
        ("[\"a\tb\"]", r#"["a\tb"]"#),
        (r#"["a#b", "\u0041\n"]"#, r##"["a#b","A\n"]"##),
        ("{ # x\n\"a\" # y\n: # z\n1 # w\n}", r#"{"a":1}"#),
    ] {
        assert_eq!(json("relaxed", text), expected, "{text}");
        assert_eq!(read("typed=no", text).is_ok(), text.starts_with("[\"a#b"), "{text}");
    }
    for (text, offset) in
        [("[,]", 1), ("[1,,]", 3), ("{,}", 1), ("[1 // x\n]", 3), ("[\"a\nb\"]", 3), ("[1,", 3), ("['a']", 1)]
    {
        assert_eq!(error("relaxed", text).1, offset, "{text}");
    }
    assert_eq!(json("comments", "/**/[1,/* ] */2 // x\n/* * / */] # y"), "[1,2]");
    assert_eq!(error("comments", "[1 /* x"), (ErrorKind::Malformed, 3));
    assert_eq!(error("comments", "[1,]").1, 3);
}

#[test]
fn options_accept_single_quotes_and_bare_keys() {
    assert_eq!(json("singlequote", r#"{'a':'b"c','d\u0041':"e'f"}"#), r#"{"a":"b\"c","dA":"e'f"}"#);
    assert_eq!(json("barekey", r#"{a:1,_b-2 : {"c":3}, d:4, e.x+é:5}"#), r#"{"a":1,"_b-2":{"c":3},"d":4,"e.x+é":5}"#);
    assert_eq!(json("barekey,singlequote,relaxed", "[{a:'x'},{a:'y',},]"), r#"[{"a":"x"},{"a":"y"}]"#);
    assert_eq!(error("singlequote", "['a]").0, ErrorKind::Truncated);
    assert_eq!(error("singlequote", r"['a\'b']"), (ErrorKind::Malformed, 3));
    for text in ["{1a:1}", "{$a:1}", "{a b:1}", "{\u{e9}:1}", "{:1}", "[a]"] {
        assert!(read("barekey", text).is_err(), "{text}");
    }
    assert_eq!(json("loose", "[\"a\u{0}\n\u{1f}\"]"), r#"["a\u0000\n\u001f"]"#);
}

#[test]
fn tags_are_read_as_frozen_objects() {
    let text = r#"[("My::Class")["JSON",1,{"x":("Other")[]}],{"k":( "Caf\u00e9" ) [2]}]"#;
    let document = read("tags", text).unwrap();
    assert_eq!(document.find("$[0]").unwrap().kind(), Kind::Opaque);
    assert_eq!(document.find("$[0]").unwrap().class(), b"My::Class");
    let stage = "json:tags";
    let rewritten = icecore::write(&document, stage).unwrap();
    let dense = r#"[("My::Class")["JSON",1,{"x":("Other")[]}],{"k":("Café")[2]}]"#;
    assert_eq!(String::from_utf8_lossy(&rewritten), dense);
    // Sereal has tags too, and gives them back.
    let sereal = convert(text.as_bytes(), "json:tags", "sereal").unwrap();
    assert_eq!(String::from_utf8(convert(&sereal, "sereal", "json:tags").unwrap()).unwrap(), dense);
    for (text, offset) in [
        ("(\"X\"){}", 5),
        ("(\"X\")", 5),
        ("(1)[]", 1),
        ("(\"X\"[]", 4),
        ("(", 1),
        ("[(\"X\")[1)]", 8),
        ("(\"X\")[1]]", 8),
    ] {
        assert_eq!(error("tags", text).1, offset, "{text}");
    }
    assert!(read("typed=no", "(\"X\")[]").is_err());
}

#[test]
fn options_select_exact_numbers_and_duplicate_keys() {
    let long = "1.000000000000000000000000000000000001";
    assert_eq!(json("bignum", &format!("[{long},1e400,0.5,1e-7,12]")), format!("[\"{long}\",\"1e400\",0.5,1e-7,12]"));
    assert_eq!(error("dupkeys=error", r#"{"a":1,"b":{"a":2},"\u0061":3}"#), (ErrorKind::Malformed, 19));
    assert_eq!(json("dupkeys=error", r#"[{"a":1},{"a":1}]"#), r#"[{"a":1},{"a":1}]"#);
    assert_eq!(json("dupkeys=keep", r#"{"a":1,"a":2}"#), r#"{"a":1,"a":2}"#);
    let many: Vec<String> = (0..2000).map(|key| format!("\"{key}\":0")).collect();
    let text = format!("{{{},\"1999\":0}}", many.join(","));
    assert_eq!(error("dupkeys=error", &text).0, ErrorKind::Malformed);
}

#[test]
fn deep_tags_need_no_deep_stack() {
    on_a_small_stack(|| {
        let depth = 200_000;
        let mut limits = Limits::default();
        let text = "(\"X\")[".repeat(depth) + &"]".repeat(depth);
        let stage = Stage::parse("json:tags").unwrap();
        assert_eq!(icecore::read_as(text.as_bytes(), &stage, &limits).unwrap_err().kind(), ErrorKind::Limit);
        limits.depth = u32::MAX;
        let document = icecore::read_as(text.as_bytes(), &stage, &limits).unwrap();
        let mut rewritten = Vec::new();
        icecore::write_to(&document, &stage, &limits, &mut rewritten).unwrap();
        assert_eq!(rewritten, text.as_bytes());
        let text = "[".repeat(depth) + "# x\n1" + &",]".repeat(depth);
        let stage = Stage::parse("json:relaxed").unwrap();
        assert!(icecore::read_as(text.as_bytes(), &stage, &limits).is_ok());
        let _ = icecore::read_as(&text.as_bytes()[..depth * 2], &stage, &limits).unwrap_err();
    });
}

/// Valid JSON is read as before, even with all options at once.
#[test]
fn valid_json_is_read_the_same_with_all_options() {
    let all = "relaxed,comments,singlequote,barekey,loose,tags";
    for seed in 0..common::usual_or_full(75, 300) {
        let text = icecore::write(&common::document(seed, common::Palette::Json), "json:indent=1").unwrap();
        let text = String::from_utf8(text).unwrap();
        let (strict, relaxed) = (read("typed=no", &text).unwrap(), read(all, &text).unwrap());
        assert_eq!(strict, relaxed);
        for cut in (0..text.len()).filter(|offset| text.is_char_boundary(*offset)).step_by(7) {
            let _ = read(all, &text[..cut]);
        }
    }
}
