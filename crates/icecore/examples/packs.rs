//! The speed of pack templates, next to the real perl: a flat hash, a thousand and a million
//! integers.
//!
//! `cargo run --release --example packs`
//!
//! The output is compared with that of perl before anything is timed, so perl is required.

use icecore::{Builder, Codec, Document, Stage, raw::Tape};
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

/// Packs, prints the nanoseconds of `pack` and of `unpack`, and then the packed bytes.
const PERL: &str = r#"
use v5.36; use Time::HiRes 'time';
my ($template, $count, $rounds) = @ARGV;
my @items = $count ? 1000 .. 999 + $count : qw(title hoge author fuga body hogehoge);
my $packed = pack $template, @items;
sub best ($code) {
    my $best = 9**9;
    for (1 .. 7) { my $from = time; $code->() for 1 .. $rounds; my $took = time - $from; $best = $took if $took < $best }
    return $best / $rounds * 1e9;
}
my $pack = best(sub { my $bytes = pack $template, @items });
my $unpack = best(sub { my @list = unpack $template, $packed });
binmode STDOUT; printf "%.1f %.1f\n%s", $pack, $unpack, $packed;
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:10} {:>9} {:>14} {:>14} {:>14} {:>14}",
        "template", "items", "pack ns", "perl's", "unpack ns", "perl's"
    );
    for (template, count) in [
        ("(A16)*", 0u64),
        ("(l/A*)*", 0),
        ("(N/A*)*", 0),
        ("l*", 1_000),
        ("N*", 1_000),
        ("(A8)*", 1_000),
        ("(l/A*)*", 1_000),
        ("(N/A*)*", 1_000),
        ("l*", 1_000_000),
        ("N*", 1_000_000),
    ] {
        measure(template, count)?;
    }
    Ok(())
}

fn measure(template: &str, count: u64) -> Result<(), Box<dyn std::error::Error>> {
    let items = count.max(6);
    let rounds = 4_000_000 / (items + 20) + 1;
    let perl = Command::new("perl")
        .args(["-e", PERL, template, &count.to_string(), &(rounds / 20 + 1).to_string()])
        .output()?;
    let end = perl.stdout.iter().position(|byte| *byte == b'\n').ok_or("perl says nothing")?;
    let (times, packed) = (String::from_utf8_lossy(&perl.stdout[..end]).into_owned(), &perl.stdout[end + 1..]);
    let (their_pack, their_unpack) = times.split_once(' ').ok_or("two times")?;

    let codec = Codec::new(Stage::parse(&format!("pack:template='{template}'"))?);
    let document = list(count)?;
    let mut out = Vec::new();
    codec.write(&document, &mut out)?;
    if out != packed {
        return Err(format!("{template}: other bytes than perl's").into());
    }
    let pack = best(rounds, || {
        out.clear();
        codec.write(black_box(&document), &mut out).expect("it was written before");
    });
    let mut tape = Tape::new();
    let unpack = best(rounds, || {
        let filled = codec.read(black_box(packed), &mut tape);
        assert_eq!(filled.consumed, packed.len());
    });
    println!("{template:10} {items:9} {pack:14.1} {their_pack:>14} {unpack:14.1} {their_unpack:>14}");
    println!("{:10} {:9} {:14.2} {:14} {:14.2}", "", "an item", pack / items as f64, "", unpack / items as f64);
    Ok(())
}

/// Makes the same values as the Perl code above.
fn list(count: u64) -> Result<Document<'static>, icecore::Error> {
    let mut b = Builder::new();
    b.begin_array();
    if count == 0 {
        for item in ["title", "hoge", "author", "fuga", "body", "hogehoge"] {
            b.bytes(item);
        }
    }
    for item in 0..count {
        b.uint(1000 + item);
    }
    b.end();
    b.finish()
}

/// Returns the nanoseconds per round, as the best of seven runs of `rounds` rounds.
fn best(rounds: u64, mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..rounds {
            run();
        }
        start.elapsed().as_secs_f64() * 1e9 / rounds as f64
    };
    (0..7).map(|_| once(&mut run)).fold(f64::MAX, f64::min)
}
