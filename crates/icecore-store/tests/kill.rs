//! Programs are killed in the middle of everything, and nothing is lost.
//!
//! Producers tell each id when its `push` returned, workers each lease that they got. They are
//! killed with SIGKILL, at points that a printed seed chooses. Then:
//!
//! - each id that was told is there, and batches are there as a whole or not at all;
//! - no job had two leases at a time, by the clock of the database;
//! - what was acked stays done, with its result;
//! - each job is done at last.
//!
//! `ICECORE_KILLS=N` sets how many rounds there are, `ICECORE_SEED=N` what happens in them.

mod common;

use common::{Chance, World, backends, full, patiently, until};
use icecore_store::{
    Address, Backend, ErrorKind, Flow, Id, Job, JobFilter, NewJob, ObjectFilter, State, describe, open,
};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So short that killed workers' jobs come back soon, and workers lose some that are alive.
const LEASE: Duration = Duration::from_millis(100);
const PRODUCERS: u64 = 2;
const WORKERS: u64 = 3;

// -- The children -----------------------------------------------------------------

/// What a child does; run as a test of this name by the parent, with its orders in the
/// environment. By itself it does nothing.
#[test]
fn child() {
    let Ok(orders) = std::env::var("ICECORE_KILL_CHILD") else { return };
    let mut orders = orders.splitn(3, ' ');
    let mut next = || orders.next().expect("three orders");
    let (role, seed, address) = (next(), next(), next());
    let mut chance = Chance::from(seed.parse().expect("a seed"));
    let address: Address = address.parse().expect("an address");
    let mut store = patiently(|| open(&address)).expect("opened");
    tell("opened");
    match role {
        "producer" => produce(&mut *store, &mut chance, seed),
        "worker" => work(&mut *store, &mut chance, seed),
        role => panic!("no role: {role}"),
    }
}

/// One line in one piece, at once.
fn tell(line: &str) {
    // A line of its own: the harness writes, too.
    let line = format!("\n@{line}\n");
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).expect("the parent reads");
}

fn produce(store: &mut dyn Backend, chance: &mut Chance, name: &str) {
    for batch in 0u64.. {
        let size = [1, 1, 2, 7][chance.below(4) as usize];
        if chance.below(5) == 0 {
            let object = |number| describe::object(format!("[\"{name}\",{batch},{number}]").into_bytes(), Some("json"));
            let objects: Vec<_> = (0..size).map(object).collect();
            for id in patiently(|| store.put(&objects)).expect("put") {
                tell(&format!("put {id}"));
            }
            continue;
        }
        let job = |_| NewJob {
            max_attempts: Some(1_000_000),
            priority: chance.below(3) as i32,
            unique_key: (chance.below(3) == 0).then(|| Id::new().to_string()),
            ..describe::job("mail", format!("[\"{name} {batch}\",{size}]").into_bytes(), Some("json"))
        };
        let jobs: Vec<NewJob> = (0..size).map(job).collect();
        for pushed in patiently(|| store.push(&jobs)).expect("pushed") {
            assert!(pushed.is_new);
            tell(&format!("pushed {}", pushed.id));
        }
    }
}

fn work(store: &mut dyn Backend, chance: &mut Chance, name: &str) {
    let lost = |answer: icecore_store::Result<()>| match answer {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::Lease => false,
        Err(error) => panic!("{error}"),
    };
    loop {
        let most = 1 + chance.below(4) as usize;
        let leases = patiently(|| store.claim("mail", name, LEASE, most)).expect("claimed");
        for lease in &leases {
            let end = lease.job.lease_until.expect("an end");
            tell(&format!("granted {} {} {end}", lease.job.id, lease.job.attempts));
        }
        if leases.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        for lease in leases {
            let (id, token, attempt) = (lease.job.id, &*lease.token, lease.job.attempts);
            let what = chance.below(10);
            if what == 0 {
                continue; // It goes on to the next without a word.
            }
            if what <= 2 {
                match patiently(|| store.extend(id, token, LEASE)) {
                    Ok(end) => tell(&format!("extended {id} {attempt} {end}")),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Lease, "{error}"),
                }
            }
            tell(&format!("releasing {id} {attempt}"));
            if what == 3 {
                let zero = Some(Duration::ZERO);
                lost(patiently(|| store.nack(id, token, "again", zero)).map(drop));
            } else if lost(patiently(|| store.ack(id, token, Some(format!("{attempt}").as_bytes())))) {
                tell(&format!("done {id} {attempt}"));
            }
        }
    }
}

