//! Bytes against time: who is small, who is fast, who is both.

use super::canvas::{Anchor, Canvas, fit, width as text_width};
use super::labels::Place;
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

/// None with less than two to compare.
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
    let area = Place { x: left + 2.0, y: top - 6.0, width: width - left - 4.0, height: bottom - top + 6.0 };
    labelled(&mut canvas, &dots, &x, &y, &area, front);
    let list: Vec<String> = dots.iter().map(|d| format!("{} {}, {}", d.name, bytes(d.size), time(d.ns))).collect();
    let about = format!("Bytes and time to {what} on logarithmic axes, less of both is better: {}.", list.join("; "));
    let title = format!("{}: {}", plain(&scenario.name), at("bytes against time", point));
    Some(Drawing { title, about, width, height: bottom + 46.0, body: canvas.done() })
}

/// Which time: of a round trip, of writing and reading together, or of what there is.
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

/// A line along those that nobody beats in both; gives where it runs.
fn front(canvas: &mut Canvas, dots: &[Dot], x: &Scale, y: &Scale) -> Vec<Place> {
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
    let between = |[x1, y1]: [f64; 2], [x2, y2]: [f64; 2]| Place {
        x: x1.min(x2) - 1.0,
        y: y1.min(y2) - 1.0,
        width: (x2 - x1).abs() + 2.0,
        height: (y2 - y1).abs() + 2.0,
    };
    places.windows(2).map(|pair| between(pair[0], pair[1])).collect()
}

/// Dots, and their names where nothing else is: beside them, or further off with a line.
fn labelled(canvas: &mut Canvas, dots: &[Dot], x: &Scale, y: &Scale, area: &Place, front: Vec<Place>) {
    let places: Vec<[f64; 2]> = dots.iter().map(|d| [x.at(d.size), y.at(d.ns)]).collect();
    let mut taken: Vec<Place> =
        places.iter().map(|[x, y]| Place { x: x - 5.5, y: y - 5.5, width: 11.0, height: 11.0 }).collect();
    taken.extend(front);
    // The important ones choose first.
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by_key(|i| ["own", "base", "other", "wrong"].iter().position(|class| *class == dots[*i].class));
    for i in order {
        let (dot, [at_x, at_y]) = (&dots[i], places[i]);
        let name = fit(&dot.name, area.width * 0.6, 12.5);
        let (wide, high) = (text_width(&name, 12.5) * if dot.class == "own" { 1.08 } else { 1.0 }, 15.0);
        let free = |place: &Place| place.inside(area) && !taken.iter().any(|other| place.meets(other));
        let found = offsets(wide, high)
            .map(|([dx, dy], far)| (Place { x: at_x + dx, y: at_y + dy, width: wide, height: high }, far))
            .find(|(place, _)| free(place));
        let title = format!("{}: {}, {}", dot.name, bytes(dot.size), time(dot.ns));
        canvas.group(&title, |canvas| {
            let shape = ["own", "base", "other", "wrong"].iter().position(|class| *class == dot.class).unwrap_or(2);
            if let Some((place, far)) = found {
                if far {
                    let end = if place.x > at_x { place.x - 2.0 } else { place.x + wide + 2.0 };
                    let end = if place.x <= at_x && at_x <= place.x + wide { at_x } else { end };
                    canvas.line("leader", [at_x, at_y], [end, place.y + high / 2.0]);
                }
                let class = if dot.class == "own" { "t strong lab" } else { "t lab" };
                // The end that is next to the dot stands where it should, however wide the font is.
                let (anchor, x) = match place.x + wide <= at_x {
                    true => (Anchor::End, place.x + wide),
                    false => (Anchor::Start, place.x),
                };
                canvas.text(class, anchor, [x, place.y + 11.5], &name);
            }
            canvas.mark(dot.class, [0, 3, 0, 1][shape], [at_x, at_y], 5.0);
        });
        taken.extend(found.map(|(place, _)| place));
    }
}

/// Where a name may stand, seen from its dot, best first; whether that needs a line.
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
    let far = (2..12).flat_map(move |ring| {
        let r = f64::from(ring) * 11.0;
        [
            [r, -r * 0.6],
            [r, r * 0.6],
            [-r - wide, -r * 0.6],
            [-r - wide, r * 0.6],
            [-wide / 2.0, r],
            [-wide / 2.0, -r - high],
        ]
        .map(|[dx, dy]| ([dx, dy - high / 2.0], true))
    });
    near.into_iter().map(|at| (at, false)).chain(far)
}
