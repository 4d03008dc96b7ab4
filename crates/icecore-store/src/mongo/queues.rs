//! Settings and status of queues.

use super::MongoBackend;
use super::batch::visible_filter;
use super::fields::{get_int, take_text, to_whole_number};
use super::limits::is_limited;
use super::store_error::{is_duplicate, store_error};
use crate::backend::{QueueSettings, Queues};
use crate::error::Result;
use crate::job::{QueueStatus, State};
use crate::limits::Rate;
use crate::rules::{check_actor_name, check_name, first_backoff, required, to_millis};
use mongodb::bson::{Bson, Document, doc};
use std::collections::BTreeMap;
use std::time::Duration;

fn read_count(document: &Document, name: &str) -> u64 {
    u64::try_from(to_whole_number(document.get(name)).unwrap_or(0)).unwrap_or(0)
}

impl MongoBackend {
    pub(super) fn is_paused(&self, queue: &str) -> Result<bool> {
        Ok(self.read_queue_flags(queue)?.0)
    }

    /// Returns whether a queue is paused, and whether it has a limit (concurrency or rate).
    pub(super) fn read_queue_flags(&self, queue: &str) -> Result<(bool, bool)> {
        let fields = doc! { "paused_at": 1, "concurrency": 1, "rate_count": 1 };
        let found = self.queues.find_one(doc! { "_id": queue }).projection(fields).run().map_err(store_error)?;
        let is_paused = |queue: &Document| !matches!(queue.get("paused_at"), None | Some(Bson::Null));
        Ok(found.map_or((false, false), |queue| (is_paused(&queue), is_limited(&queue))))
    }

    /// Returns how long a job of this queue waits after its first failure.
    pub(super) fn first_backoff(&self, queue: &str) -> Result<Duration> {
        let document = self.find_queue(queue)?;
        Ok(first_backoff(document.map_or(Ok(None), |document| get_int(&document, "backoff"))?))
    }

    fn find_queue(&self, queue: &str) -> Result<Option<Document>> {
        self.queues.find_one(doc! { "_id": queue }).run().map_err(store_error)
    }

    /// Creates the document of a queue unless it exists.
    fn ensure_queue(&self, queue: &str) -> Result<()> {
        match self.queues.insert_one(doc! { "_id": queue }).run() {
            Err(error) if !is_duplicate(&error) => Err(store_error(error)),
            _ => Ok(()),
        }
    }

    fn aggregate_jobs(&self, stages: [Document; 2]) -> Result<Vec<Document>> {
        let found = self.jobs.aggregate(stages).run().map_err(store_error)?;
        found.collect::<mongodb::error::Result<Vec<Document>>>().map_err(store_error)
    }
}

impl Queues for MongoBackend {
    fn pause(&mut self, queue: &str, is_paused: bool, actor: &str) -> Result<()> {
        check_name("queue", queue)?;
        check_actor_name(actor)?;
        self.ensure_queue(queue)?;
        let action = if is_paused { "pause" } else { "resume" };
        self.with_audit_entries(actor, action, &[queue.to_owned()], |backend| {
            let (filter, change) = match is_paused {
                true => {
                    (doc! { "_id": queue, "paused_at": null }, doc! { "$set": { "paused_at": backend.read_time()? } })
                }
                false => (doc! { "_id": queue }, doc! { "$unset": { "paused_at": "" } }),
            };
            backend.queues.update_one(filter, change).run().map_err(store_error)?;
            let affected = vec![1];
            Ok((affected, ()))
        })
    }

