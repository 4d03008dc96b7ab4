//! Pushes. A single job is inserted as one document. Several jobs are inserted as a batch.

use super::MongoBackend;
use super::fields::{check_size, get_int, insert_if_some, take_text, to_binary};
use super::limits::ReservedPlaces;
use super::schema::JOBS;
use super::store_error::{is_duplicate, store_error};
use crate::claim_request::ClaimRequest;
use crate::describe;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{NewJob, Pushed};
use crate::rules::{check_name, no_predecessor_error, parse_id, required, to_millis};
use mongodb::bson::{Bson, Document, doc};
use std::borrow::Cow;
use std::collections::HashMap;

/// Default for the maximum number of attempts.
const DEFAULT_MAX_ATTEMPTS: i64 = 20;
/// Maximum number of other programs' jobs adopted in one query.
const MAX_ADOPTED_JOBS: i64 = 512;
/// Maximum number of tries while a job with the same key is added and removed.
const MAX_TRIES: usize = 8;

/// Returns the value of `live_key`. It is unique among the jobs that are neither done nor dead.
pub(super) fn live_key(queue: &str, key: &str) -> Document {
    doc! { "queue": queue, "key": key }
}

fn document_from_job(job: &NewJob, sequence: i64, now: i64, attempts: &HashMap<String, i64>) -> Result<Document> {
    let description = &job.description;
    let max_attempts = job.max_attempts.map(|limit| i64::from(limit.max(1)));
    let max_attempts = max_attempts.or_else(|| attempts.get(&job.queue).copied()).unwrap_or(DEFAULT_MAX_ATTEMPTS);
    let mut document = doc! {
        "_id": job.id.to_string(), "seq": sequence, "queue": &job.queue, "state": "ready",
        "priority": i64::from(job.priority), "queued_at": now, "run_at": now.saturating_add(to_millis(job.delay)),
        "attempts": 0_i64, "max_attempts": max_attempts, "checksum": &description.checksum, "bytes": to_binary(&job.bytes),
    };
    insert_if_some(&mut document, "unique_key", job.unique_key.as_deref());
    insert_if_some(&mut document, "live_key", job.unique_key.as_deref().map(|key| live_key(&job.queue, key)));
    insert_if_some(&mut document, "replay_of", job.replay_of.map(|id| id.to_string()));
    if let Some(after) = job.after {
        document.extend(doc! { "state": "waiting", "after": after.to_string(), "unchecked": true });
    }
    insert_if_some(&mut document, "format", description.format.as_deref());
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
    check_size("a job", &document)?;
    Ok(document)
}

fn check_job_names(job: &NewJob) -> Result<()> {
    check_name("queue", &job.queue)?;
    job.unique_key.as_ref().map_or(Ok(()), |key| check_name("unique key", key))
}

impl MongoBackend {
    /// Stores all jobs or none. Returns which ones are new.
    pub(super) fn push_jobs(&self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        jobs.iter().try_for_each(check_job_names)?;
        // If several jobs of the call have the same id or key, the later ones are duplicates of the first one.
        let (mut ids, mut keys) = (HashMap::new(), HashMap::new());
        // For each job, its index in `new_jobs`, and whether it is the first one with its id and key.
        let mut indexes = Vec::new();
        let mut new_jobs: Vec<Cow<'_, NewJob>> = Vec::new();
        for job in jobs {
            let key = job.unique_key.as_ref().map(|key| (&job.queue, key));
            let first_index = key.and_then(|key| keys.get(&key)).or_else(|| ids.get(&job.id)).copied();
            let index = first_index.unwrap_or(new_jobs.len());
            indexes.push((index, first_index.is_none()));
            // A duplicate is not stored, but its predecessor must exist too. Predecessors in the same call do exist.
            let predecessor = job.after.filter(|after| first_index.is_some() && !ids.contains_key(after));
            if let Some(after) = predecessor.filter(|_| !ids.contains_key(&job.id))
                && !self.mark_followed(after)?
            {
                return Err(no_predecessor_error(after));
            }
            // A follower of a duplicate follows the first job instead.
            let first_id = job.after.and_then(|after| ids.get(&after)).map(|index: &usize| new_jobs[*index].id);
            ids.insert(job.id, index);
            if first_index.is_none() {
                key.map(|key| keys.insert(key, index));
                new_jobs.push(match first_id {
                    Some(id) if job.after != Some(id) => Cow::Owned(NewJob { after: Some(id), ..job.clone() }),
                    _ => Cow::Borrowed(job),
                });
            }
        }
        let new_jobs: Vec<&NewJob> = new_jobs.iter().map(|job| &**job).collect();
        let pushed = match &*new_jobs {
            [] => Vec::new(),
            [job] => vec![self.push_one(job, None)?.0],
            jobs => self.push_all(jobs)?,
        };
        let result =
            |(index, is_first): (usize, bool)| Pushed { is_new: is_first && pushed[index].is_new, ..pushed[index] };
        Ok(indexes.into_iter().map(result).collect())
    }

