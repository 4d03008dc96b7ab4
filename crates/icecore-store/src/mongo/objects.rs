//! Objects in MongoDB.

use super::batch::visible;
use super::fields::{binary, bytes, check_weight, int, put, text, whole_number};
use super::schema::{OBJECTS, paths_of};
use super::store_error::{is_duplicate, is_forgotten, store_error};
use super::{MongoBackend, indexes};
use crate::backend::{Each, EachLent, Flow, ObjectStats, Objects};
use crate::describe;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::object::{LentObject, NewObject, Object, ObjectFilter};
use crate::rules::{check_name, check_who, id_of, is_kept, payload, required};
use crate::walking::{At, walk};
use mongodb::bson::{Bson, Document, doc};
use std::borrow::Cow;
use std::collections::HashSet;

/// Number of objects removed in one call.
const PAGE: i64 = 1_000;
/// Number of objects per query. They arrive in small batches as the walk proceeds.
const ASKED: usize = 16_384;
/// Number of objects held in memory.
const BATCH: u32 = 256;

/// Returns the object of a document. Moves the values out of the document.
pub(super) fn object_of(document: &mut Document) -> Result<Object> {
    Ok(Object {
        id: id_of(text(document, "_id")?)?,
        sequence: required(int(document, "seq")?)?,
        key: text(document, "object_key")?,
        stored_at: required(int(document, "stored_at")?)?,
        expires_at: int(document, "expires_at")?,
        format: text(document, "format")?,
        class: text(document, "class")?,
        checksum: required(text(document, "checksum")?)?,
        bytes: payload(bytes(document, "bytes")?, text(document, "base64")?)?,
        json: text(document, "json")?,
        problem: text(document, "problem")?,
    })
}

/// Adds to an error which document is invalid.
fn in_document(sequence: Option<i64>, error: &Error) -> Error {
    let sequence = sequence.map_or("?".to_owned(), |sequence| sequence.to_string());
    Error::new(error.kind(), format!("the document with the sequence {sequence}: {error}"))
}

fn lend(object: Object) -> LentObject<'static> {
    Object {
        id: object.id,
        sequence: object.sequence,
        key: object.key.map(Cow::Owned),
        stored_at: object.stored_at,
        expires_at: object.expires_at,
        format: object.format.map(Cow::Owned),
        class: object.class.map(Cow::Owned),
        checksum: Cow::Owned(object.checksum),
        bytes: Cow::Owned(object.bytes),
        json: object.json.map(Cow::Owned),
        problem: object.problem.map(Cow::Owned),
    }
}

fn key_taken(key: &str) -> Error {
    Error::new(ErrorKind::Taken, format!("another object has the key {key:?}"))
}

/// Returns the document of an object, with the values at these paths.
fn document_of(object: &NewObject, id: Id, sequence: i64, now: i64, paths: &[String]) -> Result<Document> {
    let said = &object.said;
    let mut document = doc! { "_id": id.to_string(), "seq": sequence, "stored_at": object.stored_at.unwrap_or(now) };
    put(&mut document, "object_key", object.key.as_deref());
    put(&mut document, "expires_at", object.expires_at);
    put(&mut document, "format", said.format.as_deref());
    let kept = |class: &String| Some(describe::without_nul(class).into_owned()).filter(|class| is_kept(class));
    put(&mut document, "class", said.class.as_ref().and_then(kept));
    document.insert("classes", said.classes.iter().filter_map(kept).map(Bson::from).collect::<Vec<Bson>>());
    document.insert("checksum", &said.checksum);
    document.insert("size", i64::try_from(object.bytes.len()).unwrap_or(i64::MAX));
    match object.as_base64 {
        true => document.insert("base64", icecore::text::to_base64(&object.bytes)),
        false => document.insert("bytes", binary(&object.bytes)),
    };
    put(&mut document, "json", said.json.as_deref().map(|json| describe::without_nul(json).into_owned()));
    put(&mut document, "problem", said.problem.as_deref().map(|problem| describe::without_nul(problem).into_owned()));
    indexes::keep(&mut document, &object.bytes, said.format.as_deref(), paths);
    check_weight("an object", &document)?;
    Ok(document)
}

