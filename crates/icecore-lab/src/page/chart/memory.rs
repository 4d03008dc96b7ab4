//! Chart of the resident memory after each step.

use super::curve_styles::choose_curve_style;
use super::lines::{self, ChartAxes, Curve, CurvePoint};
use super::{Canvas, Drawing, NARROW};
use crate::model::{Entry, MemoryStep, Point, Role, ScenarioReport};
use crate::page::number::{format_bytes, format_count, trim_zeros};
use crate::page::view::{Names, is_icecore, make_printable, title_at_point};

/// Draws the chart. Returns `None` if no memory was measured.
pub(in crate::page) fn draw_memory(
    scenario: &ScenarioReport,
    point: &Point,
    names: &Names,
    width: f64,
) -> Option<Drawing> {
    let mut entries: Vec<&Entry> =
        point.entries.iter().filter(|entry| entry.memory.len() > 1 && entry.role != Role::Twin).collect();
    let steps: Vec<String> = entries
        .iter()
        .max_by_key(|entry| entry.memory.len())?
        .memory
        .iter()
        .map(|memory_step| make_printable(&memory_step.step))
        .collect();
    entries.sort_by_key(|entry| entry.memory.iter().map(|memory_step| memory_step.peak).max());
    let to_curve = |entry: &&Entry| Curve {
        name: names.display_name(&entry.id),
        style: choose_curve_style(scenario, point, entry),
        is_icecore: is_icecore(entry),
        points: collect_memory_points(&entry.memory, &steps),
    };
    let curves: Vec<Curve> = entries.iter().map(to_curve).collect();
    let axes = ChartAxes {
        width,
        is_narrow: width <= NARROW,
        titles: ["resident since the start; lines up to the peak of each step", ""],
        is_logarithmic: false,
        steps: &steps,
        format_value: &|bytes| if bytes == 0.0 { "0".into() } else { trim_zeros(format_bytes(bytes)) },
        format_count: &format_count,
    };
    let mut canvas = Canvas::new();
    let height = lines::draw_line_chart(&mut canvas, &axes, &curves);
    let describe_peak = |entry: &&Entry| {
        let peak =
            entry.memory.iter().map(|memory_step| memory_step.peak).max()?.saturating_sub(entry.memory[0].resident);
        Some(format!("{} at most {}", names.display_name(&entry.id), format_bytes(peak as f64)))
    };
    let about = format!(
        "Resident memory since the start, lower is better: {}.",
        entries.iter().filter_map(describe_peak).collect::<Vec<_>>().join(", ")
    );
    let title = format!("{}: {}", make_printable(&scenario.name), title_at_point("memory", point));
    Some(Drawing { title, about, width, height, body: canvas.into_elements() })
}

fn collect_memory_points(memory: &[MemoryStep], steps: &[String]) -> Vec<CurvePoint> {
    let start = memory[0].resident;
    let make_point = |(index, step): (usize, &String)| {
        let found = memory.iter().find(|memory_step| make_printable(&memory_step.step) == *step)?;
        let [y, high] = [found.resident, found.peak].map(|bytes| bytes.saturating_sub(start) as f64);
        Some(CurvePoint { x: index as f64, y, low: y, high })
    };
    steps.iter().enumerate().filter_map(make_point).collect()
}
