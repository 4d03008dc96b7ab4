//! Truncated documents: everything that is salvaged is also in the whole document, and missing
//! parts are marked.

use crate::common;
use crate::fixtures;

use crate::common::{Palette, Random, usual_or_full};
use icecore::raw::{IS_KEY, Outcome};
use icecore::{Document, Kind, Limits, Request, Stage, Value};
use std::collections::BTreeMap;

const FORMATS: [&str; 8] = ["storable", "sereal", "php", "igbinary", "marshal", "json", "var-export", "dumper"];

fn read<'a>(stage: &Stage, bytes: &'a [u8]) -> Outcome<'a> {
    let limits = Limits::new();
    stage.format().read(bytes, stage.settings(), Request::new(&limits).detailed())
}

/// Returns the leaves by path, without those of marks.
fn leaves(document: &Document<'_>) -> BTreeMap<String, Vec<String>> {
    let mut leaves = BTreeMap::new();
    for node in 0..document.nodes().len() as u32 {
        let path = document.full_path(node);
        if path.contains("(missing)") || path.contains("(unnamed)") {
            continue;
        }
        let Some(here) = document.at(node).filter(|_| document.nodes()[node as usize].key != IS_KEY) else { continue };
        if !here.kind().is_container() && !matches!(here.value(), Value::Link(_) | Value::Alias(_)) {
            leaves.entry(path).or_insert_with(Vec::new).push(format!(
                "{:?} {:?}",
                here.kind(),
                here.as_bytes().map(<[u8]>::to_vec)
            ));
        }
    }
    leaves
}

/// Cuts a document at an offset and salvages the part before it.
fn cut_and_salvage(
    name: &str,
    stage: &Stage,
    bytes: &[u8],
    complete: &BTreeMap<String, Vec<String>>,
    len: usize,
) -> bool {
    let part = read(stage, &bytes[..len]);
    let Some(salvaged) = part.salvage().unwrap_or_else(|error| panic!("{name} {len}: {error}")) else {
        return false;
    };
    let leaves = leaves(&salvaged.document);
    for (path, value) in &leaves {
        // A PHP list becomes a map as soon as a key shows that it is not a list.
        let is_there = complete.get(path).or_else(|| complete.get(&path.replace(['{', '}'], "")));
        if let Some(there) = is_there {
            // A key may occur twice.
            assert!(
                value.iter().all(|value| there.contains(value)),
                "{name}, {len} bytes: {path}: {there:?} {value:?}"
            );
        }
    }
    assert!(salvaged.from + salvaged.lost == len as u64, "{name}, {len} bytes");
    // All of it can be written, and the output contains the marks.
    let marks = |text: &[u8]| String::from_utf8_lossy(text).matches("(missing)").count();
    let typed =
        icecore::write(&salvaged.document, "json:typed").unwrap_or_else(|error| panic!("{name} {len}: {error}"));
    let reread = icecore::read_as(&typed, &Stage::parse("json:typed").unwrap(), &Limits::default())
        .unwrap_or_else(|error| panic!("{name} {len}: {error}"));
    let cut = &part.document.trace().unwrap().cut;
    let is_list = |node: u32| matches!(part.document.nodes()[node as usize].kind, Kind::Array | Kind::Map);
    assert!(
        marks(&typed) > 0 || !cut.iter().any(|cut| is_list(cut.node)),
        "{name}, {len} bytes: no mark in {}",
        String::from_utf8_lossy(&typed)
    );
    assert_eq!(marks(&typed), marks(&icecore::write(&reread, "json:typed").unwrap()), "{name}, {len} bytes");
    true
}

#[test]
fn salvaged_parts_of_random_documents_are_in_them() {
    for format in FORMATS {
        let stage = Stage::parse(format).unwrap();
        let (mut seen, mut salvaged) = (0, 0);
        for seed in 0..60 {
            let document = common::document(seed, if seed % 2 == 0 { Palette::Json } else { Palette::Perl });
            let Ok(bytes) = icecore::write(&document, format) else { continue };
            let complete = read(&stage, &bytes);
            if complete.error.is_some() {
                continue;
            }
            assert!(complete.salvage().unwrap().is_none(), "{format} {seed}");
            let leaves = leaves(&complete.document);
            let mut random = Random::new(seed);
            for _ in 0..20 {
                seen += 1;
                let len = random.below(bytes.len() as u64 + 1) as usize;
                salvaged += usize::from(cut_and_salvage(&format!("{format} {seed}"), &stage, &bytes, &leaves, len));
            }
        }
        assert!(seen > 300 && salvaged > 80, "{format}: {salvaged} of {seen}");
    }
}

