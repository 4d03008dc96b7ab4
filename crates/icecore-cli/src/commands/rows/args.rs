//! The command line of `rows`.

use super::target;
use crate::arguments::{DEFAULT_TARGET, Global};
use crate::csv_style::CsvStyle;
#[cfg(feature = "store")]
use crate::database::Database;
use crate::limits;
use crate::mistakes;
use crate::report::Abort;
#[cfg(feature = "store")]
use crate::report::usage_text_error;
use crate::target::OutputArgs;
use clap::{Args, ValueHint};
use icecore::Limits;
use icecore_tables::charset::CharsetArg;
use icecore_tables::form::NDJSON;
use icecore_tables::rows::columnar::{self, Compression, Container};
#[cfg(feature = "store")]
use icecore_tables::rows::database::RowRequest;
use icecore_tables::rows::plan::{Options, TableStyle};
use icecore_tables::rows::{Bytea, OnError, TableForm, Text};
use std::path::PathBuf;

/// Decode blobs in the columns of a database export
///
/// Writes a row for each row of the input, in order: a JSON object per line with all columns. Values in the columns of
/// --column are decoded if they are frozen data; all others are copied, and NULL becomes null. The output is in UTF-8:
/// other bytes become one character each, and are counted. Memory use does not grow with the length of the input.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Rows {
    /// Form of the input rows; not needed for a database
    ///
    /// If not given, it is detected from the file name and the first bytes: sql, csv, tsv, ndjson, parquet and arrow.
    #[arg(long = "in", value_name = "FORM", value_enum)]
    pub form: Option<TableForm>,
    /// Charset of the input, if not UTF-8: utf-16le, utf-16be, utf-32le or utf-32be; normally detected
    #[arg(long, value_name = "NAME", value_parser = icecore_tables::charset::parse_charset)]
    pub charset: Option<CharsetArg>,
    /// Number of bytes of a pipe to buffer for detecting its form: 64K by default
    ///
    /// They are buffered before the first row is written. Not needed for csv if --delimiter, --quote and --escape are
    /// given. Files are examined as a whole.
    #[arg(long, value_name = "SIZE", value_parser = limits::parse_window_size)]
    pub window: Option<u64>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub database: Database,
    /// Read the rows of this query from the database
    ///
    /// The query must be read-only.
    #[cfg(feature = "store")]
    #[arg(long, value_name = "SQL", conflicts_with_all = ["form", "tables"])]
    pub query: Option<String>,
    /// Read the documents of this collection from the MongoDB of --db
    ///
    /// Their fields are the columns. Nothing is changed.
    #[cfg(feature = "store")]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["files", "form", "query"])]
    pub collection: Option<String>,
    /// Read only keys that match a pattern, or documents that match a JSON object
    ///
    /// For Redis and memcached, a pattern such as cache:*; with --collection, a JSON object such as {"queue": "mail"}.
    /// Redis and memcached need no option other than --db: their keys are the rows. In a pattern, `*` matches any text,
    /// `?` one byte, and `[a-z]` one of these bytes; `\` escapes one of `*`, `?`, `[` and `\`.
    #[cfg(feature = "store")]
    #[arg(long = "match", value_name = "PATTERN|JSON", conflicts_with_all = ["files", "form", "query"])]
    pub wanted: Option<String>,
    /// Column to decode, and the format of its values
    ///
    /// FORMAT may have wrappers: base64/php. The column is given by its name or its number, counted from 1. Without FORMAT, the format of each value is
    /// detected separately. May be given several times. With `--in ndjson` it is a key of the objects; with `--in sql`
    /// it may be TABLE.COLUMN, and tables without such a column are skipped, unless --table names them. Without
    /// --column, rows are written as they are, and a note names the columns that look like frozen data; with `--in
    /// lines`, each line is decoded.
    #[arg(long = "column", short = 'c', value_name = "NAME[=FORMAT]")]
    pub columns: Vec<String>,
    /// Read only this table, or SCHEMA.TABLE
    ///
    /// It is a table of a dump or of --db. For a dump, it may be given several times.
    #[arg(long = "table", value_name = "TABLE")]
    pub tables: Vec<String>,
    /// With --db: read all tables; with --out-dir, write each to a file of its own
    #[cfg(feature = "store")]
    #[arg(long, conflicts_with_all = ["tables", "query", "collection", "wanted", "form"])]
    pub all_tables: bool,
    /// Write only the first N rows, and read no further
    ///
    /// These are the first N rows of all files or tables together; with --out-dir, N rows of each. Numbers may end in
    /// K, M or G.
    #[arg(long, value_name = "N", value_parser = limits::parse_item_count)]
    pub items: Option<u64>,
    /// Write only these columns and those of --column; may be given several times
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Do not write this column, or TABLE.COLUMN; may be given several times
    #[arg(long = "skip-column", value_name = "COLUMN")]
    pub skipped: Vec<String>,
    /// Add a column with this name that contains the table of each row: `table` if no name is given
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub table_column: Option<String>,
    /// Add a column with this name that contains the file of each row: `file` if no name is given
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "file")]
    pub file_column: Option<String>,
    /// Files, or folders with all files in them; `-` is the standard input
    ///
    /// Files compressed with gzip, zstd, xz or bzip2 are decompressed while they are read. The rows of all files are
    /// written one after the other, those of a table under one header, so the files must have the same columns; or each
    /// file is written to a file of its own with --out-dir.
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Form of the output rows: json with options, csv, tsv, parquet, arrow or arrows
    ///
    /// If not given, the form of the name of --output: NAME.csv, NAME.parquet; else json. In csv and tsv, decoded
    /// values are JSON text. json:class=_class adds the class of each object, in csv and tsv --to-opt class=_class does;
    /// parquet and arrow have it as `_class`. csv:bom begins with a byte order mark, which Excel needs for UTF-8. tsv uses the escapes that MySQL and PostgreSQL read. In parquet, arrow (a file) and arrows
    /// (a stream), decoded columns have a type, either from --schema or from the first rows.
    #[arg(short = 't', long = "to", value_name = "FORMAT")]
    pub to: Option<String>,
    #[command(flatten)]
    pub column_types: ColumnTypeArgs,
    /// Option of the JSON that values become; the value is taken verbatim
    #[arg(long = "to-opt", value_name = "NAME[=VALUE]")]
    pub to_options: Vec<String>,
    /// Names of the columns, if no header has them
    #[arg(long = "columns", value_name = "NAME,…", value_delimiter = ',')]
    pub names: Vec<String>,
    /// Take the names of the columns from the first row
    ///
    /// This is the default for csv, tsv and mysql, unless --columns or --no-header is given.
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,
    /// Treat the first row as data; columns without names are called 1, 2, …
    #[arg(long)]
    pub no_header: bool,
    #[command(flatten)]
    pub csv: CsvStyle,
    /// Text that means NULL, for example `NULL` as `mysql -B` writes it; mysql and pgcopy also know `\N`
    #[arg(long, value_name = "TEXT")]
    pub null: Option<String>,
    /// What to do with a value that can't be decoded
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnError::Keep)]
    pub on_error: OnError,
    /// Add a column NAME_kind that says how each value was treated
    ///
    /// decoded; text: it is not frozen data and is unchanged; broken: it begins like frozen data and can't be decoded;
    /// null; other: a JSON value that is not a string.
    #[arg(long)]
    pub kind_column: bool,
    /// How bytea values of PostgreSQL are written, in columns that are decoded
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Bytea::Hex)]
    pub bytea: Bytea,
    /// With `--in ndjson`: bytes that the characters of a string represent
    #[arg(long, value_name = "BYTES", value_enum, default_value_t = Text::Utf8)]
    pub text: Text,
    #[command(flatten)]
    pub output_args: OutputArgs,
    /// Overwrite files that exist, but never an input
    #[arg(long)]
    pub force: bool,
    /// Treat a loss as an error: exit 1
    ///
    /// A value that JSON can't express completely is treated like one that can't be decoded (--on-error); a row is left
    /// out if it has bytes other than UTF-8 outside the decoded columns.
    #[arg(long)]
    pub strict: bool,
    /// Open frozen data in the strings of decoded values, at any depth
    #[arg(long)]
    pub deep: bool,
    /// In csv and tsv: put `'` before cells that a spreadsheet would take for a formula
    ///
    /// These are cells that begin with `=`, `+`, `-` or `@`, also in full-width form and after blanks, quotes and
    /// invisible characters, or with a tab or a line end. Numbers are not changed, and names of columns count as cells.
    /// Use it for tables that people open; a program that reads them has to remove the `'`.
    #[arg(long)]
    pub csv_safe: bool,
    /// Write counts as JSON to this file; `-` is the standard output
    ///
    /// Also how many values of --column were decoded, are text or are broken (`kinds`), and their formats (`formats`).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,
    /// Maximum length of a row, at most 1G
    #[arg(long, value_name = "SIZE", value_parser = limits::parse_size, default_value = "1G")]
    pub max_record: u64,
    /// Size of each read
    #[arg(long, hide = true, default_value_t = icecore_tables::window::CHUNK)]
    pub chunk: usize,
}

