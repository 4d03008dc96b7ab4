//! Values of Ruby's own classes: plain JSON shows them as Ruby does.

use crate::fixtures;

use icecore::{Builder, Document, Known, Limits, LossKind, Stage, deep, value::Form};
use serde_json::Value;

const FILE: &str = "marshal-known.jsonl";

fn convert_to_json(document: &Document<'_>, stage: &str) -> Result<(String, Vec<LossKind>), icecore::Error> {
    let mut out = Vec::new();
    let losses = icecore::write_to(document, &Stage::parse(stage).unwrap(), &Limits::default(), &mut out)?;
    Ok((String::from_utf8(out).unwrap(), losses.iter().map(|loss| loss.kind).collect()))
}

#[test]
fn plain_json_shows_known_classes_as_ruby_does() {
    let all: Vec<_> = fixtures::load(FILE).into_iter().filter(|fixture| fixture.mode == "dump").collect();
    assert!(all.len() > 300, "{}", all.len());
    let mut failures = Vec::new();
    for fixture in &all {
        let document = icecore::read(&fixture.blob).unwrap();
        for stage in ["json", "json:sort_keys", "json:indent=2"] {
            let ours: Value = serde_json::from_str(&convert_to_json(&document, stage).unwrap().0).unwrap();
            if ours != fixture.line["json"] {
                failures.push(format!("{} ({stage}):\n  ours {ours}\n  ruby {}", fixture.name, fixture.line["json"]));
                break;
            }
        }
    }
    fixtures::report("known values", all.len(), &failures);
}

/// Damaged dumps that Ruby still loads: most layouts no longer fit, but a value that is reported as
/// known must be what Ruby says.
#[test]
fn damaged_values_are_shown_as_ruby_shows_them() {
    let (mut known, mut failures) = (0, Vec::new());
    let all = fixtures::load(FILE);
    for fixture in all.iter().filter(|fixture| fixture.mode == "damaged") {
        let Ok(document) = icecore::read(&fixture.blob) else { continue };
        let Some(text) = Known::of(document.root()).and_then(|known| known.text(&Limits::default())) else { continue };
        known += 1;
        if fixture.line["json"] != text {
            failures.push(format!("{}:\n  ours {text}\n  ruby {}", fixture.name, fixture.line["json"]));
        }
    }
    fixtures::report("damaged values", known, &failures);
    assert!(known > 300, "{known}");
}

/// Dumps of the real Ruby come back except for spelling: `json:typed` and Marshal do not depend on
/// known classes.
#[test]
fn known_classes_round_trip_through_typed_json() {
    let marshal = Stage::parse("marshal").unwrap();
    for fixture in fixtures::load(FILE).into_iter().filter(|fixture| fixture.mode == "dump") {
        let document = icecore::read(&fixture.blob).unwrap();
        let (typed, losses) = convert_to_json(&document, "json:typed,spelling").unwrap();
        assert!(losses.is_empty(), "{}", fixture.name);
        let reread = self::read_typed_json(&typed);
        assert_eq!(reread, document, "{}", fixture.name);
        let mut out = Vec::new();
        icecore::write_to(&reread, &marshal, &Limits::default(), &mut out).unwrap();
        assert_eq!(out, fixture.blob, "{}", fixture.name);
    }
}

#[test]
fn sort_keys_sorts_the_members_of_exceptions() {
    let document = read_typed_json(
        r#"{"$class":"IOError","$value":{"$map":[[{"$symbol":"mesg"},"second"],[{"$symbol":"bt"},{"$id":1,"$value":["a.rb:1"]}],
        [{"$symbol":"bt_locations"},{"$link":1}],[{"$symbol":"@code"},7],
        [{"$symbol":"cause"},{"$class":"E","$value":{"$map":[[{"$symbol":"bt"},null],[{"$symbol":"mesg"},"first"]]}}]]}}"#,
    );
    let (text, losses) = convert_to_json(&document, "json:sort_keys,class=@").unwrap();
    assert_eq!(
        text,
        r#"{"@":"IOError","backtrace":["a.rb:1"],"cause":{"@":"E","backtrace":null,"message":"first"},"code":7,"message":"second"}"#
    );
    assert_eq!(losses, []);
}

