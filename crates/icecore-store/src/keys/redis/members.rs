//! Members of hashes, lists, sets, sorted sets and streams, one row each. They are requested in windows, whose size
//! adapts to the size of the members.

use super::command::RedisCommand;
use super::server::RedisClient;
use super::walk::{KeyEntry, RowWriter};
use crate::backend::Flow;
use crate::error::Result;
use crate::keys::progress::Progress;

/// Maximum number of items in a Redis list.
const MAX_LIST_LEN: u64 = 1 << 32;

/// Number of members requested at once.
pub(super) struct Window {
    count: u64,
    /// Number of bytes received in this window.
    bytes: u64,
}

impl Default for Window {
    fn default() -> Window {
        Window { count: 16, bytes: 0 }
    }
}

impl Window {
    /// A window with fewer bytes is followed by a larger one.
    const MIN_BYTES: u64 = 128 << 10;
    /// A window with more bytes is followed by a smaller one.
    const MAX_BYTES: u64 = 1 << 20;
    const MAX_COUNT: u64 = 1000;

    /// Adapts the size of the next window.
    fn adapt_size(&mut self) {
        match std::mem::take(&mut self.bytes) {
            bytes if bytes > Window::MAX_BYTES => self.count = (self.count / 4).max(1),
            bytes if bytes < Window::MIN_BYTES => self.count = (self.count * 2).min(Window::MAX_COUNT),
            _ => {}
        }
    }
}

/// Passes the members of a key to `rows`.
pub(super) fn pass_members(
    server: &mut RedisClient,
    entry: &KeyEntry,
    window: &mut Window,
    rows: &mut RowWriter<'_>,
) -> Result<Flow> {
    let mut members = MemberReader { server, entry, window, rows, value: Vec::new(), field: Vec::new() };
    match entry.kind {
        "list" => members.pass_list_items(),
        "stream" => members.pass_stream_entries(),
        "hash" => members.pass_scanned_members(RedisCommand::Hscan),
        "set" => members.pass_scanned_members(RedisCommand::Sscan),
        _ => members.pass_scanned_members(RedisCommand::Zscan),
    }
}

struct MemberReader<'m, 'e> {
    server: &'m mut RedisClient,
    entry: &'m KeyEntry,
    window: &'m mut Window,
    rows: &'m mut RowWriter<'e>,
    value: Vec<u8>,
    field: Vec<u8>,
}

impl MemberReader<'_, '_> {
    /// Passes a row for each item of a list. The field is its index.
    fn pass_list_items(&mut self) -> Result<Flow> {
        let mut index = 0u64;
        loop {
            let (first, last) = (index.to_string(), (index + self.window.count - 1).to_string());
            self.server.add_command(RedisCommand::Lrange, &[&self.entry.key, first.as_bytes(), last.as_bytes()]);
            self.server.send_request()?;
            let Some(count) = self.server.read_array_length()? else { return Ok(Flow::Continue) };
            if count > self.window.count {
                return Err(self.server.unexpected_answer_error());
            }
            if index > MAX_LIST_LEN {
                return Err(self.server.endless_list_error());
            }
            for _ in 0..count {
                self.read_value()?;
                let field = index.to_string();
                if self.rows.pass_row(self.entry, Some(field.as_bytes()), Some(&self.value))? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                index += 1;
            }
            if count < self.window.count {
                return Ok(Flow::Continue);
            }
            self.window.adapt_size();
        }
    }

