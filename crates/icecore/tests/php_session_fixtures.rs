//! Sessions that PHP wrote, what PHP reads from them, and what it refuses.

use crate::common;

use crate::common::{Palette, document, on_a_small_stack};
use crate::fixtures::perl::base64;
use crate::fixtures::php::{Describer, ask_script, key_bytes, one_nan};
use crate::fixtures::{Fixture, load};
use icecore::format::php::session::{self, Handler};
use icecore::raw::Reader as _;
use icecore::{Document, Error, ErrorKind, Kind, Limits, Request, Stage, raw::Outcome};
use std::fmt::Write;

const HANDLERS: [Handler; 3] = [Handler::Php, Handler::PhpBinary, Handler::PhpSerialize];

fn handler(fixture: &Fixture) -> Handler {
    let name = fixture.line["handler"].as_str().unwrap();
    HANDLERS.into_iter().find(|handler| handler.as_str() == name).unwrap()
}

fn options(handler: Option<Handler>) -> session::ReadOptions {
    let mut options = session::ReadOptions::default();
    options.handler = handler;
    options
}

fn read_both_ways<'a>(blob: &'a [u8], options: &session::ReadOptions) -> Outcome<'a> {
    common::read_both_ways(options, blob, &Limits::default())
}

fn write(document: &Document<'_>, handler: Option<Handler>) -> Result<(Vec<u8>, bool), Error> {
    let mut options = session::WriteOptions::default();
    options.handler = handler;
    let mut out = Vec::new();
    let losses = session::write(document, &options, &Limits::default(), &mut out)?;
    Ok((out, losses.is_empty()))
}

fn sessions() -> Vec<Fixture> {
    load("php-session.jsonl").into_iter().filter(|fixture| fixture.mode != "damaged").collect()
}

