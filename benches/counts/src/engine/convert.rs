//! Benchmarks that convert from one format to another: as a whole, in windows, and each record as a document.

use super::{EngineBenchmark, FORMATS, blobs, check, decode, encode, input, stage};
use crate::shape::Shape::{self, Ints, Nested, Records, Strings};
use icecore::raw::{DocumentPart, Store};
use icecore::{Converter, Limits, Stage};
use std::hint::black_box;

/// The formats that can hand over finished items during reading.
const IN_WINDOWS: [&str; 4] = ["storable", "sereal", "php", "marshal"];

/// Records for a format, so that each benchmark takes some million instructions.
fn records_of(format: &str) -> usize {
    match format {
        "dumper" | "var-export" => 3_000,
        "igbinary" | "json" => 5_000,
        // These formats read in windows, and the input must be long enough for several of them.
        _ => 12_000,
    }
}

pub fn benchmarks() -> Vec<EngineBenchmark> {
    let mut benchmarks = Vec::new();
    for from in FORMATS {
        // JSON to JSON keeps the form of the input. That is a different task.
        let to = if from == "json" { "php" } else { "json" };
        benchmarks.push(convert_whole(from, to, Records, records_of(from)));
        benchmarks.push(each(from, to, Records, 3_000));
        if IN_WINDOWS.contains(&from) {
            benchmarks.push(windows(from, to, Records, records_of(from)));
        }
    }
    for (shape, items) in [(Ints, 50_000), (Strings, 50_000), (Nested, 4_000)] {
        benchmarks.push(convert_whole("php", "json", shape, items));
        benchmarks.push(windows("php", "json", shape, items));
    }
    for to in FORMATS.into_iter().filter(|to| !["php", "json"].contains(to)) {
        benchmarks.push(convert_whole("php", to, Records, 4_000));
    }
    benchmarks
}

fn name(from: &str, to: &str, shape: Shape, way: &str) -> String {
    format!("convert/{from}-{to}/{}/{way}", shape.name())
}

/// One document is read to its end, and then written.
fn convert_whole(from: &'static str, to: &'static str, shape: Shape, items: usize) -> EngineBenchmark {
    EngineBenchmark::new(name(from, to, shape, "whole"), items, move |items| {
        let bytes = input(from, shape, items);
        let (from, to) = (stage(from), stage(to));
        let convert = move || encode(&decode(black_box(bytes), &from), &to);
        check(|| check_output(&convert(), shape, items));
        Box::new(move || drop(black_box(convert())))
    })
}

/// Finished items are written while reading continues, as `icecore convert` does with a large file.
/// The command reads in one thread and writes in another. Here one thread does both, because the counts would
/// otherwise depend on which thread waits.
fn windows(from: &'static str, to: &'static str, shape: Shape, items: usize) -> EngineBenchmark {
    EngineBenchmark::new(name(from, to, shape, "windows"), items, move |items| {
        let bytes = input(from, shape, items);
        let (from, to) = (stage(from), stage(to));
        let convert = move || convert_in_windows(black_box(bytes), &from, &to);
        check(|| {
            let (out, handed_over) = convert();
            assert!(handed_over > 1, "the input is too small for windows");
            check_output(&out, shape, items);
        });
        Box::new(move || drop(black_box(convert())))
    })
}

/// Converts an array, and returns how many windows were handed over.
fn convert_in_windows(bytes: &[u8], from: &Stage, to: &Stage) -> (Vec<u8>, u32) {
    let (limits, store) = (Limits::default(), Store::new());
    let reader = (from.format().reader)(from.settings());
    let writer = to.format().prepare(to.settings()).writer;
    let mut out = Vec::new();
    let (mut before, mut windows) = (0, 0);
    let rest = reader.read_windows(bytes, &store, &limits, &mut |window| {
        let items = window.root().len() as u64;
        let part = DocumentPart::Items { before, skip: 0, more: true };
        let written = writer.write_part(&window, part, &limits, &mut out).expect("the target takes parts");
        written.expect("a window can be written");
        before += items;
        windows += 1;
        Ok(window.into_tape())
    });
    assert!(rest.outcome.error.is_none() && !rest.needs_whole, "the array can be read in windows");
    let part = DocumentPart::Items { before, skip: 0, more: false };
    let written = writer.write_part(&rest.outcome.document, part, &limits, &mut out).expect("the target takes parts");
    written.expect("the last window can be written");
    (out, windows)
}

/// A stream of small documents with one converter.
fn each(from: &'static str, to: &'static str, shape: Shape, items: usize) -> EngineBenchmark {
    EngineBenchmark::new(name(from, to, shape, "each"), items, move |items| {
        let blobs = blobs(from, shape, items);
        let (from, to, target) = (stage(from), stage(to), stage(to));
        let convert = move || {
            let mut converter = Converter::new(from.clone(), to.clone()).limited(&Limits::default());
            let mut out = Vec::new();
            for blob in black_box(&blobs) {
                let converted = converter.convert(blob, &mut out);
                assert!(converted.is_read && converted.consumed == blob.len() && converted.written.is_ok());
            }
            out
        };
        check(|| {
            let expected: Vec<u8> = (0..items).flat_map(|id| encode(&shape.build_item(id), &target)).collect();
            assert!(convert() == expected, "the stream becomes something else");
        });
        Box::new(move || drop(black_box(convert())))
    })
}

/// Panics unless the output of a conversion equals the value that was converted.
fn check_output(out: &[u8], shape: Shape, items: usize) {
    let read = icecore::read(out).expect("the output can be detected and read");
    let expected = shape.build("json", items);
    assert!(super::to_json(&read) == super::to_json(&expected), "the conversion changed the value");
}
