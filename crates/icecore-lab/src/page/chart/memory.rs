//! Chart of the resident memory after each step.

use super::curve_styles::choose_curve_style;
use super::lines::{self, CurvePoint, Frame, Series};
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
        point.entries.iter().filter(|e| e.memory.len() > 1 && e.role != Role::Twin).collect();
    let steps: Vec<String> =
        entries.iter().max_by_key(|e| e.memory.len())?.memory.iter().map(|s| make_printable(&s.step)).collect();
    entries.sort_by_key(|e| e.memory.iter().map(|s| s.peak).max());
    let to_series = |e: &&Entry| Series {
        name: names.display_name(&e.id),
        style: choose_curve_style(scenario, point, e),
        is_icecore: is_icecore(e),
        points: collect_memory_points(&e.memory, &steps),
    };
    let series: Vec<Series> = entries.iter().map(to_series).collect();
    let frame = Frame {
        width,
        is_narrow: width <= NARROW,
        titles: ["resident since the start; lines up to the peak of each step", ""],
        is_logarithmic: false,
        steps: &steps,
        format_value: &|n| if n == 0.0 { "0".into() } else { trim_zeros(format_bytes(n)) },
        format_count: &format_count,
    };
    let mut canvas = Canvas::new();
    let height = lines::draw_line_chart(&mut canvas, &frame, &series);
    let describe_peak = |e: &&Entry| {
        let peak = e.memory.iter().map(|s| s.peak).max()?.saturating_sub(e.memory[0].resident);
        Some(format!("{} at most {}", names.display_name(&e.id), format_bytes(peak as f64)))
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
    let make_dot = |(index, step): (usize, &String)| {
        let found = memory.iter().find(|s| make_printable(&s.step) == *step)?;
        let [y, high] = [found.resident, found.peak].map(|n| n.saturating_sub(start) as f64);
        Some(CurvePoint { x: index as f64, y, low: y, high })
    };
    steps.iter().enumerate().filter_map(make_dot).collect()
}
