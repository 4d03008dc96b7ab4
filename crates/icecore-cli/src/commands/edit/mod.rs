//! `icecore edit`: changes values on paths; everything else keeps its bytes.

mod args;
mod editor;
mod steps;

pub use args::Edit;

use super::changed::{ChangeWriter, ChangedDocument};
use crate::arguments::Global;
use crate::document_reader::DocumentReader;
use crate::progress;
use crate::report::{Abort, Report, code, usage_text_error};
use crate::source::Source;
use crate::target::leave_out_backups;
use icecore::alter::{self, Alteration, Altered, Refusal};
use icecore::{Kind, Limits, Stage, Value};

pub fn run(args: &Edit, global: &Global, report: &mut Report) -> Result<(), Abort> {
    if args.steps.is_empty() != args.editor {
        return Err(usage_text_error(nothing_to_change_text(args)));
    }
    let alterations = args.steps.parse_alterations(&global.limits)?;
    let reader = DocumentReader::with_framing(&args.from, None, &global.limits)?;
    let mut sources = Source::find_all(&args.files, report);
    if args.changes.in_place_args.in_place {
        sources = leave_out_backups(sources, &args.changes.in_place_args.backup, report);
    }
    let job = EditJob { args, reader: &reader, limits: &global.limits, alterations: &alterations };
    if args.editor {
        // The editor uses the terminal.
        progress::remove_line();
    }
    let writer = ChangeWriter { args: &args.changes, global };
    writer.write(&sources, &[], report, &mut |source, report| job.edit_source(source, report))
}

/// What to do with each input.
struct EditJob<'j> {
    args: &'j Edit,
    reader: &'j DocumentReader<'j>,
    limits: &'j Limits,
    alterations: &'j [Alteration],
}

impl EditJob<'_> {
    /// Edits an input. Returns `None` if it can't be changed, for a reason that is reported.
    fn edit_source(&self, source: &Source, report: &mut Report) -> Result<Option<ChangedDocument>, Abort> {
        report.count_input();
        let name = source.name();
        let bytes = match source.read() {
            Ok(bytes) => bytes,
            Err(error) => {
                report.report_io_error(&name, &error);
                return Ok(None);
            }
        };
        let stage = match self.reader.find_stage(&bytes) {
            Ok(stage) => stage,
            Err(error) => {
                report.report_unreadable(&name, &error, &bytes);
                return Ok(None);
            }
        };
        let result = match self.args.editor {
            true => editor::edit_in_editor(&name, &bytes, &stage, self.limits)?,
            false => alter::alter(&bytes, &stage, self.alterations, self.limits),
        };
        let altered = match result {
            Ok(altered) => altered,
            Err(refusal) => {
                report_refusal(&name, &bytes, &refusal, report);
                return Ok(None);
            }
        };
        report.report_or_refuse_losses(&name, &altered.losses, self.args.strict);
        if self.args.strict && !altered.losses.is_empty() {
            return Ok(None);
        }
        if altered.is_rewritten {
            let text = "unchanged values have the same meaning, but some have other bytes: only their original writer \
                        uses the form that they had";
            report.report_note(&name, "rewritten", text.to_owned());
        }
        if altered.is_changed {
            self.report_replaced_floats(&name, &bytes, &stage, report);
        }
        let Altered { bytes: after, is_changed, .. } = altered;
        Ok(Some(ChangedDocument { before: bytes, after, stage, is_changed }))
    }
}

impl EditJob<'_> {
    /// Reports that --set replaced a float by an integer: a program may depend on the type.
    fn report_replaced_floats(&self, name: &str, bytes: &[u8], stage: &Stage, report: &Report) {
        let sets_integer = |alteration: &&Alteration| match alteration {
            Alteration::Set(_, value) => matches!(value.root().kind(), Kind::Int | Kind::Uint),
            _ => false,
        };
        let alterations: Vec<&Alteration> = self.alterations.iter().filter(sets_integer).collect();
        // Formats without a language, such as JSON, have numbers only.
        if alterations.is_empty() || stage.format().language().is_none() {
            return;
        }
        let Ok(document) = icecore::read_as(bytes, stage, self.limits) else { return };
        for alteration in alterations {
            let Alteration::Set(pattern, value) = alteration else { continue };
            let Ok(matches) = pattern.find(&document, self.limits) else { continue };
            if let Some((path, _)) = matches.iter().find(|(_, value)| value.kind() == Kind::Float)
                && let Value::Int(number) = value.root().value()
            {
                let text = format!("the value at {path} was a float, and is an integer now: {number}.0 is a float");
                report.report_note(name, "type", text);
            }
        }
    }
}

/// Reports why an input is not changed.
fn report_refusal(name: &str, bytes: &[u8], refusal: &Refusal, report: &mut Report) {
    match refusal {
        Refusal::Absent { path, reason: why } => report.report_absent_path(name, path, why.as_ref()),
        Refusal::Unreadable(error) => {
            report.report_unreadable(name, error, if error.layer().is_none() { bytes } else { &[] })
        }
        Refusal::Unwritable(error) => report.report_unwritable(name, error),
        refusal => report.report_fault(code::FINDING, name, refusal),
    }
}

/// Returns the message for a command line without an option that changes something.
fn nothing_to_change_text(args: &Edit) -> String {
    let is_assignment = |word: &&str| word.starts_with(['.', '$', '[']) && word.contains('=');
    match args.files.iter().filter_map(|file| file.to_str()).find(is_assignment) {
        Some(word) => format!("nothing to change; did you mean `--set '{}'`?", icecore::text::printable(word)),
        None => "nothing to change: use --set, --delete, --append, --rename-key, --rename-class, or --editor alone"
            .to_owned(),
    }
}
