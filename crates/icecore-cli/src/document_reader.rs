//! Reads the documents of an input: finds their format, and reads one or several of them.

use crate::arguments::{DEFAULT_TARGET, InputFormat, ReadArgs};
use crate::foreign_input::ForeignInput;
use crate::mistakes;
use crate::records::Framing;
use crate::report::{Abort, Report, usage_error};
use icecore::detect::{DamageCause, DetectedDamage};
use icecore::{
    Error, ErrorKind, Format, Limits, Request, Stage,
    format::Side,
    raw::{Outcome, Tape},
    value::Metadata,
    wrap::Unwrapped,
};
use icecore_tables::byte_order_mark::{MARK, must_skip_mark};
use std::borrow::Cow;

/// Note for a path or filter that does not fit JSON lines because they were read as one array.
pub const JOINED_LINES: &str = "its lines are documents, which are read as one array: --each reads them one by one";

/// How inputs are read, according to the command line.
pub struct DocumentReader<'r> {
    stage: Option<Stage>,
    options: &'r [String],
    is_one_by_one: bool,
    /// Whether a note says how to write the readable part of an input that breaks off.
    pub suggests_partial: bool,
    limits: &'r Limits,
}

/// An input without its wrappers.
pub struct UnwrappedInput<'b> {
    pub stage: Stage,
    /// The bytes of the format.
    pub bytes: Cow<'b, [u8]>,
    /// Notes of the wrappers, by name.
    pub notes: Vec<(&'static str, String)>,
    /// Metadata of the wrappers that a target may write again.
    pub metadata: Vec<Metadata>,
    /// Name of the check that was not made, such as a signature without its key.
    pub unchecked_name: Option<&'static str>,
    /// The limits that remain after unwrapping.
    remaining_limits: Limits,
}

impl UnwrappedInput<'_> {
    /// Returns the limits that remain after unwrapping.
    pub fn limits(&self) -> &Limits {
        &self.remaining_limits
    }
}

/// Which details to record in addition to the meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    No,
    Yes,
    /// Record details if this is the format of the input.
    IfFormat(&'static str),
}

