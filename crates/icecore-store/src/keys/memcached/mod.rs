//! Client for memcached, with its text protocol.

mod flags;
mod items;
mod server;

pub(super) use items::{list_keys, read_value};

/// The default port.
const PORT: u16 = 11211;
