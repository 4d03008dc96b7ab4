//! Chart of how the time of an operation grows with the size.

use super::lines::{self, Dot, Frame, Series};
use super::looks::look;
use super::{Canvas, Drawing, NARROW};
use crate::model::{Entry, Operation, Role, ScenarioReport};
use crate::page::number::{self, short, time};
use crate::page::tables::{items, per_item};
use crate::page::view::{Group, Names, find, measured, own, plain, right};
use crate::page::words;
use std::collections::BTreeSet;

/// Draws the chart; `None` with fewer than two sizes.
pub(in crate::page) fn draw(
    scenario: &ScenarioReport,
    group: &Group,
    operation: Operation,
    names: &Names,
    width: f64,
) -> Option<Drawing> {
    if group.points.len() < 2 {
        return None;
    }
    let series = series(scenario, group, operation, names);
    if series.is_empty() {
        return None;
    }
    let frame = Frame {
        width,
        narrow: width <= NARROW,
        titles: [&per_item(scenario, operation), &plain(&scenario.axis)],
        log: true,
        steps: &[],
        show: &|ns| short(time(ns)),
        count: &number::count,
    };
    let mut canvas = Canvas::new();
    let height = lines::draw(&mut canvas, &frame, &series);
    let of = if group.label.is_empty() { String::new() } else { format!(", {}", plain(&group.label)) };
    let title = format!("{}: growth, {}{of}", plain(&scenario.name), words::operation(operation));
    Some(Drawing { title, about: about(&series, &plain(&scenario.axis)), width, height, body: canvas.done() })
}

fn series(scenario: &ScenarioReport, group: &Group, operation: Operation, names: &Names) -> Vec<Series> {
    let mut seen = BTreeSet::new();
    let all = group.points.iter().rev().flat_map(|p| &p.entries);
    let entries: Vec<&Entry> = all.filter(|e| e.role != Role::Twin && seen.insert(&e.id)).collect();
    let curves = entries.into_iter().map(|entry| (entry, dots(scenario, group, operation, &entry.id)));
    let mut curves: Vec<(&Entry, Vec<Dot>)> = curves.filter(|(_, dots)| !dots.is_empty()).collect();
    let end = |dots: &[Dot]| dots.last().map_or(0.0, |d| d.y);
    curves.sort_by(|(_, a), (_, b)| end(a).total_cmp(&end(b)));
    let Some(last) = group.points.last() else { return vec![] };
    let name = |entry: &Entry| match entry.role {
        Role::Floor => format!("floor: {}", names.of(&entry.id)),
        _ if right(entry) => names.of(&entry.id),
        _ => format!("✗ {}", names.of(&entry.id)),
    };
    curves
        .into_iter()
        .map(|(entry, dots)| Series { name: name(entry), look: look(scenario, last, entry), own: own(entry), dots })
        .collect()
}

fn dots(scenario: &ScenarioReport, group: &Group, operation: Operation, id: &str) -> Vec<Dot> {
    let dot = |point: &&crate::model::Point| {
        let cell = find(point, id)?.cell(operation)?;
        measured(cell)?;
        let (median, items) = (cell.summary.median, items(scenario, point));
        let usable = point.at.is_finite() && point.at > 0.0;
        let dot = Dot { x: point.at, y: median.estimate / items, low: median.low / items, high: median.high / items };
        usable.then_some(dot)
    };
    group.points.iter().filter_map(dot).collect()
}

fn about(series: &[Series], axis: &str) -> String {
    let line = |s: &Series| {
        let (first, last) = (s.dots.first()?, s.dots.last()?);
        Some(format!(
            "{} from {} at {} to {} at {}",
            s.name,
            time(first.y),
            number::count(first.x),
            time(last.y),
            number::count(last.x)
        ))
    };
    let list: Vec<String> = series.iter().filter_map(line).collect();
    format!("Curves on logarithmic axes, over the number of {axis}, lower is better: {}.", list.join("; "))
}
