//! Writes finished parts of a long array while a second thread continues reading.

use crate::sink::Sink;
use icecore::{
    Document, Error, ErrorKind, Limits, Losses, Request, Stage,
    raw::{DocumentPart, Outcome, Tape},
};
use std::sync::OnceLock;
use std::sync::mpsc::{channel, sync_channel};

/// Inputs below this size are read as a whole.
const MIN_STREAMED_LEN: usize = 1 << 20;
/// Number of windows that may wait to be written.
const MAX_QUEUED_WINDOWS: usize = 4;

/// Result of a conversion in windows.
pub struct StreamOutcome<'a> {
    /// The last part of the document, how far reading came, and what stopped it.
    pub outcome: Outcome<'a>,
    /// What the parts lost, or why one could not be written.
    pub written: Result<Losses, Error>,
}

/// Converts an array in windows. Returns `None`, with nothing written, if these stages can't do this or it is not worth
/// it.
pub fn convert_in_windows<'a>(
    bytes: &'a [u8],
    store: &'a OnceLock<Vec<u8>>,
    from: &Stage,
    to: &Stage,
    limits: &Limits,
    sink: &mut Sink,
) -> Option<StreamOutcome<'a>> {
    if bytes.len() < MIN_STREAMED_LEN || !from.format().can.hands_over {
        return None;
    }
    let reading = (from.format().reader)(from.settings());
    let writing = to.format().prepare(to.settings()).writer;
    // The windows share the output budget.
    let start = sink.position();
    let write = |document: &Document<'_>, part: DocumentPart<'_>, losses: &mut Losses, sink: &mut Sink| {
        let written = sink.position().saturating_sub(start);
        let mut limits = limits.clone();
        limits.output = limits.output_from(document.input().len()).saturating_sub(written);
        writing.write_part(document, part, &limits, sink).map(|end| end.map(|found| losses.merge(found)))
    };
    // Options of the target may need the whole document.
    let probe = DocumentPart::Items { before: 1, skip: 0, more: true };
    write(&Document::default(), probe, &mut Losses::default(), &mut Sink::new_discarding())?.ok()?;

    let mut losses = Losses::default();
    let mut before = 0;
    let (rest, written) = std::thread::scope(|scope| {
        let (full, to_write) = sync_channel::<Document<'a>>(MAX_QUEUED_WINDOWS);
        let (empty, to_fill) = channel::<Tape>();
        let reading = &reading;
        let reader = scope.spawn(move || {
            reading.read_windows(bytes, store, limits, &mut |window| {
                full.send(window).map_err(|_| Error::new(ErrorKind::Output))?;
                Ok(to_fill.try_recv().unwrap_or_default())
            })
        });
        let mut written = Ok(());
        for window in to_write {
            let items = window.root().len() as u64;
            written = write(&window, DocumentPart::Items { before, skip: 0, more: true }, &mut losses, sink)
                .unwrap_or(Ok(()));
            if written.is_err() {
                break;
            }
            before += items;
            // The reader may have reached its end already.
            let _ = empty.send(window.into_tape());
        }
        (reader.join(), written)
    });
    let rest = rest.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let (mut outcome, mut skip) = (rest.outcome, 0);
    if rest.needs_whole && written.is_ok() {
        outcome = reading.read(bytes, Request::new(limits));
        skip = before;
    }
    let written = match (&outcome.error, written) {
        (None, Ok(())) => {
            write(&outcome.document, DocumentPart::Items { before, skip, more: false }, &mut losses, sink)
                .unwrap_or(Ok(()))
        }
        (_, written) => written,
    };
    Some(StreamOutcome { outcome, written: written.map(|()| losses) })
}