impl<'r> DocumentReader<'r> {
    /// Creates a reader for commands that read whole inputs.
    pub fn new(from: &'r ReadArgs, limits: &'r Limits) -> Result<DocumentReader<'r>, Abort> {
        DocumentReader::with_framing(&from.format, from.document_framing(), limits)
    }

    /// Creates a reader for inputs that may consist of several records.
    pub fn with_framing(
        from: &'r InputFormat,
        framing: Option<Framing>,
        limits: &'r Limits,
    ) -> Result<DocumentReader<'r>, Abort> {
        let mut stage = from.name.as_deref().map(mistakes::stage).transpose()?;
        if let Some(stage) = &mut stage {
            set_options(stage, &from.options).map_err(usage_error)?;
            // Bytes after a template are the next record.
            if framing == Some(Framing::Documents) && stage.format().options.iter().any(|option| option.name == "exact")
            {
                stage.set("exact", None).map_err(usage_error)?;
            }
        }
        Ok(DocumentReader {
            stage,
            options: &from.options,
            is_one_by_one: framing.is_some(),
            suggests_partial: true,
            limits,
        })
    }

    /// Creates a reader for inputs of a known format.
    pub fn for_stage(stage: Stage, limits: &'r Limits) -> DocumentReader<'r> {
        DocumentReader { stage: Some(stage), options: &[], is_one_by_one: false, suggests_partial: false, limits }
    }

    /// Finds the stage that reads these bytes, and removes its wrappers. Errors are reported.
    pub fn unwrap_input<'b>(&self, name: &str, bytes: &'b [u8], report: &mut Report) -> Option<UnwrappedInput<'b>> {
        self.unwrap_input_with(name, bytes, report, |stage, bytes, limits| {
            Ok((stage.unwrap_within(bytes, limits)?, None))
        })
    }

    /// Like [`DocumentReader::unwrap_input`], but if a wrapper is cut or broken, returns the data that was unpacked
    /// before.
    pub fn unwrap_partial_input<'b>(
        &self,
        name: &str,
        bytes: &'b [u8],
        report: &mut Report,
    ) -> Option<UnwrappedInput<'b>> {
        self.unwrap_input_with(name, bytes, report, Stage::unwrap_as_far)
    }

    /// Removes the wrappers by `unwrap`, which also returns the error of a wrapper that breaks off. Errors are
    /// reported.
    fn unwrap_input_with<'b>(
        &self,
        name: &str,
        bytes: &'b [u8],
        report: &mut Report,
        unwrap: impl FnOnce(&Stage, &'b [u8], &mut Limits) -> Result<(Unwrapped<'b>, Option<Error>), Error>,
    ) -> Option<UnwrappedInput<'b>> {
        let is_complete = true;
        let report_failure = |mut error: Error, report: &mut Report| {
            if error.kind() == ErrorKind::Format
                && !self.has_given_format()
                && let Some(input) = ForeignInput::detect_kind(name, bytes, is_complete)
            {
                let found = format!("{}, which is not a document of a format", input.title);
                error = Error::new(ErrorKind::Format).finding(found).helping(input.suggest_commands(name));
            } else if error.kind() == ErrorKind::Format
                && !self.has_given_format()
                && let Some(damage) = icecore::detect::find_damage(bytes)
            {
                error = damage_error(&damage);
            }
            report.report_unreadable(name, &error, if error.layer().is_none() { bytes } else { &[] });
        };
        let result = self.find_stage(bytes).and_then(|stage| {
            let mut limits = self.limits.clone();
            let (Unwrapped { bytes, remarks: notes, metadata, unchecked }, wrapper_error) =
                unwrap(&stage, bytes, &mut limits)?;
            Ok((
                UnwrappedInput { stage, bytes, notes, metadata, unchecked_name: unchecked, remaining_limits: limits },
                wrapper_error,
            ))
        });
        match result {
            Ok((unwrapped, wrapper_error)) => {
                if let Some(error) = wrapper_error {
                    let len = unwrapped.bytes.len() as u64;
                    let unpacked_len = icecore_tables::plural::format_count(len, "byte", "bytes");
                    report.report_note(
                        name,
                        "partial",
                        format!("a wrapper breaks off; unpacked until then: {unpacked_len}"),
                    );
                    report_failure(error, report);
                }
                Some(unwrapped)
            }
            Err(error) => {
                report_failure(error, report);
                None
            }
        }
    }

    /// With `is_each`, reads several documents of each input, one by one.
    #[must_use]
    pub fn with_each(mut self, is_each: bool) -> DocumentReader<'r> {
        self.is_one_by_one |= is_each;
        self
    }

    /// Returns true if several documents of each input are read, one by one.
    pub fn reads_one_by_one(&self) -> bool {
        self.is_one_by_one
    }

    /// Returns true if the documents of this input, one per line, are read as one array.
    pub fn joins_lines(&self, input: &UnwrappedInput<'_>) -> bool {
        !self.is_one_by_one && !self.has_given_format() && input.stage.of_line().is_some()
    }

    /// Reports options of the given format that have no effect while reading.
    pub fn report_unused_options(&self, report: &Report) {
        if let Some(stage) = &self.stage {
            mistakes::report_unused_options(stage, Side::Read, report);
        }
    }

    /// Returns true if the format was given.
    pub fn has_given_format(&self) -> bool {
        self.stage.is_some()
    }

    /// Returns the given stage, or the one that reads these bytes.
    pub fn find_stage(&self, bytes: &[u8]) -> Result<Stage, Error> {
        match &self.stage {
            Some(stage) => Ok(stage.clone()),
            None => {
                let detected = if self.is_one_by_one {
                    icecore::detect::stage_of_first(bytes)
                } else {
                    icecore::detect::stage_of(bytes)
                };
                // Options such as `repair` are for damaged data.
                let damaged = |error| match self.options {
                    [] => Err(error),
                    _ => icecore::detect::find_damage(bytes).map(|damage| damage.stage).ok_or(error),
                };
                let mut stage = detected.or_else(damaged)?;
                set_options(&mut stage, self.options)?;
                Ok(stage)
            }
        }
    }

    /// Reads all documents of an input, and calls `process` with each of them, its offset in the input, and its
    /// stage. A document may be partial. `process` returns a tape to reuse. Errors are reported. Returns true if
    /// there were none.
    pub fn read_documents<'a>(
        &self,
        name: &str,
        input: &'a UnwrappedInput<'_>,
        detail: Detail,
        report: &mut Report,
        mut process: impl FnMut(&Stage, Outcome<'a>, usize, &mut Report) -> Result<Tape, Abort>,
    ) -> Result<bool, Abort> {
        // Each line of a format of lines is a document of its own.
        if let Some(line_stage) = input.stage.of_line().filter(|_| self.is_one_by_one) {
            return read_lines(name, input, &line_stage, detail, report, process);
        }
        let UnwrappedInput { stage, bytes, .. } = input;
        let format = stage.format();
        let mut tape = Tape::new();
        let mut start = mark_len(stage, bytes);
        loop {
            let rest = bytes.get(start..).unwrap_or(&[]);
            let mut outcome = input.read_document(stage, rest, detail, tape);
            let consumed = outcome.consumed;
            report.report_repairs(name, start, outcome.document.repairs());
            let trailing_bytes = rest.get(consumed..).unwrap_or(&[]);
            let is_last = outcome.error.is_none() && format.ends_as_printed(trailing_bytes);
            if is_last {
                report.report_ignored_blanks(name, trailing_bytes.len());
            } else if outcome.error.is_none() && !self.is_one_by_one && !trailing_bytes.is_empty() {
                outcome.error = Some(trailing_error(format, rest, consumed));
            }
            let Some(error) = outcome.error.take() else {
                tape = process(stage, outcome, start, report)?;
                start += consumed;
                if is_last || start >= bytes.len() || consumed == 0 {
                    return Ok(true);
                }
                continue;
            };
            let has_values = error.kind() == ErrorKind::Truncated && outcome.document.nodes().len() > 1;
            let position = UnreadablePosition { start, record: None };
            let result = process_unreadable(name, input, stage, (outcome, error), position, report, &mut process);
            match self.suggests_partial {
                true if self.is_one_by_one => report.suggest_keep_going(name),
                true if self.joins_lines(input) => report.suggest_each(name),
                true if has_values => report.suggest_partial(name),
                _ => {}
            }
            return result.map(|_| false);
        }
    }
}

