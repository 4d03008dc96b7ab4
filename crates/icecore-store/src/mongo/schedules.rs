//! Schedules, one document each.
//!
//! The job for a given time always has the same id, and the next time of the schedule is set only after the job is
//! queued. So nothing goes wrong if several programs queue the job, or if a program is interrupted anywhere.

use super::MongoBackend;
use super::fields::{check_size, get_int, insert_if_some, take_bytes, take_text, to_binary};
use super::store_error::{is_duplicate, store_error};
use crate::backend::Schedules;
use crate::describe;
use crate::error::{Error, ErrorKind, Result};
use crate::rules::{check_actor_name, parse_id, required};
use crate::schedule::{Fired, NewSchedule, Schedule, check_schedule, no_schedule_error};
use mongodb::bson::{Bson, Document, doc};

fn schedule_from_document(document: &mut Document) -> Result<Schedule> {
    let priority = get_int(document, "priority")?.unwrap_or(0);
    Ok(Schedule {
        name: required(take_text(document, "_id")?)?,
        queue: required(take_text(document, "queue")?)?,
        timing: required(take_text(document, "timing")?)?,
        zone: take_text(document, "zone")?,
        next_at: get_int(document, "next_at")?,
        last_at: get_int(document, "last_at")?,
        // An invalid value from another program must not stop the other schedules.
        last_id: take_text(document, "last_id")?.and_then(|text| parse_id(Some(text)).ok()),
        paused_at: get_int(document, "paused_at")?,
        priority: priority.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        max_attempts: get_int(document, "max_attempts")?
            .map(|attempts| u32::try_from(attempts.max(1)).unwrap_or(u32::MAX)),
        is_alone: document.get_bool("alone").unwrap_or(false),
        format: take_text(document, "format")?,
        bytes: required(take_bytes(document, "bytes")?)?,
        problem: take_text(document, "problem")?,
    })
}

/// Returns the same as `schedule_from_document`, but for an invalid document a schedule with its name and the
/// problem.
fn schedule_or_placeholder(mut document: Document) -> Option<Schedule> {
    let name = document.get_str("_id").ok().map(str::to_owned);
    match schedule_from_document(&mut document) {
        Ok(schedule) => Some(schedule),
        Err(error) => name.map(|name| Schedule::placeholder_for(name, &error)),
    }
}

impl MongoBackend {
    fn find_schedule(&self, name: &str) -> Result<Option<Schedule>> {
        let found = self.schedules.find_one(doc! { "_id": name }).run().map_err(store_error)?;
        found.map(|mut found| schedule_from_document(&mut found)).transpose()
    }

    fn change_schedule(&self, name: &str, set: Document, unset: Document) -> Result<()> {
        let mut change = Document::new();
        for (operator, fields) in [("$set", set), ("$unset", unset)] {
            if !fields.is_empty() {
                change.insert(operator, fields);
            }
        }
        self.schedules.update_one(doc! { "_id": name }, change).run().map(drop).map_err(store_error)
    }

    /// Queues the job of a schedule that is due. Returns `None` if another program has handled this time.
    fn fire_one(&self, schedule: &Schedule, now: i64) -> Result<Option<Fired>> {
        let mut fired = schedule.empty_report();
        let mut unchanged = doc! { "_id": &schedule.name };
        // An invalid schedule may have no time.
        insert_if_some(&mut unchanged, "next_at", schedule.next_at);
        let due = schedule
            .due_and_next_time(now)
            .and_then(|(due_at, next)| Ok((due_at, next, self.push_one(&schedule.job_at(due_at), None)?.0)));
        let change = match due {
            Ok((due_at, next, pushed)) => {
                (fired.id, fired.is_new) = (Some(pushed.id), pushed.is_new);
                doc! { "$set": { "next_at": next, "last_at": due_at, "last_id": pushed.id.to_string() } }
            }
            // The schedule is invalid. The other schedules continue.
            Err(error) if error.kind() == ErrorKind::Input => {
                let problem = describe::without_nul(&error.to_string()).into_owned();
                fired.problem = Some(problem.clone());
                doc! { "$set": { "problem": problem }, "$unset": { "next_at": "" } }
            }
            Err(error) => return Err(error),
        };
        let is_first = self.schedules.update_one(unchanged, change).run().map_err(store_error)?.matched_count == 1;
        Ok((is_first || fired.is_new).then_some(fired))
    }
}

