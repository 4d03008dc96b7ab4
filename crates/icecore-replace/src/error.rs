//! Errors in rules.

use std::fmt;

/// Reason why rules can't be built. The message says what to write instead.
///
/// ```
/// let error = icecore_replace::Rules::builder().pair("", "x").build().unwrap_err();
/// assert_eq!(error.to_string(), "an empty OLD is found everywhere: give a text");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    #[cold]
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Returns a text for a message. It is shortened and in backticks, and has escapes for characters that are not
/// printable.
pub(crate) fn format_for_message(text: &[u8]) -> String {
    const MAX_SHOWN_LEN: usize = 80;
    let text = String::from_utf8_lossy(text);
    let text = icecore::text::shortened(&text, MAX_SHOWN_LEN);
    format!("`{}`", icecore::text::printable(&text))
}
