//! The command line of `paths`.

use crate::arguments::{From, Inputs, Shown};
use clap::Args;

/// Print every path with its value, a line each
///
/// For `grep` and the like: a path, a tab, and the value as JSON, whatever is in it. An array or a map has a line of
/// its own only if it is empty, or not shown because of --depth. `icecore get` takes the paths.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Paths {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub shown: Shown,
    /// Show what is in strings that are frozen data themselves
    #[arg(long)]
    pub deep: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore paths session.storable | grep @example.org
  icecore paths --depth 2 --items 3 big.srl     an overview
  diff <(icecore paths a.storable) <(icecore paths b.srl)";
