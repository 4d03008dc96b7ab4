//! Many connections that send half of a request, or nothing.
//!
//! The tests check that answers arrive: the timeouts of `Daemon::connect` only end a test that hangs.

use crate::client::{Answer, Daemon, read};
use icecore_daemon::Settings;
use icecore_store::{Job, Outcome};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// More connections than the daemon serves at once.
const CONNECTION_COUNT: usize = 1_100;

/// Opens `count` connections and sends `begun` on each.
fn begin_requests(daemon: &Daemon, count: usize, begun: &str) -> Vec<TcpStream> {
    (0..count)
        .map(|_| {
            let mut stream = daemon.connect();
            // The daemon may have closed it already in favour of the next one.
            let _ = stream.write_all(begun.as_bytes());
            stream
        })
        .collect()
}

/// Returns how many of these the daemon has not closed: a read finds neither data nor the end.
fn still_open(streams: &mut [TcpStream]) -> usize {
    let is_open = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).expect("set");
        let found = stream.read(&mut [0]);
        stream.set_nonblocking(false).expect("set");
        matches!(found, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    };
    streams.iter_mut().map(is_open).filter(|is_open| *is_open).count()
}

fn wait_until(condition: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_200 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("never: {condition}");
}

/// Sets timeouts that do not end during a test.
fn set_long_timeouts(settings: &mut Settings) {
    (settings.head_timeout, settings.body_timeout) = (Duration::from_secs(3_600), Duration::from_secs(3_600));
}

fn ask_with_token(daemon: &Daemon) -> Answer {
    daemon.ask("POST", "/jobs", &["Authorization: Bearer secret"], b"1")
}

const PARTIAL_REQUESTS: [&str; 6] = [
    "",
    "G",
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n",
    "POST /jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ",
    "POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1",
    "POST /jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
];

#[test]
fn half_sent_requests_do_not_block_clients_with_a_token() {
    for begun in PARTIAL_REQUESTS {
        let daemon = Daemon::with(|settings| {
            set_long_timeouts(settings);
            settings.token = Some("secret".into());
        });
        let streams = begin_requests(&daemon, CONNECTION_COUNT, begun);
        assert_eq!(daemon.get("/healthz").code, 200, "{begun:?}");
        assert_eq!(ask_with_token(&daemon).code, 201, "{begun:?}");
        drop(streams);
    }
}

#[test]
fn half_sent_requests_do_not_block_clients_without_a_token() {
    for begun in PARTIAL_REQUESTS {
        let daemon = Daemon::with(set_long_timeouts);
        let streams = begin_requests(&daemon, CONNECTION_COUNT, begun);
        assert_eq!(daemon.get("/healthz").code, 200, "{begun:?}");
        assert_eq!(daemon.post("/jobs", "1").code, 201, "{begun:?}");
        drop(streams);
    }
}

#[test]
fn half_sent_requests_of_an_address_are_limited() {
    for begun in PARTIAL_REQUESTS {
        let daemon = Daemon::with(|settings| {
            set_long_timeouts(settings);
            settings.max_connections_per_address = 10;
        });
        let mut streams = begin_requests(&daemon, 40, begun);
        wait_until("ten are left", || still_open(&mut streams) == 10);
        // The newest connections stay.
        assert_eq!(still_open(&mut streams[30..]), 10, "{begun:?}");
    }
}

#[test]
fn half_sent_requests_of_a_trusted_proxy_are_not_limited() {
    let daemon = Daemon::with(|settings| {
        set_long_timeouts(settings);
        settings.max_connections_per_address = 10;
        settings.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    });
    let mut streams = begin_requests(&daemon, 40, PARTIAL_REQUESTS[2]);
    // Longer than strangers may take: the absence of an event can only be checked after a fixed time.
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(still_open(&mut streams), 40);
    assert_eq!(daemon.get("/healthz").code, 200);
    // Each of them continues.
    for stream in &mut streams {
        stream.write_all(b"Connection: close\r\n\r\n").expect("it is sent");
        assert_eq!(read(stream).code, 200);
    }
}

