//! `icecore get`

mod args;
mod large;

pub use args::Get;

use crate::arguments::Global;
use crate::document_reader::{self, Detail, DocumentReader, JOINED_LINES, UnwrappedInput};
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::report::{Abort, Report, code, usage_error, usage_text_error};
use crate::source::Source;
use crate::terminal;
use icecore::format::Side;
use icecore::raw::{Input, Tape};
use icecore::select::{self, Pattern, Skimmed};
use icecore::{Document, Error, ErrorKind, Kind, Limits, Losses, Stage, deep};
use large::LargeFile;

pub fn run(args: &Get, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let pattern =
        Pattern::parse(&args.path).map_err(|error| mistakes::get_path_error(&args.path, &args.inputs.files, error))?;
    let reader = DocumentReader::new(&args.from, &global.limits)?;
    let mut to = mistakes::target_stage(&args.to)?;
    document_reader::set_options(&mut to, &args.to_options).map_err(usage_error)?;
    reader.report_unused_options(report);
    mistakes::report_unused_options(&to, Side::Write, report);
    let sources = args.inputs.find_sources(report)?;
    let display_limits = args.display.display_limits(&to, args.paths)?;
    let mut writer = OutputWriter::stdout();
    match display_limits {
        Some(_) if args.raw => {
            return Err(usage_text_error("--raw prints strings as they are, without --depth and --items"));
        }
        _ if args.raw || !terminal::writes_json(&to) => writer.escape_controls(),
        _ => writer.paint_values(global.color, args.paths),
    }
    if let Some(display_limits) = display_limits {
        writer.limit_json(display_limits);
    }
    // If a pattern may match anywhere, and there are several inputs, those without a match are not reported one by one.
    let searches_many = sources.len() > 1 && !pattern.is_definite();
    let mut total_count = 0;
    for source in &sources {
        report.count_input();
        let name = source.name();
        let job = GetJob { args, pattern: &pattern, reader: &reader, limits: &global.limits, to: &to, searches_many };
        let mut answers = AnswerWriter {
            job: &job,
            file: (args.paths && sources.len() > 1).then_some(&*name),
            writer: &mut writer,
            count: 0,
            losses: Losses::default(),
            write_errors: Vec::new(),
            max_position: u64::MAX,
            stop_reason: None,
        };
        let result = job.search_source(source, &name, &mut answers, report);
        let AnswerWriter { count, losses, write_errors, .. } = answers;
        report.report_or_refuse_losses(&name, &losses, args.strict);
        write_errors.iter().for_each(|error| report.report_unwritable(&name, error));
        let search_result = result?;
        total_count += count;
        if search_result.is_read && count == 0 && !searches_many {
            let found_instead = search_result.absence_reason.as_ref().and_then(Error::found).unwrap_or_default();
            report.report_absent_path(&name, pattern.as_str(), search_result.absence_reason.as_ref());
            if let Some(path) = &search_result.deeper_path {
                report.report_note(&name, "deeper", mistakes::deeper_path_advice(path));
            }
            if search_result.is_joined {
                report.report_note(&name, "lines", JOINED_LINES.to_owned());
            }
            if !args.deep && (found_instead.starts_with("text at") || found_instead.starts_with("bytes at")) {
                let advice = "if this string is frozen data: --deep follows the path into it";
                report.report_note(&name, "deep", advice.to_owned());
            }
        }
        writer.flush()?;
    }
    if searches_many && total_count == 0 {
        report.raise_exit_code(code::FINDING);
        report.report_command_note("absent", format!("nothing at `{}` in {} inputs", pattern.as_str(), sources.len()));
    }
    Ok(())
}

/// The result of the search in an input.
#[derive(Default)]
struct SearchResult {
    /// Whether the input could be read.
    is_read: bool,
    /// Whether the lines of the input were read as one array.
    is_joined: bool,
    /// What was found instead of the path, if nothing was found.
    absence_reason: Option<Error>,
    /// The path of a value further inside that the path would match.
    deeper_path: Option<String>,
}

/// What to search for in each input.
struct GetJob<'j> {
    args: &'j Get,
    pattern: &'j Pattern,
    reader: &'j DocumentReader<'j>,
    limits: &'j Limits,
    to: &'j Stage,
    /// Whether inputs without a match are not reported one by one.
    searches_many: bool,
}

/// Up to this size, an input without the path is read a second time, to report what it has instead.
const MAX_SECOND_READ_LEN: usize = 1 << 20;

