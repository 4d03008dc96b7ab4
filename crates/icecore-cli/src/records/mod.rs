//! Records one by one, in constant memory: documents without separators, lines, and all other records with a
//! [`Framing`].

mod framing;
pub mod reports;
mod rescue;
#[cfg(feature = "store")]
mod splitter;

pub use framing::{Framing, Split};
pub use rescue::{NOTHING_READABLE, Rescue, RescuedDocument, rescue_document};
#[cfg(feature = "store")]
pub use splitter::RecordSplitter;

use crate::output_writer::OutputWriter;
use crate::progress;
use crate::report::{Abort, Report, code, io_reason};
use crate::report_message::ReportMessage;
use icecore::format::{End, Restart};
use icecore::{Converted, Error, ErrorKind, Losses, Stage};
use icecore_tables::byte_order_mark::{MARK, must_skip_mark};
use icecore_tables::record_converter::RecordConverter;
use icecore_tables::tally::Tally;
use icecore_tables::window::Window;
use reports::Fault;
use std::io::{self, Read};

/// An error at most this many bytes before the end of the available bytes may be caused by their end.
const NEAR_END: usize = 64;
/// How often each byte of the input, on average, may be examined again in searches for the next good document.
const MAX_REEXAMINATIONS: u64 = 16;
/// Number of bytes that may be examined again in any case.
const FREE_REEXAMINED_BYTES: u64 = 64 << 20;

/// How the records of an input are converted.
pub struct RecordPlan {
    pub converter: RecordConverter,
    /// If set, writes the readable part of records that break off.
    pub rescue: Option<Rescue>,
    pub input_stage: Stage,
    pub input_framing: Framing,
    pub output_framing: Framing,
    /// Whether a line end is written after each record.
    pub ends_lines: bool,
    /// Whether the conversion continues after a record that is not in the output.
    pub keep_going: bool,
    /// Whether a record with losses is refused.
    pub strict: bool,
    /// Maximum length of a record.
    pub max_record_len: u64,
    /// Whether the records are in a wrapper, which is unpacked while they are read.
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
    /// Whether the input could not be read to its end.
    is_broken: bool,
    /// Whether the next document was found by a search after a bad one, and may be a part of the bad one.
    is_guess: bool,
}

/// Whether to continue with another record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoopControl {
    Continue,
    Stop,
}

impl RecordPlan {
    /// Returns the error for a record that is too long.
    fn too_long_error(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("a record of at most {} bytes", self.max_record_len))
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
        window.set_max_record(plan.max_record_len);
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

    /// Converts all records. Returns true if all are in the output.
    pub fn convert_all(&mut self, writer: &mut OutputWriter) -> Result<bool, Abort> {
        if must_skip_mark(&self.plan.input_stage) && self.plan.input_stage.wrappers().is_empty() {
            self.skip_byte_order_mark(writer)?;
        }
        while self.convert_next(writer)? == LoopControl::Continue {}
        self.tally.bytes = self.window.offset();
        Ok(self.tally.bad == 0 && !self.is_broken)
    }

    /// Skips a byte order mark at the start.
    fn skip_byte_order_mark(&mut self, writer: &mut OutputWriter) -> Result<(), Abort> {
        loop {
            let bytes = self.window.bytes();
            if bytes.starts_with(MARK) {
                self.window.consume(MARK.len());
                return Ok(());
            }
            if self.window.is_end() || !MARK.starts_with(bytes) || self.read_more(writer)? == LoopControl::Stop {
                return Ok(());
            }
        }
    }

    /// Reads more input. The output is flushed first, because the program at the other end may wait for it before it
    /// sends more.
    fn read_more(&mut self, writer: &mut OutputWriter) -> Result<LoopControl, Abort> {
        if self.window.bytes().len() as u64 > self.plan.max_record_len {
            return self.report_too_long();
        }
        writer.flush()?;
        progress::set_record_count(self.tally.records);
        match self.window.read_more() {
            Ok(()) => Ok(LoopControl::Continue),
            Err(error) => {
                match error.kind() {
                    // The compressed data is broken.
                    io::ErrorKind::InvalidData
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::Other => {
                        self.report.count_undecodable_input();
                        self.report.report_fault(code::INPUT, &self.tally.input, io_reason(&error));
                    }
                    _ => self.report.report_io_error(&self.tally.input, &error),
                }
                self.is_broken = true;
                if self.plan.rescue.is_none() {
                    return Ok(LoopControl::Stop);
                }
                // The bytes so far may be the beginning of a record.
                self.window.break_off();
                Ok(LoopControl::Continue)
            }
        }
    }

