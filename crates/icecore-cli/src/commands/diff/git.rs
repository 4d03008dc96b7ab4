//! `icecore diff --git`: the interface of git for the command of `diff.NAME.command`.

use super::args::Diff;
use super::compare_files;
use super::show::{DifferencePrinter, SAME_MEANING};
use crate::arguments::Global;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code};
use crate::report_message::ReportForm;
use std::path::{Path, PathBuf};

/// The file that git passes in place of a missing one.
const MISSING_FILE: &str = "/dev/null";

/// Runs the diff. Git aborts if this command exits with anything but 0, so a file that can't be decoded is only
/// reported.
pub fn run(
    args: &Diff,
    global: &Global,
    printer: &DifferencePrinter<'_>,
    writer: &mut OutputWriter,
) -> Result<(), Abort> {
    let paint = printer.paint();
    let heading = |name: &Path, suffix: &str| {
        let name = paint.ink(Ink::Name, name.display());
        format!("icecore diff {name}{suffix}\n")
    };
    // path old-file old-hex old-mode new-file new-hex new-mode, and two more for a renamed file.
    let (path, old, new): (&PathBuf, &PathBuf, &PathBuf) = match &args.files[..] {
        [path] => return writer.write_text(&heading(path, ": not merged")),
        [path, old, _, _, new, _, _, ..] => (path, old, new),
        _ => {
            let text = "--git is for git, which gives 7 arguments: see docs/diff.md".to_owned();
            return Err(Abort::Failed(code::USAGE, text));
        }
    };
    let is_missing = |file: &Path| file == Path::new(MISSING_FILE);
    if is_missing(old) || is_missing(new) {
        return writer
            .write_text(&heading(path, if is_missing(old) { ": a new file" } else { ": the file is removed" }));
    }
    if !args.is_json() {
        writer.write_text(&heading(path, ""))?;
    }
    let mut report = Report::new(Paint::new(global.color, &std::io::stderr()), global.quiet, ReportForm::Text);
    let has_differences = compare_files(args, global, [old, new], &mut report, |differences| {
        printer.write_differences(differences, writer)
    })?;
    match has_differences {
        None => writer.write_text("the files differ, and can't be decoded\n"),
        Some(false) if !args.is_json() => writer.write_text(SAME_MEANING),
        Some(_) => Ok(()),
    }
}
