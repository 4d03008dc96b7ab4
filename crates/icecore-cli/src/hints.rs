//! Advice that is added to common errors about files, formats and paths.

use crate::shell_words::quote_for_shell;
use icecore::{Error, format, select::Pattern};

/// Returns what the name of a missing file probably is: a format, data, or a path of `icecore get`.
pub fn explain_missing_file(name: &str) -> Option<String> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if is_payload(name) {
        return Some(explain_payload(name, &words));
    }
    if format::by_name(name).is_some() {
        return Some(format!("`{name}` is a format, which an option names: `--to {name}` or `--from {name}`"));
    }
    if name.starts_with(['{', '"']) && name.ends_with(['}', '"']) && name.len() > 1 {
        return Some("this is data, and a file is expected; `-` is the standard input".to_owned());
    }
    let is_path = name.starts_with(['.', '$', '[']) && !name.contains(['/', '\\']) && Pattern::parse(name).is_ok();
    (is_path && name.len() > 1).then(|| format!("`icecore get '{name}' FILE` prints the values on a path"))
}

/// Maximum number of bytes of data that a suggested command repeats.
const MAX_REPEATED_LEN: usize = 60;

/// Returns true if the text is frozen data, and not the name of a file that is missing.
fn is_payload(text: &str) -> bool {
    // A word, a number or a path may be data of some format by chance.
    const MIN_ENCODED_LEN: usize = 12;
    let Ok(stage) = icecore::detect::stage_of(text.as_bytes()) else { return false };
    let is_marked = match stage.wrappers().is_empty() {
        true => text.contains(['{', '[', '"', ';', '|']),
        false => text.len() >= MIN_ENCODED_LEN || text.ends_with('='),
    };
    is_marked && icecore::read_as(text.as_bytes(), &stage, &icecore::Limits::default()).is_ok()
}

/// Returns how to pass data to the command that these words make up, instead of the name of a file.
fn explain_payload(data: &str, words: &[String]) -> String {
    let shown = match data.len() <= MAX_REPEATED_LEN {
        true => quote_for_shell(data),
        false => "'DATA'".to_owned(),
    };
    let is_last = words.last().is_some_and(|word| word == data);
    let has_several_files = words.iter().any(|word| word == "diff" || word == "patch");
    let is_kept = |word: &&String| !(*word == data && is_last && !has_several_files || is_in_place_option(word));
    let as_input = |word: &String| if word == data { "-".to_owned() } else { quote_for_shell(word) };
    let command: Vec<String> = words.iter().skip(1).filter(is_kept).map(as_input).collect();
    let command = ["icecore".to_owned()].into_iter().chain(command).collect::<Vec<_>>().join(" ");
    format!("this is data, and a file is expected; pipe it: printf %s {shown} | {command}")
}

fn is_in_place_option(word: &str) -> bool {
    matches!(word, "-i" | "--in-place")
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
