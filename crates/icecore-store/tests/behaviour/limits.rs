//! Limits of queues.

use super::queue::{claim_job, claim_jobs, new_job, push_job, read_job};
use super::{Behaviour, behaviours};
use crate::common::{HOUR, Random, World, error_kind, until};
use icecore_store::{ErrorKind, Lease, QueueSettings, Rate, State};
use std::time::Duration;

pub const ALL: &[Behaviour] = behaviours! {
    concurrency_limits_the_number_of_leases
    an_ended_lease_does_not_count_as_concurrent
    a_rate_limits_the_handouts_of_a_period
    no_period_exceeds_its_rate
    limits_are_set_changed_and_removed
    limits_apply_to_one_queue
    a_paused_queue_with_limits_hands_out_nothing
};

fn set_limits(world: &mut World, concurrency: Option<u32>, rate: Option<Rate>) {
    let settings = QueueSettings { concurrency, rate, ..QueueSettings::default() };
    world.store.configure("mail", &settings).expect("configured");
}

fn push_jobs(world: &mut World, count: usize) {
    let jobs: Vec<_> = (0..count).map(|number| new_job("mail", &number.to_string())).collect();
    world.store.push(&jobs).expect("pushed");
}

fn ack_lease(world: &mut World, lease: &Lease) {
    world.store.ack(lease.job.id, &lease.token, None).expect("ack");
}

fn concurrency_limits_the_number_of_leases(world: &mut World) {
    set_limits(world, Some(3), None);
    push_jobs(world, 10);
    let leases = claim_jobs(world, "mail", 10);
    assert_eq!(leases.len(), 3);
    assert!(claim_jobs(world, "mail", 1).is_empty());
    assert_eq!(error_kind(world.store.push_and_claim(&new_job("mail", "x"), "ann", HOUR)), ErrorKind::Limited);
    assert_eq!(world.count("icecore_jobs"), 10, "it is not stored either");
    ack_lease(world, &leases[0]);
    world.store.nack(leases[1].job.id, &leases[1].token, "no", Some(HOUR)).expect("nack");
    world.store.extend(leases[2].job.id, &leases[2].token, HOUR).expect("extended");
    let remaining = claim_jobs(world, "mail", 10);
    assert_eq!(remaining.len(), 2);
    ack_lease(world, &remaining[0]);
    let own = world.store.push_and_claim(&new_job("mail", "x"), "ann", HOUR).expect("asked").expect("a lease");
    assert!(claim_jobs(world, "mail", 1).is_empty());
    let acks: Vec<_> = [&own, &remaining[1], &leases[2]]
        .map(|lease| icecore_store::Ack { id: lease.job.id, token: lease.token.clone(), result: None })
        .into();
    assert!(world.store.ack_many(&acks).expect("acked").iter().all(Result::is_ok));
    assert_eq!(claim_jobs(world, "mail", 10).len(), 3);
}

fn an_ended_lease_does_not_count_as_concurrent(world: &mut World) {
    set_limits(world, Some(1), None);
    push_jobs(world, 2);
    let first = world.store.claim("mail", "ann", Duration::ZERO, 5).expect("claimed");
    assert_eq!(first.len(), 1);
    let end = first[0].job.lease_until.expect("an end");
    until("the clock goes on", || (world.store.now().expect("the time") > end).then_some(()));
    let second = claim_jobs(world, "mail", 5);
    assert_eq!(second.len(), 1);
    assert!(claim_jobs(world, "mail", 5).is_empty());
    let status = world.store.queues().expect("queues").remove(0);
    assert_eq!(status.count_in_state(State::Leased), 1);
    assert_eq!(read_job(world, second[0].job.id).state, State::Leased);
}

