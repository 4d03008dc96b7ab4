//! Objects in SQL databases.

use super::{Session, SqlBackend, error_in_row};
use crate::backend::{Each, EachLent, Flow, ObjectStats, Objects};
use crate::describe;
use crate::driver::{ResultRow, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::object::{LentObject, NewObject, Object, ObjectFilter};
use crate::page_query::{OBJECTS_PER_QUERY, PathValue, walk_pages};
use crate::rules::{check_actor_name, check_name, decode_base64, fits_class_column, parse_id, required};
use std::borrow::Cow;

/// Query for objects, with columns in the order of [`object_from_row`], followed by more conditions.
macro_rules! select_objects {
    ($json:literal, $conditions:literal) => {
        concat!(
            "SELECT o.id, o.seq, o.object_key, o.stored_at, o.expires_at, o.format, o.class, o.checksum, o.bytes, \
             o.base64, ",
            $json,
            ", o.problem FROM icecore_objects o ",
            $conditions
        )
    };
    ($conditions:literal) => {
        ObjectQueries {
            with_json: select_objects!("o.json", $conditions),
            without_json: select_objects!("NULL", $conditions),
        }
    };
}

/// A query for objects with their readable copies, and the same query without them.
struct ObjectQueries {
    with_json: &'static str,
    without_json: &'static str,
}

/// Whether a query returns the readable copies of objects.
#[derive(Clone, Copy)]
enum JsonColumn {
    Included,
    Omitted,
}

impl ObjectQueries {
    fn choose_query(&self, json: JsonColumn) -> &'static str {
        match json {
            JsonColumn::Included => self.with_json,
            JsonColumn::Omitted => self.without_json,
        }
    }
}

fn object_from_row(row: &dyn ResultRow) -> Result<LentObject<'_>> {
    Ok(Object {
        id: parse_id(row.borrow_text(0)?)?,
        sequence: required(row.read_int(1)?)?,
        key: row.borrow_text(2)?,
        stored_at: required(row.read_int(3)?)?,
        expires_at: row.read_int(4)?,
        format: row.borrow_text(5)?,
        class: row.borrow_text(6)?,
        checksum: required(row.borrow_text(7)?)?,
        bytes: match row.borrow_bytes(8)? {
            Some(bytes) => bytes,
            None => decode_base64(&required(row.borrow_text(9)?)?)?.into(),
        },
        json: row.borrow_text(10)?,
        problem: row.borrow_text(11)?,
    })
}