/// Reads `json:typed`.
fn read_typed_json(text: &str) -> Document<'_> {
    icecore::read_as(text.as_bytes(), &Stage::parse("json:typed").unwrap(), &Limits::default()).unwrap()
}

#[test]
fn each_kind_of_loss_is_counted_with_its_path() {
    let all = fixtures::load(FILE);
    let document = icecore::read(&all.iter().find(|fixture| fixture.name == "all at once").unwrap().blob).unwrap();
    let mut out = Vec::new();
    let losses = icecore::write_to(&document, &Stage::parse("json").unwrap(), &Limits::default(), &mut out).unwrap();
    let messages: Vec<_> = losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "2 times or dates written as text, first at $.at",
            "1 range written as text, first at $.in",
            "1 set written as an array, first at $.of",
            "1 class name dropped, first at $.why",
        ]
    );
    let (text, _) = convert_to_json(&document, "json:class=@").unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["at"]["@"], "Time");
    assert_eq!(value["at"]["value"], "1970-01-01T01:00:00+01:00");
    assert_eq!(value["of"]["value"], serde_json::json!(["a", "b"]));
    assert_eq!(value["why"], serde_json::json!({"@": "RuntimeError", "message": "x", "backtrace": null}));
}

#[test]
fn digits_below_nanoseconds_are_reported_as_a_loss() {
    let all = fixtures::load(FILE);
    let document = icecore::read(&all.iter().find(|fixture| fixture.name == "time third").unwrap().blob).unwrap();
    let (text, losses) = convert_to_json(&document, "json").unwrap();
    assert_eq!(
        (&*text, &losses[..]),
        ("\"1970-01-01T00:00:00.333333333Z\"", &[LossKind::Time, LossKind::Precision][..])
    );
    let Some(Known::Time(moment)) = Known::of(document.root()) else { panic!() };
    assert_eq!((moment.seconds(), moment.nanoseconds(), moment.is_exact()), (0, 333_333_333, false));
}

