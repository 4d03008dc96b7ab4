//! What to say about common errors of files and formats, in addition to the error.

use icecore::{Error, format, select::Pattern};

/// Returns what the name of a missing file probably is: a format, or a path.
pub fn explain_missing_file(name: &str) -> Option<String> {
    if format::by_name(name).is_some() {
        return Some(format!("`{name}` is a format, which an option names: `--to {name}` or `--from {name}`"));
    }
    let is_path = name.starts_with(['.', '$', '[']) && !name.contains(['/', '\\']) && Pattern::parse(name).is_ok();
    (is_path && name.len() > 1).then(|| format!("`icecore get '{name}' FILE` prints the values on a path"))
}

/// Returns a short message for an option that a format does not have; a format may have dozens.
pub fn explain_unknown_option(error: &Error) -> Option<String> {
    let name = error.expected()?.strip_prefix("an option of ")?.split(':').next()?;
    let (found, meant) = (error.found()?, error.help().filter(|help| help.starts_with("did you mean")));
    let meant = meant.map_or_else(|| ": ".to_owned(), |help| format!("; {help} "));
    Some(format!("{name} has no option {found}{meant}`icecore formats {name}` explains its options"))
}
