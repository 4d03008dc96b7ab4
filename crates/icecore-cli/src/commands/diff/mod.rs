//! `icecore diff`

mod args;
mod contrast;
mod git;
mod show;

pub use args::{Diff, View};
pub use show::{SAME_MEANING, Shown};

use crate::arguments::{Global, InputFormat};
use crate::paint::Paint;
use crate::reading::{Detail, Opened, Reader};
use crate::report::{Abort, Report, code, usage_of};
use crate::source::Source;
use crate::target::{Destination, Outputs, Target};
use crate::terminal;
use icecore::{Document, raw::Tape};
use icecore_diff::{Differences, Rules, find_differences};
use std::path::Path;

pub fn run(args: &Diff, global: &Global, report: &mut Report) -> Result<(), Abort> {
    if args.is_json() && (args.shown.depth.is_some() || args.shown.items.is_some()) {
        return Err(usage_of("--depth and --items are for people: a list of changes for `icecore patch` has all"));
    }
    if args.git {
        let (mut target, shown) = open(args, global)?;
        git::run(args, global, &shown, &mut target.sink)?;
        return target.keep();
    }
    let [left, right] = &args.files[..] else {
        return Err(Abort::Failed(code::USAGE, "diff compares two files: icecore diff A B".to_owned()));
    };
    if left == right && left.as_os_str() == "-" {
        return Err(Abort::Failed(code::USAGE, "only one of the two files can be the standard input".to_owned()));
    }
    let (mut target, shown) = open(args, global)?;
    match compare(args, global, [left, right], report, |found| shown.write(found, &mut target.sink))? {
        // A file that can't be read has been reported, and no output appears.
        None => return Ok(()),
        Some(true) => report.worse(code::FINDING),
        Some(false) => {}
    }
    target.keep()
}

/// Opens the output, and returns how find_differences are shown there.
fn open<'g>(args: &Diff, global: &'g Global) -> Result<(Target, Shown<'g>), Abort> {
    let sources: Vec<Source> = args.files.iter().map(|file| Source::one(Some(file))).collect();
    let place = Outputs::new(&sources, args.force).output(args.output.as_ref())?;
    let is_stdout = matches!(place, Destination::Stdout);
    let mut target = Target::new(place)?;
    if is_stdout && args.is_json() {
        target.sink.paint_json(global.color);
    }
    let paint = if is_stdout { Paint::new(global.color, &std::io::stdout()) } else { Paint::off() };
    let is_terminal = is_stdout && terminal::is_stdout();
    let shown = Shown::for_people(args.view, &args.shown, is_terminal, paint, &global.limit);
    Ok((target, if args.is_json() { shown.with_json() } else { shown }))
}

/// Compares two files and passes the find_differences on. Returns whether there are any; `None` if a file can't be read,
/// which is reported.
fn compare(
    args: &Diff,
    global: &Global,
    files: [&Path; 2],
    report: &mut Report,
    then: impl FnOnce(&Differences<'_>) -> Result<(), Abort>,
) -> Result<Option<bool>, Abort> {
    let format = |other: Option<&String>| other.or(args.format.as_ref()).cloned();
    let from = |name| InputFormat { name, options: args.options.clone() };
    let (of_left, of_right) = (from(format(None)), from(format(args.format_b.as_ref())));
    let (a, b) = (Source::one(Some(files[0])), Source::one(Some(files[1])));
    let readers = (Reader::of(&of_left, None, &global.limit)?, Reader::of(&of_right, None, &global.limit)?);
    report.input();
    report.input();
    let (left, right) = (bytes(&a, report), bytes(&b, report));
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    // Both are opened, so that all errors are reported.
    let opened = (readers.0.open(&a.name(), &left, report), readers.1.open(&b.name(), &right, report));
    let (Some(left), Some(right)) = &opened else { return Ok(None) };
    let names = (left.stage.format().of_document().name, right.stage.format().of_document().name);
    let left = document(&readers.0, &a.name(), left, Detail::No, report)?;
    let right = document(&readers.1, &b.name(), right, Detail::No, report)?;
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    let mut rules = if names.0 == names.1 { Rules::new() } else { Rules::new().across_formats() };
    if args.exact {
        rules = rules.exact();
    }
    let found = find_differences(&left, &right, rules);
    then(&found)?;
    Ok(Some(!found.is_empty()))
}

/// Returns all bytes of an input; a read error is reported.
pub(super) fn bytes(source: &Source, report: &mut Report) -> Option<crate::whole::Bytes> {
    source.read().map_err(|error| report.io(&source.name(), &error)).ok()
}

/// Returns the only document of an input, unless it breaks off.
pub(super) fn document<'a>(
    reader: &Reader<'_>,
    name: &str,
    opened: &'a Opened<'_>,
    detail: Detail,
    report: &mut Report,
) -> Result<Option<Document<'a>>, Abort> {
    let mut document = None;
    let is_well = reader.documents(name, opened, detail, report, |_, outcome, _, _| {
        document = Some(outcome.document);
        Ok(Tape::new())
    })?;
    Ok(document.filter(|_| is_well))
}
