//! Values of Redis and memcached, read only, as rows.
//!
//! The clients are part of this project, because servers are not trusted. Every line, value and answer has a maximum
//! length, and data is not kept after it was passed on. Only commands from a fixed list are sent.

#[cfg(feature = "memcached")]
mod glob;
#[cfg(feature = "memcached")]
mod memcached;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod program;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod progress;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod server_address;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod server_connection;
mod spelling;

use crate::address::{Address, Scheme};
use crate::error::{Error, ErrorKind, Result};
use crate::query::EachLine;

pub use spelling::{parse_key, spell_key};

/// Filter for keys.
#[derive(Clone, Debug)]
pub struct KeyFilter {
    /// Only keys that match this pattern, where `*`, `?`, `[a-z]` and `\` have the same meaning as in Redis.
    pub pattern: Option<String>,
    /// Maximum length of a value in bytes.
    pub max_value_len: u64,
}

/// Passes the keys of a server and their values to `each` as rows. Each member of a Redis hash, list, set, sorted set
/// or stream has its own row. Keys that disappear in the meantime are skipped.
///
/// # Errors
/// Of kind `Address` if the driver is not in this build, `Away` if the server can't be reached or the connection
/// breaks, `Input` if the address is not of such a server, `Database` for all other errors of the server.
pub fn list_keys(address: &Address, filter: &KeyFilter, each: EachLine<'_>) -> Result<()> {
    match address.scheme() {
        #[cfg(feature = "redis")]
        Scheme::Redis => redis::list_keys(address, filter, each),
        #[cfg(feature = "memcached")]
        Scheme::Memcached => memcached::list_keys(address, filter, each),
        _ => {
            let _ = (filter, each);
            Err(no_keys_error(address))
        }
    }
}

/// Returns the value under a key. With `field`, returns a part of a Redis value. This is a field of a hash, an index
/// of a list, or `ID/FIELD` of a stream. Memcached values are decompressed as their flags say.
///
/// # Errors
/// As for [`list_keys`]; of kind `Missing` if there is no such key or field.
pub fn read_value(address: &Address, key: &[u8], field: Option<&[u8]>, max_value_len: u64) -> Result<Vec<u8>> {
    match address.scheme() {
        #[cfg(feature = "redis")]
        Scheme::Redis => redis::read_value(address, key, field, max_value_len),
        #[cfg(feature = "memcached")]
        Scheme::Memcached if field.is_some() => {
            Err(Error::new(ErrorKind::Input, format!("{address}: values in memcached have no fields")))
        }
        #[cfg(feature = "memcached")]
        Scheme::Memcached => memcached::read_value(address, key, max_value_len),
        _ => {
            let _ = (key, field, max_value_len);
            Err(no_keys_error(address))
        }
    }
}

/// Returns the stage of a program's values, by the program name that [`list_keys`] reports, if that stage should be
/// tried before the format is detected.
pub fn stage_of_program(name: &str) -> Option<&'static str> {
    #[cfg(any(feature = "redis", feature = "memcached"))]
    return program::find_program_stage(name);
    #[cfg(not(any(feature = "redis", feature = "memcached")))]
    {
        let _ = name;
        None
    }
}

fn no_keys_error(address: &Address) -> Error {
    if matches!(address.scheme(), Scheme::Redis | Scheme::Memcached) {
        return crate::driver::missing_driver_error(address.scheme());
    }
    Error::new(ErrorKind::Input, format!("{address} has no keys: only Redis and memcached have keys"))
}

/// Returns a message of the server in a form for people. It is escaped and shortened.
#[cfg(any(feature = "redis", feature = "memcached"))]
fn quote_message(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    icecore::text::shortened(&icecore::text::printable(&text), 200).into_owned()
}
