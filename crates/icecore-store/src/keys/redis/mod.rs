//! Redis, and servers that speak its protocol, version 2.

mod command;
mod members;
mod one;
mod server;
mod walk;

pub(super) use one::value;
pub(super) use walk::keys;

/// The port of servers that name none.
const PORT: u16 = 6379;
