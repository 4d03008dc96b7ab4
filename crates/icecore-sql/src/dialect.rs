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

/// The meaning of quotes and backslashes with the current settings of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quotes {
    /// Whether a backslash starts an escape in `'…'`.
    pub has_backslash_escapes: bool,
    /// Whether `"…"` is a name.
    pub double_quotes_are_names: bool,
}

impl Quotes {
    /// Returns the initial settings of a server.
    const fn for_dialect(dialect: Option<Dialect>) -> Quotes {
        let is_mysql = matches!(dialect, None | Some(Dialect::MySql));
        Quotes { has_backslash_escapes: is_mysql, double_quotes_are_names: !is_mysql }
    }
}

/// Maximum number of variables that save a mode. Dumps use two or three.
const MAX_SAVED_MODES: usize = 16;

/// The rules of the text that is being read. An unrecognised text is read as MySQL's.
#[derive(Debug)]
pub(crate) struct LexicalRules {
    /// Whether the caller set the dialect. Signs of another dialect are then ignored.
    is_fixed: bool,
    dialect: Option<Dialect>,
    pub quotes: Quotes,
    /// The settings that the current statement makes. They apply when it ends.
    pending_quotes: Option<Quotes>,
    saved_modes: Vec<(Vec<u8>, Quotes)>,
    /// The encoding of the dump, if a backslash byte may be part of a character in it.
    pub ambiguous_encoding: Option<&'static str>,
    /// The charset that the dump declares for literals.
    pub charset: Option<&'static str>,
    /// The charset that the current statement declares. It applies when the statement ends.
    pending_charset: Option<Option<&'static str>>,
    /// The charset of the table that was defined last, if declared.
    pub table_charset: Option<&'static str>,
}

/// Encodings in which the second byte of a character may be a backslash, with the names of MySQL and PostgreSQL.
const AMBIGUOUS_ENCODINGS: [&str; 8] =
    ["big5", "cp932", "gb18030", "gbk", "johab", "shift_jis_2004", "sjis", "big5hkscs"];

impl LexicalRules {
    pub fn new(dialect: Option<Dialect>) -> LexicalRules {
        LexicalRules {
            is_fixed: dialect.is_some(),
            dialect,
            quotes: Quotes::for_dialect(dialect),
            pending_quotes: None,
            saved_modes: Vec::new(),
            ambiguous_encoding: None,
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

    /// Handles a sign of a dialect that counts only while the dialect is unknown.
    pub fn guess_dialect(&mut self, dialect: Dialect) {
        if self.dialect.is_none() {
            self.switch_dialect(dialect);
        }
    }

    /// Handles a definite sign of a dialect. If it differs from the current one, another dump begins.
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
        self.pending_quotes = None;
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
                // The comment at the end of a dump resembles its first comment, but must not start another dump.
                let is_end_comment = line.windows(8).any(|word| word == b"complete");
                let dialect = match dialect {
                    Dialect::MySql if line.windows(10).any(|word| word == b"PostgreSQL") => Dialect::Postgres,
                    Dialect::MySql if line.windows(6).any(|word| word == b"SQLite") => Dialect::Sqlite,
                    other => other,
                };
                if !is_end_comment {
                    self.recognise_dialect(dialect);
                }
            }
        }
    }

    /// Records the declared encoding of the dump.
    pub fn record_encoding(&mut self, name: &[u8]) {
        let is_same_name = |ambiguous: &&str| name.eq_ignore_ascii_case(ambiguous.as_bytes());
        self.ambiguous_encoding =
            self.ambiguous_encoding.or_else(|| AMBIGUOUS_ENCODINGS.into_iter().find(is_same_name));
    }

    /// Sets the charset of literals from the next statement on: `SET NAMES`, `client_encoding`.
    pub fn set_literal_charset(&mut self, name: &[u8]) {
        self.record_encoding(name);
        self.pending_charset = Some(crate::charset::find_iana_name(name, self.is_postgres()));
    }

    /// Sets a mode of MySQL. With `add`, the mode is combined with the current one.
    pub fn set_sql_mode(&mut self, mode: &[u8], add: bool) {
        self.guess_dialect(Dialect::MySql);
        if !self.is_mysql() {
            return;
        }
        let mut quotes =
            if add { self.pending_quotes.unwrap_or(self.quotes) } else { Quotes::for_dialect(self.dialect) };
        for word in mode.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let is_word = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            if is_word("NO_BACKSLASH_ESCAPES") {
                quotes.has_backslash_escapes = false;
            }
            if ["ANSI_QUOTES", "ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"].into_iter().any(is_word) {
                quotes.double_quotes_are_names = true;
            }
        }
        self.pending_quotes = Some(quotes);
    }

    /// Handles `@name = @@sql_mode`.
    pub fn save_mode(&mut self, name: &[u8]) {
        let quotes = self.quotes;
        if let Some(saved) = self.saved_modes.iter_mut().find(|(variable, _)| variable.eq_ignore_ascii_case(name)) {
            saved.1 = quotes;
        } else if self.saved_modes.len() < MAX_SAVED_MODES {
            self.saved_modes.push((name.to_vec(), quotes));
        }
    }

    /// Handles `sql_mode = @name`.
    pub fn restore_mode(&mut self, name: &[u8]) {
        if self.is_mysql() {
            let saved = self.saved_modes.iter().find(|(variable, _)| variable.eq_ignore_ascii_case(name));
            self.pending_quotes = Some(saved.map_or(Quotes::for_dialect(self.dialect), |saved| saved.1));
        }
    }

    /// Sets PostgreSQL's `standard_conforming_strings`.
    pub fn set_standard_strings(&mut self, value: &[u8]) {
        self.guess_dialect(Dialect::Postgres);
        if self.is_postgres() {
            let off_words = ["off", "false", "no", "0"];
            let has_backslash_escapes = off_words.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()));
            self.pending_quotes = Some(Quotes { has_backslash_escapes, ..self.quotes });
        }
    }

    /// Applies the settings at the end of a statement.
    pub fn apply_pending(&mut self) {
        if let Some(quotes) = self.pending_quotes.take() {
            self.quotes = quotes;
        }
        if let Some(charset) = self.pending_charset.take() {
            self.charset = charset;
        }
    }
}
