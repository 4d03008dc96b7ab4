//! `icecore serve` and `icecore work` as real processes: as the README runs them, killed, with databases that are
//! killed, and with clocks that jump.
#![cfg(feature = "serve")]

mod article;
mod client;
mod clients;
mod clock;
mod crossed;
mod daemon;
mod killed;
mod moved;
mod readme;
