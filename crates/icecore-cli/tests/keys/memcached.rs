//! Tests with a real memcached.

use super::servers::{Redis, memcached, tell_memcached};
use super::{rows, run, run_refused};
use serde_json::json;
use std::collections::BTreeSet;

fn set(port: &str, key: &str, flags: u32, seconds: u32, value: &[u8]) {
    let mut command = format!("set {key} {flags} {seconds} {}\r\n", value.len()).into_bytes();
    command.extend_from_slice(value);
    command.extend_from_slice(b"\r\n");
    assert_eq!(tell_memcached(port, &command), "STORED");
}

#[test]
fn each_key_becomes_a_row() {
    let Some((db, port)) = memcached() else { return };
    set(&port, "rows:a", 4, 1000, b"a:1:{i:0;i:5;}");
    set(&port, "rows:Zoë", 0, 0, b"hello");
    set(&port, "rows:empty", 0, 0, b"");
    set(&port, "rows:gone", 0, 0, b"x");
    assert_eq!(tell_memcached(&port, b"delete rows:gone\r\n"), "DELETED");
    let mut found: Vec<_> = rows(&["--db", &db, "--match", "rows:*"]);
    found.sort_by_key(|row| row["key"].to_string());
    let ttl = found[1]["ttl"].as_u64().expect("seconds");
    assert!((1..=1000).contains(&ttl), "{ttl}");
    let fields: Vec<_> = found.iter().map(|row| json!([row["key"], row["flags"], row["value"]])).collect();
    assert_eq!(fields, [json!(["rows:Zoë", 0, "hello"]), json!(["rows:a", 4, [5]]), json!(["rows:empty", 0, ""])]);
    assert_eq!(found[0]["ttl"], json!(null));
}

#[test]
fn a_value_is_read_by_its_key() {
    let Some((db, port)) = memcached() else { return };
    set(&port, "one:a", 4, 0, b"O:4:\"User\":0:{}");
    // The conversions that the flags indicate are undone.
    let packed = icecore::convert(b"[1,2]", "json", "php-memcached/json").expect("packed");
    set(&port, "one:packed", 0x34, 0, &packed);
    let (stdout, stderr, code) = run::icecore(&["classes", "--db", &db, "--key", "one:a", "--as", "php"], b"");
    assert!(code == 0 && String::from_utf8_lossy(&stdout).contains("User"), "{stderr}");
    let (stdout, _, _) = run::icecore(&["convert", "--db", &db, "--key", "one:packed"], b"");
    assert_eq!(stdout, b"[1,2]\n");
    assert!(run_refused(&["inspect", "--db", &db, "--key", "nothing"], 2).contains("no key `nothing`"));
    assert!(run_refused(&["inspect", "--db", &db, "--key", "a", "--field", "b"], 2).contains("no fields"));
    // No key is interpreted as a command.
    for key in ["a b", "a\r\nflush_all", "hex:00", ""] {
        assert!(run_refused(&["inspect", "--db", &db, "--key", key], 2).contains("can't be a key"), "{key}");
    }
    assert_eq!(tell_memcached(&port, b"get one:a\r\n"), "VALUE one:a 4 15");
}

#[test]
fn all_of_many_keys_are_listed() {
    let Some((db, port)) = memcached() else { return };
    const KEY_COUNT: usize = 1500;
    let mut expected = BTreeSet::new();
    for number in 0..KEY_COUNT {
        let key = format!("many:{number}:{}", "k".repeat(number % 200));
        set(&port, &key, 0, 0, "x".repeat(number * 7 % 3000).as_bytes());
        expected.insert(key);
    }
    let found: BTreeSet<String> = rows(&["--db", &db, "--match", "many:[0-9]*"])
        .iter()
        .map(|row| {
            let key = row["key"].as_str().expect("a key").to_owned();
            let number: usize = key.split(':').nth(1).expect("a number").parse().expect("a number");
            assert_eq!(row["value"].as_str().map(str::len), Some(number * 7 % 3000));
            key
        })
        .collect();
    assert_eq!(found, expected);
}

/// A pattern selects the same keys in both; Redis defines its meaning.
#[test]
fn patterns_select_the_same_keys_as_in_redis() {
    let (Some((db, port)), Some(mut redis)) = (memcached(), Redis::new(10)) else { return };
    const PREFIX: &str = "glob:";
    let mut seed = 11u64;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound
    };
    let mut text =
        |parts: &[&str], bound: usize| -> String { (0..below(bound)).map(|_| parts[below(parts.len())]).collect() };
    for _ in 0..200 {
        let key = format!("{PREFIX}{}", text(&["a", "b", "c", "]", "[", "\\", "*", "-", "^", "?"], 6));
        set(&port, &key, 0, 0, b"x");
        redis.ask(&[b"SET", key.as_bytes(), b"x"]);
    }
    for _ in 0..60 {
        let elements =
            ["a", "b", "*", "?", "[ab]", "[^a]", "[a-c]", "[c-a]", "\\*", "\\\\", "[\\]]", "[", "-", "^", "]", "\\"];
        let pattern = format!("{PREFIX}{}", text(&elements, 6));
        let keys = |db: &str| -> BTreeSet<String> {
            rows(&["--db", db, "--match", &pattern]).iter().map(|row| row["key"].to_string()).collect()
        };
        // The crawler may skip a key that was just moved; a key that is always missing is an error.
        let expected = keys(&redis.address());
        let is_same = (0..50).any(|_| keys(&db) == expected);
        assert!(is_same, "{pattern}: {expected:?}, and memcached has {:?}", keys(&db));
    }
}