#[test]
fn sessions_are_read_as_php_reads_them() {
    let (mut checked, mut failures) = (0, String::new());
    for fixture in sessions() {
        let outcome = read_both_ways(&fixture.blob, &options(Some(handler(&fixture))));
        assert_eq!(outcome.error, None, "{}", fixture.name);
        assert_eq!(outcome.document.root().kind(), Kind::Map, "{}", fixture.name);
        let expected = one_nan(fixture.line["php"].clone());
        let found = Describer::default().value(outcome.document.root());
        if found != expected {
            let _ =
                writeln!(failures, "{} {}\n php {expected}\n we  {found}", fixture.name, fixture.blob.escape_ascii());
        }
        checked += 1;
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(checked > 80, "{checked}");
}

/// The handler is detected from the text, unless several handlers can read it.
#[test]
fn the_handler_is_detected() {
    let mut found = 0;
    for fixture in sessions() {
        if fixture.blob.is_empty() {
            continue;
        }
        let outcome = read_both_ways(&fixture.blob, &options(None));
        assert_eq!(outcome.error, None, "{} {}", fixture.name, fixture.blob.escape_ascii());
        let (text, _) = write(&outcome.document, None).unwrap();
        assert_eq!(text.escape_ascii().to_string(), fixture.blob.escape_ascii().to_string(), "{}", fixture.name);
        let with_handler = read_both_ways(&fixture.blob, &options(Some(handler(&fixture))));
        assert!(with_handler.document == outcome.document, "{}", fixture.name);
        found += 1;
    }
    assert!(found > 70, "{found}");
}

/// A string in a session can be forged so that the whole text reads differently; names that no
/// program uses rule that reading out.
#[test]
fn a_forged_string_does_not_change_the_handler() {
    let text = br#"a:1:{i:0;s:17:"q|a:1:{i:0;s:1:"x";}"#;
    for handler in [Handler::Php, Handler::PhpSerialize] {
        assert_eq!(read_both_ways(text, &options(Some(handler))).error, None, "{handler:?}");
    }
    let outcome = read_both_ways(text, &options(None));
    assert_eq!(outcome.document.root().entries().next().map(|(key, _)| key.node().kind), Some(Kind::Int));
}

#[test]
fn sessions_are_rewritten_byte_for_byte() {
    let spelled = Stage::parse("json:typed,spelling").unwrap();
    let typed = Stage::parse("json:typed").unwrap();
    let limits = Limits::default();
    for fixture in sessions() {
        let document = read_both_ways(&fixture.blob, &options(Some(handler(&fixture)))).document;
        let (text, lossless) = write(&document, None).unwrap();
        assert!(lossless, "{}", fixture.name);
        assert_eq!(text.escape_ascii().to_string(), fixture.blob.escape_ascii().to_string(), "{}", fixture.name);
        let mut json = Vec::new();
        icecore::write_to(&document, &spelled, &limits, &mut json).unwrap();
        let reread = icecore::read_as(&json, &typed, &limits).unwrap();
        assert!(reread == document, "{}", fixture.name);
        assert_eq!(write(&reread, None).unwrap().0, text, "{}", fixture.name);
        // Another handler gives another text for the same variables.
        for other in HANDLERS {
            let Ok((text, _)) = write(&document, Some(other)) else { continue };
            let reread = read_both_ways(&text, &options(Some(other)));
            assert_eq!(reread.error, None, "{} as {other:?}: {}", fixture.name, text.escape_ascii());
            let has_integer_text = fixture.name.starts_with("hand/");
            assert!(has_integer_text || reread.document == document, "{} as {other:?}", fixture.name);
        }
    }
}

#[test]
fn damaged_sessions_are_refused_where_php_refuses_them() {
    let (mut total, mut refused, mut failures) = (0, 0, String::new());
    for fixture in load("php-session.jsonl").iter().filter(|fixture| fixture.mode == "damaged") {
        let mut options = options(Some(handler(fixture)));
        options.lenient = true;
        let outcome = read_both_ways(&fixture.blob, &options);
        let reads = fixture.line["reads"].as_bool().unwrap();
        total += 1;
        refused += usize::from(!reads);
        if reads != outcome.error.is_none() && !is_intended_difference(&fixture.blob, &outcome, handler(fixture)) {
            let _ = writeln!(
                failures,
                "{:?} {} php {reads} we {:?}",
                handler(fixture),
                fixture.blob.escape_ascii(),
                outcome.error
            );
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(total > 2000 && refused > 1000, "{total} {refused}");
}

/// Returns `true` if a difference between us and PHP on damaged input is intended.
fn is_intended_difference(blob: &[u8], outcome: &Outcome<'_>, handler: Handler) -> bool {
    match &outcome.error {
        // PHP reads a count of properties without digits as 0.
        Some(error) if error.expected() == Some("digits") => true,
        // PHP reads an empty array.
        Some(error) if handler == Handler::PhpSerialize && error.offset() == Some(0) => blob.starts_with(b"N;"),
        Some(_) => false,
        // A link to a value that a second value of its key replaced.
        None => repeats_a_key(&outcome.document),
    }
}

fn repeats_a_key(document: &Document<'_>) -> bool {
    (0..document.nodes().len() as u32).filter_map(|node| document.at(node)).filter(|node| node.kind() == Kind::Map).any(
        |map| {
            let mut seen = std::collections::HashSet::new();
            map.entries().any(|(key, _)| match key.node().kind {
                Kind::Int => !seen.insert(key.node().payload.to_string().into_bytes()),
                _ => !seen.insert(key_bytes(&key)),
            })
        },
    )
}

#[test]
fn both_readers_agree_on_damaged_sessions() {
    let mut random = common::Random::new(9);
    for fixture in sessions() {
        let step = if fixture.blob.len() > 600 { 61 } else { 1 };
        for len in (1..fixture.blob.len()).step_by(step) {
            read_both_ways(&fixture.blob[..len], &options(Some(handler(&fixture))));
            read_both_ways(&fixture.blob[..len], &options(None));
        }
        if fixture.blob.len() > 2000 || fixture.blob.is_empty() {
            continue;
        }
        for _ in 0..40 {
            let mut blob = fixture.blob.clone();
            let offset = random.below(blob.len() as u64) as usize;
            blob[offset] = *random.pick(b"NbidsaSOCErR:;{}\"0123456789+-|!.\\\0\x01\xff");
            let outcome = read_both_ways(&blob, &options(None));
            if outcome.error.is_none() && outcome.consumed == blob.len() {
                let (rewritten, _) = write(&outcome.document, None).unwrap();
                assert_eq!(rewritten.escape_ascii().to_string(), blob.escape_ascii().to_string());
            }
        }
    }
}

#[test]
fn deep_values_need_no_deep_stack() {
    on_a_small_stack(|| {
        const LEVELS: usize = 100_000;
        let value = format!("{}N;{}", "a:1:{s:1:\"k\";".repeat(LEVELS), "}".repeat(LEVELS));
        let mut limits = Limits::default();
        for (handler, blob) in
            [(Handler::Php, format!("a|{value}b|R:1;")), (Handler::PhpBinary, format!("\x01a{value}\x01bR:1;"))]
        {
            limits.depth = 10_000;
            let error = session::read(blob.as_bytes(), &options(None), &limits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            limits.depth = u32::MAX - 100;
            let outcome = options(Some(handler)).read(blob.as_bytes(), Request::new(&limits).detailed());
            assert_eq!(outcome.error, None);
            let mut out = Vec::new();
            session::write(&outcome.document, &session::WriteOptions::default(), &limits, &mut out).unwrap();
            assert!(out == blob.as_bytes());
            let _ = icecore::identify(blob.as_bytes());
        }
    });
}

#[test]
fn php_reads_our_sessions() {
    let (mut lines, mut written) = (Vec::new(), Vec::new());
    for seed in 0..900 {
        for palette in [Palette::Json, Palette::Perl] {
            for handler in HANDLERS {
                let original = document(seed, palette);
                let Ok((text, _)) = write(&original, Some(handler)) else { continue };
                let reread = read_both_ways(&text, &options(Some(handler)));
                assert_eq!(reread.error, None, "{handler:?} {}", text.escape_ascii());
                // PHP copies or drops an array that contains itself, and opaque objects.
                let nodes = reread.document.nodes();
                let names_root = nodes.iter().any(|node| node.kind == Kind::Alias && node.payload == 0);
                if names_root || repeats_a_key(&reread.document) {
                    continue;
                }
                lines.push(format!("{} {}", handler.as_str(), base64(&text)));
                written.push((handler, text));
            }
        }
    }
    assert!(lines.len() > 600, "{}", lines.len());
    let Some(answers) = ask_script("session.php", &lines) else { return };
    for ((handler, text), answer) in written.iter().zip(answers) {
        let document = read_both_ways(text, &options(Some(*handler))).document;
        let expected = Describer::default().value(document.root());
        assert_eq!(one_nan(answer["php"].clone()), expected, "{handler:?} {}", text.escape_ascii());
    }
}

#[test]
fn values_that_php_would_drop_are_refused() {
    for (json, handler, says) in [
        (r#"{"a|b":1}"#, Handler::Php, Some("one with `|` in it")),
        (r#"{"a|b":1}"#, Handler::PhpBinary, None),
        (r#"[1]"#, Handler::Php, Some("the position in a list")),
        (r#"[1]"#, Handler::PhpSerialize, None),
        (r#"5"#, Handler::PhpSerialize, Some("another value")),
        (r#"{}"#, Handler::Php, None),
        (r#"[]"#, Handler::Php, None),
    ] {
        let document = icecore::read(json.as_bytes()).unwrap();
        let error = write(&document, Some(handler)).err();
        assert_eq!(error.as_ref().and_then(|error| error.found()), says, "{json} {handler:?}");
        assert!(error.is_none_or(|error| error.kind() == ErrorKind::Unrepresentable));
    }
    let long = format!("{{\"{}\":1}}", "n".repeat(128));
    let document = icecore::read(long.as_bytes()).unwrap();
    assert!(write(&document, Some(Handler::PhpBinary)).is_err() && write(&document, Some(Handler::Php)).is_ok());
    let integers = session::read(b"a:1:{i:5;N;}", &options(None), &Limits::default()).unwrap();
    assert!(write(&integers, Some(Handler::Php)).is_err());
}

#[test]
fn a_session_is_distinguished_from_other_text() {
    for fixture in sessions()
        .iter()
        .filter(|fixture| fixture.mode == "session" && !fixture.name.starts_with("names") && fixture.blob.len() > 4)
    {
        let found = icecore::identify(&fixture.blob).unwrap_or_else(|| panic!("{}", fixture.name));
        let expected = if handler(fixture) == Handler::PhpSerialize { "php" } else { "php-session" };
        assert_eq!(found.name, expected, "{}", fixture.name);
        assert_eq!(icecore::detect::stage_of(&fixture.blob).unwrap().format().name, expected, "{}", fixture.name);
    }
    for text in ["a|b", "name|value\nx|y", "| a | b |", "a|i:1", "N;|", "x|N;y", "ls | wc", "a|s:3"] {
        assert!(icecore::identify(text.as_bytes()).is_none_or(|found| found.name != "php-session"), "{text}");
    }
}

fn message(text: &[u8], stage: &str) -> String {
    let stage = icecore::Stage::parse(stage).unwrap();
    icecore::read_as(text, &stage, &Limits::default()).unwrap_err().to_string()
}

#[test]
fn errors_name_the_real_end_of_a_string() {
    for text in [&br#"a|i:1;b|s:9:"x";"#[..], br#"a|s:1:"xyz";b|i:1;"#] {
        let error = message(text, "php-session:handler=php");
        assert!(!error.contains("PHP says"), "{error}");
        assert!(error.contains("; `\";` comes after") || error.contains("but `\";` comes after"), "{error}");
    }
}

#[test]
fn errors_name_the_variable() {
    for (text, path) in [
        ("a|i:99999999999999999999;", "$.a"),
        ("a|i:1;b|s:9:\"x\";", "$.b"),
        ("a|i:1;b|a:1:{s:1:\"c\";i:99999999999999999999;}", "$.b.c"),
    ] {
        let error = session::read(text.as_bytes(), &options(Some(Handler::Php)), &Limits::default()).unwrap_err();
        assert_eq!(error.path(), Some(path), "{text}: {error}");
    }
}

/// PHP itself does not accept a newline there.
#[test]
fn a_newline_after_the_last_variable_is_ignored_on_request() {
    for handler in ["", "handler=php,"] {
        let error = message(b"a|i:1;b|i:2;\n", "php-session:handler=php");
        assert!(error.contains("(`php-session:lenient` ignores them)"), "{error}");
        let stage = icecore::Stage::parse(&format!("php-session:{handler}lenient")).unwrap();
        let document = icecore::read_as(b"a|i:1;b|i:2;\n", &stage, &Limits::default()).unwrap();
        assert_eq!(document.root().len(), 2);
        // A serialized array stays one, and a text is not a session.
        let document = icecore::read_as(
            b"a:1:{i:0;i:5;}\n",
            &icecore::Stage::parse("php-session:lenient").unwrap(),
            &Limits::default(),
        );
        assert_eq!(document.unwrap().root().len(), 1);
        assert!(icecore::read_as(b"just a text\n", &stage, &Limits::default()).is_err());
    }
    let error = message(b"a:1:{i:0;i:5;}\n", "php-session:handler=php_serialize");
    assert!(error.contains("`php-session:lenient` ignores them"), "{error}");
}

/// PHP's reader counts the values in a payload, too.
#[test]
fn links_after_a_payload_need_its_values() {
    let text = br#"a|C:2:"Rz":4:{i:0;}b|O:8:"stdClass":0:{}c|r:3;"#;
    assert!(message(text, "php-session:handler=php").contains("`C:`"));
    let stage = Stage::parse("php-session:handler=php,payloads").unwrap();
    let document = icecore::read_as(text, &stage, &Limits::default()).unwrap();
    let [b, c] = ["b", "c"].map(|name| document.root().get(name).unwrap().target().index());
    assert_eq!(b, c);
    // The first variable is value 1, and its payload is value 2.
    let text = br#"a|C:2:"Rz":4:{i:0;}b|C:2:"Rz":4:{r:9;}"#;
    assert_eq!(icecore::read_as(text, &stage, &Limits::default()).unwrap_err().kind(), ErrorKind::BadLink);
}
