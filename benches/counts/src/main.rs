//! Counts the instructions of Icecore's work under callgrind, and compares them with a table:
//! `scripts/counts.sh` builds everything and calls it; docs/counts.md explains it.
//!
//! ```text
//! icecore-counts check|accept|spread [--only WORD] TABLE MODULES COMMAND WORK
//! icecore-counts page TABLE HTML
//! icecore-counts growth [--only WORD] COMMAND WORK
//! icecore-counts list | try CELL | run CELL | cpu
//! ```
#![forbid(unsafe_code)]

mod callgrind;
mod compare;
mod engine;
mod growth;
mod history;
mod measure;
mod page;
mod process;
mod ratios;
mod shape;
mod table;
mod tools;

use compare::{Comparison, Measured};
use measure::{Measurer, is_wanted};
use process::Built;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;

/// The exit code of a step for which something is missing: it is left out.
const LEFT_OUT: u8 = 75;

/// How often `spread` measures each benchmark.
const RUNS: usize = 5;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let only = take_option(&mut words, "--only").unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["cpu"] => {
            println!("{}", tools::cpu());
            Ok(ExitCode::SUCCESS)
        }
        ["list"] => {
            engine::benchmarks().iter().for_each(|benchmark| println!("{}", benchmark.name));
            Ok(ExitCode::SUCCESS)
        }
        ["try", benchmark] => run(benchmark),
        ["run", benchmark] => {
            engine::skip_checks();
            run(benchmark)
        }
        ["page", table, html] => write_page(table, html),
        ["growth", command, work] => check_growth(&absolute(command), &absolute(work), &only),
        [action @ ("check" | "accept" | "spread"), table, modules, command, work] => {
            let built = Built { modules: absolute(modules), command: absolute(command), work: absolute(work) };
            match *action {
                "check" => check(table, &built, &only),
                "accept" => accept(table, &built),
                _ => show_spread(&built, &only),
            }
        }
        _ => Err("usage: scripts/counts.sh [check|accept|spread|page|growth]".to_owned()),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn take_option(words: &mut Vec<String>, name: &str) -> Option<String> {
    let position = words.iter().position(|word| word == name)?;
    words.remove(position);
    (position < words.len()).then(|| words.remove(position))
}

fn absolute(path: &str) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path))
}

// -- One benchmark: natively with its checks, under callgrind without -------------

fn run(name: &str) -> Result<ExitCode, String> {
    let benchmarks = engine::benchmarks().into_iter().chain(engine::gate_benchmarks());
    let benchmark = benchmarks
        .into_iter()
        .find(|benchmark| benchmark.name == name)
        .ok_or_else(|| format!("{name}: no such cell"))?;
    let mut work = benchmark.prepare();
    run_measured(&mut *work);
    Ok(ExitCode::SUCCESS)
}

/// Runs the work. Callgrind counts from the entry of this function to its end, so it must neither
/// be inlined nor end in a tail call.
#[inline(never)]
fn run_measured(work: &mut dyn FnMut()) {
    work();
    // This use of `work` prevents a tail call.
    std::hint::black_box(work);
}

// -- All benchmarks ---------------------------------------------------------------

fn read_table(file: &str) -> Result<Table, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Table::parse(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Table::default()),
        Err(error) => Err(format!("{file}: {error}")),
    }
}

fn leave_out(reason: &str) -> ExitCode {
    println!("{reason}");
    ExitCode::from(LEFT_OUT)
}

