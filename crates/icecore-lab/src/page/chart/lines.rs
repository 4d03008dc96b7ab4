//! Line charts, with the names of the curves at their right ends.

use super::canvas::{Anchor, Canvas, estimate_text_width as text_width, fit_text, regular_font_size};
use super::labels::spread_positions;
use super::legend::{LegendSign, draw_legend};
use super::scale::Scale;

/// One curve.
pub(super) struct Curve {
    pub(super) name: String,
    /// Color and mark: `0` to `5`; in the background, `d` for dashed curves and `x` for those without marks.
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

/// The axes of a chart, and its titles.
pub(super) struct ChartAxes<'a> {
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

impl Curve {
    fn mark_shape(&self) -> usize {
        self.style.to_digit(10).unwrap_or(0) as usize
    }
}

/// Draws the chart. Returns its height.
pub(super) fn draw_line_chart(canvas: &mut Canvas, axes: &ChartAxes, curves: &[Curve]) -> f64 {
    let (top, height) = (30.0, if axes.is_narrow { 230.0 } else { (curves.len() as f64 * 17.0).clamp(280.0, 420.0) });
    let bottom = top + height;
    // On a noisy machine, intervals may be so long that the curves would look flat. Such intervals are cut off.
    let whisker_ends = |point: &CurvePoint| {
        if axes.is_logarithmic {
            [point.low.max(point.y / 1.5), point.high.min(point.y * 1.5)]
        } else {
            [point.low, point.high]
        }
    };
    let values =
        || curves.iter().flat_map(|curve| &curve.points).flat_map(|point| [[point.y; 2], whisker_ends(point)].concat());
    let y = match axes.is_logarithmic {
        true => Scale::log(values(), 1.08, bottom, top),
        false => Scale::linear(values().map(|value| value * 1.04), bottom, top),
    };
    let ticks = y.choose_ticks(if axes.is_narrow { 5 } else { 7 });
    let left = ticks.iter().map(|tick| text_width(&(axes.format_value)(*tick), 11.5)).fold(0.0, f64::max) + 8.0;
    let names = curves
        .iter()
        .map(|curve| text_width(&curve.name, regular_font_size(12.5, curve.is_icecore)))
        .fold(0.0, f64::max);
    // In narrow charts, the names are below.
    let right = if axes.is_narrow { axes.width - 10.0 } else { axes.width - (names + 30.0).min(axes.width * 0.33) };
    for tick in ticks {
        canvas.draw_line("grid", [left, y.position_of(tick)], [right, y.position_of(tick)]);
        canvas.draw_text("m s num", Anchor::End, [left - 6.0, y.position_of(tick) + 4.0], &(axes.format_value)(tick));
    }
    canvas.draw_text("m s", Anchor::Start, [0.0, 12.0], &fit_text(axes.titles[0], axes.width, 11.5));
    let x = draw_horizontal_axis(canvas, axes, curves, [left, right], bottom);
    // Curves in the background are drawn first.
    for is_background in [true, false] {
        curves
            .iter()
            .filter(|curve| matches!(curve.style, 'x' | 'd') == is_background)
            .for_each(|curve| draw_curve(canvas, axes, curve, &x, &y));
    }
    let mut chart_bottom = bottom + 20.0;
    if !axes.titles[1].is_empty() {
        canvas.draw_text("m s", Anchor::Middle, [(left + right) / 2.0, bottom + 36.0], axes.titles[1]);
        chart_bottom += 22.0;
    }
    if axes.is_narrow {
        let sign =
            |curve: &Curve| (LegendSign::Mark(format!("p{}", curve.style), curve.mark_shape()), curve.name.clone());
        chart_bottom += 6.0;
        chart_bottom += draw_legend(canvas, &curves.iter().map(sign).collect::<Vec<_>>(), chart_bottom, axes.width);
    } else {
        chart_bottom =
            chart_bottom.max(draw_names_at_ends(canvas, curves, &x, &y, [right, axes.width], [top, bottom]) + 8.0);
    }
    chart_bottom
}

/// Draws the horizontal axis.
fn draw_horizontal_axis(
    canvas: &mut Canvas,
    axes: &ChartAxes,
    curves: &[Curve],
    [left, right]: [f64; 2],
    bottom: f64,
) -> Scale {
    canvas.draw_line("axis", [left, bottom], [right, bottom]);
    if !axes.steps.is_empty() {
        let last = (axes.steps.len() - 1).max(1) as f64;
        let step_width = (right - left) / last;
        let half = (step_width / 2.0).min(40.0);
        let scale = Scale::linear([last], left + half, right - 4.0);
        for (index, step) in axes.steps.iter().enumerate() {
            let anchor = if index == axes.steps.len() - 1 && index > 0 { Anchor::End } else { Anchor::Middle };
            canvas.draw_text(
                "m s",
                anchor,
                [scale.position_of(index as f64), bottom + 16.0],
                &fit_text(step, step_width * 0.9, 11.5),
            );
        }
        return scale;
    }
    let scale =
        Scale::log(curves.iter().flat_map(|curve| &curve.points).map(|point| point.x), 1.0, left + 10.0, right - 4.0);
    let mut next_free = f64::NEG_INFINITY;
    for tick in scale.choose_ticks(if axes.is_narrow { 5 } else { 9 }) {
        let (tick_x, text) = (scale.position_of(tick), (axes.format_count)(tick));
        let half = text_width(&text, 11.5) / 2.0;
        canvas.draw_line("axis", [tick_x, bottom], [tick_x, bottom + 4.0]);
        if tick_x - half > next_free && tick_x + half < axes.width {
            canvas.draw_text("m s num", Anchor::Middle, [tick_x, bottom + 17.0], &text);
            next_free = tick_x + half + 8.0;
        }
    }
    scale
}

fn draw_curve(canvas: &mut Canvas, axes: &ChartAxes, curve: &Curve, x: &Scale, y: &Scale) {
    let to_position = |point: &CurvePoint| [x.position_of(point.x), y.position_of(point.y)];
    canvas.draw_group(&curve.name, |canvas| {
        canvas.draw_path(
            &format!("l{}{}", curve.style, if curve.is_icecore { " thick" } else { "" }),
            &curve.points.iter().map(to_position).collect::<Vec<_>>(),
        );
        for point in &curve.points {
            let [point_x, _] = to_position(point);
            if point.low.is_finite() && point.high.is_finite() && point.high > point.low {
                canvas.draw_line(
                    &format!("l{} thin", curve.style),
                    [point_x, y.position_of(point.low)],
                    [point_x, y.position_of(point.high)],
                );
            }
        }
        // If places are close together, marks for all of them would hide the curve.
        let step = (curve.points.len() / if axes.is_narrow { 10 } else { 20 }).max(1);
        if curve.style != 'x' {
            let class = format!("p{}", curve.style);
            curve
                .points
                .iter()
                .step_by(step)
                .for_each(|point| canvas.draw_mark(&class, curve.mark_shape(), to_position(point), 4.0));
        } else if curve.points.len() == 1 {
            canvas.draw_mark("px", 0, to_position(&curve.points[0]), 3.0);
        }
    });
}

/// Draws names next to the last dots. Returns the lowest position used.
fn draw_names_at_ends(
    canvas: &mut Canvas,
    curves: &[Curve],
    x: &Scale,
    y: &Scale,
    [right, width]: [f64; 2],
    [top, bottom]: [f64; 2],
) -> f64 {
    let ends: Vec<_> = curves.iter().filter_map(|curve| Some((curve, curve.points.last()?))).collect();
    let preferred: Vec<f64> = ends.iter().map(|(_, point)| y.position_of(point.y)).collect();
    // The gap is the height of a line of text. If there are too many names, they continue below the axis.
    let low = bottom.max(top + 16.0 * (ends.len().max(1) - 1) as f64);
    let label_positions = spread_positions(&preferred, 16.0, top, low);
    for ((curve, point), label_y) in ends.iter().zip(&label_positions) {
        let curve_end = [x.position_of(point.x) + 5.0, y.position_of(point.y)];
        if (curve_end[1] - label_y).abs() > 2.0 || curve_end[0] < right - 6.0 {
            canvas.draw_path("leader", &[curve_end, [right + 8.0, *label_y], [right + 12.0, *label_y]]);
        }
        let class = if curve.is_icecore { "t lab strong" } else { "t lab" };
        canvas.draw_mark(&format!("p{}", curve.style), curve.mark_shape(), [right + 17.0, *label_y], 3.5);
        canvas.draw_text(
            class,
            Anchor::Start,
            [right + 25.0, label_y + 4.0],
            &fit_text(&curve.name, width - right - 26.0, regular_font_size(12.5, curve.is_icecore)),
        );
    }
    label_positions.iter().copied().fold(bottom, f64::max)
}