// -- The parent -------------------------------------------------------------------

/// A child, and what it said.
struct Running {
    process: Child,
    lines: Receiver<String>,
    reader: JoinHandle<()>,
    said: Vec<String>,
}

impl Running {
    fn start(role: &str, seed: u64, address: &Address) -> Running {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["child", "--exact", "--nocapture", "--test-threads=1"])
            .env("ICECORE_KILL_CHILD", format!("{role} {seed} {}", full(address)))
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let out = process.stdout.take().expect("its output");
        let (send, lines) = channel();
        let reader = std::thread::spawn(move || {
            let mut reader = BufReader::new(out);
            let mut line = String::new();
            // What has no end of line was cut off.
            while reader.read_line(&mut line).is_ok_and(|read| read > 0 && line.ends_with('\n')) {
                if let Some(said) = line.trim_end().strip_prefix('@') {
                    let _ = send.send(said.to_owned());
                }
                line.clear();
            }
        });
        Running { process, lines, reader, said: Vec::new() }
    }

    /// Waits until it said so much, or for so long: then it is killed all the same.
    fn hear(&mut self, count: usize) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.said.len() < count {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("a child ended by itself: {:?}", self.process.wait()),
            }
        }
    }

    /// Kills it; all that it said.
    fn kill(mut self) -> Vec<String> {
        let ended = self.process.try_wait().expect("a child");
        assert!(ended.is_none(), "a child ended by itself: {ended:?}");
        self.process.kill().expect("killed");
        self.process.wait().expect("it is dead");
        self.reader.join().expect("no panic");
        self.said.extend(self.lines.try_iter());
        self.said
    }
}

/// What all children said.
#[derive(Default)]
struct Told {
    pushed: HashSet<Id>,
    put: HashSet<Id>,
    /// By job and attempt: when the lease began, and its last known end.
    grants: HashMap<(Id, u32), (i64, i64)>,
    released: HashSet<(Id, u32)>,
    done: HashMap<Id, u32>,
    extended: usize,
}

impl Told {
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let id = || words[1].parse::<Id>().expect("an id");
        let attempt = || words[2].parse::<u32>().expect("an attempt");
        let end = || words[3].parse::<i64>().expect("a time");
        match words[0] {
            "opened" => {}
            "pushed" => assert!(self.pushed.insert(id())),
            "put" => assert!(self.put.insert(id())),
            "granted" => {
                let lease = (end() - LEASE.as_millis() as i64, end());
                let before = self.grants.insert((id(), attempt()), lease);
                assert_eq!(before, None, "attempt {} of {} was granted twice", attempt(), id());
            }
            "extended" => {
                self.extended += 1;
                let (_, last) = self.grants.get_mut(&(id(), attempt())).expect("it was granted before");
                *last = end();
            }
            "releasing" => assert!(self.released.insert((id(), attempt()))),
            "done" => assert_eq!(self.done.insert(id(), attempt()), None, "{} was done twice", id()),
            _ => panic!("what is {line:?}?"),
        }
    }

    /// No job had two leases at a time; how many pairs of leases were looked at.
    fn check_leases(&self) -> usize {
        let mut by_job: HashMap<Id, Vec<(u32, i64, i64)>> = HashMap::new();
        for ((id, attempt), (begin, end)) in &self.grants {
            by_job.entry(*id).or_default().push((*attempt, *begin, *end));
        }
        let mut pairs = 0;
        for (id, mut grants) in by_job {
            grants.sort_unstable();
            for pair in grants.windows(2) {
                let ((first, _, end), (second, begin, _)) = (pair[0], pair[1]);
                if !self.released.contains(&(id, first)) {
                    pairs += 1;
                    assert!(
                        begin > end,
                        "job {id}: attempt {second} began at {begin}, attempt {first} lasted until {end}"
                    );
                }
            }
            if let (Some(done), Some((last, ..))) = (self.done.get(&id), grants.last()) {
                assert_eq!(done, last, "job {id} was granted after it was done");
            }
        }
        pairs
    }
}