    /// Stores a job, leased from the start if `request` is given. Returns the result and the document as it was
    /// stored.
    pub(super) fn push_one(
        &self,
        job: &NewJob,
        request: Option<(&ClaimRequest<'_>, Option<&ReservedPlaces>)>,
    ) -> Result<(Pushed, Document)> {
        check_job_names(job)?;
        if let Some(after) = job.after
            && !self.mark_followed(after)?
        {
            // If this job is pushed a second time, its predecessor may have been removed in the meantime.
            let exists = self.jobs.find_one(doc! { "_id": job.id.to_string() }).run().map_err(store_error)?.is_some();
            let existing = (Pushed { id: job.id, is_new: false }, Document::new());
            return if exists { Ok(existing) } else { Err(no_predecessor_error(after)) };
        }
        let mut document = self.documents_from_jobs(&[job])?.remove(0);
        if let Some((request, places)) = request {
            let until = required(get_int(&document, "queued_at")?)?.saturating_add(to_millis(request.lease));
            document.extend(doc! {
                "state": "leased", "attempts": 1_i64, "token": request.token, "worker": request.worker,
                "lease_until": places.map_or(until, |places| places.until),
            });
            insert_if_some(&mut document, "place", places.map(|places| places.first_place));
        }
        for _ in 0..MAX_TRIES {
            match self.jobs.insert_one(&document).run() {
                Err(error) if is_duplicate(&error) => {
                    if let Some(id) = self.find_same_job(job)? {
                        return Ok((Pushed { id, is_new: false }, document));
                    }
                }
                result => {
                    result.map_err(store_error)?;
                    if let Some(after) = job.after {
                        self.check_follower(&job.id.to_string(), &after.to_string())?;
                    }
                    return Ok((Pushed { id: job.id, is_new: true }, document));
                }
            }
        }
        Err(key_contention_error())
    }

    /// Stores several jobs as a batch.
    fn push_all(&self, jobs: &[&NewJob]) -> Result<Vec<Pushed>> {
        let mut documents = self.documents_from_jobs(jobs)?;
        for document in &mut documents {
            document.insert("state", "arriving");
        }
        for (index, after) in jobs.iter().enumerate().filter_map(|(index, job)| Some((index, job.after?))) {
            match jobs[..index].iter().position(|job| job.id == after) {
                Some(predecessor) => drop(documents[predecessor].insert("followed", true)),
                None if self.mark_followed(after)? => {}
                None => return Err(no_predecessor_error(after)),
            }
        }
        let batch = self.begin_batch(&self.jobs)?;
        let result = self.send_jobs(&batch, jobs, &documents).and_then(|pushed| {
            self.change_predecessors(jobs, &pushed)?;
            self.commit_batch(&batch, &self.jobs)?;
            Ok(pushed)
        });
        if result.is_err() {
            self.abandon_batch(&batch, &self.jobs);
        }
        let has_followers = result.is_ok() && jobs.iter().any(|job| job.after.is_some());
        if has_followers {
            // The jobs are stored, so an error here does not matter. Another program settles the chains then.
            let _ = self.settle_chains();
        }
        result
    }

    /// Changes the predecessor of jobs that follow another job of the same call. This is necessary if the other job
    /// was not stored, because an existing job has the same key.
    fn change_predecessors(&self, jobs: &[&NewJob], pushed: &[Pushed]) -> Result<()> {
        for (job, _) in jobs.iter().zip(pushed).filter(|(_, pushed)| pushed.is_new) {
            let predecessor = job.after.and_then(|after| jobs.iter().position(|job| job.id == after));
            let stored_id = predecessor.map(|index| pushed[index].id);
            let Some(stored_id) = stored_id.filter(|id| Some(*id) != job.after) else { continue };
            if !self.mark_followed(stored_id)? {
                return Err(key_contention_error());
            }
            let change = doc! { "$set": { "after": stored_id.to_string() } };
            self.jobs.update_one(doc! { "_id": job.id.to_string() }, change).run().map_err(store_error)?;
        }
        Ok(())
    }

    /// Sends the jobs of a batch. A job whose id or key exists counts as the existing job.
    fn send_jobs(&self, batch: &str, jobs: &[&NewJob], documents: &[Document]) -> Result<Vec<Pushed>> {
        let mut pushed: Vec<Pushed> = jobs.iter().map(|job| Pushed { id: job.id, is_new: true }).collect();
        let mut refused = self.send_documents(batch, &self.jobs, documents)?;
        for _ in 0..MAX_TRIES {
            let mut remaining = Vec::new();
            for index in refused {
                match self.find_same_job(jobs[index])? {
                    Some(id) => pushed[index] = Pushed { id, is_new: false },
                    None => remaining.push(index),
                }
            }
            if remaining.is_empty() {
                return Ok(pushed);
            }
            let retried: Vec<Document> = remaining.iter().map(|index| documents[*index].clone()).collect();
            let refused_again = self.send_documents(batch, &self.jobs, &retried)?;
            refused = refused_again.into_iter().map(|index| remaining[index]).collect();
        }
        Err(key_contention_error())
    }

    fn documents_from_jobs(&self, jobs: &[&NewJob]) -> Result<Vec<Document>> {
        let attempts = self.find_max_attempts(jobs)?;
        let now = self.read_time()?;
        let first = self.reserve_sequences(JOBS, jobs.len())?.0;
        jobs.iter().zip(first..).map(|(job, sequence)| document_from_job(job, sequence, now, &attempts)).collect()
    }

    /// Returns the maximum number of attempts that queues set, for jobs that do not have their own.
    fn find_max_attempts(&self, jobs: &[&NewJob]) -> Result<HashMap<String, i64>> {
        let mut names: Vec<&str> =
            jobs.iter().filter(|job| job.max_attempts.is_none()).map(|job| &*job.queue).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            return Ok(HashMap::new());
        }
        let mut attempts = HashMap::new();
        for document in self.queues.find(doc! { "_id": { "$in": names } }).run().map_err(store_error)? {
            let mut document = document.map_err(store_error)?;
            let max_attempts = get_int(&document, "max_attempts")?.filter(|count| *count > 0);
            if let (Some(name), Some(max_attempts)) = (take_text(&mut document, "_id")?, max_attempts) {
                attempts.insert(name, max_attempts);
            }
        }
        Ok(attempts)
    }

