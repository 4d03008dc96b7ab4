//! An edit changes only the value it names, and setting the old value back gives the original
//! bytes. Checked on every fixture of every format.

use crate::common;
use crate::fixtures;

use crate::common::{Random, usual_or_full};
use icecore::alter::{Alteration, Refusal, alter};
use icecore::select::Pattern;
use icecore::{Document, Kind, Limits, Request, Stage, raw::flag};

/// Fixtures, and the stage that reads them.
const FILES: &[(&str, &str)] = &[
    ("php.jsonl", "php"),
    ("php-spl.jsonl", "php"),
    ("php-session.jsonl", "php-session"),
    ("igbinary.jsonl", "igbinary"),
    ("var-export.jsonl", "var-export"),
    ("marshal.jsonl", "marshal"),
    ("marshal-known.jsonl", "marshal"),
    ("storable.jsonl", "storable"),
    ("sereal.jsonl", "sereal"),
];

#[derive(Debug, Default)]
struct Counts {
    altered: u32,
    restored: u32,
    /// Restored with the same value in another spelling.
    respelled: u32,
    refused: u32,
}

fn read<'b>(bytes: &'b [u8], stage: &Stage) -> Option<Document<'b>> {
    icecore::read_with(bytes, stage, Request::new(&Limits::default())).ok()
}

/// Returns the leaves that a path leads to.
fn leaves(document: &Document<'_>) -> Vec<(u32, String)> {
    let is_plain = |node: u32| {
        let kind = document.nodes()[node as usize].kind;
        matches!(kind, Kind::Null | Kind::Bool | Kind::Int | Kind::Float | Kind::Bytes | Kind::Text | Kind::Encoded)
    };
    let path = |node: u32| (node, document.full_path(node));
    // Parts, patterns and data that a class froze accept only certain values.
    let found = |(node, path): &(u32, String)| {
        !path.contains('#') && document.find(path).is_ok_and(|found| found.index() == *node)
    };
    (0..document.nodes().len() as u32).filter(|node| is_plain(*node)).map(path).filter(found).collect()
}

/// Returns the bytes of a document after alterations.
fn apply_alterations(bytes: &[u8], stage: &Stage, alterations: &[Alteration]) -> Result<Vec<u8>, Refusal> {
    alter(bytes, stage, alterations, &Limits::default()).map(|altered| altered.bytes)
}

fn path(text: &str) -> Pattern {
    Pattern::parse(text).unwrap()
}

fn json(text: &str) -> Document<'static> {
    let stage = Stage::parse("json:typed").unwrap();
    icecore::read_as(text.as_bytes(), &stage, &Limits::default()).unwrap().into_owned()
}

/// Returns `true` if another node refers to the value, or it was reached through something that is not its own.
fn is_shared(document: &Document<'_>, node: u32) -> bool {
    let nodes = document.nodes();
    nodes[node as usize].flags & (flag::TARGET | flag::WEAK | flag::OVERLOAD) != 0
        || nodes[node as usize].kind.is_again()
}

#[test]
fn setting_the_old_value_restores_the_bytes() {
    let seven = json("7");
    let (mut all_altered, mut all_restored) = (0, 0);
    for (file, stage) in FILES {
        let stage = Stage::parse(stage).unwrap();
        let mut counts = Counts::default();
        for (number, fixture) in fixtures::load(file).into_iter().enumerate().step_by(usual_or_full(4, 1)) {
            let Some(document) = read(&fixture.blob, &stage) else { continue };
            let mut leaves = leaves(&document);
            leaves.retain(|(node, _)| !is_shared(&document, *node));
            let mut random = Random::new(number as u64);
            for _ in 0..leaves.len().min(3) {
                let (node, place) = random.pick(&leaves);
                let name = || format!("{file} {} {place}", fixture.name);
                let altered = apply_alterations(&fixture.blob, &stage, &[Alteration::Set(path(place), seven.clone())]);
                let Ok(altered_text) = altered else {
                    counts.refused += 1;
                    continue;
                };
                counts.altered += 1;
                let altered_document = read(&altered_text, &stage).expect("it was read before");
                let found = altered_document.find(place).unwrap_or_else(|error| panic!("{}: {error}", name()));
                assert!(found.as_i64() == Some(7) || found.as_str() == Some("7"), "{}", name());
                let old = document.part(*node).unwrap().into_owned();
                let restored = apply_alterations(&altered_text, &stage, &[Alteration::Set(path(place), old)]);
                let Ok(restored) = restored else {
                    counts.refused += 1;
                    continue;
                };
                if restored == fixture.blob {
                    counts.restored += 1;
                } else {
                    // Another spelling of the same value: its writer chose an unusual one.
                    assert!(read(&restored, &stage).unwrap() == document, "{}", name());
                    counts.respelled += 1;
                }
            }
        }
        println!("{file}: {counts:?}");
        assert!(counts.altered > usual_or_full(12, 50) && counts.refused * 20 < counts.altered, "{file}: {counts:?}");
        (all_altered, all_restored) = (all_altered + counts.altered, all_restored + counts.restored);
    }
    assert!(
        all_altered > usual_or_full(1000, 4000) && all_restored * 10 > all_altered * 8,
        "{all_restored} of {all_altered}"
    );
}

