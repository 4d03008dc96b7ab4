//! The host name of a request.

use crate::client::{Answer, Daemon, read};
use std::io::Write;

/// Sends a head as it is given.
fn ask(daemon: &Daemon, head: &str) -> Answer {
    let mut stream = daemon.connect();
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).expect("it is sent");
    read(&mut stream)
}

const HOSTILE: [&str; 13] = [
    "Host: [::1].evil\r\n",
    "Host: [::1].evil:7340\r\n",
    "Host: [::1]:7340.evil\r\n",
    "Host: localhost\r\nHost: evil.example\r\n",
    "Host: localhost\r\nHost: localhost\r\n",
    "host: evil.example\r\nHOST: localhost\r\n",
    "Host: user@localhost\r\n",
    "Host: localhost@evil.example\r\n",
    "Host: localhost:80:80\r\n",
    "Host: localhost, evil.example\r\n",
    "Host: 1::2:7340\r\n",
    "Host:\r\n",
    "",
];

#[test]
fn invalid_host_names_are_refused_everywhere() {
    let (open, closed) = (Daemon::start(), Daemon::with(|settings| settings.token = Some("secret".into())));
    for host in HOSTILE {
        for path in ["/jobs", "/healthz", "/", "/nothing"] {
            let answer = ask(&open, &format!("GET {path} HTTP/1.1\r\n{host}"));
            assert_eq!((answer.code, answer.kind()), (400, "host".into()), "{host:?} {path}");
            let answer = ask(&closed, &format!("GET {path} HTTP/1.1\r\n{host}Authorization: Bearer secret\r\n"));
            assert_eq!((answer.code, answer.kind()), (400, "host".into()), "{host:?} {path}");
        }
    }
}

#[test]
fn foreign_host_names_are_refused_without_a_token() {
    let (open, closed) = (Daemon::start(), Daemon::with(|settings| settings.token = Some("secret".into())));
    for (host, is_own) in [
        ("localhost", true),
        ("LOCALHOST:7340", true),
        ("127.0.0.1:7340", true),
        ("[::1]:7340", true),
        ("evil.example", false),
        ("localhost.", false),
        ("localhost.evil.example:7340", false),
        ("127.0.0.1.evil.example", false),
        ("127.1", false),
    ] {
        for head in [
            format!("GET /jobs HTTP/1.1\r\nHost: {host}\r\n"),
            format!("GET http://{host}/jobs HTTP/1.1\r\nHost: {host}\r\n"),
            format!("GET /jobs HTTP/1.0\r\nHost: {host}\r\n"),
            format!("GET http://{host}/jobs HTTP/1.0\r\n"),
        ] {
            assert_eq!(ask(&open, &head).code, if is_own { 200 } else { 403 }, "{head}");
            // A client that has the token is not a page of another site.
            assert_eq!(ask(&closed, &format!("{head}Authorization: Bearer secret\r\n")).code, 200, "{head}");
            // These paths have no data.
            for path in ["/healthz", "/"] {
                assert_eq!(ask(&open, &head.replacen("/jobs", path, 1)).code, 200, "{head}");
            }
        }
    }
    for target in ["http://evil.example/jobs", "http://user@localhost/jobs", "http://localhost:7341/jobs"] {
        assert_eq!(ask(&open, &format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n")).code, 400, "{target}");
    }
    // No browser uses this version.
    assert_eq!(ask(&open, "GET /jobs HTTP/1.0\r\n").code, 200);
    assert_eq!(ask(&open, "GET /jobs HTTP/1.0\r\nOrigin: http://localhost\r\n").code, 403);
}
