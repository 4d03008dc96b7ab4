//! A document in an editor, as json:typed.

use crate::reading;
use crate::report::{Abort, code, io_reason};
use icecore::alter::{self, Altered, Refusal};
use icecore::{Document, Error, Limits, Request, Stage};
use icecore_diff::{Patch, Rules, differences};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use tempfile::TempPath;

/// How a document is shown to be edited.
const SHOWN: &str = "json:typed,indent=2";

/// What a person made of a document. The text is kept if nothing can be made of it.
pub fn edited(name: &str, bytes: &[u8], stage: &Stage, limits: &Limits) -> Result<Result<Altered, Refusal>, Abort> {
    let shown = Stage::parse(SHOWN).map_err(reading::usage)?;
    let document = match icecore::read_with(bytes, stage, Request::new(limits)) {
        Ok(document) => document,
        Err(error) => return Ok(Err(Refusal::Unreadable(error))),
    };
    let mut text = Vec::new();
    if let Err(error) = icecore::write_to(&document, &shown, limits, &mut text) {
        return Ok(Err(Refusal::Unwritable(error)));
    }
    let path = written(&text).map_err(|error| failed(name, &error))?;
    open(&path)?;
    let after = fs::read(&path).map_err(|error| failed(name, &error))?;
    if after == text {
        return Ok(alter::alter(bytes, stage, &[], limits));
    }
    let wrong = match icecore::read_as(after.trim_ascii_end(), &shown, limits) {
        Ok(wanted) => match alter::exchange(bytes, stage, limits, |now| exchanged(now, &wanted, limits)) {
            Ok(altered) => return Ok(Ok(altered)),
            Err(refusal) => refusal.to_string(),
        },
        Err(error) => error.to_string(),
    };
    let kept = path.keep().map_err(|error| failed(name, &error.error))?;
    let text = format!("{name}: nothing was changed, the text is kept in {}: {wrong}", kept.display());
    Err(Abort::Failed(code::FINDING, text))
}

/// The document that a person wants, with the nodes that stayed.
fn exchanged(
    now: &Document<'_>,
    wanted: &Document<'_>,
    limits: &Limits,
) -> Result<(Document<'static>, Vec<(u32, u32)>), Error> {
    let json = differences(now, wanted, Rules::new().exact()).to_json(limits)?;
    let patched = Patch::read(&json, limits)?.apply_keeping(now);
    match patched {
        Ok((made, kept)) if made == *wanted => Ok((made, kept)),
        // A difference does not say what is shared, nor the order of a map.
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

/// The text in a file that nobody else may read.
fn written(text: &[u8]) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("icecore-").suffix(".json").tempfile()?;
    file.write_all(text)?;
    file.flush()?;
    Ok(file.into_temp_path())
}

/// Runs the editor until it ends.
fn open(path: &Path) -> Result<(), Abort> {
    let set = |name: &str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let editor = set("EDITOR").or_else(|| set("VISUAL"));
    let usage = |text: String| Abort::Failed(code::USAGE, text);
    let editor = editor.ok_or_else(|| usage("--editor: no editor in $EDITOR or $VISUAL".to_owned()))?;
    // As other programs do: there may be options behind the name.
    let end = Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(path).status();
    match end {
        Ok(end) if end.success() => Ok(()),
        Ok(end) => Err(usage(format!("--editor: {editor} failed ({end}): nothing was changed"))),
        Err(error) => Err(usage(format!("--editor: {editor}: {}", io_reason(&error)))),
    }
}

fn failed(name: &str, error: &io::Error) -> Abort {
    Abort::Failed(code::USAGE, format!("{name}: {}", io_reason(error)))
}