/// Maximum number of objects handled in one transaction.
const MAX_PAGE_OBJECTS: usize = 1_000;
/// Maximum size in bytes of the objects that are held in memory.
const MAX_PAGE_BYTES: usize = 16 << 20;

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Stores the values at these paths in the index.
    fn index_object(&mut self, sequence: i64, bytes: &[u8], format: Option<&str>, paths: &[String]) -> Result<()> {
        for (path, value) in describe::find_index_values(bytes, format, paths) {
            self.run_statement(
                "INSERT INTO icecore_index_values (path, value, seq) VALUES (?, ?, ?) {or_nothing}",
                &[Value::Text(path), Value::Text(&value), Value::Int(sequence)],
            )?;
        }
        Ok(())
    }

    fn find_object(&mut self, sql: &'static str, value: &str) -> Result<Option<Object>> {
        self.query_first(sql, &[Value::Text(value)], |row| Ok(object_from_row(row)?.to_owned_object()))
    }

    /// Passes objects to `each`.
    fn each_object(
        &mut self,
        after: i64,
        max_objects: usize,
        filter: &ObjectFilter,
        json: JsonColumn,
        each: EachLent<'_>,
    ) -> Result<()> {
        let path_value = filter.path_value.as_ref().map(|(path, value)| PathValue::new(path, value)).transpose()?;
        let uses_index = match &path_value {
            Some(path_value) => self.indexes()?.iter().any(|path| path == path_value.path()),
            None => false,
        };
        if filter.class.as_ref().is_some_and(|class| !fits_class_column(class)) {
            return Ok(());
        }
        let indexed = path_value.as_ref().filter(|_| uses_index);
        let mut page = |after, page_size, each: EachLent<'_>| {
            let path_and_value = indexed.map(|path_value| (path_value.path(), path_value.value()));
            self.list_object_page(after, page_size, filter, (json, path_and_value), each)
        };
        walk_pages(OBJECTS_PER_QUERY, after, max_objects, path_value.as_ref().filter(|_| !uses_index), &mut page, each)
    }

    /// Passes the objects of one page to `each`. A path and its value are searched through the index.
    fn list_object_page(
        &mut self,
        after: i64,
        max_objects: usize,
        filter: &ObjectFilter,
        (json, path_and_value): (JsonColumn, Option<(&str, &str)>),
        each: EachLent<'_>,
    ) -> Result<()> {
        let limit = Value::Int(i64::try_from(max_objects).unwrap_or(i64::MAX));
        let is_quarantined = Value::int_or_null(filter.quarantined.map(i64::from));
        let before = Value::Int(filter.before.unwrap_or(i64::MAX));
        let class = filter.class.as_deref().map(describe::without_nul);
        let class = Value::text_or_null(class.as_deref());
        let after = Value::Int(after);
        let mut pass_row = |row: &dyn ResultRow| each(object_from_row(row).map_err(|error| error_in_row(row, &error))?);
        if let Some((path, value)) = path_and_value {
            return self.query_each(
                select_objects!(
                    "JOIN icecore_index_values v ON v.seq = o.seq WHERE v.path = ? AND v.value = ? AND v.seq > ? \
                     AND o.stored_at < ? AND (CAST(? AS {integer}) IS NULL OR (o.problem IS NOT NULL) = (? <> 0)) \
                     AND (CAST(? AS {string}) IS NULL OR o.seq IN (SELECT seq FROM icecore_object_classes WHERE \
                     class = ?)) ORDER BY v.seq LIMIT ?"
                )
                .choose_query(json),
                &[
                    Value::Text(path),
                    Value::Text(value),
                    after,
                    before,
                    is_quarantined,
                    is_quarantined,
                    class,
                    class,
                    limit,
                ],
                &mut pass_row,
            );
        }
        if filter.class.is_none() {
            return self.query_each(
                select_objects!(
                    "WHERE o.seq > ? AND o.stored_at < ? AND (CAST(? AS {integer}) IS NULL OR \
                     (o.problem IS NOT NULL) = (? <> 0)) ORDER BY o.seq LIMIT ?"
                )
                .choose_query(json),
                &[after, before, is_quarantined, is_quarantined, limit],
                &mut pass_row,
            );
        }
        self.query_each(
            select_objects!(
                "JOIN icecore_object_classes c ON c.seq = o.seq WHERE c.class = ? AND c.seq > ? AND o.stored_at < ? \
                 AND (CAST(? AS {integer}) IS NULL OR (o.problem IS NOT NULL) = (? <> 0)) ORDER BY c.seq LIMIT ?"
            )
            .choose_query(json),
            &[class, after, before, is_quarantined, is_quarantined, limit],
            &mut pass_row,
        )
    }

    /// Removes an object. Returns whether it existed and nobody else removed it in the meantime.
    fn delete_object(&mut self, sequence: i64) -> Result<bool> {
        let sequence = [Value::Int(sequence)];
        let count = self.run_statement("DELETE FROM icecore_objects WHERE seq = ?", &sequence)?;
        self.run_statement("DELETE FROM icecore_object_classes WHERE seq = ?", &sequence)?;
        self.run_statement("DELETE FROM icecore_index_values WHERE seq = ?", &sequence)?;
        Ok(count > 0)
    }
}

impl<S: Session + ?Sized> Objects for SqlBackend<S> {
    fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>> {
        let ids: Vec<Id> = objects.iter().map(|object| object.id.unwrap_or_else(Id::new)).collect();
        self.run_in_transaction(|backend| {
            // Programs that store objects share this lock, and `index` takes it exclusively. So an object is either
            // stored before a new index is visible, or with its value in that index. `{as_now}` also finds an
            // index that was added after this transaction began.
            backend.query_first("SELECT value FROM icecore_meta WHERE name = 'version' {share}", &[], |row| {
                row.read_int(0)
            })?;
            let paths = backend
                .query_all("SELECT path FROM icecore_indexes {as_now}", &[], |row| required(row.read_text(0)?))?;
            backend.insert_all(objects, &ids, &paths)
        })?;
        Ok(ids)
    }

    fn object(&mut self, id: Id) -> Result<Option<Object>> {
        self.find_object(select_objects!("o.json", "WHERE o.id = ?"), &id.to_string())
    }

    fn object_named(&mut self, key: &str) -> Result<Option<Object>> {
        // An object can't have such a key, and some databases do not accept the key as a parameter.
        if check_name("key", key).is_err() {
            return Ok(None);
        }
        self.find_object(select_objects!("o.json", "WHERE o.object_key = ?"), key)
    }

