//! How databases read, compare and write values of any table.

use super::{Cell, Column, Form};
use crate::driver::{Row, Value};
use crate::error::{Error, ErrorKind, Result};

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    Sqlite,
    Postgres,
    Mysql,
}

impl Words {
    /// A name.
    pub(super) fn quoted(self, name: &str) -> String {
        match self {
            Words::Mysql => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// What is selected for a value.
    pub(super) fn reads(self, column: &Column) -> Vec<String> {
        let name = self.quoted(&column.name);
        match (self, column.form) {
            // Any column may have values of any type.
            (Words::Sqlite, _) => vec![
                format!("CASE WHEN typeof({name}) IN ('text', 'blob') THEN {name} END"),
                format!("typeof({name}) = 'text'"),
            ],
            (Words::Postgres, Form::Text | Form::Json) => vec![format!("CAST({name} AS text)")],
            _ => vec![name],
        }
    }

    /// What is selected for a value that may have become one of another type: a database file of SQLite turns text
    /// that looks like a number into one, where the column is of numbers. It counts as its text.
    pub(super) fn reads_as_stored(self, column: &Column) -> Vec<String> {
        let name = self.quoted(&column.name);
        match self {
            Words::Sqlite => vec![format!("CAST({name} AS BLOB)"), format!("typeof({name}) <> 'blob'")],
            _ => self.reads(column),
        }
    }

    /// A value that was selected, from this column of the answer on.
    pub(super) fn cell(self, column: &Column, row: &dyn Row, at: &mut usize) -> Result<Option<Cell>> {
        let place = *at;
        *at += 1;
        let is_text = match self {
            Words::Sqlite => {
                *at += 1;
                row.int(place + 1)? == Some(1)
            }
            _ => column.form != Form::Bytes,
        };
        let bytes = match (self, is_text) {
            (Words::Postgres, true) => row.text(place)?.map(String::into_bytes),
            _ => row.bytes(place)?,
        };
        Ok(bytes.map(|bytes| Cell { bytes, is_text }))
    }

    /// Where the new value stands.
    pub(super) fn written(self, column: &Column, is_text: bool) -> String {
        match (self, is_text) {
            // Text of SQLite need not be UTF-8.
            (Words::Sqlite, true) => "CAST(? AS TEXT)".to_owned(),
            (Words::Postgres, true) if column.form == Form::Json || column.type_name == "xml" => {
                format!("CAST(CAST(? AS text) AS {})", column.type_name)
            }
            // Not cast to a type with a length: what does not fit would be cut.
            (Words::Postgres, true) => "CAST(? AS text)".to_owned(),
            _ => "?".to_owned(),
        }
    }

    /// Whether the value is what it was, byte by byte.
    pub(super) fn is_old(self, _: &Column, name: &str, is_text: bool) -> String {
        match (self, is_text) {
            (Words::Sqlite, true) => format!("typeof({name}) <> 'blob' AND CAST({name} AS BLOB) = ?"),
            (Words::Sqlite, false) => format!("typeof({name}) = 'blob' AND {name} = ?"),
            (Words::Postgres, true) => format!("CAST({name} AS text) COLLATE \"C\" = CAST(? AS text)"),
            (Words::Postgres, false) => format!("{name} = ?"),
            (Words::Mysql, true) => format!("CAST(CONVERT({name} USING utf8mb4) AS BINARY) = CAST(? AS BINARY)"),
            (Words::Mysql, false) => format!("{name} = CAST(? AS BINARY)"),
        }
    }

    /// A value as a statement takes it.
    pub(super) fn value<'v>(self, column: &Column, is_text: bool, bytes: &'v [u8]) -> Result<Value<'v>> {
        if self == Words::Sqlite || !is_text {
            return Ok(Value::Bytes(bytes));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| {
            let text = format!("column {}: what is new is no UTF-8, and the column has text", column.name);
            Error::new(ErrorKind::Input, text)
        })?;
        Ok(Value::Text(text))
    }

    /// The text of a column of a row's key.
    pub(super) fn key_text(self, row: &dyn Row, column: usize) -> Result<String> {
        if self != Words::Sqlite {
            return Ok(row.text(column)?.unwrap_or_default());
        }
        // Text of SQLite need not be UTF-8. A key that is mended would name another row, or the same one again and again.
        let bytes = row.bytes(column)?.unwrap_or_default();
        String::from_utf8(bytes).map_err(|error| {
            let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let text =
                format!("the key of the row `{shown}` is not UTF-8: --key names another column that tells rows apart");
            Error::new(ErrorKind::Input, text)
        })
    }

    /// How a column of the key is read as text, and where its text stands in a condition.
    /// `None`: it can't be.
    pub(super) fn key(self, name: &str, type_name: &str) -> Option<(String, String)> {
        let name = self.quoted(name);
        let type_name_lower = type_name.to_ascii_lowercase();
        Some(match self {
            Words::Sqlite if type_name_lower.contains("int") => {
                (format!("CAST({name} AS TEXT)"), "CAST(? AS INTEGER)".to_owned())
            }
            Words::Sqlite if type_name_lower.contains("blob") => return None,
            Words::Sqlite => (name, "?".to_owned()),
            Words::Postgres => (format!("CAST({name} AS text)"), format!("CAST(CAST(? AS text) AS {type_name})")),
            Words::Mysql if type_name_lower.contains("binary") || type_name_lower.contains("blob") => {
                (format!("HEX({name})"), "UNHEX(?)".to_owned())
            }
            Words::Mysql if type_name_lower.contains("int") => {
                let sign = if type_name_lower.contains("unsigned") { "UNSIGNED" } else { "SIGNED" };
                (format!("CAST({name} AS CHAR)"), format!("CAST(? AS {sign})"))
            }
            Words::Mysql if type_name_lower.contains("char") || type_name_lower.contains("text") => {
                (name, "?".to_owned())
            }
            Words::Mysql => (format!("CAST({name} AS CHAR)"), "?".to_owned()),
        })
    }

    /// What the values of a type are; `None`, if they have neither text nor bytes.
    pub(super) fn form(self, type_name: &str) -> Option<Form> {
        let name = type_name.to_ascii_lowercase();
        match self {
            // The value decides.
            Words::Sqlite => Some(Form::Text),
            Words::Postgres => match &*name {
                "text" | "varchar" | "bpchar" | "citext" | "name" | "xml" => Some(Form::Text),
                "json" | "jsonb" => Some(Form::Json),
                "bytea" => Some(Form::Bytes),
                _ => None,
            },
            Words::Mysql => match &*name {
                "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => Some(Form::Text),
                "json" => Some(Form::Json),
                "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => Some(Form::Bytes),
                _ => None,
            },
        }
    }
}
