//! Jobs.
//!
//! The counts of a queue are those of ready, leased, done, dead and waiting jobs, in this order.

use super::{Behaviour, behaviours};
use crate::common::{Cell, Cells, HOUR, Random, World, error_kind, until};
use icecore_store::{Ack, ErrorKind, Flow, Id, Job, JobFilter, Lease, NewJob, Pushed, QueueSettings, State, describe};
use std::time::Duration;

pub const ALL: &[Behaviour] = behaviours! {
    a_job_is_pushed_claimed_and_acked
    empty_calls_change_nothing
    all_jobs_of_a_call_are_pushed_or_none
    pushing_the_same_job_again_changes_nothing
    pushing_many_jobs_skips_those_that_exist
    many_large_jobs_are_pushed_in_one_call
    jobs_are_pushed_only_if_their_schema_is_current
    jobs_are_claimed_by_priority_and_time
    batches_of_claims_keep_the_order
    a_delayed_job_is_claimed_after_its_delay
    the_longest_delays_and_leases_are_accepted
    queues_are_compared_byte_by_byte
    names_have_a_maximum_length
    a_key_belongs_to_one_unfinished_job
    a_key_is_free_after_its_job_has_ended
    a_key_is_unique_within_its_queue
    many_jobs_are_claimed_in_one_call
    many_jobs_are_acked_in_one_call
    a_refused_ack_does_not_affect_the_others
    results_of_many_acks_are_stored
    wrong_tokens_are_refused
    a_token_ends_with_its_lease
    a_job_with_an_ended_lease_is_claimed_by_another_worker
    a_job_whose_leases_end_too_often_is_dead
    many_ended_leases_are_claimed_again
    ended_leases_are_claimed_in_order_with_ready_jobs
    an_ended_lease_is_claimed_again_in_a_busy_queue
    a_lease_without_an_end_counts_as_ended
    one_claim_hands_out_no_job_twice
    a_lease_is_extended
    a_failed_job_waits_longer_each_time
    a_failed_job_waits_for_the_given_delay
    the_error_of_a_failed_job_is_kept
    a_job_is_tried_max_attempts_times
    all_dead_jobs_are_redriven
    some_dead_jobs_are_redriven
    a_delayed_job_can_run_at_once
    a_redriven_job_gets_its_key_back
    a_redriven_job_whose_key_is_taken_has_none
    a_job_is_replayed
    a_replay_has_no_key
    a_paused_queue_hands_out_nothing
    a_queue_is_paused_between_claims
    settings_of_a_queue_apply_to_new_jobs
    ended_jobs_are_removed
    jobs_of_queues_are_counted_by_state
    the_age_of_the_oldest_ready_job_is_reported
    jobs_are_listed_by_queue_state_and_sequence
    a_job_is_pushed_and_claimed_in_one_call
    unknown_ids_are_missing
    payloads_of_all_kinds_round_trip
    results_of_all_kinds_round_trip
    jobs_inserted_by_plain_sql_are_claimed
    invalid_jobs_of_plain_sql_do_not_block_others
    large_payloads_round_trip
};

const MINUTE: Duration = Duration::from_secs(60);

pub fn new_job(queue: &str, payload: &str) -> NewJob {
    describe::describe_job(queue, payload.as_bytes().to_vec(), Some("json"))
}

pub fn push_job(world: &mut World, job: &NewJob) -> Id {
    let pushed = world.store.push(std::slice::from_ref(job)).expect("pushed")[0];
    assert_eq!(pushed, Pushed { id: job.id, is_new: true });
    pushed.id
}

pub fn claim_jobs(world: &mut World, queue: &str, max_jobs: usize) -> Vec<Lease> {
    world.store.claim(queue, "worker", HOUR, max_jobs).expect("claimed")
}

pub fn claim_job(world: &mut World, queue: &str) -> Lease {
    let mut leases = claim_jobs(world, queue, 1);
    assert_eq!(leases.len(), 1, "one is there");
    leases.remove(0)
}

pub fn read_job(world: &mut World, id: Id) -> Job {
    world.store.job(id).expect("asked").expect("it is there")
}

