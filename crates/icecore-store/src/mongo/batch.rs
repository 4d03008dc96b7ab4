//! Documents of one call become visible together, or not at all.
//!
//! They arrive with the mark of a batch, which nobody looks at; one change of the record of the
//! batch from `open` to `committed` decides; then the marks are taken off. Whoever comes by
//! does the rest of a batch whose program ended: takes the marks off one that was committed, and
//! gives up one that has stayed open for too long. That also is one change of the record, so
//! a program that was only slow learns of it, and what it stored is as if it never was.

use super::MongoBackend;
use super::fields::{int, text, weight};
use super::said::{duplicates, said};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use mongodb::bson::{Bson, Document, doc};
use mongodb::sync::Collection;
use std::time::{Duration, Instant};

/// A batch of which nothing was heard for so long, in milliseconds, is given up.
const SILENCE: i64 = 60_000;
/// The record of one that was given up stays for so long: its program may still be sending.
const KEPT: i64 = 60 * 60 * 1000;
/// How many documents are sent at once.
const MOST: usize = 1_000;
/// And how many bytes, if there is more than one.
const HEAVIEST: usize = 16 << 20;
/// How many records are looked at in one go.
const RECORDS: i64 = 1_000;
/// How long is waited for a batch of another program that has what must be unique.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is looked at: no document that is still arriving.
pub(super) fn visible() -> Document {
    doc! { "batch": null }
}

/// How a document stands that has what must be unique.
enum Standing {
    /// It may be gone, or visible: look again.
    Changed,
    /// Its batch is open.
    Arriving,
}

impl MongoBackend {
    fn collection_of(&self, record: &Document) -> &Collection<Document> {
        match record.get_str("collection") {
            Ok(name) if name == self.objects.name() => &self.objects,
            _ => &self.jobs,
        }
    }

    /// Opens a batch: its mark.
    pub(super) fn begin_batch(&self, collection: &Collection<Document>) -> Result<String> {
        let batch = Id::new().to_string();
        let record = doc! { "_id": &batch, "collection": collection.name(), "state": "open", "at": self.time()? };
        self.batches.insert_one(record).run().map_err(said)?;
        Ok(batch)
    }

    /// Sends documents of a batch; which of them were refused because something unique is there.
    pub(super) fn send(
        &self,
        batch: &str,
        collection: &Collection<Document>,
        documents: &[Document],
    ) -> Result<Vec<usize>> {
        let (mut refused, mut sent) = (Vec::new(), 0);
        while sent < documents.len() {
            if sent > 0 {
                self.still_open(batch)?;
            }
            let mut bytes = 0;
            let fits = |document: &&Document| {
                bytes += weight(document);
                bytes <= HEAVIEST
            };
            let count = documents[sent..].iter().take(MOST).take_while(fits).count().max(1);
            let some = documents[sent..sent + count].iter().map(|document| {
                let mut document = document.clone();
                document.insert("batch", batch);
                document
            });
            if let Err(error) = collection.insert_many(some).ordered(false).run() {
                refused.extend(duplicates(error)?.into_iter().map(|index| sent + index));
            }
            sent += count;
        }
        refused.sort_unstable();
        Ok(refused)
    }

    /// Says that the batch is not given up by its own program.
    fn still_open(&self, batch: &str) -> Result<()> {
        self.change_open(batch, doc! { "at": self.time()? })
    }

    /// Makes a batch visible. What it has is stored when this returns.
    pub(super) fn commit(&self, batch: &str, collection: &Collection<Document>) -> Result<()> {
        self.change_open(batch, doc! { "state": "committed" })?;
        // Others take the marks off, if this is cut off.
        let _ = self.settle(batch, collection);
        Ok(())
    }

