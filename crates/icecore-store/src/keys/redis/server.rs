//! Requests to a Redis server and its answers.

use super::PORT;
use super::command::RedisCommand;
use crate::address::Address;
use crate::error::Result;
use crate::keys::server_address::ServerAddress;
use crate::keys::server_connection::ServerConnection;

/// First line of an answer. It is the type, with its number or length.
enum ReplyHead {
    Text,
    Integer(i64),
    Bulk(Option<u64>),
    Array(Option<u64>),
    /// The key has another type than the command expects, because it was replaced in the meantime.
    OtherType,
}

/// A connection to a server.
pub(super) struct RedisClient {
    connection: ServerConnection,
    /// The last line that was read.
    line: Vec<u8>,
    /// Maximum length of a value in bytes.
    max_value_len: u64,
}

impl RedisClient {
    /// Opens a connection, authenticates and selects the database.
    pub(super) fn open(address: &Address, max_value_len: u64) -> Result<RedisClient> {
        let server_address = ServerAddress::from_address(address, PORT)?;
        let mut server =
            RedisClient { connection: ServerConnection::open(&server_address)?, line: Vec::new(), max_value_len };
        if let Some(password) = &server_address.password {
            let user = server_address.user.as_deref().map(str::as_bytes);
            let words: Vec<&[u8]> = user.into_iter().chain([password.as_bytes()]).collect();
            server.add_command(RedisCommand::Auth, &words);
            server.send_request()?;
            server.read_word()?;
        }
        if server_address.database > 0 {
            server.add_command(RedisCommand::Select, &[server_address.database.to_string().as_bytes()]);
            server.send_request()?;
            server.read_word()?;
        }
        Ok(server)
    }

    /// Adds a command to the next request.
    pub(super) fn add_command(&mut self, command: RedisCommand, arguments: &[&[u8]]) {
        command.write_request(arguments, &mut self.connection.out);
    }

    pub(super) fn send_request(&mut self) -> Result<()> {
        self.connection.send_request()
    }

    /// Reads a word, such as `OK` or a type.
    pub(super) fn read_word(&mut self) -> Result<&[u8]> {
        match self.read_head()? {
            ReplyHead::Text => Ok(&self.line[1..]),
            _ => Err(self.unexpected_answer_error()),
        }
    }

    /// Reads a number. Returns `None` if the key has another type.
    pub(super) fn read_integer(&mut self) -> Result<Option<i64>> {
        match self.read_head()? {
            ReplyHead::Integer(number) => Ok(Some(number)),
            ReplyHead::OtherType => Ok(None),
            _ => Err(self.unexpected_answer_error()),
        }
    }

    /// Reads bytes into `value`. Returns whether the value exists. `key` is named in the error for a value that is
    /// too long.
    pub(super) fn read_bulk(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.read_limited_bulk(self.max_value_len, key, value)
    }

    /// Reads a value like `read_bulk`, but with a limit of `max_bytes` bytes.
    pub(super) fn read_limited_bulk(&mut self, max_bytes: u64, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        match self.read_head()? {
            ReplyHead::Bulk(Some(len)) if len > max_bytes => Err(self.connection.too_long_error(key, max_bytes)),
            ReplyHead::Bulk(Some(len)) => self.connection.read_bytes(len, value).map(|()| true),
            ReplyHead::Bulk(None) | ReplyHead::OtherType => Ok(false),
            _ => Err(self.unexpected_answer_error()),
        }
    }

    /// Reads the number of elements that follow. Returns `None` if there is no array.
    pub(super) fn read_array_length(&mut self) -> Result<Option<u64>> {
        match self.read_head()? {
            ReplyHead::Array(len) => Ok(len),
            ReplyHead::OtherType => Ok(None),
            _ => Err(self.unexpected_answer_error()),
        }
    }

    /// Reads the cursor of a `SCAN` and the number of elements that follow. Returns `None` if the key has another
    /// type.
    pub(super) fn read_cursor(&mut self, cursor: &mut Vec<u8>) -> Result<Option<u64>> {
        match self.read_array_length()? {
            None => return Ok(None),
            Some(2) => {}
            Some(_) => return Err(self.unexpected_answer_error()),
        }
        let exists = self.read_limited_bulk(MAX_CURSOR_LEN, b"", cursor)?;
        if !exists || cursor.is_empty() || !cursor.iter().all(u8::is_ascii_digit) {
            return Err(self.unexpected_answer_error());
        }
        match self.read_array_length()? {
            Some(len) => Ok(Some(len)),
            None => Err(self.unexpected_answer_error()),
        }
    }

    /// Returns the error for an answer that does not fit the command.
    pub(super) fn unexpected_answer_error(&self) -> crate::error::Error {
        self.connection.protocol_error("an answer that Redis does not give to this command")
    }

    /// Returns the error for a list that never ends.
    pub(super) fn endless_list_error(&self) -> crate::error::Error {
        self.connection.protocol_error("a list that never ends")
    }

    fn read_head(&mut self) -> Result<ReplyHead> {
        self.connection.read_line(&mut self.line)?;
        let number = || std::str::from_utf8(&self.line[1..]).ok().and_then(|digits| digits.parse::<i64>().ok());
        let len = || match number() {
            Some(-1) => Some(None),
            other => other.and_then(|len| u64::try_from(len).ok()).map(Some),
        };
        let head = match self.line.first() {
            Some(b'+') => Some(ReplyHead::Text),
            Some(b':') => number().map(ReplyHead::Integer),
            Some(b'$') => len().map(ReplyHead::Bulk),
            Some(b'*') => len().map(ReplyHead::Array),
            Some(b'-') if self.line.starts_with(b"-WRONGTYPE") => Some(ReplyHead::OtherType),
            Some(b'-') => return Err(self.connection.server_error(&self.line[1..])),
            _ => None,
        };
        head.ok_or_else(|| self.unexpected_answer_error())
    }
}

/// Maximum number of digits in a cursor.
const MAX_CURSOR_LEN: u64 = 20;
