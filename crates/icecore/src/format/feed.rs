//! Runs a format's machine with each sink: a tape, a tape with detail, or windows.

use super::skim::{Input, Skim};
use super::stencil::ReadScalar;
use super::{Filled, Format, Outcome, Reader, Request, Rest, Store};
use crate::document::{Detailed, Document, NO_NODE, ReceiveWindow, Sink, Tape, TracedWindows, Windows};
use crate::error::Error;
use crate::limits::Limits;
use std::fmt;

/// A format's reader with its options.
pub(crate) trait Feed {
    /// The format whose spelling is recorded.
    const FORMAT: &'static Format;

    /// Feeds one document from the start of the input to the sink. Returns the number of bytes that were read, and
    /// the error that stopped reading.
    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>);

    /// See [`Reader::new_skimmer`].
    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        let _ = input;
        None
    }

    /// See [`Reader::scalar_reader`].
    fn scalar_reader(&self, input: &[u8]) -> Option<ReadScalar> {
        let _ = input;
        None
    }
}

/// Consumes the bytes after a document. A lenient reader ignores them.
pub(crate) fn ignore_rest<S: Sink>(input: &[u8], consumed: usize, sink: &mut S) -> (usize, Option<Error>) {
    if let Some(detail) = sink.detail() {
        detail.record_span(consumed, input.len(), NO_NODE, "ignored");
    }
    (input.len(), None)
}

/// Reads one document, with detail if it is wanted.
pub(crate) fn read_document<'a, F: Feed>(reader: &F, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, salvages, mut tape } = request;
    tape.clear_for(F::FORMAT.can.naming);
    if !detail {
        let (consumed, error) = reader.feed_document(input, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    let mut sink = Detailed { tape, ..Detailed::default() };
    F::FORMAT.name.clone_into(&mut sink.detail.spelling.format);
    sink.detail.defers_count_errors = salvages;
    let (consumed, error) = reader.feed_document(input, limits, &mut sink);
    let error = sink.detail.take_count_error().or(error);
    if error.is_some() {
        // After an error, the containers that are still open end where reading stopped.
        for extent in sink.detail.trace.extents.iter_mut().filter(|extent| extent.end == 0) {
            extent.end = consumed as u64;
        }
    }
    Outcome { document: Document::from_detailed(input, sink), consumed, error }
}

/// Reads one document onto a tape.
pub(crate) fn fill_tape<F: Feed>(reader: &F, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
    tape.clear_for(F::FORMAT.can.naming);
    Filled::new(reader.feed_document(input, limits, tape))
}

/// Reads one document and hands over finished items.
pub(crate) fn read_windows<'a, F: Feed>(
    reader: &F,
    input: &'a [u8],
    limits: &Limits,
    receive: ReceiveWindow<'_, 'a>,
) -> Rest<'a> {
    let mut sink = Windows::new(input, F::FORMAT.can.naming, receive);
    let (consumed, error) = reader.feed_document(input, limits, &mut sink);
    Rest::new(sink, consumed, error)
}

/// Like [`read_windows`], with detail.
pub(crate) fn read_traced_windows<'a, F: Feed>(
    reader: &F,
    input: &'a [u8],
    limits: &Limits,
    receive: ReceiveWindow<'_, 'a>,
) -> Rest<'a> {
    let mut sink = TracedWindows::new((F::FORMAT.name, F::FORMAT.can.naming), input, receive);
    let (consumed, error) = reader.feed_document(input, limits, &mut sink);
    let needs_whole = sink.is_stopped();
    Rest::from_remaining(sink.into_rest(), needs_whole, consumed, error)
}

impl<F: Feed + fmt::Debug + Send + Sync> Reader for F {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        read_document(self, input, request)
    }

    fn fill_tape(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        fill_tape(self, input, limits, tape)
    }

    fn read_windows<'a>(
        &self,
        input: &'a [u8],
        _: &'a Store,
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Rest<'a> {
        if F::FORMAT.can.hands_over {
            read_windows(self, input, limits, receive)
        } else {
            Rest::from_outcome(read_document(self, input, Request::new(limits)))
        }
    }

    fn read_traced_windows<'a>(
        &self,
        input: &'a [u8],
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Option<Rest<'a>> {
        F::FORMAT.can.hands_over.then(|| read_traced_windows(self, input, limits, receive))
    }

    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        Feed::new_skimmer(self, input)
    }

    fn scalar_reader(&self, input: &[u8]) -> Option<ReadScalar> {
        Feed::scalar_reader(self, input)
    }
}
