//! Tables that several output formats share.

use super::number::{
    NONE, choose_byte_unit, format_bytes, format_count, format_growth, format_interval, format_quotient, format_rate,
    format_time, format_with_interval,
};
use super::table::Table;
use super::view::{
    Names, PointGroup, cell_median_time, competitors_at_point, entries_with_role, find_entry, group_points,
    is_baseline, is_correct, make_printable, median_time, memcpy_time, operations_at_point, title_at_point,
};
use super::words::{fidelity_label, format_claimed_range, operation_title as title, verdict_label};
use crate::model::{
    ClaimResult, Entry, Fidelity, MemoryStep, Operation, Point, Published, Quantity, Role, ScenarioReport,
};

/// Returns all entries at a point with fidelity, speed and size.
pub(super) fn build_summary_table(
    scenario: &ScenarioReport,
    point: &Point,
    operations: &[Operation],
    names: &Names,
) -> Table {
    let mut table = Table::new(["competitor", "round trip"]);
    let baseline = scenario.baseline.as_deref();
    for operation in operations {
        table.add_column(&format!(">{}", title(*operation)));
        if baseline.is_some() {
            table.add_column(">times baseline");
        }
    }
    table.add_column(">size");
    let add_entry = |table: &mut Table, entry: &Entry| {
        let mut cells = vec![names.entry_name(entry)];
        cells.push(match entry.fidelity {
            Fidelity::Unchecked => String::new(),
            Fidelity::Differs { ref differences } => describe_first_difference(&entry.fidelity, differences),
            _ => fidelity_label(&entry.fidelity).into(),
        });
        for operation in operations {
            cells.push(median_time(entry, *operation).map_or(NONE.into(), format_time));
            if baseline.is_some() {
                cells.push(format_times_baseline(scenario, entry, *operation));
            }
        }
        cells.push(entry.size.map_or(NONE.into(), |bytes| format_bytes(bytes as f64)));
        table.add_row(cells);
    };
    let mut order: Vec<&Entry> = competitors_at_point(point).collect();
    order.sort_by(|left, right| {
        order_key(left, operations)
            .cmp(&order_key(right, operations))
            .then(total_time(left, operations).total_cmp(&total_time(right, operations)))
    });
    order.into_iter().for_each(|entry| add_entry(&mut table, entry));
    let mut add_section = |title: &str, role| {
        let is_measured = |entry: &&Entry| operations.iter().any(|operation| median_time(entry, *operation).is_some());
        entries_with_role(point, role).filter(is_measured).enumerate().for_each(|(index, entry)| {
            if index == 0 {
                table.add_section(title);
            }
            add_entry(&mut table, entry);
        });
    };
    add_section("without a language's values", Role::Engine);
    add_section("the baseline once more: what differs is noise", Role::Twin);
    add_section("the values without any bytes, and copying the bytes", Role::Floor);
    if operations.iter().any(|operation| memcpy_time(point, *operation).is_some()) {
        if entries_with_role(point, Role::Floor).next().is_none() {
            table.add_section("the values without any bytes, and copying the bytes");
        }
        let mut cells = vec!["memcpy of the smallest output".to_owned(), String::new()];
        for operation in operations {
            cells.push(memcpy_time(point, *operation).map_or(NONE.into(), format_time));
            if baseline.is_some() {
                cells.push(String::new());
            }
        }
        cells.push(String::new());
        table.add_row(cells);
    }
    table
}

/// Maximum length of a difference in a table. The list below the table has all differences with their paths.
const MAX_DIFFERENCE_CHARS: usize = 32;

/// Returns the fidelity with the first difference.
fn describe_first_difference(fidelity: &Fidelity, differences: &[String]) -> String {
    let word = fidelity_label(fidelity);
    let first = differences.first().and_then(|first| first.split(", first at").next());
    first.map_or(word.to_owned(), |first| {
        let first = make_printable(first);
        let short: String = first.chars().take(MAX_DIFFERENCE_CHARS).collect();
        let ellipsis = if short.len() < first.len() { "…" } else { "" };
        format!("{word}: {short}{ellipsis}")
    })
}

/// Returns a sort key: correct entries come first, those with more operations before others; then wrong ones follow.
fn order_key(entry: &Entry, operations: &[Operation]) -> (bool, usize) {
    (!is_correct(entry), operations.iter().filter(|operation| median_time(entry, **operation).is_none()).count())
}

fn total_time(entry: &Entry, operations: &[Operation]) -> f64 {
    operations.iter().filter_map(|operation| median_time(entry, *operation)).sum()
}

/// Formats how many times faster than the baseline an entry is, with a sign for a tie.
fn format_times_baseline(scenario: &ScenarioReport, entry: &Entry, operation: Operation) -> String {
    match entry.find_cell(operation).filter(|cell| cell_median_time(cell).is_some()) {
        None => NONE.into(),
        Some(_) if is_baseline(scenario, entry) => "1".into(),
        Some(cell) => match &cell.against {
            None => NONE.into(),
            Some(comparison) if comparison.tie => format!("= {}", format_interval(&comparison.times)),
            Some(comparison) => format_interval(&comparison.times),
        },
    }
}