/// Layouts with a part that does not fit, as `json:typed`.
const MISFITS: &[&str] = &[
    // A Time of 7 bytes, one of month 15, one with a foreign variable, one that is text.
    r#"{"$opaque":"u","$class":"Time","$payload":{"$latin1":"1234567"}}"#,
    r#"{"$opaque":"u","$class":"Time","$payload":{"$base64":"IP//gAAAAAA="}}"#,
    r#"{"$opaque":"u","$class":"Time","$payload":{"$attributes":{"$map":[[{"$symbol":"odd"},1]]},"$value":{"$base64":"IIARgEDiEQA="}}}"#,
    r#"{"$opaque":"u","$class":"Time","$payload":{"$attributes":{"$map":[[{"$symbol":"nano_num"},1000],[{"$symbol":"nano_den"},1]]},"$value":{"$base64":"IIARgEDiEQA="}}}"#,
    r#"{"$opaque":"u","$class":"Time","$payload":{"$attributes":{"$map":[[{"$symbol":"nano_num"},1],[{"$symbol":"nano_den"},0]]},"$value":{"$base64":"IIARgEDiEQA="}}}"#,
    r#"{"$opaque":"u","$class":"Time","$payload":{"$attributes":{"$map":[[{"$symbol":"offset"},90000]]},"$value":{"$base64":"IIARgEDiEQA="}}}"#,
    r#"{"$opaque":"u","$class":"Time","$payload":{"$attributes":{"$map":[[{"$symbol":"zone"},[1]]]},"$value":{"$base64":"IIARgEDiEQA="}}}"#,
    r#"{"$opaque":"u","$class":"Time","$payload":[1]}"#,
    r#"{"$opaque":"U","$class":"Time","$payload":{"$base64":"IIARgEDiEQA="}}"#,
    // Dates of strings, of too few numbers, of numbers that no calendar has.
    r#"{"$opaque":"U","$class":"Date","$payload":["0","2460370","0","0","0","x"]}"#,
    r#"{"$opaque":"U","$class":"Date","$payload":[0,2460370,0,0,0]}"#,
    r#"{"$opaque":"U","$class":"Date","$payload":[9223372036854775807,2460370,0,0,0,2299161.0]}"#,
    r#"{"$opaque":"U","$class":"Date","$payload":[0,9223372036854775807,0,0,0,2299161.0]}"#,
    r#"{"$opaque":"U","$class":"Date","$payload":[0,-9223372036854775808,0,0,0,2299161.0]}"#,
    r#"{"$opaque":"U","$class":"Date","$payload":[0,2460370,86400,0,0,2299161.0]}"#,
    r#"{"$opaque":"U","$class":"Date","$payload":[0,2460370,0,-1,0,2299161.0]}"#,
    r#"{"$opaque":"U","$class":"Date","$payload":[0,2460370,0,0,-9223372036854775808,2299161.0]}"#,
    r#"{"$opaque":"U","$class":"DateTime","$payload":[0,2460370,0,{"$opaque":"U","$class":"Rational","$payload":[1,0]},0,2299161.0]}"#,
    // Nested numbers.
    r#"{"$opaque":"U","$class":"Rational","$payload":[1,{"$opaque":"U","$class":"Rational","$payload":[1,2]}]}"#,
    r#"{"$opaque":"U","$class":"Rational","$payload":[1,0]}"#,
    r#"{"$opaque":"U","$class":"Rational","$payload":[1,-2]}"#,
    r#"{"$opaque":"U","$class":"Rational","$payload":[1.5,2]}"#,
    r#"{"$opaque":"U","$class":"Rational","$payload":{"$map":[[1,2]]}}"#,
    r#"{"$opaque":"U","$class":"Complex","$payload":[1,{"$opaque":"U","$class":"Complex","$payload":[1,2]}]}"#,
    r#"{"$opaque":"U","$class":"Complex","$payload":["1",2]}"#,
    r#"{"$opaque":"u","$class":"BigDecimal","$payload":{"$latin1":"18:1.25"}}"#,
    r#"{"$opaque":"u","$class":"BigDecimal","$payload":{"$latin1":"x:0.125e1"}}"#,
    // Ranges with one member too few, too many, or with an odd `excl`.
    r#"{"$class":"Range","$value":{"$map":[[{"$symbol":"excl"},false],[{"$symbol":"begin"},1]]}}"#,
    r#"{"$class":"Range","$value":{"$map":[[{"$symbol":"excl"},null],[{"$symbol":"begin"},1],[{"$symbol":"end"},2]]}}"#,
    r#"{"$class":"Range","$value":{"$map":[[{"$symbol":"excl"},false],[{"$symbol":"begin"},1],[{"$symbol":"end"},2],[{"$symbol":"@a"},2]]}}"#,
    r#"{"$class":"Range","$value":{"$map":[[{"$symbol":"excl"},false],[{"$symbol":"begin"},1],[{"$symbol":"begin"},2]]}}"#,
    r#"{"$class":"Range","$value":{"excl":false,"begin":1,"end":2}}"#,
    r#"{"$class":"Range","$value":[1,2]}"#,
    // Values of class Set that are not sets.
    r#"{"$class":"Set","$value":{"$map":[[{"$symbol":"@hash"},{"$map":[[1,2]]}]]}}"#,
    r#"{"$class":"Set","$value":{"$map":[[{"$symbol":"@hash"},[1]]]}}"#,
    r#"{"$class":"Set","$value":{"$map":[[{"$symbol":"@hash"},{"$map":[]}],[{"$symbol":"other"},1]]}}"#,
    r#"{"$class":"Bag","$value":{"$map":[[{"$symbol":"@hash"},{"$map":[]}]]}}"#,
    r#"{"$class":"Set","$value":{"$map":[[{"$symbol":"@items"},{"$map":[]}]]}}"#,
    r#"{"$class":"Set","$value":{"@hash":{"$map":[[1,true]]}}}"#,
    // Exceptions with two messages, or with an invalid backtrace.
    r#"{"$class":"E","$value":{"$map":[[{"$symbol":"mesg"},"a"],[{"$symbol":"mesg"},"b"],[{"$symbol":"bt"},null]]}}"#,
    r#"{"$class":"E","$value":{"$map":[[{"$symbol":"mesg"},"a"],[{"$symbol":"bt"},1]]}}"#,
    r#"{"$class":"E","$value":{"$map":[[{"$symbol":"mesg"},"a"]]}}"#,
    r#"{"$class":"E","$value":{"mesg":"a","bt":null}}"#,
    r#"{"$opaque":"U","$class":"ActiveSupport::TimeWithZone","$payload":[1,"UTC",2]}"#,
    r#"{"$opaque":"U","$class":"OpenStruct","$payload":[1]}"#,
];

