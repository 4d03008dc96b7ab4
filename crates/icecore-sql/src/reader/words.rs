//! Words and numbers outside of literals and comments, and the literals that begin with a word.

use super::open::{Ending, OpenLiteral};
use crate::quoting::Quote;
use crate::reader::code::{MAX_DELIMITER_LEN, MAX_DELIMITER_LINE, MAX_WORD_LEN};
use crate::reader::{Mode, Reader, Step};
use crate::statement::Phase;
use crate::{Dialect, Error, Quoting, scan, shell};

impl Reader {
    pub(super) fn read_number(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let start = self.cursor;
        // `0x` begins a hexadecimal literal in MySQL only. Two more bytes are needed to decide.
        if window.get(start) == Some(&b'0') && self.rules.is_mysql() {
            match (window.get(start + 1), window.get(start + 2)) {
                (None, _) | (Some(b'x'), None) if !is_last => return Ok(Step::NeedMore(start)),
                (Some(b'x'), Some(digit)) if digit.is_ascii_hexdigit() => {
                    let (body, quoting) = (start + 2, Some(Quoting::Hex));
                    return self.read_literal(
                        OpenLiteral { start, body, scan: body, ending: Ending::Digits, quoting },
                        window,
                        is_last,
                    );
                }
                _ => {}
            }
        }
        let end = match self.find_word_end(window, is_last) {
            Ok(end) => end,
            Err(step) => return Ok(step),
        };
        // A word that begins with a digit may be a name. Among the values of rows it is always a number.
        if self.statement.phase != Phase::Values {
            let word = window.get(start..end).unwrap_or_default();
            self.statement.handle_word(word, &mut self.tables, &mut self.rules);
            self.check_limits()?;
        }
        self.cursor = end;
        self.record_value_text(start);
        Ok(Step::Continue)
    }

    /// Returns the end of the word that begins here. For a long word, returns the end of its first `MAX_WORD_LEN`
    /// bytes, and sets the mode so that the rest is skipped.
    fn find_word_end(&mut self, window: &[u8], is_last: bool) -> Result<usize, Step> {
        let start = self.cursor;
        let mut end = scan::find_word_end(window, start);
        if self.delimiter.is_some() {
            // A client recognises its delimiter even in the middle of a word, so each byte of the word is checked.
            for index in start..end.min(start + MAX_WORD_LEN) {
                match self.match_delimiter(window, index, is_last) {
                    None => return Err(Step::NeedMore(start)),
                    Some(0) => {}
                    Some(_) => {
                        end = index;
                        break;
                    }
                }
            }
        }
        if end - start > MAX_WORD_LEN {
            self.mode = Mode::LongWord;
            return Ok(start + MAX_WORD_LEN);
        }
        if end == window.len() && !is_last {
            return Err(Step::NeedMore(start));
        }
        Ok(end)
    }

    pub(super) fn read_word(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let start = self.cursor;
        let begins_statement = self.statement.phase == Phase::Start;
        if begins_statement
            && let Some(len) =
                self.header.match_repeated_header(window.get(start..).unwrap_or_default(), &mut self.statement)
        {
            self.cursor += len;
            return Ok(Step::Continue);
        }
        let end = match self.find_word_end(window, is_last) {
            Ok(end) => end,
            Err(step) => return Ok(step),
        };
        let word = window.get(start..end).unwrap_or_default();
        // For a long word, `find_word_end` has set another mode. Such a word is neither a prefix nor a command.
        if matches!(self.mode, Mode::Code) {
            if let Some(step) = self.read_prefixed_literal(start, end, window, is_last)? {
                return Ok(step);
            }
            if begins_statement && self.rules.is_mysql() && word.eq_ignore_ascii_case(b"delimiter") {
                return Ok(self.read_delimiter_command(end, window, is_last));
            }
        }
        if begins_statement {
            self.header.begin_statement(word, self.offset + start as u64);
        }
        if self.is_in_row() {
            self.value_builder.add_word(word, start, end);
        }
        let phase_before = self.statement.phase;
        self.statement.handle_word(word, &mut self.tables, &mut self.rules);
        self.check_limits()?;
        self.cursor = end;
        if phase_before != Phase::Values && self.statement.phase == Phase::Values {
            self.header.remember_statement(window, self.offset, end, &self.statement);
        }
        Ok(Step::Continue)
    }

