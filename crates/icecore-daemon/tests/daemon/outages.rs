//! A database that is unavailable, slow, or broken.

use crate::client::{Daemon, address};
use crate::double::{Controls, opener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn start_daemon(set: impl FnOnce(&mut icecore_daemon::Settings)) -> (Daemon, Arc<Controls>, tempfile::TempDir) {
    let (controls, folder) = (Arc::new(Controls::default()), tempfile::tempdir().expect("a folder"));
    let open = opener(address(&folder), Arc::clone(&controls));
    let daemon = Daemon::with(|settings| {
        settings.open = open;
        set(settings);
    });
    (daemon, controls, folder)
}

/// Repeats a request until it gets this answer.
fn wait_for_code(code: u16, ask: impl Fn() -> u16) {
    for _ in 0..600 {
        if ask() == code {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("never {code}");
}

#[test]
fn a_database_that_returns_is_used_again() {
    let (daemon, controls, _folder) = start_daemon(|_| ());
    let id = daemon.push("queue=q", "1");
    controls.is_away.store(true, Ordering::SeqCst);
    let health = daemon.get("/healthz");
    assert_eq!(health.code, 503);
    assert!(health.str("/problem").contains("went away"));
    let answer = daemon.post_json("/jobs", "1");
    assert_eq!((answer.code, answer.kind()), (503, "away".into()));
    assert!(answer.head.to_ascii_lowercase().contains("retry-after"), "{}", answer.head);
    for (method, path) in
        [("GET", format!("/jobs/{id}")), ("GET", "/queues".into()), ("POST", "/queues/q/claim?wait=60".into())]
    {
        assert_eq!(daemon.ask(method, &path, &[], b"").code, 503, "{path}");
    }
    assert!(daemon.get("/metrics").text().contains("icecore_database_up 0"));
    controls.is_away.store(false, Ordering::SeqCst);
    wait_for_code(200, || daemon.get("/healthz").code);
    wait_for_code(200, || daemon.get(&format!("/jobs/{id}")).code);
    wait_for_code(201, || daemon.post_json("/jobs", "1").code);
}

#[test]
fn a_daemon_starts_without_its_database() {
    let (controls, folder) = (Arc::new(Controls::default()), tempfile::tempdir().expect("a folder"));
    controls.is_away.store(true, Ordering::SeqCst);
    let open = opener(address(&folder), Arc::clone(&controls));
    let daemon = Daemon::with(|settings| settings.open = open);
    assert_eq!(daemon.get("/healthz").code, 503);
    controls.is_away.store(false, Ordering::SeqCst);
    wait_for_code(200, || daemon.get("/healthz").code);
}

#[test]
fn a_panic_in_the_database_becomes_an_answer() {
    let (daemon, controls, _folder) = start_daemon(|_| ());
    controls.panics.store(true, Ordering::SeqCst);
    assert_eq!(daemon.get("/queues").code, 500);
    assert_eq!(daemon.post_json("/jobs", "1").code, 500);
    controls.panics.store(false, Ordering::SeqCst);
    wait_for_code(200, || daemon.get("/queues").code);
    wait_for_code(201, || daemon.post_json("/jobs", "1").code);
}

#[test]
fn requests_beyond_the_queue_are_refused_for_now() {
    let (daemon, controls, _folder) = start_daemon(|settings| settings.max_waiting_requests = 1);
    let lock = controls.gate.lock().expect("the gate");
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(|| daemon.post_json("/jobs", "1").code)).collect();
        // With one push at the gate and one that waits, all others are refused immediately.
        while asking.iter().filter(|asking| asking.is_finished()).count() < 14 {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(lock);
        let codes: Vec<u16> = asking.into_iter().map(|asking| asking.join().expect("a code")).collect();
        assert!(codes.iter().all(|code| [201, 503].contains(code)), "{codes:?}");
        assert!(codes.contains(&201) && codes.iter().filter(|code| **code == 503).count() >= 14, "{codes:?}");
    });
    assert_eq!(daemon.post_json("/jobs", "1").code, 201);
}

#[test]
fn a_database_that_does_not_answer_times_out() {
    let (daemon, controls, _folder) = start_daemon(|settings| settings.database_timeout = Duration::from_millis(100));
    let lock = controls.gate.lock().expect("the gate");
    assert_eq!(daemon.post_json("/jobs", "1").code, 503);
    assert_eq!(daemon.get("/healthz").code, 200);
    drop(lock);
}