    fn report_too_long(&mut self) -> Result<LoopControl, Abort> {
        let error = self.plan.too_long_error();
        self.tally.records += 1;
        let record = self.tally.records;
        reports::report_record_fault(
            &mut self.tally,
            &Fault::Unreadable(&error),
            record,
            self.window.offset(),
            &[],
            self.report,
        );
        Ok(LoopControl::Stop)
    }

    fn convert_next(&mut self, writer: &mut OutputWriter) -> Result<LoopControl, Abort> {
        if self.plan.input_framing == Framing::Documents {
            self.convert_document(writer)
        } else {
            self.convert_framed(writer)
        }
    }

    /// Converts the next record that has a length or separator.
    fn convert_framed(&mut self, writer: &mut OutputWriter) -> Result<LoopControl, Abort> {
        let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
        let (start, end, next) = match self.plan.input_framing.split_record(bytes, is_end) {
            Split::Record { start, end, next } => (start, end, next),
            Split::Incomplete => return self.read_more(writer),
            Split::End if !is_end => return self.read_more(writer),
            Split::End => return Ok(LoopControl::Stop),
            Split::Broken(error) => return Ok(self.report_broken_frame(&error)),
        };
        let bytes = &bytes[start..end];
        let is_blank = self.plan.input_framing == Framing::Lines && bytes.iter().all(u8::is_ascii_whitespace);
        if is_blank {
            self.window.consume(next);
            return Ok(LoopControl::Continue);
        }
        if bytes.len() as u64 > self.plan.max_record_len {
            let control = self.report_too_long()?;
            self.window.consume(next);
            return Ok(if self.plan.keep_going { LoopControl::Continue } else { control });
        }
        self.tally.records += 1;
        let output_start = writer.position();
        let (mut converted, opened_count) = self.plan.converter.convert(bytes, writer);
        if converted.is_read && converted.consumed < bytes.len() {
            converted.is_read = false;
            converted.written = Err(self.plan.input_stage.format().explain(Error::trailing(bytes, converted.consumed)));
        }
        let offset = self.window.offset() + start as u64;
        let is_written = self.finish_record(converted, opened_count, output_start, offset, (start, end), writer)?;
        self.window.consume(next);
        Ok(if is_written || self.plan.keep_going { LoopControl::Continue } else { LoopControl::Stop })
    }

    /// Reports a record whose length or separator is broken. The next record can't be found after it.
    fn report_broken_frame(&mut self, error: &Error) -> LoopControl {
        self.tally.records += 1;
        let (record, offset) = (self.tally.records, self.window.offset());
        let error = error.clone().helping("where the next record starts is not known");
        reports::report_record_fault(
            &mut self.tally,
            &Fault::Unreadable(&error),
            record,
            offset,
            self.window.bytes(),
            self.report,
        );
        LoopControl::Stop
    }

    /// Converts the next of several documents without separators.
    fn convert_document(&mut self, writer: &mut OutputWriter) -> Result<LoopControl, Abort> {
        let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
        let blank_len = if ignores_blanks_between(&self.plan.input_stage) {
            bytes.len() - bytes.trim_ascii_start().len()
        } else {
            0
        };
        if blank_len == bytes.len() {
            self.window.consume(blank_len);
            return if is_end { Ok(LoopControl::Stop) } else { self.read_more(writer) };
        }
        // Readers that do not skip blanks would treat them as a part of the document.
        if blank_len > 0 && !self.plan.input_stage.format().can.skips_blanks {
            self.window.consume(blank_len);
            return Ok(LoopControl::Continue);
        }
        let output_start = writer.position();
        let (mut converted, opened_count) = self.plan.converter.convert(bytes, writer);
        let end = converted.is_read.then_some(converted.consumed);
        if !is_end && may_continue(&self.plan.input_stage, end, converted.written.as_ref().err(), bytes) {
            writer.discard_after(output_start);
            return self.read_more(writer);
        }
        let (consumed, is_read, len) = (converted.consumed, converted.is_read, bytes.len());
        let failed_at = converted.written.as_ref().err().and_then(Error::offset).unwrap_or(0).min(len as u64);
        if std::mem::take(&mut self.is_guess) && !is_read {
            writer.discard_after(output_start);
            return self.search_next_document(failed_at, writer);
        }
        self.tally.records += 1;
        let offset = self.window.offset();
        if is_read && consumed as u64 > self.plan.max_record_len {
            (converted.is_read, converted.written) = (false, Err(self.plan.too_long_error()));
        }
        let is_written = self.finish_record(converted, opened_count, output_start, offset, (0, len), writer)?;
        match (is_written, self.plan.keep_going) {
            // A document of no bytes would be found again forever.
            (true, _) if consumed == 0 => return Ok(LoopControl::Stop),
            (false, false) => return Ok(LoopControl::Stop),
            (false, true) if !is_read => return self.search_next_document(failed_at, writer),
            _ => self.window.consume(consumed),
        }
        Ok(LoopControl::Continue)
    }

