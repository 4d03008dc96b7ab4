//! Changes inputs that consist of documents. Each document is held in memory completely.

use super::output::EncodedOutput;
use crate::records::{Framing, Split};
use crate::report::{Abort, Report, code, io_reason};
use icecore::rewrite::{self, Tally};
use icecore::{Error, Request, Stage};
use icecore_tables::replace::change_counts::ChangeCounts;
use icecore_tables::replace::plan::ReplacePlan;
use icecore_tables::replace::rule_sets::is_foreign_text;
use icecore_tables::replace::show::{ChangeContext, ShownChanges};
use icecore_tables::window::{CHUNK, Window};
use std::io::{self, Read};

/// Changes the documents of an input. Returns whether all of them were readable, the counts, and whether anything
/// changed. Unreadable documents are reported; where their length is known, they are written unchanged.
pub fn change_documents(
    plan: &ReplacePlan,
    input: Box<dyn Read + Send>,
    stage: &Stage,
    framing: Option<Framing>,
    output: &mut EncodedOutput<'_>,
    report: &mut Report,
) -> Result<(bool, ChangeCounts, bool), Abort> {
    let failed = |error: io::Error| Abort::Failed(code::USAGE, io_reason(&error));
    let mut work =
        DocumentChanger { plan, stage, account: ChangeCounts::default(), is_changed: false, is_whole: true, row: 0 };
    let mut window = Window::new(input, CHUNK);
    match framing {
        None => {
            while !window.is_end() {
                window.read_more().map_err(failed)?;
            }
            work.write_document(window.bytes(), 0, output, report)?;
        }
        Some(Framing::Documents) => {
            while !window.is_end() {
                window.read_more().map_err(failed)?;
            }
            work.write_unframed(window.bytes(), output, report)?;
        }
        Some(framing) => loop {
            let (bytes, is_end) = (window.bytes(), window.is_end());
            match framing.split_record(bytes, is_end) {
                Split::Record { start, end, next } => {
                    work.row += 1;
                    let offset = window.offset() + start as u64;
                    work.write_framed(framing, bytes, (start, end, next), offset, output, report)?;
                    window.consume(next);
                }
                Split::More => window.read_more().map_err(failed)?,
                Split::End if !is_end => window.read_more().map_err(failed)?,
                Split::End => break,
                Split::Bad(error) => {
                    work.report_error(&error, window.bytes(), report);
                    break;
                }
            }
        },
    }
    output.finish()?;
    Ok((work.is_whole, work.account, work.is_changed))
}

struct DocumentChanger<'d> {
    plan: &'d ReplacePlan,
    stage: &'d Stage,
    account: ChangeCounts,
    is_changed: bool,
    is_whole: bool,
    /// Number of the current document, from 1 on; 0 if the input is a single document.
    row: u64,
}

impl DocumentChanger<'_> {
    fn report_error(&mut self, error: &Error, bytes: &[u8], report: &mut Report) {
        report.report_unreadable(&self.plan.input, error, bytes);
        self.is_whole = false;
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
            self.account.note_foreign(offset);
        }
        let mut tally = Tally::default();
        let edits = rewrite::document(bytes, self.stage, &mut replacing, &plan.rewrite_options, &mut tally)?;
        let Some(place) = plan.places.number_place(None, &plan.table, "") else { return Ok(None) };
        if edits.is_empty() {
            if tally.is_notable() {
                self.account.add_value(place, self.row, Some(offset), false, &mut tally);
            }
            return Ok(None);
        }
        if let Some(shows) = &plan.change_printer {
            let known = plan.places.place(place);
            let head = ChangeContext { input: &plan.input, place: &known, row: self.row, tally: &tally };
            let mut text = Vec::new();
            shows.show_changes(&head, bytes, &edits, ShownChanges::First, &mut text);
            // This only fills a buffer: a write error is reported when the next piece is written.
            output.buffer_mut().extend_from_slice(&text);
        }
        self.account.add_pair_counts(&replacing.take_counts());
        self.account.add_value(place, self.row, Some(offset), true, &mut tally);
        self.is_changed = true;
        Ok(Some(edits.apply(bytes)))
    }

    /// Changes a document and writes it; one that is unreadable is written unchanged.
    fn write_document(
        &mut self,
        bytes: &[u8],
        offset: u64,
        output: &mut EncodedOutput<'_>,
        report: &mut Report,
    ) -> Result<(), Abort> {
        let changed = match self.change_document(bytes, offset, output) {
            Ok(changed) => changed,
            Err(error) => {
                self.report_error(&error, bytes, report);
                None
            }
        };
        if self.plan.change_printer.is_some() {
            return output.release_record();
        }
        output.write_piece(changed.as_deref().unwrap_or(bytes))
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

    /// Changes the record `start..end` and writes it. If it changes, a new frame is put around it; otherwise the bytes
    /// up to `next` are written as they are.
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
        let changed = match self.change_document(record, offset, output) {
            Ok(changed) => changed,
            Err(error) => {
                self.report_error(&error, record, report);
                None
            }
        };
        if self.plan.change_printer.is_some() {
            return output.release_record();
        }
        let framed_record = bytes.get(..next).unwrap_or_default();
        let Some(mut new) = changed else { return output.write_piece(framed_record) };
        if matches!(framing, Framing::Lines | Framing::Nul) {
            // The original end is kept: a line may end in two characters, the last one in none.
            new.extend_from_slice(bytes.get(end..next).unwrap_or_default());
        } else if let Err(error) = framing.close_record(&mut new, 0) {
            self.report_error(&error, record, report);
            return output.write_piece(framed_record);
        }
        output.write_piece(&new)
    }
}