impl MongoBackend {
    /// Returns the error for an object whose key or id exists; `None` if it does not exist any more.
    fn refusal(&self, document: &Document) -> Result<Option<Error>> {
        if let Ok(key) = document.get_str("object_key")
            && self.holder(&self.objects, &doc! { "object_key": key })?.is_some()
        {
            return Ok(Some(key_taken(key)));
        }
        let id = document.get_str("_id").unwrap_or_default();
        let found = self.holder(&self.objects, &doc! { "_id": id })?;
        Ok(found.map(|_| Error::new(ErrorKind::Taken, format!("there is an object {id} already"))))
    }

    fn put_one(&self, document: &Document) -> Result<()> {
        loop {
            match self.objects.insert_one(document).run() {
                Err(error) if is_duplicate(&error) => self.refusal(document)?.map_or(Ok(()), Err)?,
                answer => return answer.map(drop).map_err(store_error),
            }
        }
    }

    fn put_all(&self, documents: &[Document]) -> Result<()> {
        let batch = self.begin_batch(&self.objects)?;
        let done = self.send_all(&batch, documents).and_then(|()| self.commit(&batch, &self.objects));
        if done.is_err() {
            self.abandon(&batch, &self.objects);
        }
        done
    }

    fn send_all(&self, batch: &str, documents: &[Document]) -> Result<()> {
        let mut refused = self.send(batch, &self.objects, documents)?;
        while !refused.is_empty() {
            let again: Vec<Document> = refused.iter().map(|at| documents[*at].clone()).collect();
            for document in &again {
                if let Some(error) = self.refusal(document)? {
                    return Err(error);
                }
            }
            // The documents with the same unique values are gone now.
            let still = self.send(batch, &self.objects, &again)?;
            refused = still.into_iter().map(|at| refused[at]).collect();
        }
        Ok(())
    }

    fn object_by(&self, name: &str, value: &str) -> Result<Option<Object>> {
        let mut filter = doc! { name: value };
        let fields = doc! { "classes": 0, "indexed": 0 };
        let find = |filter: &Document| {
            self.objects.find_one(filter.clone()).projection(fields.clone()).run().map_err(store_error)
        };
        let mut found = find(&filter)?;
        if found.as_ref().is_some_and(|found| found.contains_key("batch")) {
            // It may have been committed by a program that was interrupted before it made the object visible.
            self.settle_batches()?;
            filter.extend(visible());
            found = find(&filter)?;
        }
        found.map(|mut found| object_of(&mut found)).transpose()
    }

    fn each_object(
        &self,
        after: i64,
        most: usize,
        filter: &ObjectFilter,
        lean: bool,
        each: EachLent<'_>,
    ) -> Result<()> {
        let at = filter.at.as_ref().map(|(path, value)| At::new(path, value)).transpose()?;
        let by_index = at.as_ref().map_or(Ok(false), |at| self.is_indexed(at.path()))?;
        if filter.class.as_ref().is_some_and(|class| !is_kept(class)) {
            return Ok(());
        }
        self.settle_batches()?;
        let indexed = at.as_ref().filter(|_| by_index);
        let mut page = |after, asked, each: EachLent<'_>| self.object_page(after, asked, filter, (indexed, lean), each);
        walk(ASKED, after, most, at.as_ref().filter(|_| !by_index), &mut page, each)
    }

