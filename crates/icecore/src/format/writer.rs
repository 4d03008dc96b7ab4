//! Writing a format: a document in, bytes out.

pub use crate::document::Memory;
use crate::document::{self, Document, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::output::{Losses, Output, Spare};
use std::fmt;

/// The writer of a format, with its options.
///
/// [`Writer::write`] is the only required method. Some formats override others that they can
/// implement faster.
pub trait Writer: fmt::Debug + Send + Sync {
    /// Returns `true` if it can tell, for a reading [without detail](super::Request::detail), if the input
    /// has more than its meaning: see [`Reader::has_own_form`](super::Reader::has_own_form).
    fn tells_own_form(&self) -> bool {
        false
    }

    /// Returns true if it writes the values that an object frozen by a hook of Perl refers to. For other writers, they
    /// become a part of its payload.
    fn keeps_hook_values(&self) -> bool {
        false
    }

    /// Returns the flag among the options of the format that a document has by its own form, so that new values in it
    /// are written in the same form. The document was read with its detail.
    fn flag_of_form(&self, document: &Document<'_>) -> Option<&'static str> {
        let _ = document;
        None
    }

    /// Writes one document. Returns its losses.
    ///
    /// # Errors
    /// As for [`crate::write_to`].
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error>;

    /// Like [`Writer::write`], for documents that were read onto the same tape: the
    /// content of the memory is used again.
    ///
    /// # Errors
    /// As for [`crate::write_to`].
    fn write_next(
        &self,
        document: &Document<'_>,
        limits: &Limits,
        memory: &mut Memory,
        out: &mut dyn Output,
    ) -> Result<Losses, Error> {
        let _ = memory;
        self.write(document, limits, out)
    }

    /// Writes the document that was read onto this tape, if there is a fast way. Returns `false`,
    /// with nothing written, if not.
    fn write_tape(&self, input: &[u8], tape: &Tape, memory: &mut Memory, out: &mut dyn Output) -> bool {
        let _ = (input, tape, memory, out);
        false
    }

    /// Appends a document that a program filled, if there is a fast way without losses. Returns
    /// false, with nothing appended, if not.
    fn write_filled(&self, document: &Document<'_>, limits: &Limits, spare: &mut Spare, buf: &mut Vec<u8>) -> bool {
        let _ = (document, limits, spare, buf);
        false
    }

    /// Writes the next part of a document. Writes nothing and returns `None` if the format, its
    /// options or the content of the part do not allow it.
    fn write_part(
        &self,
        document: &Document<'_>,
        part: DocumentPart<'_>,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Option<Result<Losses, Error>> {
        let _ = (document, part, limits, out);
        None
    }
}

/// A part of a document.
#[derive(Debug)]
pub enum DocumentPart<'p> {
    /// The next items of an array whose length is not known yet: a window.
    Items {
        /// Number of items written before; if there are any, no opening bracket is written.
        before: u64,
        /// Number of items at the front that are skipped.
        skip: u64,
        /// Whether more items follow; then no closing bracket is written.
        more: bool,
    },
    /// The next nodes in pre-order, whose containers have their counts; their ends are ignored.
    /// If they contain anything but arrays, maps with plain keys, strings and numbers, the whole
    /// document must be written in another way, and the output so far discarded.
    Nodes(&'p mut PartProgress),
}

/// Progress of a document that is written in parts.
#[derive(Debug, Default)]
pub struct PartProgress {
    pub(crate) has_begun: bool,
    /// Whether no part reads what earlier parts wrote.
    pub(crate) is_final: bool,
    /// Sereal: offset after the written bytes.
    pub(crate) written: u64,
    /// Storable: number of open containers.
    pub(crate) depth: usize,
    pub(crate) spare: Spare,
    /// Other state that a format keeps between parts.
    pub(crate) memory: document::Memory,
}

impl PartProgress {
    /// Returns `true` if a part was written.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns `true` if the caller may take away what the parts wrote so far.
    pub fn is_final(&self) -> bool {
        self.has_begun && self.is_final
    }

    /// Returns `true` if every container has all its children (Storable).
    pub(crate) fn is_complete(&self) -> bool {
        self.depth == 0 && self.spare.open.first().is_some_and(|root| root.remaining == 0)
    }

    /// Removes the document, but keeps its memory for the next one.
    pub fn clear(&mut self) {
        *self = PartProgress { spare: std::mem::take(&mut self.spare), ..PartProgress::default() };
    }
}
