//! Why rows can't be read, changed or written.

use std::fmt::{self, Display, Formatter};
use std::io;

/// Why rows can't be read, changed or written, in words for the user.
#[derive(Debug)]
pub enum Error {
    /// The request is contradictory, or names something that does not exist.
    Usage(String),
    /// The input is invalid.
    Input(String),
    /// The output can't be created, or the system refuses something.
    Other(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns the error for a request that the engine refuses.
    pub fn from_engine(error: icecore::Error) -> Error {
        Error::Usage(error.to_string())
    }

    /// Returns the error for an input that can't be read.
    pub fn from_io(error: &io::Error) -> Error {
        let is_invalid_input = matches!(
            error.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof
        );
        if is_invalid_input { Error::Input(io_reason(error)) } else { Error::Usage(io_reason(error)) }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (Error::Usage(text) | Error::Input(text) | Error::Other(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Error {}

/// Returns the error for a request that can't be met.
pub(crate) fn usage_error(message: impl Into<String>) -> Error {
    Error::Usage(message.into())
}

/// Returns the text of an I/O error without its number.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
