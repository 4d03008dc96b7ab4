//! Changes inputs that consist of documents. Each document is held in memory completely.

use super::InputChanges;
use super::output::EncodedOutput;
use crate::records::{Framing, Split};
use crate::report::{Abort, Report, code, io_reason};
use icecore::rewrite::{self, Tally};
use icecore::{Error, Request, Stage};
use icecore_tables::replace::change_counts::ValueChanged;
use icecore_tables::replace::plan::ReplacePlan;
use icecore_tables::replace::rule_sets::is_foreign_text;
use icecore_tables::replace::show::{ChangeContext, ShownChanges};
use icecore_tables::window::{CHUNK, Window};
use std::io::{self, Read};

/// Changes the documents of an input. Unreadable documents are reported; if their length is known, they are written
/// unchanged.
pub fn change_documents(
    plan: &ReplacePlan,
    input: Box<dyn Read + Send>,
    stage: &Stage,
    framing: Option<Framing>,
    output: &mut EncodedOutput<'_>,
    report: &mut Report,
) -> Result<InputChanges, Abort> {
    let read_error = |error: io::Error| Abort::Failed(code::USAGE, io_reason(&error));
    let mut changer = DocumentChanger { plan, stage, changes: InputChanges::default(), row: 0 };
    let mut window = Window::new(input, CHUNK);
    match framing {
        None => {
            while !window.is_end() {
                window.read_more().map_err(read_error)?;
            }
            changer.write_document(window.bytes(), 0, output, report)?;
        }
        Some(Framing::Documents) => {
            while !window.is_end() {
                window.read_more().map_err(read_error)?;
            }
            changer.write_unframed(window.bytes(), output, report)?;
        }
        Some(framing) => loop {
            let (bytes, is_end) = (window.bytes(), window.is_end());
            match framing.split_record(bytes, is_end) {
                Split::Record { start, end, next } => {
                    changer.row += 1;
                    let offset = window.offset() + start as u64;
                    changer.write_framed(framing, bytes, (start, end, next), offset, output, report)?;
                    window.consume(next);
                }
                Split::Incomplete => window.read_more().map_err(read_error)?,
                Split::End if !is_end => window.read_more().map_err(read_error)?,
                Split::End => break,
                Split::Broken(error) => {
                    changer.report_error(&error, window.bytes(), report);
                    break;
                }
            }
        },
    }
    output.finish()?;
    Ok(changer.changes)
}

/// Changes the documents of one input.
struct DocumentChanger<'d> {
    plan: &'d ReplacePlan,
    stage: &'d Stage,
    changes: InputChanges,
    /// Number of the current document, from 1 on; 0 if the input is a single document.
    row: u64,
}

