//! `icecore convert --each`: documents one by one, in constant memory.

use super::{Conversion, OpenedStrings};
use crate::output_writer::OutputWriter;
use crate::records::{Framing, RecordConversion, RecordPlan, Rescue, Split, ends_in_word, reports};
use crate::report::{Abort, Report};
use crate::source::Source;
use icecore::format::End;
use icecore::{Error, Request, Stage};
use icecore_tables::byte_order_mark::{MARK, must_skip_mark};
use icecore_tables::record_converter::RecordConverter;
use icecore_tables::window::Window;
use std::io::{self, Read};

/// Number of bytes from which the format is detected if the first document is longer.
const MIN_EXAMINED: usize = 4 << 10;
/// Maximum number of bytes that are examined while the format is still unknown.
const MAX_EXAMINED: usize = 1 << 20;

impl Conversion<'_> {
    /// Converts the documents of an input. Returns true if all were written.
    pub(super) fn convert_each(
        &self,
        source: &Source,
        framing: Framing,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let name = source.name();
        let result = source.open().and_then(|from| {
            let mut window = Window::new(from, self.args.chunk);
            self.detect_record_stage(&mut window, framing).map(|stage| (window, stage))
        });
        let (window, stage) = match result {
            Ok((window, Ok(stage))) => (window, stage),
            Ok((window, Err(error))) => {
                report.report_unreadable(&name, &error, window.bytes());
                return Ok(false);
            }
            Err(error) => {
                report.report_io_error(&name, &error);
                return Ok(false);
            }
        };
        if framing != Framing::Documents || stage.wrappers().is_empty() {
            return self.convert_records(self.plan_records(stage, framing), window, &name, writer, report);
        }
        // Data with a single wrapper is unpacked while it is read, unless --strict forbids output before its end was
        // checked.
        let inner = stage.inner().filter(|inner| inner.wrappers().is_empty() && !self.args.strict);
        let outer = stage.wrappers()[0].wrapper();
        if let Some(inner) = inner.filter(|_| outer.can_stream()) {
            match outer.stream(Box::new(window.into_reader())) {
                Some(Ok(unpacked)) => {
                    let window = Window::new(unpacked, self.args.chunk);
                    // A single record may be as long as the limit for the whole unpacked data.
                    let plan = self.plan_records(inner, framing);
                    let max_record_len = plan.max_record_len.min(self.global.limits.decompressed);
                    let plan = RecordPlan { max_record_len, is_packed: true, ..plan };
                    return self.convert_records(plan, window, &name, writer, report);
                }
                Some(Err(error)) => report.report_io_error(&name, &error),
                None => {}
            }
            return Ok(false);
        }
        self.convert_unwrapped(window, &name, writer, report)
    }

    /// Converts the records of a window.
    fn convert_records(
        &self,
        plan: RecordPlan,
        window: Window<Box<dyn Read + Send>>,
        name: &str,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let mut conversion = RecordConversion::new(plan, window, name, report);
        writer.write_only_complete_records();
        let is_complete = conversion.convert_all(writer)?;
        let tally = conversion.tally;
        if tally.has_unreadable() {
            report.count_undecodable_input();
            if !self.args.keep_going && !is_complete {
                report.suggest_keep_going(name);
            }
        }
        reports::report_totals(&tally, report, self.global.quiet);
        self.tallies.borrow_mut().push(tally);
        Ok(is_complete)
    }

    /// Determines the stage that reads the records.
    fn detect_record_stage(
        &self,
        window: &mut Window<Box<dyn Read + Send>>,
        framing: Framing,
    ) -> io::Result<Result<Stage, Error>> {
        if self.reader.has_given_format() {
            return Ok(self.reader.find_stage(&[]));
        }
        loop {
            let (bytes, is_end) = (window.bytes(), window.is_end());
            if let Some(record) = first_record(framing, bytes, is_end) {
                return Ok(self.reader.find_stage(record));
            }
            if is_end || !bytes.is_empty() {
                let stage = self.reader.find_stage(bytes);
                let is_conclusive =
                    |stage: &Stage| bytes.len() >= MIN_EXAMINED || self.has_whole_document(stage, bytes);
                if is_end || bytes.len() >= MAX_EXAMINED || stage.as_ref().is_ok_and(is_conclusive) {
                    return Ok(stage);
                }
            }
            window.read_more()?;
        }
    }

    /// Returns true if a whole document is available. Then the command must not wait for more input, because the
    /// sender may wait for the result.
    fn has_whole_document(&self, stage: &Stage, bytes: &[u8]) -> bool {
        if !stage.wrappers().is_empty() {
            return false;
        }
        let bytes = bytes.strip_prefix(MARK).filter(|_| must_skip_mark(stage)).unwrap_or(bytes);
        let outcome = stage.format().read(bytes, stage.settings(), Request::new(&self.global.limits));
        let may_continue = stage.format().can.end == End::Word && ends_in_word(bytes, outcome.consumed);
        outcome.error.is_none() && !may_continue
    }

    /// Returns how to convert an input record by record. A format of lines becomes the format of one line.
    fn plan_records(&self, stage: Stage, framing: Framing) -> RecordPlan {
        let (input_stage, framing) = match stage.of_line() {
            Some(line) if framing == Framing::Documents => (line, Framing::Lines),
            Some(line) => (line, framing),
            None => (stage, framing),
        };
        let output_stage = self.to.of_line().unwrap_or_else(|| self.to.clone());
        let is_text = match output_stage.wrappers().first() {
            Some(outermost) => outermost.wrapper().text == Some(true),
            None => !output_stage.format().can.separator.is_empty(),
        };
        let limits = &self.global.limits;
        RecordPlan {
            rescue: self
                .args
                .partial
                .then(|| Rescue::new(input_stage.clone(), output_stage.clone(), limits, self.args.deep)),
            converter: RecordConverter::new(input_stage.clone(), output_stage, limits, self.args.deep),
            input_stage,
            input_framing: framing,
            output_framing: self.args.frame.unwrap_or(Framing::Documents),
            ends_lines: is_text && self.args.frame.is_none(),
            keep_going: self.args.keep_going,
            strict: self.args.strict,
            max_record_len: self.args.max_record,
            is_packed: false,
        }
    }

    /// Converts documents in a wrapper that can only be unpacked as a whole.
    fn convert_unwrapped(
        &self,
        mut window: Window<Box<dyn Read + Send>>,
        name: &str,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        while !window.is_end() {
            if let Err(error) = window.read_more() {
                report.report_io_error(name, &error);
                return Ok(false);
            }
        }
        let input = match self.args.partial {
            true => self.reader.unwrap_partial_input(name, window.bytes(), report),
            false => self.reader.unwrap_input(name, window.bytes(), report),
        };
        let Some(input) = input else { return Ok(false) };
        if self.args.strict
            && !self.convert_documents(
                name,
                &input,
                &mut OutputWriter::new_discarding(),
                OpenedStrings::Ignore,
                report,
            )?
        {
            return Ok(false);
        }
        self.convert_documents(name, &input, writer, OpenedStrings::Report, report)
    }
}

/// Returns the first record that is complete and not blank.
fn first_record(framing: Framing, bytes: &[u8], is_end: bool) -> Option<&[u8]> {
    let mut offset = 0;
    while let Split::Record { start, end, next } = framing.split_record(bytes.get(offset..)?, is_end) {
        let record = &bytes[offset + start..offset + end];
        if framing != Framing::Lines || !record.trim_ascii().is_empty() {
            return Some(record);
        }
        offset += next;
    }
    None
}
