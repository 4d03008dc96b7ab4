//! We read the same from a Storable image as the real Storable.

use crate::fixtures::{expectations, load, report};
use icecore::{Document, Limits, Stage, format::storable, value::Comparison};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Fixtures that we read differently from the real Storable, and the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "bools/alias",
        "the image says that the third item is the first again; perl has but one true, so this makes no difference there",
    ),
    ("ties/element-of-hash", "the image says that it is the same variable that refers to the object, and that is kept"),
    ("ties/element-of-array", "as ties/element-of-hash"),
    ("ties/element-and-whole", "as ties/element-of-hash"),
    (
        "regexps/text",
        "the image has UTF-8 and no flag that says so: Storable reads its bytes as characters; they are kept",
    ),
    ("hooks/links-overloaded", "a list of numbers marks no reference as overloaded; Storable looks at the class"),
    ("code/blessed", "the image has the class; Storable drops it"),
];

/// Changes typed JSON to what the classes of hooks would receive: only the objects in a record's
/// list count, in the order of the list.
fn as_called(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(as_called),
        Value::Object(map) => {
            map.values_mut().for_each(as_called);
            if map.get("$opaque").is_some_and(|form| form == "hook")
                && let Some(Value::Array(parts)) = map.get_mut("$links")
            {
                let _body = parts.pop();
                let is_link = |part: &Value| part.get("$link").is_some() || part.pointer("/$ref/$alias").is_some();
                let (mut list, inner): (Vec<_>, Vec<_>) = parts.drain(..).partition(is_link);
                for object in inner {
                    let names = |link: &Value| {
                        link.get("$link").is_some_and(|id| *id == object["$id"])
                            || link.pointer("/$ref/$alias").is_some_and(|id| *id == object["$ref"]["$id"])
                    };
                    match list.iter().position(names) {
                        Some(at) => list[at] = object,
                        None => panic!("{object} is stored in a record and is not in its list"),
                    }
                }
                if list.is_empty() {
                    map.remove("$links");
                } else {
                    *parts = list;
                }
            }
        }
        _ => {}
    }
}

fn is_same(read: &Document<'_>, expected: &str) -> bool {
    let limits = Limits::default();
    let typed = Stage::parse("json:typed").unwrap();
    let of = |text: &[u8]| {
        let document = icecore::read_as(text, &typed, &limits);
        document.unwrap_or_else(|e| panic!("{}: {e}", String::from_utf8_lossy(text))).into_owned()
    };
    let comparison = Comparison::new().any_order().any_ascii();
    if !expected.contains(r#""$opaque":"hook""#) {
        return comparison.equal(read, &of(expected.as_bytes()));
    }
    let mut ours = serde_json::from_slice(&icecore::write(read, "json:typed").unwrap()).unwrap();
    as_called(&mut ours);
    comparison.equal(&of(&serde_json::to_vec(&ours).unwrap()), &of(expected.as_bytes()))
}

/// Compares all fixtures. Returns the names of those in the list that differ.
fn check(file: &str, expected: &HashMap<String, String>) -> BTreeSet<String> {
    let limits = Limits::default();
    let (mut total, mut failures, mut otherwise) = (0, Vec::new(), BTreeSet::new());
    for fixture in load(file) {
        let opaque = fixture.line["opaque"].as_str();
        let Some(id) = opaque.or(fixture.expected.as_deref().filter(|_| fixture.line["classes"].is_null())) else {
            continue;
        };
        total += 1;
        let text = &expected[id];
        let read = storable::read(&fixture.blob, &fixture.storable_options(), &limits).unwrap();
        if is_same(&read, text) {
            continue;
        }
        if DIFFERENCES.iter().any(|(name, _)| *name == fixture.name) {
            otherwise.insert(fixture.name);
            continue;
        }
        let ours = icecore::write(&read, "json:typed").unwrap();
        failures.push(format!("{} {}:\n  {}\n  {text}", fixture.name, fixture.mode, String::from_utf8_lossy(&ours)));
    }
    report(file, total, &failures);
    otherwise
}

#[test]
fn images_are_read_as_perl_reads_them() {
    let otherwise = check("storable.jsonl", &expectations("expected.jsonl"));
    let listed: BTreeSet<_> = DIFFERENCES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(otherwise, listed, "the list of what differs is out of date");
}

#[test]
fn images_of_other_machines_are_read_like_perl() {
    let otherwise = check("storable-arch.jsonl", &expectations("expected-arch.jsonl"));
    assert!(otherwise.is_empty(), "{otherwise:?}");
}
