//! The command line of `inspect`.

use crate::arguments::{From, Inputs, Shown};
use clap::Args;

/// Show what is in a file: offsets, bytes, types, values
///
/// Shows a value a line, with its offset, its first bytes, its type and the value; before them the fields of the
/// header. Where the input breaks off or breaks the rules, what was read up to there is shown, then what is wrong.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Inspect {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub inputs: Inputs,
    #[command(flatten)]
    pub shown: Shown,
    /// Show only what is on this path, for example `$.staff[0].name`
    ///
    /// Every path that a message or a table shows is understood, also those whose middle is left out; with --deep
    /// paths lead on into strings that are frozen data. A path that an input lacks is a finding: exit 1.
    #[arg(long)]
    pub path: Option<String>,
    /// Show every piece of the input with its name, and all items of long lists
    ///
    /// Otherwise the first 32 items of a list are shown; --items says how many, with --all too.
    #[arg(long)]
    pub all: bool,
    /// Show what is in strings that are frozen data themselves
    ///
    /// A string counts if it is, as a whole, in a format that is detected as sure or likely; of JSON, if it is an
    /// object or an array that is not empty. Offsets are those of the file where the string stands there as it is;
    /// elsewhere they count from the start of the string and have a `+` before them.
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
