//! Schedules, limits and chains.

use crate::client::{Answer, Daemon};
use icecore_store::{Command, open};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn put(daemon: &Daemon, path: &str, body: &str) -> Answer {
    daemon.ask("PUT", path, &["Content-Type: application/json"], body.as_bytes())
}

#[test]
fn a_job_waits_for_its_predecessor() {
    let daemon = Daemon::start();
    let first = daemon.push("queue=q", "1");
    let second = daemon.push(&format!("queue=q&after={first}"), "2");
    let job = daemon.get(&format!("/jobs/{second}")).json();
    assert_eq!((&job["state"], &job["after"]), (&json!("waiting"), &json!(first)));
    assert_eq!(daemon.get("/queues").json()["queues"][0]["waiting"], json!(1));
    assert_eq!(daemon.get("/jobs?state=waiting").str("/jobs/0/id"), second);
    let (id, token) = daemon.claim("q");
    assert_eq!(id, first);
    assert_eq!(daemon.post("/queues/q/claim", "").json(), json!({ "jobs": [] }));
    assert_eq!(daemon.post(&format!("/jobs/{id}/ack?token={token}"), "").code, 200);
    assert_eq!(daemon.claim("q").0, second);
    let nobody = daemon.post_json("/jobs?queue=q&after=01890a5d-ac96-774b-bcce-b302099a8057", "3");
    assert_eq!((nobody.code, nobody.kind()), (404, "missing".to_owned()));
    let senseless = daemon.post_json("/jobs?queue=q&after=1", "3");
    assert_eq!((senseless.code, senseless.kind()), (400, "parameter".to_owned()));
}