fn a_rate_limits_the_handouts_of_a_period(world: &mut World) {
    set_limits(world, None, Some(Rate { count: 4, period: HOUR }));
    push_jobs(world, 10);
    let leases = claim_jobs(world, "mail", 3);
    assert_eq!(leases.len(), 3);
    for lease in &leases {
        ack_lease(world, lease);
    }
    // A second attempt counts as a second handout.
    let last = claim_jobs(world, "mail", 3);
    assert_eq!(last.len(), 1);
    world.store.nack(last[0].job.id, &last[0].token, "no", Some(Duration::ZERO)).expect("nack");
    assert!(claim_jobs(world, "mail", 1).is_empty());
    assert_eq!(error_kind(world.store.push_and_claim(&new_job("mail", "x"), "ann", HOUR)), ErrorKind::Limited);
    set_limits(world, None, Some(Rate { count: 6, period: HOUR }));
    assert_eq!(claim_jobs(world, "mail", 10).len(), 2);
    set_limits(world, None, Some(Rate::NONE));
    assert_eq!(claim_jobs(world, "mail", 10).len(), 5);
}

/// Uses the times of the database, regardless of who claims and when.
fn no_period_exceeds_its_rate(world: &mut World) {
    let period_ms = 150;
    set_limits(world, None, Some(Rate { count: 5, period: Duration::from_millis(period_ms) }));
    let mut random = Random::new();
    push_jobs(world, 40);
    let mut times = Vec::new();
    until("all are handed out", || {
        let max_jobs = 1 + random.below(7) as usize;
        for lease in world.store.claim("mail", "ann", HOUR, max_jobs).expect("claimed") {
            times.push(lease.job.lease_until.expect("an end") - HOUR.as_millis() as i64);
        }
        (times.len() == 40).then_some(())
    });
    times.sort_unstable();
    for (first, sixth) in times.iter().zip(&times[5..]) {
        assert!(sixth - first >= period_ms as i64, "{times:?}");
    }
}

fn limits_are_set_changed_and_removed(world: &mut World) {
    push_jobs(world, 12);
    assert_eq!(claim_jobs(world, "mail", 4).len(), 4);
    set_limits(world, Some(5), None);
    assert_eq!(claim_jobs(world, "mail", 4).len(), 1, "those that are leased count");
    let status = world.store.queues().expect("queues").remove(0);
    assert_eq!((status.concurrency, status.rate), (Some(5), None));
    set_limits(world, Some(2), Some(Rate { count: 7, period: HOUR }));
    assert!(claim_jobs(world, "mail", 4).is_empty());
    let status = world.store.queues().expect("queues").remove(0);
    assert_eq!((status.concurrency, status.rate), (Some(2), Some(Rate { count: 7, period: HOUR })));
    set_limits(world, Some(0), None);
    assert_eq!(claim_jobs(world, "mail", 4).len(), 4);
    assert_eq!(claim_jobs(world, "mail", 4).len(), 3, "the rate is still there");
    set_limits(world, None, Some(Rate::NONE));
    push_jobs(world, 3);
    assert_eq!(claim_jobs(world, "mail", 9).len(), 3);
}

fn limits_apply_to_one_queue(world: &mut World) {
    set_limits(world, Some(1), Some(Rate { count: 1, period: HOUR }));
    push_jobs(world, 2);
    for _ in 0..5 {
        push_job(world, &new_job("post", "1"));
    }
    assert_eq!(claim_jobs(world, "mail", 5).len(), 1);
    assert_eq!(claim_jobs(world, "post", 9).len(), 5);
    assert!(claim_jobs(world, "mail", 5).is_empty());
}

fn a_paused_queue_with_limits_hands_out_nothing(world: &mut World) {
    set_limits(world, Some(5), Some(Rate { count: 5, period: HOUR }));
    push_jobs(world, 3);
    let lease = claim_job(world, "mail");
    world.store.pause("mail", true, "ann").expect("paused");
    assert!(claim_jobs(world, "mail", 5).is_empty());
    assert_eq!(error_kind(world.store.push_and_claim(&new_job("mail", "x"), "ann", HOUR)), ErrorKind::Paused);
    ack_lease(world, &lease);
    world.store.pause("mail", false, "ann").expect("resumed");
    assert_eq!(claim_jobs(world, "mail", 5).len(), 2);
}
