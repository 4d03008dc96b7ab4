//! A folder that mirrors the folders of the input.

use super::{Outputs, Target};
use crate::report::{Abort, code, io_reason};
use crate::source::Source;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub struct Folder {
    top: PathBuf,
    outputs: Outputs,
    /// Number of inputs that have the same path except for the extension.
    alike: HashMap<PathBuf, usize>,
}

impl Folder {
    pub fn new(top: &Path, outputs: Outputs, sources: &[Source]) -> Folder {
        let mut alike = HashMap::new();
        for source in sources {
            *alike.entry(source.below.with_extension("")).or_default() += 1;
        }
        Folder { top: top.to_owned(), outputs, alike }
    }

    /// Opens the output file for an input, or returns why it is not written.
    pub fn target(&mut self, source: &Source, extension: &str) -> Result<Target, Abort> {
        self.target_at(source, &self.path(&source.below, extension))
    }

    /// Opens the output file under the name of the input.
    pub fn target_as(&mut self, source: &Source) -> Result<Target, Abort> {
        self.target_at(source, &self.top.join(&source.below))
    }

    fn target_at(&mut self, source: &Source, path: &Path) -> Result<Target, Abort> {
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
        Target::new(self.outputs.place_for(source, path)?)
    }

    /// Returns the path of an output: `a.storable` becomes `a.json`; if there is also an `a.srl`, `a.storable.json`.
    fn path(&self, below: &Path, extension: &str) -> PathBuf {
        let path = self.top.join(below);
        if self.alike.get(&below.with_extension("")).is_none_or(|count| *count < 2) {
            return path.with_extension(extension);
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(extension);
        path.with_file_name(name)
    }
}
