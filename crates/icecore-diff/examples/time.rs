//! How long reading two files takes, and comparing them:
//! `cargo run --release -p icecore-diff --example time -- FORMAT A B`; with `make RECORDS FORMAT FILE CHANGED`
//! a file is made.

use icecore::{Builder, Document, Limits, Stage};
use icecore_diff::{Rules, differences};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["make", count, format, file, changed] => {
            std::fs::write(file, icecore::write(&records(count.parse()?, changed.parse()?)?, format)?)?;
        }
        [format, a, b] => compare(format, a, b)?,
        _ => return Err("FORMAT A B, or make RECORDS FORMAT FILE CHANGED".into()),
    }
    Ok(())
}

/// Records of which each one in so many is changed, left out, or new; 0: none.
fn records(count: u64, changed: u64) -> Result<Document<'static>, icecore::Error> {
    let mut b = Builder::new();
    b.begin_array();
    for at in 0..count {
        let odd = if changed > 0 && at % changed == changed - 1 { at / changed % 3 + 1 } else { 0 };
        if odd == 1 {
            continue;
        }
        for copy in 0..=u64::from(odd == 2) {
            b.begin_map();
            b.bytes_key("id").uint(at + copy * count);
            b.bytes_key("name").bytes(format!("customer {}", at * 7919 % 100_003));
            b.bytes_key("price").float(at as f64 * 0.25 + 0.1);
            b.bytes_key("state").bytes(if odd == 3 { "changed" } else { "as it was" });
            b.bytes_key("tags").begin_array();
            b.bytes("a").bytes(format!("t{}", at % 17)).uint(at % 5).end();
            b.bytes_key("note").null();
            b.end();
        }
    }
    b.end();
    b.finish()
}

fn compare(format: &str, a: &str, b: &str) -> Result<(), Box<dyn std::error::Error>> {
    let (a, b) = (std::fs::read(a)?, std::fs::read(b)?);
    let (stage, limits) = (Stage::parse(format)?, Limits::default());
    for _ in 0..3 {
        let start = Instant::now();
        let left = icecore::read_as(&a, &stage, &limits)?;
        let right = icecore::read_as(&b, &stage, &limits)?;
        let read = start.elapsed();
        let start = Instant::now();
        let found = differences(&left, &right, Rules::new());
        let compared = start.elapsed();
        let ratio = (read + compared).as_secs_f64() / read.as_secs_f64();
        println!(
            "{format}: {} nodes, read in {read:.0?}, compared in {compared:.0?}: {} changes; together {ratio:.2} times the reading",
            left.nodes().len() + right.nodes().len(),
            found.changes().len()
        );
    }
    Ok(())
}
