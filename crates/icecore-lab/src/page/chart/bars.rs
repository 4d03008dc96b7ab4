//! Chart of the times of one operation: a bar for each competitor, with the interval of its median.

use super::canvas::{Anchor, Canvas, estimate_text_width as text_width, fit_text, regular_font_size};
use super::legend::{LegendSign, draw_legend};
use super::scale::Scale;
use super::{Drawing, NARROW};
use crate::model::{Entry, Interval, Operation, Point, Role, ScenarioReport};
use crate::page::number::{format_quotient, format_time, trim_zeros};
use crate::page::view::{
    Names, cell_median_time, entries_with_role, find_floor, is_baseline, is_correct, is_icecore, make_printable,
    median_time, memcpy_time, sort_by_speed, title_at_point,
};
use crate::page::words;

/// A bar with its texts.
struct Bar {
    label: String,
    class: &'static str,
    median: Interval,
    /// How many times faster than the baseline it is, as text.
    times: String,
    /// Whether the heading of the engine's bars is above this bar.
    has_heading: bool,
}

impl Bar {
    /// Returns the font size at which regular letters are as wide as the label; see [`regular_font_size`].
    fn label_font_size(&self) -> f64 {
        regular_font_size(13.0, self.class == "own")
    }
}

/// Draws the chart. Returns `None` if no competitor was measured.
pub(in crate::page) fn draw_bars(
    scenario: &ScenarioReport,
    point: &Point,
    operation: Operation,
    names: &Names,
    width: f64,
) -> Option<Drawing> {
    let bars = collect_bars(scenario, point, operation, names);
    if bars.is_empty() {
        return None;
    }
    let (floor, memcpy_ns) = (find_floor(point, operation), memcpy_time(point, operation));
    let floor_time = floor.map(|(_, ns)| ns);
    let axis_limit = choose_axis_limit(&bars.iter().map(|bar| bar.median.estimate).collect::<Vec<_>>());
    let layout = Layout::new(&bars, width);
    let whisker_ends = bars
        .iter()
        .filter(|bar| bar.median.estimate <= axis_limit)
        .map(|bar| bar.median.high.min(bar.median.estimate * 1.5));
    let scale = Scale::linear(whisker_ends.chain([axis_limit, floor_time.unwrap_or(0.0)]), layout.left, layout.right);
    let mut canvas = Canvas::new();
    let tops = layout.row_tops(&bars);
    let bottom = tops.last().copied().unwrap_or(layout.top) + layout.row;
    draw_axis(&mut canvas, &scale, &layout, &tops);
    for (bar, y) in bars.iter().zip(&tops) {
        if bar.has_heading {
            canvas.draw_text("m s", Anchor::Start, [0.0, y - 7.0], "without a language's values");
        }
        layout.draw_bar(&mut canvas, bar, &scale, axis_limit, *y);
    }
    for (class, ns) in [("floor", floor_time), ("roof", memcpy_ns)] {
        ns.iter().for_each(|ns| layout.draw_vertical_line(&mut canvas, class, scale.position_of(*ns), &tops));
    }
    let items = collect_legend_items(scenario, &bars, names, floor, memcpy_ns, axis_limit);
    let height = bottom + 26.0 + draw_legend(&mut canvas, &items, bottom + 26.0, width);
    let title =
        format!("{}: {}", make_printable(&scenario.name), title_at_point(words::operation_title(operation), point));
    Some(Drawing { title, about: describe_bars(&bars, floor_time), width, height, body: canvas.into_elements() })
}

fn collect_bars(scenario: &ScenarioReport, point: &Point, operation: Operation, names: &Names) -> Vec<Bar> {
    let make_bar = |entry: &Entry, is_first_engine: bool| {
        let cell = entry.find_cell(operation)?;
        cell_median_time(cell)?;
        let is_base = is_baseline(scenario, entry);
        let class = match entry.role {
            Role::Engine => "engine",
            _ if !is_correct(entry) => "wrong",
            _ if is_icecore(entry) => "own",
            _ if is_base => "base",
            _ => "other",
        };
        let times = match &cell.against {
            _ if is_base => "1×".into(),
            None => String::new(),
            Some(comparison) if comparison.tie => "tie".into(),
            Some(comparison) => format!("{}×", format_quotient(comparison.times.estimate)),
        };
        let sign = if is_correct(entry) { "" } else { "✗ " };
        let label = format!("{sign}{}", names.display_name(&entry.id));
        Some(Bar { label, class, median: cell.summary.median, times, has_heading: is_first_engine })
    };
    let mut engines: Vec<&Entry> =
        entries_with_role(point, Role::Engine).filter(|entry| median_time(entry, operation).is_some()).collect();
    engines
        .sort_by(|a, b| median_time(a, operation).unwrap_or(0.0).total_cmp(&median_time(b, operation).unwrap_or(0.0)));
    let competitors = sort_by_speed(point, operation).into_iter().map(|(entry, _)| (entry, false));
    competitors
        .chain(engines.into_iter().enumerate().map(|(index, entry)| (entry, index == 0)))
        .filter_map(|(entry, is_first_engine)| make_bar(entry, is_first_engine))
        .collect()
}

