//! Chart of the resident memory after each step.

use super::lines::{self, Dot, Frame, Series};
use super::looks::look;
use super::{Canvas, Drawing, NARROW};
use crate::model::{Entry, MemoryStep, Point, Role, ScenarioReport};
use crate::page::number::{bytes, count, short};
use crate::page::view::{Names, at, own, plain};

/// Draws the chart; `None` if no memory was measured.
pub(in crate::page) fn draw(scenario: &ScenarioReport, point: &Point, names: &Names, width: f64) -> Option<Drawing> {
    let mut with: Vec<&Entry> = point.entries.iter().filter(|e| e.memory.len() > 1 && e.role != Role::Twin).collect();
    let steps: Vec<String> =
        with.iter().max_by_key(|e| e.memory.len())?.memory.iter().map(|s| plain(&s.step)).collect();
    with.sort_by_key(|e| e.memory.iter().map(|s| s.peak).max());
    let one = |e: &&Entry| Series {
        name: names.of(&e.id),
        look: look(scenario, point, e),
        own: own(e),
        dots: dots(&e.memory, &steps),
    };
    let series: Vec<Series> = with.iter().map(one).collect();
    let frame = Frame {
        width,
        narrow: width <= NARROW,
        titles: ["resident since the start; lines up to the peak of each step", ""],
        log: false,
        steps: &steps,
        show: &|n| if n == 0.0 { "0".into() } else { short(bytes(n)) },
        count: &count,
    };
    let mut canvas = Canvas::new();
    let height = lines::draw(&mut canvas, &frame, &series);
    let most = |e: &&Entry| {
        let peak = e.memory.iter().map(|s| s.peak).max()?.saturating_sub(e.memory[0].resident);
        Some(format!("{} at most {}", names.of(&e.id), bytes(peak as f64)))
    };
    let about = format!(
        "Resident memory since the start, lower is better: {}.",
        with.iter().filter_map(most).collect::<Vec<_>>().join(", ")
    );
    let title = format!("{}: {}", plain(&scenario.name), at("memory", point));
    Some(Drawing { title, about, width, height, body: canvas.done() })
}

fn dots(memory: &[MemoryStep], steps: &[String]) -> Vec<Dot> {
    let start = memory[0].resident;
    let dot = |(i, step): (usize, &String)| {
        let found = memory.iter().find(|s| plain(&s.step) == *step)?;
        let [y, high] = [found.resident, found.peak].map(|n| n.saturating_sub(start) as f64);
        Some(Dot { x: i as f64, y, low: y, high })
    };
    steps.iter().enumerate().filter_map(dot).collect()
}
