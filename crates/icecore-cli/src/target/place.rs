//! Where commands that change files write.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Where what changed is written: to the standard output, if nothing is said.
#[derive(Debug, Args)]
pub struct Place {
    /// Write to this file; it appears when it is complete, and is never an input
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["out_dir", "in_place"])]
    pub output: Option<PathBuf>,
    /// Write a file for each input into this folder, which mirrors the folders of the input
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "in_place")]
    pub out_dir: Option<PathBuf>,
    /// Change the files themselves; what they were is kept beside them as FILE.bak
    ///
    /// A file in which nothing changes is left alone, without a copy. The changed one takes its place when it is complete.
    #[arg(long)]
    pub in_place: bool,
    /// With --in-place: what is put behind the name of a file for the one that is kept
    #[arg(long, value_name = "SUFFIX", default_value = ".bak", requires = "in_place")]
    pub backup: String,
}