impl UnwrappedInput<'_> {
    /// Reads a document from these bytes of the input.
    fn read_document<'a>(&self, stage: &Stage, bytes: &'a [u8], detail: Detail, tape: Tape) -> Outcome<'a> {
        let detail = match detail {
            Detail::No => false,
            Detail::Yes => true,
            Detail::IfFormat(name) => name == stage.format().name,
        };
        let request = Request { limits: &self.remaining_limits, detail, salvages: detail, tape };
        let mut outcome = stage.format().read(bytes, stage.settings(), request);
        outcome.document.set_metadata(self.metadata.clone());
        outcome
    }
}

/// Reads each line as a document, like [`DocumentReader::read_documents`]. A line that breaks off does not continue in
/// the next one, and reading goes on after it.
fn read_lines<'a>(
    name: &str,
    input: &'a UnwrappedInput<'_>,
    stage: &Stage,
    detail: Detail,
    report: &mut Report,
    mut process: impl FnMut(&Stage, Outcome<'a>, usize, &mut Report) -> Result<Tape, Abort>,
) -> Result<bool, Abort> {
    let format = stage.format();
    let (mut tape, mut all_readable) = (Tape::new(), true);
    let (mut start, mut number) = (mark_len(stage, &input.bytes), 0);
    for line in input.bytes.get(start..).unwrap_or(&[]).split_inclusive(|byte| *byte == b'\n') {
        let line_start = start;
        start += line.len();
        if line.trim_ascii().is_empty() {
            continue;
        }
        number += 1;
        let mut outcome = input.read_document(stage, line, detail, tape);
        report.report_repairs(name, line_start, outcome.document.repairs());
        let trailing_bytes = line.get(outcome.consumed..).unwrap_or(&[]);
        if outcome.error.is_none() && !trailing_bytes.is_empty() && !format.ends_as_printed(trailing_bytes) {
            outcome.error = Some(trailing_error(format, line, outcome.consumed));
        }
        tape = match outcome.error.take() {
            None => process(stage, outcome, line_start, report)?,
            Some(error) => {
                all_readable = false;
                let position = UnreadablePosition { start: line_start, record: Some(number) };
                process_unreadable(name, input, stage, (outcome, error), position, report, &mut process)?
            }
        };
    }
    Ok(all_readable)
}

