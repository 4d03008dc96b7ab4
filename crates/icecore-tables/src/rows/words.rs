//! Words of the command line: how rows are written, and how values are treated.

use super::columnar::Container;
use crate::form;
use crate::packing::Head;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum TableForm {
    /// Dump of MySQL, PostgreSQL or SQLite, with the rows of its tables
    Sql,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// Tab-separated values, without quotes and escapes
    Tsv,
    /// Output of `mysql -B` and SELECT … INTO OUTFILE
    Mysql,
    /// Output of PostgreSQL's COPY … TO
    Pgcopy,
    /// One JSON object per line
    Ndjson,
    /// One value per line
    Lines,
    /// Parquet file
    Parquet,
    /// Arrow file or stream
    Arrow,
    /// The rows of a query, as the command itself writes them
    #[cfg_attr(feature = "clap", value(skip))]
    Database,
}

impl TableForm {
    /// Returns whether the form has columns with types, and is not text.
    pub fn has_columns(self) -> bool {
        matches!(self, TableForm::Parquet | TableForm::Arrow)
    }

    /// Guesses the form of an input by its name and its first bytes.
    pub fn guess(name: &str, head: &Head) -> Option<TableForm> {
        if let Some(container) = Container::guess(name, &head.bytes) {
            return Some(if container == Container::Parquet { TableForm::Parquet } else { TableForm::Arrow });
        }
        match form::InputForm::guess(name, &head.bytes, head.is_complete)? {
            form::InputForm::Sql => Some(TableForm::Sql),
            form::InputForm::Csv => Some(TableForm::Csv),
            form::InputForm::Tsv => Some(TableForm::Tsv),
            form::InputForm::Ndjson => Some(TableForm::Ndjson),
            // A single object, or one object per line.
            form::InputForm::Document(stage)
                if stage.wrappers().is_empty()
                    && [form::JSON, form::NDJSON].contains(&stage.format().name)
                    && head.bytes.starts_with(b"{") =>
            {
                Some(TableForm::Ndjson)
            }
            _ => None,
        }
    }
}

/// How a value that can't be decoded is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnError {
    /// Keep the value; if it is damaged frozen data, compressed data or JSON, NAME_error contains the error
    Keep,
    /// Replace the value with null; NAME_error contains the error
    Null,
    /// Leave out the row
    Skip,
    /// Stop the command
    Stop,
}

/// How bytea values of PostgreSQL are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Bytea {
    /// `\x6869`, as PostgreSQL writes since 9.0
    Hex,
    /// `hi\000`, as `bytea_output = escape` writes
    Escape,
    /// Do not decode bytea values
    No,
}

/// Which bytes the characters of a JSON string represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Text {
    /// Bytes of their UTF-8 encoding
    Utf8,
    /// One byte for each character, up to U+00FF
    Latin1,
}
