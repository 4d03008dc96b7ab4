//! The report as CSV (RFC 4180): a row for each scenario, point, competitor and operation.

use super::view::cell_median_time;
use crate::model::{Cell, Entry, Fidelity, Point, Report, Role, ScenarioReport};
use icecore::text::spreadsheet_text;

const COLUMN_COUNT: usize = 24;

const HEAD: [&str; COLUMN_COUNT] = [
    "scenario",
    "point",
    "at",
    "parameters",
    "competitor",
    "name",
    "version",
    "role",
    "fidelity",
    "differences",
    "size_bytes",
    "operation",
    "samples",
    "outliers",
    "median_ns",
    "median_low_ns",
    "median_high_ns",
    "fastest_ns",
    "slowest_ns",
    "times_baseline",
    "times_low",
    "times_high",
    "tie",
    "memory_peak_growth_bytes",
];

/// Returns the whole report as CSV. An entry without any operation has a row without times.
pub fn render_csv(report: &Report) -> String {
    render_rows(report, push_plain_cell)
}

/// Returns the same as [`render_csv`], but with `'` before cells that a spreadsheet would run.
pub fn render_safe_csv(report: &Report) -> String {
    render_rows(report, push_safe_cell)
}

/// Appends a cell to a line.
type PushCell = fn(&str, &mut Vec<u8>);

fn push_plain_cell(cell: &str, out: &mut Vec<u8>) {
    icecore_csv::push_cell(cell.as_bytes(), b',', b"", out);
}

fn push_safe_cell(cell: &str, out: &mut Vec<u8>) {
    icecore_csv::push_cell(&spreadsheet_text(cell.as_bytes()), b',', b";\t", out);
}

fn render_rows(report: &Report, push_cell: PushCell) -> String {
    let mut out = Vec::new();
    let write_cells = |out: &mut Vec<u8>, cells: [String; COLUMN_COUNT]| write_line(out, &cells, push_cell);
    write_cells(&mut out, HEAD.map(str::to_owned));
    for scenario in &report.scenarios {
        for point in &scenario.points {
            for entry in &point.entries {
                entry
                    .cells
                    .iter()
                    .for_each(|cell| write_cells(&mut out, build_row(scenario, point, entry, Some(cell))));
                if entry.cells.is_empty() {
                    write_cells(&mut out, build_row(scenario, point, entry, None));
                }
            }
        }
    }
    // All cells are text.
    String::from_utf8_lossy(&out).into_owned()
}

fn build_row(scenario: &ScenarioReport, point: &Point, entry: &Entry, cell: Option<&Cell>) -> [String; COLUMN_COUNT] {
    let summary = cell.filter(|cell| cell_median_time(cell).is_some()).map(|cell| &cell.summary);
    let comparison = cell.and_then(|cell| cell.against.as_ref());
    let (fidelity, differences) = split_fidelity(&entry.fidelity);
    let parameters: Vec<String> = point.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    [
        scenario.name.clone(),
        point.name.clone(),
        format_number(Some(point.at)),
        parameters.join(" "),
        entry.id.clone(),
        entry.name.clone(),
        entry.version.clone(),
        role_name(entry.role).into(),
        fidelity.into(),
        differences.join("; "),
        entry.size.map_or(String::new(), |bytes| bytes.to_string()),
        cell.map_or(String::new(), |cell| cell.operation.name().into()),
        cell.map_or(String::new(), |cell| cell.samples.len().to_string()),
        cell.map_or(String::new(), |cell| cell.summary.outliers.len().to_string()),
        format_number(summary.map(|summary| summary.median.estimate)),
        format_number(summary.map(|summary| summary.median.low)),
        format_number(summary.map(|summary| summary.median.high)),
        format_number(summary.map(|summary| summary.fastest)),
        format_number(summary.map(|summary| summary.slowest)),
        format_number(comparison.map(|comparison| comparison.times.estimate)),
        format_number(comparison.map(|comparison| comparison.times.low)),
        format_number(comparison.map(|comparison| comparison.times.high)),
        comparison.map_or(String::new(), |comparison| comparison.tie.to_string()),
        memory_peak_growth(entry).map_or(String::new(), |bytes| bytes.to_string()),
    ]
}

/// Returns the peak of resident memory beyond the start.
fn memory_peak_growth(entry: &Entry) -> Option<u64> {
    let (start, steps) = entry.memory.split_first()?;
    Some(steps.iter().map(|step| step.peak).max()?.saturating_sub(start.resident))
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Competitor => "competitor",
        Role::Floor => "floor",
        Role::Engine => "engine",
        Role::Twin => "twin",
    }
}

fn split_fidelity(fidelity: &Fidelity) -> (&'static str, &[String]) {
    match fidelity {
        Fidelity::Exact => ("exact", &[]),
        Fidelity::Alike { differences } => ("alike", differences),
        Fidelity::Differs { differences } => ("differs", differences),
        Fidelity::Unchecked => ("unchecked", &[]),
    }
}

/// Formats a number with nine digits and without an exponent. Returns an empty text if there is none.
fn format_number(number: Option<f64>) -> String {
    let finite = number.filter(|number| number.is_finite());
    finite.map_or(String::new(), |number| format!("{number:.8e}").parse().unwrap_or(number).to_string())
}

fn write_line(out: &mut Vec<u8>, cells: &[String], push_cell: PushCell) {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_cell(cell, out);
    }
    out.extend_from_slice(b"\r\n");
}
