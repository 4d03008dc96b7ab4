//! Many clients at once on one database, each with its own connection.

use crate::common::{Cell, HOUR, World, backends, error_kind, patiently};
use icecore_store::{
    Ack, Error, ErrorKind, Flow, Id, JobFilter, Lease, NewJob, NewObject, NewSchedule, ObjectFilter, Pushed,
    QueueSettings, QueueStatus, Rate, State, Timing, describe, open,
};
use std::collections::{HashMap, HashSet};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

const THREADS: usize = 8;

fn new_job(queue: &str, payload: &str) -> NewJob {
    describe::describe_job(queue, payload.as_bytes().to_vec(), Some("json"))
}

/// Runs `body` on each database and prints its name.
fn on_each_database(name: &str, body: impl Fn(&mut World)) {
    for (backend, new_database) in backends() {
        println!("{backend}: {name}");
        body(&mut World::new(new_database()));
    }
}

#[test]
fn many_clients_open_a_fresh_database() {
    for (backend, new_database) in backends() {
        for round in 0..5 {
            let address = new_database();
            let start = Barrier::new(THREADS);
            let ids: Vec<Id> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS)
                    .map(|_| {
                        scope.spawn(|| {
                            start.wait();
                            let mut store =
                                open(&address).unwrap_or_else(|error| panic!("{backend}, round {round}: {error}"));
                            let job = new_job("mail", "1");
                            patiently(|| store.push(std::slice::from_ref(&job))).expect("pushed");
                            job.id
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            let mut world = World { store: open(&address).expect("opened"), address };
            let stored: HashSet<Id> = world.jobs(&JobFilter::default()).iter().map(|job| job.id).collect();
            assert_eq!(stored, ids.into_iter().collect());
        }
    }
}

#[test]
fn each_job_is_done_once() {
    const JOBS_PER_CLIENT: usize = 150;
    on_each_database("each job is done once", |world| {
        let (done, busy) = (AtomicUsize::new(0), AtomicU64::new(0));
        let start = Barrier::new(THREADS);
        let address = &world.address;
        let count_busy = |error: &Error| {
            assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
            busy.fetch_add(1, Ordering::Relaxed);
        };
        let worked: Vec<Vec<Id>> = std::thread::scope(|scope| {
            let work = |number: usize| {
                let mut store = open(address).expect("opened");
                let mut own_ids = Vec::new();
                start.wait();
                let mut pushed = 0;
                while pushed < JOBS_PER_CLIENT || done.load(Ordering::Relaxed) < JOBS_PER_CLIENT * THREADS {
                    if pushed < JOBS_PER_CLIENT {
                        // One or several at once, in two queues.
                        let count = (1 + pushed % 3).min(JOBS_PER_CLIENT - pushed);
                        let jobs: Vec<NewJob> = (0..count)
                            .map(|_| NewJob { priority: (pushed % 2) as i32, ..new_job(["a", "b"][pushed % 2], "1") })
                            .collect();
                        patiently(|| store.push(&jobs).inspect_err(count_busy)).expect("pushed");
                        pushed += count;
                    }
                    let queue = ["a", "b"][(pushed + number + own_ids.len()) % 2];
                    let worker = format!("worker {number}");
                    // Repeating the claim is safe: a failed claim hands nothing out.
                    let leases =
                        patiently(|| store.claim(queue, &worker, HOUR, 1 + number % 4).inspect_err(count_busy))
                            .expect("claimed");
                    for lease in leases {
                        assert_eq!((lease.job.attempts, lease.job.state), (1, State::Leased));
                        patiently(|| store.ack(lease.job.id, &lease.token, None).inspect_err(count_busy)).expect("ack");
                        own_ids.push(lease.job.id);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                    std::thread::yield_now();
                }
                own_ids
            };
            let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let all: Vec<Id> = worked.concat();
        let different: HashSet<Id> = all.iter().copied().collect();
        assert_eq!(
            (all.len(), different.len()),
            (JOBS_PER_CLIENT * THREADS, JOBS_PER_CLIENT * THREADS),
            "each one once"
        );
        let jobs = world.jobs(&JobFilter::default());
        assert!(jobs.iter().all(|job| job.state == State::Done && job.attempts == 1));
        assert_eq!(jobs.len(), all.len());
        println!(
            "  {} jobs by {:?}, {} times busy",
            all.len(),
            worked.iter().map(Vec::len).collect::<Vec<_>>(),
            busy.into_inner()
        );
    });
}

#[test]
fn one_of_many_clients_gets_a_unique_key() {
    on_each_database("one of many gets a unique key", |world| {
        for round in 0..10 {
            let start = Barrier::new(THREADS);
            let address = &world.address;
            let pushed: Vec<Pushed> = std::thread::scope(|scope| {
                let push = || {
                    let mut store = open(address).expect("opened");
                    let job = NewJob { unique_key: Some(format!("key {round}")), ..new_job("mail", "1") };
                    start.wait();
                    patiently(|| store.push(std::slice::from_ref(&job))).expect("pushed")[0]
                };
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(push)).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            assert_eq!(pushed.iter().filter(|pushed| pushed.is_new).count(), 1);
            assert!(pushed.iter().all(|one| one.id == pushed[0].id), "all pushes return the same job");
        }
    });
}

#[test]
fn one_of_many_clients_gets_the_key_of_an_object() {
    on_each_database("one of many gets a key of objects", |world| {
        for round in 0..10 {
            let start = Barrier::new(THREADS);
            let address = &world.address;
            let put: Vec<bool> = std::thread::scope(|scope| {
                let put = || {
                    let mut store = open(address).expect("opened");
                    let object = NewObject {
                        key: Some(format!("key {round}")),
                        ..describe::describe_object(b"1".to_vec(), None)
                    };
                    start.wait();
                    match patiently(|| store.put(std::slice::from_ref(&object))) {
                        Ok(_) => true,
                        answer => {
                            assert_eq!(error_kind(answer), ErrorKind::Taken);
                            false
                        }
                    }
                };
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(put)).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            assert_eq!(put.iter().filter(|is_mine| **is_mine).count(), 1);
        }
    });
}

#[test]
fn many_clients_redrive_each_dead_job_once() {
    on_each_database("dead jobs are redriven once", |world| {
        let jobs: Vec<NewJob> = (0..40)
            .map(|number| NewJob {
                max_attempts: Some(1),
                unique_key: Some(number.to_string()),
                ..new_job("mail", "1")
            })
            .collect();
        world.store.push(&jobs).expect("pushed");
        for lease in world.store.claim("mail", "ann", HOUR, 40).expect("claimed") {
            world.store.nack(lease.job.id, &lease.token, "no", None).expect("nack");
        }
        let start = Barrier::new(THREADS);
        let address = &world.address;
        let count: u64 = std::thread::scope(|scope| {
            let redrive = |number: usize| {
                let mut store = open(address).expect("opened");
                start.wait();
                if number % 2 == 1 {
                    // At the same time, others take the keys.
                    for key in 0..40 {
                        let job = NewJob { unique_key: Some(key.to_string()), ..new_job("mail", "2") };
                        patiently(|| store.push(std::slice::from_ref(&job))).expect("pushed");
                    }
                    return 0;
                }
                patiently(|| store.redrive("mail", None, "ann")).expect("redriven")
            };
            let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || redrive(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(count, 40);
        let keys = world.select("icecore_jobs", &["live_key"], &[]);
        let keys: Vec<String> = keys.into_iter().filter_map(|mut row| row.remove(0)).collect();
        assert_eq!((keys.len(), keys.iter().collect::<HashSet<_>>().len()), (40, 40));
    });
}

/// Groups of all sizes, keys that several clients push, leases that end in between.
#[test]
fn many_clients_push_claim_and_ack_in_groups() {
    const JOBS_PER_CLIENT: usize = 200;
    on_each_database("groups at once", |world| {
        let (done, lost, busy) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let (unfinished, start) = (AtomicUsize::new(THREADS), Barrier::new(THREADS));
        let address = &world.address;
        let count_busy = |error: &Error| {
            assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
            busy.fetch_add(1, Ordering::Relaxed);
        };
        let worked: Vec<Vec<Id>> = std::thread::scope(|scope| {
            let work = |number: usize| {
                let mut store = open(address).expect("opened");
                let (mut own_ids, mut pushed, mut round) = (Vec::new(), 0, 0);
                start.wait();
                loop {
                    if pushed < JOBS_PER_CLIENT {
                        let jobs: Vec<NewJob> = (pushed..JOBS_PER_CLIENT.min(pushed + 1 + round * 13 % 40))
                            .map(|count| NewJob {
                                max_attempts: Some(1_000_000),
                                priority: (count % 3) as i32,
                                // All clients push some of these, in different orders.
                                unique_key: (count % 10 == 0).then(|| ((count * number) % JOBS_PER_CLIENT).to_string()),
                                ..new_job(["a", "b"][count % 2], "1")
                            })
                            .collect();
                        patiently(|| store.push(&jobs).inspect_err(count_busy)).expect("pushed");
                        pushed += jobs.len();
                        if pushed == JOBS_PER_CLIENT {
                            unfinished.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                    let are_all_pushed = unfinished.load(Ordering::SeqCst) == 0;
                    let (queue, max_jobs) = (["a", "b"][round % 2], [1, 9, 70][round % 3]);
                    let lease = if round % 5 == 0 { Duration::from_millis(2) } else { HOUR };
                    let worker = format!("worker {number}");
                    let leases = patiently(|| store.claim(queue, &worker, lease, max_jobs).inspect_err(count_busy))
                        .expect("claimed");
                    round += 1;
                    if leases.is_empty() && are_all_pushed {
                        let all = patiently(|| store.queues()).expect("queues");
                        let is_finished = |queue: &QueueStatus| {
                            queue.count_in_state(State::Ready) + queue.count_in_state(State::Leased) == 0
                        };
                        if all.iter().all(is_finished) {
                            return own_ids;
                        }
                    }
                    let acks: Vec<Ack> = leases
                        .into_iter()
                        .map(|lease| Ack { id: lease.job.id, token: lease.token, result: None })
                        .collect();
                    let results = patiently(|| store.ack_many(&acks).inspect_err(count_busy)).expect("acked");
                    for (ack, results) in acks.iter().zip(results) {
                        match results {
                            Ok(()) => own_ids.push(ack.id),
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::Lease, "{error}");
                                lost.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                    done.fetch_add(acks.len(), Ordering::Relaxed);
                }
            };
            let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let all: Vec<Id> = worked.concat();
        let different: HashSet<Id> = all.iter().copied().collect();
        let jobs = world.jobs(&JobFilter::default());
        assert_eq!((all.len(), different.len()), (jobs.len(), jobs.len()), "each one is done once");
        assert!(jobs.iter().all(|job| job.state == State::Done));
        println!("  {} jobs, {lost:?} leases lost, {busy:?} times busy", jobs.len());
    });
}

/// The leases are very short, so all clients take each other's jobs.
#[test]
fn short_leases_never_overlap() {
    on_each_database("short leases never overlap", |world| {
        let jobs: Vec<NewJob> =
            (0..20).map(|_| NewJob { max_attempts: Some(1_000_000), ..new_job("mail", "1") }).collect();
        world.store.push(&jobs).expect("pushed");
        let address = &world.address;
        let lease = Duration::from_millis(3);
        let grants: Vec<(Id, u32, i64)> = std::thread::scope(|scope| {
            let work = |number: usize| {
                let mut store = open(address).expect("opened");
                let mut own_ids = Vec::new();
                for _ in 0..60 {
                    let leases =
                        patiently(|| store.claim("mail", &format!("worker {number}"), lease, 3)).expect("claimed");
                    own_ids.extend(
                        leases
                            .into_iter()
                            .map(|lease| (lease.job.id, lease.job.attempts, lease.job.lease_until.expect("an end"))),
                    );
                }
                own_ids
            };
            let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        let mut by_job: HashMap<Id, Vec<(u32, i64)>> = HashMap::new();
        for (id, attempt, end) in &grants {
            by_job.entry(*id).or_default().push((*attempt, *end));
        }
        for (id, mut grants) in by_job {
            grants.sort_unstable();
            for pair in grants.windows(2) {
                let [(attempt, end), (next_attempt, next_end)] = [pair[0], pair[1]];
                assert!(attempt < next_attempt, "{id}: attempt {attempt} twice");
                let next_start = next_end - lease.as_millis() as i64;
                assert!(next_start > end, "{id}: {pair:?}");
            }
        }
        println!("  {} leases", grants.len());
        assert!(grants.len() >= 20);
    });
}

#[test]
fn many_clients_put_read_and_index_objects() {
    on_each_database("objects at once", |world| {
        const OBJECTS_PER_CLIENT: usize = 60;
        let start = Barrier::new(THREADS);
        let address = &world.address;
        std::thread::scope(|scope| {
            for number in 0..THREADS {
                let start = &start;
                scope.spawn(move || {
                    let mut store = open(address).expect("opened");
                    start.wait();
                    for count in 0..OBJECTS_PER_CLIENT {
                        match number {
                            0 => patiently(|| store.index("$.k")).expect("an index"),
                            1 => {
                                let mut last = 0;
                                let mut rising = |object: icecore_store::Object| {
                                    assert!(
                                        object.sequence > last
                                            && object.checksum == describe::compute_checksum(&object.bytes)
                                    );
                                    last = object.sequence;
                                    Ok(Flow::Continue)
                                };
                                store.objects(0, usize::MAX, &ObjectFilter::default(), &mut rising).expect("a walk");
                            }
                            _ => {
                                let text = format!("{{\"k\":{}}}", count % 2);
                                let object = describe::describe_object(text.into_bytes(), Some("json"));
                                patiently(|| store.put(std::slice::from_ref(&object))).expect("put");
                            }
                        }
                    }
                });
            }
        });
        world.store.index("$.k").expect("whole");
        let mut count = |path: &str| {
            let mut count = 0;
            let filter =
                ObjectFilter { path_value: Some((path.to_owned(), "1".to_owned())), ..ObjectFilter::default() };
            let mut count_object = |_| {
                count += 1;
                Ok(Flow::Continue)
            };
            world.store.objects(0, usize::MAX, &filter, &mut count_object).expect("found");
            count
        };
        // The second form of the same path has no index.
        let (with_index, without_index) = (count("$.k"), count("$[\"k\"]"));
        assert_eq!(
            (with_index, without_index),
            ((THREADS - 2) * OBJECTS_PER_CLIENT / 2, (THREADS - 2) * OBJECTS_PER_CLIENT / 2)
        );
    });
}

#[test]
fn an_extension_returns_the_end_of_its_own_lease() {
    const ROUNDS: usize = 150;
    on_each_database("an extension tells its own end", |world| {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _end = StopOnDrop(&is_over);
            for _ in 0..THREADS / 2 {
                let mut store = world.open();
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::SeqCst) {
                        for lease in patiently(|| store.claim("mail", "second", HOUR, 1)).expect("claimed") {
                            patiently(|| store.ack(lease.job.id, &lease.token, None)).expect("done");
                        }
                    }
                });
            }
            for _ in 0..ROUNDS {
                let job = NewJob { max_attempts: Some(1_000_000), ..new_job("mail", "1") };
                let store = &mut world.store;
                let lease = patiently(|| store.push_and_claim(&job, "first", Duration::from_millis(3)));
                let Lease { job, token } = lease.expect("claimed").expect("a new job");
                let mut end = job.lease_until;
                // With leases that end at once, others can get the job between any two statements.
                while let Some(until) = end {
                    let now = patiently(|| store.now()).expect("the time");
                    assert!(
                        until < now + 60_000,
                        "the lease of another worker was reported: it ends at {until}, and now is {now}"
                    );
                    end = match patiently(|| store.extend(job.id, &token, Duration::ZERO)) {
                        Ok(until) => Some(until),
                        Err(error) if error.kind() == ErrorKind::Lease => None,
                        Err(error) => panic!("{error}"),
                    };
                }
            }
        });
    });
}

/// Stops the threads that run until this flag is set, also if a check fails.
struct StopOnDrop<'e>(&'e AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A queue with limits never has more leases than allowed, by the clock of the database, and never
/// hands out more than its rate in any period.
#[test]
fn limits_apply_with_many_workers() {
    const JOBS: usize = 120;
    const CONCURRENCY: usize = 3;
    const RATE: usize = 8;
    const RATE_PERIOD_MS: i64 = 100;
    on_each_database("limits hold", |world| {
        let settings = QueueSettings {
            concurrency: Some(CONCURRENCY as u32),
            rate: Some(Rate { count: RATE as u32, period: Duration::from_millis(RATE_PERIOD_MS as u64) }),
            ..QueueSettings::default()
        };
        world.store.configure("mail", &settings).expect("configured");
        let jobs: Vec<NewJob> = (0..JOBS).map(|_| new_job("mail", "1")).collect();
        world.store.push(&jobs).expect("pushed");
        let (address, done) = (&world.address, AtomicUsize::new(0));
        // When each job was handed out, and a later time at which it was still leased.
        let spans: Vec<(i64, i64)> = std::thread::scope(|scope| {
            let work = |number: usize| {
                let mut store = open(address).expect("opened");
                let mut spans = Vec::new();
                while done.load(Ordering::Relaxed) < JOBS {
                    let leases = patiently(|| store.claim("mail", "ann", HOUR, 1 + number % 4)).expect("claimed");
                    for lease in leases {
                        let from = lease.job.lease_until.expect("an end") - HOUR.as_millis() as i64;
                        let until = patiently(|| store.now()).expect("the time");
                        spans.push((from, until));
                        patiently(|| store.ack(lease.job.id, &lease.token, None)).expect("done");
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
                spans
            };
            let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(spans.len(), JOBS);
        for (from, _) in &spans {
            let leased_count = spans.iter().filter(|(other, until)| other <= from && from < until).count();
            assert!(leased_count <= CONCURRENCY, "{leased_count} at {from}: {spans:?}");
        }
        let mut times: Vec<i64> = spans.iter().map(|(from, _)| *from).collect();
        times.sort_unstable();
        assert!(times.iter().zip(&times[RATE..]).all(|(first, next)| next - first >= RATE_PERIOD_MS), "{times:?}");
    });
}

/// Each time of a schedule creates one job, however many clients check it at once.
#[test]
fn many_clients_create_one_job_per_time_of_a_schedule() {
    on_each_database("a schedule queues one job", |world| {
        for round in 0..10 {
            for name in ["a", "b", "c"] {
                let timing = Timing::new("every 1h", None).expect("a timing");
                let schedule = NewSchedule::new(name, "mail", timing, b"1".to_vec());
                world.store.set_schedule(&schedule, "ann").expect("set");
                world.change(
                    "icecore_schedules",
                    &[("next_at", Cell::Int(1_000 + round))],
                    &[("name", Cell::Text(name))],
                );
            }
            let (address, start) = (&world.address, Barrier::new(THREADS));
            let mut fired: Vec<_> = std::thread::scope(|scope| {
                let fire = || {
                    let mut store = open(address).expect("opened");
                    start.wait();
                    patiently(|| store.fire(9)).expect("fired")
                };
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(fire)).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            // A schedule that another client had locked was left to that client.
            fired.push(world.store.fire(9).expect("fired"));
            let new_job = fired.iter().flatten().filter(|fired| fired.is_new).count();
            assert_eq!(new_job, 3, "round {round}: {fired:#?}");
            assert_eq!(world.jobs(&JobFilter::default()).len() as i64, 3 * (round + 1));
        }
    });
}

/// A job that is pushed after another one while that one finishes is still handed out.
#[test]
fn a_job_pushed_while_its_predecessor_ends_is_not_lost() {
    on_each_database("a chain is not lost", |world| {
        for round in 0..60 {
            let first = new_job("mail", "1");
            world.store.push(std::slice::from_ref(&first)).expect("pushed");
            let lease = world.store.claim("mail", "ann", HOUR, 1).expect("claimed").remove(0);
            let (address, start) = (&world.address, Barrier::new(2));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut store = open(address).expect("opened");
                    start.wait();
                    let ack = Ack { id: first.id, token: lease.token.clone(), result: None };
                    match round % 2 {
                        0 => patiently(|| store.ack(ack.id, &ack.token, None)).expect("done"),
                        _ => patiently(|| store.ack_many(std::slice::from_ref(&ack)))
                            .expect("done")
                            .remove(0)
                            .expect("done"),
                    }
                });
                scope.spawn(|| {
                    let mut store = open(address).expect("opened");
                    let follower = NewJob { after: Some(first.id), ..new_job("mail", "2") };
                    let jobs = [follower.clone(), NewJob { after: Some(follower.id), ..new_job("mail", "3") }];
                    let pushed = if round % 3 == 0 { &jobs[..] } else { &jobs[..1] };
                    start.wait();
                    patiently(|| store.push(pushed)).expect("pushed");
                });
            });
            for _ in 0..if round % 3 == 0 { 2 } else { 1 } {
                let lease = world.store.claim("mail", "ann", HOUR, 9).expect("claimed").remove(0);
                world.store.ack(lease.job.id, &lease.token, None).expect("done");
            }
            assert!(world.store.claim("mail", "ann", HOUR, 9).expect("claimed").is_empty());
        }
    });
}
