//! Transactions on a table. Values are changed, and read back before the commit.

use super::{Change, Column, Row, Table, values};
use crate::backend::Flow;
use crate::driver::Value;
use crate::error::{Error, ErrorKind, Result};

/// Number of keys in one query. It is constant, so that a connection keeps few prepared statements.
const KEYS_PER_QUERY: usize = 32;

/// A transaction on a table. It changes nothing if it is dropped without [`Transaction::commit`].
///
/// ```
/// use icecore_store::table::{Change, Table};
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("a.db");
/// # let connection = icecore_store::within::rusqlite::Connection::open(&file)?;
/// # connection.execute_batch("CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT); INSERT INTO notes VALUES (7, 'old')")?;
/// # let address = format!("sqlite:{}", file.display()).parse()?;
/// let mut table = Table::open(&address, "notes", None)?;
/// let key = ["7".to_owned()];
/// let mut transaction = table.begin()?;
/// transaction.change(&[Change { key: &key, column: 0, is_text: true, old: b"old", new: b"new" }])?;
/// let mut stored = Vec::new();
/// transaction.find_rows(&[&key], &[0], &mut |row| {
///     stored.push(row);
///     Ok(())
/// })?;
/// assert_eq!(stored[0].cells[0].as_ref().expect("no NULL").bytes, b"new");
/// transaction.commit()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Transaction<'t> {
    table: &'t mut Table,
    is_open: bool,
}

impl Table {
    /// Begins a transaction.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn begin(&mut self) -> Result<Transaction<'_>> {
        self.session.begin()?;
        Ok(Transaction { table: self, is_open: true })
    }

    /// Passes the rows with these keys to `each` as they are stored now, in any order. Keys without a row are skipped.
    /// A database that treats `a` and `A` as equal may return a row whose key is spelled differently.
    ///
    /// Unlike [`Table::read_rows`], this passes a number in SQLite as its text.
    ///
    /// # Errors
    /// Of kind `Input`, if a key has another number of columns than the table's key; errors of the database; errors of
    /// `each`.
    pub fn find_rows(
        &mut self,
        keys: &[&[String]],
        columns: &[usize],
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        if let Some(key) = keys.iter().find(|key| key.len() != self.key.len()) {
            let text = format!("a key of `{}` has {} columns, not {}", self.name, self.key.len(), key.len());
            return Err(Error::new(ErrorKind::Input, text));
        }
        let chosen: Vec<&Column> = columns.iter().filter_map(|column| self.columns.get(*column)).collect();
        let dialect = self.dialect();
        let mut reads: Vec<String> = self.key.iter().map(|key| key.read_expression.clone()).collect();
        for column in &chosen {
            reads.extend(dialect.read_as_stored(column));
        }
        let is_key: Vec<String> =
            self.key.iter().map(|key| format!("{} = {}", dialect.quote_name(&key.name), key.placeholder)).collect();
        let is_key = format!("({})", is_key.join(" AND "));
        let key_len = self.key.len();
        for keys in keys.chunks(KEYS_PER_QUERY) {
            let Some(last) = keys.last() else { break };
            let key_count = if keys.len() == 1 { 1 } else { KEYS_PER_QUERY };
            let conditions = vec![&*is_key; key_count].join(" OR ");
            let sql = format!("SELECT {} FROM {} WHERE {conditions}", reads.join(", "), self.quoted);
            let padding = std::iter::repeat_n(last, key_count - keys.len());
            let values: Vec<Value<'_>> =
                keys.iter().chain(padding).flat_map(|key| key.iter()).map(|part| Value::Text(part)).collect();
            self.session.query_each(&sql, &values, &mut |row| {
                let key = (0..key_len)
                    .map(|column| values::read_key_text(dialect.family, row, column))
                    .collect::<Result<Vec<_>>>()?;
                let mut cells = Vec::with_capacity(chosen.len());
                let mut next_column = key_len;
                for column in &chosen {
                    cells.push(values::read_cell(dialect.family, column, row, &mut next_column)?);
                }
                each(Row { key, cells })?;
                Ok(Flow::Continue)
            })?;
        }
        Ok(())
    }
}

impl Transaction<'_> {
    /// Returns the table.
    pub fn table(&self) -> &Table {
        self.table
    }

    /// Changes values, each only if it still has its old value. Returns which ones were changed.
    ///
    /// # Errors
    /// Errors of the database. The transaction can't be used after an error.
    pub fn change(&mut self, changes: &[Change<'_>]) -> Result<Vec<bool>> {
        changes.iter().map(|change| self.table.change_one(change)).collect()
    }

    /// Passes rows to `each` as this transaction sees them, like [`Table::find_rows`].
    ///
    /// # Errors
    /// As for [`Table::find_rows`].
    pub fn find_rows(
        &mut self,
        keys: &[&[String]],
        columns: &[usize],
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        self.table.find_rows(keys, columns, each)
    }

    /// Commits the changes. They are durable when this returns.
    ///
    /// # Errors
    /// Errors of the database. With kind `Away`, the changes may have been committed.
    pub fn commit(mut self) -> Result<()> {
        self.table.session.commit()?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.table.session.rollback();
        }
    }
}
