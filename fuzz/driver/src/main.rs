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
static LAST: Mutex<String> = Mutex::new(String::new());

/// A run stops after this many kinds of findings.
const MOST_FINDINGS: usize = 12;

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
                    diff::run_contest(&mut *contest, options.execs, options.time, options.seed, options.most)
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
    for (n, seed) in seeds.iter().enumerate() {
        let path = format!("{folder}/seed-{n:05}");
        std::fs::write(&path, seed).unwrap_or_else(|error| exit_with_error(&format!("{path}: {error}")));
    }
    println!("{}: {} seeds", target.name, seeds.len());
}

struct Options {
    execs: u64,
    time: Duration,
    seed: u64,
    most: usize,
}

impl Options {
    fn from_arguments(words: &[&str]) -> Options {
        let mut options = Options { execs: u64::MAX, time: Duration::MAX, seed: 1, most: MOST_FINDINGS };
        for pair in words.chunks(2) {
            match pair {
                ["--execs", n] => options.execs = parse_number(n),
                ["--seconds", n] => options.time = Duration::from_secs(parse_number(n)),
                ["--seed", n] => options.seed = parse_number(n),
                ["--most", n] => options.most = parse_number(n) as usize,
                _ => exit_with_error(&format!("what is {pair:?}?")),
            }
        }
        options
    }
}

fn run_target(target: &'static Target, options: &Options) -> ExitCode {
    let Options { execs, time, seed, most } = *options;
    std::panic::set_hook(Box::new(|info| *LAST.lock().unwrap() = info.to_string()));
    let seeds = seeds::load_seeds(target.seeds);
    let mut random = Random::new(seed);
    let start = Instant::now();
    let mut runs = Runs { target, findings: HashSet::new(), slowest: Duration::ZERO, slow: 0, work: 0.0 };
    // A run of few executions takes only some of the seeds, evenly distributed.
    let step = seeds.len().div_ceil(usize::try_from(execs / 3).unwrap_or(usize::MAX).max(1)).max(1);
    let tried = seeds.iter().step_by(step).map(|seed| runs.run_input(seed)).count();
    let mut done = 0u64;
    while done < execs && (!done.is_multiple_of(256) || start.elapsed() < time) && runs.findings.len() < most {
        let data = mutate_seed(&mut random, &seeds);
        runs.run_input(&data);
        done += 1;
    }
    println!(
        "{}: {done} executions and {tried} seeds in {:.1} s, {} findings, slowest {:.1} ms, most work {:.0} %, seed {seed}",
        target.name,
        start.elapsed().as_secs_f64(),
        runs.findings.len(),
        runs.slowest.as_secs_f64() * 1e3,
        runs.work * 100.0
    );
    if runs.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse_number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| exit_with_error(&format!("{text} is not a number")))
}

/// The findings of a run so far.
struct Runs {
    target: &'static Target,
    /// One entry for each kind: the place of the panic, and its first words.
    findings: HashSet<String>,
    slowest: Duration,
    /// Number of slow inputs.
    slow: usize,
    /// The largest share of the allowed work.
    work: f64,
}

/// Slower inputs are reported. This is not a finding, because the machine may be busy; work beyond the limit is.
const SLOW: Duration = Duration::from_secs(2);

/// Number of slow inputs that are kept.
const MOST_SLOW: usize = 3;

/// Maximum total allocation, as a multiple of the memory that an input may hold at a time.
const WORK: usize = 16;

impl Runs {
    /// Reports a slow input, and keeps the first ones.
    fn report_slow_input(&mut self, data: &[u8], took: Duration) {
        self.slow += 1;
        if self.slow <= MOST_SLOW {
            let name = format!("slow-{}-{:08x}", self.target.name, icecore_fuzz_targets::choice_from_bytes(data));
            let kept = std::fs::write(&name, data).map_or_else(|error| error.to_string(), |()| name);
            eprintln!("remark: {took:?} for {} bytes of input; it is in {kept}", data.len());
        }
    }

    /// Runs an input. A finding of a new kind is kept in a file.
    fn run_input(&mut self, data: &[u8]) {
        let start = Instant::now();
        heap::start_counting(data);
        let passed = catch_unwind(AssertUnwindSafe(|| (self.target.run)(data))).is_ok();
        let (most, all, took) = (heap::peak_bytes(), heap::allocated_bytes(), start.elapsed());
        self.slowest = self.slowest.max(took);
        if took > SLOW && passed {
            self.report_slow_input(data, took);
        }
        // Tables and a few copies that the limits allow, but no more.
        let allowed = (8 << 20) + 2_000 * data.len();
        let work = WORK * allowed;
        self.work = self.work.max(all as f64 / work as f64);
        let finding = if !passed {
            LAST.lock().unwrap().clone()
        } else if most > allowed {
            format!("too much memory: {most} bytes for {} bytes of input", data.len())
        } else if all > work {
            format!("too much work: {all} bytes were allocated in all for {} bytes of input", data.len())
        } else {
            return;
        };
        let kind: String =
            finding.lines().take(2).flat_map(|line| line.chars().take(120)).filter(|c| !c.is_ascii_digit()).collect();
        if self.findings.insert(kind) {
            let name = format!("finding-{}-{:08x}", self.target.name, icecore_fuzz_targets::choice_from_bytes(data));
            let kept = std::fs::write(&name, data).map_or_else(|error| error.to_string(), |()| name);
            eprintln!("{}\nthe input is in {kept}\n", finding.chars().take(4_000).collect::<String>());
        }
    }
}
