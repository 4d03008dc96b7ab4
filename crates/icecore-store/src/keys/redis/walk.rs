//! Reads all keys with `SCAN`, and their values.

use super::command::RedisCommand;
use super::members::{self, Window};
use super::server::RedisClient;
use crate::address::Address;
use crate::backend::Flow;
use crate::error::Result;
use crate::keys::program::{self, ValueContext};
use crate::keys::progress::Progress;
use crate::keys::{KeyFilter, spell_key};
use crate::query::{ColumnValue, EachLine, Line};
use std::collections::HashSet;

/// Number of keys requested at once.
const KEYS_PER_SCAN: &[u8] = b"1000";
/// Maximum length of a key. Redis allows 512 MB, but nobody uses such keys.
const MAX_KEY_LEN: u64 = 1 << 20;
/// Maximum length of all keys in one answer.
const MAX_PAGE_LEN: u64 = 64 << 20;
/// Maximum number of bytes of values that are requested at once. It is limited, because the server keeps the answers
/// in memory until they are read.
const VALUE_BATCH_LEN: u64 = 1 << 20;

/// Supported types. Values of other types are not read.
const TYPES: [&str; 6] = ["string", "list", "set", "zset", "hash", "stream"];

/// Metadata of a key, known before its value is read.
pub(super) struct KeyEntry {
    pub(super) key: Vec<u8>,
    pub(super) kind: &'static str,
    /// Remaining milliseconds, if the key expires.
    ttl: Option<i64>,
    /// Length of a string.
    len: u64,
}

/// Passes rows to the caller.
pub(super) struct RowWriter<'e> {
    each: EachLine<'e>,
}

