//! Files to write: they appear when they are complete.

mod folder;
mod place;
mod unfinished;

pub use folder::Folder;
pub use place::{Id, Outputs, Place};

use crate::report::{Stop, code, plain};
use crate::sink::Sink;
use std::io;
use std::path::Path;
use unfinished::Unfinished;

/// Where a conversion goes.
pub struct Target {
    pub sink: Sink,
    file: Option<Unfinished>,
}

impl Target {
    pub fn new(place: Place) -> Result<Target, Stop> {
        Ok(match place {
            Place::Stdout => Target { sink: Sink::stdout(), file: None },
            Place::Open(path) => {
                let file = place::open(&path).map_err(|error| failed(&path, &error))?;
                Target { sink: Sink::new(Box::new(file), path.display().to_string()), file: None }
            }
            Place::File(place) => {
                let name = place.path.display().to_string();
                let (file, unfinished) = Unfinished::new(place)?;
                Target { sink: Sink::new(Box::new(file), name), file: Some(unfinished) }
            }
        })
    }

    /// Writes a text.
    pub fn text(place: Place, text: &str) -> Result<(), Stop> {
        let mut target = Target::new(place)?;
        target.sink.text(text)?;
        target.keep()
    }

    /// Whether this is a file that appears in the end.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// All was written.
    pub fn keep(mut self) -> Result<(), Stop> {
        self.sink.flush()?;
        self.file.map_or(Ok(()), Unfinished::keep)
    }
}

fn failed(path: &Path, error: &io::Error) -> Stop {
    Stop::Failed(code::USAGE, format!("{}: {}", path.display(), plain(error)))
}
