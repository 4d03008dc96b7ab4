//! `SET` statements that change how literals are read.

use crate::Dialect;
use crate::dialect::LexicalRules;
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
    at_signs: u8,
}

impl Setting {
    pub fn handle_comma(&mut self) {
        *self = Setting::default();
    }

    pub fn handle_sign(&mut self, sign: u8, depth: u32) {
        if sign == b'@' {
            self.at_signs = self.at_signs.saturating_add(1);
        } else if depth == 0 {
            self.assigned |= sign == b'=';
            self.at_signs = 0;
        }
    }

    pub fn handle_word(&mut self, word: &[u8], tables: &mut Tables, lexis: &mut LexicalRules) {
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        let at_signs = std::mem::take(&mut self.at_signs);
        if !self.assigned {
            match () {
                () if at_signs == 1 => {
                    self.target = Target::Variable(word.get(..MAX_VARIABLE).unwrap_or(word).to_vec())
                }
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
                    lexis.guess_dialect(Dialect::Postgres);
                }
                () if ["statement_timeout", "lock_timeout", "default_tablespace"].into_iter().any(is) => {
                    lexis.guess_dialect(Dialect::Postgres);
                }
                () => {}
            }
            return;
        }
        match &self.target {
            Target::Mode if at_signs == 1 => lexis.restore_mode(word),
            Target::Variable(name) if is("sql_mode") => lexis.save_mode(name),
            Target::Strings => lexis.set_standard_strings(word),
            Target::Path => self.set_search_path(&String::from_utf8_lossy(word), tables, lexis),
            Target::Encoding => self.set_encoding(word, lexis),
            Target::Client => lexis.record_encoding(word),
            _ => {}
        }
    }

    /// Handles the name of a charset; words after it, such as `COLLATE`, are ignored.
    fn set_encoding(&mut self, name: &[u8], lexis: &mut LexicalRules) {
        lexis.set_literal_charset(name);
        self.target = Target::None;
    }

    pub fn handle_quoted_name(&mut self, name: &str, tables: &mut Tables, lexis: &mut LexicalRules) {
        match &self.target {
            Target::Path if self.assigned => self.set_search_path(name, tables, lexis),
            Target::Encoding if self.assigned => self.set_encoding(name.as_bytes(), lexis),
            _ => {}
        }
    }

    fn set_search_path(&mut self, name: &str, tables: &mut Tables, lexis: &mut LexicalRules) {
        lexis.guess_dialect(Dialect::Postgres);
        tables.current = Some(name.to_owned()).filter(|name| !name.is_empty());
        self.target = Target::None;
    }

    pub fn handle_literal(&mut self, body: &[u8], tables: &mut Tables, lexis: &mut LexicalRules, depth: u32) {
        if !self.assigned {
            return;
        }
        match &self.target {
            Target::Mode => lexis.set_sql_mode(body, depth > 0),
            Target::Strings => lexis.set_standard_strings(body),
            Target::Path => self.set_search_path(&String::from_utf8_lossy(body), tables, lexis),
            Target::Encoding => self.set_encoding(body, lexis),
            Target::Client => lexis.record_encoding(body),
            _ => {}
        }
    }
}
