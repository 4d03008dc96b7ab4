//! The readable twin of the lexer: it reads a whole dump at once, byte by byte, and remembers nothing.
//!
//! Both use the same state machine for statements.

use crate::dialect::Lexis;
use crate::reader::code::{MAX_DELIMITER, MAX_DELIMITER_LINE, MAX_SIGN, MAX_WORD, NO_VERSION};
use crate::rows::{Content, Gather, Value};
use crate::scan::is_word;
use crate::statement::{Phase, Statement};
use crate::tables::Tables;
use crate::{Dialect, Kind, Literal, Needle, Options, Quote, Quoting, Replaced, Table};

struct Twin<'d> {
    dump: &'d [u8],
    at: usize,
    lexis: Lexis,
    statement: Statement,
    tables: Tables,
    delimiter: Vec<u8>,
    conditional: u32,
    found: Vec<Literal>,
    rows: bool,
    gather: Gather,
    /// The end of the calls around the literal.
    behind: Option<usize>,
    values: Vec<Value>,
}

/// The results of the twin.
#[doc(hidden)]
pub struct Twins {
    pub literals: Vec<Literal>,
    pub values: Vec<Value>,
    pub tables: Vec<Table>,
}

/// Returns all literals of a dump, the values of its rows if requested, and its tables. Without limits.
#[doc(hidden)]
pub fn reference(dump: &[u8], options: &Options) -> Twins {
    let mut twin = Twin {
        dump,
        at: if dump.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 },
        lexis: Lexis::new(options.dialect),
        statement: Statement::new(),
        tables: Tables::default(),
        delimiter: b";".to_vec(),
        conditional: 0,
        found: Vec::new(),
        rows: options.rows,
        gather: Gather::default(),
        behind: None,
        values: Vec::new(),
    };
    while twin.at < dump.len() {
        if twin.step().is_none() {
            break;
        }
    }
    Twins { literals: twin.found, values: twin.values, tables: twin.tables.list().to_vec() }
}