    fn object_page(
        &self,
        after: i64,
        most: usize,
        filter: &ObjectFilter,
        (indexed, lean): (Option<&At>, bool),
        each: EachLent<'_>,
    ) -> Result<()> {
        let mut question = visible();
        put(&mut question, "stored_at", filter.before.map(|before| doc! { "$lt": before }));
        match filter.quarantined {
            Some(true) => drop(question.insert("problem", doc! { "$ne": null })),
            Some(false) => drop(question.insert("problem", Bson::Null)),
            None => {}
        }
        put(&mut question, "classes", filter.class.as_deref().map(|class| describe::without_nul(class).into_owned()));
        put(&mut question, "indexed", indexed.map(|at| doc! { "path": at.path(), "value": at.value() }));
        let mut fields = doc! { "classes": 0, "indexed": 0 };
        put(&mut fields, "json", lean.then_some(0));
        let (mut after, mut left) = (after, i64::try_from(most).unwrap_or(i64::MAX));
        loop {
            let from = after;
            question.insert("seq", doc! { "$gt": after });
            let found = self.objects.find(question.clone()).sort(doc! { "seq": 1 }).projection(fields.clone());
            let found = found.limit(left).batch_size(BATCH).run().map_err(store_error)?;
            let mut goes_on = false;
            for document in found {
                let mut document = match document {
                    // The caller was slow, and the server has dropped the cursor: query again.
                    Err(error) if is_forgotten(&error) && after > from => {
                        goes_on = true;
                        break;
                    }
                    document => document.map_err(store_error)?,
                };
                let sequence = whole_number(document.get("seq"));
                let object = object_of(&mut document).map_err(|error| in_document(sequence, &error))?;
                (after, left) = (object.sequence, left - 1);
                if each(lend(object))? == Flow::Stop {
                    return Ok(());
                }
            }
            if !goes_on || left == 0 {
                return Ok(());
            }
        }
    }
}

