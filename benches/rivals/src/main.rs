//! Icecore next to the other crates that read and write PHP's serialize and Ruby's Marshal.
//!
//!     cargo run --release --manifest-path benches/rivals/Cargo.toml [-- RECORDS [ROUNDS]]
//!
//! First the results for the fixtures: a crate that is fast and wrong is not a competitor. Then the
//! times. Each crate runs alternately with Icecore, round by round, on data that php and ruby
//! wrote; each reads into its best type and writes that again. Nothing is reused from round to
//! round. Freeing is not counted. Prints Markdown.

mod data;
mod fixtures;
mod marshal;
mod php;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Reads and writes, and returns how long each took, and whether the same bytes were written.
/// `None` if it can't.
type Run = fn(&[u8]) -> Result<Times, String>;

pub struct Times {
    pub read: Duration,
    pub write: Option<(Duration, bool)>,
}

/// A crate, and the type that it reads into.
pub struct Rival {
    pub name: &'static str,
    pub into: &'static str,
    /// Whether it has types only for flat records.
    pub records_only: bool,
    pub run: Run,
}

/// Times reading, and also writing if there is a writer.
pub fn timed<T>(
    blob: &[u8],
    read: impl FnOnce() -> Result<T, String>,
    write: Option<impl FnOnce(&T) -> Result<Vec<u8>, String>>,
) -> Result<Times, String> {
    let start = Instant::now();
    let value = black_box(read()?);
    let reading = start.elapsed();
    let Some(write) = write else { return Ok(Times { read: reading, write: None }) };
    let start = Instant::now();
    let out = black_box(write(&value)?);
    Ok(Times { read: reading, write: Some((start.elapsed(), out == blob)) })
}

/// The type of a missing writer.
pub type NoWriter<T> = fn(&T) -> Result<Vec<u8>, String>;

/// Lowest, median, highest.
fn spread(mut ratios: Vec<f64>) -> String {
    ratios.sort_by(f64::total_cmp);
    match ratios[..] {
        [] => "-".to_owned(),
        [low, .., high] => format!("{:.2} ({low:.2} to {high:.2})", ratios[ratios.len() / 2]),
        [one] => format!("{one:.2}"),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn compare(set: &data::Set, ours: Run, rival: &Rival, rounds: usize) {
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let times = ours(&set.blob).expect("we read what the original wrote");
        assert!(times.write.is_some_and(|(_, same)| same), "{}: we write what the original wrote", set.name);
        mine.push(times);
        match (rival.run)(&set.blob) {
            Ok(times) => theirs.push(times),
            Err(error) => {
                println!("| {} | {} | {} | fails: {error} | | |", set.name, rival.name, rival.into);
                return;
            }
        }
    }
    let rate = |times: Vec<Duration>| set.blob.len() as f64 / median(times).as_secs_f64() / 1e9;
    let read_ratios =
        theirs.iter().zip(&mine).map(|(their, my)| their.read.as_secs_f64() / my.read.as_secs_f64()).collect();
    let (mut write_times, mut write_ratios, mut is_same) = (Vec::new(), Vec::new(), true);
    for (their, my) in theirs.iter().zip(&mine) {
        if let (Some((their, is_now_same)), Some((my, _))) = (their.write, my.write) {
            write_ratios.push(their.as_secs_f64() / my.as_secs_f64());
            write_times.push((my, their));
            is_same &= is_now_same;
        }
    }
    let read = format!(
        "{:.2}, {:.2}",
        rate(mine.iter().map(|times| times.read).collect()),
        rate(theirs.iter().map(|times| times.read).collect())
    );
    let write = match write_times.is_empty() {
        true => "-".to_owned(),
        false => format!(
            "{:.2}, {:.2}{}",
            rate(write_times.iter().map(|pair| pair.0).collect()),
            rate(write_times.iter().map(|pair| pair.1).collect()),
            if is_same { "" } else { " (other bytes)" }
        ),
    };
    println!(
        "| {} | {} | {} | {read} | {} | {write} | {} |",
        set.name,
        rival.name,
        rival.into,
        spread(read_ratios),
        spread(write_ratios)
    );
}

fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse().expect("a number"));
    let records = args.next().unwrap_or(200_000);
    let rounds = args.next().unwrap_or(9);
    std::panic::set_hook(Box::new(|_| {}));

    println!("| crate | fixtures | read | the same bytes again | fails first at |\n|---|--:|--:|--:|---|");
    fixtures::check(
        "php.jsonl",
        &["serialize", "hand"],
        &[
            ("icecore", php::icecore_again),
            ("phpserz (read only)", php::phpserz_again),
            ("deser-php", php::deser_again),
        ],
    );
    fixtures::check(
        "marshal.jsonl",
        &["dump"],
        &[
            ("icecore", marshal::icecore_again),
            ("marshal-rs", marshal::marshal_rs_again),
            ("alox-48", marshal::alox_again),
        ],
    );

    println!("\nGB/s: Icecore, the other; how many times faster Icecore is: median of pairs, lowest, highest.\n");
    println!("| data | crate | into | read | times | write | times |\n|---|---|---|--:|--:|--:|--:|");
    for set in data::php(records) {
        for rival in php::RIVALS.iter().filter(|rival| !rival.records_only || set.name == "PHP records") {
            compare(&set, php::icecore, rival, rounds);
        }
    }
    for set in data::marshal(records) {
        for rival in marshal::RIVALS {
            compare(&set, marshal::icecore, rival, rounds);
        }
    }
}
