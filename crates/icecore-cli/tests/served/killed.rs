//! The daemon, workers with a command, clients in Perl, PHP and Ruby, and servers are killed while clients use the
//! daemon.
//!
//! The answers to clients are the reference: 201 and an id, 200 for an ack, a lease with its end. A client whose
//! connection broke knows nothing. `ICECORE_KILLS=N` sets the number of rounds, and `ICECORE_SEED=N` selects what
//! happens in them.

use super::client::{Answer, ask, send};
use super::clients::Language;
use super::daemon::Daemon;
use crate::common::{Random, until};
use crate::killing::{
    Counts, MAX_WAITING_JOBS, ReportedEvents, Server, finish_all_jobs, list_jobs, rounds, split_rounds,
};
use crate::run::ICECORE;
use icecore_store::{Address, open};
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const LEASE: u64 = 150;
const PRODUCERS: usize = 2;
const WORKERS: usize = 3;
/// Number of processes of `icecore work`.
const COMMANDS: usize = 2;

/// Returns the available databases, with their passwords: always SQLite, and servers if they are in this build and
/// their addresses in the environment.
fn databases(folder: &Path) -> Vec<(&'static str, String)> {
    let mut databases = vec![("sqlite", format!("sqlite:{}", folder.join("icecore.db").display()))];
    let servers = [
        ("postgres", "ICECORE_TEST_POSTGRES", cfg!(feature = "postgres")),
        ("mysql", "ICECORE_TEST_MYSQL", cfg!(feature = "mysql")),
        ("mongodb", "ICECORE_TEST_MONGODB", cfg!(feature = "mongodb")),
    ];
    for (backend, name, is_built) in servers {
        match std::env::var(name) {
            Ok(address) if is_built => databases.push((backend, address)),
            Ok(_) => eprintln!("SKIPPED: {backend}, as it is not in this build"),
            Err(_) => eprintln!("SKIPPED: {backend}, as {name} is not set"),
        }
    }
    databases
}

#[test]
fn nothing_is_lost_when_the_daemon_is_killed() {
    let (rounds, mut random) = (rounds(), Random::new());
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(&parent).or_else(|_| tempfile::tempdir()).expect("a folder");
    let languages = Language::available();
    for (backend, database) in databases(folder.path()) {
        let mut counts = Counts::default();
        for (number, round_count) in split_rounds(rounds).enumerate() {
            let scene = Scene {
                // Others may use this database, too.
                queue: format!("kill-{}-{number}", std::process::id()),
                database: match backend {
                    "sqlite" => format!("{database}-{number}"),
                    _ => database.clone(),
                },
                folder: folder.path(),
                server: Server::of(backend),
                languages: &languages,
                notes: Vec::new(),
            };
            scene.run(round_count, &mut random, &mut counts);
        }
        counts.print(backend, rounds);
    }
}

/// The process that is killed next.
#[derive(Clone, Copy)]
enum Victim {
    Daemon,
    Worker,
    Client(usize),
    Server(&'static str),
}

struct Scene<'s> {
    queue: String,
    database: String,
    folder: &'s Path,
    server: Option<Server>,
    /// The languages with clients.
    languages: &'s [Language],
    /// Files in which the commands of killed workers noted the jobs that they began.
    notes: Vec<PathBuf>,
}

