//! Two benchmarks that show that the comparison can fail: some work, and the same work plus 4 %.

use super::{EngineBenchmark, decode, input, stage};
use crate::shape::Shape::Records;
use std::hint::black_box;

pub fn benchmarks() -> Vec<EngineBenchmark> {
    [("gate/usual", 100), ("gate/slower", 104)].into_iter().map(|(name, rounds)| benchmark(name, rounds)).collect()
}

fn benchmark(name: &str, rounds: usize) -> EngineBenchmark {
    EngineBenchmark::new(name, 100, move |items| {
        let (bytes, stage) = (input("php", Records, items), stage("php"));
        Box::new(move || {
            for _ in 0..rounds {
                drop(black_box(decode(black_box(bytes), &stage)));
            }
        })
    })
}
