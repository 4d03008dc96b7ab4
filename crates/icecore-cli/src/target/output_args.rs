//! Arguments for where commands write.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// The file or folder to write; the standard output by default.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Write to this file; it appears when it is complete
    ///
    /// It is never an input. A new file has the read permissions of the inputs; an existing one keeps its owner and its
    /// permissions.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write a file for each input to this folder, which mirrors the folders of the inputs
    ///
    /// Each file has the name of its input. `convert` and `rows` give it the extension of the output format; if two
    /// files would have the same name, the extension is added to the full name instead. `icecore formats --json` lists
    /// the extensions.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
}

/// Where changed files are written: elsewhere, or in place of the input.
#[derive(Debug, Args)]
pub struct InPlaceArgs {
    #[command(flatten)]
    pub output_args: OutputArgs,
    /// Change the files themselves, and keep backups
    ///
    /// The original is kept as FILE.bak. A file in which nothing changes is not touched, and gets no backup. The changed file replaces the original when
    /// it is complete. The backup of a PHP session (sess_ID) is named .sess_ID.bak, because PHP neither treats this as
    /// a session nor deletes it.
    #[arg(short, long, conflicts_with_all = ["output", "out_dir"])]
    pub in_place: bool,
    /// With --in-place: suffix of backups; '' keeps none
    #[arg(long, value_name = "SUFFIX", default_value = super::DEFAULT_BACKUP_SUFFIX, requires = "in_place")]
    pub backup: String,
}