    /// Counts the record `start..end` of the window, and adds its length or separator to the output. `opened_count` is
    /// the number of its strings that were decoded as frozen data. Returns true if the record stays in the output.
    fn finish_record(
        &mut self,
        converted: Converted,
        opened_count: u64,
        output_start: u64,
        offset: u64,
        (start, end): (usize, usize),
        writer: &mut OutputWriter,
    ) -> Result<bool, Abort> {
        let record = self.tally.records;
        let losses = match converted.written {
            Ok(losses) => losses,
            Err(error) if error.kind() == ErrorKind::Output => return Err(writer.take_stop_reason()),
            Err(error) => {
                self.discard_record(output_start, writer)?;
                if !converted.is_read {
                    self.rescue_record(offset, (start, end), &error, writer)?;
                }
                let bytes = &self.window.bytes()[start..end];
                let fault = if converted.is_read { Fault::Unwritable(&error) } else { Fault::Unreadable(&error) };
                reports::report_record_fault(&mut self.tally, &fault, record, offset, bytes, self.report);
                return Ok(false);
            }
        };
        if self.plan.strict && !losses.is_empty() {
            self.discard_record(output_start, writer)?;
            let bytes = &self.window.bytes()[start..end];
            reports::report_record_fault(&mut self.tally, &Fault::Refused(&losses), record, offset, bytes, self.report);
            return Ok(false);
        }
        let close_result =
            writer.edit_record(output_start, |buffer, start| self.plan.output_framing.close_record(buffer, start));
        if let Err(error) = close_result {
            self.discard_record(output_start, writer)?;
            let bytes = &self.window.bytes()[start..end];
            reports::report_record_fault(
                &mut self.tally,
                &Fault::Unwritable(&error),
                record,
                offset,
                bytes,
                self.report,
            );
            return Ok(false);
        }
        if self.plan.ends_lines && !writer.is_at_line_start() {
            writer.push(b'\n');
        }
        self.tally.ok += 1;
        self.count_record(&losses, opened_count, &converted.repairs, offset);
        writer.count_document();
        writer.release_record()?;
        Ok(true)
    }

    /// Writes the readable part of a record that breaks off, if requested.
    fn rescue_record(
        &mut self,
        offset: u64,
        (start, end): (usize, usize),
        error: &Error,
        writer: &mut OutputWriter,
    ) -> Result<(), Abort> {
        let Some(rescue) = &self.plan.rescue else { return Ok(()) };
        let bytes = &self.window.bytes()[start..end];
        let failed_at = error.offset().and_then(|position| usize::try_from(position).ok()).unwrap_or(0);
        let next_start = if self.plan.input_framing == Framing::Documents {
            self.find_next_start(bytes, failed_at)
        } else {
            bytes.len()
        };
        let output_start = writer.position();
        let rescue_result = rescue.write_rescued(bytes, next_start, offset, writer);
        let is_written = match &rescue_result {
            Ok(Some(_)) => writer
                .edit_record(output_start, |buffer, start| self.plan.output_framing.close_record(buffer, start))
                .is_ok(),
            _ => false,
        };
        if !is_written {
            writer.discard_after(output_start);
        } else if self.plan.ends_lines && !writer.is_at_line_start() {
            writer.push(b'\n');
        }
        let message = match rescue_result {
            Ok(Some(description)) if is_written => description,
            _ => NOTHING_READABLE.to_owned(),
        };
        self.report.report_note(&self.tally.input, "partial", format!("record {}: {message}", self.tally.records));
        if is_written { writer.release_record() } else { Ok(()) }
    }

    /// Returns where the document after a bad one seems to begin, at or after `search_start`; the end of `bytes` if
    /// no start is found.
    fn find_next_start(&self, bytes: &[u8], search_start: usize) -> usize {
        let starts = self.plan.input_stage.format().can.restarts;
        let is_start = |offset: &usize| {
            let rest = &bytes[*offset..];
            starts
                .iter()
                .any(|start| rest.strip_prefix(start.before).is_some_and(|rest| rest.starts_with(start.begins)))
        };
        (search_start.min(bytes.len())..bytes.len()).find(is_start).unwrap_or(bytes.len())
    }

    /// Discards the output of a record. The output before it is written first if an error will be printed.
    fn discard_record(&self, output_start: u64, writer: &mut OutputWriter) -> Result<(), Abort> {
        writer.discard_after(output_start);
        if reports::prints_next_error(&self.tally) { writer.flush() } else { Ok(()) }
    }

    fn count_record(&mut self, losses: &Losses, opened_count: u64, repairs: &[icecore::value::Repair], offset: u64) {
        if !losses.is_empty() {
            self.tally.count_losses(losses, self.tally.records, None);
        }
        self.tally.opened += opened_count;
        reports::count_repaired_record(&mut self.tally, offset, repairs, self.report);
    }

