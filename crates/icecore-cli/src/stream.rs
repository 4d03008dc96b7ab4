//! Writes finished parts of a long array while a second thread continues reading.

use crate::output_writer::OutputWriter;
use icecore::{
    Document, Error, ErrorKind, Limits, Losses, Request, Stage,
    raw::{DocumentPart, Outcome, Tape},
};
use std::sync::OnceLock;
use std::sync::mpsc::{channel, sync_channel};

/// Inputs below this size are read as a whole.
const MIN_STREAMED_LEN: usize = 1 << 20;
/// Number of windows that may wait until they are written.
const MAX_QUEUED_WINDOWS: usize = 4;

/// Result of a conversion in windows.
pub struct StreamOutcome<'a> {
    /// The last part of the document, the number of bytes read, and the error, if any.
    pub outcome: Outcome<'a>,
    /// What the parts lost, or why one could not be written.
    pub written: Result<Losses, Error>,
}

/// Converts an array in windows. Returns `None`, with nothing written, if these stages can't do this or the input is
/// small.
pub fn convert_in_windows<'a>(
    bytes: &'a [u8],
    store: &'a OnceLock<Vec<u8>>,
    from: &Stage,
    to: &Stage,
    limits: &Limits,
    writer: &mut OutputWriter,
) -> Option<StreamOutcome<'a>> {
    if bytes.len() < MIN_STREAMED_LEN || !from.format().can.hands_over {
        return None;
    }
    let reader = (from.format().reader)(from.settings());
    let format_writer = to.format().prepare(to.settings()).writer;
    // The limit `output` applies to all windows together.
    let start = writer.position();
    let write = |document: &Document<'_>, part: DocumentPart<'_>, losses: &mut Losses, writer: &mut OutputWriter| {
        let written = writer.position().saturating_sub(start);
        let mut limits = limits.clone();
        limits.output = limits.output_from(document.input().len()).saturating_sub(written);
        format_writer
            .write_part(document, part, &limits, writer)
            .map(|result| result.map(|part_losses| losses.merge(part_losses)))
    };
    // With some options, the writer needs the whole document and refuses a part. An empty part shows that.
    let probe = DocumentPart::Items { before: 1, skip: 0, more: true };
    write(&Document::default(), probe, &mut Losses::default(), &mut OutputWriter::new_discarding())?.ok()?;

    let mut losses = Losses::default();
    let mut items_before = 0;
    let (rest, written) = std::thread::scope(|scope| {
        let (window_sender, windows) = sync_channel::<Document<'a>>(MAX_QUEUED_WINDOWS);
        let (tape_sender, free_tapes) = channel::<Tape>();
        let reader = &reader;
        let reading_thread = scope.spawn(move || {
            reader.read_windows(bytes, store, limits, &mut |window| {
                window_sender.send(window).map_err(|_| Error::new(ErrorKind::Output))?;
                Ok(free_tapes.try_recv().unwrap_or_default())
            })
        });
        let mut written = Ok(());
        for window in windows {
            let items = window.root().len() as u64;
            written =
                write(&window, DocumentPart::Items { before: items_before, skip: 0, more: true }, &mut losses, writer)
                    .unwrap_or(Ok(()));
            if written.is_err() {
                break;
            }
            items_before += items;
            // This fails if the reader has finished.
            let _ = tape_sender.send(window.into_tape());
        }
        (reading_thread.join(), written)
    });
    let rest = rest.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let (mut outcome, mut skip) = (rest.outcome, 0);
    // Something that the windows can't express was found: the whole document is read again, without the items that
    // were written.
    if rest.needs_whole && written.is_ok() {
        outcome = reader.read(bytes, Request::new(limits));
        skip = items_before;
    }
    let written = match (&outcome.error, written) {
        (None, Ok(())) => write(
            &outcome.document,
            DocumentPart::Items { before: items_before, skip, more: false },
            &mut losses,
            writer,
        )
        .unwrap_or(Ok(())),
        (_, written) => written,
    };
    Some(StreamOutcome { outcome, written: written.map(|()| losses) })
}
