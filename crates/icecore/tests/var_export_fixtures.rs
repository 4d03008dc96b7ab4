//! What var_export() wrote, what PHP reads from it, and what is refused as code.

use crate::common;

use crate::common::{Palette, document, on_a_small_stack, usual_or_full};
use crate::fixtures::perl::base64;
use crate::fixtures::php::{Describer, ask_script, key_bytes, one_nan};
use crate::fixtures::{Fixture, load};
use icecore::raw::Reader as _;
use icecore::{
    Document, Error, ErrorKind, Kind, Limits, Output, Request, Stage, format::var_export, raw::Outcome,
    value::Comparison,
};
use serde_json::{Value as Json, json};
use std::fmt::Write;

fn read_both_ways(blob: &[u8]) -> Outcome<'_> {
    common::read_both_ways(&var_export::ReadOptions::default(), blob, &Limits::default())
}

fn read_whole(blob: &[u8]) -> Document<'_> {
    let outcome = read_both_ways(blob);
    assert_eq!(outcome.error, None, "{}", blob.escape_ascii());
    assert_eq!(outcome.consumed, blob.len(), "{}", blob.escape_ascii());
    outcome.document
}

fn write(document: &Document<'_>, stage: &str) -> Result<(Vec<u8>, Vec<&'static str>), Error> {
    let mut out = Vec::new();
    let losses = icecore::write_to(document, &Stage::parse(stage).unwrap(), &Limits::default(), &mut out)?;
    Ok((out, losses.iter().map(|loss| loss.kind.as_str()).collect()))
}

fn load_readable_fixtures() -> Vec<Fixture> {
    load("var-export.jsonl").into_iter().filter(|fixture| fixture.mode != "refused").collect()
}

/// Keeps the last value of each key. With duplicate keys, PHP has fewer entries and other numbers
/// of links, so only the values are compared.
fn last_wins(value: Json) -> Json {
    let Json::Array(mut list) = value else { return value };
    if let [Json::String(tag), .., entries] = &mut list[..]
        && (tag == "a" || tag == "o")
    {
        let mut expected: Vec<Json> = Vec::new();
        for entry in entries.take().as_array().unwrap() {
            let entry = json!([entry[0], last_wins(entry[1].clone())]);
            match expected.iter_mut().find(|known| known[0] == entry[0]) {
                Some(known) => *known = entry,
                None => expected.push(entry),
            }
        }
        *entries = Json::Array(expected);
    }
    Json::Array(list)
}

