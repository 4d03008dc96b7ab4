//! Rows as another program reads and writes them, without the store: by SQL, or as documents.

use super::{TextRow, World};
use icecore_store::Scheme;

/// A value in a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'c> {
    Int(i64),
    Text(&'c str),
    Bytes(&'c [u8]),
    /// The value of this column in the same row.
    Column(&'c str),
}

/// Columns with their values.
pub type Cells<'c> = &'c [(&'c str, Cell<'c>)];

impl World {
    fn written(&self, cell: Cell<'_>) -> String {
        match cell {
            Cell::Int(number) => number.to_string(),
            Cell::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Cell::Bytes(bytes) => self.blob_literal(bytes),
            Cell::Column(name) => name.to_owned(),
        }
    }

    fn condition(&self, conditions: Cells<'_>) -> String {
        let all = conditions.iter().map(|(name, cell)| format!(" AND {name} = {}", self.written(*cell)));
        format!("WHERE 1 = 1{}", all.collect::<String>())
    }

    /// Returns the rows of a table that have these values, ordered by sequence.
    pub fn select(&self, table: &str, columns: &[&str], conditions: Cells<'_>) -> Vec<TextRow> {
        #[cfg(feature = "mongodb")]
        if self.address.scheme() == Scheme::Mongodb {
            return super::documents::select(&self.address, table, columns, conditions);
        }
        self.query_raw(&format!(
            "SELECT {} FROM {table} {} ORDER BY seq",
            columns.join(", "),
            self.condition(conditions)
        ))
    }

    /// Returns the number of rows of a table.
    pub fn count(&self, table: &str) -> usize {
        self.select(table, &["seq"], &[]).len()
    }

    /// Sets values in all rows of a table that have these values.
    pub fn change(&self, table: &str, values: Cells<'_>, conditions: Cells<'_>) {
        #[cfg(feature = "mongodb")]
        if self.address.scheme() == Scheme::Mongodb {
            return super::documents::change(&self.address, table, values, conditions);
        }
        let values: Vec<String> =
            values.iter().map(|(name, cell)| format!("{name} = {}", self.written(*cell))).collect();
        self.query_raw(&format!("UPDATE {table} SET {} {}", values.join(", "), self.condition(conditions)));
    }

    /// Adds a row.
    pub fn insert(&self, table: &str, values: Cells<'_>) {
        #[cfg(feature = "mongodb")]
        if self.address.scheme() == Scheme::Mongodb {
            return super::documents::insert(&self.address, table, values);
        }
        let (names, cells): (Vec<&str>, Vec<String>) =
            values.iter().map(|(name, cell)| (*name, self.written(*cell))).unzip();
        self.query_raw(&format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), cells.join(", ")));
    }

    /// Removes all rows.
    pub fn clear(&self, table: &str) {
        #[cfg(feature = "mongodb")]
        if self.address.scheme() == Scheme::Mongodb {
            return super::documents::clear(&self.address, table);
        }
        self.query_raw(&format!("DELETE FROM {table}"));
    }

    /// Leaves all indexes as a program does that was killed while it made them, after this
    /// sequence.
    pub fn unfinish_indexes(&self, after: i64) {
        #[cfg(feature = "mongodb")]
        if self.address.scheme() == Scheme::Mongodb {
            return super::documents::unfinish_indexes(&self.address, after);
        }
        self.query_raw("UPDATE icecore_indexes SET made_at = NULL");
        self.query_raw(&format!("DELETE FROM icecore_index_values WHERE seq > {after}"));
    }
}
