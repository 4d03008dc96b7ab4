//! The command line of `get`.

use crate::arguments::{DEFAULT_TARGET, DisplayArgs, Inputs, ReadArgs};
use clap::Args;

/// Print the values on a path, without reading the rest
///
/// Prints each value as JSON on a line of its own. Only the values that the path names are read; the rest is skipped
/// and not checked. An item of a list is found even if the file breaks off after it; a map is searched to its end,
/// because the last of equal keys counts. A large file is read in parts, so memory does not grow with it. Where that is
/// not possible (a compressed file, a value that links to others outside, `..`, --each, --deep), the whole file is
/// read, which is slower. A path that an input lacks is a finding: exit 1.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Get {
    /// Path, as `inspect` and `paths` show it: '$.staff[0].name'
    ///
    /// `[-1]` is the last item, `[1:5]` the items from 1 up to, but not including, 5, `[*]` or `.*` all children,
    /// `..name` the name at any depth. A key in quotes may contain any characters: '$["first name"]'. Ruby's symbols
    /// are written as strings, members of objects by their plain names; if a hash has both, `[:name]` is the symbol and `.name`
    /// the last of them. A search (`*`, `..name`) prints a shared value once,
    /// at its first place.
    #[arg(value_name = "PATH")]
    pub path: String,
    #[command(flatten)]
    pub from: ReadArgs,
    #[command(flatten)]
    pub inputs: Inputs,
    /// Print strings as they are, without quotes and escapes
    #[arg(short, long)]
    pub raw: bool,
    /// Print the path of each value and a tab before it; with several inputs, also the input
    #[arg(short, long)]
    pub paths: bool,
    /// Format of the values, with options: json:indent=2
    #[arg(short = 't', long = "to", value_name = "FORMAT", default_value = DEFAULT_TARGET)]
    pub to: String,
    /// Option of the output's format; the value is taken verbatim
    #[arg(long = "to-opt", value_name = "NAME[=VALUE]")]
    pub to_options: Vec<String>,
    /// Treat a loss as an error: exit 1, and write no value that has one
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Follow the path into frozen data in strings
    #[arg(long)]
    pub deep: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore get '$.cart[0].sku' session.storable
  icecore get -r '$[*].name' staff.srl          a name a line
  icecore get -p '..email' sessions/            where addresses are, in a whole folder
  icecore get '$[-1]' -t php employees.storable
  icecore get --each '$.user' log.srl           of each document of a log
  icecore get --deep '$.data.command.to' job.payload";
