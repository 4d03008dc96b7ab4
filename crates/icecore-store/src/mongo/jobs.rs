//! Claiming, finishing and listing jobs.
//!
//! A job can be finished, returned or extended only with the token of its lease, and only before the lease ends. Each
//! of these operations is one change of one document whose filter checks both.

use super::MongoBackend;
use super::batch::visible_filter;
use super::fields::{get_int, insert_if_some, take_bytes, take_text, to_binary};
use super::store_error::{is_duplicate, store_error};
use crate::backend::{Each, Flow, Jobs};
use crate::claim_request::{ClaimRequest, hand_out};
use crate::describe;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{Ack, Job, JobFilter, Lease, NewJob, Pushed, State};
use crate::rules::{
    backoff_after, check_actor_name, check_name, lease_error, new_token, parse_id, payload_from_columns,
    queue_limited_error, queue_paused_error, required, to_millis, waiting_job_error,
};
use mongodb::bson::{Bson, Document, doc};
use mongodb::options::ReturnDocument;
use std::collections::HashSet;
use std::time::Duration;

/// Number of jobs per query.
const JOBS_PER_QUERY: usize = 256;

/// Returns the job of a document. Moves the values out of the document.
pub(super) fn job_from_document(document: &mut Document) -> Result<Job> {
    let count = |document: &Document, name| -> Result<u32> {
        Ok(u32::try_from(required(get_int(document, name)?)?).unwrap_or(u32::MAX))
    };
    let state = required(take_text(document, "state")?)?;
    let mut job = Job {
        id: parse_id(take_text(document, "_id")?)?,
        sequence: required(get_int(document, "seq")?)?,
        queue: required(take_text(document, "queue")?)?,
        state: State::from_name(&state)
            .ok_or_else(|| Error::new(ErrorKind::Database, format!("{state:?} is not a state of a job")))?,
        priority: required(get_int(document, "priority")?)?.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        queued_at: required(get_int(document, "queued_at")?)?,
        run_at: required(get_int(document, "run_at")?)?,
        attempts: count(document, "attempts")?,
        max_attempts: count(document, "max_attempts")?,
        unique_key: take_text(document, "unique_key")?,
        lease_until: get_int(document, "lease_until")?,
        worker: take_text(document, "worker")?,
        finished_at: get_int(document, "finished_at")?,
        error: take_text(document, "error")?,
        replay_of: take_text(document, "replay_of")?.map(|text| parse_id(Some(text))).transpose()?,
        after: take_text(document, "after")?.map(|text| parse_id(Some(text))).transpose()?,
        format: take_text(document, "format")?,
        checksum: String::new(),
        bytes: payload_from_columns(take_bytes(document, "bytes")?, take_text(document, "base64")?)?,
        json: take_text(document, "json")?,
        problem: take_text(document, "problem")?,
        result: take_bytes(document, "result")?,
    };
    // A job from another program has no description yet.
    match take_text(document, "checksum")? {
        Some(checksum) => job.checksum = checksum,
        None => {
            let description = describe::describe(&job.bytes, job.format.as_deref());
            (job.checksum, job.format, job.json, job.problem) =
                (description.checksum, description.format, description.json, description.problem);
        }
    }
    Ok(job)
}

/// Returns the filter for a job with this lease, if the lease has not ended.
fn leased_filter(id: Id, token: &str, now: i64) -> Document {
    doc! { "_id": id.to_string(), "token": token, "state": "leased", "lease_until": { "$gte": now } }
}

/// Returns a filter like `leased_filter`, but for a job that no other job waits for, and that has no place in a queue
/// with limits.
fn leased_alone_filter(id: Id, token: &str, now: i64) -> Document {
    let mut filter = leased_filter(id, token, now);
    filter.extend(doc! { "followed": null, "place": null });
    filter
}

