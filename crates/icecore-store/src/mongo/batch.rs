//! Batches. The documents of one call become visible together, or not at all.
//!
//! Documents are inserted with the mark of a batch. The mark hides them. The batch is stored when its record changes
//! from `open` to `committed`. Then the marks are removed. If the program of a batch has ended, any other program
//! finishes the batch. It removes the marks of a committed batch, and gives up a batch that was open for too long.
//! Giving up is also one change of the record. So a program that was only slow notices it, and nothing of its batch
//! is stored.

use super::MongoBackend;
use super::fields::{estimate_size, get_int, take_text};
use super::store_error::{find_duplicates, store_error};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use mongodb::bson::{Bson, Document, doc};
use mongodb::sync::Collection;
use std::time::{Duration, Instant};

/// An open batch without progress for this many milliseconds is given up.
const OPEN_TIMEOUT_MS: i64 = 60_000;
/// Number of milliseconds for which the record of a batch that was given up is kept, because its program may still be
/// sending documents.
const ABORTED_RETENTION_MS: i64 = 60 * 60 * 1000;
/// Maximum number of documents sent at once.
const MAX_INSERT_COUNT: usize = 1_000;
/// Maximum number of bytes sent at once, if there is more than one document.
const MAX_INSERT_BYTES: usize = 16 << 20;
/// Maximum number of batch records handled in one call.
const MAX_RECORDS: i64 = 1_000;
/// How long to wait for another program's batch that contains a document with the same unique key.
const HOLDER_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the filter for visible documents. They do not have the mark of a batch.
pub(super) fn visible_filter() -> Document {
    doc! { "batch": null }
}

/// State of the document that already has a unique value.
enum HolderState {
    /// Its batch has ended. The document is removed, or visible now.
    Changed,
    /// Its batch is still open.
    Arriving,
}

impl MongoBackend {
    fn collection_of_batch(&self, record: &Document) -> &Collection<Document> {
        match record.get_str("collection") {
            Ok(name) if name == self.objects.name() => &self.objects,
            _ => &self.jobs,
        }
    }

    /// Opens a batch. Returns its mark.
    pub(super) fn begin_batch(&self, collection: &Collection<Document>) -> Result<String> {
        let batch = Id::new().to_string();
        let record = doc! { "_id": &batch, "collection": collection.name(), "state": "open", "at": self.read_time()? };
        self.batches.insert_one(record).run().map_err(store_error)?;
        Ok(batch)
    }

    /// Sends documents of a batch. Returns the indexes of those that were refused because a unique value exists.
    pub(super) fn send_documents(
        &self,
        batch: &str,
        collection: &Collection<Document>,
        documents: &[Document],
    ) -> Result<Vec<usize>> {
        let (mut refused, mut sent) = (Vec::new(), 0);
        while sent < documents.len() {
            if sent > 0 {
                self.renew_batch(batch)?;
            }
            let mut bytes = 0;
            let fits = |document: &&Document| {
                bytes += estimate_size(document);
                bytes <= MAX_INSERT_BYTES
            };
            let count = documents[sent..].iter().take(MAX_INSERT_COUNT).take_while(fits).count().max(1);
            let group = documents[sent..sent + count].iter().map(|document| {
                let mut document = document.clone();
                document.insert("batch", batch);
                document
            });
            if let Err(error) = collection.insert_many(group).ordered(false).run() {
                refused.extend(find_duplicates(error)?.into_iter().map(|index| sent + index));
            }
            sent += count;
        }
        refused.sort_unstable();
        Ok(refused)
    }

    /// Renews the time of the batch, so that others do not give it up.
    fn renew_batch(&self, batch: &str) -> Result<()> {
        self.change_open_batch(batch, doc! { "at": self.read_time()? })
    }

    /// Makes a batch visible. Its documents are stored when this returns.
    pub(super) fn commit_batch(&self, batch: &str, collection: &Collection<Document>) -> Result<()> {
        self.change_open_batch(batch, doc! { "state": "committed" })?;
        // The batch is stored already. If removing the marks fails, another program removes them later.
        let _ = self.settle_batch(batch, collection);
        Ok(())
    }

