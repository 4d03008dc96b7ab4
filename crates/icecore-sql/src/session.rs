//! `SET` statements that change how literals are read.

use crate::Dialect;
use crate::dialect::Lexis;
use crate::tables::Tables;

#[derive(Clone, Debug, Default)]
enum Target {
    #[default]
    None,
    /// `sql_mode` of MySQL.
    Mode,
    /// A user variable of MySQL.
    Variable(Vec<u8>),
    /// `standard_conforming_strings` of PostgreSQL.
    Strings,
    /// `search_path` of PostgreSQL.
    Path,
    /// The encoding of the dump: `NAMES`, `client_encoding`.
    Encoding,
    /// `character_set_client`: dumps set it around definitions and restore it.
    Client,
}

/// Maximum length of the name of a variable.
const MAX_VARIABLE: usize = 128;

/// The assignment that is being read.
#[derive(Debug, Default)]
pub(crate) struct Setting {
    target: Target,
    assigned: bool,
    /// Number of `@` directly before.
    at: u8,
}

impl Setting {
    pub fn comma(&mut self) {
        *self = Setting::default();
    }

    pub fn sign(&mut self, sign: u8, depth: u32) {
        if sign == b'@' {
            self.at = self.at.saturating_add(1);
        } else if depth == 0 {
            self.assigned |= sign == b'=';
            self.at = 0;
        }
    }

    pub fn word(&mut self, word: &[u8], tables: &mut Tables, lexis: &mut Lexis) {
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        let at = std::mem::take(&mut self.at);
        if !self.assigned {
            match () {
                () if at == 1 => self.target = Target::Variable(word.get(..MAX_VARIABLE).unwrap_or(word).to_vec()),
                () if is("sql_mode") => self.target = Target::Mode,
                () if is("standard_conforming_strings") => self.target = Target::Strings,
                () if is("search_path") => self.target = Target::Path,
                () if is("to") => self.assigned = true,
                () if is("names") || is("charset") => (self.target, self.assigned) = (Target::Encoding, true),
                // `SET CHARACTER SET latin1`
                () if is("character") => self.target = Target::Client,
                () if is("set") && matches!(self.target, Target::Client) => {
                    (self.target, self.assigned) = (Target::Encoding, true);
                }
                () if is("character_set_client") => self.target = Target::Client,
                () if is("client_encoding") => {
                    self.target = Target::Encoding;
                    lexis.guess(Dialect::Postgres);
                }
                () if ["statement_timeout", "lock_timeout", "default_tablespace"].into_iter().any(is) => {
                    lexis.guess(Dialect::Postgres);
                }
                () => {}
            }
            return;
        }
        match &self.target {
            Target::Mode if at == 1 => lexis.restore_mode(word),
            Target::Variable(name) if is("sql_mode") => lexis.save_mode(name),
            Target::Strings => lexis.standard_strings(word),
            Target::Path => self.path(&String::from_utf8_lossy(word), tables, lexis),
            Target::Encoding => self.encoding(word, lexis),
            Target::Client => lexis.encoded_in(word),
            _ => {}
        }
    }

    /// Handles the name of a charset; words after it, such as `COLLATE`, are ignored.
    fn encoding(&mut self, name: &[u8], lexis: &mut Lexis) {
        lexis.literals_in(name);
        self.target = Target::None;
    }

    pub fn quoted(&mut self, name: &str, tables: &mut Tables, lexis: &mut Lexis) {
        match &self.target {
            Target::Path if self.assigned => self.path(name, tables, lexis),
            Target::Encoding if self.assigned => self.encoding(name.as_bytes(), lexis),
            _ => {}
        }
    }

    fn path(&mut self, name: &str, tables: &mut Tables, lexis: &mut Lexis) {
        lexis.guess(Dialect::Postgres);
        tables.current = Some(name.to_owned()).filter(|name| !name.is_empty());
        self.target = Target::None;
    }

    pub fn literal(&mut self, body: &[u8], tables: &mut Tables, lexis: &mut Lexis, depth: u32) {
        if !self.assigned {
            return;
        }
        match &self.target {
            Target::Mode => lexis.sql_mode(body, depth > 0),
            Target::Strings => lexis.standard_strings(body),
            Target::Path => self.path(&String::from_utf8_lossy(body), tables, lexis),
            Target::Encoding => self.encoding(body, lexis),
            Target::Client => lexis.encoded_in(body),
            _ => {}
        }
    }
}
