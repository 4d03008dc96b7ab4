//! The time to compare two documents, next to the time to read both: alternately, in the same run.
//!
//! ```text
//! cargo bench -p icecore-diff --bench diff -- [--records N] [--rounds N] [--only WORD] [--json]
//! ```
//!
//! `readings` is (reading both + comparing + paths of the changes) / reading both. Both are read to
//! new tapes, as the command does. A row is only measured if the difference of 2,000 records makes
//! one document the other, with the expected number of changes.

use icecore::{Builder, Document, Limits, Stage};
use icecore_diff::{Patch, Rules, find_differences};
use std::hint::black_box;
use std::time::Instant;

const FORMATS: &[&str] = &["json", "php", "storable", "sereal", "igbinary", "marshal"];

/// The changes of the records in the second document.
const CASES: &[Case] = &[
    Case { name: "equal", make: |count| (0..count).map(Record::new).collect(), changes: |_| 0 },
    Case { name: "1 % changed", make: changed, changes: |count| count / 100 },
    Case { name: "1 % in and out", make: with_new_and_missing, changes: |count| count / 100 },
    Case { name: "1 % moved", make: moved, changes: |count| count / 100 },
    Case { name: "10 % changed", make: |count| mapped(count, 10), changes: |count| count / 10 },
    Case { name: "all keys turned", make: turned_keys, changes: |_| 0 },
    Case { name: "shuffled", make: shuffled, changes: |count| count * 9 / 10 },
];

struct Case {
    name: &'static str,
    make: fn(u64) -> Vec<Record>,
    /// The approximate and minimum number of changes.
    changes: fn(u64) -> u64,
}

#[derive(Clone, Copy)]
struct Record {
    id: u64,
    state: &'static str,
    is_turned: bool,
}

impl Record {
    fn new(id: u64) -> Record {
        Record { id, state: "as it was", is_turned: false }
    }
}

fn mapped(count: u64, each: u64) -> Vec<Record> {
    let record = |id| Record { state: if id % each == each - 1 { "changed" } else { "as it was" }, ..Record::new(id) };
    (0..count).map(record).collect()
}

fn changed(count: u64) -> Vec<Record> {
    mapped(count, 100)
}

/// Returns records of which one in 200 is new, and one in 200 is missing.
fn with_new_and_missing(count: u64) -> Vec<Record> {
    let one = |id| match id % 200 {
        50 => vec![Record::new(id), Record::new(id + count)],
        150 => vec![],
        _ => vec![Record::new(id)],
    };
    (0..count).flat_map(one).collect()
}

/// Moves each hundredth record by half of the list.
fn moved(count: u64) -> Vec<Record> {
    let moves = |id: &u64| id.is_multiple_of(100);
    let stay: Vec<u64> = (0..count).filter(|id| !moves(id)).collect();
    let (first, second) = stay.split_at(stay.len() / 2);
    let apart = |half: &[u64], moving: Vec<u64>| -> Vec<Record> {
        let moving = moving.into_iter().map(Some).chain(std::iter::repeat(None));
        let groups = half.chunks(99).zip(moving);
        groups.flat_map(|(stay, one)| stay.iter().copied().chain(one)).map(Record::new).collect()
    };
    let half = |of: &dyn Fn(u64) -> bool| (0..count).filter(moves).filter(|id| of(*id)).collect::<Vec<_>>();
    let mut all = apart(first, half(&|id| id >= count / 2));
    all.extend(apart(second, half(&|id| id < count / 2)));
    all
}

fn turned_keys(count: u64) -> Vec<Record> {
    (0..count).map(|id| Record { is_turned: true, ..Record::new(id) }).collect()
}

fn shuffled(count: u64) -> Vec<Record> {
    let mut all: Vec<Record> = (0..count).map(Record::new).collect();
    let mut seed = 7_u64;
    for at in (1..all.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(at, (seed >> 33) as usize % (at + 1));
    }
    all
}

fn document(records: &[Record]) -> Document<'static> {
    let mut b = Builder::new();
    b.begin_array();
    for Record { id, state, is_turned } in records {
        b.begin_map();
        if *is_turned {
            b.bytes_key("state").bytes(*state);
        }
        b.bytes_key("id").uint(*id);
        b.bytes_key("name").bytes(format!("customer {}", id * 7919 % 100_003));
        b.bytes_key("price").float(*id as f64 * 0.25 + 0.1);
        if !*is_turned {
            b.bytes_key("state").bytes(*state);
        }
        b.bytes_key("tags").begin_array();
        b.bytes("a").bytes(format!("t{}", id % 17)).uint(id % 5).end();
        b.bytes_key("note").null();
        b.end();
    }
    b.end();
    b.finish().expect("a document")
}

