//! Requests to a memcached server. Only these commands are sent: `stats`, `lru_crawler metadump all` and `get`.

use super::PORT;
use crate::address::Address;
use crate::error::{Error, Result};
use crate::keys::server_address::ServerAddress;
use crate::keys::server_connection::ServerConnection;
use std::time::{Duration, Instant};

/// Maximum length of a key.
const MAX_KEY_LEN: usize = 250;
/// Pause before a busy crawler is asked again.
const BUSY_RETRY_DELAY: Duration = Duration::from_millis(50);

/// A connection to a server.
pub(super) struct MemcachedClient {
    connection: ServerConnection,
    line: Vec<u8>,
    /// Maximum length of a value in bytes.
    max_value_len: u64,
    /// How long to wait for a busy crawler.
    timeout: Duration,
}

/// Metadata of a listed key.
pub(super) struct ListedKey {
    pub(super) key: Vec<u8>,
    /// Expiry in seconds since 1970, if the key expires.
    pub(super) expires: Option<i64>,
}

impl MemcachedClient {
    pub(super) fn open(address: &Address, max_value_len: u64) -> Result<MemcachedClient> {
        let server_address = ServerAddress::from_address(address, PORT)?;
        Ok(MemcachedClient {
            connection: ServerConnection::open(&server_address)?,
            line: Vec::new(),
            max_value_len,
            timeout: server_address.patience,
        })
    }

    /// Returns the server's time, in seconds since 1970.
    pub(super) fn read_time(&mut self) -> Result<i64> {
        /// Maximum number of lines in the statistics.
        const MAX_LINES: usize = 10_000;
        self.send_command(b"stats\r\n")?;
        let mut time = None;
        for _ in 0..MAX_LINES {
            self.connection.read_line(&mut self.line)?;
            if self.line == b"END" {
                return time.ok_or_else(|| self.unexpected_answer_error());
            }
            let stat = self.line.strip_prefix(b"STAT ").ok_or_else(|| self.server_error())?;
            if let Some(digits) = stat.strip_prefix(b"time ") {
                time = parse_number(digits);
            }
        }
        Err(self.unexpected_answer_error())
    }

    /// Requests the list of all keys and returns the first one. Waits while the crawler is busy, on its own or for
    /// another client.
    pub(super) fn request_key_list(&mut self) -> Result<Option<ListedKey>> {
        let deadline = Instant::now() + self.timeout;
        loop {
            self.send_command(b"lru_crawler metadump all\r\n")?;
            match self.next_listed_key() {
                Err(_) if self.line.starts_with(b"BUSY") && Instant::now() < deadline => {
                    std::thread::sleep(BUSY_RETRY_DELAY)
                }
                first => return first,
            }
        }
    }

    /// Returns the next key of the list.
    pub(super) fn next_listed_key(&mut self) -> Result<Option<ListedKey>> {
        self.connection.read_line(&mut self.line)?;
        if self.line == b"END" {
            return Ok(None);
        }
        let words = self.line.strip_prefix(b"key=").ok_or_else(|| self.server_error())?;
        let mut words = words.split(|byte| *byte == b' ');
        let key = words.next().and_then(percent_decode).ok_or_else(|| self.unexpected_answer_error())?;
        let expires = words.find_map(|word| word.strip_prefix(b"exp=")).and_then(parse_number);
        Ok(Some(ListedKey { key, expires: expires.filter(|expires| *expires >= 0) }))
    }

    /// Requests values. Keys that the protocol can't express are left out (see [`is_key`]).
    pub(super) fn request_values<'k>(&mut self, keys: impl Iterator<Item = &'k [u8]>) -> Result<()> {
        let out = &mut self.connection.out;
        out.extend_from_slice(b"get");
        for key in keys.filter(|key| is_key(key)) {
            out.push(b' ');
            out.extend_from_slice(key);
        }
        out.extend_from_slice(b"\r\n");
        self.connection.send_request()
    }

    /// Reads the next value into `key` and `value`. Returns its flags, or `None` at the end.
    pub(super) fn next_value(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<Option<u32>> {
        self.connection.read_line(&mut self.line)?;
        if self.line == b"END" {
            return Ok(None);
        }
        let words = self.line.strip_prefix(b"VALUE ").ok_or_else(|| self.server_error())?;
        let mut words = words.split(|byte| *byte == b' ');
        let (name, flags, len) =
            (words.next(), words.next().and_then(parse_number), words.next().and_then(parse_number));
        key.clear();
        key.extend_from_slice(name.unwrap_or_default());
        value.clear();
        // Flags have 32 bits, a length is not negative.
        let (flags, len) =
            (flags.and_then(|flags| u32::try_from(flags).ok()), len.and_then(|len| u64::try_from(len).ok()));
        let (flags, len) = flags.zip(len).ok_or_else(|| self.unexpected_answer_error())?;
        if len > self.max_value_len {
            return Err(self.connection.too_long_error(key, self.max_value_len));
        }
        self.connection.read_bytes(len, value)?;
        Ok(Some(flags))
    }

    /// Returns the error for an answer that does not fit the command.
    pub(super) fn unexpected_answer_error(&self) -> Error {
        self.connection.protocol_error("an answer that memcached does not give to this command")
    }

    /// Returns the error for a list that never ends.
    pub(super) fn endless_list_error(&self) -> Error {
        self.connection.protocol_error("a list that never ends")
    }

    /// Returns the error for an unexpected line. The line may be an error message of the server.
    fn server_error(&self) -> Error {
        let words: [&[u8]; 4] = [b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR", b"BUSY"];
        if words.iter().any(|word| self.line.starts_with(word)) {
            self.connection.server_error(&self.line)
        } else {
            self.unexpected_answer_error()
        }
    }

    fn send_command(&mut self, command: &[u8]) -> Result<()> {
        self.connection.out.extend_from_slice(command);
        self.connection.send_request()
    }
}

/// Returns whether the text protocol can request this key. Any other key would be read as a different command.
pub(super) fn is_key(key: &[u8]) -> bool {
    (1..=MAX_KEY_LEN).contains(&key.len()) && key.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
}

fn parse_number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Decodes a key with percent escapes such as `%41`.
fn percent_decode(text: &[u8]) -> Option<Vec<u8>> {
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
    fn keys_in_lists_are_unescaped() {
        assert_eq!(percent_decode(b"a%20b%ff").as_deref(), Some(&b"a b\xff"[..]));
        assert_eq!(percent_decode(b"a%2"), None);
        assert_eq!(percent_decode(b"%zz"), None);
    }

    #[test]
    fn keys_that_could_be_commands_are_refused() {
        assert!(is_key(b"a:7") && is_key("ü".as_bytes()));
        for key in [&b""[..], b"a b", b"a\r\nflush_all", b"\x7f", &[b'a'; 251]] {
            assert!(!is_key(key));
        }
    }
}
