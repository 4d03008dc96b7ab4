//! Records one by one, in constant memory: documents without separators, lines, and all other records with a [`Frame`].

mod frame;
pub mod reports;
mod rescue;
#[cfg(feature = "store")]
mod splitter;

pub use frame::{Frame, Split};
pub use rescue::{NOTHING, Rescue, RescuedDocument, rescue_document};
#[cfg(feature = "store")]
pub use splitter::RecordSplitter;

use crate::progress;
use crate::report::{Abort, Report, code, io_reason};
use crate::report_message::ReportMessage;
use crate::sink::Sink;
use icecore::format::{End, Restart};
use icecore::{Converted, Error, ErrorKind, Losses, Stage};
use icecore_tables::byte_order_mark::{MARK, must_skip_mark};
use icecore_tables::record_converter::RecordConverter;
use icecore_tables::tally::Tally;
use icecore_tables::window::Window;
use reports::Fault;
use std::io::{self, Read};

/// Maximum distance from the end of the available bytes at which an error may be due to that end.
const NEAR_END: usize = 64;
/// How often the input may be examined again while searching for a good document.
const MAX_REEXAMINATIONS: u64 = 16;
const FREE_REEXAMINED_BYTES: u64 = 64 << 20;

/// How the records of an input are converted.
pub struct RecordPlan {
    pub step: RecordConverter,
    /// Writes records that break off as far as they are readable, if set.
    pub rescue: Option<Rescue>,
    pub from: Stage,
    /// The frames of the records in the input and in the output.
    pub frame: Frame,
    pub out: Frame,
    /// Whether a line end follows each record.
    pub lines: bool,
    pub keep_going: bool,
    pub strict: bool,
    /// Maximum length of a record.
    pub max_record: u64,
    /// Whether the records come out of a wrapper, piece by piece.
    pub is_packed: bool,
}

/// The work on one input.
pub struct RecordConversion<'r, R> {
    plan: RecordPlan,
    window: Window<R>,
    pub tally: Tally,
    report: &'r mut Report,
    /// Number of bytes that were examined more than once.
    reexamined_bytes: u64,
    /// The input could not be read to its end.
    is_broken: bool,
    /// The next document was found by searching after a bad one, and may be a part of the bad one.
    is_guess: bool,
}

/// Whether there may be another record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextRecord {
    Go,
    End,
}

impl RecordPlan {
    /// Returns the error for a record that is too long.
    fn too_long_error(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("a record of at most {} bytes", self.max_record))
            .finding("a longer one")
            .helping(if self.is_packed {
                "raise --max-record and the limit `decompressed` if the input is trusted: --limit decompressed=N"
            } else {
                "raise it with --max-record if the input is trusted"
            })
    }
}

