//! Chart of bytes against time, with a dot for each competitor.

use super::canvas::{Anchor, Canvas, as_plain, fit, width as text_width};
use super::labels::Rect;
use super::legend::{Sign, legend};
use super::scale::Scale;
use super::{Drawing, NARROW};
use crate::model::{Entry, Operation, Point, ScenarioReport};
use crate::page::number::{bytes, short, time};
use crate::page::view::{Names, at, competitors, median, own, plain, right};
use crate::page::words;

struct Dot {
    name: String,
    class: &'static str,
    size: f64,
    ns: f64,
}

/// Draws the chart; `None` with fewer than two competitors.
pub(in crate::page) fn draw(scenario: &ScenarioReport, point: &Point, names: &Names, width: f64) -> Option<Drawing> {
    let (what, times) = times(scenario, point)?;
    let dots: Vec<Dot> = competitors(point)
        .filter_map(|e| Some((e, e.size.filter(|n| *n > 0)?, times(e)?)))
        .map(|(e, size, ns)| dot(scenario, e, size as f64, ns, names))
        .collect();
    if dots.len() < 2 {
        return None;
    }
    let narrow = width <= NARROW;
    let (top, bottom) = (30.0, if narrow { 290.0 } else { 370.0 });
    let y = Scale::log(dots.iter().map(|d| d.ns), 1.25, bottom, top);
    let ticks = y.ticks(6);
    let left = ticks.iter().map(|t| text_width(&short(time(*t)), 11.5)).fold(0.0, f64::max) + 8.0;
    let x = Scale::log(dots.iter().map(|d| d.size), 1.2, left, width - 8.0);
    let mut canvas = Canvas::new();
    for tick in ticks {
        canvas.line("grid", [left, y.at(tick)], [width - 8.0, y.at(tick)]);
        canvas.text("m s num", Anchor::End, [left - 6.0, y.at(tick) + 4.0], &short(time(tick)));
    }
    let mut free = f64::NEG_INFINITY;
    for tick in x.ticks(if narrow { 4 } else { 7 }) {
        let (at, text) = (x.at(tick), short(bytes(tick)));
        let half = text_width(&text, 11.5) / 2.0;
        canvas.line("grid", [at, top], [at, bottom]);
        if at - half > free && at + half < width {
            canvas.text("m s num", Anchor::Middle, [at, bottom + 17.0], &text);
            free = at + half + 6.0;
        }
    }
    let title = format!("time to {what}, lower is better");
    canvas.text("m s", Anchor::Start, [0.0, 12.0], &fit(&title, width, 11.5));
    canvas.text("m s", Anchor::Middle, [(left + width) / 2.0, bottom + 36.0], "bytes, further left is better");
    let front = front(&mut canvas, &dots, &x, &y);
    let area = Rect { x: left + 2.0, y: top - 6.0, width: width - left - 4.0, height: bottom - top + 6.0 };
    let rest = labelled(&mut canvas, &dots, &x, &y, &area, front);
    let height = bottom + 46.0 + legend(&mut canvas, &rest, bottom + 46.0, width);
    let list: Vec<String> = dots.iter().map(|d| format!("{} {}, {}", d.name, bytes(d.size), time(d.ns))).collect();
    let about = format!("Bytes and time to {what} on logarithmic axes, less of both is better: {}.", list.join("; "));
    let title = format!("{}: {}", plain(&scenario.name), at("bytes against time", point));
    Some(Drawing { title, about, width, height, body: canvas.done() })
}

