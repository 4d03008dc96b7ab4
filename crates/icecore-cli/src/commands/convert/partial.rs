//! The readable part of a document that breaks off.

use super::Conversion;
use crate::document_reader::UnwrappedInput;
use crate::records::{NOTHING, RescuedDocument, rescue_document};
use crate::report::Report;
use icecore::{Document, Request};

impl Conversion<'_> {
    /// Returns the readable part, with marks, of the document that starts at `start` and breaks off; `None` if nothing
    /// is readable.
    pub(super) fn rescue_partial<'d>(
        &self,
        name: &str,
        opened: &'d UnwrappedInput<'_>,
        start: usize,
        report: &mut Report,
    ) -> Option<Document<'d>> {
        let bytes = opened.bytes.get(start..).unwrap_or_default();
        let request = Request::new(opened.limits()).detailed();
        let outcome = opened.stage.format().read(bytes, opened.stage.settings(), request);
        match rescue_document(outcome, bytes.len(), start as u64) {
            Ok(Some(RescuedDocument { document, description })) => {
                report.note(name, "partial", description);
                Some(document)
            }
            Ok(None) => {
                report.note(name, "partial", NOTHING.to_owned());
                None
            }
            Err(error) => {
                report.report_unwritable(name, &error);
                None
            }
        }
    }
}
