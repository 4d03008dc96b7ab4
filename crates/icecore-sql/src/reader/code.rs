//! Lexing of everything outside of literals and comments.

use std::ops::Range;

use super::copy::Copying;
use super::open::{Ending, Open};
use crate::quoting::Quote;
use crate::reader::{Mode, Reader, Step};
use crate::rows::bare;
use crate::rows::{Content, Value};
use crate::statement::Phase;
use crate::{Dialect, Error, Literal, Quoting, scan, shell};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Maximum length of a word or a name that is processed as one.
pub(crate) const MAX_WORD: usize = 1024;
/// Maximum number of bytes of a comment that are examined for the dialect.
pub(crate) const MAX_SIGN: usize = 64;
/// Maximum length of a delimiter.
pub(crate) const MAX_DELIMITER: usize = 16;
/// Maximum length of the line that sets it.
pub(crate) const MAX_DELIMITER_LINE: usize = 256;
/// From this version on, no server executes a conditional comment.
pub(crate) const NO_VERSION: u32 = 900_000;

/// Returns a name with its doubled quotes reduced.
pub(crate) fn name_of(body: &[u8], close: u8) -> String {
    let name = String::from_utf8_lossy(body.get(..MAX_WORD).unwrap_or(body));
    if close == b']' || !body.contains(&close) {
        return name.into_owned();
    }
    let close = char::from(close);
    name.replace(&format!("{close}{close}"), &close.to_string())
}

