//! SQL dialects, and their rules for a lexer.

/// The server for which a dump was made. [`Reader`](crate::Reader) detects it, unless it is given.
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

/// What the settings of a session mean for literals and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quotes {
    /// Whether a backslash escapes in `'…'`.
    pub backslash: bool,
    /// Whether `"…"` is a name.
    pub names: bool,
}

impl Quotes {
    /// Returns the initial settings of a server.
    const fn for_dialect(dialect: Option<Dialect>) -> Quotes {
        let mysql = matches!(dialect, None | Some(Dialect::MySql));
        Quotes { backslash: mysql, names: !mysql }
    }
}

/// Maximum number of variables that save a mode: dumps use two or three.
const MAX_SAVED: usize = 16;

/// The rules of the text that is being read. An unrecognised text is read as MySQL's.
#[derive(Debug)]
pub(crate) struct LexicalRules {
    /// The caller set the dialect: signs of another dialect are ignored.
    is_fixed: bool,
    dialect: Option<Dialect>,
    pub quotes: Quotes,
    /// The settings of the current statement.
    pending: Option<Quotes>,
    saved_modes: Vec<(Vec<u8>, Quotes)>,
    /// An encoding of the dump in which a backslash byte may be part of a character.
    pub ambiguous: Option<&'static str>,
    /// The encoding that the dump declares, and the one that the current statement sets.
    pub charset: Option<&'static str>,
    pending_charset: Option<Option<&'static str>>,
    /// The charset of the table that was defined last, if declared.
    pub table_charset: Option<&'static str>,
}

/// Encodings in which the second byte of a character may be a backslash, with the names of MySQL and PostgreSQL.
const AMBIGUOUS: [&str; 8] = ["big5", "cp932", "gb18030", "gbk", "johab", "shift_jis_2004", "sjis", "big5hkscs"];

impl LexicalRules {
    pub fn new(dialect: Option<Dialect>) -> LexicalRules {
        LexicalRules {
            is_fixed: dialect.is_some(),
            dialect,
            quotes: Quotes::for_dialect(dialect),
            pending: None,
            saved_modes: Vec::new(),
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

    /// Handles a sign of a dialect that counts only if nothing else is known.
    pub fn guess_dialect(&mut self, dialect: Dialect) {
        if self.dialect.is_none() {
            self.switch_dialect(dialect);
        }
    }

    /// Handles a definite sign: another dump begins.
    pub fn recognise_dialect(&mut self, dialect: Dialect) {
        if !self.is_fixed && self.dialect != Some(dialect) {
            self.switch_dialect(dialect);
        }
    }

    fn switch_dialect(&mut self, dialect: Dialect) {
        // Settings before the first sign of a dialect belong to the same dump.
        if self.dialect.is_some() {
            (self.charset, self.pending_charset, self.table_charset) = (None, None, None);
        }
        self.dialect = Some(dialect);
        self.quotes = Quotes::for_dialect(self.dialect);
        self.pending = None;
        self.saved_modes.clear();
    }

    /// Examines the line of a comment between two statements.
    pub fn examine_comment(&mut self, line: &[u8]) {
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
                // The end comment of a dump repeats its first comment; it must not start another dump.
                let complete = line.windows(8).any(|word| word == b"complete");
                let dialect = match dialect {
                    Dialect::MySql if line.windows(10).any(|word| word == b"PostgreSQL") => Dialect::Postgres,
                    Dialect::MySql if line.windows(6).any(|word| word == b"SQLite") => Dialect::Sqlite,
                    known => known,
                };
                if !complete {
                    self.recognise_dialect(dialect);
                }
            }
        }
    }

    /// Records the declared encoding of the dump.
    pub fn record_encoding(&mut self, name: &[u8]) {
        let is_same_name = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
        self.ambiguous = self.ambiguous.or_else(|| AMBIGUOUS.into_iter().find(is_same_name));
    }

    /// Sets the charset of literals from the next statement on: `SET NAMES`, `client_encoding`.
    pub fn set_literal_charset(&mut self, name: &[u8]) {
        self.record_encoding(name);
        self.pending_charset = Some(crate::charset::find_iana_name(name, self.is_postgres()));
    }

    /// Sets a mode of MySQL; with `add`, the mode is combined with the current one.
    pub fn set_sql_mode(&mut self, mode: &[u8], add: bool) {
        self.guess_dialect(Dialect::MySql);
        if !self.is_mysql() {
            return;
        }
        let mut quotes = if add { self.pending.unwrap_or(self.quotes) } else { Quotes::for_dialect(self.dialect) };
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
        if let Some(saved) = self.saved_modes.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            saved.1 = quotes;
        } else if self.saved_modes.len() < MAX_SAVED {
            self.saved_modes.push((name.to_vec(), quotes));
        }
    }

    /// `sql_mode = @name`.
    pub fn restore_mode(&mut self, name: &[u8]) {
        if self.is_mysql() {
            let saved = self.saved_modes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            self.pending = Some(saved.map_or(Quotes::for_dialect(self.dialect), |saved| saved.1));
        }
    }

    /// PostgreSQL's `standard_conforming_strings`.
    pub fn set_standard_strings(&mut self, value: &[u8]) {
        self.guess_dialect(Dialect::Postgres);
        if self.is_postgres() {
            let off = ["off", "false", "no", "0"];
            let backslash = off.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()));
            self.pending = Some(Quotes { backslash, ..self.quotes });
        }
    }

    /// Applies the settings at the end of a statement.
    pub fn apply_pending(&mut self) {
        if let Some(quotes) = self.pending.take() {
            self.quotes = quotes;
        }
        if let Some(charset) = self.pending_charset.take() {
            self.charset = charset;
        }
    }
}
