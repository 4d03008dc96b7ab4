//! Helpers of the tests that kill programs: the recorded events, the check that the database has
//! them, the processes that are killed, and the servers.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod counts;
mod process;
mod reported_events;
mod server;

use crate::common::until;
pub use counts::Counts;
use icecore_store::{Backend, Flow, Job, JobFilter, QueueStatus, State};
pub use process::{Running, print_event};
pub use reported_events::ReportedEvents;
pub use server::Server;
use std::time::Duration;

/// How many jobs may wait before producers wait too. More would make the tests slow and show nothing new.
pub const MAX_WAITING_JOBS: u64 = 300;

/// Returns how often each kind of program is killed on each backend.
pub fn rounds() -> u64 {
    std::env::var("ICECORE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// Returns the number of rounds on each database. There are several databases, because the content of each is read
/// often.
pub fn split_rounds(rounds: u64) -> impl Iterator<Item = u64> {
    const ROUNDS_PER_DATABASE: u64 = 50;
    (0..rounds.div_ceil(ROUNDS_PER_DATABASE))
        .map(move |database| ROUNDS_PER_DATABASE.min(rounds - database * ROUNDS_PER_DATABASE))
}

/// Returns all jobs of a queue.
pub fn list_jobs(store: &mut dyn Backend, queue: &str) -> Vec<Job> {
    let mut found = Vec::new();
    let filter = JobFilter { queue: Some(queue.to_owned()), ..JobFilter::default() };
    let mut add = |job| {
        found.push(job);
        Ok(Flow::Continue)
    };
    store.jobs(&filter, usize::MAX, &mut add).expect("jobs are listed");
    found
}

/// Returns the number of waiting jobs of a queue.
pub fn count_waiting_jobs(store: &mut dyn Backend, queue: &str) -> icecore_store::Result<u64> {
    let queues = store.queues()?;
    let waits = |status: &QueueStatus| status.count_in_state(State::Ready) + status.count_in_state(State::Waiting);
    Ok(queues.iter().find(|status| status.name == queue).map_or(0, waits))
}

/// Claims and acks the remaining jobs.
pub fn finish_all_jobs(store: &mut dyn Backend, queue: &str, events: &mut ReportedEvents) {
    const LEASE: Duration = Duration::from_secs(3_600);
    until("all jobs are done", || {
        let leases = store.claim(queue, "the last one", LEASE, 100).expect("claimed");
        for lease in &leases {
            let (job, attempt) = (&lease.job, lease.job.attempts);
            let end = job.lease_until.expect("an end");
            events.add_line(&format!("granted {} {attempt} {} {end}", job.id, LEASE.as_millis()));
            store.ack(job.id, &lease.token, Some(attempt.to_string().as_bytes())).expect("ack");
        }
        let queues = store.queues().expect("queues");
        let status = queues.iter().find(|status| status.name == queue);
        let unfinished = [State::Ready, State::Leased, State::Waiting];
        status.is_none_or(|status| unfinished.iter().all(|state| status.count_in_state(*state) == 0)).then_some(())
    });
}