impl Scene<'_> {
    fn run(mut self, rounds: u64, random: &mut Random, counts: &mut Counts) {
        let mut daemon = Daemon::start(&self.database, &[]);
        let (sender, receiver) = channel();
        let mut collector = EventCollector { receiver, events: ReportedEvents::default(), lines: 0 };
        let mut commands: Vec<Worker> = (0..COMMANDS).map(|_| Worker::start(&self)).collect();
        let mut programs: Vec<Program> =
            self.languages.iter().map(|language| Program::start(&self, *language, daemon.address, random)).collect();
        let (is_over, to, queue) = (AtomicBool::new(false), daemon.address, self.queue.clone());
        std::thread::scope(|scope| {
            // Whatever happens, the threads that wait for it end.
            let _stop = StopOnDrop(&is_over);
            for number in 0..PRODUCERS + WORKERS {
                let (random, sender) = (Random::from(random.below(u64::MAX)), sender.clone());
                let mut client = Client { to, queue: &queue, random, sender, name: number, is_over: &is_over };
                scope.spawn(move || if number < PRODUCERS { client.produce() } else { client.work() });
            }
            for _ in 0..rounds {
                let mut victims = vec![Victim::Daemon, Victim::Worker];
                victims.extend((0..programs.len()).map(Victim::Client));
                victims.extend(self.server.iter().flat_map(|server| server.kinds).map(|kind| Victim::Server(kind)));
                while !victims.is_empty() {
                    let victim = victims.swap_remove(random.below(victims.len() as u64) as usize);
                    let mut processes =
                        RunningProcesses { daemon: &mut daemon, commands: &mut commands, programs: &mut programs };
                    self.kill(victim, &mut processes, &mut collector, random, counts);
                }
            }
            collector.wait_for_events(50);
        });
        self.notes.extend(commands.into_iter().map(|worker| worker.kill(true)));
        self.notes.extend(programs.into_iter().map(Program::kill));
        collector.collect();
        for notes in &self.notes {
            lines(notes).iter().for_each(|line| collector.events.add_line(line));
        }
        self.check(daemon, collector.events, counts);
    }

    fn kill(
        &mut self,
        victim: Victim,
        RunningProcesses { daemon, commands, programs }: &mut RunningProcesses<'_>,
        collector: &mut EventCollector,
        random: &mut Random,
        counts: &mut Counts,
    ) {
        collector.wait_for_events(20 + random.below(100) as usize);
        let delay = Duration::from_micros(random.below(15_000));
        match victim {
            Victim::Daemon => {
                std::thread::sleep(delay);
                daemon.kill_and_restart();
                counts.killed("daemon");
            }
            Victim::Worker => {
                let worker = &mut commands[random.below(COMMANDS as u64) as usize];
                worker.wait_until_it_works(self, 1 + random.below(3) as usize);
                std::thread::sleep(delay);
                // Its command continues, or ends with it.
                let killed = std::mem::replace(worker, Worker::start(self));
                self.notes.push(killed.kill(random.below(2) == 0));
                counts.killed("icecore work");
            }
            Victim::Client(number) => {
                let program = &mut programs[number];
                let language = program.language;
                program.wait_until_it_works(1 + random.below(10) as usize);
                std::thread::sleep(delay);
                let killed = std::mem::replace(program, Program::start(self, language, daemon.address, random));
                self.notes.push(killed.kill());
                counts.killed(language.client());
            }
            Victim::Server(kind) => {
                std::thread::sleep(delay);
                if let Some(server) = &mut self.server {
                    server.kill(kind, random);
                    counts.killed(kind);
                }
            }
        }
        assert!(daemon.is_alive(), "the daemon ended by itself");
    }

    fn check(&self, daemon: Daemon, mut events: ReportedEvents, counts: &mut Counts) {
        until("the daemon is well", || (daemon.ask("GET", "/healthz", "").code == 200).then_some(()));
        // On a busy machine, another program may still have the database locked.
        let is_up = || daemon.ask("GET", "/metrics", "").text.contains("icecore_database_up 1");
        until("the database answers", || is_up().then_some(()));
        drop(daemon);
        let address: Address = self.database.parse().expect("an address");
        let mut store = open(&address).expect("opened");
        events.check_jobs(&list_jobs(&mut *store, &self.queue));
        finish_all_jobs(&mut *store, &self.queue, &mut events);
        let jobs = list_jobs(&mut *store, &self.queue);
        events.check_end(&jobs);
        events.check_objects(&mut *store);
        if let Some(file) = self.database.strip_prefix("sqlite:") {
            let file = rusqlite::Connection::open(file).expect("the database");
            let result: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
            assert_eq!(result, "ok");
        }
        counts.add(&events, jobs.len(), events.check_leases());
    }
}

/// The processes that may be killed.
struct RunningProcesses<'c> {
    daemon: &'c mut Daemon,
    commands: &'c mut [Worker],
    programs: &'c mut [Program],
}

struct StopOnDrop<'e>(&'e AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Collects the answers that clients got.
struct EventCollector {
    receiver: Receiver<String>,
    events: ReportedEvents,
    lines: usize,
}

impl EventCollector {
    fn collect(&mut self) {
        for line in self.receiver.try_iter() {
            self.lines += 1;
            self.events.add_line(&line);
        }
    }

    /// Waits until this many more answers arrived.
    fn wait_for_events(&mut self, more: usize) {
        self.collect();
        let enough = self.lines + more;
        until("clients go on with their work", || {
            self.collect();
            (self.lines >= enough).then_some(())
        });
    }
}

// -- The clients ------------------------------------------------------------------

struct Client<'c> {
    to: SocketAddr,
    queue: &'c str,
    random: Random,
    sender: Sender<String>,
    name: usize,
    is_over: &'c AtomicBool,
}

