//! Whose SQL it is, and what that means for a lexer.

/// The server that a dump is for. [`Reader`](crate::Reader) recognises it if it is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// MySQL and MariaDB: mysqldump, mariadb-dump, mydumper, phpMyAdmin.
    MySql,
    /// PostgreSQL: pg_dump.
    Postgres,
    /// SQLite: `.dump` of its shell.
    Sqlite,
}

/// What a session's settings mean for literals and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quotes {
    /// A backslash escapes in `'…'`.
    pub backslash: bool,
    /// `"…"` is a name.
    pub names: bool,
}

impl Quotes {
    /// What a server begins with.
    const fn of(dialect: Option<Dialect>) -> Quotes {
        let mysql = matches!(dialect, None | Some(Dialect::MySql));
        Quotes { backslash: mysql, names: !mysql }
    }
}

/// How many variables may keep a mode: dumps use two or three.
const MAX_SAVED: usize = 16;

/// The rules of the text that is being read. What is not recognised is read as MySQL's.
#[derive(Debug)]
pub(crate) struct Lexis {
    /// The caller said so: what looks like another dialect does not matter.
    fixed: bool,
    dialect: Option<Dialect>,
    pub quotes: Quotes,
    /// What the statement that is being read sets.
    pending: Option<Quotes>,
    saved: Vec<(Vec<u8>, Quotes)>,
    /// An encoding of the dump in which a backslash is not always one.
    pub ambiguous: Option<&'static str>,
    /// The encoding that the dump says it is in, and the one that the statement that is being read sets.
    pub charset: Option<&'static str>,
    pending_charset: Option<Option<&'static str>>,
    /// The charset of the table that was defined last, if that was said.
    pub table_charset: Option<&'static str>,
}

/// Encodings in which the second byte of a character may be a backslash, as MySQL and PostgreSQL
/// name them.
const AMBIGUOUS: [&str; 8] = ["big5", "cp932", "gb18030", "gbk", "johab", "shift_jis_2004", "sjis", "big5hkscs"];

impl Lexis {
    pub fn new(dialect: Option<Dialect>) -> Lexis {
        Lexis {
            fixed: dialect.is_some(),
            dialect,
            quotes: Quotes::of(dialect),
            pending: None,
            saved: Vec::new(),
            ambiguous: None,
            charset: None,
            pending_charset: None,
            table_charset: None,
        }
    }

    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    pub fn is_mysql(&self) -> bool {
        matches!(self.dialect, None | Some(Dialect::MySql))
    }

    pub fn is_postgres(&self) -> bool {
        self.dialect == Some(Dialect::Postgres)
    }

    pub fn is_sqlite(&self) -> bool {
        self.dialect == Some(Dialect::Sqlite)
    }

    /// A sign that counts as long as nothing else is known.
    pub fn guess(&mut self, dialect: Dialect) {
        if self.dialect.is_none() {
            self.set(dialect);
        }
    }

    /// A sign that is sure: another dump begins.
    pub fn recognise(&mut self, dialect: Dialect) {
        if !self.fixed && self.dialect != Some(dialect) {
            self.set(dialect);
        }
    }

    fn set(&mut self, dialect: Dialect) {
        // What was said before the first sign of a dialect is of the same dump.
        if self.dialect.is_some() {
            (self.charset, self.pending_charset, self.table_charset) = (None, None, None);
        }
        self.dialect = Some(dialect);
        self.quotes = Quotes::of(self.dialect);
        self.pending = None;
        self.saved.clear();
    }

    /// Looks at the line of a comment between two statements.
    pub fn comment(&mut self, line: &[u8]) {
        let signs: [(&[u8], Dialect); 8] = [
            (b"-- MySQL dump", Dialect::MySql),
            (b"-- MariaDB dump", Dialect::MySql),
            (b"-- phpMyAdmin SQL Dump", Dialect::MySql),
            (b"-- HeidiSQL", Dialect::MySql),
            (b"-- PostgreSQL database dump", Dialect::Postgres),
            (b"-- PostgreSQL database cluster dump", Dialect::Postgres),
            (b"-- Adminer", Dialect::MySql),
            (b"-- phpPgAdmin", Dialect::Postgres),
        ];
        for (sign, dialect) in signs {
            if line.starts_with(sign) {
                // The second dump in a file ends with the comment that the first began with.
                let complete = line.windows(8).any(|word| word == b"complete");
                let dialect = match dialect {
                    Dialect::MySql if line.windows(10).any(|word| word == b"PostgreSQL") => Dialect::Postgres,
                    Dialect::MySql if line.windows(6).any(|word| word == b"SQLite") => Dialect::Sqlite,
                    known => known,
                };
                if !complete {
                    self.recognise(dialect);
                }
            }
        }
    }

    /// What the dump says that it is encoded in.
    pub fn encoded_in(&mut self, name: &[u8]) {
        let is_it = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
        self.ambiguous = self.ambiguous.or_else(|| AMBIGUOUS.into_iter().find(is_it));
    }

    /// The charset of literals from the next statement on: `SET NAMES`, `client_encoding`.
    pub fn literals_in(&mut self, name: &[u8]) {
        self.encoded_in(name);
        self.pending_charset = Some(crate::charset::of_name(name, self.is_postgres()));
    }

    /// A mode of MySQL: `add` if it is joined with the one that is.
    pub fn sql_mode(&mut self, mode: &[u8], add: bool) {
        self.guess(Dialect::MySql);
        if !self.is_mysql() {
            return;
        }
        let mut quotes = if add { self.pending.unwrap_or(self.quotes) } else { Quotes::of(self.dialect) };
        for word in mode.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            if is("NO_BACKSLASH_ESCAPES") {
                quotes.backslash = false;
            }
            if ["ANSI_QUOTES", "ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"].into_iter().any(is) {
                quotes.names = true;
            }
        }
        self.pending = Some(quotes);
    }

    /// `@name = @@sql_mode`.
    pub fn save_mode(&mut self, name: &[u8]) {
        let quotes = self.quotes;
        if let Some(saved) = self.saved.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            saved.1 = quotes;
        } else if self.saved.len() < MAX_SAVED {
            self.saved.push((name.to_vec(), quotes));
        }
    }

    /// `sql_mode = @name`.
    pub fn restore_mode(&mut self, name: &[u8]) {
        if self.is_mysql() {
            let saved = self.saved.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            self.pending = Some(saved.map_or(Quotes::of(self.dialect), |saved| saved.1));
        }
    }

    /// PostgreSQL's `standard_conforming_strings`.
    pub fn standard_strings(&mut self, value: &[u8]) {
        self.guess(Dialect::Postgres);
        if self.is_postgres() {
            let off = ["off", "false", "no", "0"];
            let backslash = off.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()));
            self.pending = Some(Quotes { backslash, ..self.quotes });
        }
    }

    /// The statement is complete.
    pub fn apply(&mut self) {
        if let Some(quotes) = self.pending.take() {
            self.quotes = quotes;
        }
        if let Some(charset) = self.pending_charset.take() {
            self.charset = charset;
        }
    }
}
