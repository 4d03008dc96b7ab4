//! Arguments that several commands share.

#[cfg(feature = "store")]
use crate::keyed::Keyed;
use crate::limits::{self, Bounds};
use crate::paint::When;
use crate::records::Frame;
use crate::report::{Abort, Report, code};
use crate::said;
use crate::screen::Paging;
use crate::source::Source;
use crate::terminal::{self, Most};
use clap::{Args, ValueHint};
use icecore::Stage;
use std::path::PathBuf;

/// What is written, if nothing else is asked for.
pub const DEFAULT_TARGET: &str = icecore_tables::form::JSON;

/// Arguments of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "For all commands")]
pub struct Global {
    /// Bounds on what reading and writing may cost
    ///
    /// depth: nesting; nodes: values; string: bytes of a string; decompressed: bytes after decompression, 256M
    /// if not said; ratio: decompressed to compressed, none if not said; expansion: values from copies and
    /// links to bytes; digits: of an integer; output: bytes of a document that is written; growth: bytes written
    /// for each byte of the input, 256 if not said; steps: of a filter of `query`, 1G if not said; memory: bytes that
    /// its values hold at a time, 1G if not said.
    /// Numbers may end in K, M or G.
    #[arg(long, global = true, value_name = "NAME=N,…", value_parser = limits::parse, default_value = "", hide_default_value = true)]
    pub limit: Bounds,
    /// When to use colour
    ///
    /// always: in a pipe too, but for data: what `convert`, `rows`, `edit`, `patch` and `replace` write there has none.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = When::Auto, hide_possible_values = false)]
    pub color: When,
    /// When output on a terminal goes to a pager
    ///
    /// The pager is that of $ICECORE_PAGER, of $PAGER, or `less -FRX`; `cat`, or nothing, is none. For reading is what
    /// is no data: so not what `convert`, `rows`, `edit`, `patch` and `replace` write.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Paging::Auto, hide_possible_values = false)]
    pub paging: Paging,
    /// How losses, notes and errors are written to stderr
    ///
    /// json: an object a line, with type (error, loss, note, end), file, record, code, kind, count, format, offset,
    /// layer, path, expected, found, help and message, as far as they are known; the last has type end, the exit code,
    /// and how many inputs there were. Wrong usage is told as text in every case.
    #[arg(long, global = true, value_name = "FORM", value_enum, default_value_t = said::ReportForm::Text)]
    pub report: said::ReportForm,
    /// Say nothing of losses, show no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// In which format the input is.
#[derive(Debug, Args)]
pub struct InputFormat {
    /// The format of the input, with options: sereal:refuse_objects
    ///
    /// Found out if not given.
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub name: Option<String>,
    /// An option of the input's format; the value is taken verbatim
    #[arg(long = "from-opt", value_name = "NAME[=VALUE]")]
    pub options: Vec<String>,
}

/// How input is read.
#[derive(Debug, Args)]
pub struct From {
    #[command(flatten)]
    pub format: InputFormat,
    /// Read several documents, one behind the other, one by one; JSON lines are lines
    ///
    /// Records with lengths or marks between them are for `icecore convert --each=FRAME`.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "documents", hide_possible_values = true, value_name = "documents")]
    each: Option<OneByOne>,
}

impl From {
    /// The frames of the documents, if there are several.
    pub fn each(&self) -> Option<Frame> {
        self.each.map(|OneByOne::Documents| Frame::Documents)
    }
}

/// The frame of documents that stand one behind the other.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OneByOne {
    Documents,
}

/// How much of values is shown.
#[derive(Debug, Args)]
pub struct Shown {
    /// Show N levels of values only
    ///
    /// What is deeper is shown as how many there are: `{…3}`.
    #[arg(long, value_name = "N", value_parser = limits::levels)]
    pub depth: Option<u32>,
    /// Show N items of each list and map only; of differences, N in all
    ///
    /// Numbers may end in K, M or G.
    #[arg(long, value_name = "N", value_parser = limits::items)]
    pub items: Option<u64>,
}

impl Shown {
    /// How much of the JSON that is written so is shown; `None`: all.
    pub fn most(&self, to: &Stage, has_paths: bool) -> Result<Option<Most>, Abort> {
        let items = self.items;
        if self.depth.is_none() && items.is_none() {
            return Ok(None);
        }
        if !terminal::is_json(to) {
            let text = format!("--depth and --items are for JSON that people read, not for {}", to.name());
            return Err(Abort::Failed(code::USAGE, text));
        }
        let depth = self.depth.map_or(usize::MAX, |depth| depth as usize);
        Ok(Some(Most { depth, items: items.unwrap_or(u64::MAX), has_paths }))
    }
}

/// Which inputs are read.
#[derive(Debug, Args)]
pub struct Inputs {
    /// Files, or folders with all that is in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    pub keyed: Keyed,
}

impl Inputs {
    /// What is read.
    pub fn sources(&self, report: &mut Report) -> Result<Vec<Source>, Abort> {
        #[cfg(feature = "store")]
        return self.keyed.sources(&self.files, report);
        #[cfg(not(feature = "store"))]
        Ok(Source::all(&self.files, report))
    }
}
