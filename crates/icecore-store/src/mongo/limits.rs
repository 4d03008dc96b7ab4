//! Limits of queues.
//!
//! A program that claims jobs of a queue with limits first reserves places in the queue's document. This is one change,
//! which fails if another program changed the places meanwhile. The places, the usage of the rate and a change counter
//! are in one field and are replaced as a whole. A job that is handed out keeps its place until it is done, returned,
//! or its lease is found to have ended. A place without a job belongs to an interrupted program and counts until its
//! lease would have ended.

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

/// How often a change of the places is tried while others change them at the same time.
const TRIES: u32 = 32;

/// Reserved places: `count` numbers from `first` on, with leases until `until`.
pub(super) struct ReservedPlaces {
    pub(super) first: i64,
    pub(super) count: usize,
    pub(super) until: i64,
    rate: Option<Rate>,
}

/// Usage of a queue with limits.
struct LimitUsage {
    /// Number of changes so far; `None` if there was no usage yet.
    turn: Option<i64>,
    /// Places, each with `token`, `number` and `until`.
    places: Vec<Document>,
    spent: RateUsage,
}

impl LimitUsage {
    fn from_queue(queue: &mut Document) -> Result<LimitUsage> {
        let mut held = match queue.remove("held") {
            Some(Bson::Document(held)) => held,
            _ => Document::new(),
        };
        let turn = get_int(&held, "turn")?;
        let spent = take_text(&mut held, "spent")?.map_or_else(RateUsage::default, |text| RateUsage::parse(&text));
        let places = held.get_array("places").map(Vec::as_slice).unwrap_or_default();
        Ok(LimitUsage { turn, places: places.iter().filter_map(|place| place.as_document().cloned()).collect(), spent })
    }
}

fn read_token_and_number(place: &Document) -> Option<(String, i64)> {
    Some((place.get_str("token").ok()?.to_owned(), place.get_i64("number").ok()?))
}

fn is_place_of(place: &Document, token: &str, number: i64) -> bool {
    place.get_str("token").is_ok_and(|known| known == token)
        && place.get_i64("number").is_ok_and(|known| known == number)
}

/// Returns whether a queue has limits.
pub(super) fn is_limited(queue: &Document) -> bool {
    let is_set = |name| !matches!(queue.get(name), None | Some(Bson::Null));
    is_set("concurrency") || is_set("rate_count")
}

impl MongoBackend {
    /// Reserves up to `most` places for jobs. Returns `None` if the queue has no limits.
    pub(super) fn reserve_places(&self, request: &ClaimRequest<'_>, most: usize) -> Result<Option<ReservedPlaces>> {
        for tried in 0..TRIES {
            let Some(mut queue) = self.queues.find_one(doc! { "_id": request.queue }).run().map_err(store_error)?
            else {
                return Ok(None);
            };
            if !is_limited(&queue) {
                return Ok(None);
            }
            let now = self.read_time()?;
            let rate = Rate::from_columns(get_int(&queue, "rate_count")?, get_int(&queue, "rate_per")?);
            let mut held = LimitUsage::from_queue(&mut queue)?;
            self.drop_ended_places(request.queue, &mut held.places, now)?;
            let mut available = i64::try_from(most).unwrap_or(i64::MAX);
            if let Some(concurrency) = get_int(&queue, "concurrency")? {
                let others = doc! { "queue": request.queue, "state": "leased", "place": null };
                let others = self.jobs.count_documents(others).run().map_err(store_error)?;
                let taken = i64::try_from(others).unwrap_or(i64::MAX).saturating_add(held.places.len() as i64);
                available = available.min(concurrency.saturating_sub(taken));
            }
            if let Some(rate) = rate {
                available = available.min(i64::from(held.spent.count_remaining(rate, now)));
            }
            let count = usize::try_from(available).unwrap_or(0);
            let first = held.turn.unwrap_or(0).saturating_mul(1 << 20);
            let until = now.saturating_add(to_millis(request.lease));
            let reserved = ReservedPlaces { first, count, until, rate };
            if count == 0 {
                return Ok(Some(reserved));
            }
            let place = |number: i64| doc! { "token": request.token, "number": first + number, "until": until };
            held.places.extend((0..available).map(place));
            if let Some(rate) = rate {
                held.spent.add_jobs(rate, now, count);
            }
            if self.replace_usage(request.queue, held)? {
                return Ok(Some(reserved));
            }
            sleep_before_retry(tried);
        }
        Err(queue_contention_error())
    }

