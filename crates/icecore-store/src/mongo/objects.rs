//! Objects in MongoDB.

use super::batch::visible_filter;
use super::fields::{check_size, get_int, insert_if_some, take_bytes, take_text, to_binary, to_whole_number};
use super::schema::{OBJECTS, index_paths_of};
use super::store_error::{is_cursor_lost, is_duplicate, store_error};
use super::{MongoBackend, indexes};
use crate::backend::{Each, EachLent, Flow, ObjectStats, Objects};
use crate::describe;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::object::{LentObject, NewObject, Object, ObjectFilter};
use crate::page_query::{PathValue, walk_pages};
use crate::rules::{check_actor_name, check_name, fits_class_column, parse_id, payload_from_columns, required};
use mongodb::bson::{Bson, Document, doc};
use std::borrow::Cow;
use std::collections::HashSet;

/// Maximum number of expired objects that one call removes.
const MAX_EXPIRED_PER_CALL: i64 = 1_000;
/// Maximum number of objects per query. The server sends them in smaller batches.
const OBJECTS_PER_QUERY: usize = 16_384;
/// Number of objects that the server sends at once, and that are held in memory.
const OBJECTS_IN_MEMORY: u32 = 256;

/// Whether a query returns the readable copies of objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonField {
    Included,
    Omitted,
}

/// Returns the object of a document. Moves the values out of the document.
pub(super) fn object_from_document(document: &mut Document) -> Result<Object> {
    Ok(Object {
        id: parse_id(take_text(document, "_id")?)?,
        sequence: required(get_int(document, "seq")?)?,
        key: take_text(document, "object_key")?,
        stored_at: required(get_int(document, "stored_at")?)?,
        expires_at: get_int(document, "expires_at")?,
        format: take_text(document, "format")?,
        class: take_text(document, "class")?,
        checksum: required(take_text(document, "checksum")?)?,
        bytes: payload_from_columns(take_bytes(document, "bytes")?, take_text(document, "base64")?)?,
        json: take_text(document, "json")?,
        problem: take_text(document, "problem")?,
    })
}

/// Adds to an error which document is invalid.
fn error_in_document(sequence: Option<i64>, error: &Error) -> Error {
    let sequence = sequence.map_or("?".to_owned(), |sequence| sequence.to_string());
    Error::new(error.kind(), format!("the document with the sequence {sequence}: {error}"))
}

fn lent_from_object(object: Object) -> LentObject<'static> {
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

fn key_taken_error(key: &str) -> Error {
    Error::new(ErrorKind::Taken, format!("another object has the key {key:?}"))
}

/// Returns the document of an object, with the values at these paths.
fn document_from_object(object: &NewObject, id: Id, sequence: i64, now: i64, paths: &[String]) -> Result<Document> {
    let description = &object.description;
    let mut document = doc! { "_id": id.to_string(), "seq": sequence, "stored_at": object.stored_at.unwrap_or(now) };
    insert_if_some(&mut document, "object_key", object.key.as_deref());
    insert_if_some(&mut document, "expires_at", object.expires_at);
    insert_if_some(&mut document, "format", description.format.as_deref());
    let storable =
        |class: &String| Some(describe::without_nul(class).into_owned()).filter(|class| fits_class_column(class));
    insert_if_some(&mut document, "class", description.class.as_ref().and_then(storable));
    document.insert("classes", description.classes.iter().filter_map(storable).map(Bson::from).collect::<Vec<Bson>>());
    document.insert("checksum", &description.checksum);
    document.insert("size", i64::try_from(object.bytes.len()).unwrap_or(i64::MAX));
    match object.as_base64 {
        true => document.insert("base64", icecore::text::to_base64(&object.bytes)),
        false => document.insert("bytes", to_binary(&object.bytes)),
    };
    insert_if_some(
        &mut document,
        "json",
        description.json.as_deref().map(|json| describe::without_nul(json).into_owned()),
    );
    insert_if_some(
        &mut document,
        "problem",
        description.problem.as_deref().map(|problem| describe::without_nul(problem).into_owned()),
    );
    indexes::add_index_values(&mut document, &object.bytes, description.format.as_deref(), paths);
    check_size("an object", &document)?;
    Ok(document)
}

