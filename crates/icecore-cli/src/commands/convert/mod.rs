//! `icecore convert`

mod args;
mod each;
mod partial;

use crate::class_map;
pub use args::Convert;

use crate::arguments::Global;
use crate::document_reader::{self, Detail, DocumentReader, UnwrappedInput};
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::records::reports::write_summary;
use crate::report::{Abort, Report, usage_error};
use crate::source::Source;
use crate::stream::{self, StreamOutcome};
use crate::target::{DEFAULT_BACKUP_SUFFIX, Destination, OutputFolder, Outputs, Target, format, leave_out_backups};
use crate::terminal;
use icecore::{Document, Error, ErrorKind, Stage, deep, format::Side, raw::Tape};
use icecore_tables::tally::Tally;
use std::cell::RefCell;
use std::sync::OnceLock;

pub fn run(args: &Convert, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let mut sources = args.inputs.find_sources(report)?;
    if args.output_args.out_dir.is_some() {
        sources = leave_out_backups(sources, DEFAULT_BACKUP_SUFFIX, report);
    }
    let mut reader = DocumentReader::with_framing(&args.from, args.each, &global.limits)?;
    reader.report_unused_options(report);
    reader.suggests_partial = !args.partial;
    let may_stream = !args.strict && (sources.len() == 1 || args.output_args.out_dir.is_some());
    report.is_strict = args.strict;
    report.has_output_option = true;
    let mut outputs = Outputs::new(&sources, args.force);
    let summary_destination = args.summary.as_ref().map(|path| outputs.destination_at(path)).transpose()?;
    let destination = match args.output_args.out_dir {
        Some(_) => None,
        None => Some(outputs.output_destination(args.output_args.output.as_ref())?),
    };
    let is_terminal = matches!(destination, Some(Destination::Stdout)) && terminal::is_stdout_terminal();
    let mut to = target_stage(args)?;
    mistakes::report_unused_options(&to, Side::Write, report);
    let output = args.output_args.output.as_deref();
    if let Some(note) = format::unknown_extension_note(args.to.as_deref(), output) {
        report.report_command_note("extension", note);
    }
    if is_terminal {
        terminal::check_not_binary(&to, args.force)?;
        if args.each.is_none() {
            to = terminal::with_indented_json(to);
        }
    }
    if terminal::writes_json(&to) && !args.strict {
        report.class_advice = Some(
            "`-t json:class=_class` keeps the names of classes, and `-t json:typed` can be converted back with them",
        );
    }
    let job = Conversion { reader, to, is_terminal, args, global, may_stream, tallies: RefCell::default() };
    match (destination, &args.output_args.out_dir) {
        (Some(destination), _) => job.write_to_one(destination, &sources, report)?,
        (None, Some(folder)) => {
            job.write_to_folder(&mut OutputFolder::new(folder, outputs, &sources), &sources, report)?
        }
        (None, None) => {}
    }
    summary_destination.map_or(Ok(()), |destination| write_summary(destination, &job.tallies.borrow()))
}

fn target_stage(args: &Convert) -> Result<Stage, Abort> {
    mistakes::refuse_framing_as_file(args.each, &args.inputs.files)?;
    let to = format::target_format(args.to.as_deref(), args.output_args.output.as_deref());
    let mut stage = mistakes::target_stage(&to)?;
    document_reader::set_options(&mut stage, &args.to_options).map_err(usage_error)?;
    class_map::apply_pairs(&mut stage, &args.class_map)?;
    Ok(stage)
}

/// Whether strings that were decoded because of `--deep` are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenedStrings {
    Report,
    Ignore,
}

/// The conversion of all inputs.
struct Conversion<'a> {
    reader: DocumentReader<'a>,
    to: Stage,
    args: &'a Convert,
    global: &'a Global,
    /// Whether the output goes to a terminal.
    is_terminal: bool,
    /// Whether output may begin before the whole input was read. This is only possible if no other output follows a
    /// document that breaks off.
    may_stream: bool,
    /// The counts of the records of each input.
    tallies: RefCell<Vec<Tally>>,
}

