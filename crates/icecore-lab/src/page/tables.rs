//! Tables that several output formats share.

use super::number::{NONE, byte_unit, bytes, count, grown, interval, quotient, rate, time, within};
use super::table::Table;
use super::view::{
    Group, Names, at, competitors, find, groups, is_baseline, measured, median, operations_at, plain, right, roof,
    with_role,
};
use super::words::{became, claimed, fidelity, operation as title};
use crate::model::{
    ClaimResult, Entry, Fidelity, MemoryStep, Operation, Point, Published, Quantity, Role, ScenarioReport,
};

/// Returns all entries at a point with fidelity, speed and size.
pub(super) fn summary(scenario: &ScenarioReport, point: &Point, operations: &[Operation], names: &Names) -> Table {
    let mut table = Table::new(["competitor", "round trip"]);
    let base = scenario.baseline.as_deref();
    for operation in operations {
        table.column(&format!(">{}", title(*operation)));
        if base.is_some() {
            table.column(">times baseline");
        }
    }
    table.column(">size");
    let row = |table: &mut Table, entry: &Entry| {
        let mut cells = vec![names.entry(entry)];
        cells.push(match entry.fidelity {
            Fidelity::Unchecked => String::new(),
            Fidelity::Differs { ref differences } => why(&entry.fidelity, differences),
            _ => fidelity(&entry.fidelity).into(),
        });
        for operation in operations {
            cells.push(median(entry, *operation).map_or(NONE.into(), time));
            if base.is_some() {
                cells.push(against(scenario, entry, *operation));
            }
        }
        cells.push(entry.size.map_or(NONE.into(), |n| bytes(n as f64)));
        table.row(cells);
    };
    let mut order: Vec<&Entry> = competitors(point).collect();
    order.sort_by(|a, b| {
        place(a, operations).cmp(&place(b, operations)).then(total(a, operations).total_cmp(&total(b, operations)))
    });
    order.into_iter().for_each(|entry| row(&mut table, entry));
    let mut part = |title: &str, role| {
        let measured = |entry: &&Entry| operations.iter().any(|o| median(entry, *o).is_some());
        with_role(point, role).filter(measured).enumerate().for_each(|(i, entry)| {
            if i == 0 {
                table.section(title);
            }
            row(&mut table, entry);
        });
    };
    part("without a language's values", Role::Engine);
    part("the baseline once more: what differs is noise", Role::Twin);
    part("the values without any bytes, and copying the bytes", Role::Floor);
    if operations.iter().any(|o| roof(point, *o).is_some()) {
        if with_role(point, Role::Floor).next().is_none() {
            table.section("the values without any bytes, and copying the bytes");
        }
        let mut cells = vec!["memcpy of the smallest output".to_owned(), String::new()];
        for operation in operations {
            cells.push(roof(point, *operation).map_or(NONE.into(), time));
            if base.is_some() {
                cells.push(String::new());
            }
        }
        cells.push(String::new());
        table.row(cells);
    }
    table
}

/// Maximum length of a difference in a table; the list below the table has all differences with their paths.
const WHY: usize = 32;

/// Returns the fidelity with the first difference.
fn why(is: &Fidelity, differences: &[String]) -> String {
    let word = fidelity(is);
    let first = differences.first().and_then(|first| first.split(", first at").next());
    first.map_or(word.to_owned(), |first| {
        let first = plain(first);
        let short: String = first.chars().take(WHY).collect();
        let dots = if short.len() < first.len() { "…" } else { "" };
        format!("{word}: {short}{dots}")
    })
}

/// Sort key: entries with correct results first, then those that lack an operation, then wrong ones.
fn place(entry: &Entry, operations: &[Operation]) -> (bool, usize) {
    (!right(entry), operations.iter().filter(|o| median(entry, **o).is_none()).count())
}

fn total(entry: &Entry, operations: &[Operation]) -> f64 {
    operations.iter().filter_map(|o| median(entry, *o)).sum()
}

/// Formats how many times faster than the baseline an entry is, with a sign for a tie.
fn against(scenario: &ScenarioReport, entry: &Entry, operation: Operation) -> String {
    match entry.cell(operation).filter(|cell| measured(cell).is_some()) {
        None => NONE.into(),
        Some(_) if is_baseline(scenario, entry) => "1".into(),
        Some(cell) => match &cell.against {
            None => NONE.into(),
            Some(c) if c.tie => format!("= {}", interval(&c.times)),
            Some(c) => interval(&c.times),
        },
    }
}