#[test]
fn texts_are_read_as_php_reads_them() {
    let (mut checked, mut failures) = (0, String::new());
    for fixture in load_readable_fixtures() {
        let document = read_whole(&fixture.blob);
        let Some(expected) = fixture.line.get("php") else { continue };
        let expected = last_wins(one_nan(expected.clone()));
        let found = last_wins(Describer::default().value(document.root()));
        if found != expected {
            let _ =
                writeln!(failures, "{} {}\n php {expected}\n we  {found}", fixture.name, fixture.blob.escape_ascii());
        }
        checked += 1;
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(checked > 500, "{checked}");
}

#[test]
fn texts_are_rewritten_byte_for_byte() {
    let (mut plain, mut spelled) = (0, 0);
    for fixture in load_readable_fixtures() {
        let document = read_whole(&fixture.blob);
        // Without `trusted`, `<?` in a string is split.
        let (text, losses) = write(&document, "var-export:trusted").unwrap();
        assert!(losses.is_empty(), "{}: {losses:?}", fixture.name);
        if fixture.mode == "var_export" {
            assert_eq!(text.escape_ascii().to_string(), fixture.blob.escape_ascii().to_string(), "{}", fixture.name);
            // PHP has only one way to write, so no notes are needed.
            let (limits, options) = (Limits::default(), var_export::ReadOptions::default());
            let simple = var_export::read(&fixture.blob, &options, &limits).unwrap();
            assert!(write(&simple, "var-export:trusted").unwrap().0 == fixture.blob, "{}", fixture.name);
            assert!(document.spelling().unwrap().notes.is_empty(), "{}", fixture.name);
            plain += 1;
        } else {
            assert!(read_whole(&text) == document, "{} {}", fixture.name, text.escape_ascii());
            assert_eq!(write(&read_whole(&text), "var-export:trusted").unwrap().0, text, "{}", fixture.name);
            spelled += usize::from(text == fixture.blob);
        }
    }
    assert!(plain > 400 && spelled > 80, "{plain} {spelled}");
}

#[test]
fn spelling_round_trips_through_typed_json() {
    let limits = Limits::default();
    for fixture in load_readable_fixtures() {
        let document = read_whole(&fixture.blob);
        let (json, losses) = write(&document, "json:typed,spelling").unwrap();
        assert!(losses.is_empty(), "{}", fixture.name);
        let reread = icecore::read_as(&json, &Stage::parse("json:typed").unwrap(), &limits).unwrap();
        assert!(reread == document, "{}", fixture.name);
        assert_eq!(
            write(&reread, "var-export").unwrap().0,
            write(&document, "var-export").unwrap().0,
            "{}",
            fixture.name
        );
    }
}

/// Texts of older versions come back byte for byte.
#[test]
fn older_forms_round_trip() {
    for text in [
        "stdClass::__set_state(array(\n))",
        "stdClass::__set_state(array(\n   'a' => 1,\n))",
        "Foo\\Bar::__set_state(array(\n   'a' => \n  Baz::__set_state(array(\n  )),\n))",
        "array (\n  0 => 0.10000000000000001,\n  1 => 1.0E+25,\n  2 => 3,\n)",
        "<?php return array (\n  'a' => NULL,\n);",
        "<?php\n// cached\n\nreturn array (\n  'a' => 1,\n);\n",
        "array (\n  'a' => \"b\\n\",\n  'c' => 0x1F,\n)\n",
        "stdClass::__set_state(array(\n   0 => 1,\n   '1' => 2,\n))",
    ] {
        let (rewritten, losses) = write(&read_whole(text.as_bytes()), "var-export").unwrap();
        assert_eq!((String::from_utf8_lossy(&rewritten).as_ref(), losses.len()), (text, 0));
    }
}

#[test]
fn code_is_refused_and_reported_as_code() {
    let mut refused = 0;
    for fixture in load("var-export.jsonl").iter().filter(|fixture| fixture.mode == "refused") {
        let outcome = read_both_ways(&fixture.blob);
        let is_behind = outcome.consumed < fixture.blob.len();
        assert!(outcome.error.is_some() || is_behind, "{}", fixture.blob.escape_ascii());
        refused += 1;
    }
    assert!(refused > 100, "{refused}");
    for (text, offset, found) in [
        ("['a' => env('X')]", 8, "`env(`, a call"),
        ("array (\n  0 => $x,\n)", 15, "a variable"),
        ("[\"a $b\"]", 4, "a variable in a string"),
        ("[new Foo]", 1, "`new`"),
        ("[M_PI]", 1, "`M_PI`, a constant"),
        ("['a' . 5]", 5, "the operator `.` with something that is not a string"),
        ("[1 + 2]", 3, "the operator `+`"),
        ("[<<<A\nx\nA]", 1, "a heredoc or nowdoc: write the string in quotes"),
        ("Foo::make(1)", 0, "`Foo::make(`, a call"),
        ("(array) [1]", 0, "the cast `(array)`"),
        ("<?php\n$x;", 6, "a variable"),
        ("<?php\n$x == 1;", 6, "a variable"),
        ("<?php use Foo; return 1;", 6, "`use` and not `return`"),
        ("[self::X]", 1, "`self`, which depends on its position"),
        ("1 ? 2 : 3", 2, "the operator `?`"),
        ("M_PI", 0, "`M_PI`, a constant"),
        ("M_PI\n", 0, "`M_PI`, a constant"),
        ("<?php return M_PI", 13, "`M_PI`, a constant"),
        ("<?php return M_PI;", 13, "`M_PI`, a constant"),
        ("new", 0, "`new`"),
        ("(1)", 0, "an expression in brackets"),
        ("[(M_PI)]", 1, "an expression in brackets"),
        ("( String ) 5", 0, "the cast `(String)`"),
        ("[...[1]]", 1, "the operator `...`, a spread"),
    ] {
        let error = read_both_ways(text.as_bytes()).error.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            (error.kind(), error.offset(), error.found()),
            (ErrorKind::Unsupported, Some(offset), Some(found)),
            "{text}: {error}"
        );
    }
}

