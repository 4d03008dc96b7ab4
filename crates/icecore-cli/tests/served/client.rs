//! A client that tolerates that the daemon disappears in the middle of an answer.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A complete answer.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn str(&self, pointer: &str) -> String {
        let json = self.json();
        json.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} in {json}")).to_owned()
    }

    pub fn int(&self, pointer: &str) -> i64 {
        let json = self.json();
        json.pointer(pointer).and_then(Value::as_i64).unwrap_or_else(|| panic!("{pointer} in {json}"))
    }
}

/// Sends a request and does not wait for its answer.
pub fn send(to: SocketAddr, method: &str, path: &str, body: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(to).ok()?;
    // Every answer comes much sooner. This only ends a test that would hang.
    stream.set_read_timeout(Some(Duration::from_secs(120))).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    Some(stream)
}

/// Returns the answer; `None` if the connection broke before its end: then the outcome is unknown.
pub fn ask(to: SocketAddr, method: &str, path: &str, body: &str) -> Option<Answer> {
    let mut bytes = Vec::new();
    send(to, method, path, body)?.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let code = head.split(' ').nth(1)?.parse().ok()?;
    (length == Some(body.len())).then(|| Answer { code, text: body.to_owned() })
}
