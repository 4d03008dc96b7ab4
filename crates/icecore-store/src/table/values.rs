//! Values of rows, as statements take and return them.

use super::{Cell, Column, Form};
use crate::dialect::Family;
use crate::driver::{ResultRow, Value};
use crate::error::{Error, ErrorKind, Result};

/// Reads a selected value. It begins at `next_column` of the answer. Moves `next_column` to the column after it.
pub(super) fn read_cell(
    family: Family,
    column: &Column,
    row: &dyn ResultRow,
    next_column: &mut usize,
) -> Result<Option<Cell>> {
    let first_column = *next_column;
    *next_column += 1;
    let is_text = match family {
        Family::Sqlite => {
            *next_column += 1;
            row.read_int(first_column + 1)? == Some(1)
        }
        _ => column.form != Form::Bytes,
    };
    let bytes = match (family, is_text) {
        (Family::Postgres, true) => row.read_text(first_column)?.map(String::into_bytes),
        _ => row.read_bytes(first_column)?,
    };
    Ok(bytes.map(|bytes| Cell { bytes, is_text }))
}

/// Returns a value as a parameter of a statement.
pub(super) fn to_parameter<'v>(family: Family, column: &Column, is_text: bool, bytes: &'v [u8]) -> Result<Value<'v>> {
    if family == Family::Sqlite || !is_text {
        return Ok(Value::Bytes(bytes));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| {
        let text = format!("column {}: what is new is not UTF-8, and the column has text", column.name);
        Error::new(ErrorKind::Input, text)
    })?;
    Ok(Value::Text(text))
}

/// Returns the text of a key column of a row.
pub(super) fn read_key_text(family: Family, row: &dyn ResultRow, column: usize) -> Result<String> {
    if family != Family::Sqlite {
        return Ok(row.read_text(column)?.unwrap_or_default());
    }
    // SQLite text may be invalid UTF-8. A repaired key would name another row, or the same row again and again.
    let bytes = row.read_bytes(column)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|error| {
        let displayed = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let text =
            format!("the key of the row `{displayed}` is not UTF-8: --key must name another column with unique values");
        Error::new(ErrorKind::Input, text)
    })
}