impl Twin<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.dump.get(at).copied().unwrap_or(0)
    }

    fn sees(&self, text: &[u8]) -> bool {
        self.dump[self.at..].starts_with(text)
    }

    /// Reads one token. `None`: the dump ends in the middle of it.
    fn step(&mut self) -> Option<()> {
        if self.delimiter != b";" && self.sees(&self.delimiter) {
            self.at += self.delimiter.len();
            self.statement.end(&mut self.lexis);
            return Some(());
        }
        let byte = self.byte(self.at);
        let mysql = self.lexis.is_mysql();
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c => self.at += 1,
            b'\'' => return self.text(self.at, self.quoting(Quote::Single)),
            b'"' if self.lexis.quotes.names || self.statement.wants_name() => return self.name(b'"'),
            b'"' => return self.text(self.at, self.quoting(Quote::Double)),
            b'`' => {
                self.lexis.guess(Dialect::MySql);
                return self.name(b'`');
            }
            b'[' if self.lexis.is_sqlite() => return self.name(b']'),
            b'0' if mysql && self.byte(self.at + 1) == b'x' && self.byte(self.at + 2).is_ascii_hexdigit() => {
                return self.digits();
            }
            b'0'..=b'9' => {
                let start = self.at;
                let word = self.take_word();
                self.note(start);
                if self.statement.phase != Phase::Values {
                    self.statement.word(&word, &mut self.tables, &mut self.lexis);
                }
            }
            b'$' if self.lexis.is_postgres() => return self.dollar(),
            _ if is_word(byte) => return self.word(),
            b'-' if self.sees(b"--") && !(mysql && self.byte(self.at + 2) > b' ') => {
                let line = self.take_line();
                if self.statement.phase == Phase::Start {
                    self.lexis.comment(&line[..line.len().min(MAX_SIGN)]);
                }
            }
            b'#' if mysql => {
                self.take_line();
            }
            b'/' if mysql && (self.sees(b"/*!") || self.sees(b"/*M!")) => return self.conditional(),
            b'/' if self.sees(b"/*") => return self.comment(),
            b'*' if self.conditional > 0 && self.sees(b"*/") => {
                self.conditional -= 1;
                self.at += 2;
            }
            b'\\' if self.statement.phase == Phase::Start && self.lexis.dialect() != Some(Dialect::MySql) => {
                self.lexis.guess(Dialect::Postgres);
                self.take_line();
            }
            sign => {
                self.at += 1;
                return self.sign(sign);
            }
        }
        Some(())
    }

    fn in_row(&self) -> bool {
        self.rows && self.statement.phase == Phase::Values && self.statement.depth > 0
    }

    /// Records that the text from `start` on is part of a value.
    fn note(&mut self, start: usize) {
        if self.in_row() {
            self.gather.plain(start, self.at);
        }
    }

    /// Handles a sign that was just read.
    fn sign(&mut self, sign: u8) -> Option<()> {
        let in_row = self.in_row();
        match sign {
            b',' | b')' if in_row && self.statement.depth == 1 => {
                let cell = self.statement.value(&self.tables);
                let (whole, content) = self.gather.finish(self.dump, self.lexis.dialect());
                self.values.extend(cell.map(|cell| Value { whole, content, cell, ends_row: sign == b')' }));
            }
            b')' if in_row => self.gather.close(self.at - 1),
            _ => self.note(self.at - 1),
        }
        match sign {
            b',' => self.statement.comma(&mut self.tables, &mut self.lexis),
            b'(' => {
                self.statement.open(&mut self.tables);
                if self.statement.depth == 1 {
                    self.gather.clear();
                }
            }
            b')' => self.statement.close(&mut self.tables, &self.lexis),
            b'.' => self.statement.dot(&mut self.lexis),
            b';' if self.delimiter == b";" && self.statement.ends() => {
                let phase = self.statement.phase;
                if matches!(phase, Phase::CopyStdin | Phase::CopyOptions) {
                    self.copy(phase == Phase::CopyOptions)?;
                }
                self.statement.end(&mut self.lexis);
            }
            b';' => {}
            _ => self.statement.sign(sign),
        }
        Some(())
    }

    fn quoting(&self, quote: Quote) -> Quoting {
        match (self.lexis.quotes.backslash, self.lexis.is_postgres(), quote) {
            (false, ..) => Quoting::Standard(quote),
            (true, true, Quote::Single) => Quoting::Escape,
            (true, ..) => Quoting::Backslash(quote),
        }
    }

    fn take_line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        while self.at < self.dump.len() && !matches!(self.byte(self.at), b'\n' | b'\r') {
            line.push(self.byte(self.at));
            self.at += 1;
        }
        line
    }

    fn take_word(&mut self) -> Vec<u8> {
        let mut word = Vec::new();
        while self.at < self.dump.len() && is_word(self.byte(self.at)) {
            let delimiter = self.delimiter != b";" && word.len() < MAX_WORD && self.sees(&self.delimiter);
            if delimiter && !word.is_empty() {
                break;
            }
            word.push(self.byte(self.at));
            self.at += 1;
        }
        word.truncate(MAX_WORD);
        word
    }

    fn word(&mut self) -> Option<()> {
        let start = self.at;
        let word = self.take_word();
        let first = self.statement.phase == Phase::Start;
        let is_long = self.at - start > MAX_WORD;
        let quote = self.byte(self.at) == b'\'' && self.at < self.dump.len();
        if self.in_row() && is_long {
            self.gather.word(&word, start, self.at);
        }
        if is_long {
            self.statement.word(&word, &mut self.tables, &mut self.lexis);
            return Some(());
        }
        let lower = word.to_ascii_lowercase();
        let postgres = self.lexis.is_postgres();
        match lower.as_slice() {
            b"e" if quote && (postgres || self.lexis.dialect().is_none()) => {
                self.lexis.guess(Dialect::Postgres);
                return self.text(start, Quoting::Escape);
            }
            b"x" if quote && !postgres => return self.text(start, Quoting::Hex),
            b"x" | b"b" if quote => return self.pass(start),
            b"u" if postgres && self.sees(b"&'") => {
                self.at += 1;
                return self.pass(start);
            }
            b"n" if quote => return self.text(start, self.quoting(Quote::Single)),
            [b'_', ..] if quote => return self.text(start, self.quoting(Quote::Single)),
            _ => {}
        }
        if self.lexis.is_sqlite() && self.statement.phase == Phase::Values && self.statement.depth > 0 {
            let calls = [(1, b"('".as_slice()), (2, b"(replace('")].into_iter().find(|(_, form)| self.sees(form));
            match (word.as_slice(), calls) {
                (b"replace", Some((calls, form))) => {
                    self.touch(start);
                    self.at += form.len() - 1;
                    return self.calls(calls);
                }
                (b"unistr", Some((1, _))) => {
                    self.touch(start);
                    self.gather.unistr = self.in_row();
                    self.at += 1;
                    self.statement.open(&mut self.tables);
                    return self.text(self.at, Quoting::Unistr);
                }
                _ => {}
            }
        }
        if first && self.lexis.is_mysql() && lower == b"delimiter" {
            let line = self.take_line();
            let line = &line[..line.len().min(MAX_DELIMITER_LINE)];
            let text = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or(b";");
            self.delimiter = text[..text.len().min(MAX_DELIMITER)].to_vec();
            self.lexis.guess(Dialect::MySql);
            return Some(());
        }
        if self.in_row() {
            self.gather.word(&word, start, self.at);
        }
        self.statement.word(&word, &mut self.tables, &mut self.lexis);
        Some(())
    }

    /// Records that a value begins here with a call.
    fn touch(&mut self, start: usize) {
        if self.in_row() {
            self.gather.touch(start);
        }
    }

    /// Returns the body of a string whose quote is here, and moves past it.
    fn take_quoted(&mut self, backslash: bool) -> Option<(usize, usize)> {
        let quote = self.byte(self.at);
        let body = self.at + 1;
        let mut at = body;
        loop {
            let byte = *self.dump.get(at)?;
            let is_pair = (backslash && byte == b'\\') || (byte == quote && self.dump.get(at + 1) == Some(&quote));
            if is_pair {
                at += 2;
            } else if byte == quote {
                self.at = at + 1;
                return Some((body, at));
            } else {
                at += 1;
            }
        }
    }

    /// Reads a string that begins here; its prefix began at `start`.
    fn text(&mut self, start: usize, quoting: Quoting) -> Option<()> {
        let (body, end) = self.take_quoted(matches!(quoting, Quoting::Backslash(_) | Quoting::Escape))?;
        self.literal(start, body, end, quoting);
        Some(())
    }

    /// Reads a string that is not returned.
    fn pass(&mut self, start: usize) -> Option<()> {
        let (body, end) = self.take_quoted(false)?;
        let (count, rows) = (self.found.len(), std::mem::take(&mut self.rows));
        self.literal(body, body, end, Quoting::Dollar);
        self.found.truncate(count);
        self.rows = rows;
        self.note(start);
        Some(())
    }

    fn literal(&mut self, whole: usize, body: usize, end: usize, quoting: Quoting) {
        let text = &self.dump[body..end];
        if self.statement.wants_name() {
            let name = crate::reader::code::name_of(text, b'\'');
            self.statement.quoted(&name, &mut self.tables, &mut self.lexis);
            return;
        }
        let cell = self.statement.literal(text, &mut self.tables, &mut self.lexis);
        let kind = cell.map(|cell| self.tables.kind(cell.table, cell.column));
        let quoting = match kind.filter(|_| self.lexis.is_postgres()) {
            Some(kind) => quoting.for_kind(text, kind),
            None => quoting,
        };
        if self.in_row() {
            return self.gather.literal(whole, self.behind.take().unwrap_or(self.at), body..end, quoting);
        }
        self.found.push(Literal { whole: whole..self.at, body: body..end, quoting, cell });
    }

    fn name(&mut self, close: u8) -> Option<()> {
        let body = self.at + 1;
        let mut end = body;
        while end < self.dump.len() && (self.byte(end) != close || self.is_doubled(end, close)) {
            end += if self.byte(end) == close { 2 } else { 1 };
        }
        self.at = end + 1;
        let closed = end < self.dump.len();
        self.note(body - 1);
        // A name that is too long to be kept is known before its end.
        if closed || self.dump.len() - body > MAX_WORD + 1 {
            let name = crate::reader::code::name_of(&self.dump[body..end.min(self.dump.len())], close);
            self.statement.quoted(&name, &mut self.tables, &mut self.lexis);
        }
        closed.then_some(())
    }

    fn is_doubled(&self, at: usize, close: u8) -> bool {
        close != b']' && self.dump.get(at + 1) == Some(&close)
    }

    /// `0x41`
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 2;
        while self.at < self.dump.len() && self.byte(self.at).is_ascii_hexdigit() {
            self.at += 1;
        }
        if self.at == self.dump.len() || !is_word(self.byte(self.at)) {
            self.literal(start, start + 2, self.at, Quoting::Hex);
        } else {
            self.note(start);
        }
        Some(())
    }

    fn dollar(&mut self) -> Option<()> {
        let start = self.at;
        let mut end = start + 1;
        while end < self.dump.len() && end - start <= MAX_WORD && is_word(self.byte(end)) && self.byte(end) != b'$' {
            end += 1;
        }
        if self.dump.get(end) != Some(&b'$') || self.byte(start + 1).is_ascii_digit() {
            self.at = end;
            self.note(start);
            return Some(());
        }
        let tag = &self.dump[start..=end];
        let body = end + 1;
        let len = (0..self.dump.len() - body).find(|at| self.dump[body + at..].starts_with(tag))?;
        self.at = body + len + tag.len();
        self.literal(start, body, body + len, Quoting::Dollar);
        Some(())
    }

    fn comment(&mut self) -> Option<()> {
        self.at += 2;
        let mut depth = 1;
        while depth > 0 {
            if self.at >= self.dump.len() {
                return None;
            }
            if self.sees(b"*/") {
                depth -= 1;
                self.at += 2;
            } else if self.sees(b"/*") && self.lexis.is_postgres() {
                depth += 1;
                self.at += 2;
            } else {
                self.at += 1;
            }
        }
        Some(())
    }

    fn conditional(&mut self) -> Option<()> {
        let start = self.at;
        self.at += if self.sees(b"/*!") { 3 } else { 4 };
        let mut version = 0;
        for _ in 0..6 {
            if !self.byte(self.at).is_ascii_digit() {
                break;
            }
            version = version * 10 + u32::from(self.byte(self.at) - b'0');
            self.at += 1;
        }
        if version >= NO_VERSION {
            let behind = self.at;
            self.at = start;
            return self.comment().filter(|()| self.at > behind);
        }
        self.lexis.guess(Dialect::MySql);
        self.conditional += 1;
        Some(())
    }

    /// Reads `'a\nb','\n',char(10))`, after the same number of `replace(`.
    fn calls(&mut self, calls: usize) -> Option<()> {
        let (body, end) = self.take_quoted(false)?;
        let behind = self.at;
        let mut replaced = Replaced::default();
        for _ in 0..calls {
            let rest = &self.dump[self.at..];
            let found = (1..=Needle::MAX).find_map(|len| {
                let needle = rest.strip_prefix(b",'")?.get(..len)?;
                let tail = &rest[2 + len..];
                let feed = tail.starts_with(b"',char(10))").then_some(b'\n');
                let byte = feed.or(tail.starts_with(b"',char(13))").then_some(b'\r'))?;
                Some((Needle::new(needle, byte)?, byte, 2 + len + 11))
            });
            match found {
                Some((needle, byte, len)) => {
                    self.at += len;
                    let place = if byte == b'\n' { &mut replaced.feed } else { &mut replaced.carriage };
                    *place = Some(needle);
                }
                None => {
                    // Other calls: their parentheses are closed later.
                    self.statement.depth += calls as u32;
                    self.at = behind;
                    self.literal(body - 1, body, end, Quoting::Standard(Quote::Single));
                    return Some(());
                }
            }
        }
        let after = std::mem::replace(&mut self.at, behind);
        self.behind = Some(after);
        self.literal(body - 1, body, end, Quoting::Replaced(replaced));
        self.at = after;
        self.behind = None;
        Some(())
    }

    /// Reads the rows after `COPY`.
    fn copy(&mut self, options: bool) -> Option<()> {
        self.take_line();
        loop {
            self.at += if self.sees(b"\r\n") { 2 } else { 1 };
            if self.at >= self.dump.len() {
                return None;
            }
            if self.sees(b"\\.") && (self.at + 2 == self.dump.len() || matches!(self.byte(self.at + 2), b'\n' | b'\r'))
            {
                self.at += 2;
                return Some(());
            }
            if options {
                self.take_line();
                continue;
            }
            self.statement.copy_row(&mut self.tables);
            while self.cell()? == b'\t' {
                self.at += 1;
                self.statement.position += 1;
            }
        }
    }

    /// Reads a cell of `COPY`; returns the byte that ends it.
    fn cell(&mut self) -> Option<u8> {
        let start = self.at;
        loop {
            match *self.dump.get(self.at)? {
                b'\\' => self.at += 2,
                end @ (b'\t' | b'\n' | b'\r') => {
                    let range = start..self.at;
                    let body = &self.dump[range.clone()];
                    let cell = self.statement.value(&self.tables);
                    if let (true, Some(cell)) = (self.rows, cell) {
                        let quoting = Quoting::Copy.for_kind(body, self.tables.kind(cell.table, cell.column));
                        let is_null = body == b"\\N";
                        let content = if is_null { Content::Null } else { Content::Literal(range.clone(), quoting) };
                        self.values.push(Value { whole: range, content, cell, ends_row: end != b'\t' });
                    } else if body != b"\\N" {
                        let kind = cell.map_or(Kind::Unknown, |cell| self.tables.kind(cell.table, cell.column));
                        let quoting = Quoting::Copy.for_kind(body, kind);
                        self.found.push(Literal { whole: range.clone(), body: range, quoting, cell });
                    }
                    return Some(end);
                }
                _ => self.at += 1,
            }
        }
    }
}
