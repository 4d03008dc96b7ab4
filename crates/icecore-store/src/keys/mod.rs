//! What is under the keys of Redis and of memcached, read only, as rows.
//!
//! The clients are small ones of the project's own, because what a server sends is not trusted: no
//! line, no value and no answer may be longer than was allowed, and nothing is kept that was handed
//! on. Only the commands of a fixed list are ever sent.

#[cfg(feature = "memcached")]
mod glob;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod link;
#[cfg(feature = "memcached")]
mod memcached;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod place;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod program;
#[cfg(any(feature = "redis", feature = "memcached"))]
mod progress;
#[cfg(feature = "redis")]
mod redis;
mod spelling;

use crate::address::{Address, Scheme};
use crate::error::{Error, ErrorKind, Result};
use crate::query::EachLine;

pub use spelling::{spelled, unspelled};

/// Which keys are asked for.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Those whose name is like this, where `*`, `?`, `[a-z]` and `\` mean what they mean to Redis.
    pub pattern: Option<String>,
    /// How many bytes a value may have.
    pub longest: u64,
}

/// Hands over what is under the keys of a server as rows. Of Redis, what is in hashes, lists, sets,
/// sorted sets and streams has a row for each. Keys that go meanwhile are left out.
///
/// # Errors
/// Of kind `Address` if the driver is not in this build, `Away` if the server can't be reached or
/// breaks off, `Input` if this is no such server, `Database` for all else that it says.
pub fn keys(address: &Address, wanted: &Keys, each: EachLine<'_>) -> Result<()> {
    match address.scheme() {
        #[cfg(feature = "redis")]
        Scheme::Redis => redis::keys(address, wanted, each),
        #[cfg(feature = "memcached")]
        Scheme::Memcached => memcached::keys(address, wanted, each),
        _ => {
            let _ = (wanted, each);
            Err(no_keys(address))
        }
    }
}

/// The value under a key, and of Redis what is in it at `field`: a field of a hash, the index of a
/// list, `ID/FIELD` of a stream. What flags of memcached say was done to it is undone.
///
/// # Errors
/// As for [`keys`]; of kind `Missing`, if there is no such key or field.
pub fn value(address: &Address, key: &[u8], field: Option<&[u8]>, longest: u64) -> Result<Vec<u8>> {
    match address.scheme() {
        #[cfg(feature = "redis")]
        Scheme::Redis => redis::value(address, key, field, longest),
        #[cfg(feature = "memcached")]
        Scheme::Memcached if field.is_some() => {
            Err(Error::new(ErrorKind::Input, format!("{address}: values of memcached have no fields")))
        }
        #[cfg(feature = "memcached")]
        Scheme::Memcached => memcached::value(address, key, longest),
        _ => {
            let _ = (key, field, longest);
            Err(no_keys(address))
        }
    }
}

/// The stage of what a program keeps, by the name that [`keys`] gives, where that is worth a try before
/// the bytes are looked at.
pub fn stage_of_program(name: &str) -> Option<&'static str> {
    #[cfg(any(feature = "redis", feature = "memcached"))]
    return program::stage_of(name);
    #[cfg(not(any(feature = "redis", feature = "memcached")))]
    {
        let _ = name;
        None
    }
}

fn no_keys(address: &Address) -> Error {
    if matches!(address.scheme(), Scheme::Redis | Scheme::Memcached) {
        return crate::driver::missing(address.scheme());
    }
    Error::new(ErrorKind::Input, format!("{address} has no keys: Redis and memcached have"))
}

/// What a server said, for people: quoted and not too long.
#[cfg(any(feature = "redis", feature = "memcached"))]
fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    icecore::text::shortened(&icecore::text::printable(&text), 200).into_owned()
}
