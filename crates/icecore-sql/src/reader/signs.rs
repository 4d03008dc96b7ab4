//! Signs outside of literals and comments, and what begins with a sign: names in quotes, comments, `$tag$` strings.

use super::copy::CopyPosition;
use super::open::{Ending, OpenLiteral};
use crate::quoting::Quote;
use crate::reader::code::{MAX_EXAMINED_LEN, MAX_WORD_LEN, NO_VERSION, decode_name};
use crate::reader::{Mode, Reader, Step};
use crate::statement::Phase;
use crate::{Dialect, Error, Quoting, scan};

/// Maximum number of digits of the version of a conditional comment.
pub(crate) const MAX_VERSION_DIGITS: usize = 6;

impl Reader {
    pub(super) fn read_sign(&mut self, byte: u8, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let next = window.get(self.cursor + 1).copied();
        let needs_more = next.is_none() && !is_last;
        match byte {
            b';' => {
                self.record_value_sign();
                self.handle_semicolon();
                Ok(Step::Continue)
            }
            b'`' => {
                self.rules.guess_dialect(Dialect::MySql);
                self.read_name(byte, window, is_last)
            }
            b'"' if self.rules.quotes.double_quotes_are_names || self.statement.expects_name() => {
                self.read_name(byte, window, is_last)
            }
            b'"' => {
                let quoting = match self.rules.quotes.has_backslash_escapes {
                    true => Quoting::Backslash(Quote::Double),
                    false => Quoting::Standard(Quote::Double),
                };
                self.read_string(self.cursor, self.cursor, Some(quoting), window, is_last)
            }
            b'[' if self.rules.is_sqlite() => self.read_name(b']', window, is_last),
            b'-' | b'/' if needs_more => Ok(Step::NeedMore(self.cursor)),
            b'-' if next == Some(b'-') => Ok(self.read_dashes(window, is_last)),
            b'/' if next == Some(b'*') => Ok(self.read_comment(window, is_last)),
            b'*' if self.open_conditional_comments > 0 && needs_more => Ok(Step::NeedMore(self.cursor)),
            b'*' if self.open_conditional_comments > 0 && next == Some(b'/') => {
                self.open_conditional_comments -= 1;
                self.cursor += 2;
                Ok(Step::Continue)
            }
            b'#' if self.rules.is_mysql() => {
                self.mode = Mode::RestOfLine;
                Ok(Step::Continue)
            }
            b'\\' if self.statement.phase == Phase::Start && self.rules.dialect() != Some(Dialect::MySql) => {
                self.rules.guess_dialect(Dialect::Postgres);
                self.mode = Mode::RestOfLine;
                Ok(Step::Continue)
            }
            b'$' if self.rules.is_postgres() => self.read_dollar_quoted(window, is_last),
            b'$' => self.read_word(window, is_last),
            b'.' => {
                self.record_value_sign();
                self.cursor += 1;
                self.statement.handle_dot(&mut self.rules);
                Ok(Step::Continue)
            }
            _ => {
                self.record_value_sign();
                self.cursor += 1;
                self.statement.handle_sign(byte);
                Ok(Step::Continue)
            }
        }
    }

    fn handle_semicolon(&mut self) {
        self.cursor += 1;
        if self.delimiter.is_some() || !self.statement.ends_at_semicolon() {
            return;
        }
        match self.statement.phase {
            phase @ (Phase::CopyStdin | Phase::CopyOptions) => {
                self.copying = CopyPosition::new(phase == Phase::CopyOptions);
                self.mode = Mode::Copy;
            }
            _ => self.statement.end_statement(&mut self.rules),
        }
    }

    /// Reads a quoted name.
    fn read_name(&mut self, close: u8, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let start = self.cursor;
        let body = start + 1;
        // If the name does not end in the window, it is read again with more bytes, unless it is already too long.
        let (end, is_long) = match scan::find_name_end(window, body, close, is_last) {
            Ok(end) => (end, end - body > MAX_WORD_LEN),
            Err(_) if window.len() - body <= MAX_WORD_LEN + 1 => return Ok(Step::NeedMore(start)),
            Err(_) => (window.len(), true),
        };
        let name = decode_name(window.get(body..end).unwrap_or_default(), close);
        self.statement.handle_quoted_name(&name, &mut self.tables, &mut self.rules);
        self.check_limits()?;
        // `Mode::LongName` searches for the end again from the body on, because the name may contain doubled quotes.
        if is_long {
            self.cursor = body;
            self.mode = Mode::LongName { close };
        } else {
            self.cursor = end + 1;
        }
        self.record_value_text(start);
        Ok(Step::Continue)
    }

