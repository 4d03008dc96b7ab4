//! Charts as SVG: drawn twice in the page, for wide windows and for narrow ones, or once as a separate file.

mod bars;
mod canvas;
mod growth;
mod labels;
mod legend;
mod lines;
mod looks;
mod memory;
mod scale;
mod scatter;
mod style;

pub(super) use canvas::escape;
pub(super) use style::CSS;

use super::view::{Names, groups, operations, shown};
use crate::model::{Operation, Report, ScenarioReport};
use canvas::{Anchor, Canvas};
use std::fmt;

/// Width of a chart for wide windows, and for narrow ones.
pub(super) const WIDE: f64 = 840.0;
pub(super) const NARROW: f64 = 350.0;

/// Kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Times of an operation at the largest size.
    Bars(Operation),
    /// Growth of the time of an operation with the size.
    Growth(Operation),
    /// Bytes against time, at the largest size.
    Size,
    /// Resident memory, step by step, at the largest size.
    Memory,
}

impl fmt::Display for Kind {
    /// Writes a name that is suitable for files: `bars-read`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bars(operation) => write!(f, "bars-{operation}"),
            Kind::Growth(operation) => write!(f, "growth-{operation}"),
            Kind::Size => f.write_str("size"),
            Kind::Memory => f.write_str("memory"),
        }
    }
}

/// Returns all charts of a report, in the form of [`svg`], each with a file name such as `perl-mix-bars-read`.
pub fn charts(report: &Report) -> Vec<(String, String)> {
    let one =
        |(scenario, kind): (&str, Kind)| Some((format!("{}-{kind}", slug(scenario)), svg(report, scenario, kind)?));
    kinds(report).into_iter().filter_map(one).collect()
}

/// Returns the charts that a report has: the name of the scenario, and the kind.
pub fn kinds(report: &Report) -> Vec<(&str, Kind)> {
    let all = |scenario: &ScenarioReport| {
        let mut kinds: Vec<Kind> = operations(scenario).into_iter().map(Kind::Bars).collect();
        kinds.extend(operations(scenario).into_iter().map(Kind::Growth));
        kinds.extend([Kind::Size, Kind::Memory]);
        kinds.into_iter().filter(|kind| drawing(scenario, *kind).is_some()).collect::<Vec<_>>()
    };
    report.scenarios.iter().flat_map(|s| all(s).into_iter().map(|kind| (s.name.as_str(), kind))).collect()
}

/// Returns one chart as a self-contained SVG that adapts to light and dark mode. Returns `None` if the report has no
/// such scenario, or nothing to show for it.
pub fn svg(report: &Report, scenario: &str, kind: Kind) -> Option<String> {
    let drawn = report.scenarios.iter().filter(|s| s.name == scenario).find_map(|s| drawing(s, kind))?;
    Some(drawn.standalone(&format!("{}-{kind}", slug(scenario))))
}

/// Draws a chart, at the largest size of the last curve.
fn drawing(scenario: &ScenarioReport, kind: Kind) -> Option<Drawing> {
    let names = Names::new(scenario);
    let point = shown(scenario, false).pop();
    match kind {
        Kind::Bars(operation) => bars::draw(scenario, point?, operation, &names, WIDE),
        Kind::Growth(operation) => growth::draw(scenario, groups(scenario).last()?, operation, &names, WIDE),
        Kind::Size => scatter::draw(scenario, point?, &names, WIDE),
        Kind::Memory => memory::draw(scenario, point?, &names, WIDE),
    }
}

pub(super) use bars::draw as bars;
pub(super) use growth::draw as growth;
pub(super) use memory::draw as memory;
pub(super) use scatter::draw as scatter;

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
    pub(super) fn inline(&self, id: &str, class: &str) -> String {
        let size = format!(r#"class="chart {class}" viewBox="0 0 {} {}""#, self.width, canvas::number(self.height));
        format!("<svg {size} {}>{}{}</svg>", labelled(id), self.words(id), self.body)
    }

    /// Returns the chart as a file.
    fn standalone(&self, id: &str) -> String {
        let (width, height) = (self.width + 32.0, canvas::number(self.height + 60.0));
        let mut head = Canvas::new();
        head.rect("paper", [0.0, 0.0], [width, self.height + 60.0]);
        head.text("t head", Anchor::Start, [16.0, 28.0], &canvas::fit(&self.title, width - 32.0, 16.0));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" {}>{}<style>{CSS}</style>{}<g transform=\"translate(16 44)\">{}</g></svg>\n",
            labelled(id),
            self.words(id),
            head.done(),
            self.body
        )
    }

    fn words(&self, id: &str) -> String {
        let (title, about) = (escape(&self.title), escape(&self.about));
        format!(r#"<title id="{id}-t">{title}</title><desc id="{id}-d">{about}</desc>"#)
    }
}

fn labelled(id: &str) -> String {
    format!(r#"role="img" aria-labelledby="{id}-t {id}-d""#)
}

/// Returns a name that is suitable for an id or a file.
pub(super) fn slug(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}
