//! Runs a differential target.

use icecore_fuzz_targets::differ::{self, Rival, Verdict};
use icecore_fuzz_targets::mutate::{Random, mutated};
use icecore_fuzz_targets::perl::Perl;
use icecore_fuzz_targets::{choice, seeds};
use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How many blobs perl is given at once.
const BATCH: usize = 512;

pub fn run(rival: Rival, execs: u64, time: Duration, seed: u64, most: usize) -> ExitCode {
    let seeds = seeds::load(rival.seeds());
    let mut random = Random::new(seed);
    let mut perl = Perl::new();
    let start = Instant::now();
    let (mut done, mut next_seed) = (0u64, 0);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut findings = HashSet::new();
    while done < execs && start.elapsed() < time && findings.len() < most {
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            let data = match seeds.get(next_seed) {
                Some(seed) => seed.clone(),
                None => mutated(&mut random, &seeds),
            };
            next_seed += 1;
            done += 1;
            match differ::spared(rival, &data) {
                Some(name) => *counts.entry(name).or_default() += 1,
                None => batch.push(data),
            }
        }
        for (data, answer) in batch.iter().zip(perl.ask(rival.format(), &batch)) {
            let mut verdict = differ::compare(rival, data, &answer);
            if matches!(verdict, Verdict::Differs(_)) {
                // What was read before may have bent a class, or perl's own
                // undef: a new process decides.
                let fresh = Perl::new().ask(rival.format(), std::slice::from_ref(data));
                verdict = differ::compare(rival, data, &fresh[0]);
            }
            let name = match verdict {
                Verdict::Equal => "equal values",
                Verdict::BothRefuse => "both refuse",
                Verdict::Allowed(name) => name,
                Verdict::Differs(what) => {
                    let kind: String = what
                        .lines()
                        .take(1)
                        .flat_map(|line| line.chars().take(70))
                        .filter(|c| !c.is_ascii_digit())
                        .collect();
                    if kind.starts_with("other values") || findings.insert(kind) {
                        findings.insert(what.chars().take(200).collect());
                        let file = format!("finding-{}_diff-{:08x}", rival.format(), choice(data));
                        let kept = std::fs::write(&file, data).map_or_else(|error| error.to_string(), |()| file);
                        eprintln!("{}\nthe input is in {kept}\n", what.chars().take(3_000).collect::<String>());
                    }
                    "differ"
                }
            };
            *counts.entry(name).or_default() += 1;
        }
    }
    println!(
        "{}_diff: {done} blobs in {:.1} s, perl started {} times, seed {seed}",
        rival.format(),
        start.elapsed().as_secs_f64(),
        perl.starts
    );
    for (name, count) in &counts {
        println!("  {count:9} {name}");
    }
    if counts.contains_key("differ") { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
