//! Collections with their indexes, and counters for sequence numbers.

use super::MongoBackend;
use super::fields::{get_int, to_whole_number};
use super::store_error::{is_duplicate, store_error};
use crate::error::{Error, ErrorKind, Result};
use crate::rules::required;
use mongodb::IndexModel;
use mongodb::bson::{Bson, Document, doc};
use mongodb::options::{IndexOptions, ReturnDocument};
use mongodb::sync::Collection;

/// Schema version of this program.
const VERSION: i64 = 2;
/// Names of the counters of objects, jobs and notes. The document of the objects' counter also has the paths of
/// indexes.
pub(super) const OBJECTS: &str = "objects";
pub(super) const JOBS: &str = "jobs";
pub(super) const AUDIT: &str = "audit";

fn plain_index(keys: Document) -> IndexModel {
    IndexModel::builder().keys(keys).build()
}

fn unique_index(keys: Document) -> IndexModel {
    let options = IndexOptions::builder().unique(true).sparse(true).build();
    IndexModel::builder().keys(keys).options(options).build()
}

fn sparse_index(keys: Document) -> IndexModel {
    let options = IndexOptions::builder().sparse(true).build();
    IndexModel::builder().keys(keys).options(options).build()
}

impl MongoBackend {
    /// Updates the collections to the schema version of this program. Each step may be repeated, so several programs
    /// may do this at once, and an interrupted update is completed later.
    pub(super) fn migrate(&self) -> Result<()> {
        match self.read_version()? {
            Some(VERSION) => return Ok(()),
            // New indexes are added to the existing ones.
            Some(1..VERSION) => {}
            Some(version) => {
                let text = format!(
                    "the collections have version {version}, which a newer icecore created; this one supports {VERSION}"
                );
                return Err(Error::new(ErrorKind::Schema, text));
            }
            None => {}
        }
        let ensure_indexes = |collection: &Collection<Document>, indexes: Vec<IndexModel>| {
            collection.create_indexes(indexes).run().map(drop).map_err(store_error)
        };
        ensure_indexes(
            &self.objects,
            vec![
                plain_index(doc! { "seq": 1 }),
                unique_index(doc! { "object_key": 1 }),
                plain_index(doc! { "classes": 1, "seq": 1 }),
                plain_index(doc! { "indexed": 1, "seq": 1 }),
                plain_index(doc! { "kept": 1 }),
                sparse_index(doc! { "expires_at": 1 }),
                sparse_index(doc! { "batch": 1 }),
            ],
        )?;
        ensure_indexes(
            &self.jobs,
            vec![
                plain_index(doc! { "seq": 1 }),
                unique_index(doc! { "live_key": 1 }),
                plain_index(doc! { "queue": 1, "state": 1, "priority": -1, "run_at": 1, "seq": 1 }),
                plain_index(doc! { "queue": 1, "state": 1, "lease_until": 1 }),
                sparse_index(doc! { "finished_at": 1 }),
                sparse_index(doc! { "batch": 1 }),
                sparse_index(doc! { "after": 1 }),
                sparse_index(doc! { "unchecked": 1 }),
                sparse_index(doc! { "frees": 1 }),
            ],
        )?;
        ensure_indexes(&self.audit, vec![plain_index(doc! { "seq": 1 })])?;
        ensure_indexes(&self.schedules, vec![plain_index(doc! { "next_at": 1 })])?;
        for name in [OBJECTS, JOBS, AUDIT] {
            self.ensure_meta(doc! { "_id": name, "value": 0_i64 })?;
        }
        self.ensure_meta(doc! { "_id": "version", "value": VERSION })?;
        let older = doc! { "_id": "version", "value": { "$lt": VERSION } };
        self.meta.update_one(older, doc! { "$set": { "value": VERSION } }).run().map(drop).map_err(store_error)
    }

    fn ensure_meta(&self, document: Document) -> Result<()> {
        match self.meta.insert_one(document).run() {
            Err(error) if !is_duplicate(&error) => Err(store_error(error)),
            _ => Ok(()),
        }
    }

    fn read_version(&self) -> Result<Option<i64>> {
        let found = self.meta.find_one(doc! { "_id": "version" }).run().map_err(store_error)?;
        // A value that is not a number is an unknown version.
        Ok(found.map(|found| to_whole_number(found.get("value")).unwrap_or(i64::MAX)))
    }

    /// Reserves new sequence numbers. Returns the first one, and the counter's document.
    pub(super) fn reserve_sequences(&self, name: &str, count: usize) -> Result<(i64, Document)> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let counter = self
            .meta
            .find_one_and_update(doc! { "_id": name }, doc! { "$inc": { "value": count } })
            .return_document(ReturnDocument::Before)
            .run()
            .map_err(store_error)?;
        let counter = required(counter)?;
        Ok((required(get_int(&counter, "value")?)?.saturating_add(1), counter))
    }

    /// Returns the indexed paths, in the order in which they were added.
    pub(super) fn read_index_paths(&self) -> Result<Vec<String>> {
        index_paths_of(&required(self.meta.find_one(doc! { "_id": OBJECTS }).run().map_err(store_error)?)?)
    }
}

/// Returns the paths in the document of the objects' counter.
pub(super) fn index_paths_of(meta: &Document) -> Result<Vec<String>> {
    let text = |path: &Bson| required(path.as_str().map(str::to_owned));
    meta.get_array("paths").map_or(Ok(Vec::new()), |paths| paths.iter().map(text).collect())
}
