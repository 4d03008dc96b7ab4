//! The columns of `CREATE TABLE`.

use crate::dialect::LexicalRules;
use crate::tables::{TableId, Tables};

/// Maximum length of the name of a type that is kept.
const MAX_TYPE_LEN: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Before an item. The name of a column or the keyword of a constraint follows.
    #[default]
    Item,
    /// Before the type of a column.
    Type,
    /// Right after the first word of the type.
    AfterType,
    /// After a word that is not part of the type.
    Rest,
    /// In a constraint.
    Constraint,
}

/// The item of `CREATE TABLE (…)` that is being read. It is a column or a constraint.
#[derive(Debug, Default)]
pub(crate) struct ColumnDefinitions {
    part: Part,
    name: String,
    declared_type: String,
    /// Whether the value is computed.
    is_generated: bool,
}

impl ColumnDefinitions {
    pub fn begin_table(&mut self) {
        *self = ColumnDefinitions::default();
    }

    pub fn expects_name(&self) -> bool {
        self.part == Part::Item
    }

    /// Handles a word without quotes in the list of definitions.
    pub fn handle_word(&mut self, word: &[u8], rules: &LexicalRules) {
        let is_word = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        let is_any_of = |keywords: &[&str]| keywords.iter().any(|keyword| is_word(keyword));
        let is_modifier = is_any_of(&[
            "constraint",
            "primary",
            "not",
            "null",
            "unique",
            "check",
            "default",
            "collate",
            "references",
            "generated",
            "as",
            "autoincrement",
        ]);
        match self.part {
            Part::Item => {
                // Some of these keywords are names of columns for other servers.
                let is_constraint = is_any_of(&["constraint", "primary", "unique", "foreign", "check", "like"])
                    || (rules.is_mysql() && is_any_of(&["key", "index", "fulltext", "spatial"]));
                if is_constraint {
                    self.part = Part::Constraint;
                } else {
                    self.begin_column(String::from_utf8_lossy(word).into_owned());
                }
            }
            // `PERIOD FOR …` of MariaDB, `EXCLUDE USING …` of PostgreSQL: otherwise both first words are names.
            Part::Type if is_word("for") || is_word("using") => self.part = Part::Constraint,
            Part::Type if !is_modifier => {
                self.declared_type =
                    String::from_utf8_lossy(word.get(..MAX_TYPE_LEN).unwrap_or(word)).to_ascii_lowercase();
                self.part = Part::AfterType;
            }
            Part::Type | Part::AfterType | Part::Rest => {
                self.is_generated |= is_any_of(&["generated", "as"]);
                if is_modifier {
                    self.part = Part::Rest;
                }
            }
            Part::Constraint => {}
        }
    }

    pub fn handle_quoted_name(&mut self, name: &str) {
        match self.part {
            Part::Item => self.begin_column(name.to_owned()),
            Part::Type => {
                self.declared_type = name.chars().take(MAX_TYPE_LEN).collect();
                self.part = Part::AfterType;
            }
            _ => {}
        }
    }

    fn begin_column(&mut self, name: String) {
        self.name = name;
        self.declared_type.clear();
        self.is_generated = false;
        self.part = Part::Type;
    }

    /// Handles a dot after the type. The word that was read as the type is then the schema of the type.
    pub fn handle_dot(&mut self) {
        if self.part == Part::AfterType {
            self.part = Part::Type;
        }
    }

    pub fn mark_as_array(&mut self) {
        if self.part == Part::AfterType {
            self.declared_type.push_str("[]");
            self.part = Part::Rest;
        }
    }

    /// Ends the item, and declares its column if it is one.
    pub fn finish_item(&mut self, table: TableId, tables: &mut Tables, rules: &LexicalRules) {
        if !matches!(self.part, Part::Item | Part::Constraint) {
            let has_insert_position = !(self.is_generated && rules.is_sqlite());
            tables.declare_column(table, &self.name, std::mem::take(&mut self.declared_type), has_insert_position);
        }
        self.part = Part::Item;
    }
}