    /// Reads a literal whose prefix is the word at `start..end`. Returns `None` if this word is not a prefix.
    fn read_prefixed_literal(
        &mut self,
        start: usize,
        end: usize,
        window: &[u8],
        is_last: bool,
    ) -> Result<Option<Step>, Error> {
        let word = window.get(start..end).unwrap_or_default();
        let has_quote = window.get(end) == Some(&b'\'');
        let quoting = match word {
            [b'e' | b'E'] if has_quote && self.rules.dialect().is_none_or(|dialect| dialect == Dialect::Postgres) => {
                self.rules.guess_dialect(Dialect::Postgres);
                Some(Quoting::Escape)
            }
            // A bit string does not contain bytes. In PostgreSQL, `x'…'` is a bit string too. Such a literal has no
            // quoting, so its content is not changed.
            [b'x' | b'X'] if has_quote => Some(Quoting::Hex).filter(|_| !self.rules.is_postgres()),
            [b'b' | b'B'] if has_quote => None,
            [b'u' | b'U'] if self.rules.is_postgres() && window.get(end) == Some(&b'&') => match window.get(end + 1) {
                None if !is_last => return Ok(Some(Step::NeedMore(start))),
                Some(b'\'') => return self.read_string(start, end + 1, None, window, is_last).map(Some),
                _ => return Ok(None),
            },
            // `N'…'` and `_utf8'…'` name a charset. The string after the prefix is an ordinary one.
            [b'n' | b'N'] | [b'_', ..] if has_quote => {
                self.cursor = end;
                return self.read_single_quoted(start, window, is_last).map(Some);
            }
            _ if self.rules.is_sqlite() => return self.read_shell_call(start, end, window, is_last),
            _ => return Ok(None),
        };
        self.read_string(start, end, quoting, window, is_last).map(Some)
    }

    /// Reads a call of `replace` or `unistr`, in which SQLite's shell wraps a text. `start..end` is the first word.
    /// Returns `None` if the word does not begin such a call.
    fn read_shell_call(
        &mut self,
        start: usize,
        end: usize,
        window: &[u8],
        is_last: bool,
    ) -> Result<Option<Step>, Error> {
        let word = window.get(start..end).unwrap_or_default();
        if self.statement.phase != Phase::Values
            || self.statement.depth == 0
            || (word != b"replace" && word != b"unistr")
        {
            return Ok(None);
        }
        let Some(calls) = shell::match_replace_calls(window, end, is_last) else {
            return Ok(Some(Step::NeedMore(start)));
        };
        match (word, calls) {
            (b"replace", Some((calls, quote_index))) => {
                if self.is_in_row() {
                    self.value_builder.begin_value(start);
                }
                let (body, quoting) = (quote_index + 1, Some(Quoting::Standard(Quote::Single)));
                let open = OpenLiteral { start: quote_index, body, scan: body, ending: Ending::Calls(calls), quoting };
                self.read_literal(open, window, is_last).map(Some)
            }
            (b"unistr", Some((1, quote_index))) => {
                if self.is_in_row() {
                    self.value_builder.begin_value(start);
                    self.value_builder.expects_unistr_end = true;
                }
                self.statement.open_parenthesis(&mut self.tables);
                self.read_string(quote_index, quote_index, Some(Quoting::Unistr), window, is_last).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Reads the new delimiter in a line such as `DELIMITER //`. `word_end` is the end of the first word. `DELIMITER
    /// ;` restores the usual delimiter.
    fn read_delimiter_command(&mut self, word_end: usize, window: &[u8], is_last: bool) -> Step {
        let rest = window.get(word_end..).unwrap_or_default();
        let line_len = match scan::find_line_end(rest, 0) {
            Some(line_len) => line_len,
            None if !is_last && rest.len() <= MAX_DELIMITER_LINE => return Step::NeedMore(self.cursor),
            None => rest.len(),
        };
        let line = rest.get(..line_len.min(MAX_DELIMITER_LINE)).unwrap_or_default();
        let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or(b";");
        let word = word.get(..MAX_DELIMITER_LEN).unwrap_or(word);
        self.delimiter = Some(word.to_vec()).filter(|word| word != b";");
        self.rules.guess_dialect(Dialect::MySql);
        self.header.forget();
        self.cursor = word_end;
        self.mode = Mode::RestOfLine;
        Step::Continue
    }
}