    /// Moves the window to the next document after a bad one, of which `examined_len` bytes were read.
    fn search_next_document(&mut self, examined_len: u64, writer: &mut OutputWriter) -> Result<LoopControl, Abort> {
        let starts = self.plan.input_stage.format().can.restarts;
        let Some(max_start_len) = starts.iter().map(|start| start.before.len() + start.begins.len()).max() else {
            let format = self.plan.input_stage.format().name;
            let text = format!("stopped: the start of the next document is unknown in {format}");
            self.report.print_message(&ReportMessage::note("stopped", text).for_input(&self.tally.input));
            return Ok(LoopControl::Stop);
        };
        // A broken document may have consumed the next ones, so the search begins one byte after its start. Such
        // searches may examine the same bytes many times; once they did so too often, the examined bytes are skipped.
        self.reexamined_bytes += examined_len;
        // The byte at which reading failed may be the start of the next document.
        let failed_at = self.window.offset() + examined_len;
        let may_reexamine = self.reexamined_bytes
            < (self.window.offset().saturating_mul(MAX_REEXAMINATIONS)).max(FREE_REEXAMINED_BYTES);
        self.window.consume(if may_reexamine { 1 } else { usize::try_from(examined_len).unwrap_or(usize::MAX).max(1) });
        loop {
            let bytes = self.window.bytes();
            let offset = self.window.offset();
            // Returns the index at which a document starts if a signature is at `index`, and whether it is sure. Where
            // reading failed, the bytes that must precede a signature may be missing.
            let find_start = |index: usize| {
                let rest = bytes.get(index..).unwrap_or_default();
                let is_start = |start: &&Restart| {
                    rest.strip_prefix(start.before).is_some_and(|after| after.starts_with(start.begins))
                };
                let is_failure = offset + index as u64 == failed_at;
                let begins_at_failure = || is_failure && starts.iter().any(|start| rest.starts_with(start.begins));
                let signature_start =
                    starts.iter().find(is_start).map(|start| (index + start.before.len(), start.is_sure));
                signature_start.or_else(|| begins_at_failure().then_some((index, false)))
            };
            if let Some((index, is_sure)) = (0..bytes.len()).find_map(find_start) {
                self.is_guess = !is_sure;
                self.window.consume(index);
                return Ok(LoopControl::Continue);
            }
            if self.window.is_end() {
                return Ok(LoopControl::Stop);
            }
            self.window.consume(bytes.len().saturating_sub(max_start_len - 1));
            if self.read_more(writer)? == LoopControl::Stop {
                return Ok(LoopControl::Stop);
            }
        }
    }
}

/// Returns true if blanks between documents have no meaning.
fn ignores_blanks_between(stage: &Stage) -> bool {
    let capabilities = &stage.format().can;
    capabilities.text && !capabilities.alone
}

/// Returns true if the result for a document may change when more bytes arrive. `end` is where the document ends, if
/// it could be read.
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

/// Returns true if a document that ends with the available bytes may continue: `1` may be the beginning of `12`.
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

    /// Returns the number of bytes that the conversion examines more than once.
    fn count_repeated_bytes(bytes: &[u8]) -> u64 {
        let stage = |name| Stage::parse(name).unwrap();
        let plan = RecordPlan {
            rescue: None,
            converter: RecordConverter::new(stage("sereal"), stage("json"), &Limits::default(), false),
            input_stage: stage("sereal"),
            input_framing: Framing::Documents,
            output_framing: Framing::Documents,
            ends_lines: true,
            keep_going: true,
            strict: false,
            max_record_len: 1 << 30,
            is_packed: false,
        };
        let mut report = Report::new(Paint::new(ColorMode::Never, &std::io::stderr()), true, ReportForm::Text);
        let mut conversion = RecordConversion::new(plan, Window::new(bytes, CHUNK), "bytes", &mut report);
        assert!(!conversion.convert_all(&mut OutputWriter::new_discarding()).unwrap_or(true));
        assert_eq!(conversion.tally.bytes, bytes.len() as u64);
        conversion.reexamined_bytes
    }

    /// Returns documents that each consume everything after them before they break off. Each is an array that declares
    /// more items than there are; its items are strings that contain the heads of the next documents.
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
            let repeated_bytes = count_repeated_bytes(&bytes);
            assert!(repeated_bytes >= 20 * bytes.len() as u64, "{documents} documents: {repeated_bytes}");
            assert!(
                repeated_bytes <= FREE_REEXAMINED_BYTES + (MAX_REEXAMINATIONS + 1) * bytes.len() as u64,
                "{documents} documents: {repeated_bytes}"
            );
        }
    }
}