#[test]
fn errors_name_the_entry() {
    for (text, path) in [
        ("array('a'=>$x)", "$.a"),
        ("array(5, 'a'=>$x)", "$.a"),
        ("['b'=>array('c'=>M_PI)]", "$.b.c"),
        ("['b'=>array(1, M_PI)]", "$.b[1]"),
        ("[7 => 1, -3 => foo()]", "$[-3]"),
        ("\\A::__set_state(array('p' => $x))", "$.p"),
        ("['a' => ['b' => 1] + ['c' => 2]]", "$.a"),
        ("['a' => 1 + 2, 'b' => 3]", "$.a"),
        ("[1, [2] + [3]]", "$[1]"),
        ("array(1) + array()", "$"),
        ("5 + 5", "$"),
        ("$x", "$"),
        ("<?php return foo();", "$"),
        ("['a' => 1 2]", "${1}"),
    ] {
        let error = read_both_ways(text.as_bytes()).error.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(error.path(), Some(path), "{text}: {error}");
    }
}

#[test]
fn both_readers_agree_on_damaged_texts() {
    let mut random = common::Random::new(4);
    let mut cut = 0;
    for fixture in load_readable_fixtures() {
        let step = if fixture.blob.len() > 600 { 53 } else { 1 };
        let is_container =
            fixture.mode == "var_export" && fixture.blob.ends_with(b")") && !fixture.blob.starts_with(b"'");
        for len in (0..fixture.blob.len()).step_by(step) {
            let outcome = read_both_ways(&fixture.blob[..len]);
            // The name of a method that is cut off looks like an enum case.
            let is_case = outcome.document.root().kind() == Kind::EnumCase;
            if is_container && !(is_case && outcome.error.is_none()) {
                let error = outcome.error.unwrap_or_else(|| panic!("{} cut at {len}", fixture.name));
                let is_case = error.kind() == ErrorKind::Unsupported && !fixture.blob[..len].contains(&b'(');
                assert!(error.kind() == ErrorKind::Truncated || is_case, "{} cut at {len}: {error}", fixture.name);
                cut += 1;
            }
        }
        if fixture.blob.len() > 3000 || fixture.blob.is_empty() {
            continue;
        }
        for _ in 0..20 {
            let mut blob = fixture.blob.clone();
            let offset = random.below(blob.len() as u64) as usize;
            blob[offset] = *random.pick(b"Nabx('\")[]=>,;.:\\$-0123456789 \n/*#\0\xff");
            let outcome = read_both_ways(&blob);
            if outcome.error.is_none() {
                let (rewritten, _) = write(&outcome.document, "var-export").unwrap();
                assert!(read_both_ways(&rewritten).document == outcome.document, "{}", blob.escape_ascii());
            }
        }
    }
    assert!(cut > 10_000, "{cut}");
}