/// Where a document that can't be read is: its offset in the input, and its number if the input has several.
#[derive(Clone, Copy)]
struct UnreadablePosition {
    start: usize,
    record: Option<u64>,
}

/// Processes the readable part of a document, and reports its error.
fn process_unreadable<'a>(
    name: &str,
    input: &UnwrappedInput<'_>,
    stage: &Stage,
    (mut outcome, error): (Outcome<'a>, Error),
    UnreadablePosition { start, record }: UnreadablePosition,
    report: &mut Report,
    process: &mut impl FnMut(&Stage, Outcome<'a>, usize, &mut Report) -> Result<Tape, Abort>,
) -> Result<Tape, Abort> {
    let error = stage.format().explain(error);
    outcome.error = Some(error.clone());
    // `process` consumes the document, so the bytes that the error refers to are copied first.
    let layer_bytes = error.layer().is_some().then(|| outcome.document.input().to_vec());
    let result = process(stage, outcome, start, report);
    let (error, bytes) = match (&layer_bytes, stage.layer()) {
        (Some(layer_bytes), _) => (error, &layer_bytes[..]),
        (None, None) => (error.moved(start), &*input.bytes),
        (None, Some(layer)) => (error.moved(start).in_layer(layer), &*input.bytes),
    };
    report.report_unreadable_record(name, record, &error, bytes);
    result
}

/// Returns the length of a byte order mark that must be skipped. Some editors write one at the start of a text, where it
/// has no meaning.
fn mark_len(stage: &Stage, bytes: &[u8]) -> usize {
    if has_mark_to_skip(stage, bytes) { MARK.len() } else { 0 }
}

/// Returns the error for bytes after a document.
fn trailing_error(format: &Format, bytes: &[u8], consumed: usize) -> Error {
    let count = bytes.len() - consumed;
    let are_blanks = bytes[consumed..].iter().all(u8::is_ascii_whitespace);
    if !are_blanks || format.options.iter().any(|option| option.name == "lenient") {
        return icecore::Error::trailing(bytes, consumed);
    }
    icecore::Error::trailing_bytes(bytes, consumed).helping(format!(
        "these are blanks, such as `echo` or an editor adds: `head -c -{count}` removes them; `--each` reads documents that \
         follow one another"
    ))
}

/// Returns true if the text begins with a byte order mark that its reader would not skip.
fn has_mark_to_skip(stage: &Stage, bytes: &[u8]) -> bool {
    must_skip_mark(stage) && bytes.starts_with(MARK)
}

/// Sets options that were given one by one; their values are taken verbatim.
pub fn set_options(stage: &mut Stage, options: &[String]) -> Result<(), Error> {
    for option in options {
        match option.split_once('=') {
            Some((name, value)) => stage.set(name, Some(value))?,
            None => stage.set(option, None)?,
        }
    }
    Ok(())
}

/// Returns the stage of JSON that expresses everything a document means.
pub fn typed_json_stage() -> Result<Stage, Error> {
    let mut stage = Stage::parse(DEFAULT_TARGET)?;
    stage.set("typed", None)?;
    Ok(stage)
}

/// Returns true if the format of a stage has the option `repair`.
pub fn can_repair(stage: &Stage) -> bool {
    stage.format().options.iter().any(|option| option.name == "repair")
}

/// Returns the error for an input that is damaged in a known way.
fn damage_error(damage: &DetectedDamage) -> Error {
    if let Some(error) = &damage.error {
        return error.clone();
    }
    let stage = damage.stage.name();
    let help = match (damage.cause, damage.cause.remedy()) {
        (DamageCause::Entities, _) if can_repair(&damage.stage) => format!("`-f {stage}:repair=lengths` reads it"),
        (_, Some(remedy)) => remedy.to_owned(),
        (DamageCause::Backslashes, None) => format!("`-f slashes/{stage}` reads it"),
        (DamageCause::Framed(length), None) => {
            format!("`icecore convert --each={} -f {stage}` reads them", length.as_str())
        }
        _ => format!("`--each -f {stage}` reads them"),
    };
    let found = format!("probably {stage}, {}", damage.cause.describe());
    Error::new(ErrorKind::Format).expecting("a document").finding(found).helping(help)
}
