//! Repairs: what a reader changed in the input so that it could be read.

use std::fmt;

/// A length that was wrong and was counted again; with the word `rest`, bytes
/// behind the document that were left out; or, with the word `text`, a
/// string of this length that holds a serialized text whose own lengths are
/// wrong, and stay so, because there is more than one way to count them.
///
/// ```
/// use icecore::{Limits, Stage};
/// let stage = Stage::parse("php:repair=lengths")?;
/// let document = icecore::read_as("s:1:\"é\";".as_bytes(), &stage, &Limits::default())?;
/// assert_eq!(document.repairs().len(), 1);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// Where the length stands in the input.
    pub offset: u64,
    /// What it said, in bytes.
    pub was: u64,
    /// What it should have said.
    pub is: u64,
    /// Of what it is the length: `string`, `key`, `class`, `payload`, `text`, `rest`.
    pub what: &'static str,
    /// The path of the value that it belongs to.
    pub path: String,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repair { offset, was, is, what, path } = self;
        if *what == "text" {
            return write!(
                f,
                "offset {offset}: a serialized text in a string has wrong lengths, which stay, at {path}"
            );
        }
        if *what == "rest" {
            let bytes = if *was == 1 { "byte" } else { "bytes" };
            return write!(f, "offset {offset}: {was} {bytes} that the template leaves left out");
        }
        write!(f, "offset {offset}: the length of a {what} was {was} and should be {is}, at {path}")
    }
}
