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
    pub write_result: Result<Losses, Error>,
}

/// Converts an array in windows. Unpacked data goes into `unpacked_store`, from which the windows borrow.
/// Returns `None`, with nothing written, if these stages can't do this or the input is small.
pub fn convert_in_windows<'a>(
    bytes: &'a [u8],
    unpacked_store: &'a OnceLock<Vec<u8>>,
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
        let written_len = writer.position().saturating_sub(start);
        let mut limits = limits.clone();
        limits.output = limits.output_from(document.input().len()).saturating_sub(written_len);
        format_writer
            .write_part(document, part, &limits, writer)
            .map(|result| result.map(|part_losses| losses.merge(part_losses)))
    };
    // With some options, the writer needs the whole document and refuses parts. Whether it does is found out with a
    // part without items; `before: 1` means that it is not the first part.
    let probe = DocumentPart::Items { before: 1, skip: 0, more: true };
    write(&Document::default(), probe, &mut Losses::default(), &mut OutputWriter::new_discarding())?.ok()?;

    let mut losses = Losses::default();
    let mut items_before = 0;
    let (reading_result, write_result) = std::thread::scope(|scope| {
        let (window_sender, windows) = sync_channel::<Document<'a>>(MAX_QUEUED_WINDOWS);
        let (tape_sender, free_tapes) = channel::<Tape>();
        let reader = &reader;
        let reading_thread = scope.spawn(move || {
            reader.read_windows(bytes, unpacked_store, limits, &mut |window| {
                window_sender.send(window).map_err(|_| Error::new(ErrorKind::Output))?;
                Ok(free_tapes.try_recv().unwrap_or_default())
            })
        });
        let mut write_result = Ok(());
        for window in windows {
            let items = window.root().len() as u64;
            write_result =
                write(&window, DocumentPart::Items { before: items_before, skip: 0, more: true }, &mut losses, writer)
                    .unwrap_or(Ok(()));
            if write_result.is_err() {
                break;
            }
            items_before += items;
            // This fails if the reader has finished.
            let _ = tape_sender.send(window.into_tape());
        }
        (reading_thread.join(), write_result)
    });
    let reading_result = reading_result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let (mut outcome, mut skip) = (reading_result.outcome, 0);
    // The document has something that windows can't express. The whole document is read again, and the items that were
    // already written are skipped.
    if reading_result.needs_whole && write_result.is_ok() {
        outcome = reader.read(bytes, Request::new(limits));
        skip = items_before;
    }
    let write_result = match (&outcome.error, write_result) {
        (None, Ok(())) => write(
            &outcome.document,
            DocumentPart::Items { before: items_before, skip, more: false },
            &mut losses,
            writer,
        )
        .unwrap_or(Ok(())),
        (_, write_result) => write_result,
    };
    Some(StreamOutcome { outcome, write_result: write_result.map(|()| losses) })
}