impl Objects for MongoBackend {
    fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let (mut keys, mut known) = (HashSet::new(), HashSet::new());
        let ids: Vec<Id> = objects.iter().map(|object| object.id.unwrap_or_else(Id::new)).collect();
        for (object, id) in objects.iter().zip(&ids) {
            if let Some(key) = &object.key {
                check_name("key", key)?;
                if !keys.insert(key) {
                    return Err(key_taken(key));
                }
            }
            if !known.insert(id) {
                return Err(Error::new(ErrorKind::Taken, format!("two objects have the id {id}")));
            }
        }
        let (first, meta) = self.take_sequences(OBJECTS, objects.len())?;
        let (paths, now) = (paths_of(&meta)?, self.time()?);
        let documents = objects.iter().zip(&ids).zip(first..);
        let documents = documents
            .map(|((object, id), sequence)| document_of(object, *id, sequence, now, &paths))
            .collect::<Result<Vec<Document>>>()?;
        match &*documents {
            [document] => self.put_one(document)?,
            documents => self.put_all(documents)?,
        }
        // A path that was added meanwhile is missing in these objects, and the program that added it may have skipped
        // them.
        if self.paths()?.len() > paths.len() {
            self.keep_all(i64::try_from(paths.len()).unwrap_or(i64::MAX))?;
        }
        Ok(ids)
    }

    fn object(&mut self, id: Id) -> Result<Option<Object>> {
        self.object_by("_id", &id.to_string())
    }

    fn object_named(&mut self, key: &str) -> Result<Option<Object>> {
        if check_name("key", key).is_err() {
            return Ok(None);
        }
        self.object_by("object_key", key)
    }

    fn objects(&mut self, after: i64, most: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()> {
        self.each_object(after, most, filter, false, &mut |object| each(object.kept()))
    }

    fn walk(&mut self, after: i64, most: usize, filter: &ObjectFilter, each: EachLent<'_>) -> Result<()> {
        self.each_object(after, most, filter, true, each)
    }

    /// Each object is removed separately: an interrupted call has removed some, and their notes are complete.
    fn remove(&mut self, ids: &[Id], by: &str) -> Result<u64> {
        check_who(by)?;
        let mut wanted = visible();
        wanted.insert("_id", doc! { "$in": ids.iter().map(Id::to_string).collect::<Vec<String>>() });
        self.settle_batches()?;
        let found = self.objects.find(wanted).sort(doc! { "seq": 1 }).projection(doc! { "_id": 1 });
        let there = found
            .run()
            .map_err(store_error)?
            .map(|found| Ok(found.map_err(store_error)?.get_str("_id").unwrap_or_default().to_owned()));
        let there = there.collect::<Result<Vec<String>>>()?;
        let counts = self.noted(by, "rm", &there, |backend| {
            let gone = |id: &String| {
                Ok(backend.objects.delete_one(doc! { "_id": id }).run().map_err(store_error)?.deleted_count)
            };
            let counts = there.iter().map(gone).collect::<Result<Vec<u64>>>()?;
            Ok((counts.clone(), counts))
        })?;
        let others: Vec<Bson> =
            there.iter().zip(&counts).filter(|(_, count)| **count == 0).map(|(id, _)| Bson::from(id)).collect();
        self.forget_notes("rm", &others)?;
        Ok(counts.iter().sum())
    }

    fn expire(&mut self) -> Result<u64> {
        let mut count = 0;
        loop {
            let mut question = visible();
            question.insert("expires_at", doc! { "$lte": self.time()? });
            let found = self.objects.find(question.clone()).projection(doc! { "_id": 1 }).limit(PAGE);
            let gone = found
                .run()
                .map_err(store_error)?
                .map(|found| Ok(found.map_err(store_error)?.remove("_id").unwrap_or(Bson::Null)));
            let gone = gone.collect::<Result<Vec<Bson>>>()?;
            if gone.is_empty() {
                return Ok(count);
            }
            question.insert("_id", doc! { "$in": gone });
            count += self.noted("retention", "expire", &[String::new()], |backend| {
                let gone = backend.objects.delete_many(question).run().map_err(store_error)?.deleted_count;
                Ok((vec![gone], gone))
            })?;
        }
    }

    fn quarantine(&mut self, id: Id, problem: &str) -> Result<()> {
        let change = doc! { "$set": { "problem": &*describe::without_nul(problem) } };
        let mut filter = visible();
        filter.insert("_id", id.to_string());
        match self.objects.update_one(filter, change).run().map_err(store_error)?.matched_count {
            1 => Ok(()),
            _ => Err(Error::new(ErrorKind::Missing, format!("there is no object {id}"))),
        }
    }

    fn index(&mut self, path: &str) -> Result<()> {
        self.add_index(path)
    }

    fn indexes(&mut self) -> Result<Vec<String>> {
        self.whole_indexes()
    }

    fn object_stats(&mut self) -> Result<ObjectStats> {
        self.settle_batches()?;
        let grouped = |matched: Document, group: Document| {
            let mut filter = visible();
            filter.extend(matched);
            let found = self.objects.aggregate([doc! { "$match": filter }, doc! { "$group": group }]);
            found.run().map_err(store_error)?.collect::<mongodb::error::Result<Vec<Document>>>().map_err(store_error)
        };
        let count =
            |document: &Document, name: &str| u64::try_from(whole_number(document.get(name)).unwrap_or(0)).unwrap_or(0);
        let all = doc! {
            "_id": null, "count": { "$sum": 1_i64 }, "bytes": { "$sum": "$size" },
            "first": { "$min": "$stored_at" }, "last": { "$max": "$stored_at" },
        };
        let mut stats = ObjectStats::default();
        if let Some(found) = grouped(doc! {}, all)?.first() {
            (stats.count, stats.bytes) = (count(found, "count"), count(found, "bytes"));
            (stats.first_at, stats.last_at) = (int(found, "first")?, int(found, "last")?);
        }
        let counts = |name: &str| doc! { "_id": format!("${name}"), "count": { "$sum": 1_i64 } };
        let bad = grouped(doc! { "problem": { "$ne": null } }, doc! { "_id": null, "count": { "$sum": 1_i64 } })?;
        stats.quarantined = bad.first().map_or(0, |found| count(found, "count"));
        for mut found in grouped(doc! {}, counts("format"))? {
            stats.formats.push((text(&mut found, "_id")?, count(&found, "count")));
        }
        for mut found in grouped(doc! { "class": { "$ne": null } }, counts("class"))? {
            stats.classes.push((required(text(&mut found, "_id")?)?, count(&found, "count")));
        }
        stats.formats.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        stats.classes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(stats)
    }
}
