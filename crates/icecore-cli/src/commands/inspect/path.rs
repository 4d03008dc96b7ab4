//! `--path`: one value, also inside a string that is frozen data.

use super::Piece;
use super::deep::{self, Known, Look};
use crate::reading::Opened;
use crate::report::{Abort, Report, code, usage};
use crate::said::Said;
use icecore::{Error, Request, raw::Outcome};
use std::borrow::Cow;

/// Shows the value at an index.
type Show<'s> = dyn FnMut(&Piece<'_>, &Outcome<'_>, u32, Look<'_>) -> Result<(), Abort> + 's;

/// Returns the path from `$` on. A path that leads into strings and whose middle is omitted is completed.
pub fn whole<'p>(path: &'p str, piece: &Piece<'_>, opened: &Opened<'_>, is_deep: bool) -> Cow<'p, str> {
    if is_deep && path.contains('…') {
        let outcome = piece.stage.format().read(piece.bytes, piece.stage.settings(), Request::new(opened.limits()));
        if let Ok(deep) = icecore::deep::open(outcome.document, opened.limits())
            && let Ok(found) = deep.document.find(path)
        {
            return deep.document.full_path(found.index()).into();
        }
    }
    if path.starts_with('$') { path.into() } else { format!("${path}").into() }
}

/// Shows the value at a path. The inner error says why there is none.
pub fn show(
    path: &str,
    piece: &Piece<'_>,
    outcome: &Outcome<'_>,
    look: Look<'_>,
    then: &mut Show<'_>,
) -> Result<Result<(), Error>, Abort> {
    let document = &outcome.document;
    let error = match document.find(path) {
        Ok(found) => return then(piece, outcome, found.index(), look).map(Ok),
        Err(error) => error,
    };
    let Ok((string, rest)) = document.follow(path) else { return Ok(Err(error)) };
    let string = string.target();
    let stage = look.stage(document, string.index(), 0, &mut Known::new()).filter(|_| look.may_enter());
    let Some(stage) = stage else { return Ok(Err(error)) };
    let look = Look { level: look.level + 1, ..look };
    let rest = format!("${rest}");
    let shown = deep::open(piece, document.bytes(string.node()), &stage, look, |piece, outcome| {
        show(&rest, piece, outcome, look, then)
    })?;
    Ok(shown.unwrap_or(Err(error)))
}

/// Reports that there is nothing at a path.
pub fn refuse(error: &Error, path: &str, name: &str, report: &mut Report) -> Result<(), Abort> {
    // It is not a valid path.
    if error.path().is_none() {
        return Err(usage(error.clone()));
    }
    let (expected, found) = (error.expected().unwrap_or_default(), error.found().unwrap_or_default());
    let message = format!("expected {expected}, found {found}");
    report.worse(code::FINDING);
    report.say(&Said::error(code::FINDING, message).because(error).with_kind("absent").at(path).of(name));
    Ok(())
}
