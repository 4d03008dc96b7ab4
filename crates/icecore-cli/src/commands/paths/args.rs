//! The command line of `paths`.

use crate::arguments::{DisplayArgs, Inputs, ReadArgs};
use clap::Args;

/// Print every path with its value, one per line
///
/// For `grep` and similar tools: a path, a tab, and the value as JSON, whatever it contains. An array or a map has a
/// line of its own only if it is empty or if --depth hides its items. `icecore get` accepts these paths.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Paths {
    #[command(flatten)]
    pub from: ReadArgs,
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Also show the frozen data in strings
    #[arg(long)]
    pub deep: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore paths session.storable | grep @example.org
  icecore paths --depth 2 --items 3 big.srl     an overview
  diff <(icecore paths a.storable) <(icecore paths b.srl)";