/// An edited value is written with its new content, even if its old text was kept.
#[test]
fn edited_values_do_not_keep_their_old_text() {
    let document = read_whole(b"[\"a\\n\" => \"b\\n\", 0x10 => 0x1F]");
    let (json, _) = write(&document, "json:typed,spelling").unwrap();
    let json = String::from_utf8(json).unwrap();
    let edited = json.replace(r#""b\n""#, r#""c\n""#).replace("31", "32").replace(r#""a\n""#, r#""d""#);
    assert_ne!(json, edited);
    let typed = Stage::parse("json:typed").unwrap();
    for (json, text) in [
        (json, "array (\n  \"a\\n\" => \"b\\n\",\n  0x10 => 0x1F,\n)"),
        (edited, "array (\n  'd' => 'c\n',\n  0x10 => 32,\n)"),
    ] {
        let document = icecore::read_as(json.as_bytes(), &typed, &Limits::default()).unwrap();
        assert_eq!(String::from_utf8_lossy(&write(&document, "var-export").unwrap().0), text, "{json}");
    }
}

#[test]
fn text_before_the_value_stays_separate_from_it() {
    let (text, _) = write(&read_whole(b"return[1];"), "var-export").unwrap();
    assert_eq!(String::from_utf8_lossy(&text), "return array (\n  0 => 1,\n);");
}

/// An output that drops everything at once.
#[derive(Default)]
struct DiscardingOutput(Vec<u8>);

impl Output for DiscardingOutput {
    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    fn allow_flush(&mut self) -> Result<(), Error> {
        self.0.clear();
        Ok(())
    }
}

#[test]
fn deep_values_need_no_deep_stack() {
    on_a_small_stack(|| {
        // The text grows with the square of its levels.
        let levels = usual_or_full(20_000, 100_000);
        let options = var_export::ReadOptions::default();
        for (open, close) in
            [("[", "]"), ("array('k' => ", ")"), ("A::__set_state(array(1 => ", "))"), ("(object) [7 => 1, 2 => ", "]")]
        {
            let blob = format!("{}'x'{}", open.repeat(levels), close.repeat(levels)).into_bytes();
            let error = var_export::read(&blob, &options, &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            let mut limits = Limits::default();
            limits.depth = u32::MAX - 100;
            let outcome = options.read(&blob, Request::new(&limits).detailed());
            assert_eq!(outcome.error, None);
            // The text breaks off after the last opening.
            let deep = blob[..open.len() * levels].len();
            let outcome = options.read(&blob[..deep], Request::new(&limits));
            assert_eq!(outcome.error.map(|error| error.kind()), Some(ErrorKind::Truncated));
            let _ = icecore::identify(&blob);
        }
        for open in ["- ", "'a' . ", "/**/", "\"\\"] {
            let _ = var_export::read(open.repeat(levels).as_bytes(), &options, &Limits::default());
        }
        let mut limits = Limits::default();
        // Each level is indented, so that the text grows with the square.
        (limits.depth, limits.growth) = (u32::MAX - 100, u64::MAX);
        let blob = format!("{}1{}", "[".repeat(levels), "]".repeat(levels)).into_bytes();
        let document = var_export::read(&blob, &options, &limits).unwrap();
        let options = var_export::WriteOptions::default();
        var_export::write(&document, &options, &limits, &mut DiscardingOutput::default()).unwrap();
    });
}

#[test]
fn long_lists_that_become_maps_round_trip() {
    let mut text = "array (\n".to_owned();
    for i in 0..1000 {
        let _ = writeln!(text, "  {i} => {},", i % 7);
    }
    text += "  'last' => true,\n)";
    let document = read_whole(text.as_bytes());
    assert_eq!((document.root().kind(), document.root().len()), (Kind::Map, 1001));
    assert_eq!(write(&document, "var-export").unwrap().0, text.as_bytes());
}

fn is_repeated(document: &Document<'_>) -> bool {
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

/// Any document can be written, the output reads back, and a second writing loses nothing more.
#[test]
fn random_documents_round_trip() {
    let (mut written, mut circles) = (0, 0);
    for seed in 0..1200 {
        for palette in [Palette::Json, Palette::Perl, Palette::All] {
            for stage in ["var-export", "var-export:file,short"] {
                let (text, _) = match write(&document(seed, palette), stage) {
                    Ok(done) => done,
                    Err(error) => {
                        let kinds = [ErrorKind::Unrepresentable, ErrorKind::Limit];
                        assert!(kinds.contains(&error.kind()), "{seed}: {error}");
                        circles += 1;
                        continue;
                    }
                };
                let rewritten = read_whole(&text);
                let (twice, losses) = write(&rewritten, "var-export:file=no").unwrap();
                assert!(losses.is_empty(), "{seed}: {losses:?}");
                assert!(Comparison::new().equal(&read_whole(&twice), &rewritten), "{seed} {}", text.escape_ascii());
                if stage == "var-export" {
                    assert_eq!(twice.escape_ascii().to_string(), text.escape_ascii().to_string(), "{seed}");
                }
                written += 1;
            }
        }
    }
    assert!(written > 4000 && circles > 20, "{written} {circles}");
}

#[test]
fn php_loads_our_texts() {
    let (mut lines, mut texts) = (Vec::new(), Vec::new());
    let mut add = |text: Vec<u8>| {
        let reread = read_both_ways(&text);
        // PHP could not load the classes of random objects.
        let has_class = reread.document.nodes().iter().any(|node| matches!(node.kind, Kind::Object | Kind::EnumCase));
        if !has_class && !is_repeated(&reread.document) {
            lines.push(base64(&text));
            texts.push(text);
        }
    };
    for seed in 0..700 {
        for palette in [Palette::Json, Palette::Perl] {
            for stage in ["var-export", "var-export:file", "var-export:short,file"] {
                if let Ok((text, _)) = write(&document(seed, palette), stage) {
                    add(text);
                }
            }
        }
    }
    let document_count = texts.len();
    assert!(document_count > 1500, "{document_count}");
    // With classes that the script defines.
    for fixture in load_readable_fixtures() {
        if fixture.line.get("php").is_some() && !fixture.name.starts_with("string") {
            for stage in ["var-export:file", "var-export:short,file=no", "var-export:short,file"] {
                let text = write(&read_whole(&fixture.blob), stage).unwrap().0;
                lines.push(base64(&text));
                texts.push(text);
            }
        }
    }
    assert!(texts.len() > document_count + 1000);
    let Some(answers) = ask_script("var-export.php", &lines) else { return };
    for (text, answer) in texts.iter().zip(answers) {
        let expected = last_wins(Describer::default().value(read_whole(text).root()));
        assert_eq!(last_wins(one_nan(answer["php"].clone())), expected, "{}: {answer}", text.escape_ascii());
    }
}

#[test]
fn losses_are_reported() {
    for (typed, text, losses) in [
        ("18446744073709551615", "'18446744073709551615'", "big-integer"),
        (r#"{"$symbol":"abc"}"#, "'abc'", "symbol"),
        (r#"{"$enum":"A\\B:C"}"#, "\\A\\B::C", ""),
        (r#"{"$class":"My::Class","$value":{"a":1}}"#, "\\My\\Class::__set_state(array(\n   'a' => 1,\n))", ""),
        (r#"{"$class":"C","$value":{"\u0000*\u0000a":1}}"#, "\\C::__set_state(array(\n   'a' => 1,\n))", "visibility"),
        (r#"{"$class":"no class","$value":[]}"#, "array (\n)", "class"),
        (
            r#"[{"$id":1,"$value":[]},{"$link":1}]"#,
            "array (\n  0 => \n  array (\n  ),\n  1 => \n  array (\n  ),\n)",
            "sharing",
        ),
        (r#"{"$ref":1}"#, "1", "reference"),
    ] {
        let json = format!(r#"{{"$icecore":1,"$strings":"bytes","$value":{typed}}}"#);
        let document =
            icecore::read_as(json.as_bytes(), &Stage::parse("json:typed").unwrap(), &Limits::default()).unwrap();
        let (found, kinds) = write(&document, "var-export").unwrap();
        assert_eq!((String::from_utf8_lossy(&found).as_ref(), kinds.join(",").as_str()), (text, losses));
    }
    let circle = br#"{"$icecore":1,"$value":{"$id":1,"$value":[{"$link":1}]}}"#;
    let document = icecore::read_as(circle, &Stage::parse("json:typed").unwrap(), &Limits::default()).unwrap();
    let error = write(&document, "var-export").unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unrepresentable, Some("$[0]")));
}

/// Each level doubles the length of a text without links.
#[test]
fn expansion_by_links_is_limited() {
    let mut builder = icecore::Builder::new();
    builder.begin_array();
    let mut last = builder.begin_array().at();
    builder.end();
    for _ in 0..60 {
        let next = builder.begin_array().at();
        builder.link(last).link(last);
        builder.end();
        last = next;
    }
    builder.end();
    let error = write(&builder.finish().unwrap(), "var-export").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn serialized_values_survive_the_conversion() {
    let text = br#"a:3:{i:0;O:8:"stdClass":1:{s:1:"0";i:1;}i:1;E:11:"Suit:Hearts";s:1:"k";O:1:"A":1:{s:1:"p";a:0:{}}}"#;
    let exported = icecore::convert(text, "php", "var-export").unwrap();
    let converted = icecore::convert(&exported, "var-export", "php").unwrap();
    assert_eq!(converted.escape_ascii().to_string(), text.escape_ascii().to_string());
}

#[test]
fn var_export_is_distinguished_from_other_text() {
    for fixture in load_readable_fixtures() {
        let text = fixture.blob.trim_ascii_start();
        let begins = ["array (\n", "(object) array(\n", "\\Point::__set_state(array(\n", "<?php return ["];
        if begins.iter().any(|start| text.starts_with(start.as_bytes())) {
            let found = icecore::identify(&fixture.blob)
                .unwrap_or_else(|| panic!("{} {}", fixture.name, fixture.blob.escape_ascii()));
            assert_eq!(found.name, "var-export", "{}", fixture.name);
            assert_eq!(
                icecore::detect::stage_of(&fixture.blob).unwrap().format().name,
                "var-export",
                "{}",
                fixture.name
            );
        }
    }
    for text in [
        "array",
        "array of things",
        "<?php echo 1;",
        "<?php return foo();",
        "return 5 apples",
        "[1, 2]",
        "NULL",
        "A::B",
        "array(1, 2)",
        "Array(3)",
        "ARRAY(0x55dd1234)",
    ] {
        assert!(icecore::identify(text.as_bytes()).is_none_or(|found| found.name != "var-export"), "{text}");
    }
    // A program is not detected as var_export, but reading it reports the code.
    for program in [
        "<?php return ['a' => 1, 'b' => 2, 'c' => env('C')];",
        "<?php return ['name'=>env('APP_NAME')];",
        "<?php\n// Names.\ndeclare(strict_types=1);\n/* of all */ return array (env('APP_NAME'));",
        "<?php return \\App\\Config::__set_state(array('a' => foo()));",
        "<?php return (object) [new Foo];",
    ] {
        assert!(icecore::identify(program.as_bytes()).is_none());
        let stage = icecore::detect::stage_of(program.as_bytes()).unwrap_or_else(|error| panic!("{program}: {error}"));
        assert_eq!(stage.format().name, "var-export");
        let error = icecore::read(program.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{program}: {error}");
    }
    for program in [
        "<?php $a = [env('C')]; return [$a];",
        "<?php\nuse A\\B;\nreturn [B::make()];",
        "<?php return foo(['a' => 1]);",
        "<?php return new Foo;",
        "<?php\nfunction f() { return ['a' => env('C')]; }",
        "<?php returns(['a' => env('C')]);",
    ] {
        assert!(icecore::detect::stage_of(program.as_bytes()).is_err(), "{program}");
    }
}
