//! `icecore diff`

mod args;
mod contrast;
mod git;
mod known_values;
mod show;

pub use args::{Diff, DiffView};
pub use show::{DifferencePrinter, SAME_MEANING};

use crate::arguments::{Global, InputFormat};
use crate::document_reader::{Detail, DocumentReader, UnwrappedInput};
use crate::paint::Paint;
use crate::report::{Abort, Report, code, usage_text_error};
use crate::shell_words::quote_for_shell;
use crate::source::Source;
use crate::target::{Destination, Outputs, Target};
use crate::terminal;
use icecore::{Document, Kind, raw::Tape};
use icecore_diff::{Differences, Rules, find_differences};
use std::path::Path;

pub fn run(args: &Diff, global: &Global, report: &mut Report) -> Result<(), Abort> {
    if args.is_json() && (args.display.depth.is_some() || args.display.items.is_some()) {
        return Err(usage_text_error(
            "--depth and --items are for people: a list of changes for `icecore patch` has all",
        ));
    }
    if args.git {
        let (mut target, printer) = open_output(args, global)?;
        git::run(args, global, &printer, &mut target.writer)?;
        return target.complete_output();
    }
    let [left, right] = &args.files[..] else {
        return Err(Abort::Failed(code::USAGE, "diff compares two files: icecore diff A B".to_owned()));
    };
    if left == right && left.as_os_str() == "-" {
        return Err(Abort::Failed(code::USAGE, "only one of the two files can be the standard input".to_owned()));
    }
    let (mut target, printer) = open_output(args, global)?;
    match compare_files(args, global, [left, right], report, |differences| {
        printer.write_differences(differences, &mut target.writer)
    })? {
        // A file that can't be read has been reported, and no output appears.
        None => return Ok(()),
        Some(true) => report.raise_exit_code(code::FINDING),
        Some(false) => {}
    }
    target.complete_output()
}

/// Opens the output, and returns the printer that writes differences to it.
fn open_output<'g>(args: &Diff, global: &'g Global) -> Result<(Target, DifferencePrinter<'g>), Abort> {
    let sources: Vec<Source> = args.files.iter().map(|file| Source::from_path(Some(file))).collect();
    let destination = Outputs::new(&sources, args.force).output_destination(args.output.as_ref())?;
    let is_stdout = matches!(destination, Destination::Stdout);
    let mut target = Target::new(destination)?;
    if is_stdout && args.is_json() {
        target.writer.paint_json(global.color);
    }
    let paint = if is_stdout { Paint::new(global.color, &std::io::stdout()) } else { Paint::off() };
    let is_terminal = is_stdout && terminal::is_stdout_terminal();
    let printer = DifferencePrinter::for_people(args.view, &args.display, is_terminal, paint, &global.limits);
    Ok((target, if args.is_json() { printer.with_json() } else { printer }))
}

/// Compares two files, and calls `write` with the differences. Returns true if there are any; `None` if a file can't
/// be read, which is reported.
fn compare_files(
    args: &Diff,
    global: &Global,
    files: [&Path; 2],
    report: &mut Report,
    write: impl FnOnce(&Differences<'_>) -> Result<(), Abort>,
) -> Result<Option<bool>, Abort> {
    let format_name = |own: Option<&String>| own.or(args.format.as_ref()).cloned();
    let input_format = |name| InputFormat { name, options: args.options.clone() };
    let (left_format, right_format) =
        (input_format(format_name(None)), input_format(format_name(args.format_b.as_ref())));
    let (left_source, right_source) = (Source::from_path(Some(files[0])), Source::from_path(Some(files[1])));
    let left_reader = DocumentReader::with_framing(&left_format, None, &global.limits)?;
    let right_reader = DocumentReader::with_framing(&right_format, None, &global.limits)?;
    left_reader.report_unused_options(report);
    report.count_input();
    report.count_input();
    // Both inputs are read before either is checked, so that the errors of both are reported.
    let (left_bytes, right_bytes) = (read_bytes(&left_source, report), read_bytes(&right_source, report));
    let unwrap = |reader: &DocumentReader<'_>, source: &Source, bytes, report: &mut Report| match bytes {
        Some(bytes) => reader.unwrap_input(&source.name(), bytes, report),
        None => None,
    };
    let left_input = unwrap(&left_reader, &left_source, left_bytes.as_deref(), report);
    let right_input = unwrap(&right_reader, &right_source, right_bytes.as_deref(), report);
    let left = match &left_input {
        Some(input) => read_document(&left_reader, &left_source.name(), input, Detail::No, report)?,
        None => None,
    };
    let right = match &right_input {
        Some(input) => read_document(&right_reader, &right_source.name(), input, Detail::No, report)?,
        None => None,
    };
    let (Some(left_input), Some(right_input)) = (&left_input, &right_input) else { return Ok(None) };
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    let has_same_format = left_input.stage.format().of_document().name == right_input.stage.format().of_document().name;
    let mut rules = if has_same_format { Rules::new() } else { Rules::new().across_formats() };
    if args.exact {
        rules = rules.exact();
    }
    let differences = find_differences(&left, &right, rules);
    write(&differences)?;
    let kinds = [left.root().kind(), right.root().kind()];
    if let Some(with_class) =
        [[Kind::Map, Kind::Object], [Kind::Object, Kind::Map]].iter().position(|pair| *pair == kinds)
        && !args.git
        && files.iter().all(|file| file.as_os_str() != "-")
    {
        let (plain, object) = (&files[with_class], &files[1 - with_class]);
        let [plain, object] = [plain, object].map(|file| quote_for_shell(&file.display().to_string()));
        let text = format!(
            "only one of them has a class: `icecore convert -t json {object} | icecore diff - {plain}` compares what is inside"
        );
        report.report_command_note("class", text);
    }
    if differences.is_empty() && has_same_format && !args.exact && !args.git {
        let exact_count = find_differences(&left, &right, rules.exact()).changes().len() as u64;
        if exact_count > 0 {
            let count = icecore_tables::plural::format_count(exact_count, "difference", "differences");
            let text = format!("the same meaning; --exact shows {count} in what a program sees, such as types");
            report.report_command_note("exact", text);
        }
    }
    Ok(Some(!differences.is_empty()))
}

/// Returns all bytes of an input; a read error is reported.
pub(super) fn read_bytes(source: &Source, report: &mut Report) -> Option<crate::file_bytes::Bytes> {
    source.read().map_err(|error| report.report_io_error(&source.name(), &error)).ok()
}

/// Returns the only document of an input, unless it breaks off.
pub(super) fn read_document<'a>(
    reader: &DocumentReader<'_>,
    name: &str,
    input: &'a UnwrappedInput<'_>,
    detail: Detail,
    report: &mut Report,
) -> Result<Option<Document<'a>>, Abort> {
    let mut document = None;
    let is_readable = reader.read_documents(name, input, detail, report, |_, outcome, _, _| {
        document = Some(outcome.document);
        Ok(Tape::new())
    })?;
    Ok(document.filter(|_| is_readable))
}
