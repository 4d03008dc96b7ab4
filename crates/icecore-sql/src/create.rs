//! The columns of `CREATE TABLE`.

use crate::dialect::LexicalRules;
use crate::tables::{TableId, Tables};

/// Maximum length of the name of a type that is kept.
const MAX_TYPE: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Before the name of a column, or the keyword of a constraint.
    #[default]
    Item,
    /// Before the type of a column.
    Type,
    /// Right after the first word of the type.
    Typed,
    /// After a word that is not part of the type.
    Rest,
    /// In a constraint.
    Constraint,
}

/// The item that is being read.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    part: Part,
    name: String,
    declared: String,
    /// Whether the value is computed.
    generated: bool,
}

impl Definitions {
    pub fn begin_table(&mut self) {
        *self = Definitions::default();
    }

    pub fn expects_name(&self) -> bool {
        self.part == Part::Item
    }

    pub fn handle_word(&mut self, word: &[u8], lexis: &LexicalRules) {
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        let any = |known: &[&str]| known.iter().any(|known| is(known));
        let modifier = any(&[
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
                let constraint = any(&["constraint", "primary", "unique", "foreign", "check", "like"])
                    || (lexis.is_mysql() && any(&["key", "index", "fulltext", "spatial"]));
                if constraint {
                    self.part = Part::Constraint;
                } else {
                    self.begin_column(String::from_utf8_lossy(word).into_owned());
                }
            }
            // `PERIOD FOR …` of MariaDB, `EXCLUDE USING …` of PostgreSQL: otherwise both first words are names.
            Part::Type if is("for") || is("using") => self.part = Part::Constraint,
            Part::Type if !modifier => {
                self.declared = String::from_utf8_lossy(word.get(..MAX_TYPE).unwrap_or(word)).to_ascii_lowercase();
                self.part = Part::Typed;
            }
            Part::Type | Part::Typed | Part::Rest => {
                self.generated |= any(&["generated", "as"]);
                if modifier {
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
                self.declared = name.chars().take(MAX_TYPE).collect();
                self.part = Part::Typed;
            }
            _ => {}
        }
    }

    fn begin_column(&mut self, name: String) {
        self.name = name;
        self.declared.clear();
        self.generated = false;
        self.part = Part::Type;
    }

    /// The word that was read as the type is its schema.
    pub fn handle_dot(&mut self) {
        if self.part == Part::Typed {
            self.part = Part::Type;
        }
    }

    pub fn mark_as_array(&mut self) {
        if self.part == Part::Typed {
            self.declared.push_str("[]");
            self.part = Part::Rest;
        }
    }

    /// Ends the item.
    pub fn finish_item(&mut self, table: TableId, tables: &mut Tables, lexis: &LexicalRules) {
        if !matches!(self.part, Part::Item | Part::Constraint) {
            let positional = !(self.generated && lexis.is_sqlite());
            tables.declare_column(table, &self.name, std::mem::take(&mut self.declared), positional);
        }
        self.part = Part::Item;
    }
}