impl DocumentChanger<'_> {
    fn report_error(&mut self, error: &Error, bytes: &[u8], report: &mut Report) {
        report.report_unreadable(&self.plan.input, error, bytes);
        self.changes.is_complete = false;
    }

    /// Returns the changed document; `None` if nothing in it changes. Counts and shows the changes.
    fn change_document(
        &mut self,
        bytes: &[u8],
        offset: u64,
        output: &mut EncodedOutput<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let plan = self.plan;
        let rules = plan.rules.default_rules();
        let mut replacing = rules.replacing().with_encoded(true);
        if plan.rules.needs_charset() && is_foreign_text(bytes) {
            self.changes.counts.count_foreign(offset);
        }
        let mut tally = Tally::default();
        let edits = rewrite::document(bytes, self.stage, &mut replacing, &plan.rewrite_options, &mut tally)?;
        let changed = (!edits.is_empty()).then(|| edits.apply(bytes));
        let result = changed.as_deref().unwrap_or(bytes);
        self.changes.counts.encoded_documents += u64::from(self.has_encoded_matches(bytes, result));
        self.changes.counts.leftovers.add(rules.count_leftovers(result));
        let Some(registry_number) = plan.places.number_place(None, &plan.table, "") else { return Ok(None) };
        if changed.is_none() {
            if tally.is_notable() {
                self.changes.counts.add_value(registry_number, self.row, Some(offset), ValueChanged::No, &mut tally);
            }
            return Ok(None);
        }
        if let Some(printer) = &plan.change_printer {
            let table_column = plan.places.place(registry_number);
            let context = ChangeContext { input: &plan.input, place: &table_column, row: self.row, tally: &tally };
            let mut text = Vec::new();
            printer.show_changes(&context, bytes, &edits, ShownChanges::First, &mut text);
            // A write error is reported when the buffer is written.
            output.buffer_mut().extend_from_slice(&text);
        }
        self.changes.counts.add_pair_counts(&replacing.take_counts());
        self.changes.counts.add_value(registry_number, self.row, Some(offset), ValueChanged::Yes, &mut tally);
        self.changes.is_changed = true;
        Ok(changed)
    }

    /// Returns whether --base64 would change more. Compressed data is always examined, Base64 only in a dry run.
    fn has_encoded_matches(&self, bytes: &[u8], result: &[u8]) -> bool {
        /// The first bytes of zlib, gzip and Zstandard.
        const MAGICS: [&[u8]; 5] = [b"\x78\x9c", b"\x78\xda", b"\x78\x01", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"];
        let plan = self.plan;
        let is_compressed = || MAGICS.iter().any(|magic| memchr::memmem::find(bytes, magic).is_some());
        if plan.rewrite_options.base64 || plan.change_printer.is_none() && !is_compressed() {
            return false;
        }
        let mut options = plan.rewrite_options.clone();
        options.base64 = true;
        let rules = plan.rules.default_rules();
        let (mut replacing, mut tally) = (rules.replacing().with_encoded(true), Tally::default());
        let more = rewrite::document(bytes, self.stage, &mut replacing, &options, &mut tally);
        more.is_ok_and(|more| more.apply(bytes) != result)
    }

    /// Changes a document and writes it; one that is unreadable is written unchanged.
    fn write_document(
        &mut self,
        bytes: &[u8],
        offset: u64,
        output: &mut EncodedOutput<'_>,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let changed_document = match self.change_document(bytes, offset, output) {
            Ok(changed_document) => changed_document,
            Err(error) => {
                self.report_error(&error, bytes, report);
                None
            }
        };
        if self.plan.change_printer.is_some() {
            return output.release_record();
        }
        output.write_piece(changed_document.as_deref().unwrap_or(bytes))
    }

    /// Changes documents that follow one another without separators or lengths.
    fn write_unframed(
        &mut self,
        bytes: &[u8],
        output: &mut EncodedOutput<'_>,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let mut offset = 0;
        while let Some(rest) = bytes.get(offset..).filter(|rest| !rest.trim_ascii().is_empty()) {
            self.row += 1;
            let request = Request::new(&self.plan.rewrite_options.limits);
            let outcome = self.stage.format().read(rest, self.stage.settings(), request);
            let consumed = outcome.consumed;
            if let Some(error) = outcome.error {
                self.report_error(&error, rest, report);
                break;
            }
            if consumed == 0 {
                break;
            }
            self.write_document(rest.get(..consumed).unwrap_or_default(), offset as u64, output, report)?;
            offset += consumed;
        }
        if self.plan.change_printer.is_none() {
            output.write_piece(bytes.get(offset..).unwrap_or_default())?;
        }
        Ok(())
    }

    /// Changes the record `start..end` and writes it. If it changes, it gets a new length or separator; otherwise the
    /// bytes up to `next` are written as they are.
    fn write_framed(
        &mut self,
        framing: Framing,
        bytes: &[u8],
        (start, end, next): (usize, usize, usize),
        offset: u64,
        output: &mut EncodedOutput<'_>,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let record = bytes.get(start..end).unwrap_or_default();
        let changed_document = match self.change_document(record, offset, output) {
            Ok(changed_document) => changed_document,
            Err(error) => {
                self.report_error(&error, record, report);
                None
            }
        };
        if self.plan.change_printer.is_some() {
            return output.release_record();
        }
        let framed_record = bytes.get(..next).unwrap_or_default();
        let Some(mut new_record) = changed_document else { return output.write_piece(framed_record) };
        if matches!(framing, Framing::Lines | Framing::Nul) {
            // The original separator is kept: a line may end in two characters, and the last one in none.
            new_record.extend_from_slice(bytes.get(end..next).unwrap_or_default());
        } else if let Err(error) = framing.close_record(&mut new_record, 0) {
            self.report_error(&error, record, report);
            return output.write_piece(framed_record);
        }
        output.write_piece(&new_record)
    }
}
