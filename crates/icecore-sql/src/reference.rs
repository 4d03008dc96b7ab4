//! The readable twin of the lexer. It reads a whole dump at once, byte by byte, and does not remember statements with
//! equal beginnings.
//!
//! Both lexers use the same [`Statement`](crate::statement::Statement).

use crate::dialect::LexicalRules;
use crate::reader::code::{
    MAX_DELIMITER_LEN, MAX_DELIMITER_LINE, MAX_EXAMINED_LEN, MAX_WORD_LEN, NO_VERSION, decode_name,
};
use crate::reader::signs::MAX_VERSION_DIGITS;
use crate::rows::{Content, Value, ValueBuilder};
use crate::scan::is_word_byte;
use crate::statement::{Phase, Statement};
use crate::tables::Tables;
use crate::{Dialect, Kind, Literal, Options, Placeholder, Quote, Quoting, Replaced, Table};

struct ReferenceReader<'d> {
    dump: &'d [u8],
    cursor: usize,
    rules: LexicalRules,
    statement: Statement,
    tables: Tables,
    delimiter: Vec<u8>,
    open_conditional_comments: u32,
    literals: Vec<Literal>,
    rows: bool,
    value_builder: ValueBuilder,
    /// The end of the calls around the literal that is being read. It is `None` if there are no calls.
    calls_end: Option<usize>,
    values: Vec<Value>,
}

/// The results of the twin.
#[doc(hidden)]
pub struct ReferenceOutput {
    pub literals: Vec<Literal>,
    pub values: Vec<Value>,
    pub tables: Vec<Table>,
}

/// Returns all literals of a dump, the values of its rows if requested, and its tables. It has no limits.
#[doc(hidden)]
pub fn read_whole_dump(dump: &[u8], options: &Options) -> ReferenceOutput {
    let mut twin = ReferenceReader {
        dump,
        cursor: if dump.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 },
        rules: LexicalRules::new(options.dialect),
        statement: Statement::new(),
        tables: Tables::default(),
        delimiter: b";".to_vec(),
        open_conditional_comments: 0,
        literals: Vec::new(),
        rows: options.rows,
        value_builder: ValueBuilder::default(),
        calls_end: None,
        values: Vec::new(),
    };
    while twin.cursor < dump.len() {
        if twin.read_token().is_none() {
            break;
        }
    }
    ReferenceOutput { literals: twin.literals, values: twin.values, tables: twin.tables.list().to_vec() }
}

