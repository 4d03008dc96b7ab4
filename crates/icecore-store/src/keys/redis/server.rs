//! Requests to a Redis server and its answers.

use super::PORT;
use super::command::Command;
use crate::address::Address;
use crate::error::Result;
use crate::keys::link::Link;
use crate::keys::place::Place;

/// Head of an answer.
enum Head {
    Text,
    Integer(i64),
    Bulk(Option<u64>),
    Array(Option<u64>),
    /// The key has another type than the command expects: it was replaced meanwhile.
    OtherType,
}

/// A connection to a server.
pub(super) struct Server {
    link: Link,
    /// The last line that was read.
    line: Vec<u8>,
    /// Maximum length of a value in bytes.
    longest: u64,
}

impl Server {
    /// Connects, authenticates and selects the database.
    pub(super) fn open(address: &Address, longest: u64) -> Result<Server> {
        let place = Place::of(address, PORT)?;
        let mut server = Server { link: Link::open(&place)?, line: Vec::new(), longest };
        if let Some(password) = &place.password {
            let user = place.user.as_deref().map(str::as_bytes);
            let words: Vec<&[u8]> = user.into_iter().chain([password.as_bytes()]).collect();
            server.put(Command::Auth, &words);
            server.send()?;
            server.text()?;
        }
        if place.database > 0 {
            server.put(Command::Select, &[place.database.to_string().as_bytes()]);
            server.send()?;
            server.text()?;
        }
        Ok(server)
    }

    /// Adds a command to the next request.
    pub(super) fn put(&mut self, command: Command, arguments: &[&[u8]]) {
        command.put(arguments, &mut self.link.out);
    }

    pub(super) fn send(&mut self) -> Result<()> {
        self.link.send()
    }

    /// Reads a word, such as `OK` or a type.
    pub(super) fn text(&mut self) -> Result<&[u8]> {
        match self.head()? {
            Head::Text => Ok(&self.line[1..]),
            _ => Err(self.unexpected()),
        }
    }

    /// Reads a number; `None` if the key has another type.
    pub(super) fn integer(&mut self) -> Result<Option<i64>> {
        match self.head()? {
            Head::Integer(number) => Ok(Some(number)),
            Head::OtherType => Ok(None),
            _ => Err(self.unexpected()),
        }
    }

    /// Reads bytes into `into`. Returns whether the value exists. `key` is named in the error for a value that is too
    /// long.
    pub(super) fn bulk(&mut self, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        self.within(self.longest, key, into)
    }

    /// Like `bulk`, but with a limit of `most` bytes.
    pub(super) fn within(&mut self, most: u64, key: &[u8], into: &mut Vec<u8>) -> Result<bool> {
        into.clear();
        match self.head()? {
            Head::Bulk(Some(len)) if len > most => Err(self.link.too_long(key, most)),
            Head::Bulk(Some(len)) => self.link.bytes(len, into).map(|()| true),
            Head::Bulk(None) | Head::OtherType => Ok(false),
            _ => Err(self.unexpected()),
        }
    }

    /// Reads the number of elements that follow; `None` if there is no array.
    pub(super) fn array(&mut self) -> Result<Option<u64>> {
        match self.head()? {
            Head::Array(len) => Ok(len),
            Head::OtherType => Ok(None),
            _ => Err(self.unexpected()),
        }
    }

    /// Reads the cursor of a `SCAN` and the number of elements that follow; `None` if the key has another type.
    pub(super) fn cursor(&mut self, cursor: &mut Vec<u8>) -> Result<Option<u64>> {
        match self.array()? {
            None => return Ok(None),
            Some(2) => {}
            Some(_) => return Err(self.unexpected()),
        }
        let is_there = self.within(CURSOR, b"", cursor)?;
        if !is_there || cursor.is_empty() || !cursor.iter().all(u8::is_ascii_digit) {
            return Err(self.unexpected());
        }
        match self.array()? {
            Some(len) => Ok(Some(len)),
            None => Err(self.unexpected()),
        }
    }

    /// Returns the error for an answer that does not fit the command.
    pub(super) fn unexpected(&self) -> crate::error::Error {
        self.link.broken("an answer that is none of Redis to this command")
    }

    /// Returns the error for a list that never ends.
    pub(super) fn endless(&self) -> crate::error::Error {
        self.link.broken("a list that begins again and again")
    }

    fn head(&mut self) -> Result<Head> {
        self.link.line(&mut self.line)?;
        let number = || std::str::from_utf8(&self.line[1..]).ok().and_then(|digits| digits.parse::<i64>().ok());
        let len = || match number() {
            Some(-1) => Some(None),
            other => other.and_then(|len| u64::try_from(len).ok()).map(Some),
        };
        let head = match self.line.first() {
            Some(b'+') => Some(Head::Text),
            Some(b':') => number().map(Head::Integer),
            Some(b'$') => len().map(Head::Bulk),
            Some(b'*') => len().map(Head::Array),
            Some(b'-') if self.line.starts_with(b"-WRONGTYPE") => Some(Head::OtherType),
            Some(b'-') => return Err(self.link.refused(&self.line[1..])),
            _ => None,
        };
        head.ok_or_else(|| self.unexpected())
    }
}

/// Maximum number of digits in a cursor.
const CURSOR: u64 = 20;
