//! Requests to a memcached server. Only these commands are sent: `stats`, `lru_crawler metadump all` and `get`.

use super::PORT;
use crate::address::Address;
use crate::error::{Error, Result};
use crate::keys::link::Link;
use crate::keys::place::Place;
use std::time::{Duration, Instant};

/// Maximum length of a key.
const LONGEST_KEY: usize = 250;
/// Pause before a busy crawler is asked again.
const PAUSE: Duration = Duration::from_millis(50);

/// A connection to a server.
pub(super) struct Server {
    link: Link,
    line: Vec<u8>,
    /// Maximum length of a value in bytes.
    longest: u64,
    patience: Duration,
}

/// Metadata of a listed key.
pub(super) struct Listed {
    pub(super) key: Vec<u8>,
    /// Expiry in seconds since 1970, if the key expires.
    pub(super) expires: Option<i64>,
}

impl Server {
    pub(super) fn open(address: &Address, longest: u64) -> Result<Server> {
        let place = Place::of(address, PORT)?;
        Ok(Server { link: Link::open(&place)?, line: Vec::new(), longest, patience: place.patience })
    }

    /// Returns the server's time, in seconds since 1970.
    pub(super) fn time(&mut self) -> Result<i64> {
        /// Maximum number of lines in the statistics.
        const LINES: usize = 10_000;
        self.send(b"stats\r\n")?;
        let mut time = None;
        for _ in 0..LINES {
            self.link.line(&mut self.line)?;
            if self.line == b"END" {
                return time.ok_or_else(|| self.unexpected());
            }
            let stat = self.line.strip_prefix(b"STAT ").ok_or_else(|| self.refused())?;
            if let Some(digits) = stat.strip_prefix(b"time ") {
                time = number(digits);
            }
        }
        Err(self.unexpected())
    }

    /// Requests the list of all keys and returns the first one. Waits while the crawler is busy, on its own or for
    /// another client.
    pub(super) fn list(&mut self) -> Result<Option<Listed>> {
        let until = Instant::now() + self.patience;
        loop {
            self.send(b"lru_crawler metadump all\r\n")?;
            match self.listed() {
                Err(_) if self.line.starts_with(b"BUSY") && Instant::now() < until => std::thread::sleep(PAUSE),
                first => return first,
            }
        }
    }

    /// Returns the next key of the list.
    pub(super) fn listed(&mut self) -> Result<Option<Listed>> {
        self.link.line(&mut self.line)?;
        if self.line == b"END" {
            return Ok(None);
        }
        let words = self.line.strip_prefix(b"key=").ok_or_else(|| self.refused())?;
        let mut words = words.split(|byte| *byte == b' ');
        let key = words.next().and_then(unescaped).ok_or_else(|| self.unexpected())?;
        let expires = words.find_map(|word| word.strip_prefix(b"exp=")).and_then(number);
        Ok(Some(Listed { key, expires: expires.filter(|expires| *expires >= 0) }))
    }

    /// Requests values. Keys that the protocol can't express are left out: see [`is_key`].
    pub(super) fn ask<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]>) -> Result<()> {
        let out = &mut self.link.out;
        out.extend_from_slice(b"get");
        for key in keys.filter(|key| is_key(key)) {
            out.push(b' ');
            out.extend_from_slice(key);
        }
        out.extend_from_slice(b"\r\n");
        self.link.send()
    }

    /// Reads the next value into `key` and `value`. Returns its flags, or `None` at the end.
    pub(super) fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<Option<u32>> {
        self.link.line(&mut self.line)?;
        if self.line == b"END" {
            return Ok(None);
        }
        let words = self.line.strip_prefix(b"VALUE ").ok_or_else(|| self.refused())?;
        let mut words = words.split(|byte| *byte == b' ');
        let (name, flags, len) = (words.next(), words.next().and_then(number), words.next().and_then(number));
        key.clear();
        key.extend_from_slice(name.unwrap_or_default());
        value.clear();
        let (flags, len) =
            (flags.and_then(|flags| u32::try_from(flags).ok()), len.and_then(|len| u64::try_from(len).ok()));
        let (flags, len) = flags.zip(len).ok_or_else(|| self.unexpected())?;
        if len > self.longest {
            return Err(self.link.too_long(key, self.longest));
        }
        self.link.bytes(len, value)?;
        Ok(Some(flags))
    }

    /// Returns the error for an answer that does not fit the command.
    pub(super) fn unexpected(&self) -> Error {
        self.link.broken("an answer that is none of memcached to this command")
    }

    /// Returns the error for a list that never ends.
    pub(super) fn endless(&self) -> Error {
        self.link.broken("a list that begins again and again")
    }

    /// Returns the error for an unexpected line, which may be an error message of the server.
    fn refused(&self) -> Error {
        let words: [&[u8]; 4] = [b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR", b"BUSY"];
        if words.iter().any(|word| self.line.starts_with(word)) {
            self.link.refused(&self.line)
        } else {
            self.unexpected()
        }
    }

    fn send(&mut self, command: &[u8]) -> Result<()> {
        self.link.out.extend_from_slice(command);
        self.link.send()
    }
}

/// Returns whether the text protocol can request this key. Any other key would be read as a different command.
pub(super) fn is_key(key: &[u8]) -> bool {
    (1..=LONGEST_KEY).contains(&key.len()) && key.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Decodes a key with percent escapes such as `%41`.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let (high, low) = rest.next().and_then(digit).zip(rest.next().and_then(digit))?;
        bytes.push((high << 4 | low) as u8);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_list_are_unescaped() {
        assert_eq!(unescaped(b"a%20b%ff").as_deref(), Some(&b"a b\xff"[..]));
        assert_eq!(unescaped(b"a%2"), None);
        assert_eq!(unescaped(b"%zz"), None);
    }

    #[test]
    fn no_key_is_a_command() {
        assert!(is_key(b"a:7") && is_key("ü".as_bytes()));
        for key in [&b""[..], b"a b", b"a\r\nflush_all", b"\x7f", &[b'a'; 251]] {
            assert!(!is_key(key));
        }
    }
}
