//! Reads all keys with `SCAN`, and their values.

use super::command::Command;
use super::members::{self, Window};
use super::server::Server;
use crate::address::Address;
use crate::backend::Flow;
use crate::error::Result;
use crate::keys::program::{self, Known};
use crate::keys::progress::Progress;
use crate::keys::{Keys, spell_key};
use crate::query::{ColumnValue, EachLine, Line};
use std::collections::HashSet;

/// Number of keys requested at once.
const KEYS: &[u8] = b"1000";
/// Maximum length of a key, and of all keys in one answer. Redis allows 512 MB for one key, but nobody uses such keys.
const LONGEST_KEY: u64 = 1 << 20;
const LONGEST_KEYS: u64 = 64 << 20;
/// Number of bytes of values requested at once: the server holds the answers in memory until they are read.
const AT_ONCE: u64 = 1 << 20;

/// Supported types. Values of other types are not read.
const TYPES: [&str; 6] = ["string", "list", "set", "zset", "hash", "stream"];

/// Metadata of a key, known before its value is read.
pub(super) struct Entry {
    pub(super) key: Vec<u8>,
    pub(super) kind: &'static str,
    /// Remaining milliseconds, if the key expires.
    ttl: Option<i64>,
    /// Length of a string.
    len: u64,
}

/// Passes rows to the caller.
pub(super) struct Rows<'e> {
    each: EachLine<'e>,
}

impl Rows<'_> {
    fn names(&mut self) -> Result<Flow> {
        let names = ["key", "type", "ttl", "field", "program", "value"].map(str::to_owned);
        (self.each)(Line::Names(&names))
    }

    /// Passes a row with a value, or with the part of it at this field.
    pub(super) fn row(&mut self, entry: &Entry, field: Option<&[u8]>, value: Option<&[u8]>) -> Result<Flow> {
        let ttl = entry.ttl.map(|ttl| format!("{}.{:03}", ttl / 1000, ttl % 1000));
        let program = value.and_then(|value| program::of(&Known { key: &entry.key, kind: entry.kind, field, value }));
        (self.each)(Line::Values(&[
            ColumnValue::from_text(spell_key(&entry.key)),
            ColumnValue::from_text(entry.kind),
            ttl.map_or(ColumnValue::Null, |ttl| ColumnValue::Number(ttl.into())),
            field.map_or(ColumnValue::Null, |field| ColumnValue::from_text(spell_key(field))),
            program.map_or(ColumnValue::Null, ColumnValue::from_text),
            value.map_or(ColumnValue::Null, |value| ColumnValue::Bytes(value.into())),
        ]))
    }
}

/// Passes all keys and values to `each`.
pub(in crate::keys) fn keys(address: &Address, wanted: &Keys, each: EachLine<'_>) -> Result<()> {
    let mut server = Server::open(address, wanted.longest)?;
    let mut rows = Rows { each };
    let pattern = wanted.pattern.as_deref().map(str::as_bytes);
    let mut cursor = b"0".to_vec();
    ask(&mut server, &cursor, pattern);
    server.send()?;
    // The server must answer before the first row is passed on.
    let mut progress = Progress::new();
    let mut found = scanned(&mut server, &mut cursor)?;
    let mut flow = rows.names()?;
    let mut value = Vec::new();
    while flow == Flow::On {
        found.iter().for_each(|key| progress.add(key));
        if !progress.end_page(&cursor) && cursor != b"0" {
            return Err(server.endless());
        }
        let entries = looked_up(&mut server, std::mem::take(&mut found))?;
        flow = all(&mut server, &entries, &mut rows, &mut value)?;
        if cursor == b"0" {
            break;
        }
        ask(&mut server, &cursor, pattern);
        server.send()?;
        found = scanned(&mut server, &mut cursor)?;
    }
    Ok(())
}

fn ask(server: &mut Server, cursor: &[u8], pattern: Option<&[u8]>) {
    match pattern {
        Some(pattern) => server.put(Command::Scan, &[cursor, b"MATCH", pattern, b"COUNT", KEYS]),
        None => server.put(Command::Scan, &[cursor, b"COUNT", KEYS]),
    }
}

/// Reads the keys of an answer, each once, and its cursor.
fn scanned(server: &mut Server, cursor: &mut Vec<u8>) -> Result<Vec<Vec<u8>>> {
    let count = server.cursor(cursor)?.ok_or_else(|| server.unexpected())?;
    let (mut keys, mut known, mut left) = (Vec::new(), HashSet::new(), LONGEST_KEYS);
    for _ in 0..count {
        let mut key = Vec::new();
        if !server.within(LONGEST_KEY, b"", &mut key)? {
            return Err(server.unexpected());
        }
        // Empty keys take memory too.
        left = left.checked_sub(key.len() as u64 + 64).ok_or_else(|| server.unexpected())?;
        if known.insert(key.clone()) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Returns type, expiry and length of the keys; keys that are gone are left out.
fn looked_up(server: &mut Server, keys: Vec<Vec<u8>>) -> Result<Vec<Entry>> {
    let mut entries = Vec::with_capacity(keys.len());
    for keys in keys.chunks(1000) {
        for key in keys {
            server.put(Command::Type, &[key]);
            server.put(Command::Pttl, &[key]);
            server.put(Command::Strlen, &[key]);
        }
        server.send()?;
        for key in keys {
            let kind = server.text()?;
            let is_there = kind != b"none";
            let kind = TYPES.into_iter().find(|known| known.as_bytes() == kind).unwrap_or("other");
            let ttl = server.integer()?;
            let len = server.integer()?.and_then(|len| u64::try_from(len).ok()).unwrap_or(0);
            if is_there && ttl != Some(-2) {
                let ttl = ttl.filter(|ttl| *ttl >= 0);
                entries.push(Entry { key: key.clone(), kind, ttl, len });
            }
        }
    }
    Ok(entries)
}

/// Passes the rows of these keys to `rows`, in order.
fn all(server: &mut Server, entries: &[Entry], rows: &mut Rows<'_>, value: &mut Vec<u8>) -> Result<Flow> {
    let mut rest = entries;
    let mut window = Window::default();
    while let [entry, behind @ ..] = rest {
        match entry.kind {
            "string" => {
                let strings = together(rest);
                let flow = get(server, strings, rows, value)?;
                if flow == Flow::Stop {
                    return Ok(flow);
                }
                rest = &rest[strings.len()..];
                continue;
            }
            "other" => {
                if rows.row(entry, None, None)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            _ => {
                if members::rows(server, entry, &mut window, rows)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        rest = behind;
    }
    Ok(Flow::On)
}

/// Returns the strings at the beginning that are requested at once, at least one.
fn together(entries: &[Entry]) -> &[Entry] {
    let mut bytes = 0u64;
    let fits = |entry: &&Entry| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(entry.len).saturating_add(64);
        entry.kind == "string" && (is_first || bytes <= AT_ONCE)
    };
    &entries[..entries.iter().take_while(fits).count()]
}

fn get(server: &mut Server, entries: &[Entry], rows: &mut Rows<'_>, value: &mut Vec<u8>) -> Result<Flow> {
    for entry in entries {
        server.put(Command::Get, &[&entry.key]);
    }
    server.send()?;
    for entry in entries {
        // The key was deleted or replaced since its type was requested.
        if !server.bulk(&entry.key, value)? {
            continue;
        }
        if rows.row(entry, None, Some(value))? == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::On)
}
