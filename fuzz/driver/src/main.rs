//! Runs fuzz targets without libFuzzer: mutates the seeds by a generator of
//! random numbers, so that a run can be repeated.
//!
//! ```text
//! drive list                               the targets
//! drive seeds TARGET FOLDER                writes the seed corpus for libFuzzer
//! drive run TARGET [--execs N] [--seconds S] [--seed X]
//! drive file TARGET FILE…                  runs these inputs
//! ```

mod heap;

use icecore_fuzz_targets::mutate::{Random, mutated};
use icecore_fuzz_targets::{TARGETS, Target, seeds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["list"] => TARGETS.iter().for_each(|target| println!("{}", target.name)),
        ["seeds", name, folder] => write_seeds(target(name), folder),
        ["run", name, options @ ..] => return run(target(name), options),
        ["file", name, files @ ..] => {
            for file in files {
                let data = std::fs::read(file).unwrap_or_else(|error| fail(&format!("{file}: {error}")));
                (target(name).run)(&data);
                println!("{file}: fine");
            }
        }
        _ => fail("usage: drive list | seeds TARGET FOLDER | run TARGET [--execs N] [--seconds S] [--seed X] | file TARGET FILE…"),
    }
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ! {
    eprintln!("drive: {message}");
    std::process::exit(2)
}

fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| fail(&format!("no target {name}")))
}

fn write_seeds(target: &Target, folder: &str) {
    std::fs::create_dir_all(folder).unwrap_or_else(|error| fail(&format!("{folder}: {error}")));
    let seeds = seeds::load(target.seeds);
    for (n, seed) in seeds.iter().enumerate() {
        let path = format!("{folder}/seed-{n:05}");
        std::fs::write(&path, seed).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
    }
    println!("{}: {} seeds", target.name, seeds.len());
}

fn run(target: &Target, options: &[&str]) -> ExitCode {
    let (mut execs, mut time, mut seed) = (u64::MAX, Duration::MAX, 1u64);
    for pair in options.chunks(2) {
        match pair {
            ["--execs", n] => execs = number(n),
            ["--seconds", n] => time = Duration::from_secs(number(n)),
            ["--seed", n] => seed = number(n),
            _ => fail(&format!("what is {pair:?}?")),
        }
    }
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        let end = text.char_indices().nth(4_000).map_or(text.len(), |(at, _)| at);
        eprintln!("{}", &text[..end]);
    }));
    let seeds = seeds::load(target.seeds);
    let mut random = Random::new(seed);
    let start = Instant::now();
    let (mut done, mut findings, mut slowest) = (0u64, 0, Duration::ZERO);
    for seed in &seeds {
        if findings > 4 {
            break;
        }
        findings += u32::from(!once(target, seed, &mut slowest));
    }
    while done < execs && (done % 256 != 0 || start.elapsed() < time) && findings < 5 {
        let data = mutated(&mut random, &seeds);
        findings += u32::from(!once(target, &data, &mut slowest));
        done += 1;
    }
    println!(
        "{}: {done} executions and {} seeds in {:.1} s, {findings} findings, slowest {:.1} ms, seed {seed}",
        target.name,
        seeds.len(),
        start.elapsed().as_secs_f64(),
        slowest.as_secs_f64() * 1e3
    );
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| fail(&format!("{text} is no number")))
}

/// Runs an input; whether nothing was found. What was found is kept in a file.
fn once(target: &Target, data: &[u8], slowest: &mut Duration) -> bool {
    let start = Instant::now();
    heap::begin();
    let fine = catch_unwind(AssertUnwindSafe(|| (target.run)(data))).is_ok();
    let most = heap::most();
    *slowest = (*slowest).max(start.elapsed());
    // Tables and a few copies of what the limits allow: no more.
    let allowed = (4 << 20) + 2_000 * data.len();
    if fine && most > allowed {
        eprintln!("{} bytes of input took {most} bytes of memory", data.len());
    }
    let slow = start.elapsed() > Duration::from_secs(2);
    if slow {
        eprintln!("{} bytes of input took {:?}", data.len(), start.elapsed());
    }
    if fine && most <= allowed && !slow {
        return true;
    }
    let name = format!("finding-{}-{:08x}", target.name, icecore_fuzz_targets::choice(data));
    match std::fs::write(&name, data) {
        Ok(()) => eprintln!("the input is in {name}"),
        Err(error) => eprintln!("{name}: {error}"),
    }
    false
}