impl Rows {
    /// Returns the form of the output rows.
    pub fn output_form(&self) -> &str {
        self.to.as_deref().or_else(|| self.form_from_file_name()).unwrap_or(DEFAULT_TARGET)
    }

    /// Returns the form that the name of the output file indicates.
    fn form_from_file_name(&self) -> Option<&'static str> {
        let path = self.output_args.output.as_deref()?;
        let extension = path.extension()?.to_str()?;
        let text_form = ["csv", "tsv", DEFAULT_TARGET].into_iter().find(|form| extension.eq_ignore_ascii_case(form));
        text_form.or_else(|| Container::from_path(path).map(Container::name))
    }

    /// Returns the note for an output file whose extension names no form, so that it becomes lines of JSON.
    pub fn unknown_extension_note(&self) -> Option<String> {
        let is_unknown = self.to.is_none() && self.form_from_file_name().is_none();
        let extension = self.output_args.output.as_deref().filter(|_| is_unknown)?.extension()?.to_str()?;
        let is_json_lines = [NDJSON, "jsonl"].iter().any(|json_lines| extension.eq_ignore_ascii_case(json_lines));
        (!is_json_lines).then(|| {
            let extension = icecore::text::printable(extension);
            format!(
                "`.{extension}` names no form of rows, so these are lines of {DEFAULT_TARGET}; -t FORM chooses another"
            )
        })
    }

    /// Uses a single FILE that is an SQLite database as the database, like `--db FILE`.
    #[cfg(feature = "store")]
    pub fn adopt_database_file(&mut self) {
        let has_database = self.database.db.is_some() || self.database.db_file.is_some() || self.form.is_some();
        let has_request = !self.tables.is_empty() || self.query.is_some() || self.all_tables;
        let [file] = &self.files[..] else { return };
        if !has_database && has_request && crate::database::is_database_file(file) && file.to_str().is_some() {
            self.database.db = Some(format!("sqlite:{}", file.display()));
            self.files.clear();
        }
    }

    /// Returns an error for options that do not fit rows of a database, or that need a database.
    #[cfg(feature = "store")]
    pub fn check_database_options(&self) -> Result<(), Abort> {
        if !self.files.is_empty() && self.all_tables {
            return Err(usage_text_error(
                "--all-tables is for --db: a dump is read with all its tables, unless --table names some",
            ));
        }
        if !self.files.is_empty() && self.query.is_some() {
            return Err(usage_text_error("--query reads a database: name it by --db, without FILE"));
        }
        let reads_database = self.all_tables || self.reads_table() || self.row_request().is_some();
        if reads_database && !self.names.is_empty() {
            return Err(usage_text_error(format!(
                "--columns names the columns of a file without a header: `--only {}` writes only these columns of a table",
                self.names.join(",")
            )));
        }
        let option =
            [(self.header, "--header"), (self.no_header, "--no-header")].into_iter().find(|(is_given, _)| *is_given);
        match option.filter(|_| reads_database) {
            Some((_, option)) => Err(usage_text_error(format!("{option} is for files; a database names its columns"))),
            None => Ok(()),
        }
    }

    /// Returns true if the rows come from a table of a database.
    #[cfg(feature = "store")]
    pub fn reads_table(&self) -> bool {
        let is_database = self.database.db.is_some() || self.database.db_file.is_some();
        let has_query = self.query.is_some() || self.collection.is_some() || self.wanted.is_some();
        is_database && !self.tables.is_empty() && self.files.is_empty() && self.form.is_none() && !has_query
    }

    /// Returns which rows to request from a database, if the rows are not in files.
    #[cfg(feature = "store")]
    pub fn row_request(&self) -> Option<RowRequest> {
        match (&self.query, &self.collection) {
            (Some(query), _) => Some(RowRequest::Query(query.clone())),
            (None, Some(collection)) => Some(RowRequest::Documents(collection.clone(), self.wanted.clone())),
            (None, None) if self.form.is_none() && self.queries_server() => {
                Some(RowRequest::Keys(self.wanted.clone(), self.max_record))
            }
            (None, None) => None,
        }
    }

    /// Returns true if a server is queried.
    #[cfg(feature = "store")]
    fn queries_server(&self) -> bool {
        self.database.db.is_some() || self.database.db_file.is_some() || self.wanted.is_some()
    }

    /// Returns the options for the rows, independent of their columns.
    pub fn row_options(&self, global: &Global) -> Result<Options, Abort> {
        let (output_form, json_stage) = target::parse_output_form(self)?;
        for (_, format) in self.columns.iter().filter_map(|column| column.split_once('=')) {
            mistakes::stage(format)?;
        }
        let has_header = match (self.header, self.no_header) {
            (false, false) => None,
            (has_header, _) => Some(has_header),
        };
        Ok(Options {
            out: output_form,
            has_byte_order_mark: target::has_byte_order_mark(self),
            json: json_stage,
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
            typed: self.column_types.columnar_options(),
            limits: Limits::clone(&global.limits),
        })
    }
}

