//! `icecore query`: the jq language for documents of any format.

use crate::allocator;
use crate::arguments::{DisplayArgs, Global, ReadArgs};
use crate::document_reader::{self, Detail, DocumentReader, JOINED_LINES};
use crate::limits;
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::report::{Abort, Report, code, usage_error, usage_text_error};
use crate::report_message::ReportMessage;
use crate::source::Source;
use crate::target::{Destination, Outputs, Target, format};
use crate::terminal;
use clap::{Args, ValueHint};
use icecore::format::Side;
use icecore::raw::Tape;
use icecore::{Builder, Document, ErrorKind, Losses, Stage, deep};
use icecore_query::{Answer, Failure, Input, RunEnd, Running, on_query_thread};
use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Query documents of any format with a filter in the jq language
///
/// A filter sees a document as JSON would show it: objects are their fields, symbols are strings, links are their
/// targets. `class` returns the class of an object or null, `fields` its fields without the class. Values that a filter
/// does not change are written as they were. As in jq, every text is greater than every number: `(.total | tonumber) >
/// 100` compares a text as a number. If a filter fails for an input, the exit code is 5; if the filter itself
/// is invalid, it is 2.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Query {
    /// Filter to apply: `.staff[] | select(.age > 30) | .name`
    #[arg(value_name = "FILTER")]
    pub filter: String,
    /// Files, or folders with all files in them; `-` is the standard input
    #[arg(value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub from: ReadArgs,
    /// Format of the results, with options: json:indent=2
    ///
    /// If not given, the format of the name of --output, or JSON.
    #[arg(short = 't', long = "to", value_name = "FORMAT")]
    pub to: Option<String>,
    /// Option of the results' format; the value is taken verbatim
    #[arg(long = "to-opt", value_name = "NAME[=VALUE]")]
    pub to_options: Vec<String>,
    /// Write strings as they are, without quotes
    #[arg(short, long = "raw-output")]
    pub raw: bool,
    /// Write each result on one line, also on a terminal
    #[arg(short, long = "compact-output", conflicts_with_all = ["indent", "tab"])]
    pub compact: bool,
    /// Indent JSON with N blanks for each level
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u8>(0, 7), conflicts_with = "tab")]
    pub indent: Option<u8>,
    /// Indent JSON with a tab for each level
    #[arg(long)]
    pub tab: bool,
    /// Treat a loss as an error: exit 1, and write no result that has one
    #[arg(long)]
    pub strict: bool,
    /// Pass all documents to the filter as one array
    #[arg(short, long)]
    pub slurp: bool,
    /// Open frozen data in strings, for the filter
    #[arg(long)]
    pub deep: bool,
    /// In `@csv` and `@tsv`, put `'` before texts that a spreadsheet would take for a formula, as `rows` does
    #[arg(long)]
    pub csv_safe: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Run the filter once, with null as its input: `input` and `inputs` return the documents
    #[arg(short, long = "null-input")]
    pub null_input: bool,
    /// Exit 1 if the last result is false or null, or if there is none
    #[arg(short, long = "exit-status")]
    pub exit_status: bool,
    /// Pass a string to the filter as `$NAME`
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"])]
    pub arg: Vec<String>,
    /// Pass a JSON value to the filter as `$NAME`
    #[arg(long, num_args = 2, value_names = ["NAME", "JSON"])]
    pub argjson: Vec<String>,
    /// Stop a filter after N steps for each input; same as --limit steps=N [default: 1073741824]
    ///
    /// A filter may run forever, such as `def f: f; f`, and data may have links in links that a filter follows for
    /// years. A step is one evaluated term of the filter, or a piece of the work of a function: the default takes one
    /// to two minutes. `--limit memory=N` limits the bytes that the values of a filter hold at a time, 1G by default.
    /// Each value of the input adds 256 steps and 256 bytes.
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u64>(0, i64::MAX))]
    pub max_steps: Option<u64>,
    /// Write to this file; it appears when it is complete
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Overwrite a file that exists, but never an input; write binary formats to a terminal
    #[arg(long)]
    pub force: bool,
}

