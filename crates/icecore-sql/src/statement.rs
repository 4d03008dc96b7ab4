//! The state of a statement. It determines the table and the column of the next literal.

use crate::create::ColumnDefinitions;
use crate::dialect::LexicalRules;
use crate::session::Setting;
use crate::tables::{TableId, Tables};
use crate::{Cell, Dialect};

/// Maximum number of columns of a list. Values after the last of these columns do not get a name.
const MAX_COLUMNS: usize = 1 << 16;

/// The position of the reader in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before its first word.
    Start,
    /// In a statement without values of rows, or after the values.
    Other,
    /// Before the name of a table.
    Target(Verb),
    /// After that name.
    Named(Verb),
    /// In the list of columns.
    ColumnList(Verb),
    /// Among the rows.
    Values,
    /// After the rows: `ON DUPLICATE KEY` and the like.
    Tail,
    /// `SET`: before the name of a column.
    SetName,
    /// `SET`: after its `=`.
    SetValue,
    /// `CREATE`: before the word for the kind of object.
    Create,
    /// `CREATE TABLE`: among the columns.
    Definitions,
    /// `CREATE TABLE`: after the columns.
    Options(ExpectedWord),
    /// `CREATE FUNCTION` and the like: contains statements.
    Routine,
    /// `SET` of a session's settings.
    Session,
    /// `USE`: before the name of a database.
    Use,
    /// `COPY … FROM`.
    CopyFrom,
    /// `COPY … FROM stdin`: rows follow the statement.
    CopyStdin,
    /// `COPY … FROM stdin` with options, which change the form of the rows.
    CopyOptions,
}

/// The next word in the declaration of a table's charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedWord {
    /// `CHARSET`, or `CHARACTER`.
    Charset,
    /// `SET`.
    Set,
    /// The name of the charset.
    Name,
}

/// The action on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Insert,
    Update,
    Copy,
    Create,
}

/// The statement that is being read.
#[derive(Debug)]
pub(crate) struct Statement {
    pub phase: Phase,
    /// Number of open parentheses.
    pub depth: u32,
    /// Number of `BEGIN` without `END`, in a routine.
    open_blocks: u32,
    /// Whether the word `INTO`, which precedes a name, was read.
    has_into: bool,
    schema: Option<String>,
    name: String,
    /// Whether the next name belongs to the previous one, after a dot.
    follows_dot: bool,
    pub table: Option<TableId>,
    /// Whether the statement names its columns.
    pub has_column_list: bool,
    /// The columns that the statement names, in its order.
    columns: Vec<u32>,
    /// Whether the next parentheses are skipped, because they belong to `PARTITION (…)`.
    skips_parenthesis: bool,
    /// Index of the current value in its row, or of the current assignment after `SET`.
    pub position: u32,
    /// Number of the current row in its table, as `Tables::begin_row` counts it.
    pub row: u64,
    /// Whether the remaining rows are skipped.
    pub skips_rows: bool,
    /// Number of the layout of the statement's rows.
    pub layout: u64,
    /// How many layouts the dump has had so far.
    layout_count: u64,
    /// The column that `SET` assigns.
    column: Option<u32>,
    pub definitions: ColumnDefinitions,
    setting: Setting,
}

impl Statement {
    pub fn new() -> Statement {
        Statement {
            phase: Phase::Start,
            depth: 0,
            open_blocks: 0,
            has_into: false,
            schema: None,
            name: String::new(),
            follows_dot: false,
            table: None,
            has_column_list: false,
            columns: Vec::new(),
            skips_parenthesis: false,
            position: 0,
            row: 0,
            skips_rows: false,
            layout: 0,
            layout_count: 0,
            column: None,
            definitions: ColumnDefinitions::default(),
            setting: Setting::default(),
        }
    }

    /// Returns `true` if a string in this place is a name. SQLite accepts `'a'` as a name, and MySQL accepts `"a"`.
    pub fn expects_name(&self) -> bool {
        match self.phase {
            Phase::Target(_) => true,
            Phase::ColumnList(_) => self.depth == 1,
            Phase::Definitions => self.depth == 1 && self.definitions.expects_name(),
            _ => false,
        }
    }

    /// Returns true if a `;` here ends the statement.
    pub fn ends_at_semicolon(&self) -> bool {
        self.open_blocks == 0
    }

