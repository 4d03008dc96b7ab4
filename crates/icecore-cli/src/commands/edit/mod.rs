//! `icecore edit`: changes values on paths; everything else keeps its bytes.

mod args;
mod editor;
mod steps;

pub use args::Edit;

use super::changed::{ChangeWriter, ChangedDocument};
use crate::arguments::Global;
use crate::document_reader::DocumentReader;
use crate::mistakes;
use crate::progress;
use crate::report::{Abort, Report, code, usage_text_error};
use crate::source::Source;
use crate::target::leave_out_backups;
use icecore::alter::{self, Alteration, Altered, Refusal};
use icecore::select::Pattern;
use icecore::text::printable;
use icecore::{Cursor, Document, Kind, Limits, Stage, Value};

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
            self.report_replaced_types(&name, &bytes, &stage, report);
        }
        let Altered { bytes: after, is_changed, .. } = altered;
        Ok(Some(ChangedDocument { before: bytes, after, stage, is_changed }))
    }
}

impl EditJob<'_> {
    /// Reports types that --set replaced and that plain JSON can't express: a program may depend on the type.
    fn report_replaced_types(&self, name: &str, bytes: &[u8], stage: &Stage, report: &Report) {
        let is_set = |alteration: &&Alteration| matches!(alteration, Alteration::Set(..));
        // Formats without a language, such as JSON, have only the types of JSON.
        if !self.alterations.iter().any(|alteration| is_set(&alteration)) || stage.format().language().is_none() {
            return;
        }
        let Ok(document) = icecore::read_as(bytes, stage, self.limits) else { return };
        for alteration in self.alterations {
            let Alteration::Set(pattern, value) = alteration else { continue };
            let Ok(matches) = pattern.find(&document, self.limits) else { continue };
            let text = matches.iter().find_map(|(path, old)| describe_type_change(&path, old, value.root()));
            if let Some(text) = text {
                report.report_note(name, "type", text);
            }
            if matches.is_empty() {
                self.report_new_member(name, &document, pattern, report);
            }
        }
    }
}

impl EditJob<'_> {
    /// Reports that an object has a new member if a value further inside was probably meant: classes have fixed members.
    fn report_new_member(&self, name: &str, document: &Document<'_>, pattern: &Pattern, report: &Report) {
        let is_object = |parent: Pattern| {
            let parents = parent.find(document, self.limits).ok();
            parents.is_some_and(|parents| parents.iter().any(|(_, parent)| parent.kind() == Kind::Object))
        };
        if pattern.parent().is_some_and(is_object)
            && let Some(path) = pattern.find_deeper(document, self.limits)
        {
            let advice = mistakes::deeper_path_advice(&path);
            report.report_note(
                name,
                "deeper",
                format!("`{}` is a new member of an object; {advice}", pattern.as_str()),
            );
        }
    }
}

/// Describes the change of a type that JSON doesn't have, such as a float with an integral value or an object.
fn describe_type_change(path: &str, old: Cursor<'_>, new: Cursor<'_>) -> Option<String> {
    if let (Kind::Float, Value::Int(number)) = (old.kind(), new.value()) {
        return Some(format!("the value at {path} was a float, and is an integer now: {number}.0 is a float"));
    }
    let class = |value: Cursor<'_>| {
        let name = value.class();
        (!name.is_empty()).then(|| printable(&String::from_utf8_lossy(name)).to_string())
    };
    let old_type = match (old.kind(), class(old)) {
        (Kind::Symbol, _) if new.kind() != Kind::Symbol => "a symbol".to_owned(),
        (Kind::EnumCase, _) if new.kind() != Kind::EnumCase => "a case of an enum".to_owned(),
        (Kind::Regexp, _) if new.kind() != Kind::Regexp => "a regular expression".to_owned(),
        (_, Some(old_class)) if class(new).as_ref() != Some(&old_class) => format!("an object of `{old_class}`"),
        _ => return None,
    };
    let new_type = match (new.kind(), class(new)) {
        (_, Some(class)) => format!("an object of `{class}`"),
        (Kind::Int | Kind::Uint | Kind::BigInt, _) => "an integer".to_owned(),
        (Kind::Float, _) => "a float".to_owned(),
        (Kind::Bytes | Kind::Text | Kind::Encoded, _) => "a string".to_owned(),
        (Kind::Array, _) => "a list".to_owned(),
        (Kind::Map, _) => "a map".to_owned(),
        (kind, _) => format!("{kind:?}").to_lowercase(),
    };
    Some(format!(
        "the value at {path} was {old_type}, and is {new_type} now; `icecore get -t json:typed` shows how to write its type"
    ))
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
        Some(word) => format!("nothing to change; did you mean `--set '{}'`?", printable(word)),
        None => "nothing to change: use --set, --delete, --append, --rename-key, --rename-class, or --editor alone"
            .to_owned(),
    }
}