/// Returns all statistics of an operation at a point.
pub(super) fn raw(point: &Point, operation: Operation, names: &Names) -> Table {
    let titles = ["competitor", "version", ">median", ">from", ">to", ">fastest", ">slowest", ">samples", ">far off"];
    let mut table = Table::new(titles);
    let mut all: Vec<&Entry> = point.entries.iter().filter(|e| median(e, operation).is_some()).collect();
    all.sort_by(|a, b| {
        let key = |e: &Entry| (e.role != Role::Competitor, !right(e), median(e, operation).unwrap_or(0.0));
        let (a, b) = (key(a), key(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    });
    for entry in all {
        let Some(cell) = entry.cell(operation) else { continue };
        let s = &cell.summary;
        let times = [s.median.estimate, s.median.low, s.median.high, s.fastest, s.slowest].map(time);
        let counts = [cell.samples.len(), s.outliers.len()].map(|n| count(n as f64));
        table.row([names.entry(entry), entry.version.clone()].into_iter().chain(times).chain(counts));
    }
    table
}

/// Returns the claims with their verdicts.
pub(super) fn claims<'a>(results: impl IntoIterator<Item = &'a ClaimResult>) -> Table {
    let mut table = Table::new(["now", "claim", ">then", ">measured"]);
    for result in results {
        table.row(claim(result));
    }
    table
}

/// Returns the cells of a claim: verdict, text, claimed number and measured number.
pub(super) fn claim(result: &ClaimResult) -> [String; 4] {
    let (sign, word) = became(result.verdict);
    let show = match result.claim.quantity {
        Quantity::Crossing => count,
        _ => quotient,
    };
    [
        format!("{sign} {word}"),
        result.claim.text.clone(),
        claimed(result.claim.from, result.claim.to, show),
        result.now.as_ref().map_or(NONE.into(), |now| within(now, show)),
    ]
}

/// Returns the resident memory after each step, as growth since the first step.
pub(super) fn memory(point: &Point, names: &Names) -> Option<Table> {
    let with: Vec<&Entry> = point.entries.iter().filter(|e| e.memory.len() > 1 && e.role != Role::Twin).collect();
    let steps: Vec<String> = with.first()?.memory.iter().skip(1).map(|s| plain(&s.step)).collect();
    let most = with.iter().flat_map(|e| &e.memory).map(|s| s.peak).max()?;
    let (unit, name) = byte_unit(most as f64);
    let mut table = Table::new([format!("{name} since the start (peak)").as_str()]);
    for step in &steps {
        table.column(&format!(">{step}"));
    }
    for entry in with {
        let cell = |step: &String| {
            let found = entry.memory.iter().skip(1).find(|s| plain(&s.step) == *step);
            found.map_or(NONE.into(), |s| since(&entry.memory[0], s, unit))
        };
        table.row(std::iter::once(names.of(&entry.id)).chain(steps.iter().map(cell)));
    }
    Some(table)
}

fn since(start: &MemoryStep, step: &MemoryStep, unit: f64) -> String {
    let grown = |n: u64| grown(n as f64 - start.resident as f64, unit);
    format!("{} ({})", grown(step.resident), grown(step.peak))
}

/// Returns how an operation grows along one curve, with a column for each size.
pub(super) fn growth(
    scenario: &ScenarioReport,
    group: &Group,
    operation: Operation,
    names: &Names,
    most: usize,
) -> Table {
    let points = spread(&group.points, most);
    let mut table = Table::new([per_item(scenario, operation).as_str()]);
    for point in &points {
        table.column(&format!(">{}", count(point.at)));
    }
    let Some(last) = group.points.last() else { return table };
    let mut ids: Vec<&Entry> = vec![];
    for entry in group.points.iter().rev().flat_map(|p| &p.entries) {
        if entry.role != Role::Twin && !ids.iter().any(|e| e.id == entry.id) && median(entry, operation).is_some() {
            ids.push(entry);
        }
    }
    let key = |e: &Entry| {
        let here = find(last, &e.id).and_then(|x| median(x, operation));
        (e.role != Role::Competitor, !right(e), here.unwrap_or(f64::INFINITY))
    };
    ids.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    });
    for entry in ids {
        let sign = if right(entry) { "" } else { " ✗" };
        let cell = |point: &&Point| {
            let ns = find(point, &entry.id).and_then(|e| median(e, operation));
            ns.map_or(NONE.into(), |ns| time(ns / items(scenario, point)))
        };
        table.row(std::iter::once(names.of(&entry.id) + sign).chain(points.iter().map(cell)));
    }
    table
}