impl MongoBackend {
    /// Returns the error for an object whose key or id exists, or `None` if it does not exist any more.
    fn find_duplicate_error(&self, document: &Document) -> Result<Option<Error>> {
        if let Ok(key) = document.get_str("object_key")
            && self.find_holder(&self.objects, &doc! { "object_key": key })?.is_some()
        {
            return Ok(Some(key_taken_error(key)));
        }
        let id = document.get_str("_id").unwrap_or_default();
        let found = self.find_holder(&self.objects, &doc! { "_id": id })?;
        Ok(found.map(|_| Error::new(ErrorKind::Taken, format!("an object {id} already exists"))))
    }

    fn insert_document(&self, document: &Document) -> Result<()> {
        loop {
            match self.objects.insert_one(document).run() {
                Err(error) if is_duplicate(&error) => self.find_duplicate_error(document)?.map_or(Ok(()), Err)?,
                result => return result.map(drop).map_err(store_error),
            }
        }
    }

    /// Stores all documents or none.
    fn insert_as_batch(&self, documents: &[Document]) -> Result<()> {
        let batch = self.begin_batch(&self.objects)?;
        let result = self.send_objects(&batch, documents).and_then(|()| self.commit_batch(&batch, &self.objects));
        if result.is_err() {
            self.abandon_batch(&batch, &self.objects);
        }
        result
    }

    /// Sends the documents of a batch. Fails if a unique value belongs to another object.
    fn send_objects(&self, batch: &str, documents: &[Document]) -> Result<()> {
        let mut refused = self.send_documents(batch, &self.objects, documents)?;
        while !refused.is_empty() {
            let refused_documents: Vec<Document> = refused.iter().map(|index| documents[*index].clone()).collect();
            for document in &refused_documents {
                if let Some(error) = self.find_duplicate_error(document)? {
                    return Err(error);
                }
            }
            // The documents with the same unique values are gone now.
            let refused_again = self.send_documents(batch, &self.objects, &refused_documents)?;
            refused = refused_again.into_iter().map(|index| refused[index]).collect();
        }
        Ok(())
    }

    fn find_object(&self, name: &str, value: &str) -> Result<Option<Object>> {
        let mut filter = doc! { name: value };
        let fields = doc! { "classes": 0, "indexed": 0 };
        let find = |filter: &Document| {
            self.objects.find_one(filter.clone()).projection(fields.clone()).run().map_err(store_error)
        };
        let mut document = find(&filter)?;
        if document.as_ref().is_some_and(|found| found.contains_key("batch")) {
            // It may have been committed by a program that was interrupted before it made the object visible.
            self.settle_batches()?;
            filter.extend(visible_filter());
            document = find(&filter)?;
        }
        document.map(|mut found| object_from_document(&mut found)).transpose()
    }

