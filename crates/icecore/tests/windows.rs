//! Reading in windows and writing in parts gives the same as reading and writing the whole.

use std::sync::OnceLock;

use icecore::{
    Builder, Document, Error, ErrorKind, Limits, Losses, Stage,
    raw::{DocumentPart, Rest, Tape},
};

const ITEMS: i64 = 30_000;

/// Makes a long array; `link` puts a second reference to its first item at the end.
fn records(link: bool) -> Document<'static> {
    let mut builder = Builder::new();
    builder.begin_array();
    let mut first = 0;
    for i in 0..ITEMS {
        let node = builder.begin_map().at();
        first = if i == 0 { node } else { first };
        builder.bytes_key("id").int(i);
        builder.bytes_key("name").bytes(format!("Employee_{i}"));
        if i % 1000 == 7 {
            builder.bytes_key("raw").bytes(b"caf\xe9");
        }
        builder.end();
        if i % 5000 == 3 {
            builder.int(i);
        }
    }
    if link {
        builder.link(first);
    }
    builder.end();
    builder.finish().unwrap()
}

struct ConvertedParts<'a> {
    json: Vec<u8>,
    losses: Losses,
    windows: usize,
    rest: Rest<'a>,
}

/// Converts to JSON in windows. The rest is written from the whole document if it needs that.
fn in_parts<'a>(blob: &'a [u8], store: &'a OnceLock<Vec<u8>>, from: &str, to: &str) -> ConvertedParts<'a> {
    let (from, to) = (Stage::parse(from).unwrap(), Stage::parse(to).unwrap());
    let limits = Limits::default();
    let (reading, writing) = ((from.format().reader)(from.settings()), (to.format().writer)(to.settings()));
    assert!(from.format().can.hands_over);
    let (mut json, mut losses, mut windows, mut before) = (Vec::new(), Losses::default(), 0, 0);
    let mut write = |document: &Document<'_>, part, json: &mut Vec<u8>| {
        losses.merge(writing.write_part(document, part, &limits, json).unwrap().unwrap());
    };
    let rest = reading.read_windows(blob, store, &limits, &mut |window| {
        write(&window, DocumentPart::Items { before, skip: 0, more: true }, &mut json);
        before += window.root().len() as u64;
        windows += 1;
        Ok::<Tape, Error>(window.into_tape())
    });
    assert_eq!(rest.items, before);
    if rest.needs_whole {
        let complete = icecore::read_as(blob, &from, &limits).unwrap();
        write(&complete, DocumentPart::Items { before, skip: before, more: false }, &mut json);
    } else if rest.outcome.error.is_none() {
        write(&rest.outcome.document, DocumentPart::Items { before, skip: 0, more: false }, &mut json);
    }
    ConvertedParts { json, losses, windows, rest }
}

#[test]
fn windows_give_the_same_output_as_the_whole() {
    let document = records(false);
    for from in ["storable", "sereal", "sereal:compress=zstd", "sereal:compress=snappy", "marshal", "php"] {
        let store = OnceLock::new();
        let blob = icecore::write(&document, from).unwrap();
        for to in ["json", "json:indent=2", "json:sort_keys,ascii"] {
            let mut complete = Vec::new();
            let stage = Stage::parse(to).unwrap();
            let read = icecore::read(&blob).unwrap();
            let losses = icecore::write_to(&read, &stage, &Limits::default(), &mut complete).unwrap();
            let parts = in_parts(&blob, &store, from, to);
            assert!(parts.windows > 2, "{} windows", parts.windows);
            assert!(parts.json == complete, "{from} to {to}");
            assert_eq!(parts.losses, losses, "paths count from the start of the array");
        }
    }
}

#[test]
fn a_late_link_needs_the_whole_document() {
    let document = records(true);
    for from in ["storable", "sereal", "sereal:compress=zstd", "sereal:compress=snappy", "marshal"] {
        let store = OnceLock::new();
        let blob = icecore::write(&document, from).unwrap();
        let parts = in_parts(&blob, &store, from, "json");
        assert!(parts.rest.needs_whole && parts.windows > 2);
        assert!(parts.json == icecore::write(&icecore::read(&blob).unwrap(), "json").unwrap(), "{from}");
    }
}

/// Records as a Ruby program has them: symbols, names of encodings, keys that are linked, and the
/// same float many times.
fn ruby_records(last: impl FnOnce(&mut Builder, u32)) -> Document<'static> {
    let mut builder = Builder::new();
    builder.begin_array();
    let mut first = 0;
    for i in 0..ITEMS {
        let node = builder.begin_map().at();
        first = if i == 0 { node } else { first };
        builder.text_key("name").text(&format!("Employee_{i}"));
        builder.symbol_key("state", "").symbol(["new", "old"][i as usize % 2], "");
        builder.text_key("factor").float((i % 7) as f64 + 0.25);
        builder.text_key("code").encoded("x", ["EUC-JP", "Shift_JIS"][i as usize % 2]);
        if i % 100 == 0 {
            builder.symbol_key("at", "").begin_object("Location");
            builder.begin_map();
            builder.symbol_key("@x", "").int(i);
            builder.end().end();
        }
        builder.end();
    }
    last(&mut builder, first);
    builder.end();
    builder.finish().unwrap()
}

