//! A prepared format: its options are looked up.

use super::{Filled, Outcome, ReadScalar, Reader, Request, Writer};
use crate::document::{Document, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::output::{Output, Written};

/// A format whose options were looked up. Made by
/// [`Format::prepare`](super::Format::prepare).
#[derive(Debug)]
pub struct Prepared {
    /// Reads bytes onto a tape.
    pub reader: Box<dyn Reader>,
    /// Writes a document as bytes.
    pub writer: Box<dyn Writer>,
}

/// Options that may be invalid: the error is reported when they are used.
impl<R: Reader> Reader for Result<R, Error> {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        match self {
            Ok(reader) => reader.read(input, request),
            Err(error) => Outcome::from_refusal(input, request, error.clone()),
        }
    }

    fn fill_tape(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        match self {
            Ok(reader) => reader.fill_tape(input, limits, tape),
            Err(_) => Filled::by_reading(limits, tape, |request| self.read(input, request)),
        }
    }

    fn scalar_reader(&self, input: &[u8]) -> Option<ReadScalar> {
        self.as_ref().ok()?.scalar_reader(input)
    }
}

impl<W: Writer> Writer for Result<W, Error> {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        self.as_ref().map_err(Error::clone)?.write(document, limits, out)
    }
}