    fn change_open(&self, batch: &str, change: Document) -> Result<()> {
        let filter = doc! { "_id": batch, "state": "open" };
        let done = self.batches.update_one(filter, doc! { "$set": change }).run().map_err(said)?;
        if done.matched_count == 1 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Busy, "what was sent arrived so slowly that it was given up: nothing is stored"))
    }

    /// Ends a batch that is not wanted any more, by the program that began it.
    pub(super) fn abandon(&self, batch: &str, collection: &Collection<Document>) {
        if self.give_up(batch, collection).is_ok() {
            let _ = self.batches.delete_one(doc! { "_id": batch, "state": "aborted" }).run();
        }
    }

    fn settle(&self, batch: &str, collection: &Collection<Document>) -> Result<u64> {
        let mut change = doc! { "$unset": { "batch": "" } };
        if collection.name() == self.jobs.name() {
            change.insert("$set", doc! { "state": "waiting" });
            let behind = doc! { "batch": batch, "after": { "$exists": true } };
            collection.update_many(behind, change.clone()).run().map_err(said)?;
            change.insert("$set", doc! { "state": "ready" });
        }
        let done = collection.update_many(doc! { "batch": batch }, change).run().map_err(said)?;
        self.batches.delete_one(doc! { "_id": batch, "state": "committed" }).run().map_err(said)?;
        Ok(done.matched_count)
    }

    fn give_up(&self, batch: &str, collection: &Collection<Document>) -> Result<()> {
        let change = doc! { "$set": { "state": "aborted", "at": self.time()? } };
        self.batches.update_one(doc! { "_id": batch, "state": "open" }, change).run().map_err(said)?;
        let committed = doc! { "_id": batch, "state": "committed" };
        if self.batches.find_one(committed).run().map_err(said)?.is_none() {
            collection.delete_many(doc! { "batch": batch }).run().map_err(said)?;
        }
        Ok(())
    }

    /// Does the rest of what other programs began; how many documents are visible now.
    pub(super) fn settle_batches(&self) -> Result<u64> {
        let found = self.batches.find(doc! {}).limit(RECORDS).run().map_err(said)?;
        let (mut visible, mut now) = (0, None);
        for record in found {
            let mut record = record.map_err(said)?;
            let time = match now {
                Some(time) => time,
                None => *now.insert(self.time()?),
            };
            visible += self.go_on(&mut record, time)?.1;
        }
        Ok(visible)
    }

    /// What is to be done with a batch at this time, and how many documents became visible.
    fn go_on(&self, record: &mut Document, now: i64) -> Result<(Standing, u64)> {
        let collection = self.collection_of(record);
        let age = now.saturating_sub(int(record, "at")?.unwrap_or(0));
        let Some(batch) = text(record, "_id")? else { return Ok((Standing::Changed, 0)) };
        let state = text(record, "state")?.unwrap_or_default();
        match &*state {
            "committed" => return Ok((Standing::Changed, self.settle(&batch, collection)?)),
            "open" if age <= SILENCE => return Ok((Standing::Arriving, 0)),
            "open" => self.give_up(&batch, collection)?,
            _ => {
                collection.delete_many(doc! { "batch": &batch }).run().map_err(said)?;
                if age > KEPT {
                    self.batches.delete_one(doc! { "_id": &batch, "state": "aborted" }).run().map_err(said)?;
                }
            }
        }
        Ok((Standing::Changed, 0))
    }

    /// The visible document that has what must be unique, as this filter says. One that is
    /// arriving is waited for.
    pub(super) fn holder(&self, collection: &Collection<Document>, filter: &Document) -> Result<Option<Document>> {
        let begun = Instant::now();
        loop {
            let fields = doc! { "_id": 1, "batch": 1 };
            let Some(mut found) = collection.find_one(filter.clone()).projection(fields).run().map_err(said)? else {
                return Ok(None);
            };
            let Some(batch) = text(&mut found, "batch")? else { return Ok(Some(found)) };
            match self.standing(collection, found.get("_id"), &batch)? {
                Standing::Arriving if begun.elapsed() >= PATIENCE => {
                    return Err(Error::new(ErrorKind::Busy, "another program is storing one with the same key"));
                }
                Standing::Arriving => std::thread::sleep(Duration::from_millis(20)),
                Standing::Changed => {}
            }
        }
    }

    fn standing(&self, collection: &Collection<Document>, id: Option<&Bson>, batch: &str) -> Result<Standing> {
        match self.batches.find_one(doc! { "_id": batch }).run().map_err(said)? {
            Some(mut record) => Ok(self.go_on(&mut record, self.time()?)?.0),
            // Of a batch that was given up so long ago that nobody knows of it.
            None => {
                collection.delete_one(doc! { "_id": id, "batch": batch }).run().map_err(said)?;
                Ok(Standing::Changed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Cell, World, backends};

    /// `scripts/servers.sh run cargo test -p icecore-store --features mongodb --lib` has a server.
    #[test]
    fn a_batch_that_was_given_up_is_refused_to_its_program() {
        for (_, fresh) in backends().into_iter().filter(|(name, _)| *name == "mongodb") {
            let mut world = World::new(fresh());
            let (client, name) = super::super::connect::client(&world.address).expect("a client");
            let mut backend = MongoBackend::over(client, &name);
            backend.find_clock().expect("a clock");
            let document =
                |number: i64| doc! { "_id": Id::new().to_string(), "seq": number, "stored_at": 1_i64, "checksum": "" };
            let batch = backend.begin_batch(&backend.objects).expect("begun");
            backend.send(&batch, &backend.objects, &[document(1), document(2)]).expect("sent");
            world.change("icecore_batches", &[("at", Cell::Int(0))], &[]);
            // Others come by.
            assert_eq!(world.store.object_stats().expect("stats").count, 0);
            assert_eq!(world.count("icecore_objects"), 0);
            // What arrives late is not seen either, and taken away.
            assert!(backend.still_open(&batch).is_err());
            backend.send(&batch, &backend.objects, &[document(3)]).expect("sent");
            let refused = backend.commit(&batch, &backend.objects).expect_err("refused");
            assert_eq!(refused.kind(), ErrorKind::Busy);
            assert_eq!(world.store.object_stats().expect("stats").count, 0);
            backend.abandon(&batch, &backend.objects);
            assert_eq!((world.count("icecore_objects"), world.count("icecore_batches")), (0, 0));
            // What was committed is not given up, whoever wants to.
            let batch = backend.begin_batch(&backend.objects).expect("begun");
            backend.send(&batch, &backend.objects, &[document(4)]).expect("sent");
            backend.change_open(&batch, doc! { "state": "committed" }).expect("committed");
            backend.abandon(&batch, &backend.objects);
            assert_eq!(world.store.object_stats().expect("stats").count, 1);
        }
    }
}
