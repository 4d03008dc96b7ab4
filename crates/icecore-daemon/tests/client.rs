//! A daemon over its own database, and a client for it.

use icecore_daemon::{Server, Settings};
use icecore_store::Address;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub struct Daemon {
    pub folder: tempfile::TempDir,
    pub server: Option<Server>,
    pub address: SocketAddr,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns a text in the JSON of the answer.
    pub fn str(&self, pointer: &str) -> String {
        let json = self.json();
        json.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} in {json}")).to_owned()
    }

    pub fn id(&self) -> String {
        self.str("/id")
    }

    pub fn kind(&self) -> String {
        self.str("/error/kind")
    }
}

pub fn address(folder: &tempfile::TempDir) -> Address {
    format!("sqlite:{}", folder.path().join("a.db").display()).parse().expect("an address")
}

impl Daemon {
    pub fn start() -> Daemon {
        Daemon::with(|_| ())
    }

    pub fn with(set: impl FnOnce(&mut Settings)) -> Daemon {
        let folder = tempfile::tempdir().expect("a folder");
        let mut settings = Settings::new(address(&folder));
        settings.listen = "127.0.0.1:0".to_owned();
        settings.quiet = true;
        set(&mut settings);
        let server = Server::start(settings).expect("a daemon");
        Daemon { folder, address: server.address(), server: Some(server) }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream
    }

    /// Sends a request with these additional header lines.
    pub fn ask(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        for line in lines {
            head.push_str(line);
            head.push_str("\r\n");
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        stream.write_all(head.as_bytes()).expect("it takes the head");
        // The daemon may not read a refused request to its end.
        let _ = stream.write_all(body);
        read(&mut stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.ask("POST", path, &[], body.as_ref())
    }

    pub fn post_json(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.ask("POST", path, &["Content-Type: application/json"], body.as_ref())
    }

    /// Queues a job. Returns its id.
    pub fn push(&self, query: &str, body: &str) -> String {
        let answer = self.post_json(&format!("/jobs?{query}"), body);
        assert_eq!(answer.code, 201, "{answer:?}");
        answer.id()
    }

    /// Takes one job of a queue. Returns its id and token.
    pub fn claim(&self, queue: &str) -> (String, String) {
        let answer = self.post(&format!("/queues/{queue}/claim"), "");
        (answer.str("/jobs/0/id"), answer.str("/jobs/0/token"))
    }

    pub fn stop(mut self) {
        self.server.take().expect("it runs").stop();
    }
}

/// Reads an answer to the end of the connection.
pub fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let head_end = head_end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(&bytes)));
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a code");
    Answer { code, head, body: bytes[head_end + 4..].to_vec() }
}
