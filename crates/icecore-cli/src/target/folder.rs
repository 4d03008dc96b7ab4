//! A folder that mirrors the folders of the input.

use super::{Outputs, Target};
use crate::report::{Abort, code, io_reason};
use crate::source::Source;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub struct OutputFolder {
    top: PathBuf,
    outputs: Outputs,
    /// Number of inputs that have the same path except for the extension.
    same_stem_counts: HashMap<PathBuf, usize>,
}

impl OutputFolder {
    pub fn new(top: &Path, outputs: Outputs, sources: &[Source]) -> OutputFolder {
        let mut alike = HashMap::new();
        for source in sources {
            *alike.entry(source.below.with_extension("")).or_default() += 1;
        }
        OutputFolder { top: top.to_owned(), outputs, same_stem_counts: alike }
    }

    /// Opens the output file for an input, or returns why it is not written.
    pub fn open_target(&mut self, source: &Source, extension: &str) -> Result<Target, Abort> {
        self.open_target_at(source, &self.target_path(&source.below, extension))
    }

    /// Opens the output file under the name of the input.
    pub fn open_same_name(&mut self, source: &Source) -> Result<Target, Abort> {
        self.open_target_at(source, &self.top.join(&source.below))
    }

    fn open_target_at(&mut self, source: &Source, path: &Path) -> Result<Target, Abort> {
        // The destination is known only once its folder exists.
        if let Some(folder) = path.parent() {
            let failed = |error: io::Error| {
                let reason = match error.kind() {
                    io::ErrorKind::AlreadyExists => "this is a file, not a folder".to_owned(),
                    _ => io_reason(&error),
                };
                Abort::Failed(code::USAGE, format!("{}: {reason}", folder.display()))
            };
            fs::create_dir_all(folder).map_err(failed)?;
        }
        Target::new(self.outputs.destination_for(source, path)?)
    }

    /// Returns the path of an output: `a.storable` becomes `a.json`; if there is also an `a.srl`, `a.storable.json`.
    fn target_path(&self, below: &Path, extension: &str) -> PathBuf {
        let path = self.top.join(below);
        if self.same_stem_counts.get(&below.with_extension("")).is_none_or(|count| *count < 2) {
            return path.with_extension(extension);
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(extension);
        path.with_file_name(name)
    }
}
