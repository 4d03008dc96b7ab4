//! Claims hand out ready jobs, and free jobs whose lease ended.
//!
//! A single job is handed out by one `findAndModify` that writes a new token. Several jobs are first found and then
//! changed. A job is changed only if it is the same as when it was found. The token then shows which jobs were
//! changed.

use super::MongoBackend;
use super::fields::{get_int, insert_if_some};
use super::jobs::job_from_document;
use super::limits::ReservedPlaces;
use super::store_error::store_error;
use crate::claim_request::{ClaimOperations, ClaimRequest, ExpiryChecks};
use crate::describe;
use crate::error::{Error, Result};
use crate::job::{Job, State};
use crate::rules::to_millis;
use mongodb::bson::{Bson, Document, doc};
use mongodb::options::ReturnDocument;
use std::collections::HashSet;

/// Maximum number of jobs handed out in one call.
const MAX_CLAIMED_JOBS: usize = 500;
/// Maximum number of ended leases handled in one call.
const MAX_ENDED_LEASES: i64 = 512;

/// Returns the filter for jobs that may be handed out. The time `now` was read before, so another lease of a job may
/// have ended after it. The condition on `freed_at` excludes such a job, because its new lease would begin before the
/// other lease ended.
fn ready_filter(queue: &str, now: i64) -> Document {
    doc! { "queue": queue, "state": "ready", "run_at": { "$lte": now }, "freed_at": { "$not": { "$gt": now } } }
}

fn claim_order() -> Document {
    doc! { "priority": -1, "run_at": 1, "seq": 1 }
}

fn lease_update(request: &ClaimRequest<'_>, until: i64, place: Option<i64>) -> Document {
    let mut set = doc! { "state": "leased", "token": request.token, "worker": request.worker, "lease_until": until };
    insert_if_some(&mut set, "place", place);
    doc! { "$set": set, "$inc": { "attempts": 1_i64 } }
}

/// A document that was handed out: its id, and its job or the error of an invalid document.
type ClaimedDocument = (Bson, Result<Job>);

/// Returns the job of a document that was ready and is now handed out until `until`.
fn claimed_document(mut document: Document, request: &ClaimRequest<'_>, until: i64) -> ClaimedDocument {
    let id = document.get("_id").cloned().unwrap_or(Bson::Null);
    let job = job_from_document(&mut document).map(|job| Job {
        state: State::Leased,
        attempts: job.attempts.saturating_add(1),
        worker: Some(request.worker.to_owned()),
        lease_until: Some(until),
        ..job
    });
    (id, job)
}

impl MongoBackend {
    /// Hands out the next job of a queue without limits.
    fn take_one(&self, request: &ClaimRequest<'_>) -> Result<Option<ClaimedDocument>> {
        let now = self.read_time()?;
        let until = now.saturating_add(to_millis(request.lease));
        let found = self
            .jobs
            .find_one_and_update(ready_filter(request.queue, now), lease_update(request, until, None))
            .sort(claim_order())
            .return_document(ReturnDocument::Before)
            .run()
            .map_err(store_error)?;
        Ok(found.map(|found| claimed_document(found, request, until)))
    }

    /// Hands out up to `max_jobs` jobs, with these reserved places if the queue has limits. Returns how many jobs
    /// were found, and the jobs that were handed out. A job that another program changed in the meantime is not
    /// handed out.
    fn take_many(
        &self,
        request: &ClaimRequest<'_>,
        max_jobs: usize,
        places: Option<&ReservedPlaces>,
    ) -> Result<(usize, Vec<ClaimedDocument>)> {
        let now = self.read_time()?;
        let until = places.map_or(now.saturating_add(to_millis(request.lease)), |places| places.until);
        let limit = i64::try_from(max_jobs).unwrap_or(i64::MAX);
        let cursor = self
            .jobs
            .find(ready_filter(request.queue, now))
            .sort(claim_order())
            .limit(limit)
            .run()
            .map_err(store_error)?;
        let mut candidates = cursor.collect::<mongodb::error::Result<Vec<Document>>>().map_err(store_error)?;
        let field = |document: &Document, name| document.get(name).cloned().unwrap_or(Bson::Null);
        let change = |(number, document): (i64, &Document)| {
            let mut filter = ready_filter(request.queue, now);
            filter.extend(doc! { "_id": field(document, "_id"), "attempts": field(document, "attempts") });
            doc! { "q": filter, "u": lease_update(request, until, places.map(|places| places.first_place + number)) }
        };
        let (found_count, changes) = (candidates.len(), (0..).zip(&candidates).map(change).collect());
        if self.change_each(&self.jobs, changes)? != found_count as u64 {
            // Some jobs were changed by others since they were found. The token shows which ones were handed out
            // here.
            let ids: Vec<Bson> = candidates.iter().map(|document| field(document, "_id")).collect();
            let filter = doc! { "_id": { "$in": ids }, "token": request.token };
            let claimed = self.jobs.find(filter).projection(doc! { "_id": 1 }).run().map_err(store_error)?;
            let id = |document: mongodb::error::Result<Document>| {
                Ok(field(&document.map_err(store_error)?, "_id").to_string())
            };
            let claimed_ids = claimed.map(id).collect::<Result<HashSet<String>>>()?;
            let is_claimed: Vec<bool> =
                candidates.iter().map(|document| claimed_ids.contains(&field(document, "_id").to_string())).collect();
            if let Some(places) = places {
                let used: Vec<i64> = (places.first_place..)
                    .zip(&is_claimed)
                    .filter(|(_, is_claimed)| **is_claimed)
                    .map(|(place, _)| place)
                    .collect();
                self.return_unused_places(request, places, &used)?;
            }
            let mut is_claimed = is_claimed.into_iter();
            candidates.retain(|_| is_claimed.next() == Some(true));
        } else if let Some(places) = places {
            let used: Vec<i64> = (places.first_place..).take(found_count).collect();
            self.return_unused_places(request, places, &used)?;
        }
        Ok((found_count, candidates.into_iter().map(|document| claimed_document(document, request, until)).collect()))
    }