/// Returns the update that marks a job as done.
fn done_update(now: i64, result: Option<&[u8]>) -> Result<Document> {
    let mut set = doc! { "state": "done", "finished_at": now };
    let mut unset = doc! { "token": "", "live_key": "", "lease_until": "", "error": "" };
    match result {
        Some(result) => drop(set.insert("result", to_binary(result))),
        None => drop(unset.insert("result", "")),
    }
    super::fields::check_size("a result", &set)?;
    Ok(doc! { "$set": set, "$unset": unset })
}

impl MongoBackend {
    /// Returns the error that explains why this job can't be changed with the caller's token.
    fn find_lease_error(&self, id: Id) -> Result<Error> {
        let found = self.jobs.find_one(doc! { "_id": id.to_string() }).projection(doc! { "state": 1 });
        let state = found.run().map_err(store_error)?.map(|mut found| take_text(&mut found, "state")).transpose()?;
        Ok(lease_error(id, state.map(|state| state.unwrap_or_default()).as_deref()))
    }

    /// Marks a job as done. Unlike the filter of `leased_alone_filter`, this works for a job that others wait for or
    /// that has a place. Returns whether the lease was valid.
    fn ack_any(&self, id: Id, token: &str, result: Option<&[u8]>) -> Result<bool> {
        let now = self.read_time()?;
        let mut change = done_update(now, result)?;
        for (operator, field, value) in [("$set", "frees", Bson::Boolean(true)), ("$unset", "place", Bson::from(""))] {
            if let Ok(fields) = change.get_document_mut(operator) {
                fields.insert(field, value);
            }
        }
        let fields = doc! { "queue": 1, "place": 1 };
        let query = self.jobs.find_one_and_update(leased_filter(id, token, now), change).projection(fields);
        let Some(mut document) = query.return_document(ReturnDocument::Before).run().map_err(store_error)? else {
            return Ok(false);
        };
        // The job is done. If the rest is interrupted, others finish it, or the places expire.
        let _ = self.release_followers(&id.to_string());
        if let (Some(queue), Some(place)) = (take_text(&mut document, "queue")?, get_int(&document, "place")?) {
            let _ = self.release_place(&queue, token, place);
        }
        Ok(true)
    }

