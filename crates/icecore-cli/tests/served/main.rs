//! `icecore serve` and `icecore work` as real processes that are killed, whose database is
//! killed, and whose clock jumps.
#![cfg(feature = "serve")]

mod client;
mod clock;
mod common;
mod daemon;
mod killed;
#[path = "../../../icecore-store/tests/killing/mod.rs"]
mod killing;
#[path = "../run/mod.rs"]
mod run;