/// A job that can't be stored does not affect those that are committed together with it.
#[test]
fn a_refused_job_does_not_affect_others_of_its_transaction() {
    let daemon = Daemon::start();
    let first = daemon.push("queue=q", "1");
    let codes: Vec<u16> = std::thread::scope(|scope| {
        let push = |number: usize| {
            let after = if number.is_multiple_of(3) { "01890a5d-ac96-774b-bcce-b302099a8057" } else { &first };
            daemon.post_json(&format!("/jobs?queue=q&after={after}"), "2").code
        };
        let threads: Vec<_> = (0..24).map(|number| scope.spawn(move || push(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a code")).collect()
    });
    let expected: Vec<u16> = (0..24_usize).map(|number| if number.is_multiple_of(3) { 404 } else { 201 }).collect();
    assert_eq!(codes, expected);
    assert_eq!(daemon.get("/queues").json()["queues"][0]["waiting"], json!(16));
}

#[test]
fn limits_of_a_queue_are_set_and_applied() {
    let daemon = Daemon::with(|settings| {
        settings.commands.insert("q".into(), Arc::new(Command::new("cat")));
    });
    for number in 0..5 {
        daemon.push("queue=q", &number.to_string());
    }
    let set = put(&daemon, "/queues/q/limits?concurrency=2&rate=3/1h", "");
    assert_eq!((set.code, set.json()), (200, json!({ "queue": "q", "concurrency": 2, "rate": "3/1h" })));
    let queue = daemon.get("/queues").json()["queues"][0].clone();
    assert_eq!((&queue["concurrency"], &queue["rate"]), (&json!(2), &json!("3/1h")));
    let claimed = daemon.post("/queues/q/claim?max=9", "").json();
    assert_eq!(claimed["jobs"].as_array().map(Vec::len), Some(2));
    let late = daemon.post_json("/jobs?queue=q&run=now", "9");
    assert_eq!((late.code, late.kind()), (429, "limited".to_owned()));
    assert!(late.head.to_ascii_lowercase().contains("retry-after: 1"), "{late:?}");
    assert_eq!(daemon.get("/queues").json()["queues"][0]["ready"], json!(3), "it is not stored");
    let set = put(&daemon, "/queues/q/limits", r#"{"concurrency": 0}"#);
    assert_eq!(set.json(), json!({ "queue": "q", "concurrency": 0 }));
    assert_eq!(daemon.post("/queues/q/claim?max=9", "").json()["jobs"].as_array().map(Vec::len), Some(1));
    put(&daemon, "/queues/q/limits", r#"{"rate": "none"}"#);
    let queue = daemon.get("/queues").json()["queues"][0].clone();
    assert_eq!((&queue["concurrency"], &queue["rate"]), (&json!(null), &json!(null)));
    assert_eq!(daemon.post_json("/jobs?queue=q&run=now", "9").code, 200);
    for (path, body) in
        [("?rate=5", ""), ("?concurrency=-1", ""), ("", ""), ("", r#"{"rate": "x/y"}"#), ("", r#"{"other": 1}"#)]
    {
        assert_eq!(put(&daemon, &format!("/queues/q/limits{path}"), body).code, 400, "{path} {body}");
    }
}

/// A waiting client is woken when a limit is removed.
#[test]
fn removing_a_limit_wakes_waiting_clients() {
    let daemon = Daemon::start();
    put(&daemon, "/queues/q/limits?rate=1/1h", "");
    daemon.push("queue=q", "1");
    daemon.push("queue=q", "2");
    daemon.claim("q");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| daemon.post("/queues/q/claim?wait=60", "").json());
        put(&daemon, "/queues/q/limits?rate=none", "");
        assert_eq!(waits.join().expect("an answer")["jobs"].as_array().map(Vec::len), Some(1));
    });
}

#[test]
fn a_schedule_queues_its_jobs() {
    let daemon = Daemon::start();
    let set =
        put(&daemon, "/schedules/each%20second?timing=*+*+*+*+*+*&queue=q&priority=3&max_attempts=2", r#"{"a": 1}"#);
    assert_eq!((set.code, set.str("/schedule")), (200, "each second".to_owned()));
    let claimed = daemon.post("/queues/q/claim?wait=60", "").json();
    let job = &claimed["jobs"][0];
    assert_eq!((&job["payload"], &job["priority"], &job["max_attempts"]), (&json!({ "a": 1 }), &json!(3), &json!(2)));
    let all = daemon.get("/schedules").json();
    let one = &all["schedules"][0];
    assert_eq!(
        (&one["name"], &one["timing"], &one["zone"]),
        (&json!("each second"), &json!("* * * * * *"), &json!("UTC"))
    );
    assert_eq!((&one["queue"], &one["payload"], &one["alone"]), (&json!("q"), &json!({ "a": 1 }), &json!(false)));
    assert!(one["last_at"].is_i64() && one["last_id"].is_string() && one["next_at"].is_i64(), "{one}");
    assert_eq!(daemon.get("/schedules?brief=true").json()["schedules"][0]["payload"], json!(null));
    assert_eq!(daemon.post("/schedules/each%20second/pause", "").json()["is_paused"], json!(true));
    assert_eq!(daemon.get("/schedules").json()["schedules"][0]["next_at"], json!(null));
    assert_eq!(daemon.post("/schedules/each%20second/resume", "").code, 200);
    assert_eq!(daemon.ask("DELETE", "/schedules/each%20second", &[], b"").code, 200);
    assert_eq!(daemon.ask("DELETE", "/schedules/each%20second", &[], b"").code, 404);
    assert_eq!(daemon.post("/schedules/each%20second/pause", "").code, 404);
}

#[test]
fn invalid_schedules_are_refused() {
    let daemon = Daemon::start();
    let schema = r#"{"type": "object", "required": ["to"]}"#;
    assert_eq!(put(&daemon, "/queues/q/schema", schema).code, 200);
    for (query, body, kind) in [
        ("queue=q", "{}", "parameter"),
        ("timing=soon", "{}", "input"),
        ("timing=0+0+30+2+*", "{}", "input"),
        ("timing=@daily&zone=Mars", "{}", "input"),
        ("timing=@daily&alone=perhaps", "{}", "parameter"),
        ("timing=@daily&queue=q", r#"{"too": 1}"#, "schema"),
        ("timing=@daily", r#"{"to":}"#, "malformed"),
    ] {
        let answer = put(&daemon, &format!("/schedules/a?{query}"), body);
        assert_eq!((answer.code, &*answer.kind()), (400, kind), "{query} {body}: {answer:?}");
    }
    assert_eq!(daemon.get("/schedules").json(), json!({ "schedules": [] }));
    assert_eq!(put(&daemon, "/schedules/a?timing=@daily&queue=q", r#"{"to": 1}"#).code, 200);
}

/// Times that passed while no daemon ran create one job when one runs again.
#[test]
fn missed_times_create_one_job() {
    let daemon = Daemon::start();
    put(&daemon, "/schedules/a?timing=every+1h&queue=q", "1");
    let address = crate::client::address(&daemon.folder);
    let mut store = open(&address).expect("a store");
    let database = address.to_string();
    let connection = icecore_store::within::rusqlite::Connection::open(database.trim_start_matches("sqlite:"))
        .expect("the database");
    connection.execute("UPDATE icecore_schedules SET next_at = 1000", []).expect("changed");
    let begun = Instant::now();
    while store.queues().expect("queues").iter().all(|queue| queue.counts[0] == 0) {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    let claimed = daemon.post("/queues/q/claim?max=9", "").json();
    assert_eq!(claimed["jobs"].as_array().map(Vec::len), Some(1));
}
