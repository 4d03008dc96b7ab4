//! The command line of `icecore replace`.

use crate::csv_style::CsvStyle;
#[cfg(feature = "store")]
use crate::database::Database;
use crate::limits;
use crate::records::Frame;
use crate::target::Place;
use clap::{Args, ValueHint};
use icecore_tables::charset::CharsetArg;
use icecore_tables::filter::Filter;
use std::ffi::OsString;
use std::path::PathBuf;

/// Replace text in dumps and databases, also inside what is frozen in them
///
/// Strings inside of serialized values are found however deep they are, and lengths, counts and escapes come out right;
/// every other byte stays as it was. All pairs act at once: the leftmost match counts, of several the longest, and what
/// was put in is not looked at again. Memory stays the same however long the input is.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, override_usage = "icecore replace [OPTIONS] OLD NEW [FILE]...\n       icecore replace [OPTIONS] -e OLD NEW [FILE]...\n       icecore replace [OPTIONS] --url https://OLD https://NEW [FILE]...\n       icecore replace [OPTIONS] --mend [FILE]...\n       icecore replace [OPTIONS] OLD NEW --db URL --table TABLE\n       icecore replace [OPTIONS] --undo FILE --db URL")]
pub struct Replace {
    /// The text to replace, what it becomes, and the files; only files, where -e, --pairs or --url says what to replace
    ///
    /// Files, or folders with all that is in them; `-`, or none, is the standard input. `--` stands before a text that
    /// begins with `-`.
    #[arg(value_name = "OLD NEW] [FILE", value_hint = ValueHint::AnyPath)]
    pub words: Vec<OsString>,
    /// Replace OLD by NEW; may be given several times
    #[arg(short = 'e', long = "replace", value_names = ["OLD", "NEW"], num_args = 2, allow_hyphen_values = true, action = clap::ArgAction::Append)]
    pub pairs: Vec<OsString>,
    /// Replace an address in all its spellings; may be given several times
    ///
    /// Found are OLD itself, OLD with the other one of http and https (which stays: only the rest of the address becomes
    /// NEW's), and OLD without a scheme (//host); each of these also with `\/` as in JSON, once or twice escaped, and
    /// percent-encoded. It ends where the host or the last folder ends: of https://old.example, https://old.example.org and
    /// https://old.example:8080 are others, and so is https://www.old.example. Slashes at the end are ignored.
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2, action = clap::ArgAction::Append)]
    pub url: Vec<OsString>,
    /// Replace all pairs of this file: OLD, a tab and NEW on each line; of a .csv file two columns, of a .json file an object
    ///
    /// In lines, `\t`, `\n`, `\r` and `\\` are a tab, the two line ends and a backslash. No file has a header.
    #[arg(long = "pairs", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// OLD is a regular expression, `$1` in NEW its first group, `$$` a dollar; not with --url
    #[arg(long)]
    pub regex: bool,
    /// A and a are the same: the letters of ASCII, with --regex those of Unicode
    #[arg(short = 'i', long)]
    pub ignore_case: bool,
    /// How the input is written: sql, csv, tsv, ndjson, text, or a format as `icecore formats` lists them
    ///
    /// Found out by the name of the file and its first bytes, if not given. In text nothing is looked for inside of frozen
    /// values: it is what `sed` does.
    #[arg(long = "in", value_name = "FORM")]
    pub form: Option<String>,
    /// In what the input is, if not in UTF-8: latin1, windows-1251, iso-8859-15, koi8-r, utf-16le, utf-32be, …
    ///
    /// OLD and NEW are given in UTF-8, and looked for and written in the charset of the input. UTF-16 and UTF-32 are
    /// found out, and a dump of SQL says in what it is. With utf-8, bytes are taken as they are, whatever the dump says.
    #[arg(long, value_name = "NAME", value_parser = icecore_tables::charset::parse)]
    pub charset: Option<CharsetArg>,
    /// How much of a pipe is held to find out how it is written, before anything is: 64K if nothing is said
    ///
    /// Files are looked at as a whole.
    #[arg(long, value_name = "SIZE", value_parser = limits::window)]
    pub window: Option<u64>,
    /// A file of FORMAT holds several documents; FRAME says how they are told apart
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents")]
    pub each: Option<Frame>,
    /// Replace in keys of arrays and names of properties as well
    #[arg(long)]
    pub keys: bool,
    /// Replace in the names of classes as well
    #[arg(long)]
    pub classes: bool,
    /// Look into Base64 as well
    ///
    /// Not for data that is signed: its signature would no longer fit.
    #[arg(long)]
    pub base64: bool,
    /// Repair damaged values of serialize() and of sessions; alone it needs no OLD and NEW
    ///
    /// What happened must explain all of a value: text was replaced, a charset or line ends were converted, NUL bytes got
    /// lost, quotes were doubled, entities or backslashes put in. What several explanations fit stays, and counts as broken.
    #[arg(long)]
    pub mend: bool,
    /// Only in this table; may be given several times
    #[arg(long = "table", value_name = "TABLE")]
    pub tables: Vec<String>,
    /// Only in this column, or in TABLE.COLUMN; may be given several times
    #[arg(short = 'c', long = "column", value_name = "COLUMN")]
    pub columns: Vec<String>,
    /// Not in this column, or not in TABLE.COLUMN; may be given several times
    #[arg(long = "skip-column", value_name = "COLUMN")]
    pub skipped: Vec<String>,
    /// Only in values that are frozen: plain text stays
    #[arg(long)]
    pub only_serialized: bool,
    /// Show what would change, value by value, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub place: Place,
    /// Overwrite files that exist, also those that were kept by an earlier --in-place
    #[arg(long)]
    pub force: bool,
    /// Write what was done as JSON into this file; `-` is the standard output
    ///
    /// Counts for each table and column, what each pair did, and what looks frozen and is broken, with place and reason.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
    /// In csv and tsv: the first row is data; columns are called 1, 2, …
    #[arg(long)]
    pub no_header: bool,
    #[command(flatten)]
    pub csv: CsvStyle,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub database: Database,
    /// With --db: the column that tells the rows apart; the primary key, if not given
    #[cfg(feature = "store")]
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// With --db: note in this file how far it came, and go on from there
    #[cfg(feature = "store")]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub resume: Option<PathBuf>,
    /// With --db: write the old values to this new file, from which --undo puts them back
    ///
    /// Not given, it is icecore-NAME-DATE-TIME.undo in the current folder, with the name of the database. It is made when the
    /// first value changes, and only its owner may read it: it has old data in it. A file that exists is never overwritten.
    #[cfg(feature = "store")]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "no_undo")]
    pub undo_file: Option<PathBuf>,
    /// With --db: keep no old values
    #[cfg(feature = "store")]
    #[arg(long)]
    pub no_undo: bool,
    /// Put the values back that a change of a database wrote: FILE is the undo file that it made
    ///
    /// Only where a row still holds what was written; rows that changed since, or are gone, are counted and left alone.
    /// --table, --column and --skip-column choose among the values, --dry-run shows them, --resume notes how far it came.
    /// Of several undo files the newest comes first.
    #[cfg(feature = "store")]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["pairs", "url", "file", "regex", "ignore_case", "form", "each", "keys", "classes", "base64", "mend", "only_serialized", "output", "out_dir", "in_place", "key", "undo_file", "no_undo", "no_header"])]
    pub undo: Option<PathBuf>,
    /// With --undo: the database may be another one than the undo file was made of, such as a copy
    #[cfg(feature = "store")]
    #[arg(long, requires = "undo")]
    pub other_db: bool,
    /// With --db: how many rows are read and changed in a transaction
    #[cfg(feature = "store")]
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rows: u32,
    /// How much is read at once
    #[arg(long, hide = true, default_value = "256K", value_parser = limits::size)]
    pub chunk: u64,
}

impl Replace {
    /// Which tables and columns are changed.
    pub fn filter(&self) -> Filter {
        Filter::new(&self.tables, &self.columns, &self.skipped)
    }
}

const EXAMPLES: &str = "\
Examples:
  icecore replace --url https://old.example https://new.example dump.sql -o new.sql
  icecore replace 'Old Ltd' 'New Ltd' --skip-column guid --in-place dump.sql
  icecore replace -e /var/www/old /srv/new -e old@example.org new@example.org dump.sql --dry-run
  mysqldump shop | icecore replace --url http://shop.test https://shop.example --in sql | mysql other
  icecore replace 'user-(\\d+)' 'member-$1' --regex --in csv users.csv -o members.csv
  icecore replace --mend --in sql careless.sql -o mended.sql
  icecore replace old new session.storable -o changed.storable
  icecore replace old new --db mysql://me@localhost/shop --table wp_options --dry-run
  icecore replace --undo icecore-shop-20261129-051233.undo --db mysql://me@localhost/shop";