    /// Hands out jobs like `take_many`, but within the limits of a queue.
    fn take_limited(&self, request: &ClaimRequest<'_>, max_jobs: usize) -> Result<(usize, Vec<ClaimedDocument>)> {
        let limit = i64::try_from(max_jobs).unwrap_or(i64::MAX);
        let ready_jobs =
            self.jobs.find(ready_filter(request.queue, self.read_time()?)).projection(doc! { "_id": 1 }).limit(limit);
        let ready_count = ready_jobs.run().map_err(store_error)?.count();
        if ready_count == 0 {
            return Ok((0, Vec::new()));
        }
        match self.reserve_places(request, ready_count)? {
            None => self.take_many(request, max_jobs, None),
            Some(places) if places.count == 0 => Ok((0, Vec::new())),
            Some(places) => self.take_many(request, places.count, Some(&places)),
        }
    }

    /// Marks a job as dead, and records the error. The document of this job is invalid, because another program wrote
    /// it.
    fn bury_invalid_job(&self, id: &Bson, token: &str, error: &Error) -> Result<()> {
        let change = doc! {
            "$set": {
                "state": "dead", "finished_at": self.read_time()?, "error": &*describe::without_nul(&error.to_string()),
            },
            "$unset": { "token": "", "live_key": "", "lease_until": "", "place": "" },
        };
        self.jobs.update_one(doc! { "_id": id, "token": token }, change).run().map(drop).map_err(store_error)
    }
}

impl ClaimOperations for MongoBackend {
    fn expiry_checks(&mut self) -> &mut ExpiryChecks {
        &mut self.expiry_checks
    }

    fn hand_out_ready(&mut self, request: &ClaimRequest<'_>, max_jobs: usize, jobs: &mut Vec<Job>) -> Result<bool> {
        let (is_paused, is_limited) = self.read_queue_flags(request.queue)?;
        if is_paused {
            return Ok(false);
        }
        let requested = max_jobs.min(MAX_CLAIMED_JOBS);
        let (found_count, documents) = match requested {
            _ if is_limited => self.take_limited(request, requested)?,
            1 => {
                let documents: Vec<ClaimedDocument> = self.take_one(request)?.into_iter().collect();
                (documents.len(), documents)
            }
            _ => self.take_many(request, requested, None)?,
        };
        // One invalid document must not keep the other jobs from their workers.
        let mut invalid = Vec::new();
        for (id, job) in documents {
            match job {
                Ok(job) => jobs.push(job),
                Err(error) => invalid.push((id, error)),
            }
        }
        invalid.iter().try_for_each(|(id, error)| self.bury_invalid_job(id, request.token, error))?;
        Ok(found_count == requested)
    }

    fn release_ended_leases(&mut self, request: &ClaimRequest<'_>) -> Result<u64> {
        self.expiry_checks.record_check(request.queue);
        if self.is_paused(request.queue)? {
            return Ok(0);
        }
        let settled =
            self.settle_batches()?.saturating_add(self.adopt_foreign_jobs()?).saturating_add(self.settle_chains()?);
        let now = self.read_time()?;
        let filter = doc! {
            "queue": request.queue, "state": "leased", "token": { "$ne": request.token },
            "$or": [{ "lease_until": { "$lt": now } }, { "lease_until": null }],
        };
        let fields = doc! { "token": 1, "lease_until": 1, "attempts": 1, "max_attempts": 1 };
        let found = self.jobs.find(filter).projection(fields).limit(MAX_ENDED_LEASES).run().map_err(store_error)?;
        let mut changes = Vec::new();
        for document in found {
            let document = document.map_err(store_error)?;
            // A server may return a document that changed after it matched.
            if get_int(&document, "lease_until")?.is_some_and(|until| until >= now) {
                continue;
            }
            let id = document.get("_id").cloned().unwrap_or(Bson::Null);
            let is_dead =
                get_int(&document, "attempts")?.unwrap_or(0) >= get_int(&document, "max_attempts")?.unwrap_or(0);
            let mut set =
                doc! { "state": if is_dead { "dead" } else { "ready" }, "error": "the lease ended", "freed_at": now };
            let mut unset = doc! { "token": "", "lease_until": "", "place": "" };
            if is_dead {
                set.insert("finished_at", now);
                unset.insert("live_key", "");
            }
            let field = |name| document.get(name).cloned().unwrap_or(Bson::Null);
            // The filter requires the same lease. A lease that was extended in the meantime stays, and so does a new
            // one.
            let filter =
                doc! { "_id": id, "state": "leased", "token": field("token"), "lease_until": field("lease_until") };
            changes.push(doc! { "q": filter, "u": { "$set": set, "$unset": unset } });
        }
        Ok(self.change_each(&self.jobs, changes)?.saturating_add(settled))
    }
}
