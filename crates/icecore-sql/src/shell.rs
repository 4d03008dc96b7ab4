//! Calls in which SQLite's shell wraps text with line ends: `replace('a\nb','\n',char(10))`.

use crate::quoting::{Placeholder, Replaced};

/// Returns the number of nested calls of `replace` whose arguments begin at `word_end`, and the position of the quote
/// after them. Returns `Some(None)` if there are no calls, and `None` if the window is too short to decide.
pub(crate) fn match_replace_calls(window: &[u8], word_end: usize, is_last: bool) -> Option<Option<(u8, usize)>> {
    let rest = window.get(word_end..).unwrap_or_default();
    let forms: [(u8, &[u8]); 2] = [(1, b"('"), (2, b"(replace('")];
    for (count, form) in forms {
        if rest.starts_with(form) {
            return Some(Some((count, word_end + form.len() - 1)));
        }
        if form.starts_with(rest) && !is_last {
            return None;
        }
    }
    Some(None)
}

/// Parses the arguments at `start`. Returns the placeholders of line ends, and the end of the calls. Returns `None`
/// if the window is too short to decide.
pub(crate) fn parse_arguments(
    window: &[u8],
    start: usize,
    calls: u8,
    is_last: bool,
) -> Option<(Option<Replaced>, usize)> {
    let mut replaced = Replaced::default();
    let mut end = start;
    for _ in 0..calls {
        let rest = window.get(end..).unwrap_or_default();
        match parse_argument(rest, is_last)? {
            Some((needle, byte, len)) => {
                match byte {
                    b'\n' => replaced.line_feed = Some(needle),
                    _ => replaced.carriage_return = Some(needle),
                }
                end += len;
            }
            None => return Some((None, start)),
        }
    }
    Some((Some(replaced), end))
}

/// Parses `,'\n',char(10))`. Returns the placeholder, the byte that it represents, and the total length. Returns
/// `Some(None)` for any other text, and `None` if the text is too short to decide.
fn parse_argument(rest: &[u8], is_last: bool) -> Option<Option<(Placeholder, u8, usize)>> {
    const MAX_LEN: usize = b",'".len() + Placeholder::MAX + b"',char(10))".len();
    let is_short = rest.len() < MAX_LEN && !is_last;
    let Some(text) = rest.strip_prefix(b",'") else {
        return if is_short && b",'".starts_with(rest) { None } else { Some(None) };
    };
    let Some(end) = text.iter().take(Placeholder::MAX + 1).position(|byte| *byte == b'\'') else {
        return if is_short { None } else { Some(None) };
    };
    let (needle, tail) = text.split_at(end);
    for (form, byte) in [(b"',char(10))", b'\n'), (b"',char(13))", b'\r')] {
        if tail.starts_with(form) {
            return Some(Placeholder::new(needle, byte).map(|needle| (needle, byte, 2 + end + form.len())));
        }
        if is_short && form.starts_with(tail) {
            return None;
        }
    }
    Some(None)
}
