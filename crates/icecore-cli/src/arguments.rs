//! Arguments that several commands share.

#[cfg(feature = "store")]
use crate::key_args::KeyArgs;
use crate::limits::{self, CommandLimits, LimitSetting};
use crate::paint::ColorMode;
use crate::records::Framing;
use crate::report::{Abort, Report, code};
use crate::report_message;
use crate::screen::Paging;
use crate::source::Source;
use crate::terminal::{self, DisplayLimits};
use clap::{Args, ValueHint};
use icecore::Stage;
use std::path::PathBuf;

/// Name of the default output format.
pub const DEFAULT_TARGET: &str = icecore_tables::form::JSON;

/// Arguments of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = crate::short_help::COMMON_HEADING)]
pub struct Global {
    /// Limit what reading and writing may cost
    ///
    /// NAME is one of: depth: levels of nesting; nodes: number of values; string: bytes of one string; decompressed:
    /// bytes after decompression, 256M by default; ratio: decompressed size to compressed size, not limited by default, and not checked up to 16M;
    /// expansion: values that copies and links create, per byte of the input; digits: digits of an integer; output:
    /// bytes of a written document; growth: bytes written for each byte of the input, 256 by default; steps: steps of a
    /// filter of `query`, 1G by default; memory: bytes that the values of such a filter hold at a time, 1G by default.
    /// Numbers may end in K, M or G.
    #[arg(long = "limit", global = true, value_name = "NAME=N,…", value_delimiter = ',', value_parser = limits::parse_limit)]
    limit_settings: Vec<LimitSetting>,
    /// The limits of the engine and of filters, from all --limit.
    #[arg(skip)]
    pub limits: CommandLimits,
    /// When to use colour
    ///
    /// always: also in a pipe, except for data: what `convert`, `rows`, `edit`, `patch` and `replace` write to a pipe
    /// has no colour.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorMode::Auto, hide_possible_values = false)]
    pub color: ColorMode,
    /// When to send terminal output to a pager
    ///
    /// The pager is $ICECORE_PAGER, $PAGER or `less -FRX`; `cat` or an empty value turns it off. Only output for
    /// reading is paged, not the data that `convert`, `rows`, `edit`, `patch` and `replace` write.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Paging::Auto, hide_possible_values = false)]
    pub paging: Paging,
    /// How to write losses, notes and errors to stderr
    ///
    /// json: one object per line, with type (error, loss, note, end), file, record, code, kind, count, format, offset,
    /// layer, path, expected, found, help and message, as far as they are known. The last object has type end, the exit
    /// code and the number of inputs. Usage errors are always text.
    #[arg(long, global = true, value_name = "FORM", value_enum, default_value_t = report_message::ReportForm::Text)]
    pub report: report_message::ReportForm,
    /// Do not report losses or show progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Global {
    /// Combines the settings of all --limit.
    pub fn set_limits(&mut self) {
        self.limits = CommandLimits::from_settings(&self.limit_settings);
    }
}

/// Format of the input.
#[derive(Debug, Args)]
pub struct InputFormat {
    /// Format of the input, with options: sereal:refuse_objects
    ///
    /// Detected if not given.
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub name: Option<String>,
    /// Option of the input's format; the value is taken verbatim
    #[arg(long = "from-opt", value_name = "NAME[=VALUE]")]
    pub options: Vec<String>,
}

/// How input is read.
#[derive(Debug, Args)]
pub struct ReadArgs {
    #[command(flatten)]
    pub format: InputFormat,
    /// Read several documents one by one
    ///
    /// The documents follow one another without separators; for JSON, each line is a document. For records with lengths
    /// or marks between them, use `icecore convert --each=FRAME`.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents", hide_possible_values = true, value_name = "documents")]
    each: Option<OneByOne>,
}

impl ReadArgs {
    /// Returns [`Framing::Documents`] with `--each`, and `None` for inputs of one document.
    pub fn document_framing(&self) -> Option<Framing> {
        self.each.map(|OneByOne::Documents| Framing::Documents)
    }
}

/// The only value of `--each` for commands that read documents without separators.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OneByOne {
    Documents,
}

/// How much of each value is shown.
#[derive(Debug, Args)]
pub struct DisplayArgs {
    /// Show only N levels of values
    ///
    /// Deeper containers are shown as their number of items: `{…3}`.
    #[arg(long, value_name = "N", value_parser = limits::parse_levels, allow_negative_numbers = true)]
    pub depth: Option<u32>,
    /// Show only N items of each list and map; of differences, N in total
    ///
    /// Numbers may end in K, M or G.
    #[arg(long, value_name = "N", value_parser = limits::parse_item_count, allow_negative_numbers = true)]
    pub items: Option<u64>,
}

impl DisplayArgs {
    /// Returns how much to show of JSON written in the format `to`; `None` means all. `has_paths` is true if each
    /// line begins with a path.
    pub fn display_limits(&self, to: &Stage, has_paths: bool) -> Result<Option<DisplayLimits>, Abort> {
        let items = self.items;
        if self.depth.is_none() && items.is_none() {
            return Ok(None);
        }
        if !terminal::writes_json(to) {
            let text = format!("--depth and --items shorten JSON; {} is written as a whole", to.name());
            return Err(Abort::Failed(code::USAGE, text));
        }
        let depth = self.depth.map_or(usize::MAX, |depth| depth as usize);
        Ok(Some(DisplayLimits { depth, items: items.unwrap_or(u64::MAX), has_paths }))
    }
}

/// The inputs of a command.
#[derive(Debug, Args)]
pub struct Inputs {
    /// Files, or folders with all files in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub key_args: KeyArgs,
}

impl Inputs {
    /// Returns the sources to read.
    pub fn find_sources(&self, report: &mut Report) -> Result<Vec<Source>, Abort> {
        #[cfg(feature = "store")]
        return self.key_args.find_sources(&self.files, report);
        #[cfg(not(feature = "store"))]
        Ok(Source::find_all(&self.files, report))
    }
}