    /// Reads fields and values of a hash, members of a set, or members and scores of a sorted set.
    fn pass_scanned_members(&mut self, command: RedisCommand) -> Result<Flow> {
        let mut cursor = b"0".to_vec();
        let mut progress = Progress::new();
        loop {
            let count = self.window.count.to_string();
            self.server.add_command(command, &[&self.entry.key, &cursor, b"COUNT", count.as_bytes()]);
            self.server.send_request()?;
            let Some(count) = self.server.read_cursor(&mut cursor)? else { return Ok(Flow::Continue) };
            let items_per_entry = if command == RedisCommand::Sscan { 1 } else { 2 };
            if !count.is_multiple_of(items_per_entry) {
                return Err(self.server.unexpected_answer_error());
            }
            for _ in 0..count / items_per_entry {
                let flow = match command {
                    RedisCommand::Hscan => {
                        self.read_field()?;
                        progress.add_entry(&self.field);
                        self.read_value()?;
                        self.rows.pass_row(self.entry, Some(&self.field), Some(&self.value))?
                    }
                    RedisCommand::Sscan => {
                        self.read_value()?;
                        progress.add_entry(&self.value);
                        self.rows.pass_row(self.entry, None, Some(&self.value))?
                    }
                    _ => {
                        self.read_value()?;
                        progress.add_entry(&self.value);
                        self.read_field()?;
                        self.rows.pass_row(self.entry, Some(&self.field), Some(&self.value))?
                    }
                };
                if flow == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            if cursor == b"0" {
                return Ok(Flow::Continue);
            }
            if !progress.end_page(&cursor) {
                return Err(self.server.endless_list_error());
            }
            self.window.adapt_size();
        }
    }

    /// Passes a row for each field of each entry of a stream. The field is the id of the entry, `/` and the name.
    fn pass_stream_entries(&mut self) -> Result<Flow> {
        let mut first_id = "0-0".to_owned();
        loop {
            let count = self.window.count.to_string();
            self.server.add_command(
                RedisCommand::Xrange,
                &[&self.entry.key, first_id.as_bytes(), b"+", b"COUNT", count.as_bytes()],
            );
            self.server.send_request()?;
            let Some(count) = self.server.read_array_length()? else { return Ok(Flow::Continue) };
            if count > self.window.count {
                return Err(self.server.unexpected_answer_error());
            }
            for _ in 0..count {
                if self.server.read_array_length()? != Some(2) {
                    return Err(self.server.unexpected_answer_error());
                }
                self.read_field()?;
                let id = std::mem::take(&mut self.field);
                let following = std::str::from_utf8(&id).ok().and_then(next_stream_id);
                // An id that is not after the previous one could start an endless loop.
                let following = following.filter(|next_id| parse_stream_id(next_id) > parse_stream_id(&first_id));
                first_id = following.ok_or_else(|| self.server.unexpected_answer_error())?;
                let fields = self.server.read_array_length()?.unwrap_or(0);
                if !fields.is_multiple_of(2) {
                    return Err(self.server.unexpected_answer_error());
                }
                for _ in 0..fields / 2 {
                    self.read_field()?;
                    self.read_value()?;
                    let field = [&id[..], b"/", &self.field].concat();
                    if self.rows.pass_row(self.entry, Some(&field), Some(&self.value))? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            if count < self.window.count {
                return Ok(Flow::Continue);
            }
            self.window.adapt_size();
        }
    }

    /// Reads the next answer as a value.
    fn read_value(&mut self) -> Result<()> {
        let exists = self.server.read_bulk(&self.entry.key, &mut self.value)?;
        self.window.bytes += self.value.len() as u64;
        if exists { Ok(()) } else { Err(self.server.unexpected_answer_error()) }
    }

    /// Reads the next answer as a field, a score or an id.
    fn read_field(&mut self) -> Result<()> {
        let exists = self.server.read_bulk(&self.entry.key, &mut self.field)?;
        self.window.bytes += self.field.len() as u64;
        if exists { Ok(()) } else { Err(self.server.unexpected_answer_error()) }
    }
}

/// Returns the first id after this one.
fn next_stream_id(id: &str) -> Option<String> {
    let (time, number) = parse_stream_id(id)?;
    let (time, number) = match number.checked_add(1) {
        Some(number) => (time, number),
        None => (time.checked_add(1)?, 0),
    };
    Some(format!("{time}-{number}"))
}

/// Returns the two numbers of an id.
fn parse_stream_id(id: &str) -> Option<(u64, u64)> {
    let (time, number) = id.split_once('-')?;
    Some((time.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{next_stream_id, parse_stream_id};

    #[test]
    fn ids_of_streams_are_incremented_and_compared() {
        assert_eq!(next_stream_id("5-7").as_deref(), Some("5-8"));
        assert_eq!(next_stream_id("5-18446744073709551615").as_deref(), Some("6-0"));
        assert_eq!(next_stream_id("18446744073709551615-18446744073709551615"), None);
        assert_eq!(next_stream_id("x"), None);
        assert!(parse_stream_id("10-0") > parse_stream_id("9-9"));
    }
}
