//! Limits of queues.
//!
//! Who wants jobs of a queue with limits reserves places first, in the document of the queue: one
//! change, which holds only if nobody changed the places meanwhile. A job that is handed out has its
//! place until it is done, given back, or its lease was found ended. A place without such a job is
//! one whose program was cut off: it counts until the lease would have ended.

use super::MongoBackend;
use super::fields::{int, text};
use super::said::said;
use crate::error::{Error, ErrorKind, Result};
use crate::handing::Handing;
use crate::limits::{Rate, Spent};
use crate::rules::millis;
use mongodb::bson::{Bson, Document, doc};
use std::collections::HashSet;

/// How often places are asked for that others change at the same time.
const TRIES: u32 = 16;

/// Places that were reserved: from this number on so many, with leases until then.
pub(super) struct Places {
    pub(super) first: i64,
    pub(super) count: usize,
    pub(super) until: i64,
    rate: Option<Rate>,
}

fn rate_of(queue: &Document) -> Result<Option<Rate>> {
    Ok(Rate::of(int(queue, "rate_count")?, int(queue, "rate_per")?))
}

fn token_of(place: &Document) -> Option<(String, i64)> {
    Some((place.get_str("token").ok()?.to_owned(), place.get_i64("number").ok()?))
}

/// Whether a queue has limits.
pub(super) fn is_limited(queue: &Document) -> bool {
    let is_set = |name| !matches!(queue.get(name), None | Some(Bson::Null));
    is_set("concurrency") || is_set("rate_count")
}

impl MongoBackend {
    /// Reserves places for jobs, of so many that are wanted. `None`: the queue has no limits.
    pub(super) fn reserve(&self, handing: &Handing<'_>, most: usize) -> Result<Option<Places>> {
        for tried in 0..TRIES {
            let Some(mut queue) = self.queues.find_one(doc! { "_id": handing.queue }).run().map_err(said)? else {
                return Ok(None);
            };
            if !is_limited(&queue) {
                return Ok(None);
            }
            let now = self.time()?;
            let (rate, mut spent) = (rate_of(&queue)?, spent_of(&mut queue)?);
            let mut places = self.places(handing.queue, &queue, now)?;
            let mut room = i64::try_from(most).unwrap_or(i64::MAX);
            if let Some(concurrency) = int(&queue, "concurrency")? {
                let others = doc! { "queue": handing.queue, "state": "leased", "place": null };
                let others = self.jobs.count_documents(others).run().map_err(said)?;
                let taken = i64::try_from(others).unwrap_or(i64::MAX).saturating_add(places.len() as i64);
                room = room.min(concurrency.saturating_sub(taken));
            }
            if let Some(rate) = rate {
                room = room.min(i64::from(spent.room(rate, now)));
            }
            let count = usize::try_from(room).unwrap_or(0);
            let turn = int(&queue, "turn")?;
            let first = turn.unwrap_or(0).saturating_mul(1 << 20);
            let until = now.saturating_add(millis(handing.lease));
            let reserved = Places { first, count, until, rate };
            if count == 0 {
                return Ok(Some(reserved));
            }
            let place = |number: i64| doc! { "token": handing.token, "number": first + number, "until": until };
            places.extend((0..room).map(place));
            if let Some(rate) = rate {
                spent.spend(rate, now, count);
            }
            if self.change_places(handing.queue, turn, places, &spent)? {
                return Ok(Some(reserved));
            }
            std::thread::sleep(std::time::Duration::from_millis(u64::from(tried)));
        }
        Err(Error::new(ErrorKind::Busy, "others take jobs of this queue all the time"))
    }