/// Returns all statistics of an operation at a point.
pub(super) fn build_statistics_table(point: &Point, operation: Operation, names: &Names) -> Table {
    let titles = ["competitor", "version", ">median", ">from", ">to", ">fastest", ">slowest", ">samples", ">far off"];
    let mut table = Table::new(titles);
    let mut all: Vec<&Entry> = point.entries.iter().filter(|entry| median_time(entry, operation).is_some()).collect();
    all.sort_by(|left, right| {
        let key = |entry: &Entry| {
            (entry.role != Role::Competitor, !is_correct(entry), median_time(entry, operation).unwrap_or(0.0))
        };
        let (left, right) = (key(left), key(right));
        (left.0, left.1).cmp(&(right.0, right.1)).then(left.2.total_cmp(&right.2))
    });
    for entry in all {
        let Some(cell) = entry.find_cell(operation) else { continue };
        let summary = &cell.summary;
        let median = &summary.median;
        let times = [median.estimate, median.low, median.high, summary.fastest, summary.slowest].map(format_time);
        let counts = [cell.samples.len(), summary.outliers.len()].map(|count| format_count(count as f64));
        table.add_row([names.entry_name(entry), entry.version.clone()].into_iter().chain(times).chain(counts));
    }
    table
}

/// Returns the claims with their verdicts.
pub(super) fn build_claims_table<'a>(results: impl IntoIterator<Item = &'a ClaimResult>) -> Table {
    let mut table = Table::new(["now", "claim", ">then", ">measured"]);
    for result in results {
        table.add_row(build_claim_cells(result));
    }
    table
}

/// Returns the cells of a claim: verdict, text, claimed number and measured number.
pub(super) fn build_claim_cells(result: &ClaimResult) -> [String; 4] {
    let (sign, word) = verdict_label(result.verdict);
    let format_value = match result.claim.quantity {
        Quantity::Crossing => format_count,
        _ => format_quotient,
    };
    [
        format!("{sign} {word}"),
        result.claim.text.clone(),
        format_claimed_range(result.claim.from, result.claim.to, format_value),
        result.now.as_ref().map_or(NONE.into(), |now| format_with_interval(now, format_value)),
    ]
}

/// Returns the resident memory after each step, as growth since the first step.
pub(super) fn build_memory_table(point: &Point, names: &Names) -> Option<Table> {
    let entries: Vec<&Entry> =
        point.entries.iter().filter(|entry| entry.memory.len() > 1 && entry.role != Role::Twin).collect();
    let steps: Vec<String> =
        entries.first()?.memory.iter().skip(1).map(|memory_step| make_printable(&memory_step.step)).collect();
    let peak = entries.iter().flat_map(|entry| &entry.memory).map(|memory_step| memory_step.peak).max()?;
    let (unit, name) = choose_byte_unit(peak as f64);
    let mut table = Table::new([format!("{name} since the start (peak)").as_str()]);
    for step in &steps {
        table.add_column(&format!(">{step}"));
    }
    for entry in entries {
        let cell = |step: &String| {
            let found = entry.memory.iter().skip(1).find(|memory_step| make_printable(&memory_step.step) == *step);
            found.map_or(NONE.into(), |memory_step| format_memory_step(&entry.memory[0], memory_step, unit))
        };
        table.add_row(std::iter::once(names.display_name(&entry.id)).chain(steps.iter().map(cell)));
    }
    Some(table)
}

fn format_memory_step(start: &MemoryStep, step: &MemoryStep, unit: f64) -> String {
    let grown = |n: u64| format_growth(n as f64 - start.resident as f64, unit);
    format!("{} ({})", grown(step.resident), grown(step.peak))
}

/// Returns how an operation grows along one curve, with a column for each size.
pub(super) fn build_growth_table(
    scenario: &ScenarioReport,
    group: &PointGroup,
    operation: Operation,
    names: &Names,
    max_points: usize,
) -> Table {
    let points = select_points(&group.points, max_points);
    let mut table = Table::new([time_per_item_title(scenario, operation).as_str()]);
    for point in &points {
        table.add_column(&format!(">{}", format_count(point.at)));
    }
    let Some(last) = group.points.last() else { return table };
    let mut entries: Vec<&Entry> = vec![];
    for entry in group.points.iter().rev().flat_map(|point| &point.entries) {
        if entry.role != Role::Twin
            && !entries.iter().any(|other| other.id == entry.id)
            && median_time(entry, operation).is_some()
        {
            entries.push(entry);
        }
    }
    let key = |entry: &Entry| {
        let time_at_last_point = find_entry(last, &entry.id).and_then(|last_entry| median_time(last_entry, operation));
        (entry.role != Role::Competitor, !is_correct(entry), time_at_last_point.unwrap_or(f64::INFINITY))
    };
    entries.sort_by(|left, right| {
        let (left, right) = (key(left), key(right));
        (left.0, left.1).cmp(&(right.0, right.1)).then(left.2.total_cmp(&right.2))
    });
    for entry in entries {
        let sign = if is_correct(entry) { "" } else { " ✗" };
        let cell = |point: &&Point| {
            let ns = find_entry(point, &entry.id).and_then(|entry| median_time(entry, operation));
            ns.map_or(NONE.into(), |ns| format_time(ns / item_count(scenario, point)))
        };
        table.add_row(std::iter::once(names.display_name(&entry.id) + sign).chain(points.iter().map(cell)));
    }
    table
}

