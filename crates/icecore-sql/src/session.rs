//! `SET` statements that change how literals are read.

use crate::Dialect;
use crate::dialect::LexicalRules;
use crate::tables::Tables;

/// The setting that is being assigned.
#[derive(Clone, Debug, Default)]
enum Target {
    #[default]
    None,
    /// `sql_mode` of MySQL.
    SqlMode,
    /// A user variable of MySQL.
    Variable(Vec<u8>),
    /// `standard_conforming_strings` of PostgreSQL.
    StandardStrings,
    /// `search_path` of PostgreSQL.
    SearchPath,
    /// The encoding of the dump: `NAMES` of MySQL, `client_encoding` of PostgreSQL.
    Encoding,
    /// `character_set_client` of MySQL: dumps set it around definitions and restore it.
    ClientCharset,
}

/// Maximum length of the name of a variable.
const MAX_VARIABLE_LEN: usize = 128;

/// The assignment that is being read.
#[derive(Debug, Default)]
pub(crate) struct Setting {
    target: Target,
    /// Whether the name was read, so that the value follows.
    expects_value: bool,
    /// Number of `@` signs directly before the current position.
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
            self.expects_value |= sign == b'=';
            self.at_signs = 0;
        }
    }

    /// Handles a word without quotes: the name of a setting, or a value.
    pub fn handle_word(&mut self, word: &[u8], tables: &mut Tables, rules: &mut LexicalRules) {
        let is_word = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        let at_signs = std::mem::take(&mut self.at_signs);
        if !self.expects_value {
            match () {
                () if at_signs == 1 => {
                    self.target = Target::Variable(word.get(..MAX_VARIABLE_LEN).unwrap_or(word).to_vec())
                }
                () if is_word("sql_mode") => self.target = Target::SqlMode,
                () if is_word("standard_conforming_strings") => self.target = Target::StandardStrings,
                () if is_word("search_path") => self.target = Target::SearchPath,
                () if is_word("to") => self.expects_value = true,
                () if is_word("names") || is_word("charset") => {
                    (self.target, self.expects_value) = (Target::Encoding, true)
                }
                // `SET CHARACTER SET latin1`
                () if is_word("character") => self.target = Target::ClientCharset,
                () if is_word("set") && matches!(self.target, Target::ClientCharset) => {
                    (self.target, self.expects_value) = (Target::Encoding, true);
                }
                () if is_word("character_set_client") => self.target = Target::ClientCharset,
                () if is_word("client_encoding") => {
                    self.target = Target::Encoding;
                    rules.guess_dialect(Dialect::Postgres);
                }
                () if ["statement_timeout", "lock_timeout", "default_tablespace"].into_iter().any(is_word) => {
                    rules.guess_dialect(Dialect::Postgres);
                }
                () => {}
            }
            return;
        }
        match &self.target {
            Target::SqlMode if at_signs == 1 => rules.restore_mode(word),
            Target::Variable(name) if is_word("sql_mode") => rules.save_mode(name),
            Target::StandardStrings => rules.set_standard_strings(word),
            Target::SearchPath => self.set_search_path(&String::from_utf8_lossy(word), tables, rules),
            Target::Encoding => self.set_encoding(word, rules),
            Target::ClientCharset => rules.record_encoding(word),
            _ => {}
        }
    }

    /// Handles the name of a charset. Words after it, such as `COLLATE`, are ignored.
    fn set_encoding(&mut self, name: &[u8], rules: &mut LexicalRules) {
        rules.set_literal_charset(name);
        self.target = Target::None;
    }

    pub fn handle_quoted_name(&mut self, name: &str, tables: &mut Tables, rules: &mut LexicalRules) {
        match &self.target {
            Target::SearchPath if self.expects_value => self.set_search_path(name, tables, rules),
            Target::Encoding if self.expects_value => self.set_encoding(name.as_bytes(), rules),
            _ => {}
        }
    }

    fn set_search_path(&mut self, name: &str, tables: &mut Tables, rules: &mut LexicalRules) {
        rules.guess_dialect(Dialect::Postgres);
        tables.current_schema = Some(name.to_owned()).filter(|name| !name.is_empty());
        self.target = Target::None;
    }

    pub fn handle_literal(&mut self, body: &[u8], tables: &mut Tables, rules: &mut LexicalRules, depth: u32) {
        if !self.expects_value {
            return;
        }
        match &self.target {
            Target::SqlMode => rules.set_sql_mode(body, depth > 0),
            Target::StandardStrings => rules.set_standard_strings(body),
            Target::SearchPath => self.set_search_path(&String::from_utf8_lossy(body), tables, rules),
            Target::Encoding => self.set_encoding(body, rules),
            Target::ClientCharset => rules.record_encoding(body),
            _ => {}
        }
    }
}
