//! Values at paths: skimming finds the same as reading everything, on every fixture and on random
//! documents, for random paths, and in damaged input.

use crate::common;
use crate::fixtures;

use crate::common::{Palette, Random};
use icecore::raw::Input;
use icecore::select::{self, Pattern, Skimmed, Source};
use icecore::{Document, Limits, Stage};
use std::collections::BTreeMap;

/// Bytes that are loaded in parts of this size.
struct PartialSource<'b>(&'b [u8], usize);

impl Source for PartialSource<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn load_into(&mut self, offset: u64, to: &mut [u8]) -> bool {
        let from = offset as usize;
        self.0.get(from..from + to.len()).is_some_and(|bytes| {
            to.copy_from_slice(bytes);
            true
        })
    }

    fn preferred_len(&self) -> usize {
        self.1
    }
}

type Answers = Vec<(String, Document<'static>)>;

/// Returns what skimming finds; it must be the same for every window of the bytes. In small windows
/// the fast loops hardly start, and everything takes the careful path.
fn skim_in_every_window(bytes: &[u8], stage: &Stage, pattern: &Pattern) -> (Answers, bool) {
    let all = skim_in_windows(bytes, stage, pattern, None);
    let between = 6 + (bytes.len() + pattern.as_str().len()) % 90;
    for piece in [1, between, 256 << 10] {
        let parts = skim_in_windows(bytes, stage, pattern, Some(piece));
        let (format, path) = (stage.name(), pattern.as_str());
        assert!(parts == all, "{format} {path}: {parts:?} in parts of {piece}, not {all:?}");
    }
    all
}

fn skim_in_windows(bytes: &[u8], stage: &Stage, pattern: &Pattern, piece: Option<usize>) -> (Answers, bool) {
    let (limits, mut answers) = (Limits::default(), Answers::new());
    let mut source = PartialSource(bytes, piece.unwrap_or(1));
    let input = if piece.is_some() { Input::Source(&mut source) } else { Input::Bytes(bytes) };
    let end = select::skim(input, stage, pattern, &limits, &mut |path, document| {
        answers.push((path.to_owned(), document.clone().into_owned()));
        Ok(())
    });
    match end.expect("skimming has no errors") {
        Skimmed::Complete(count) => {
            assert_eq!(count, answers.len() as u64);
            (answers, true)
        }
        _ => (answers, false),
    }
}

fn select_within(document: &Document<'_>, pattern: &Pattern) -> Answers {
    let mut answers = Answers::new();
    select::within(document, pattern, &Limits::default(), 0, &mut |path, document| {
        answers.push((path.to_owned(), document.clone().into_owned()));
        Ok(())
    })
    .expect("there are few links");
    answers
}

/// Makes a path to a value of the document, or nearly.
fn path(random: &mut Random, document: &Document<'_>) -> String {
    let node = random.below(document.nodes().len().max(1) as u64) as u32;
    let path = document.full_path(node);
    match random.below(12) {
        0 => format!("{path}.missing"),
        1 => format!("{path}[{}]", random.below(4)),
        2 => format!("{path}[-{}]", random.below(4)),
        3 => format!("{path}[*]"),
        4 => format!("{path}[{}:{}]", random.below(3), random.below(5)),
        5 => format!("{path}[-2:]"),
        6 => format!("..{}", path.rsplit(['.', ']']).next().unwrap_or("a")),
        7 | 8 => match path.rfind('[') {
            Some(offset) => {
                format!("{}[*]{}", &path[..offset], path[offset..].split_once(']').map_or("", |(_, rest)| rest))
            }
            None => format!("{path}.*"),
        },
        _ => path,
    }
}

#[derive(Default, Debug)]
struct Counts {
    total: u64,
    skimmed: u64,
    found: u64,
}

/// Skims, reads and compares. Counts how often skimming was enough.
fn compare(name: &str, bytes: &[u8], stage: &Stage, document: &Document<'_>, text: &str, counts: &mut Counts) {
    let Ok(pattern) = Pattern::parse(text) else { return };
    let expected = select_within(document, &pattern);
    counts.total += 1;
    let (answers, is_all) = skim_in_every_window(bytes, stage, &pattern);
    assert!(answers.len() <= expected.len(), "{name} {text}: {answers:?} for {expected:?}");
    if is_all {
        assert_eq!(answers.len(), expected.len(), "{name} {text}: {answers:?} for {expected:?}");
        counts.skimmed += 1;
    }
    for ((path, value), (expected_path, expected_value)) in answers.iter().zip(&expected) {
        assert_eq!(path, expected_path, "{name} {text}");
        assert!(
            value == expected_value,
            "{name} {text}:\n{:?}\n{:?}\nof {}",
            value.nodes(),
            expected_value.nodes(),
            String::from_utf8_lossy(bytes)
        );
    }
    counts.found += u64::from(!expected.is_empty());
}

fn rounds() -> u64 {
    std::env::var("ICECORE_TEST_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

fn compare_random_paths(name: &str, bytes: &[u8], stage: &Stage, random: &mut Random, counts: &mut Counts) {
    let Ok(document) = icecore::read_as(bytes, stage, &Limits::default()) else { return };
    for _ in 0..2 * rounds() {
        let text = path(random, &document);
        compare(name, bytes, stage, &document, &text, counts);
    }
}

#[test]
fn skimming_fixtures_finds_what_reading_finds() {
    let mut random = Random::new(7);
    let mut counts_by_format: BTreeMap<&str, Counts> = BTreeMap::new();
    for (format, file) in [
        ("php", "php.jsonl"),
        ("storable", "storable.jsonl"),
        ("sereal", "sereal.jsonl"),
        ("igbinary", "igbinary.jsonl"),
        ("marshal", "marshal.jsonl"),
    ] {
        let stage = Stage::parse(format).unwrap();
        let all = fixtures::load(file);
        // Some files have many fixtures.
        let step = if rounds() > 1 { 1 } else { all.len() / 600 + 1 };
        for fixture in all.into_iter().step_by(step) {
            compare_random_paths(
                &fixture.name,
                &fixture.blob,
                &stage,
                &mut random,
                counts_by_format.entry(format).or_default(),
            );
        }
    }
    for (format, counts) in &counts_by_format {
        eprintln!("{format}: {counts:?}");
        assert!(counts.found * 5 > counts.total, "{format}: {counts:?}");
    }
}

/// Formats that can be skimmed, with options of their writers.
const STAGES: &[&str] = &[
    "json",
    "json:indent=2",
    "php",
    "igbinary",
    "marshal",
    "storable",
    "storable:memory,netorder",
    "sereal",
    "sereal:dedupe_strings",
];

#[test]
fn skimming_random_documents_finds_what_reading_finds() {
    let mut random = Random::new(11);
    let mut counts_by_format: BTreeMap<&str, Counts> = BTreeMap::new();
    for seed in 0..60 * rounds() {
        for palette in [Palette::Json, Palette::Perl, Palette::All] {
            let document = common::document(seed, palette);
            for stage in STAGES {
                let to = Stage::parse(stage).unwrap();
                let mut bytes = Vec::new();
                if icecore::write_to(&document, &to, &Limits::default(), &mut bytes).is_err() {
                    continue;
                }
                compare_random_paths(
                    &format!("{seed} {palette:?} {stage}"),
                    &bytes,
                    &Stage::of(to.format()),
                    &mut random,
                    counts_by_format.entry(stage).or_default(),
                );
            }
        }
    }
    eprintln!("{counts_by_format:#?}");
}

/// Values that skimming finds in truncated input are from before the break.
#[test]
fn values_found_before_a_cut_are_right() {
    let mut random = Random::new(13);
    let (mut found, mut all) = (0, 0);
    for seed in 0..25 * rounds() {
        let document = common::document(seed, Palette::Json);
        for stage in STAGES {
            let to = Stage::parse(stage).unwrap();
            let stage = Stage::of(to.format());
            let mut bytes = Vec::new();
            if icecore::write_to(&document, &to, &Limits::default(), &mut bytes).is_err() {
                continue;
            }
            let whole = icecore::read_as(&bytes, &stage, &Limits::default()).unwrap();
            for _ in 0..6 {
                let Ok(pattern) = Pattern::parse(&path(&mut random, &whole)) else { continue };
                let cut = &bytes[..random.below(bytes.len() as u64) as usize];
                if icecore::read_as(cut, &stage, &Limits::default()).is_ok() {
                    continue;
                }
                let expected = select_within(&whole, &pattern);
                let (answers, is_all) = skim_in_every_window(cut, &stage, &pattern);
                assert!(!is_all || answers.len() == expected.len(), "{} {}", stage.name(), pattern.as_str());
                for (answer, expected_answer) in answers.iter().zip(&expected) {
                    assert!(
                        answer == expected_answer,
                        "{} {} {answer:?}\n{expected_answer:?}\n{}",
                        stage.name(),
                        pattern.as_str(),
                        cut.escape_ascii()
                    );
                }
                found += answers.len();
                all += usize::from(is_all);
            }
        }
    }
    assert!(found > 20 && all > 15, "{found} values in {all} that were complete");
}

#[test]
fn skimming_damaged_input_finds_what_reading_finds() {
    let mut random = Random::new(17);
    for seed in 0..40 * rounds() {
        let document = common::document(seed, Palette::Perl);
        for stage in STAGES {
            let to = Stage::parse(stage).unwrap();
            let stage = Stage::of(to.format());
            let mut bytes = Vec::new();
            if icecore::write_to(&document, &to, &Limits::default(), &mut bytes).is_err() || bytes.is_empty() {
                continue;
            }
            let whole = icecore::read_as(&bytes, &stage, &Limits::default()).unwrap();
            for _ in 0..6 {
                let text = path(&mut random, &whole);
                let mut damaged = bytes.clone();
                for _ in 0..=random.below(3) {
                    let offset = random.below(damaged.len() as u64) as usize;
                    damaged[offset] = random.bits() as u8;
                }
                match icecore::read_as(&damaged, &stage, &Limits::default()) {
                    Ok(document) => compare("damaged", &damaged, &stage, &document, &text, &mut Counts::default()),
                    Err(_) => {
                        if let Ok(pattern) = Pattern::parse(&text) {
                            skim_in_every_window(&damaged, &stage, &pattern);
                        }
                    }
                }
            }
        }
    }
}

fn skim_and_count(bytes: &[u8], stage: &str, text: &str) -> Skimmed {
    let (stage, pattern) = (Stage::parse(stage).unwrap(), Pattern::parse(text).unwrap());
    select::skim(Input::Bytes(bytes), &stage, &pattern, &Limits::default(), &mut |_, _| Ok(())).unwrap()
}

/// Depth costs memory, and never the native stack.
#[test]
fn deep_values_are_skipped_on_a_small_stack() {
    common::on_a_small_stack(|| {
        const DEPTH: usize = 1_000_000;
        let json = format!("[{}1{},2]", "[".repeat(DEPTH), "]".repeat(DEPTH));
        assert_eq!(skim_and_count(json.as_bytes(), "json", "$[1]"), Skimmed::Complete(1));
        let php = format!("a:2:{{i:0;{}N;{}i:1;N;}}", "a:1:{i:0;".repeat(DEPTH), "}".repeat(DEPTH));
        assert_eq!(skim_and_count(php.as_bytes(), "php", "$[1]"), Skimmed::Complete(1));
        let igbinary = [b"\0\0\0\x02\x14\x02\x06\0", &b"\x14\x01\x06\0".repeat(DEPTH)[..], b"\0\x06\x01\x05"].concat();
        assert_eq!(skim_and_count(&igbinary, "igbinary", "$[1]"), Skimmed::Complete(1));
        let marshal = [b"\x04\x08[\x07", &b"[\x06".repeat(DEPTH)[..], b"0T"].concat();
        assert_eq!(skim_and_count(&marshal, "marshal", "$[1]"), Skimmed::Complete(1));
        let sereal = [b"=\xF3rl\x05\0\x42", &b"\x41".repeat(DEPTH)[..], b"\x01\x02"].concat();
        assert_eq!(skim_and_count(&sereal, "sereal", "$[1]"), Skimmed::Complete(1));
        let storable =
            [b"\x05\x0b\x02\0\0\0\x02", &b"\x04\x02\0\0\0\x01".repeat(DEPTH)[..], b"\x08\x81\x08\x82"].concat();
        assert_eq!(skim_and_count(&storable, "storable", "$[1]"), Skimmed::Complete(1));
        let path = "[0]".repeat(10_000);
        assert_eq!(skim_and_count(json.as_bytes(), "json", &path), Skimmed::Unsure(0));
    });
}

/// False lengths and counts: no memory is allocated for them.
#[test]
fn declared_lengths_are_not_trusted() {
    for (bytes, stage) in [
        (&b"a:2:{i:0;s:999999999999:\"x\";i:1;N;}"[..], "php"),
        (b"a:999999999999999999:{i:0;N;}", "php"),
        (b"O:99999999999:\"A\":1:{s:1:\"a\";N;}", "php"),
        (b"\0\0\0\x02\x16\xff\xff\xff\xff\x06\0\0", "igbinary"),
        (b"\0\0\0\x02\x14\x02\x26\xff\xff\xff\xff\xff\xff\xff\xff\0", "igbinary"),
        (b"\x04\x08[\x04\xff\xff\xff\x7f0", "marshal"),
        (b"\x04\x08[\x06\"\x04\xff\xff\xff\x7fa", "marshal"),
        (b"=\xF3rl\x05\0\x28\x2b\xff\xff\xff\xff\xff\xff\xff\x7f\x01", "sereal"),
        (b"=\xF3rl\x05\0\x28\x2a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01", "sereal"),
        (b"\x05\x0b\x02\xff\xff\xff\xff\x08\x81", "storable"),
        (b"\x05\x0b\x02\0\0\0\x01\x01\xff\xff\xff\xffa", "storable"),
    ] {
        for path in ["$[1]", "$[9]", "$.a", "$[-1]", "$[*]", "$[-2:]"] {
            assert!(!matches!(skim_and_count(bytes, stage, path), Skimmed::Complete(1..)), "{stage} {path}");
        }
    }
}

/// Links that fan out make many values from few, so their number is limited.
#[test]
fn links_that_fan_out_are_limited() {
    let mut builder = icecore::Builder::new();
    builder.begin_array();
    let mut below = Vec::new();
    for level in 0..30 {
        let list = builder.begin_array().at();
        for _ in 0..10 {
            match below.last() {
                Some(last) => builder.link(*last),
                None => builder.int(level),
            };
        }
        builder.end();
        below.push(list);
    }
    builder.end();
    let document = builder.finish().unwrap();
    let find = |path: &str| Pattern::parse(path).unwrap().find(&document, &Limits::default()).map(|found| found.len());
    assert_eq!(find("$[29][*][*]").unwrap(), 100);
    assert_eq!(find(&format!("$[29]{}", "[*]".repeat(25))).unwrap_err().kind(), icecore::ErrorKind::Limit);
    // Each is visited once.
    assert_eq!(find("..[0]").unwrap(), 31);
}

#[test]
fn the_last_of_equal_keys_is_found() {
    let first = |json: &[u8], path: &str| {
        let stage = Stage::parse("json").unwrap();
        let found = select::first(json, &stage, &Pattern::parse(path).unwrap(), &Limits::default()).unwrap();
        found.and_then(|document| document.root().as_i64())
    };
    assert_eq!(first(br#"{"a":1,"a":2}"#, "$.a"), Some(2));
    assert_eq!(first(br#"{"a":{"b":1},"a":{"c":2}}"#, "$.a.c"), Some(2));
    assert_eq!(first(br#"{"a":[1],"\u0061":[2, 3]}"#, "$.a[*]"), Some(2));
    assert_eq!(first(br#"{"a":{"a":{"a":1}},"b":0}"#, "$.a.a.a"), Some(1));
    assert_eq!(first(br#"{"b":0}"#, "$.a"), None);
}

/// A byte that is not UTF-8 is not the character that replaces it in messages.
#[test]
fn keys_that_are_not_utf8_have_their_own_paths() {
    let php = b"a:2:{i:0;N;i:1;a:2:{s:1:\"\xe9\";a:1:{s:1:\"x\";i:7;}s:3:\"\xef\xbf\xbd\";b:0;}}";
    assert_eq!(skim_and_count(php, "php", "$[1][\"\u{fffd}\"].x"), Skimmed::Complete(0));
    assert_eq!(skim_and_count(php, "php", r#"$[1]["\xe9"].x"#), Skimmed::Complete(1));
    let sereal = b"=\xF3rl\x05\0\x42\x01\x52\x61\xe9\x51\x61x\x07\x63\xef\xbf\xbd\x01";
    assert_eq!(skim_and_count(sereal, "sereal", "$[1][\"\u{fffd}\"].x"), Skimmed::Complete(0));
    assert_eq!(skim_and_count(sereal, "sereal", r#"$[1]["\xe9"].x"#), Skimmed::Complete(1));
}

/// A number at the end of the input is not certain, because more digits may follow.
#[test]
fn a_number_at_the_end_of_the_input_is_unsure() {
    for path in ["$[0]", "$[*]", "$.a", "$[-1]"] {
        for json in ["[12", "{\"a\":12", "[tru"] {
            assert_eq!(skim_and_count(json.as_bytes(), "json", path), Skimmed::Unsure(0), "{json} {path}");
        }
    }
    assert_eq!(skim_and_count(b"12", "json", "$"), Skimmed::Complete(1));
}

#[test]
fn symbols_and_members_are_found_by_their_plain_names() {
    let get = |bytes: &[u8], stage: &str, path: &str| {
        let (stage, pattern) = (Stage::parse(stage).unwrap(), Pattern::parse(path).unwrap());
        let found = select::first(bytes, &stage, &pattern, &Limits::default()).unwrap();
        found.and_then(|document| document.root().as_i64())
    };
    assert_eq!(get(b"\x04\x08{\x07:\x06ai\x06:\x06bi\x07", "marshal", "$.b"), Some(2));
    assert_eq!(get(b"\x04\x08o:\x06A\x06:\x07@xi\x08", "marshal", "$.x"), Some(3));
    assert_eq!(get(b"O:1:\"A\":1:{s:4:\"\0*\0x\";i:4;}", "php", "$.x"), Some(4));
}