    /// Changes the record of a batch. Fails if another program has given up the batch.
    fn change_open_batch(&self, batch: &str, change: Document) -> Result<()> {
        let filter = doc! { "_id": batch, "state": "open" };
        let result = self.batches.update_one(filter, doc! { "$set": change }).run().map_err(store_error)?;
        if result.matched_count == 1 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Busy, "the data arrived too slowly; nothing is stored"))
    }

    /// Ends a batch of this program after an error.
    pub(super) fn abandon_batch(&self, batch: &str, collection: &Collection<Document>) {
        if self.give_up_batch(batch, collection).is_ok() {
            let _ = self.batches.delete_one(doc! { "_id": batch, "state": "aborted" }).run();
        }
    }

    /// Makes the documents of a committed batch visible, and removes its record. Returns how many documents there
    /// were.
    fn settle_batch(&self, batch: &str, collection: &Collection<Document>) -> Result<u64> {
        let mut change = doc! { "$unset": { "batch": "" } };
        // Jobs also get their final state. Followers are changed first, so the second change applies only to the
        // others.
        if collection.name() == self.jobs.name() {
            change.insert("$set", doc! { "state": "waiting" });
            let followers = doc! { "batch": batch, "after": { "$exists": true } };
            collection.update_many(followers, change.clone()).run().map_err(store_error)?;
            change.insert("$set", doc! { "state": "ready" });
        }
        let result = collection.update_many(doc! { "batch": batch }, change).run().map_err(store_error)?;
        self.batches.delete_one(doc! { "_id": batch, "state": "committed" }).run().map_err(store_error)?;
        Ok(result.matched_count)
    }

    /// Marks an open batch as aborted, and removes its documents unless it was committed meanwhile.
    fn give_up_batch(&self, batch: &str, collection: &Collection<Document>) -> Result<()> {
        let change = doc! { "$set": { "state": "aborted", "at": self.read_time()? } };
        self.batches.update_one(doc! { "_id": batch, "state": "open" }, change).run().map_err(store_error)?;
        let committed = doc! { "_id": batch, "state": "committed" };
        if self.batches.find_one(committed).run().map_err(store_error)?.is_none() {
            collection.delete_many(doc! { "batch": batch }).run().map_err(store_error)?;
        }
        Ok(())
    }

    /// Finishes batches of other programs. Returns how many documents became visible.
    pub(super) fn settle_batches(&self) -> Result<u64> {
        let records = self.batches.find(doc! {}).limit(MAX_RECORDS).run().map_err(store_error)?;
        let (mut visible, mut now) = (0, None);
        for record in records {
            let mut record = record.map_err(store_error)?;
            let time = match now {
                Some(time) => time,
                None => *now.insert(self.read_time()?),
            };
            visible += self.finish_batch(&mut record, time)?.1;
        }
        Ok(visible)
    }

    /// Finishes a batch if it can be finished at this time. Returns its state, and how many documents became visible.
    fn finish_batch(&self, record: &mut Document, now: i64) -> Result<(HolderState, u64)> {
        let collection = self.collection_of_batch(record);
        let age = now.saturating_sub(get_int(record, "at")?.unwrap_or(0));
        let Some(batch) = take_text(record, "_id")? else { return Ok((HolderState::Changed, 0)) };
        let state = take_text(record, "state")?.unwrap_or_default();
        match &*state {
            "committed" => return Ok((HolderState::Changed, self.settle_batch(&batch, collection)?)),
            "open" if age <= OPEN_TIMEOUT_MS => return Ok((HolderState::Arriving, 0)),
            "open" => self.give_up_batch(&batch, collection)?,
            _ => {
                collection.delete_many(doc! { "batch": &batch }).run().map_err(store_error)?;
                if age > ABORTED_RETENTION_MS {
                    self.batches.delete_one(doc! { "_id": &batch, "state": "aborted" }).run().map_err(store_error)?;
                }
            }
        }
        Ok((HolderState::Changed, 0))
    }

    /// Returns the visible document that holds a unique value, which the filter names. Waits while that document
    /// belongs to an open batch.
    pub(super) fn find_holder(&self, collection: &Collection<Document>, filter: &Document) -> Result<Option<Document>> {
        let start = Instant::now();
        loop {
            let fields = doc! { "_id": 1, "batch": 1 };
            let Some(mut holder) = collection.find_one(filter.clone()).projection(fields).run().map_err(store_error)?
            else {
                return Ok(None);
            };
            let Some(batch) = take_text(&mut holder, "batch")? else { return Ok(Some(holder)) };
            match self.check_holder_batch(collection, holder.get("_id"), &batch)? {
                HolderState::Arriving if start.elapsed() >= HOLDER_TIMEOUT => {
                    return Err(Error::new(ErrorKind::Busy, "another program is storing an entry with the same key"));
                }
                HolderState::Arriving => std::thread::sleep(Duration::from_millis(20)),
                HolderState::Changed => {}
            }
        }
    }

    /// Finishes the batch of a hidden document if possible, and returns the state of the document.
    fn check_holder_batch(
        &self,
        collection: &Collection<Document>,
        id: Option<&Bson>,
        batch: &str,
    ) -> Result<HolderState> {
        match self.batches.find_one(doc! { "_id": batch }).run().map_err(store_error)? {
            Some(mut record) => Ok(self.finish_batch(&mut record, self.read_time()?)?.0),
            // The batch was given up so long ago that its record is gone.
            None => {
                collection.delete_one(doc! { "_id": id, "batch": batch }).run().map_err(store_error)?;
                Ok(HolderState::Changed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Cell, World, backends};

    /// Needs a server: `scripts/servers.sh run cargo test -p icecore-store --features mongodb --lib`.
    #[test]
    fn abandoned_batches_cannot_be_committed() {
        for (_, new_database) in backends().into_iter().filter(|(name, _)| *name == "mongodb") {
            let mut world = World::new(new_database());
            let (client, name) = super::super::connect::connect_client(&world.address).expect("a client");
            let mut backend = MongoBackend::from_client(client, &name);
            backend.find_time_command().expect("a clock");
            let document =
                |number: i64| doc! { "_id": Id::new().to_string(), "seq": number, "stored_at": 1_i64, "checksum": "" };
            let batch = backend.begin_batch(&backend.objects).expect("begun");
            backend.send_documents(&batch, &backend.objects, &[document(1), document(2)]).expect("sent");
            world.change("icecore_batches", &[("at", Cell::Int(0))], &[]);
            // Other programs handle the batch.
            assert_eq!(world.store.object_stats().expect("stats").count, 0);
            assert_eq!(world.count("icecore_objects"), 0);
            // Documents that arrive late are not visible either, and are removed.
            assert!(backend.renew_batch(&batch).is_err());
            backend.send_documents(&batch, &backend.objects, &[document(3)]).expect("sent");
            let refused = backend.commit_batch(&batch, &backend.objects).expect_err("refused");
            assert_eq!(refused.kind(), ErrorKind::Busy);
            assert_eq!(world.store.object_stats().expect("stats").count, 0);
            backend.abandon_batch(&batch, &backend.objects);
            assert_eq!((world.count("icecore_objects"), world.count("icecore_batches")), (0, 0));
            // A committed batch can't be given up by anyone.
            let batch = backend.begin_batch(&backend.objects).expect("begun");
            backend.send_documents(&batch, &backend.objects, &[document(4)]).expect("sent");
            backend.change_open_batch(&batch, doc! { "state": "committed" }).expect("committed");
            backend.abandon_batch(&batch, &backend.objects);
            assert_eq!(world.store.object_stats().expect("stats").count, 1);
        }
    }
}