impl Schedules for MongoBackend {
    fn set_schedule(&mut self, schedule: &NewSchedule, actor: &str) -> Result<i64> {
        schedule.check_names()?;
        check_actor_name(actor)?;
        let next = schedule.timing.next(self.read_time()?);
        let next = next.ok_or_else(|| Error::new(ErrorKind::Input, "the timing never occurs again"))?;
        let mut set = doc! {
            "queue": &schedule.queue, "timing": schedule.timing.text(), "next_at": next,
            "priority": i64::from(schedule.priority), "alone": schedule.is_alone, "bytes": to_binary(&schedule.bytes),
        };
        let mut unset = doc! { "paused_at": "", "problem": "" };
        let max_attempts = schedule.max_attempts.map(|attempts| Bson::Int64(i64::from(attempts.max(1))));
        let (zone, format) = (schedule.timing.zone().map(Bson::from), schedule.format.as_deref().map(Bson::from));
        for (name, value) in [("zone", zone), ("format", format), ("max_attempts", max_attempts)] {
            if value.is_none() {
                unset.insert(name, "");
            }
            insert_if_some(&mut set, name, value);
        }
        check_size("a schedule", &set)?;
        self.with_audit_entries(actor, "schedule", std::slice::from_ref(&schedule.name), |backend| {
            match backend.schedules.insert_one(doc! { "_id": &schedule.name, "queue": "", "timing": "" }).run() {
                Err(error) if !is_duplicate(&error) => return Err(store_error(error)),
                _ => {}
            }
            backend.change_schedule(&schedule.name, set, unset)?;
            Ok((vec![1], next))
        })
    }

    fn schedules(&mut self) -> Result<Vec<Schedule>> {
        // A new schedule whose creation was interrupted has no payload yet.
        let found = self.schedules.find(doc! { "bytes": { "$exists": true } }).sort(doc! { "_id": 1 });
        let schedule =
            |found: mongodb::error::Result<Document>| Ok(schedule_or_placeholder(found.map_err(store_error)?));
        found.run().map_err(store_error)?.filter_map(|found| schedule(found).transpose()).collect()
    }

    fn pause_schedule(&mut self, name: &str, is_paused: bool, actor: &str) -> Result<()> {
        check_schedule(name)?;
        check_actor_name(actor)?;
        let schedule = self.find_schedule(name)?.ok_or_else(|| no_schedule_error(name))?;
        let (paused_at, next_at) = schedule.pause_and_next_time(is_paused, self.read_time()?)?;
        let (mut set, mut unset) = (Document::new(), doc! { "problem": "" });
        for (field, value) in [("paused_at", paused_at), ("next_at", next_at)] {
            insert_if_some(&mut set, field, value);
            if value.is_none() {
                unset.insert(field, "");
            }
        }
        let action = if is_paused { "pause schedule" } else { "resume schedule" };
        self.with_audit_entries(actor, action, &[name.to_owned()], |backend| {
            backend.change_schedule(name, set, unset)?;
            Ok((vec![1], ()))
        })
    }

    fn remove_schedule(&mut self, name: &str, actor: &str) -> Result<bool> {
        check_schedule(name)?;
        check_actor_name(actor)?;
        self.with_audit_entries(actor, "unschedule", &[name.to_owned()], |backend| {
            let removed = backend.schedules.delete_one(doc! { "_id": name }).run().map_err(store_error)?.deleted_count;
            Ok((vec![removed], removed > 0))
        })
    }

    fn fire(&mut self, max_schedules: usize) -> Result<Vec<Fired>> {
        if max_schedules == 0 {
            return Ok(Vec::new());
        }
        let now = self.read_time()?;
        let due = doc! { "next_at": { "$lte": now }, "paused_at": null, "bytes": { "$exists": true } };
        let limit = i64::try_from(max_schedules).unwrap_or(i64::MAX);
        let cursor =
            self.schedules.find(due).sort(doc! { "next_at": 1, "_id": 1 }).limit(limit).run().map_err(store_error)?;
        let mut fired = Vec::new();
        for document in cursor {
            // Some servers return a document that changed after it matched.
            let is_due = |schedule: &Schedule| schedule.next_at.is_none_or(|time| time <= now);
            if let Some(schedule) = schedule_or_placeholder(document.map_err(store_error)?).filter(is_due) {
                fired.extend(self.fire_one(&schedule, now)?);
            }
        }
        Ok(fired)
    }
}
