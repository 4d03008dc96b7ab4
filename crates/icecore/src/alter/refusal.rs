//! Reasons why alterations were not made.

use crate::error::Error;
use std::fmt;

/// Reason why a document was not changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing is on a path.
    Absent {
        /// The path.
        path: String,
        /// What is there instead, if known.
        reason: Option<Error>,
    },
    /// The value on a path can't be altered this way.
    Unfit(Error),
    /// The input can't be read.
    Unreadable(Error),
    /// The result can't be written.
    Unwritable(Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Absent { path, reason: None } => write!(f, "nothing at `{path}`"),
            Refusal::Absent { reason: Some(error), .. }
            | Refusal::Unfit(error)
            | Refusal::Unreadable(error)
            | Refusal::Unwritable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}
