//! Documents to and from serde's values: round trips, and no endless recursion.

use crate::value::{from_document, to_document};
use crate::{Builder, ErrorKind, Limits, Stage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Figure {
    Point,
    Circle(f64),
    Line(i8, i8),
    Box { width: u64, height: Option<u64> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct All {
    yes: bool,
    small: i8,
    large: u64,
    wide: i128,
    half: f32,
    letter: char,
    text: String,
    nothing: Option<u8>,
    unit: (),
    pair: (u8, String),
    list: Vec<Figure>,
    map: BTreeMap<i64, Vec<u8>>,
}

fn make_all() -> All {
    All {
        yes: true,
        small: -5,
        large: u64::MAX,
        wide: -(1 << 100),
        half: 0.5,
        letter: 'é',
        text: "日本".to_owned(),
        nothing: None,
        unit: (),
        pair: (7, "x".to_owned()),
        list: vec![Figure::Point, Figure::Circle(1.5), Figure::Line(-1, 2), Figure::Box { width: 1, height: None }],
        map: [(-1, vec![1, 2]), (9, vec![])].into(),
    }
}

#[test]
fn serialized_values_round_trip() {
    let document = to_document(&make_all()).unwrap();
    assert_eq!(from_document::<All>(&document).unwrap(), make_all());
    for format in ["json:typed", "storable", "sereal", "marshal"] {
        let bytes = crate::write(&document, format).unwrap();
        let stage = Stage::parse(format).unwrap();
        let reread = crate::read_as(&bytes, &stage, &Limits::default()).unwrap();
        if format == "json:typed" || format == "marshal" {
            assert_eq!(from_document::<All>(&reread).unwrap(), make_all(), "{format}");
        }
    }
}

#[test]
fn documents_are_serialized_like_values_of_serde_json() {
    let document = to_document(&make_all()).unwrap();
    let ours: serde_json::Value = serde_json::from_str(&serde_json::to_string(&document).unwrap()).unwrap();
    let by_serde_json: serde_json::Value = serde_json::from_str(&serde_json::to_string(&make_all()).unwrap()).unwrap();
    assert_eq!(ours, by_serde_json);
}

#[test]
fn cycles_and_multiplying_links_are_refused() {
    let mut b = Builder::new();
    let list = b.begin_array().at();
    b.link(list).end();
    let ring = b.finish().unwrap();
    assert!(serde_json::to_string(&ring).is_err());
    assert!(from_document::<serde_json::Value>(&ring).is_err());

    let mut b = Builder::new();
    b.begin_array();
    let mut previous = b.begin_array().at();
    b.end();
    for _ in 0..40 {
        let next = b.begin_array().at();
        b.link(previous).link(previous).end();
        previous = next;
    }
    b.end();
    let multiplied = b.finish().unwrap();
    assert!(serde_json::to_string(&multiplied).is_err());
    assert!(from_document::<serde_json::Value>(&multiplied).is_err());
}

#[test]
fn values_that_do_not_fit_are_reported_with_their_path() {
    let document = crate::read(br#"{"small": [1, "x"]}"#).unwrap();
    let error = from_document::<BTreeMap<String, Vec<u8>>>(&document).unwrap_err();
    assert_eq!(error.path(), Some("$.small[1]"));
    assert!(error.to_string().contains("expected u8"), "{error}");
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let document = crate::read(deep.as_bytes()).unwrap();
    assert_eq!(from_document::<serde_json::Value>(&document).unwrap_err().kind(), ErrorKind::Limit);
}