#[test]
fn only_the_edited_value_differs() {
    let formats = ["json", "json:typed", "storable", "sereal", "php", "var-export", "igbinary", "marshal", "dumper"];
    let mut count = 0;
    for seed in 0..150 {
        let document = common::document(seed, common::Palette::Json);
        for stage in formats {
            let (stage, mut bytes) = (Stage::parse(stage).unwrap(), Vec::new());
            if icecore::write_to(&document, &stage, &Limits::default(), &mut bytes).is_err() {
                continue;
            }
            let before = read(&bytes, &stage).unwrap();
            let leaves = leaves(&before);
            let Some((node, place)) = leaves.get(seed as usize % leaves.len().max(1)) else { continue };
            if is_shared(&before, *node) {
                continue;
            }
            let altered_text = apply_alterations(&bytes, &stage, &[Alteration::Set(path(place), json("[\"new\"]"))]);
            let altered_text = altered_text.unwrap_or_else(|error| panic!("{seed} {} {place}: {error}", stage.name()));
            let after = read(&altered_text, &stage).unwrap();
            // After the value is deleted on both sides, nothing differs.
            if *node == before.root().index() {
                continue;
            }
            let deletion = [Alteration::Delete(path(place))];
            let (left, right) =
                (apply_alterations(&bytes, &stage, &deletion), apply_alterations(&altered_text, &stage, &deletion));
            let (Ok(left), Ok(right)) = (left, right) else { continue };
            assert!(read(&left, &stage).unwrap() == read(&right, &stage).unwrap(), "{seed} {} {place}", stage.name());
            assert_eq!(after.find(place).unwrap().item(0).and_then(|one| one.as_str()), Some("new"));
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn edits_keep_the_layout_of_json() {
    let stage = Stage::parse("json").unwrap();
    let text = b"\xef\xbb\xbf { \"a\" : 1.50,\n\t\"b\" : [ 1,2,\n  3 ],\n\t\"\\u0063\" : \"x\\/y\" }\r\n";
    let altered_text =
        |alterations: &[Alteration]| String::from_utf8(apply_alterations(text, &stage, alterations).unwrap()).unwrap();
    let of = |text: &str| format!("\u{feff} {text}\r\n");
    let set = |place: &str, value: &str| Alteration::Set(path(place), json(value));
    assert_eq!(
        altered_text(&[set("$.b[1]", "null")]),
        of("{ \"a\" : 1.50,\n\t\"b\" : [ 1,null,\n  3 ],\n\t\"\\u0063\" : \"x\\/y\" }")
    );
    assert_eq!(
        altered_text(&[set("$.d", "[]")]),
        of("{ \"a\" : 1.50,\n\t\"b\" : [ 1,2,\n  3 ],\n\t\"\\u0063\" : \"x\\/y\",\n\t\"d\": [] }")
    );
    assert_eq!(altered_text(&[Alteration::Delete(path("$.b"))]), of("{ \"a\" : 1.50,\n\t\"c\": \"x\\/y\" }"));
    assert_eq!(
        altered_text(&[Alteration::Delete(path("$.a"))]),
        of("{ \"b\": [ 1,2,\n  3 ],\n\t\"\\u0063\" : \"x\\/y\" }")
    );
    // Setting the same value is not an edit.
    assert_eq!(apply_alterations(text, &stage, &[set("$.a", "1.5")]).unwrap(), text);
}

#[test]
fn deleting_a_shared_value_keeps_its_other_places() {
    let stage = Stage::parse("php").unwrap();
    let php: &[u8] = br#"a:3:{s:1:"x";O:1:"P":1:{s:1:"n";i:1;}s:1:"y";r:2;s:1:"z";r:2;}"#;
    let altered_text =
        |alteration: Alteration| String::from_utf8(apply_alterations(php, &stage, &[alteration]).unwrap()).unwrap();
    let delete = |place: &str| altered_text(Alteration::Delete(path(place)));
    assert_eq!(delete("$.x"), r#"a:2:{s:1:"y";O:1:"P":1:{s:1:"n";i:1;}s:1:"z";r:2;}"#);
    assert_eq!(delete("$.y"), r#"a:2:{s:1:"x";O:1:"P":1:{s:1:"n";i:1;}s:1:"z";r:2;}"#);
    let inside = altered_text(Alteration::Set(path("$.z.n"), json("2")));
    assert_eq!(inside, r#"a:3:{s:1:"x";O:1:"P":1:{s:1:"n";i:2;}s:1:"y";r:2;s:1:"z";r:2;}"#);
    // A variable with two names is still one variable.
    let php: &[u8] = br#"a:2:{s:1:"x";i:1;s:1:"y";R:2;}"#;
    let altered = apply_alterations(php, &stage, &[Alteration::Set(path("$.y"), json("5"))]).unwrap();
    assert_eq!(altered, br#"a:2:{s:1:"x";i:5;s:1:"y";R:2;}"#);
}

#[test]
fn classes_are_renamed_in_nested_data() {
    let map = || Alteration::RenameClass(icecore::ClassMap::parse("Old=App\\New").unwrap());
    let inner = "O:3:\"Old\":1:{s:6:\"\0Old\0a\";i:1;}";
    let outer = format!("a:2:{{i:0;s:{}:\"{inner}\";i:1;s:3:\"Old\";}}", inner.len());
    let altered_text = apply_alterations(outer.as_bytes(), &Stage::parse("php").unwrap(), &[map()]).unwrap();
    let new = "O:7:\"App\\New\":1:{s:10:\"\0App\\New\0a\";i:1;}";
    assert_eq!(
        String::from_utf8(altered_text).unwrap(),
        format!("a:2:{{i:0;s:{}:\"{new}\";i:1;s:3:\"Old\";}}", new.len())
    );
}

#[test]
fn edits_keep_the_wrappers() {
    let stage = Stage::parse("gzip/base64/php").unwrap();
    let mut bytes = Vec::new();
    icecore::write_to(&icecore::read(b"[1]").unwrap(), &stage, &Limits::default(), &mut bytes).unwrap();
    let altered_text = apply_alterations(&bytes, &stage, &[Alteration::Append(path("$"), json("2"))]).unwrap();
    assert_eq!(icecore::convert(&altered_text, "gzip/base64/php", "json").unwrap(), b"[1,2]");
    assert_eq!(apply_alterations(&altered_text, &stage, &[Alteration::Delete(path("$[1]"))]).unwrap(), bytes);
}

#[test]
fn refusals_name_the_path() {
    let stage = Stage::parse("json").unwrap();
    let message_of = |alteration: Alteration| {
        apply_alterations(b"{\"a\":[1],\"b\":2}", &stage, &[alteration]).unwrap_err().to_string()
    };
    for (alteration, message) in [
        (
            Alteration::Set(path("$.x.y"), json("1")),
            "wrong option at $: expected something at `$.x`, found the keys a, b at `$`",
        ),
        (
            Alteration::Set(path("$.a[1]"), json("1")),
            "wrong option at $.a: expected something at `$.a[1]`, found an array of 1 at `$.a`",
        ),
        (
            Alteration::Delete(path("$")),
            "wrong option at $: expected something to delete, found a value that is not an entry or an item",
        ),
        (Alteration::Append(path("$.b"), json("1")), "wrong option at $.b: expected a list to append to, found int"),
        (
            Alteration::RenameKey("a".to_owned(), "b".to_owned()),
            "wrong option at $.a: expected an unused key, found another entry `b`",
        ),
        (Alteration::RenameKey("c".to_owned(), "d".to_owned()), "nothing at `c`"),
    ] {
        assert_eq!(message_of(alteration), message);
    }
}

#[test]
fn hostile_input_ends_in_an_error_or_a_document() {
    let alterations = || {
        [
            Alteration::Set(path("..*"), json("{\"a\": [1]}")),
            Alteration::Append(path("$"), json("\"x\"")),
            Alteration::Delete(path("$[-1]")),
            Alteration::RenameKey("a".to_owned(), "b".to_owned()),
            Alteration::RenameClass(icecore::ClassMap::parse("*=New\\*").unwrap()),
        ]
    };
    common::on_a_small_stack(move || {
        for (file, stage) in FILES {
            let stage = Stage::parse(stage).unwrap();
            for (number, fixture) in fixtures::load(file).into_iter().enumerate().step_by(usual_or_full(20, 5)) {
                let mut random = Random::new(number as u64);
                for _ in 0..if fixture.blob.is_empty() { 0 } else { 6 } {
                    let mut blob = fixture.blob.clone();
                    let offset = random.below(blob.len() as u64) as usize;
                    if random.one_in(3) {
                        blob.truncate(offset)
                    } else {
                        blob[offset] = random.below(256) as u8
                    }
                    for alteration in alterations() {
                        if let Ok(altered_text) = apply_alterations(&blob, &stage, &[alteration]) {
                            assert!(read(&altered_text, &stage).is_some(), "{file} {}", fixture.name);
                        }
                    }
                }
            }
        }
        // Deep and wide documents.
        let deep = ["[".repeat(9_000), "1".to_owned(), "]".repeat(9_000)].concat();
        let json_stage = Stage::parse("json").unwrap();
        let place = format!("${}", "[0]".repeat(9_000));
        let altered_text =
            apply_alterations(deep.as_bytes(), &json_stage, &[Alteration::Set(path(&place), json("2"))]).unwrap();
        assert_eq!(altered_text, deep.replace('1', "2").as_bytes());
        let deep = ["{\"a\":".repeat(4_000), "1".to_owned(), "}".repeat(4_000)].concat();
        let altered_text =
            apply_alterations(deep.as_bytes(), &json_stage, &[Alteration::RenameKey("a".to_owned(), "b".to_owned())]);
        assert_eq!(altered_text.unwrap(), deep.replace('a', "b").as_bytes());
        let wide = format!("[{}]", vec!["1"; 50_000].join(", "));
        let altered_text =
            apply_alterations(wide.as_bytes(), &json_stage, &[Alteration::Set(path("$[*]"), json("2"))]).unwrap();
        assert_eq!(altered_text, wide.replace('1', "2").as_bytes());
    });
}

#[test]
fn editing_one_copy_in_igbinary_reports_lost_copies() {
    // [[1], [1], [1]]; the inner array is stored once.
    let stored = b"\0\0\0\x02\x14\x03\x06\x00\x14\x01\x06\x00\x06\x01\x06\x01\x01\x01\x06\x02\x01\x01";
    let stage = Stage::parse("igbinary").unwrap();
    let set = |node: &str, value: &str| {
        let set = [Alteration::Set(path(node), json(value))];
        alter(stored, &stage, &set, &Limits::default()).unwrap()
    };
    let altered = set("$[1][0]", "2");
    let losses: Vec<_> = altered.losses.iter().map(|loss| (loss.kind, loss.count, loss.path.as_str())).collect();
    assert_eq!(losses, [(icecore::LossKind::Sharing, 2, "$[1]")]);
    assert!(altered.is_rewritten);
    let read = read(&altered.bytes, &stage).unwrap();
    assert_eq!(icecore::write(&read, "json").unwrap(), b"[[1],[2],[1]]");
    // An edit that changes nothing, or that is outside the shared arrays, loses nothing.
    let same = set("$[1][0]", "1");
    assert!(!same.is_changed && same.losses.is_empty() && !same.is_rewritten);
    let beside = set("$[2]", "5");
    assert!(beside.is_changed && beside.losses.is_empty() && !beside.is_rewritten);
}

#[test]
fn a_property_of_php_that_is_not_public_loses_its_visibility_in_ruby() {
    let stage = Stage::parse("marshal").unwrap();
    let ruby = icecore::convert(br#"O:1:"B":1:{s:1:"x";i:1;}"#, "php", "marshal").unwrap();
    let set = |node: &str, value: &str| Alteration::Set(path(node), json(value));
    let both = [set("$.p:protected", "2"), set("$.q:B:private", "3")];
    let altered = alter(&ruby, &stage, &both, &Limits::default()).unwrap();
    let php = b"O:1:\"B\":3:{s:1:\"x\";i:1;s:4:\"\0*\0p\";i:2;s:4:\"\0B\0q\";i:3;}";
    assert_eq!(altered.bytes, icecore::convert(php, "php", "marshal").unwrap());
    let losses: Vec<_> = altered.losses.iter().map(|loss| (loss.kind, loss.count, loss.path.as_str())).collect();
    assert_eq!(losses, [(icecore::LossKind::Visibility, 2, "$.p:protected")]);
    // The name without visibility belongs to another variable.
    assert!(alter(&ruby, &stage, &[set("$.x:protected", "2")], &Limits::default()).is_err());
    // In a hash it is a key like any other.
    let hash = icecore::convert(br#"{"x":1}"#, "json", "marshal").unwrap();
    let altered = alter(&hash, &stage, &[set("$.p:protected", "2")], &Limits::default()).unwrap();
    assert!(altered.losses.is_empty() && altered.bytes.windows(4).any(|bytes| bytes == b"\0*\0p"));
}

#[test]
fn a_name_of_a_symbol_and_a_string_is_refused() {
    // {:id=>1, "id"=>2}
    let ruby = b"\x04\x08{\x07:\x07idi\x06I\"\x07id\x06:\x06ETi\x07";
    let stage = Stage::parse("marshal").unwrap();
    let alter = |alteration| icecore::alter::alter(ruby, &stage, &[alteration], &Limits::default());
    let path = |text: &str| Pattern::parse(text).unwrap();
    let nine = || icecore::read(b"9").unwrap().into_owned();
    for refused in [Alteration::Set(path(".id"), nine()), Alteration::Delete(path(".id"))] {
        let message = alter(refused).unwrap_err().to_string();
        assert!(message.contains("`[:id]` is the symbol, `{1}` the string"), "{message}");
    }
    let changed = alter(Alteration::Set(path("[:id]"), nine())).unwrap();
    assert_eq!(changed.bytes, b"\x04\x08{\x07:\x07idi\x0eI\"\x07id\x06:\x06ETi\x07");
    let changed = alter(Alteration::Set(path("{1}"), nine())).unwrap();
    assert_eq!(changed.bytes, b"\x04\x08{\x07:\x07idi\x06I\"\x07id\x06:\x06ETi\x0e");
}

#[test]
fn keys_that_are_not_utf8_are_named_by_their_bytes() {
    let php = b"a:2:{s:1:\"\xe4\";i:1;s:1:\"\xf6\";i:2;}";
    let document = icecore::read(php).unwrap();
    let paths: Vec<String> = document.root().entries().map(|(_, value)| value.path()).collect();
    assert_eq!(paths, [r#"$["\xe4"]"#, r#"$["\xf6"]"#]);
    assert_eq!(document.find(&paths[1]).unwrap().as_i64(), Some(2));
    assert!(document.find("$[\"\u{fffd}\"]").is_err());
    let stage = Stage::parse("php").unwrap();
    let nine = icecore::read(b"9").unwrap().into_owned();
    let set = |path: &str| {
        let alteration = Alteration::Set(Pattern::parse(path).unwrap(), nine.clone());
        icecore::alter::alter(php, &stage, &[alteration], &Limits::default())
    };
    assert_eq!(set(r#"["\xe4"]"#).unwrap().bytes, b"a:2:{s:1:\"\xe4\";i:9;s:1:\"\xf6\";i:2;}");
    assert!(set(r#"["\xfc"]"#).is_err());
}
