//! Chart of bytes against time, with a dot for each competitor.

use super::canvas::{Anchor, Canvas, estimate_text_width as text_width, fit_text, regular_font_size};
use super::labels::Rect;
use super::legend::{LegendSign, draw_legend};
use super::scale::Scale;
use super::{Drawing, NARROW};
use crate::model::{Entry, Operation, Point, ScenarioReport};
use crate::page::number::{format_bytes, format_time, trim_zeros};
use crate::page::view::{
    Names, competitors_at_point, is_correct, is_icecore, make_printable, median_time, title_at_point,
};
use crate::page::words;

/// A competitor in the chart.
struct ScatterDot {
    name: String,
    class: &'static str,
    size: f64,
    ns: f64,
}

/// Draws the chart. Returns `None` if there are fewer than two competitors.
pub(in crate::page) fn draw_scatter(
    scenario: &ScenarioReport,
    point: &Point,
    names: &Names,
    width: f64,
) -> Option<Drawing> {
    let (activity, times) = choose_time(scenario, point)?;
    let dots: Vec<ScatterDot> = competitors_at_point(point)
        .filter_map(|entry| Some((entry, entry.size.filter(|size| *size > 0)?, times(entry)?)))
        .map(|(entry, size, ns)| make_dot(scenario, entry, size as f64, ns, names))
        .collect();
    if dots.len() < 2 {
        return None;
    }
    let narrow = width <= NARROW;
    let (top, bottom) = (30.0, if narrow { 290.0 } else { 370.0 });
    let y = Scale::log(dots.iter().map(|dot| dot.ns), 1.25, bottom, top);
    let ticks = y.choose_ticks(6);
    let left = ticks.iter().map(|tick| text_width(&trim_zeros(format_time(*tick)), 11.5)).fold(0.0, f64::max) + 8.0;
    let x = Scale::log(dots.iter().map(|dot| dot.size), 1.2, left, width - 8.0);
    let mut canvas = Canvas::new();
    for tick in ticks {
        canvas.draw_line("grid", [left, y.position_of(tick)], [width - 8.0, y.position_of(tick)]);
        canvas.draw_text(
            "m s num",
            Anchor::End,
            [left - 6.0, y.position_of(tick) + 4.0],
            &trim_zeros(format_time(tick)),
        );
    }
    let mut next_free = f64::NEG_INFINITY;
    for tick in x.choose_ticks(if narrow { 4 } else { 7 }) {
        let (tick_x, text) = (x.position_of(tick), trim_zeros(format_bytes(tick)));
        let half = text_width(&text, 11.5) / 2.0;
        canvas.draw_line("grid", [tick_x, top], [tick_x, bottom]);
        if tick_x - half > next_free && tick_x + half < width {
            canvas.draw_text("m s num", Anchor::Middle, [tick_x, bottom + 17.0], &text);
            next_free = tick_x + half + 6.0;
        }
    }
    let title = format!("time to {activity}, lower is better");
    canvas.draw_text("m s", Anchor::Start, [0.0, 12.0], &fit_text(&title, width, 11.5));
    canvas.draw_text("m s", Anchor::Middle, [(left + width) / 2.0, bottom + 36.0], "bytes, further left is better");
    let front = draw_front(&mut canvas, &dots, &x, &y);
    let area = Rect { x: left + 2.0, y: top - 6.0, width: width - left - 4.0, height: bottom - top + 6.0 };
    let unplaced = draw_labelled_dots(&mut canvas, &dots, &x, &y, &area, front);
    let height = bottom + 46.0 + draw_legend(&mut canvas, &unplaced, bottom + 46.0, width);
    let list: Vec<String> =
        dots.iter().map(|dot| format!("{} {}, {}", dot.name, format_bytes(dot.size), format_time(dot.ns))).collect();
    let about =
        format!("Bytes and time to {activity} on logarithmic axes, less of both is better: {}.", list.join("; "));
    let title = format!("{}: {}", make_printable(&scenario.name), title_at_point("bytes against time", point));
    Some(Drawing { title, about, width, height, body: canvas.into_elements() })
}