impl Conversion<'_> {
    /// Writes all inputs to the standard output or to one file.
    fn write_to_one(&self, destination: Destination, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        let mut target = Target::new(destination)?;
        if self.is_terminal && terminal::writes_json(&self.to) {
            target.writer.paint_json(self.global.color);
        } else if self.is_terminal && !self.args.force {
            target.writer.escape_controls();
        }
        for source in sources {
            self.convert_source(source, &mut target.writer, report)?;
        }
        // No file appears if no document was converted.
        if target.is_file() && target.writer.document_count() == 0 { Ok(()) } else { target.complete_output() }
    }

    /// Writes each input to a file of its own.
    fn write_to_folder(&self, folder: &mut OutputFolder, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
        for source in sources {
            match folder.open_target(source, &self.to.extension()) {
                Ok(mut target) => {
                    if self.convert_source(source, &mut target.writer, report)? {
                        target.complete_output()?;
                    }
                }
                Err(Abort::Failed(code, message)) => report.report_refused_output(code, &source.name(), message),
                Err(abort) => return Err(abort),
            }
        }
        Ok(())
    }

    /// Converts an input. Returns true if all of it was written.
    fn convert_source(&self, source: &Source, writer: &mut OutputWriter, report: &mut Report) -> Result<bool, Abort> {
        report.count_input();
        let name = source.name();
        if let Some(framing) = self.args.each {
            return self.convert_each(source, framing, writer, report);
        }
        self.convert_whole(source, &name, writer, report)
    }

    /// Converts an input that is read as a whole.
    fn convert_whole(
        &self,
        source: &Source,
        name: &str,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.report_io_error(name, &error);
                return Ok(false);
            }
        };
        let input = match self.args.partial {
            true => self.reader.unwrap_partial_input(name, &bytes, report),
            false => self.reader.unwrap_input(name, &bytes, report),
        };
        let Some(input) = input else { return Ok(false) };
        let input = &input;
        if let Some(check_name) = input.unchecked_name {
            report.report_unchecked(name, check_name);
        }
        // Losses are known only after a document was written. With --strict, a document is therefore written twice,
        // and the first output is discarded.
        if self.args.strict {
            let is_convertible = self.convert_documents(
                name,
                input,
                &mut OutputWriter::new_discarding(),
                OpenedStrings::Ignore,
                report,
            )?;
            // The first pass has already reported everything.
            report.is_strict = false;
            let is_written =
                is_convertible && self.convert_documents(name, input, writer, OpenedStrings::Report, report)?;
            report.is_strict = true;
            return Ok(is_written);
        }
        match self.convert_streamed(name, input, writer, report) {
            Some(result) => result,
            None => self.convert_documents(name, input, writer, OpenedStrings::Report, report),
        }
    }

    /// Converts a long array part by part. Returns true if all of it was written, and `None` if this is not possible
    /// or not allowed.
    fn convert_streamed(
        &self,
        name: &str,
        input: &UnwrappedInput<'_>,
        writer: &mut OutputWriter,
        report: &mut Report,
    ) -> Option<Result<bool, Abort>> {
        let UnwrappedInput { stage: from, bytes, .. } = input;
        let bytes = &**bytes;
        if !self.may_stream
            || !from.wrappers().is_empty()
            || !self.to.wrappers().is_empty()
            || self.args.each.is_some()
            || self.args.deep
            || self.args.partial
            || from.format().name == self.to.format().name
        {
            return None;
        }
        let unpacked_store = OnceLock::new();
        let StreamOutcome { outcome, write_result } =
            stream::convert_in_windows(bytes, &unpacked_store, from, &self.to, &self.global.limits, writer)?;
        report.report_repairs(name, 0, outcome.document.repairs());
        let losses = match write_result {
            Ok(losses) => losses,
            Err(error) if error.kind() == ErrorKind::Output => return Some(Err(writer.take_stop_reason())),
            Err(error) => {
                report.report_unwritable(name, &error);
                return Some(Ok(false));
            }
        };
        report.report_losses(name, &losses);
        let rest = bytes.get(outcome.consumed..).unwrap_or(&[]);
        let is_end = rest.is_empty() || from.format().ends_as_printed(rest);
        let trailing = || (!is_end).then(|| icecore::Error::trailing(bytes, outcome.consumed));
        let error = outcome.error.clone().or_else(trailing).map(|error| from.format().explain(error));
        if !writer.is_at_line_start()
            && let Err(abort) = writer.write_text("\n")
        {
            return Some(Err(abort));
        }
        match &error {
            Some(error) if error.layer().is_some() => report.report_unreadable(name, error, outcome.document.input()),
            Some(error) => report.report_unreadable(name, error, bytes),
            None => writer.count_document(),
        }
        Some(Ok(error.is_none()))
    }

    /// Converts each document of an input as a whole. Returns true if all were written. `opened_strings` says
    /// whether the strings that were decoded are reported.
    fn convert_documents(
        &self,
        name: &str,
        input: &UnwrappedInput<'_>,
        writer: &mut OutputWriter,
        opened_strings: OpenedStrings,
        report: &mut Report,
    ) -> Result<bool, Abort> {
        let to = self.to.format();
        // Documents in a wrapper need no separator.
        let has_separators = !to.can.separator.is_empty() && self.to.wrappers().is_empty();
        // The spelling is kept if both formats are the same; a format of lines counts as the format of its documents.
        let is_same_format = std::ptr::eq(input.stage.format().of_document(), to.of_document());
        let detail =
            if is_same_format || self.to.settings().flag("spelling") { Detail::Yes } else { Detail::IfFormat(to.name) };
        let mut is_all_written = true;
        let mut has_rescued = false;
        let is_all_read = self.reader.read_documents(name, input, detail, report, |_, outcome, start, report| {
            let document = match outcome.error {
                None => outcome.document,
                Some(_) if self.args.partial => match self.rescue_partial(name, input, start, report) {
                    Some(document) => document,
                    None => return Ok(outcome.document.into_tape()),
                },
                Some(_) => return Ok(outcome.document.into_tape()),
            };
            has_rescued |= outcome.error.is_some();
            let document = match self.open_nested(document, name, opened_strings, report) {
                Ok(document) => document,
                Err(error) => {
                    report.report_unwritable(name, &error);
                    is_all_written = false;
                    return Ok(Tape::new());
                }
            };
            let start = writer.position();
            match icecore::write_to(&document, &self.to, &self.global.limits, writer) {
                Ok(losses) => {
                    report.report_or_refuse_losses(name, &losses, self.args.strict);
                    is_all_written &= !self.args.strict || losses.is_empty();
                    writer.count_document();
                }
                Err(error) if error.kind() == ErrorKind::Output => return Err(writer.take_stop_reason()),
                Err(error) => {
                    report.report_unwritable(name, &error);
                    writer.discard_after(start);
                    is_all_written = false;
                }
            }
            if has_separators && !writer.is_at_line_start() {
                writer.write_text("\n")?;
            }
            Ok(document.into_tape())
        })?;
        Ok((is_all_read || has_rescued) && is_all_written)
    }

    /// With `--deep`, decodes frozen data in the strings of the document.
    fn open_nested<'d>(
        &self,
        document: Document<'d>,
        name: &str,
        opened_strings: OpenedStrings,
        report: &Report,
    ) -> Result<Document<'d>, Error> {
        if !self.args.deep {
            return Ok(document);
        }
        let deep = deep::open(document, &self.global.limits)?;
        if opened_strings == OpenedStrings::Report {
            report.report_opened_strings(name, &deep);
        }
        Ok(deep.document)
    }
}