impl GetJob<'_> {
    /// Finds the values in an input.
    fn search_source(
        &self,
        source: &Source,
        name: &str,
        answers: &mut AnswerWriter<'_>,
        report: &mut Report,
    ) -> Result<SearchResult, Abort> {
        let can_skim = self.args.from.document_framing().is_none() && !self.args.deep;
        // Number of values that were written before the skimmer gave up. The search in the whole document skips them.
        let mut answered_count = 0;
        if can_skim
            && let Some(mut large_file) = LargeFile::open_if_large(source, self.reader, &self.args.from.format.options)
        {
            answers.begin_input(usize::try_from(select::Source::len(&large_file)).unwrap_or(usize::MAX));
            let stages = std::mem::take(&mut large_file.stages);
            for stage in &stages {
                match self.skim_input(Input::Source(&mut large_file), stage, answers, name, report)? {
                    Some(Skimmed::Unsure(0)) => {}
                    // The input may be in another of the possible formats.
                    Some(Skimmed::Complete(0)) if stages.len() > 1 => {}
                    Some(Skimmed::Unsure(count)) => {
                        answered_count = count;
                        break;
                    }
                    Some(_) => return Ok(SearchResult { is_read: true, ..SearchResult::default() }),
                    None => return Ok(SearchResult::default()),
                }
            }
        }
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.report_io_error(name, &error);
                return Ok(SearchResult::default());
            }
        };
        let Some(input) = self.reader.unwrap_input(name, &bytes, report) else { return Ok(SearchResult::default()) };
        if let Some(check_name) = input.unchecked_name {
            report.report_unchecked(name, check_name);
        }
        let size = input.bytes.len();
        answers.begin_input(size);
        if can_skim && answered_count == 0 && input.stage.wrappers().is_empty() {
            match self.skim_input(Input::Bytes(&input.bytes), &input.stage, answers, name, report)? {
                Some(Skimmed::Unsure(count)) => answered_count = count,
                Some(Skimmed::Complete(0)) if size <= MAX_SECOND_READ_LEN => {}
                Some(_) => return Ok(SearchResult { is_read: true, ..SearchResult::default() }),
                None => return Ok(SearchResult::default()),
            }
        }
        self.search_documents(&input, answered_count, name, answers, report)
    }

    /// Writes the values on the path without reading the rest. Returns `None` if an error was reported.
    fn skim_input(
        &self,
        input: Input<'_>,
        stage: &Stage,
        answers: &mut AnswerWriter<'_>,
        name: &str,
        report: &mut Report,
    ) -> Result<Option<Skimmed>, Abort> {
        let write = &mut |path: &str, document: &Document<'_>| answers.write_answer(path, document);
        match select::skim(input, stage, self.pattern, self.limits, write) {
            Ok(skimmed) => Ok(Some(skimmed)),
            Err(error) => answers.report_error(&error, name, report).map(|()| None),
        }
    }

    /// Reads everything, and searches each document.
    fn search_documents(
        &self,
        input: &UnwrappedInput<'_>,
        answered_count: u64,
        name: &str,
        answers: &mut AnswerWriter<'_>,
        report: &mut Report,
    ) -> Result<SearchResult, Abort> {
        let (mut absence_reason, mut deeper_path) = (None, None);
        let is_read = self.reader.read_documents(name, input, Detail::No, report, |_, outcome, _, report| {
            // Of an input that breaks off, the values before the break are searched.
            let is_cut = outcome.error.as_ref().is_some_and(|error| error.kind() == ErrorKind::Truncated);
            if outcome.error.is_some() && !is_cut {
                return Ok(outcome.document.into_tape());
            }
            let document = match self.args.deep {
                true => deep::open(outcome.document, self.limits).map(|deep| deep.document),
                false => Ok(outcome.document),
            };
            let document = match document {
                Ok(document) => document,
                Err(error) => {
                    report.report_unwritable(name, &error);
                    return Ok(Tape::new());
                }
            };
            let write = &mut |path: &str, document: &Document<'_>| answers.write_answer(path, document);
            match select::within(&document, self.pattern, self.limits, answered_count, write) {
                Ok(0) if is_cut => {}
                Ok(0) => {
                    absence_reason = document.find(self.pattern.as_str()).err().filter(|error| error.path().is_some());
                    if !self.searches_many {
                        deeper_path = self.pattern.find_deeper(&document, self.limits);
                    }
                }
                Ok(_) => {}
                Err(error) => answers.report_error(&error, name, report)?,
            }
            Ok(document.into_tape())
        })?;
        Ok(SearchResult { is_read, is_joined: self.reader.joins_lines(input), absence_reason, deeper_path })
    }
}