/// Returns how many items of the axis are done per second, with the most first. Returns `None` for a scenario without
/// an axis.
pub(super) fn build_rate_table(scenario: &ScenarioReport, point: &Point, names: &Names) -> Option<Table> {
    if scenario.axis.is_empty() || scenario.points.len() > 1 {
        return None;
    }
    let mut table = Table::new(["competitor"]);
    let operations: Vec<Operation> = operations_at_point(point, &scenario.operations);
    for operation in &operations {
        table.add_column(&format!(">{}", title(*operation)));
        table.add_column(">from");
        table.add_column(">to");
    }
    let items = item_count(scenario, point);
    let mut order: Vec<&Entry> = competitors_at_point(point).filter(|entry| is_correct(entry)).collect();
    order.sort_by(|left, right| total_time(left, &operations).total_cmp(&total_time(right, &operations)));
    for entry in order {
        let cells = operations.iter().flat_map(|operation| {
            let median = entry
                .find_cell(*operation)
                .filter(|cell| cell_median_time(cell).is_some())
                .map(|cell| cell.summary.median);
            // The low end of the time is the high end of the rate.
            match median {
                None => [NONE.into(), NONE.into(), NONE.into()],
                Some(ns) => [ns.estimate, ns.high, ns.low].map(|ns| format_rate(ns / items)),
            }
        });
        table.add_row(std::iter::once(names.entry_name(entry)).chain(cells));
    }
    Some(table)
}

/// Returns the number by which a time is divided.
pub(super) fn item_count(scenario: &ScenarioReport, point: &Point) -> f64 {
    if scenario.axis.is_empty() || point.at.is_nan() || point.at <= 0.0 { 1.0 } else { point.at }
}

/// Returns a title such as `read, time ÷ objects`.
pub(super) fn time_per_item_title(scenario: &ScenarioReport, operation: Operation) -> String {
    match scenario.axis.is_empty() {
        true => title(operation).into(),
        false => format!("{}, time ÷ {}", title(operation), make_printable(&scenario.axis)),
    }
}

/// Returns some of the points, including the first and the last.
fn select_points<'a>(points: &[&'a Point], max_points: usize) -> Vec<&'a Point> {
    if points.len() <= max_points || max_points < 2 {
        return points.to_vec();
    }
    (0..max_points).map(|index| points[index * (points.len() - 1) / (max_points - 1)]).collect()
}

/// Returns the figures that the article printed, and the same figures now at the largest point.
pub(super) fn build_published_table(scenario: &ScenarioReport, names: &Names) -> Option<Table> {
    let last = group_points(scenario).pop()?.points.pop()?;
    if scenario.published.is_empty() {
        return None;
    }
    let now_title = if scenario.points.len() > 1 { title_at_point(">now", last) } else { ">now".into() };
    let mut table = Table::new(["the article's figures", "what", ">then", now_title.as_str()]);
    for figure in &scenario.published {
        let entry = find_entry(last, &figure.competitor);
        table.add_row([
            names.display_name(&figure.competitor),
            figure.operation.map_or("size", title).into(),
            format!("{} {}", format_published_value(figure.value), figure.unit),
            entry
                .and_then(|entry| format_current_value(figure, entry, item_count(scenario, last)))
                .unwrap_or(NONE.into()),
        ]);
    }
    Some(table)
}

/// Formats a figure as it was printed.
fn format_published_value(value: f64) -> String {
    if value.is_finite() && value.fract() != 0.0 && value.abs() < 1e4 {
        format!("{value}")
    } else {
        format_count(value)
    }
}

fn format_current_value(figure: &Published, entry: &Entry, items: f64) -> Option<String> {
    match (figure.unit.as_str(), figure.operation) {
        ("a second", Some(operation)) => median_time(entry, operation).map(format_rate),
        ("s" | "ms" | "ns", Some(operation)) => median_time(entry, operation).map(format_time),
        (unit, Some(operation)) if unit.starts_with("ns a") => {
            let ns = median_time(entry, operation)? / items;
            Some(format_time(ns) + unit.trim_start_matches("ns"))
        }
        ("bytes", None) => entry.size.map(|bytes| format_bytes(bytes as f64)),
        _ => None,
    }
}
