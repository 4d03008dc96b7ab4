//! Chart of the times of one operation: a bar for each competitor, with the interval of its median.

use super::canvas::{Anchor, Canvas, as_plain, fit, width as text_width};
use super::legend::{Sign, legend};
use super::scale::Scale;
use super::{Drawing, NARROW};
use crate::model::{Entry, Interval, Operation, Point, Role, ScenarioReport};
use crate::page::number::{quotient, short, time};
use crate::page::view::{
    Names, at, by_speed, floor, is_baseline, measured, median, own, plain, right, roof, with_role,
};
use crate::page::words;

struct Bar {
    label: String,
    class: &'static str,
    median: Interval,
    /// How many times faster than the baseline.
    times: String,
    /// Whether a heading is above the bar.
    engine: bool,
}

impl Bar {
    /// Returns the size of regular letters with the width of the label; see [`as_plain`].
    fn size(&self) -> f64 {
        as_plain(13.0, self.class == "own")
    }
}

/// Draws the chart; `None` if no competitor was measured.
pub(in crate::page) fn draw(
    scenario: &ScenarioReport,
    point: &Point,
    operation: Operation,
    names: &Names,
    width: f64,
) -> Option<Drawing> {
    let bars = bars(scenario, point, operation, names);
    if bars.is_empty() {
        return None;
    }
    let (floor, roof) = (floor(point, operation), roof(point, operation));
    let least = floor.map(|(_, ns)| ns);
    let most = limit(&bars.iter().map(|b| b.median.estimate).collect::<Vec<_>>());
    let layout = Layout::new(&bars, width);
    let ends = bars.iter().filter(|b| b.median.estimate <= most).map(|b| b.median.high.min(b.median.estimate * 1.5));
    let scale = Scale::linear(ends.chain([most, least.unwrap_or(0.0)]), layout.left, layout.right);
    let mut canvas = Canvas::new();
    let tops = layout.tops(&bars);
    let bottom = tops.last().copied().unwrap_or(layout.top) + layout.row;
    axis(&mut canvas, &scale, &layout, &tops);
    for (bar, y) in bars.iter().zip(&tops) {
        if bar.engine {
            canvas.text("m s", Anchor::Start, [0.0, y - 7.0], "without a language's values");
        }
        layout.bar(&mut canvas, bar, &scale, most, *y);
    }
    for (class, ns) in [("floor", least), ("roof", roof)] {
        ns.iter().for_each(|ns| layout.upright(&mut canvas, class, scale.at(*ns), &tops));
    }
    let items = signs(scenario, &bars, names, floor, roof, most);
    let height = bottom + 26.0 + legend(&mut canvas, &items, bottom + 26.0, width);
    let title = format!("{}: {}", plain(&scenario.name), at(words::operation(operation), point));
    Some(Drawing { title, about: about(&bars, least), width, height, body: canvas.done() })
}

fn bars(scenario: &ScenarioReport, point: &Point, operation: Operation, names: &Names) -> Vec<Bar> {
    let bar = |entry: &Entry, first: bool| {
        let cell = entry.cell(operation)?;
        measured(cell)?;
        let is_base = is_baseline(scenario, entry);
        let class = match entry.role {
            Role::Engine => "engine",
            _ if !right(entry) => "wrong",
            _ if own(entry) => "own",
            _ if is_base => "base",
            _ => "other",
        };
        let times = match &cell.against {
            _ if is_base => "1×".into(),
            None => String::new(),
            Some(c) if c.tie => "tie".into(),
            Some(c) => format!("{}×", quotient(c.times.estimate)),
        };
        let sign = if right(entry) { "" } else { "✗ " };
        let label = format!("{sign}{}", names.of(&entry.id));
        Some(Bar { label, class, median: cell.summary.median, times, engine: first && entry.role == Role::Engine })
    };
    let mut engine: Vec<&Entry> = with_role(point, Role::Engine).filter(|e| median(e, operation).is_some()).collect();
    engine.sort_by(|a, b| median(a, operation).unwrap_or(0.0).total_cmp(&median(b, operation).unwrap_or(0.0)));
    let all = by_speed(point, operation).into_iter().map(|(e, _)| (e, false));
    all.chain(engine.into_iter().enumerate().map(|(i, e)| (e, i == 0))).filter_map(|(e, first)| bar(e, first)).collect()
}

