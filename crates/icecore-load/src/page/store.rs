//! The store under load: the tables in `docs/bench/store.md`.

use crate::store::{Goal, GoalResult, Group, Operation, Report, WalkMeasurement, judge_goals};
use icecore_lab::model::{Absent, Interval, Machine};
use icecore_lab::page::number::{format_bytes, format_count, format_interval, format_time};
use icecore_lab::page::table::{Table, escape_markdown};
use icecore_lab::page::words;
use icecore_lab::stats;
use std::fmt::Write;

/// The lines of a page that enclose the tables.
const BEGIN: &str = "<!-- load: made by scripts/load.sh from docs/bench/store.json -->\n";
const END: &str = "\n<!-- /load -->";

/// Returns a page with its tables replaced by those of this run. Returns `None` if the page has no place for tables.
pub fn replace_tables(text: &str, report: &Report) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}{END}{after}", render_tables(report)))
}

/// Returns all tables of a run, and what was missing.
pub fn render_tables(report: &Report) -> String {
    let mut out = String::new();
    write_head(&mut out, report.settings.small, report.seconds, [&report.icecore, &report.made], &report.machine);
    if report.stopped {
        out += "\nThe run was stopped before it was done.\n";
    }
    write_section(&mut out, "Goals", &build_goals_table(report));
    for (operation, title, rival) in SECTIONS {
        for group in report.groups.iter().filter(|group| group.operation == operation) {
            let plural = if operation == Operation::Turnaround { "clients" } else { "connections" };
            let unit = if group.clients == 1 { plural.trim_end_matches('s') } else { plural };
            let title = match operation {
                Operation::Work => format!("{title}, {}", group.database),
                _ => format!("{title}, {}, {} {unit}", group.database, group.clients),
            };
            write_section(&mut out, &title, &build_jobs_table(group, rival));
        }
    }
    write_section(&mut out, "Objects walked through, SQLite, one core", &build_objects_table(&report.objects));
    write_tail(&mut out, &report.absent, &report.checks, "###");
    out += "\n### How it grows\n\n";
    match &report.growth {
        Some(growth) => out += &super::render_growth(growth),
        None => out += "Not measured yet: `scripts/load.sh --only grow` does it.\n",
    }
    out
}

/// Writes when and on which machine the run was made.
pub(super) fn write_head(
    out: &mut String,
    is_small: bool,
    seconds: f64,
    [icecore, made]: [&str; 2],
    machine: &Machine,
) {
    let small_note = if is_small { ", a small run that only shows that everything works" } else { "" };
    let minutes = seconds / 60.0;
    _ = write!(
        out,
        "Icecore {}, {}, in {minutes:.1} minutes{small_note}.\n\n",
        escape_markdown(icecore),
        escape_markdown(made)
    );
    for (label, text) in words::describe_machine(machine) {
        _ = writeln!(out, "- {label}: {}", escape_markdown(&text));
    }
}

/// Writes what was missing, and what was checked.
pub(super) fn write_tail(out: &mut String, absent: &[Absent], checks: &[String], level: &str) {
    if !absent.is_empty() {
        _ = write!(out, "\n{level} Not here\n\n");
    }
    for absent in absent {
        _ = writeln!(out, "- {}: {}", escape_markdown(&absent.competitor), escape_markdown(&absent.why));
    }
    _ = write!(out, "\n{level} Seen to be right before anything was timed\n\n");
    for check in checks {
        _ = writeln!(out, "- {}", escape_markdown(check));
    }
}

/// The operations in the order of their tables, with their titles, and with the beginning of the rivals' ids.
const SECTIONS: [(Operation, &str, &str); 5] = [
    (Operation::Turnaround, "Turnaround", "perl/"),
    (Operation::Push, "Queued, one job in a transaction", "river"),
    (Operation::PushMany, "Queued, many jobs in a transaction", "river"),
    (Operation::PushCopy, "Queued, the quickest way that there is", "river"),
    (Operation::Work, "Taken and done", "river"),
];

fn write_section(out: &mut String, title: &str, table: &Table) {
    if !table.is_empty() {
        _ = write!(out, "\n### {}\n\n{}", escape_markdown(title), table.to_markdown());
    }
}

/// Returns the goals of the report. They are judged again from the samples, like the ratios in the other tables, so
/// that all tables have the same figures, whichever version of the lab made the report.
fn build_goals_table(report: &Report) -> Table {
    let mut table = Table::new(["", "goal", ">wanted", ">measured"]);
    let judged_goals = judge_goals(&report.groups, &report.objects);
    for goal in &report.goals {
        let is_same = |judged: &&Goal| judged.text == goal.text && judged.measured.is_some();
        let goal = judged_goals.iter().find(is_same).unwrap_or(goal);
        let result = match goal.met {
            GoalResult::Yes => "✓ met",
            GoalResult::Open => "? open",
            GoalResult::No => "✗ missed",
            GoalResult::Unmeasured => "not measured",
        };
        let is_rate = goal.wanted >= 1000.0;
        let format_value = |value: f64| if is_rate { format_count(value) } else { format!("{value}") };
        let bound = if goal.at_most { "≤" } else { "≥" };
        let measured = match &goal.measured {
            None => String::new(),
            Some(measured) if is_rate => format_rate(measured),
            Some(measured) => format_interval(measured),
        };
        table.add_row([
            result.to_owned(),
            goal.text.clone(),
            format!("{bound} {}", format_value(goal.wanted)),
            measured,
        ]);
    }
    table
}

/// Formats a rate: `12,345 (12,000 to 12,700)`.
pub(super) fn format_rate(measured: &Interval) -> String {
    let estimate = format_count(measured.estimate);
    match stats::is_known(measured) && measured.low < measured.high {
        true => format!("{estimate} ({} to {})", format_count(measured.low), format_count(measured.high)),
        false => estimate,
    }
}

fn build_jobs_table(group: &Group, rival: &str) -> Table {
    let has_times = group.entries.iter().any(|entry| entry.p99.is_some());
    let fastest = group.find_fastest(rival);
    let mut table = Table::new(["", "version", ">jobs a second"]);
    if has_times {
        table.add_column(">p50");
        table.add_column(">p99");
    }
    table.add_column(">times the fastest rival");
    for entry in &group.entries {
        let mut row = vec![entry.name.clone(), entry.version.clone(), format_rate(&entry.per_second)];
        if has_times {
            let time_cell = |measured: Option<Interval>| measured.map_or(String::new(), |ns| format_time(ns.estimate));
            row.extend([time_cell(entry.p50), time_cell(entry.p99)]);
        }
        let rival_entry = fastest.filter(|fastest| fastest.id != entry.id);
        let speedup =
            rival_entry.and_then(|fastest| stats::compute_speedup(&entry.costs_per_job(), &fastest.costs_per_job()));
        row.push(speedup.map_or(String::new(), |speedup| format_interval(&speedup)));
        table.add_row(row);
    }
    table
}

fn build_objects_table(measurements: &[WalkMeasurement]) -> Table {
    let mut table = Table::new([">objects", ">their bytes", ">objects a second", ">most memory"]);
    for objects in measurements {
        let peak = objects.peaks.iter().map(|peak| peak.bytes).max().unwrap_or(0);
        table.add_row([
            format_count(f64::from(objects.count)),
            format_bytes(objects.bytes as f64),
            format_rate(&objects.per_second),
            format_bytes(peak as f64),
        ]);
    }
    table
}
