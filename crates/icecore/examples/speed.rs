//! The speed of reading a format into a reused tape and of writing it, next to a memcpy of the same
//! bytes.
//!
//! `cargo run --release --example speed -- STAGE [RECORDS | FILE]`
//!
//! STAGE is a format with its options, such as `marshal` or `sereal:compress=zstd`. Without a file,
//! the data is a million records.

use icecore::{Limits, Request, Stage, raw::Tape};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 9;

/// `[{id: 1, name: "Employee_1", age: 21}, …]`.
fn employees(records: u64, stage: &Stage) -> Result<Vec<u8>, icecore::Error> {
    let mut b = icecore::Builder::new();
    b.begin_array();
    for id in 1..=records {
        b.begin_map();
        b.bytes_key("id").uint(id);
        b.bytes_key("name").bytes(format!("Employee_{id}"));
        b.bytes_key("age").uint(20 + id % 50);
        b.end();
    }
    b.end();
    let mut out = Vec::new();
    icecore::write_to(&b.finish()?, stage, &Limits::default(), &mut out)?;
    Ok(out)
}

fn best(mut run: impl FnMut()) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let stage = Stage::parse(&args.next().ok_or("which format?")?)?;
    let data = args.next().unwrap_or_else(|| "1000000".to_owned());
    let blob = match data.parse() {
        Ok(records) => employees(records, &stage)?,
        Err(_) => std::fs::read(&data)?,
    };
    let limits = Limits::default();
    let mut copy = vec![1; blob.len()];
    let read = |tape: &mut Tape| {
        let mut request = Request::new(&limits);
        request.tape = std::mem::take(tape);
        icecore::read_with(black_box(&blob), &stage, request).expect("it was read before")
    };
    let mut tape = icecore::read_as(&blob, &stage, &limits)?.into_tape();

    let memcpy = best(|| black_box(&mut copy).copy_from_slice(black_box(&blob)));
    let reading = best(|| tape = read(&mut tape).into_tape());
    let document = read(&mut tape);
    let nodes = document.nodes().len();
    let mut out = Vec::with_capacity(blob.len() + 100_000);
    let writing = best(|| {
        out.clear();
        icecore::write_to(black_box(&document), &stage, &limits, &mut out).expect("it can be written");
    });
    let again = if out == blob { "the same bytes again" } else { "other bytes again" };

    println!("{data}: {} bytes, {nodes} nodes, the best of {ROUNDS} rounds, {again}", blob.len());
    for (what, time) in [("memcpy", memcpy), ("read", reading), ("write", writing)] {
        let rate = blob.len() as f64 / time.as_secs_f64() / 1e9;
        let share = 100.0 * memcpy.as_secs_f64() / time.as_secs_f64();
        let each = time.as_secs_f64() * 1e9 / nodes as f64;
        println!("{what:7} {rate:6.2} GB/s {share:6.1} % of memcpy {each:6.1} ns a node");
    }
    Ok(())
}
