//! Objects in SQL databases.

use super::{Session, SqlBackend, in_row};
use crate::backend::{Each, EachLent, Flow, ObjectStats, Objects};
use crate::describe;
use crate::driver::{Row, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::object::{LentObject, NewObject, Object, ObjectFilter};
use crate::rules::{check_name, check_who, from_base64, id_of, is_kept, required};
use crate::walking::{ASKED, At, walk};
use std::borrow::Cow;

/// Query for objects, with columns in the order of [`object_of`], followed by more conditions.
macro_rules! objects {
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
        Selects { whole: objects!("o.json", $conditions), lean: objects!("NULL", $conditions) }
    };
}

/// A query for objects with their readable copies, and the same query without them.
struct Selects {
    whole: &'static str,
    lean: &'static str,
}

/// Which of the two queries to use.
#[derive(Clone, Copy)]
enum Columns {
    Whole,
    Lean,
}

impl Selects {
    fn of(&self, columns: Columns) -> &'static str {
        match columns {
            Columns::Whole => self.whole,
            Columns::Lean => self.lean,
        }
    }
}

fn object_of(row: &dyn Row) -> Result<LentObject<'_>> {
    Ok(Object {
        id: id_of(row.lent_text(0)?)?,
        sequence: required(row.int(1)?)?,
        key: row.lent_text(2)?,
        stored_at: required(row.int(3)?)?,
        expires_at: row.int(4)?,
        format: row.lent_text(5)?,
        class: row.lent_text(6)?,
        checksum: required(row.lent_text(7)?)?,
        bytes: match row.lent_bytes(8)? {
            Some(bytes) => bytes,
            None => from_base64(&required(row.lent_text(9)?)?)?.into(),
        },
        json: row.lent_text(10)?,
        problem: row.lent_text(11)?,
    })
}

/// Number of objects handled in one transaction.
const PAGE: usize = 1_000;
/// Maximum size in bytes of the objects that are held in memory.
const PAGE_BYTES: usize = 16 << 20;

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Stores the values at these paths in the index.
    fn put_values(&mut self, sequence: i64, bytes: &[u8], format: Option<&str>, paths: &[String]) -> Result<()> {
        for (path, value) in describe::values_at(bytes, format, paths) {
            self.run(
                "INSERT INTO icecore_index_values (path, value, seq) VALUES (?, ?, ?) {or_nothing}",
                &[Value::Text(path), Value::Text(&value), Value::Int(sequence)],
            )?;
        }
        Ok(())
    }

    fn object_by(&mut self, sql: &'static str, value: &str) -> Result<Option<Object>> {
        self.first(sql, &[Value::Text(value)], |row| Ok(object_of(row)?.kept()))
    }

    fn each_object(
        &mut self,
        after: i64,
        most: usize,
        filter: &ObjectFilter,
        columns: Columns,
        each: EachLent<'_>,
    ) -> Result<()> {
        let at = filter.at.as_ref().map(|(path, value)| At::new(path, value)).transpose()?;
        let by_index = match &at {
            Some(at) => self.indexes()?.iter().any(|path| path == at.path()),
            None => false,
        };
        if filter.class.as_ref().is_some_and(|class| !is_kept(class)) {
            return Ok(());
        }
        let indexed = at.as_ref().filter(|_| by_index);
        let mut page = |after, asked, each: EachLent<'_>| {
            let at = indexed.map(|at| (at.path(), at.value()));
            self.object_page(after, asked, filter, (columns, at), each)
        };
        walk(ASKED, after, most, at.as_ref().filter(|_| !by_index), &mut page, each)
    }

    fn object_page(
        &mut self,
        after: i64,
        most: usize,
        filter: &ObjectFilter,
        (columns, at): (Columns, Option<(&str, &str)>),
        each: EachLent<'_>,
    ) -> Result<()> {
        let most = Value::Int(i64::try_from(most).unwrap_or(i64::MAX));
        let is_marked = Value::int(filter.quarantined.map(i64::from));
        let before = Value::Int(filter.before.unwrap_or(i64::MAX));
        let class = filter.class.as_deref().map(describe::without_nul);
        let class = Value::text(class.as_deref());
        let after = Value::Int(after);
        let mut take = |row: &dyn Row| each(object_of(row).map_err(|error| in_row(row, &error))?);
        if let Some((path, value)) = at {
            return self.ask(
                objects!(
                    "JOIN icecore_index_values v ON v.seq = o.seq WHERE v.path = ? AND v.value = ? AND v.seq > ? \
                     AND o.stored_at < ? AND (CAST(? AS {integer}) IS NULL OR (o.problem IS NOT NULL) = (? <> 0)) \
                     AND (CAST(? AS {string}) IS NULL OR o.seq IN (SELECT seq FROM icecore_object_classes WHERE \
                     class = ?)) ORDER BY v.seq LIMIT ?"
                )
                .of(columns),
                &[Value::Text(path), Value::Text(value), after, before, is_marked, is_marked, class, class, most],
                &mut take,
            );
        }
        if filter.class.is_none() {
            return self.ask(
                objects!(
                    "WHERE o.seq > ? AND o.stored_at < ? AND (CAST(? AS {integer}) IS NULL OR \
                     (o.problem IS NOT NULL) = (? <> 0)) ORDER BY o.seq LIMIT ?"
                )
                .of(columns),
                &[after, before, is_marked, is_marked, most],
                &mut take,
            );
        }
        self.ask(
            objects!(
                "JOIN icecore_object_classes c ON c.seq = o.seq WHERE c.class = ? AND c.seq > ? AND o.stored_at < ? \
                 AND (CAST(? AS {integer}) IS NULL OR (o.problem IS NOT NULL) = (? <> 0)) ORDER BY c.seq LIMIT ?"
            )
            .of(columns),
            &[class, after, before, is_marked, is_marked, most],
            &mut take,
        )
    }

    /// Removes an object. Returns whether it existed and nobody else removed it meanwhile.
    fn drop_object(&mut self, sequence: i64) -> Result<bool> {
        let sequence = [Value::Int(sequence)];
        let count = self.run("DELETE FROM icecore_objects WHERE seq = ?", &sequence)?;
        self.run("DELETE FROM icecore_object_classes WHERE seq = ?", &sequence)?;
        self.run("DELETE FROM icecore_index_values WHERE seq = ?", &sequence)?;
        Ok(count > 0)
    }
}

