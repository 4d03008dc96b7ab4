//! What a detailed reading reports about bytes: the spans of each layer tile it, and every value
//! has an extent that contains those of its children.

use crate::fixtures;

use icecore::raw::Reader as _;
use icecore::{
    Document, Limits, Request, Stage,
    raw::{NO_NODE, Outcome, Trace},
};

fn read<'a>(stage: &str, input: &'a [u8]) -> Outcome<'a> {
    let stage = Stage::parse(stage).unwrap();
    let limits = Limits::default();
    stage.format().read(input, stage.settings(), Request::new(&limits).detailed())
}

/// Checks that the spans of a layer cover it up to `end`, without gap or overlap, and that they
/// refer to existing values.
fn check_layer(name: &str, document: &Document<'_>, trace: &Trace, layer: u8, end: u64) {
    let mut spans: Vec<_> = trace.spans.iter().filter(|span| span.layer == layer).collect();
    spans.sort_by_key(|span| span.start);
    let mut offset = 0;
    for span in spans {
        assert_eq!(span.start, offset, "{name}: layer {layer}, `{}`", span.name);
        assert!(span.end > span.start, "{name}: `{}` is empty", span.name);
        assert!(!span.name.is_empty(), "{name}: a span without a name at {offset}");
        assert!(span.node == NO_NODE || (span.node as usize) < document.nodes().len(), "{name}: `{}`", span.name);
        offset = span.end;
    }
    assert_eq!(offset, end, "{name}: layer {layer} is not covered");
}

fn check(name: &str, outcome: &Outcome<'_>) {
    let document = &outcome.document;
    let trace = document.trace().unwrap_or_else(|| panic!("{name}: no trace"));
    if outcome.error.is_none() {
        check_layer(name, document, trace, 0, outcome.consumed as u64);
        if let Some(layer) = &trace.layer {
            check_layer(name, document, trace, 1, layer.len() as u64);
        }
    }
    // The parts of a hook are known only at the end.
    if outcome.error.is_some() {
        return;
    }
    let mut open: Vec<(u32, icecore::raw::Extent)> = Vec::new();
    for (index, node) in document.nodes().iter().enumerate() {
        let index = index as u32;
        while open.pop_if(|(end, _)| *end <= index).is_some() {}
        let Some(extent) = trace.extents.get(index as usize).copied().filter(|extent| extent.end != 0) else {
            continue;
        };
        assert!(extent.start <= extent.end, "{name}: value {index}: {extent:?}");
        if let Some((_, parent)) = open.last()
            && parent.layer == extent.layer
            && !extent.copied
        {
            assert!(
                parent.start <= extent.start && extent.end <= parent.end,
                "{name}: value {index} leaves its parent"
            );
        }
        if node.kind.is_container() && node.end() != 0 && !extent.copied {
            open.push((node.end(), extent));
        }
    }
}

#[test]
fn spans_tile_every_storable_image() {
    for file in ["storable.jsonl", "storable-arch.jsonl"] {
        for fixture in fixtures::load(file) {
            let name = format!("{} {}", fixture.name, fixture.mode);
            let options = fixture.storable_options();
            let limits = Limits::default();
            let request = Request::new(&limits).detailed();
            let outcome = options.read(&fixture.blob, request);
            assert_eq!(outcome.error, None, "{name}");
            check(&name, &outcome);
        }
    }
}

#[test]
fn spans_tile_every_sereal_document() {
    let (mut checked, mut layers) = (0, 0);
    for fixture in fixtures::load("sereal.jsonl") {
        let name = format!("{} {}", fixture.name, fixture.mode);
        let mut rest = &fixture.blob[..];
        while !rest.is_empty() {
            let outcome = read("sereal", rest);
            if outcome.error.is_some() {
                // The reader's own tests list the allowed errors.
                break;
            }
            check(&name, &outcome);
            checked += 1;
            layers += u32::from(outcome.document.trace().is_some_and(|trace| trace.layer.is_some()));
            rest = &rest[outcome.consumed..];
        }
    }
    assert!(layers > 50, "only {layers} compressed documents");
    assert!(checked > 5000, "only {checked} documents");
}

#[test]
fn spans_tile_every_json_text() {
    for (_, text) in fixtures::expectations("expected.jsonl") {
        for input in [text.clone(), format!("\r\n {text} \t\n"), format!("[ {text}\n, {text} ]")] {
            let outcome = read("json", input.as_bytes());
            assert_eq!(outcome.error, None, "{text}");
            check(&text, &outcome);
        }
    }
}

#[test]
fn spans_tile_every_data_dumper_text() {
    let mut checked = 0;
    for fixture in fixtures::load("dumper-read.jsonl") {
        if fixture.mode.contains("Pad=") && fixture.mode.contains("Terse=1") {
            continue;
        }
        let name = format!("{} {}", fixture.name, fixture.mode);
        let outcome = read("dumper", &fixture.blob);
        assert_eq!(outcome.error, None, "{name}");
        check(&name, &outcome);
        checked += 1;
    }
    assert!(checked > 2000, "only {checked} texts");
}

/// The part that is read of a truncated document is a valid document.
#[test]
fn partial_documents_can_be_walked() {
    for (file, format) in [("storable.jsonl", "storable"), ("sereal.jsonl", "sereal"), ("dumper-read.jsonl", "dumper")]
    {
        let fixtures = fixtures::load(file);
        for fixture in fixtures.iter().step_by(97).filter(|fixture| fixture.blob.len() < 4096) {
            for len in 0..fixture.blob.len() {
                let outcome = read(format, &fixture.blob[..len]);
                let name = format!("{} {} cut to {len}", fixture.name, fixture.mode);
                if outcome.error.is_none() {
                    // Several documents, or several values of one: the cut is between two of them.
                    assert!(fixture.mode == "several" || format == "dumper", "{name}");
                    continue;
                }
                check(&name, &outcome);
                for index in 0..outcome.document.nodes().len() as u32 {
                    assert!(outcome.document.path(index).starts_with('$'), "{name}");
                }
                outcome.document.classes();
            }
        }
    }
}

/// Every path that is shown leads to the value it was shown for.
#[test]
fn paths_of_values_lead_back_to_them() {
    for (file, format) in [("storable.jsonl", "storable"), ("sereal.jsonl", "sereal"), ("dumper-read.jsonl", "dumper")]
    {
        for fixture in fixtures::load(file).iter().step_by(7) {
            let outcome = read(format, &fixture.blob);
            let document = &outcome.document;
            if has_keys_that_look_the_same(document) {
                continue;
            }
            let body = document.root().index()..document.nodes().len() as u32;
            for index in body.step_by(1 + document.nodes().len() / 200) {
                if document.nodes()[index as usize].key == icecore::raw::IS_KEY {
                    continue;
                }
                let path = document.path(index);
                // The middle of a long path is left out.
                if path.contains('…') {
                    continue;
                }
                let name = format!("{} {}: {path}", fixture.name, fixture.mode);
                let found = document.find(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
                let same = found.index() == index || document.path(found.index()) == path;
                assert!(same, "{name} leads to {}", document.path(found.index()));
            }
        }
    }
}

/// Returns `true` if a key of bytes and a key of text are written the same way. A path can't tell them apart.
fn has_keys_that_look_the_same(document: &Document<'_>) -> bool {
    let maps = (0..document.nodes().len() as u32).filter_map(|index| document.at(index));
    maps.filter(|map| map.kind() == icecore::Kind::Map).any(|map| {
        let mut seen = std::collections::HashSet::new();
        map.entries().any(|(key, _)| !seen.insert(String::from_utf8_lossy(key.bytes()).into_owned()))
    })
}
