//! Keys and values of a memcached server.

use super::flags;
use super::server::{ListedKey, MemcachedClient, is_key};
use crate::address::Address;
use crate::backend::Flow;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::program::{self, ValueContext};
use crate::keys::progress::Progress;
use crate::keys::{KeyFilter, glob, quote_message, spell_key};
use crate::query::{ColumnValue, EachLine, Line};

/// Maximum number of keys in a request.
const MAX_REQUEST_KEYS: usize = 100;
/// Maximum total length of the keys in a request, in bytes.
const MAX_REQUEST_BYTES: usize = 8 << 10;

/// Passes all keys and values to `each`.
pub(in crate::keys) fn list_keys(address: &Address, filter: &KeyFilter, each: EachLine<'_>) -> Result<()> {
    let mut list = MemcachedClient::open(address, filter.max_value_len)?;
    // A second connection, because the list continues while values are requested.
    let mut values = ValueReader {
        server: MemcachedClient::open(address, filter.max_value_len)?,
        now: list.read_time()?,
        each,
        key: Vec::new(),
        value: Vec::new(),
    };
    let mut next = list.request_key_list()?;
    let names = ["key", "flags", "ttl", "program", "value"].map(str::to_owned);
    let mut flow = (values.each)(Line::Names(&names))?;
    let (mut pending, mut bytes) = (Vec::new(), 0);
    let (mut progress, mut page_number) = (Progress::new(), 0u64);
    while flow == Flow::Continue {
        let Some(listed) = next else {
            values.pass_rows(&pending)?;
            break;
        };
        // Each key counts as a page, with its number as the cursor.
        page_number += 1;
        progress.add_entry(&listed.key);
        if !progress.end_page(&page_number.to_le_bytes()) {
            return Err(list.endless_list_error());
        }
        let is_wanted =
            filter.pattern.as_ref().is_none_or(|pattern| glob::matches_pattern(pattern.as_bytes(), &listed.key));
        if is_wanted {
            bytes += listed.key.len();
            pending.push(listed);
        }
        if pending.len() == MAX_REQUEST_KEYS || bytes >= MAX_REQUEST_BYTES {
            flow = values.pass_rows(&pending)?;
            pending.clear();
            bytes = 0;
        }
        next = if flow == Flow::Continue { list.next_listed_key()? } else { None };
    }
    Ok(())
}

/// State of the requests for values.
struct ValueReader<'e> {
    server: MemcachedClient,
    /// The server's time at the start.
    now: i64,
    each: EachLine<'e>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl ValueReader<'_> {
    /// Passes the rows of these keys to `each`. Keys that no longer exist are skipped.
    fn pass_rows(&mut self, keys: &[ListedKey]) -> Result<Flow> {
        for listed in keys.iter().filter(|listed| !is_key(&listed.key)) {
            if self.pass_row(listed, None)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        let mut requested = keys.iter().filter(|listed| is_key(&listed.key));
        if requested.clone().next().is_none() {
            return Ok(Flow::Continue);
        }
        self.server.request_values(requested.clone().map(|listed| &*listed.key))?;
        while let Some(flags) = self.server.next_value(&mut self.key, &mut self.value)? {
            // Values arrive in the requested order. Keys that were removed in the meantime are left out.
            let listed =
                requested.find(|listed| listed.key == self.key).ok_or_else(|| self.server.unexpected_answer_error())?;
            if self.pass_row(listed, Some(flags))? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    fn pass_row(&mut self, listed: &ListedKey, flags: Option<u32>) -> Result<Flow> {
        let value = flags.map(|flags| flags::decompress_value(flags, &self.value));
        let program = value.as_ref().and_then(|value| {
            program::guess_program(&ValueContext { key: &listed.key, kind: "string", field: None, value })
        });
        let ttl = listed.expires.map(|expires| expires.saturating_sub(self.now).max(0));
        (self.each)(Line::Values(&[
            ColumnValue::from_text(spell_key(&listed.key)),
            flags.map_or(ColumnValue::Null, |flags| ColumnValue::from_integer(flags.into())),
            ttl.map_or(ColumnValue::Null, ColumnValue::from_integer),
            program.map_or(ColumnValue::Null, ColumnValue::from_text),
            value.as_deref().map_or(ColumnValue::Null, |value| ColumnValue::Bytes(value.into())),
        ]))
    }
}

/// Returns the value under a key, decompressed as its flags say.
pub(in crate::keys) fn read_value(address: &Address, key: &[u8], max_value_len: u64) -> Result<Vec<u8>> {
    let quoted_key = quote_message(spell_key(key).as_bytes());
    if !is_key(key) {
        let text = format!(
            "{address}: `{quoted_key}` can't be a key: keys have at most 250 bytes and no blanks or control characters"
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    let mut server = MemcachedClient::open(address, max_value_len)?;
    server.request_values(std::iter::once(key))?;
    let (mut answered_key, mut value) = (Vec::new(), Vec::new());
    match server.next_value(&mut answered_key, &mut value)? {
        None => Err(Error::new(ErrorKind::Missing, format!("{address}: there is no key `{quoted_key}`"))),
        Some(_) if answered_key != key => Err(server.unexpected_answer_error()),
        Some(flags) => Ok(flags::decompress_value(flags, &value).into_owned()),
    }
}