/// Returns the time to show: write and read together, the round trip, or any operation that was measured.
#[allow(clippy::type_complexity)]
fn choose_time(scenario: &ScenarioReport, point: &Point) -> Option<(String, Box<dyn Fn(&Entry) -> Option<f64>>)> {
    use Operation::{Read, RoundTrip, Write};
    let has = |operation| {
        scenario.operations.contains(&operation)
            && competitors_at_point(point).any(|entry| median_time(entry, operation).is_some())
    };
    Some(match () {
        () if has(Write) && has(Read) => {
            ("write and read".into(), Box::new(|entry| Some(median_time(entry, Write)? + median_time(entry, Read)?)))
        }
        () if has(RoundTrip) => ("write and read".into(), Box::new(|entry| median_time(entry, RoundTrip))),
        () => {
            let operation = scenario.operations.iter().copied().find(|operation| has(*operation))?;
            (words::operation_title(operation).into(), Box::new(move |entry| median_time(entry, operation)))
        }
    })
}

fn make_dot(scenario: &ScenarioReport, entry: &Entry, size: f64, ns: f64, names: &Names) -> ScatterDot {
    let class = match entry {
        entry if !is_correct(entry) => "wrong",
        entry if is_icecore(entry) => "own",
        entry if scenario.baseline.as_deref() == Some(&entry.id) => "base",
        _ => "other",
    };
    let sign = if class == "wrong" { "✗ " } else { "" };
    ScatterDot { name: format!("{sign}{}", names.display_name(&entry.id)), class, size, ns }
}

/// Draws a line along the dots that no other dot beats in both values. Returns its rectangles.
fn draw_front(canvas: &mut Canvas, dots: &[ScatterDot], x: &Scale, y: &Scale) -> Vec<Rect> {
    let mut order: Vec<&ScatterDot> = dots.iter().filter(|dot| dot.class != "wrong").collect();
    order.sort_by(|a, b| a.size.total_cmp(&b.size).then(a.ns.total_cmp(&b.ns)));
    let mut best = f64::INFINITY;
    let mut places: Vec<[f64; 2]> = vec![];
    for dot in order {
        if dot.ns < best {
            best = dot.ns;
            let position = [x.position_of(dot.size), y.position_of(dot.ns)];
            // The line is a staircase: first to the right at the height of the last dot, then to this dot.
            if let Some([_, above]) = places.last().copied() {
                places.push([position[0], above]);
            }
            places.push(position);
        }
    }
    canvas.draw_path("front", &places);
    let box_of_line = |[x1, y1]: [f64; 2], [x2, y2]: [f64; 2]| Rect {
        x: x1.min(x2) - 1.0,
        y: y1.min(y2) - 1.0,
        width: (x2 - x1).abs() + 2.0,
        height: (y2 - y1).abs() + 2.0,
    };
    places.windows(2).map(|pair| box_of_line(pair[0], pair[1])).collect()
}

/// Draws dots and their names. A name is next to its dot, or further away with a line, at a place where it does not
/// cover anything. Returns the names for which there is no such place. The caller writes them below the chart.
fn draw_labelled_dots(
    canvas: &mut Canvas,
    dots: &[ScatterDot],
    x: &Scale,
    y: &Scale,
    area: &Rect,
    front: Vec<Rect>,
) -> Vec<(LegendSign, String)> {
    let mut unplaced = vec![];
    let places: Vec<[f64; 2]> = dots.iter().map(|dot| [x.position_of(dot.size), y.position_of(dot.ns)]).collect();
    let mut occupied: Vec<Rect> = places.iter().map(|center| box_around(*center, 5.5)).collect();
    occupied.extend(front);
    let mut names: Vec<Rect> = vec![];
    // The important names are placed first.
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by_key(|index| CLASSES_BY_IMPORTANCE.iter().position(|class| *class == dots[*index].class));
    for index in order {
        let (dot, position) = (&dots[index], places[index]);
        let size = regular_font_size(12.5, dot.class == "own");
        let name = fit_text(&dot.name, area.width * 0.6, size);
        let (name_width, name_height) = (text_width(&name, size), 15.0);
        // A line that passes another dot would seem to name that dot.
        let is_near = |[x, y]: [f64; 2]| (x - position[0]).hypot(y - position[1]) < 14.0;
        let others: Vec<Rect> =
            places.iter().filter(|other| !is_near(**other)).map(|other| box_around(*other, 5.5)).collect();
        let crosses = |step: Rect| names.iter().chain(&others).any(|other| step.overlaps(other));
        let is_free = |(place, is_far): &(Rect, bool)| {
            place.is_inside(area)
                && !occupied.iter().any(|other| place.overlaps(other))
                && !(*is_far && boxes_along_line(position, find_leader_end(position, place)).any(crosses))
        };
        let mut candidates = label_offsets(name_width, name_height).map(|([dx, dy], is_far)| {
            (Rect { x: position[0] + dx, y: position[1] + dy, width: name_width, height: name_height }, is_far)
        });
        let found = candidates.find(is_free);
        let title = format!("{}: {}, {}", dot.name, format_bytes(dot.size), format_time(dot.ns));
        canvas.draw_group(&title, |canvas| {
            if let Some((place, is_far)) = &found {
                if *is_far {
                    canvas.draw_line("leader", position, find_leader_end(position, place));
                }
                draw_label(canvas, dot, &name, place, position[0]);
            }
            canvas.draw_mark(dot.class, mark_shape(dot), position, 5.0);
        });
        if found.is_none() {
            unplaced.push((LegendSign::Mark(dot.class.into(), mark_shape(dot)), title));
        }
        if let Some((place, is_far)) = found {
            occupied.extend(boxes_along_line(position, find_leader_end(position, &place)).filter(|_| is_far));
            occupied.push(place);
            names.push(place);
        }
    }
    unplaced
}

