//! Presents a [`Report`](crate::model::Report). Nothing here measures.
//!
//! [`render_text`] is for a terminal, [`render_markdown`] and [`render_csv`] are for files, [`render_html`] is one
//! self-contained page, [`render_svg`] is one chart of it, and [`render_performance`] is the text of
//! `docs/performance.md`.

mod chart;
mod comparison_matrix;
mod csv;
mod html;
mod markdown;
pub mod number;
mod performance;
mod ranking;
mod shared_tables;
pub mod table;
mod text;
mod view;
pub mod words;

pub use chart::{ChartKind, list_chart_kinds, render_charts, render_svg};
pub use csv::{render_csv, render_safe_csv};
pub use html::render_html;
pub use icecore::text::is_formula;
pub use markdown::render_markdown;
pub use performance::{SeparateRun, render_performance, render_readme, render_readme_chart};
pub use ranking::render_ranking;
pub use text::render_text;

/// Style of [`render_text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether signs and headings have colors. This is for a terminal, not for a file.
    pub color: bool,
    /// Maximum length of a line in characters.
    pub width: usize,
    /// Whether everything is shown for each size, and not only for the largest one.
    pub full: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: 108, full: false }
    }
}
