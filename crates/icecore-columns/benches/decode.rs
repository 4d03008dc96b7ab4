//! Rows per second of the kernel on one thread, next to only reading the same blobs to a tape.
//!
//! ```sh
//! cargo bench -p icecore-columns -- [--rows N] [--rounds N] [--only FORMAT] [--shuffle]
//! ```
//!
//! `--shuffle`: the keys of each row are in another order, as in Perl.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, BinaryArray};
use arrow_schema::{DataType, Field, Fields};
use icecore::raw::Tape;
use icecore::{Builder, Codec, Document, Limits, Stage};
use icecore_columns::{Decoder, Options};
use std::hint::black_box;
use std::time::Instant;

const STAGES: [&str; 6] = ["php", "storable", "sereal", "marshal", "igbinary", "json"];

fn main() {
    let (mut rows, mut rounds) = (200_000u32, 7usize);
    let (mut only, mut is_shuffled) = (None::<String>, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => rows = words.next().and_then(|n| n.parse().ok()).expect("a number of rows"),
            "--rounds" => rounds = words.next().and_then(|n| n.parse().ok()).expect("a number of rounds"),
            "--only" => only = words.next(),
            "--shuffle" => is_shuffled = true,
            "--bench" | "--test" => {}
            _ => panic!("unknown option {word}"),
        }
    }
    println!(
        "{:10} {:>12} {:>10} {:>14} {:>10} {:>10}",
        "format", "strings", "bytes/row", "million rows/s", "ns/row", "tape only"
    );
    for about in [0, 100] {
        for stage in STAGES.into_iter().filter(|stage| only.as_ref().is_none_or(|only| only == stage)) {
            measure(stage, rows, rounds, (about, is_shuffled));
        }
    }
}

/// Makes a record with three fields; the text has `about` bytes, or is a short name.
fn record(id: i64, (about, is_shuffled): (usize, bool)) -> Document<'static> {
    let mut b = Builder::new();
    b.begin_map();
    let text = format!("Employee {id}");
    let text = if about > 0 { format!("{text:.<about$}") } else { text };
    // A number without a pattern.
    let first = if is_shuffled { (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 } else { 0 };
    let second = if first % 2 == 0 { 1 } else { 2 };
    for field in [0, second, 3 - second] {
        match (first / 2 + field) % 3 {
            0 => b.bytes_key("id").int(id),
            1 => b.bytes_key("name").bytes(&text),
            _ => b.bytes_key("score").float(id as f64 / 4.0),
        };
    }
    b.end();
    b.finish().expect("a document")
}

fn row(fields: &Fields) -> Field {
    Field::new("row", DataType::Struct(fields.clone()), true)
}

fn measure(name: &str, rows: u32, rounds: usize, shape: (usize, bool)) {
    let about = shape.0;
    let stage = Stage::parse(name).expect("a stage");
    let blobs = (0..i64::from(rows)).map(|id| {
        let mut blob = Vec::new();
        icecore::write_to(&record(id, shape), &stage, &Limits::default(), &mut blob).expect("written");
        blob
    });
    let column = BinaryArray::from_iter_values(blobs);
    let fields: Fields = vec![
        Field::new("id", DataType::Int64, true),
        Field::new("name", DataType::Utf8, true),
        Field::new("score", DataType::Float64, true),
    ]
    .into();
    let read = Stage::of(stage.format());
    let mut decoder = Decoder::new(read.clone(), &row(&fields), Options::default()).expect("a decoder");
    let codec = Codec::new(read);
    let mut tape = Tape::new();
    let (mut times, mut tapes) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        let decoded = decoder.decode(black_box(&column)).expect("decoded");
        times.push(start.elapsed().as_secs_f64());
        let ids = decoded.column.as_struct().column(0).as_primitive::<Int64Type>();
        assert!(decoded.bad.is_empty() && (0..i64::from(rows)).zip(ids.values()).all(|(id, known)| id == *known));
        let start = Instant::now();
        for row in 0..column.len() {
            black_box(codec.read(column.value(row), &mut tape));
        }
        tapes.push(start.elapsed().as_secs_f64());
    }
    let per_row = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] / f64::from(rows) * 1e9
    };
    let (ns, tape_ns) = (per_row(&mut times), per_row(&mut tapes));
    let bytes = column.values().len() / rows as usize;
    println!("{name:10} {about:>12} {bytes:>10} {:>14.1} {ns:>10.1} {tape_ns:>10.1}", 1e3 / ns);
}
