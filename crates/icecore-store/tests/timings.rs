//! Compares timings with those of fugit, which Ruby's queues use: random timings at random times.
//!
//! `ICECORE_TIMINGS=N` sets their number, `ICECORE_SEED=N` the seed.

use crate::common::Random;
use icecore_store::Timing;
use std::io::Write;
use std::process::{Command, Stdio};

/// Not Lord Howe: its clock changes by half an hour, and fugit skips hours after that.
const ZONES: [&str; 5] = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Adelaide"];
/// 2024-01-01, and the length of the range in seconds.
const FROM: u64 = 1_704_067_200;
const LENGTH: u64 = 4 * 366 * 86_400;

fn pick<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[random.below(all.len() as u64) as usize]
}

/// Returns a field: numbers from `low` to `high`, or one of these names.
fn field(random: &mut Random, low: u64, high: u64, names: &[&str]) -> String {
    let number = |random: &mut Random| low + random.below(high - low + 1);
    let one = |random: &mut Random| match random.below(8) {
        0 if !names.is_empty() => pick(random, names).to_owned(),
        1 => format!("*/{}", 1 + random.below(high - low)),
        2 | 3 => {
            let (a, b) = (number(random), number(random));
            format!("{}-{}", a.min(b), a.max(b))
        }
        4 => {
            let (a, b) = (number(random), number(random));
            format!("{}-{}/{}", a.min(b), a.max(b), 1 + random.below(high - low))
        }
        _ => number(random).to_string(),
    };
    match random.below(5) {
        0 | 1 => "*".to_owned(),
        2 => (0..1 + random.below(3)).map(|_| one(random)).collect::<Vec<_>>().join(","),
        _ => one(random),
    }
}

fn timing(random: &mut Random) -> String {
    if random.below(20) == 0 {
        return pick(random, &["@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@midnight"]).to_owned();
    }
    const MONTHS: [&str; 4] = ["JAN", "mar", "Jun", "DEC"];
    const DAYS: [&str; 4] = ["SUN", "mon", "Wed", "SAT"];
    let mut fields = vec![
        field(random, 0, 59, &[]),
        field(random, 0, 23, &[]),
        field(random, 1, 31, &[]),
        field(random, 1, 12, &MONTHS),
        field(random, 0, 6, &DAYS),
    ];
    // If both kinds of days are given, programs disagree about the meaning of a star, and fugit skips months that do
    // not have the day.
    match random.below(3) {
        0 => fields[2] = "*".to_owned(),
        1 => fields[4] = "*".to_owned(),
        _ => fields[2] = field(random, 1, 28, &[]),
    }
    let is_both = fields[2] != "*" && fields[4] != "*";
    if is_both && (fields[2].contains('*') || fields[4].contains('*')) {
        fields[4] = "*".to_owned();
    }
    if random.below(8) == 0 {
        fields.insert(0, field(random, 0, 59, &[]));
    }
    fields.join(" ")
}

/// Returns what the clock of the zone shows at these times. A time that it shows twice, when summer time ends, counts
/// once: fugit returns both, and here a timing with a fixed hour fires once.
fn clock_times(times: &str, zone: &str) -> Vec<jiff::civil::DateTime> {
    let zone = jiff::tz::TimeZone::get(zone).expect("a zone");
    let second = |text: &str| jiff::Timestamp::from_second(text.parse().expect("a number")).expect("a time");
    let mut shown: Vec<_> =
        times.split(' ').filter(|text| !text.is_empty()).map(|text| zone.to_datetime(second(text))).collect();
    shown.dedup();
    shown
}

#[test]
fn timings_agree_with_fugit() {
    let has_fugit = Command::new("ruby").args(["-e", "require 'fugit'"]).stderr(Stdio::null()).status();
    if !has_fugit.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: ruby has no fugit");
        return;
    }
    let count: usize = std::env::var("ICECORE_TIMINGS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut random = Random::new();
    let questions: Vec<(String, &str, u64)> =
        (0..count).map(|_| (timing(&mut random), pick(&mut random, &ZONES), FROM + random.below(LENGTH))).collect();
    let lines: String = questions.iter().map(|(timing, zone, after)| format!("{timing}\t{zone}\t{after}\n")).collect();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/timings/next.rb");
    let mut ruby = Command::new("ruby").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ruby");
    let mut stdin = ruby.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let answer = ruby.wait_with_output().expect("an answer");
    writer.join().expect("a thread").expect("written");
    assert!(answer.status.success());
    let answer = String::from_utf8(answer.stdout).expect("text");
    let mut wrong = Vec::new();
    for ((timing, zone, after), told) in questions.iter().zip(answer.lines()) {
        let ours = Timing::new(timing, Some(zone)).ok().map(|timing| {
            let mut time = *after as i64 * 1000;
            let next = |_| {
                time = timing.next(time)?;
                Some((time / 1000).to_string())
            };
            (0..4).filter_map(next).collect::<Vec<_>>().join(" ")
        });
        let ours = ours.unwrap_or_default();
        let (our_times, their_times) = (clock_times(&ours, zone), clock_times(told, zone));
        let common = our_times.len().min(their_times.len());
        let is_same = ours.is_empty() == told.is_empty() && our_times[..common] == their_times[..common];
        if !is_same {
            wrong.push(format!("{timing:?} in {zone} behind {after}: {ours:?}, and fugit says {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