    /// Handles `--`. In MySQL it begins a comment only if a space or a control character follows.
    fn read_dashes(&mut self, window: &[u8], is_last: bool) -> Step {
        let start = self.cursor;
        if self.rules.is_mysql() {
            match window.get(start + 2) {
                None if !is_last => return Step::NeedMore(start),
                Some(next_byte) if *next_byte > b' ' => {
                    self.record_value_sign();
                    self.cursor += 1;
                    self.statement.handle_sign(b'-');
                    return Step::Continue;
                }
                _ => {}
            }
        }
        if self.statement.phase == Phase::Start {
            let rest = window.get(start..).unwrap_or_default();
            let line_len = match scan::find_line_end(rest, 0) {
                Some(line_len) => line_len,
                None if !is_last && rest.len() < MAX_EXAMINED_LEN => return Step::NeedMore(start),
                None => rest.len(),
            };
            self.rules.examine_comment(rest.get(..line_len.min(MAX_EXAMINED_LEN)).unwrap_or_default());
            self.header.forget();
        }
        self.mode = Mode::RestOfLine;
        Step::Continue
    }

    /// Handles `/*`. MySQL executes the content of `/*!50001 … */`, and MariaDB also that of `/*M!100100 … */`. So
    /// the content is read as code, and `*/` is handled where it occurs in the code.
    fn read_comment(&mut self, window: &[u8], is_last: bool) -> Step {
        let start = self.cursor;
        let rest = window.get(start + 2..).unwrap_or_default();
        let digits = match rest {
            [] | [b'M'] if !is_last && self.rules.is_mysql() => return Step::NeedMore(start),
            [b'!', digits @ ..] | [b'M', b'!', digits @ ..] if self.rules.is_mysql() => digits,
            _ => {
                self.cursor += 2;
                self.mode = Mode::BlockComment { depth: 1 };
                return Step::Continue;
            }
        };
        let version_len = digits.iter().take(MAX_VERSION_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
        if version_len == digits.len() && version_len < MAX_VERSION_DIGITS && !is_last {
            return Step::NeedMore(start);
        }
        let version = digits.iter().take(version_len).fold(0, |sum, digit| sum * 10 + u32::from(*digit - b'0'));
        // The cursor moves over `/*`, then `!` or `M!` (the difference of the lengths), then the version.
        self.cursor += 2 + rest.len() - digits.len() + version_len;
        if version >= NO_VERSION {
            self.mode = Mode::BlockComment { depth: 1 };
        } else {
            self.rules.guess_dialect(Dialect::MySql);
            self.open_conditional_comments = self.open_conditional_comments.saturating_add(1);
        }
        Step::Continue
    }

    /// Reads `$tag$ … $tag$` of PostgreSQL.
    fn read_dollar_quoted(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let start = self.cursor;
        let rest = window.get(start + 1..).unwrap_or_default();
        let tag_len =
            rest.iter().take(MAX_WORD_LEN).take_while(|byte| scan::is_word_byte(**byte) && **byte != b'$').count();
        if tag_len == rest.len() && !is_last {
            return Ok(Step::NeedMore(start));
        }
        // A tag can't begin with a digit, because `$1` is a parameter.
        if rest.get(tag_len) != Some(&b'$') || rest.first().is_some_and(u8::is_ascii_digit) {
            self.cursor += 1 + tag_len;
            self.record_value_text(start);
            return Ok(Step::Continue);
        }
        // The body begins after the tag and the two `$` around it.
        let body = start + tag_len + 2;
        let open = OpenLiteral { start, body, scan: body, ending: Ending::Dollar, quoting: Some(Quoting::Dollar) };
        self.read_literal(open, window, is_last)
    }
}