impl<'r, R: Read> RecordConversion<'r, R> {
    pub fn new(plan: RecordPlan, mut window: Window<R>, name: &str, report: &'r mut Report) -> RecordConversion<'r, R> {
        window.set_max_record(plan.max_record);
        RecordConversion {
            plan,
            window,
            tally: Tally::new(name),
            report,
            reexamined_bytes: 0,
            is_broken: false,
            is_guess: false,
        }
    }

    /// Converts all records. Returns whether all are in the output.
    pub fn convert_all(&mut self, sink: &mut Sink) -> Result<bool, Abort> {
        if must_skip_mark(&self.plan.from) && self.plan.from.wrappers().is_empty() {
            self.skip_byte_order_mark(sink)?;
        }
        while self.convert_next(sink)? == NextRecord::Go {}
        self.tally.bytes = self.window.offset();
        Ok(self.tally.bad == 0 && !self.is_broken)
    }

    /// Skips a byte order mark at the start.
    fn skip_byte_order_mark(&mut self, sink: &mut Sink) -> Result<(), Abort> {
        loop {
            let bytes = self.window.bytes();
            if bytes.starts_with(MARK) {
                self.window.consume(MARK.len());
                return Ok(());
            }
            if self.window.is_end() || !MARK.starts_with(bytes) || self.read_more(sink)? == NextRecord::End {
                return Ok(());
            }
        }
    }

    /// Reads more input. The output is flushed first: the sender may wait for it before it sends more.
    fn read_more(&mut self, sink: &mut Sink) -> Result<NextRecord, Abort> {
        let have = self.window.bytes().len() as u64;
        if have > self.plan.max_record {
            return self.report_too_long();
        }
        sink.flush()?;
        progress::set_record_count(self.tally.records);
        match self.window.read_more() {
            Ok(()) => Ok(NextRecord::Go),
            Err(error) => {
                match error.kind() {
                    // The packed data is broken.
                    io::ErrorKind::InvalidData
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::Other => {
                        self.report.count_bad_input();
                        self.report.report_fault(code::INPUT, &self.tally.input, io_reason(&error));
                    }
                    _ => self.report.report_io_error(&self.tally.input, &error),
                }
                self.is_broken = true;
                if self.plan.rescue.is_none() {
                    return Ok(NextRecord::End);
                }
                // The bytes so far may be the beginning of a record.
                self.window.break_off();
                Ok(NextRecord::Go)
            }
        }
    }

    fn report_too_long(&mut self) -> Result<NextRecord, Abort> {
        let error = self.plan.too_long_error();
        self.tally.records += 1;
        let record = self.tally.records;
        reports::report_fault(
            &mut self.tally,
            &Fault::Unreadable(&error),
            record,
            self.window.offset(),
            &[],
            self.report,
        );
        Ok(NextRecord::End)
    }

    fn convert_next(&mut self, sink: &mut Sink) -> Result<NextRecord, Abort> {
        if self.plan.frame == Frame::Documents { self.convert_document(sink) } else { self.convert_framed(sink) }
    }

    /// Converts the next record with a frame.
    fn convert_framed(&mut self, sink: &mut Sink) -> Result<NextRecord, Abort> {
        let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
        let (start, end, next) = match self.plan.frame.split_record(bytes, is_end) {
            Split::Record { start, end, next } => (start, end, next),
            Split::More => return self.read_more(sink),
            Split::End if !is_end => return self.read_more(sink),
            Split::End => return Ok(NextRecord::End),
            Split::Bad(error) => return Ok(self.report_broken_frame(&error)),
        };
        let bytes = &bytes[start..end];
        let is_blank = self.plan.frame == Frame::Lines && bytes.iter().all(u8::is_ascii_whitespace);
        if is_blank {
            self.window.consume(next);
            return Ok(NextRecord::Go);
        }
        if bytes.len() as u64 > self.plan.max_record {
            let end = self.report_too_long()?;
            self.window.consume(next);
            return Ok(if self.plan.keep_going { NextRecord::Go } else { end });
        }
        self.tally.records += 1;
        let output_start = sink.position();
        let (mut done, opened) = self.plan.step.convert(bytes, sink);
        if done.is_read && done.consumed < bytes.len() {
            done.is_read = false;
            done.written = Err(self.plan.from.format().explain(Error::trailing(bytes, done.consumed)));
        }
        let offset = self.window.offset() + start as u64;
        let is_written = self.finish_record(done, opened, output_start, offset, (start, end), sink)?;
        self.window.consume(next);
        Ok(if is_written || self.plan.keep_going { NextRecord::Go } else { NextRecord::End })
    }

    /// Reports a broken frame, after which the next one can't be found.
    fn report_broken_frame(&mut self, error: &Error) -> NextRecord {
        self.tally.records += 1;
        let (record, offset) = (self.tally.records, self.window.offset());
        let error = error.clone().helping("where the next record starts is not known");
        reports::report_fault(
            &mut self.tally,
            &Fault::Unreadable(&error),
            record,
            offset,
            self.window.bytes(),
            self.report,
        );
        NextRecord::End
    }

    /// Converts the next of several documents without separators.
    fn convert_document(&mut self, sink: &mut Sink) -> Result<NextRecord, Abort> {
        let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
        let blank = if has_blanks_between(&self.plan.from) { bytes.len() - bytes.trim_ascii_start().len() } else { 0 };
        if blank == bytes.len() {
            self.window.consume(blank);
            return if is_end { Ok(NextRecord::End) } else { self.read_more(sink) };
        }
        // Other readers treat blanks as the beginning of their text.
        if blank > 0 && !self.plan.from.format().can.skips_blanks {
            self.window.consume(blank);
            return Ok(NextRecord::Go);
        }
        let output_start = sink.position();
        let (mut done, opened) = self.plan.step.convert(bytes, sink);
        let end = done.is_read.then_some(done.consumed);
        if !is_end && may_continue(&self.plan.from, end, done.written.as_ref().err(), bytes) {
            sink.take_back(output_start);
            return self.read_more(sink);
        }
        let (consumed, is_read, len) = (done.consumed, done.is_read, bytes.len());
        let failed_at = done.written.as_ref().err().and_then(Error::offset).unwrap_or(0).min(len as u64);
        if std::mem::take(&mut self.is_guess) && !is_read {
            sink.take_back(output_start);
            return self.search_next_document(failed_at, sink);
        }
        self.tally.records += 1;
        let offset = self.window.offset();
        if is_read && consumed as u64 > self.plan.max_record {
            (done.is_read, done.written) = (false, Err(self.plan.too_long_error()));
        }
        let is_written = self.finish_record(done, opened, output_start, offset, (0, len), sink)?;
        match (is_written, self.plan.keep_going) {
            // After a document of no bytes there are no more.
            (true, _) if consumed == 0 => return Ok(NextRecord::End),
            (false, false) => return Ok(NextRecord::End),
            (false, true) if !is_read => return self.search_next_document(failed_at, sink),
            _ => self.window.consume(consumed),
        }
        Ok(NextRecord::Go)
    }

    /// Counts a record and adds its frame. Returns whether it is in the output.
    fn finish_record(
        &mut self,
        done: Converted,
        opened: u64,
        output_start: u64,
        offset: u64,
        (start, end): (usize, usize),
        sink: &mut Sink,
    ) -> Result<bool, Abort> {
        let record = self.tally.records;
        let losses = match done.written {
            Ok(losses) => losses,
            Err(error) if error.kind() == ErrorKind::Output => return Err(sink.take_stop_reason()),
            Err(error) => {
                self.withdraw_record(output_start, sink)?;
                if !done.is_read {
                    self.rescue_record(offset, (start, end), &error, sink)?;
                }
                let bytes = &self.window.bytes()[start..end];
                let fault = if done.is_read { Fault::Unwritable(&error) } else { Fault::Unreadable(&error) };
                reports::report_fault(&mut self.tally, &fault, record, offset, bytes, self.report);
                return Ok(false);
            }
        };
        if self.plan.strict && !losses.is_empty() {
            self.withdraw_record(output_start, sink)?;
            let bytes = &self.window.bytes()[start..end];
            reports::report_fault(&mut self.tally, &Fault::Refused(&losses), record, offset, bytes, self.report);
            return Ok(false);
        }
        let framed = sink.edit_record(output_start, |buffer, start| self.plan.out.close_record(buffer, start));
        if let Err(error) = framed {
            self.withdraw_record(output_start, sink)?;
            let bytes = &self.window.bytes()[start..end];
            reports::report_fault(&mut self.tally, &Fault::Unwritable(&error), record, offset, bytes, self.report);
            return Ok(false);
        }
        if self.plan.lines && !sink.is_at_line_start() {
            sink.push(b'\n');
        }
        self.tally.ok += 1;
        self.count_record(&losses, opened, &done.repairs, offset);
        sink.count_document();
        sink.release_record()?;
        Ok(true)
    }

    /// Writes the readable part of a record that breaks off, if requested.
    fn rescue_record(
        &mut self,
        offset: u64,
        (start, end): (usize, usize),
        error: &Error,
        sink: &mut Sink,
    ) -> Result<(), Abort> {
        let Some(rescue) = &self.plan.rescue else { return Ok(()) };
        let bytes = &self.window.bytes()[start..end];
        let failed_at = error.offset().and_then(|position| usize::try_from(position).ok()).unwrap_or(0);
        let next =
            if self.plan.frame == Frame::Documents { self.find_next_start(bytes, failed_at) } else { bytes.len() };
        let output_start = sink.position();
        let rescued = rescue.write_rescued(bytes, next, offset, sink);
        let closed = match &rescued {
            Ok(Some(_)) => {
                sink.edit_record(output_start, |buffer, start| self.plan.out.close_record(buffer, start)).is_ok()
            }
            _ => false,
        };
        if !closed {
            sink.take_back(output_start);
        } else if self.plan.lines && !sink.is_at_line_start() {
            sink.push(b'\n');
        }
        let message = match rescued {
            Ok(Some(description)) if closed => description,
            _ => NOTHING.to_owned(),
        };
        self.report.note(&self.tally.input, "partial", format!("record {}: {message}", self.tally.records));
        if closed { sink.release_record() } else { Ok(()) }
    }

    /// Returns where the document after a bad one seems to begin, from `search_start` on; the end of `bytes` if that is
    /// unknown.
    fn find_next_start(&self, bytes: &[u8], search_start: usize) -> usize {
        let starts = self.plan.from.format().can.restarts;
        let is_start = |offset: &usize| {
            let rest = &bytes[*offset..];
            starts
                .iter()
                .any(|start| rest.strip_prefix(start.before).is_some_and(|rest| rest.starts_with(start.begins)))
        };
        (search_start.min(bytes.len())..bytes.len()).find(is_start).unwrap_or(bytes.len())
    }

    /// Takes a record back; the output before it is shown before the error.
    fn withdraw_record(&self, output_start: u64, sink: &mut Sink) -> Result<(), Abort> {
        sink.take_back(output_start);
        if reports::prints_next_error(&self.tally) { sink.flush() } else { Ok(()) }
    }

    fn count_record(&mut self, losses: &Losses, opened: u64, repairs: &[icecore::value::Repair], offset: u64) {
        if !losses.is_empty() {
            self.tally.note_losses(losses, self.tally.records, None);
        }
        self.tally.opened += opened;
        reports::report_repair(&mut self.tally, offset, repairs, self.report);
    }

    /// Continues at the next document after a bad one. `examined_len`: number of bytes of it that were read.
    fn search_next_document(&mut self, examined_len: u64, sink: &mut Sink) -> Result<NextRecord, Abort> {
        let starts = self.plan.from.format().can.restarts;
        let Some(longest) = starts.iter().map(|start| start.before.len() + start.begins.len()).max() else {
            let format = self.plan.from.format().name;
            let text = format!("stopped: the start of the next document is unknown in {format}");
            self.report.print_message(&ReportMessage::note("stopped", text).for_input(&self.tally.input));
            return Ok(NextRecord::End);
        };
        // A document that broke off contains the next one; repeated searches in it must not take forever.
        self.reexamined_bytes += examined_len;
        // The byte at which reading failed may be the start of the next document.
        let broken = self.window.offset() + examined_len;
        let is_cheap = self.reexamined_bytes
            < (self.window.offset().saturating_mul(MAX_REEXAMINATIONS)).max(FREE_REEXAMINED_BYTES);
        self.window.consume(if is_cheap { 1 } else { usize::try_from(examined_len).unwrap_or(usize::MAX).max(1) });
        loop {
            let bytes = self.window.bytes();
            let offset = self.window.offset();
            let start = |index: usize| {
                let rest = bytes.get(index..).unwrap_or_default();
                let is_here = |start: &&Restart| {
                    rest.strip_prefix(start.before).is_some_and(|after| after.starts_with(start.begins))
                };
                let is_broken = offset + index as u64 == broken;
                let is_next = || is_broken && starts.iter().any(|start| rest.starts_with(start.begins));
                let found = starts.iter().find(is_here).map(|start| (index + start.before.len(), start.is_sure));
                found.or_else(|| is_next().then_some((index, false)))
            };
            if let Some((index, is_sure)) = (0..bytes.len()).find_map(start) {
                self.is_guess = !is_sure;
                self.window.consume(index);
                return Ok(NextRecord::Go);
            }
            if self.window.is_end() {
                return Ok(NextRecord::End);
            }
            self.window.consume(bytes.len().saturating_sub(longest - 1));
            if self.read_more(sink)? == NextRecord::End {
                return Ok(NextRecord::End);
            }
        }
    }
}

/// Returns whether blanks between documents have no meaning.
fn has_blanks_between(stage: &Stage) -> bool {
    let can = &stage.format().can;
    can.text && !can.alone
}

/// Returns whether the result for a document may change when more bytes arrive. `end`: where it ends, if it could be
/// read.
fn may_continue(stage: &Stage, end: Option<usize>, error: Option<&Error>, bytes: &[u8]) -> bool {
    if let Some(end) = end {
        return match stage.format().can.end {
            End::Word => ends_in_word(bytes, end),
            // A lenient reader accepts what is available.
            End::Declared => end == bytes.len() && stage.settings().flag("lenient"),
            End::Near => end + NEAR_END >= bytes.len(),
        };
    }
    error.is_some_and(|error| {
        let offset = error.offset().and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
        error.layer().is_none()
            && (error.kind() == ErrorKind::Truncated || offset.saturating_add(NEAR_END) >= bytes.len())
    })
}

/// Returns whether a document that ends here may continue: `1` with `2`.
pub fn ends_in_word(bytes: &[u8], consumed: usize) -> bool {
    consumed == bytes.len() && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::ColorMode;
    use crate::paint::Paint;
    use crate::report_message::ReportForm;
    use icecore::Limits;
    use icecore_tables::window::CHUNK;

    /// Returns the number of bytes that are examined again.
    fn count_repeated_bytes(bytes: &[u8]) -> u64 {
        let stage = |name| Stage::parse(name).unwrap();
        let plan = RecordPlan {
            rescue: None,
            step: RecordConverter::new(stage("sereal"), stage("json"), &Limits::default(), false),
            from: stage("sereal"),
            frame: Frame::Documents,
            out: Frame::Documents,
            lines: true,
            keep_going: true,
            strict: false,
            max_record: 1 << 30,
            is_packed: false,
        };
        let mut report = Report::new(Paint::new(ColorMode::Never, &std::io::stderr()), true, ReportForm::Text);
        let mut run = RecordConversion::new(plan, Window::new(bytes, CHUNK), "bytes", &mut report);
        assert!(!run.convert_all(&mut Sink::new_discarding()).unwrap_or(true));
        assert_eq!(run.tally.bytes, bytes.len() as u64);
        run.reexamined_bytes
    }

    /// Returns documents that each consume everything after them before they break off: an array that declares more
    /// items than there are, of strings that contain the heads of the next documents.
    fn build_greedy_documents(documents: u32) -> Vec<u8> {
        let document = |index: u32| {
            let count = 2 * (documents - index);
            let varint = [0, 7, 14, 21].map(|bits| (count >> bits) as u8 & 0x7F | if bits < 21 { 0x80 } else { 0 });
            [b"=\xF3rl\x05\x00\x2B", &varint[..], b"\x6B"].concat()
        };
        (0..documents).flat_map(document).collect()
    }

    #[test]
    fn skipping_damage_takes_linear_time() {
        for documents in [12_500, 25_000, 50_000, 100_000, 200_000] {
            let bytes = build_greedy_documents(documents);
            let looked = count_repeated_bytes(&bytes);
            assert!(looked >= 20 * bytes.len() as u64, "{documents} documents: {looked}");
            assert!(
                looked <= FREE_REEXAMINED_BYTES + (MAX_REEXAMINATIONS + 1) * bytes.len() as u64,
                "{documents} documents: {looked}"
            );
        }
    }
}
