//! Limits of queues.
//!
//! A program that claims jobs of a queue with limits first reserves places in the queue's document. This is one
//! change, which fails if another program changed the places meanwhile. The places, the usage of the rate and a
//! change counter are in one field and are replaced as a whole. A job that is handed out keeps its place until it is
//! done, returned, or its lease is found to have ended. A place without a job belongs to an interrupted program and
//! counts until its lease would have ended.

use super::MongoBackend;
use super::fields::{get_int, take_text};
use super::store_error::store_error;
use crate::claim_request::ClaimRequest;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Rate, RateUsage};
use crate::rules::to_millis;
use mongodb::bson::{Bson, Document, doc};
use std::collections::HashSet;
use std::time::Duration;

/// Maximum number of tries to change the places while others change them at the same time.
const MAX_TRIES: u32 = 32;

/// Reserved places: `count` numbers from `first_place` on, with leases until `until`.
pub(super) struct ReservedPlaces {
    pub(super) first_place: i64,
    pub(super) count: usize,
    pub(super) until: i64,
    rate: Option<Rate>,
}

/// Usage of a queue with limits.
struct LimitUsage {
    /// Number of changes so far. It is `None` if the queue does not have a usage yet.
    revision: Option<i64>,
    /// Places, each with `token`, `number` and `until`.
    places: Vec<Document>,
    rate_usage: RateUsage,
}

impl LimitUsage {
    fn from_queue(queue: &mut Document) -> Result<LimitUsage> {
        let mut usage = match queue.remove("held") {
            Some(Bson::Document(usage)) => usage,
            _ => Document::new(),
        };
        let revision = get_int(&usage, "turn")?;
        let rate_usage =
            take_text(&mut usage, "spent")?.map_or_else(RateUsage::default, |text| RateUsage::parse(&text));
        let places = usage.get_array("places").map(Vec::as_slice).unwrap_or_default();
        Ok(LimitUsage {
            revision,
            places: places.iter().filter_map(|place| place.as_document().cloned()).collect(),
            rate_usage,
        })
    }
}

fn read_token_and_number(place: &Document) -> Option<(String, i64)> {
    Some((place.get_str("token").ok()?.to_owned(), place.get_i64("number").ok()?))
}

fn is_place_of(place: &Document, token: &str, number: i64) -> bool {
    place.get_str("token").is_ok_and(|place_token| place_token == token)
        && place.get_i64("number").is_ok_and(|place_number| place_number == number)
}

/// Returns whether a queue has limits.
pub(super) fn is_limited(queue: &Document) -> bool {
    let is_set = |name| !matches!(queue.get(name), None | Some(Bson::Null));
    is_set("concurrency") || is_set("rate_count")
}

impl MongoBackend {
    /// Reserves up to `max_places` places for jobs. Returns `None` if the queue has no limits.
    pub(super) fn reserve_places(
        &self,
        request: &ClaimRequest<'_>,
        max_places: usize,
    ) -> Result<Option<ReservedPlaces>> {
        for attempt in 0..MAX_TRIES {
            let Some(mut queue) = self.queues.find_one(doc! { "_id": request.queue }).run().map_err(store_error)?
            else {
                return Ok(None);
            };
            if !is_limited(&queue) {
                return Ok(None);
            }
            let now = self.read_time()?;
            let rate = Rate::from_columns(get_int(&queue, "rate_count")?, get_int(&queue, "rate_per")?);
            let mut usage = LimitUsage::from_queue(&mut queue)?;
            self.drop_ended_places(request.queue, &mut usage.places, now)?;
            let mut available = i64::try_from(max_places).unwrap_or(i64::MAX);
            if let Some(concurrency) = get_int(&queue, "concurrency")? {
                let without_place = doc! { "queue": request.queue, "state": "leased", "place": null };
                let unplaced = self.jobs.count_documents(without_place).run().map_err(store_error)?;
                let occupied = i64::try_from(unplaced).unwrap_or(i64::MAX).saturating_add(usage.places.len() as i64);
                available = available.min(concurrency.saturating_sub(occupied));
            }
            if let Some(rate) = rate {
                available = available.min(i64::from(usage.rate_usage.count_remaining(rate, now)));
            }
            let count = usize::try_from(available).unwrap_or(0);
            // Each reservation increments the revision, so it has its own range of numbers, each with 2^20 of them.
            let first_place = usage.revision.unwrap_or(0).saturating_mul(1 << 20);
            let until = now.saturating_add(to_millis(request.lease));
            let reserved = ReservedPlaces { first_place, count, until, rate };
            if count == 0 {
                return Ok(Some(reserved));
            }
            let place = |number: i64| doc! { "token": request.token, "number": first_place + number, "until": until };
            usage.places.extend((0..available).map(place));
            if let Some(rate) = rate {
                usage.rate_usage.add_jobs(rate, now, count);
            }
            if self.replace_usage(request.queue, usage)? {
                return Ok(Some(reserved));
            }
            sleep_before_retry(attempt);
        }
        Err(queue_contention_error())
    }

