//! Jobs that wait for another job.
//!
//! A job is marked as followed before its followers are stored. A follower stays marked as unchecked until its
//! predecessor was checked once more. So followers are handed out even if a program is interrupted in between,
//! because the next program that searches for marks does the rest.

use super::MongoBackend;
use super::batch::visible_filter;
use super::fields::{get_int, take_text};
use super::store_error::store_error;
use crate::error::Result;
use crate::id::Id;
use crate::rules::ORPHANED;
use mongodb::bson::{Document, doc};
use std::collections::HashSet;

/// Maximum number of jobs handled in one call.
const MAX_JOBS_PER_CALL: i64 = 512;

impl MongoBackend {
    /// Marks a job as one for which others wait. Returns whether the job exists.
    pub(super) fn mark_followed(&self, id: Id) -> Result<bool> {
        let mut filter = doc! { "_id": id.to_string() };
        filter.extend(visible_filter());
        let mark = doc! { "$set": { "followed": true } };
        let update =
            || Ok(self.jobs.update_one(filter.clone(), mark.clone()).run().map_err(store_error)?.matched_count == 1);
        if update()? {
            return Ok(true);
        }
        // The job may belong to a committed batch that is not visible yet. Finishing the batches makes it visible.
        self.settle_batches()?;
        update()
    }

    /// Checks the predecessor of a follower that was just stored. The predecessor may be done or removed by now.
    pub(super) fn check_follower(&self, id: &str, predecessor: &str) -> Result<()> {
        // Hidden jobs are found too, because a job in a committed batch exists even before it is visible.
        let document = self
            .jobs
            .find_one(doc! { "_id": predecessor })
            .projection(doc! { "state": 1 })
            .run()
            .map_err(store_error)?;
        let state = document.map(|mut found| take_text(&mut found, "state")).transpose()?;
        match state.as_ref().map(|state| state.as_deref()) {
            Some(Some("done")) => self.release_waiting_jobs(doc! { "_id": id }).map(drop)?,
            Some(_) => {}
            None => self.bury_orphan(id)?,
        }
        // The mark is removed last. If this program is interrupted before, another one checks the follower again.
        self.jobs
            .update_one(doc! { "_id": id }, doc! { "$unset": { "unchecked": "" } })
            .run()
            .map(drop)
            .map_err(store_error)
    }

    /// Makes the followers of a job that is done ready.
    pub(super) fn release_followers(&self, id: &str) -> Result<u64> {
        let released = self.release_waiting_jobs(doc! { "after": id })?;
        self.jobs.update_one(doc! { "_id": id }, doc! { "$unset": { "frees": "" } }).run().map_err(store_error)?;
        Ok(released)
    }

    /// Makes the waiting jobs that match this filter ready. Returns how many there were.
    fn release_waiting_jobs(&self, mut filter: Document) -> Result<u64> {
        let now = self.read_time()?;
        filter.insert("state", "waiting");
        let mut released = 0;
        // The start time of a follower may have passed. It is set to now, because the waiting time counts from here.
        for (run_at, set) in [
            (doc! { "$gt": now }, doc! { "state": "ready" }),
            (doc! { "$lte": now }, doc! { "state": "ready", "run_at": now }),
        ] {
            filter.insert("run_at", run_at);
            released +=
                self.jobs.update_many(filter.clone(), doc! { "$set": set }).run().map_err(store_error)?.matched_count;
        }
        Ok(released)
    }

    /// Marks a job as dead because the job that it waited for was removed.
    fn bury_orphan(&self, id: &str) -> Result<()> {
        let change = doc! {
            "$set": { "state": "dead", "finished_at": self.read_time()?, "error": ORPHANED },
            "$unset": { "live_key": "" },
        };
        self.jobs.update_one(doc! { "_id": id, "state": "waiting" }, change).run().map(drop).map_err(store_error)
    }

    /// Finishes chains that were interrupted. Returns how many jobs may have become ready.
    pub(super) fn settle_chains(&self) -> Result<u64> {
        let mut released = 0;
        let query = self.jobs.find(doc! { "frees": true }).projection(doc! { "_id": 1 }).limit(MAX_JOBS_PER_CALL);
        for document in query.run().map_err(store_error)? {
            if let Some(id) = take_text(&mut document.map_err(store_error)?, "_id")? {
                released += self.release_followers(&id)?;
            }
        }
        let mut unchecked = doc! { "unchecked": true };
        unchecked.extend(visible_filter());
        let cursor = self
            .jobs
            .find(unchecked)
            .projection(doc! { "after": 1 })
            .limit(MAX_JOBS_PER_CALL)
            .run()
            .map_err(store_error)?;
        for document in cursor {
            let mut document = document.map_err(store_error)?;
            if let (Some(id), Some(after)) = (take_text(&mut document, "_id")?, take_text(&mut document, "after")?) {
                self.check_follower(&id, &after)?;
                released += 1;
            }
        }
        Ok(released)
    }

    /// Marks jobs as dead that wait for a job that was removed.
    pub(super) fn bury_orphans(&self) -> Result<()> {
        let mut last_sequence = i64::MIN;
        loop {
            let waiting = doc! { "state": "waiting", "seq": { "$gt": last_sequence } };
            let fields = doc! { "after": 1, "seq": 1 };
            let jobs = self.jobs.find(waiting).sort(doc! { "seq": 1 }).projection(fields).limit(MAX_JOBS_PER_CALL);
            let mut page = Vec::new();
            for document in jobs.run().map_err(store_error)? {
                let mut document = document.map_err(store_error)?;
                last_sequence = get_int(&document, "seq")?.unwrap_or(last_sequence);
                if let (Some(id), Some(after)) = (take_text(&mut document, "_id")?, take_text(&mut document, "after")?)
                {
                    page.push((id, after));
                }
            }
            if page.is_empty() {
                return Ok(());
            }
            let predecessors: Vec<&str> = page.iter().map(|(_, after)| &**after).collect();
            let query = self.jobs.find(doc! { "_id": { "$in": predecessors } }).projection(doc! { "_id": 1 });
            let id = |document: mongodb::error::Result<Document>| take_text(&mut document.map_err(store_error)?, "_id");
            let existing: HashSet<String> = query
                .run()
                .map_err(store_error)?
                .filter_map(|document| id(document).transpose())
                .collect::<Result<_>>()?;
            page.iter().filter(|(_, after)| !existing.contains(after)).try_for_each(|(id, _)| self.bury_orphan(id))?;
        }
    }
}
