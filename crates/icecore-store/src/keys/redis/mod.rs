//! Client for Redis, and for servers that speak version 2 of its protocol.

mod command;
mod members;
mod server;
mod single_value;
mod walk;

pub(super) use single_value::read_value;
pub(super) use walk::list_keys;

/// The default port.
const PORT: u16 = 6379;
