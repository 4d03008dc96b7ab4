//! The time to find a record near the end of many: by skimming, and by reading everything to a
//! reused tape, alternately in the same run.
//!
//! ```text
//! cargo bench -p icecore --bench select -- [--records N] [--rounds N] [--only WORD] [--json]
//! ```
//!
//! `benches/README.md` explains the figures.

use icecore::select::{self, Pattern, Skimmed};
use icecore::{Builder, Document, Limits, Request, Stage, raw::Input, raw::Tape};
use std::hint::black_box;
use std::time::Instant;

/// The measured stages.
const STAGES: &[&str] = &["storable", "storable:netorder", "sereal", "php", "igbinary", "marshal", "json"];

struct Settings {
    records: u32,
    rounds: usize,
    only: String,
    json: bool,
}

fn main() {
    let settings = settings();
    if !settings.json {
        println!(
            "{:22} {:>10} {:>9} {:>9} {:>7} {:>16}",
            "what", "bytes", "skim GB/s", "read GB/s", "times", "(spread)"
        );
    }
    let document = staff(settings.records);
    for stage in STAGES.iter().filter(|stage| stage.contains(&settings.only)) {
        measure(stage, &document, &settings);
    }
}

fn settings() -> Settings {
    let mut settings = Settings { records: 1_000_000, rounds: 9, only: String::new(), json: false };
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

/// Makes a list of records with strings, numbers and a list in each.
fn staff(count: u32) -> Document<'static> {
    let mut b = Builder::new();
    b.begin_array();
    for id in 1..=i64::from(count) {
        b.begin_map();
        b.bytes_key("id").int(id);
        b.bytes_key("name").bytes(format!("Employee number {id}"));
        b.bytes_key("email").bytes(format!("employee.{id}@example.org"));
        b.bytes_key("about").bytes("knows how things were done, and why they are done otherwise today");
        b.bytes_key("age").int(20 + id % 50);
        b.bytes_key("tags");
        b.begin_array();
        b.bytes("a").bytes("b").int(id % 7);
        b.end();
        b.end();
    }
    b.end();
    b.finish().expect("a document")
}

fn measure(name: &str, document: &Document<'_>, settings: &Settings) {
    let limits = Limits::default();
    let to = Stage::parse(name).expect("a stage");
    let stage = Stage::of(to.format());
    let mut bytes = Vec::new();
    icecore::write_to(document, &to, &limits, &mut bytes).expect("written");
    let wanted = settings.records - settings.records / 100;
    let path = format!("$[{wanted}].name");
    let pattern = Pattern::parse(&path).expect("a path");
    let read = |tape: Tape| {
        let mut request = Request::new(&limits);
        request.tape = tape;
        icecore::read_with(black_box(&bytes), &stage, request).expect("read")
    };
    let skim = || {
        let mut found = None;
        let then = &mut |_: &str, document: &Document<'_>| {
            found = document.root().as_str().map(str::to_owned);
            Ok(())
        };
        let end = select::skim(Input::Bytes(black_box(&bytes)), &stage, &pattern, &limits, then);
        assert_eq!(end.expect("no errors"), Skimmed::Complete(1), "{name}");
        found
    };
    // Checks, before anything is timed, that both find the same.
    let again = read(Tape::new());
    assert_eq!(skim().as_deref(), again.find(&path).expect("there").as_str());
    let mut tape = again.into_tape();
    let (mut skims, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds {
        let start = Instant::now();
        black_box(skim());
        skims.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let document = read(tape);
        black_box(document.find(&path).expect("there").index());
        reads.push(start.elapsed().as_secs_f64());
        tape = document.into_tape();
    }
    let ratios: Vec<f64> = reads.iter().zip(&skims).map(|(read, skim)| read / skim).collect();
    let rate = |seconds: &[f64]| bytes.len() as f64 / spread(seconds).1 / 1e9;
    let (low, ratio, high) = spread(&ratios);
    let (skims, reads) = (rate(&skims), rate(&reads));
    if settings.json {
        println!(
            "{{\"what\":\"{name}\",\"records\":{},\"bytes\":{},\"skim_gigabytes_per_second\":{skims:.3},\
             \"read_gigabytes_per_second\":{reads:.3},\"times\":{ratio:.2},\"lowest\":{low:.2},\"highest\":{high:.2}}}",
            settings.records,
            bytes.len()
        );
    } else {
        println!("{name:22} {:10} {skims:9.2} {reads:9.2} {ratio:7.2} ({low:.2} to {high:.2})", bytes.len());
    }
}

/// Returns the lowest, the median and the highest value.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1])
}
