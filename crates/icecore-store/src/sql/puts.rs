//! Storing many objects with few statements.

use super::{SqlBackend, count_fitting};
use crate::describe;
use crate::dialect::RowBatching;
use crate::driver::{Session, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::object::NewObject;
use crate::rules::{check_name, fits_class_column, required};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

macro_rules! insert_objects_sql {
    ($rows:literal) => {
        concat!(
            "INSERT INTO icecore_objects (id, object_key, stored_at, expires_at, format, class, checksum, size, bytes, \
             base64, json, problem) ",
            $rows
        )
    };
}

/// An object with the texts of its row.
struct ObjectRow<'o> {
    object: &'o NewObject,
    id: String,
    class: Option<Cow<'o, str>>,
    base64: Option<String>,
    json: Option<Cow<'o, str>>,
    problem: Option<Cow<'o, str>>,
}

impl ObjectRow<'_> {
    fn from_object(object: &NewObject, id: Id) -> ObjectRow<'_> {
        let description = &object.description;
        ObjectRow {
            object,
            id: id.to_string(),
            class: description.class.as_deref().map(describe::without_nul).filter(|class| fits_class_column(class)),
            base64: object.as_base64.then(|| icecore::text::to_base64(&object.bytes)),
            json: description.json.as_deref().map(describe::without_nul),
            problem: description.problem.as_deref().map(describe::without_nul),
        }
    }

    fn to_values(&self) -> [Value<'_>; 12] {
        let (object, description) = (self.object, &self.object.description);
        let bytes = self.base64.is_none().then_some(&*object.bytes);
        [
            Value::Text(&self.id),
            Value::text_or_null(object.key.as_deref()),
            Value::int_or_null(object.stored_at),
            Value::int_or_null(object.expires_at),
            Value::text_or_null(description.format.as_deref()),
            Value::text_or_null(self.class.as_deref()),
            Value::Text(&description.checksum),
            Value::Int(object.bytes.len() as i64),
            Value::bytes_or_null(bytes),
            Value::text_or_null(self.base64.as_deref()),
            Value::text_or_null(self.json.as_deref()),
            Value::text_or_null(self.problem.as_deref()),
        ]
    }
}

