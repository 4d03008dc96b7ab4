//! Reads the value under one key.

use super::command::RedisCommand;
use super::server::RedisClient;
use crate::address::Address;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{quote_message, spell_key};

/// Returns the value under a key, or the part of it at a field.
pub(in crate::keys) fn read_value(
    address: &Address,
    key: &[u8],
    field: Option<&[u8]>,
    max_value_len: u64,
) -> Result<Vec<u8>> {
    let mut server = RedisClient::open(address, max_value_len)?;
    let quoted_key = quote_message(spell_key(key).as_bytes());
    let missing_error = |message: String| Error::new(ErrorKind::Missing, format!("{address}: {message}"));
    let input_error = |message: String| Error::new(ErrorKind::Input, format!("{address}: {message}"));
    server.add_command(RedisCommand::Type, &[key]);
    server.send_request()?;
    let kind = String::from_utf8_lossy(server.read_word()?).into_owned();
    let mut value = Vec::new();
    let exists = match (&*kind, field) {
        ("none", _) => return Err(missing_error(format!("there is no key `{quoted_key}`"))),
        ("string", None) => {
            server.add_command(RedisCommand::Get, &[key]);
            server.send_request()?;
            server.read_bulk(key, &mut value)?
        }
        ("hash", Some(field)) => {
            server.add_command(RedisCommand::Hget, &[key, field]);
            server.send_request()?;
            server.read_bulk(key, &mut value)?
        }
        ("list", Some(field)) => {
            let is_index = std::str::from_utf8(field).is_ok_and(|text| text.parse::<i64>().is_ok());
            if !is_index {
                return Err(input_error(format!(
                    "`{quoted_key}` is a list: --field must be an index (0 is the first item, -1 the last)"
                )));
            }
            server.add_command(RedisCommand::Lindex, &[key, field]);
            server.send_request()?;
            server.read_bulk(key, &mut value)?
        }
        ("stream", Some(field)) => {
            let slash = field.iter().position(|byte| *byte == b'/');
            let Some(slash) = slash else {
                return Err(input_error(format!(
                    "`{quoted_key}` is a stream: --field must be ID/FIELD, as `icecore rows` shows it"
                )));
            };
            read_stream_field(&mut server, key, &field[..slash], &field[slash + 1..], &mut value)?
        }
        ("string", Some(_)) => return Err(input_error(format!("`{quoted_key}` is a string: it has no fields"))),
        ("hash" | "list" | "stream", None) => {
            return Err(input_error(format!(
                "`{quoted_key}` is a {kind}: --field selects one of its values; `icecore rows` shows all"
            )));
        }
        ("set" | "zset", _) => {
            return Err(input_error(format!(
                "`{quoted_key}` is a {kind}, whose members have no names: `icecore rows` shows them"
            )));
        }
        _ => {
            return Err(input_error(format!(
                "`{quoted_key}` is a {}, which is not read",
                quote_message(kind.as_bytes())
            )));
        }
    };
    match (exists, field) {
        (true, _) => Ok(value),
        (false, None) => Err(missing_error(format!("there is no key `{quoted_key}`"))),
        (false, Some(field)) => Err(missing_error(format!(
            "there is no `{}` in `{quoted_key}`",
            quote_message(spell_key(field).as_bytes())
        ))),
    }
}

/// Reads a field of a stream entry into `value`. Returns whether it exists.
fn read_stream_field(
    server: &mut RedisClient,
    key: &[u8],
    id: &[u8],
    field: &[u8],
    value: &mut Vec<u8>,
) -> Result<bool> {
    server.add_command(RedisCommand::Xrange, &[key, id, id, b"COUNT", b"1"]);
    server.send_request()?;
    match server.read_array_length()? {
        None | Some(0) => return Ok(false),
        Some(1) => {}
        Some(_) => return Err(server.unexpected_answer_error()),
    }
    if server.read_array_length()? != Some(2) {
        return Err(server.unexpected_answer_error());
    }
    let mut name = Vec::new();
    server.read_bulk(key, &mut name)?;
    for _ in 0..server.read_array_length()?.unwrap_or(0) / 2 {
        server.read_bulk(key, &mut name)?;
        if !server.read_bulk(key, value)? {
            return Err(server.unexpected_answer_error());
        }
        if name == field {
            return Ok(true);
        }
    }
    Ok(false)
}
