//! Runs fuzz targets without libFuzzer: mutates the seeds with a random number generator, so that a run can be
//! repeated.
//!
//! ```text
//! drive list                               the targets
//! drive seeds TARGET FOLDER                writes the seed corpus for libFuzzer
//! drive run TARGET [--execs N] [--seconds S] [--seed X] [--most FINDINGS]
//! drive file TARGET FILE…                  runs these inputs
//! ```

mod diff;
mod heap;

use icecore_fuzz_targets::contest;
use icecore_fuzz_targets::mutate::{Random, mutate_seed};
use icecore_fuzz_targets::{TARGETS, Target, seeds};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[global_allocator]
static HEAP: heap::CountingAllocator = heap::CountingAllocator;

/// The message of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Number of kinds of findings after which a run stops, unless `--most` is given.
const DEFAULT_MAX_FINDINGS: usize = 12;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["list"] => {
            let names = TARGETS.iter().map(|target| target.name);
            names.chain(contest::NAMES.iter().copied()).for_each(|name| println!("{name}"));
        }
        ["seeds", name, folder] => write_seeds(find_target(name), folder),
        ["run", name, options @ ..] => {
            let options = Options::from_arguments(options);
            return match contest::find_contest(name) {
                Some(mut contest) => {
                    diff::run_contest(&mut *contest, options.execs, options.time, options.seed, options.max_findings)
                }
                None => run_target(find_target(name), &options),
            };
        }
        ["file", name, files @ ..] => {
            for file in files {
                let data = std::fs::read(file).unwrap_or_else(|error| exit_with_error(&format!("{file}: {error}")));
                (find_target(name).run)(&data);
                println!("{file}: fine");
            }
        }
        _ => exit_with_error(
            "usage: drive list | seeds TARGET FOLDER | run TARGET [--execs N] [--seconds S] [--seed X] [--most FINDINGS] | file TARGET FILE…",
        ),
    }
    ExitCode::SUCCESS
}

fn exit_with_error(message: &str) -> ! {
    eprintln!("drive: {message}");
    std::process::exit(2)
}

fn find_target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| exit_with_error(&format!("no target {name}")))
}

fn write_seeds(target: &Target, folder: &str) {
    std::fs::create_dir_all(folder).unwrap_or_else(|error| exit_with_error(&format!("{folder}: {error}")));
    let seeds = seeds::load_seeds(target.seeds);
    for (index, seed) in seeds.iter().enumerate() {
        let path = format!("{folder}/seed-{index:05}");
        std::fs::write(&path, seed).unwrap_or_else(|error| exit_with_error(&format!("{path}: {error}")));
    }
    println!("{}: {} seeds", target.name, seeds.len());
}

struct Options {
    execs: u64,
    time: Duration,
    seed: u64,
    /// Number of kinds of findings after which the run stops.
    max_findings: usize,
}

impl Options {
    fn from_arguments(words: &[&str]) -> Options {
        let mut options = Options { execs: u64::MAX, time: Duration::MAX, seed: 1, max_findings: DEFAULT_MAX_FINDINGS };
        for pair in words.chunks(2) {
            match pair {
                ["--execs", n] => options.execs = parse_number(n),
                ["--seconds", n] => options.time = Duration::from_secs(parse_number(n)),
                ["--seed", n] => options.seed = parse_number(n),
                ["--most", n] => options.max_findings = parse_number(n) as usize,
                _ => exit_with_error(&format!("what is {pair:?}?")),
            }
        }
        options
    }
}

