//! The command line of `icecore replace`.

use crate::csv_style::CsvStyle;
#[cfg(feature = "store")]
use crate::database::Database;
use crate::limits;
use crate::records::Framing;
use crate::target::InPlaceArgs;
use clap::{Args, ValueHint};
use icecore_tables::charset::CharsetArg;
use icecore_tables::filter::Filter;
use std::ffi::OsString;
use std::path::PathBuf;

/// Replace text in dumps and databases, also inside frozen data
///
/// Strings inside serialized values are found at any depth, and lengths, counts and escapes are corrected; every other
/// byte stays as it was. All pairs are applied at once: the leftmost match wins, then the longest one, and replacements
/// are not searched again. Memory use does not grow with the length of the input.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, override_usage = "icecore replace [OPTIONS] OLD NEW [FILE]...\n       icecore replace [OPTIONS] -e OLD NEW [FILE]...\n       icecore replace [OPTIONS] --url https://OLD https://NEW [FILE]...\n       icecore replace [OPTIONS] --mend [FILE]...\n       icecore replace [OPTIONS] OLD NEW --db URL --table TABLE\n       icecore replace [OPTIONS] --undo FILE --db URL")]
pub struct Replace {
    /// Text to replace, its replacement, and the files; with -e, --pairs or --url, only the files
    ///
    /// Files, or folders with all files in them; `-`, or none, is the standard input. Put `--` before a text that
    /// begins with `-`.
    #[arg(value_name = "OLD NEW] [FILE", value_hint = ValueHint::AnyPath)]
    pub words: Vec<OsString>,
    /// Replace OLD with NEW; may be given several times
    #[arg(short = 'e', long = "replace", value_names = ["OLD", "NEW"], num_args = 2, allow_hyphen_values = true, action = clap::ArgAction::Append)]
    pub pairs: Vec<OsString>,
    /// Replace an address in all its spellings; may be given several times
    ///
    /// Matches OLD itself, OLD with http instead of https or the reverse (the scheme stays: only the rest of the
    /// address is replaced by that of NEW), and OLD without a scheme (//host); each of these also with `\/` as in JSON,
    /// escaped once or twice, and percent-encoded. The match must end where the host or the last folder ends:
    /// https://old.example does not match https://old.example.org, https://old.example:8080 or https://www.old.example.
    /// Slashes at the end are ignored.
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2, action = clap::ArgAction::Append)]
    pub url: Vec<OsString>,
    /// Replace all pairs in this file
    ///
    /// Each line is OLD, a tab and NEW; a .csv file has two columns, a .json file is an object. In lines, `\t`, `\n`,
    /// `\r` and `\\` mean a tab, the two line ends and a backslash. These files have no header.
    #[arg(long = "pairs", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// Treat OLD as a regular expression; not with --url
    ///
    /// In NEW, `$1` is its first group, `$$` a dollar.
    #[arg(long)]
    pub regex: bool,
    /// Ignore case: for ASCII letters, with --regex for Unicode
    #[arg(long)]
    pub ignore_case: bool,
    /// Form of the input: sql, csv, tsv, ndjson, text, or a format that `icecore formats` lists
    ///
    /// If not given, it is detected from the file name and the first bytes. In text, frozen values are not searched:
    /// that is what `sed` does.
    #[arg(long = "in", value_name = "FORM")]
    pub form: Option<String>,
    /// Charset of the input, if not UTF-8
    ///
    /// One of latin1, windows-1251, iso-8859-15, koi8-r, utf-16le, utf-32be, … OLD and NEW are given in UTF-8, and are
    /// searched for and written in the charset of the input. UTF-16 and UTF-32 are detected, and an SQL dump names its
    /// charset. With utf-8, bytes are used as they are, whatever the dump says.
    #[arg(long, value_name = "NAME", value_parser = icecore_tables::charset::parse_charset)]
    pub charset: Option<CharsetArg>,
    /// Number of bytes of a pipe to buffer for detecting its form: 64K by default
    ///
    /// They are buffered before any output. Files are examined as a whole.
    #[arg(long, value_name = "SIZE", value_parser = limits::parse_window_size)]
    pub window: Option<u64>,
    /// Read several documents from a file of FORMAT; FRAME says how they are separated
    #[arg(long, value_name = "FRAME", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents")]
    pub each: Option<Framing>,
    /// Also replace in keys of arrays and names of properties
    #[arg(long)]
    pub keys: bool,
    /// Also replace in the names of classes
    #[arg(long)]
    pub classes: bool,
    /// Also search in Base64
    ///
    /// Not for signed data: its signature would no longer be valid.
    #[arg(long)]
    pub base64: bool,
    /// Repair damaged values of PHP; does not require OLD and NEW
    ///
    /// These are values of serialize() and of sessions. A repair must explain the whole value: text was replaced, a
    /// charset or line ends were converted, NUL bytes were lost, quotes were doubled, or entities or backslashes were
    /// inserted. A value for which several explanations fit is not changed, and counts as broken.
    #[arg(long)]
    pub mend: bool,
    /// Change only this table; may be given several times
    #[arg(long = "table", value_name = "TABLE")]
    pub tables: Vec<String>,
    /// With --db: change all tables
    #[cfg(feature = "store")]
    #[arg(long, conflicts_with = "tables")]
    pub all_tables: bool,
    /// Change only this column, or TABLE.COLUMN; may be given several times
    #[arg(short = 'c', long = "column", value_name = "COLUMN")]
    pub columns: Vec<String>,
    /// Do not change this column, or TABLE.COLUMN; may be given several times
    #[arg(long = "skip-column", value_name = "COLUMN")]
    pub skipped: Vec<String>,
    /// Change only values that are frozen, not plain text
    #[arg(long)]
    pub only_serialized: bool,
    /// Show each change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub in_place_args: InPlaceArgs,
    /// Overwrite existing files, including backups
    #[arg(long)]
    pub force: bool,
    /// Write a summary as JSON to this file; `-` is the standard output
    ///
    /// It contains the counts for each table and column, the effect of each pair, and the values that look frozen and
    /// are broken, with place and reason.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,
    /// In csv and tsv: treat the first row as data; columns are called 1, 2, …
    #[arg(long)]
    pub no_header: bool,
    #[command(flatten)]
    pub csv: CsvStyle,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub database: Database,
    /// With --db: column that identifies the rows; by default the primary key
    #[cfg(feature = "store")]
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// With --db: record the progress in this file, and continue from there
    #[cfg(feature = "store")]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub resume: Option<PathBuf>,
    /// With --db: write the old values to this new file, from which --undo restores them
    ///
    /// By default, the file is icecore-NAME-DATE-TIME.undo in the current folder, where NAME is the database. It is
    /// created when the first value changes, and only its owner may read it because it contains old data. An existing
    /// file is never overwritten.
    #[cfg(feature = "store")]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "no_undo")]
    pub undo_file: Option<PathBuf>,
    /// With --db: keep no old values
    #[cfg(feature = "store")]
    #[arg(long)]
    pub no_undo: bool,
    /// Restore the values that a change replaced; FILE is its undo file
    ///
    /// A value is restored only if the row still has the value that was written; rows that have changed since, or no
    /// longer exist, are counted and not changed. --table, --column and --skip-column select values, --dry-run shows
    /// them, --resume records the progress. If there are several undo files, apply the newest one first.
    #[cfg(feature = "store")]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["pairs", "url", "file", "regex", "ignore_case", "form", "each", "keys", "classes", "base64", "mend", "only_serialized", "output", "out_dir", "in_place", "key", "undo_file", "no_undo", "no_header"])]
    pub undo: Option<PathBuf>,
    /// With --undo: allow a database other than the one of the undo file, such as a copy of it
    #[cfg(feature = "store")]
    #[arg(long, requires = "undo")]
    pub other_db: bool,
    /// With --db: number of rows to read and change in one transaction
    #[cfg(feature = "store")]
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = limits::whole_number::<u32>(1, 1_000_000))]
    pub rows: u32,
    /// Size of each read
    #[arg(long, hide = true, default_value = "256K", value_parser = limits::parse_size)]
    pub chunk: u64,
}

impl Replace {
    /// Returns the filter for the tables and columns to change.
    pub fn table_filter(&self) -> Filter {
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
