//! `store each --bytes`: prints the stored bytes unchanged.

use super::args::Each;
use super::walk;
use crate::database::failed;
use crate::records::{Frame, Split};
use crate::report::{Abort, code};
use crate::sink::Sink;
use crate::terminal;
use icecore_store::{Backend, Flow};

pub fn each(args: &Each, store: &mut dyn Backend) -> Result<(), Abort> {
    let frame = args.bytes.unwrap_or(Frame::Documents);
    if terminal::is_stdout() && !args.force {
        let text =
            "the standard output is a terminal, and objects may be binary: write them to a file, or add `--force`";
        return Err(Abort::Failed(code::USAGE, text.to_owned()));
    }
    let mut after = walk::start(args, store)?;
    let wanted = walk::wanted(&args.filter, None);
    let mut sink = Sink::stdout();
    sink.hold();
    let mut left = args.filter.items.unwrap_or(u64::MAX);
    while left > 0 {
        let page = usize::try_from(left).unwrap_or(walk::PAGE).min(walk::PAGE);
        let (mut count, mut ended) = (0, None);
        let walked = store.objects(after, page, &wanted, &mut |object| {
            (count, after) = (count + 1, object.sequence);
            match one(&object.bytes, frame, &mut sink) {
                Ok(()) => Ok(Flow::On),
                Err(Abort::Failed(code, why)) => {
                    ended = Some(Abort::Failed(code, format!("{}: {why}", object.id)));
                    Ok(Flow::Stop)
                }
                Err(abort) => {
                    ended = Some(abort);
                    Ok(Flow::Stop)
                }
            }
        });
        if let Some(abort) = ended {
            // The output before the error is shown first.
            sink.flush()?;
            return Err(abort);
        }
        walked.map_err(failed)?;
        left -= count as u64;
        if count < page {
            break;
        }
    }
    sink.flush()
}

/// Writes the bytes of an object with their frame.
fn one(bytes: &[u8], frame: Frame, sink: &mut Sink) -> Result<(), Abort> {
    let at = sink.position();
    sink.bytes(bytes)?;
    let fits = sink.record(at, |buffer, start| {
        frame.close(buffer, start).is_ok()
            && (frame == Frame::Documents || is_read_again(frame, &buffer[start..], bytes))
    });
    if !fits {
        sink.take_back(at);
        let text = format!("a record of --bytes={} can't hold this object; use --bytes=u32be", frame.name());
        return Err(Abort::Failed(code::USAGE, text));
    }
    sink.pass()
}

/// Returns whether reading the record yields these bytes: for example, a line feed at the end of an object is lost in a
/// line.
fn is_read_again(frame: Frame, record: &[u8], bytes: &[u8]) -> bool {
    let is_blank = frame == Frame::Lines && bytes.trim_ascii().is_empty();
    match frame.split(record, true) {
        Split::Record { start, end, next } => record[start..end] == *bytes && next == record.len() && !is_blank,
        _ => false,
    }
}
