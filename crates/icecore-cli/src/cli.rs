//! The command line: the one table that help, completions and man pages come
//! from.

pub use crate::commands::bench::Bench;
pub use crate::commands::edit::Edit;
use crate::commands::get::args::{Get, Paths};
use crate::commands::query::Query;
pub use crate::commands::replace::Replace;
use crate::commands::rows::{Bytea, Form, OnError, Text};
#[cfg(feature = "serve")]
use crate::commands::serve::Serve;
#[cfg(feature = "store")]
use crate::commands::{database::Database, keyed::Keyed, queue::Queue, store::Store, work::Work};
use crate::limits::{self, Bounds};
use crate::records::Frame;
use crate::report::{Abort, Report, code};
use crate::said;
use crate::source::Source;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// What is written, if nothing else is asked for.
pub const DEFAULT_TARGET: &str = "json";

/// Looks into and converts the data that Perl, PHP and Ruby freeze, without
/// running any of it.
#[derive(Debug, Parser)]
#[command(
    name = "icecore",
    version,
    override_usage = "icecore [inspect] [FILE]...\n       icecore COMMAND [ARGUMENTS]",
    after_help = "A FILE of `-`, or none, is the standard input. `icecore FILE` is `icecore inspect FILE`. `icecore help COMMAND` says more.",
    after_long_help = EXAMPLES,
    subcommand_required = true,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "For all commands")]