    fn configure(&mut self, queue: &str, settings: &QueueSettings) -> Result<()> {
        check_name("queue", queue)?;
        self.ensure_queue(queue)?;
        let (mut set, mut unset) = (Document::new(), Document::new());
        if let Some(max_attempts) = settings.max_attempts {
            set.insert("max_attempts", i64::from(max_attempts.max(1)));
        }
        if let Some(backoff) = settings.backoff {
            set.insert("backoff", to_millis(backoff));
        }
        match settings.concurrency {
            Some(0) => drop(unset.insert("concurrency", "")),
            Some(concurrency) => drop(set.insert("concurrency", i64::from(concurrency))),
            None => {}
        }
        match settings.rate {
            Some(Rate { count: 0, .. }) => unset.extend(doc! { "rate_count": "", "rate_per": "" }),
            Some(rate) => set.extend(doc! { "rate_count": i64::from(rate.count), "rate_per": rate.period_millis() }),
            None => {}
        }
        match settings.schema.as_deref() {
            Some(schema) if schema.trim().is_empty() => drop(unset.insert("payload_schema", "")),
            Some(schema) => drop(set.insert("payload_schema", schema)),
            None => {}
        }
        let mut change = Document::new();
        for (operator, fields) in [("$set", set), ("$unset", unset)] {
            if !fields.is_empty() {
                change.insert(operator, fields);
            }
        }
        if change.is_empty() {
            return Ok(());
        }
        self.queues.update_one(doc! { "_id": queue }, change).run().map(drop).map_err(store_error)
    }

    fn schema(&mut self, queue: &str) -> Result<Option<String>> {
        if check_name("queue", queue).is_err() {
            return Ok(None);
        }
        self.find_queue(queue)?.map_or(Ok(None), |mut found| take_text(&mut found, "payload_schema"))
    }

    fn queues(&mut self) -> Result<Vec<QueueStatus>> {
        self.settle_batches()?;
        self.adopt_foreign_jobs()?;
        self.settle_chains()?;
        let mut queues: BTreeMap<String, QueueStatus> = BTreeMap::new();
        for document in self.queues.find(doc! {}).run().map_err(store_error)? {
            let mut document = document.map_err(store_error)?;
            let name = required(take_text(&mut document, "_id")?)?;
            let status = QueueStatus {
                name: name.clone(),
                paused_at: get_int(&document, "paused_at")?,
                schema: take_text(&mut document, "payload_schema")?,
                concurrency: get_int(&document, "concurrency")?
                    .map(|limit| u32::try_from(limit.max(0)).unwrap_or(u32::MAX)),
                rate: Rate::from_columns(get_int(&document, "rate_count")?, get_int(&document, "rate_per")?),
                max_attempts: get_int(&document, "max_attempts")?
                    .map(|attempts| u32::try_from(attempts.max(1)).unwrap_or(u32::MAX)),
                backoff: get_int(&document, "backoff")?.map(|millis| Duration::from_millis(millis.max(0) as u64)),
                ..QueueStatus::default()
            };
            queues.insert(name, status);
        }
        let by_state = doc! { "_id": { "queue": "$queue", "state": "$state" }, "count": { "$sum": 1_i64 } };
        for mut document in self.aggregate_jobs([doc! { "$match": visible_filter() }, doc! { "$group": by_state }])? {
            let total = read_count(&document, "count");
            let Ok(group) = document.get_document_mut("_id") else { continue };
            let (Some(name), Some(state)) = (take_text(group, "queue")?, take_text(group, "state")?) else { continue };
            let Some(index) = State::ALL.iter().position(|known| known.name() == state) else { continue };
            queues.entry(name).or_default().counts[index] = total;
        }
        let now = self.read_time()?;
        let mut due = visible_filter();
        due.extend(doc! { "state": "ready", "run_at": { "$lte": now } });
        let by_queue = doc! { "_id": "$queue", "count": { "$sum": 1_i64 }, "first": { "$min": "$run_at" } };
        // All ready jobs count as delayed at first. The jobs that are due are subtracted below.
        for queue in queues.values_mut() {
            queue.delayed = queue.count_in_state(State::Ready);
        }
        for mut document in self.aggregate_jobs([doc! { "$match": due }, doc! { "$group": by_queue }])? {
            let Some(name) = take_text(&mut document, "_id")? else { continue };
            let queue = queues.entry(name).or_default();
            queue.delayed = queue.delayed.saturating_sub(read_count(&document, "count"));
            queue.oldest = get_int(&document, "first")?.map(|first| now - first);
        }
        for (name, queue) in &mut queues {
            queue.name.clone_from(name);
        }
        Ok(queues.into_values().collect())
    }
}
