//! The servers of `scripts/servers.sh`, and small clients for them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Returns the address of a server, if there is one.
fn address(variable: &str) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        eprintln!("SKIPPED: {variable} is not set");
    }
    found
}

/// An empty database of Redis that belongs to one test.
pub struct Redis {
    /// The address without the number of the database.
    pub server: String,
    pub database: u32,
    stream: BufReader<TcpStream>,
}

impl Redis {
    pub fn new(database: u32) -> Option<Redis> {
        let server = address("ICECORE_TEST_REDIS")?;
        let stream = TcpStream::connect(server.strip_prefix("redis://").expect("redis://HOST:PORT")).expect("Redis");
        let mut redis = Redis { server, database, stream: BufReader::new(stream) };
        redis.ask(&[b"SELECT", database.to_string().as_bytes()]);
        redis.ask(&[b"FLUSHDB"]);
        Some(redis)
    }

    pub fn address(&self) -> String {
        format!("{}/{}", self.server, self.database)
    }

    pub fn port(&self) -> &str {
        self.server.rsplit_once(':').expect("a port").1
    }

    pub fn send(&mut self, words: &[&[u8]]) {
        let mut command = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            command.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            command.extend_from_slice(word);
            command.extend_from_slice(b"\r\n");
        }
        self.stream.get_mut().write_all(&command).expect("sent");
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Returns the answer to a command; for an array, its last element.
    pub fn ask(&mut self, words: &[&[u8]]) -> String {
        self.send(words);
        self.answer()
    }

    fn answer(&mut self) -> String {
        let line = self.line();
        let number = || line[1..].parse::<i64>().expect("a number");
        match line.as_bytes()[0] {
            b'-' => panic!("{line}"),
            b'$' if number() >= 0 => {
                let mut bytes = vec![0; number() as usize + 2];
                self.stream.read_exact(&mut bytes).expect("a value");
                String::from_utf8_lossy(&bytes[..bytes.len() - 2]).into_owned()
            }
            b'*' => (0..number()).map(|_| self.answer()).last().unwrap_or_default(),
            _ => line,
        }
    }
}

/// Returns the address of memcached, and its port.
pub fn memcached() -> Option<(String, String)> {
    let server = address("ICECORE_TEST_MEMCACHED")?;
    let port = server.rsplit_once(':').expect("memcached://HOST:PORT").1.to_owned();
    Some((server, port))
}

/// Sends a command to memcached; its answer is one line.
pub fn tell_memcached(port: &str, command: &[u8]) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("memcached");
    stream.write_all(command).expect("sent");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("a line");
    line.trim_end().to_owned()
}