/// Returns the end of the axis. A few much slower competitors would make all other bars too small to compare. So up
/// to a quarter of the bars is cut off, if they are more than eight times as long as the median of the others.
fn choose_axis_limit(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let mut kept = times.len();
    while kept > 2 && kept * 4 > times.len() * 3 && times[kept - 1] > 8.0 * times[(kept - 1) / 2] {
        kept -= 1;
    }
    times.get(kept - 1).copied().unwrap_or(1.0) * if kept < times.len() { 1.12 } else { 1.0 }
}

/// Positions in the chart.
struct Layout {
    width: f64,
    left: f64,
    right: f64,
    top: f64,
    /// Height of a row.
    row: f64,
    /// Right ends of the number columns in wide charts.
    columns: [f64; 2],
    narrow: bool,
}

impl Layout {
    fn new(bars: &[Bar], width: f64) -> Self {
        let narrow = width <= NARROW;
        let widest = |text: &dyn Fn(&Bar) -> &str| {
            bars.iter().map(|bar| text_width(text(bar), bar.label_font_size())).fold(0.0, f64::max)
        };
        let times =
            if bars.iter().all(|bar| bar.times.is_empty()) { 0.0 } else { widest(&|bar| &bar.times).max(66.0) + 10.0 };
        if narrow {
            let columns = [width - times, width];
            return Self { width, left: 0.0, right: width - 8.0, top: 8.0, row: 40.0, columns, narrow };
        }
        let left = (widest(&|bar| &bar.label) + 12.0).min(width * 0.34);
        let right = width - times - 88.0;
        Self { width, left, right, top: 24.0, row: 27.0, columns: [width - times, width], narrow }
    }

    /// Returns where each row begins. The engine's rows have a heading above them.
    fn row_tops(&self, bars: &[Bar]) -> Vec<f64> {
        let mut next = self.top;
        let place_row = |bar: &Bar| {
            let top = next + if bar.has_heading { 22.0 } else { 0.0 };
            next = top + self.row;
            top
        };
        bars.iter().map(place_row).collect()
    }

    /// Returns the position and thickness of the bar in a row.
    fn bar_position(&self, top: f64) -> [f64; 2] {
        if self.narrow { [top + 20.0, 12.0] } else { [top + (self.row - 15.0) / 2.0, 15.0] }
    }

    /// Draws a vertical line along the bars, with gaps where there is text.
    fn draw_vertical_line(&self, canvas: &mut Canvas, class: &str, x: f64, tops: &[f64]) {
        let mut line_start = None;
        for (index, top) in tops.iter().enumerate() {
            let (start, end) = match self.narrow {
                true => (self.bar_position(*top)[0] - 3.0, self.bar_position(*top)[0] + 15.0),
                false => (*top, top + self.row),
            };
            let start = *line_start.get_or_insert(start);
            if tops.get(index + 1).is_none_or(|next| self.narrow || *next > end + 1.0) {
                canvas.draw_line(class, [x, start], [x, end]);
                line_start = None;
            }
        }
    }

    fn draw_bar(&self, canvas: &mut Canvas, bar: &Bar, scale: &Scale, axis_limit: f64, y: f64) {
        let Interval { estimate, low, high } = bar.median;
        let title = format!(
            "{}: {} ({} to {}) {}",
            bar.label,
            format_time(estimate),
            format_time(low),
            format_time(high),
            bar.times
        );
        let [top, thickness] = self.bar_position(y);
        let middle = top + thickness / 2.0;
        canvas.draw_group(title.trim(), |canvas| {
            canvas.draw_rect(bar.class, [self.left, top], [scale.position_of(estimate) - self.left, thickness]);
            if estimate > axis_limit {
                // Two slashes mark a bar that is cut off.
                for x in [self.right - 26.0, self.right - 18.0] {
                    canvas.draw_line("cut", [x, top + thickness + 3.0], [x + 6.0, top - 3.0]);
                }
            } else if low.is_finite() && high.is_finite() && high > low {
                let (from, to) = (scale.position_of(low), scale.position_of(high));
                canvas.draw_line("whisker", [from, middle], [to, middle]);
                // An end beyond the axis has no cap.
                let ends = [from, to].into_iter().take(if to < self.right || high <= axis_limit { 2 } else { 1 });
                for x in ends {
                    canvas.draw_line("whisker", [x, middle - 4.0], [x, middle + 4.0]);
                }
            }
            self.draw_bar_text(canvas, bar, y, middle + 4.5);
        });
    }

