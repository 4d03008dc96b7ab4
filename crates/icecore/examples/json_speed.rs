//! How fast JSON is read and written, beside memcpy in the same run.
//!
//! `cargo run --release --example json_speed [RECORDS]`

use icecore::{Limits, Request, json};
use std::hint::black_box;
use std::time::Instant;

/// The best of several runs, in bytes a second.
fn best(bytes: usize, mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    let least = (0..9).map(|_| once(&mut run)).fold(f64::MAX, f64::min);
    bytes as f64 / least
}

fn main() -> Result<(), icecore::Error> {
    let records = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let mut input = String::from("[");
    for i in 0..records {
        let comma = if i == 0 { "" } else { "," };
        input += &format!(r#"{comma}{{"id":{i},"name":"Employee_{i}","age":{}}}"#, 20 + i % 50);
    }
    input += "]";
    let input = input.as_bytes();
    let limits = Limits::default();
    let format = &json::FORMAT;
    let settings = icecore::Settings::new();

    let mut copy = vec![0; input.len()];
    let memcpy = best(input.len(), || black_box(&mut copy).copy_from_slice(black_box(input)));

    let mut tape = icecore::Tape::new();
    let read = best(input.len(), || {
        let mut request = Request::new(&limits);
        request.tape = std::mem::take(&mut tape);
        let outcome = (format.read)(black_box(input), &settings, request);
        assert!(outcome.error.is_none());
        tape = outcome.document.into_tape();
    });

    let document = icecore::read(input)?;
    let mut out = Vec::with_capacity(input.len());
    let write = best(input.len(), || {
        out.clear();
        json::write(black_box(&document), &json::WriteOptions::default(), &limits, &mut out).unwrap();
    });
    assert!(out == input, "what was written is not what was read");

    println!("{records} records, {} bytes", input.len());
    for (what, speed) in [("memcpy", memcpy), ("read", read), ("write", write)] {
        println!("{what:8} {:8.0} MB/s  {:6.2} % of memcpy", speed / 1e6, 100.0 * speed / memcpy);
    }
    Ok(())
}
