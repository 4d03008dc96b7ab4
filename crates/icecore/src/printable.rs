//! Data in a line for people: nothing in it moves the cursor of a terminal, ends the line or hides text next to it.

use std::borrow::Cow;

/// Returns the text with characters that a terminal would interpret as escapes: `\n`, `\u{1b}`. Names and data pass
/// through this before they are put in a message, a table or a page.
///
/// ```
/// assert_eq!(icecore::text::printable("a\x1b[31m\u{202e}"), "a\\u{1b}[31m\\u{202e}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().flat_map(|c| {
        let escape = (!is_printable(c)).then(|| match c {
            '\n' | '\r' | '\t' => c.escape_default().to_string(),
            _ => c.escape_unicode().to_string(),
        });
        escape.unwrap_or_else(|| c.to_string()).chars().collect::<Vec<_>>()
    });
    Cow::Owned(escaped.collect())
}

/// Returns `true` if a character is shown unchanged. Characters that are invisible or change the direction of writing
/// are not.
///
/// ```
/// assert!(icecore::text::is_printable('é') && !icecore::text::is_printable('\u{9b}'));
/// ```
pub fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_hidden_characters_are_escaped() {
        assert!(matches!(printable("Zoë \\ \"x\" 日本"), Cow::Borrowed(_)));
        assert_eq!(printable("a\x1b[31m\nb\t\u{9b}\u{7f}"), "a\\u{1b}[31m\\nb\\t\\u{9b}\\u{7f}");
        assert_eq!(printable("abc\u{202e}cba\u{200b}"), "abc\\u{202e}cba\\u{200b}");
    }
}