#[test]
fn salvaged_parts_of_fixtures_are_in_them() {
    for (file, format) in [
        ("storable.jsonl", "storable"),
        ("sereal.jsonl", "sereal"),
        ("php.jsonl", "php"),
        ("igbinary.jsonl", "igbinary"),
        ("marshal.jsonl", "marshal"),
    ] {
        let stage = Stage::parse(format).unwrap();
        let mut salvaged = 0;
        for fixture in fixtures::load(file).into_iter().step_by(usual_or_full(4, 1)) {
            let complete = read(&stage, &fixture.blob);
            if complete.error.is_some() || fixture.blob.len() > 3_000 {
                continue;
            }
            let leaves = leaves(&complete.document);
            let mut random = Random::new(fixture.blob.len() as u64);
            for _ in 0..3 {
                let len = random.below(fixture.blob.len() as u64 + 1) as usize;
                let name = format!("{format} {} {}", fixture.name, fixture.mode);
                salvaged += u64::from(cut_and_salvage(&name, &stage, &fixture.blob, &leaves, len));
            }
        }
        assert!(salvaged > usual_or_full(12, 50), "{format}: only {salvaged}");
    }
}

/// One byte is changed: the result is an error, another document, or a part with marks.
#[test]
fn salvaging_damaged_documents_does_not_panic() {
    let mut salvaged = 0;
    for format in FORMATS {
        let stage = Stage::parse(format).unwrap();
        for seed in 0..40 {
            let document = common::document(seed, Palette::Json);
            let Ok(mut bytes) = icecore::write(&document, format) else { continue };
            let mut random = Random::new(seed);
            for _ in 0..20 {
                let offset = random.below(bytes.len() as u64) as usize;
                let was = std::mem::replace(&mut bytes[offset], random.bits() as u8);
                if let Some(rest) = read(&stage, &bytes).salvage().unwrap() {
                    salvaged += 1;
                    icecore::write(&rest.document, "json:typed").unwrap();
                }
                bytes[offset] = was;
            }
        }
    }
    assert!(salvaged > 500, "only {salvaged}");
}

#[test]
fn marks_count_the_missing_values() {
    let stage = Stage::parse("php").unwrap();
    let bytes = b"a:3:{s:1:\"a\";a:2:{i:0;i:7;i:1;s:9:\"cut off";
    let salvaged = read(&stage, bytes).salvage().unwrap().unwrap();
    assert_eq!((salvaged.values, salvaged.from, salvaged.lost), (3, 26, 16));
    let root = salvaged.document.root();
    let outer = root.get("(missing)").unwrap();
    assert_eq!((outer.get("read").unwrap().as_i64(), outer.get("of").unwrap().as_i64()), (Some(1), Some(3)));
    assert!(outer.get("reason").is_none());
    let list = root.get("a").unwrap();
    assert_eq!((list.kind(), list.len()), (Kind::Array, 2));
    let inner = list.item(1).unwrap().get("(missing)").unwrap();
    assert_eq!(inner.get("rest").unwrap().as_bytes(), Some(&b"i:1;s:9:\"cut off"[..]));
    assert_eq!(inner.get("offset").unwrap().as_i64(), Some(26));
    assert!(inner.get("reason").unwrap().as_str().unwrap().contains("expected 9 bytes"));
}

/// In a Storable image a key follows its value, so a value that breaks off has no key yet.
#[test]
fn values_without_a_key_are_salvaged() {
    let stage = Stage::parse("storable").unwrap();
    let bytes = icecore::convert(br#"{"a":{"b":[1,2,3,"four"]}}"#, "json", "storable").unwrap();
    let part = &bytes[..bytes.len() - 16];
    let salvaged = read(&stage, part).salvage().unwrap().unwrap();
    let list = salvaged.document.root().get("(unnamed)").unwrap().get("(unnamed)").unwrap();
    assert_eq!((list.len(), list.item(0).unwrap().as_i64(), list.item(2).unwrap().as_i64()), (4, Some(1), Some(3)));
    assert!(list.item(3).unwrap().get("(missing)").is_some());
}
