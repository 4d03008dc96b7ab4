//! Scaling: the last tables in `docs/bench/store.md`.

use super::store::{format_rate, write_head, write_tail};
use crate::store::{Group, Growth, Operation};
use icecore_lab::page::number::{format_interval, format_time};
use icecore_lab::page::table::{Table, escape_markdown};
use icecore_lab::stats;
use std::fmt::Write;

/// Returns all tables about scaling, and what was missing.
pub fn render_growth(growth: &Growth) -> String {
    let mut out = String::new();
    let settings = &growth.settings;
    write_head(&mut out, settings.small, growth.seconds, [&growth.icecore, &growth.made], &growth.machine);
    if growth.stopped {
        out += "\nThe run was stopped before it was done.\n";
    }
    for group in &growth.groups {
        let Group { database, clients, .. } = group;
        let title = match group.operation {
            Operation::Drain => format!("More workers, jobs that take no time, {database}, {clients} at once each"),
            Operation::DrainWaiting => {
                let millis = settings.growing.waiting_millis;
                format!("More workers, jobs that wait {millis} ms, {database}, {clients} at once each")
            }
            _ => format!("More daemons, {database}, {clients} clients"),
        };
        _ = write!(out, "\n#### {}\n\n{}", escape_markdown(&title), build_jobs_table(group).to_markdown());
    }
    write_tail(&mut out, &growth.absent, &growth.checks, "####");
    out
}

/// Returns a table with one row for each number of workers or daemons, in increasing order. All rows are compared
/// with the first one.
fn build_jobs_table(group: &Group) -> Table {
    let has_times = group.entries.iter().any(|entry| entry.p99.is_some());
    let mut table = Table::new(["", ">jobs a second"]);
    if has_times {
        table.add_column(">p50");
        table.add_column(">p99");
    }
    let fewest = group.entries.first();
    table.add_column(&format!(">times {}", fewest.map_or("", |fewest| &fewest.name)));
    for entry in &group.entries {
        let mut row = vec![entry.name.clone(), format_rate(&entry.per_second)];
        if has_times {
            row.extend([entry.p50, entry.p99].map(|ns| ns.map_or(String::new(), |ns| format_time(ns.estimate))));
        }
        let baseline = fewest.filter(|fewest| fewest.id != entry.id);
        let speedup =
            baseline.and_then(|fewest| stats::compute_speedup(&entry.costs_per_job(), &fewest.costs_per_job()));
        row.push(speedup.map_or(String::new(), |speedup| format_interval(&speedup)));
        table.add_row(row);
    }
    table
}