#[test]
fn clients_with_a_token_keep_their_connections() {
    let daemon = Daemon::with(|settings| {
        set_long_timeouts(settings);
        (settings.max_connections, settings.token) = (4, Some("secret".into()));
    });
    let ask = |stream: &mut TcpStream| {
        let head = "GET /schedules HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n";
        stream.write_all(head.as_bytes()).expect("it is sent");
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).expect("an answer");
        assert_eq!(&begun, b"HTTP/1.1 200");
        // The rest of the answer.
        let mut seen = Vec::new();
        while !seen.ends_with(b"{\"schedules\":[]}\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a byte");
            seen.push(byte[0]);
        }
    };
    let mut known = begin_requests(&daemon, 4, "");
    known.iter_mut().for_each(ask);
    for begun in PARTIAL_REQUESTS {
        let strangers = begin_requests(&daemon, 200, begun);
        assert_eq!(daemon.get("/healthz").code, 200, "{begun:?}");
        known.iter_mut().for_each(ask);
        drop(strangers);
    }
    // One more client with the token takes the place of the connection that is unused for longest.
    assert_eq!(ask_with_token(&daemon).code, 201);
    known[1..].iter_mut().for_each(ask);
    assert_eq!(known[0].read(&mut [0]).unwrap_or(0), 0);
}

#[test]
fn a_busy_daemon_answers_health_and_refuses_the_rest() {
    let (begun, may_end) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (runs, ends) = (Arc::clone(&begun), Arc::clone(&may_end));
    let daemon = Daemon::with(|settings| {
        set_long_timeouts(settings);
        settings.max_connections = 2;
        let runner = move |_: &Job| {
            runs.fetch_add(1, Ordering::SeqCst);
            while !ends.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            Outcome::Done(None)
        };
        settings.commands.insert("q".into(), Arc::new(runner));
    });
    let head =
        "POST /jobs?queue=q&run=now HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1";
    let mut busy = begin_requests(&daemon, 2, head);
    wait_until("both run", || begun.load(Ordering::SeqCst) == 2);
    for answer in [daemon.get("/jobs"), daemon.post("/jobs", "1")] {
        assert_eq!((answer.code, answer.kind()), (503, "busy".into()));
        assert!(answer.head.to_ascii_lowercase().contains("retry-after"), "{}", answer.head);
    }
    assert_eq!(daemon.get("/healthz").code, 200);
    may_end.store(true, Ordering::SeqCst);
    for stream in &mut busy {
        assert_eq!(read(stream).code, 200);
    }
    wait_until("there are places", || daemon.get("/jobs").code == 200);
}

#[test]
fn very_slow_clients_do_not_block_others() {
    let daemon = Daemon::with(set_long_timeouts);
    let id = daemon.post("/objects", vec![b'x'; 8 << 20]).id();
    let mut slow = begin_requests(&daemon, 200, "GET /healthz HTTP/1.1\r\nX: ");
    let mut reading =
        begin_requests(&daemon, 50, &format!("GET /objects/{id}/bytes HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    for _ in 0..20 {
        for stream in &mut slow {
            let _ = stream.write_all(b"x");
        }
        for stream in &mut reading {
            assert_eq!(stream.read(&mut [0]).expect("a byte"), 1);
        }
        assert_eq!(daemon.get("/healthz").code, 200);
        assert_eq!(daemon.post("/jobs", "1").code, 201);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let daemon = Daemon::start();
    let mut stream = daemon.connect();
    let one = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let other = "POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1";
    let last = "GET /queues HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(format!("{one}{other}{one}{last}").as_bytes()).expect("they are sent");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("all answers");
    let text = String::from_utf8_lossy(&bytes);
    let codes: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(codes, ["200", "201", "200", "200"], "{text}");
}

#[test]
fn half_sent_requests_do_not_delay_a_shutdown() {
    let mut daemon = Daemon::with(|settings| {
        set_long_timeouts(settings);
        settings.grace = Duration::from_secs(3_600);
    });
    let streams = begin_requests(&daemon, 20, PARTIAL_REQUESTS[2]);
    assert_eq!(daemon.get("/healthz").code, 200);
    daemon.server.take().expect("it runs").stop();
    drop(streams);
}
