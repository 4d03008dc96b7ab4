//! Helpers for writers: appending a document, or a short string.

use super::write_named;
use crate::document::Document;
use crate::format::{Format, PartProgress};
use crate::limits::Limits;
use crate::output::{Output, Written, write_metered};

/// Appends a document within the limits, with the format's names for classes and members.
pub(crate) fn append_named(
    document: &Document<'_>,
    format: &'static Format,
    limits: &Limits,
    out: &mut dyn Output,
    write: impl FnOnce(&Document<'_>, &mut dyn Output) -> Written,
) -> Written {
    write_metered(document, limits, out, |out| write_named(document, format, limits, |document| write(document, out)))
}

/// Appends what `write` puts into the buffer, with a limit for bytes of copies; appends
/// nothing if it gives up.
pub(crate) fn try_append(out: &mut dyn Output, write: impl FnOnce(&mut Vec<u8>, u64) -> Option<()>) -> bool {
    let max_bytes = out.remaining_bytes();
    let buf = out.buffer();
    let start = buf.len();
    let written = write(buf, max_bytes).is_some();
    if !written {
        buf.truncate(start);
    }
    written
}

/// Like [`try_append`], for a writer of whole documents that borrows working
/// memory of the output. Appends nothing if the text would be longer than `max_bytes`.
pub(crate) fn append_with_spare(
    out: &mut dyn Output,
    max_bytes: u64,
    write: impl FnOnce(&mut PartProgress, &mut Vec<u8>, u64) -> Option<()>,
) -> bool {
    let mut progress = PartProgress { spare: out.take_spare(), ..PartProgress::default() };
    let written = try_append(out, |buf, available| {
        let (start, limit) = (buf.len(), max_bytes.min(available));
        write(&mut progress, buf, limit).filter(|()| (buf.len() - start) as u64 <= limit)
    });
    out.return_spare(progress.spare);
    written
}

/// Appends `base[start..start + len]`. A short slice is copied as 16 bytes, then the surplus is
/// cut off: this needs no function call and no loop.
#[inline(always)]
pub(crate) fn append_slice(buf: &mut Vec<u8>, base: &[u8], start: usize, len: usize) {
    if len <= 16
        && let Some(window) = base.get(start..).and_then(|rest| rest.first_chunk::<16>())
    {
        let end = buf.len() + len;
        buf.extend_from_slice(window);
        buf.truncate(end);
    } else if let Some(bytes) = base.get(start..start + len) {
        buf.extend_from_slice(bytes);
    }
}
