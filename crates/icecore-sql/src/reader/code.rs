//! Lexing of everything outside of literals and comments.

use std::ops::Range;

use super::copy::CopyPosition;
use super::open::{Ending, OpenLiteral};
use crate::quoting::Quote;
use crate::reader::{Mode, Reader, Step};
use crate::rows::bare;
use crate::rows::{Content, Value};
use crate::statement::Phase;
use crate::{Dialect, Error, Literal, Quoting, scan, shell};

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
/// Maximum number of digits of the version of a conditional comment.
const MAX_VERSION_DIGITS: usize = 6;

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
                return Ok(Step::Hold(0));
            }
        }
        while let Some(&byte) = window.get(self.cursor) {
            if self.delimiter.is_some() {
                match self.match_delimiter(window, self.cursor, is_last) {
                    None => return Ok(Step::Hold(self.cursor)),
                    // There is not a delimiter here, so the byte is read as usual.
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
                    Some(Step::Go) => {}
                    Some(step) => return Ok(step),
                    None => match self.read_single_quoted(self.cursor, window, is_last)? {
                        Step::Go if matches!(self.mode, Mode::Code) => {}
                        step => return Ok(step),
                    },
                },
                b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c => self.cursor += 1,
                b'0'..=b'9' => match self.read_number(window, is_last)? {
                    Step::Go if matches!(self.mode, Mode::Code) => {}
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
                    Step::Go if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
                _ => match self.read_sign(byte, window, is_last)? {
                    Step::Go if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
            }
        }
        Ok(Step::Hold(self.cursor))
    }

    /// Returns the length of the delimiter at this index, or 0 if there is not a delimiter. Returns `None` if the
    /// window is too short to decide.
    fn match_delimiter(&self, window: &[u8], index: usize, is_last: bool) -> Option<usize> {
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

    /// Reads a string in single quotes that is the value of a row and ends in the window. Most literals of a dump are
    /// like this. For any other string, changes nothing and returns `None`. The caller then reads the string in the
    /// general way, and this takes longer.
    #[inline]
    fn read_quoted_value(&mut self, window: &[u8], is_last: bool) -> Option<Step> {
        if self.statement.phase != Phase::Values {
            return None;
        }
        let (start, body) = (self.cursor, self.cursor + 1);
        let end = scan::find_closing_quote(window, body, body, b'\'', self.rules.quotes.has_backslash_escapes, is_last)
            .ok()?;
        if end - body > self.options.literal {
            return None;
        }
        self.cursor = end + 1;
        let cell = self.statement.locate_cell(&self.tables);
        let mut quoting = self.single_quoting();
        if let Some(cell) = cell
            && self.rules.is_postgres()
        {
            let text = window.get(body..end).unwrap_or_default();
            quoting = quoting.for_kind(text, self.tables.column_kind(cell.table, cell.column));
        }
        if self.is_in_row() {
            let content = Content::Literal(body..end, quoting);
            return Some(match window.get(self.cursor) {
                Some(sign @ (b',' | b')')) if self.begins_plain_value() => {
                    self.complete_row_value(start..self.cursor, content, *sign)
                }
                _ => {
                    self.value_builder.add_literal(start, self.cursor, body..end, quoting);
                    Step::Go
                }
            });
        }
        Some(Step::Found(Literal { full_range: start..self.cursor, body: body..end, quoting, cell }))
    }

    /// Returns true if a value of a row begins here, and only `,` or `)` can end it. With a delimiter of its own, a
    /// client could end the statement in the middle of the value.
    #[inline]
    fn begins_plain_value(&self) -> bool {
        self.statement.depth == 1 && self.value_builder.is_empty() && self.delimiter.is_none()
    }

    /// Reads a number or NULL that is the complete value of a row. Most values without quotes are like this. For
    /// anything else, changes nothing and returns `None`. The caller then reads the value in the general way, and
    /// this takes longer.
    #[inline]
    fn read_bare_value(&mut self, window: &[u8]) -> Option<Step> {
        if !self.is_in_row() || !self.begins_plain_value() {
            return None;
        }
        let start = self.cursor;
        let (end, content) = match window.get(start..start + 4) {
            Some(b"NULL") => (start + 4, Content::Null),
            _ => (bare::find_plain_number_end(window, start)?, Content::Number),
        };
        // Another byte after the number continues the value, as in `1e5` or `1 + 2`.
        let sign @ (b',' | b')') = *window.get(end)? else { return None };
        self.cursor = end;
        Some(self.complete_row_value(start..end, content, sign))
    }

    /// Completes a value of a row that ends here, before `sign`.
    #[inline]
    fn complete_row_value(&mut self, full_range: Range<usize>, content: Content, sign: u8) -> Step {
        // The cell is located before the sign is handled, because a comma moves the statement to the next position.
        let cell = self.statement.locate_cell(&self.tables);
        self.cursor += 1;
        match sign {
            b',' => self.statement.handle_comma(&mut self.tables, &mut self.rules),
            _ => self.statement.close_parenthesis(&mut self.tables, &self.rules),
        }
        match cell {
            Some(cell) => Step::Value(Value { full_range, content, cell, ends_row: sign == b')' }),
            None => Step::Go,
        }
    }

    /// Records that the text from `start` on is part of a value.
    pub(crate) fn record_value_text(&mut self, start: usize) {
        if self.is_in_row() {
            self.value_builder.add_plain(start, self.cursor);
        }
    }

    /// Records that the sign here is part of a value.
    fn record_value_sign(&mut self) {
        if self.is_in_row() {
            self.value_builder.add_plain(self.cursor, self.cursor + 1);
        }
    }

    /// Records a parenthesis that closes a call.
    fn record_call_end(&mut self) {
        if self.is_in_row() {
            self.value_builder.add_closing(self.cursor);
        }
    }

    /// Reads a string in single quotes, in the session's quoting. `start` is the start of its prefix.
    #[inline]
    fn read_single_quoted(&mut self, start: usize, window: &[u8], is_last: bool) -> Result<Step, Error> {
        self.read_string(start, self.cursor, Some(self.single_quoting()), window, is_last)
    }

    #[inline]
    fn single_quoting(&self) -> Quoting {
        match self.rules.quotes.has_backslash_escapes {
            false => Quoting::Standard(Quote::Single),
            true if self.rules.is_postgres() => Quoting::Escape,
            true => Quoting::Backslash(Quote::Single),
        }
    }

    /// Reads a string whose quote is at `index`. `start` is the start of its prefix.
    #[inline]
    fn read_string(
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

    fn read_number(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let start = self.cursor;
        // `0x` begins a hexadecimal literal in MySQL only. Two more bytes are needed to decide.
        if window.get(start) == Some(&b'0') && self.rules.is_mysql() {
            match (window.get(start + 1), window.get(start + 2)) {
                (None, _) | (Some(b'x'), None) if !is_last => return Ok(Step::Hold(start)),
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
        Ok(Step::Go)
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
                    None => return Err(Step::Hold(start)),
                    Some(0) => {}
                    Some(_) => {
                        end = index;
                        break;
                    }
                }
            }
        }
        if end - start > MAX_WORD_LEN {
            self.mode = Mode::Word;
            return Ok(start + MAX_WORD_LEN);
        }
        if end == window.len() && !is_last {
            return Err(Step::Hold(start));
        }
        Ok(end)
    }

    fn read_word(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let start = self.cursor;
        let begins_statement = self.statement.phase == Phase::Start;
        if begins_statement
            && let Some(len) =
                self.header.match_repeated_header(window.get(start..).unwrap_or_default(), &mut self.statement)
        {
            self.cursor += len;
            return Ok(Step::Go);
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
        Ok(Step::Go)
    }

    /// Reads a literal that begins with this word, or returns `None` if no literal begins with it.
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
                None if !is_last => return Ok(Some(Step::Hold(start))),
                Some(b'\'') => return self.read_string(start, end + 1, None, window, is_last).map(Some),
                _ => return Ok(None),
            },
            // `N'…'` and `_utf8'…'` name a charset. The string after the prefix is an ordinary one.
            [b'n' | b'N'] | [b'_', ..] if has_quote => {
                self.cursor = end;
                return self.read_single_quoted(start, window, is_last).map(Some);
            }
            _ if self.rules.is_sqlite() => return self.read_shell_call(word, end, start, window, is_last),
            _ => return Ok(None),
        };
        self.read_string(start, end, quoting, window, is_last).map(Some)
    }

    /// Reads a call of `replace` or `unistr`, in which SQLite's shell wraps a text. Returns `None` if the word does
    /// not begin such a call.
    fn read_shell_call(
        &mut self,
        word: &[u8],
        end: usize,
        start: usize,
        window: &[u8],
        is_last: bool,
    ) -> Result<Option<Step>, Error> {
        if self.statement.phase != Phase::Values
            || self.statement.depth == 0
            || (word != b"replace" && word != b"unistr")
        {
            return Ok(None);
        }
        let Some(calls) = shell::match_replace_calls(window, end, is_last) else {
            return Ok(Some(Step::Hold(start)));
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

    /// Handles the rest of a line such as `DELIMITER //`. `DELIMITER ;` restores the usual delimiter.
    fn read_delimiter_command(&mut self, end: usize, window: &[u8], is_last: bool) -> Step {
        let rest = window.get(end..).unwrap_or_default();
        let line = match scan::find_line_end(rest, 0) {
            Some(line) => line,
            None if !is_last && rest.len() <= MAX_DELIMITER_LINE => return Step::Hold(self.cursor),
            None => rest.len(),
        };
        let line = rest.get(..line.min(MAX_DELIMITER_LINE)).unwrap_or_default();
        let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or(b";");
        let word = word.get(..MAX_DELIMITER_LEN).unwrap_or(word);
        self.delimiter = Some(word.to_vec()).filter(|word| word != b";");
        self.rules.guess_dialect(Dialect::MySql);
        self.header.forget();
        self.cursor = end;
        self.mode = Mode::Line;
        Step::Go
    }

    fn read_sign(&mut self, byte: u8, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let next = window.get(self.cursor + 1).copied();
        let needs_more = next.is_none() && !is_last;
        match byte {
            b';' => {
                self.record_value_sign();
                self.handle_semicolon();
                Ok(Step::Go)
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
            b'-' | b'/' if needs_more => Ok(Step::Hold(self.cursor)),
            b'-' if next == Some(b'-') => Ok(self.read_dashes(window, is_last)),
            b'/' if next == Some(b'*') => Ok(self.read_comment(window, is_last)),
            b'*' if self.conditional > 0 && needs_more => Ok(Step::Hold(self.cursor)),
            b'*' if self.conditional > 0 && next == Some(b'/') => {
                self.conditional -= 1;
                self.cursor += 2;
                Ok(Step::Go)
            }
            b'#' if self.rules.is_mysql() => {
                self.mode = Mode::Line;
                Ok(Step::Go)
            }
            b'\\' if self.statement.phase == Phase::Start && self.rules.dialect() != Some(Dialect::MySql) => {
                self.rules.guess_dialect(Dialect::Postgres);
                self.mode = Mode::Line;
                Ok(Step::Go)
            }
            b'$' if self.rules.is_postgres() => self.read_dollar_quoted(window, is_last),
            b'$' => self.read_word(window, is_last),
            b'.' => {
                self.record_value_sign();
                self.cursor += 1;
                self.statement.handle_dot(&mut self.rules);
                Ok(Step::Go)
            }
            _ => {
                self.record_value_sign();
                self.cursor += 1;
                self.statement.handle_sign(byte);
                Ok(Step::Go)
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
        // A name that does not end in the window is read again with more bytes, unless it is already too long.
        let (end, is_long) = match scan::find_name_end(window, body, close, is_last) {
            Ok(end) => (end, end - body > MAX_WORD_LEN),
            Err(_) if window.len() - body <= MAX_WORD_LEN + 1 => return Ok(Step::Hold(start)),
            Err(_) => (window.len(), true),
        };
        let name = decode_name(window.get(body..end).unwrap_or_default(), close);
        self.statement.handle_quoted_name(&name, &mut self.tables, &mut self.rules);
        self.check_limits()?;
        // `Mode::Name` searches for the end again from the body on, because the name may contain doubled quotes.
        if is_long {
            self.cursor = body;
            self.mode = Mode::Name { close };
        } else {
            self.cursor = end + 1;
        }
        self.record_value_text(start);
        Ok(Step::Go)
    }

    /// Handles `--`. In MySQL it begins a comment only if a space or a control character follows.
    fn read_dashes(&mut self, window: &[u8], is_last: bool) -> Step {
        let start = self.cursor;
        if self.rules.is_mysql() {
            match window.get(start + 2) {
                None if !is_last => return Step::Hold(start),
                Some(next_byte) if *next_byte > b' ' => {
                    self.record_value_sign();
                    self.cursor += 1;
                    self.statement.handle_sign(b'-');
                    return Step::Go;
                }
                _ => {}
            }
        }
        if self.statement.phase == Phase::Start {
            let rest = window.get(start..).unwrap_or_default();
            let line = match scan::find_line_end(rest, 0) {
                Some(end) => end,
                None if !is_last && rest.len() < MAX_EXAMINED_LEN => return Step::Hold(start),
                None => rest.len(),
            };
            self.rules.examine_comment(rest.get(..line.min(MAX_EXAMINED_LEN)).unwrap_or_default());
            self.header.forget();
        }
        self.mode = Mode::Line;
        Step::Go
    }

    /// Handles `/*`. MySQL executes the content of `/*!50001 … */`, and MariaDB also that of `/*M!100100 … */`. So
    /// the content is read as code, and `*/` is handled where it occurs in the code.
    fn read_comment(&mut self, window: &[u8], is_last: bool) -> Step {
        let start = self.cursor;
        let rest = window.get(start + 2..).unwrap_or_default();
        let digits = match rest {
            [] | [b'M'] if !is_last && self.rules.is_mysql() => return Step::Hold(start),
            [b'!', digits @ ..] | [b'M', b'!', digits @ ..] if self.rules.is_mysql() => digits,
            _ => {
                self.cursor += 2;
                self.mode = Mode::Block { depth: 1 };
                return Step::Go;
            }
        };
        let version_len = digits.iter().take(MAX_VERSION_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
        if version_len == digits.len() && version_len < MAX_VERSION_DIGITS && !is_last {
            return Step::Hold(start);
        }
        let version = digits.iter().take(version_len).fold(0, |sum, digit| sum * 10 + u32::from(*digit - b'0'));
        // The cursor moves over `/*`, then `!` or `M!` (the difference of the lengths), then the version.
        self.cursor += 2 + rest.len() - digits.len() + version_len;
        if version >= NO_VERSION {
            self.mode = Mode::Block { depth: 1 };
        } else {
            self.rules.guess_dialect(Dialect::MySql);
            self.conditional = self.conditional.saturating_add(1);
        }
        Step::Go
    }

    /// Reads `$tag$ … $tag$` of PostgreSQL.
    fn read_dollar_quoted(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let start = self.cursor;
        let rest = window.get(start + 1..).unwrap_or_default();
        let tag_len =
            rest.iter().take(MAX_WORD_LEN).take_while(|byte| scan::is_word_byte(**byte) && **byte != b'$').count();
        if tag_len == rest.len() && !is_last {
            return Ok(Step::Hold(start));
        }
        // A tag can't begin with a digit, because `$1` is a parameter.
        if rest.get(tag_len) != Some(&b'$') || rest.first().is_some_and(u8::is_ascii_digit) {
            self.cursor += 1 + tag_len;
            self.record_value_text(start);
            return Ok(Step::Go);
        }
        // The body begins after the tag and the two `$` around it.
        let body = start + tag_len + 2;
        let open = OpenLiteral { start, body, scan: body, ending: Ending::Dollar, quoting: Some(Quoting::Dollar) };
        self.read_literal(open, window, is_last)
    }
}
