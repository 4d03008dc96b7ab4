//! Columns and key of a table, from the catalogue of the database.

use super::{Column, Key, Table};
use crate::backend::Flow;
use crate::dialect::Family;
use crate::driver::Value;
use crate::error::{Error, ErrorKind, Result};

/// A column in the catalogue.
struct CatalogueColumn {
    name: String,
    /// Name of its type without parameters. It determines the form of the values.
    base_type: String,
    /// Name of its type in casts.
    cast_type: String,
    /// Maximum length of a value, if there is one.
    max_len: Option<u64>,
    is_computed: bool,
    /// Position in the primary key, counted from 1. It is 0 if the column is not part of the key.
    key_position: i64,
}

impl Table {
    /// Finds the table by its name. The name may begin with a schema.
    pub(super) fn look_up_table(&mut self, name: &str, key: Option<&str>) -> Result<()> {
        let mut catalogue = self.read_catalogue(None, name)?;
        self.quoted = self.dialect().quote_name(name);
        if catalogue.is_empty()
            && let Some((schema, name)) = name.split_once('.')
        {
            catalogue = self.read_catalogue(Some(schema), name)?;
            (self.schema, self.name) = (Some(schema.to_owned()), name.to_owned());
            self.quoted = format!("{}.{}", self.dialect().quote_name(schema), self.dialect().quote_name(name));
        }
        if catalogue.is_empty() {
            return Err(Error::new(ErrorKind::Missing, format!("there is no table `{name}`")));
        }
        if let Some(column) = catalogue.iter().find(|column| column.name.contains('?')) {
            let text = format!("column `{}`: a name with a question mark can't be used", column.name);
            return Err(Error::new(ErrorKind::Input, text));
        }
        self.find_key(&catalogue, key)?;
        let is_key = |name: &str| self.key.iter().any(|key| key.name == name);
        let dialect = self.dialect();
        let usable_column = |column: &CatalogueColumn| {
            let form = dialect
                .value_form_of_type(&column.base_type)
                .filter(|_| !column.is_computed && !is_key(&column.name))?;
            let (name, type_name) = (column.name.clone(), column.base_type.clone());
            Some(Column { name, form, max_len: column.max_len, type_name })
        };
        self.columns = catalogue.iter().filter_map(usable_column).collect();
        Ok(())
    }

    /// Sets the key. It is the column that the caller chose, the primary key, or the row id of SQLite.
    fn find_key(&mut self, catalogue: &[CatalogueColumn], chosen: Option<&str>) -> Result<()> {
        let mut key_columns: Vec<(&str, &str)> = match chosen {
            Some(chosen) => {
                let column = catalogue
                    .iter()
                    .find(|column| column.name == chosen)
                    .or_else(|| catalogue.iter().find(|column| column.name.eq_ignore_ascii_case(chosen)));
                let column = column.ok_or_else(|| {
                    Error::new(ErrorKind::Missing, format!("there is no column `{chosen}` in `{}`", self.name))
                })?;
                vec![(&column.name, &column.cast_type)]
            }
            None => {
                let mut columns: Vec<&CatalogueColumn> =
                    catalogue.iter().filter(|column| column.key_position > 0).collect();
                columns.sort_by_key(|column| column.key_position);
                columns.iter().map(|column| (&*column.name, &*column.cast_type)).collect()
            }
        };
        if chosen.is_none() && self.dialect().family == Family::Sqlite && self.has_rowid()? && !is_rowid(&key_columns) {
            let is_free = |name: &&&str| !catalogue.iter().any(|column| column.name.eq_ignore_ascii_case(name));
            key_columns =
                ["rowid", "_rowid_", "oid"].iter().find(is_free).map(|name| (*name, "INTEGER")).into_iter().collect();
        }
        if key_columns.is_empty() {
            let text =
                format!("the table `{}` has no primary key: --key COLUMN names a column with unique values", self.name);
            return Err(Error::new(ErrorKind::Input, text));
        }
        let dialect = self.dialect();
        let key = |(name, type_name): &(&str, &str)| {
            let (read_expression, placeholder) = dialect.key_expressions(name, type_name).ok_or_else(|| {
                Error::new(
                    ErrorKind::Input,
                    format!("the key `{name}` contains bytes: --key must name a column of numbers or text"),
                )
            })?;
            Ok(Key { name: (*name).to_owned(), read_expression, placeholder })
        };
        self.key = key_columns.iter().map(key).collect::<Result<_>>()?;
        if chosen.is_some() { self.check_unique() } else { Ok(()) }
    }