/// Returns how many items of the axis are done per second, most first; `None` for a scenario without an axis.
pub(super) fn items_a_second(scenario: &ScenarioReport, point: &Point, names: &Names) -> Option<Table> {
    if scenario.axis.is_empty() || scenario.points.len() > 1 {
        return None;
    }
    let mut table = Table::new(["competitor"]);
    let operations: Vec<Operation> = operations_at(point, &scenario.operations);
    for operation in &operations {
        table.column(&format!(">{}", title(*operation)));
        table.column(">from");
        table.column(">to");
    }
    let items = items(scenario, point);
    let mut order: Vec<&Entry> = competitors(point).filter(|entry| right(entry)).collect();
    order.sort_by(|a, b| total(a, &operations).total_cmp(&total(b, &operations)));
    for entry in order {
        let cells = operations.iter().flat_map(|operation| {
            let median = entry.cell(*operation).filter(|cell| measured(cell).is_some()).map(|cell| cell.summary.median);
            // The low end of the time is the high end of the rate.
            match median {
                None => [NONE.into(), NONE.into(), NONE.into()],
                Some(ns) => [ns.estimate, ns.high, ns.low].map(|ns| rate(ns / items)),
            }
        });
        table.row(std::iter::once(names.entry(entry)).chain(cells));
    }
    Some(table)
}

/// Returns the number by which a time is divided.
pub(super) fn items(scenario: &ScenarioReport, point: &Point) -> f64 {
    if scenario.axis.is_empty() || point.at.is_nan() || point.at <= 0.0 { 1.0 } else { point.at }
}

/// Returns a title such as `read, time ÷ objects`.
pub(super) fn per_item(scenario: &ScenarioReport, operation: Operation) -> String {
    match scenario.axis.is_empty() {
        true => title(operation).into(),
        false => format!("{}, time ÷ {}", title(operation), plain(&scenario.axis)),
    }
}

/// Returns some of the points, including the first and the last.
fn spread<'a>(points: &[&'a Point], most: usize) -> Vec<&'a Point> {
    if points.len() <= most || most < 2 {
        return points.to_vec();
    }
    (0..most).map(|i| points[i * (points.len() - 1) / (most - 1)]).collect()
}

/// Returns the figures that the article printed, and the same figures now at the largest point.
pub(super) fn published(scenario: &ScenarioReport, names: &Names) -> Option<Table> {
    let last = groups(scenario).pop()?.points.pop()?;
    if scenario.published.is_empty() {
        return None;
    }
    let at = if scenario.points.len() > 1 { at(">now", last) } else { ">now".into() };
    let mut table = Table::new(["the article's figures", "what", ">then", at.as_str()]);
    for figure in &scenario.published {
        let entry = find(last, &figure.competitor);
        table.row([
            names.of(&figure.competitor),
            figure.operation.map_or("size", title).into(),
            format!("{} {}", printed(figure.value), figure.unit),
            entry.and_then(|entry| today(figure, entry, items(scenario, last))).unwrap_or(NONE.into()),
        ]);
    }
    Some(table)
}

/// Formats a figure as it was printed.
fn printed(value: f64) -> String {
    if value.is_finite() && value.fract() != 0.0 && value.abs() < 1e4 { format!("{value}") } else { count(value) }
}

fn today(figure: &Published, entry: &Entry, items: f64) -> Option<String> {
    match (figure.unit.as_str(), figure.operation) {
        ("a second", Some(operation)) => median(entry, operation).map(rate),
        ("s" | "ms" | "ns", Some(operation)) => median(entry, operation).map(time),
        (unit, Some(operation)) if unit.starts_with("ns a") => {
            let ns = median(entry, operation)? / items;
            Some(time(ns) + unit.trim_start_matches("ns"))
        }
        ("bytes", None) => entry.size.map(|n| bytes(n as f64)),
        _ => None,
    }
}