const EXAMPLES: &str = "\
Examples:
  icecore query '.[].name' staff.storable          the names, a line each
  icecore query -r '.[] | select(.age > 40) | .name' staff.srl
  icecore query 'select(.age > 40) | input_filename' people/
  icecore query 'map(class)' staff.storable        the class of each
  icecore query -t marshal '.staff[0]' staff.php >first.marshal
  icecore query -n '[inputs | length] | add' sessions/
  icecore query --arg who Alice '.[] | select(.name == $who)' staff.storable";

pub fn run(args: &Query, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let sources = Source::find_all(&args.files, report);
    silence_filter_panics();
    // Filters run on a thread with a large stack.
    on_query_thread(|| run_query(args, global, &sources, report))
}

/// Silences the panic message of the filter's thread. Such a bug is reported like any other error, without a
/// backtrace.
fn silence_filter_panics() {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() != Some("query") {
            default_hook(info);
        }
    }));
}

fn run_query(args: &Query, global: &Global, sources: &[Source], report: &mut Report) -> Result<(), Abort> {
    let reader = DocumentReader::new(&args.from, &global.limits)?.with_each(args.slurp);
    reader.report_unused_options(report);
    let usage_failure = |error: &dyn std::fmt::Display| Abort::Failed(code::USAGE, error.to_string());
    let compile = if args.csv_safe { icecore_query::Query::for_spreadsheets } else { icecore_query::Query::new };
    let variables = collect_variables(args)?;
    let mut query = compile(&args.filter, &variables).map_err(|mistake| {
        let is_filter = |filter: &str| compile(filter, &variables).is_ok();
        mistakes::filter_error(&args.filter, &args.files, &mistake.to_string(), is_filter)
    })?;
    if args.slurp {
        // The filter may end in a comment, which the line end closes.
        query = compile(&format!("[inputs] | ({}\n)", args.filter), &variables)
            .map_err(|mistake| usage_failure(&mistake))?;
    }
    // With --raw-output, the filter produces the text of a file of any kind.
    let output = args.output.as_deref().filter(|_| !args.raw);
    let target_name = format::target_format(args.to.as_deref(), output);
    if let Some(note) = format::unknown_extension_note(args.to.as_deref(), output) {
        report.report_command_note("extension", note);
    }
    let mut to = mistakes::target_stage(&target_name)?;
    document_reader::set_options(&mut to, &args.to_options).map_err(usage_error)?;
    mistakes::report_unused_options(&to, Side::Write, report);
    set_indentation(args, &mut to)?;
    let destination = Outputs::new(sources, args.force).output_destination(args.output.as_ref())?;
    let is_stdout = matches!(destination, Destination::Stdout);
    let is_terminal = is_stdout && terminal::is_stdout_terminal();
    let has_paths = false;
    let display_limits = args.display.display_limits(&to, has_paths)?;
    if args.raw && display_limits.is_some() {
        return Err(usage_text_error("--raw-output writes strings as they are, without --depth and --items"));
    }
    if is_terminal {
        terminal::check_not_binary(&to, args.force)?;
        to = if args.compact { to } else { terminal::with_indented_json(to) };
    }
    let mut target = Target::new(destination)?;
    if is_stdout && terminal::writes_json(&to) && !args.raw {
        target.writer.paint_json(global.color);
    } else if is_terminal && !args.force {
        target.writer.escape_controls();
    }
    if let Some(display_limits) = display_limits {
        target.writer.limit_json(display_limits);
    }
    let (report, record) = (RefCell::new(report), Cell::new(None));
    let job = QueryJob { args, global, to, query, report, joined_inputs: RefCell::default(), record };
    let mut results =
        ResultWriter { writer: &mut target.writer, last_is_true: None, losses: Losses::default(), stop_reason: None };
    let run_end = job.run_all(&reader, sources, &mut results)?;
    let last_is_true = results.last_is_true;
    if let Some(abort) = results.stop_reason {
        return Err(abort);
    }
    let report = job.report.into_inner();
    match run_end {
        RunEnd::Halted(code) => report.raise_exit_code(u8::try_from(code).unwrap_or(code::OTHER)),
        _ if args.exit_status && last_is_true != Some(true) => report.raise_exit_code(code::FINDING),
        _ => {}
    }
    target.complete_output()
}

