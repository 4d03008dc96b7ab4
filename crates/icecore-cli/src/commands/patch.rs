//! `icecore patch`

use super::changed::{ChangeArgs, ChangeWriter, ChangedDocument};
use super::diff::{read_bytes, read_document};
use crate::arguments::{Global, InputFormat};
use crate::document_reader::{Detail, DocumentReader, UnwrappedInput};
use crate::file_bytes::Bytes;
use crate::report::{Abort, Report, code};
use crate::source::Source;
use clap::{Args, ValueHint};
use icecore::Limits;
use icecore_diff::Refusal;
use std::path::PathBuf;

/// Apply a difference that `icecore diff --json` wrote
///
/// Writes the file with the changes in its own format; parts that do not change keep their spelling. A file other than
/// the one from which the difference was made is refused: exit 1, with the place of the mismatch.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Patch {
    #[command(flatten)]
    pub from: InputFormat,
    /// File to change; `-` is the standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// File with the difference; the standard input if not given
    #[arg(value_name = "DIFFERENCE", value_hint = ValueHint::FilePath)]
    pub difference: Option<PathBuf>,
    /// Also change a file that differs elsewhere from the compared one
    ///
    /// Each value to change must still be the old one, and each key to add must be new. Values are added to lists at the
    /// position that the difference names.
    #[arg(long)]
    pub allow_other: bool,
    /// Treat a loss as an error: exit 1, and change nothing
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub changes: ChangeArgs,
}

const EXAMPLES: &str = "\
Examples:
  icecore patch before.storable change.json -o after.storable
  icecore patch --dry-run session.php change.json
  icecore patch --in-place session.php change.json
  icecore diff --json a.php b.json | icecore patch a.php > c.php";

pub fn run(args: &Patch, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let (source, difference) = (Source::from_path(Some(&args.file)), Source::from_path(args.difference.as_deref()));
    let is_stdin = |path: Option<&std::path::PathBuf>| path.is_none_or(|path| path.as_os_str() == "-");
    if is_stdin(Some(&args.file)) && is_stdin(args.difference.as_ref()) {
        let text = "only one of the file and the difference can be the standard input".to_owned();
        return Err(Abort::Failed(code::USAGE, text));
    }
    let reader = DocumentReader::with_framing(&args.from, None, &global.limits)?;
    let writer = ChangeWriter { args: &args.changes, global };
    let others = std::slice::from_ref(&difference);
    writer.write(std::slice::from_ref(&source), others, report, &mut |source, report| {
        report.count_input();
        let (Some(input), Some(json)) = (read_bytes(source, report), read_bytes(&difference, report)) else {
            return Ok(None);
        };
        let patch = match icecore_diff::Patch::read(&json, &global.limits) {
            Ok(patch) => patch.allow_other_documents(args.allow_other),
            Err(error) => {
                match explain_unreadable(&input, &json, &global.limits) {
                    Some(reason) => report.report_fault(code::USAGE, &difference.name(), reason),
                    None => report.report_unreadable(&difference.name(), &error, &json),
                }
                return Ok(None);
            }
        };
        let is_strict = args.strict;
        let job = PatchJob { reader: &reader, limits: &global.limits, patch, difference: difference.name(), is_strict };
        job.apply(&source.name(), input, report)
    })
}

/// Explains why a difference can't be read, if the user probably gave the wrong file or a difference for people.
fn explain_unreadable(file: &[u8], difference: &[u8], limits: &Limits) -> Option<&'static str> {
    const DISPLAY_STARTS: [&[u8]; 7] =
        [b"added $", b"removed $", b"changed $", b"class $", b"moved $", b"--- ", b"\x1b["];
    if icecore_diff::Patch::read(file, limits).is_ok() {
        return Some("the first argument is the difference; the file comes first: `icecore patch FILE DIFFERENCE`");
    }
    let is_for_people = DISPLAY_STARTS.iter().any(|start| difference.starts_with(start));
    is_for_people.then_some("this is a difference for people to read; `icecore diff --json` writes one for `patch`")
}

/// The difference to apply.
struct PatchJob<'j> {
    reader: &'j DocumentReader<'j>,
    limits: &'j Limits,
    patch: icecore_diff::Patch,
    /// The name of the difference in messages.
    difference: String,
    /// Whether losses are errors.
    is_strict: bool,
}

impl PatchJob<'_> {
    /// Applies the difference to an input. Returns `None` if it does not fit, which is reported.
    fn apply(&self, name: &str, before: Bytes, report: &mut Report) -> Result<Option<ChangedDocument>, Abort> {
        let Some(input) = self.reader.unwrap_input(name, &before, report) else { return Ok(None) };
        let UnwrappedInput { stage, .. } = &input;
        let format = stage.format().name;
        let Some(left) = read_document(self.reader, name, &input, Detail::IfFormat(format), report)? else {
            return Ok(None);
        };
        let patched = match self.patch.apply(&left) {
            Ok(patched) => patched,
            Err(Refusal::Broken(error)) => {
                report.report_unreadable(&self.difference, &error, &[]);
                return Ok(None);
            }
            Err(refusal) => {
                let advice = match refusal {
                    Refusal::OtherDocument => "; --allow-other applies the difference nevertheless",
                    _ => "",
                };
                report.report_fault(code::FINDING, name, format!("{refusal}{advice}"));
                return Ok(None);
            }
        };
        let mut after = Vec::new();
        if self.patch.is_empty() {
            // An empty patch keeps every byte.
            after.extend_from_slice(&before);
        } else {
            match icecore::write_to(&patched, stage, self.limits, &mut after) {
                Ok(losses) => {
                    report.report_or_refuse_losses(name, &losses, self.is_strict);
                    if self.is_strict && !losses.is_empty() {
                        return Ok(None);
                    }
                }
                Err(error) => {
                    report.report_unwritable(name, &error);
                    return Ok(None);
                }
            }
            if !stage.is_binary() && !after.ends_with(b"\n") && before.ends_with(b"\n") {
                after.push(b'\n');
            }
        }
        let (stage, is_changed) = (stage.clone(), *after != *before);
        drop(left);
        drop(input);
        Ok(Some(ChangedDocument { before, after, stage, is_changed }))
    }
}
