//! The command line of `rows`.

use super::target;
use crate::arguments::{DEFAULT_TARGET, Global};
use crate::csv_style::CsvStyle;
#[cfg(feature = "store")]
use crate::database::Database;
use crate::limits;
use crate::report::Abort;
use crate::target::OutputPlace;
use clap::{Args, ValueHint};
use icecore::Limits;
use icecore_tables::charset::CharsetArg;
use icecore_tables::rows::columnar::{self, Compression, Container};
#[cfg(feature = "store")]
use icecore_tables::rows::database::Question;
use icecore_tables::rows::plan::{Options, TableStyle};
use icecore_tables::rows::{Bytea, OnError, TableForm, Text};
use std::path::PathBuf;

/// Decode blobs that stand in the columns of a database export
///
/// Writes a row for each row of the input, in order: a JSON object a line with all columns. What stands in the columns
/// that --column names is decoded, if it is frozen data; all else is passed on as it is, NULL as null. Memory stays the same however
/// long the input is.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Rows {
    /// How the rows are written; those of a database need no word
    ///
    /// Found out by the name of the file and its first bytes, if not given: sql, csv, tsv, ndjson, parquet and arrow are.
    #[arg(long = "in", value_name = "FORM", value_enum)]
    pub form: Option<TableForm>,
    /// In what the input is, if not in UTF-8: utf-16le, utf-16be, utf-32le or utf-32be, which are found out as a rule
    #[arg(long, value_name = "NAME", value_parser = icecore_tables::charset::parse)]
    pub charset: Option<CharsetArg>,
    /// How much of a pipe is held to find out how it is written, before a row is: 64K if nothing is said
    ///
    /// A csv of which --delimiter, --quote and --escape are given needs none. Files are looked at as a whole.
    #[arg(long, value_name = "SIZE", value_parser = limits::window)]
    pub window: Option<u64>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub database: Database,
    /// Take the rows of this query, which only reads, from the database of --db
    #[cfg(feature = "store")]
    #[arg(long, value_name = "SQL", conflicts_with_all = ["files", "form", "tables"])]
    pub query: Option<String>,
    /// Take the documents of this collection, only reading, from the MongoDB of --db; their fields are the columns
    #[cfg(feature = "store")]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["files", "form", "query"])]
    pub collection: Option<String>,
    /// Only keys of Redis and memcached that are like this, as cache:*; of --collection, only the documents that have what
    /// this JSON object says, as {"queue": "mail"}
    ///
    /// Redis and memcached need nothing else than --db: their keys are the rows. In a pattern `*` is any text, `?` a byte,
    /// `[a-z]` one of these, and `\\` stands before one of these four that is meant as it is.
    #[cfg(feature = "store")]
    #[arg(long = "match", value_name = "PATTERN|JSON", conflicts_with_all = ["files", "form", "query"])]
    pub wanted: Option<String>,
    /// A column to decode: its name, or its number from 1 on, and the format of its values with wrappers
    ///
    /// Without FORMAT each value is looked at by itself. May be given several times. With `--in ndjson` it is a key of
    /// the objects; with `--in lines` it may be left out.
    /// With `--in parquet` and `--in arrow` it may be left out, and nothing is decoded.
    /// With `--in sql` it may be left out, and may be TABLE.COLUMN; tables without such a column are passed over, unless
    /// --table names them.
    #[arg(long = "column", short = 'c', value_name = "NAME[=FORMAT]")]
    pub columns: Vec<String>,
    /// Only this table, or SCHEMA.TABLE, of a dump or of --db; of a dump it may be given several times
    #[arg(long = "table", value_name = "TABLE")]
    pub tables: Vec<String>,
    /// With --db: all tables, with --out-dir each into a file of its own
    #[cfg(feature = "store")]
    #[arg(long, conflicts_with_all = ["tables", "query", "collection", "wanted", "form", "files"])]
    pub all_tables: bool,
    /// Write only these columns, and those of --column; may be given several times
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Do not write this column, or TABLE.COLUMN; may be given several times
    #[arg(long = "skip-column", value_name = "COLUMN")]
    pub skipped: Vec<String>,
    /// Say in each row which table it is of, in a column of this name: `table` if none is given
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub table_column: Option<String>,
    /// Say in each row which file it is of, in a column of this name: `file` if none is given
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "file")]
    pub file_column: Option<String>,
    /// Files, or folders with all that is in them; `-` is the standard input
    ///
    /// What gzip, zstd, xz or bzip2 compressed is unpacked as it is read. Their rows are written one behind the other, those of a table under one header, so they must have the same
    /// columns then; or each to a file of its own with --out-dir.
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// How the rows of the output are written: json with options, csv, tsv, parquet, arrow or arrows
    ///
    /// If it is not given, that of the name of --output: NAME.csv, NAME.parquet; else json. In csv and tsv the decoded values are
    /// JSON text. tsv has the escapes that MySQL and PostgreSQL read. In parquet, arrow (a file) and arrows (a stream)
    /// decoded columns have a type: --schema says it, or the first rows do.
    #[arg(short = 't', long = "to", value_name = "FORMAT")]
    pub to: Option<String>,
    #[command(flatten)]
    pub typed: Typed,
    /// An option of the JSON that values become; the value is taken verbatim
    #[arg(long = "to-opt", value_name = "NAME[=VALUE]")]
    pub to_options: Vec<String>,
    /// The names of the columns, where no header has them
    #[arg(long = "columns", value_name = "NAME,…", value_delimiter = ',')]
    pub names: Vec<String>,
    /// The first row has the names of the columns
    ///
    /// It has with csv, tsv and mysql, unless --columns or --no-header is given.
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,
    /// The first row is data; columns without names are called 1, 2, …
    #[arg(long)]
    pub no_header: bool,
    #[command(flatten)]
    pub csv: CsvStyle,
    /// The text that stands for NULL, for example `NULL` as `mysql -B` writes it; mysql and pgcopy know `\N` as well
    #[arg(long, value_name = "TEXT")]
    pub null: Option<String>,
    /// What becomes of a value that can't be decoded
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnError::Keep)]
    pub on_error: OnError,
    /// Add a column NAME_kind, which says what became of each value
    ///
    /// decoded; text: it is no frozen data and stays as it is; broken: it begins as frozen data and can't be decoded;
    /// null; other: a value of JSON that is no string.
    #[arg(long)]
    pub kind_column: bool,
    /// How bytea values of PostgreSQL are written, in columns that are decoded
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Bytea::Hex)]
    pub bytea: Bytea,
    /// With `--in ndjson`: which bytes the characters of a string are
    #[arg(long, value_name = "BYTES", value_enum, default_value_t = Text::Utf8)]
    pub text: Text,
    #[command(flatten)]
    pub written: OutputPlace,
    /// Overwrite files that exist, but never an input
    #[arg(long)]
    pub force: bool,
    /// A loss is an error: exit 1
    ///
    /// A value that JSON can't say in full is treated as one that can't be decoded (--on-error); a row that has bytes
    /// beside the decoded columns that are not UTF-8 is left out.
    #[arg(long)]
    pub strict: bool,
    /// Open strings in the decoded values that are frozen data themselves, and those in them
    #[arg(long)]
    pub deep: bool,
    /// In csv and tsv: put `'` before cells that a spreadsheet would take for a formula
    ///
    /// These begin with `=`, `+`, `-` or `@`, also in wide letters, and after blanks, quotes and what is not seen; or
    /// with a tab or a line end. Numbers stay, and names of columns count as cells. For tables that people open; a
    /// program that reads them has to take it off.
    #[arg(long)]
    pub csv_safe: bool,
    /// Write counts as JSON into this file; `-` is the standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,
    /// How long a row may be: 1G at most
    #[arg(long, value_name = "SIZE", value_parser = limits::size, default_value = "1G")]
    pub max_record: u64,
    /// How much is read at once
    #[arg(long, hide = true, default_value_t = icecore_tables::window::CHUNK)]
    pub chunk: usize,
}

