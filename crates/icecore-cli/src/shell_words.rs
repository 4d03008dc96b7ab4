//! Words of commands that messages suggest.

/// Returns a word as it is typed in a shell.
pub fn quote_for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=,@%+".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", icecore::text::printable(word).replace('\'', "'\\''")),
    }
}
