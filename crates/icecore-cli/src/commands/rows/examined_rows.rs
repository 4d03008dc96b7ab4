//! Determines the form and the encoding of an input from its beginning.

use super::args::Rows;
use crate::report::{Abort, usage_text_error};
use crate::source::Source;
use icecore::detect::Finding;
use icecore::format::Certainty;
use icecore_csv::DetectedDialect;
use icecore_tables::charset::CharsetArg;
use icecore_tables::packing::{HEAD_LEN, Head};
use icecore_tables::rows::TableForm;
use icecore_tables::unicode::{Decoder, WideEncoding};
use icecore_tables::{Error, csv};
use std::io::{self, Read};

/// An examined input.
pub struct ExaminedRows {
    /// The whole input, in UTF-8 if it is text.
    pub input: Box<dyn Read + Send>,
    pub form: TableForm,
    /// Dialect of a csv.
    pub csv: Option<DetectedDialect>,
    /// Whether the input was in UTF-16 or UTF-32, and is converted to UTF-8.
    pub was_wide: bool,
}

/// Number of bytes of a file that are examined before its form is guessed.
const MAX_FILE_HEAD_LEN: u64 = 1 << 20;

/// Examines an input that is not compressed, or already decompressed. `is_file` is true if it can be opened a second
/// time.
pub fn examine_input(
    args: &Rows,
    form: Option<TableForm>,
    input: Box<dyn Read + Send>,
    source: &Source,
    is_file: bool,
    name: &str,
) -> Result<ExaminedRows, Abort> {
    let is_form_known = match form {
        Some(TableForm::Csv) => args.csv.is_complete(),
        Some(_) => true,
        None => false,
    };
    let is_file = is_file && source.metadata().is_ok_and(|metadata| metadata.is_file());
    let max_head_len = args.window.unwrap_or(HEAD_LEN);
    // If nothing needs to be detected, rows are written at once, even if further input arrives slowly.
    let mut head = if is_form_known { Head::read_for_encoding(input) } else { Head::read_up_to(input, max_head_len) }
        .map_err(input_error)?;
    let wide_encoding = match (&args.charset, form) {
        (Some(CharsetArg::Wide(units)), _) => Some(WideEncoding::from_units(*units, &head.bytes)),
        (Some(CharsetArg::Single(charset)), _) => {
            let text = format!(
                "--charset {}: values are decoded as the bytes that they are; --charset takes UTF-8, UTF-16 and UTF-32 here",
                charset.name()
            );
            return Err(usage_text_error(text));
        }
        (Some(CharsetArg::Utf8), _) | (None, Some(TableForm::Parquet | TableForm::Arrow)) => None,
        (None, None) if TableForm::guess(name, &head).is_some_and(TableForm::has_columns) => None,
        (None, _) => WideEncoding::from_head(&head.bytes, head.is_complete),
    };
    if let Some(encoding) = wide_encoding {
        let text = Box::new(Decoder::new(head.input, encoding));
        head = if is_form_known { Head::read_for_encoding(text) } else { Head::read_up_to(text, max_head_len) }
            .map_err(input_error)?;
    }
    let form = form.or_else(|| TableForm::guess(name, &head));
    #[cfg(feature = "store")]
    if form.is_none() && crate::foreign_input::is_sqlite(&head.bytes) {
        return Err(super::tables::sqlite_file_error(name, is_file, &args.tables));
    }
    let form = form.ok_or_else(|| unknown_form_error(name, &head.bytes))?;
    let csv = match form {
        TableForm::Csv => {
            if is_file {
                head = head.extend_up_to(MAX_FILE_HEAD_LEN).map_err(input_error)?;
            }
            let reopen =
                || source.open_file().filter(|_| is_file).map(|file| open_text(file?, wide_encoding)).transpose();
            Some(csv::determine_dialect(args.csv.to_detector(), &head, reopen)?)
        }
        _ => None,
    };
    Ok(ExaminedRows { input: head.input, form, csv, was_wide: wide_encoding.is_some() })
}

/// Returns the text of a file from its beginning.
fn open_text(file: std::fs::File, wide_encoding: Option<WideEncoding>) -> io::Result<Box<dyn Read + Send>> {
    Ok(match wide_encoding {
        Some(encoding) => Box::new(Decoder::new(file, encoding)),
        None => Box::new(file),
    })
}

fn input_error(error: io::Error) -> Abort {
    Error::from_io(&error).into()
}

/// Returns the error for an input that is not detected as rows.
fn unknown_form_error(name: &str, head: &[u8]) -> Abort {
    if head.is_empty() {
        return usage_text_error("the input is empty, so the form of its rows can't be detected: use --in FORM");
    }
    let is_document = |finding: &Finding| finding.certainty == Certainty::Sure && finding.is_read;
    if let Some(finding) = icecore::detect::identify_head(head).filter(is_document) {
        let name = icecore::text::printable(name);
        return usage_text_error(format!(
            "this is a document ({}), not rows: `icecore convert {name}` reads it, and `icecore query -r '.[] | [.id, .name] | \
             @csv' {name}` makes a table of it",
            finding.name
        ));
    }
    usage_text_error(
        "the form of its rows can't be detected: use --in sql, csv, tsv, ndjson or another FORM of `icecore rows --help`",
    )
}
