//! A format made ready with its options: what it can do with bytes and documents.

pub use crate::document::Memory;
use crate::document::{Document, Receive, Tape, Windows};
use crate::error::Error;
use crate::limits::Limits;
use crate::output::{Losses, Output, Spare};
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// A format whose options were looked up. Made by [`Format::prepare`](super::Format::prepare).
///
/// Two functions make a format, [`Prepared::read`] and [`Prepared::write`]. The others
/// are what some can do better than those two.
pub trait Prepared: fmt::Debug + Send + Sync {
    /// Reads one document from the start of the input.
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a>;

    /// Reads one document from the start of the input into a tape, which is cleared
    /// first. Of one with an error the tape has what was read before it.
    fn fill(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        Filled::by_reading(limits, tape, |request| self.read(input, request))
    }

    /// Reads one document and hands over finished items of a root that is an array while
    /// reading goes on, if the [format can](super::Capabilities::hands_over). What must be
    /// decompressed first goes into the store, which the windows borrow from then.
    fn windows<'a>(
        &self,
        input: &'a [u8],
        store: &'a OnceLock<Vec<u8>>,
        limits: &Limits,
        receive: Receive<'_, 'a>,
    ) -> Rest<'a> {
        let _ = (store, receive);
        Rest::whole(self.read(input, Request::new(limits)))
    }

    /// Whether it can say of a reading [without detail](Request::detail) if the input said
    /// more than its meaning: see [`Prepared::has_own_form`].
    fn tells_own_form(&self) -> bool {
        false
    }

    /// Whether the input, which was read onto this tape, is written in another way than
    /// this format would write it.
    fn has_own_form(&self, input: &[u8], tape: &Tape) -> bool {
        let _ = (input, tape);
        true
    }

    /// Writes one document, and says what the format could not say.
    ///
    /// # Errors
    /// As for [`crate::write_to`].
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error>;

    /// As [`Prepared::write`], for documents that were read onto one and the same tape:
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

    /// Writes the next part of a document. `None`, with nothing written, if such parts
    /// can't be written: by this format, with these options, or because of what is in it.
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

/// How a document is to be read.
#[derive(Debug)]
pub struct Request<'r> {
    /// What it may cost.
    pub limits: &'r Limits,
    /// Whether spelling and spans are wanted.
    pub detail: bool,
    /// The tape to use; it is cleared first.
    pub tape: Tape,
}

impl<'r> Request<'r> {
    /// Meaning only, on a new tape.
    pub fn new(limits: &'r Limits) -> Request<'r> {
        Request { limits, detail: false, tape: Tape::new() }
    }

    /// Spelling and spans as well.
    #[must_use]
    pub fn detailed(mut self) -> Request<'r> {
        self.detail = true;
        self
    }
}

/// What a reading gave: a document as far as it went, and why it went no
/// further.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The document; a part of one if there is an error.
    pub document: Document<'a>,
    /// How many bytes of the input it took.
    pub consumed: usize,
    /// What stopped the reading.
    pub error: Option<Error>,
}

impl<'a> Outcome<'a> {
    /// Nothing was read: the options are wrong.
    pub(crate) fn refused(input: &'a [u8], request: Request<'_>, error: Error) -> Outcome<'a> {
        let mut tape = request.tape;
        tape.clear();
        Outcome { document: Document::new(input, tape), consumed: 0, error: Some(error) }
    }

    /// The document, if nothing stopped the reading and nothing is left of the
    /// input.
    pub(crate) fn whole(self, input: &[u8], format: &super::Format) -> Result<Document<'a>, Error> {
        let trailing = || (self.consumed < input.len()).then(|| Error::trailing(input, self.consumed));
        match self.error.or_else(trailing) {
            Some(error) => Err(format.explain(error)),
            None => Ok(self.document),
        }
    }
}

/// What a reading into a tape gave.
#[derive(Debug)]
pub struct Filled {
    /// How many bytes of the input the document took.
    pub consumed: usize,
    /// What stopped the reading.
    pub error: Option<Error>,
    /// What the strings of the tape are borrowed from, if that is not the input.
    pub body: Option<Vec<u8>>,
    /// It is known that there is nothing in it but arrays, maps, strings and
    /// numbers, which nothing refers to, and whose keys have ids without flags.
    pub is_simple: bool,
}

impl Filled {
    /// A reading of which the strings are borrowed from the input.
    pub(crate) fn new((consumed, error): (usize, Option<Error>)) -> Filled {
        Filled { consumed, error, body: None, is_simple: false }
    }

    /// Reads a document, and puts it into the tape.
    pub(crate) fn by_reading<'a>(
        limits: &Limits,
        tape: &mut Tape,
        read: impl FnOnce(Request<'_>) -> Outcome<'a>,
    ) -> Filled {
        let outcome = read(Request { tape: std::mem::take(tape), ..Request::new(limits) });
        let (buffer, read) = outcome.document.into_parts();
        *tape = read;
        let body = match buffer {
            Cow::Owned(body) => Some(body),
            Cow::Borrowed(_) => None,
        };
        Filled { consumed: outcome.consumed, error: outcome.error, body, is_simple: false }
    }
}

/// What is left when windows have been handed over.
#[derive(Debug)]
pub struct Rest<'a> {
    /// The last window, how far reading came, and what stopped it.
    pub outcome: Outcome<'a>,
    /// How many items were handed over in windows before.
    pub items: u64,
    /// A link turned up, and the document must be read as a whole.
    pub needs_whole: bool,
}

impl<'a> Rest<'a> {
    /// All of it: nothing was handed over.
    pub(crate) fn whole(outcome: Outcome<'a>) -> Rest<'a> {
        Rest { outcome, items: 0, needs_whole: false }
    }

    pub(crate) fn new(sink: Windows<'_, 'a>, consumed: usize, error: Option<Error>) -> Rest<'a> {
        let needs_whole = sink.stopped();
        let document = sink.into_rest();
        let items = document.tape().first_item;
        Rest { outcome: Outcome { document, consumed, error }, items, needs_whole }
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
    /// Sereal: the offset behind what was written.
    pub(crate) written: u64,
    /// Storable: how many containers are open.
    pub(crate) depth: usize,
    pub(crate) spare: Spare,
}

impl Parts {
    /// Whether a part was written.
    pub fn are_begun(&self) -> bool {
        self.begun
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
