//! Tables in CSV, including its non-standard dialects.
//!
//! RFC 4180 describes one form of CSV; spreadsheets, PHP, Python and databases have others. A [`Dialect`] describes
//! how a file is written, [`detect_dialect()`] detects it, and [`Scanner`] finds the cells without decoding them. The
//! caller copies all bytes outside of cells.
//!
//! ```
//! use icecore_csv::{Cell, Dialect, Next, Scanner, detect_dialect};
//!
//! let file = b"id;name\n1;\"O'Neil; \"\"Bob\"\"\"\n";
//! let detected = detect_dialect(file, true, &mut |_| false).expect("one reading");
//! assert_eq!(detected.dialect.delimiter, b';');
//!
//! let scanner = Scanner::new(detected.dialect);
//! let mut cells = Vec::new();
//! let Next::Row { end } = scanner.next_row(file, true, &mut cells) else { panic!("a row") };
//! scanner.next_row(&file[end..], true, &mut cells);
//! let cell: &Cell = &cells[1];
//! assert_eq!(&*detected.dialect.decode_cell(cell, &file[end..]), b"O'Neil; \"Bob\"");
//! ```
//!
//! # Dialects
//!
//! | | written by | inside of quotes |
//! |---|---|---|
//! | [`Escape::Doubled`] | RFC 4180, spreadsheets, most programs | `""` is a quote |
//! | [`Escape::PhpFputcsv`] | `fputcsv` of PHP with its default escape | `""` is a quote; `\"` means itself |
//! | [`Escape::Backslash`] | MySQL's `INTO OUTFILE`, Spark, Python with `escapechar` | `\"` is a quote, `\\` a backslash |
#![forbid(unsafe_code)]

mod detect;
mod dialect;
mod scan;
mod write;

pub use detect::{DetectError, DetectedDialect, Detector, detect_dialect};
pub use dialect::{Cell, Dialect, Escape, LineEnd, Style};
pub use scan::{Next, Scanner};
pub use write::push_cell;
