//! Writes a draft, and reads the bytes again before they are accepted.

use super::draft::Draft;
use super::{layout, not_preserved_error};
use crate::document::{Comparison, Document};
use crate::error::Error;
use crate::format::Request;
use crate::limits::Limits;
use crate::losses::Losses;
use crate::stage::Stage;

/// A document that was written.
pub(super) struct WrittenDraft {
    pub(super) bytes: Vec<u8>,
    pub(super) losses: Losses,
    /// Whether unchanged parts have another form, too.
    pub(super) is_rewritten: bool,
}

/// Writes a draft; `body` is the text before the alterations.
pub(super) fn write_draft(
    draft: &Draft<'_>,
    body: &[u8],
    stage: &Stage,
    limits: &Limits,
) -> Result<WrittenDraft, Error> {
    let write = |document: &Document<'_>| -> Result<(Vec<u8>, Losses), Error> {
        let mut bytes = Vec::new();
        let format = stage.format();
        let losses = format.write(document, stage.settings(), limits, &mut bytes);
        losses.map(|losses| (bytes, losses)).map_err(|error| format.explain(error))
    };
    let reads_back = |bytes: &[u8]| {
        let read = stage.format().read(bytes, stage.settings(), Request::new(limits));
        let comparison = Comparison::new().any_ascii();
        read.error.is_none() && read.consumed == bytes.len() && comparison.equal(&read.document, draft.document())
    };
    // The values of the input do not lose anything in this edit, because their own format already stored them.
    let keeps = write(draft.source).is_ok_and(|(bytes, _)| bytes == body);
    let mut failed = None;
    for forgotten in [None, Some(false), Some(true)] {
        let document = forgotten.map(|all| draft.without_changed_spelling(all));
        let document = document.as_ref().unwrap_or(draft.document());
        let (bytes, losses) = match write(document) {
            Ok(written) => written,
            Err(error) => {
                failed = failed.or(Some(error));
                continue;
            }
        };
        if !keeps
            && let Some(bytes) =
                layout::merge_with_source(draft, body, &bytes, stage, limits).filter(|bytes| reads_back(bytes))
        {
            return Ok(WrittenDraft { bytes, losses, is_rewritten: false });
        }
        let bytes = with_trailing_blanks(body, bytes, stage);
        if reads_back(&bytes) {
            let is_rewritten = !keeps || forgotten == Some(true);
            return Ok(WrittenDraft { bytes, losses, is_rewritten });
        }
    }
    Err(failed.unwrap_or_else(not_preserved_error))
}

/// Returns a text that ends with the same blanks as the other one.
fn with_trailing_blanks(body: &[u8], mut bytes: Vec<u8>, stage: &Stage) -> Vec<u8> {
    if stage.format().can.text {
        let end = &body[body.trim_ascii_end().len()..];
        bytes.truncate(bytes.trim_ascii_end().len());
        bytes.extend_from_slice(end);
    }
    bytes
}
