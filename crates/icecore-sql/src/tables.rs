//! The tables and columns that a dump has named.

use std::collections::HashMap;

/// Identifies a [`Table`] of one reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub(crate) u32);

impl TableId {
    /// Returns the number of the table, from 0, in the order of the dump.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    schema: Option<String>,
    name: String,
    columns: Vec<Column>,
    by_name: HashMap<String, u32>,
    /// The columns of an `INSERT` without a list of columns, in the order of its values.
    by_position: Vec<u32>,
    rows: u64,
}

impl Table {
    /// Returns the schema or database before its name, or the one of the last `USE`.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// Returns the name of the table, without quotes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the columns that the dump has named so far. More may be added, but none changes its position.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the number of rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    declared_type: String,
    kind: Kind,
}

impl Column {
    /// Returns the name of the column, without quotes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the first word of the column's type in `CREATE TABLE`, in lower case, such as `longtext`, `bytea` or
    /// `character`. It is `text[]` for an array, and empty if it is not known.
    pub fn declared_type(&self) -> &str {
        &self.declared_type
    }

    /// Returns the kind of its type.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

/// The kind of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The dump does not declare it.
    Unknown,
    /// Text of any length.
    Text,
    /// Bytes.
    Bytes,
    /// JSON.
    Json,
    /// Numbers and booleans.
    Number,
    /// Dates and times.
    Time,
    /// Any other type.
    Other,
}

impl Kind {
    fn from_declared_type(declared_type: &str) -> Kind {
        match declared_type {
            "" => Kind::Unknown,
            "bytea" | "blob" | "tinyblob" | "mediumblob" | "longblob" | "binary" | "varbinary" => Kind::Bytes,
            "json" | "jsonb" => Kind::Json,
            "text" | "tinytext" | "mediumtext" | "longtext" | "char" | "character" | "varchar" | "nvarchar"
            | "nchar" | "national" | "bpchar" | "citext" | "name" | "clob" | "string" | "enum" | "set" => Kind::Text,
            "int" | "integer" | "tinyint" | "smallint" | "mediumint" | "bigint" | "serial" | "bigserial"
            | "smallserial" | "decimal" | "numeric" | "number" | "float" | "double" | "real" | "bit" | "bool"
            | "boolean" | "money" | "dec" | "fixed" | "oid" => Kind::Number,
            "date" | "time" | "timetz" | "datetime" | "timestamp" | "timestamptz" | "year" | "interval" => Kind::Time,
            _ => Kind::Other,
        }
    }
}

/// The cost of a name in addition to its bytes.
const NAME_COST: usize = 128;

/// All tables, and an index by name.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    list: Vec<Table>,
    by_name: HashMap<(Option<String>, String), TableId>,
    /// The schema of names that mention none.
    pub current_schema: Option<String>,
    /// The total cost of all names.
    pub cost: usize,
}

impl Tables {
    pub fn list(&self) -> &[Table] {
        &self.list
    }

    fn qualify_name(&self, schema: Option<&str>, name: &str) -> (Option<String>, String) {
        (schema.map(str::to_owned).or_else(|| self.current_schema.clone()), name.to_owned())
    }

    /// Returns the table with this name, and creates it if there is none.
    pub fn find_or_create(&mut self, schema: Option<&str>, name: &str) -> TableId {
        let key = self.qualify_name(schema, name);
        match self.by_name.get(&key) {
            Some(id) => *id,
            None => self.add_table(key),
        }
    }

    /// Creates a table, even if there is one with this name.
    pub fn create_table(&mut self, schema: Option<&str>, name: &str) -> TableId {
        let key = self.qualify_name(schema, name);
        self.add_table(key)
    }

    fn add_table(&mut self, key: (Option<String>, String)) -> TableId {
        let id = TableId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.cost += 2 * (key.1.len() + key.0.as_ref().map_or(0, String::len) + NAME_COST);
        self.list.push(Table { schema: key.0.clone(), name: key.1.clone(), ..Table::default() });
        self.by_name.insert(key, id);
        id
    }

    pub fn get(&self, id: TableId) -> Option<&Table> {
        self.list.get(id.index())
    }

    /// Begins a row. Returns its number.
    pub fn begin_row(&mut self, id: TableId) -> u64 {
        let Some(table) = self.list.get_mut(id.index()) else { return 0 };
        table.rows += 1;
        table.rows - 1
    }

    /// Returns the column with this name, and creates it if there is none. `probable_index` is its probable index.
    pub fn find_or_add_column(&mut self, id: TableId, name: &str, probable_index: usize) -> u32 {
        let Some(table) = self.list.get_mut(id.index()) else { return 0 };
        if table.columns.get(probable_index).is_some_and(|column| column.name == name) {
            return probable_index as u32;
        }
        if let Some(column) = table.by_name.get(name) {
            return *column;
        }
        let column = u32::try_from(table.columns.len()).unwrap_or(u32::MAX);
        self.cost += 2 * (name.len() + NAME_COST);
        table.columns.push(Column { name: name.to_owned(), declared_type: String::new(), kind: Kind::Unknown });
        table.by_name.insert(name.to_owned(), column);
        column
    }

    /// Declares a column of `CREATE TABLE`. `has_insert_position` means that an `INSERT` without a list of columns
    /// has a value for it.
    pub fn declare_column(&mut self, id: TableId, name: &str, declared_type: String, has_insert_position: bool) {
        let column = self.find_or_add_column(id, name, usize::MAX);
        self.cost += declared_type.len();
        let Some(table) = self.list.get_mut(id.index()) else { return };
        if let Some(declared_column) = table.columns.get_mut(column as usize) {
            declared_column.kind = Kind::from_declared_type(&declared_type);
            declared_column.declared_type = declared_type;
        }
        // A table can't have a name twice. A dump that repeats a name must not make the tables larger than its text.
        if has_insert_position && table.by_position.len() < table.columns.len() {
            table.by_position.push(column);
        }
    }

    /// Returns the column at this position, if the statement has no list of columns.
    pub fn column_at(&self, id: TableId, position: u32) -> Option<u32> {
        self.get(id)?.by_position.get(position as usize).copied()
    }

    pub fn column_kind(&self, id: TableId, column: Option<u32>) -> Kind {
        let column = column.and_then(|column| self.get(id)?.columns.get(column as usize));
        column.map_or(Kind::Unknown, |column| column.kind)
    }
}