struct Settings {
    records: u64,
    rounds: usize,
    only: String,
    json: bool,
}

fn main() {
    let settings = settings();
    if !settings.json {
        println!(
            "{:28} {:>9} {:>8} {:>8} {:>8} {:>16}",
            "what", "changes", "read ms", "diff ms", "readings", "(spread)"
        );
    }
    for format in FORMATS {
        for case in CASES.iter().filter(|case| format!("{format}, {}", case.name).contains(&settings.only)) {
            check(format, case);
            measure(format, case, &settings);
        }
    }
}

fn settings() -> Settings {
    let mut settings = Settings { records: 1_000_000, rounds: 5, only: String::new(), json: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => settings.json = true,
            "--records" => settings.records = words.next().and_then(|n| n.parse().ok()).expect("a number of records"),
            "--rounds" => settings.rounds = words.next().and_then(|n| n.parse().ok()).expect("a number of rounds"),
            "--only" => settings.only = words.next().expect("a word"),
            // Cargo adds these.
            "--bench" | "--test" => {}
            _ => panic!("unknown option {word}"),
        }
    }
    settings
}

fn written(format: &str, records: &[Record]) -> Vec<u8> {
    icecore::write(&document(records), format).expect("written")
}

fn read<'b>(bytes: &'b [u8], stage: &Stage, limits: &Limits) -> Document<'b> {
    icecore::read_as(black_box(bytes), stage, limits).expect("read")
}

/// Checks, before anything is timed, that the difference makes one document the other.
fn check(format: &str, case: &Case) {
    let count = 2_000;
    let (a, b) = (written(format, &changed(count)), written(format, &(case.make)(count)));
    let (stage, limits) = (Stage::parse(format).expect("a stage"), Limits::default());
    let (left, right) = (read(&a, &stage, &limits), read(&b, &stage, &limits));
    let json = find_differences(&left, &right, Rules::new()).to_json(&limits).expect("written");
    let made = Patch::read(&json, &limits).expect("a difference").apply(&left).expect("it fits");
    assert!(find_differences(&made, &right, Rules::new()).is_empty(), "{format}, {}", case.name);
}

fn measure(format: &str, case: &Case, settings: &Settings) {
    let records: Vec<Record> = (0..settings.records).map(Record::new).collect();
    let (a, b) = (written(format, &records), written(format, &(case.make)(settings.records)));
    let (stage, limits) = (Stage::parse(format).expect("a stage"), Limits::default());
    let (mut reads, mut compared, mut changes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..settings.rounds {
        let start = Instant::now();
        let (left, right) = (read(&a, &stage, &limits), read(&b, &stage, &limits));
        reads.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let found = find_differences(&left, &right, Rules::new());
        black_box(found.list_paths());
        compared.push(start.elapsed().as_secs_f64());
        changes = found.changes().len() as u64;
    }
    let least = (case.changes)(settings.records);
    let is_about = least <= changes && changes <= least * 10 / 9 + settings.records / 500;
    assert!(is_about, "{format}, {}: {changes} changes", case.name);
    let ratios: Vec<f64> = reads.iter().zip(&compared).map(|(read, diff)| (read + diff) / read).collect();
    let (low, ratio, high) = spread(&ratios);
    let (read, diff) = (spread(&reads).1 * 1e3, spread(&compared).1 * 1e3);
    let name = format!("{format}, {}", case.name);
    if settings.json {
        println!(
            "{{\"what\":\"{name}\",\"records\":{},\"changes\":{changes},\"read_ms\":{read:.1},\"diff_ms\":{diff:.1},\
             \"readings\":{ratio:.2},\"lowest\":{low:.2},\"highest\":{high:.2}}}",
            settings.records
        );
    } else {
        println!("{name:28} {changes:9} {read:8.0} {diff:8.0} {ratio:8.2} ({low:.2} to {high:.2})");
    }
}

/// Returns the lowest, the median and the highest value.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1])
}
