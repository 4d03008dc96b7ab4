//! Hostile bodies and requests: each gets an answer, and the daemon survives.

use crate::client::{Daemon, read};
use std::io::Write;

fn assert_alive(daemon: &Daemon) {
    assert_eq!(daemon.get("/healthz").code, 200);
}

#[test]
fn json_deeper_than_the_limit_is_refused() {
    let daemon = Daemon::start();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let answer = daemon.post_json("/jobs", &deep);
    assert_eq!((answer.code, answer.kind()), (400, "limit".into()));
    let deep_object = "{\"a\":".repeat(100_000);
    assert_eq!(daemon.post_json("/jobs", &deep_object).code, 400);
    let stored = daemon.post("/objects", &deep);
    assert_eq!(stored.code, 201);
    assert!(stored.json()["problem"].is_string());
    assert_eq!(daemon.get(&format!("/objects/{}/bytes", stored.id())).body, deep.as_bytes());
    // Within the limit of the engine, but beyond the limit of other JSON parsers.
    let nested = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let id = daemon.push("queue=q", &nested);
    assert!(daemon.get(&format!("/jobs/{id}")).text().contains(&nested));
    assert_eq!(daemon.post_json("/jobs/01890a5d-ac96-774b-bcce-b302099a8057/ack", &deep).code, 400);
    assert_eq!(daemon.ask("PUT", "/queues/q/schema", &[], deep.as_bytes()).code, 400);
    assert_alive(&daemon);
}

#[test]
#[cfg(feature = "schema")]
fn deep_payloads_are_not_checked_against_a_schema() {
    let daemon = Daemon::start();
    daemon.ask("PUT", "/queues/q/schema", &[], br##"{"items":{"$ref":"#"}}"##);
    let nested = format!("{}{}", "[".repeat(900), "]".repeat(900));
    assert_eq!(daemon.post_json("/jobs?queue=q", nested).kind(), "schema");
    daemon.push("queue=q", "[[[[]]]]");
    assert_alive(&daemon);
}

#[test]
fn broken_blobs_are_refused_or_kept_with_a_note() {
    let daemon = Daemon::start();
    let zip_bomb = "sereal:compress=zstd";
    let long = b"\x04\x08[\x04\xff\xff\xff\x7f";
    for (format, bytes) in [
        ("marshal", &b"\x04\x08[\x06"[..]),
        ("marshal", b"a:0:{}"),
        ("marshal", long),
        ("php", b"a:2147483647:{"),
        ("php", b"s:9223372036854775807:\"a\";"),
        ("storable", b"pst0\x05\x0b\x02\xff\xff\xff\x7f"),
        ("sereal", b"=\xf3rl\x04\x00\x28\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        ("base64/marshal", b"!!!"),
        ("json", b"\xff\xfe"),
        (zip_bomb, b"x"),
    ] {
        let answer = daemon.post(&format!("/jobs?format={format}"), bytes);
        assert_eq!(answer.code, 400, "{format} {answer:?}");
        assert!(!answer.str("/error/message").is_empty());
        let stored = daemon.post(&format!("/objects?format={format}"), bytes);
        assert!([201, 400].contains(&stored.code), "{stored:?}");
    }
    assert_eq!(daemon.post("/jobs?format=nothing", "1").code, 400);
    // No format was declared: the job is kept with a note of the problem.
    let kept = daemon.post("/jobs", b"\x04\x08[\x06");
    assert_eq!(kept.code, 201);
    assert!(kept.json()["problem"].is_string());
    assert!(daemon.get(&format!("/jobs/{}", kept.id())).json()["payload"].is_null());
    assert_alive(&daemon);
}

#[test]
fn invalid_parameters_are_refused() {
    let daemon = Daemon::start();
    for path in [
        "/jobs?priority=x",
        "/jobs?delay=soon",
        "/jobs?max_attempts=-1",
        "/jobs?prioity=1",
        "/jobs?queue=%ff",
        "/jobs?queue=%00",
        "/jobs?run=later",
    ] {
        assert_eq!(daemon.post_json(path, "1").code, 400, "{path}");
    }
    let long = "q".repeat(300);
    assert_eq!(daemon.post_json(&format!("/jobs?queue={long}"), "1").code, 400);
    assert_eq!(daemon.post(&format!("/objects?key={long}"), "1").code, 400);
    assert_eq!(daemon.get("/jobs/not-an-id").code, 404);
    assert_eq!(daemon.get("/jobs/%ff").code, 400);
    for bytes in
        [&b"\x16\x03\x01\x02\x00\x01\x00"[..], b"GET\r\n\r\n", b"POST /jobs HTTP/1.1\r\nContent-Length: x\r\n\r\n"]
    {
        let mut stream = daemon.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut rest);
        assert!(!rest.starts_with(b"HTTP/1.1 2"), "{bytes:?}");
    }
    assert_alive(&daemon);
}

#[test]
fn a_body_that_ends_early_stores_nothing() {
    let daemon = Daemon::start();
    let mut stream = daemon.connect();
    let head = b"POST /objects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 100\r\n\r\nabc";
    stream.write_all(head).expect("it is sent");
    stream.shutdown(std::net::Shutdown::Write).expect("it ends");
    let mut rest = Vec::new();
    let _ = std::io::Read::read_to_end(&mut stream, &mut rest);
    assert!(!rest.starts_with(b"HTTP/1.1 2"));
    assert_eq!(daemon.get("/objects").json()["objects"], serde_json::json!([]));
}

#[test]
fn other_sites_cannot_push() {
    let daemon = Daemon::start();
    let answer = daemon.ask("POST", "/jobs", &["Origin: http://evil.example"], b"1");
    assert_eq!((answer.code, answer.kind()), (403, "origin".into()));
    let mut stream = daemon.connect();
    stream.write_all(b"GET /jobs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").expect("it is sent");
    assert_eq!(read(&mut stream).code, 403);
}

/// Answers do not name options of the command, because HTTP clients have none. They only advise what a client can do.
#[test]
fn answers_do_not_name_options_of_the_command() {
    let daemon = Daemon::start();
    let deep = "[".repeat(2_000) + &"]".repeat(2_000);
    let deep_php = "a:1:{i:0;".repeat(2_000) + "i:1;" + &"}".repeat(2_000);
    let sent =
        [("json", &*deep), ("php", &*deep_php), ("php", "i:1;i:2;"), ("php", "i:1;\n\n"), ("perl", "x"), ("gzip", "x")];
    let mut answers = vec![daemon.get("/openapi.json").text(), daemon.get("/nowhere").text()];
    for (format, body) in sent {
        if let Some(id) = daemon.post("/jobs?queue=q", body).json()["id"].as_str() {
            for route in [
                format!("/jobs/{id}/inspect?format={format}"),
                format!("/jobs/{id}/payload?to={format}"),
                format!("/jobs/{id}"),
            ] {
                answers.push(daemon.get(&route).text());
            }
        }
        answers.push(daemon.post(&format!("/jobs?queue=q&format={format}"), body).text());
        answers.push(daemon.post(&format!("/objects?format={format}"), body).text());
    }
    for query in ["limit=x", "state=nothing", "delay=soon", "after=x", "run=now"] {
        answers.push(daemon.get(&format!("/jobs?{query}")).text());
        answers.push(daemon.post(&format!("/jobs?queue=q&{query}"), "[1]").text());
    }
    for text in &answers {
        assert!(!text.contains(" --") && !text.contains("`--"), "{text}");
        assert!(!text.contains("raise the limit"), "{text}");
    }
    assert!(answers.iter().any(|text| text.contains("this is a limit of the server")), "{answers:#?}");
}
