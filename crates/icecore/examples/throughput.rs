//! The speed of reading a file, compared with memcpy in the same run.
//!
//! `cargo run --release --example throughput -- FILE [ROUNDS]`

use icecore::{Limits, Request, Stage, raw::Tape};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("which file?")?;
    let rounds: usize = args.next().map_or(Ok(7), |n| n.parse())?;
    let input = std::fs::read(path)?;
    let stage = Stage::of(icecore::read(&input).map(|_| detected(&input))?);
    let limits = Limits::default();
    let mut tape = Tape::new();
    let mut copy = vec![0u8; input.len()];
    let mut out = Vec::with_capacity(input.len() * 2);
    let (mut copies, mut reads, mut writes, mut jsons) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        copy.copy_from_slice(std::hint::black_box(&input));
        std::hint::black_box(&copy);
        copies.push(start.elapsed().as_secs_f64());

        let mut request = Request::new(&limits);
        request.tape = tape;
        let start = Instant::now();
        let document = icecore::read_with(&input, &stage, request)?;
        reads.push(start.elapsed().as_secs_f64());

        out.clear();
        let start = Instant::now();
        icecore::write_to(&document, &stage, &limits, &mut out)?;
        writes.push(start.elapsed().as_secs_f64());

        out.clear();
        let start = Instant::now();
        icecore::write_to(&document, &Stage::parse("json")?, &limits, &mut out)?;
        jsons.push(start.elapsed().as_secs_f64());
        tape = document.into_tape();
    }
    let best = |times: &[f64]| times.iter().copied().fold(f64::MAX, f64::min);
    let size = input.len() as f64 / 1e9;
    let memcpy = best(&copies);
    for (what, times) in [("memcpy", &copies), ("read", &reads), ("write", &writes), ("to json", &jsons)] {
        let time = best(times);
        println!("{what:8} {:6.2} GB/s of input, memcpy x {:.3}", size / time, memcpy / time);
    }
    Ok(())
}

fn detected(input: &[u8]) -> &'static icecore::Format {
    icecore::format::all()
        .iter()
        .copied()
        .filter_map(|format| (format.detect)(input).map(|guess| (guess.certainty, format)))
        .max_by_key(|(certainty, _)| *certainty)
        .map_or(&icecore::format::json::FORMAT, |(_, format)| format)
}