impl Rows {
    /// How the rows of the output are written.
    pub fn to(&self) -> &str {
        self.to.as_deref().or_else(|| self.form_of_output()).unwrap_or(DEFAULT_TARGET)
    }

    /// The form by the name of the file that is written.
    fn form_of_output(&self) -> Option<&'static str> {
        let path = self.written.output.as_deref()?;
        let extension = path.extension()?.to_str()?;
        let by_name = ["csv", "tsv", DEFAULT_TARGET].into_iter().find(|form| extension.eq_ignore_ascii_case(form));
        by_name.or_else(|| Container::of_path(path).map(Container::name))
    }

    /// Whether the rows are those of a table of a database.
    #[cfg(feature = "store")]
    pub fn reads_table(&self) -> bool {
        let is_database = self.database.db.is_some() || self.database.db_file.is_some();
        let has_question = self.query.is_some() || self.collection.is_some() || self.wanted.is_some();
        is_database && !self.tables.is_empty() && self.files.is_empty() && self.form.is_none() && !has_question
    }

    /// Which rows are asked of a database, if they are not in files.
    #[cfg(feature = "store")]
    pub fn question(&self) -> Option<Question> {
        match (&self.query, &self.collection) {
            (Some(query), _) => Some(Question::Query(query.clone())),
            (None, Some(collection)) => Some(Question::Documents(collection.clone(), self.wanted.clone())),
            (None, None) if self.form.is_none() && self.has_server() => {
                Some(Question::Keys(self.wanted.clone(), self.max_record))
            }
            (None, None) => None,
        }
    }

    /// Whether a server is asked.
    #[cfg(feature = "store")]
    fn has_server(&self) -> bool {
        self.database.db.is_some() || self.database.db_file.is_some() || self.wanted.is_some()
    }

    /// What is asked of the rows, whatever their columns are.
    pub fn options(&self, global: &Global) -> Result<Options, Abort> {
        let (out, json) = target::form(self)?;
        let has_header = match (self.header, self.no_header) {
            (false, false) => None,
            (has_header, _) => Some(has_header),
        };
        Ok(Options {
            out,
            json,
            columns: self.columns.clone(),
            tables: self.tables.clone(),
            only: self.only.clone(),
            skipped: self.skipped.clone(),
            table_column: self.table_column.clone(),
            file_column: self.file_column.clone(),
            input: TableStyle {
                names: self.names.clone(),
                has_header,
                delimiter: self.csv.delimiter,
                null: self.null.clone(),
            },
            on_error: self.on_error,
            has_kinds: self.kind_column,
            bytea: self.bytea,
            text: self.text,
            strict: self.strict,
            deep: self.deep,
            csv_safe: self.csv_safe,
            typed: self.typed.options(),
            limits: Limits::clone(&global.limit),
        })
    }
}