fn mark_shape(dot: &ScatterDot) -> usize {
    match dot.class {
        "base" => 3,
        "wrong" => 1,
        _ => 0,
    }
}

/// The order in which the names are placed.
const CLASSES_BY_IMPORTANCE: [&str; 4] = ["own", "base", "other", "wrong"];

/// Draws a name. It is anchored at the end next to the dot. So that end is at the right place, even if the font is
/// wider or narrower than estimated.
fn draw_label(canvas: &mut Canvas, dot: &ScatterDot, name: &str, place: &Rect, dot_x: f64) {
    let class = if dot.class == "own" { "t strong lab" } else { "t lab" };
    let (anchor, x) = match place.x + place.width <= dot_x {
        true => (Anchor::End, place.x + place.width),
        false => (Anchor::Start, place.x),
    };
    canvas.draw_text(class, anchor, [x, place.y + 11.5], name);
}

/// Returns the point at which the line from a dot to its name ends. It is at the nearest side of the name.
fn find_leader_end([x, y]: [f64; 2], name: &Rect) -> [f64; 2] {
    let middle = name.y + name.height / 2.0;
    match () {
        () if name.x > x => [name.x - 2.0, middle],
        () if name.x + name.width < x => [name.x + name.width + 2.0, middle],
        () if name.y > y => [x, name.y],
        () => [x, name.y + name.height],
    }
}

/// Returns small boxes along a line. They begin 8 units from the dot, because the box of the dot itself is there.
fn boxes_along_line([x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> impl Iterator<Item = Rect> {
    let length = (x2 - x1).hypot(y2 - y1).max(1.0);
    let steps = (2..).map(|step| f64::from(step) * 4.0).take_while(move |far| *far < length);
    steps.map(move |far| box_around([x1 + (x2 - x1) * far / length, y1 + (y2 - y1) * far / length], 1.0))
}

fn box_around([x, y]: [f64; 2], reach: f64) -> Rect {
    Rect { x: x - reach, y: y - reach, width: 2.0 * reach, height: 2.0 * reach }
}

/// Returns possible offsets of a name from its dot, best first, and whether a line is needed.
fn label_offsets(wide: f64, high: f64) -> impl Iterator<Item = ([f64; 2], bool)> {
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
        let radius = f64::from(ring) * 11.0;
        (0..16).map(move |turn| {
            let (sin, cos) = (f64::from(turn) * std::f64::consts::PI / 8.0).sin_cos();
            // To the right of the dot, the line ends at the beginning of the name, and to the left at its end. Above
            // or below the dot, it ends at the middle.
            let overhang = if cos > 0.3 { 0.0 } else { wide / if cos < -0.3 { 1.0 } else { 2.0 } };
            ([cos * radius - overhang, sin * radius - high / 2.0], true)
        })
    });
    near.into_iter().map(|offset| (offset, false)).chain(far)
}
