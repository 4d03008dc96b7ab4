//! Legend below a chart.

use super::canvas::{Anchor, Canvas, fit, width};

/// A sign in the legend.
pub(super) enum Sign {
    Box(&'static str),
    Line(&'static str),
    Mark(String, usize),
}

/// Draws signs with their descriptions. Returns the height used.
pub(super) fn legend(canvas: &mut Canvas, items: &[(Sign, String)], top: f64, room: f64) -> f64 {
    const SIZE: f64 = 11.5;
    let (mut x, mut y) = (0.0, top + 12.0);
    for (sign, text) in items {
        let text = fit(text, room - 26.0, SIZE);
        let all = 26.0 + width(&text, SIZE);
        if x > 0.0 && x + all > room {
            (x, y) = (0.0, y + 19.0);
        }
        match sign {
            Sign::Box(class) => canvas.rect(class, [x + 1.0, y - 9.0], [16.0, 10.0]),
            Sign::Line(class) => canvas.line(class, [x, y - 4.0], [x + 18.0, y - 4.0]),
            Sign::Mark(class, shape) => canvas.mark(class, *shape, [x + 9.0, y - 4.0], 4.5),
        }
        canvas.text("m s", Anchor::Start, [x + 24.0, y], &text);
        x += all + 18.0;
    }
    if items.is_empty() { 0.0 } else { y - top + 8.0 }
}