/// Options for columns with types.
#[derive(Debug, Args)]
pub struct ColumnTypeArgs {
    /// Types of the columns of parquet and arrow, or a file with them
    ///
    /// Written as `id int64, data: struct<width int64, tags list<utf8>>`. Columns that it does not name get their types
    /// from the first rows. Parts of the values that have no field are omitted; a missing field is null. `json` means
    /// any value, as text.
    #[arg(long, value_name = "FIELDS|FILE")]
    pub schema: Option<String>,
    /// Number of rows from which the types of columns of parquet and arrow are inferred, and the columns of ndjson in csv
    #[arg(long, value_name = "ROWS", default_value_t = 10_000, value_parser = limits::whole_number::<usize>(0, i64::MAX))]
    pub infer: usize,
    /// Write the inferred types, in the form that --schema accepts, and no rows
    #[arg(long)]
    pub schema_only: bool,
    /// Compression of parquet and arrow; by default snappy for parquet and none for arrow
    #[arg(long, value_name = "HOW", value_enum)]
    pub compression: Option<Compression>,
    /// Maximum number of rows in a row group of parquet; a group also ends when it reaches 64 MB
    #[arg(long, value_name = "ROWS", default_value_t = 1 << 20, value_parser = limits::whole_number::<u64>(1, i64::MAX))]
    pub row_group: u64,
}

impl ColumnTypeArgs {
    fn columnar_options(&self) -> columnar::ColumnarOptions {
        columnar::ColumnarOptions {
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
  icecore rows --items 10 -c users.prefs -t json:class=_class dump.sql
  icecore rows --in csv -c data=php -t csv orders.csv -o decoded.csv
  icecore rows --in csv -c data=php orders.csv -o orders.parquet
  icecore rows -c data=php --schema 'data: struct<total float64, items list<json>>' orders.csv -o orders.parquet
  icecore rows --in parquet -c data=php raw.parquet
  icecore rows --db sqlite:app.db --table jobs -c payload
  icecore rows --db sqlite:app.db --query 'select id, payload from jobs' -c payload
  icecore rows --db mongodb://localhost/app --collection pending --match '{\"state\": \"new\"}' -c object=marshal
  icecore rows --db redis://localhost/0 --match 'cache:*'
  icecore rows --db memcached://localhost --match 'user:*' -t csv -o users.csv";
