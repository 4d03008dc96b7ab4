//! `json:typed` says everything that a document means.

mod common;

use common::{Palette, has_kind, on_a_small_stack};
use std::collections::HashSet;

use icecore::{Document, ErrorKind, Kind, Limits, Request, Stage, json};

const KINDS: &[Kind] = &[
    Kind::Null,
    Kind::Bool,
    Kind::Int,
    Kind::Uint,
    Kind::BigInt,
    Kind::Float,
    Kind::Float32,
    Kind::Float128,
    Kind::Bytes,
    Kind::Text,
    Kind::Encoded,
    Kind::Symbol,
    Kind::Module,
    Kind::EnumCase,
    Kind::Hole,
    Kind::Link,
    Kind::Alias,
    Kind::Array,
    Kind::Map,
    Kind::Ref,
    Kind::Object,
    Kind::Opaque,
    Kind::Attrs,
    Kind::Regexp,
    Kind::Code,
    Kind::VString,
    Kind::Tied,
];

fn typed(document: &Document<'_>, options: &str) -> String {
    let stage = format!("json:typed{options}");
    String::from_utf8(icecore::write(document, &stage).unwrap()).unwrap()
}

fn read_typed(text: &str) -> Document<'_> {
    let stage = Stage::parse("json:typed").unwrap();
    match icecore::read_as(text.as_bytes(), &stage, &Limits::default()) {
        Ok(document) => document,
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[test]
fn every_document_comes_back_equal() {
    let mut seen: HashSet<&Kind> = HashSet::new();
    for seed in 0..6000 {
        let document = common::document(seed, Palette::All);
        seen.extend(KINDS.iter().filter(|kind| has_kind(&document, **kind)));
        let text = typed(&document, "");
        let again = read_typed(&text);
        assert!(document == again, "seed {seed}\n{document:?}\n{text}\n{again:?}");
        assert_eq!(typed(&again, ""), text, "seed {seed}");
        if seed % 4 == 0 {
            for options in [",indent=2", ",ascii", ",indent=1,ascii"] {
                let text = typed(&document, options);
                assert!(document == read_typed(&text), "seed {seed}{options}\n{text}");
                assert!(text.is_ascii() || !options.contains("ascii"));
            }
        }
    }
    let missing: Vec<_> = KINDS.iter().filter(|kind| !seen.contains(kind)).collect();
    assert!(missing.is_empty(), "the documents had no {missing:?}");
}
