//! The speed of reading formats into a reused tape and of writing them, as a ratio of memcpy: of a
//! block larger than all caches, copied between the rounds of the same run.
//!
//! ```text
//! cargo bench -p icecore --bench engine -- [--large] [--rounds N] [--only WORD] [--json]
//! ```
//!
//! `--large` adds ten million records; `--json` prints a line of JSON for each row.
//! `benches/README.md` explains the figures.

use icecore::{Builder, Document, Limits, Request, Stage, raw::Tape};
use std::hint::black_box;
use std::time::Instant;

/// The measured stages, and their names in the rows.
const STAGES: &[(&str, &str)] = &[
    ("storable", "storable"),
    ("storable, network order", "storable:netorder"),
    ("sereal", "sereal"),
    ("json", "json"),
];

/// Larger than all caches.
const BLOCK: usize = 256 << 20;

struct Settings {
    large: bool,
    rounds: usize,
    only: String,
    json: bool,
}

fn main() {
    let settings = settings();
    let mut copier = Copier::new();
    if !settings.json {
        println!(
            "{:26} {:>9} {:>10} {:>6} {:>9} {:>8} {:>15}",
            "what", "records", "bytes", "GB/s", "ns/record", "memcpy x", "(spread)"
        );
    }
    for (shape, build) in [("employees", employees as fn(u32) -> Document<'static>), ("mix", mix)] {
        for (name, stage) in STAGES {
            for count in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
                let is_wanted = format!("{shape} {name}").contains(&settings.only);
                if !is_wanted || count > 1_000_000 && !settings.large || shape == "mix" && count != 100_000 {
                    continue;
                }
                measure(&format!("{name}, {shape}"), stage, count, &build(count), &settings, &mut copier);
            }
        }
    }
}

fn settings() -> Settings {
    let mut settings = Settings { large: false, rounds: 9, only: String::new(), json: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--large" => settings.large = true,
            "--json" => settings.json = true,
            "--rounds" => settings.rounds = words.next().and_then(|n| n.parse().ok()).expect("a number of rounds"),
            "--only" => settings.only = words.next().expect("a word"),
            // Cargo adds these.
            "--bench" | "--test" => {}
            _ => panic!("unknown option {word}"),
        }
    }
    settings
}

/// Typical data of services: a list of flat records.
fn employees(count: u32) -> Document<'static> {
    let mut b = Builder::new();
    b.begin_array();
    for id in 1..=i64::from(count) {
        b.begin_map();
        b.bytes_key("id").int(id);
        b.bytes_key("name").bytes(format!("Employee_{id}"));
        b.bytes_key("age").int(20 + id % 50);
        b.end();
    }
    b.end();
    b.finish().expect("a document")
}

/// Objects with lists, floats, text and nested maps.
fn mix(count: u32) -> Document<'static> {
    let mut b = Builder::new();
    b.begin_array();
    for id in 1..=i64::from(count) {
        b.begin_object("Order");
        b.begin_map();
        b.bytes_key("number").int(id * 1_000_003);
        b.bytes_key("total").float(id as f64 * 0.25 + 0.1);
        b.bytes_key("note").text("naïve café");
        b.bytes_key("paid").bool(id % 3 == 0);
        b.bytes_key("lines");
        b.begin_array();
        for line in 0..id % 4 {
            b.begin_map();
            b.bytes_key("sku").bytes(format!("SKU-{line:04}"));
            b.bytes_key("count").int(line + 1);
            b.end();
        }
        b.end();
        b.bytes_key("by").null();
        b.end();
        b.end();
    }
    b.end();
    b.finish().expect("a document")
}

fn measure(what: &str, stage: &str, count: u32, document: &Document<'_>, settings: &Settings, copier: &mut Copier) {
    let limits = Limits::default();
    let stage = Stage::parse(stage).expect("a stage");
    let mut bytes = Vec::new();
    icecore::write_to(document, &stage, &limits, &mut bytes).expect("written");
    let read = |tape: Tape| {
        let mut request = Request::new(&limits);
        request.tape = tape;
        icecore::read_with(black_box(&bytes), &stage, request).expect("read")
    };
    // Checks, before anything is timed, that a read document is written as it was.
    let again = read(Tape::new());
    let mut out = Vec::with_capacity(bytes.len() + 64);
    icecore::write_to(&again, &stage, &limits, &mut out).expect("written");
    assert!(out == bytes, "{what}: other bytes come back");

    let (mut reads, mut writes, mut memcpys) = (Vec::new(), Vec::new(), Vec::new());
    let repeats = (4_000_000 / bytes.len()).max(1);
    let mut tape = again.into_tape();
    for _ in 0..settings.rounds {
        memcpys.push(copier.rate());
        let start = Instant::now();
        for _ in 0..repeats {
            tape = read(tape).into_tape();
        }
        reads.push((bytes.len() * repeats) as f64 / start.elapsed().as_secs_f64());
        let whole = read(tape);
        let start = Instant::now();
        for _ in 0..repeats {
            out.clear();
            icecore::write_to(black_box(&whole), &stage, &limits, &mut out).expect("written");
        }
        writes.push((out.len() * repeats) as f64 / start.elapsed().as_secs_f64());
        tape = whole.into_tape();
    }
    for (verb, rates) in [("read", &reads), ("write", &writes)] {
        let ratios: Vec<f64> = rates.iter().zip(&memcpys).map(|(rate, memcpy)| rate / memcpy).collect();
        let (rate, memcpy, (low, ratio, high)) = (spread(rates).1, spread(&memcpys).1, spread(&ratios));
        let nanos = bytes.len() as f64 / rate / f64::from(count) * 1e9;
        if settings.json {
            println!(
                "{{\"what\":\"{verb} {what}\",\"records\":{count},\"bytes\":{},\"gigabytes_per_second\":{:.3},\
                 \"nanoseconds_per_record\":{nanos:.2},\"memcpy_gigabytes_per_second\":{:.2},\
                 \"ratio_of_memcpy\":{ratio:.4},\"lowest\":{low:.4},\"highest\":{high:.4}}}",
                bytes.len(),
                rate / 1e9,
                memcpy / 1e9
            );
        } else {
            println!(
                "{:26} {count:9} {:10} {:6.2} {nanos:9.1} {ratio:8.3} ({low:.3} to {high:.3})",
                format!("{verb} {what}"),
                bytes.len(),
                rate / 1e9
            );
        }
    }
}

/// Returns the lowest, the median and the highest value.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1])
}

/// Copies a block that is larger than every cache.
struct Copier {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Copier {
    fn new() -> Copier {
        let from = (0..BLOCK).map(|at| (at % 251) as u8).collect();
        // Written once, so that later there are no page faults.
        Copier { from, to: vec![1; BLOCK] }
    }

    /// Returns bytes per second.
    fn rate(&mut self) -> f64 {
        let start = Instant::now();
        self.to.copy_from_slice(black_box(&self.from));
        black_box(&self.to);
        BLOCK as f64 / start.elapsed().as_secs_f64()
    }
}
