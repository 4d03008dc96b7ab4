//! Resident memory, step by step.

use super::lines::{self, Dot, Frame, Series};
use super::{Canvas, Drawing, NARROW};
use crate::model::{Entry, MemoryStep, Point, Role, ScenarioReport};
use crate::page::number::{bytes, count, short};
use crate::page::view::{Names, own, plain};

/// None if nobody's memory was looked at.
pub(in crate::page) fn draw(scenario: &ScenarioReport, point: &Point, names: &Names, width: f64) -> Option<Drawing> {
    let mut with: Vec<&Entry> = point.entries.iter().filter(|e| e.memory.len() > 1 && e.role != Role::Twin).collect();
    let steps: Vec<String> =
        with.iter().max_by_key(|e| e.memory.len())?.memory.iter().map(|s| plain(&s.step)).collect();
    let base = scenario.baseline.as_deref();
    with.sort_by_key(|e| (!own(e), base != Some(&e.id), e.memory.iter().map(|s| s.peak).max()));
    let look = |i: usize| if i < 6 { char::from_digit(i as u32, 10).unwrap_or('x') } else { 'x' };
    let series: Vec<Series> = with
        .iter()
        .enumerate()
        .map(|(i, e)| Series { name: names.of(&e.id), look: look(i), own: own(e), dots: dots(&e.memory, &steps) })
        .collect();
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
    let title = format!("{}: memory, {}", plain(&scenario.name), plain(&point.name));
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
