//! Objects.

use super::{SqlBackend, check_name, check_who, id_of, in_row, payload, there};
use crate::backend::{Each, Flow, ObjectStats};
use crate::describe;
use crate::driver::{Row, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::object::{NewObject, Object, ObjectFilter};

/// The columns of an object, in the order of [`object_of`]; more conditions follow.
macro_rules! objects {
    ($conditions:literal) => {
        concat!(
            "SELECT o.id, o.seq, o.object_key, o.stored_at, o.expires_at, o.format, o.class, o.checksum, o.bytes, \
             o.base64, o.json, o.problem FROM icecore_objects o ",
            $conditions
        )
    };
}

fn object_of(row: &dyn Row) -> Result<Object> {
    Ok(Object {
        id: id_of(row.text(0)?)?,
        sequence: there(row.int(1)?)?,
        key: row.text(2)?,
        stored_at: there(row.int(3)?)?,
        expires_at: row.int(4)?,
        format: row.text(5)?,
        class: row.text(6)?,
        checksum: there(row.text(7)?)?,
        bytes: payload(row.bytes(8)?, row.text(9)?)?,
        json: row.text(10)?,
        problem: row.text(11)?,
    })
}

/// How many objects are read again in one go when an index is made.
const PAGE: usize = 1_000;
/// The same in bytes: what is read at once is held in memory.
const PAGE_BYTES: usize = 16 << 20;

impl SqlBackend {
    pub(super) fn put_objects(&mut self, objects: &[NewObject]) -> Result<Vec<Id>> {
        let ids: Vec<Id> = objects.iter().map(|object| object.id.unwrap_or_else(Id::new)).collect();
        self.transaction(|backend| {
            let paths = backend.rows("SELECT path FROM icecore_indexes", &[], |row| there(row.text(0)?))?;
            for (object, id) in objects.iter().zip(&ids) {
                let sequence = backend.put_object(object, *id)?;
                let format = object.said.format.as_deref();
                backend.put_values(sequence, &object.bytes, format, &paths)?;
            }
            Ok(())
        })?;
        Ok(ids)
    }

    fn put_object(&mut self, object: &NewObject, id: Id) -> Result<i64> {
        if let Some(key) = &object.key {
            check_name("key", key)?;
        }
        if let Some(key) = &object.key
            && self.object_by("object_key", key)?.is_some()
        {
            return Err(Error::new(ErrorKind::Taken, format!("another object has the key {key:?}")));
        }
        let (id, said) = (id.to_string(), &object.said);
        let base64 = object.as_base64.then(|| icecore::text::to_base64(&object.bytes));
        let bytes = base64.is_none().then_some(&*object.bytes);
        self.run(
            "INSERT INTO icecore_objects (id, object_key, stored_at, expires_at, format, class, checksum, size, bytes, \
             base64, json, problem) VALUES (?, ?, COALESCE(?, {now}), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                Value::Text(&id),
                Value::text(object.key.as_deref()),
                Value::int(object.stored_at),
                Value::int(object.expires_at),
                Value::text(said.format.as_deref()),
                Value::text(said.class.as_deref().filter(|class| class.len() <= 255)),
                Value::Text(&said.checksum),
                Value::Int(object.bytes.len() as i64),
                Value::bytes(bytes),
                Value::text(base64.as_deref()),
                Value::text(said.json.as_deref()),
                Value::text(said.problem.as_deref()),
            ],
        )?;
        let sequence = "SELECT seq FROM icecore_objects WHERE id = ?";
        let sequence = there(self.first(sequence, &[Value::Text(&id)], |row| there(row.int(0)?))?)?;
        for class in said.classes.iter().filter(|class| class.len() <= 255) {
            self.run(
                "INSERT INTO icecore_object_classes (class, seq) VALUES (?, ?)",
                &[Value::Text(class), Value::Int(sequence)],
            )?;
        }
        Ok(sequence)
    }

    /// Keeps what stands at these paths.
    fn put_values(&mut self, sequence: i64, bytes: &[u8], format: Option<&str>, paths: &[String]) -> Result<()> {
        let Some(format) = format else { return Ok(()) };
        for path in paths {
            let Some(value) = describe::value_at(bytes, format, path) else { continue };
            self.run(
                "INSERT INTO icecore_index_values (path, value, seq) VALUES (?, ?, ?) {or_nothing}",
                &[Value::Text(path), Value::Text(&value), Value::Int(sequence)],
            )?;
        }
        Ok(())
    }

    pub(super) fn object_by(&mut self, column: &str, value: &str) -> Result<Option<Object>> {
        let sql = match column {
            "id" => objects!("WHERE o.id = ?"),
            // No object has such a key, and not all databases take it in a question.
            _ if check_name("key", value).is_err() => return Ok(None),
            _ => objects!("WHERE o.object_key = ?"),
        };
        self.first(sql, &[Value::Text(value)], object_of)
    }

    pub(super) fn each_object(
        &mut self,
        after: i64,
        most: usize,
        filter: &ObjectFilter,
        each: Each<'_, Object>,
    ) -> Result<()> {
        let most = Value::Int(i64::try_from(most).unwrap_or(i64::MAX));
        let is_marked = Value::int(filter.quarantined.map(i64::from));
        let before = Value::Int(filter.before.unwrap_or(i64::MAX));
        let mut take = |row: &dyn Row| each(object_of(row).map_err(|error| in_row(row, &error))?);
        if most == Value::Int(0) {
            return Ok(());
        }
        if let Some((path, value)) = &filter.at {
            return self.each_at(after, most, filter, (path, value), each);
        }
        let class = filter.class.as_deref().map(describe::without_nul);
        let Some(class) = &class else {
            return self.ask(
                objects!(
                    "WHERE o.seq > ? AND o.stored_at < ? AND (? IS NULL OR (o.problem IS NOT NULL) = (? <> 0)) \
                     ORDER BY o.seq LIMIT ?"
                ),
                &[Value::Int(after), before, is_marked, is_marked, most],
                &mut take,
            );
        };
        self.ask(
            objects!(
                "JOIN icecore_object_classes c ON c.seq = o.seq WHERE c.class = ? AND c.seq > ? AND o.stored_at < ? \
                 AND (? IS NULL OR (o.problem IS NOT NULL) = (? <> 0)) ORDER BY c.seq LIMIT ?"
            ),
            &[Value::Text(class), Value::Int(after), before, is_marked, is_marked, most],
            &mut take,
        )
    }

    /// Those that have a value at a path: by the index, if there is one; else by a look
    /// into each.
    fn each_at(
        &mut self,
        after: i64,
        most: Value<'_>,
        filter: &ObjectFilter,
        (path, value): (&str, &str),
        each: Each<'_, Object>,
    ) -> Result<()> {
        describe::check_path(path)?;
        let wanted = describe::wanted_value(value)?;
        let before = Value::Int(filter.before.unwrap_or(i64::MAX));
        let is_marked = Value::int(filter.quarantined.map(i64::from));
        let class = filter.class.as_deref().map(describe::without_nul);
        let class = Value::text(class.as_deref());
        if self.all_indexes()?.iter().any(|known| known == path) {
            return self.ask(
                objects!(
                    "JOIN icecore_index_values v ON v.seq = o.seq WHERE v.path = ? AND v.value = ? AND v.seq > ? \
                     AND o.stored_at < ? AND (? IS NULL OR (o.problem IS NOT NULL) = (? <> 0)) AND (? IS NULL OR \
                     o.seq IN (SELECT seq FROM icecore_object_classes WHERE class = ?)) ORDER BY v.seq LIMIT ?"
                ),
                &[
                    Value::Text(path),
                    Value::Text(&wanted),
                    Value::Int(after),
                    before,
                    is_marked,
                    is_marked,
                    class,
                    class,
                    most,
                ],
                &mut |row| each(object_of(row).map_err(|error| in_row(row, &error))?),
            );
        }
        let Value::Int(mut left) = most else { return Ok(()) };
        let others = ObjectFilter { at: None, ..filter.clone() };
        self.each_object(after, usize::MAX, &others, &mut |object| {
            let format = object.format.as_deref();
            if format.and_then(|format| describe::value_at(&object.bytes, format, path)).as_ref() != Some(&wanted) {
                return Ok(Flow::On);
            }
            left -= 1;
            match each(object)? {
                Flow::On if left > 0 => Ok(Flow::On),
                _ => Ok(Flow::Stop),
            }
        })
    }

    pub(super) fn remove_objects(&mut self, ids: &[Id], by: &str) -> Result<u64> {
        check_who(by)?;
        self.transaction(|backend| {
            let mut count = 0;
            for id in ids {
                let text = id.to_string();
                let sql = "SELECT seq FROM icecore_objects WHERE id = ?";
                if let Some(sequence) = backend.first(sql, &[Value::Text(&text)], |row| there(row.int(0)?))? {
                    backend.drop_object(sequence)?;
                    backend.note(by, "rm", &text, 1)?;
                    count += 1;
                }
            }
            Ok(count)
        })
    }

    fn drop_object(&mut self, sequence: i64) -> Result<()> {
        let sequence = [Value::Int(sequence)];
        self.run("DELETE FROM icecore_object_classes WHERE seq = ?", &sequence)?;
        self.run("DELETE FROM icecore_index_values WHERE seq = ?", &sequence)?;
        self.run("DELETE FROM icecore_objects WHERE seq = ?", &sequence).map(drop)
    }

    pub(super) fn expire_objects(&mut self) -> Result<u64> {
        let mut count = 0;
        loop {
            let gone = self.transaction(|backend| {
                let sql = "SELECT seq FROM icecore_objects WHERE expires_at <= {now} ORDER BY expires_at LIMIT 1000";
                let gone = backend.rows(sql, &[], |row| there(row.int(0)?))?;
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

    pub(super) fn quarantine_object(&mut self, id: Id, problem: &str) -> Result<()> {
        let changed = self.run(
            "UPDATE icecore_objects SET problem = ? WHERE id = ?",
            &[Value::Text(&describe::without_nul(problem)), Value::Text(&id.to_string())],
        )?;
        if changed == 1 { Ok(()) } else { Err(Error::new(ErrorKind::Missing, format!("there is no object {id}"))) }
    }

    /// Those that are whole: what was stored before them stands in them as well.
    pub(super) fn all_indexes(&mut self) -> Result<Vec<String>> {
        self.rows("SELECT path FROM icecore_indexes WHERE made_at IS NOT NULL ORDER BY path", &[], |row| {
            there(row.text(0)?)
        })
    }

    pub(super) fn add_index(&mut self, path: &str) -> Result<()> {
        describe::check_path(path)?;
        // Whoever stores from here on keeps the value; what was stored before follows. Until
        // that is done nothing is found by it: a program may end in the middle.
        self.run("INSERT INTO icecore_indexes (path) VALUES (?) {or_nothing}", &[Value::Text(path)])?;
        let paths = [path.to_owned()];
        let mut after = 0;
        loop {
            let (mut page, mut size) = (Vec::new(), 0);
            self.each_object(after, PAGE, &ObjectFilter::default(), &mut |object| {
                size += object.bytes.len();
                page.push((object.sequence, object.bytes, object.format));
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

    pub(super) fn stats(&mut self) -> Result<ObjectStats> {
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
            |row| Ok((there(row.text(0)?)?, count(row, 1)?)),
        )?;
        Ok(ObjectStats { formats, classes, ..there(found)? })
    }
}
