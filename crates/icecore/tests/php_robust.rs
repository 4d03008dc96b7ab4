//! PHP values that are truncated, deep or random.

use crate::common;
use crate::fixtures;

use crate::common::{Palette, document, on_a_small_stack};
use crate::fixtures::load;
use crate::fixtures::php::{Describer, ask, one_nan};
use icecore::raw::{Reader as _, Tape};
use icecore::{Document, ErrorKind, Kind, Limits, Request, Stage, format::php, raw::Outcome};

fn read_both_ways<'a>(blob: &'a [u8], limits: &Limits) -> Outcome<'a> {
    common::read_both_ways(&php::ReadOptions::default(), blob, limits)
}

fn write(document: &Document<'_>) -> Result<(Vec<u8>, bool), icecore::Error> {
    let mut out = Vec::new();
    let losses = php::write(document, &php::WriteOptions::default(), &Limits::default(), &mut out)?;
    // A duplicate key is kept.
    Ok((out, losses.iter().all(|loss| loss.kind == icecore::LossKind::DuplicateKey)))
}

#[test]
fn every_cut_is_reported_as_truncation() {
    let limits = Limits::default();
    for fixture in load("php.jsonl") {
        read_both_ways(&fixture.blob, &limits);
        let step = if fixture.blob.len() > 600 { 97 } else { 1 };
        for len in (0..fixture.blob.len()).step_by(step) {
            let outcome = read_both_ways(&fixture.blob[..len], &limits);
            let error = outcome.error.unwrap_or_else(|| panic!("{} cut at {len}", fixture.name));
            assert_eq!(error.kind(), ErrorKind::Truncated, "{} cut at {len}: {error}", fixture.name);
            assert!(error.offset().is_some_and(|offset| offset <= len as u64), "{error}");
            assert!(error.help().is_some_and(|help| help.contains("PHP says")), "{error}");
        }
    }
}

#[test]
fn both_readers_agree_on_damaged_values() {
    let limits = Limits::default();
    let mut random = common::Random::new(5);
    for fixture in load("php.jsonl").iter().filter(|fixture| fixture.blob.len() < 2000) {
        for _ in 0..60 {
            let mut blob = fixture.blob.clone();
            for _ in 0..=random.below(2) {
                let offset = random.below(blob.len() as u64) as usize;
                blob[offset] = *random.pick(b"NbidsSaOCErR:;{}\"0123456789+-.\\\0\xff");
            }
            let outcome = read_both_ways(&blob, &limits);
            if outcome.error.is_none() {
                let (rewritten, _) = write(&outcome.document).unwrap();
                assert!(read_both_ways(&rewritten, &limits).document == outcome.document, "{}", blob.escape_ascii());
            }
        }
    }
}