    /// Removes places whose lease has ended at this time, unless a job still has the place.
    fn drop_ended_places(&self, name: &str, places: &mut Vec<Document>, now: i64) -> Result<()> {
        let has_ended = |place: &Document| place.get_i64("until").unwrap_or(i64::MIN) < now;
        if !places.iter().any(has_ended) {
            return Ok(());
        }
        // A job keeps its place after its lease ended, until a claim finds the ended lease.
        let mut occupied = HashSet::new();
        let leased = doc! { "queue": name, "state": "leased", "place": { "$exists": true } };
        for document in self.jobs.find(leased).projection(doc! { "token": 1, "place": 1 }).run().map_err(store_error)? {
            let mut document = document.map_err(store_error)?;
            if let (Some(token), Some(place)) = (take_text(&mut document, "token")?, get_int(&document, "place")?) {
                occupied.insert((token, place));
            }
        }
        places.retain(|place| {
            !has_ended(place) || read_token_and_number(place).is_some_and(|place| occupied.contains(&place))
        });
        Ok(())
    }

    /// Replaces the usage, if nobody else changed it. Returns whether it was replaced.
    fn replace_usage(&self, queue: &str, usage: LimitUsage) -> Result<bool> {
        let revision = usage.revision.unwrap_or(0).saturating_add(1);
        let filter = doc! { "_id": queue, "held.turn": usage.revision };
        let next = doc! { "turn": revision, "places": usage.places, "spent": usage.rate_usage.to_string() };
        let change = doc! { "$set": { "held": next } };
        Ok(self.queues.update_one(filter, change).run().map_err(store_error)?.matched_count == 1)
    }

    /// Changes the usage, while others may change it too. `change` returns whether anything has to be written.
    fn change_usage(&self, queue: &str, mut change: impl FnMut(&mut LimitUsage) -> bool) -> Result<()> {
        for attempt in 0..MAX_TRIES {
            let found = self.queues.find_one(doc! { "_id": queue }).run().map_err(store_error)?;
            let Some(mut found) = found else { return Ok(()) };
            let mut usage = LimitUsage::from_queue(&mut found)?;
            if !change(&mut usage) || self.replace_usage(queue, usage)? {
                return Ok(());
            }
            sleep_before_retry(attempt);
        }
        Err(queue_contention_error())
    }

    /// Gives unused places back, as if they had not been reserved.
    pub(super) fn return_unused_places(
        &self,
        request: &ClaimRequest<'_>,
        places: &ReservedPlaces,
        used: &[i64],
    ) -> Result<()> {
        let unused = places.count.saturating_sub(used.len());
        if unused == 0 {
            return Ok(());
        }
        // A claim may reserve several times with the same token. Only the places of this reservation are given back.
        let end = places.first_place.saturating_add(i64::try_from(places.count).unwrap_or(i64::MAX));
        let is_unused = |place: &Document| {
            let own_place = read_token_and_number(place).filter(|(token, _)| token == request.token);
            own_place.is_some_and(|(_, number)| (places.first_place..end).contains(&number) && !used.contains(&number))
        };
        let result = self.change_usage(request.queue, |usage| {
            if let Some(rate) = places.rate {
                usage.rate_usage.subtract_jobs(rate, places.until.saturating_sub(to_millis(request.lease)), unused);
            }
            usage.places.retain(|place| !is_unused(place));
            true
        });
        match result {
            // This error is ignored, because the places end without help when the lease would have ended.
            Err(error) if error.kind() == ErrorKind::Busy => Ok(()),
            result => result,
        }
    }

    /// Frees the place of a job that no worker has any more.
    pub(super) fn release_place(&self, queue: &str, token: &str, place: i64) -> Result<()> {
        self.change_usage(queue, |usage| {
            let count = usage.places.len();
            usage.places.retain(|other| !is_place_of(other, token, place));
            usage.places.len() < count
        })
    }

    /// Extends a place before its lease is extended. If the limits were removed in the meantime, the place does not
    /// exist and nothing changes.
    pub(super) fn extend_place(&self, queue: &str, token: &str, place: i64, until: i64) -> Result<()> {
        self.change_usage(queue, |usage| {
            let own_place = usage.places.iter_mut().find(|other| is_place_of(other, token, place));
            own_place.map(|place| place.insert("until", until)).is_some()
        })
    }
}

fn sleep_before_retry(attempt: u32) {
    std::thread::sleep(Duration::from_millis(u64::from(attempt)));
}

fn queue_contention_error() -> Error {
    Error::new(ErrorKind::Busy, "too many workers are taking jobs of this queue at the same time")
}
