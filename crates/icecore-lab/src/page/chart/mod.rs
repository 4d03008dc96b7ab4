//! Charts as SVG. They are drawn twice in the page, for wide and for narrow windows, or once as a separate file.

mod bars;
mod canvas;
mod curve_styles;
mod growth;
mod labels;
mod legend;
mod lines;
mod memory;
mod scale;
mod scatter;
mod style;

pub(super) use canvas::escape_markup;
pub(super) use style::CSS;

use super::view::{Names, group_points, measured_operations, select_shown_points};
use crate::model::{Operation, Report, ScenarioReport};
use canvas::{Anchor, Canvas};
use std::fmt;

/// Width of a chart for wide windows.
pub(super) const WIDE: f64 = 840.0;
/// Width of a chart for narrow windows.
pub(super) const NARROW: f64 = 350.0;

/// Kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChartKind {
    /// Times of an operation at the largest size.
    Bars(Operation),
    /// Growth of the time of an operation with the size.
    Growth(Operation),
    /// Bytes against time, at the largest size.
    Size,
    /// Resident memory, step by step, at the largest size.
    Memory,
}

impl fmt::Display for ChartKind {
    /// Writes a name that is suitable for files: `bars-read`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChartKind::Bars(operation) => write!(f, "bars-{operation}"),
            ChartKind::Growth(operation) => write!(f, "growth-{operation}"),
            ChartKind::Size => f.write_str("size"),
            ChartKind::Memory => f.write_str("memory"),
        }
    }
}

/// Returns all charts of a report, in the form of [`render_svg`], each with a file name such as `perl-mix-bars-read`.
pub fn render_charts(report: &Report) -> Vec<(String, String)> {
    let render_chart = |(scenario, kind): (&str, ChartKind)| {
        Some((format!("{}-{kind}", make_slug(scenario)), render_svg(report, scenario, kind)?))
    };
    list_chart_kinds(report).into_iter().filter_map(render_chart).collect()
}

/// Returns the charts that a report has: the name of the scenario, and the kind.
pub fn list_chart_kinds(report: &Report) -> Vec<(&str, ChartKind)> {
    let kinds_of_scenario = |scenario: &ScenarioReport| {
        let mut kinds: Vec<ChartKind> = measured_operations(scenario).into_iter().map(ChartKind::Bars).collect();
        kinds.extend(measured_operations(scenario).into_iter().map(ChartKind::Growth));
        kinds.extend([ChartKind::Size, ChartKind::Memory]);
        kinds.into_iter().filter(|kind| draw_chart(scenario, *kind).is_some()).collect::<Vec<_>>()
    };
    report
        .scenarios
        .iter()
        .flat_map(|scenario| kinds_of_scenario(scenario).into_iter().map(|kind| (scenario.name.as_str(), kind)))
        .collect()
}

/// Returns one chart as a self-contained SVG that adapts to light and dark mode. Returns `None` if the report has no
/// such scenario, or nothing to show for it.
pub fn render_svg(report: &Report, scenario_name: &str, kind: ChartKind) -> Option<String> {
    let drawing = report
        .scenarios
        .iter()
        .filter(|scenario| scenario.name == scenario_name)
        .find_map(|scenario| draw_chart(scenario, kind))?;
    Some(drawing.render_standalone(&format!("{}-{kind}", make_slug(scenario_name))))
}

/// Draws a chart, at the largest size of the last curve.
fn draw_chart(scenario: &ScenarioReport, kind: ChartKind) -> Option<Drawing> {
    let names = Names::new(scenario);
    let point = select_shown_points(scenario).pop();
    match kind {
        ChartKind::Bars(operation) => bars::draw_bars(scenario, point?, operation, &names, WIDE),
        ChartKind::Growth(operation) => {
            growth::draw_growth(scenario, group_points(scenario).last()?, operation, &names, WIDE)
        }
        ChartKind::Size => scatter::draw_scatter(scenario, point?, &names, WIDE),
        ChartKind::Memory => memory::draw_memory(scenario, point?, &names, WIDE),
    }
}

pub(super) use bars::draw_bars as bars;
pub(super) use growth::draw_growth as growth;
pub(super) use memory::draw_memory as memory;
pub(super) use scatter::draw_scatter as scatter;

/// A chart without its frame.
pub(super) struct Drawing {
    pub(super) title: String,
    /// Description in text, for readers who can't see the picture.
    pub(super) about: String,
    width: f64,
    height: f64,
    body: String,
}

impl Drawing {
    /// Returns the chart as a part of a page that contains the style. The id must be unique in the page.
    pub(super) fn render_inline(&self, id: &str, class: &str) -> String {
        let size =
            format!(r#"class="chart {class}" viewBox="0 0 {} {}""#, self.width, canvas::format_coordinate(self.height));
        format!("<svg {size} {}>{}{}</svg>", label_attributes(id), self.render_description(id), self.body)
    }

    /// Returns the chart as a file.
    fn render_standalone(&self, id: &str) -> String {
        let (width, height) = (self.width + 32.0, canvas::format_coordinate(self.height + 60.0));
        let mut head = Canvas::new();
        head.draw_rect("paper", [0.0, 0.0], [width, self.height + 60.0]);
        head.draw_text("t head", Anchor::Start, [16.0, 28.0], &canvas::fit_text(&self.title, width - 32.0, 16.0));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" {}>{}<style>{CSS}</style>{}<g transform=\"translate(16 44)\">{}</g></svg>\n",
            label_attributes(id),
            self.render_description(id),
            head.into_elements(),
            self.body
        )
    }

    fn render_description(&self, id: &str) -> String {
        let (title, about) = (escape_markup(&self.title), escape_markup(&self.about));
        format!(r#"<title id="{id}-t">{title}</title><desc id="{id}-d">{about}</desc>"#)
    }
}

fn label_attributes(id: &str) -> String {
    format!(r#"role="img" aria-labelledby="{id}-t {id}-d""#)
}

/// Returns a name that is suitable for an id or a file.
pub(super) fn make_slug(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}
