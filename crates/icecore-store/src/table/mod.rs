//! Values in tables of other programs: read by ranges of the key, and changed only if nobody else changed them
//! in the meantime.
//!
//! ```
//! use icecore_store::table::{Change, Table};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("a.db");
//! # let connection = icecore_store::within::rusqlite::Connection::open(&file)?;
//! # connection.execute_batch("CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT); INSERT INTO notes VALUES (7, 'old')")?;
//! # let address = format!("sqlite:{}", file.display()).parse()?;
//! let mut table = Table::open(&address, "notes", None)?;
//! let rows = table.read_rows(None, &[0], 100)?;
//! let cell = rows[0].cells[0].as_ref().expect("no NULL");
//! assert_eq!((&*rows[0].key, &*cell.bytes), (&["7".to_owned()][..], &b"old"[..]));
//! let change = Change { key: &rows[0].key, column: 0, is_text: cell.is_text, old: &cell.bytes, new: b"new" };
//! assert_eq!(table.change(&[change])?, [true]);
//! // The value has changed meanwhile: nothing happens.
//! assert_eq!(table.change(&[change])?, [false]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalogue;
mod transaction;
mod values;

use crate::address::Address;
use crate::backend::Flow;
pub use crate::dialect::{Column, Form};
use crate::dialect::{Dialect, Family};
use crate::driver::{Session, Value, connect_unmanaged};
use crate::error::{Error, ErrorKind, Result};
use crate::query::Line;
pub use transaction::Transaction;

/// A read ends after the row with which it exceeds this number of bytes.
const MAX_READ_BYTES: usize = 16 << 20;

/// A key column, and its expressions in statements.
#[derive(Clone, Debug)]
struct Key {
    name: String,
    /// Expression that reads it as text.
    read_expression: String,
    /// Placeholder for its text in a condition.
    placeholder: String,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Bytes of the value. Text is in UTF-8, if the database knows its encoding.
    pub bytes: Vec<u8>,
    /// Whether the value is text.
    pub is_text: bool,
}

/// A row. It has its key as text, and the values of the requested columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Values of the key columns.
    pub key: Vec<String>,
    /// Values of the requested columns; `None` is NULL, or a value that is neither text nor bytes.
    pub cells: Vec<Option<Cell>>,
}

/// A change of a value.
#[derive(Clone, Copy, Debug)]
pub struct Change<'c> {
    /// Key of the row.
    pub key: &'c [String],
    /// Index in [`Table::columns`].
    pub column: usize,
    /// Whether the value is text, as in [`Cell::is_text`].
    pub is_text: bool,
    /// Value when it was read.
    pub old: &'c [u8],
    /// New value.
    pub new: &'c [u8],
}

/// A table of another program.
pub struct Table {
    session: Box<dyn Session + Send>,
    /// Its quoted name in statements.
    quoted: String,
    schema: Option<String>,
    name: String,
    columns: Vec<Column>,
    key: Vec<Key>,
}

impl Table {
    /// Finds a table, its columns and its primary key. `key` names a unique column to use instead of the primary key.
    ///
    /// # Errors
    /// Of kind `Missing`, if there is no such table or column; of kind `Input`, if the table has no key that
    /// identifies its rows, or the database has no tables.
    pub fn open(address: &Address, name: &str, key: Option<&str>) -> Result<Table> {
        if !address.has_tables() {
            let text = format!("{address} has no tables: only PostgreSQL, MariaDB, MySQL and SQLite have");
            return Err(Error::new(ErrorKind::Input, text));
        }
        // Placeholders for values are `?` in statements.
        if name.contains('?') || key.is_some_and(|key| key.contains('?')) {
            return Err(Error::new(ErrorKind::Input, "a name with a question mark can't be used"));
        }
        let session = connect_unmanaged(address)?;
        let mut table = Table {
            session,
            quoted: String::new(),
            schema: None,
            name: name.to_owned(),
            columns: Vec::new(),
            key: Vec::new(),
        };
        table.look_up_table(name, key)?;
        Ok(table)
    }