    fn draw_bar_text(&self, canvas: &mut Canvas, bar: &Bar, y: f64, text_y: f64) {
        let class = if bar.class == "own" { "t strong" } else { "t" };
        if self.narrow {
            let ns = format_time(bar.median.estimate);
            let label_width = self.columns[0] - text_width(&ns, 13.0) - 10.0;
            canvas.draw_text(
                class,
                Anchor::Start,
                [0.0, y + 14.0],
                &fit_text(&bar.label, label_width, bar.label_font_size()),
            );
            canvas.draw_text("t num", Anchor::End, [self.columns[0], y + 14.0], &ns);
            canvas.draw_text("m num", Anchor::End, [self.columns[1], y + 14.0], &bar.times);
            return;
        }
        let label = fit_text(&bar.label, self.left - 10.0, bar.label_font_size());
        canvas.draw_text(class, Anchor::End, [self.left - 10.0, text_y], &label);
        canvas.draw_text("t num", Anchor::End, [self.columns[0], text_y], &format_time(bar.median.estimate));
        canvas.draw_text("m num", Anchor::End, [self.columns[1], text_y], &bar.times);
    }
}

fn draw_axis(canvas: &mut Canvas, scale: &Scale, layout: &Layout, tops: &[f64]) {
    let bottom = tops.last().copied().unwrap_or(layout.top) + layout.row;
    let ticks = scale.choose_ticks(if layout.narrow { 4 } else { 6 });
    let mut next_free = f64::NEG_INFINITY;
    for tick in ticks {
        let x = scale.position_of(tick);
        layout.draw_vertical_line(canvas, if tick == 0.0 { "axis" } else { "grid" }, x, tops);
        let text = if tick == 0.0 { "0".into() } else { trim_zeros(format_time(tick)) };
        let half = text_width(&text, 11.5) / 2.0;
        let anchor = if layout.narrow && tick == 0.0 { Anchor::Start } else { Anchor::Middle };
        if x - half >= next_free && x + half <= layout.width {
            canvas.draw_text("m s", anchor, [x, bottom + 16.0], &text);
            next_free = x + half * if anchor == Anchor::Start { 2.0 } else { 1.0 } + 6.0;
        }
    }
    if !layout.narrow {
        canvas.draw_text("m s", Anchor::End, [layout.columns[0], 12.0], "median");
        if layout.columns[0] < layout.width {
            canvas.draw_text("m s", Anchor::End, [layout.columns[1], 12.0], "× baseline");
        }
    }
}

fn collect_legend_items(
    scenario: &ScenarioReport,
    bars: &[Bar],
    names: &Names,
    floor: Option<(&Entry, f64)>,
    memcpy_ns: Option<f64>,
    axis_limit: f64,
) -> Vec<(LegendSign, String)> {
    let has = |class: &str| bars.iter().any(|bar| bar.class == class);
    let mut items = vec![];
    if has("own") {
        items.push((LegendSign::Box("own"), "Icecore".to_owned()));
    }
    if let (true, Some(base)) = (has("base"), &scenario.baseline) {
        items.push((LegendSign::Box("base"), format!("the baseline, {}", names.display_name(base))));
    }
    if has("wrong") {
        items.push((LegendSign::Box("wrong"), "✗ the value read back differs: not ranked".into()));
    }
    items.push((LegendSign::Line("whisker"), "where the median lies (95 %)".into()));
    items.extend(floor.map(|(entry, ns)| {
        (LegendSign::Line("floor"), format!("floor: {}, {}", names.display_name(&entry.id), format_time(ns)))
    }));
    items.extend(memcpy_ns.map(|ns| (LegendSign::Line("roof"), format!("memcpy of the bytes, {}", format_time(ns)))));
    if bars.iter().any(|bar| bar.median.estimate > axis_limit) {
        items.push((LegendSign::Box("other"), "// cut off: too long to be drawn".into()));
    }
    items
}

fn describe_bars(bars: &[Bar], floor: Option<f64>) -> String {
    let list: Vec<String> =
        bars.iter().map(|bar| format!("{} {}", bar.label, format_time(bar.median.estimate))).collect();
    let floor = floor.map_or(String::new(), |ns| format!(" The values alone take {}.", format_time(ns)));
    format!("Bars of the median times, shorter is better: {}.{floor}", list.join(", "))
}
