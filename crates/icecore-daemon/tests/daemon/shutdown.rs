//! The end of the daemon.

use crate::client::Daemon;
use crate::double::{Controls, opener};
use icecore_store::{Command, Job, Outcome, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Checks that the shutdown ends in time: within the hard limit of ten seconds, plus what a busy
/// machine adds.
fn assert_ends(daemon: &mut Daemon) {
    let began = Instant::now();
    daemon.server.take().expect("it runs").stop();
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_shutdown_answers_running_requests() {
    let (begun, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (has_begun, may_end) = (Arc::clone(&begun), Arc::clone(&go_on));
    let mut daemon = Daemon::with(|settings| {
        settings.grace = Duration::from_secs(50);
        let runner = move |_: &Job| {
            has_begun.store(true, Ordering::SeqCst);
            while !may_end.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            Outcome::Done(Some(b"7".to_vec()))
        };
        settings.commands.insert("q".into(), Arc::new(runner));
    });
    let server = daemon.server.take().expect("it runs");
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| daemon.post_json("/jobs?queue=q&run=now", "1"));
        while !begun.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let stop = server.stopper();
        let waiting = scope.spawn(|| server.wait());
        stop();
        // The daemon soon stops accepting connections.
        while std::net::TcpStream::connect(daemon.address).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        go_on.store(true, Ordering::SeqCst);
        let answer = asking.join().expect("an answer");
        assert_eq!((answer.code, &answer.json()["result"]), (200, &serde_json::json!(7)));
        waiting.join().expect("its end");
    });
}

#[test]
fn a_shutdown_ends_long_polls_at_once() {
    let mut daemon = Daemon::with(|settings| settings.grace = Duration::from_secs(50));
    let server = daemon.server.take().expect("it runs");
    std::thread::scope(|scope| {
        let polls: Vec<_> = (0..3).map(|_| scope.spawn(|| daemon.post("/queues/q/claim?wait=600", ""))).collect();
        while !daemon.get("/metrics").text().contains("icecore_http_connections 4") {
            std::thread::sleep(Duration::from_millis(5));
        }
        server.stop();
        for poll in polls {
            let answer = poll.join().expect("an answer");
            assert_eq!((answer.code, answer.json()), (200, serde_json::json!({ "jobs": [] })));
        }
    });
}

#[test]
fn a_shutdown_kills_slow_commands_and_returns_their_jobs() {
    let mut daemon = Daemon::with(|settings| {
        settings.grace = Duration::from_millis(50);
        let mut command = Command::new("sleep 1000");
        command.stop = settings.stop.clone();
        settings.commands.insert("q".into(), Arc::new(command));
    });
    let address = crate::client::address(&daemon.folder);
    let mut store = icecore_store::open(&address).expect("a database");
    let server = daemon.server.take().expect("it runs");
    std::thread::scope(|scope| {
        // The connection may end without an answer.
        scope.spawn(|| {
            use std::io::Write;
            let mut stream = daemon.connect();
            let head = "POST /jobs?queue=q&run=now HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1";
            stream.write_all(head.as_bytes()).expect("it is sent");
            let _ = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
        });
        let state = |store: &mut dyn icecore_store::Backend| {
            let mut state = None;
            let mut see = |job: Job| {
                state = Some(job.state);
                Ok(icecore_store::Flow::Continue)
            };
            store.jobs(&Default::default(), 1, &mut see).expect("an answer");
            state
        };
        while state(&mut *store) != Some(State::Leased) {
            std::thread::sleep(Duration::from_millis(5));
        }
        server.stop();
        assert_eq!(state(&mut *store), Some(State::Ready));
    });
}

#[test]
fn idle_clients_and_a_stuck_database_do_not_delay_a_shutdown() {
    let (controls, folder) = (Arc::new(Controls::default()), tempfile::tempdir().expect("a folder"));
    let open = opener(crate::client::address(&folder), Arc::clone(&controls));
    let mut daemon = Daemon::with(|settings| {
        settings.open = open;
        settings.grace = Duration::from_millis(100);
    });
    let _idle = daemon.connect();
    let lock = controls.gate.lock().expect("the gate");
    use std::io::Write;
    let mut stuck = daemon.connect();
    stuck.write_all(b"POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1").expect("it is sent");
    while controls.arrived.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_ends(&mut daemon);
    drop(lock);
}

#[test]
fn another_daemon_continues_after_a_shutdown() {
    let daemon = Daemon::start();
    let id = daemon.push("queue=q", "1");
    let folder = crate::client::address(&daemon.folder);
    let Daemon { folder: _kept, server, .. } = daemon;
    server.expect("it runs").stop();
    let second = Daemon::with(|settings| settings.open = Arc::new(move || icecore_store::open(&folder)));
    assert_eq!(second.get(&format!("/jobs/{id}")).code, 200);
    second.stop();
}