    fn dialect(&self) -> &'static Dialect {
        self.session.dialect()
    }

    /// Returns the name of the table, without its schema.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the schema, if the name included one.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// Returns the columns that contain text or bytes and are neither part of the key nor computed.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the names of the key columns.
    pub fn key_names(&self) -> Vec<&str> {
        self.key.iter().map(|key| &*key.name).collect()
    }

    /// Returns the next rows after this key, in the order of the key: at most `max_rows`, and fewer if they are long.
    /// An empty result means that there are no more rows.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn read_rows(&mut self, after: Option<&[String]>, columns: &[usize], max_rows: u32) -> Result<Vec<Row>> {
        let chosen: Vec<&Column> = columns.iter().filter_map(|column| self.columns.get(*column)).collect();
        let dialect = self.dialect();
        let mut reads: Vec<String> = self.key.iter().map(|key| key.read_expression.clone()).collect();
        for column in &chosen {
            reads.extend(dialect.read_value(column));
        }
        let mut sql = format!("SELECT {} FROM {}", reads.join(", "), self.quoted);
        let mut parameters = Vec::new();
        if let Some(after) = after {
            sql.push_str(&format!(" WHERE {}", after_key(&self.key, dialect)));
            parameters.extend(repeat_key_values(after).into_iter().map(Value::Text));
        }
        // Columns are given with the table's name, because in PostgreSQL the selected texts have the same names as
        // the columns.
        let name = |key: &Key| format!("{}.{}", self.quoted, dialect.quote_name(&key.name));
        let names: Vec<String> = self.key.iter().map(name).collect();
        sql.push_str(&format!(" ORDER BY {} LIMIT {max_rows}", names.join(", ")));
        let keys = self.key.len();
        let (mut rows, mut bytes) = (Vec::new(), 0);
        self.session.query_each(&sql, &parameters, &mut |row| {
            let key = (0..keys)
                .map(|column| values::read_key_text(dialect.family, row, column))
                .collect::<Result<Vec<_>>>()?;
            let mut cells = Vec::with_capacity(chosen.len());
            let mut next_column = keys;
            for column in &chosen {
                cells.push(values::read_cell(dialect.family, column, row, &mut next_column)?);
            }
            bytes += cells.iter().flatten().map(|cell| cell.bytes.len()).sum::<usize>();
            rows.push(Row { key, cells });
            Ok(if bytes >= MAX_READ_BYTES { Flow::Stop } else { Flow::Continue })
        })?;
        Ok(rows)
    }

    /// Returns whether a new value fits into a column, and is accepted by the database.
    pub fn accepts_value(&self, column: usize, is_text: bool, new: &[u8]) -> bool {
        let Some(column) = self.columns.get(column) else { return false };
        let is_counted_in_bytes =
            !is_text || (self.dialect().family == Family::Mysql && column.type_name.ends_with("text"));
        let len = match std::str::from_utf8(new) {
            _ if is_counted_in_bytes && !is_text => new.len(),
            Ok(text) if self.dialect().family == Family::Postgres && text.contains('\0') => return false,
            Ok(_) if is_counted_in_bytes => new.len(),
            Ok(text) => text.chars().count(),
            Err(_) if self.dialect().family != Family::Sqlite => return false,
            Err(_) => new.len(),
        };
        column.max_len.is_none_or(|max_len| len as u64 <= max_len)
    }

    /// Changes values in one transaction, each only if it still has its old value. Returns which ones were changed.
    ///
    /// # Errors
    /// Errors of the database. After an error, nothing is changed.
    pub fn change(&mut self, changes: &[Change<'_>]) -> Result<Vec<bool>> {
        let mut transaction = self.begin()?;
        let changed = transaction.change(changes)?;
        transaction.commit()?;
        Ok(changed)
    }

    fn change_one(&mut self, change: &Change<'_>) -> Result<bool> {
        let Some(column) = self.columns.get(change.column) else { return Ok(false) };
        let dialect = self.dialect();
        let name = dialect.quote_name(&column.name);
        let written = dialect.new_value_placeholder(column, change.is_text);
        let is_old = dialect.old_value_condition(&name, change.is_text);
        let is_key: Vec<String> =
            self.key.iter().map(|key| format!("{} = {}", dialect.quote_name(&key.name), key.placeholder)).collect();
        let sql = format!("UPDATE {} SET {name} = {written} WHERE {} AND {is_old}", self.quoted, is_key.join(" AND "));
        let old = values::to_parameter(dialect.family, column, change.is_text, change.old)?;
        let mut parameters = vec![values::to_parameter(dialect.family, column, change.is_text, change.new)?];
        parameters.extend(change.key.iter().map(|key| Value::Text(key)));
        parameters.push(old);
        Ok(self.session.run_statement(&sql, &parameters)? > 0)
    }
}

/// Returns the query for all rows of a table, whose name may begin with a schema; `None`, if the database has no
/// tables.
///
/// ```
/// use icecore_store::table::select_all;
/// let address = "mysql://shop@localhost/shop".parse()?;
/// assert_eq!(select_all(&address, "old.orders").as_deref(), Some("SELECT * FROM `old`.`orders`"));
/// # Ok::<(), icecore_store::Error>(())
/// ```
pub fn select_all(address: &Address, table: &str) -> Option<String> {
    let family = address.scheme().family()?;
    let parts: Vec<String> = table.split('.').map(|name| family.quote_name(name)).collect();
    Some(format!("SELECT * FROM {}", parts.join(".")))
}

/// Returns the sorted names of all tables of a database. In PostgreSQL, these are the tables of the current schema.
///
/// ```
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let file = folder.path().join("a.db");
/// let address = format!("sqlite:{}", file.display()).parse()?;
/// drop(icecore_store::open(&address)?);
/// assert!(icecore_store::table::list_names(&address)?.contains(&"icecore_jobs".to_owned()));
/// # Ok::<(), icecore_store::Error>(())
/// ```
///
/// # Errors
/// Errors of the database; of kind `Input`, if the database has no tables.
pub fn list_names(address: &Address) -> Result<Vec<String>> {
    let Some(family) = address.scheme().family() else {
        return Err(Error::new(ErrorKind::Input, format!("{address} has no tables")));
    };
    let mut names = Vec::new();
    crate::query(address, family.list_tables(), &mut |line| {
        if let Line::Values([first, ..]) = line
            && let Some(name) = first.as_bytes()
        {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        Ok(Flow::Continue)
    })?;
    Ok(names)
}

/// Returns the condition for all keys after a given one: `a > ? OR a = ? AND b > ?`.
fn after_key(key: &[Key], dialect: &Dialect) -> String {
    let comparison =
        |key: &Key, operator: &str| format!("{} {operator} {}", dialect.quote_name(&key.name), key.placeholder);
    let alternative = |last: usize| {
        let same = key.iter().take(last).map(|key| comparison(key, "="));
        let parts: Vec<String> = same.chain(key.get(last).map(|key| comparison(key, ">"))).collect();
        format!("({})", parts.join(" AND "))
    };
    (0..key.len()).map(alternative).collect::<Vec<_>>().join(" OR ")
}

/// Returns the values for [`after_key`].
fn repeat_key_values(after: &[String]) -> Vec<&str> {
    (0..after.len()).flat_map(|last| after.iter().take(last + 1).map(String::as_str)).collect()
}