/// Writes the found values of an input.
struct AnswerWriter<'s> {
    job: &'s GetJob<'s>,
    /// The input, if it is shown.
    file: Option<&'s str>,
    writer: &'s mut OutputWriter,
    /// Number of values found.
    count: u64,
    losses: Losses,
    /// Why values could not be written.
    write_errors: Vec<Error>,
    /// Position in the output that the values of this input must not exceed.
    max_position: u64,
    /// Why the output ended.
    stop_reason: Option<Abort>,
}

impl AnswerWriter<'_> {
    /// Begins an input of `size` bytes.
    fn begin_input(&mut self, size: usize) {
        self.max_position = self.writer.position().saturating_add(self.job.limits.output_from(size));
    }

    /// Writes a value that was found, as a document of the output format or, with --raw, as its bytes. A value that
    /// the output format can't express is recorded, and reported later.
    fn write_answer(&mut self, path: &str, document: &Document<'_>) -> Result<(), Error> {
        self.count += 1;
        if self.job.args.strict && self.refuse_losses(path, document)? {
            return Ok(());
        }
        if self.job.args.paths {
            let file = self.file.map(|file| format!("{}:", icecore::text::printable(file))).unwrap_or_default();
            self.write_text(&format!("{file}{path}\t"))?;
        }
        if let (true, Some(bytes)) = (self.job.args.raw, document.root().as_bytes()) {
            self.write_bytes(bytes)?;
            // A line end after the only value would damage binary data.
            if !self.job.pattern.is_definite() || str::from_utf8(bytes).is_ok() {
                self.write_text("\n")?;
            }
        } else if let Some((text, losses)) = self.convert_to_text(document) {
            self.losses.merge_below(losses, path);
            self.write_bytes(&text)?;
            if !self.writer.is_at_line_start() {
                self.write_text("\n")?;
            }
        } else {
            match icecore::write_to(document, self.job.to, self.job.limits, self.writer) {
                Ok(losses) => self.losses.merge_below(losses, path),
                Err(error) if matches!(error.kind(), ErrorKind::Output | ErrorKind::Limit) => return Err(error),
                // The other values are written all the same.
                Err(error) => self.write_errors.push(error.below(path)),
            }
            if !self.writer.is_at_line_start() && !self.job.to.is_binary() {
                self.write_text("\n")?;
            }
        }
        if self.writer.position() > self.max_position {
            return Err(Error::new(ErrorKind::Limit)
                .expecting("values that are not much longer than the input")
                .finding("more of them: links lead to the same ones again")
                .helping("raise the limit `growth` if the input is trusted: `--limit growth=N`"));
        }
        Ok(())
    }

    /// With --raw, returns a value other than a list or a map in the output format, and its losses. If that is a string,
    /// as of a regular expression or a time, returns its text.
    fn convert_to_text(&self, document: &Document<'_>) -> Option<(Vec<u8>, Losses)> {
        let is_container = matches!(document.root().kind(), Kind::Array | Kind::Map);
        if !self.job.args.raw || is_container || self.job.to.is_binary() {
            return None;
        }
        let mut output = Vec::new();
        let losses = icecore::write_to(document, self.job.to, self.job.limits, &mut output).ok()?;
        let text = icecore::read_as(&output, self.job.to, self.job.limits).ok();
        let text = text.and_then(|text| text.root().as_bytes().map(<[u8]>::to_vec));
        Some((text.unwrap_or(output), losses))
    }

    /// Records the losses of a value before anything of it is written. Returns true if it has any.
    fn refuse_losses(&mut self, path: &str, document: &Document<'_>) -> Result<bool, Error> {
        match icecore::write_to(document, self.job.to, self.job.limits, &mut Vec::new()) {
            Ok(losses) if losses.is_empty() => Ok(false),
            Ok(losses) => {
                self.losses.merge_below(losses, path);
                Ok(true)
            }
            // The value is written once more, which reports the error.
            Err(_) => Ok(false),
        }
    }

    fn write_text(&mut self, text: &str) -> Result<(), Error> {
        self.write_bytes(text.as_bytes())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.writer.write_bytes(bytes).map_err(|abort| {
            self.stop_reason = Some(abort);
            Error::new(ErrorKind::Output)
        })
    }

    /// Reports a value that could not be written.
    fn report_error(&mut self, error: &Error, name: &str, report: &mut Report) -> Result<(), Abort> {
        if let Some(abort) = self.stop_reason.take() {
            return Err(abort);
        }
        if error.kind() == ErrorKind::Output {
            return Err(self.writer.take_stop_reason());
        }
        report.report_unwritable(name, error);
        // The value exists, so it counts as found.
        self.count += 1;
        Ok(())
    }
}