#[test]
fn nothing_is_lost_when_programs_are_killed() {
    let rounds: u64 = std::env::var("ICECORE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let mut chance = Chance::new();
    for (backend, fresh) in backends() {
        let address = fresh();
        let mut told = Told::default();
        let mut kills = 0;
        for round in 0..rounds {
            if round % 3 == 0 {
                kill_while_opening(&fresh(), &mut chance);
            }
            let roles = (0..PRODUCERS).map(|_| "producer").chain((0..WORKERS).map(|_| "worker"));
            let mut children: Vec<Running> =
                roles.map(|role| Running::start(role, chance.below(u64::MAX), &address)).collect();
            while !children.is_empty() {
                let mut child = children.swap_remove(chance.below(children.len() as u64) as usize);
                child.hear(1 + chance.below(60) as usize);
                std::thread::sleep(Duration::from_micros(chance.below(15_000)));
                child.kill().iter().for_each(|line| told.hear(line));
                kills += 1;
            }
            // The next one finds what is there.
            let mut world = World::new(address.clone());
            check_jobs(&told, &world.jobs(&JobFilter::default()));
        }
        let pairs = told.check_leases();
        let mut world = World::new(address);
        finish(&mut world);
        let jobs = world.jobs(&JobFilter::default());
        assert!(jobs.iter().all(|job| job.state == State::Done));
        check_jobs(&told, &jobs);
        check_objects(&told, &mut world);
        if backend == "sqlite" {
            assert_eq!(world.raw_one("PRAGMA integrity_check").as_deref(), Some("ok"));
        }
        println!(
            "{backend}: {kills} kills in {rounds} rounds; {} ids told of {} jobs, {} leases ({} extended, {pairs} that \
             were taken over), {} told as done; {} objects",
            told.pushed.len(),
            jobs.len(),
            told.grants.len(),
            told.extended,
            told.done.len(),
            told.put.len(),
        );
        assert!(told.pushed.len() as u64 >= rounds && told.grants.len() as u64 >= rounds, "there was no load");
    }
}

/// Two are killed while they make the tables, or a little later.
fn kill_while_opening(address: &Address, chance: &mut Chance) {
    let children: Vec<Running> = (0..2).map(|seed| Running::start("worker", seed, address)).collect();
    std::thread::sleep(Duration::from_micros(chance.below(25_000)));
    for child in children {
        child.kill();
    }
    let mut world = World::new(address.clone());
    world.store.push(&[describe::job("mail", b"1".to_vec(), None)]).expect("pushed");
    assert_eq!(world.jobs(&JobFilter::default()).len(), 1);
}

/// All that were told are there; what was acked is done, with its result; batches are whole.
fn check_jobs(told: &Told, jobs: &[Job]) {
    let there: HashMap<Id, &Job> = jobs.iter().map(|job| (job.id, job)).collect();
    for id in &told.pushed {
        assert!(there.contains_key(id), "job {id} is lost");
    }
    for (id, attempt) in &told.done {
        let job = there.get(id).unwrap_or_else(|| panic!("job {id} is lost"));
        assert_eq!((job.state, job.attempts), (State::Done, *attempt), "{id}");
        assert_eq!(job.result.as_deref(), Some(attempt.to_string().as_bytes()), "{id}");
    }
    let mut batches: HashMap<&[u8], usize> = HashMap::new();
    for job in jobs {
        assert_eq!(job.checksum, describe::checksum(&job.bytes));
        *batches.entry(&job.bytes).or_default() += 1;
    }
    for (batch, count) in batches {
        let text = String::from_utf8_lossy(batch);
        assert!(text.ends_with(&format!(",{count}]")), "{count} of batch {text}");
    }
}

fn check_objects(told: &Told, world: &mut World) {
    let mut there = HashSet::new();
    let mut look = |object: icecore_store::Object| {
        assert_eq!(object.checksum, describe::checksum(&object.bytes));
        there.insert(object.id);
        Ok(Flow::On)
    };
    world.store.objects(0, usize::MAX, &ObjectFilter::default(), &mut look).expect("a walk");
    assert!(told.put.is_subset(&there), "objects are lost");
}

/// Does what is left.
fn finish(world: &mut World) {
    until("all jobs are done", || {
        let leases = world.store.claim("mail", "the last one", common::HOUR, 100).expect("claimed");
        for lease in &leases {
            let result = lease.job.attempts.to_string();
            world.store.ack(lease.job.id, &lease.token, Some(result.as_bytes())).expect("ack");
        }
        let counts = world.store.queues().expect("queues").first().map_or([0; 4], |queue| queue.counts);
        (counts[0] == 0 && counts[1] == 0).then_some(())
    });
}
