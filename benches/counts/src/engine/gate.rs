//! Two benchmarks that show that the comparison can fail: some work, and the same work plus 4 %.

use super::{EngineCell, decode, input, stage};
use crate::shape::Shape::Records;
use std::hint::black_box;

pub fn cells() -> Vec<EngineCell> {
    [("gate/usual", 100), ("gate/slower", 104)].into_iter().map(|(name, rounds)| cell(name, rounds)).collect()
}

fn cell(name: &str, rounds: usize) -> EngineCell {
    EngineCell::new(name, 100, move |items| {
        let (bytes, stage) = (input("php", Records, items), stage("php"));
        Box::new(move || {
            for _ in 0..rounds {
                drop(black_box(decode(black_box(bytes), &stage)));
            }
        })
    })
}
