//! Reads and writes a million records as PHP does, beside a memcpy of the same
//! bytes: `cargo run --release --example php_speed`.

use icecore::php::{self, ReadOptions, WriteOptions};
use icecore::{Limits, Request, Tape};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 9;

/// `[['id' => 1, 'name' => 'Employee_1', 'age' => 21], …]`, as `serialize()`
/// writes it.
fn employees(records: u64) -> Vec<u8> {
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
    let document = b.finish().expect("a well-formed document");
    let mut out = Vec::new();
    php::write(&document, &WriteOptions::default(), &Limits::default(), &mut out).expect("nothing is lost");
    out
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

fn main() {
    let records = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let blob = employees(records);
    let limits = Limits::default();
    let mut copy = vec![1; blob.len()];
    let mut tape = Tape::new();
    let read = |tape: &mut Tape| {
        let mut request = Request::new(&limits);
        request.tape = std::mem::take(tape);
        let outcome = php::read_outcome(black_box(&blob), &ReadOptions::default(), request);
        assert!(outcome.error.is_none());
        outcome.document
    };
    tape = read(&mut tape).into_tape();

    let memcpy = best(|| black_box(&mut copy).copy_from_slice(black_box(&blob)));
    let reading = best(|| tape = read(&mut tape).into_tape());
    let document = read(&mut tape);
    let mut out = Vec::with_capacity(blob.len() + 100_000);
    let writing = best(|| {
        out.clear();
        php::write(black_box(&document), &WriteOptions::default(), &limits, &mut out).expect("nothing is lost");
    });
    assert_eq!(out, blob);

    let rate = |time: Duration| blob.len() as f64 / time.as_secs_f64() / 1e9;
    let share = |time: Duration| 100.0 * memcpy.as_secs_f64() / time.as_secs_f64();
    let each = |time: Duration| time.as_secs_f64() * 1e9 / records as f64;
    println!("{records} records, {} bytes, the best of {ROUNDS} rounds", blob.len());
    for (what, time) in [("memcpy", memcpy), ("read", reading), ("write", writing)] {
        println!("{what:7} {:6.2} GB/s {:6.1} % of memcpy {:6.1} ns a record", rate(time), share(time), each(time));
    }
}
