//! Indexes. An index is a path by which objects are found.
//!
//! The list of paths only grows. The field `kept` of an object is a number of paths. This number of paths, from the
//! first one on, is in its field `indexed`. So the number shows which objects were skipped by an interrupted program,
//! or stored by a program that did not know the new path. While there are such objects, the index is not used.

use super::MongoBackend;
use super::fields::to_whole_number;
use super::objects::object_from_document;
use super::schema::OBJECTS;
use super::store_error::store_error;
use crate::describe;
use crate::error::Result;
use mongodb::bson::{Bson, Document, doc};

/// Maximum number of objects indexed in one call.
const MAX_PAGE_OBJECTS: i64 = 1_000;
/// Maximum size in bytes of these objects.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// Adds the values at these paths to a document.
pub(super) fn add_index_values(document: &mut Document, bytes: &[u8], format: Option<&str>, paths: &[String]) {
    let values = describe::find_index_values(bytes, format, paths).into_iter();
    let values: Vec<Bson> = values.map(|(path, value)| doc! { "path": path, "value": value }.into()).collect();
    document.insert("kept", i64::try_from(paths.len()).unwrap_or(i64::MAX));
    if !values.is_empty() {
        document.insert("indexed", values);
    }
}

/// Returns the filter for objects whose values are indexed for at most `count` paths, or that have no count.
fn lacking_filter(count: i64) -> Document {
    doc! { "kept": { "$not": { "$gt": count } } }
}

impl MongoBackend {
    /// Returns whether all objects have indexed the value at this path.
    pub(super) fn is_indexed(&self, path: &str) -> Result<bool> {
        let Some(position) = self.read_index_paths()?.iter().position(|known| known == path) else { return Ok(false) };
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        let first_missing = self.objects.find_one(lacking_filter(position)).projection(doc! { "_id": 1 });
        Ok(first_missing.run().map_err(store_error)?.is_none())
    }

    /// Returns the paths that all objects have indexed.
    pub(super) fn complete_indexes(&self) -> Result<Vec<String>> {
        let mut paths = self.read_index_paths()?;
        if paths.is_empty() {
            return Ok(paths);
        }
        let query = self.objects.find_one(doc! {}).sort(doc! { "kept": 1 }).projection(doc! { "kept": 1 });
        if let Some(document) = query.run().map_err(store_error)? {
            let kept = to_whole_number(document.get("kept")).unwrap_or(0);
            paths.truncate(usize::try_from(kept).unwrap_or(0));
        }
        paths.sort_unstable();
        Ok(paths)
    }

    pub(super) fn add_index(&self, path: &str) -> Result<()> {
        describe::check_path(path)?;
        let filter = doc! { "_id": OBJECTS, "paths": { "$ne": path } };
        self.meta.update_one(filter, doc! { "$push": { "paths": path } }).run().map_err(store_error)?;
        let position = self.read_index_paths()?.iter().position(|known| known == path).unwrap_or(0);
        self.index_objects(i64::try_from(position).unwrap_or(i64::MAX))
    }

    /// Indexes all objects that have indexed at most `count` paths.
    pub(super) fn index_objects(&self, count: i64) -> Result<()> {
        loop {
            let paths = self.read_index_paths()?;
            let fields = doc! { "classes": 0, "indexed": 0, "json": 0 };
            let found = self
                .objects
                .find(lacking_filter(count))
                .projection(fields)
                .limit(MAX_PAGE_OBJECTS)
                .run()
                .map_err(store_error)?;
            let (mut changes, mut bytes) = (Vec::new(), 0);
            for document in found {
                let mut document = document.map_err(store_error)?;
                let id = document.get("_id").cloned().unwrap_or(Bson::Null);
                let mut change = doc! { "indexed": [] };
                match object_from_document(&mut document) {
                    Ok(object) => {
                        bytes += object.bytes.len();
                        add_index_values(&mut change, &object.bytes, object.format.as_deref(), &paths);
                    }
                    // An invalid document has no values.
                    Err(_) => add_index_values(&mut change, b"", None, &paths),
                }
                // Skips the object if another program indexed it in the meantime, perhaps for more paths.
                let mut filter = lacking_filter(count);
                filter.insert("_id", id);
                changes.push(doc! { "q": filter, "u": { "$set": change } });
                if bytes >= MAX_PAGE_BYTES {
                    break;
                }
            }
            if changes.is_empty() {
                return Ok(());
            }
            self.change_each(&self.objects, changes)?;
        }
    }
}
