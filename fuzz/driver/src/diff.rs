//! Runs a differential target.

use icecore_fuzz_targets::contest::Contest;
use icecore_fuzz_targets::differ::Verdict;
use icecore_fuzz_targets::mutate::{Random, mutate_seed};
use icecore_fuzz_targets::{choice_from_bytes, seeds};
use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Number of blobs that the other program gets at once.
const BATCH: usize = 512;

/// Runs a differential target until one of the limits is reached.
pub fn run_contest(contest: &mut dyn Contest, execs: u64, time: Duration, seed: u64, max_findings: usize) -> ExitCode {
    if let Some(missing) = contest.missing_reason() {
        println!("{}: skipped: {missing}", contest.name());
        return ExitCode::SUCCESS;
    }
    let seeds = seeds::load_seeds(contest.seed_files());
    let mut random = Random::new(seed);
    let start = Instant::now();
    let (mut done, mut next_seed) = (0u64, 0);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut findings = HashSet::new();
    while done < execs && start.elapsed() < time && findings.len() < max_findings {
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            let data = match seeds.get(next_seed) {
                Some(seed) => seed.clone(),
                None => mutate_seed(&mut random, &seeds),
            };
            next_seed += 1;
            done += 1;
            match contest.skip_reason(&data) {
                Some(name) => *counts.entry(name).or_default() += 1,
                None => batch.push(data),
            }
        }
        for (data, verdict) in batch.iter().zip(contest.compare_blobs(&batch)) {
            let name = match verdict {
                Verdict::Equal => "equal values",
                Verdict::BothRefuse => "both refuse",
                Verdict::Allowed(name) => name,
                Verdict::Differs(description) => {
                    let kind: String = description
                        .lines()
                        .take(1)
                        .flat_map(|line| line.chars().take(70))
                        .filter(|c| !c.is_ascii_digit())
                        .collect();
                    if kind.starts_with("other ") || findings.insert(kind) {
                        findings.insert(description.chars().take(200).collect());
                        let file = format!("finding-{}-{:08x}", contest.name(), choice_from_bytes(data));
                        let place = std::fs::write(&file, data).map_or_else(|error| error.to_string(), |()| file);
                        eprintln!("{}\nthe input is in {place}\n", description.chars().take(3_000).collect::<String>());
                    }
                    "differ"
                }
            };
            *counts.entry(name).or_default() += 1;
        }
    }
    for (name, count) in &counts {
        println!("  {count:9} {name}");
    }
    println!(
        "{}: {done} blobs in {:.1} s, {} differ, {} started {} times, seed {seed}",
        contest.name(),
        start.elapsed().as_secs_f64(),
        counts.get("differ").unwrap_or(&0),
        contest.rival_program(),
        contest.start_count()
    );
    if counts.contains_key("differ") { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
