//! The command line: the one table that help, completions and man pages come
//! from.

pub use crate::commands::bench::Bench;
pub use crate::commands::edit::Edit;
use crate::commands::formats::Formats;
use crate::commands::manual::{Completions, Man};
pub use crate::commands::replace::Replace;
#[cfg(feature = "serve")]
use crate::commands::serve::Serve;
use crate::commands::{
    classes::Classes, convert::Convert, detect::Detect, diff::Diff, get::Get, inspect::Inspect, patch::Patch,
    paths::Paths, query::Query, rows::Rows,
};
#[cfg(feature = "store")]
use crate::commands::{keyed::Keyed, queue::Queue, store::Store, work::Work};
use crate::limits::{self, Bounds};
use crate::records::Frame;
use crate::report::{Abort, Report, code};
use crate::said;
use crate::screen::Paging;
use crate::source::Source;
use crate::terminal::{self, Most};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use icecore::Stage;
use std::path::PathBuf;

/// What is written, if nothing else is asked for.
pub const DEFAULT_TARGET: &str = crate::form::JSON;

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
    /// for each byte of the input, 256 if not said; steps: of a filter of `query`, 1G if not said; memory: bytes that
    /// its values hold at a time, 1G if not said.
    /// Numbers may end in K, M or G. A number alone says how many items of each list and map are shown by `inspect`,
    /// `paths`, `get` and `query`, and how many changes by `diff`: `--limit 100`.
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
    /// Say nothing of losses, show no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Global {
    /// A number of items is for those who show items, and bounds of filters for those who run filters.
    pub fn check(&self, command: &Command) -> Result<(), Abort> {
        if (self.limit.steps.is_some() || self.limit.memory.is_some()) && !matches!(command, Command::Query(_)) {
            let text = "`--limit steps=N` and `--limit memory=N` bound the filters of `query`".to_owned();
            return Err(Abort::Failed(code::USAGE, text));
        }
        match (self.limit.items, command) {
            (None, _)
            | (_, Command::Inspect(_) | Command::Paths(_) | Command::Get(_) | Command::Query(_) | Command::Diff(_)) => {
                Ok(())
            }
            (Some(items), _) => {
                let text = format!(
                    "`--limit {items}` is for `inspect`, `paths`, `get`, `query` and `diff`; bounds are NAME=N: \
                     --limit depth={items}"
                );
                Err(Abort::Failed(code::USAGE, text))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
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
    Rows(Box<Rows>),
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
            | Command::Get(Get { said, .. })
            | Command::Paths(Paths { said, .. })
            | Command::Diff(Diff { said, .. })
            | Command::Patch(Patch { said, .. }) => said.report,
            Command::Query(query) => query.said.report,
            Command::Rows(rows) => rows.said.report,
            Command::Edit(edit) => edit.said.report,
            #[cfg(feature = "store")]
            Command::Store(Store { said, .. })
            | Command::Queue(Queue { said, .. })
            | Command::Work(Work { said, .. }) => said.report,
            _ => said::Form::default(),
        }
    }
}

impl Command {
    /// Whether what it prints is for reading, and no data.
    pub fn is_for_reading(&self) -> bool {
        match self {
            Command::Inspect(_)
            | Command::Detect(_)
            | Command::Classes(_)
            | Command::Query(_)
            | Command::Get(_)
            | Command::Paths(_)
            | Command::Bench(_)
            | Command::Formats(_) => true,
            Command::Replace(replace) => replace.dry_run,
            // Git pages by itself.
            Command::Diff(diff) => !diff.git,
            #[cfg(feature = "store")]
            Command::Store(store) => store.action.is_for_reading(),
            #[cfg(feature = "store")]
            Command::Queue(queue) => queue.action.is_for_reading(),
            _ => false,
        }
    }

    /// Whether it works on something, and ends when that is done.
    pub fn is_work(&self) -> bool {
        match self {
            Command::Formats(_) | Command::Completions(_) | Command::Man(_) => false,
            #[cfg(feature = "serve")]
            Command::Serve(_) => false,
            #[cfg(feature = "store")]
            Command::Work(_) => false,
            _ => true,
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

/// How much of values is shown.
#[derive(Debug, Args)]
pub struct Shown {
    /// Show N levels of values only
    ///
    /// What is deeper is shown as how many there are: `{…3}`. `--limit N` says how many items of each list and map are
    /// shown.
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
}

impl Shown {
    /// How much of the JSON that is written so is shown; `None`: all.
    pub fn most(&self, global: &Global, to: &Stage, has_paths: bool) -> Result<Option<Most>, Abort> {
        let items = global.limit.items;
        if self.depth.is_none() && items.is_none() {
            return Ok(None);
        }
        if !terminal::is_json(to) {
            let text = format!("--depth and `--limit N` are for JSON that people read, not for {}", to.name());
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

/// A character that stands between values.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte @ (b'"' | b'\\' | b'\n' | b'\r')] => Err(format!("{byte:?} has another meaning")),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("it is one ASCII character".to_owned()),
    }
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
  5  anything else

Recipes for each command, with what they print: docs/cookbook/README.md of the source.";
