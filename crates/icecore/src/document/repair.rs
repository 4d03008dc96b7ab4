//! What a reader changed in the input to be able to read it.

use std::fmt;

/// A length that was wrong and was counted again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// Where the length stands in the input.
    pub offset: u64,
    /// What it said, in bytes.
    pub was: u64,
    /// What it should have said.
    pub is: u64,
    /// Of what it is the length: `string`, `key`, `class`, `payload`.
    pub what: &'static str,
    /// The path of the value that it belongs to.
    pub path: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repair { offset, was, is, what, path } = self;
        write!(f, "offset {offset}: the length of a {what} was {was} and should be {is}, at {path}")
    }
}