    /// Passes objects to `each`.
    fn each_object(
        &self,
        after: i64,
        max_objects: usize,
        filter: &ObjectFilter,
        json: JsonField,
        each: EachLent<'_>,
    ) -> Result<()> {
        let path_value = filter.path_value.as_ref().map(|(path, value)| PathValue::new(path, value)).transpose()?;
        let uses_index = path_value.as_ref().map_or(Ok(false), |path_value| self.is_indexed(path_value.path()))?;
        if filter.class.as_ref().is_some_and(|class| !fits_class_column(class)) {
            return Ok(());
        }
        self.settle_batches()?;
        let indexed = path_value.as_ref().filter(|_| uses_index);
        let mut page = |after, page_size, each: EachLent<'_>| {
            self.list_object_page(after, page_size, filter, (indexed, json), each)
        };
        walk_pages(OBJECTS_PER_QUERY, after, max_objects, path_value.as_ref().filter(|_| !uses_index), &mut page, each)
    }

    /// Passes the objects of one page to `each`. `indexed` is a value that is searched through the index.
    fn list_object_page(
        &self,
        after: i64,
        max_objects: usize,
        filter: &ObjectFilter,
        (indexed, json): (Option<&PathValue>, JsonField),
        each: EachLent<'_>,
    ) -> Result<()> {
        let mut conditions = visible_filter();
        insert_if_some(&mut conditions, "stored_at", filter.before.map(|before| doc! { "$lt": before }));
        match filter.quarantined {
            Some(true) => drop(conditions.insert("problem", doc! { "$ne": null })),
            Some(false) => drop(conditions.insert("problem", Bson::Null)),
            None => {}
        }
        insert_if_some(
            &mut conditions,
            "classes",
            filter.class.as_deref().map(|class| describe::without_nul(class).into_owned()),
        );
        insert_if_some(
            &mut conditions,
            "indexed",
            indexed.map(|path_value| doc! { "path": path_value.path(), "value": path_value.value() }),
        );
        let mut fields = doc! { "classes": 0, "indexed": 0 };
        insert_if_some(&mut fields, "json", (json == JsonField::Omitted).then_some(0));
        let (mut after, mut remaining) = (after, i64::try_from(max_objects).unwrap_or(i64::MAX));
        loop {
            let page_start = after;
            conditions.insert("seq", doc! { "$gt": after });
            let query = self.objects.find(conditions.clone()).sort(doc! { "seq": 1 }).projection(fields.clone());
            let cursor = query.limit(remaining).batch_size(OBJECTS_IN_MEMORY).run().map_err(store_error)?;
            let mut is_cursor_dropped = false;
            for document in cursor {
                let mut document = match document {
                    // The caller was slow, and the server has dropped the cursor. The next query continues here.
                    Err(error) if is_cursor_lost(&error) && after > page_start => {
                        is_cursor_dropped = true;
                        break;
                    }
                    document => document.map_err(store_error)?,
                };
                let sequence = to_whole_number(document.get("seq"));
                let object =
                    object_from_document(&mut document).map_err(|error| error_in_document(sequence, &error))?;
                (after, remaining) = (object.sequence, remaining - 1);
                if each(lent_from_object(object))? == Flow::Stop {
                    return Ok(());
                }
            }
            if !is_cursor_dropped || remaining == 0 {
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
        let (mut keys, mut seen_ids) = (HashSet::new(), HashSet::new());
        let ids: Vec<Id> = objects.iter().map(|object| object.id.unwrap_or_else(Id::new)).collect();
        for (object, id) in objects.iter().zip(&ids) {
            if let Some(key) = &object.key {
                check_name("key", key)?;
                if !keys.insert(key) {
                    return Err(key_taken_error(key));
                }
            }
            if !seen_ids.insert(id) {
                return Err(Error::new(ErrorKind::Taken, format!("two objects have the id {id}")));
            }
        }
        let (first_sequence, meta) = self.reserve_sequences(OBJECTS, objects.len())?;
        let (paths, now) = (index_paths_of(&meta)?, self.read_time()?);
        let documents = objects.iter().zip(&ids).zip(first_sequence..);
        let documents = documents
            .map(|((object, id), sequence)| document_from_object(object, *id, sequence, now, &paths))
            .collect::<Result<Vec<Document>>>()?;
        match &*documents {
            [document] => self.insert_document(document)?,
            documents => self.insert_as_batch(documents)?,
        }
        // A path that was added in the meantime is missing in these objects, and the program that added it may have
        // skipped them.
        if self.read_index_paths()?.len() > paths.len() {
            self.index_objects(i64::try_from(paths.len()).unwrap_or(i64::MAX))?;
        }
        Ok(ids)
    }

    fn object(&mut self, id: Id) -> Result<Option<Object>> {
        self.find_object("_id", &id.to_string())
    }

    fn object_named(&mut self, key: &str) -> Result<Option<Object>> {
        if check_name("key", key).is_err() {
            return Ok(None);
        }
        self.find_object("object_key", key)
    }

    fn objects(&mut self, after: i64, max_objects: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()> {
        self.each_object(after, max_objects, filter, JsonField::Included, &mut |object| each(object.to_owned_object()))
    }

    fn walk(&mut self, after: i64, max_objects: usize, filter: &ObjectFilter, each: EachLent<'_>) -> Result<()> {
        self.each_object(after, max_objects, filter, JsonField::Omitted, each)
    }

    /// Each object is removed separately. So an interrupted call has removed only some of them, and their audit
    /// entries are complete.
    fn remove(&mut self, ids: &[Id], actor: &str) -> Result<u64> {
        check_actor_name(actor)?;
        let mut filter = visible_filter();
        filter.insert("_id", doc! { "$in": ids.iter().map(Id::to_string).collect::<Vec<String>>() });
        self.settle_batches()?;
        let query = self.objects.find(filter).sort(doc! { "seq": 1 }).projection(doc! { "_id": 1 });
        let found_ids = query
            .run()
            .map_err(store_error)?
            .map(|document| Ok(document.map_err(store_error)?.get_str("_id").unwrap_or_default().to_owned()));
        let existing = found_ids.collect::<Result<Vec<String>>>()?;
        let counts = self.with_audit_entries(actor, "rm", &existing, |backend| {
            let remove_object = |id: &String| {
                Ok(backend.objects.delete_one(doc! { "_id": id }).run().map_err(store_error)?.deleted_count)
            };
            let counts = existing.iter().map(remove_object).collect::<Result<Vec<u64>>>()?;
            Ok((counts.clone(), counts))
        })?;
        let already_gone: Vec<Bson> =
            existing.iter().zip(&counts).filter(|(_, count)| **count == 0).map(|(id, _)| Bson::from(id)).collect();
        self.remove_audit_entries("rm", &already_gone)?;
        Ok(counts.iter().sum())
    }

    fn remove_expired(&mut self) -> Result<u64> {
        let mut count = 0;
        loop {
            let mut conditions = visible_filter();
            conditions.insert("expires_at", doc! { "$lte": self.read_time()? });
            let query = self.objects.find(conditions.clone()).projection(doc! { "_id": 1 }).limit(MAX_EXPIRED_PER_CALL);
            let expired = query
                .run()
                .map_err(store_error)?
                .map(|document| Ok(document.map_err(store_error)?.remove("_id").unwrap_or(Bson::Null)));
            let expired = expired.collect::<Result<Vec<Bson>>>()?;
            if expired.is_empty() {
                return Ok(count);
            }
            conditions.insert("_id", doc! { "$in": expired });
            count += self.with_audit_entries("retention", "expire", &[String::new()], |backend| {
                let removed = backend.objects.delete_many(conditions).run().map_err(store_error)?.deleted_count;
                Ok((vec![removed], removed))
            })?;
        }
    }

    fn quarantine(&mut self, id: Id, problem: &str) -> Result<()> {
        let change = doc! { "$set": { "problem": &*describe::without_nul(problem) } };
        let mut filter = visible_filter();
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
        self.complete_indexes()
    }

    fn object_stats(&mut self) -> Result<ObjectStats> {
        self.settle_batches()?;
        let grouped = |matched: Document, group: Document| {
            let mut filter = visible_filter();
            filter.extend(matched);
            let query = self.objects.aggregate([doc! { "$match": filter }, doc! { "$group": group }]);
            query.run().map_err(store_error)?.collect::<mongodb::error::Result<Vec<Document>>>().map_err(store_error)
        };
        let count = |document: &Document, name: &str| {
            u64::try_from(to_whole_number(document.get(name)).unwrap_or(0)).unwrap_or(0)
        };
        let totals_of_all = doc! {
            "_id": null, "count": { "$sum": 1_i64 }, "bytes": { "$sum": "$size" },
            "first": { "$min": "$stored_at" }, "last": { "$max": "$stored_at" },
        };
        let mut stats = ObjectStats::default();
        if let Some(totals) = grouped(doc! {}, totals_of_all)?.first() {
            (stats.count, stats.bytes) = (count(totals, "count"), count(totals, "bytes"));
            (stats.first_at, stats.last_at) = (get_int(totals, "first")?, get_int(totals, "last")?);
        }
        let count_by = |name: &str| doc! { "_id": format!("${name}"), "count": { "$sum": 1_i64 } };
        let quarantined =
            grouped(doc! { "problem": { "$ne": null } }, doc! { "_id": null, "count": { "$sum": 1_i64 } })?;
        stats.quarantined = quarantined.first().map_or(0, |document| count(document, "count"));
        for mut document in grouped(doc! {}, count_by("format"))? {
            stats.formats.push((take_text(&mut document, "_id")?, count(&document, "count")));
        }
        for mut document in grouped(doc! { "class": { "$ne": null } }, count_by("class"))? {
            stats.classes.push((required(take_text(&mut document, "_id")?)?, count(&document, "count")));
        }
        stats.formats.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        stats.classes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(stats)
    }
}
