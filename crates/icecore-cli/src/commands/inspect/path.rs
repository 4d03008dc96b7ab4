//! `--path`: shows one value, also inside a string that is frozen data.

use super::DocumentSource;
use super::deep::{self, NestedSettings, StageCache};
use crate::document_reader::UnwrappedInput;
use crate::report::{Abort, Report, code, usage_error};
use crate::report_message::ReportMessage;
use icecore::{Error, Request, raw::Outcome};
use std::borrow::Cow;

/// Shows the value at a node index of a document.
type ShowValue<'s> = dyn FnMut(&DocumentSource<'_>, &Outcome<'_>, u32, NestedSettings<'_>) -> Result<(), Abort> + 's;

/// Returns the path from `$` on. A path into strings whose middle is omitted (`…`) is completed.
pub fn complete_path<'p>(
    path: &'p str,
    source: &DocumentSource<'_>,
    input: &UnwrappedInput<'_>,
    is_deep: bool,
) -> Cow<'p, str> {
    if is_deep && path.contains('…') {
        let outcome = source.stage.format().read(source.bytes, source.stage.settings(), Request::new(input.limits()));
        if let Ok(deep) = icecore::deep::open(outcome.document, input.limits())
            && let Ok(found) = deep.document.find(path)
        {
            return deep.document.full_path(found.index()).into();
        }
    }
    if path.starts_with('$') { path.into() } else { format!("${path}").into() }
}

/// Shows the value at a path. If there is none, the inner error says why.
pub fn show_at_path(
    path: &str,
    source: &DocumentSource<'_>,
    outcome: &Outcome<'_>,
    settings: NestedSettings<'_>,
    show: &mut ShowValue<'_>,
) -> Result<Result<(), Error>, Abort> {
    let document = &outcome.document;
    let error = match document.find(path) {
        Ok(found) => return show(source, outcome, found.index(), settings).map(Ok),
        Err(error) => error,
    };
    let Ok((string, rest)) = document.follow(path) else { return Ok(Err(error)) };
    let string = string.target();
    let stage = settings
        .detect_stage(document, string.index(), 0, &mut StageCache::new())
        .filter(|_| settings.may_open_strings());
    let Some(stage) = stage else { return Ok(Err(error)) };
    let inner_settings = NestedSettings { level: settings.level + 1, ..settings };
    let rest = format!("${rest}");
    let result =
        deep::open_string(source, document.bytes(string.node()), &stage, inner_settings, |source, outcome| {
            show_at_path(&rest, source, outcome, inner_settings, show)
        })?;
    Ok(result.unwrap_or(Err(error)))
}

/// Reports that there is nothing at a path.
pub fn report_missing_path(error: &Error, path: &str, name: &str, report: &mut Report) -> Result<(), Abort> {
    // An error without a path means that the path itself is invalid.
    if error.path().is_none() {
        return Err(usage_error(error.clone()));
    }
    let (expected, found) = (error.expected().unwrap_or_default(), error.found().unwrap_or_default());
    let message = format!("expected {expected}, found {found}");
    report.raise_exit_code(code::FINDING);
    report.print_message(
        &ReportMessage::error(code::FINDING, message)
            .with_error(error)
            .with_kind("absent")
            .at_path(path)
            .for_input(name),
    );
    Ok(())
}