    /// Returns a job to its queue, or marks it as dead. Returns its new state, or `None` if the lease was not valid.
    fn nack_one(&self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<Option<State>> {
        let now = self.read_time()?;
        let fields = doc! { "queue": 1, "attempts": 1, "max_attempts": 1, "place": 1 };
        let document =
            self.jobs.find_one(leased_filter(id, token, now)).projection(fields).run().map_err(store_error)?;
        let Some(mut document) = document else { return Ok(None) };
        let queue = required(take_text(&mut document, "queue")?)?;
        let attempts = get_int(&document, "attempts")?.unwrap_or(0);
        let state =
            if attempts >= get_int(&document, "max_attempts")?.unwrap_or(0) { State::Dead } else { State::Ready };
        let mut set = doc! { "state": state.name(), "error": &*describe::without_nul(error) };
        let mut unset = doc! { "token": "", "lease_until": "", "place": "" };
        if state == State::Dead {
            set.insert("finished_at", now);
            unset.insert("live_key", "");
        } else {
            let delay = match delay {
                Some(delay) => delay,
                None => backoff_after(self.first_backoff(&queue)?, attempts),
            };
            set.insert("run_at", now.saturating_add(to_millis(delay)));
        }
        let filter = leased_filter(id, token, now);
        let changed = self.jobs.update_one(filter, doc! { "$set": set, "$unset": unset }).run().map_err(store_error)?;
        if let Some(place) = get_int(&document, "place")?.filter(|_| changed.matched_count == 1) {
            let _ = self.release_place(&queue, token, place);
        }
        Ok((changed.matched_count == 1).then_some(state))
    }

    /// Returns the marks of the finished jobs among these. The call that finished a job left a mark in its document.
    fn find_ack_marks(&self, acks: &[&Ack]) -> Result<HashSet<String>> {
        let ids: Vec<String> = acks.iter().map(|ack| ack.id.to_string()).collect();
        let found = self.jobs.find(doc! { "_id": { "$in": ids }, "state": "done" }).projection(doc! { "call": 1 });
        let mark = |found: mongodb::error::Result<Document>| take_text(&mut found.map_err(store_error)?, "call");
        found.run().map_err(store_error)?.filter_map(|found| mark(found).transpose()).collect()
    }

    /// Makes a dead job ready. If another job has its unique key now, the job continues without a key.
    fn redrive_one(&self, queue: &str, id: &Bson, key: Option<&str>, now: i64) -> Result<u64> {
        let filter = doc! { "_id": id, "queue": queue, "state": "dead" };
        let mut set = doc! { "state": "ready", "attempts": 0_i64, "run_at": now };
        let unset = doc! { "lease_until": "", "finished_at": "" };
        insert_if_some(&mut set, "live_key", key.map(|key| super::pushes::live_key(queue, key)));
        loop {
            let change = doc! { "$set": set.clone(), "$unset": unset.clone() };
            match self.jobs.update_one(filter.clone(), change).run() {
                Err(error) if is_duplicate(&error) && set.contains_key("live_key") => drop(set.remove("live_key")),
                result => return Ok(result.map_err(store_error)?.matched_count),
            }
        }
    }

    /// Passes the jobs of one page to `each`.
    fn list_job_page(
        &self,
        (after, before): (i64, Option<i64>),
        filter: &JobFilter,
        max_jobs: usize,
        each: &mut dyn FnMut(Job) -> Result<Flow>,
    ) -> Result<()> {
        let mut sequences = doc! { "$gt": after };
        insert_if_some(&mut sequences, "$lt", before);
        let mut conditions = doc! { "seq": sequences };
        let order = if before.is_some() { -1 } else { 1 };
        conditions.extend(visible_filter());
        insert_if_some(&mut conditions, "queue", filter.queue.as_deref());
        insert_if_some(&mut conditions, "state", filter.state.map(State::name));
        let limit = i64::try_from(max_jobs).unwrap_or(i64::MAX);
        for document in
            self.jobs.find(conditions).sort(doc! { "seq": order }).limit(limit).run().map_err(store_error)?
        {
            let mut document = document.map_err(store_error)?;
            let sequence = get_int(&document, "seq")?.unwrap_or(0);
            let with_sequence =
                |error: Error| Error::new(error.kind(), format!("the document with the sequence {sequence}: {error}"));
            if each(job_from_document(&mut document).map_err(with_sequence)?)? == Flow::Stop {
                break;
            }
        }
        Ok(())
    }
}

impl Jobs for MongoBackend {
    fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.push_jobs(jobs)
    }

    fn claim(&mut self, queue: &str, worker: &str, lease: Duration, max_jobs: usize) -> Result<Vec<Lease>> {
        hand_out(self, &ClaimRequest { queue, worker, lease, token: &new_token() }, max_jobs)
    }

    fn push_and_claim(&mut self, job: &NewJob, worker: &str, lease: Duration) -> Result<Option<Lease>> {
        check_name("worker", worker)?;
        check_name("queue", &job.queue)?;
        if job.after.is_some() {
            return Err(waiting_job_error());
        }
        if self.is_paused(&job.queue)? {
            return Err(queue_paused_error(&job.queue));
        }
        let token = new_token();
        let request = ClaimRequest { queue: &job.queue, worker, lease, token: &token };
        let places = self.reserve_places(&request, 1)?;
        if places.as_ref().is_some_and(|places| places.count == 0) {
            return Err(queue_limited_error(&job.queue));
        }
        let pushed = self.push_one(job, Some((&request, places.as_ref())));
        let is_new = pushed.as_ref().is_ok_and(|(pushed, _)| pushed.is_new);
        if let Some(places) = places.filter(|_| !is_new) {
            self.return_unused_places(&request, &places, &[])?;
        }
        let (pushed, mut document) = pushed?;
        if !pushed.is_new {
            return Ok(None);
        }
        // The job is not read again, because it may already belong to another worker.
        Ok(Some(Lease { job: job_from_document(&mut document)?, token }))
    }