    /// The places of a queue that count at this time.
    fn places(&self, name: &str, queue: &Document, now: i64) -> Result<Vec<Document>> {
        let Ok(all) = queue.get_array("places") else { return Ok(Vec::new()) };
        let all: Vec<Document> = all.iter().filter_map(|place| place.as_document().cloned()).collect();
        let is_over = |place: &Document| place.get_i64("until").unwrap_or(i64::MIN) < now;
        if !all.iter().any(is_over) {
            return Ok(all);
        }
        // Its lease may have been found ended by nobody yet.
        let mut held = HashSet::new();
        let leased = doc! { "queue": name, "state": "leased", "place": { "$exists": true } };
        for found in self.jobs.find(leased).projection(doc! { "token": 1, "place": 1 }).run().map_err(said)? {
            let mut found = found.map_err(said)?;
            if let (Some(token), Some(place)) = (text(&mut found, "token")?, int(&found, "place")?) {
                held.insert((token, place));
            }
        }
        let counts = |place: &Document| !is_over(place) || token_of(place).is_some_and(|place| held.contains(&place));
        Ok(all.into_iter().filter(counts).collect())
    }

    /// Changes the places of a queue, if nobody did since this turn.
    fn change_places(&self, queue: &str, turn: Option<i64>, places: Vec<Document>, spent: &Spent) -> Result<bool> {
        let filter = doc! { "_id": queue, "turn": turn };
        let change = doc! {
            "$set": { "places": places, "rate_spent": spent.to_string(), "turn": turn.unwrap_or(0).saturating_add(1) }
        };
        Ok(self.queues.update_one(filter, change).run().map_err(said)?.matched_count == 1)
    }

    /// Gives places back that were not needed: as if they had not been asked for.
    pub(super) fn give_back(&self, handing: &Handing<'_>, places: &Places, used: &[i64]) -> Result<()> {
        // One claim may reserve more than once: only these are meant.
        let end = places.first.saturating_add(i64::try_from(places.count).unwrap_or(i64::MAX));
        let is_unused = |place: &Document| {
            let known = token_of(place).filter(|(token, _)| token == handing.token);
            known.is_some_and(|(_, number)| (places.first..end).contains(&number) && !used.contains(&number))
        };
        let unused = places.count.saturating_sub(used.len());
        if unused == 0 {
            return Ok(());
        }
        for _ in 0..TRIES {
            let found = self.queues.find_one(doc! { "_id": handing.queue }).run().map_err(said)?;
            let Some(mut queue) = found else { return Ok(()) };
            let mut spent = spent_of(&mut queue)?;
            if let Some(rate) = places.rate {
                spent.take_back(rate, places.until.saturating_sub(millis(handing.lease)), unused);
            }
            let all = queue.get_array("places").map(Vec::as_slice).unwrap_or_default();
            let left = all.iter().filter_map(Bson::as_document).filter(|place| !is_unused(place)).cloned().collect();
            if self.change_places(handing.queue, int(&queue, "turn")?, left, &spent)? {
                return Ok(());
            }
        }
        // They count until the lease would have ended.
        Ok(())
    }

    /// A job is no worker's any more: its place is free.
    pub(super) fn leave_place(&self, queue: &str, token: &str, place: i64) -> Result<()> {
        let change = doc! { "$pull": { "places": { "token": token, "number": place } }, "$inc": { "turn": 1_i64 } };
        self.queues.update_one(doc! { "_id": queue }, change).run().map(drop).map_err(said)
    }

    /// Keeps a place for longer, before its lease is.
    pub(super) fn keep_place(&self, queue: &str, token: &str, place: i64, until: i64) -> Result<()> {
        for _ in 0..TRIES {
            let found = self.queues.find_one(doc! { "_id": queue }).run().map_err(said)?;
            let Some(mut found) = found else { return Ok(()) };
            let spent = spent_of(&mut found)?;
            let all = found.get_array("places").map(Vec::as_slice).unwrap_or_default();
            let mut all: Vec<Document> = all.iter().filter_map(|place| place.as_document().cloned()).collect();
            let mine = |known: &&mut Document| token_of(known).is_some_and(|known| known == (token.to_owned(), place));
            // Limits were taken away and set again: it counts by its lease alone.
            let Some(mine) = all.iter_mut().find(mine) else { return Ok(()) };
            mine.insert("until", until);
            if self.change_places(queue, int(&found, "turn")?, all, &spent)? {
                return Ok(());
            }
        }
        Err(Error::new(ErrorKind::Busy, "others take jobs of this queue all the time"))
    }
}

fn spent_of(queue: &mut Document) -> Result<Spent> {
    Ok(text(queue, "rate_spent")?.map_or_else(Spent::default, |text| Spent::parse(&text)))
}
