//! Members of hashes, lists, sets, sorted sets and streams, one row each. They are requested in windows, whose size
//! adapts to the size of the members.

use super::command::Command;
use super::server::Server;
use super::walk::{Entry, Rows};
use crate::backend::Flow;
use crate::error::Result;
use crate::keys::progress::Progress;

/// Maximum number of items in a Redis list.
const LONGEST_LIST: u64 = 1 << 32;

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
    const SMALL: u64 = 128 << 10;
    const LARGE: u64 = 1 << 20;
    const MOST: u64 = 1000;

    /// Adapts the size of the next window.
    fn adapt(&mut self) {
        match std::mem::take(&mut self.bytes) {
            bytes if bytes > Window::LARGE => self.count = (self.count / 4).max(1),
            bytes if bytes < Window::SMALL => self.count = (self.count * 2).min(Window::MOST),
            _ => {}
        }
    }
}

/// Passes the members of a key to `rows`.
pub(super) fn rows(server: &mut Server, entry: &Entry, window: &mut Window, rows: &mut Rows<'_>) -> Result<Flow> {
    let mut members = Members { server, entry, window, rows, value: Vec::new(), field: Vec::new() };
    match entry.kind {
        "list" => members.list(),
        "stream" => members.stream(),
        "hash" => members.scan(Command::Hscan),
        "set" => members.scan(Command::Sscan),
        _ => members.scan(Command::Zscan),
    }
}

struct Members<'m, 'e> {
    server: &'m mut Server,
    entry: &'m Entry,
    window: &'m mut Window,
    rows: &'m mut Rows<'e>,
    value: Vec<u8>,
    field: Vec<u8>,
}

impl Members<'_, '_> {
    fn list(&mut self) -> Result<Flow> {
        let mut at = 0u64;
        loop {
            let (from, to) = (at.to_string(), (at + self.window.count - 1).to_string());
            self.server.put(Command::Lrange, &[&self.entry.key, from.as_bytes(), to.as_bytes()]);
            self.server.send()?;
            let Some(count) = self.server.array()? else { return Ok(Flow::On) };
            if count > self.window.count {
                return Err(self.server.unexpected());
            }
            if at > LONGEST_LIST {
                return Err(self.server.endless());
            }
            for _ in 0..count {
                self.value()?;
                let field = at.to_string();
                if self.rows.row(self.entry, Some(field.as_bytes()), Some(&self.value))? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
                at += 1;
            }
            if count < self.window.count {
                return Ok(Flow::On);
            }
            self.window.adapt();
        }
    }

    /// Reads fields and values of a hash, members of a set, or members and scores of a sorted set.
    fn scan(&mut self, command: Command) -> Result<Flow> {
        let mut cursor = b"0".to_vec();
        let mut progress = Progress::new();
        loop {
            let count = self.window.count.to_string();
            self.server.put(command, &[&self.entry.key, &cursor, b"COUNT", count.as_bytes()]);
            self.server.send()?;
            let Some(count) = self.server.cursor(&mut cursor)? else { return Ok(Flow::On) };
            let each = if command == Command::Sscan { 1 } else { 2 };
            if !count.is_multiple_of(each) {
                return Err(self.server.unexpected());
            }
            for _ in 0..count / each {
                let flow = match command {
                    Command::Hscan => {
                        self.field()?;
                        progress.add(&self.field);
                        self.value()?;
                        self.rows.row(self.entry, Some(&self.field), Some(&self.value))?
                    }
                    Command::Sscan => {
                        self.value()?;
                        progress.add(&self.value);
                        self.rows.row(self.entry, None, Some(&self.value))?
                    }
                    _ => {
                        self.value()?;
                        progress.add(&self.value);
                        self.field()?;
                        self.rows.row(self.entry, Some(&self.field), Some(&self.value))?
                    }
                };
                if flow == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            if cursor == b"0" {
                return Ok(Flow::On);
            }
            if !progress.end_page(&cursor) {
                return Err(self.server.endless());
            }
            self.window.adapt();
        }
    }

    fn stream(&mut self) -> Result<Flow> {
        let mut from = "0-0".to_owned();
        loop {
            let count = self.window.count.to_string();
            self.server.put(Command::Xrange, &[&self.entry.key, from.as_bytes(), b"+", b"COUNT", count.as_bytes()]);
            self.server.send()?;
            let Some(count) = self.server.array()? else { return Ok(Flow::On) };
            if count > self.window.count {
                return Err(self.server.unexpected());
            }
            for _ in 0..count {
                if self.server.array()? != Some(2) {
                    return Err(self.server.unexpected());
                }
                self.field()?;
                let id = std::mem::take(&mut self.field);
                let behind = std::str::from_utf8(&id).ok().and_then(next_id);
                // An id that is not after the previous one could start an endless loop.
                let behind = behind.filter(|behind| order(behind) > order(&from));
                from = behind.ok_or_else(|| self.server.unexpected())?;
                let fields = self.server.array()?.unwrap_or(0);
                if !fields.is_multiple_of(2) {
                    return Err(self.server.unexpected());
                }
                for _ in 0..fields / 2 {
                    self.field()?;
                    self.value()?;
                    let field = [&id[..], b"/", &self.field].concat();
                    if self.rows.row(self.entry, Some(&field), Some(&self.value))? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            if count < self.window.count {
                return Ok(Flow::On);
            }
            self.window.adapt();
        }
    }

    /// Reads the next answer as a value.
    fn value(&mut self) -> Result<()> {
        let is_there = self.server.bulk(&self.entry.key, &mut self.value)?;
        self.window.bytes += self.value.len() as u64;
        if is_there { Ok(()) } else { Err(self.server.unexpected()) }
    }

    /// Reads the next answer as a field, a score or an id.
    fn field(&mut self) -> Result<()> {
        let is_there = self.server.bulk(&self.entry.key, &mut self.field)?;
        self.window.bytes += self.field.len() as u64;
        if is_there { Ok(()) } else { Err(self.server.unexpected()) }
    }
}

/// Returns the first id after this one.
fn next_id(id: &str) -> Option<String> {
    let (time, number) = order(id)?;
    let (time, number) = match number.checked_add(1) {
        Some(number) => (time, number),
        None => (time.checked_add(1)?, 0),
    };
    Some(format!("{time}-{number}"))
}

/// Returns the two numbers of an id.
fn order(id: &str) -> Option<(u64, u64)> {
    let (time, number) = id.split_once('-')?;
    Some((time.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{next_id, order};

    #[test]
    fn ids_go_on() {
        assert_eq!(next_id("5-7").as_deref(), Some("5-8"));
        assert_eq!(next_id("5-18446744073709551615").as_deref(), Some("6-0"));
        assert_eq!(next_id("18446744073709551615-18446744073709551615"), None);
        assert_eq!(next_id("x"), None);
        assert!(order("10-0") > order("9-9"));
    }
}
