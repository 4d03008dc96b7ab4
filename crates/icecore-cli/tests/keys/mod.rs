//! Values under the keys of Redis and memcached: `rows`, and `--key` of the other commands.
//!
//! Run `scripts/servers.sh run cargo test -p icecore-cli --features all --test cli keys::`; without servers, only the
//! tests that need none run.
#![cfg(all(feature = "redis", feature = "memcached"))]

mod hostile;
mod memcached;
mod oracle;
mod redis;
use crate::run;
mod servers;

use serde_json::Value;

/// Returns the rows that the command writes.
fn rows(args: &[&str]) -> Vec<Value> {
    let (stdout, stderr, code) = run::icecore(&[&["rows", "-q"], args].concat(), b"");
    assert_eq!(code, 0, "{args:?}: {stderr}");
    let text = String::from_utf8(stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns the message of a command that must fail.
fn run_refused(args: &[&str], code: i32) -> String {
    let (stdout, stderr, ended) = run::icecore(args, b"");
    assert!(stdout.is_empty() && ended == code, "{args:?} ended with {ended}: {stderr}");
    stderr
}
