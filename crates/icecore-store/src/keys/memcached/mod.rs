//! memcached, by its protocol of text.

mod flags;
mod items;
mod server;

pub(super) use items::{keys, value};

/// The port of servers that name none.
const PORT: u16 = 11211;
