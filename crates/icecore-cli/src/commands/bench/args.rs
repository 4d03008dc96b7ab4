//! The command line of `icecore bench`.

use crate::limits;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Measure serializers side by side: the articles' experiments, or your own data
///
/// Each competitor is the real serializer: a small script that perl, php or ruby runs. Its answer is checked first,
/// then all competitors take turns in random order, in several processes each. The results are ratios, with the
/// interval in which they lie; differences that are no more than noise are called ties. Without SCENARIO all scenarios
/// are run, which takes a while; --small gives a quick impression. Ctrl-C ends a run, and its measurements are kept.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Bench {
    /// Scenarios to run; all if none is given
    #[arg(value_name = "SCENARIO", conflicts_with_all = ["data", "reports"])]
    pub scenarios: Vec<String>,
    /// List the scenarios, and what can run here
    ///
    /// Lists the competitors, too, and what is missing for them. With --json FILE, the list is written as JSON.
    #[arg(long, conflicts_with_all = ["data", "reports"])]
    pub list: bool,
    /// Measure with the data of this file; `-` is the standard input
    ///
    /// The file has any format that icecore reads. The real modules read the data, each in its own language: measure only data that you trust.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub data: Option<PathBuf>,
    /// Format of the data, with options; detected if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT", requires = "data")]
    pub format: Option<String>,
    /// Use this column of a CSV file as the data, all rows as one list
    #[arg(long, value_name = "NAME[=FORMAT]", requires = "data")]
    pub column: Option<String>,
    /// Weights of operations for ranking the competitors: write:1,read:100,size:0.1
    ///
    /// The cost of one use is the sum of the nanoseconds of each operation times its weight; the weight of size is the
    /// nanoseconds that a byte costs you (8 for a network of one gigabit). Operations are write, read, round-trip,
    /// to-json.
    #[arg(long, value_name = "NAME:N,…")]
    pub weight: Option<icecore_lab::rank::Weights>,
    /// Explain the ranking in words
    #[arg(long)]
    pub explain: bool,
    /// Show every size in full, not only the largest
    #[arg(long)]
    pub full: bool,
    /// Use only small sizes and few samples; checks that everything works
    #[arg(long)]
    pub small: bool,
    /// Number of processes for each competitor
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u32>(1, 1000))]
    pub rounds: Option<u32>,
    /// Approximate time for a scenario, in seconds; with --data 75 by default
    #[arg(long, value_name = "SECONDS", value_parser = limits::whole_number::<u64>(1, 86_400))]
    pub budget: Option<u64>,
    /// Seed of the random order
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = limits::whole_number::<u64>(0, i64::MAX))]
    pub seed: u64,
    /// Run only these competitors: perl/sereal, or a whole language: perl
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Folder with additional runners: DIR/LANGUAGE/NAME.pl
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub runners: Option<PathBuf>,
    /// Folder of Icecore's modules (`bindings`), if they are not installed
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub modules: Option<PathBuf>,
    /// Python interpreter for competitors, if `python3` lacks their packages
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::FilePath)]
    pub python: Option<PathBuf>,
    /// Show reports that --json wrote, instead of measuring; several are merged into one
    #[arg(long = "show", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub reports: Vec<PathBuf>,
    /// Write everything as JSON, including raw samples
    ///
    /// `-` is the standard output, here and for other files.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write a row for each competitor and operation
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// With --csv: put `'` before cells that a spreadsheet would take for a formula
    #[arg(long, requires = "csv")]
    pub csv_safe: bool,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// Write a self-contained page with charts
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Write each chart as an SVG file to this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub charts: Option<PathBuf>,
    /// Overwrite files that exist, but never one that is read
    #[arg(long)]
    pub force: bool,
    /// Compare with the report of an earlier run: ratios to the baseline, sizes, fidelity
    #[arg(long, value_name = "OLD.json", value_hint = ValueHint::FilePath)]
    pub compare: Option<PathBuf>,
    /// With --compare: exit 1 if something became worse by more than this: 10%
    #[arg(long, value_name = "PERCENT", requires = "compare")]
    pub fail_on: Option<icecore_lab::compare::Threshold>,
}

const EXAMPLES: &str = "\
Examples:
  icecore bench --list                          what can run here, and what is missing
  icecore bench --small                         a quick look at everything
  icecore bench perl-mix --html mix.html        one experiment, as a page with charts
  icecore bench --data session.storable --weight write:1,read:100,size:0.1 --explain
  icecore bench --data meta.csv --column meta_value=php
  icecore bench perl-mix --json new.json --compare old.json --fail-on 10%
  icecore bench --show docs/bench/report.json --markdown tables.md";
