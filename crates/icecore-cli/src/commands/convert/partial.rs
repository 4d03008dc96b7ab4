//! The readable part of a document that breaks off.

use super::Conversion;
use crate::document_reader::UnwrappedInput;
use crate::records::{NOTHING_READABLE, RescuedDocument, rescue_document};
use crate::report::Report;
use icecore::{Document, Request};

impl Conversion<'_> {
    /// Returns the readable part, with marks, of the document that starts at `start` and breaks off; `None` if nothing
    /// is readable.
    pub(super) fn rescue_partial<'d>(
        &self,
        name: &str,
        input: &'d UnwrappedInput<'_>,
        start: usize,
        report: &mut Report,
    ) -> Option<Document<'d>> {
        let bytes = input.bytes.get(start..).unwrap_or_default();
        let request = Request::new(input.limits()).salvaging();
        let outcome = input.stage.format().read(bytes, input.stage.settings(), request);
        match rescue_document(outcome, bytes.len(), start as u64) {
            Ok(Some(RescuedDocument { document, description })) => {
                report.report_note(name, "partial", description);
                Some(document)
            }
            Ok(None) => {
                report.report_note(name, "partial", NOTHING_READABLE.to_owned());
                None
            }
            Err(error) => {
                report.report_unwritable(name, &error);
                None
            }
        }
    }
}
