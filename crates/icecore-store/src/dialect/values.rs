//! Reading, comparing and writing values of any table.

use super::{Dialect, Family};

/// Form of the values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Text that is JSON.
    Json,
}

/// A column that contains text or bytes.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Form of its values.
    pub form: Form,
    /// Maximum length of a value, in characters of text or in bytes, if there is one.
    pub(crate) max_len: Option<u64>,
    /// Name of its type in the database.
    pub(crate) type_name: String,
}

impl Family {
    /// Quotes a name of a table or a column.
    pub(crate) fn quote_name(self, name: &str) -> String {
        match self {
            Family::Mysql => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// Returns the query for the sorted names of all tables. In PostgreSQL, these are the tables of the current
    /// schema.
    pub(crate) fn list_tables(self) -> &'static str {
        match self {
            Family::Sqlite => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                 ORDER BY name"
            }
            Family::Postgres => {
                "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema() \
                 AND table_type = 'BASE TABLE' ORDER BY 1"
            }
            Family::Mysql => {
                "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() \
                 AND table_type = 'BASE TABLE' ORDER BY 1"
            }
        }
    }
}

impl Dialect {
    /// Quotes a name of a table or a column.
    pub(crate) fn quote_name(&self, name: &str) -> String {
        self.family.quote_name(name)
    }

    /// Returns the expressions to select for a value.
    pub(crate) fn read_value(&self, column: &Column) -> Vec<String> {
        let name = self.quote_name(&column.name);
        match (self.family, column.form) {
            // Any column may contain values of any type.
            (Family::Sqlite, _) => vec![
                format!("CASE WHEN typeof({name}) IN ('text', 'blob') THEN {name} END"),
                format!("typeof({name}) = 'text'"),
            ],
            (Family::Postgres, Form::Text | Form::Json) => vec![format!("CAST({name} AS text)")],
            _ => vec![name],
        }
    }

    /// Returns the expressions to select for a value whose type may have changed. In a numeric column, SQLite
    /// converts text that looks like a number to a number. Such a value is read as its text.
    pub(crate) fn read_as_stored(&self, column: &Column) -> Vec<String> {
        let name = self.quote_name(&column.name);
        match self.family {
            Family::Sqlite => vec![format!("CAST({name} AS BLOB)"), format!("typeof({name}) <> 'blob'")],
            _ => self.read_value(column),
        }
    }

    /// Returns the placeholder of a new value in a statement, with a cast if one is needed.
    pub(crate) fn new_value_placeholder(&self, column: &Column, is_text: bool) -> String {
        match (self.family, is_text) {
            // Text in SQLite may be invalid UTF-8.
            (Family::Sqlite, true) => "CAST(? AS TEXT)".to_owned(),
            (Family::Postgres, true) if column.form == Form::Json || column.type_name == "xml" => {
                format!("CAST(CAST(? AS text) AS {})", column.type_name)
            }
            // The cast does not name the length of the type, because it would then cut off a value that is too long.
            (Family::Postgres, true) => "CAST(? AS text)".to_owned(),
            _ => "?".to_owned(),
        }
    }

    /// Returns the condition that a column, given by its quoted name, has the old value byte by byte.
    pub(crate) fn old_value_condition(&self, name: &str, is_text: bool) -> String {
        match (self.family, is_text) {
            (Family::Sqlite, true) => format!("typeof({name}) <> 'blob' AND CAST({name} AS BLOB) = ?"),
            (Family::Sqlite, false) => format!("typeof({name}) = 'blob' AND {name} = ?"),
            (Family::Postgres, true) => format!("CAST({name} AS text) COLLATE \"C\" = CAST(? AS text)"),
            (Family::Postgres, false) => format!("{name} = ?"),
            (Family::Mysql, true) => format!("CAST(CONVERT({name} USING utf8mb4) AS BINARY) = CAST(? AS BINARY)"),
            (Family::Mysql, false) => format!("{name} = CAST(? AS BINARY)"),
        }
    }

    /// Returns the expression that reads a key column as text, and the placeholder for that text in a condition.
    /// Returns `None` for unsupported types.
    pub(crate) fn key_expressions(&self, name: &str, type_name: &str) -> Option<(String, String)> {
        let name = self.quote_name(name);
        let type_name_lower = type_name.to_ascii_lowercase();
        Some(match self.family {
            Family::Sqlite if type_name_lower.contains("int") => {
                (format!("CAST({name} AS TEXT)"), "CAST(? AS INTEGER)".to_owned())
            }
            Family::Sqlite if type_name_lower.contains("blob") => return None,
            Family::Sqlite => (name, "?".to_owned()),
            Family::Postgres => (format!("CAST({name} AS text)"), format!("CAST(CAST(? AS text) AS {type_name})")),
            Family::Mysql if type_name_lower.contains("binary") || type_name_lower.contains("blob") => {
                (format!("HEX({name})"), "UNHEX(?)".to_owned())
            }
            Family::Mysql if type_name_lower.contains("int") => {
                let sign = if type_name_lower.contains("unsigned") { "UNSIGNED" } else { "SIGNED" };
                (format!("CAST({name} AS CHAR)"), format!("CAST(? AS {sign})"))
            }
            Family::Mysql if type_name_lower.contains("char") || type_name_lower.contains("text") => {
                (name, "?".to_owned())
            }
            Family::Mysql => (format!("CAST({name} AS CHAR)"), "?".to_owned()),
        })
    }

    /// Returns the form of a type's values, or `None` if they are neither text nor bytes.
    pub(crate) fn value_form_of_type(&self, type_name: &str) -> Option<Form> {
        let name = type_name.to_ascii_lowercase();
        match self.family {
            // The type of each value decides.
            Family::Sqlite => Some(Form::Text),
            Family::Postgres => match &*name {
                "text" | "varchar" | "bpchar" | "citext" | "name" | "xml" => Some(Form::Text),
                "json" | "jsonb" => Some(Form::Json),
                "bytea" => Some(Form::Bytes),
                _ => None,
            },
            Family::Mysql => match &*name {
                "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => Some(Form::Text),
                "json" => Some(Form::Json),
                "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => Some(Form::Bytes),
                _ => None,
            },
        }
    }
}
