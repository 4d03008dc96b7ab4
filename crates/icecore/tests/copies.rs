//! Copies: values that were stored once, but are not shared.

use icecore::{Builder, Document, Kind, Limits, Losses, Stage};

fn convert_with_losses(input: &[u8], from: &str, to: &str) -> (Vec<u8>, Vec<&'static str>) {
    let document = icecore::read_as(input, &Stage::parse(from).unwrap(), &Limits::default()).unwrap();
    let mut out = Vec::new();
    let losses: Losses =
        icecore::write_to(&document, &Stage::parse(to).unwrap(), &Limits::default(), &mut out).unwrap();
    (out, losses.iter().map(|loss| loss.kind.as_str()).collect())
}

fn show_conversion((out, losses): (Vec<u8>, Vec<&'static str>)) -> String {
    format!("{} {losses:?}", String::from_utf8(out).unwrap())
}

/// `igbinary_serialize(["a" => [], "b" => []])`.
const EMPTY_ARRAYS: &[u8] = b"\0\0\0\x02\x14\x02\x11\x01a\x14\x00\x11\x01b\x01\x01";
/// `$x = [1]; igbinary_serialize([$x, $x])`.
const TWICE: &[u8] = b"\0\0\0\x02\x14\x02\x06\x00\x14\x01\x06\x00\x06\x01\x06\x01\x01\x01";
/// `$o = [new stdClass]; igbinary_serialize([$o, $o])`.
const OBJECT: &[u8] = b"\0\0\0\x02\x14\x02\x06\x00\x14\x01\x06\x00\x17\x08stdClass\x14\x00\x06\x01\x01\x01";
/// `$v = 1; $o = [&$v]; igbinary_serialize([$o, $o, &$v])`.
const VARIABLE: &[u8] = b"\0\0\0\x02\x14\x03\x06\x00\x14\x01\x06\x00\x25\x06\x01\x06\x01\x01\x01\x06\x02\x25\x01\x02";

#[test]
fn igbinary_arrays_stored_once_are_copies() {
    let cases = [
        (EMPTY_ARRAYS, "php", r#"a:2:{s:1:"a";a:0:{}s:1:"b";a:0:{}} []"#),
        (EMPTY_ARRAYS, "json", r#"{"a":[],"b":[]} []"#),
        (EMPTY_ARRAYS, "json:typed", r#"{"$icecore":1,"$strings":"bytes","$value":{"a":[],"b":[]}} []"#),
        (TWICE, "php", "a:2:{i:0;a:1:{i:0;i:1;}i:1;a:1:{i:0;i:1;}} []"),
        (TWICE, "json", "[[1],[1]] []"),
        (TWICE, "json:typed", "[[1],[1]] []"),
        (TWICE, "dumper:indent=0,terse", "[[1],[1]] []"),
        (OBJECT, "php", r#"a:2:{i:0;a:1:{i:0;O:8:"stdClass":0:{}}i:1;a:1:{i:0;r:3;}} []"#),
        // Without Purity, perl's eval does not resolve the path.
        (OBJECT, "dumper:indent=0", r#"$VAR1 = [[bless( {}, 'stdClass' )],[$VAR1->[0][0]]]; ["sharing"]"#),
        (
            OBJECT,
            "dumper:indent=0,purity",
            r#"$VAR1 = [[bless( {}, 'stdClass' )],[{}]];$VAR1->[1][0] = $VAR1->[0][0]; []"#,
        ),
        (VARIABLE, "php", "a:3:{i:0;a:1:{i:0;i:1;}i:1;a:1:{i:0;R:3;}i:2;R:3;} []"),
    ];
    for (input, to, expected) in cases {
        assert_eq!(show_conversion(convert_with_losses(input, "igbinary", to)), expected, "{to}");
    }
    for input in [EMPTY_ARRAYS, TWICE, OBJECT, VARIABLE] {
        assert_eq!(icecore::convert(input, "igbinary", "igbinary").unwrap(), input);
        let (marshal, lost) = convert_with_losses(input, "igbinary", "marshal");
        // Ruby has no aliases of integers, but it has copies of them.
        assert_eq!(lost.contains(&"sharing"), input == VARIABLE, "{lost:?}");
        let reread = icecore::read(&marshal).unwrap();
        assert!(reread.nodes().iter().all(|node| node.kind != Kind::Copy));
    }
}

#[test]
fn immutable_ruby_values_become_plain_php_values() {
    let cases: &[(&[u8], &str)] = &[
        // Each of these occurs twice: 2**70, 1e78, /a/, String, Rational(1, 2), 1..2.
        (b"\x04\x08[\x07l+\x0a\0\0\0\0\0\0\0\0\x40\0@\x06", r#"s:22:"1180591620717411303424";"#),
        (b"\x04\x08[\x07f\x091e78@\x06", "d:1.0E+78;"),
        (b"\x04\x08[\x07I/\x06a\0\x06:\x06EF@\x06", r#"s:1:"a";"#),
        (b"\x04\x08[\x07c\x0bString@\x06", r#"s:6:"String";"#),
        (b"\x04\x08[\x07U:\x0dRational[\x07i\x06i\x07@\x06", "a:2:{i:0;i:1;i:1;i:2;}"),
    ];
    for (input, value) in cases {
        let (php, lost) = convert_with_losses(input, "marshal", "php");
        assert_eq!(String::from_utf8(php).unwrap(), format!("a:2:{{i:0;{value}i:1;{value}}}"));
        assert!(!lost.contains(&"sharing"), "{lost:?}");
        assert!(!convert_with_losses(input, "marshal", "json").1.contains(&"sharing"));
        assert_eq!(icecore::convert(input, "marshal", "marshal").unwrap(), *input);
        // Typed JSON keeps the fact that the value was stored once.
        let typed = convert_with_losses(input, "marshal", "json:typed").0;
        assert_eq!(icecore::convert(&typed, "json:typed", "marshal").unwrap(), *input);
    }
}

#[test]
fn shared_ruby_strings_are_repeated_in_php() {
    let shared = b"\x04\x08[\x07\"\x06a@\x06";
    for to in ["php", "igbinary"] {
        let (out, lost) = convert_with_losses(shared, "marshal", to);
        assert_eq!(lost, ["sharing"]);
        let reread = icecore::read(&out).unwrap();
        assert_eq!(icecore::write(&reread, "json").unwrap(), br#"["a","a"]"#);
        assert!(reread.nodes().iter().all(|node| !node.kind.is_again()));
    }
}

#[test]
fn shared_arrays_stay_shared_in_igbinary() {
    // `$x = [1]; [$x, $x]` in Perl.
    let shared = b"\x04\x08[\x07[\x06i\x06@\x06";
    let (out, lost) = convert_with_losses(shared, "marshal", "igbinary");
    assert_eq!(lost, [""; 0]);
    assert_eq!(out, b"\0\0\0\x02\x14\x02\x06\x00\x25\x14\x01\x06\x00\x06\x01\x06\x01\x25\x01\x01");
}

fn nest_copies(levels: u32) -> Document<'static> {
    let mut builder = Builder::new();
    builder.begin_array();
    let mut last = builder.begin_array().at();
    builder.int(1).end();
    for _ in 0..levels {
        let next = builder.begin_array().at();
        builder.copy(last).copy(last);
        builder.end();
        last = next;
    }
    builder.end();
    builder.finish().unwrap()
}

#[test]
fn copies_of_copies_are_limited() {
    let few = nest_copies(10);
    let written = few.without_copies(&Limits::default()).unwrap();
    assert!(*written == few);
    assert_eq!(icecore::write(&few, "json").unwrap(), icecore::write(&written, "json").unwrap());
    let many = nest_copies(64);
    for to in ["php", "json", "storable", "sereal", "dumper", "var-export", "marshal", "join", "pack:template=N"] {
        let error = icecore::write(&many, to).unwrap_err();
        assert_eq!(error.kind(), icecore::ErrorKind::Limit, "{to}: {error}");
    }
    assert!(icecore::write(&many, "igbinary").unwrap().len() < 1000);
    assert!(many == many.clone());
}

#[test]
fn a_copy_of_its_own_container_is_refused() {
    let typed = br#"{"$icecore":1,"$value":{"$id":1,"$value":[{"$copy":1}]}}"#;
    let error = icecore::read_as(typed, &Stage::parse("json:typed").unwrap(), &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("a $copy of a value that is complete before it"), "{error}");
}
