//! Line charts, with the names of the curves at their right ends.

use super::canvas::{Anchor, Canvas, estimate_text_width as text_width, fit_text, regular_font_size};
use super::labels::spread_positions;
use super::legend::{LegendSign, draw_legend};
use super::scale::Scale;

/// One curve.
pub(super) struct Series {
    pub(super) name: String,
    /// Color and shape: `0` to `5`, `x` for curves in the background, `d` for dashed ones.
    pub(super) style: char,
    /// Whether the curve is Icecore's, which is emphasized.
    pub(super) is_icecore: bool,
    pub(super) points: Vec<CurvePoint>,
}

/// A point of a curve, with the ends of its interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurvePoint {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Axes and titles around curves.
pub(super) struct Frame<'a> {
    pub(super) width: f64,
    pub(super) is_narrow: bool,
    /// Titles above the vertical axis and below the horizontal one.
    pub(super) titles: [&'a str; 2],
    /// Whether the vertical axis is logarithmic.
    pub(super) is_logarithmic: bool,
    /// Names of places on the horizontal axis. If there are none, the axis is logarithmic, with numbers.
    pub(super) steps: &'a [String],
    pub(super) format_value: &'a dyn Fn(f64) -> String,
    pub(super) format_count: &'a dyn Fn(f64) -> String,
}

impl Series {
    fn mark_shape(&self) -> usize {
        self.style.to_digit(10).unwrap_or(0) as usize
    }
}

/// Draws the chart. Returns its height.
pub(super) fn draw_line_chart(canvas: &mut Canvas, frame: &Frame, series: &[Series]) -> f64 {
    let (top, height) = (30.0, if frame.is_narrow { 230.0 } else { (series.len() as f64 * 17.0).clamp(280.0, 420.0) });
    let bottom = top + height;
    // On a noisy machine, intervals may be so long that the curves would look flat. Such intervals are cut off.
    let whisker_ends = |d: &CurvePoint| {
        if frame.is_logarithmic { [d.low.max(d.y / 1.5), d.high.min(d.y * 1.5)] } else { [d.low, d.high] }
    };
    let values = || series.iter().flat_map(|s| &s.points).flat_map(|d| [[d.y; 2], whisker_ends(d)].concat());
    let y = match frame.is_logarithmic {
        true => Scale::log(values(), 1.08, bottom, top),
        false => Scale::linear(values().map(|v| v * 1.04), bottom, top),
    };
    let ticks = y.choose_ticks(if frame.is_narrow { 5 } else { 7 });
    let left = ticks.iter().map(|t| text_width(&(frame.format_value)(*t), 11.5)).fold(0.0, f64::max) + 8.0;
    let names = series.iter().map(|s| text_width(&s.name, regular_font_size(12.5, s.is_icecore))).fold(0.0, f64::max);
    // In narrow charts, the names are below.
    let right = if frame.is_narrow { frame.width - 10.0 } else { frame.width - (names + 30.0).min(frame.width * 0.33) };
    for tick in ticks {
        canvas.draw_line("grid", [left, y.position_of(tick)], [right, y.position_of(tick)]);
        canvas.draw_text("m s num", Anchor::End, [left - 6.0, y.position_of(tick) + 4.0], &(frame.format_value)(tick));
    }
    canvas.draw_text("m s", Anchor::Start, [0.0, 12.0], &fit_text(frame.titles[0], frame.width, 11.5));
    let x = draw_horizontal_axis(canvas, frame, series, [left, right], bottom);
    // Curves in the background are drawn first.
    for is_background in [true, false] {
        series
            .iter()
            .filter(|s| matches!(s.style, 'x' | 'd') == is_background)
            .for_each(|s| draw_curve(canvas, frame, s, &x, &y));
    }
    let mut chart_bottom = bottom + 20.0;
    if !frame.titles[1].is_empty() {
        canvas.draw_text("m s", Anchor::Middle, [(left + right) / 2.0, bottom + 36.0], frame.titles[1]);
        chart_bottom += 22.0;
    }
    if frame.is_narrow {
        let sign = |s: &Series| (LegendSign::Mark(format!("p{}", s.style), s.mark_shape()), s.name.clone());
        chart_bottom += 6.0;
        chart_bottom += draw_legend(canvas, &series.iter().map(sign).collect::<Vec<_>>(), chart_bottom, frame.width);
    } else {
        chart_bottom =
            chart_bottom.max(draw_names_at_ends(canvas, series, &x, &y, [right, frame.width], [top, bottom]) + 8.0);
    }
    chart_bottom
}

