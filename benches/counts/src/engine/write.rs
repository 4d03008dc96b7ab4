//! Benchmarks that write a document to bytes, as a whole.

use super::{EngineBenchmark, check, check_bytes, encode, stage};
use crate::shape::Shape::{self, Ints, Nested, Records, Strings};
use std::hint::black_box;

/// The format, the shape and the number of items of each benchmark.
const BENCHMARKS: &[(&str, Shape, usize)] = &[
    ("storable", Records, 20_000),
    ("sereal", Records, 20_000),
    ("dumper", Records, 3_000),
    ("php", Records, 4_000),
    ("php-session", Records, 4_000),
    ("var-export", Records, 3_000),
    ("json", Records, 10_000),
    ("igbinary", Records, 2_500),
    ("marshal", Records, 15_000),
    ("pack", Records, 4_000),
    ("join", Records, 6_000),
    ("storable", Ints, 100_000),
    ("php", Ints, 25_000),
    ("json", Ints, 80_000),
    ("php", Strings, 25_000),
    ("json", Strings, 25_000),
    ("var-export", Strings, 10_000),
    ("igbinary", Strings, 10_000),
    ("storable", Nested, 3_000),
    ("json", Nested, 3_000),
    ("sereal", Nested, 5_000),
    ("dumper", Nested, 1_000),
    ("marshal", Nested, 4_000),
];

pub fn benchmarks() -> Vec<EngineBenchmark> {
    let benchmarks = BENCHMARKS.iter().map(|&(format, shape, items)| {
        EngineBenchmark::new(format!("write/{format}/{}", shape.name()), items, move |items| {
            let (document, stage) = (shape.build(format, items), stage(format));
            check(|| check_bytes(&encode(&document, &stage), &stage, &document));
            Box::new(move || drop(black_box(encode(black_box(&document), &stage))))
        })
    });
    benchmarks.collect()
}
