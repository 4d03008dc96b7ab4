//! Runs a format's machine with each sink: a tape, a tape with detail, or windows.

use super::skim::{Input, Skim};
use super::stencil::ReadScalar;
use super::{Filled, Format, Outcome, Reader, Request, Rest, Store};
use crate::document::{Detailed, Document, NO_NODE, Receive, Sink, Tape, TracedWindows, Windows};
use crate::error::Error;
use crate::limits::Limits;
use std::fmt;

/// A format's reader with its options.
pub(crate) trait Feed {
    /// The format whose spelling is recorded.
    const FORMAT: &'static Format;

    /// Feeds one document from the start of the input to the sink. Returns how far it
    /// got, and the error that stopped it.
    fn feed<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>);

    /// See [`Reader::skim`].
    fn skim<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        let _ = input;
        None
    }

    /// See [`Reader::scalars`].
    fn scalars(&self, input: &[u8]) -> Option<ReadScalar> {
        let _ = input;
        None
    }
}

/// Consumes the bytes after a document, which a lenient reading ignores.
pub(crate) fn ignore_rest<S: Sink>(input: &[u8], consumed: usize, sink: &mut S) -> (usize, Option<Error>) {
    if let Some(detail) = sink.detail() {
        detail.span(consumed, input.len(), NO_NODE, "ignored");
    }
    (input.len(), None)
}

/// Reads one document, with detail if it is wanted.
pub(crate) fn read<'a, F: Feed>(reader: &F, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    tape.clear_for(F::FORMAT.can.naming);
    if !detail {
        let (consumed, error) = reader.feed(input, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    let mut sink = Detailed { tape, ..Detailed::default() };
    F::FORMAT.name.clone_into(&mut sink.detail.spelling.format);
    let (consumed, error) = reader.feed(input, limits, &mut sink);
    if error.is_some() {
        // Open containers end where reading did.
        for extent in sink.detail.trace.extents.iter_mut().filter(|extent| extent.end == 0) {
            extent.end = consumed as u64;
        }
    }
    Outcome { document: Document::detailed(input, sink), consumed, error }
}

/// Reads one document onto a tape.
pub(crate) fn fill<F: Feed>(reader: &F, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
    tape.clear_for(F::FORMAT.can.naming);
    Filled::new(reader.feed(input, limits, tape))
}

/// Reads one document and hands over finished items.
pub(crate) fn windows<'a, F: Feed>(reader: &F, input: &'a [u8], limits: &Limits, receive: Receive<'_, 'a>) -> Rest<'a> {
    let mut sink = Windows::new(input, F::FORMAT.can.naming, receive);
    let (consumed, error) = reader.feed(input, limits, &mut sink);
    Rest::new(sink, consumed, error)
}

/// The same as [`windows`], with detail.
pub(crate) fn traced<'a, F: Feed>(reader: &F, input: &'a [u8], limits: &Limits, receive: Receive<'_, 'a>) -> Rest<'a> {
    let mut sink = TracedWindows::new((F::FORMAT.name, F::FORMAT.can.naming), input, receive);
    let (consumed, error) = reader.feed(input, limits, &mut sink);
    let needs_whole = sink.stopped();
    Rest::of(sink.into_rest(), needs_whole, consumed, error)
}

impl<F: Feed + fmt::Debug + Send + Sync> Reader for F {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        read(self, input, request)
    }

    fn fill(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        fill(self, input, limits, tape)
    }

    fn windows<'a>(&self, input: &'a [u8], _: &'a Store, limits: &Limits, receive: Receive<'_, 'a>) -> Rest<'a> {
        if F::FORMAT.can.hands_over {
            windows(self, input, limits, receive)
        } else {
            Rest::whole(read(self, input, Request::new(limits)))
        }
    }

    fn traced<'a>(&self, input: &'a [u8], limits: &Limits, receive: Receive<'_, 'a>) -> Option<Rest<'a>> {
        F::FORMAT.can.hands_over.then(|| traced(self, input, limits, receive))
    }

    fn skim<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        Feed::skim(self, input)
    }

    fn scalars(&self, input: &[u8]) -> Option<ReadScalar> {
        Feed::scalars(self, input)
    }
}
