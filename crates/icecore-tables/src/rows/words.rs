//! How rows are written, and what becomes of their values: the words of the command line.

use super::columnar::Container;
use crate::form;
use crate::packing::Head;

/// How rows are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum TableForm {
    /// A dump of MySQL, PostgreSQL or SQLite, with the rows of its tables
    Sql,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// Values between tabs, without quotes and escapes
    Tsv,
    /// What `mysql -B` and SELECT … INTO OUTFILE write
    Mysql,
    /// What PostgreSQL's COPY … TO writes
    Pgcopy,
    /// A JSON object a line
    Ndjson,
    /// Each line is a value
    Lines,
    /// A file of Parquet
    Parquet,
    /// A file or a stream of Arrow
    Arrow,
    /// The rows of a query, as the command writes them itself
    #[cfg_attr(feature = "clap", value(skip))]
    Database,
}

impl TableForm {
    /// Whether it has columns with types, and is not text.
    pub fn has_columns(self) -> bool {
        matches!(self, TableForm::Parquet | TableForm::Arrow)
    }

    /// Of an input that nobody said it of, by its name and its first bytes.
    pub fn guess(name: &str, head: &Head) -> Option<TableForm> {
        if let Some(container) = Container::guess(name, &head.bytes) {
            return Some(if container == Container::Parquet { TableForm::Parquet } else { TableForm::Arrow });
        }
        match form::InputForm::guess(name, &head.bytes, head.is_all)? {
            form::InputForm::Sql => Some(TableForm::Sql),
            form::InputForm::Csv => Some(TableForm::Csv),
            form::InputForm::Tsv => Some(TableForm::Tsv),
            form::InputForm::Ndjson => Some(TableForm::Ndjson),
            // An object, or one a line.
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

/// What becomes of a value that can't be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnError {
    /// It stays as it is; if it begins as frozen data, NAME_error says what is wrong
    Keep,
    /// It becomes null, and NAME_error says why
    Null,
    /// Its row is left out
    Skip,
    /// The command stops there
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
    /// They are not undone
    No,
}

/// Which bytes the characters of a JSON string are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Text {
    /// Those of UTF-8
    Utf8,
    /// One for each, up to U+00FF
    Latin1,
}
