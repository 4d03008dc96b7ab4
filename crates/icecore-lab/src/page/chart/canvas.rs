//! Writes the elements of an SVG.

use crate::page::view::make_printable;
use std::fmt::Write;

/// The elements drawn so far.
pub(super) struct Canvas(String);

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self(String::new())
    }

    /// Returns the elements.
    pub(super) fn into_elements(self) -> String {
        self.0
    }

    pub(super) fn draw_line(&mut self, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(format_coordinate);
        _ = write!(self.0, r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#);
    }

    pub(super) fn draw_rect(&mut self, class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2]) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(format_coordinate);
        _ = write!(self.0, r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#);
    }

    /// Draws a line through these points.
    pub(super) fn draw_path(&mut self, class: &str, points: &[[f64; 2]]) {
        let mut data = String::new();
        for (index, [x, y]) in points.iter().enumerate() {
            _ = write!(
                data,
                "{}{} {}",
                if index == 0 { "M" } else { "L" },
                format_coordinate(*x),
                format_coordinate(*y)
            );
        }
        if points.len() > 1 {
            _ = write!(self.0, r#"<path class="{class}" d="{data}"/>"#);
        }
    }

    /// Draws a mark in one of six shapes.
    pub(super) fn draw_mark(&mut self, class: &str, shape: usize, [x, y]: [f64; 2], radius: f64) {
        let corners: &[[f64; 2]] = match shape % 6 {
            0 => {
                let [x, y, radius] = [x, y, radius].map(format_coordinate);
                _ = write!(self.0, r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#);
                return;
            }
            1 => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
            2 => &[[0.0, -1.2], [1.1, 0.9], [-1.1, 0.9]],
            3 => &[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]],
            4 => &[[0.0, 1.2], [1.1, -0.9], [-1.1, -0.9]],
            _ => &[[-1.2, -0.5], [1.2, -0.5], [1.2, 0.5], [-1.2, 0.5]],
        };
        let points: Vec<String> = corners
            .iter()
            .map(|[dx, dy]| format!("{},{}", format_coordinate(x + dx * radius), format_coordinate(y + dy * radius)))
            .collect();
        _ = write!(self.0, r#"<polygon class="{class}" points="{}"/>"#, points.join(" "));
    }

    pub(super) fn draw_text(&mut self, class: &str, anchor: Anchor, [x, y]: [f64; 2], text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let [x, y] = [x, y].map(format_coordinate);
        _ = write!(self.0, r#"<text class="{class}" x="{x}" y="{y}"{anchor}>{}</text>"#, escape_markup(text));
    }

    /// Draws elements that belong together. The title appears when the pointer rests on them.
    pub(super) fn draw_group(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        _ = write!(self.0, "<g><title>{}</title>", escape_markup(title));
        draw(self);
        self.0 += "</g>";
    }
}

/// Formats a coordinate with one decimal place. A value that is not finite becomes 0.
pub(super) fn format_coordinate(value: f64) -> String {
    let rounded = if value.is_finite() { (value * 10.0).round() / 10.0 } else { 0.0 };
    if rounded == 0.0 { "0".into() } else { rounded.to_string() }
}

/// Escapes text for HTML and XML.
pub(in crate::page) fn escape_markup(text: &str) -> String {
    let mut out = String::new();
    for c in make_printable(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Estimates the width of a text. The estimate is more often too wide than too narrow.
pub(super) fn estimate_text_width(text: &str, size: f64) -> f64 {
    let width_of = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.44,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        'A'..='Z' => 0.74,
        '\0'..='\u{2ff}' => 0.62,
        _ => 1.0,
    };
    text.chars().map(width_of).sum::<f64>() * size
}

/// Returns the font size at which regular letters are as wide as the letters of a name. Icecore's names are bold.
pub(super) fn regular_font_size(size: f64, is_own: bool) -> f64 {
    if is_own { size * 1.08 } else { size }
}

/// Returns as much of a text as fits, with an ellipsis if something is left out.
pub(super) fn fit_text(text: &str, max_width: f64, size: f64) -> String {
    let text = make_printable(text);
    if estimate_text_width(&text, size) <= max_width {
        return text;
    }
    let mut out = String::new();
    for c in text.chars() {
        if estimate_text_width(&out, size) + estimate_text_width(&format!("{c}…"), size) > max_width {
            break;
        }
        out.push(c);
    }
    out.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(escape_markup("<script>\"'&\u{0}\u{ffff}"), "&lt;script&gt;&quot;&#39;&amp;\\u{0}\u{fffd}");
        assert_eq!(
            [1.04, f64::NAN, f64::INFINITY, -0.01].map(format_coordinate),
            ["1", "0", "0", "0"].map(String::from)
        );
    }

    #[test]
    fn long_names_are_shortened_to_their_width() {
        assert_eq!(fit_text("Sereal", 100.0, 13.0), "Sereal");
        let cut = fit_text("a name that is far too long", 100.0, 13.0);
        assert!(cut.ends_with('…') && estimate_text_width(&cut, 13.0) <= 100.0, "{cut}");
        assert_eq!(fit_text("abc", 0.0, 13.0), "…");
    }
}