/// What is said of columns with types.
#[derive(Debug, Args)]
pub struct Typed {
    /// The types of columns of parquet and arrow, as `id int64, data: struct<width int64, tags list<utf8>>`; or a file with that
    ///
    /// Columns that it does not name get their types from the first rows. What is in the values and has no field is left
    /// out; a field that is missing is null. `json` stands for any value, as text.
    #[arg(long, value_name = "FIELDS|FILE")]
    pub schema: Option<String>,
    /// From how many rows the types of columns of parquet and arrow are found out
    #[arg(long, value_name = "ROWS", default_value_t = 10_000)]
    pub infer: usize,
    /// Write the types that were found out, as --schema takes them, and no rows
    #[arg(long)]
    pub schema_only: bool,
    /// How parquet and arrow are compressed: snappy in parquet and nothing in arrow, if it is not given
    #[arg(long, value_name = "HOW", value_enum)]
    pub compression: Option<Compression>,
    /// How many rows a group of parquet has at most; it ends earlier where it has 64 MB
    #[arg(long, value_name = "ROWS", default_value_t = 1 << 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub row_group: u64,
}

impl Typed {
    fn options(&self) -> columnar::Options {
        columnar::Options {
            schema: self.schema.clone(),
            infer: self.infer,
            compression: self.compression,
            row_group: self.row_group,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  icecore rows --in csv --column meta_value=php wp_postmeta.csv
  icecore rows -c wp_options.option_value=php --only option_name dump.sql.gz
  mysql -B -e 'select * from jobs' shop | icecore rows --in mysql --null NULL -c payload
  psql -c 'copy cache to stdout' | icecore rows --in pgcopy --columns key,value -c value=marshal
  icecore rows --in ndjson -c session=base64/storable dump.ndjson
  icecore rows --in csv -c data=php -t csv orders.csv -o decoded.csv
  icecore rows --in csv -c data=php orders.csv -o orders.parquet
  icecore rows -c data=php --schema 'data: struct<total float64, items list<json>>' orders.csv -o orders.parquet
  icecore rows --in parquet -c data=php raw.parquet
  icecore rows --db sqlite:app.db --table jobs -c payload
  icecore rows --db sqlite:app.db --query 'select id, payload from jobs' -c payload
  icecore rows --db mongodb://localhost/app --collection pending --match '{\"state\": \"new\"}' -c object=marshal
  icecore rows --db redis://localhost/0 --match 'cache:*'
  icecore rows --db memcached://localhost --match 'user:*' -t csv -o users.csv";
