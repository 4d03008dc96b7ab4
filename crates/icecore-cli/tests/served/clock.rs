//! A clock that jumps. SQLite uses the clock of the machine, so the daemon runs under faketime, with a time from a
//! file.

use super::client::ask;
use super::daemon::Daemon;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

const HOUR: i64 = 3_600;

/// A daemon whose clock can be set.
struct Machine {
    daemon: Daemon,
    clock: PathBuf,
    _folder: tempfile::TempDir,
}

/// Returns the library that fakes the time; `None` if faketime is not installed.
fn faketime() -> Option<String> {
    let output = Command::new("faketime").args(["-f", "+0", "printenv", "LD_PRELOAD"]).output();
    match output {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8(output.stdout).expect("a path").trim().to_owned())
        }
        _ => {
            eprintln!("SKIPPED: a clock that jumps, as faketime is missing (the package faketime)");
            None
        }
    }
}

impl Machine {
    fn start() -> Option<Machine> {
        let library = faketime()?;
        let folder = tempfile::tempdir().expect("a folder");
        let clock = folder.path().join("clock");
        std::fs::write(&clock, "+0").expect("a clock");
        let database = format!("sqlite:{}", folder.path().join("a.db").display());
        let variables = [
            ("LD_PRELOAD", &*library),
            ("FAKETIME_TIMESTAMP_FILE", clock.to_str().expect("a path")),
            ("FAKETIME_NO_CACHE", "1"),
            // As on a real machine: only the time of day jumps.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let daemon = Daemon::start(&database, &variables);
        let machine = Machine { daemon, clock, _folder: folder };
        machine.jump(0);
        Some(machine)
    }

    /// Sets the clock this many seconds from the true time. Returns once the database sees it.
    fn jump(&self, seconds: i64) {
        let new = self.clock.with_extension("new");
        std::fs::write(&new, format!("{seconds:+}")).expect("a clock");
        std::fs::rename(new, &self.clock).expect("a clock");
        let id = self.push("the-clock", "");
        let now = SystemTime::UNIX_EPOCH.elapsed().expect("a time").as_secs() as i64;
        let seen = self.daemon.ask("GET", &format!("/jobs/{id}"), "").int("/queued_at") / 1_000;
        assert!((seen - now - seconds).abs() < HOUR / 4, "the database's clock is {} s off, not {seconds}", seen - now);
    }

    fn push(&self, queue: &str, more: &str) -> String {
        let answer = self.daemon.ask("POST", &format!("/jobs?queue={queue}{more}"), "[1]");
        assert_eq!(answer.code, 201, "{answer:?}");
        answer.str("/id")
    }

    /// Claims the next job of a queue: its id, its token, and the number of the attempt.
    fn claim(&self, queue: &str, lease: &str) -> Option<(String, String, i64)> {
        let answer = self.daemon.ask("POST", &format!("/queues/{queue}/claim?lease={lease}"), "");
        assert_eq!(answer.code, 200, "{answer:?}");
        (answer.json()["jobs"] != Value::Array(Vec::new()))
            .then(|| (answer.str("/jobs/0/id"), answer.str("/jobs/0/token"), answer.int("/jobs/0/attempt")))
    }

    /// Posts `ack`, `nack` or `extend` for a job. Returns the status code.
    fn post_action(&self, action: &str, id: &str, token: &str) -> u16 {
        self.daemon.ask("POST", &format!("/jobs/{id}/{action}"), &format!("{{\"token\":\"{token}\"}}")).code
    }

    fn state(&self, id: &str) -> String {
        self.daemon.ask("GET", &format!("/jobs/{id}"), "").str("/state")
    }

    /// Checks that the daemon is well, and that all numbers make sense.
    fn check(&mut self) {
        assert!(self.daemon.is_alive());
        assert_eq!(self.daemon.ask("GET", "/healthz", "").code, 200);
        let metrics = self.daemon.ask("GET", "/metrics", "").text;
        for line in metrics.lines().filter(|line| !line.starts_with('#')) {
            let value: f64 = line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect(line);
            assert!(value >= 0.0 && value.is_finite(), "{line}");
        }
        let queues = self.daemon.ask("GET", "/queues", "").json();
        for queue in queues["queues"].as_array().expect("queues") {
            assert!(queue["oldest"].as_i64().unwrap_or(0) >= 0, "{queue}");
        }
    }

    /// Lets the clock jump while a client waits for a job that does not come. The client must get the empty
    /// answer, and not before its wait is over.
    fn jump_during_poll(&self, seconds: i64) {
        const WAIT: Duration = Duration::from_secs(2);
        let to = self.daemon.address;
        let begun = Instant::now();
        let poll = std::thread::spawn(move || ask(to, "POST", "/queues/nothing/claim?wait=2s", "").expect("an answer"));
        self.jump(seconds);
        let answer = poll.join().expect("it ended");
        assert_eq!((answer.code, answer.json()["jobs"].as_array().map(Vec::len)), (200, Some(0)));
        assert!(begun.elapsed() >= WAIT);
    }
}

#[test]
fn a_clock_that_jumps_forward_repeats_expired_jobs_once() {
    let Some(mut machine) = Machine::start() else { return };
    let (leased, later) = (machine.push("q", ""), machine.push("later", "&delay=30m"));
    let (id, old_token, attempt) = machine.claim("q", "10m").expect("a job");
    assert_eq!((&id, attempt), (&leased, 1));
    assert_eq!(machine.claim("q", "10m"), None, "it is somebody's");
    assert_eq!(machine.claim("later", "10m"), None, "it is not due");
    machine.jump_during_poll(HOUR);
    machine.check();
    // The lease has expired by this clock: the job is handed out once more, exactly once.
    let (id, new_token, attempt) = machine.claim("q", "10m").expect("the job again");
    assert_eq!((&id, attempt), (&leased, 2));
    assert_eq!(machine.claim("q", "10m"), None);
    // The previous worker gets an error, and can't disturb the new one.
    for action in ["extend", "nack", "ack"] {
        assert_eq!(machine.post_action(action, &id, &old_token), 409, "{action}");
    }
    assert_eq!(machine.post_action("ack", &id, &new_token), 200);
    // The delayed job is due now.
    let (id, token, _) = machine.claim("later", "10m").expect("it is due");
    assert_eq!(id, later);
    assert_eq!(machine.post_action("ack", &id, &token), 200);
    assert_eq!((machine.state(&leased), machine.state(&later)), ("done".into(), "done".into()));
    machine.check();
}

#[test]
fn a_clock_that_jumps_back_loses_nothing() {
    let Some(mut machine) = Machine::start() else { return };
    machine.jump(HOUR);
    let (held, abandoned) = (machine.push("held", ""), machine.push("abandoned", ""));
    let (_, held_token, _) = machine.claim("held", "10m").expect("a job");
    let (_, abandoned_token, _) = machine.claim("abandoned", "10m").expect("a job");
    let waiting = machine.push("q", "");
    machine.jump_during_poll(0);
    machine.check();
    // Nothing is lost. Jobs that were queued by the old clock wait until the clock reaches that time again.
    assert_eq!(machine.state(&waiting), "ready");
    assert_eq!(machine.claim("q", "10m"), None);
    // New jobs do not wait.
    let new_id = machine.push("q", "");
    let (id, token, _) = machine.claim("q", "10m").expect("the new job");
    assert_eq!((&id, machine.post_action("ack", &id, &token)), (&new_id, 200));
    // A worker that is alive keeps its job, and records its result.
    assert_eq!(machine.claim("held", "10m"), None);
    assert_eq!(
        (machine.post_action("extend", &held, &held_token), machine.post_action("ack", &held, &held_token)),
        (200, 200)
    );
    // The job of a dead worker is handed out when its lease expires by the clock.
    assert_eq!(machine.claim("abandoned", "10m"), None);
    machine.check();
    machine.jump_during_poll(HOUR + HOUR / 3);
    for (queue, expected) in [("q", &waiting), ("abandoned", &abandoned)] {
        let (id, token, _) = machine.claim(queue, "10m").unwrap_or_else(|| panic!("a job of {queue}"));
        assert_eq!((&id, machine.post_action("ack", &id, &token)), (expected, 200));
    }
    assert_eq!(machine.post_action("ack", &abandoned, &abandoned_token), 409);
    assert_eq!(machine.state(&abandoned), "done");
    machine.check();
}

#[test]
fn a_clock_that_jumps_all_the_time_loses_nothing() {
    let Some(mut machine) = Machine::start() else { return };
    let mut ids = Vec::new();
    for turn in 0..20 {
        machine.jump([0, HOUR, -HOUR, 24 * HOUR, -24 * HOUR][turn % 5]);
        ids.push(machine.push("q", ""));
        if let Some((id, token, _)) = machine.claim("q", "10m") {
            // It belongs to this worker, whatever the time is.
            assert_eq!(machine.post_action("ack", &id, &token), 200);
        }
        machine.check();
    }
    // When the clock stops jumping, all jobs get done.
    machine.jump(48 * HOUR);
    while let Some((id, token, _)) = machine.claim("q", "10m") {
        assert_eq!(machine.post_action("ack", &id, &token), 200);
    }
    for id in &ids {
        assert_eq!(machine.state(id), "done", "{id}");
    }
}
