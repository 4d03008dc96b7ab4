//! The legend below a chart.

use super::canvas::{Anchor, Canvas, estimate_text_width, fit_text};

/// A sign in the legend.
pub(super) enum LegendSign {
    Box(&'static str),
    Line(&'static str),
    Mark(String, usize),
}

/// Draws signs with their descriptions. Returns the height used.
pub(super) fn draw_legend(canvas: &mut Canvas, items: &[(LegendSign, String)], top: f64, max_width: f64) -> f64 {
    const FONT_SIZE: f64 = 11.5;
    /// The width of a sign, with the gaps around it.
    const SIGN_WIDTH: f64 = 26.0;
    let (mut x, mut y) = (0.0, top + 12.0);
    for (sign, text) in items {
        let text = fit_text(text, max_width - SIGN_WIDTH, FONT_SIZE);
        let item_width = SIGN_WIDTH + estimate_text_width(&text, FONT_SIZE);
        if x > 0.0 && x + item_width > max_width {
            (x, y) = (0.0, y + 19.0);
        }
        match sign {
            LegendSign::Box(class) => canvas.draw_rect(class, [x + 1.0, y - 9.0], [16.0, 10.0]),
            LegendSign::Line(class) => canvas.draw_line(class, [x, y - 4.0], [x + 18.0, y - 4.0]),
            LegendSign::Mark(class, shape) => canvas.draw_mark(class, *shape, [x + 9.0, y - 4.0], 4.5),
        }
        canvas.draw_text("m s", Anchor::Start, [x + 24.0, y], &text);
        x += item_width + 18.0;
    }
    if items.is_empty() { 0.0 } else { y - top + 8.0 }
}
