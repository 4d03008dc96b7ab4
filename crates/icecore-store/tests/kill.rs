//! Kills programs and servers in the middle of their work; nothing may be lost.
//!
//! Producers report each id when its `push` returned, workers each lease that they got. They, or
//! the server of their database, are killed with SIGKILL, at points that a printed seed chooses.
//! Then:
//!
//! - each reported id exists, and batches are complete or absent;
//! - no job had two leases at a time, by the clock of the database;
//! - acked jobs stay done, with their results;
//! - each job is done in the end.
//!
//! `ICECORE_KILLS=N` sets the number of rounds, `ICECORE_SEED=N` the events in them.

use crate::common;

use crate::common::{NewDatabase, Random, World, address_with_password, backends};
use crate::killing::{
    Counts, MAX_WAITING_JOBS, ReportedEvents, Running, Server, count_waiting_jobs, finish_all_jobs, list_jobs,
    print_event, rounds, split_rounds,
};
use icecore_store::{Address, Backend, ErrorKind, Id, Lease, NewJob, Result, describe, open};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Length of leases. It is so short that jobs of killed workers come back soon, and live workers lose some leases.
const LEASE: Duration = Duration::from_millis(100);
const PRODUCERS: u64 = 2;
const WORKERS: u64 = 3;
const QUEUE: &str = "mail";
/// Argument of children whose server is not killed.
const ALWAYS_AVAILABLE: &str = "always";
/// Argument of children whose server is killed and started again.
const WITH_OUTAGES: &str = "outages";

/// Held by the tests that kill servers, because no other test may use a server meanwhile.
static SERVER_LOCK: Mutex<()> = Mutex::new(());

// -- The children -----------------------------------------------------------------

/// The body of a child process. The parent runs it as a test of this name, with its arguments in an environment
/// variable. Without this variable it does nothing.
#[test]
fn child() {
    let Ok(arguments) = std::env::var("ICECORE_KILL_CHILD") else { return };
    let mut arguments = arguments.splitn(4, ' ');
    let mut next = || arguments.next().expect("four arguments");
    let (role, availability, seed, address) = (next(), next(), next(), next());
    let address: Address = address.parse().expect("an address");
    let mut child = Child {
        random: Random::from(seed.parse().expect("a seed")),
        has_outages: availability == WITH_OUTAGES,
        name: seed.to_owned(),
    };
    let mut store = child.patiently(|| open(&address)).expect("opened");
    print_event("opened");
    match role {
        "list" => list_jobs(&mut *store, QUEUE).iter().for_each(|job| print_event(&format!("there {}", job.id))),
        "producer" => child.produce(&mut *store),
        "worker" => child.work(&mut *store),
        role => panic!("no role: {role}"),
    }
}

struct Child {
    random: Random,
    /// Whether the server may be unavailable for a while.
    has_outages: bool,
    name: String,
}

impl Child {
    /// Repeats a call while others hold a lock that it needs, or while the server is unavailable.
    fn patiently<T>(&self, mut call: impl FnMut() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        loop {
            match call() {
                Err(error) if start.elapsed() < Duration::from_secs(120) => match error.kind() {
                    ErrorKind::Busy => {}
                    ErrorKind::Away if self.has_outages => std::thread::sleep(Duration::from_millis(20)),
                    _ => return Err(error),
                },
                answer => return answer,
            }
        }
    }

    fn produce(&mut self, store: &mut dyn Backend) {
        let mut last: Option<Id> = None;
        for batch in 0u64.. {
            while batch % 16 == 0
                && self.patiently(|| count_waiting_jobs(store, QUEUE)).expect("queues") > MAX_WAITING_JOBS
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            let size = [1, 1, 2, 7][self.random.below(4) as usize];
            if self.random.below(5) == 0 {
                self.put(store, batch, size);
                continue;
            }
            let (name, random) = (&self.name, &mut self.random);
            let job = |_| NewJob {
                max_attempts: Some(1_000_000),
                priority: random.below(3) as i32,
                unique_key: (random.below(3) == 0).then(|| Id::new().to_string()),
                ..describe::describe_job(QUEUE, format!("[\"{name} {batch}\",{size}]").into_bytes(), Some("json"))
            };
            let mut jobs: Vec<NewJob> = (0..size).map(job).collect();
            // Some follow the last job that was pushed before, or each other.
            let mut predecessor = last.filter(|_| random.below(3) == 0);
            for job in &mut jobs {
                job.after = predecessor;
                predecessor = (random.below(3) == 0).then_some(job.id);
            }
            // Jobs that are pushed again are the same jobs, so a lost answer does not create a second job.
            for pushed in self.patiently(|| store.push(&jobs)).expect("pushed") {
                assert!(pushed.is_new || self.has_outages);
                print_event(&format!("pushed {}", pushed.id));
                last = Some(pushed.id);
            }
        }
    }

    fn put(&self, store: &mut dyn Backend, batch: u64, size: u64) {
        let name = &self.name;
        let object =
            |number| describe::describe_object(format!("[\"{name}\",{batch},{number}]").into_bytes(), Some("json"));
        let objects: Vec<_> = (0..size).map(object).collect();
        for id in self.patiently(|| store.put(&objects)).expect("put") {
            print_event(&format!("put {id}"));
        }
    }

