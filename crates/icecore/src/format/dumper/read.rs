//! The reader.

use super::options::ReadOptions;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::format::{Outcome, Request};

/// Reads a text from the start of the input.
pub fn read_outcome<'a>(input: &'a [u8], _options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { mut tape, .. } = request;
    tape.clear();
    Outcome { document: Document::new(input, tape), consumed: 0, error: Some(Error::new(ErrorKind::Unsupported)) }
}
