//! What could be read of a document that breaks off.

use super::Conversion;
use crate::reading::Opened;
use crate::records::counted;
use crate::report::Report;
use icecore::{Document, Request};

impl Conversion<'_> {
    /// What there is of the document that starts here and breaks off, with marks; `None`, if that
    /// is nothing.
    pub(super) fn rescued<'d>(
        &self,
        name: &str,
        opened: &'d Opened<'_>,
        start: usize,
        report: &mut Report,
    ) -> Option<Document<'d>> {
        let bytes = opened.bytes.get(start..).unwrap_or_default();
        let request = Request::new(opened.limits()).detailed();
        let outcome = opened.stage.format().read(bytes, opened.stage.settings(), request);
        let note = |values: u64, lost: u64, from: u64| {
            let values = counted(values, "value was read", "values were read");
            let lost = counted(lost, "byte", "bytes");
            report.note(name, "partial", format!("{values}; {lost} from offset {from} on were not"));
        };
        // What is wrong stands behind it.
        if outcome.error.is_none() {
            let lost = bytes.len() - outcome.consumed;
            note(outcome.document.nodes().len() as u64, lost as u64, (start + outcome.consumed) as u64);
            return Some(outcome.document);
        }
        match outcome.salvage() {
            Ok(Some(salvaged)) => {
                note(salvaged.values, salvaged.lost, start as u64 + salvaged.from);
                Some(salvaged.document)
            }
            Ok(None) => {
                report.note(name, "partial", "nothing could be read before the break".to_owned());
                None
            }
            Err(error) => {
                report.unwritable(name, &error);
                None
            }
        }
    }
}