/// Returns how many objects, from the first one on, go into one statement. An object with a key and those after it are
/// not counted.
fn count_for_statement(objects: &[NewObject], max_rows: usize) -> usize {
    let size = |object: &NewObject| object.bytes.len() * 2 + object.description.json.as_ref().map_or(0, String::len);
    count_fitting(objects.iter().take_while(|object| object.key.is_none()).map(size), max_rows)
}

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Stores objects within a transaction, with the values at these paths for the indexes.
    pub(super) fn insert_all(&mut self, objects: &[NewObject], ids: &[Id], paths: &[String]) -> Result<()> {
        let (mut rest, mut ids) = (objects, ids);
        while let Some(first) = rest.first() {
            // An object with a key is stored alone, after the check that its key is free.
            let count = match &first.key {
                Some(key) => self.check_key_is_free(key).map(|()| 1)?,
                None => self.rows_per_statement(|max_rows| count_for_statement(rest, max_rows)),
            };
            let sequences = self.insert_objects(&rest[..count], &ids[..count])?;
            self.insert_classes(&rest[..count], &sequences)?;
            if !paths.is_empty() {
                self.insert_index_values(&rest[..count], &sequences, paths)?;
            }
            (rest, ids) = (&rest[count..], &ids[count..]);
        }
        Ok(())
    }

    fn check_key_is_free(&mut self, key: &str) -> Result<()> {
        check_name("key", key)?;
        let sql = "SELECT seq FROM icecore_objects WHERE object_key = ?";
        match self.query_first(sql, &[Value::Text(key)], |row| row.read_int(0))? {
            Some(_) => Err(Error::new(ErrorKind::Taken, format!("another object has the key {key:?}"))),
            None => Ok(()),
        }
    }

    /// Inserts objects with one statement. Returns their sequences.
    fn insert_objects(&mut self, objects: &[NewObject], ids: &[Id]) -> Result<Vec<i64>> {
        let object_rows: Vec<ObjectRow<'_>> =
            objects.iter().zip(ids).map(|(object, id)| ObjectRow::from_object(object, *id)).collect();
        let rows: Vec<[Value<'_>; 12]> = object_rows.iter().map(ObjectRow::to_values).collect();
        let ids_and_sequences = match self.session.dialect().many {
            RowBatching::Lists if objects.len() > 1 => {
                let lists: [Vec<Value<'_>>; 12] =
                    std::array::from_fn(|column| rows.iter().map(|row| row[column]).collect());
                let values: Vec<Value<'_>> = lists.iter().map(|list| Value::List(list)).collect();
                let sql = insert_objects_sql!(
                    "SELECT id, object_key, COALESCE(stored_at, {now}), expires_at, format, class, checksum, size, bytes, \
                     base64, json, problem FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS BIGINT[]), \
                     CAST(? AS BIGINT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS BIGINT[]), \
                     CAST(? AS BYTEA[]), CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[])) WITH ORDINALITY \
                     AS fresh (id, object_key, stored_at, expires_at, format, class, checksum, size, bytes, base64, \
                     json, problem, place) ORDER BY place RETURNING id, seq"
                );
                self.query_all(sql, &values, |row| Ok((required(row.read_text(0)?)?, required(row.read_int(1)?)?)))?
            }
            _ => {
                let values: Vec<Value<'_>> = rows.iter().flatten().copied().collect();
                let sql = insert_objects_sql!(
                    "VALUES {each (?, ?, COALESCE(CAST(? AS {integer}), {now}), ?, ?, ?, ?, ?, ?, ?, ?, ?)}"
                );
                self.run_for_rows(sql, rows.len(), &values)?;
                let ids: Vec<Value<'_>> = object_rows.iter().map(|row| Value::Text(&row.id)).collect();
                let sql = "SELECT id, seq FROM icecore_objects WHERE id IN ({each ?})";
                self.query_all_repeated(sql, ids.len(), &ids, |row| {
                    Ok((required(row.read_text(0)?)?, required(row.read_int(1)?)?))
                })?
            }
        };
        let sequences: HashMap<String, i64> = ids_and_sequences.into_iter().collect();
        object_rows.iter().map(|row| required(sequences.get(&row.id).copied())).collect()
    }

    fn insert_classes(&mut self, objects: &[NewObject], sequences: &[i64]) -> Result<()> {
        let mut rows = Vec::new();
        for (object, sequence) in objects.iter().zip(sequences) {
            let mut unique_classes = HashSet::new();
            let classes = object.description.classes.iter().map(|class| describe::without_nul(class));
            let classes = classes.filter(|class| fits_class_column(class) && unique_classes.insert(class.clone()));
            rows.extend(classes.map(|class| (class, *sequence)));
        }
        let rows: Vec<[Value<'_>; 2]> =
            rows.iter().map(|(class, sequence)| [Value::Text(class), Value::Int(*sequence)]).collect();
        self.insert_each(
            "INSERT INTO icecore_object_classes (class, seq) SELECT class, seq FROM \
             unnest(CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS fresh (class, seq)",
            "INSERT INTO icecore_object_classes (class, seq) VALUES {each (?, ?)}",
            &rows,
        )
    }

    fn insert_index_values(&mut self, objects: &[NewObject], sequences: &[i64], paths: &[String]) -> Result<()> {
        let mut rows = Vec::new();
        for (object, sequence) in objects.iter().zip(sequences) {
            let mut unique_values = HashSet::new();
            for (path, value) in describe::find_index_values(&object.bytes, object.description.format.as_deref(), paths)
            {
                if unique_values.insert((path, value.clone())) {
                    rows.push((path, value, *sequence));
                }
            }
        }
        let rows: Vec<[Value<'_>; 3]> = rows
            .iter()
            .map(|(path, value, sequence)| [Value::Text(path), Value::Text(value), Value::Int(*sequence)])
            .collect();
        self.insert_each(
            "INSERT INTO icecore_index_values (path, value, seq) SELECT path, value, seq FROM \
             unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS BIGINT[])) AS fresh (path, value, seq)",
            "INSERT INTO icecore_index_values (path, value, seq) VALUES {each (?, ?, ?)}",
            &rows,
        )
    }

    /// Inserts rows with `list_sql` if the dialect has lists, otherwise with `row_sql` in groups of a size that the
    /// dialect allows.
    fn insert_each<const N: usize>(
        &mut self,
        list_sql: &'static str,
        row_sql: &'static str,
        rows: &[[Value<'_>; N]],
    ) -> Result<()> {
        let mut rest = rows;
        while !rest.is_empty() {
            let (group, others) = rest.split_at(self.rows_per_statement(|max_rows| rest.len().min(max_rows)));
            match self.session.dialect().many {
                RowBatching::Lists => {
                    let columns: [Vec<Value<'_>>; N] =
                        std::array::from_fn(|column| group.iter().map(|row| row[column]).collect());
                    let values: Vec<Value<'_>> = columns.iter().map(|list| Value::List(list)).collect();
                    self.run_statement(list_sql, &values)?;
                }
                RowBatching::Rows(_) => {
                    let values: Vec<Value<'_>> = group.iter().flatten().copied().collect();
                    self.run_for_rows(row_sql, group.len(), &values)?;
                }
            }
            rest = others;
        }
        Ok(())
    }
}
