//! Writing a format: a document in, bytes out.

pub use crate::document::Memory;
use crate::document::{self, Document, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::output::{Losses, Output, Spare};
use std::fmt;

/// The writer of a format, with its options.
///
/// [`Writer::write`] makes it. The others are what some can do better.
pub trait Writer: fmt::Debug + Send + Sync {
    /// Whether it can say of a reading [without detail](super::Request::detail) if the input said
    /// more than its meaning: see [`Reader::has_own_form`](super::Reader::has_own_form).
    fn tells_own_form(&self) -> bool {
        false
    }

    /// Writes one document. Returns its losses.
    ///
    /// # Errors
    /// As for [`crate::write_to`].
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error>;

    /// As [`Writer::write`], for documents that were read onto one and the same tape:
    /// what is in the memory is used again.
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

    /// Writes the document that was read onto this tape, if that is quickly done; says
    /// no, and writes nothing, if not.
    fn write_tape(&self, input: &[u8], tape: &Tape, memory: &mut Memory, out: &mut dyn Output) -> bool {
        let _ = (input, tape, memory, out);
        false
    }

    /// Appends a document that a program filled, if that is quickly done and nothing is lost;
    /// says no, and appends nothing, if not.
    fn write_filled(&self, document: &Document<'_>, limits: &Limits, spare: &mut Spare, buf: &mut Vec<u8>) -> bool {
        let _ = (document, limits, spare, buf);
        false
    }

    /// Writes the next part of a document. `None`, with nothing written, if the format, its
    /// options or the content of the part do not allow it.
    fn write_part(
        &self,
        document: &Document<'_>,
        part: Part<'_>,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Option<Result<Losses, Error>> {
        let _ = (document, part, limits, out);
        None
    }
}

/// What a part of a document is.
#[derive(Debug)]
pub enum Part<'p> {
    /// The next items of an array whose length is not known yet: a window.
    Items {
        /// How many items were written before: no opening bracket then.
        before: u64,
        /// How many items at the front are left out.
        skip: u64,
        /// Whether more will follow: no closing bracket then.
        more: bool,
    },
    /// The next nodes in pre-order, whose containers have their counts. Where they end is
    /// not looked at. If there is anything else in them than arrays, maps with plain keys,
    /// strings and numbers, the whole has to be written otherwise, and what was written
    /// before thrown away.
    Nodes(&'p mut Parts),
}

/// How far a document is that is written in parts.
#[derive(Debug, Default)]
pub struct Parts {
    pub(crate) begun: bool,
    /// Whether no part looks at what those before it wrote.
    pub(crate) is_final: bool,
    /// Sereal: the offset behind what was written.
    pub(crate) written: u64,
    /// Storable: how many containers are open.
    pub(crate) depth: usize,
    pub(crate) spare: Spare,
    /// What else a format keeps from part to part.
    pub(crate) memory: document::Memory,
}

impl Parts {
    /// Whether a part was written.
    pub fn are_begun(&self) -> bool {
        self.begun
    }

    /// Whether the caller may take away what the parts wrote so far.
    pub fn are_final(&self) -> bool {
        self.begun && self.is_final
    }

    /// Whether every container has all its children (Storable).
    pub(crate) fn is_complete(&self) -> bool {
        self.depth == 0 && self.spare.open.first().is_some_and(|root| root.left == 0)
    }

    /// Forgets what was written, but keeps its memory for the next document.
    pub fn clear(&mut self) {
        *self = Parts { spare: std::mem::take(&mut self.spare), ..Parts::default() };
    }
}