impl ReferenceReader<'_> {
    fn byte_at(&self, index: usize) -> u8 {
        self.dump.get(index).copied().unwrap_or(0)
    }

    fn input_starts_with(&self, text: &[u8]) -> bool {
        self.dump[self.cursor..].starts_with(text)
    }

    /// Reads one token. Returns `None` if the dump ends in the middle of it.
    fn read_token(&mut self) -> Option<()> {
        if self.delimiter != b";" && self.input_starts_with(&self.delimiter) {
            self.cursor += self.delimiter.len();
            self.statement.end_statement(&mut self.rules);
            return Some(());
        }
        let byte = self.byte_at(self.cursor);
        let is_mysql = self.rules.is_mysql();
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => self.cursor += 1,
            b'\'' => return self.read_string(self.cursor, self.choose_quoting(Quote::Single)),
            b'"' if self.rules.quotes.double_quotes_are_names || self.statement.expects_name() => {
                return self.read_name(b'"');
            }
            b'"' => return self.read_string(self.cursor, self.choose_quoting(Quote::Double)),
            b'`' => {
                self.rules.guess_dialect(Dialect::MySql);
                return self.read_name(b'`');
            }
            b'[' if self.rules.is_sqlite() => return self.read_name(b']'),
            b'0' if is_mysql
                && self.byte_at(self.cursor + 1) == b'x'
                && self.byte_at(self.cursor + 2).is_ascii_hexdigit() =>
            {
                return self.read_hex_digits();
            }
            b'0'..=b'9' => {
                let start = self.cursor;
                let word = self.take_word();
                self.record_value_text(start);
                if self.statement.phase != Phase::Values {
                    self.statement.handle_word(&word, &mut self.tables, &mut self.rules);
                }
            }
            b'$' if self.rules.is_postgres() => return self.read_dollar_quoted(),
            _ if is_word_byte(byte) => return self.read_word(),
            b'-' if self.input_starts_with(b"--") && !(is_mysql && self.byte_at(self.cursor + 2) > b' ') => {
                let line = self.take_line();
                if self.statement.phase == Phase::Start {
                    self.rules.examine_comment(&line[..line.len().min(MAX_EXAMINED_LEN)]);
                }
            }
            b'#' if is_mysql => {
                self.take_line();
            }
            b'/' if is_mysql && (self.input_starts_with(b"/*!") || self.input_starts_with(b"/*M!")) => {
                return self.begin_conditional_comment();
            }
            b'/' if self.input_starts_with(b"/*") => return self.skip_comment(),
            b'*' if self.open_conditional_comments > 0 && self.input_starts_with(b"*/") => {
                self.open_conditional_comments -= 1;
                self.cursor += 2;
            }
            b'\\' if self.statement.phase == Phase::Start && self.rules.dialect() != Some(Dialect::MySql) => {
                self.rules.guess_dialect(Dialect::Postgres);
                self.take_line();
            }
            sign => {
                self.cursor += 1;
                return self.handle_sign(sign);
            }
        }
        Some(())
    }

    fn is_in_row(&self) -> bool {
        self.rows && self.statement.phase == Phase::Values && self.statement.depth > 0
    }

    /// Records that the text from `start` on is part of a value.
    fn record_value_text(&mut self, start: usize) {
        if self.is_in_row() {
            self.value_builder.add_plain(start, self.cursor);
        }
    }

    /// Handles a sign that was just read.
    fn handle_sign(&mut self, sign: u8) -> Option<()> {
        let is_in_row = self.is_in_row();
        match sign {
            b',' | b')' if is_in_row && self.statement.depth == 1 => {
                let cell = self.statement.locate_cell(&self.tables);
                let (full_range, content) = self.value_builder.finish_value(self.dump, self.rules.dialect());
                self.values.extend(cell.map(|cell| Value { full_range, content, cell, ends_row: sign == b')' }));
            }
            b')' if is_in_row => self.value_builder.add_closing(self.cursor - 1),
            _ => self.record_value_text(self.cursor - 1),
        }
        match sign {
            b',' => self.statement.handle_comma(&mut self.tables, &mut self.rules),
            b'(' => {
                self.statement.open_parenthesis(&mut self.tables);
                if self.statement.depth == 1 {
                    self.value_builder.clear();
                }
            }
            b')' => self.statement.close_parenthesis(&mut self.tables, &self.rules),
            b'.' => self.statement.handle_dot(&mut self.rules),
            b';' if self.delimiter == b";" && self.statement.ends_at_semicolon() => {
                let phase = self.statement.phase;
                if matches!(phase, Phase::CopyStdin | Phase::CopyOptions) {
                    self.read_copy_rows(phase == Phase::CopyOptions)?;
                }
                self.statement.end_statement(&mut self.rules);
            }
            b';' => {}
            _ => self.statement.handle_sign(sign),
        }
        Some(())
    }

    fn choose_quoting(&self, quote: Quote) -> Quoting {
        match (self.rules.quotes.has_backslash_escapes, self.rules.is_postgres(), quote) {
            (false, ..) => Quoting::Standard(quote),
            (true, true, Quote::Single) => Quoting::Escape,
            (true, ..) => Quoting::Backslash(quote),
        }
    }

    fn take_line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        while self.cursor < self.dump.len() && !matches!(self.byte_at(self.cursor), b'\n' | b'\r') {
            line.push(self.byte_at(self.cursor));
            self.cursor += 1;
        }
        line
    }

    fn take_word(&mut self) -> Vec<u8> {
        let mut word = Vec::new();
        while self.cursor < self.dump.len() && is_word_byte(self.byte_at(self.cursor)) {
            let starts_delimiter =
                self.delimiter != b";" && word.len() < MAX_WORD_LEN && self.input_starts_with(&self.delimiter);
            if starts_delimiter && !word.is_empty() {
                break;
            }
            word.push(self.byte_at(self.cursor));
            self.cursor += 1;
        }
        word.truncate(MAX_WORD_LEN);
        word
    }

    fn read_word(&mut self) -> Option<()> {
        let start = self.cursor;
        let word = self.take_word();
        let begins_statement = self.statement.phase == Phase::Start;
        let is_long = self.cursor - start > MAX_WORD_LEN;
        let has_quote = self.byte_at(self.cursor) == b'\'' && self.cursor < self.dump.len();
        if self.is_in_row() && is_long {
            self.value_builder.add_word(&word, start, self.cursor);
        }
        if is_long {
            self.statement.handle_word(&word, &mut self.tables, &mut self.rules);
            return Some(());
        }
        let lower = word.to_ascii_lowercase();
        let is_postgres = self.rules.is_postgres();
        match lower.as_slice() {
            b"e" if has_quote && (is_postgres || self.rules.dialect().is_none()) => {
                self.rules.guess_dialect(Dialect::Postgres);
                return self.read_string(start, Quoting::Escape);
            }
            b"x" if has_quote && !is_postgres => return self.read_string(start, Quoting::Hex),
            b"x" | b"b" if has_quote => return self.skip_string(start),
            b"u" if is_postgres && self.input_starts_with(b"&'") => {
                self.cursor += 1;
                return self.skip_string(start);
            }
            b"n" if has_quote => return self.read_string(start, self.choose_quoting(Quote::Single)),
            [b'_', ..] if has_quote => return self.read_string(start, self.choose_quoting(Quote::Single)),
            _ => {}
        }
        if self.rules.is_sqlite() && self.statement.phase == Phase::Values && self.statement.depth > 0 {
            let calls =
                [(1, b"('".as_slice()), (2, b"(replace('")].into_iter().find(|(_, form)| self.input_starts_with(form));
            match (word.as_slice(), calls) {
                (b"replace", Some((calls, form))) => {
                    self.begin_value(start);
                    self.cursor += form.len() - 1;
                    return self.read_shell_calls(calls);
                }
                (b"unistr", Some((1, _))) => {
                    self.begin_value(start);
                    self.value_builder.expects_unistr_end = self.is_in_row();
                    self.cursor += 1;
                    self.statement.open_parenthesis(&mut self.tables);
                    return self.read_string(self.cursor, Quoting::Unistr);
                }
                _ => {}
            }
        }
        if begins_statement && self.rules.is_mysql() && lower == b"delimiter" {
            let line = self.take_line();
            let line = &line[..line.len().min(MAX_DELIMITER_LINE)];
            let text = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or(b";");
            self.delimiter = text[..text.len().min(MAX_DELIMITER_LEN)].to_vec();
            self.rules.guess_dialect(Dialect::MySql);
            return Some(());
        }
        if self.is_in_row() {
            self.value_builder.add_word(&word, start, self.cursor);
        }
        self.statement.handle_word(&word, &mut self.tables, &mut self.rules);
        Some(())
    }

    /// Records that a value begins at `start`, with a call.
    fn begin_value(&mut self, start: usize) {
        if self.is_in_row() {
            self.value_builder.begin_value(start);
        }
    }

    /// Returns the body of a string whose quote is here, and moves past it.
    fn take_quoted(&mut self, has_backslash_escapes: bool) -> Option<(usize, usize)> {
        let quote = self.byte_at(self.cursor);
        let body = self.cursor + 1;
        let mut index = body;
        loop {
            let byte = *self.dump.get(index)?;
            let is_pair =
                (has_backslash_escapes && byte == b'\\') || (byte == quote && self.dump.get(index + 1) == Some(&quote));
            if is_pair {
                index += 2;
            } else if byte == quote {
                self.cursor = index + 1;
                return Some((body, index));
            } else {
                index += 1;
            }
        }
    }

    /// Reads a string that begins here. Its prefix began at `start`.
    fn read_string(&mut self, start: usize, quoting: Quoting) -> Option<()> {
        let (body, end) = self.take_quoted(matches!(quoting, Quoting::Backslash(_) | Quoting::Escape))?;
        self.add_literal(start, body, end, quoting);
        Some(())
    }

    /// Reads a string that is not returned. The statement still counts it as a literal.
    fn skip_string(&mut self, start: usize) -> Option<()> {
        let (body, end) = self.take_quoted(false)?;
        // Without rows, `add_literal` only adds to `literals`, from which the literal is then removed.
        let (count, rows) = (self.literals.len(), std::mem::take(&mut self.rows));
        self.add_literal(body, body, end, Quoting::Dollar);
        self.literals.truncate(count);
        self.rows = rows;
        self.record_value_text(start);
        Some(())
    }

    fn add_literal(&mut self, start: usize, body: usize, end: usize, quoting: Quoting) {
        let text = &self.dump[body..end];
        if self.statement.expects_name() {
            let name = decode_name(text, b'\'');
            self.statement.handle_quoted_name(&name, &mut self.tables, &mut self.rules);
            return;
        }
        let cell = self.statement.handle_literal(text, &mut self.tables, &mut self.rules);
        let kind = cell.map(|cell| self.tables.column_kind(cell.table, cell.column));
        let quoting = match kind.filter(|_| self.rules.is_postgres()) {
            Some(kind) => quoting.for_kind(text, kind),
            None => quoting,
        };
        if self.is_in_row() {
            return self.value_builder.add_literal(
                start,
                self.calls_end.take().unwrap_or(self.cursor),
                body..end,
                quoting,
            );
        }
        self.literals.push(Literal { full_range: start..self.cursor, body: body..end, quoting, cell });
    }

    fn read_name(&mut self, close: u8) -> Option<()> {
        let body = self.cursor + 1;
        let mut end = body;
        while end < self.dump.len() && (self.byte_at(end) != close || self.is_doubled(end, close)) {
            end += if self.byte_at(end) == close { 2 } else { 1 };
        }
        self.cursor = end + 1;
        let is_closed = end < self.dump.len();
        self.record_value_text(body - 1);
        // The lexer keeps only the beginning of a name that is too long, so it handles such a name before its end.
        if is_closed || self.dump.len() - body > MAX_WORD_LEN + 1 {
            let name = decode_name(&self.dump[body..end.min(self.dump.len())], close);
            self.statement.handle_quoted_name(&name, &mut self.tables, &mut self.rules);
        }
        is_closed.then_some(())
    }

    fn is_doubled(&self, index: usize, close: u8) -> bool {
        close != b']' && self.dump.get(index + 1) == Some(&close)
    }

    /// Reads `0x41`.
    fn read_hex_digits(&mut self) -> Option<()> {
        let start = self.cursor;
        self.cursor += 2;
        while self.cursor < self.dump.len() && self.byte_at(self.cursor).is_ascii_hexdigit() {
            self.cursor += 1;
        }
        if self.cursor == self.dump.len() || !is_word_byte(self.byte_at(self.cursor)) {
            self.add_literal(start, start + 2, self.cursor, Quoting::Hex);
        } else {
            self.record_value_text(start);
        }
        Some(())
    }

    fn read_dollar_quoted(&mut self) -> Option<()> {
        let start = self.cursor;
        let mut end = start + 1;
        while end < self.dump.len()
            && end - start <= MAX_WORD_LEN
            && is_word_byte(self.byte_at(end))
            && self.byte_at(end) != b'$'
        {
            end += 1;
        }
        if self.dump.get(end) != Some(&b'$') || self.byte_at(start + 1).is_ascii_digit() {
            self.cursor = end;
            self.record_value_text(start);
            return Some(());
        }
        let tag = &self.dump[start..=end];
        let body = end + 1;
        let len = (0..self.dump.len() - body).find(|offset| self.dump[body + offset..].starts_with(tag))?;
        self.cursor = body + len + tag.len();
        self.add_literal(start, body, body + len, Quoting::Dollar);
        Some(())
    }

    /// Skips a comment between `/*` and `*/`.
    fn skip_comment(&mut self) -> Option<()> {
        self.cursor += 2;
        let mut depth = 1;
        while depth > 0 {
            if self.cursor >= self.dump.len() {
                return None;
            }
            if self.input_starts_with(b"*/") {
                depth -= 1;
                self.cursor += 2;
            } else if self.input_starts_with(b"/*") && self.rules.is_postgres() {
                depth += 1;
                self.cursor += 2;
            } else {
                self.cursor += 1;
            }
        }
        Some(())
    }

    /// Reads the beginning of `/*!50001 … */`, whose content MySQL executes.
    fn begin_conditional_comment(&mut self) -> Option<()> {
        let start = self.cursor;
        self.cursor += if self.input_starts_with(b"/*!") { 3 } else { 4 };
        let mut version = 0;
        for _ in 0..MAX_VERSION_DIGITS {
            if !self.byte_at(self.cursor).is_ascii_digit() {
                break;
            }
            version = version * 10 + u32::from(self.byte_at(self.cursor) - b'0');
            self.cursor += 1;
        }
        if version >= NO_VERSION {
            let version_end = self.cursor;
            self.cursor = start;
            return self.skip_comment().filter(|()| self.cursor > version_end);
        }
        self.rules.guess_dialect(Dialect::MySql);
        self.open_conditional_comments += 1;
        Some(())
    }

    /// Reads `'a\nb','\n',char(10))`. `calls` is the number of `replace(` before it.
    fn read_shell_calls(&mut self, calls: usize) -> Option<()> {
        let (body, end) = self.take_quoted(false)?;
        let literal_end = self.cursor;
        let mut replaced = Replaced::default();
        for _ in 0..calls {
            let rest = &self.dump[self.cursor..];
            let found = (1..=Placeholder::MAX).find_map(|len| {
                let needle = rest.strip_prefix(b",'")?.get(..len)?;
                let tail = &rest[2 + len..];
                let line_feed = tail.starts_with(b"',char(10))").then_some(b'\n');
                let byte = line_feed.or(tail.starts_with(b"',char(13))").then_some(b'\r'))?;
                Some((Placeholder::new(needle, byte)?, byte, 2 + len + 11))
            });
            match found {
                Some((needle, byte, len)) => {
                    self.cursor += len;
                    let placeholder =
                        if byte == b'\n' { &mut replaced.line_feed } else { &mut replaced.carriage_return };
                    *placeholder = Some(needle);
                }
                None => {
                    // These are other calls. Their parentheses are still open.
                    self.statement.depth += calls as u32;
                    self.cursor = literal_end;
                    self.add_literal(body - 1, body, end, Quoting::Standard(Quote::Single));
                    return Some(());
                }
            }
        }
        let calls_end = std::mem::replace(&mut self.cursor, literal_end);
        self.calls_end = Some(calls_end);
        self.add_literal(body - 1, body, end, Quoting::Replaced(replaced));
        self.cursor = calls_end;
        self.calls_end = None;
        Some(())
    }

    /// Reads the rows after `COPY`.
    fn read_copy_rows(&mut self, has_options: bool) -> Option<()> {
        self.take_line();
        loop {
            self.cursor += if self.input_starts_with(b"\r\n") { 2 } else { 1 };
            if self.cursor >= self.dump.len() {
                return None;
            }
            if self.input_starts_with(b"\\.")
                && (self.cursor + 2 == self.dump.len() || matches!(self.byte_at(self.cursor + 2), b'\n' | b'\r'))
            {
                self.cursor += 2;
                return Some(());
            }
            if has_options {
                self.take_line();
                continue;
            }
            self.statement.begin_copy_row(&mut self.tables);
            while self.read_copy_cell()? == b'\t' {
                self.cursor += 1;
                self.statement.position += 1;
            }
        }
    }

    /// Reads a cell of `COPY`. Returns the byte that ends it.
    fn read_copy_cell(&mut self) -> Option<u8> {
        let start = self.cursor;
        loop {
            match *self.dump.get(self.cursor)? {
                b'\\' => self.cursor += 2,
                end @ (b'\t' | b'\n' | b'\r') => {
                    let range = start..self.cursor;
                    let body = &self.dump[range.clone()];
                    let cell = self.statement.locate_cell(&self.tables);
                    if let (true, Some(cell)) = (self.rows, cell) {
                        let quoting = Quoting::Copy.for_kind(body, self.tables.column_kind(cell.table, cell.column));
                        let is_null = body == b"\\N";
                        let content = if is_null { Content::Null } else { Content::Literal(range.clone(), quoting) };
                        self.values.push(Value { full_range: range, content, cell, ends_row: end != b'\t' });
                    } else if body != b"\\N" {
                        let kind = cell.map_or(Kind::Unknown, |cell| self.tables.column_kind(cell.table, cell.column));
                        let quoting = Quoting::Copy.for_kind(body, kind);
                        self.literals.push(Literal { full_range: range.clone(), body: range, quoting, cell });
                    }
                    return Some(end);
                }
                _ => self.cursor += 1,
            }
        }
    }
}
