//! `store each --bytes`: prints the stored bytes unchanged.

use super::args::Each;
use super::walk;
use crate::database::database_error;
use crate::output_writer::OutputWriter;
use crate::records::{Framing, Split};
use crate::report::{Abort, code};
use crate::terminal;
use icecore_store::{Backend, Flow};

/// Writes the bytes of all objects that match, separated by the requested framing.
pub fn print_raw_objects(args: &Each, store: &mut dyn Backend) -> Result<(), Abort> {
    let framing = args.bytes.unwrap_or(Framing::Documents);
    if terminal::is_stdout_terminal() && !args.force {
        let text =
            "the standard output is a terminal, and objects may be binary: write them to a file, or add `--force`";
        return Err(Abort::Failed(code::USAGE, text.to_owned()));
    }
    let mut last_sequence = walk::start_sequence(args, store)?;
    let filter = walk::to_object_filter(&args.filter, None);
    let mut writer = OutputWriter::stdout();
    writer.write_only_complete_records();
    let mut remaining = args.filter.items.unwrap_or(u64::MAX);
    while remaining > 0 {
        let page_len = usize::try_from(remaining).unwrap_or(walk::MAX_PAGE_LEN).min(walk::MAX_PAGE_LEN);
        let (mut count, mut stop_reason) = (0, None);
        let page_result = store.objects(last_sequence, page_len, &filter, &mut |object| {
            (count, last_sequence) = (count + 1, object.sequence);
            match write_framed_object(&object.bytes, framing, &mut writer) {
                Ok(()) => Ok(Flow::Continue),
                Err(Abort::Failed(code, reason)) => {
                    stop_reason = Some(Abort::Failed(code, format!("{}: {reason}", object.id)));
                    Ok(Flow::Stop)
                }
                Err(abort) => {
                    stop_reason = Some(abort);
                    Ok(Flow::Stop)
                }
            }
        });
        if let Some(abort) = stop_reason {
            // The output before the error is written first.
            writer.flush()?;
            return Err(abort);
        }
        page_result.map_err(database_error)?;
        remaining -= count as u64;
        if count < page_len {
            break;
        }
    }
    writer.flush()
}

/// Writes the bytes of an object as a record.
fn write_framed_object(bytes: &[u8], framing: Framing, writer: &mut OutputWriter) -> Result<(), Abort> {
    let output_start = writer.position();
    writer.write_bytes(bytes)?;
    let fits = writer.edit_record(output_start, |buffer, start| {
        framing.close_record(buffer, start).is_ok()
            && (framing == Framing::Documents || survives_framing(framing, &buffer[start..], bytes))
    });
    if !fits {
        writer.discard_after(output_start);
        let text = format!("a record of --bytes={} can't hold this object; use --bytes=u32be", framing.name());
        return Err(Abort::Failed(code::USAGE, text));
    }
    writer.release_record()
}

/// Returns true if reading the record yields these bytes. For example, a line feed at the end of an object is lost in
/// a line.
fn survives_framing(framing: Framing, record: &[u8], bytes: &[u8]) -> bool {
    let is_blank = framing == Framing::Lines && bytes.trim_ascii().is_empty();
    let is_end = true;
    match framing.split_record(record, is_end) {
        Split::Record { start, end, next } => record[start..end] == *bytes && next == record.len() && !is_blank,
        _ => false,
    }
}