/// Sets the layout that the options of jq request.
fn set_indentation(args: &Query, to: &mut Stage) -> Result<(), Abort> {
    let blanks = if args.tab { Some(1) } else { args.indent };
    if (blanks.is_some() || args.compact) && !terminal::writes_json(to) {
        return Err(usage_text_error("--compact-output, --indent and --tab are for JSON"));
    }
    match blanks {
        Some(blanks) => to.set("indent", Some(&blanks.to_string())).map_err(usage_error),
        None => Ok(()),
    }
}

/// Replaces the indentation of JSON lines by tabs. Strings in JSON contain no line ends.
fn indent_with_tabs(json: &[u8]) -> Vec<u8> {
    let mut is_line_start = true;
    json.iter()
        .map(|byte| {
            is_line_start = *byte == b'\n' || (is_line_start && *byte == b' ');
            if is_line_start && *byte == b' ' { b'\t' } else { *byte }
        })
        .collect()
}

/// Returns the variables of `--arg` and `--argjson`, and the environment if the filter uses `$ENV`.
fn collect_variables(args: &Query) -> Result<Vec<(String, Document<'static>)>, Abort> {
    let usage_failure = |error: icecore::Error| Abort::Failed(code::USAGE, error.to_string());
    let text_document = |text: &str| {
        let mut builder = Builder::new();
        builder.text(text);
        builder.finish().map_err(usage_failure)
    };
    let mut variables = Vec::new();
    // Each pair is a name and its value.
    for pair in args.arg.chunks_exact(2) {
        variables.push((pair[0].clone(), text_document(&pair[1])?));
    }
    let json = Stage::parse("json:typed=no").map_err(usage_failure)?;
    for pair in args.argjson.chunks_exact(2) {
        let document = icecore::read_as(pair[1].as_bytes(), &json, &icecore::Limits::default());
        let value = document.map_err(|error| Abort::Failed(code::USAGE, format!("--argjson {}: {error}", pair[0])))?;
        variables.push((pair[0].clone(), value.into_owned()));
    }
    if args.filter.contains("$ENV") {
        let mut builder = Builder::new();
        builder.begin_map();
        for (name, value) in std::env::vars_os() {
            builder.text_key(&name.to_string_lossy()).text(&value.to_string_lossy());
        }
        builder.end();
        variables.push(("ENV".to_owned(), builder.finish().map_err(usage_failure)?));
    }
    Ok(variables)
}

/// The filter, and how its results are written.
struct QueryJob<'j> {
    args: &'j Query,
    global: &'j Global,
    to: Stage,
    query: icecore_query::Query,
    report: RefCell<&'j mut Report>,
    /// Names of the inputs whose lines are read as one array.
    joined_inputs: RefCell<HashSet<String>>,
    /// Where the document that the filter reads is, if its input has several.
    record: Cell<Option<RecordPosition>>,
}

/// The place of a record in its input.
#[derive(Clone, Copy)]
struct RecordPosition {
    /// Its number, from 1 on.
    number: u64,
    /// The number of its line, if each line is a record. Empty lines are not records, but count here.
    line: Option<u64>,
    /// The offset of its first byte.
    offset: u64,
}

impl RecordPosition {
    /// Returns `record 3 (line 4)`.
    fn describe(self) -> String {
        match self.line {
            Some(line) => format!("record {} (line {line})", self.number),
            None => format!("record {}", self.number),
        }
    }
}

/// Counts the lines before increasing offsets.
struct LineCounter<'b> {
    bytes: &'b [u8],
    offset: usize,
    count: u64,
}

impl LineCounter<'_> {
    /// Returns the number of the line with this offset, from 1 on.
    fn line_number(&mut self, offset: usize) -> u64 {
        let passed = self.bytes.get(self.offset..offset).unwrap_or_default();
        self.count += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.offset = offset;
        self.count + 1
    }
}

/// The output so far.
struct ResultWriter<'s> {
    writer: &'s mut OutputWriter,
    /// Whether the last result is neither null nor false; `None` if there is no result yet.
    last_is_true: Option<bool>,
    losses: Losses,
    /// Why the output ended.
    stop_reason: Option<Abort>,
}