fn check(file: &str, built: &Built, only: &str) -> Result<ExitCode, String> {
    let (mut table, tools) = (read_table(file)?, tools::find_tools());
    if table.entries.is_empty() {
        return Err(format!("{file} has no cells; run `make counts`"));
    }
    if let Some(reason) = tools::reason_against_all(&table.tools, &tools) {
        return Ok(leave_out(&reason));
    }
    let measurer = Measurer::new(built)?;
    let counts = measurer.measure_all(only, |language| tools::reason_against(language, &table.tools, &tools));
    table.entries.retain(|name, _| is_wanted(name, only));
    let mut found = compare::compare(&table, &counts);
    try_gate(&measurer, &mut found);
    found.lines.iter().for_each(|line| println!("{line}"));
    println!("{} passed, {} failed", found.passed, found.failed);
    Ok(if found.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows that the comparison can fail: 4 % more work must be a failure, and the same work again must not be one.
fn try_gate(measurer: &Measurer, found: &mut Comparison) {
    let count = |name: &str| measurer.measure_engine(name);
    let judged = match (count("gate/usual"), count("gate/usual"), count("gate/slower")) {
        (Measured::Count(usual), Measured::Count(again), Measured::Count(slower)) => {
            let entry = table::Entry { instructions: usual, tolerance: None };
            let table = Table { entries: [("gate".to_owned(), entry)].into(), ..Table::default() };
            let compare =
                |count| compare::compare(&table, &[("gate".to_owned(), Measured::Count(count))].into()).failed;
            (compare(again), compare(slower)) == (0, 1)
        }
        _ => false,
    };
    if judged {
        found.passed += 1;
    } else {
        found.failed += 1;
        found.lines.push("FAILED the gate itself: 4 % more work is not noticed, or the same work is".to_owned());
    }
}

fn check_growth(command: &Path, work: &Path, only: &str) -> Result<ExitCode, String> {
    let (passed, failed) = growth::check(command, work, only)?;
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn accept(file: &str, built: &Built) -> Result<ExitCode, String> {
    let (table, tools) = (read_table(file)?, tools::find_tools());
    if let Some(missing) = ["rustc", "libc", "valgrind", "cpu"].iter().find(|tool| !tools.contains_key(**tool)) {
        return Ok(leave_out(&format!("{missing} is missing")));
    }
    let counts = Measurer::new(built)?.measure_all("", |_| None);
    let mut kept = tools;
    // If a language was not measured, its lines keep their old counts. So the table must also keep the version of the
    // language for which they were counted.
    for language in process::languages() {
        let is_measured = counts.iter().any(|(name, measured)| {
            name.starts_with(&format!("{language}/")) && matches!(measured, Measured::Count(_))
        });
        if !is_measured {
            match table.tools.get(language) {
                Some(version) => kept.insert(language.to_owned(), version.clone()),
                None => kept.remove(language),
            };
        }
    }
    let (new, lines) = compare::accept(&table, &counts, kept)?;
    lines.iter().for_each(|line| println!("{line}"));
    for (name, version) in new.tools.iter().filter(|(name, version)| table.tools.get(*name) != Some(version)) {
        println!("tool   {name}: {} -> {version}", table.tools.get(name).map_or("none", String::as_str));
    }
    std::fs::write(file, new.to_text()).map_err(|error| format!("{file}: {error}"))?;
    println!("{file}: {} cells", new.entries.len());
    Ok(ExitCode::SUCCESS)
}

/// Measures all benchmarks several times, and prints how far the counts are apart.
fn show_spread(built: &Built, only: &str) -> Result<ExitCode, String> {
    let measurer = Measurer::new(built)?;
    let runs: Vec<_> = (0..RUNS).map(|_| measurer.measure_all(only, |_| None)).collect();
    for name in runs[0].keys() {
        let counts = runs.iter().filter_map(|run| match run.get(name) {
            Some(Measured::Count(count)) => Some(*count),
            _ => None,
        });
        let counts: Vec<u64> = counts.collect();
        match (counts.iter().min(), counts.iter().max()) {
            (Some(low), Some(high)) => {
                println!("{name:40} {:>13}  {:.3} %", table::grouped(*low), table::percent_more(*low, *high));
            }
            _ => println!("{name:40} {:?}", runs[0][name]),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_page(table: &str, html: &str) -> Result<ExitCode, String> {
    let versions = history::read(table)?;
    let ratios = match versions.last() {
        Some(newest) => ratios::find(&newest.table, &engine::benchmarks()),
        None => Vec::new(),
    };
    std::fs::write(Path::new(html), page::draw(&versions, &ratios)).map_err(|error| format!("{html}: {error}"))?;
    println!("{}\n{}\n{html}", page::to_markdown(&versions), ratios::to_markdown(&ratios));
    Ok(ExitCode::SUCCESS)
}