    /// Ends the statement. The settings that it made apply from the next statement on.
    pub fn end_statement(&mut self, rules: &mut LexicalRules) {
        rules.apply_pending();
        self.phase = Phase::Start;
        self.depth = 0;
        self.open_blocks = 0;
        self.has_into = false;
        self.follows_dot = false;
        self.skips_parenthesis = false;
        self.has_column_list = false;
        self.table = None;
        self.skips_rows = false;
    }

    /// Continues with the rows of a statement that has the same beginning, up to `VALUES`, as the last one.
    pub fn resume_rows(&mut self, table: Option<TableId>, has_column_list: bool, layout: u64) {
        self.phase = Phase::Values;
        self.table = table;
        self.has_column_list = has_column_list;
        self.layout = layout;
    }

    /// Starts a new layout. The rows that follow may belong to another table, or have their columns in another order.
    fn begin_layout(&mut self) {
        self.layout_count += 1;
        self.layout = self.layout_count;
    }

    /// Handles a word without quotes.
    pub fn handle_word(&mut self, word: &[u8], tables: &mut Tables, rules: &mut LexicalRules) {
        let is_word = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        let is_any_of = |keywords: &[&str]| keywords.iter().any(|keyword| is_word(keyword));
        match self.phase {
            Phase::Start => self.handle_first_word(word, rules),
            Phase::Target(verb) => {
                // Words that may occur before the name of the table. After a dot or `INTO`, any word is the name.
                let precedes_name = match verb {
                    _ if self.follows_dot => false,
                    Verb::Insert => {
                        !self.has_into
                            && is_any_of(&[
                                "into",
                                "ignore",
                                "low_priority",
                                "delayed",
                                "high_priority",
                                "or",
                                "replace",
                                "rollback",
                                "abort",
                                "fail",
                                "overwrite",
                            ])
                    }
                    Verb::Update => {
                        is_any_of(&["low_priority", "ignore", "only", "or", "replace", "rollback", "abort", "fail"])
                    }
                    Verb::Create => is_any_of(&["if", "not", "exists"]),
                    Verb::Copy => is_word("binary"),
                };
                self.has_into |= is_word("into");
                if !precedes_name {
                    self.set_target(verb, String::from_utf8_lossy(word).into_owned());
                }
            }
            Phase::Named(verb) => self.handle_word_after_table(verb, word, tables, rules),
            // The parenthesis after the table contains a query, as in `INSERT INTO t (SELECT …)`.
            Phase::ColumnList(_)
                if self.depth == 1 && is_any_of(&["select", "with", "values"]) && self.columns.is_empty() =>
            {
                self.phase = Phase::Other;
            }
            Phase::ColumnList(_) => self.add_listed_column(&String::from_utf8_lossy(word), tables),
            Phase::Values if self.depth == 0 && is_any_of(&["on", "as", "returning"]) => self.phase = Phase::Tail,
            Phase::Tail if is_any_of(&["set", "update"]) => self.phase = Phase::SetName,
            Phase::SetName => self.set_assigned_column(&String::from_utf8_lossy(word), tables),
            Phase::SetValue if self.depth == 0 => {
                if is_any_of(&["on", "returning"]) {
                    self.phase = Phase::Tail;
                } else if is_any_of(&["where", "from", "order", "limit"]) {
                    self.phase = Phase::Other;
                }
            }
            Phase::Create => {
                if is_word("table") {
                    self.phase = Phase::Target(Verb::Create);
                } else if is_any_of(&["trigger", "function", "procedure", "event", "package"]) {
                    self.phase = Phase::Routine;
                } else if is_any_of(&[
                    "view", "index", "database", "schema", "sequence", "type", "virtual", "user", "role",
                ]) {
                    self.phase = Phase::Other;
                }
            }
            Phase::Routine => {
                // `CASE` counts too, because it also ends with `END`.
                if is_any_of(&["begin", "case"]) {
                    self.open_blocks = self.open_blocks.saturating_add(1);
                } else if is_word("end") {
                    self.open_blocks = self.open_blocks.saturating_sub(1);
                }
            }
            Phase::Definitions if self.depth == 1 => self.definitions.handle_word(word, rules),
            Phase::Options(expected) => {
                let next = match expected {
                    ExpectedWord::Name => {
                        rules.table_charset = crate::charset::find_iana_name(word, rules.is_postgres());
                        ExpectedWord::Charset
                    }
                    ExpectedWord::Set if is_word("set") => ExpectedWord::Name,
                    _ if is_word("charset") => ExpectedWord::Name,
                    _ if is_word("character") => ExpectedWord::Set,
                    _ => ExpectedWord::Charset,
                };
                self.phase = Phase::Options(next);
            }
            Phase::Session => self.setting.handle_word(word, tables, rules),
            Phase::Use => self.use_database(&String::from_utf8_lossy(word), tables),
            Phase::CopyFrom => self.phase = if is_word("stdin") { Phase::CopyStdin } else { Phase::Other },
            Phase::CopyStdin => self.phase = Phase::CopyOptions,
            _ => {}
        }
    }