/// Draws the horizontal axis.
fn draw_horizontal_axis(
    canvas: &mut Canvas,
    frame: &Frame,
    series: &[Series],
    [left, right]: [f64; 2],
    bottom: f64,
) -> Scale {
    canvas.draw_line("axis", [left, bottom], [right, bottom]);
    if !frame.steps.is_empty() {
        let last = (frame.steps.len() - 1).max(1) as f64;
        let step_width = (right - left) / last;
        let half = (step_width / 2.0).min(40.0);
        let scale = Scale::linear([last], left + half, right - 4.0);
        for (i, step) in frame.steps.iter().enumerate() {
            let anchor = if i == frame.steps.len() - 1 && i > 0 { Anchor::End } else { Anchor::Middle };
            canvas.draw_text(
                "m s",
                anchor,
                [scale.position_of(i as f64), bottom + 16.0],
                &fit_text(step, step_width * 0.9, 11.5),
            );
        }
        return scale;
    }
    let scale = Scale::log(series.iter().flat_map(|s| &s.points).map(|d| d.x), 1.0, left + 10.0, right - 4.0);
    let mut next_free = f64::NEG_INFINITY;
    for tick in scale.choose_ticks(if frame.is_narrow { 5 } else { 9 }) {
        let (tick_x, text) = (scale.position_of(tick), (frame.format_count)(tick));
        let half = text_width(&text, 11.5) / 2.0;
        canvas.draw_line("axis", [tick_x, bottom], [tick_x, bottom + 4.0]);
        if tick_x - half > next_free && tick_x + half < frame.width {
            canvas.draw_text("m s num", Anchor::Middle, [tick_x, bottom + 17.0], &text);
            next_free = tick_x + half + 8.0;
        }
    }
    scale
}

fn draw_curve(canvas: &mut Canvas, frame: &Frame, series: &Series, x: &Scale, y: &Scale) {
    let to_position = |d: &CurvePoint| [x.position_of(d.x), y.position_of(d.y)];
    canvas.draw_group(&series.name, |canvas| {
        canvas.draw_path(
            &format!("l{}{}", series.style, if series.is_icecore { " thick" } else { "" }),
            &series.points.iter().map(to_position).collect::<Vec<_>>(),
        );
        for dot in &series.points {
            let [point_x, _] = to_position(dot);
            if dot.low.is_finite() && dot.high.is_finite() && dot.high > dot.low {
                canvas.draw_line(
                    &format!("l{} thin", series.style),
                    [point_x, y.position_of(dot.low)],
                    [point_x, y.position_of(dot.high)],
                );
            }
        }
        // If places are close together, marks for all of them would hide the curve.
        let step = (series.points.len() / if frame.is_narrow { 10 } else { 20 }).max(1);
        if series.style != 'x' {
            let class = format!("p{}", series.style);
            series
                .points
                .iter()
                .step_by(step)
                .for_each(|d| canvas.draw_mark(&class, series.mark_shape(), to_position(d), 4.0));
        } else if series.points.len() == 1 {
            canvas.draw_mark("px", 0, to_position(&series.points[0]), 3.0);
        }
    });
}

/// Draws names next to the last dots. Returns the lowest position used.
fn draw_names_at_ends(
    canvas: &mut Canvas,
    series: &[Series],
    x: &Scale,
    y: &Scale,
    [right, width]: [f64; 2],
    [top, bottom]: [f64; 2],
) -> f64 {
    let ends: Vec<_> = series.iter().filter_map(|s| Some((s, s.points.last()?))).collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, d)| y.position_of(d.y)).collect();
    // The gap is the height of a line of text. If there are too many names, they continue below the axis.
    let low = bottom.max(top + 16.0 * (ends.len().max(1) - 1) as f64);
    let label_positions = spread_positions(&wanted, 16.0, top, low);
    for ((series, dot), label_y) in ends.iter().zip(&label_positions) {
        let curve_end = [x.position_of(dot.x) + 5.0, y.position_of(dot.y)];
        if (curve_end[1] - label_y).abs() > 2.0 || curve_end[0] < right - 6.0 {
            canvas.draw_path("leader", &[curve_end, [right + 8.0, *label_y], [right + 12.0, *label_y]]);
        }
        let class = if series.is_icecore { "t lab strong" } else { "t lab" };
        canvas.draw_mark(&format!("p{}", series.style), series.mark_shape(), [right + 17.0, *label_y], 3.5);
        canvas.draw_text(
            class,
            Anchor::Start,
            [right + 25.0, label_y + 4.0],
            &fit_text(&series.name, width - right - 26.0, regular_font_size(12.5, series.is_icecore)),
        );
    }
    label_positions.iter().copied().fold(bottom, f64::max)
}