impl Reader {
    /// Reads up to the next literal, or to the end of the window.
    pub(crate) fn code(&mut self, window: &[u8], last: bool) -> Result<Step, Error> {
        if self.at == 0 && self.offset == 0 {
            if window.starts_with(BYTE_ORDER_MARK) {
                self.at = BYTE_ORDER_MARK.len();
            } else if BYTE_ORDER_MARK.starts_with(window) && !last {
                return Ok(Step::Hold(0));
            }
        }
        while let Some(&byte) = window.get(self.at) {
            if self.delimiter.is_some() {
                match self.custom_delimiter(window, self.at, last) {
                    None => return Ok(Step::Hold(self.at)),
                    Some(0) => {}
                    Some(len) => {
                        self.at += len;
                        self.statement.end(&mut self.lexis);
                        continue;
                    }
                }
            }
            if self.options.rows
                && matches!(byte, b'N' | b'-' | b'0'..=b'9')
                && let Some(step) = self.bare_value(window)
            {
                return Ok(step);
            }
            match byte {
                b',' | b')' if self.in_row() && self.statement.depth == 1 => {
                    let (whole, content) = self.gather.finish(window, self.lexis.dialect());
                    return Ok(self.row_value(whole, content, byte));
                }
                b',' => {
                    self.note_sign();
                    self.at += 1;
                    self.statement.comma(&mut self.tables, &mut self.lexis);
                }
                b'\'' => match self.value(window, last) {
                    Some(Step::Go) => {}
                    Some(step) => return Ok(step),
                    None => match self.quote(self.at, window, last)? {
                        Step::Go if matches!(self.mode, Mode::Code) => {}
                        step => return Ok(step),
                    },
                },
                b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'0'..=b'9' => match self.number(window, last)? {
                    Step::Go if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
                b'(' => {
                    self.note_sign();
                    self.at += 1;
                    self.statement.open(&mut self.tables);
                    if self.options.rows && self.statement.depth == 1 {
                        self.gather.clear();
                    }
                    self.check()?;
                }
                b')' => {
                    self.note_close();
                    self.at += 1;
                    self.statement.close(&mut self.tables, &self.lexis);
                    self.check()?;
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => match self.word(window, last)? {
                    Step::Go if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
                _ => match self.sign(byte, window, last)? {
                    Step::Go if matches!(self.mode, Mode::Code) => {}
                    step => return Ok(step),
                },
            }
        }
        Ok(Step::Hold(self.at))
    }

    /// Returns the length of the delimiter here: 0 if there is none. `None`: the window is too short to decide.
    fn custom_delimiter(&self, window: &[u8], at: usize, last: bool) -> Option<usize> {
        let delimiter = self.delimiter.as_deref().unwrap_or_default();
        let rest = window.get(at..).unwrap_or_default();
        if rest.starts_with(delimiter) {
            return Some(delimiter.len());
        }
        if delimiter.starts_with(rest) && !last {
            return None;
        }
        Some(0)
    }

    /// Fast path for a string in single quotes that is the value of a row and ends in the window, as most literals are.
    #[inline]
    fn value(&mut self, window: &[u8], last: bool) -> Option<Step> {
        if self.statement.phase != Phase::Values {
            return None;
        }
        let (start, body) = (self.at, self.at + 1);
        let end = scan::quote_end(window, body, body, b'\'', self.lexis.quotes.backslash, last).ok()?;
        if end - body > self.options.literal {
            return None;
        }
        self.at = end + 1;
        let cell = self.statement.value(&self.tables);
        let mut quoting = self.single_quoting();
        if let Some(cell) = cell
            && self.lexis.is_postgres()
        {
            let text = window.get(body..end).unwrap_or_default();
            quoting = quoting.for_kind(text, self.tables.kind(cell.table, cell.column));
        }
        if self.in_row() {
            let content = Content::Literal(body..end, quoting);
            return Some(match window.get(self.at) {
                Some(sign @ (b',' | b')')) if self.is_plain_place() => self.row_value(start..self.at, content, *sign),
                _ => {
                    self.gather.literal(start, self.at, body..end, quoting);
                    Step::Go
                }
            });
        }
        Some(Step::Found(Literal { whole: start..self.at, body: body..end, quoting, cell }))
    }

    /// Whether a value of a row begins here, and can only be ended by standard SQL.
    #[inline]
    fn is_plain_place(&self) -> bool {
        self.statement.depth == 1 && self.gather.is_empty() && self.delimiter.is_none()
    }

    /// Fast path for a number or NULL that is the complete value of a row, as most values without quotes are.
    #[inline]
    fn bare_value(&mut self, window: &[u8]) -> Option<Step> {
        if !self.in_row() || !self.is_plain_place() {
            return None;
        }
        let start = self.at;
        let (end, content) = match window.get(start..start + 4) {
            Some(b"NULL") => (start + 4, Content::Null),
            _ => (bare::plain_number_end(window, start)?, Content::Number),
        };
        let sign @ (b',' | b')') = *window.get(end)? else { return None };
        self.at = end;
        Some(self.row_value(start..end, content, sign))
    }

    /// Completes a value of a row, whose end is here.
    #[inline]
    fn row_value(&mut self, whole: Range<usize>, content: Content, sign: u8) -> Step {
        let cell = self.statement.value(&self.tables);
        self.at += 1;
        match sign {
            b',' => self.statement.comma(&mut self.tables, &mut self.lexis),
            _ => self.statement.close(&mut self.tables, &self.lexis),
        }
        match cell {
            Some(cell) => Step::Value(Value { whole, content, cell, ends_row: sign == b')' }),
            None => Step::Go,
        }
    }

    /// Records that the text from `start` on is part of a value.
    pub(crate) fn note(&mut self, start: usize) {
        if self.in_row() {
            self.gather.plain(start, self.at);
        }
    }

    /// Records that the sign here is part of a value.
    fn note_sign(&mut self) {
        if self.in_row() {
            self.gather.plain(self.at, self.at + 1);
        }
    }

    /// Records a parenthesis that closes a call.
    fn note_close(&mut self) {
        if self.in_row() {
            self.gather.close(self.at);
        }
    }

    /// A string in single quotes, in the session's quoting. `whole` is the start of its prefix.
    #[inline]
    fn quote(&mut self, whole: usize, window: &[u8], last: bool) -> Result<Step, Error> {
        self.open(whole, self.at, Some(self.single_quoting()), window, last)
    }

    #[inline]
    fn single_quoting(&self) -> Quoting {
        match self.lexis.quotes.backslash {
            false => Quoting::Standard(Quote::Single),
            true if self.lexis.is_postgres() => Quoting::Escape,
            true => Quoting::Backslash(Quote::Single),
        }
    }

    /// A string whose quote is at `at`.
    #[inline]
    fn open(
        &mut self,
        whole: usize,
        at: usize,
        quoting: Option<Quoting>,
        window: &[u8],
        last: bool,
    ) -> Result<Step, Error> {
        let quote = window.get(at).copied().unwrap_or(b'\'');
        let backslash = matches!(quoting, Some(Quoting::Backslash(_) | Quoting::Escape));
        let ending = Ending::Quote { quote, backslash };
        self.literal(Open { whole, body: at + 1, scan: at + 1, ending, quoting }, window, last)
    }

    fn number(&mut self, window: &[u8], last: bool) -> Result<Step, Error> {
        let start = self.at;
        if window.get(start) == Some(&b'0') && self.lexis.is_mysql() {
            match (window.get(start + 1), window.get(start + 2)) {
                (None, _) | (Some(b'x'), None) if !last => return Ok(Step::Hold(start)),
                (Some(b'x'), Some(digit)) if digit.is_ascii_hexdigit() => {
                    let (body, quoting) = (start + 2, Some(Quoting::Hex));
                    return self.literal(
                        Open { whole: start, body, scan: body, ending: Ending::Digits, quoting },
                        window,
                        last,
                    );
                }
                _ => {}
            }
        }
        let end = match self.word_end(window, last) {
            Ok(end) => end,
            Err(step) => return Ok(step),
        };
        if self.statement.phase != Phase::Values {
            let word = window.get(start..end).unwrap_or_default();
            self.statement.word(word, &mut self.tables, &mut self.lexis);
            self.check()?;
        }
        self.at = end;
        self.note(start);
        Ok(Step::Go)
    }

    /// Returns the end of the word that begins here. Only the relevant beginning of a long word is returned; the rest
    /// is skipped.
    fn word_end(&mut self, window: &[u8], last: bool) -> Result<usize, Step> {
        let start = self.at;
        let mut end = scan::word_end(window, start);
        if self.delimiter.is_some() {
            // The client recognises its delimiter even in the middle of words.
            for at in start..end.min(start + MAX_WORD) {
                match self.custom_delimiter(window, at, last) {
                    None => return Err(Step::Hold(start)),
                    Some(0) => {}
                    Some(_) => {
                        end = at;
                        break;
                    }
                }
            }
        }
        if end - start > MAX_WORD {
            self.mode = Mode::Word;
            return Ok(start + MAX_WORD);
        }
        if end == window.len() && !last {
            return Err(Step::Hold(start));
        }
        Ok(end)
    }

    fn word(&mut self, window: &[u8], last: bool) -> Result<Step, Error> {
        let start = self.at;
        let first = self.statement.phase == Phase::Start;
        if first && let Some(len) = self.header.again(window.get(start..).unwrap_or_default(), &mut self.statement) {
            self.at += len;
            return Ok(Step::Go);
        }
        let end = match self.word_end(window, last) {
            Ok(end) => end,
            Err(step) => return Ok(step),
        };
        let word = window.get(start..end).unwrap_or_default();
        if matches!(self.mode, Mode::Code) {
            if let Some(step) = self.prefix(start, end, window, last)? {
                return Ok(step);
            }
            if first && self.lexis.is_mysql() && word.eq_ignore_ascii_case(b"delimiter") {
                return Ok(self.set_delimiter(end, window, last));
            }
        }
        if first {
            self.header.begin(word, self.offset + start as u64);
        }
        if self.in_row() {
            self.gather.word(word, start, end);
        }
        let before = self.statement.phase;
        self.statement.word(word, &mut self.tables, &mut self.lexis);
        self.check()?;
        self.at = end;
        if before != Phase::Values && self.statement.phase == Phase::Values {
            self.header.remember(window, self.offset, end, &self.statement);
        }
        Ok(Step::Go)
    }

    /// Handles a word that begins a literal.
    fn prefix(&mut self, start: usize, end: usize, window: &[u8], last: bool) -> Result<Option<Step>, Error> {
        let word = window.get(start..end).unwrap_or_default();
        let quote = window.get(end) == Some(&b'\'');
        let quoting = match word {
            [b'e' | b'E'] if quote && self.lexis.dialect().is_none_or(|known| known == Dialect::Postgres) => {
                self.lexis.guess(Dialect::Postgres);
                Some(Quoting::Escape)
            }
            // Bit strings are not bytes; neither are hexadecimal strings of PostgreSQL.
            [b'x' | b'X'] if quote => Some(Quoting::Hex).filter(|_| !self.lexis.is_postgres()),
            [b'b' | b'B'] if quote => None,
            [b'u' | b'U'] if self.lexis.is_postgres() && window.get(end) == Some(&b'&') => match window.get(end + 1) {
                None if !last => return Ok(Some(Step::Hold(start))),
                Some(b'\'') => return self.open(start, end + 1, None, window, last).map(Some),
                _ => return Ok(None),
            },
            [b'n' | b'N'] | [b'_', ..] if quote => {
                self.at = end;
                return self.quote(start, window, last).map(Some);
            }
            _ if self.lexis.is_sqlite() => return self.call(word, end, start, window, last),
            _ => return Ok(None),
        };
        self.open(start, end, quoting, window, last).map(Some)
    }

    /// Handles a call in which SQLite's shell wraps a text.
    fn call(
        &mut self,
        word: &[u8],
        end: usize,
        start: usize,
        window: &[u8],
        last: bool,
    ) -> Result<Option<Step>, Error> {
        if self.statement.phase != Phase::Values
            || self.statement.depth == 0
            || (word != b"replace" && word != b"unistr")
        {
            return Ok(None);
        }
        let Some(calls) = shell::calls(window, end, last) else {
            return Ok(Some(Step::Hold(start)));
        };
        match (word, calls) {
            (b"replace", Some((calls, quote))) => {
                if self.in_row() {
                    self.gather.touch(start);
                }
                let (body, quoting) = (quote + 1, Some(Quoting::Standard(Quote::Single)));
                let open = Open { whole: quote, body, scan: body, ending: Ending::Calls(calls), quoting };
                self.literal(open, window, last).map(Some)
            }
            (b"unistr", Some((1, quote))) => {
                if self.in_row() {
                    self.gather.touch(start);
                    self.gather.unistr = true;
                }
                self.statement.open(&mut self.tables);
                self.open(quote, quote, Some(Quoting::Unistr), window, last).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Handles `DELIMITER //`: the rest of the line.
    fn set_delimiter(&mut self, end: usize, window: &[u8], last: bool) -> Step {
        let rest = window.get(end..).unwrap_or_default();
        let line = match scan::line_end(rest, 0) {
            Some(line) => line,
            None if !last && rest.len() <= MAX_DELIMITER_LINE => return Step::Hold(self.at),
            None => rest.len(),
        };
        let line = rest.get(..line.min(MAX_DELIMITER_LINE)).unwrap_or_default();
        let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or(b";");
        let word = word.get(..MAX_DELIMITER).unwrap_or(word);
        self.delimiter = Some(word.to_vec()).filter(|word| word != b";");
        self.lexis.guess(Dialect::MySql);
        self.header.forget();
        self.at = end;
        self.mode = Mode::Line;
        Step::Go
    }

    fn sign(&mut self, byte: u8, window: &[u8], last: bool) -> Result<Step, Error> {
        let next = window.get(self.at + 1).copied();
        let more = next.is_none() && !last;
        match byte {
            b';' => {
                self.note_sign();
                self.semicolon();
                Ok(Step::Go)
            }
            b'`' => {
                self.lexis.guess(Dialect::MySql);
                self.name(byte, window, last)
            }
            b'"' if self.lexis.quotes.names || self.statement.wants_name() => self.name(byte, window, last),
            b'"' => {
                let quoting = match self.lexis.quotes.backslash {
                    true => Quoting::Backslash(Quote::Double),
                    false => Quoting::Standard(Quote::Double),
                };
                self.open(self.at, self.at, Some(quoting), window, last)
            }
            b'[' if self.lexis.is_sqlite() => self.name(b']', window, last),
            b'-' | b'/' if more => Ok(Step::Hold(self.at)),
            b'-' if next == Some(b'-') => Ok(self.dashes(window, last)),
            b'/' if next == Some(b'*') => Ok(self.comment(window, last)),
            b'*' if self.conditional > 0 && more => Ok(Step::Hold(self.at)),
            b'*' if self.conditional > 0 && next == Some(b'/') => {
                self.conditional -= 1;
                self.at += 2;
                Ok(Step::Go)
            }
            b'#' if self.lexis.is_mysql() => {
                self.mode = Mode::Line;
                Ok(Step::Go)
            }
            b'\\' if self.statement.phase == Phase::Start && self.lexis.dialect() != Some(Dialect::MySql) => {
                self.lexis.guess(Dialect::Postgres);
                self.mode = Mode::Line;
                Ok(Step::Go)
            }
            b'$' if self.lexis.is_postgres() => self.dollar(window, last),
            b'$' => self.word(window, last),
            b'.' => {
                self.note_sign();
                self.at += 1;
                self.statement.dot(&mut self.lexis);
                Ok(Step::Go)
            }
            _ => {
                self.note_sign();
                self.at += 1;
                self.statement.sign(byte);
                Ok(Step::Go)
            }
        }
    }

    fn semicolon(&mut self) {
        self.at += 1;
        if self.delimiter.is_some() || !self.statement.ends() {
            return;
        }
        match self.statement.phase {
            phase @ (Phase::CopyStdin | Phase::CopyOptions) => {
                self.copying = Copying::new(phase == Phase::CopyOptions);
                self.mode = Mode::Copy;
            }
            _ => self.statement.end(&mut self.lexis),
        }
    }

    /// Reads a quoted name.
    fn name(&mut self, close: u8, window: &[u8], last: bool) -> Result<Step, Error> {
        let start = self.at;
        let body = start + 1;
        let (end, long) = match scan::name_end(window, body, close, last) {
            Ok(end) => (end, end - body > MAX_WORD),
            Err(_) if window.len() - body <= MAX_WORD + 1 => return Ok(Step::Hold(start)),
            Err(_) => (window.len(), true),
        };
        let name = name_of(window.get(body..end).unwrap_or_default(), close);
        self.statement.quoted(&name, &mut self.tables, &mut self.lexis);
        self.check()?;
        if long {
            self.at = body;
            self.mode = Mode::Name { close };
        } else {
            self.at = end + 1;
        }
        self.note(start);
        Ok(Step::Go)
    }

    /// Handles `--`: MySQL requires a space after it.
    fn dashes(&mut self, window: &[u8], last: bool) -> Step {
        let start = self.at;
        if self.lexis.is_mysql() {
            match window.get(start + 2) {
                None if !last => return Step::Hold(start),
                Some(behind) if *behind > b' ' => {
                    self.note_sign();
                    self.at += 1;
                    self.statement.sign(b'-');
                    return Step::Go;
                }
                _ => {}
            }
        }
        if self.statement.phase == Phase::Start {
            let rest = window.get(start..).unwrap_or_default();
            let line = match scan::line_end(rest, 0) {
                Some(end) => end,
                None if !last && rest.len() < MAX_SIGN => return Step::Hold(start),
                None => rest.len(),
            };
            self.lexis.comment(rest.get(..line.min(MAX_SIGN)).unwrap_or_default());
            self.header.forget();
        }
        self.mode = Mode::Line;
        Step::Go
    }

    /// Handles `/*`: MySQL executes the content of `/*!50001 … */` and `/*M!100100 … */`.
    fn comment(&mut self, window: &[u8], last: bool) -> Step {
        let start = self.at;
        let rest = window.get(start + 2..).unwrap_or_default();
        let digits = match rest {
            [] | [b'M'] if !last && self.lexis.is_mysql() => return Step::Hold(start),
            [b'!', digits @ ..] | [b'M', b'!', digits @ ..] if self.lexis.is_mysql() => digits,
            _ => {
                self.at += 2;
                self.mode = Mode::Block { depth: 1 };
                return Step::Go;
            }
        };
        let len = digits.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
        if len == digits.len() && len < 6 && !last {
            return Step::Hold(start);
        }
        let version = digits.iter().take(len).fold(0, |sum, digit| sum * 10 + u32::from(*digit - b'0'));
        self.at += 2 + rest.len() - digits.len() + len;
        if version >= NO_VERSION {
            self.mode = Mode::Block { depth: 1 };
        } else {
            self.lexis.guess(Dialect::MySql);
            self.conditional = self.conditional.saturating_add(1);
        }
        Step::Go
    }

    /// Reads `$tag$ … $tag$` of PostgreSQL.
    fn dollar(&mut self, window: &[u8], last: bool) -> Result<Step, Error> {
        let start = self.at;
        let rest = window.get(start + 1..).unwrap_or_default();
        let tag = rest.iter().take(MAX_WORD).take_while(|byte| scan::is_word(**byte) && **byte != b'$').count();
        if tag == rest.len() && !last {
            return Ok(Step::Hold(start));
        }
        if rest.get(tag) != Some(&b'$') || rest.first().is_some_and(u8::is_ascii_digit) {
            self.at += 1 + tag;
            self.note(start);
            return Ok(Step::Go);
        }
        let body = start + tag + 2;
        let open = Open { whole: start, body, scan: body, ending: Ending::Dollar, quoting: Some(Quoting::Dollar) };
        self.literal(open, window, last)
    }
}