impl QueryJob<'_> {
    /// Runs the filter for each input. Returns how the run ended.
    fn run_all(
        &self,
        reader: &DocumentReader<'_>,
        sources: &[Source],
        results: &mut ResultWriter<'_>,
    ) -> Result<RunEnd, Abort> {
        // A filter that uses `input` reads the inputs itself; other filters get one input after the other.
        if self.args.null_input || self.args.slurp || self.args.filter.contains("input") {
            let mut queued_inputs = VecDeque::new();
            let mut remaining_sources = sources.iter();
            let mut inputs = std::iter::from_fn(|| {
                while queued_inputs.is_empty() {
                    self.process_source(reader, remaining_sources.next()?, &mut |input, record| {
                        queued_inputs.push_back((input, record));
                        Ok(RunEnd::Done)
                    })
                    .ok()?;
                }
                let (input, record) = queued_inputs.pop_front()?;
                // With --slurp, an error is one of the array of all records, not of the last one.
                self.record.set(record.filter(|_| !self.args.slurp));
                Some(input)
            });
            let end = self.run_filter(&mut inputs, results);
            self.report_losses("the results", results);
            return Ok(end);
        }
        for source in sources {
            let end = self.process_source(reader, source, &mut |input, record| {
                self.record.set(record);
                Ok(self.run_filter(&mut std::iter::once(input), results))
            })?;
            self.report_losses(&source.name(), results);
            if end != RunEnd::Done {
                return Ok(end);
            }
        }
        Ok(RunEnd::Done)
    }

    /// Reads an input, and calls `process` with each of its documents, and with its place if there may be several.
    fn process_source(
        &self,
        reader: &DocumentReader<'_>,
        source: &Source,
        process: &mut dyn FnMut(Input, Option<RecordPosition>) -> Result<RunEnd, Abort>,
    ) -> Result<RunEnd, Abort> {
        let name = source.name();
        let mut report = self.report.borrow_mut();
        report.count_input();
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.report_io_error(&name, &error);
                return Ok(RunEnd::Done);
            }
        };
        let Some(unwrapped) = reader.unwrap_input(&name, &bytes, &mut report) else { return Ok(RunEnd::Done) };
        if let Some(check_name) = unwrapped.unchecked_name {
            report.report_unchecked(&name, check_name);
        }
        if reader.joins_lines(&unwrapped) {
            self.joined_inputs.borrow_mut().insert(name.clone());
        }
        // The reader needs the report until it is done, so the documents are collected first. A broken document is
        // therefore reported before the documents that precede it are queried.
        let mut documents = Vec::new();
        let has_lines = unwrapped.stage.of_line().is_some();
        let mut lines = LineCounter { bytes: &unwrapped.bytes, offset: 0, count: 0 };
        let mut number = 0;
        reader.read_documents(&name, &unwrapped, Detail::No, &mut report, |_, outcome, offset, report| {
            number += 1;
            let record = reader.reads_one_by_one().then(|| RecordPosition {
                number,
                line: has_lines.then(|| lines.line_number(offset)),
                offset: offset as u64,
            });
            match outcome.document {
                _ if outcome.error.is_some() => {}
                document if !self.args.deep => documents.push((document.into_owned(), record)),
                document => match deep::open(document, &self.global.limits) {
                    Ok(deep) => documents.push((deep.document.into_owned(), record)),
                    Err(error) => report.report_unwritable(&name, &error),
                },
            }
            Ok(Tape::new())
        })?;
        drop(report);
        for (document, record) in documents {
            let input = Input::new(name.clone(), document);
            self.report.borrow_mut().report_losses(&name, input.losses());
            let end = process(input, record)?;
            if end != RunEnd::Done {
                return Ok(end);
            }
        }
        Ok(RunEnd::Done)
    }

    /// Runs the filter with these inputs, and writes its results.
    fn run_filter(&self, inputs: &mut dyn Iterator<Item = Input>, results: &mut ResultWriter<'_>) -> RunEnd {
        let print_debug_message =
            |text: &str| self.report.borrow().print_message(&ReportMessage::note("debug", text.to_owned()));
        let mut options = Running::default();
        options.null_input = self.args.null_input || self.args.slurp;
        options.steps = self.args.max_steps.or(self.global.limits.steps).unwrap_or(options.steps);
        options.memory = self.global.limits.memory.unwrap_or(options.memory);
        options.allocated_bytes = Some(allocator::bytes_in_use);
        options.on_message = &print_debug_message;
        self.query.run(inputs, &options, &mut |result| match result {
            Ok(answer) => self.handle_answer(&answer, results),
            Err(failure) => {
                self.report_failure(&failure);
                ControlFlow::Continue(())
            }
        })
    }

    fn report_failure(&self, failure: &Failure) {
        let name = failure.name.as_deref().unwrap_or("filter");
        let mut message = failure.message.clone();
        if self.joined_inputs.borrow().contains(name) {
            message.push_str(&format!(" ({JOINED_LINES})"));
        }
        if !self.args.deep && indexes_frozen_string(&message) {
            message.push_str(" (if this string is frozen data: --deep opens it)");
        }
        let mut report = self.report.borrow_mut();
        report.raise_exit_code(code::OTHER);
        match self.record.get() {
            Some(record) => {
                let message = ReportMessage::error(code::OTHER, format!("{}: {message}", record.describe()));
                report.print_message(&message.in_record(record.number, Some(record.offset)).for_input(name));
            }
            None => report.print_message(&ReportMessage::error(code::OTHER, message).for_input(name)),
        }
    }

    fn handle_answer(&self, answer: &Answer, results: &mut ResultWriter<'_>) -> ControlFlow<()> {
        results.last_is_true = Some(answer.is_true());
        let result = match answer.to_bytes().filter(|_| self.args.raw) {
            Some(bytes) => results.writer.write_bytes(&bytes).and_then(|()| results.writer.write_text("\n")),
            None => self.write_result(answer, results),
        };
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(abort) => {
                results.stop_reason = Some(abort);
                ControlFlow::Break(())
            }
        }
    }

    /// Writes a result of the filter. If the output format can't express it, this is reported, and nothing of it is
    /// written.
    fn write_result(&self, answer: &Answer, results: &mut ResultWriter<'_>) -> Result<(), Abort> {
        let start = results.writer.position();
        let result = if self.args.tab || self.args.strict {
            let mut bytes = Vec::new();
            let written = answer.write(&self.to, &self.global.limits, &mut bytes);
            if let Ok(losses) = &written
                && self.args.strict
                && !losses.is_empty()
            {
                results.losses.merge(losses.clone());
                return Ok(());
            }
            results.writer.write_bytes(&if self.args.tab { indent_with_tabs(&bytes) } else { bytes })?;
            written
        } else {
            answer.write(&self.to, &self.global.limits, results.writer)
        };
        match result {
            Ok(losses) => {
                results.losses.merge(losses);
                results.writer.count_document();
            }
            Err(error) if error.kind() == ErrorKind::Output => return Err(results.writer.take_stop_reason()),
            Err(error) => {
                let place = self.record.get().map_or_else(String::new, |record| format!(" of {}", record.describe()));
                self.report.borrow_mut().report_unwritable(&format!("a result{place}"), &error);
                results.writer.discard_after(start);
            }
        }
        let has_separators = !self.to.format().can.separator.is_empty() && self.to.wrappers().is_empty();
        if has_separators && !results.writer.is_at_line_start() { results.writer.write_text("\n") } else { Ok(()) }
    }

    /// Reports what the format of the results could not express.
    fn report_losses(&self, name: &str, results: &mut ResultWriter<'_>) {
        let losses = std::mem::take(&mut results.losses);
        self.report.borrow_mut().report_or_refuse_losses(name, &losses, self.args.strict);
    }
}

/// Returns true if a filter failed because it indexed a string that begins like frozen data.
fn indexes_frozen_string(message: &str) -> bool {
    // The beginnings of serialize, JSON, Marshal and Storable, as the message quotes them.
    const BEGINNINGS: [&str; 8] = ["a:", "O:", "C:", "{\\\"", "[", "\\u0004\\b", "pst0", "\\u0004\\u000b"];
    let Some(text) = message.strip_prefix("cannot index \"") else { return false };
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}