impl<S: Session + ?Sized> Objects for SqlBackend<S> {
    fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>> {
        let ids: Vec<Id> = objects.iter().map(|object| object.id.unwrap_or_else(Id::new)).collect();
        self.transaction(|backend| {
            // All programs that store objects share this lock, so that a new index starts between two of them.
            backend.first("SELECT value FROM icecore_meta WHERE name = 'version' {share}", &[], |row| row.int(0))?;
            let paths = backend.rows("SELECT path FROM icecore_indexes {as_now}", &[], |row| required(row.text(0)?))?;
            backend.put_all(objects, &ids, &paths)
        })?;
        Ok(ids)
    }

    fn object(&mut self, id: Id) -> Result<Option<Object>> {
        self.object_by(objects!("o.json", "WHERE o.id = ?"), &id.to_string())
    }

    fn object_named(&mut self, key: &str) -> Result<Option<Object>> {
        // No object has such a key, and not all databases accept it as a parameter.
        if check_name("key", key).is_err() {
            return Ok(None);
        }
        self.object_by(objects!("o.json", "WHERE o.object_key = ?"), key)
    }

    fn objects(&mut self, after: i64, most: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()> {
        self.each_object(after, most, filter, Columns::Whole, &mut |object| each(object.kept()))
    }

    fn walk(&mut self, after: i64, most: usize, filter: &ObjectFilter, each: EachLent<'_>) -> Result<()> {
        self.each_object(after, most, filter, Columns::Lean, each)
    }

    fn remove(&mut self, ids: &[Id], by: &str) -> Result<u64> {
        check_who(by)?;
        self.transaction(|backend| {
            let mut count = 0;
            for id in ids {
                let text = id.to_string();
                let sql = "SELECT seq FROM icecore_objects WHERE id = ?";
                if let Some(sequence) = backend.first(sql, &[Value::Text(&text)], |row| required(row.int(0)?))?
                    && backend.drop_object(sequence)?
                {
                    backend.note(by, "rm", &text, 1)?;
                    count += 1;
                }
            }
            Ok(count)
        })
    }

    fn expire(&mut self) -> Result<u64> {
        let mut count = 0;
        loop {
            let gone = self.transaction(|backend| {
                let sql = "SELECT seq FROM icecore_objects WHERE expires_at <= {now} ORDER BY expires_at LIMIT 1000 \
                           {skip_locked}";
                let gone = backend.rows(sql, &[], |row| required(row.int(0)?))?;
                for sequence in &gone {
                    backend.drop_object(*sequence)?;
                }
                if !gone.is_empty() {
                    backend.note("retention", "expire", "", gone.len() as u64)?;
                }
                Ok(gone.len())
            })?;
            count += gone as u64;
            if gone < PAGE {
                return Ok(count);
            }
        }
    }

    fn quarantine(&mut self, id: Id, problem: &str) -> Result<()> {
        let changed = self.run(
            "UPDATE icecore_objects SET problem = ? WHERE id = ?",
            &[Value::Text(&describe::without_nul(problem)), Value::Text(&id.to_string())],
        )?;
        if changed == 1 { Ok(()) } else { Err(Error::new(ErrorKind::Missing, format!("there is no object {id}"))) }
    }

    /// Only complete indexes, which also contain the objects stored before them.
    fn indexes(&mut self) -> Result<Vec<String>> {
        self.rows("SELECT path FROM icecore_indexes WHERE made_at IS NOT NULL ORDER BY path", &[], |row| {
            required(row.text(0)?)
        })
    }

    fn index(&mut self, path: &str) -> Result<()> {
        describe::check_path(path)?;
        // From here on, all programs store the value; older objects follow. Until that is done the index is not used,
        // because a program may end in the middle.
        self.transaction(|backend| {
            backend.run("UPDATE icecore_meta SET value = value WHERE name = 'version'", &[])?;
            backend.run("INSERT INTO icecore_indexes (path) VALUES (?) {or_nothing}", &[Value::Text(path)])
        })?;
        let paths = [path.to_owned()];
        let mut after = 0;
        loop {
            let (mut page, mut size) = (Vec::new(), 0);
            self.walk(after, PAGE, &ObjectFilter::default(), &mut |object| {
                size += object.bytes.len();
                page.push((object.sequence, object.bytes.into_owned(), object.format.map(Cow::into_owned)));
                Ok(if size < PAGE_BYTES { Flow::On } else { Flow::Stop })
            })?;
            let Some((last, ..)) = page.last() else { break };
            after = *last;
            self.transaction(|backend| {
                page.iter().try_for_each(|(sequence, bytes, format)| {
                    backend.put_values(*sequence, bytes, format.as_deref(), &paths)
                })
            })?;
        }
        let sql = "UPDATE icecore_indexes SET made_at = {now} WHERE path = ? AND made_at IS NULL";
        self.run(sql, &[Value::Text(path)]).map(drop)
    }

    fn object_stats(&mut self) -> Result<ObjectStats> {
        let count = |row: &dyn Row, column| -> Result<u64> { Ok(row.int(column)?.unwrap_or(0).max(0) as u64) };
        let found = self.first(
            "SELECT COUNT(*), CAST(SUM(size) AS {integer}), COUNT(problem), MIN(stored_at), MAX(stored_at) \
             FROM icecore_objects",
            &[],
            |row| {
                Ok(ObjectStats {
                    count: count(row, 0)?,
                    bytes: count(row, 1)?,
                    quarantined: count(row, 2)?,
                    first_at: row.int(3)?,
                    last_at: row.int(4)?,
                    ..ObjectStats::default()
                })
            },
        )?;
        let formats = self.rows(
            "SELECT format, COUNT(*) FROM icecore_objects GROUP BY format ORDER BY COUNT(*) DESC, format",
            &[],
            |row| Ok((row.text(0)?, count(row, 1)?)),
        )?;
        let classes = self.rows(
            "SELECT class, COUNT(*) FROM icecore_objects WHERE class IS NOT NULL GROUP BY class \
             ORDER BY COUNT(*) DESC, class",
            &[],
            |row| Ok((required(row.text(0)?)?, count(row, 1)?)),
        )?;
        Ok(ObjectStats { formats, classes, ..required(found)? })
    }
}