#[test]
fn links_to_names_and_floats_of_earlier_windows_work() {
    let blob = icecore::write(
        &ruby_records(|builder, _| {
            builder.float(0.25);
        }),
        "marshal",
    )
    .unwrap();
    let complete = icecore::read_as(&blob, &Stage::parse("marshal").unwrap(), &Limits::default()).unwrap();
    let mut json = Vec::new();
    let stage = Stage::parse("json").unwrap();
    let losses = icecore::write_to(&complete, &stage, &Limits::default(), &mut json).unwrap();
    let store = OnceLock::new();
    let parts = in_parts(&blob, &store, "marshal", "json");
    assert!(!parts.rest.needs_whole && parts.windows > 5);
    assert!(parts.json == json);
    assert_eq!(parts.losses, losses);
    let symbols = losses.iter().find(|loss| loss.kind == icecore::LossKind::Symbol).unwrap();
    // Two per item, and one more in every hundredth; the member of an object does not count.
    assert_eq!(symbols.count, 2 * ITEMS as u64 + ITEMS as u64 / 100);
}

#[test]
fn a_link_to_an_earlier_window_needs_the_whole_document() {
    let document = ruby_records(|builder, first| {
        builder.link(first);
    });
    let blob = icecore::write(&document, "marshal").unwrap();
    let store = OnceLock::new();
    let parts = in_parts(&blob, &store, "marshal", "json");
    assert!(parts.rest.needs_whole && parts.windows > 5);
    assert!(parts.json == icecore::write(&icecore::read(&blob).unwrap(), "json").unwrap());
}

#[test]
fn errors_in_windows_have_offsets_in_the_whole_input() {
    let document = records(false);
    for from in ["storable", "sereal", "marshal", "php"] {
        let store = OnceLock::new();
        let blob = icecore::write(&document, from).unwrap();
        let cut = &blob[..blob.len() - 3];
        let parts = in_parts(cut, &store, from, "json");
        let error = parts.rest.outcome.error.unwrap();
        let expected = icecore::read(cut).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated);
        assert_eq!((error.offset(), error.path()), (expected.offset(), expected.path()));
        assert!(error.path().unwrap().starts_with("$[30005]"), "{error}");
    }
}

/// A PHP array may show only at its end that it is not a list. It is then read as a whole from the
/// start, like an array with links.
#[test]
fn lists_that_become_maps_are_read_as_a_whole() {
    let item = |i: usize| match i % 50 {
        3 => {
            let inner: String = (0..300).map(|i| format!("i:{i};i:7;")).collect();
            format!("a:301:{{{inner}s:1:\"x\";d:1.5;}}")
        }
        7 => "O:1:\"A\":1:{i:0;b:0;}".to_owned(),
        _ => format!("a:2:{{s:2:\"id\";i:{i};s:4:\"name\";s:3:\"a;}}\";}}"),
    };
    let list: String = (0..20_000).map(|i| format!("i:{i};{}", item(i))).collect();
    let ends = [("", 0, true), ("s:4:\"last\";i:1;", 1, false), ("i:20001;N;", 1, false), ("i:20000;R:2;", 1, false)];
    for (end, more, is_list) in ends {
        let blob = format!("a:{}:{{{list}{end}}}", 20_000 + more);
        let store = OnceLock::new();
        let parts = in_parts(blob.as_bytes(), &store, "php", "json");
        assert!(!parts.rest.needs_whole);
        assert_eq!(parts.windows > 2, is_list, "{end}");
        let complete = icecore::write(&icecore::read(blob.as_bytes()).unwrap(), "json").unwrap();
        assert!(parts.json == complete, "{end}");
        assert_eq!(parts.rest.outcome.consumed, blob.len());
    }
}

#[test]
fn the_receiver_of_windows_can_stop_the_reading() {
    let blob = icecore::write(&records(false), "storable").unwrap();
    let stage = Stage::parse("storable").unwrap();
    let store = OnceLock::new();
    let mut windows = 0;
    let rest = (stage.format().reader)(stage.settings()).read_windows(&blob, &store, &Limits::default(), &mut |_| {
        windows += 1;
        Err(Error::new(ErrorKind::Output))
    });
    assert_eq!(windows, 1);
    assert_eq!(rest.outcome.error.map(|error| error.kind()), Some(ErrorKind::Output));
}

#[test]
fn values_other_than_arrays_are_read_as_a_whole() {
    for json in ["{\"a\":[1,2]}", "[]", "5"] {
        let document = icecore::read(json.as_bytes()).unwrap();
        for from in ["storable", "sereal", "marshal"] {
            let store = OnceLock::new();
            let blob = icecore::write(&document, from).unwrap();
            let parts = in_parts(&blob, &store, from, "json");
            assert_eq!((parts.windows, String::from_utf8_lossy(&parts.json).as_ref()), (0, json));
        }
    }
}
