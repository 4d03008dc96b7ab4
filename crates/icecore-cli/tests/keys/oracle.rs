//! Values that the real clients of PHP, Ruby and Perl write with random options, as sessions, caches and queues: the
//! command shows the same values as the languages.

use super::rows;
use super::servers::{Redis, memcached};
use serde_json::Value;
use std::collections::HashMap;
use std::process::Command;

/// Number of values that each language writes.
fn count() -> usize {
    std::env::var("ICECORE_KEYS").ok().and_then(|count| count.parse().ok()).unwrap_or(140)
}

fn seed() -> u64 {
    std::env::var("ICECORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Returns what a script reports to have written; `None` if its language is missing.
fn run_script(language: &str, script: &str, args: &[&str]) -> Option<Vec<Value>> {
    let script = format!("{}/tests/keys/oracle/{script}", env!("CARGO_MANIFEST_DIR"));
    let (count, seed) = (count().to_string(), seed().to_string());
    let Ok(output) = Command::new(language).arg(&script).args(args).args([&seed, &count]).output() else {
        eprintln!("SKIPPED: {language} is not installed");
        return None;
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {stderr}");
    for line in stderr.lines().filter(|line| line.contains("left out: ")) {
        eprintln!("SKIPPED: {line}");
    }
    let lines = String::from_utf8(output.stdout).expect("text");
    Some(lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

fn compare_rows(expected: &[Value], found: &[Value]) {
    let found: HashMap<&str, &Value> = found.iter().map(|row| (row["key"].as_str().expect("a key"), row)).collect();
    for line in expected {
        let key = line["key"].as_str().expect("a key");
        let row = found.get(key).unwrap_or_else(|| panic!("{key} is not there"));
        assert!(is_same(&line["value"], &row["value"]), "{key}\n{}\n{row}", line["value"]);
        assert_eq!(row.get("value_error"), None, "{key}");
        if !line["program"].is_null() {
            assert_eq!(line["program"], row["program"], "{key}");
        }
    }
}

/// Compares numbers by value, not by spelling; an empty map is an empty list in PHP.
fn is_same(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(expected), Value::Number(found)) => expected.as_f64() == found.as_f64(),
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(expected, found)| is_same(expected, found))
        }
        (Value::Object(expected), Value::Object(found)) => {
            expected.len() == found.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| is_same(value, found)))
        }
        _ => expected == found,
    }
}

#[test]
fn php_values_in_redis_are_read_like_php() {
    let Some(redis) = Redis::new(5) else { return };
    let Some(expected) = run_script("php", "redis.php", &[redis.port(), "5"]) else { return };
    compare_rows(&expected, &rows(&["--db", &redis.address()]));
}

#[test]
fn ruby_values_in_redis_are_read_like_ruby() {
    let Some(redis) = Redis::new(6) else { return };
    let Some(expected) = run_script("ruby", "ruby.rb", &["redis", redis.port(), "6"]) else { return };
    compare_rows(&expected, &rows(&["--db", &redis.address()]));
}

#[test]
fn values_in_memcached_are_read_like_their_languages() {
    let Some((db, port)) = memcached() else { return };
    let mut prefix = seed().to_string();
    prefix.insert_str(0, "oracle");
    for (language, script, args) in [
        ("php", "memcached.php", &[&*port][..]),
        ("ruby", "ruby.rb", &["memcached", &*port]),
        ("perl", "perl.pl", &[&*port]),
    ] {
        let prefix = format!("{prefix}{language}");
        let Some(expected) = run_script(language, script, &[args, &[&*prefix]].concat()) else { continue };
        compare_rows(&expected, &rows(&["--db", &db, "--match", &format!("*{prefix}*")]));
    }
}
