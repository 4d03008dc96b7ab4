//! The command line of `diff`.

use crate::arguments::DEFAULT_TARGET;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Compare two documents by meaning, whatever their formats
///
/// Prints what was added, removed, changed and moved, by path; exit 0 if nothing differs, 1 if something does. Maps are
/// compared by key, lists are aligned by their contents, and links are compared by their targets. Bytes and text with
/// the same characters are equal, and so are a symbol and a string, and 1 and 1.0; --exact distinguishes them.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Diff {
    /// Format of both files, with options; detected if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// Format of the second file, if it differs
    #[arg(long = "from-b", value_name = "FORMAT")]
    pub format_b: Option<String>,
    /// Option of the formats; the value is taken verbatim
    #[arg(long = "from-opt", value_name = "NAME[=VALUE]")]
    pub options: Vec<String>,
    /// The two files; one of them may be `-`, the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required = true)]
    pub files: Vec<PathBuf>,
    /// Compare everything that a program could see
    ///
    /// This includes the kinds of strings and numbers, the order of maps, and shared values.
    #[arg(long)]
    pub exact: bool,
    /// Print a list of changes as JSON (json:typed), which `icecore patch` applies
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub display: crate::arguments::DisplayArgs,
    /// How to show changes
    ///
    /// lines: one per line; columns: in two columns below their path; auto: in columns on a terminal.
    #[arg(long, value_name = "VIEW", value_enum, default_value_t = DiffView::Auto, conflicts_with = "json")]
    pub view: DiffView,
    /// Write to this file; it appears when it is complete; `-` is the standard output
    ///
    /// NAME.json gets the list of changes, as with --json, unless --view is given.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a file that exists, but never an input
    #[arg(long)]
    pub force: bool,
    /// Accept the arguments that git passes to an external diff command, and exit with 0
    #[arg(long)]
    pub git: bool,
}

impl Diff {
    /// Returns true if the list of changes is written as JSON.
    pub fn is_json(&self) -> bool {
        let has_json_extension = |path: &PathBuf| path.extension().is_some_and(|extension| extension == DEFAULT_TARGET);
        self.json || self.view == DiffView::Auto && self.output.as_ref().is_some_and(has_json_extension)
    }
}

/// How changes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffView {
    Auto,
    Lines,
    Columns,
}

const EXAMPLES: &str = "\
Examples:
  icecore diff before.storable after.storable
  icecore diff session.php session.json         the same in two formats?
  icecore diff a.srl b.srl -o change.json; icecore patch a.srl change.json -o c.srl
  git config diff.icecore.command 'icecore diff --git'
  echo '*.storable diff=icecore' >> .gitattributes";
