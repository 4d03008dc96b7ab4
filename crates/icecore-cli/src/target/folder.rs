//! A folder that mirrors the folders of the input.

use super::{Outputs, Target};
use crate::report::{Abort, code, io_reason};
use crate::source::Source;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of `--out-dir`.
pub struct OutputFolder {
    root: PathBuf,
    outputs: Outputs,
    /// For each path of an input without its extension, the number of inputs that have it.
    same_stem_counts: HashMap<PathBuf, usize>,
}

impl OutputFolder {
    pub fn new(root: &Path, outputs: Outputs, sources: &[Source]) -> OutputFolder {
        let mut counts = HashMap::new();
        for source in sources {
            *counts.entry(source.relative_path.with_extension("")).or_default() += 1;
        }
        OutputFolder { root: root.to_owned(), outputs, same_stem_counts: counts }
    }

    /// Opens the output file for an input, with the extension of the output format.
    pub fn open_target(&mut self, source: &Source, extension: &str) -> Result<Target, Abort> {
        self.open_target_at(source, &self.target_path(&source.relative_path, extension))
    }

    /// Opens the output file for an input, with the name of the input.
    pub fn open_same_name(&mut self, source: &Source) -> Result<Target, Abort> {
        self.open_target_at(source, &self.root.join(&source.relative_path))
    }

    fn open_target_at(&mut self, source: &Source, path: &Path) -> Result<Target, Abort> {
        // The destination can be resolved only when its folder exists.
        if let Some(folder) = path.parent() {
            let folder_error = |error: io::Error| {
                let reason = match error.kind() {
                    io::ErrorKind::AlreadyExists => "this is a file, not a folder".to_owned(),
                    _ => io_reason(&error),
                };
                Abort::Failed(code::USAGE, format!("{}: {reason}", folder.display()))
            };
            fs::create_dir_all(folder).map_err(folder_error)?;
        }
        Target::new(self.outputs.destination_for(source, path)?)
    }

    /// Returns the path of an output: `a.storable` becomes `a.json`; if there is also an `a.srl`, `a.storable.json`.
    fn target_path(&self, relative_path: &Path, extension: &str) -> PathBuf {
        let path = self.root.join(relative_path);
        if self.same_stem_counts.get(&relative_path.with_extension("")).is_none_or(|count| *count < 2) {
            return path.with_extension(extension);
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(extension);
        path.with_file_name(name)
    }
}
