//! Repairs: changes of the input that a reader made so that it could be read.

use super::Explanation;
use std::fmt;
use std::sync::Arc;

/// A wrong length that was corrected. Other values of `subject` mean:
///
/// - `visibility`: the name of a property got its NUL bytes back; `new_len` is its new length;
/// - `whole`: a change of the whole text was undone;
/// - `text`: a string of this length contains a serialized text whose own lengths are wrong and stay wrong, because
///   there is more than one way to correct them;
/// - `rest`: bytes after the document were ignored.
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
    /// Offset of the length in the input.
    pub offset: u64,
    /// The stated length, in bytes.
    pub old_len: u64,
    /// The correct length.
    pub new_len: u64,
    /// The thing that has this length: `string`, `key`, `class`, `payload`, `name`, or one of the words above.
    pub subject: &'static str,
    /// The path of the value that it belongs to.
    pub path: String,
    /// What happened to the text: the same in all repairs of a document.
    pub explanation: Option<Arc<Explanation>>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repair { offset, old_len, new_len, subject, path, .. } = self;
        if *subject == "visibility" {
            return write!(f, "offset {offset}: a name of a property got its NUL bytes back, at {path}");
        }
        if *subject == "whole" {
            return write!(f, "the whole text had {old_len} bytes and now has {new_len}");
        }
        if *subject == "text" {
            return write!(
                f,
                "offset {offset}: a serialized text in a string has wrong lengths, which were not changed, at {path}"
            );
        }
        if *subject == "rest" {
            let bytes = if *old_len == 1 { "byte" } else { "bytes" };
            return write!(f, "offset {offset}: {old_len} {bytes} that the template does not read were left out");
        }
        write!(f, "offset {offset}: the length of a {subject} was {old_len} and should be {new_len}, at {path}")
    }
}
