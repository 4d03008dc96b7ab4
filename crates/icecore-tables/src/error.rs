//! Why rows can't be read, changed or written.

use std::fmt::{self, Display, Formatter};
use std::io;

/// Why rows can't be read, changed or written, in words for the person who asked for it.
#[derive(Debug)]
pub enum Error {
    /// The request contradicts itself, or asks for something that does not exist.
    Usage(String),
    /// The input is not as it should be.
    Input(String),
    /// The output can't be made, or the machine refuses something.
    Other(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The engine refuses the request, for this reason.
    pub fn of_usage(error: icecore::Error) -> Error {
        Error::Usage(error.to_string())
    }

    /// An input can't be read.
    pub fn of_input(error: &io::Error) -> Error {
        let is_bad = matches!(
            error.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof
        );
        if is_bad { Error::Input(io_reason(error)) } else { Error::Usage(io_reason(error)) }
    }
}

impl Display for Error {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let (Error::Usage(text) | Error::Input(text) | Error::Other(text)) = self;
        to.write_str(text)
    }
}

impl std::error::Error for Error {}

/// A request that can't be met, in these words.
pub(crate) fn usage(message: impl Into<String>) -> Error {
    Error::Usage(message.into())
}

/// An I/O error without its number.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