pub struct Global {
    /// Bounds on what reading and writing may cost
    ///
    /// depth: nesting; nodes: values; string: bytes of a string; decompressed: bytes after decompression, 256M
    /// if not said; ratio: decompressed to compressed, none if not said; expansion: values from copies and
    /// links to bytes; digits: of an integer; output: bytes of a document that is written; growth: bytes written
    /// for each byte of the input, 256 if not said.
    /// Numbers may end in K, M or G. With `inspect` and `paths` a number alone says how many items of a list are shown:
    /// `--limit 100`.
    #[arg(long, global = true, value_name = "NAME=N,…", value_parser = limits::parse, default_value = "", hide_default_value = true)]
    pub limit: Bounds,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = When::Auto, hide_possible_values = false)]
    pub color: When,
    /// Say nothing of losses, show no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Global {
    /// A number of items is for those who show items.
    pub fn check(&self, command: &Command) -> Result<(), Abort> {
        match (self.limit.items, command) {
            (None, _) | (_, Command::Inspect(_) | Command::Paths(_)) => Ok(()),
            (Some(items), _) => {
                let text = format!(
                    "`--limit {items}` is for `icecore inspect` and `icecore paths`; bounds are NAME=N: --limit depth={items}"
                );
                Err(Abort::Failed(code::USAGE, text))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Inspect(Inspect),
    Detect(Detect),
    Classes(Classes),
    Convert(Convert),
    Query(Box<Query>),
    Get(Get),
    Paths(Paths),
    Rows(Rows),
    Replace(Box<Replace>),
    Edit(Box<Edit>),
    Diff(Diff),
    Patch(Patch),
    #[cfg(feature = "store")]
    Store(Store),
    #[cfg(feature = "store")]
    Queue(Queue),
    #[cfg(feature = "serve")]
    Serve(Box<Serve>),
    #[cfg(feature = "store")]
    Work(Work),
    Bench(Box<Bench>),
    Formats(Formats),
    Completions(Completions),
    Man(Man),
}

impl Command {
    /// How losses, notes and errors are written.
    pub fn report(&self) -> said::Form {
        match self {
            Command::Inspect(Inspect { said, .. })
            | Command::Detect(Detect { said, .. })
            | Command::Classes(Classes { said, .. })
            | Command::Convert(Convert { said, .. })
            | Command::Rows(Rows { said, .. })
            | Command::Get(Get { said, .. })
            | Command::Paths(Paths { said, .. })
            | Command::Diff(Diff { said, .. })
            | Command::Patch(Patch { said, .. }) => said.report,
            Command::Query(query) => query.said.report,
            Command::Edit(edit) => edit.said.report,
            #[cfg(feature = "store")]
            Command::Store(Store { said, .. })
            | Command::Queue(Queue { said, .. })
            | Command::Work(Work { said, .. }) => said.report,
            _ => said::Form::default(),
        }
    }
}

/// How the command reports.
#[derive(Debug, Args)]
pub struct Reporting {
    /// How losses, notes and errors are written to stderr
    ///
    /// json: an object a line, with type (error, loss, note, end), file, record, code, kind, count, format, offset,
    /// layer, path, expected, found, help and message, as far as they are known; the last has type end, the exit code,
    /// and how many inputs there were. Wrong usage is told as text in every case.
    #[arg(long = "report", value_name = "FORM", value_enum, default_value_t = said::Form::Text, display_order = 900)]
    pub report: said::Form,
}

/// How input is read.
#[derive(Debug, Args)]
pub struct From {
    /// The format of the input, with options: sereal:refuse_objects
    ///
    /// Found out if not given.
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// An option of the input's format; the value is taken verbatim
    #[arg(long = "from-opt", value_name = "NAME[=VALUE]")]
    pub options: Vec<String>,
    /// Read several documents, one by one
    ///
    /// They stand one behind the other; JSON lines are lines. With `convert`, FRAME says how else records are told
    /// apart, each of which is one document, and memory does not grow with the input.
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents")]
    pub each: Option<Frame>,
}

/// Show what is in a file: offsets, bytes, types, values
///
/// Shows a value a line, with its offset, its first bytes, its type and the value; before them the fields of the
/// header. Where the input breaks off or breaks the rules, what was read up to there is shown, then what is wrong.
#[derive(Debug, Args)]
#[command(after_long_help = INSPECT_EXAMPLES)]
pub struct Inspect {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub said: Reporting,
    /// Files, or folders with all that is in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub keyed: Keyed,
    /// Show N levels of values only
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Show only what is on this path, for example `$.staff[0].name`
    ///
    /// Every path that a message or a table shows is understood, also those whose middle is left out; with --deep
    /// paths lead on into strings that are frozen data. A path that an input lacks is a finding: exit 1.
    #[arg(long)]
    pub path: Option<String>,
    /// Show every piece of the input with its name, and all items of long lists
    ///
    /// Otherwise the first 32 items of a list are shown; `--limit N` says how many, with --all too.
    #[arg(long)]
    pub all: bool,
    /// Show what is in strings that are frozen data themselves
    ///
    /// A string counts if it is, as a whole, in a format that is detected as sure or likely; of JSON, if it is an
    /// object or an array that is not empty. Offsets are those of the file where the string stands there as it is;
    /// elsewhere they count from the start of the string and have a `+` before them.
    #[arg(long)]
    pub deep: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Inspect {
    /// What is read.
    pub fn sources(&self, report: &mut Report) -> Result<Vec<Source>, Abort> {
        #[cfg(feature = "store")]
        return self.keyed.sources(&self.files, report);
        #[cfg(not(feature = "store"))]
        Ok(Source::all(&self.files, report))
    }
}

/// Tell what files are: format, version, wrappers, and how sure that is
///
/// Nothing is guessed wildly: a format without a signature is named only after a walk over all of the bytes. `sure`:
/// it has a signature, or all of it was checked; `likely`: its structure fits; `possible`: other things look like
/// it too. Of a very large file the first 16 MiB are looked at.
#[derive(Debug, Args)]
#[command(after_long_help = DETECT_EXAMPLES)]
pub struct Detect {
    #[command(flatten)]
    pub said: Reporting,
    /// Files, or folders with all that is in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Print JSON: an object a line
    #[arg(long)]
    pub json: bool,
}

/// List every class that the data names
///
/// Shows how often each class occurs, in which way, and where first. `--as` prints what lets them through in that
/// language; read it before you allow it. A class whose name would be a pattern there (`*`) is not printed: that is a
/// finding, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_long_help = CLASSES_EXAMPLES)]
pub struct Classes {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub said: Reporting,
    /// Files, or folders with all that is in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub keyed: Keyed,
    /// Look into strings that are frozen data themselves as well, and those in them
    ///
    /// Without it a note on stderr says if there are such strings. Paths lead on into them: `icecore inspect --deep
    /// --path` takes them.
    #[arg(long)]
    pub deep: bool,
    /// Print the allow-list in this language
    #[arg(long = "as", value_name = "LANGUAGE", value_enum, conflicts_with = "json")]
    pub language: Option<Language>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Classes {
    /// What is read.
    pub fn sources(&self, report: &mut Report) -> Result<Vec<Source>, Abort> {
        #[cfg(feature = "store")]
        return self.keyed.sources(&self.files, report);
        #[cfg(not(feature = "store"))]
        Ok(Source::all(&self.files, report))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Perl,
    Php,
    Ruby,
}

/// Convert from any format to any other
///
/// What the target can't say is never lost silently: each kind of loss is reported with a count and the first path.
/// Where both formats are the same, the byte form is kept. Several inputs are written one behind the other, or each
/// to a file of its own with --out-dir.
#[derive(Debug, Args)]
#[command(after_long_help = CONVERT_EXAMPLES)]
pub struct Convert {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub said: Reporting,
    /// The format of the output, with options: json:indent=2
    #[arg(short = 't', long = "to", value_name = "FORMAT", default_value = DEFAULT_TARGET)]
    pub to: String,
    /// An option of the output's format; the value is taken verbatim
    #[arg(long = "to-opt", value_name = "NAME[=VALUE]")]
    pub to_options: Vec<String>,
    /// New names of classes: `App\*=My\*,User=Account`, or a file with a pair on each line
    ///
    /// What each * in the old name stands for is put in the place of the one of the same number in the new name.
    /// Without it a class keeps its name, save one that the target's language has for a class of its own: it gets one
    /// below Icecore::Foreign, and its own back when it is converted from there.
    #[arg(long, value_name = "OLD=NEW,…|@FILE")]
    pub class_map: Vec<String>,
    /// Files, or folders with all that is in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub keyed: Keyed,
    /// Write to this file; it appears when it is complete
    ///
    /// It is never an input. A new file may be read by whom the inputs may be read by; one that exists keeps its owner
    /// and its permissions.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write a file for each input into this folder, which mirrors the folders of the input
    ///
    /// Its name is that of the input with the extension of the target; where two would be called the same, the
    /// extension is put behind the whole name. `icecore formats --json` says the extensions.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
    /// Overwrite files that exist, but never an input; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
    /// A loss is an error: exit 1, and nothing is written for that input
    #[arg(long)]
    pub strict: bool,
    /// Open strings that are frozen data themselves, and those in them
    ///
    /// What such a string says is written in its place: a PHP string that was serialized twice, the command in the
    /// JSON of a Laravel job. A string counts if it is, as a whole, in a format that is detected as sure or likely;
    /// of JSON, if it is an object or an array that is not empty. Keys are never opened. How many were opened is
    /// said on stderr; that is no loss. The input is then read as a whole, whatever its size.
    #[arg(long)]
    pub deep: bool,
    /// Of a document that breaks off, write what could be read
    ///
    /// Where something is missing stands a mark: a last item `{"(missing)": {…}}` in a list, a last entry with this key
    /// in a map. It says how many items were read, how many there should be if the input tells, what is wrong, how many
    /// bytes were not understood, and the first of them. The error is reported as always: exit 4.
    #[arg(long, conflicts_with_all = ["strict", "each"])]
    pub partial: bool,
    /// With --each: what to put around each document
    ///
    /// If not given, documents in text formats end with a line feed, others stand one behind the other.
    #[arg(long, value_name = "FRAME", value_enum, requires = "each")]
    pub frame: Option<Frame>,
    /// With --each: skip records that can't be converted, and count them
    ///
    /// Without it the first one ends the conversion of its input. Where documents stand one behind the other, the next
    /// one is looked for: by the signatures of Sereal, Storable, Marshal and igbinary; in PHP's text where a container
    /// begins behind another, and in text on a line of its own. What can't be read from there on is a part of the bad
    /// one, unless it begins with a signature that stands nowhere else.
    #[arg(long, requires = "each")]
    pub keep_going: bool,
    /// With --each: write counts as JSON into this file; `-` is the standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "each")]
    pub summary: Option<PathBuf>,
    /// With --each: how long a record may be
    #[arg(long, value_name = "SIZE", value_parser = limits::size, default_value = "1G", requires = "each")]
    pub max_record: u64,
    /// How much is read at once
    #[arg(long, hide = true, default_value_t = crate::records::CHUNK)]
    pub chunk: usize,
}

impl Convert {
    /// What is read.
    pub fn sources(&self, report: &mut Report) -> Result<Vec<Source>, Abort> {
        #[cfg(feature = "store")]
        return self.keyed.sources(&self.files, report);
        #[cfg(not(feature = "store"))]
        Ok(Source::all(&self.files, report))
    }
}

/// Decode blobs that stand in the columns of a database export
///
/// Writes a row for each row of the input, in order: a JSON object a line with all columns. What stands in the columns
/// that --column names is decoded, if it is frozen data; all else is passed on as it is, NULL as null. Memory stays the same however
/// long the input is.
#[derive(Debug, Args)]
#[command(after_long_help = ROWS_EXAMPLES)]
pub struct Rows {
    #[command(flatten)]
    pub said: Reporting,
    /// How the rows are written; those of a database need no word
    ///
    /// Found out by the name of the file and its first bytes, if not given: sql, csv, tsv and ndjson are.
    #[arg(long = "in", value_name = "FORM", value_enum)]
    pub form: Option<Form>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub database: Database,
    /// Take the rows of this query, which only reads, from the database of --db
    #[cfg(feature = "store")]
    #[arg(long, value_name = "SQL", conflicts_with_all = ["files", "form"])]
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
    /// With `--in sql` it may be left out, and may be TABLE.COLUMN; tables without such a column are passed over, unless
    /// --table names them.
    #[arg(long = "column", short = 'c', value_name = "NAME[=FORMAT]")]
    pub columns: Vec<String>,
    /// With `--in sql`: only this table, or SCHEMA.TABLE; may be given several times
    #[arg(long = "table", value_name = "TABLE")]
    pub tables: Vec<String>,
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
    /// How the rows of the output are written: json with options, csv or tsv
    ///
    /// In csv and tsv the decoded values are JSON text. tsv has the escapes that MySQL and PostgreSQL read.
    #[arg(short = 't', long = "to", value_name = "FORMAT", default_value = DEFAULT_TARGET)]
    pub to: String,
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
    /// What stands between values: a character or `\t`; a comma for csv, else a tab
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,
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
    /// Write to this file; it appears when it is complete
    ///
    /// It is never an input. A new file may be read by whom the inputs may be read by; one that exists keeps its owner
    /// and its permissions.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write a file for each input into this folder, which mirrors the folders of the input
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
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
    /// In csv: put `'` before cells that a spreadsheet would take for a formula
    ///
    /// These begin with `=`, `+`, `-`, `@`, a tab or a carriage return. Numbers that are below zero get it too. For
    /// tables that people open; a program that reads them has to take it off.
    #[arg(long)]
    pub csv_safe: bool,
    /// Write counts as JSON into this file; `-` is the standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,
    /// How long a row may be: 1G at most
    #[arg(long, value_name = "SIZE", value_parser = limits::size, default_value = "1G")]
    pub max_record: u64,
    /// How much is read at once
    #[arg(long, hide = true, default_value_t = crate::records::CHUNK)]
    pub chunk: usize,
}

impl Rows {
    /// Which rows are asked of a database, if they are not in files.
    #[cfg(feature = "store")]
    pub fn question(&self) -> Option<crate::commands::rows::Question> {
        use crate::commands::rows::Question;
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

    /// What stands between values of the input; the rows of a database are written by the command itself.
    pub fn delimiter(&self, form: Form) -> u8 {
        match (form, self.delimiter) {
            (Form::Database, _) => b'\t',
            (_, Some(given)) => given,
            (Form::Csv, None) => b',',
            _ => b'\t',
        }
    }

    /// What stands between cells of a csv that is written.
    pub fn out_delimiter(&self, form: Form) -> u8 {
        match form {
            Form::Database | Form::Sql => self.delimiter.unwrap_or(b','),
            form => self.delimiter(form),
        }
    }
}

pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte @ (b'"' | b'\\' | b'\n' | b'\r')] => Err(format!("{byte:?} has another meaning")),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("it is one ASCII character".to_owned()),
    }
}

/// Compare two documents by meaning, whatever their formats
///
/// Prints what was added, removed, changed and moved, by path; exit 0 if nothing differs, 1 if something does. Maps are
/// compared by key, lists are aligned by what is in them, links are what they name. Bytes and text of the same
/// characters are the same, and so are a symbol and a string, 1 and 1.0; --exact tells them apart.
#[derive(Debug, Args)]
#[command(after_long_help = DIFF_EXAMPLES)]
pub struct Diff {
    #[command(flatten)]
    pub said: Reporting,
    /// The format of both files, with options; found out if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// The format of the second file, if it is another
    #[arg(long = "from-b", value_name = "FORMAT")]
    pub format_b: Option<String>,
    /// An option of the formats; the value is taken verbatim
    #[arg(long = "from-opt", value_name = "NAME[=VALUE]")]
    pub options: Vec<String>,
    /// The two files; one of them may be `-`, the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required = true)]
    pub files: Vec<PathBuf>,
    /// All counts that a program could see: kinds of strings and numbers, the order of maps, what is shared
    #[arg(long)]
    pub exact: bool,
    /// Print a list of changes as JSON (json:typed), which `icecore patch` applies
    #[arg(long)]
    pub json: bool,
    /// How changes are shown: a line each, or below their path in two columns; on a terminal in columns
    #[arg(long, value_name = "VIEW", value_enum, default_value_t = View::Auto, conflicts_with = "json")]
    pub view: View,
    /// Take the arguments that git gives to a command for differences, and end with 0
    #[arg(long)]
    pub git: bool,
}

/// How changes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    Auto,
    Lines,
    Columns,
}

/// Apply a difference that `icecore diff --json` wrote
///
/// Writes the file with the changes in its own format; what the difference does not touch keeps its spelling. A file
/// that is not what the difference was made from is refused: exit 1, and it is said where.
#[derive(Debug, Args)]
#[command(after_long_help = PATCH_EXAMPLES)]
pub struct Patch {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub said: Reporting,
    /// The file; `-` is the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The difference; the standard input if not given
    #[arg(value_name = "DIFFERENCE", value_hint = ValueHint::FilePath)]
    pub difference: Option<PathBuf>,
    /// Write to this file; it appears when it is complete
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a file that exists, but never an input; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
}

/// List the formats, or show the page of one with every option
#[derive(Debug, Args)]
#[command(after_long_help = FORMATS_EXAMPLES)]
pub struct Formats {
    /// The name of a format
    pub format: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Print the completions for a shell: bash, zsh, fish, elvish or powershell
#[derive(Debug, Args)]
pub struct Completions {
    pub shell: clap_complete::Shell,
}

/// Print the man page, or that of a command
#[derive(Debug, Args)]
pub struct Man {
    pub command: Option<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Overwrite pages that exist
    #[arg(long, requires = "out_dir")]
    pub force: bool,
}

const EXAMPLES: &str = "\
A FILE of `-`, or none, is the standard input. `icecore FILE` is `icecore inspect FILE`.

Examples:
  icecore session.storable                      what is in it
  icecore detect /var/lib/app                   what all these files are
  icecore classes --as perl cache.srl           the classes that must be allowed
  icecore convert orders.storable               JSON to the standard output
  icecore get '$.cart[0].sku' session.storable  one value of it
  icecore convert -t sereal:compress=zstd a.storable -o a.srl

Exit codes:
  0  fine
  1  a loss under --strict, or a finding: a path that an input lacks, an edit that does not fit,
     a class that no allow-list can name, a difference (diff), a file that a difference does not
     fit (patch), something that became worse (bench --fail-on)
  2  wrong usage, or a file that can't be read or written
  4  some input can't be decoded
  5  anything else";

const INSPECT_EXAMPLES: &str = "\
Examples:
  icecore session.storable
  icecore inspect --depth 2 big.srl             an overview
  icecore inspect --path '$.staff[0]' a.srl     one value
  icecore inspect --all a.srl                   every byte, by name
  icecore inspect --deep job.payload            and what is in its strings
  icecore inspect --db redis://localhost --key app_cache:user:7
  perl -MStorable=nfreeze -e 'print nfreeze([1])' | icecore";

const DETECT_EXAMPLES: &str = "\
Examples:
  icecore detect unknown.bin
  icecore detect --json /var/cache | jq -r 'select(.format == \"storable\") | .file'";

const CLASSES_EXAMPLES: &str = "\
Examples:
  icecore classes cache/
  icecore classes --deep job.payload            and in what its strings hold
  icecore classes --as perl session.storable    classes => ['Employee', 'My::Thing']";

const CONVERT_EXAMPLES: &str = "\
Examples:
  icecore convert orders.storable               compact JSON
  icecore convert -t json:indent=2,sort_keys orders.storable
  icecore convert -t json:typed a.srl -o a.json; edit a.json; icecore convert -t sereal a.json -o a.srl
  icecore convert --each log.srl                a document a line
  tail -f queue | icecore convert --each=lines -f base64/php --keep-going
  icecore convert --out-dir json/ sessions/     a whole folder
  icecore convert --deep option.ser             what was serialized twice, as one
  icecore convert --strict -t sereal a.storable -o a.srl
  icecore convert --db memcached://localhost --key user:7";

const ROWS_EXAMPLES: &str = "\
Examples:
  icecore rows --in csv --column meta_value=php wp_postmeta.csv
  icecore rows -c wp_options.option_value=php --only option_name dump.sql.gz
  mysql -B -e 'select * from jobs' shop | icecore rows --in mysql --null NULL -c payload
  psql -c 'copy cache to stdout' | icecore rows --in pgcopy --columns key,value -c value=marshal
  icecore rows --in ndjson -c session=base64/storable dump.ndjson
  icecore rows --in csv -c data=php -t csv orders.csv -o decoded.csv
  icecore rows --db sqlite:app.db --query 'select id, payload from jobs' -c payload
  icecore rows --db mongodb://localhost/app --collection pending --match '{\"state\": \"new\"}' -c object=marshal
  icecore rows --db redis://localhost/0 --match 'cache:*'
  icecore rows --db memcached://localhost --match 'user:*' -t csv -o users.csv";

const DIFF_EXAMPLES: &str = "\
Examples:
  icecore diff before.storable after.storable
  icecore diff session.php session.json         the same in two formats?
  icecore diff --json a.srl b.srl > change.json; icecore patch a.srl change.json -o c.srl
  git config diff.icecore.command 'icecore diff --git'
  echo '*.storable diff=icecore' >> .gitattributes";

const PATCH_EXAMPLES: &str = "\
Examples:
  icecore patch before.storable change.json -o after.storable
  icecore diff --json a.php b.json | icecore patch a.php > c.php";

const FORMATS_EXAMPLES: &str = "\
Examples:
  icecore formats
  icecore formats sereal";