impl Client<'_> {
    fn report(&self, line: String) {
        // After a failed check, the receiver no longer exists.
        let _ = self.sender.send(line);
    }

    fn should_continue(&self) -> bool {
        !self.is_over.load(Ordering::SeqCst)
    }

    /// Returns the answer, if it has one of these codes. The outcome is unknown if the connection broke, or if the
    /// daemon reports that the database is unavailable.
    fn ask(&self, path: &str, body: &str, codes: &[u16]) -> Option<Answer> {
        let answer = ask(self.to, "POST", path, body);
        match &answer {
            Some(answer) if answer.code != 503 => {
                assert!(codes.contains(&answer.code), "POST {path} {body}: {answer:?}");
            }
            // The daemon is not reachable, or can't do this now.
            _ => {
                std::thread::sleep(Duration::from_millis(2));
                return None;
            }
        }
        answer
    }

    fn produce(&mut self) {
        let (queue, name) = (self.queue, self.name);
        for number in 0u64.. {
            while number % 16 == 0
                && self.should_continue()
                && self.waiting().is_none_or(|waiting| waiting > MAX_WAITING_JOBS)
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            if !self.should_continue() {
                return;
            }
            if self.random.below(5) == 0 {
                if let Some(answer) = self.ask("/objects", &format!("[{name},{number}]"), &[201]) {
                    self.report(format!("put {}", answer.str("/id")));
                }
                continue;
            }
            let priority = self.random.below(3);
            let unique = match self.random.below(3) {
                0 => format!("&unique={name}-{number}"),
                _ => String::new(),
            };
            let path = format!("/jobs?queue={queue}&max_attempts=1000000&priority={priority}{unique}");
            if let Some(answer) = self.ask(&path, &format!("[\"{name} {number}\",1]"), &[201]) {
                self.report(format!("pushed {}", answer.str("/id")));
            }
        }
    }

    /// Returns the number of waiting jobs.
    fn waiting(&self) -> Option<u64> {
        let answer = ask(self.to, "GET", "/queues", "").filter(|answer| answer.code == 200)?.json();
        let queues = answer["queues"].as_array()?;
        Some(
            queues
                .iter()
                .find(|queue| queue["name"] == self.queue)
                .map_or(0, |queue| queue["ready"].as_u64().expect("a count")),
        )
    }

    fn work(&mut self) {
        while self.should_continue() {
            let max_jobs = 1 + self.random.below(4);
            let path =
                format!("/queues/{}/claim?worker=w{}&lease={LEASE}ms&max={max_jobs}&wait=2s", self.queue, self.name);
            if self.random.below(20) == 0 {
                // The client disappears before it learns which jobs it got.
                drop(send(self.to, "POST", &path, ""));
                continue;
            }
            let Some(answer) = self.ask(&path, "", &[200]) else { continue };
            let answer = answer.json();
            let leases: Vec<ClaimedJob> = answer["jobs"].as_array().expect("jobs").iter().map(ClaimedJob::of).collect();
            for ClaimedJob { id, attempt, end, .. } in &leases {
                self.report(format!("granted {id} {attempt} {LEASE} {end}"));
            }
            leases.iter().for_each(|job| self.handle_job(job));
        }
    }

    fn handle_job(&mut self, job: &ClaimedJob) {
        let ClaimedJob { id, token, attempt, .. } = job;
        let action = self.random.below(10);
        if action == 0 {
            return; // It continues with the next job without an answer.
        }
        if action <= 2 {
            let body = format!("{{\"token\":\"{token}\",\"lease\":\"{LEASE}ms\"}}");
            let answer = self.ask(&format!("/jobs/{id}/extend"), &body, &[200, 409]);
            if let Some(answer) = answer.filter(|answer| answer.code == 200) {
                self.report(format!("extended {id} {attempt} {}", answer.int("/lease_until")));
            }
        }
        self.report(format!("releasing {id} {attempt}"));
        if action == 3 {
            let body = format!("{{\"token\":\"{token}\",\"error\":\"again\",\"delay\":0}}");
            self.ask(&format!("/jobs/{id}/nack"), &body, &[200, 409]);
            return;
        }
        let body = format!("{{\"token\":\"{token}\",\"result\":{attempt}}}");
        // A client without an answer asks again: a job that was done is refused then.
        for _ in 0..2 {
            if let Some(answer) = self.ask(&format!("/jobs/{id}/ack"), &body, &[200, 409]) {
                if answer.code == 200 {
                    self.report(format!("done {id} {attempt}"));
                }
                return;
            }
        }
    }
}

/// A job that a client holds.
struct ClaimedJob {
    id: String,
    token: String,
    attempt: i64,
    end: i64,
}