impl RowWriter<'_> {
    fn pass_names(&mut self) -> Result<Flow> {
        let names = ["key", "type", "ttl", "field", "program", "value"].map(str::to_owned);
        (self.each)(Line::Names(&names))
    }

    /// Passes a row with a value, or with the part of it at this field.
    pub(super) fn pass_row(&mut self, entry: &KeyEntry, field: Option<&[u8]>, value: Option<&[u8]>) -> Result<Flow> {
        let ttl = entry.ttl.map(|ttl| format!("{}.{:03}", ttl / 1000, ttl % 1000));
        let program = value.and_then(|value| {
            program::guess_program(&ValueContext { key: &entry.key, kind: entry.kind, field, value })
        });
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
pub(in crate::keys) fn list_keys(address: &Address, filter: &KeyFilter, each: EachLine<'_>) -> Result<()> {
    let mut server = RedisClient::open(address, filter.max_value_len)?;
    let mut rows = RowWriter { each };
    let pattern = filter.pattern.as_deref().map(str::as_bytes);
    let mut cursor = b"0".to_vec();
    add_scan_command(&mut server, &cursor, pattern);
    server.send_request()?;
    // The server must answer before the first row is passed on.
    let mut progress = Progress::new();
    let mut keys = read_scanned_keys(&mut server, &mut cursor)?;
    let mut flow = rows.pass_names()?;
    let mut value = Vec::new();
    while flow == Flow::Continue {
        keys.iter().for_each(|key| progress.add_entry(key));
        if !progress.end_page(&cursor) && cursor != b"0" {
            return Err(server.endless_list_error());
        }
        let entries = look_up_entries(&mut server, std::mem::take(&mut keys))?;
        flow = pass_entries(&mut server, &entries, &mut rows, &mut value)?;
        if cursor == b"0" {
            break;
        }
        add_scan_command(&mut server, &cursor, pattern);
        server.send_request()?;
        keys = read_scanned_keys(&mut server, &mut cursor)?;
    }
    Ok(())
}

fn add_scan_command(server: &mut RedisClient, cursor: &[u8], pattern: Option<&[u8]>) {
    match pattern {
        Some(pattern) => server.add_command(RedisCommand::Scan, &[cursor, b"MATCH", pattern, b"COUNT", KEYS_PER_SCAN]),
        None => server.add_command(RedisCommand::Scan, &[cursor, b"COUNT", KEYS_PER_SCAN]),
    }
}

/// Reads the keys of an answer, each once, and its cursor.
fn read_scanned_keys(server: &mut RedisClient, cursor: &mut Vec<u8>) -> Result<Vec<Vec<u8>>> {
    let count = server.read_cursor(cursor)?.ok_or_else(|| server.unexpected_answer_error())?;
    let (mut keys, mut seen, mut remaining) = (Vec::new(), HashSet::new(), MAX_PAGE_LEN);
    for _ in 0..count {
        let mut key = Vec::new();
        if !server.read_limited_bulk(MAX_KEY_LEN, b"", &mut key)? {
            return Err(server.unexpected_answer_error());
        }
        // The 64 bytes are the memory of an entry. Even an empty key needs them.
        remaining = remaining.checked_sub(key.len() as u64 + 64).ok_or_else(|| server.unexpected_answer_error())?;
        if seen.insert(key.clone()) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Returns type, expiry and length of the keys. Keys that were removed in the meantime are left out.
fn look_up_entries(server: &mut RedisClient, keys: Vec<Vec<u8>>) -> Result<Vec<KeyEntry>> {
    let mut entries = Vec::with_capacity(keys.len());
    for keys in keys.chunks(1000) {
        for key in keys {
            server.add_command(RedisCommand::Type, &[key]);
            server.add_command(RedisCommand::Pttl, &[key]);
            server.add_command(RedisCommand::Strlen, &[key]);
        }
        server.send_request()?;
        for key in keys {
            let kind = server.read_word()?;
            let exists = kind != b"none";
            let kind = TYPES.into_iter().find(|known| known.as_bytes() == kind).unwrap_or("other");
            let ttl = server.read_integer()?;
            let len = server.read_integer()?.and_then(|len| u64::try_from(len).ok()).unwrap_or(0);
            // A TTL of -2 means that the key is gone, -1 that it does not expire.
            if exists && ttl != Some(-2) {
                let ttl = ttl.filter(|ttl| *ttl >= 0);
                entries.push(KeyEntry { key: key.clone(), kind, ttl, len });
            }
        }
    }
    Ok(entries)
}

/// Passes the rows of these keys to `rows`, in order.
fn pass_entries(
    server: &mut RedisClient,
    entries: &[KeyEntry],
    rows: &mut RowWriter<'_>,
    value: &mut Vec<u8>,
) -> Result<Flow> {
    let mut rest = entries;
    let mut window = Window::default();
    while let [entry, after @ ..] = rest {
        match entry.kind {
            "string" => {
                let strings = leading_strings(rest);
                let flow = pass_strings(server, strings, rows, value)?;
                if flow == Flow::Stop {
                    return Ok(flow);
                }
                rest = &rest[strings.len()..];
                continue;
            }
            "other" => {
                if rows.pass_row(entry, None, None)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            _ => {
                if members::pass_members(server, entry, &mut window, rows)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
        }
        rest = after;
    }
    Ok(Flow::Continue)
}

/// Returns the strings at the beginning that are requested at once, at least one.
fn leading_strings(entries: &[KeyEntry]) -> &[KeyEntry] {
    let mut bytes = 0u64;
    let fits = |entry: &&KeyEntry| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(entry.len).saturating_add(64);
        entry.kind == "string" && (is_first || bytes <= VALUE_BATCH_LEN)
    };
    &entries[..entries.iter().take_while(fits).count()]
}

fn pass_strings(
    server: &mut RedisClient,
    entries: &[KeyEntry],
    rows: &mut RowWriter<'_>,
    value: &mut Vec<u8>,
) -> Result<Flow> {
    for entry in entries {
        server.add_command(RedisCommand::Get, &[&entry.key]);
    }
    server.send_request()?;
    for entry in entries {
        // False if the key was deleted or replaced since its type was requested.
        if !server.read_bulk(&entry.key, value)? {
            continue;
        }
        if rows.pass_row(entry, None, Some(value))? == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}