    /// Handles the first word.
    fn handle_first_word(&mut self, word: &[u8], rules: &mut LexicalRules) {
        let is_word = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        self.phase = if is_word("insert") || is_word("replace") {
            Phase::Target(Verb::Insert)
        } else if is_word("update") {
            Phase::Target(Verb::Update)
        } else if is_word("copy") {
            Phase::Target(Verb::Copy)
        } else if is_word("create") {
            rules.table_charset = None;
            Phase::Create
        } else if is_word("set") {
            self.setting = Setting::default();
            Phase::Session
        } else if is_word("use") {
            Phase::Use
        } else {
            if is_word("pragma") {
                rules.recognise_dialect(Dialect::Sqlite);
            } else if is_word("lock") {
                rules.guess_dialect(Dialect::MySql);
            }
            Phase::Other
        };
    }

    /// Handles a quoted name.
    pub fn handle_quoted_name(&mut self, name: &str, tables: &mut Tables, rules: &mut LexicalRules) {
        match self.phase {
            Phase::Start => self.phase = Phase::Other,
            Phase::Target(verb) => self.set_target(verb, name.to_owned()),
            Phase::ColumnList(_) => self.add_listed_column(name, tables),
            Phase::SetName => self.set_assigned_column(name, tables),
            Phase::Definitions if self.depth == 1 => self.definitions.handle_quoted_name(name),
            Phase::Use => self.use_database(name, tables),
            Phase::Session => self.setting.handle_quoted_name(name, tables, rules),
            _ => {}
        }
    }

    fn set_target(&mut self, verb: Verb, name: String) {
        self.schema = if self.follows_dot { Some(std::mem::take(&mut self.name)) } else { None };
        self.follows_dot = false;
        self.name = name;
        self.phase = Phase::Named(verb);
    }

    fn use_database(&mut self, name: &str, tables: &mut Tables) {
        tables.current_schema = Some(name.to_owned());
        self.phase = Phase::Other;
    }

    /// Returns the table whose name was read.
    fn resolve_table(&mut self, tables: &mut Tables) -> TableId {
        let id = tables.find_or_create(self.schema.as_deref(), &self.name);
        self.table = Some(id);
        id
    }

    /// Handles a word after the name of the table.
    fn handle_word_after_table(&mut self, verb: Verb, word: &[u8], tables: &mut Tables, rules: &mut LexicalRules) {
        let is_word = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        match verb {
            Verb::Insert if is_word("values") || is_word("value") => {
                if self.table.is_none() {
                    self.resolve_table(tables);
                }
                self.begin_layout();
                self.phase = Phase::Values;
            }
            Verb::Insert | Verb::Update if is_word("set") => {
                let table = self.resolve_table(tables);
                self.row = tables.begin_row(table);
                self.position = 0;
                self.column = None;
                self.phase = Phase::SetName;
            }
            Verb::Insert if is_word("partition") => self.skips_parenthesis = true,
            Verb::Insert if is_word("select") || is_word("default") || is_word("with") => self.phase = Phase::Other,
            Verb::Copy if is_word("from") => {
                if self.table.is_none() {
                    self.resolve_table(tables);
                }
                rules.guess_dialect(Dialect::Postgres);
                self.begin_layout();
                self.phase = Phase::CopyFrom;
            }
            Verb::Copy | Verb::Create => self.phase = Phase::Other,
            _ => {}
        }
    }

    fn add_listed_column(&mut self, name: &str, tables: &mut Tables) {
        if let Some(table) = self.table
            && self.depth == 1
            && self.columns.len() < MAX_COLUMNS
        {
            let column = tables.find_or_add_column(table, name, self.columns.len());
            self.columns.push(column);
        }
    }

    fn set_assigned_column(&mut self, name: &str, tables: &mut Tables) {
        if let Some(table) = self.table
            && self.depth == 0
        {
            self.column = Some(tables.find_or_add_column(table, name, self.position as usize));
        }
    }