/// Returns the end of the axis. A few much slower competitors would make all other bars too small to compare, so their
/// bars are cut off, and marked as such.
fn limit(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let mut kept = times.len();
    while kept > 2 && kept * 4 > times.len() * 3 && times[kept - 1] > 8.0 * times[(kept - 1) / 2] {
        kept -= 1;
    }
    times.get(kept - 1).copied().unwrap_or(1.0) * if kept < times.len() { 1.12 } else { 1.0 }
}

/// Positions of the parts of the chart.
struct Layout {
    width: f64,
    left: f64,
    right: f64,
    top: f64,
    row: f64,
    /// Right ends of the number columns in wide charts.
    columns: [f64; 2],
    narrow: bool,
}

impl Layout {
    fn new(bars: &[Bar], width: f64) -> Self {
        let narrow = width <= NARROW;
        let widest =
            |text: &dyn Fn(&Bar) -> &str| bars.iter().map(|b| text_width(text(b), b.size())).fold(0.0, f64::max);
        let times = if bars.iter().all(|b| b.times.is_empty()) { 0.0 } else { widest(&|b| &b.times).max(66.0) + 10.0 };
        if narrow {
            let columns = [width - times, width];
            return Self { width, left: 0.0, right: width - 8.0, top: 8.0, row: 40.0, columns, narrow };
        }
        let left = (widest(&|b| &b.label) + 12.0).min(width * 0.34);
        let right = width - times - 88.0;
        Self { width, left, right, top: 24.0, row: 27.0, columns: [width - times, width], narrow }
    }

    /// Returns where each row begins. The engine's rows have a heading above them.
    fn tops(&self, bars: &[Bar]) -> Vec<f64> {
        let mut next = self.top;
        let place = |bar: &Bar| {
            let top = next + if bar.engine { 22.0 } else { 0.0 };
            next = top + self.row;
            top
        };
        bars.iter().map(place).collect()
    }

    /// Returns the position and thickness of the bar in a row.
    fn thick(&self, top: f64) -> [f64; 2] {
        if self.narrow { [top + 20.0, 12.0] } else { [top + (self.row - 15.0) / 2.0, 15.0] }
    }

    /// Draws a vertical line along the bars, with gaps where there is text.
    fn upright(&self, canvas: &mut Canvas, class: &str, x: f64, tops: &[f64]) {
        let mut from = None;
        for (i, top) in tops.iter().enumerate() {
            let (start, end) = match self.narrow {
                true => (self.thick(*top)[0] - 3.0, self.thick(*top)[0] + 15.0),
                false => (*top, top + self.row),
            };
            let start = *from.get_or_insert(start);
            if tops.get(i + 1).is_none_or(|next| self.narrow || *next > end + 1.0) {
                canvas.line(class, [x, start], [x, end]);
                from = None;
            }
        }
    }

    fn bar(&self, canvas: &mut Canvas, bar: &Bar, scale: &Scale, most: f64, y: f64) {
        let Interval { estimate, low, high } = bar.median;
        let title = format!("{}: {} ({} to {}) {}", bar.label, time(estimate), time(low), time(high), bar.times);
        let [top, thick] = self.thick(y);
        let middle = top + thick / 2.0;
        canvas.group(title.trim(), |canvas| {
            canvas.rect(bar.class, [self.left, top], [scale.at(estimate) - self.left, thick]);
            if estimate > most {
                // Two slashes mark a bar that is cut off.
                for x in [self.right - 26.0, self.right - 18.0] {
                    canvas.line("cut", [x, top + thick + 3.0], [x + 6.0, top - 3.0]);
                }
            } else if low.is_finite() && high.is_finite() && high > low {
                let (from, to) = (scale.at(low), scale.at(high));
                canvas.line("whisker", [from, middle], [to, middle]);
                // An end beyond the axis has no cap.
                let ends = [from, to].into_iter().take(if to < self.right || high <= most { 2 } else { 1 });
                for x in ends {
                    canvas.line("whisker", [x, middle - 4.0], [x, middle + 4.0]);
                }
            }
            self.words(canvas, bar, y, middle + 4.5);
        });
    }

