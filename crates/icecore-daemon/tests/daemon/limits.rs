//! Limits, tokens and slow clients.

use crate::client::{Daemon, read};
use icecore_daemon::{Rate, Server, Settings, StartError};
use std::io::{Read, Write};
use std::time::Duration;

#[test]
fn bodies_that_are_too_long_are_refused() {
    let daemon = Daemon::with(|settings| settings.max_body_len = 1_000);
    assert_eq!(daemon.post("/objects", [b'x'; 1_000]).code, 201);
    for length in [1_001, 3_000_000] {
        let answer = daemon.post("/objects", vec![b'x'; length]);
        assert_eq!((answer.code, answer.kind()), (413, "too-long".into()));
    }
    // Without a length, in chunks.
    let mut stream = daemon.connect();
    let head = "POST /objects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("it is sent");
    for _ in 0..2 {
        stream.write_all(format!("400\r\n{}\r\n", "x".repeat(1_024)).as_bytes()).expect("it is sent");
    }
    stream.write_all(b"0\r\n\r\n").expect("it is sent");
    assert_eq!(read(&mut stream).code, 413);
    // A client that sends `Expect` gets its answer before the body.
    let mut stream = daemon.connect();
    let head =
        "POST /objects HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9999999999\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("it is sent");
    assert_eq!(read(&mut stream).code, 413);
}

#[test]
fn the_memory_of_all_bodies_is_limited() {
    let daemon = Daemon::with(|settings| settings.max_body_memory = 10 << 10);
    let answer = daemon.post("/objects", vec![b'x'; 20 << 10]);
    assert_eq!(answer.code, 503);
    assert!(answer.head.to_ascii_lowercase().contains("retry-after: 1"), "{}", answer.head);
    // Refused requests gave their share back.
    for _ in 0..20 {
        assert_eq!(daemon.post("/objects", vec![b'x'; 8 << 10]).code, 201);
    }
}

#[test]
fn slow_bodies_time_out() {
    let daemon = Daemon::with(|settings| settings.body_timeout = Duration::from_millis(100));
    let mut stream = daemon.connect();
    let head = "POST /objects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx";
    stream.write_all(head.as_bytes()).expect("it is sent");
    // The answer, and then the end of the connection.
    assert_eq!(read(&mut stream).code, 408);
}

#[test]
fn slow_heads_and_silent_clients_time_out() {
    let daemon = Daemon::with(|settings| settings.head_timeout = Duration::from_millis(100));
    for begun in ["", "GET /healthz HTTP/1.1\r\nHost:", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
        let mut stream = daemon.connect();
        stream.write_all(begun.as_bytes()).expect("it is sent");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("the connection ends");
        assert_eq!(rest.starts_with(b"HTTP/1.1 200"), begun.ends_with("\r\n\r\n"), "{begun}");
    }
}

#[test]
fn clients_that_do_not_read_their_answer_time_out() {
    let daemon = Daemon::with(|settings| settings.body_timeout = Duration::from_millis(500));
    let id = daemon.post("/objects", vec![b'x'; 12 << 20]).id();
    let mut stream = daemon.connect();
    let head = format!("GET /objects/{id}/bytes HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it is sent");
    // Starts to read when the only connection of the daemon is the one of this request.
    while !daemon.get("/metrics").text().contains("icecore_http_connections 1\n") {
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.len() < 12 << 20, "{}", rest.len());
}

#[test]
fn requests_of_an_address_are_rate_limited() {
    let daemon = Daemon::with(|settings| settings.rate = Some(Rate { per_second: 0.001, burst: 3.0 }));
    let codes: Vec<u16> = (0..4).map(|_| daemon.get("/healthz").code).collect();
    assert_eq!(codes, [200, 200, 200, 429]);
    let answer = daemon.get("/jobs");
    assert_eq!(answer.kind(), "rate");
    assert!(answer.head.to_ascii_lowercase().contains("retry-after: "), "{}", answer.head);
}

#[test]
fn requests_without_the_token_are_refused() {
    let daemon = Daemon::with(|settings| settings.token = Some("secret".into()));
    let answer = daemon.get("/jobs");
    assert_eq!((answer.code, answer.kind()), (401, "token".into()));
    assert!(!answer.text().contains("secret"));
    assert_eq!(daemon.ask("GET", "/jobs", &["Authorization: Bearer other"], b"").code, 401);
    assert_eq!(daemon.ask("GET", "/jobs", &["Authorization: Bearer secret"], b"").code, 200);
    assert_eq!(daemon.get("/healthz").code, 200);
    for path in ["/metrics", "/openapi.json", "/nothing"] {
        assert_eq!(daemon.get(path).code, 401, "{path}");
    }
    // With a body that the daemon does not read to its end.
    assert_eq!(daemon.post("/objects", vec![b'x'; 500_000]).code, 401);
}

#[test]
fn listening_on_other_addresses_needs_a_token() {
    let folder = tempfile::tempdir().expect("a folder");
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let mut settings = Settings::new(crate::client::address(&folder));
        settings.listen = listen.to_owned();
        settings.quiet = true;
        assert!(matches!(Server::start(settings.clone()), Err(StartError::NoToken(_))), "{listen}");
        settings.token = Some(String::new());
        assert!(matches!(Server::start(settings), Err(StartError::NoToken(_))), "{listen}");
    }
    let mut settings = Settings::new(crate::client::address(&folder));
    (settings.listen, settings.token, settings.quiet) = ("0.0.0.0:0".into(), Some("secret".into()), true);
    Server::start(settings).expect("it has a token").stop();
    let mut settings = Settings::new(crate::client::address(&folder));
    settings.listen = "nowhere".to_owned();
    assert!(matches!(Server::start(settings), Err(StartError::Listen(..))));
}
