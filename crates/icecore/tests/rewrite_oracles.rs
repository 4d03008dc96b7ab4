//! The real PHP, perl and Ruby check our output: random values, frozen before and after a text in
//! them was replaced. If a language is not installed, the test says so and skips it.

use crate::fixtures::folder;
use crate::replacing::{Pair, value};
use icecore::text::{from_base64, printable};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Number of values tested, of values with other bytes but the same meaning, and of values in which
/// an unclear text stayed.
struct Counts {
    total: u32,
    respelled: u32,
    unclear: u32,
}

/// Returns the expected value if unclear texts stay, and the number of such places.
fn parse_unclear(part: &str) -> (Vec<u8>, u64) {
    let (changed, count) = part.split_once(':').expect("a value and a count");
    (from_base64(changed.as_bytes()).expect("Base64"), count.parse().expect("a count"))
}

/// Lets a script make values. The output must have the script's bytes or, if a compressor or a
/// table of strings is involved, the same meaning. If the script says that texts look serialized
/// but are not, exactly these may stay, and each must be counted. A few values may differ, because
/// a text may be frozen data by chance.
fn compare_with_program(
    program: &str,
    probe: &[&str],
    script: &str,
    more: &[&str],
    tolerated_per_10_000: u32,
) -> Option<Counts> {
    let runs = Command::new(program).args(probe).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !runs.is_ok_and(|status| status.success()) {
        println!("skipped: {program} is not installed, or lacks a module");
        return None;
    }
    let number = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let mut child = Command::new(program)
        .arg(folder().join(script))
        .args([number("ICECORE_SEED", "7"), number("ICECORE_REPLACES", "3000")])
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let (mut counts, mut failures) = (Counts { total: 0, respelled: 0, unclear: 0 }, Vec::new());
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("a line");
        let (values, others): (Vec<_>, Vec<_>) = line.split('\t').partition(|part| !part.contains(':'));
        let parts: Vec<_> = values.iter().map(|part| from_base64(part.as_bytes()).expect("Base64")).collect();
        let [original, expected, old, new] = &parts[..] else { panic!("not four parts: {line}") };
        counts.total += 1;
        let (changed, tally) = value(original, &mut Pair::new(old, new));
        if changed == *expected {
            continue;
        }
        if others
            .into_iter()
            .map(parse_unclear)
            .any(|(unchanged, count)| changed == unchanged && tally.embedded >= count)
        {
            counts.unclear += 1;
            continue;
        }
        let parse = |bytes| icecore::read(bytes).ok();
        match (parse(&changed), parse(expected)) {
            (Some(changed), Some(expected)) if changed == expected && program != "php" => counts.respelled += 1,
            _ => failures.push(describe(&parts, &changed)),
        }
    }
    assert!(child.wait().expect("it ends").success());
    for failure in failures.iter().take(5) {
        eprintln!("{failure}\n");
    }
    let failures = failures.len() as u32;
    assert!(failures <= counts.total * tolerated_per_10_000 / 10_000, "{failures} of {} values differ", counts.total);
    assert!(counts.total > 500, "only {}", counts.total);
    println!("{program} {more:?}: {} of {} have something unclear that stayed", counts.unclear, counts.total);
    assert!(counts.unclear <= counts.total / 20, "{} of {} stayed", counts.unclear, counts.total);
    Some(counts)
}

fn describe(parts: &[Vec<u8>], changed: &[u8]) -> String {
    let [original, expected, old, new] = parts else { return String::new() };
    let same = changed.iter().zip(expected).take_while(|(changed, expected)| changed == expected).count();
    let text = |bytes: &[u8]| {
        let near = &bytes[same.saturating_sub(120).min(bytes.len())..(same + 120).min(bytes.len())];
        printable(&String::from_utf8_lossy(near)).into_owned()
    };
    let pair = [old, new].map(|text| String::from_utf8_lossy(text).into_owned());
    let (original, expected, changed) = (text(original), text(expected), text(changed));
    format!("{pair:?} at {same} of\n  {original}\n  expected {expected}\n  made     {changed}")
}

#[test]
fn changed_values_equal_what_php_serializes() {
    compare_with_program("php", &["-v"], "php/replace.php", &[], 3);
}

#[test]
fn changed_values_equal_what_igbinary_serializes() {
    let probe = ["-r", "exit(function_exists('igbinary_serialize') ? 0 : 1);"];
    compare_with_program("php", &probe, "php/replace.php", &["igbinary"], 3);
}

#[test]
fn changed_values_equal_what_perl_freezes() {
    let probe = ["-MSereal::Encoder", "-MJSON::PP", "-MStorable", "-e", "1"];
    if let Some(counts) = compare_with_program("perl", &probe, "perl/replace.pl", &[], 0) {
        // One of the freezers compresses, and its compressor differs from ours.
        assert!(counts.respelled <= counts.total / 10, "{} of {}", counts.respelled, counts.total);
    }
}

#[test]
fn changed_values_equal_what_ruby_dumps() {
    if let Some(counts) =
        compare_with_program("ruby", &["-e", "exit(RUBY_VERSION >= '3.0')"], "ruby/replace.rb", &[], 3)
    {
        assert!(counts.respelled <= counts.total / 100, "{} of {}", counts.respelled, counts.total);
    }
}