/// Pushes random groups of jobs, which were checked against a present or a former schema of their queue.
fn jobs_are_pushed_only_if_their_schema_is_current(world: &mut World) {
    let mut random = Random::new();
    let (queues, texts) = (["a", "b", "c"], [None, Some("{}"), Some("true"), Some("{\"type\": \"array\"}")]);
    let mut schemas = [None; 3];
    let mut pushed_before: Vec<NewJob> = Vec::new();
    // Numbers of groups that were refused, and that were stored.
    let mut outcomes = [0; 2];
    for _ in 0..60 {
        let (queue, text) = (random.below(3) as usize, texts[random.below(4) as usize]);
        let settings = QueueSettings { schema: Some(text.unwrap_or_default().to_owned()), ..QueueSettings::default() };
        world.store.configure(queues[queue], &settings).expect("configured");
        schemas[queue] = text;
        let count = [1, 1, 2, 9][random.below(4) as usize];
        let jobs: Vec<NewJob> = (0..count)
            .map(|_| match pushed_before.len() as u64 {
                before if before > 0 && random.below(6) == 0 => pushed_before[random.below(before) as usize].clone(),
                _ => NewJob {
                    unique_key: (random.below(6) == 0).then(|| format!("k{}", random.below(20))),
                    ..new_job(queues[random.below(3) as usize], "[1]")
                },
            })
            .collect();
        let mut checked: Vec<(&str, Option<&str>)> = Vec::new();
        for (queue, schema) in queues.into_iter().zip(schemas) {
            if jobs.iter().any(|job| job.queue == queue) {
                let old = texts[random.below(4) as usize];
                checked.push((queue, if random.below(5) == 0 { old } else { schema }));
            }
        }
        let fits = checked
            .iter()
            .all(|(queue, text)| queues.iter().zip(schemas).any(|(known, schema)| known == queue && schema == *text));
        let before = world.jobs(&JobFilter::default()).len();
        let pushed = world.store.push_checked(&jobs, &checked).expect("pushed");
        outcomes[usize::from(fits)] += 1;
        let Some(pushed) = pushed else {
            assert!(!fits, "{checked:?}");
            assert_eq!(world.jobs(&JobFilter::default()).len(), before, "nothing is stored");
            continue;
        };
        assert!(fits && pushed.len() == jobs.len(), "{checked:?}");
        let new = pushed.iter().filter(|pushed| pushed.is_new).count();
        assert_eq!(world.jobs(&JobFilter::default()).len(), before + new);
        for (pushed, job) in pushed.iter().zip(&jobs) {
            let stored = world.store.job(pushed.id).expect("asked").expect("it is there");
            assert_eq!((&stored.queue, &stored.unique_key), (&job.queue, &job.unique_key));
            assert!(pushed.id == job.id || job.unique_key.is_some());
        }
        pushed_before.extend(jobs);
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
    assert_eq!(error_kind(world.store.push_checked(&[new_job("", "1")], &[("", None)])), ErrorKind::Input);
}

/// Pushes a job, and lets its only attempt fail.
pub fn push_dead_job(world: &mut World, job: &NewJob) -> Id {
    let job = NewJob { max_attempts: Some(1), priority: i32::MAX, ..job.clone() };
    let id = push_job(world, &job);
    let lease = claim_job(world, &job.queue);
    assert_eq!(lease.job.id, id);
    assert_eq!(world.store.nack(id, &lease.token, "no", None).expect("nack"), State::Dead);
    id
}

/// Waits until the clock of the database has passed this time.
pub fn wait_until_after(world: &mut World, time: i64) {
    until("the clock goes on", || (world.store.now().expect("the time") > time).then_some(()));
}

fn a_job_is_pushed_claimed_and_acked(world: &mut World) {
    let before = world.store.now().expect("the time");
    let id = push_job(world, &new_job("mail", "[1]"));
    let ready = read_job(world, id);
    assert_eq!((ready.state, &*ready.queue, ready.attempts, ready.max_attempts), (State::Ready, "mail", 0, 20));
    assert_eq!((&*ready.bytes, ready.format.as_deref(), ready.json.as_deref()), (&b"[1]"[..], Some("json"), None));
    assert_eq!(ready.checksum, describe::compute_checksum(b"[1]"));
    assert!(before <= ready.queued_at && ready.queued_at <= ready.run_at);
    assert_eq!((ready.lease_until, ready.worker, ready.finished_at, ready.error), (None, None, None, None));

    let before = world.store.now().expect("the time");
    let lease = world.store.claim("mail", "ann", MINUTE, 1).expect("claimed").remove(0);
    let after = world.store.now().expect("the time");
    let leased = read_job(world, id);
    assert_eq!(lease.job, leased);
    assert_eq!((leased.state, leased.attempts, leased.worker.as_deref()), (State::Leased, 1, Some("ann")));
    let end = leased.lease_until.expect("an end") - MINUTE.as_millis() as i64;
    assert!((before..=after).contains(&end), "{before} {end} {after}");

    let before = world.store.now().expect("the time");
    world.store.ack(id, &lease.token, Some(b"\0well\xff")).expect("ack");
    let done = read_job(world, id);
    assert_eq!((done.state, done.result.as_deref(), done.lease_until), (State::Done, Some(&b"\0well\xff"[..]), None));
    assert_eq!((done.attempts, done.worker.as_deref(), done.error), (1, Some("ann"), None));
    assert!(done.finished_at.expect("an end") >= before);
    assert_eq!(claim_jobs(world, "mail", 10), []);
    assert_eq!(error_kind(world.store.ack(id, &lease.token, None)), ErrorKind::Lease);
}

fn empty_calls_change_nothing(world: &mut World) {
    assert_eq!(world.store.push(&[]).expect("pushed"), []);
    assert_eq!(claim_jobs(world, "none", 10), []);
    push_job(world, &new_job("mail", "1"));
    assert_eq!(claim_jobs(world, "mail", 0), []);
    assert_eq!(claim_jobs(world, "none", 1), []);
    assert_eq!(claim_jobs(world, "mail", usize::MAX).len(), 1);
    assert_eq!(world.store.remove_ended_jobs(i64::MAX).expect("forget"), 0);
    assert_eq!(world.store.redrive("none", None, "ann").expect("redrive"), 0);
    assert_eq!(world.store.redrive("mail", Some(&[]), "ann").expect("redrive"), 0);
    assert_eq!(world.store.schema("none").expect("schema"), None);
}

fn all_jobs_of_a_call_are_pushed_or_none(world: &mut World) {
    let bad = new_job("", "2");
    assert_eq!(error_kind(world.store.push(&[new_job("mail", "1"), bad, new_job("mail", "3")])), ErrorKind::Input);
    assert_eq!(world.jobs(&JobFilter::default()), []);
    let three = [new_job("mail", "1"), new_job("post", "2"), new_job("mail", "3")];
    let pushed = world.store.push(&three).expect("pushed");
    assert_eq!(pushed, three.each_ref().map(|job| Pushed { id: job.id, is_new: true }));
    let listed: Vec<Id> = world.jobs(&JobFilter::default()).iter().map(|job| job.id).collect();
    assert_eq!(listed, three.each_ref().map(|job| job.id));
}

/// A program pushes a job again if the connection was lost before it got the answer.
fn pushing_the_same_job_again_changes_nothing(world: &mut World) {
    let once = new_job("mail", "1");
    let job_with_key = NewJob { unique_key: Some("k".to_owned()), ..new_job("mail", "2") };
    for job in [&once, &job_with_key] {
        push_job(world, job);
        for _ in 0..2 {
            let repeated = world.store.push(std::slice::from_ref(job)).expect("pushed again");
            assert_eq!(repeated, [Pushed { id: job.id, is_new: false }]);
        }
    }
    assert_eq!(world.store.push_and_claim(&once, "ann", HOUR).expect("asked"), None);
    let lease = claim_job(world, "mail");
    world.store.ack(lease.job.id, &lease.token, None).expect("ack");
    assert!(!world.store.push(std::slice::from_ref(&once)).expect("pushed again")[0].is_new, "it was done already");
    assert_eq!(world.jobs(&JobFilter::default()).len(), 2);
}

/// The jobs that exist already are alone or among others, have the key of another job, or occur twice in one call.
fn pushing_many_jobs_skips_those_that_exist(world: &mut World) {
    let existing = job_with_key("mail", "there");
    let before = new_job("mail", "before");
    world.store.push(&[existing.clone(), before.clone()]).expect("pushed");
    for count in [2, 7, 8, 9, 20, 64, 65, 200] {
        let mut jobs: Vec<NewJob> = (0..count).map(|number| new_job(["mail", "post"][number % 2], "1")).collect();
        let plain_answer = world.store.push(&jobs).expect("pushed");
        assert!(plain_answer.iter().all(|pushed| pushed.is_new) && plain_answer.len() == count);
        let is_new = |job: &NewJob| Pushed { id: job.id, is_new: true };
        let mut expected: Vec<Pushed> = jobs.iter().map(|job| Pushed { id: job.id, is_new: false }).collect();
        for number in 0..count {
            let job = match number % 5 {
                0 => continue,
                1 => NewJob { unique_key: Some(format!("{count} {number}")), ..new_job("mail", "2") },
                2 => job_with_key("mail", "there"),
                3 => before.clone(),
                _ => new_job("mail", "3"),
            };
            expected[number] = match number % 5 {
                2 => Pushed { id: existing.id, is_new: false },
                3 => Pushed { id: before.id, is_new: false },
                _ => is_new(&job),
            };
            jobs[number] = job;
        }
        let (mut once, mut at_end) = (new_job("mail", "4"), job_with_key("mail", &format!("end of {count}")));
        once.priority = 1;
        at_end.priority = 2;
        expected.extend([is_new(&once), is_new(&at_end)]);
        expected.extend([&once, &at_end].map(|job| Pushed { id: job.id, is_new: false }));
        jobs.extend([once.clone(), at_end.clone(), once, at_end]);
        let count_before = world.jobs(&JobFilter::default()).len();
        assert_eq!(world.store.push(&jobs).expect("pushed"), expected, "{count}");
        let listed: Vec<Id> = world.jobs(&JobFilter::default())[count_before..].iter().map(|job| job.id).collect();
        let new_ids: Vec<Id> = expected.iter().filter(|pushed| pushed.is_new).map(|pushed| pushed.id).collect();
        assert_eq!(listed, new_ids, "in the order in which they were given");
    }
}

/// All of the jobs together are too large for one statement.
fn many_large_jobs_are_pushed_in_one_call(world: &mut World) {
    let job = |number: u8| {
        let bytes = vec![number; 3_000_000];
        let description =
            icecore_store::BlobDescription { checksum: describe::compute_checksum(&bytes), ..Default::default() };
        NewJob::new("mail", bytes, description)
    };
    let jobs: Vec<NewJob> = (0..9).map(job).collect();
    assert!(world.store.push(&jobs).expect("pushed").iter().all(|pushed| pushed.is_new));
    for lease in claim_jobs(world, "mail", 9) {
        assert!(jobs.iter().any(|job| job.id == lease.job.id && job.bytes == lease.job.bytes));
    }
    assert_eq!(world.store.queues().expect("queues")[0].counts, [0, 9, 0, 0, 0]);
}

fn batches_of_claims_keep_the_order(world: &mut World) {
    let jobs: Vec<NewJob> = (0..400)
        .map(|number| NewJob { priority: number * 7 % 5 - 2, ..new_job("mail", &number.to_string()) })
        .collect();
    for group in jobs.chunks(150) {
        world.store.push(group).expect("pushed");
    }
    let mut claimed = Vec::new();
    for max_jobs in [1, 2, 64, 8, 100, 9, 65, 200] {
        claimed.extend(claim_jobs(world, "mail", max_jobs).into_iter().map(|lease| lease.job));
    }
    // Within one priority, the first to arrive come first.
    assert_eq!(claimed.len(), 400);
    assert!(claimed.is_sorted_by_key(|job| (-job.priority, job.run_at, job.sequence)));
    assert_eq!(claimed.iter().map(|job| job.id).collect::<std::collections::HashSet<Id>>().len(), 400);
}

fn jobs_are_claimed_by_priority_and_time(world: &mut World) {
    let of = |priority, name: &str| NewJob { priority, ..new_job("mail", name) };
    let jobs =
        [of(0, "4"), of(i32::MIN, "8"), of(5, "2"), of(0, "5"), of(i32::MAX, "1"), of(-1, "7"), of(0, "6"), of(5, "3")];
    world.store.push(&jobs).expect("pushed");
    let mut order = String::new();
    for max_jobs in [1, 2, 1, 4, 1] {
        for lease in claim_jobs(world, "mail", max_jobs) {
            order += &String::from_utf8_lossy(&lease.job.bytes);
            assert_eq!(
                Some(lease.job.priority),
                jobs.iter().find(|job| job.id == lease.job.id).map(|job| job.priority)
            );
        }
    }
    assert_eq!(order, "12345678");
    // Within one priority, the job whose time came first comes first.
    let first = push_job(world, &new_job("post", "1"));
    let lease = claim_job(world, "post");
    let second = push_job(world, &new_job("post", "2"));
    let came = read_job(world, second).run_at;
    wait_until_after(world, came);
    assert_eq!(world.store.nack(first, &lease.token, "later", Some(Duration::ZERO)).expect("nack"), State::Ready);
    let order: Vec<Id> = claim_jobs(world, "post", 2).iter().map(|lease| lease.job.id).collect();
    assert_eq!(order, [second, first]);
}

fn a_delayed_job_is_claimed_after_its_delay(world: &mut World) {
    let of = |delay| NewJob { delay, ..new_job("mail", "1") };
    let soon = push_job(world, &of(Duration::from_millis(40)));
    let late = push_job(world, &of(HOUR));
    for (id, delay) in [(soon, 40), (late, 3_600_000)] {
        let job = read_job(world, id);
        assert!((delay..delay + 1_800_000).contains(&(job.run_at - job.queued_at)), "{} {}", job.queued_at, job.run_at);
    }
    let lease = until("its time comes", || claim_jobs(world, "mail", 2).pop());
    assert_eq!(lease.job.id, soon);
    assert!(world.store.now().expect("the time") >= lease.job.run_at);
    assert_eq!(claim_jobs(world, "mail", 2), []);
    let status = world.store.queues().expect("queues").remove(0);
    assert_eq!((status.counts, status.delayed, status.oldest), ([1, 1, 0, 0, 0], 1, None));
}

fn the_longest_delays_and_leases_are_accepted(world: &mut World) {
    let longest = NewJob { delay: Duration::MAX, max_attempts: Some(u32::MAX), ..new_job("mail", "1") };
    let id = push_job(world, &longest);
    assert!(read_job(world, id).run_at > world.store.now().expect("the time"));
    assert_eq!(read_job(world, id).max_attempts, u32::MAX);
    let id = push_job(world, &new_job("mail", "2"));
    let lease = world.store.claim("mail", "ann", Duration::MAX, usize::MAX).expect("claimed").remove(0);
    assert_eq!(lease.job.id, id);
    world.store.extend(id, &lease.token, Duration::MAX).expect("extended");
    let state = world.store.nack(id, &lease.token, "no", Some(Duration::MAX)).expect("nack");
    assert_eq!((state, claim_jobs(world, "mail", 2).len()), (State::Ready, 0));
    let settings = QueueSettings { backoff: Some(Duration::MAX), ..QueueSettings::default() };
    world.store.configure("post", &settings).expect("configured");
    let id = push_job(world, &new_job("post", "3"));
    let lease = claim_job(world, "post");
    world.store.nack(id, &lease.token, "no", None).expect("nack");
    assert_eq!(read_job(world, id).state, State::Ready);
    assert_eq!(world.store.queues().expect("queues").len(), 2);
}

fn queues_are_compared_byte_by_byte(world: &mut World) {
    let names = ["a", "A", "a ", " a", "\u{e9}", "e\u{301}", "\u{c9}", "%", "_", "'", "\\", "🦀", "NULL"];
    let jobs = names.map(|name| NewJob { unique_key: Some("k".to_owned()), ..new_job(name, "1") });
    assert!(world.store.push(&jobs).expect("pushed").iter().all(|pushed| pushed.is_new));
    let keys = names.map(|name| NewJob { unique_key: Some(name.to_owned()), ..new_job("keys", "1") });
    assert!(world.store.push(&keys).expect("pushed").iter().all(|pushed| pushed.is_new));
    assert_eq!(world.store.queues().expect("queues").len(), names.len() + 1);
    for (name, job) in names.iter().zip(&jobs) {
        let leases = claim_jobs(world, name, 10);
        assert_eq!((leases.len(), leases[0].job.id, &*leases[0].job.queue), (1, job.id, *name));
    }
}

fn names_have_a_maximum_length(world: &mut World) {
    let longest = "ü".repeat(127) + "x";
    let id = push_job(world, &NewJob { unique_key: Some(longest.clone()), ..new_job(&longest, "1") });
    let lease = world.store.claim(&longest, &longest, HOUR, 1).expect("claimed").remove(0);
    assert_eq!((lease.job.id, lease.job.worker.as_ref()), (id, Some(&longest)));
    world.store.pause(&longest, true, &longest).expect("paused");
    world.store.configure(&longest, &QueueSettings::default()).expect("configured");
    let status = world.store.queues().expect("queues").remove(0);
    assert_eq!(status.name, longest);
    for name in ["", "a\0b", "a\nb", "\u{1b}[31m", "\u{7f}", "\u{9b}", &format!("{longest}x"), &"x".repeat(70_000)] {
        let job_with_key = NewJob { unique_key: Some(name.to_owned()), ..new_job("mail", "1") };
        assert_eq!(error_kind(world.store.push(&[new_job(name, "1")])), ErrorKind::Input);
        assert_eq!(error_kind(world.store.push(&[job_with_key])), ErrorKind::Input);
        assert_eq!(error_kind(world.store.push_and_claim(&new_job(name, "1"), "ann", HOUR)), ErrorKind::Input);
        assert_eq!(error_kind(world.store.push_and_claim(&new_job("mail", "1"), name, HOUR)), ErrorKind::Input);
        assert_eq!(error_kind(world.store.claim(name, "ann", HOUR, 1)), ErrorKind::Input);
        assert_eq!(error_kind(world.store.claim("mail", name, HOUR, 1)), ErrorKind::Input);
        assert_eq!(error_kind(world.store.pause(name, true, "ann")), ErrorKind::Input);
        assert_eq!(error_kind(world.store.configure(name, &QueueSettings::default())), ErrorKind::Input);
        assert_eq!(error_kind(world.store.redrive(name, None, "ann")), ErrorKind::Input);
        assert_eq!(world.store.schema(name).expect("asked"), None);
        assert_eq!(world.jobs(&JobFilter { queue: Some(name.to_owned()), ..JobFilter::default() }), []);
        if !name.is_empty() {
            assert_eq!(error_kind(world.store.pause("mail", true, name)), ErrorKind::Input);
            assert_eq!(error_kind(world.store.redrive("mail", None, name)), ErrorKind::Input);
            assert_eq!(error_kind(world.store.replay(id, name)), ErrorKind::Input);
        }
    }
    assert_eq!(world.store.queues().expect("queues").len(), 1);
    assert_eq!(world.jobs(&JobFilter::default()).len(), 1);
}

pub fn job_with_key(queue: &str, key: &str) -> NewJob {
    NewJob { unique_key: Some(key.to_owned()), ..new_job(queue, "1") }
}

fn a_key_belongs_to_one_unfinished_job(world: &mut World) {
    let first = push_job(world, &job_with_key("mail", "k"));
    let is_first = [Pushed { id: first, is_new: false }];
    assert_eq!(world.store.push(&[job_with_key("mail", "k")]).expect("pushed"), is_first, "while it is ready");
    let lease = claim_job(world, "mail");
    assert_eq!(world.store.push(&[job_with_key("mail", "k")]).expect("pushed"), is_first, "while a worker has it");
    assert_eq!(world.store.push_and_claim(&job_with_key("mail", "k"), "bob", HOUR).expect("asked"), None);
    world.store.nack(first, &lease.token, "no", Some(HOUR)).expect("nack");
    assert_eq!(
        world.store.push(&[job_with_key("mail", "k")]).expect("pushed"),
        is_first,
        "while it waits for its next try"
    );
    // The key occurs twice in one call.
    let jobs = [job_with_key("mail", "l"), job_with_key("mail", "l")];
    let pushed = world.store.push(&jobs).expect("pushed");
    assert_eq!(pushed, [Pushed { id: jobs[0].id, is_new: true }, Pushed { id: jobs[0].id, is_new: false }]);
    assert_eq!(world.jobs(&JobFilter::default()).len(), 2);
}

fn a_key_is_free_after_its_job_has_ended(world: &mut World) {
    let first = push_job(world, &job_with_key("mail", "k"));
    let lease = claim_job(world, "mail");
    world.store.ack(first, &lease.token, None).expect("ack");
    assert_eq!(read_job(world, first).unique_key.as_deref(), Some("k"), "it is still told");
    let second = push_dead_job(world, &job_with_key("mail", "k"));
    let third = NewJob { max_attempts: Some(1), ..job_with_key("mail", "k") };
    push_job(world, &third);
    // The key is also free after the last lease has ended.
    let lease = world.store.claim("mail", "ann", Duration::ZERO, 1).expect("claimed").remove(0);
    wait_until_after(world, lease.job.lease_until.expect("an end"));
    assert_eq!(claim_jobs(world, "mail", 1), []);
    assert_eq!(read_job(world, third.id).state, State::Dead);
    let fourth = push_job(world, &job_with_key("mail", "k"));
    let all: Vec<Id> = world.jobs(&JobFilter::default()).iter().map(|job| job.id).collect();
    assert_eq!(all, [first, second, third.id, fourth]);
}

fn a_key_is_unique_within_its_queue(world: &mut World) {
    push_job(world, &job_with_key("mail", "k"));
    push_job(world, &job_with_key("post", "k"));
    push_job(world, &job_with_key("mail", "K"));
    push_job(world, &job_with_key("mail", "k "));
    push_job(world, &new_job("mail", "1"));
    push_job(world, &new_job("mail", "1"));
    assert_eq!(world.jobs(&JobFilter::default()).len(), 6);
}

fn many_jobs_are_claimed_in_one_call(world: &mut World) {
    let jobs: Vec<NewJob> = (0..500).map(|number| new_job("mail", &number.to_string())).collect();
    world.store.push(&jobs).expect("pushed");
    let first = claim_jobs(world, "mail", 300);
    let second = claim_jobs(world, "mail", 300);
    let ids: Vec<Id> = first.iter().chain(&second).map(|lease| lease.job.id).collect();
    assert_eq!((first.len(), second.len()), (300, 200));
    assert_eq!(ids, jobs.iter().map(|job| job.id).collect::<Vec<Id>>());
    for lease in first.iter().chain(&second) {
        world.store.ack(lease.job.id, &lease.token, None).expect("ack");
    }
    assert_eq!(world.store.queues().expect("queues")[0].counts, [0, 0, 500, 0, 0]);
}

fn ack_of(lease: &Lease, result: Option<&[u8]>) -> Ack {
    Ack { id: lease.job.id, token: lease.token.clone(), result: result.map(<[u8]>::to_vec) }
}

fn ack_many(world: &mut World, acks: &[Ack]) -> Vec<Result<(), ErrorKind>> {
    let results = world.store.ack_many(acks).expect("acked");
    results.into_iter().map(|result| result.map_err(|error| error.kind())).collect()
}

fn many_jobs_are_acked_in_one_call(world: &mut World) {
    assert_eq!(ack_many(world, &[]), []);
    let jobs: Vec<NewJob> = (0..300).map(|number| new_job(["mail", "post"][number % 2], "1")).collect();
    world.store.push(&jobs).expect("pushed");
    let mut leases = claim_jobs(world, "mail", 100);
    leases.extend(claim_jobs(world, "post", 100));
    leases.extend(claim_jobs(world, "mail", 50));
    let before = world.store.now().expect("the time");
    let acks: Vec<Ack> = leases.iter().map(|lease| ack_of(lease, None)).collect();
    assert_eq!(ack_many(world, &acks), vec![Ok(()); 250]);
    assert_eq!(ack_many(world, &acks), vec![Err(ErrorKind::Lease); 250]);
    for lease in &leases {
        let done = read_job(world, lease.job.id);
        assert_eq!((done.state, done.lease_until, done.attempts, done.result), (State::Done, None, 1, None));
        assert!(done.finished_at.expect("an end") >= before);
    }
    let counts = world.store.queues().expect("queues").iter().map(|queue| queue.counts).collect::<Vec<_>>();
    assert_eq!(counts, [[0, 0, 150, 0, 0], [50, 0, 100, 0, 0]]);
}

fn a_refused_ack_does_not_affect_the_others(world: &mut World) {
    let jobs: Vec<NewJob> =
        (0..5).map(|number| job_with_key(["mail", "post"][number % 2], &number.to_string())).collect();
    world.store.push(&jobs).expect("pushed");
    let expired = world.store.claim("mail", "ann", Duration::ZERO, 1).expect("claimed").remove(0);
    wait_until_after(world, expired.job.lease_until.expect("an end"));
    let (others, mails) = (claim_jobs(world, "post", 2), claim_jobs(world, "mail", 3));
    assert_eq!((others.len(), mails.len()), (2, 3), "the one whose lease was over as well");
    let ack_with_token = |lease: &Lease, token: &str| Ack { token: token.to_owned(), ..ack_of(lease, Some(b"no")) };
    let (upper, blank) = (mails[1].token.to_uppercase(), format!("{} ", mails[1].token));
    let acks = [
        ack_of(&mails[0], Some(b"first")),
        ack_of(&expired, Some(b"late")),
        ack_with_token(&mails[1], &others[0].token),
        ack_with_token(&mails[1], ""),
        ack_with_token(&mails[1], "a\0b"),
        ack_with_token(&mails[1], &upper),
        ack_with_token(&mails[1], &blank),
        ack_with_token(&mails[1], "' OR 1=1 --"),
        ack_with_token(&mails[1], &"x".repeat(300)),
        Ack { id: Id::new(), ..ack_of(&mails[1], None) },
        ack_of(&others[1], Some(b"")),
        ack_of(&mails[0], Some(b"second")),
        ack_of(&mails[1], None),
    ];
    let refused = Err(ErrorKind::Lease);
    let expected = [
        Ok(()),
        refused,
        refused,
        refused,
        refused,
        refused,
        refused,
        refused,
        refused,
        Err(ErrorKind::Missing),
        Ok(()),
        refused,
        Ok(()),
    ];
    assert_eq!(ack_many(world, &acks), expected);
    assert_eq!(read_job(world, mails[0].job.id).result.as_deref(), Some(&b"first"[..]), "by the first of two");
    assert_eq!(read_job(world, mails[1].job.id).result, None);
    assert_eq!(read_job(world, others[1].job.id).result.as_deref(), Some(&b""[..]));
    assert_eq!(
        (read_job(world, others[0].job.id), read_job(world, mails[2].job.id)),
        (others[0].job.clone(), mails[2].job.clone())
    );
    // Keys of finished jobs are free again, and no others.
    let are_keys_free: Vec<bool> = (0..5)
        .map(|number| {
            let job = job_with_key(["mail", "post"][number % 2], &number.to_string());
            world.store.push(&[job]).expect("pushed")[0].is_new
        })
        .collect();
    let is_done = |job: &NewJob| [&mails[0], &mails[1], &others[1]].iter().any(|lease| lease.job.id == job.id);
    assert_eq!(are_keys_free, jobs.iter().map(is_done).collect::<Vec<bool>>());
}

fn results_of_many_acks_are_stored(world: &mut World) {
    let large = vec![7; 9_000_000];
    let results = [None, Some(&b""[..]), Some(b"\0\xff"), Some(&large), None, Some(&large), Some(b"{,\"}")];
    let jobs: Vec<NewJob> = results.iter().map(|_| new_job("mail", "1")).collect();
    world.store.push(&jobs).expect("pushed");
    let leases = claim_jobs(world, "mail", 10);
    let acks: Vec<Ack> = leases.iter().zip(results).map(|(lease, result)| ack_of(lease, result)).collect();
    assert_eq!(ack_many(world, &acks), vec![Ok(()); 7]);
    for (lease, result) in leases.iter().zip(results) {
        assert!(read_job(world, lease.job.id).result.as_deref() == result);
    }
}

fn wrong_tokens_are_refused(world: &mut World) {
    push_job(world, &new_job("mail", "1"));
    push_job(world, &new_job("mail", "2"));
    let (first, second) = (claim_job(world, "mail"), claim_job(world, "mail"));
    assert_ne!(first.token, second.token);
    let before = world.jobs(&JobFilter::default());
    let upper = first.token.to_uppercase();
    let blank = format!("{} ", first.token);
    for token in [&*second.token, "", " ", "' OR 1=1 --", &upper, &blank, "\u{1f980}", &"x".repeat(300)] {
        let id = first.job.id;
        assert_eq!(error_kind(world.store.ack(id, token, Some(b"no"))), ErrorKind::Lease, "{token}");
        assert_eq!(error_kind(world.store.nack(id, token, "no", None)), ErrorKind::Lease);
        assert_eq!(error_kind(world.store.extend(id, token, HOUR)), ErrorKind::Lease);
    }
    assert_eq!(world.jobs(&JobFilter::default()), before);
    world.store.ack(first.job.id, &first.token, None).expect("ack");
    world.store.ack(second.job.id, &second.token, None).expect("ack");
}

fn a_token_ends_with_its_lease(world: &mut World) {
    let id = push_job(world, &new_job("mail", "1"));
    for lease in [Duration::ZERO, Duration::from_millis(20)] {
        let lease = until("the lease ended", || world.store.claim("mail", "ann", lease, 1).expect("claimed").pop());
        wait_until_after(world, lease.job.lease_until.expect("an end"));
        let token = &lease.token;
        assert_eq!(error_kind(world.store.ack(id, token, None)), ErrorKind::Lease, "though no other has it");
        assert_eq!(error_kind(world.store.nack(id, token, "no", None)), ErrorKind::Lease);
        assert_eq!(error_kind(world.store.extend(id, token, HOUR)), ErrorKind::Lease);
    }
    assert_eq!(claim_job(world, "mail").job.attempts, 3);
}

fn a_job_with_an_ended_lease_is_claimed_by_another_worker(world: &mut World) {
    let mut other = world.open();
    let id = push_job(world, &job_with_key("mail", "k"));
    let first = other.claim("mail", "bob", Duration::from_millis(30), 1).expect("claimed").remove(0);
    let second = until("the lease ended", || world.store.claim("mail", "ann", HOUR, 1).expect("claimed").pop());
    assert_eq!((second.job.id, second.job.attempts, second.job.worker.as_deref()), (id, 2, Some("ann")));
    assert!(second.job.error.is_some(), "it says that a lease ended");
    let granted = second.job.lease_until.expect("an end") - HOUR.as_millis() as i64;
    assert!(granted > first.job.lease_until.expect("an end"), "not before the first one ended");
    assert_eq!(error_kind(other.ack(id, &first.token, None)), ErrorKind::Lease);
    assert_eq!(read_job(world, id), second.job);
    world.store.ack(id, &second.token, None).expect("ack");
}

fn a_job_whose_leases_end_too_often_is_dead(world: &mut World) {
    let id = push_job(world, &NewJob { max_attempts: Some(2), ..new_job("mail", "1") });
    for attempt in 1..=2 {
        let lease = world.store.claim("mail", "ann", Duration::ZERO, 1).expect("claimed").remove(0);
        assert_eq!(lease.job.attempts, attempt);
        wait_until_after(world, lease.job.lease_until.expect("an end"));
    }
    assert_eq!(claim_jobs(world, "mail", 1), []);
    let dead = read_job(world, id);
    assert_eq!((dead.state, dead.attempts, dead.lease_until), (State::Dead, 2, None));
    assert!(dead.finished_at.is_some() && dead.error.is_some());
}

/// There are more ended leases than one check handles.
fn many_ended_leases_are_claimed_again(world: &mut World) {
    let jobs: Vec<NewJob> = (0..250).map(|number| new_job("mail", &number.to_string())).collect();
    world.store.push(&jobs).expect("pushed");
    let leases = world.store.claim("mail", "ann", Duration::ZERO, 250).expect("claimed");
    wait_until_after(world, leases[249].job.lease_until.expect("an end"));
    let mut reclaimed = Vec::new();
    while reclaimed.len() < 250 {
        let next_leases = claim_jobs(world, "mail", 250);
        assert!(!next_leases.is_empty(), "{} of 250 are there", reclaimed.len());
        reclaimed.extend(next_leases.into_iter().map(|lease| lease.job.id));
    }
    reclaimed.sort_unstable();
    assert_eq!(reclaimed, jobs.iter().map(|job| job.id).collect::<Vec<Id>>());
}

fn ended_leases_are_claimed_in_order_with_ready_jobs(world: &mut World) {
    let of = |priority, max_attempts| NewJob { priority, max_attempts: Some(max_attempts), ..new_job("mail", "1") };
    let first = [of(3, 2), of(1, 2), of(2, 1)];
    world.store.push(&first).expect("pushed");
    let leases = world.store.claim("mail", "ann", Duration::ZERO, 10).expect("claimed");
    wait_until_after(world, leases[2].job.lease_until.expect("an end"));
    let ready = [of(2, 1), of(0, 1), of(1, 1)];
    world.store.push(&ready).expect("pushed");
    let attempts: Vec<(Id, u32)> =
        claim_jobs(world, "mail", 10).iter().map(|lease| (lease.job.id, lease.job.attempts)).collect();
    let expected = [(&first[0], 2), (&ready[0], 1), (&first[1], 2), (&ready[2], 1), (&ready[1], 1)];
    assert_eq!(attempts, expected.map(|(job, attempt)| (job.id, attempt)));
    assert_eq!(read_job(world, first[2].id).state, State::Dead, "it was tried once, and no more was allowed");
}

fn an_ended_lease_is_claimed_again_in_a_busy_queue(world: &mut World) {
    let late = push_job(world, &new_job("mail", "1"));
    let lease = world.store.claim("mail", "ann", Duration::ZERO, 1).expect("claimed").remove(0);
    wait_until_after(world, lease.job.lease_until.expect("an end"));
    until("it is handed out once more", || {
        world.store.push(&[new_job("mail", "2"), new_job("mail", "3")]).expect("pushed");
        let lease = claim_job(world, "mail");
        world.store.ack(lease.job.id, &lease.token, None).expect("ack");
        (lease.job.id == late).then_some(())
    });
}

/// Another program may have written such a job.
fn a_lease_without_an_end_counts_as_ended(world: &mut World) {
    let (first, second) = (new_job("mail", "1"), NewJob { max_attempts: Some(1), ..job_with_key("mail", "k") });
    world.store.push(&[first.clone(), second.clone()]).expect("pushed");
    let values = [("state", Cell::Text("leased")), ("attempts", Cell::Int(1)), ("token", Cell::Text("mine"))];
    world.change("icecore_jobs", &values, &[]);
    assert_eq!(error_kind(world.store.ack(first.id, "mine", None)), ErrorKind::Lease);
    let lease = claim_job(world, "mail");
    assert_eq!((lease.job.id, lease.job.attempts), (first.id, 2));
    assert_eq!(claim_jobs(world, "mail", 1), []);
    assert_eq!(read_job(world, second.id).state, State::Dead);
    push_job(world, &job_with_key("mail", "k"));
}

/// This is true even if the leases end before the claim does.
fn one_claim_hands_out_no_job_twice(world: &mut World) {
    for round in 0..10 {
        let queue = format!("mail {round}");
        let jobs: Vec<NewJob> = (0..40).map(|_| NewJob { max_attempts: Some(2), ..new_job(&queue, "1") }).collect();
        world.store.push(&jobs).expect("pushed");
        let first = world.store.claim(&queue, "ann", Duration::ZERO, 1).expect("claimed").remove(0);
        wait_until_after(world, first.job.lease_until.expect("an end"));
        let rest = world.store.claim(&queue, "ann", Duration::ZERO, 100).expect("claimed");
        let attempts: Vec<(Id, u32)> = rest.iter().map(|lease| (lease.job.id, lease.job.attempts)).collect();
        let expected: Vec<(Id, u32)> = jobs.iter().map(|job| (job.id, 1 + u32::from(job.id == first.job.id))).collect();
        assert_eq!(attempts, expected);
    }
}

fn a_lease_is_extended(world: &mut World) {
    let id = push_job(world, &new_job("mail", "1"));
    let lease = world.store.claim("mail", "ann", MINUTE, 1).expect("claimed").remove(0);
    let before = world.store.now().expect("the time");
    let end = world.store.extend(id, &lease.token, HOUR).expect("extended");
    assert_eq!(read_job(world, id).lease_until, Some(end));
    assert!(end >= before + HOUR.as_millis() as i64);
    assert_eq!(read_job(world, id).attempts, 1);
    // A lease may also be shortened, so that others get the job sooner.
    let end = world.store.extend(id, &lease.token, Duration::ZERO).expect("extended");
    wait_until_after(world, end);
    assert_eq!(claim_job(world, "mail").job.attempts, 2);
}

/// Lets the next attempt of a job fail. Returns for how many milliseconds the job then waits.
fn fail_and_measure_wait(world: &mut World, id: Id) -> i64 {
    let before = world.store.now().expect("the time");
    let lease = claim_job(world, "mail");
    assert_eq!(world.store.nack(id, &lease.token, "no", None).expect("nack"), State::Ready);
    let after = world.store.now().expect("the time");
    let run_at = read_job(world, id).run_at;
    // Its time is set back, so that the test need not wait for the next attempt.
    world.change("icecore_jobs", &[("run_at", Cell::Column("queued_at"))], &[]);
    // The wait began between `before` and `after`, so it is at most this long.
    assert!(after >= before);
    run_at - before
}

fn a_failed_job_waits_longer_each_time(world: &mut World) {
    let hour = HOUR.as_millis() as i64;
    let day = 24 * hour;
    let settings = QueueSettings { backoff: Some(HOUR), ..QueueSettings::default() };
    world.store.configure("mail", &settings).expect("configured");
    let id = push_job(world, &NewJob { max_attempts: Some(100), ..new_job("mail", "1") });
    for expected in [hour, 2 * hour, 4 * hour, 8 * hour, 16 * hour, day, day, day] {
        let waited = fail_and_measure_wait(world, id);
        assert!((expected..expected + hour / 2).contains(&waited), "{waited} for {expected}");
    }
    // The wait has a maximum after many attempts, even if the first one was short.
    let settings = QueueSettings { backoff: Some(Duration::from_millis(1)), ..QueueSettings::default() };
    world.store.configure("mail", &settings).expect("configured");
    let values = [("attempts", Cell::Int(4_000_000_000)), ("max_attempts", Cell::Int(4_294_967_295))];
    world.change("icecore_jobs", &values, &[]);
    let waited = fail_and_measure_wait(world, id);
    assert!(waited > 1_000 * 1_000 && waited <= day + hour, "{waited}");
    // A backoff of zero means no wait.
    let settings = QueueSettings { backoff: Some(Duration::ZERO), ..QueueSettings::default() };
    world.store.configure("mail", &settings).expect("configured");
    assert!(fail_and_measure_wait(world, id) < hour);
}

fn a_failed_job_waits_for_the_given_delay(world: &mut World) {
    let id = push_job(world, &new_job("mail", "1"));
    let lease = claim_job(world, "mail");
    let before = world.store.now().expect("the time");
    world.store.nack(id, &lease.token, "later", Some(HOUR)).expect("nack");
    let job = read_job(world, id);
    assert!(job.run_at >= before + HOUR.as_millis() as i64 && job.run_at < before + 2 * HOUR.as_millis() as i64);
    assert_eq!((job.state, job.lease_until, job.finished_at), (State::Ready, None, None));
    assert_eq!(claim_jobs(world, "mail", 1), []);
    let id = push_job(world, &new_job("post", "1"));
    let lease = claim_job(world, "post");
    world.store.nack(id, &lease.token, "soon", Some(Duration::from_millis(30))).expect("nack");
    assert_eq!(until("its time comes", || claim_jobs(world, "post", 1).pop()).job.attempts, 2);
}

fn the_error_of_a_failed_job_is_kept(world: &mut World) {
    let id = push_job(world, &NewJob { max_attempts: Some(100), ..new_job("mail", "1") });
    for error in ["", "no mail\nno post", "it's \"so\" \\ 🦀", &"long ".repeat(100_000)] {
        let lease = claim_job(world, "mail");
        world.store.nack(id, &lease.token, error, Some(Duration::ZERO)).expect("nack");
        assert_eq!(read_job(world, id).error.as_deref(), Some(error));
        assert_eq!(read_job(world, id).worker.as_deref(), Some("worker"));
    }
    let lease = claim_job(world, "mail");
    world.store.nack(id, &lease.token, "with\0NUL", Some(Duration::ZERO)).expect("nack");
    assert!(read_job(world, id).error.is_some_and(|error| error.starts_with("with")));
    let lease = claim_job(world, "mail");
    world.store.ack(id, &lease.token, None).expect("ack");
    assert_eq!(read_job(world, id).error, None, "it was done after all");
}

fn a_job_is_tried_max_attempts_times(world: &mut World) {
    // 0 means 1, because every job is tried at least once.
    for (given, tried) in [(Some(0), 1), (Some(1), 1), (Some(3), 3), (None, 20)] {
        let id = push_job(world, &NewJob { max_attempts: given, ..new_job("mail", "1") });
        for attempt in 1..=tried {
            let lease = claim_job(world, "mail");
            assert_eq!((lease.job.attempts, lease.job.max_attempts), (attempt, tried));
            let state = world.store.nack(id, &lease.token, "no", Some(Duration::ZERO)).expect("nack");
            assert_eq!(state, if attempt == tried { State::Dead } else { State::Ready });
        }
        assert_eq!(claim_jobs(world, "mail", 1), []);
        let dead = read_job(world, id);
        assert_eq!((dead.state, dead.lease_until, dead.error.as_deref()), (State::Dead, None, Some("no")));
        assert!(dead.finished_at.is_some());
    }
}

fn all_dead_jobs_are_redriven(world: &mut World) {
    let dead: Vec<Id> = (0..5).map(|_| push_dead_job(world, &new_job("mail", "1"))).collect();
    let other = push_dead_job(world, &new_job("post", "1"));
    push_job(world, &new_job("mail", "2"));
    assert_eq!(world.store.redrive("mail", None, "ann").expect("redrive"), 5);
    assert_eq!(world.store.redrive("mail", None, "ann").expect("redrive"), 0);
    for id in &dead {
        let job = read_job(world, *id);
        assert_eq!((job.state, job.attempts, job.finished_at), (State::Ready, 0, None));
    }
    assert_eq!(read_job(world, other).state, State::Dead);
    assert_eq!(claim_jobs(world, "mail", 10).len(), 6);
    let audit_entries = world.select("icecore_audit", &["who", "what", "subject", "affected"], &[]);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(audit_entries[0], [some("ann"), some("redrive"), some("mail"), some("5")]);
}

fn some_dead_jobs_are_redriven(world: &mut World) {
    let dead: Vec<Id> = (0..4).map(|_| push_dead_job(world, &new_job("mail", "1"))).collect();
    let other = push_dead_job(world, &new_job("post", "1"));
    let ready = push_job(world, &new_job("mail", "2"));
    let before = read_job(world, ready);
    let ids = [dead[1], other, Id::new(), ready, dead[3], dead[1]];
    assert_eq!(world.store.redrive("mail", Some(&ids), "ann").expect("redrive"), 2);
    let states: Vec<State> = dead.iter().map(|id| read_job(world, *id).state).collect();
    assert_eq!(states, [State::Dead, State::Ready, State::Dead, State::Ready]);
    assert_eq!((read_job(world, other).state, read_job(world, ready)), (State::Dead, before));
}

fn a_delayed_job_can_run_at_once(world: &mut World) {
    let delayed = push_job(world, &NewJob { delay: HOUR, ..new_job("mail", "1") });
    let failed = push_job(world, &new_job("mail", "2"));
    let lease = claim_job(world, "mail");
    world.store.nack(failed, &lease.token, "refused", Some(HOUR)).expect("nack");
    assert_eq!(world.store.redrive("mail", None, "ann").expect("redrive"), 0, "only dead jobs of a whole queue");
    assert_eq!(world.store.redrive("post", Some(&[delayed]), "ann").expect("redrive"), 0, "the job of another queue");
    assert_eq!(world.store.redrive("mail", Some(&[delayed, failed, delayed]), "ann").expect("redrive"), 2);
    assert_eq!((read_job(world, failed).state, read_job(world, failed).attempts), (State::Ready, 1));
    assert_eq!(claim_jobs(world, "mail", 10).len(), 2);
}

fn a_redriven_job_gets_its_key_back(world: &mut World) {
    let dead = push_dead_job(world, &job_with_key("mail", "k"));
    assert_eq!(world.store.redrive("mail", None, "ann").expect("redrive"), 1);
    let pushed = world.store.push(&[job_with_key("mail", "k")]).expect("pushed");
    assert_eq!(pushed, [Pushed { id: dead, is_new: false }], "it is unfinished, and has the key");
    let lease = claim_job(world, "mail");
    world.store.ack(dead, &lease.token, None).expect("ack");
    push_job(world, &job_with_key("mail", "k"));
}

fn a_redriven_job_whose_key_is_taken_has_none(world: &mut World) {
    let (first, second) =
        (push_dead_job(world, &job_with_key("mail", "k")), push_dead_job(world, &job_with_key("mail", "k")));
    assert_eq!(world.store.redrive("mail", None, "ann").expect("redrive"), 2);
    let holder = [Pushed { id: first, is_new: false }];
    assert_eq!(world.store.push(&[job_with_key("mail", "k")]).expect("pushed"), holder);
    let leases = claim_jobs(world, "mail", 2);
    let of = |id| leases.iter().find(|lease| lease.job.id == id).expect("claimed");
    // The end of the job without the key does not free the key of the other job.
    world.store.ack(second, &of(second).token, None).expect("ack");
    assert_eq!(world.store.push(&[job_with_key("mail", "k")]).expect("pushed"), holder);
    world.store.ack(first, &of(first).token, None).expect("ack");
    let live = push_job(world, &job_with_key("mail", "k"));
    let third = push_dead_job(world, &job_with_key("mail", "l"));
    push_job(world, &job_with_key("mail", "l"));
    assert_eq!(world.store.redrive("mail", Some(&[third]), "ann").expect("redrive"), 1);
    assert_eq!(world.store.push(&[job_with_key("mail", "k")]).expect("pushed")[0].id, live);
    assert_eq!(claim_jobs(world, "mail", 10).len(), 3);
}

fn a_job_is_replayed(world: &mut World) {
    let done = push_job(
        world,
        &NewJob { priority: 7, max_attempts: Some(3), delay: Duration::from_millis(1), ..new_job("mail", "[1]") },
    );
    let lease = until("its time comes", || claim_jobs(world, "mail", 1).pop());
    world.store.ack(done, &lease.token, Some(b"well")).expect("ack");
    let dead = push_dead_job(world, &new_job("post", "2"));
    let ready = push_job(world, &new_job("ready", "3"));
    for id in [done, dead, ready] {
        let before = read_job(world, id);
        let replay_id = world.store.replay(id, "ann").expect("replayed");
        assert_eq!(read_job(world, id), before, "the first stays as it was");
        let new = read_job(world, replay_id);
        assert_eq!((new.replay_of, new.state, new.attempts), (Some(id), State::Ready, 0));
        assert_eq!((new.queue, new.priority, new.max_attempts), (before.queue, before.priority, before.max_attempts));
        assert_eq!(
            (new.bytes, new.format, new.json, new.checksum),
            (before.bytes, before.format, before.json, before.checksum)
        );
        assert_eq!((new.result, new.error, new.finished_at), (None, None, None));
        assert!(new.sequence > before.sequence && new.queued_at >= before.queued_at);
    }
    assert_eq!(claim_jobs(world, "mail", 10).len(), 1);
    assert_eq!(error_kind(world.store.replay(Id::new(), "ann")), ErrorKind::Missing);
}

fn a_replay_has_no_key(world: &mut World) {
    let first = push_job(world, &job_with_key("mail", "k"));
    let second = world.store.replay(first, "ann").expect("replayed");
    assert_eq!(read_job(world, second).unique_key, None);
    assert_eq!(world.store.push(&[job_with_key("mail", "k")]).expect("pushed")[0].id, first);
    assert_eq!(claim_jobs(world, "mail", 10).len(), 2);
}

fn a_paused_queue_hands_out_nothing(world: &mut World) {
    let id = push_job(world, &new_job("mail", "1"));
    push_job(world, &new_job("mail", "2"));
    push_job(world, &new_job("post", "1"));
    let lease = claim_job(world, "mail");
    world.store.pause("mail", true, "ann").expect("paused");
    let since = world.store.queues().expect("queues")[0].paused_at.expect("paused");
    wait_until_after(world, since);
    world.store.pause("mail", true, "bob").expect("again");
    assert_eq!(world.store.queues().expect("queues")[0].paused_at, Some(since), "since the first time");
    let mut other = world.open();
    assert_eq!(other.claim("mail", "bob", HOUR, 10).expect("claimed"), []);
    assert_eq!(claim_jobs(world, "post", 10).len(), 1);
    push_job(world, &new_job("mail", "3"));
    // The worker that has the job finishes it.
    world.store.extend(id, &lease.token, HOUR).expect("extended");
    world.store.ack(id, &lease.token, None).expect("ack");
    world.store.pause("mail", false, "ann").expect("resumed");
    world.store.pause("mail", false, "ann").expect("again");
    assert_eq!(world.store.queues().expect("queues")[0].paused_at, None);
    assert_eq!(other.claim("mail", "bob", HOUR, 10).expect("claimed").len(), 2);
    world.store.pause("unknown", true, "ann").expect("a queue needs no job");
    assert_eq!(world.store.queues().expect("queues").len(), 3);
}

fn a_queue_is_paused_between_claims(world: &mut World) {
    let jobs: Vec<NewJob> = (0..6).map(|_| new_job("mail", "1")).collect();
    world.store.push(&jobs).expect("pushed");
    let expired = world.store.claim("mail", "ann", Duration::ZERO, 1).expect("claimed").remove(0);
    wait_until_after(world, expired.job.lease_until.expect("an end"));
    let held = claim_jobs(world, "mail", 2);
    world.store.pause("mail", true, "ann").expect("paused");
    let mut other = world.open();
    for _ in 0..2 {
        assert_eq!(claim_jobs(world, "mail", 10), []);
        assert_eq!(other.claim("mail", "bob", HOUR, 10).expect("claimed"), []);
    }
    let acks: Vec<Ack> = held.iter().map(|lease| ack_of(lease, None)).collect();
    assert_eq!(ack_many(world, &acks), [Ok(()), Ok(())], "the worker with the lease ends the job");
    let mine = job_with_key("mail", "k");
    assert_eq!(error_kind(world.store.push_and_claim(&mine, "ann", HOUR)), ErrorKind::Paused);
    assert_eq!(world.store.job(mine.id).expect("asked"), None, "it is not stored either");
    world.store.pause("mail", false, "ann").expect("resumed");
    let reclaimed = other.claim("mail", "bob", HOUR, 10).expect("claimed");
    assert_eq!(reclaimed.len(), 4);
    assert!(world.store.push_and_claim(&mine, "ann", HOUR).expect("asked").is_some());
}

fn settings_of_a_queue_apply_to_new_jobs(world: &mut World) {
    let before = push_job(world, &new_job("mail", "1"));
    let set = |max_attempts, schema: Option<&str>| QueueSettings {
        max_attempts,
        schema: schema.map(str::to_owned),
        ..QueueSettings::default()
    };
    let text = r#"{"type": "array", "title": "'é🦀'"}"#;
    world.store.configure("mail", &set(Some(2), Some(text))).expect("configured");
    let after = push_job(world, &new_job("mail", "1"));
    let own = push_job(world, &NewJob { max_attempts: Some(5), ..new_job("mail", "1") });
    let other = push_job(world, &new_job("post", "1"));
    let max_jobs = [before, after, own, other].map(|id| read_job(world, id).max_attempts);
    assert_eq!(max_jobs, [20, 2, 5, 20]);
    assert_eq!(world.store.schema("mail").expect("asked").as_deref(), Some(text));
    // Settings that are not given stay.
    world.store.configure("mail", &QueueSettings::default()).expect("configured");
    assert_eq!(world.store.schema("mail").expect("asked").as_deref(), Some(text));
    world.store.configure("mail", &set(Some(0), None)).expect("configured");
    let id = push_job(world, &new_job("mail", "1"));
    assert_eq!(read_job(world, id).max_attempts, 1);
    world.store.configure("mail", &set(Some(u32::MAX), Some(" \n"))).expect("configured");
    assert_eq!(world.store.schema("mail").expect("asked"), None, "an empty one takes it away");
    let id = push_job(world, &new_job("mail", "1"));
    assert_eq!(read_job(world, id).max_attempts, u32::MAX);
    let long = format!("{{\"title\": \"{}\"}}", "x".repeat(200_000));
    world.store.configure("mail", &set(None, Some(&long))).expect("configured");
    let status = world.store.queues().expect("queues").remove(0);
    assert_eq!(status.schema.as_deref(), Some(&*long));
}

fn ended_jobs_are_removed(world: &mut World) {
    let done = push_job(world, &new_job("mail", "1"));
    let lease = claim_job(world, "mail");
    world.store.ack(done, &lease.token, None).expect("ack");
    let dead = push_dead_job(world, &new_job("post", "2"));
    let held = push_job(world, &new_job("mail", "3"));
    claim_job(world, "mail");
    let redriven = push_dead_job(world, &new_job("last", "4"));
    world.store.redrive("last", None, "ann").expect("redrive");
    let ended = [done, dead].map(|id| read_job(world, id).finished_at.expect("ended"));
    assert_eq!(world.store.remove_ended_jobs(ended[0].min(ended[1])).expect("forget"), 0, "before, not at");
    wait_until_after(world, ended[1]);
    let now = world.store.now().expect("the time");
    assert_eq!(world.store.remove_ended_jobs(now).expect("forget"), 2);
    assert_eq!(world.store.remove_ended_jobs(i64::MAX).expect("forget"), 0);
    let remaining: Vec<Id> = world.jobs(&JobFilter::default()).iter().map(|job| job.id).collect();
    assert_eq!(remaining, [held, redriven]);
    assert_eq!(world.store.job(done).expect("asked"), None);
    assert_eq!(error_kind(world.store.ack(done, &lease.token, None)), ErrorKind::Missing);
}

fn jobs_of_queues_are_counted_by_state(world: &mut World) {
    assert_eq!(world.store.queues().expect("queues"), []);
    for number in 0..10 {
        push_job(world, &new_job("mail", &number.to_string()));
    }
    let leases = claim_jobs(world, "mail", 6);
    for lease in &leases[..3] {
        world.store.ack(lease.job.id, &lease.token, None).expect("ack");
    }
    world.store.nack(leases[3].job.id, &leases[3].token, "no", Some(HOUR)).expect("nack");
    push_dead_job(world, &new_job("mail", "1"));
    push_job(world, &new_job("a", "1"));
    world.store.configure("set", &QueueSettings::default()).expect("configured");
    let queues = world.store.queues().expect("queues");
    let names: Vec<&str> = queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(names, ["a", "mail", "set"]);
    assert_eq!((queues[1].counts, queues[1].delayed), ([5, 2, 3, 1, 0], 1));
    assert_eq!((queues[2].counts, queues[2].delayed, queues[2].oldest), ([0; 5], 0, None));
}

fn the_age_of_the_oldest_ready_job_is_reported(world: &mut World) {
    let id = push_job(world, &new_job("mail", "1"));
    push_job(world, &NewJob { delay: HOUR, ..new_job("mail", "2") });
    let came = read_job(world, id).run_at;
    wait_until_after(world, came + 5);
    let before = world.store.now().expect("the time");
    let oldest = world.store.queues().expect("queues")[0].oldest.expect("one waits");
    let after = world.store.now().expect("the time");
    assert!((before - came..=after - came).contains(&oldest), "{oldest}");
    claim_job(world, "mail");
    assert_eq!(world.store.queues().expect("queues")[0].oldest, None, "the other waits for its time");
}

fn jobs_are_listed_by_queue_state_and_sequence(world: &mut World) {
    for number in 0..30 {
        push_job(world, &new_job(["mail", "post"][number % 2], &number.to_string()));
    }
    for lease in claim_jobs(world, "mail", 5) {
        world.store.ack(lease.job.id, &lease.token, None).expect("ack");
    }
    let all = world.jobs(&JobFilter::default());
    assert_eq!(all.len(), 30);
    assert!(all.is_sorted_by_key(|job| job.sequence));
    for queue in [None, Some("mail"), Some("post"), Some("none"), Some("")] {
        for state in [None, Some(State::Ready), Some(State::Leased), Some(State::Done), Some(State::Dead)] {
            for after in [0, all[10].sequence, all[29].sequence, i64::MAX, i64::MIN] {
                for max_jobs in [0, 1, 3, usize::MAX] {
                    for before in [None, Some(all[20].sequence), Some(i64::MAX), Some(i64::MIN)] {
                        let filter = JobFilter { queue: queue.map(str::to_owned), state, after, before };
                        let mut found = Vec::new();
                        let mut add = |job| {
                            found.push(job);
                            Ok(Flow::Continue)
                        };
                        world.store.jobs(&filter, max_jobs, &mut add).expect("listed");
                        let is_wanted = |job: &&Job| {
                            queue.is_none_or(|queue| job.queue == queue)
                                && state.is_none_or(|state| job.state == state)
                                && job.sequence > after
                                && before.is_none_or(|before| job.sequence < before)
                        };
                        let mut expected: Vec<Job> = all.iter().filter(is_wanted).cloned().collect();
                        if before.is_some() {
                            expected.reverse();
                        }
                        expected.truncate(max_jobs);
                        assert_eq!(found, expected, "{filter:?} {max_jobs}");
                    }
                }
            }
        }
    }
    let mut count = 0;
    let mut stop = |_| {
        count += 1;
        Ok(Flow::Stop)
    };
    world.store.jobs(&JobFilter::default(), 10, &mut stop).expect("stopped");
    assert_eq!(count, 1);
    let mut fail = |_| Err(icecore_store::Error::new(ErrorKind::Input, "enough"));
    assert_eq!(error_kind(world.store.jobs(&JobFilter::default(), 10, &mut fail)), ErrorKind::Input);
    push_job(world, &new_job("mail", "1"));
}

fn a_job_is_pushed_and_claimed_in_one_call(world: &mut World) {
    let new_job = job_with_key("mail", "k");
    let lease = world.store.push_and_claim(&new_job, "ann", HOUR).expect("asked").expect("it is ours");
    let held = read_job(world, new_job.id);
    assert_eq!(lease.job, held);
    assert_eq!((held.state, held.attempts, held.worker.as_deref()), (State::Leased, 1, Some("ann")));
    assert_eq!(claim_jobs(world, "mail", 1), []);
    assert_eq!(world.store.push_and_claim(&job_with_key("mail", "k"), "bob", HOUR).expect("asked"), None);
    world.store.nack(lease.job.id, &lease.token, "no", Some(Duration::ZERO)).expect("nack");
    let second_lease = claim_job(world, "mail");
    assert_eq!((second_lease.job.id, second_lease.job.attempts), (new_job.id, 2));
    world.store.ack(second_lease.job.id, &second_lease.token, None).expect("ack");
    // Others get the job if its worker is gone.
    let lease =
        world.store.push_and_claim(&job_with_key("mail", "k"), "ann", Duration::ZERO).expect("asked").expect("ours");
    wait_until_after(world, lease.job.lease_until.expect("an end"));
    assert_eq!(claim_job(world, "mail").job.id, lease.job.id);
}

fn unknown_ids_are_missing(world: &mut World) {
    let id = Id::new();
    assert_eq!(world.store.job(id).expect("asked"), None);
    assert_eq!(error_kind(world.store.ack(id, "token", None)), ErrorKind::Missing);
    assert_eq!(error_kind(world.store.nack(id, "token", "no", None)), ErrorKind::Missing);
    assert_eq!(error_kind(world.store.extend(id, "token", HOUR)), ErrorKind::Missing);
    assert_eq!(error_kind(world.store.replay(id, "ann")), ErrorKind::Missing);
    assert_eq!(world.jobs(&JobFilter::default()), []);
}

fn payloads_of_all_kinds_round_trip(world: &mut World) {
    let blobs: [&[u8]; 6] =
        [b"", b"\0", b"\xff\xfe\0\x01", b"a:1:{i:0;i:7;}", b"\x04\x08[\x06i\x06", "\"🦀\"".as_bytes()];
    for bytes in blobs {
        let new = describe::describe_job("mail", bytes.to_vec(), None);
        let id = push_job(world, &new);
        let lease = claim_job(world, "mail");
        assert_eq!((lease.job.id, &*lease.job.bytes), (id, bytes));
        assert_eq!(
            (&lease.job.format, &lease.job.json, &lease.job.problem),
            (&new.description.format, &new.description.json, &new.description.problem)
        );
    }
}

fn results_of_all_kinds_round_trip(world: &mut World) {
    let large = vec![7; 3_000_000];
    for result in [None, Some(&b""[..]), Some(b"\0\xff"), Some(&large)] {
        let id = push_job(world, &new_job("mail", "1"));
        let lease = claim_job(world, "mail");
        world.store.ack(id, &lease.token, result).expect("ack");
        assert_eq!(read_job(world, id).result.as_deref(), result);
    }
}

/// Inserts a job with the columns that a program must set if it has only SQL or a driver. This is a promise: other
/// programs depend on it.
fn insert_row(world: &World, id: &str, values: Cells<'_>) {
    let always =
        [("id", Cell::Text(id)), ("queue", Cell::Text("mail")), ("queued_at", Cell::Int(1)), ("run_at", Cell::Int(2))];
    world.insert("icecore_jobs", &[&always, values].concat());
}

fn jobs_inserted_by_plain_sql_are_claimed(world: &mut World) {
    let ids = [Id::new(), Id::new(), Id::new()];
    insert_row(world, &ids[0].to_string(), &[("bytes", Cell::Bytes(b"a:1:{i:0;i:7;}"))]);
    insert_row(world, &ids[1].to_string(), &[("bytes", Cell::Bytes(b"\xff\xff"))]);
    let values = [("priority", Cell::Int(-1)), ("base64", Cell::Text("BAhbBmkG")), ("format", Cell::Text("marshal"))];
    insert_row(world, &ids[2].to_string(), &values);
    let listed: Vec<Id> = world.jobs(&JobFilter::default()).iter().map(|job| job.id).collect();
    assert_eq!(listed, ids);
    let leases = claim_jobs(world, "mail", 10);
    assert_eq!(leases.iter().map(|lease| lease.job.id).collect::<Vec<Id>>(), ids);
    let job = &leases[0].job;
    assert_eq!((job.format.as_deref(), job.json.as_deref()), (Some("php"), Some("[7]")));
    assert_eq!((job.queued_at, job.run_at, job.attempts, job.max_attempts, job.priority), (1, 2, 1, 20, 0));
    assert_eq!(job.checksum, describe::compute_checksum(b"a:1:{i:0;i:7;}"));
    assert!(leases[1].job.problem.is_some() && leases[1].job.bytes == b"\xff\xff");
    assert_eq!((leases[2].job.json.as_deref(), &*leases[2].job.bytes), (Some("[1]"), &b"\x04\x08[\x06i\x06"[..]));
    world.store.ack(ids[0], &leases[0].token, None).expect("ack");
    world.store.nack(ids[1], &leases[1].token, "no", None).expect("nack");
    let replay_id = world.store.replay(ids[0], "ann").expect("replayed");
    assert_eq!(read_job(world, replay_id).format.as_deref(), Some("php"));
    assert_eq!(world.store.queues().expect("queues")[0].counts, [2, 1, 1, 0, 0]);
}

fn invalid_jobs_of_plain_sql_do_not_block_others(world: &mut World) {
    let good = Id::new();
    let upper = Id::new().to_string().to_uppercase();
    let bytes = ("bytes", Cell::Bytes(b"1"));
    insert_row(world, "no-id-at-all", &[bytes]);
    insert_row(world, "", &[bytes]);
    insert_row(world, &upper, &[bytes]);
    insert_row(world, &Id::new().to_string(), &[]);
    insert_row(world, &Id::new().to_string(), &[("base64", Cell::Text("***"))]);
    insert_row(world, &good.to_string(), &[bytes]);
    let ready = [("state", Cell::Text("ready")), ("attempts", Cell::Int(0))];
    for max_jobs in [1, 10] {
        let lease = claim_jobs(world, "mail", max_jobs).pop().expect("the one that makes sense");
        assert_eq!(lease.job.id, good);
        world.store.ack(good, &lease.token, None).expect("ack");
        world.change("icecore_jobs", &ready, &[("id", Cell::Text(&good.to_string()))]);
        world.change("icecore_jobs", &ready, &[("state", Cell::Text("dead"))]);
    }
    assert_eq!(claim_jobs(world, "mail", 10).len(), 1);
    // The others are dead and have an error.
    let dead = world.select("icecore_jobs", &["error"], &[("state", Cell::Text("dead"))]);
    assert_eq!(dead.len(), 5);
    assert!(dead.iter().all(|row| row[0].as_ref().is_some_and(|error| !error.is_empty())), "{dead:?}");
    assert_eq!(world.store.queues().expect("queues")[0].counts, [0, 1, 0, 5, 0]);
}

fn large_payloads_round_trip(world: &mut World) {
    let bytes: Vec<u8> = (0..20_000_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let description =
        icecore_store::BlobDescription { checksum: describe::compute_checksum(&bytes), ..Default::default() };
    push_job(world, &NewJob::new("mail", bytes.clone(), description));
    let lease = claim_job(world, "mail");
    assert!(lease.job.bytes == bytes);
    world.store.ack(lease.job.id, &lease.token, None).expect("ack");
}