    fn words(&self, canvas: &mut Canvas, bar: &Bar, y: f64, line: f64) {
        let class = if bar.class == "own" { "t strong" } else { "t" };
        if self.narrow {
            let ns = time(bar.median.estimate);
            let room = self.columns[0] - text_width(&ns, 13.0) - 10.0;
            canvas.text(class, Anchor::Start, [0.0, y + 14.0], &fit(&bar.label, room, bar.size()));
            canvas.text("t num", Anchor::End, [self.columns[0], y + 14.0], &ns);
            canvas.text("m num", Anchor::End, [self.columns[1], y + 14.0], &bar.times);
            return;
        }
        let label = fit(&bar.label, self.left - 10.0, bar.size());
        canvas.text(class, Anchor::End, [self.left - 10.0, line], &label);
        canvas.text("t num", Anchor::End, [self.columns[0], line], &time(bar.median.estimate));
        canvas.text("m num", Anchor::End, [self.columns[1], line], &bar.times);
    }
}

fn axis(canvas: &mut Canvas, scale: &Scale, layout: &Layout, tops: &[f64]) {
    let bottom = tops.last().copied().unwrap_or(layout.top) + layout.row;
    let ticks = scale.ticks(if layout.narrow { 4 } else { 6 });
    let mut free = f64::NEG_INFINITY;
    for tick in ticks {
        let x = scale.at(tick);
        layout.upright(canvas, if tick == 0.0 { "axis" } else { "grid" }, x, tops);
        let text = if tick == 0.0 { "0".into() } else { short(time(tick)) };
        let half = text_width(&text, 11.5) / 2.0;
        let anchor = if layout.narrow && tick == 0.0 { Anchor::Start } else { Anchor::Middle };
        if x - half >= free && x + half <= layout.width {
            canvas.text("m s", anchor, [x, bottom + 16.0], &text);
            free = x + half * if anchor == Anchor::Start { 2.0 } else { 1.0 } + 6.0;
        }
    }
    if !layout.narrow {
        canvas.text("m s", Anchor::End, [layout.columns[0], 12.0], "median");
        if layout.columns[0] < layout.width {
            canvas.text("m s", Anchor::End, [layout.columns[1], 12.0], "× baseline");
        }
    }
}

fn signs(
    scenario: &ScenarioReport,
    bars: &[Bar],
    names: &Names,
    floor: Option<(&Entry, f64)>,
    roof: Option<f64>,
    most: f64,
) -> Vec<(Sign, String)> {
    let has = |class: &str| bars.iter().any(|b| b.class == class);
    let mut items = vec![];
    if has("own") {
        items.push((Sign::Box("own"), "Icecore".to_owned()));
    }
    if let (true, Some(base)) = (has("base"), &scenario.baseline) {
        items.push((Sign::Box("base"), format!("the baseline, {}", names.of(base))));
    }
    if has("wrong") {
        items.push((Sign::Box("wrong"), "✗ what came back differs: not ranked".into()));
    }
    items.push((Sign::Line("whisker"), "where the median lies (95 %)".into()));
    items.extend(floor.map(|(e, ns)| (Sign::Line("floor"), format!("floor: {}, {}", names.of(&e.id), time(ns)))));
    items.extend(roof.map(|ns| (Sign::Line("roof"), format!("memcpy of the bytes, {}", time(ns)))));
    if bars.iter().any(|b| b.median.estimate > most) {
        items.push((Sign::Box("other"), "// cut off: too long to be drawn".into()));
    }
    items
}

fn about(bars: &[Bar], floor: Option<f64>) -> String {
    let list: Vec<String> = bars.iter().map(|b| format!("{} {}", b.label, time(b.median.estimate))).collect();
    let floor = floor.map_or(String::new(), |ns| format!(" The values alone take {}.", time(ns)));
    format!("Bars of the median times, shorter is better: {}.{floor}", list.join(", "))
}
