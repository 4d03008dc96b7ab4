//! Presents a [`Report`](crate::model::Report). Nothing here measures.
//!
//! [`text`] is for a terminal, [`markdown`] and [`csv`] are for files, [`html`] is one self-contained page, [`svg`] is
//! one chart of it, and [`performance`] is the text of `docs/performance.md`.

mod chart;
mod csv;
mod html;
mod markdown;
mod matrix;
pub mod number;
mod performance;
mod ranking;
pub mod table;
mod tables;
mod text;
mod view;
pub mod words;

pub use chart::{Kind, charts, kinds, svg};
pub use csv::{csv, csv_safe};
pub use html::html;
pub use icecore::text::is_formula;
pub use markdown::markdown;
pub use performance::{Beside, performance, readme, readme_chart};
pub use ranking::ranking;
pub use text::text;

/// Style of [`text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether signs and headings have colors: for a terminal, not for a file.
    pub color: bool,
    /// Number of columns that may be used.
    pub width: usize,
    /// Whether everything is shown at each size, not only at the largest.
    pub full: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: 108, full: false }
    }
}