    /// Returns the existing job with the same key, or with the same id.
    fn find_same_job(&self, job: &NewJob) -> Result<Option<Id>> {
        let id = |mut found: Document| parse_id(take_text(&mut found, "_id")?);
        if let Some(key) = &job.unique_key {
            let filter = doc! { "live_key": live_key(&job.queue, key) };
            if let Some(found) = self.find_holder(&self.jobs, &filter)? {
                return id(found).map(Some);
            }
        }
        self.find_holder(&self.jobs, &doc! { "_id": job.id.to_string() })?.map(id).transpose()
    }

    /// Adds the sequence number, and default values that are missing, to jobs that other programs queued. Returns how
    /// many there were.
    pub(super) fn adopt_foreign_jobs(&self) -> Result<u64> {
        let mut adopted = 0;
        loop {
            let fields = doc! { "bytes": 0, "base64": 0, "json": 0, "result": 0 };
            let cursor = self
                .jobs
                .find(doc! { "seq": null })
                .projection(fields)
                .limit(MAX_ADOPTED_JOBS)
                .run()
                .map_err(store_error)?;
            let documents = cursor.collect::<mongodb::error::Result<Vec<Document>>>().map_err(store_error)?;
            if documents.is_empty() {
                return Ok(adopted);
            }
            let first = self.reserve_sequences(JOBS, documents.len())?.0;
            let change = |(document, seq): (&Document, i64)| {
                let mut set = doc! { "seq": seq };
                let defaults = doc! { "state": "ready", "priority": 0_i64, "attempts": 0_i64, "max_attempts": DEFAULT_MAX_ATTEMPTS };
                set.extend(
                    defaults.into_iter().filter(|(name, _)| matches!(document.get(name), None | Some(Bson::Null))),
                );
                doc! { "q": { "_id": document.get("_id"), "seq": null }, "u": { "$set": set } }
            };
            adopted += self.change_each(&self.jobs, documents.iter().zip(first..).map(change).collect())?;
        }
    }
}

fn key_contention_error() -> Error {
    Error::new(ErrorKind::Busy, "a job with the same key is added and removed all the time")
}