/// Returns the time to show: write and read together, the round trip, or any operation that was measured.
#[allow(clippy::type_complexity)]
fn times(scenario: &ScenarioReport, point: &Point) -> Option<(String, Box<dyn Fn(&Entry) -> Option<f64>>)> {
    use Operation::{Read, RoundTrip, Write};
    let has = |operation| {
        scenario.operations.contains(&operation) && competitors(point).any(|e| median(e, operation).is_some())
    };
    Some(match () {
        () if has(Write) && has(Read) => {
            ("write and read".into(), Box::new(|e| Some(median(e, Write)? + median(e, Read)?)))
        }
        () if has(RoundTrip) => ("write and read".into(), Box::new(|e| median(e, RoundTrip))),
        () => {
            let operation = scenario.operations.iter().copied().find(|o| has(*o))?;
            (words::operation(operation).into(), Box::new(move |e| median(e, operation)))
        }
    })
}

fn dot(scenario: &ScenarioReport, entry: &Entry, size: f64, ns: f64, names: &Names) -> Dot {
    let class = match entry {
        e if !right(e) => "wrong",
        e if own(e) => "own",
        e if scenario.baseline.as_deref() == Some(&e.id) => "base",
        _ => "other",
    };
    let sign = if class == "wrong" { "✗ " } else { "" };
    Dot { name: format!("{sign}{}", names.of(&entry.id)), class, size, ns }
}

/// Draws a line along the dots that no other dot beats in both values. Returns its rectangles.
fn front(canvas: &mut Canvas, dots: &[Dot], x: &Scale, y: &Scale) -> Vec<Rect> {
    let mut order: Vec<&Dot> = dots.iter().filter(|d| d.class != "wrong").collect();
    order.sort_by(|a, b| a.size.total_cmp(&b.size).then(a.ns.total_cmp(&b.ns)));
    let mut best = f64::INFINITY;
    let mut places: Vec<[f64; 2]> = vec![];
    for dot in order {
        if dot.ns < best {
            best = dot.ns;
            let to = [x.at(dot.size), y.at(dot.ns)];
            if let Some([_, above]) = places.last().copied() {
                places.push([to[0], above]);
            }
            places.push(to);
        }
    }
    canvas.path("front", &places);
    let between = |[x1, y1]: [f64; 2], [x2, y2]: [f64; 2]| Rect {
        x: x1.min(x2) - 1.0,
        y: y1.min(y2) - 1.0,
        width: (x2 - x1).abs() + 2.0,
        height: (y2 - y1).abs() + 2.0,
    };
    places.windows(2).map(|pair| between(pair[0], pair[1])).collect()
}

/// Draws dots, and their names where nothing else is: next to them, or further away with a line. Returns those for
/// which there is no room: they go below the chart.
fn labelled(
    canvas: &mut Canvas,
    dots: &[Dot],
    x: &Scale,
    y: &Scale,
    area: &Rect,
    front: Vec<Rect>,
) -> Vec<(Sign, String)> {
    let mut rest = vec![];
    let places: Vec<[f64; 2]> = dots.iter().map(|d| [x.at(d.size), y.at(d.ns)]).collect();
    let mut taken: Vec<Rect> = places.iter().map(|at| around(*at, 5.5)).collect();
    taken.extend(front);
    let mut names: Vec<Rect> = vec![];
    // The important names are placed first.
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by_key(|i| CLASSES.iter().position(|class| *class == dots[*i].class));
    for i in order {
        let (dot, at) = (&dots[i], places[i]);
        let size = as_plain(12.5, dot.class == "own");
        let name = fit(&dot.name, area.width * 0.6, size);
        let (wide, high) = (text_width(&name, size), 15.0);
        // A line that passes another dot would seem to name that dot.
        let near = |[x, y]: [f64; 2]| (x - at[0]).hypot(y - at[1]) < 14.0;
        let others: Vec<Rect> = places.iter().filter(|other| !near(**other)).map(|other| around(*other, 5.5)).collect();
        let crosses = |step: Rect| names.iter().chain(&others).any(|other| step.meets(other));
        let free = |(place, far): &(Rect, bool)| {
            place.inside(area)
                && !taken.iter().any(|other| place.meets(other))
                && !(*far && along(at, leader(at, place)).any(crosses))
        };
        let mut all = offsets(wide, high)
            .map(|([dx, dy], far)| (Rect { x: at[0] + dx, y: at[1] + dy, width: wide, height: high }, far));
        let found = all.find(free);
        let title = format!("{}: {}, {}", dot.name, bytes(dot.size), time(dot.ns));
        canvas.group(&title, |canvas| {
            if let Some((place, far)) = &found {
                if *far {
                    canvas.line("leader", at, leader(at, place));
                }
                label(canvas, dot, &name, place, at[0]);
            }
            canvas.mark(dot.class, shape(dot), at, 5.0);
        });
        if found.is_none() {
            rest.push((Sign::Mark(dot.class.into(), shape(dot)), title));
        }
        if let Some((place, far)) = found {
            taken.extend(along(at, leader(at, &place)).filter(|_| far));
            taken.push(place);
            names.push(place);
        }
    }
    rest
}

