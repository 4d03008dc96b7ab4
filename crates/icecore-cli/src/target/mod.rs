//! Output files. They appear only when they are complete.

mod destination;
mod folder;
pub mod format;
mod in_place;
mod output_args;
mod unfinished;

pub use destination::{Destination, FileDestination, Outputs};
pub use folder::OutputFolder;
pub use in_place::{DEFAULT_BACKUP_SUFFIX, InPlaceFile, leave_out_backups};
pub use output_args::{InPlaceArgs, OutputArgs};

use crate::output_writer::OutputWriter;
use crate::report::{Abort, code, io_reason};
use std::io;
use std::path::Path;
use unfinished::UnfinishedFile;

/// Output of a conversion.
pub struct Target {
    pub writer: OutputWriter,
    file: Option<UnfinishedFile>,
}

impl Target {
    pub fn new(destination: Destination) -> Result<Target, Abort> {
        Ok(match destination {
            Destination::Stdout => Target { writer: OutputWriter::stdout(), file: None },
            Destination::Direct(path) => {
                let file = self::destination::open_for_writing(&path).map_err(|error| file_error(&path, &error))?;
                Target { writer: OutputWriter::new(Box::new(file), path.display().to_string()), file: None }
            }
            Destination::File(destination) => {
                let name = destination.path.display().to_string();
                let (file, unfinished) = UnfinishedFile::new(destination)?;
                Target { writer: OutputWriter::new(Box::new(file), name), file: Some(unfinished) }
            }
        })
    }

    /// Writes a text as the whole output.
    pub fn write_text(destination: Destination, text: &str) -> Result<(), Abort> {
        let mut target = Target::new(destination)?;
        target.writer.write_text(text)?;
        target.complete_output()
    }

    /// Returns true if the output is a file that appears when it is complete.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the rest of the output. A file gets its final name.
    pub fn complete_output(mut self) -> Result<(), Abort> {
        self.writer.flush()?;
        self.file.map_or(Ok(()), UnfinishedFile::complete_file)
    }
}

fn file_error(path: &Path, error: &io::Error) -> Abort {
    Abort::Failed(code::USAGE, format!("{}: {}", path.display(), io_reason(error)))
}