    fn objects(&mut self, after: i64, max_objects: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()> {
        self.each_object(after, max_objects, filter, JsonColumn::Included, &mut |object| each(object.to_owned_object()))
    }

    fn walk(&mut self, after: i64, max_objects: usize, filter: &ObjectFilter, each: EachLent<'_>) -> Result<()> {
        self.each_object(after, max_objects, filter, JsonColumn::Omitted, each)
    }

    fn remove(&mut self, ids: &[Id], actor: &str) -> Result<u64> {
        check_actor_name(actor)?;
        self.run_in_transaction(|backend| {
            let mut count = 0;
            for id in ids {
                let text = id.to_string();
                let sql = "SELECT seq FROM icecore_objects WHERE id = ?";
                if let Some(sequence) =
                    backend.query_first(sql, &[Value::Text(&text)], |row| required(row.read_int(0)?))?
                    && backend.delete_object(sequence)?
                {
                    backend.add_audit_entry(actor, "rm", &text, 1)?;
                    count += 1;
                }
            }
            Ok(count)
        })
    }

    fn remove_expired(&mut self) -> Result<u64> {
        let mut count = 0;
        loop {
            let removed = self.run_in_transaction(|backend| {
                let sql = "SELECT seq FROM icecore_objects WHERE expires_at <= {now} ORDER BY expires_at LIMIT 1000 \
                           {skip_locked}";
                let expired = backend.query_all(sql, &[], |row| required(row.read_int(0)?))?;
                for sequence in &expired {
                    backend.delete_object(*sequence)?;
                }
                if !expired.is_empty() {
                    backend.add_audit_entry("retention", "expire", "", expired.len() as u64)?;
                }
                Ok(expired.len())
            })?;
            count += removed as u64;
            // `MAX_PAGE_OBJECTS` is the LIMIT of the query. With fewer rows, all expired objects are removed, or
            // others have locked the rest.
            if removed < MAX_PAGE_OBJECTS {
                return Ok(count);
            }
        }
    }

    fn quarantine(&mut self, id: Id, problem: &str) -> Result<()> {
        let changed = self.run_statement(
            "UPDATE icecore_objects SET problem = ? WHERE id = ?",
            &[Value::Text(&describe::without_nul(problem)), Value::Text(&id.to_string())],
        )?;
        if changed == 1 { Ok(()) } else { Err(Error::new(ErrorKind::Missing, format!("there is no object {id}"))) }
    }

    /// Returns only complete indexes. A complete index also contains the objects that were stored before it was
    /// added.
    fn indexes(&mut self) -> Result<Vec<String>> {
        self.query_all("SELECT path FROM icecore_indexes WHERE made_at IS NOT NULL ORDER BY path", &[], |row| {
            required(row.read_text(0)?)
        })
    }

    fn index(&mut self, path: &str) -> Result<()> {
        describe::check_path(path)?;
        // This change takes the lock that `put` shares. From here on, all programs store the value of each new object
        // in the index. Older objects are added below. The index is used only when all of them are added, because a
        // program may end before that.
        self.run_in_transaction(|backend| {
            backend.run_statement("UPDATE icecore_meta SET value = value WHERE name = 'version'", &[])?;
            backend.run_statement("INSERT INTO icecore_indexes (path) VALUES (?) {or_nothing}", &[Value::Text(path)])
        })?;
        let paths = [path.to_owned()];
        let mut after = 0;
        loop {
            let (mut page, mut size) = (Vec::new(), 0);
            self.walk(after, MAX_PAGE_OBJECTS, &ObjectFilter::default(), &mut |object| {
                size += object.bytes.len();
                page.push((object.sequence, object.bytes.into_owned(), object.format.map(Cow::into_owned)));
                Ok(if size < MAX_PAGE_BYTES { Flow::Continue } else { Flow::Stop })
            })?;
            let Some((last, ..)) = page.last() else { break };
            after = *last;
            self.run_in_transaction(|backend| {
                page.iter().try_for_each(|(sequence, bytes, format)| {
                    backend.index_object(*sequence, bytes, format.as_deref(), &paths)
                })
            })?;
        }
        let sql = "UPDATE icecore_indexes SET made_at = {now} WHERE path = ? AND made_at IS NULL";
        self.run_statement(sql, &[Value::Text(path)]).map(drop)
    }

    fn object_stats(&mut self) -> Result<ObjectStats> {
        let count =
            |row: &dyn ResultRow, column| -> Result<u64> { Ok(row.read_int(column)?.unwrap_or(0).max(0) as u64) };
        let found = self.query_first(
            "SELECT COUNT(*), CAST(SUM(size) AS {integer}), COUNT(problem), MIN(stored_at), MAX(stored_at) \
             FROM icecore_objects",
            &[],
            |row| {
                Ok(ObjectStats {
                    count: count(row, 0)?,
                    bytes: count(row, 1)?,
                    quarantined: count(row, 2)?,
                    first_at: row.read_int(3)?,
                    last_at: row.read_int(4)?,
                    ..ObjectStats::default()
                })
            },
        )?;
        let formats = self.query_all(
            "SELECT format, COUNT(*) FROM icecore_objects GROUP BY format ORDER BY COUNT(*) DESC, format",
            &[],
            |row| Ok((row.read_text(0)?, count(row, 1)?)),
        )?;
        let classes = self.query_all(
            "SELECT class, COUNT(*) FROM icecore_objects WHERE class IS NOT NULL GROUP BY class \
             ORDER BY COUNT(*) DESC, class",
            &[],
            |row| Ok((required(row.read_text(0)?)?, count(row, 1)?)),
        )?;
        Ok(ObjectStats { formats, classes, ..required(found)? })
    }
}