    /// Removes places that no longer count at this time.
    fn drop_ended_places(&self, name: &str, places: &mut Vec<Document>, now: i64) -> Result<()> {
        let is_over = |place: &Document| place.get_i64("until").unwrap_or(i64::MIN) < now;
        if !places.iter().any(is_over) {
            return Ok(());
        }
        // A job may still have the place if nobody has found its ended lease yet.
        let mut held = HashSet::new();
        let leased = doc! { "queue": name, "state": "leased", "place": { "$exists": true } };
        for found in self.jobs.find(leased).projection(doc! { "token": 1, "place": 1 }).run().map_err(store_error)? {
            let mut found = found.map_err(store_error)?;
            if let (Some(token), Some(place)) = (take_text(&mut found, "token")?, get_int(&found, "place")?) {
                held.insert((token, place));
            }
        }
        places
            .retain(|place| !is_over(place) || read_token_and_number(place).is_some_and(|place| held.contains(&place)));
        Ok(())
    }

    /// Replaces the usage, if nobody else changed it. Returns whether it was replaced.
    fn replace_usage(&self, queue: &str, held: LimitUsage) -> Result<bool> {
        let turn = held.turn.unwrap_or(0).saturating_add(1);
        let filter = doc! { "_id": queue, "held.turn": held.turn };
        let next = doc! { "turn": turn, "places": held.places, "spent": held.spent.to_string() };
        let change = doc! { "$set": { "held": next } };
        Ok(self.queues.update_one(filter, change).run().map_err(store_error)?.matched_count == 1)
    }

    /// Changes the usage, while others may change it too. `change` returns whether anything has to be written.
    fn change_usage(&self, queue: &str, mut change: impl FnMut(&mut LimitUsage) -> bool) -> Result<()> {
        for tried in 0..TRIES {
            let found = self.queues.find_one(doc! { "_id": queue }).run().map_err(store_error)?;
            let Some(mut found) = found else { return Ok(()) };
            let mut held = LimitUsage::from_queue(&mut found)?;
            if !change(&mut held) || self.replace_usage(queue, held)? {
                return Ok(());
            }
            sleep_before_retry(tried);
        }
        Err(queue_contention_error())
    }

    /// Returns unused places, as if they had not been reserved.
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
        // A claim may reserve several times: only the places of this reservation are returned.
        let end = places.first.saturating_add(i64::try_from(places.count).unwrap_or(i64::MAX));
        let is_unused = |place: &Document| {
            let known = read_token_and_number(place).filter(|(token, _)| token == request.token);
            known.is_some_and(|(_, number)| (places.first..end).contains(&number) && !used.contains(&number))
        };
        let given = self.change_usage(request.queue, |held| {
            if let Some(rate) = places.rate {
                held.spent.subtract_jobs(rate, places.until.saturating_sub(to_millis(request.lease)), unused);
            }
            held.places.retain(|place| !is_unused(place));
            true
        });
        match given {
            // The places then count until the lease would have ended.
            Err(error) if error.kind() == ErrorKind::Busy => Ok(()),
            given => given,
        }
    }

    /// Frees the place of a job that no worker has any more.
    pub(super) fn free_place(&self, queue: &str, token: &str, place: i64) -> Result<()> {
        self.change_usage(queue, |held| {
            let count = held.places.len();
            held.places.retain(|known| !is_place_of(known, token, place));
            held.places.len() < count
        })
    }

    /// Extends a place before its lease is extended. If the limits were removed meanwhile, there is no place.
    pub(super) fn extend_place(&self, queue: &str, token: &str, place: i64, until: i64) -> Result<()> {
        self.change_usage(queue, |held| {
            let mine = held.places.iter_mut().find(|known| is_place_of(known, token, place));
            mine.map(|mine| mine.insert("until", until)).is_some()
        })
    }
}

fn sleep_before_retry(tried: u32) {
    std::thread::sleep(Duration::from_millis(u64::from(tried)));
}

fn queue_contention_error() -> Error {
    Error::new(ErrorKind::Busy, "too many workers are taking jobs of this queue at the same time")
}
