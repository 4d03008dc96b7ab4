//! Files to write: they appear when they are complete.

mod destination;
mod folder;
pub mod format;
mod in_place;
mod output_args;
mod unfinished;

pub use destination::{Destination, FileDestination, Outputs};
pub use folder::OutputFolder;
pub use in_place::InPlaceFile;
pub use output_args::{InPlaceArgs, OutputArgs};

use crate::report::{Abort, code, io_reason};
use crate::sink::Sink;
use std::io;
use std::path::Path;
use unfinished::UnfinishedFile;

/// Output of a conversion.
pub struct Target {
    pub sink: Sink,
    file: Option<UnfinishedFile>,
}

impl Target {
    pub fn new(place: Destination) -> Result<Target, Abort> {
        Ok(match place {
            Destination::Stdout => Target { sink: Sink::stdout(), file: None },
            Destination::Open(path) => {
                let file = destination::open_for_writing(&path).map_err(|error| file_error(&path, &error))?;
                Target { sink: Sink::new(Box::new(file), path.display().to_string()), file: None }
            }
            Destination::File(place) => {
                let name = place.path.display().to_string();
                let (file, unfinished) = UnfinishedFile::new(place)?;
                Target { sink: Sink::new(Box::new(file), name), file: Some(unfinished) }
            }
        })
    }

    /// Writes a text.
    pub fn write_text(place: Destination, text: &str) -> Result<(), Abort> {
        let mut target = Target::new(place)?;
        target.sink.write_text(text)?;
        target.complete_output()
    }

    /// Returns whether this is a file that appears when it is complete.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Finishes the output: a file gets its name.
    pub fn complete_output(mut self) -> Result<(), Abort> {
        self.sink.flush()?;
        self.file.map_or(Ok(()), UnfinishedFile::complete_file)
    }
}

fn file_error(path: &Path, error: &io::Error) -> Abort {
    Abort::Failed(code::USAGE, format!("{}: {}", path.display(), io_reason(error)))
}
