//! Benchmarks that read bytes to a document, as a whole.

use super::{EngineBenchmark, decode, input, stage};
use crate::shape::Shape::{self, Ints, Nested, Records, Strings};
use std::hint::black_box;

/// The format, the shape and the number of items of each benchmark.
const BENCHMARKS: &[(&str, Shape, usize)] = &[
    ("storable", Records, 20_000),
    ("sereal", Records, 20_000),
    ("dumper", Records, 4_000),
    ("php", Records, 12_000),
    ("php-session", Records, 12_000),
    ("var-export", Records, 3_000),
    ("json", Records, 10_000),
    ("igbinary", Records, 6_000),
    ("marshal", Records, 15_000),
    ("pack", Records, 6_000),
    ("join", Records, 20_000),
    ("sereal", Ints, 150_000),
    ("php", Ints, 60_000),
    ("json", Ints, 80_000),
    ("igbinary", Ints, 50_000),
    ("storable", Strings, 50_000),
    ("json", Strings, 25_000),
    ("dumper", Strings, 10_000),
    ("marshal", Strings, 50_000),
    ("php", Nested, 5_000),
    ("json", Nested, 3_000),
    ("sereal", Nested, 5_000),
    ("var-export", Nested, 1_000),
    ("marshal", Nested, 5_000),
];

pub fn benchmarks() -> Vec<EngineBenchmark> {
    let benchmarks = BENCHMARKS.iter().map(|&(format, shape, items)| {
        EngineBenchmark::new(format!("read/{format}/{}", shape.name()), items, move |items| {
            let (bytes, stage) = (input(format, shape, items), stage(format));
            Box::new(move || drop(black_box(decode(black_box(bytes), &stage))))
        })
    });
    benchmarks.collect()
}