    /// Checks that the key is unique, because rows with the same key would be skipped.
    fn check_unique(&mut self) -> Result<()> {
        let Some(key) = self.key.first() else { return Ok(()) };
        let name = self.dialect().quote_name(&key.name);
        let sql = format!(
            "SELECT {} FROM {} GROUP BY {name} HAVING COUNT(*) > 1 OR {name} IS NULL LIMIT 1",
            key.read_expression, self.quoted
        );
        let mut has_duplicates = false;
        self.session.query_each(&sql, &[], &mut |_| {
            has_duplicates = true;
            Ok(Flow::Stop)
        })?;
        if !has_duplicates {
            return Ok(());
        }
        let text = format!("the column `{}` has duplicate values or NULL: it can't identify rows", key.name);
        Err(Error::new(ErrorKind::Input, text))
    }

    /// Returns true if the table has SQLite's row id. A view and a table WITHOUT ROWID do not have one.
    fn has_rowid(&mut self) -> Result<bool> {
        let sql = "SELECT COUNT(*) FROM pragma_table_list WHERE name = ? AND schema = COALESCE(?, 'main') AND wr = 0 AND type = 'table'";
        let mut has_rowid = false;
        self.session.query_each(
            sql,
            &[Value::Text(&self.name), Value::text_or_null(self.schema.as_deref())],
            &mut |row| {
                has_rowid = row.read_int(0)? > Some(0);
                Ok(Flow::Stop)
            },
        )?;
        Ok(has_rowid)
    }

    /// Returns the columns of a table, in order.
    fn read_catalogue(&mut self, schema: Option<&str>, name: &str) -> Result<Vec<CatalogueColumn>> {
        let mut columns = Vec::new();
        let quoted = match schema {
            Some(schema) => format!("{}.{}", self.dialect().quote_name(schema), self.dialect().quote_name(name)),
            None => self.dialect().quote_name(name),
        };
        let (sql, values) = match self.dialect().family {
            Family::Sqlite => (SQLITE, vec![Value::Text(name), Value::text_or_null(schema)]),
            Family::Postgres => (POSTGRES, vec![Value::Text(&quoted)]),
            Family::Mysql => (MYSQL, vec![Value::text_or_null(schema), Value::Text(name)]),
        };
        self.session.query_each(sql, &values, &mut |row| {
            let text = |column| Ok::<_, Error>(row.read_text(column)?.unwrap_or_default());
            // The columns of the three queries below.
            columns.push(CatalogueColumn {
                name: text(0)?,
                base_type: text(1)?,
                cast_type: text(2)?,
                max_len: row.read_text(3)?.and_then(|number| number.parse().ok()),
                is_computed: row.read_int(4)? != Some(0),
                key_position: row.read_int(5)?.unwrap_or(0),
            });
            Ok(Flow::Continue)
        })?;
        Ok(columns)
    }
}

/// Returns whether the primary key is SQLite's row id.
fn is_rowid(key: &[(&str, &str)]) -> bool {
    matches!(key, [(_, type_name)] if type_name.eq_ignore_ascii_case("integer"))
}

const SQLITE: &str = "\
SELECT name, type, type, NULL, hidden IN (2, 3), pk FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid";

const POSTGRES: &str = "\
SELECT CAST(a.attname AS text), CAST(t.typname AS text), format_type(a.atttypid, a.atttypmod),
    CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN CAST(a.atttypmod - 4 AS text) END,
    CASE WHEN a.attgenerated = '' THEN 0 ELSE 1 END,
    COALESCE(array_position(CAST(i.indkey AS int2[]), a.attnum) + 1, 0)
FROM pg_attribute a
JOIN pg_type own ON own.oid = a.atttypid
JOIN pg_type t ON t.oid = COALESCE(NULLIF(own.typbasetype, 0), own.oid)
LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
WHERE a.attrelid = to_regclass(CAST(? AS text)) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum";

const MYSQL: &str = "\
SELECT c.COLUMN_NAME, c.DATA_TYPE, c.COLUMN_TYPE, CAST(c.CHARACTER_MAXIMUM_LENGTH AS CHAR),
    CAST(c.EXTRA LIKE '%VIRTUAL GENERATED%' OR c.EXTRA LIKE '%STORED GENERATED%' AS SIGNED),
    CAST(COALESCE(s.SEQ_IN_INDEX, 0) AS SIGNED)
FROM information_schema.COLUMNS c
LEFT JOIN information_schema.STATISTICS s ON s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME
    AND s.COLUMN_NAME = c.COLUMN_NAME AND s.INDEX_NAME = 'PRIMARY'
WHERE c.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND c.TABLE_NAME = ?
ORDER BY c.ORDINAL_POSITION";
