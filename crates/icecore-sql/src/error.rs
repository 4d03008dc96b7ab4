//! Errors of the reader.

use std::fmt;

/// Reason why a dump can't be read further.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A literal is longer than [`Options::literal`](crate::Options).
    LongLiteral {
        /// Offset of its beginning in the dump.
        offset: u64,
        /// The limit.
        limit: usize,
    },
    /// The names of tables and columns take more than [`Options::names`](crate::Options).
    ManyNames {
        /// The current offset in the dump.
        offset: u64,
        /// The limit.
        limit: usize,
    },
    /// The dump is in an encoding in which a backslash may be the second byte of a character.
    Encoding {
        /// The current offset in the dump.
        offset: u64,
        /// The declared encoding.
        name: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::LongLiteral { offset, limit } => write!(
                f,
                "the literal at byte {offset} is longer than {limit} bytes: the dump is cut off or in another dialect, or the limit must be raised"
            ),
            Error::ManyNames { offset, limit } => write!(
                f,
                "up to byte {offset} the names of tables and columns take more than {limit} bytes: this is not a dump, or the limit must be raised"
            ),
            Error::Encoding { offset, name } => write!(
                f,
                "up to byte {offset} the dump declares the charset {name}, in which a backslash may be half of a character: create it with --default-character-set=utf8mb4 (pg_dump: --encoding=UTF8), or convert it with iconv and change the declaration"
            ),
        }
    }
}

impl std::error::Error for Error {}
