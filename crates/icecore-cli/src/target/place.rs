//! Where commands write, by their arguments.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// A file or a folder that is written: the standard output, if none is said.
#[derive(Debug, Args)]
pub struct OutputPlace {
    /// Write to this file; it appears when it is complete
    ///
    /// It is never an input. A new file may be read by whom the inputs may be read by; one that exists keeps its owner
    /// and its permissions.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write a file for each input into this folder, which mirrors the folders of the input
    ///
    /// It has the name of the input. `convert` and `rows` give it the extension of what they write; where two would be
    /// called the same, the extension is put after the whole name. `icecore formats --json` says the extensions.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
}

/// Where what changed is written: there, or in the place of the input.
#[derive(Debug, Args)]
pub struct Place {
    #[command(flatten)]
    pub written: OutputPlace,
    /// Change the files themselves; what they were is kept beside them as FILE.bak
    ///
    /// A file in which nothing changes is left alone, without a copy. The changed one takes its place when it is complete.
    #[arg(long, conflicts_with_all = ["output", "out_dir"])]
    pub in_place: bool,
    /// With --in-place: what is put after the name of a file for the one that is kept
    #[arg(long, value_name = "SUFFIX", default_value = ".bak", requires = "in_place")]
    pub backup: String,
}
