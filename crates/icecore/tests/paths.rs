//! Every path that is shown leads to a value: the one it was shown for, or one that is shown with
//! the same path.

use crate::common;

use icecore::{Builder, Document, Limits, Stage, deep, raw::IS_KEY};
use std::fs;
use std::path::Path;

/// Number of values of a document that are checked.
const MAX_VALUES: usize = 300;

/// Returns the values of a document, except keys and their content.
fn values(document: &Document<'_>) -> Vec<u32> {
    let (mut index, mut values) = (document.root().index(), Vec::new());
    let next_sibling = |index: u32| match document.nodes()[index as usize] {
        node if node.kind.is_container() => node.end(),
        _ => index + 1,
    };
    let end = next_sibling(index);
    while index < end {
        let Some(value) = document.at(index) else { break };
        if value.node().key == IS_KEY {
            index = next_sibling(index);
            continue;
        }
        values.push(index);
        index += 1;
    }
    let step = values.len().div_ceil(MAX_VALUES).max(1);
    values.into_iter().step_by(step).collect()
}

/// Looks up every value by its path. Returns the number of values.
fn find_every_value_by_path(context: &str, document: &Document<'_>) -> usize {
    let values = values(document);
    for &node in &values {
        for path in [document.path(node), document.full_path(node)] {
            let found = document.find(&path).unwrap_or_else(|error| panic!("{context} {node}: {path}: {error}"));
            assert_eq!(document.path(found.index()), document.path(node), "{context}: {path}");
            let printed = icecore::text::printable(&path);
            assert_eq!(printed, path, "{context}: a message would change it");
        }
    }
    values.len()
}

fn fixtures(name: &str, format: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    let stage = Stage::parse(format).unwrap();
    let mut count = 0;
    for line in fs::read_to_string(path).unwrap().lines().step_by(common::usual_or_full(4, 1)) {
        let row = icecore::read_as(line.as_bytes(), &Stage::parse("json").unwrap(), &Limits::new()).unwrap();
        let Some(blob) = row.find("$.blob").ok().and_then(|blob| blob.as_str().map(str::to_owned)) else { continue };
        let Ok(document) = icecore::read_as(blob.as_bytes(), &stage, &Limits::new()) else { continue };
        count += find_every_value_by_path(line.get(..80).unwrap_or(line), &document);
    }
    count
}

#[test]
fn paths_of_fixtures_lead_to_their_values() {
    for (name, format) in [
        ("storable.jsonl", "base64/storable"),
        ("sereal.jsonl", "base64/sereal"),
        ("php.jsonl", "base64/php"),
        ("igbinary.jsonl", "base64/igbinary"),
        ("marshal.jsonl", "base64/marshal"),
        ("php-spl.jsonl", "base64/php"),
    ] {
        let count = fixtures(name, format);
        assert!(count > common::usual_or_full(125, 500), "{name}: only {count} values");
    }
}

#[test]
fn paths_of_random_documents_lead_to_their_values() {
    for seed in 0..400 {
        let document = common::document(seed, common::Palette::All);
        find_every_value_by_path(&format!("seed {seed}"), &document);
    }
}

/// Returns keys with everything that may confuse a terminal, a path or a person, and long keys.
fn hostile() -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = (0..=0x2100u32)
        .chain(0xfeff..=0xfeff)
        .chain(0xfff9..=0xffff)
        .chain(0xe0000..=0xe0080)
        .filter_map(char::from_u32)
        .filter(|c| !c.is_alphanumeric())
        .map(|c| format!("a{c}b").into_bytes())
        .collect();
    let pieces = ["\"", "\\", ".", "[", "]", "{0}", "^", "#1", "$", "…", "…(3 bytes)…", "\\u202e", "é", " "];
    for a in pieces {
        for builder in pieces {
            keys.push(format!("{a}{builder}").into_bytes());
        }
    }
    for len in [159, 160, 161, 162, 400, 2000] {
        for tail in ["", "x", "é", "\u{202e}", "…(3 bytes)…"] {
            keys.push(format!("{}{tail}", "é".repeat(len / 2)).into_bytes());
            keys.push(format!("{}{tail}{}", "a".repeat(len), "b".repeat(len)).into_bytes());
        }
    }
    keys.extend([b"\xff\xfe".to_vec(), b"a\xc3".to_vec(), b"".to_vec(), [b'\xff'; 300].to_vec()]);
    keys
}

fn deep_and_hostile(levels: usize) -> Document<'static> {
    let mut builder = Builder::new();
    builder.begin_map();
    for key in hostile() {
        builder.bytes_key(&key).bytes(b"x");
    }
    builder.text_key("down");
    for level in 0..levels {
        builder.begin_map();
        builder.text_key(if level % 2 == 0 { "n" } else { "an odd key" });
        builder.begin_array();
        builder.text("x");
    }
    for _ in 0..levels {
        builder.end().end();
    }
    builder.end();
    builder.finish().unwrap()
}

#[test]
fn paths_of_hostile_keys_and_deep_values_lead_to_them() {
    for levels in [1, 20, 31, 32, 33, 40, 100, 700] {
        let document = deep_and_hostile(levels);
        assert!(find_every_value_by_path(&format!("{levels} levels"), &document) > 200);
    }
}

/// Paths of the opened document lead through the strings, step by step.
#[test]
fn paths_lead_into_opened_strings() {
    let mut inner = deep_and_hostile(50).into_owned();
    for stage in ["php", "base64/storable", "json:typed", "gzip/base64/marshal"] {
        let bytes = icecore::write(&inner, stage).unwrap();
        let mut builder = Builder::new();
        builder.begin_map();
        builder.text_key("list").begin_array();
        builder.text("plain").bytes(&bytes).end();
        builder.end();
        inner = builder.finish().unwrap();
        let deep = deep::open(inner.clone(), &Limits::new()).unwrap();
        assert!(!deep.opened.is_empty(), "{stage}");
        find_every_value_by_path(stage, &deep.document);
        let (node, found) = deep::first(&inner, &Limits::new()).expect(stage);
        assert_eq!((inner.path(node).as_str(), found.name()), ("$.list[1]", deep.opened[0].name()));
    }
}