    /// Handles a `.`. The name before it is a schema, or the table of a column.
    pub fn handle_dot(&mut self, rules: &mut LexicalRules) {
        match self.phase {
            Phase::Named(verb) if self.table.is_none() => {
                if self.name == "public" {
                    rules.guess_dialect(Dialect::Postgres);
                }
                self.phase = Phase::Target(verb);
                self.follows_dot = true;
            }
            Phase::Definitions => self.definitions.handle_dot(),
            Phase::Start => self.phase = Phase::Other,
            _ => {}
        }
    }

    pub fn open_parenthesis(&mut self, tables: &mut Tables) {
        self.depth = self.depth.saturating_add(1);
        match self.phase {
            Phase::Values if self.depth == 1 => {
                self.position = 0;
                self.row = self.table.map_or(0, |table| tables.begin_row(table));
            }
            Phase::Named(verb @ (Verb::Insert | Verb::Copy))
                if self.depth == 1 && !self.has_column_list && !self.skips_parenthesis =>
            {
                self.resolve_table(tables);
                self.has_column_list = true;
                self.columns.clear();
                self.phase = Phase::ColumnList(verb);
            }
            Phase::Named(Verb::Create) => {
                self.table = Some(tables.create_table(self.schema.as_deref(), &self.name));
                self.definitions.begin_table();
                self.phase = Phase::Definitions;
            }
            Phase::Start | Phase::Target(_) => self.phase = Phase::Other,
            Phase::CopyStdin => self.phase = Phase::CopyOptions,
            _ => {}
        }
    }

    pub fn close_parenthesis(&mut self, tables: &mut Tables, rules: &LexicalRules) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return;
        }
        match self.phase {
            Phase::Start => self.phase = Phase::Other,
            Phase::ColumnList(verb) => self.phase = Phase::Named(verb),
            Phase::Named(_) => self.skips_parenthesis = false,
            Phase::Definitions => {
                if let Some(table) = self.table {
                    self.definitions.finish_item(table, tables, rules);
                }
                self.phase = Phase::Options(ExpectedWord::Charset);
            }
            _ => {}
        }
    }

    pub fn handle_comma(&mut self, tables: &mut Tables, rules: &mut LexicalRules) {
        match self.phase {
            Phase::Values if self.depth == 1 => self.position = self.position.saturating_add(1),
            Phase::SetValue if self.depth == 0 => {
                self.position = self.position.saturating_add(1);
                self.column = None;
                self.phase = Phase::SetName;
            }
            Phase::Definitions if self.depth == 1 => {
                if let Some(table) = self.table {
                    self.definitions.finish_item(table, tables, rules);
                }
            }
            Phase::Session => self.setting.handle_comma(),
            Phase::Start => self.phase = Phase::Other,
            _ => {}
        }
    }

    /// Handles any other sign.
    pub fn handle_sign(&mut self, sign: u8) {
        match self.phase {
            Phase::Start => self.phase = Phase::Other,
            Phase::SetName if sign == b'=' && self.depth == 0 => self.phase = Phase::SetValue,
            Phase::Session => self.setting.handle_sign(sign, self.depth),
            Phase::Definitions if sign == b'[' && self.depth == 1 => self.definitions.mark_as_array(),
            _ => {}
        }
    }

    /// Returns the cell of a literal among rows.
    #[inline]
    pub fn locate_cell(&self, tables: &Tables) -> Option<Cell> {
        // There are no rows outside of parentheses, so a literal there has no cell.
        let table = self.table.filter(|_| self.depth > 0)?;
        let column = match self.has_column_list {
            true => self.columns.get(self.position as usize).copied(),
            false => tables.column_at(table, self.position),
        };
        Some(Cell { table, column, position: self.position, row: self.row })
    }

    /// Returns the cell of a literal with this body.
    pub fn handle_literal(&mut self, body: &[u8], tables: &mut Tables, rules: &mut LexicalRules) -> Option<Cell> {
        let column = match self.phase {
            Phase::Values => return self.locate_cell(tables),
            Phase::SetValue => self.column,
            Phase::Session => {
                self.setting.handle_literal(body, tables, rules, self.depth);
                return None;
            }
            Phase::Start => {
                self.phase = Phase::Other;
                return None;
            }
            _ => return None,
        };
        Some(Cell { table: self.table?, column, position: self.position, row: self.row })
    }

    /// Begins a line of `COPY`. The depth is 1 as in a row in parentheses, because `locate_cell` requires it.
    pub fn begin_copy_row(&mut self, tables: &mut Tables) {
        self.depth = 1;
        self.position = 0;
        self.row = self.table.map_or(0, |table| tables.begin_row(table));
    }
}