/// Runs one target with its seeds and with changed seeds, until its time or the number of executions is over. Returns
/// true if there was no finding.
fn run_target(target: &'static Target, options: &Options) -> ExitCode {
    let Options { execs, time, seed, max_findings } = *options;
    std::panic::set_hook(Box::new(|info| *LAST_PANIC.lock().unwrap() = info.to_string()));
    let seeds = seeds::load_seeds(target.seeds);
    let mut random = Random::new(seed);
    let start = Instant::now();
    let mut runs = Runs { target, findings: HashSet::new(), slowest: Duration::ZERO, slow_count: 0, max_work: 0.0 };
    // A run of few executions takes only some of the seeds, evenly distributed.
    let step = seeds.len().div_ceil(usize::try_from(execs / 3).unwrap_or(usize::MAX).max(1)).max(1);
    let seed_count = seeds.iter().step_by(step).map(|seed| runs.run_input(seed)).count();
    let mut done = 0u64;
    while done < execs && (!done.is_multiple_of(256) || start.elapsed() < time) && runs.findings.len() < max_findings {
        let data = mutate_seed(&mut random, &seeds);
        runs.run_input(&data);
        done += 1;
    }
    println!(
        "{}: {done} executions and {seed_count} seeds in {:.1} s, {} findings, slowest {:.1} ms, most work {:.0} %, seed {seed}",
        target.name,
        start.elapsed().as_secs_f64(),
        runs.findings.len(),
        runs.slowest.as_secs_f64() * 1e3,
        runs.max_work * 100.0
    );
    if runs.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse_number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| exit_with_error(&format!("{text} is not a number")))
}

/// The findings of a run so far.
struct Runs {
    target: &'static Target,
    /// The kinds of findings: the first two lines of each message, without digits.
    findings: HashSet<String>,
    slowest: Duration,
    /// Number of slow inputs.
    slow_count: usize,
    /// The largest share of the allowed work that an input needed.
    max_work: f64,
}

/// Slower inputs are reported. This is not a finding, because the machine may be busy; work beyond the limit is.
const SLOW: Duration = Duration::from_secs(2);

/// Maximum number of slow inputs that are kept.
const MAX_KEPT_SLOW: usize = 3;

/// Maximum total of all allocations, as a multiple of the memory that an input may have in use at a time.
const MAX_WORK_RATIO: usize = 16;

impl Runs {
    /// Reports a slow input, and keeps the first ones.
    fn report_slow_input(&mut self, data: &[u8], duration: Duration) {
        self.slow_count += 1;
        if self.slow_count <= MAX_KEPT_SLOW {
            let name = format!("slow-{}-{:08x}", self.target.name, icecore_fuzz_targets::choice_from_bytes(data));
            let place = std::fs::write(&name, data).map_or_else(|error| error.to_string(), |()| name);
            eprintln!("remark: {duration:?} for {} bytes of input; it is in {place}", data.len());
        }
    }

    /// Runs an input. A finding of a new kind is kept in a file.
    fn run_input(&mut self, data: &[u8]) {
        let start = Instant::now();
        heap::start_counting(data);
        let passed = catch_unwind(AssertUnwindSafe(|| (self.target.run)(data))).is_ok();
        let (peak, allocated, duration) = (heap::peak_bytes(), heap::allocated_bytes(), start.elapsed());
        self.slowest = self.slowest.max(duration);
        if duration > SLOW && passed {
            self.report_slow_input(data, duration);
        }
        // The limits allow some tables, and a few copies of the input.
        let max_in_use = (8 << 20) + 2_000 * data.len();
        let max_allocated = MAX_WORK_RATIO * max_in_use;
        self.max_work = self.max_work.max(allocated as f64 / max_allocated as f64);
        let finding = if !passed {
            LAST_PANIC.lock().unwrap().clone()
        } else if peak > max_in_use {
            format!("too much memory: {peak} bytes for {} bytes of input", data.len())
        } else if allocated > max_allocated {
            format!("too much work: {allocated} bytes were allocated in all for {} bytes of input", data.len())
        } else {
            return;
        };
        let kind: String =
            finding.lines().take(2).flat_map(|line| line.chars().take(120)).filter(|c| !c.is_ascii_digit()).collect();
        if self.findings.insert(kind) {
            let name = format!("finding-{}-{:08x}", self.target.name, icecore_fuzz_targets::choice_from_bytes(data));
            let place = std::fs::write(&name, data).map_or_else(|error| error.to_string(), |()| name);
            eprintln!("{}\nthe input is in {place}\n", finding.chars().take(4_000).collect::<String>());
        }
    }
}
