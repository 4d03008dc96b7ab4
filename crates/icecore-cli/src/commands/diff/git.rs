//! `icecore diff --git`: the interface of git for the command of `diff.NAME.command`.

use super::args::Diff;
use super::compare_files;
use super::show::{DifferencePrinter, SAME_MEANING};
use crate::arguments::Global;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code};
use crate::report_message::ReportForm;
use crate::sink::Sink;
use std::path::{Path, PathBuf};

/// The file that git passes for a missing side.
const NOTHING: &str = "/dev/null";

/// Runs the diff. Git aborts if this command exits with anything but 0, so a file that can't be decoded is only
/// reported.
pub fn run(args: &Diff, global: &Global, printer: &DifferencePrinter<'_>, sink: &mut Sink) -> Result<(), Abort> {
    let paint = printer.paint();
    let heading = |name: &Path, suffix: &str| {
        let name = paint.ink(Ink::Name, name.display());
        format!("icecore diff {name}{suffix}\n")
    };
    // path old-file old-hex old-mode new-file new-hex new-mode, and two more for a renamed file.
    let (path, old, new): (&PathBuf, &PathBuf, &PathBuf) = match &args.files[..] {
        [path] => return sink.write_text(&heading(path, ": not merged")),
        [path, old, _, _, new, _, _, ..] => (path, old, new),
        _ => {
            let text = "--git is for git, which gives 7 arguments: see docs/diff.md".to_owned();
            return Err(Abort::Failed(code::USAGE, text));
        }
    };
    let is_nothing = |file: &Path| file == Path::new(NOTHING);
    if is_nothing(old) || is_nothing(new) {
        return sink.write_text(&heading(path, if is_nothing(old) { ": a new file" } else { ": the file is removed" }));
    }
    if !args.is_json() {
        sink.write_text(&heading(path, ""))?;
    }
    let mut report = Report::new(Paint::new(global.color, &std::io::stderr()), global.quiet, ReportForm::Text);
    let found = compare_files(args, global, [old, new], &mut report, |found| printer.write_differences(found, sink))?;
    match found {
        None => sink.write_text("the files differ, and can't be decoded\n"),
        Some(false) if !args.is_json() => sink.write_text(SAME_MEANING),
        Some(_) => Ok(()),
    }
}
