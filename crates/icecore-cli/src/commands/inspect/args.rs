//! The command line of `inspect`.

use crate::arguments::{DisplayArgs, Inputs, ReadArgs};
use clap::Args;

/// Show what is in a file: offsets, bytes, types, values
///
/// Shows the fields of the header, then one value per line, with its offset, first bytes, type and value. If the input
/// breaks off or is invalid, everything read up to that point is shown, then the error.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Inspect {
    #[command(flatten)]
    pub from: ReadArgs,
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Show only the values on this path: `$.staff[0].name`
    ///
    /// Accepts every path that a message or a table shows, including paths whose middle is omitted; with --deep, paths
    /// continue into strings that are frozen data. A path that an input lacks is a finding: exit 1.
    #[arg(long)]
    pub path: Option<String>,
    /// Show all bytes by name, and all items of long lists
    ///
    /// Without it, only the first 32 items of a list are shown; --items sets another number, also with --all.
    #[arg(long)]
    pub all: bool,
    /// Also show the frozen data in strings
    ///
    /// A string is opened if all of it is in a format that is detected as sure or likely; for JSON, if it is an object
    /// or an array that is not empty. Offsets are offsets in the file if the file contains the string unchanged;
    /// otherwise they count from the start of the string and begin with `+`.
    #[arg(long)]
    pub deep: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore session.storable
  icecore inspect --depth 2 big.srl             an overview
  icecore inspect --path '$.staff[0]' a.srl     one value
  icecore inspect --all a.srl                   every byte, by name
  icecore inspect --deep job.payload            and what is in its strings
  icecore inspect --db redis://localhost --key app_cache:user:7
  perl -MStorable=nfreeze -e 'print nfreeze([1])' | icecore";