fn shape(dot: &Dot) -> usize {
    match dot.class {
        "base" => 3,
        "wrong" => 1,
        _ => 0,
    }
}

/// Order in which the names are placed.
const CLASSES: [&str; 4] = ["own", "base", "other", "wrong"];

/// Draws a name. It is anchored at the end next to the dot, so that this end is right whatever the width of the font.
fn label(canvas: &mut Canvas, dot: &Dot, name: &str, place: &Rect, dot_x: f64) {
    let class = if dot.class == "own" { "t strong lab" } else { "t lab" };
    let (anchor, x) = match place.x + place.width <= dot_x {
        true => (Anchor::End, place.x + place.width),
        false => (Anchor::Start, place.x),
    };
    canvas.text(class, anchor, [x, place.y + 11.5], name);
}

/// Returns where the line from a dot to its name ends: at the nearest side of the name.
fn leader([x, y]: [f64; 2], name: &Rect) -> [f64; 2] {
    let middle = name.y + name.height / 2.0;
    match () {
        () if name.x > x => [name.x - 2.0, middle],
        () if name.x + name.width < x => [name.x + name.width + 2.0, middle],
        () if name.y > y => [x, name.y],
        () => [x, name.y + name.height],
    }
}

/// Returns small boxes along a line, without those close to its first dot.
fn along([x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> impl Iterator<Item = Rect> {
    let length = (x2 - x1).hypot(y2 - y1).max(1.0);
    let steps = (2..).map(|step| f64::from(step) * 4.0).take_while(move |far| *far < length);
    steps.map(move |far| around([x1 + (x2 - x1) * far / length, y1 + (y2 - y1) * far / length], 1.0))
}

fn around([x, y]: [f64; 2], reach: f64) -> Rect {
    Rect { x: x - reach, y: y - reach, width: 2.0 * reach, height: 2.0 * reach }
}

/// Returns possible offsets of a name from its dot, best first, and whether a line is needed.
fn offsets(wide: f64, high: f64) -> impl Iterator<Item = ([f64; 2], bool)> {
    let near = [
        [9.0, -high / 2.0],
        [-9.0 - wide, -high / 2.0],
        [-wide / 2.0, -high - 6.0],
        [-wide / 2.0, 7.0],
        [6.0, -high - 3.0],
        [6.0, 4.0],
        [-6.0 - wide, -high - 3.0],
        [-6.0 - wide, 4.0],
    ];
    let far = (2..14).flat_map(move |ring| {
        let r = f64::from(ring) * 11.0;
        (0..16).map(move |turn| {
            let (sin, cos) = (f64::from(turn) * std::f64::consts::PI / 8.0).sin_cos();
            // The line ends at the nearest end of the name, or at its middle.
            let hang = if cos > 0.3 { 0.0 } else { wide / if cos < -0.3 { 1.0 } else { 2.0 } };
            ([cos * r - hang, sin * r - high / 2.0], true)
        })
    });
    near.into_iter().map(|at| (at, false)).chain(far)
}
