//! Advice that is added to common errors about files, formats and paths.

use icecore::{Error, format, select::Pattern};

/// Returns what the name of a missing file probably is: a format, data, or a path of `icecore get`.
pub fn explain_missing_file(name: &str) -> Option<String> {
    if format::by_name(name).is_some() {
        return Some(format!("`{name}` is a format, which an option names: `--to {name}` or `--from {name}`"));
    }
    if name.starts_with(['{', '"']) && name.ends_with(['}', '"']) && name.len() > 1 {
        return Some("this is data, and a file is expected; `-` is the standard input".to_owned());
    }
    let is_path = name.starts_with(['.', '$', '[']) && !name.contains(['/', '\\']) && Pattern::parse(name).is_ok();
    (is_path && name.len() > 1).then(|| format!("`icecore get '{name}' FILE` prints the values on a path"))
}

/// Returns the path that was probably meant by one that leads nowhere: `[0]` for `.0`, and `["a.b"]` for `."a.b"`.
pub fn suggest_path(path: &str) -> Option<String> {
    let mut corrected = String::new();
    let mut rest = path;
    while let Some(letter) = rest.chars().next() {
        let after_dot = rest.strip_prefix('.');
        let digit_count = after_dot.map_or(0, |text| text.bytes().take_while(u8::is_ascii_digit).count());
        let is_item = digit_count > 0
            && after_dot.is_some_and(|text| matches!(text.as_bytes().get(digit_count), None | Some(b'.' | b'[')));
        let quoted_key =
            rest.strip_prefix(".\"").and_then(|text| text.split_once('"')).filter(|(key, _)| !key.contains('\\'));
        let (step, after) = match (is_item, quoted_key) {
            (true, _) => (format!("[{}]", &rest[1..=digit_count]), &rest[1 + digit_count..]),
            (false, Some((key, after))) => (format!("[\"{key}\"]"), after),
            (false, None) => (letter.to_string(), &rest[letter.len_utf8()..]),
        };
        corrected.push_str(&step);
        rest = after;
    }
    (corrected != path && Pattern::parse(&corrected).is_ok()).then_some(corrected)
}

/// Returns a short message for an option that a format does not have. The message of the engine lists all its
/// options, which may be dozens.
pub fn explain_unknown_option(error: &Error) -> Option<String> {
    let name = error.expected()?.strip_prefix("an option of ")?.split(':').next()?;
    let found = error.found()?;
    let suggestion = error.help().filter(|help| help.starts_with("did you mean"));
    let suggestion = suggestion.map_or_else(|| ": ".to_owned(), |help| format!("; {help} "));
    Some(format!("{name} has no option {found}{suggestion}`icecore formats {name}` explains its options"))
}