    fn work(&mut self, store: &mut dyn Backend) {
        loop {
            let max_jobs = 1 + self.random.below(4) as usize;
            let leases = self.patiently(|| store.claim(QUEUE, &self.name, LEASE, max_jobs)).expect("claimed");
            for lease in &leases {
                let (end, length) = (lease.job.lease_until.expect("an end"), LEASE.as_millis());
                print_event(&format!("granted {} {} {length} {end}", lease.job.id, lease.job.attempts));
            }
            if leases.is_empty() {
                std::thread::sleep(Duration::from_millis(1));
            }
            leases.iter().for_each(|lease| self.handle_job(store, lease));
        }
    }

    fn handle_job(&mut self, store: &mut dyn Backend, lease: &Lease) {
        let (id, token, attempt) = (lease.job.id, &*lease.token, lease.job.attempts);
        let action = self.random.below(10);
        if action == 0 {
            return; // The worker abandons this job.
        }
        if action <= 2
            && let Some(end) = none_if_lease_is_lost(self.patiently(|| store.extend(id, token, LEASE)))
        {
            print_event(&format!("extended {id} {attempt} {end}"));
        }
        print_event(&format!("releasing {id} {attempt}"));
        if action == 3 {
            none_if_lease_is_lost(self.patiently(|| store.nack(id, token, "again", Some(Duration::ZERO))));
        } else if none_if_lease_is_lost(self.patiently(|| store.ack(id, token, Some(format!("{attempt}").as_bytes()))))
            .is_some()
        {
            print_event(&format!("done {id} {attempt}"));
        }
    }
}

/// Returns the answer, or `None` if the lease was lost.
fn none_if_lease_is_lost<T>(answer: Result<T>) -> Option<T> {
    match answer {
        Ok(value) => Some(value),
        Err(error) if error.kind() == ErrorKind::Lease => None,
        Err(error) => panic!("{error}"),
    }
}

// -- The parent -------------------------------------------------------------------

fn child_command(role: &str, availability: &str, seed: u64, address: &Address) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["kill::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env("ICECORE_KILL_CHILD", format!("{role} {availability} {seed} {}", address_with_password(address)));
    command
}

fn start_child(role: &'static str, availability: &str, seed: u64, address: &Address) -> Running {
    Running::start(role, &mut child_command(role, availability, seed, address))
}

fn start_all(availability: &str, random: &mut Random, address: &Address) -> Vec<Running> {
    let roles = (0..PRODUCERS).map(|_| "producer").chain((0..WORKERS).map(|_| "worker"));
    roles.map(|role| start_child(role, availability, random.below(u64::MAX), address)).collect()
}

/// The tests below are only as good as the check of the reported events.
#[test]
fn the_check_of_events_detects_violations() {
    let (id, other) = (Id::new(), Id::new());
    let events = |lines: &[String]| {
        let mut events = ReportedEvents::default();
        lines.iter().for_each(|line| events.add_line(line));
        events
    };
    let grant = |attempt: u32, end: i64| format!("granted {id} {attempt} 100 {end}");
    let panics = |body: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err();
    let is_lease_refused = |lines: &[String]| {
        let events = events(lines);
        panics(&|| _ = events.check_leases())
    };
    // The second lease begins at 1101, after the end of the first, or at 1100, together with it.
    assert!(!is_lease_refused(&[grant(1, 1_100), grant(2, 1_201)]));
    assert!(is_lease_refused(&[grant(1, 1_100), grant(2, 1_200)]));
    assert!(is_lease_refused(&[grant(1, 1_100), format!("extended {id} 1 1150"), grant(2, 1_201)]));
    assert!(!is_lease_refused(&[grant(1, 1_100), format!("releasing {id} 1"), grant(2, 1_200)]));
    assert!(is_lease_refused(&[grant(1, 1_100), format!("done {id} 1"), grant(2, 1_201)]));
    for twice in [grant(1, 1_300), format!("begun {id} 1")] {
        assert!(panics(&|| drop(events(&[grant(1, 1_100), twice.clone()]))), "{twice}");
    }
    let address = common::new_sqlite_address();
    let mut store = open(&address).expect("opened");
    let job = NewJob { id, ..describe::describe_job(QUEUE, b"[1,1]".to_vec(), Some("json")) };
    store.push(&[job]).expect("pushed");
    let stored = list_jobs(&mut *store, QUEUE);
    assert!(!panics(&|| events(&[format!("pushed {id}")]).check_jobs(&stored)));
    assert!(panics(&|| events(&[format!("pushed {other}")]).check_jobs(&stored)), "a lost job");
    assert!(panics(&|| events(&[format!("done {id} 1")]).check_jobs(&stored)), "a lost ack");
    assert!(panics(&|| events(&[format!("pushed {id}")]).check_end(&stored)), "it was never done");
    let half = describe::describe_job(QUEUE, b"[2,2]".to_vec(), Some("json"));
    store.push(&[half]).expect("pushed");
    let stored = list_jobs(&mut *store, QUEUE);
    assert!(panics(&|| ReportedEvents::default().check_jobs(&stored)), "half a batch");
}

