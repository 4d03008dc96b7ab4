//! Lets the user edit a document in an editor, as json:typed.

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

/// An edited document, and its unchanged nodes as pairs: the node in it, and the node in the original.
type EditedDocument = (Document<'static>, Vec<(u32, u32)>);

/// Returns the document as the user edited it. If the edited text can't be used, it is kept in a file.
pub fn edit_in_editor(
    name: &str,
    bytes: &[u8],
    stage: &Stage,
    limits: &Limits,
) -> Result<Result<Altered, Refusal>, Abort> {
    let (mut text_file, mut stop_reason) = (None, None);
    let altered = alter::exchange(bytes, stage, limits, |original| {
        let original_text = document_text(original, limits)?;
        let path = write_temporary_file(&original_text).map_err(|error| file_error(name, &error));
        let edited_text = path.and_then(|path| {
            run_editor(&path)?;
            let edited = fs::read(&path).map_err(|error| file_error(name, &error))?;
            text_file = Some(path);
            Ok(edited)
        });
        match edited_text {
            Ok(edited) if edited == original_text => Ok((original.clone().into_owned(), Vec::new())),
            Ok(edited) => {
                let edited = icecore::read_as(edited.trim_ascii_end(), &editor_stage()?, limits)?;
                apply_edits(original, &edited, limits)
            }
            Err(abort) => {
                stop_reason = Some(abort);
                Err(Error::new(ErrorKind::Output))
            }
        }
    });
    match (altered, stop_reason, text_file) {
        (_, Some(abort), _) => Err(abort),
        (Err(refusal), None, Some(path)) => {
            let kept_path = path.keep().map_err(|error| file_error(name, &error.error))?;
            let text = format!("{name}: nothing was changed, the text is kept in {}: {refusal}", kept_path.display());
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

/// Returns the edited document as a change of the original, so that unchanged nodes are known.
fn apply_edits(original: &Document<'_>, edited: &Document<'_>, limits: &Limits) -> Result<EditedDocument, Error> {
    let json = find_differences(original, edited, Rules::new().exact()).to_json(limits)?;
    let patched = Patch::read(&json, limits)?.apply_keeping(original);
    match patched {
        Ok((patched, unchanged_nodes)) if patched == *edited => Ok((patched, unchanged_nodes)),
        // A difference does not express changes of shared values or of the order of a map. Then no node counts as
        // unchanged.
        _ => {
            let mut builder = icecore::Builder::like(original);
            if let Some(header) = edited.header() {
                builder.value(header).end_header();
            }
            builder.value(edited.root());
            builder.finish().map(|document| (document, Vec::new()))
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
    let read_variable = |name: &str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = read_variable("EDITOR").or_else(|| read_variable("VISUAL"));
    let usage_failure = |text: String| Abort::Failed(code::USAGE, text);
    let editor = editor.ok_or_else(|| usage_failure("--editor: no editor in $EDITOR or $VISUAL".to_owned()))?;
    // A shell runs the editor, because its name may be followed by options.
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(path);
    crate::secrets::remove_secrets(&mut shell);
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(usage_failure(format!("--editor: {editor} failed ({status}): nothing was changed"))),
        Err(error) => Err(usage_failure(format!("--editor: {editor}: {}", io_reason(&error)))),
    }
}

fn file_error(name: &str, error: &io::Error) -> Abort {
    Abort::Failed(code::USAGE, format!("{name}: {}", io_reason(error)))
}
