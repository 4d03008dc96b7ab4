//! Editing a document in an editor, as json:typed.

use crate::document_reader;
use crate::report::{Abort, code, io_reason};
use icecore::alter::{self, Altered, Refusal};
use icecore::{Document, Error, ErrorKind, Limits, Stage};
use icecore_diff::{Patch, Rules, find_differences};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use tempfile::TempPath;

/// A document with the nodes that did not change.
type EditedDocument = (Document<'static>, Vec<(u32, u32)>);

/// Returns the document as the user edited it. If the edited text can't be used, it is kept in a file.
pub fn edit_in_editor(
    name: &str,
    bytes: &[u8],
    stage: &Stage,
    limits: &Limits,
) -> Result<Result<Altered, Refusal>, Abort> {
    let (mut text, mut stopped) = (None, None);
    let altered = alter::exchange(bytes, stage, limits, |now| {
        let original_text = document_text(now, limits)?;
        let path = write_temporary_file(&original_text).map_err(|error| file_error(name, &error));
        let read = path.and_then(|path| {
            run_editor(&path)?;
            let after = fs::read(&path).map_err(|error| file_error(name, &error))?;
            text = Some(path);
            Ok(after)
        });
        match read {
            Ok(after) if after == original_text => Ok((now.clone().into_owned(), Vec::new())),
            Ok(after) => {
                let wanted = icecore::read_as(after.trim_ascii_end(), &editor_stage()?, limits)?;
                apply_edited_text(now, &wanted, limits)
            }
            Err(abort) => {
                stopped = Some(abort);
                Err(Error::new(ErrorKind::Output))
            }
        }
    });
    match (altered, stopped, text) {
        (_, Some(abort), _) => Err(abort),
        (Err(refusal), None, Some(path)) => {
            let kept = path.keep().map_err(|error| file_error(name, &error.error))?;
            let text = format!("{name}: nothing was changed, the text is kept in {}: {refusal}", kept.display());
            Err(Abort::Failed(code::FINDING, text))
        }
        (altered, None, _) => Ok(altered),
    }
}

/// Returns the format in which a document is edited.
fn editor_stage() -> Result<Stage, Error> {
    let mut stage = document_reader::typed_json_stage()?;
    stage.set("indent", Some("2"))?;
    Ok(stage)
}

/// Returns the text to edit.
fn document_text(document: &Document<'_>, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    icecore::write_to(document, &editor_stage()?, limits, &mut text)?;
    Ok(text)
}

/// Returns the edited document, with the nodes that did not change.
fn apply_edited_text(now: &Document<'_>, wanted: &Document<'_>, limits: &Limits) -> Result<EditedDocument, Error> {
    let json = find_differences(now, wanted, Rules::new().exact()).to_json(limits)?;
    let patched = Patch::read(&json, limits)?.apply_keeping(now);
    match patched {
        Ok((made, kept)) if made == *wanted => Ok((made, kept)),
        // A difference contains neither shared values nor the order of a map.
        _ => {
            let mut builder = icecore::Builder::like(now);
            if let Some(header) = wanted.header() {
                builder.value(header).end_header();
            }
            builder.value(wanted.root());
            builder.finish().map(|made| (made, Vec::new()))
        }
    }
}

/// Writes the text to a file that no other user may read.
fn write_temporary_file(text: &[u8]) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("icecore-").suffix(".json").tempfile()?;
    file.write_all(text)?;
    file.flush()?;
    Ok(file.into_temp_path())
}

/// Runs the editor until it exits.
fn run_editor(path: &Path) -> Result<(), Abort> {
    let set = |name: &str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = set("EDITOR").or_else(|| set("VISUAL"));
    let usage = |text: String| Abort::Failed(code::USAGE, text);
    let editor = editor.ok_or_else(|| usage("--editor: no editor in $EDITOR or $VISUAL".to_owned()))?;
    // A shell runs the editor, because its name may be followed by options.
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(path);
    crate::secrets::remove_secrets(&mut shell);
    match shell.status() {
        Ok(end) if end.success() => Ok(()),
        Ok(end) => Err(usage(format!("--editor: {editor} failed ({end}): nothing was changed"))),
        Err(error) => Err(usage(format!("--editor: {editor}: {}", io_reason(&error)))),
    }
}

fn file_error(name: &str, error: &io::Error) -> Abort {
    Abort::Failed(code::USAGE, format!("{name}: {}", io_reason(error)))
}
