//! The readable part of a record that breaks off.

use icecore::raw::Outcome;
use icecore::{Document, Error, Limits, Output, Request, Stage, deep};
use icecore_tables::plural::format_count;

/// Reads the readable part of a record and writes it.
pub struct Rescue {
    from: Stage,
    to: Stage,
    limits: Limits,
    is_deep: bool,
}

/// Message if nothing could be read.
pub const NOTHING_READABLE: &str = "nothing could be read before the break";

/// The readable part of a document, and its description.
pub struct RescuedDocument<'d> {
    pub document: Document<'d>,
    pub description: String,
}

impl Rescue {
    pub fn new(from: Stage, to: Stage, limits: &Limits, is_deep: bool) -> Rescue {
        Rescue { from, to, limits: limits.clone(), is_deep }
    }

    /// Writes the readable part of the document with which `bytes` begin; its offset in the input is `offset`. The next
    /// document begins at index `end` of `bytes`. Returns the message to report, or `None` if nothing is readable. The
    /// error of the document itself is not reported again.
    pub fn write_rescued(
        &self,
        bytes: &[u8],
        end: usize,
        offset: u64,
        out: &mut dyn Output,
    ) -> Result<Option<String>, Error> {
        let mut limits = self.limits.clone();
        let Ok((unwrapped, _)) = self.from.unwrap_as_far(bytes, &mut limits) else { return Ok(None) };
        let request = Request::new(&limits).salvaging();
        let outcome = self.from.format().read(&unwrapped.bytes, self.from.settings(), request);
        // The message about a document in a wrapper has offsets of the unwrapped data, where no next document follows.
        let (offset, end) = if self.from.wrappers().is_empty() { (offset, end) } else { (0, usize::MAX) };
        let Some(RescuedDocument { document, description }) =
            rescue_document(outcome, unwrapped.bytes.len().min(end), offset)?
        else {
            return Ok(None);
        };
        let document = if self.is_deep { deep::open(document, &limits)?.document } else { document };
        icecore::write_to(&document, &self.to, &self.limits, out)?;
        Ok(Some(description))
    }
}

/// Returns the readable part, with marks, of a document that starts at `offset` and breaks off; `None` if nothing is
/// readable. The document must be read with detail. Another document begins at `end`.
pub fn rescue_document(outcome: Outcome<'_>, end: usize, offset: u64) -> Result<Option<RescuedDocument<'_>>, Error> {
    let describe = |value_count: u64, lost_len: u64, lost_start: u64| {
        let values = format_count(value_count, "value was read", "values were read");
        let lost = format_count(lost_len, "byte", "bytes");
        match lost_len {
            0 => format!("{values}; the rest is missing"),
            _ => format!("{values}; {lost} from offset {} on were not", offset + lost_start),
        }
    };
    // The document itself is complete; the error is in the bytes after it.
    if outcome.error.is_none() {
        let lost_len = end.saturating_sub(outcome.consumed) as u64;
        let description = describe(outcome.document.nodes().len() as u64, lost_len, outcome.consumed as u64);
        return Ok(Some(RescuedDocument { document: outcome.document, description }));
    }
    let rescued_part = outcome.salvage_before(end)?;
    Ok(rescued_part.map(|part| RescuedDocument {
        description: describe(part.values, part.lost, part.from),
        document: part.document,
    }))
}