impl ClaimedJob {
    fn of(job: &serde_json::Value) -> ClaimedJob {
        let text = |name: &str| job[name].as_str().unwrap_or_else(|| panic!("{name} in {job}")).to_owned();
        let number = |name: &str| job[name].as_i64().unwrap_or_else(|| panic!("{name} in {job}"));
        ClaimedJob { id: text("id"), token: text("token"), attempt: number("attempt"), end: number("lease_until") }
    }
}

/// A process that does not outlive the test, even if the test fails.
struct RunningChild(Child);

impl Deref for RunningChild {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for RunningChild {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// -- Workers with a command -------------------------------------------------------

/// `icecore work`, whose command notes each job that it begins.
struct Worker {
    process: RunningChild,
    notes: PathBuf,
}

impl Worker {
    fn start(scene: &Scene<'_>) -> Worker {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let notes = scene.folder.join(format!("notes-{}", COUNT.fetch_add(1, Ordering::SeqCst)));
        let process = Worker::spawn(scene, &notes);
        Worker { process, notes }
    }

    fn spawn(scene: &Scene<'_>, notes: &Path) -> RunningChild {
        let command = format!(
            "echo \"begun $ICECORE_JOB_ID $ICECORE_JOB_ATTEMPT\" >> '{}'; printf %s \"$ICECORE_JOB_ATTEMPT\"",
            notes.display()
        );
        let mut worker = Command::new(ICECORE);
        worker.args([
            "work",
            "-q",
            "--queue",
            &scene.queue,
            "--exec",
            &command,
            "--lease",
            "300ms",
            "--concurrency",
            "2",
        ]);
        worker.env("ICECORE_DB", &scene.database).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        RunningChild(worker.spawn().expect("a worker"))
    }

    /// Waits until it has begun this many more jobs.
    fn wait_until_it_works(&mut self, scene: &Scene<'_>, more: usize) {
        let enough = lines(&self.notes).len() + more;
        until("a worker with a command works", || {
            if let Some(status) = self.process.try_wait().expect("try_wait") {
                // It does not start without its database; its supervisor tries again.
                assert!(scene.server.is_some(), "a worker ended by itself: {status}");
                self.process = Worker::spawn(scene, &self.notes);
            }
            (lines(&self.notes).len() >= enough).then_some(())
        });
    }

    /// Kills it, and its commands if requested. Returns the file in which its commands noted the jobs that they began;
    /// those that still run may add to it later.
    fn kill(mut self, with_commands: bool) -> PathBuf {
        if with_commands {
            kill_with_children(self.process.id());
        }
        let _ = self.process.kill();
        self.process.wait().expect("wait");
        self.notes
    }
}

// -- Programs with a client -------------------------------------------------------

/// A program that pushes jobs, stores objects and works on jobs, and notes the answers.
struct Program {
    language: Language,
    process: RunningChild,
    notes: PathBuf,
}

impl Language {
    fn client(self) -> &'static str {
        match self {
            Language::Perl => "client in Perl",
            Language::Php => "client in PHP",
            Language::Ruby => "client in Ruby",
        }
    }
}

impl Program {
    fn start(scene: &Scene<'_>, language: Language, daemon: SocketAddr, random: &mut Random) -> Program {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let notes = scene.folder.join(format!("answers-{}", COUNT.fetch_add(1, Ordering::SeqCst)));
        let mut program = language.program("kill", daemon);
        let lease = format!("0.{LEASE}");
        program.args([&scene.queue, &lease]).arg(&notes).arg(random.below(1 << 31).to_string());
        let process = RunningChild(program.stdout(Stdio::null()).spawn().expect("a client"));
        Program { language, process, notes }
    }

    /// Waits until it has noted this many more answers.
    fn wait_until_it_works(&mut self, more: usize) {
        let enough = lines(&self.notes).len() + more;
        until("a client in another language works", || {
            let status = self.process.try_wait().expect("try_wait");
            assert!(status.is_none(), "the {} ended by itself: {status:?}", self.language.client());
            (lines(&self.notes).len() >= enough).then_some(())
        });
    }

    /// Kills it. Returns the file in which it noted the answers.
    fn kill(mut self) -> PathBuf {
        let status = self.process.try_wait().expect("try_wait");
        assert!(status.is_none(), "the {} ended by itself: {status:?}", self.language.client());
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
        self.notes
    }
}

/// Returns the notes, as far as the lines are complete.
fn lines(notes: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(notes).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

/// Stops a process, so that the ids of its children remain theirs, and kills the children.
fn kill_with_children(number: u32) {
    let script = format!(
        "kill -STOP {number} && for child in $(cat /proc/{number}/task/*/children); do kill -9 -- \"-$child\" || kill -9 \"$child\"; done"
    );
    Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status().expect("a shell");
}
