//! What can go wrong.

use std::fmt;

/// Kinds of errors, for programs that decide by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address of a database is not understood, or its driver is not in this build.
    Address,
    /// The database can't be reached, or went away. The call may be made again.
    Away,
    /// The file of the database was moved, deleted or replaced while it was open. The call may be
    /// made again when the file is back; until then nothing is stored.
    Moved,
    /// The database is there, and has tables of a version that this program does not know.
    Schema,
    /// There is no object, job or queue of this name.
    Missing,
    /// Another object has this key.
    Taken,
    /// The lease of a job is not this caller's, or no longer.
    Lease,
    /// The queue is paused: it hands out nothing.
    Paused,
    /// The queue has a limit, which is reached: it hands out nothing more at this time.
    Limited,
    /// What was given makes no sense: a path, a name, a payload.
    Input,
    /// The disk is full, or the database allows no more.
    Full,
    /// Others hold what is needed, for longer than was waited. The call may be made again.
    Busy,
    /// Anything else that the database said.
    Database,
}

/// An error of a store.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error with words for people, which must hold no credentials.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// Of which kind it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same call may succeed a little later.
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

/// What the calls of this crate return.
pub type Result<T> = std::result::Result<T, Error>;