    fn ack(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<()> {
        let now = self.read_time()?;
        let changed = self
            .jobs
            .update_one(leased_alone_filter(id, token, now), done_update(now, result)?)
            .run()
            .map_err(store_error)?;
        let is_done = changed.matched_count == 1 || self.ack_any(id, token, result)?;
        if is_done { Ok(()) } else { Err(self.find_lease_error(id)?) }
    }

    fn ack_many(&mut self, acks: &[Ack]) -> Result<Vec<Result<()>>> {
        if acks.is_empty() {
            return Ok(Vec::new());
        }
        let (call, now) = (new_token(), self.read_time()?);
        // Of two acks for one lease, only the first one counts.
        let mut leases = HashSet::new();
        let is_first: Vec<bool> = acks.iter().map(|ack| leases.insert((ack.id, &ack.token))).collect();
        let unique_acks: Vec<&Ack> =
            acks.iter().zip(&is_first).filter(|(_, is_first)| **is_first).map(|(ack, _)| ack).collect();
        // A command with many changes returns only their number, so each change leaves its own mark.
        let mark = |index: usize| format!("{call} {index}");
        let change = |(index, ack): (usize, &&Ack)| {
            let mut change = done_update(now, ack.result.as_deref())?;
            if let Ok(set) = change.get_document_mut("$set") {
                set.insert("call", mark(index));
            }
            Ok(doc! { "q": leased_alone_filter(ack.id, &ack.token, now), "u": change })
        };
        let changes = unique_acks.iter().enumerate().map(change).collect::<Result<Vec<Document>>>()?;
        let are_all_done = self.change_each(&self.jobs, changes)? == unique_acks.len() as u64;
        let marks = if are_all_done { HashSet::new() } else { self.find_ack_marks(&unique_acks)? };
        let mut index = 0;
        let mut results = Vec::new();
        for (ack, is_first) in acks.iter().zip(is_first) {
            let is_done = is_first
                && (are_all_done
                    || marks.contains(&mark(index))
                    || self.ack_any(ack.id, &ack.token, ack.result.as_deref())?);
            index += usize::from(is_first);
            results.push(if is_done { Ok(()) } else { Err(self.find_lease_error(ack.id)?) });
        }
        Ok(results)
    }

    fn nack(&mut self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<State> {
        match self.nack_one(id, token, error, delay)? {
            Some(state) => Ok(state),
            None => Err(self.find_lease_error(id)?),
        }
    }

    fn extend(&mut self, id: Id, token: &str, lease: Duration) -> Result<i64> {
        let now = self.read_time()?;
        let until = now.saturating_add(to_millis(lease));
        let change = doc! { "$set": { "lease_until": until } };
        let mut without_place = leased_filter(id, token, now);
        without_place.insert("place", Bson::Null);
        let mut changed = self.jobs.update_one(without_place, change.clone()).run().map_err(store_error)?;
        if changed.matched_count != 1 {
            let fields = doc! { "queue": 1, "place": 1 };
            let found =
                self.jobs.find_one(leased_filter(id, token, now)).projection(fields).run().map_err(store_error)?;
            let place =
                |mut document: Document| Ok(take_text(&mut document, "queue")?.zip(get_int(&document, "place")?));
            let place = found.map(place).transpose()?.flatten();
            if let Some((queue, place)) = &place {
                self.extend_place(queue, token, *place, until)?;
            }
            changed = self.jobs.update_one(leased_filter(id, token, now), change).run().map_err(store_error)?;
            if let Some((queue, place)) = place.filter(|_| changed.matched_count != 1) {
                self.release_place(&queue, token, place)?;
            }
        }
        if changed.matched_count == 1 { Ok(until) } else { Err(self.find_lease_error(id)?) }
    }

    fn job(&mut self, id: Id) -> Result<Option<Job>> {
        let find = |filter: Document| self.jobs.find_one(filter).run().map_err(store_error);
        let mut filter = doc! { "_id": id.to_string() };
        let mut found = find(filter.clone())?;
        if found.as_ref().is_some_and(|found| found.contains_key("batch") || !found.contains_key("seq")) {
            self.settle_batches()?;
            self.adopt_foreign_jobs()?;
            filter.extend(visible_filter());
            found = find(filter)?;
        }
        found.map(|mut found| job_from_document(&mut found)).transpose()
    }

    fn jobs(&mut self, filter: &JobFilter, max_jobs: usize, each: Each<'_, Job>) -> Result<()> {
        if filter.queue.as_deref().is_some_and(|queue| check_name("queue", queue).is_err()) {
            return Ok(());
        }
        self.settle_batches()?;
        self.adopt_foreign_jobs()?;
        let (mut range, mut remaining, mut is_finished) = ((filter.after, filter.before), max_jobs, false);
        while remaining > 0 && !is_finished {
            let (page_size, mut found_count) = (remaining.min(JOBS_PER_QUERY), 0);
            self.list_job_page(range, filter, page_size, &mut |job| {
                found_count += 1;
                match &mut range {
                    (_, Some(before)) => *before = job.sequence,
                    (after, None) => *after = job.sequence,
                }
                let flow = each(job)?;
                is_finished = flow == Flow::Stop;
                Ok(flow)
            })?;
            remaining -= found_count;
            is_finished |= found_count < page_size;
        }
        Ok(())
    }

    /// Each job is changed separately. So an interrupted call has made only some jobs ready, and its audit
    /// entry is incomplete.
    fn redrive(&mut self, queue: &str, ids: Option<&[Id]>, actor: &str) -> Result<u64> {
        check_name("queue", queue)?;
        check_actor_name(actor)?;
        self.with_audit_entries(actor, "redrive", &[queue.to_owned()], |backend| {
            let mut conditions = doc! { "queue": queue, "state": "dead" };
            let ids = ids.map(|ids| doc! { "$in": ids.iter().map(Id::to_string).collect::<Vec<String>>() });
            let waiting_ids = ids.clone();
            insert_if_some(&mut conditions, "_id", ids);
            let (now, mut count) = (backend.read_time()?, 0);
            if let Some(ids) = waiting_ids {
                let waiting = doc! { "_id": ids, "queue": queue, "state": "ready", "run_at": { "$gt": now } };
                let change = doc! { "$set": { "run_at": now } };
                count += backend.jobs.update_many(waiting, change).run().map_err(store_error)?.matched_count;
            }
            let query = backend.jobs.find(conditions).sort(doc! { "seq": 1 }).projection(doc! { "unique_key": 1 });
            // All jobs are found before the first change, so that changes do not affect what is found.
            let dead = query
                .run()
                .map_err(store_error)?
                .collect::<mongodb::error::Result<Vec<Document>>>()
                .map_err(store_error)?;
            for mut document in dead {
                let id = document.remove("_id").unwrap_or(Bson::Null);
                let key = take_text(&mut document, "unique_key")?;
                count += backend.redrive_one(queue, &id, key.as_deref(), now)?;
            }
            Ok((vec![count], count))
        })
    }

    fn replay(&mut self, id: Id, actor: &str) -> Result<Id> {
        check_actor_name(actor)?;
        let job = self.job(id)?.ok_or_else(|| lease_error(id, None))?;
        let replayed = NewJob {
            priority: job.priority,
            max_attempts: Some(job.max_attempts),
            replay_of: Some(id),
            ..describe::describe_job(&job.queue, job.bytes, job.format.as_deref())
        };
        self.with_audit_entries(actor, "replay", &[id.to_string()], |backend| {
            backend.push_one(&replayed, None)?;
            Ok((vec![1], replayed.id))
        })
    }

    fn remove_ended_jobs(&mut self, before: i64) -> Result<u64> {
        let filter = doc! { "finished_at": { "$lt": before }, "state": { "$in": ["done", "dead"] } };
        let count = self.jobs.delete_many(filter).run().map_err(store_error)?.deleted_count;
        if count > 0 {
            self.bury_orphans()?;
        }
        Ok(count)
    }
}