#[test]
fn unexpected_layouts_stay_plain_objects() {
    for text in MISFITS {
        let document = read_typed_json(text);
        assert!(Known::of(document.root()).is_none(), "{text}");
        let (_, losses) = convert_to_json(&document, "json").unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(losses.iter().any(|kind| matches!(kind, LossKind::Class | LossKind::Opaque)), "{text}");
    }
}

/// Variables of its own and another class are lost, and the value is not.
#[test]
fn values_with_variables_and_of_subclasses_keep_their_meaning() {
    let cases: [(&[u8], &str, &[LossKind]); 7] = [
        (b"o:\x08Set\x07:\x0a@hash}\x06i\x06TF:\x07@xi\x0a", "[1]", &[LossKind::Attributes, LossKind::Set]),
        (b"Io:\x08Set\x06:\x0a@hash}\x06i\x06TF\x06:\x07@xi\x0a", "[1]", &[LossKind::Attributes, LossKind::Set]),
        (b"o:\x08Bag\x06:\x0a@hash}\x06i\x06TF", "[1]", &[LossKind::Class, LossKind::Set]),
        (b"o:\x08Bag\x06:\x0a@hash}\x06i\x06FF", "{\"hash\":{\"1\":false}}", &[]),
        (
            b"Iu:\x09Time\x0d\x20\x80\x1b\xc0\x00\x00\x00\x00\x07:\x07@xi\x06:\x09zoneI\"\x08UTC\x06:\x06EF",
            "\"2010-01-01T00:00:00Z\"",
            &[LossKind::Attributes, LossKind::Time],
        ),
        (
            b"Iu:\x08Tim\x0d\x20\x80\x1b\xc0\x00\x00\x00\x00\x06:\x09zoneI\"\x08UTC\x06:\x06EF",
            "\"2010-01-01T00:00:00Z\"",
            &[LossKind::Class, LossKind::Time],
        ),
        (
            b"U:\x09DateI[\x0bi\x00i\x03\xd2\x8a%i\x00i\x00i\x00f\x0c2299161\x06:\x07@xi\x06",
            "\"2024-02-29\"",
            &[LossKind::Attributes, LossKind::Time],
        ),
    ];
    for (body, text, kinds) in cases {
        let dump = [b"\x04\x08", body].concat();
        let document = icecore::read(&dump).unwrap();
        let (json, losses) = convert_to_json(&document, "json").unwrap();
        assert_eq!(json, text, "{}", dump.escape_ascii());
        for kind in kinds {
            assert!(losses.contains(kind), "{kind:?} of {}: {losses:?}", dump.escape_ascii());
        }
    }
}

