//! Errors of a store.

use std::fmt;

/// Kinds of errors, for programs that act on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The database address is invalid, or its driver is not in this build.
    Address,
    /// The database can't be reached, or the connection was lost. The call may be repeated.
    Away,
    /// The database file was moved, deleted or replaced while it was open. The call may be repeated when the file is
    /// back. Until then nothing is stored.
    Moved,
    /// The database has tables of a version that this program does not know.
    Schema,
    /// There is no object, job or queue with this name.
    Missing,
    /// Another object already has this key.
    Taken,
    /// The caller does not hold the lease of the job, or no longer holds it.
    Lease,
    /// The queue is paused and hands out nothing.
    Paused,
    /// The queue has reached its limit and hands out nothing more for now.
    Limited,
    /// Invalid input, such as a path, a name or a payload.
    Input,
    /// The disk is full, or the database has reached its size limit.
    Full,
    /// Another client held a lock for longer than this client waits for one. The call may be repeated.
    Busy,
    /// Any other error of the database.
    Database,
}

/// An error of a store.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// Creates an error with a message for people. The message must not contain credentials.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns whether the same call may succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, ErrorKind::Away | ErrorKind::Busy | ErrorKind::Moved)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Result of the calls of this crate.
pub type Result<T> = std::result::Result<T, Error>;
