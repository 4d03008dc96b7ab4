//! Errors of the lab itself. A competitor that fails is not an error: it is absent, and the report says why.

use std::fmt;
use std::path::Path;

/// An error as a sentence that says what to do.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// Creates an error with this text.
    pub fn new(text: impl Into<String>) -> Error {
        Error(text.into())
    }

    /// Creates an error for a file or folder that could not be read, written or created.
    pub fn io(path: &Path, error: &std::io::Error) -> Error {
        Error(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<icecore::Error> for Error {
    fn from(error: icecore::Error) -> Error {
        Error(error.to_string())
    }
}
