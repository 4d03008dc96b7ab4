//! Chart of how the time of an operation grows with the size.

use super::curve_styles::choose_curve_style;
use super::lines::{self, ChartAxes, Curve, CurvePoint};
use super::{Canvas, Drawing, NARROW};
use crate::model::{Entry, Operation, Role, ScenarioReport};
use crate::page::number::{self, format_time, trim_zeros};
use crate::page::shared_tables::{item_count, time_per_item_title};
use crate::page::view::{Names, PointGroup, cell_median_time, find_entry, is_correct, is_icecore, make_printable};
use crate::page::words;
use std::collections::BTreeSet;

/// Draws the chart. Returns `None` if there are fewer than two sizes.
pub(in crate::page) fn draw_growth(
    scenario: &ScenarioReport,
    group: &PointGroup,
    operation: Operation,
    names: &Names,
    width: f64,
) -> Option<Drawing> {
    if group.points.len() < 2 {
        return None;
    }
    let curves = collect_curves(scenario, group, operation, names);
    if curves.is_empty() {
        return None;
    }
    let axes = ChartAxes {
        width,
        is_narrow: width <= NARROW,
        titles: [&time_per_item_title(scenario, operation), &make_printable(&scenario.axis)],
        is_logarithmic: true,
        steps: &[],
        format_value: &|ns| trim_zeros(format_time(ns)),
        format_count: &number::format_count,
    };
    let mut canvas = Canvas::new();
    let height = lines::draw_line_chart(&mut canvas, &axes, &curves);
    let group_suffix =
        if group.label.is_empty() { String::new() } else { format!(", {}", make_printable(&group.label)) };
    let title =
        format!("{}: growth, {}{group_suffix}", make_printable(&scenario.name), words::operation_title(operation));
    Some(Drawing {
        title,
        about: describe_growth(&curves, &make_printable(&scenario.axis)),
        width,
        height,
        body: canvas.into_elements(),
    })
}

fn collect_curves(scenario: &ScenarioReport, group: &PointGroup, operation: Operation, names: &Names) -> Vec<Curve> {
    let mut known_ids = BTreeSet::new();
    let all_entries = group.points.iter().rev().flat_map(|point| &point.entries);
    let entries: Vec<&Entry> =
        all_entries.filter(|entry| entry.role != Role::Twin && known_ids.insert(&entry.id)).collect();
    let curves = entries.into_iter().map(|entry| (entry, collect_curve_points(scenario, group, operation, &entry.id)));
    let mut curves: Vec<(&Entry, Vec<CurvePoint>)> = curves.filter(|(_, points)| !points.is_empty()).collect();
    let last_time = |points: &[CurvePoint]| points.last().map_or(0.0, |point| point.y);
    curves.sort_by(|(_, a), (_, b)| last_time(a).total_cmp(&last_time(b)));
    let Some(last) = group.points.last() else { return vec![] };
    let name_curve = |entry: &Entry| match entry.role {
        Role::Floor => format!("floor: {}", names.display_name(&entry.id)),
        _ if is_correct(entry) => names.display_name(&entry.id),
        _ => format!("✗ {}", names.display_name(&entry.id)),
    };
    curves
        .into_iter()
        .map(|(entry, points)| Curve {
            name: name_curve(entry),
            style: choose_curve_style(scenario, last, entry),
            is_icecore: is_icecore(entry),
            points,
        })
        .collect()
}

fn collect_curve_points(
    scenario: &ScenarioReport,
    group: &PointGroup,
    operation: Operation,
    id: &str,
) -> Vec<CurvePoint> {
    let make_point = |point: &&crate::model::Point| {
        let cell = find_entry(point, id)?.find_cell(operation)?;
        cell_median_time(cell)?;
        let (median, items) = (cell.summary.median, item_count(scenario, point));
        let is_on_axis = point.at.is_finite() && point.at > 0.0;
        let curve_point =
            CurvePoint { x: point.at, y: median.estimate / items, low: median.low / items, high: median.high / items };
        is_on_axis.then_some(curve_point)
    };
    group.points.iter().filter_map(make_point).collect()
}

fn describe_growth(curves: &[Curve], axis: &str) -> String {
    let describe_curve = |curve: &Curve| {
        let (first, last) = (curve.points.first()?, curve.points.last()?);
        Some(format!(
            "{} from {} at {} to {} at {}",
            curve.name,
            format_time(first.y),
            number::format_count(first.x),
            format_time(last.y),
            number::format_count(last.x)
        ))
    };
    let list: Vec<String> = curves.iter().filter_map(describe_curve).collect();
    format!("Curves on logarithmic axes, over the number of {axis}, lower is better: {}.", list.join("; "))
}