/// Waits for a random time.
fn any_moment(random: &mut Random) {
    std::thread::sleep(Duration::from_micros(random.below(15_000)));
}

#[test]
fn nothing_is_lost_when_programs_are_killed() {
    let _lock = SERVER_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let (rounds, mut random) = (rounds(), Random::new());
    for (backend, new_database) in backends() {
        let mut counts = Counts::default();
        for round_count in split_rounds(rounds) {
            let (address, mut events) = (new_database(), ReportedEvents::default());
            for round in 0..round_count {
                kill_while_opening(&new_database, round, &mut random);
                let mut children = start_all(ALWAYS_AVAILABLE, &mut random, &address);
                while !children.is_empty() {
                    let mut child = children.swap_remove(random.below(children.len() as u64) as usize);
                    child.wait_for_lines(1 + random.below(60) as usize);
                    any_moment(&mut random);
                    counts.killed(child.kind);
                    child.kill().iter().for_each(|line| events.add_line(line));
                }
                // The next program finds these jobs.
                let mut world = World::new(address.clone());
                events.check_jobs(&list_jobs(&mut *world.store, QUEUE));
            }
            check_all(address, events, &mut counts);
        }
        counts.print(backend, rounds);
    }
}

#[test]
fn nothing_is_lost_when_servers_are_killed() {
    let _lock = SERVER_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let (rounds, mut random) = (rounds(), Random::new());
    for (backend, new_database) in backends() {
        let Some(mut server) = Server::of(backend) else { continue };
        let mut counts = Counts::default();
        for round_count in split_rounds(rounds) {
            let (address, mut events) = (new_database(), ReportedEvents::default());
            let mut children = start_all(WITH_OUTAGES, &mut random, &address);
            for _ in 0..round_count {
                let mut kinds = server.kinds.to_vec();
                while !kinds.is_empty() {
                    let kind = kinds.swap_remove(random.below(kinds.len() as u64) as usize);
                    Running::wait_for_lines_of_all(&mut children, 50 + random.below(200) as usize);
                    any_moment(&mut random);
                    server.kill(kind, &mut random);
                    counts.killed(kind);
                }
            }
            Running::wait_for_lines_of_all(&mut children, 50);
            for child in children {
                child.kill().iter().for_each(|line| events.add_line(line));
            }
            check_all(address, events, &mut counts);
        }
        counts.print(backend, rounds);
    }
}

/// A program has several connections, like the daemon, while another one opens the database and ends. SQLite's locks
/// belong to the process. If they were lost, the other program would believe that it is the last one, and remove the
/// log.
#[test]
fn nothing_is_lost_when_another_program_ends() {
    for (backend, new_database) in backends() {
        let (address, mut pushed) = (new_database(), Vec::new());
        let mut stores = vec![open(&address).expect("opened")];
        for number in 0..3 {
            stores.push(open(&address).expect("opened"));
            let listing = child_command("list", ALWAYS_AVAILABLE, 0, &address).output().expect("it ends");
            let stdout = String::from_utf8(listing.stdout).expect("text");
            assert!(listing.status.success(), "{stdout}");
            for id in &pushed {
                assert!(stdout.contains(&format!("@there {id}\n")), "{backend}: job {id} is lost: {stdout}");
            }
            let job = describe::describe_job(QUEUE, format!("[{number},1]").into_bytes(), Some("json"));
            pushed.push(stores[number].push(&[job]).expect("pushed")[0].id);
        }
    }
}

/// Checks that everything reported exists and everything is done in the end.
fn check_all(address: Address, mut events: ReportedEvents, counts: &mut Counts) {
    let mut world = World::new(address);
    events.check_jobs(&list_jobs(&mut *world.store, QUEUE));
    finish_all_jobs(&mut *world.store, QUEUE, &mut events);
    let jobs = list_jobs(&mut *world.store, QUEUE);
    events.check_end(&jobs);
    events.check_objects(&mut *world.store);
    if world.address.to_string().starts_with("sqlite:") {
        assert_eq!(world.raw_one("PRAGMA integrity_check").as_deref(), Some("ok"));
    }
    counts.add(&events, jobs.len(), events.check_leases());
}

/// Kills, in some rounds, two programs while they create the tables, or a little later.
fn kill_while_opening(new_database: &NewDatabase, round: u64, random: &mut Random) {
    if !round.is_multiple_of(3) {
        return;
    }
    let address = new_database();
    let children: Vec<Running> = (0..2).map(|seed| start_child("worker", ALWAYS_AVAILABLE, seed, &address)).collect();
    std::thread::sleep(Duration::from_micros(random.below(25_000)));
    for child in children {
        child.kill();
    }
    let mut world = World::new(address);
    world.store.push(&[describe::describe_job(QUEUE, b"1".to_vec(), None)]).expect("pushed");
    assert_eq!(list_jobs(&mut *world.store, QUEUE).len(), 1);
}
