//! Benchmarks with rows of a table that differ only in their scalars, so that stencils read them.

use super::{EngineBenchmark, blobs, check, stage};
use crate::shape::Shape::Records;
use icecore::Codec;
use icecore::raw::{Stencils, Tape};
use std::hint::black_box;

const FORMATS: [(&str, usize); 5] =
    [("storable", 5_000), ("php", 5_000), ("json", 5_000), ("igbinary", 5_000), ("marshal", 5_000)];

pub fn benchmarks() -> Vec<EngineBenchmark> {
    FORMATS.into_iter().map(|(format, items)| benchmark(format, items)).collect()
}

fn benchmark(format: &'static str, items: usize) -> EngineBenchmark {
    EngineBenchmark::new(format!("alike/{format}/records"), items, move |items| {
        let blobs = blobs(format, Records, items);
        let codec = Codec::new(stage(format));
        let read_all = move |mut usual: Option<Tape>| {
            let (mut tape, mut stencils) = (Tape::new(), Stencils::default());
            for blob in black_box(&blobs) {
                let filled = codec.read_alike(blob, &mut tape, &mut stencils);
                assert!(filled.error.is_none() && filled.consumed == blob.len());
                if let Some(usual) = &mut usual {
                    codec.read(blob, usual);
                    assert!(usual.nodes() == tape.nodes(), "the stencil reads something else");
                }
            }
            black_box(&tape);
            stencils.alike()
        };
        check(|| {
            let alike = read_all(Some(Tape::new()));
            assert!(alike > items as u64 / 2, "only {alike} of {items} records were read by a stencil");
        });
        Box::new(move || {
            black_box(read_all(None));
        })
    })
}