/// Several documents are read on the same tape: what the fast loop remembers is only a guess.
#[test]
fn earlier_documents_on_a_tape_do_not_affect_later_ones() {
    let tight = |depth, nodes, string| {
        let mut limits = Limits::default();
        (limits.depth, limits.nodes, limits.string) = (depth, nodes, string);
        limits
    };
    let all_limits = [Limits::default(), tight(3, 40, 100), tight(2, 1000, 1000), tight(9, 9, 7)];
    let reader = php::ReadOptions::default();
    let mut random = common::Random::new(7);
    let blobs: Vec<_> =
        load("php.jsonl").into_iter().map(|fixture| fixture.blob).filter(|blob| blob.len() < 2000).collect();
    let numbers: [&[u8]; 9] = [b"0", b"1", b"2", b"3", b"9", b"10", b"12", b"99", b"-1"];
    let mut tape = Tape::new();
    for round in 0..60_000 {
        let mut blob = random.pick(&blobs).clone();
        for _ in 0..random.below(4) {
            let offset = random.below(blob.len() as u64) as usize;
            match random.below(4) {
                0 => blob[offset] = *random.pick(b"NbidsaSOErR:;{}\"0123456789"),
                1 => drop(blob.drain(offset..(offset + 1 + random.below(8) as usize).min(blob.len()))),
                2 => {
                    let from = offset.saturating_sub(random.below(40) as usize);
                    blob.splice(offset..offset, blob[from..offset].to_vec());
                }
                _ => {
                    let digits = blob[offset..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    blob.splice(offset..offset + digits, random.pick(&numbers).to_vec());
                }
            }
            if blob.is_empty() {
                blob.push(b'i');
            }
        }
        let limits = random.pick(&all_limits);
        let text = blob.escape_ascii();
        let outcome = reader.read(&blob, Request { limits, detail: false, salvages: false, tape });
        let detailed = reader.read(&blob, Request::new(limits).detailed());
        assert_eq!(outcome.error, detailed.error, "round {round}: {text}");
        assert_eq!(outcome.consumed, detailed.consumed, "round {round}: {text}");
        assert!(outcome.document == detailed.document, "round {round}: {text}");
        tape = outcome.document.into_tape();
        if round % 1000 == 999 {
            // After this many names all are forgotten, and ids start again.
            (0..5000u32).for_each(|i| assert_ne!(tape.key_id(Kind::Bytes, 0, &i.to_le_bytes()), Some(0)));
        }
    }
}

#[test]
fn deep_values_need_no_deep_stack() {
    on_a_small_stack(|| {
        let levels = crate::common::levels();
        let shapes =
            [("a:1:{i:0;", "}"), ("a:1:{s:1:\"k\";", "}"), ("O:1:\"A\":1:{s:1:\"k\";", "}"), ("a:2:{i:0;", "i:1;N;}")];
        for (open, close) in shapes {
            let blob = format!("{}N;{}", open.repeat(levels), close.repeat(levels)).into_bytes();
            let error = php::read(&blob, &php::ReadOptions::default(), &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            let mut limits = Limits::default();
            limits.depth = u32::MAX - 100;
            let outcome = php::ReadOptions::default().read(&blob, Request::new(&limits).detailed());
            assert_eq!(outcome.error, None);
            let mut out = Vec::new();
            php::write(&outcome.document, &php::WriteOptions::default(), &limits, &mut out).unwrap();
            assert!(out == blob);
            // The part of truncated input that was read is a document too.
            let outcome = php::ReadOptions::default().read(&blob[..open.len() * levels], Request::new(&limits));
            assert_eq!(outcome.error.map(|error| error.kind()), Some(ErrorKind::Truncated));
        }
    });
}

#[test]
fn lists_that_become_maps_late_are_read() {
    // Nested lists, with links to nodes that move when keys are inserted.
    let mut blob = "a:1001:{".to_owned();
    let mut slots = 1;
    for i in 0..1000 {
        match i % 100 {
            3 => {
                let inner: String = (0..400).map(|i| format!("i:{i};i:7;")).collect();
                blob += &format!("i:{i};a:401:{{{inner}s:1:\"x\";R:{};}}", slots + 300);
                slots += 401;
            }
            7 => {
                blob += &format!("i:{i};O:1:\"A\":1:{{i:0;r:{};}}", slots + 1);
                slots += 2;
            }
            8 => {
                blob += &format!("i:{i};R:{slots};");
            }
            _ => {
                blob += &format!("i:{i};i:{i};");
                slots += 1;
            }
        }
    }
    blob += "s:4:\"last\";b:1;}";
    let outcome = read_both_ways(blob.as_bytes(), &Limits::default());
    assert_eq!(outcome.error, None);
    let root = outcome.document.root();
    assert_eq!((root.kind(), root.len()), (Kind::Map, 1001));
    let (rewritten, lossless) = write(&outcome.document).unwrap();
    assert!(lossless && rewritten == blob.as_bytes());
}

#[test]
fn huge_counts_allocate_nothing() {
    for blob in [
        "a:4000000000:{",
        "a:99999999999999999999:{}",
        "s:99999999999:\"x\";",
        "O:1:\"A\":4294967295:{}",
        "C:1:\"A\":9223372036854775807:{}",
        "S:99999999999:\"\";",
    ] {
        let error = php::read(blob.as_bytes(), &php::ReadOptions::default(), &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{blob}: {error}");
    }
}

/// Any document can be written, and the output reads back as the same document.
#[test]
fn random_documents_round_trip() {
    let (mut written, mut exact) = (0, 0);
    for seed in 0..1500 {
        for palette in [Palette::Json, Palette::Perl, Palette::All] {
            let original = document(seed, palette);
            let (out, lossless) = match write(&original) {
                Ok(done) => done,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{error}\n{original:?}");
                    continue;
                }
            };
            let outcome = read_both_ways(&out, &Limits::default());
            if let Some(error) = &outcome.error {
                // A link across data that a class froze can't be read back.
                assert_eq!(
                    error.kind(),
                    ErrorKind::Unsupported,
                    "{seed}: {error}\n{}\n{original:?}",
                    out.escape_ascii()
                );
                continue;
            }
            written += 1;
            exact += usize::from(lossless);
            let (rewritten, nothing_lost) = write(&outcome.document).unwrap();
            assert!(nothing_lost);
            assert_eq!(rewritten.escape_ascii().to_string(), out.escape_ascii().to_string(), "{seed}\n{original:?}");
        }
    }
    assert!(written > 3000 && exact > 1000, "{written} {exact}");
}

#[test]
fn php_reads_our_output() {
    let mut blobs = Vec::new();
    for seed in 0..1500 {
        for palette in [Palette::Json, Palette::Perl] {
            let Ok((blob, _)) = write(&document(seed, palette)) else { continue };
            let document = read_both_ways(&blob, &Limits::default()).document;
            // For PHP, a copy of an array that contains itself is another array, and only one of two
            // equal keys is left.
            let nodes = document.nodes();
            let names_root = nodes.iter().any(|node| node.kind == Kind::Alias && node.payload == 0);
            if !names_root && !repeats_a_key(&document) && nodes.iter().all(|node| node.kind != Kind::Opaque) {
                blobs.push(blob);
            }
        }
    }
    assert!(blobs.len() > 1500, "{}", blobs.len());
    let Some(answers) = ask(&blobs) else { return };
    for (blob, answer) in blobs.iter().zip(answers) {
        let document = read_both_ways(blob, &Limits::default()).document;
        let expected = Describer::default().value(document.root());
        assert_eq!(one_nan(answer["php"].clone()), expected, "{}: {answer}", blob.escape_ascii());
    }
}

fn repeats_a_key(document: &Document<'_>) -> bool {
    (0..document.nodes().len() as u32).filter_map(|node| document.at(node)).filter(|node| node.kind() == Kind::Map).any(
        |map| {
            let mut seen = std::collections::HashSet::new();
            map.entries().any(|(key, _)| match key.node().kind {
                Kind::Int => !seen.insert((key.node().payload.to_string()).into_bytes()),
                _ => !seen.insert(fixtures::php::key_bytes(&key)),
            })
        },
    )
}

#[test]
fn php_text_is_distinguished_from_other_text() {
    for fixture in load("php.jsonl").iter().filter(|fixture| fixture.mode == "serialize" && fixture.name != "null") {
        let found = icecore::identify(&fixture.blob).unwrap_or_else(|| panic!("{}", fixture.name));
        assert_eq!(found.name, "php", "{}", fixture.name);
        assert_eq!(icecore::detect::stage_of(&fixture.blob).unwrap().format().name, "php", "{}", fixture.name);
    }
    for text in
        ["a: 1\n", "a:b", "s:3", "i: am text;", "{\"a\":1}", "O:no", "N", "No;", "d:1.5 or so;", "b:true", "E:mail"]
    {
        assert!(icecore::identify(text.as_bytes()).is_none_or(|found| found.name != "php"), "{text}");
    }
}

#[test]
fn losses_are_reported() {
    let typed = Stage::parse("json:typed").unwrap();
    for (text, expected, kind) in [
        (r#"{"$icecore":1,"$value":18446744073709551615}"#, r#"s:20:"18446744073709551615";"#, "big-integer"),
        (r#"{"$icecore":1,"$value":{"$symbol":"abc"}}"#, r#"s:3:"abc";"#, "symbol"),
        (
            r#"{"$icecore":1,"$value":[{"$class":"My::Class","$value":{"a":1}}]}"#,
            r#"a:1:{i:0;O:8:"My\Class":1:{s:1:"a";i:1;}}"#,
            "",
        ),
    ] {
        let document = icecore::read_as(text.as_bytes(), &typed, &Limits::default()).unwrap();
        let mut out = Vec::new();
        let losses = php::write(&document, &php::WriteOptions::default(), &Limits::default(), &mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out), expected);
        let kinds: Vec<_> = losses.iter().map(|loss| loss.kind.as_str()).collect();
        assert_eq!(kinds.join(","), kind);
    }
}
