//! A folder that mirrors the folders of the input.

use super::{Outputs, Target};
use crate::report::{Abort, code, io_reason};
use crate::source::Source;
use std::fs;
use std::path::{Path, PathBuf};

pub struct Folder {
    top: PathBuf,
    outputs: Outputs,
}

impl Folder {
    pub fn new(top: &Path, outputs: Outputs) -> Folder {
        Folder { top: top.to_owned(), outputs }
    }

    /// The file for an input; or why it is not written.
    pub fn target(&mut self, source: &Source, extension: &str) -> Result<Target, Abort> {
        let path = self.top.join(&source.below).with_extension(extension);
        // Where it leads is known only when it is there.
        if let Some(folder) = path.parent() {
            let failed = |error| Abort::Failed(code::USAGE, format!("{}: {}", folder.display(), io_reason(&error)));
            fs::create_dir_all(folder).map_err(failed)?;
        }
        Target::new(self.outputs.place_for(source, &path)?)
    }
}
