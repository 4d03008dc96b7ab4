//! The main loop of the lexer outside of literals and comments.

use super::open::{Ending, OpenLiteral};
use crate::quoting::Quote;
use crate::reader::{Mode, Reader, Step};
use crate::{Error, Quoting};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Maximum length of a word or a name in bytes. The rest of a longer one is skipped, because no keyword and no
/// relevant name is as long.
pub(crate) const MAX_WORD_LEN: usize = 1024;
/// Number of bytes at the beginning of a comment that are examined to find the dialect.
pub(crate) const MAX_EXAMINED_LEN: usize = 64;
/// Maximum length of a delimiter.
pub(crate) const MAX_DELIMITER_LEN: usize = 16;
/// Maximum length of the line that sets a delimiter.
pub(crate) const MAX_DELIMITER_LINE: usize = 256;
/// Version 90.0.0. Such a server does not exist, so no server executes a conditional comment that requires this
/// version or a later one.
pub(crate) const NO_VERSION: u32 = 900_000;

/// Returns a name with its doubled quotes reduced.
pub(crate) fn decode_name(body: &[u8], close: u8) -> String {
    let name = String::from_utf8_lossy(body.get(..MAX_WORD_LEN).unwrap_or(body));
    if close == b']' || !body.contains(&close) {
        return name.into_owned();
    }
    let close = char::from(close);
    name.replace(&format!("{close}{close}"), &close.to_string())
}

impl Reader {
    /// Reads up to the next literal, or to the end of the window.
    pub(crate) fn read_code(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        if self.cursor == 0 && self.offset == 0 {
            if window.starts_with(BYTE_ORDER_MARK) {
                self.cursor = BYTE_ORDER_MARK.len();
            } else if BYTE_ORDER_MARK.starts_with(window) && !is_last {
                return Ok(Step::NeedMore(0));
            }
        }
        while let Some(&byte) = window.get(self.cursor) {
            if self.delimiter.is_some() {
                match self.match_delimiter(window, self.cursor, is_last) {
                    None => return Ok(Step::NeedMore(self.cursor)),
                    // There is no delimiter here, so the byte is read as usual.
                    Some(0) => {}
                    Some(len) => {
                        self.cursor += len;
                        self.statement.end_statement(&mut self.rules);
                        continue;
                    }
                }
            }
            if self.options.rows
                && matches!(byte, b'N' | b'-' | b'0'..=b'9')
                && let Some(step) = self.read_bare_value(window)
            {
                return Ok(step);
            }
            match byte {
                b',' | b')' if self.is_in_row() && self.statement.depth == 1 => {
                    let (full_range, content) = self.value_builder.finish_value(window, self.rules.dialect());
                    return Ok(self.complete_row_value(full_range, content, byte));
                }
                b',' => {
                    self.record_value_sign();
                    self.cursor += 1;
                    self.statement.handle_comma(&mut self.tables, &mut self.rules);
                }
                b'\'' => match self.read_quoted_value(window, is_last) {
                    Some(Step::Continue) => {}
                    Some(step) => return Ok(step),
                    None => match self.read_single_quoted(self.cursor, window, is_last)? {
                        Step::Continue if matches!(self.mode, Mode::Code) => {}
                        step => return Ok(step),
                    },
                },
                b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c => self.cursor += 1,
                b'0'..=b'9' => match self.read_number(window, is_last)? {
                    Step::Continue if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
                b'(' => {
                    self.record_value_sign();
                    self.cursor += 1;
                    self.statement.open_parenthesis(&mut self.tables);
                    if self.options.rows && self.statement.depth == 1 {
                        self.value_builder.clear();
                    }
                    self.check_limits()?;
                }
                b')' => {
                    self.record_call_end();
                    self.cursor += 1;
                    self.statement.close_parenthesis(&mut self.tables, &self.rules);
                    self.check_limits()?;
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => match self.read_word(window, is_last)? {
                    Step::Continue if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
                _ => match self.read_sign(byte, window, is_last)? {
                    Step::Continue if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
            }
        }
        Ok(Step::NeedMore(self.cursor))
    }

    /// Returns the length of the delimiter at this index, or 0 if there is none. Returns `None` if the
    /// window is too short to decide.
    pub(super) fn match_delimiter(&self, window: &[u8], index: usize, is_last: bool) -> Option<usize> {
        let delimiter = self.delimiter.as_deref().unwrap_or_default();
        let rest = window.get(index..).unwrap_or_default();
        if rest.starts_with(delimiter) {
            return Some(delimiter.len());
        }
        if delimiter.starts_with(rest) && !is_last {
            return None;
        }
        Some(0)
    }

    /// Reads a string in single quotes, in the session's quoting. `start` is the start of its prefix.
    #[inline]
    pub(super) fn read_single_quoted(&mut self, start: usize, window: &[u8], is_last: bool) -> Result<Step, Error> {
        self.read_string(start, self.cursor, Some(self.single_quoting()), window, is_last)
    }

    #[inline]
    pub(super) fn single_quoting(&self) -> Quoting {
        match self.rules.quotes.has_backslash_escapes {
            false => Quoting::Standard(Quote::Single),
            true if self.rules.is_postgres() => Quoting::Escape,
            true => Quoting::Backslash(Quote::Single),
        }
    }

    /// Reads a string whose quote is at `index`. `start` is the start of its prefix.
    #[inline]
    pub(super) fn read_string(
        &mut self,
        start: usize,
        index: usize,
        quoting: Option<Quoting>,
        window: &[u8],
        is_last: bool,
    ) -> Result<Step, Error> {
        let quote = window.get(index).copied().unwrap_or(b'\'');
        let backslash = matches!(quoting, Some(Quoting::Backslash(_) | Quoting::Escape));
        let ending = Ending::Quote { quote, backslash };
        self.read_literal(OpenLiteral { start, body: index + 1, scan: index + 1, ending, quoting }, window, is_last)
    }
}