/// Ruby 1.8 wrote seconds and microseconds; a time without an offset is shown in UTC.
#[test]
fn times_of_ruby_1_8_are_read() {
    let document = read_typed_json(r#"{"$opaque":"u","$class":"Time","$payload":{"$base64":"AOELXkCJAQA="}}"#);
    assert_eq!(convert_to_json(&document, "json").unwrap().0, r#""2020-01-01T00:00:00.100672Z""#);
    let document =
        icecore::read(b"\x04\x08Iu:\x09Time\x0d\x20\x80\x11\xc0\x01\x00\x00\x00\x06:\x0dsubmicro\"\x07\x12\x30")
            .unwrap();
    assert_eq!(convert_to_json(&document, "json").unwrap().0, r#""1970-01-01T00:00:00.000001123Z""#);
}

#[test]
fn a_set_that_contains_itself_is_a_cycle() {
    let text = r#"{"$id":1,"$value":{"$class":"Set","$value":{"$map":[[{"$symbol":"@hash"},{"$map":[["a",true],[[{"$link":1}],true]]}]]}}}"#;
    let document = read_typed_json(text);
    let error = convert_to_json(&document, "json").unwrap_err();
    assert!(error.path().is_some(), "{error}");
    assert_eq!(convert_to_json(&document, "json:cycles=null").unwrap().0, r#"["a",[null]]"#);
}

#[test]
fn deep_known_values_need_no_deep_stack() {
    let small = |depth: usize| {
        let mut builder = Builder::new();
        for _ in 0..depth {
            builder.begin_object("RuntimeError");
            builder.begin_map();
            builder.symbol_key("mesg", "").null();
            builder.symbol_key("bt", "").null();
            builder.symbol_key("cause", "").begin_opaque("OpenStruct", Form::UserMarshal);
            builder.begin_map();
            builder.symbol_key("set", "").begin_object("Set");
            builder.begin_map();
            builder.symbol_key("@hash", "").begin_map();
            builder.key();
        }
        builder.null();
        for _ in 0..depth {
            builder.bool(true);
            builder.end().end().end();
            builder.end().end();
            builder.end().end();
        }
        builder.finish().unwrap()
    };
    std::thread::Builder::new()
        .stack_size(128 << 10)
        .spawn(move || {
            let document = small(20_000);
            let (text, losses) = convert_to_json(&document, "json").unwrap();
            assert!(
                text.starts_with(r#"{"message":null,"backtrace":null,"cause":{"set":[{"message""#),
                "{}",
                &text[..80]
            );
            assert!(losses.contains(&LossKind::Set));
        })
        .unwrap()
        .join()
        .unwrap();
}

/// Nested numbers and nested dates, found by fuzzing.
#[test]
fn deep_unexpected_layouts_need_no_deep_stack() {
    const DEPTH: usize = 9_000;
    let nested = |class: &str, before: &[i64], behind: &[i64]| {
        let mut builder = Builder::new();
        for _ in 0..DEPTH {
            builder.begin_opaque(class, Form::UserMarshal);
            builder.begin_array();
            before.iter().for_each(|value| {
                builder.int(*value);
            });
        }
        builder.int(1);
        for _ in 0..DEPTH {
            behind.iter().for_each(|value| {
                builder.int(*value);
            });
            builder.end().end();
        }
        builder.finish().unwrap()
    };
    let all = [
        nested("Complex", &[1], &[]),
        nested("Complex", &[], &[1]),
        nested("Rational", &[1], &[]),
        nested("Date", &[0, 0, 0], &[0, 0]),
        nested("DateTime", &[0, 0, 0], &[0, 0]),
        nested("ActiveSupport::TimeWithZone", &[], &[0, 0]),
        nested("OpenStruct", &[], &[]),
    ];
    std::thread::Builder::new()
        .stack_size(128 << 10)
        .spawn(move || {
            for document in &all {
                assert!(Known::of(document.root()).is_none());
                assert!(!convert_to_json(document, "json").unwrap().0.is_empty());
                assert!(deep::open(document.clone(), &Limits::default()).unwrap().opened.is_empty());
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_rational_with_too_many_digits_is_refused() {
    let text = format!(r#"{{"$opaque":"U","$class":"Rational","$payload":[{},3]}}"#, "9".repeat(5000));
    let document = read_typed_json(&text);
    let mut limits = Limits::default();
    limits.digits = 1000;
    let error = icecore::write_to(&document, &Stage::parse("json").unwrap(), &limits, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), icecore::ErrorKind::Limit);
    assert_eq!(error.path(), Some("$#0[0]"));
}
