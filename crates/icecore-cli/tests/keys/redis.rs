//! Tests with a real Redis.

use super::servers::Redis;
use super::{rows, run_refused};
use crate::run;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

fn select_fields<'r>(row: &'r Value, names: &[&str]) -> Vec<&'r Value> {
    names.iter().map(|name| &row[name]).collect()
}

#[test]
fn every_type_of_key_becomes_rows() {
    let Some(mut redis) = Redis::new(1) else { return };
    redis.ask(&[b"SET", b"cache:a", b"a:1:{i:0;i:5;}"]);
    redis.ask(&[b"SET", b"cache:b", b"hello", b"PX", b"100000"]);
    redis.ask(&[b"RPUSH", b"list", b"i:1;", b"two"]);
    redis.ask(&[b"SADD", b"set", b"\x04\x08i\x0c"]);
    redis.ask(&[b"ZADD", b"zset", b"1.5", b"{\"a\":1}"]);
    redis.ask(&[b"HSET", b"hash", b"f\xff", b"N;", b"g", b""]);
    redis.ask(&[b"XADD", b"stream", b"5-1", b"message", b"{\"body\":\"x\"}", b"k", b"v"]);
    redis.ask(&[b"XADD", b"stream", b"5-2", b"k", b"w"]);
    redis.ask(&[b"SET", b"\xfe\0", b"s:1:\"x\";"]);
    let all: BTreeSet<String> = rows(&["--db", &redis.address()])
        .iter()
        .map(|row| {
            let ttl: Option<f64> = row["ttl"].as_f64();
            assert!(ttl.is_none_or(|ttl| ttl > 0.0 && ttl <= 100.0), "{row}");
            assert_eq!(ttl.is_some(), row["key"] == "cache:b");
            json!(select_fields(row, &["key", "type", "field", "value"])).to_string()
        })
        .collect();
    let expected = [
        json!(["cache:a", "string", null, [5]]),
        json!(["cache:b", "string", null, "hello"]),
        json!(["list", "list", "0", 1]),
        json!(["list", "list", "1", "two"]),
        json!(["set", "set", null, 7]),
        json!(["zset", "zset", "1.5", {"a": 1}]),
        json!(["hash", "hash", "hex:66ff", null]),
        json!(["hash", "hash", "g", ""]),
        json!(["stream", "stream", "5-1/message", {"body": "x"}]),
        json!(["stream", "stream", "5-1/k", "v"]),
        json!(["stream", "stream", "5-2/k", "w"]),
        json!(["hex:fe00", "string", null, "x"]),
    ];
    assert_eq!(all, expected.iter().map(Value::to_string).collect());
    let keys = |args: &[&str]| {
        let rows = rows(&[&["--db", &redis.address()], args].concat());
        rows.iter().map(|row| row["key"].as_str().expect("a key").to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(keys(&["--match", "cache:*"]), ["cache:a", "cache:b"].map(str::to_owned).into());
    assert_eq!(keys(&["--match", "nothing"]), BTreeSet::new());
    // As a table, and with a given format.
    let args = ["rows", "--db", &redis.address(), "--match", "cache:a", "-c", "value=php", "-t", "csv"];
    let (stdout, stderr, code) = run::icecore(&args, b"");
    assert_eq!((code, &*stderr), (0, ""));
    assert_eq!(stdout, b"key,type,ttl,field,program,value,value_error\ncache:a,string,,,,[5],\n");
}

/// Every field of every row leads back to the value.
#[test]
fn every_command_reads_a_value_by_its_key() {
    let Some(mut redis) = Redis::new(2) else { return };
    let value: &[u8] = b"O:4:\"User\":1:{s:2:\"id\";i:7;}";
    redis.ask(&[b"SET", b"app_cache:user:7", value]);
    redis.ask(&[b"SET", b"\xfe -", value]);
    redis.ask(&[b"HSET", b"h", b"f", value]);
    redis.ask(&[b"RPUSH", b"l", b"x", value]);
    redis.ask(&[b"XADD", b"s", b"5-1", b"a", b"x", b"b/c", value]);
    redis.ask(&[b"SADD", b"set", value]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file").display().to_string();
    std::fs::write(&file, value).expect("written");
    let db = redis.address();
    for which in [
        &["--key", "app_cache:user:7"][..],
        &["--key", "hex:fe202d"],
        &["--key", "h", "--field", "f"],
        &["--key", "l", "--field", "1"],
        &["--key", "l", "--field", "-1"],
        &["--key", "s", "--field", "5-1/b/c"],
    ] {
        for command in [
            &["inspect"][..],
            &["inspect", "--json"],
            &["classes", "--as", "php"],
            &["convert"],
            &["convert", "-t", "json:typed"],
        ] {
            let (of_key, stderr, code) = run::icecore(&[command, &["--db", &db], which].concat(), b"");
            assert_eq!(code, 0, "{which:?}: {stderr}");
            let (of_file, _, _) = run::icecore(&[command, &[&*file]].concat(), b"");
            let name = which.iter().skip(1).step_by(2).copied().collect::<Vec<_>>().join(" ");
            let text = String::from_utf8(of_file).expect("text").replace(&file, &name);
            assert_eq!(String::from_utf8(of_key).expect("text"), text, "{command:?} {which:?}");
        }
    }
    for (which, cause) in [
        (&["--key", "nothing"][..], "no key `nothing`"),
        (&["--key", "a\u{1b}[31m"], "no key `hex:611b5b33316d`"),
        (&["--key", "h", "--field", "nothing"], "no `nothing` in `h`"),
        (&["--key", "l", "--field", "9"], "no `9` in `l`"),
        (&["--key", "l", "--field", "x"], "an index"),
        (&["--key", "s", "--field", "9-9/a"], "no `9-9/a`"),
        (&["--key", "s", "--field", "5-1/z"], "no `5-1/z`"),
        (&["--key", "h"], "--field selects"),
        (&["--key", "set"], "`icecore rows` shows"),
        (&["--key", "app_cache:user:7", "--field", "a"], "no fields"),
        (&["--key", "hex:1"], "hexadecimal"),
    ] {
        let message = run_refused(&[&["inspect", "--db", &db], which].concat(), 2);
        assert!(message.contains(cause), "{which:?}: {message}");
    }
    assert!(run_refused(&["inspect", "--db", &db, &file], 2).contains("--key"));
    assert!(
        run_refused(&["rows", "--db", &db, "--query", "select 1", "-c", "a"], 2).contains("does not understand SQL")
    );
    assert!(run_refused(&["store", "stats", "--db", &db], 2).contains("is not a store"));
    let sqlite = format!("sqlite:{file}");
    assert!(run_refused(&["inspect", "--db", &sqlite, "--key", "a"], 2).contains("no keys"));
    assert!(run_refused(&["rows", "--db", &sqlite], 2).contains("no keys"));
    // Into a folder, under a harmless name.
    redis.ask(&[b"SET", b"../../x", value]);
    let out = folder.path().join("out").display().to_string();
    let (_, stderr, code) = run::icecore(&["convert", "--db", &db, "--key", "../../x", "--out-dir", &out], b"");
    assert_eq!(code, 0, "{stderr}");
    assert!(folder.path().join("out/______x.json").exists());
}

/// Many members, in windows of many sizes.
#[test]
fn members_of_long_keys_are_read_in_windows() {
    let Some(mut redis) = Redis::new(3) else { return };
    const MEMBER_COUNT: usize = 3000;
    let mut seed = 5u64;
    let mut expected: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for number in 0..MEMBER_COUNT {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let len = if number % 500 == 0 { 300_000 } else { (seed >> 33) as usize % 100 };
        let value = format!("{number} {}", "x".repeat(len));
        let field = number.to_string();
        redis.send(&[b"RPUSH", b"list", value.as_bytes()]);
        redis.send(&[b"HSET", b"hash", field.as_bytes(), value.as_bytes()]);
        redis.send(&[b"SADD", b"set", value.as_bytes()]);
        redis.send(&[b"ZADD", b"zset", field.as_bytes(), value.as_bytes()]);
        redis.send(&[b"XADD", b"stream", format!("{}-{number}", number / 7 + 1).as_bytes(), b"v", value.as_bytes()]);
        // The answer with the last id has two lines.
        for _ in 0..6 {
            redis.line();
        }
        for key in ["list", "hash", "set", "zset", "stream"] {
            expected.entry(key).or_default().insert(value.clone());
        }
    }
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut count = 0;
    for row in rows(&["--db", &redis.address()]) {
        count += 1;
        let (key, value) = (row["key"].as_str().expect("a key"), row["value"].as_str().expect("text").to_owned());
        let number = value.split(' ').next().expect("a number").to_owned();
        match key {
            "list" | "hash" | "zset" => assert_eq!(row["field"], json!(number)),
            "set" => assert_eq!(row["field"], Value::Null),
            _ => assert!(row["field"].as_str().is_some_and(|field| field.ends_with(&format!("-{number}/v")))),
        }
        found.entry(key.to_owned()).or_default().insert(value);
    }
    assert_eq!(count, 5 * MEMBER_COUNT);
    assert!(expected.iter().all(|(key, values)| found[*key] == *values));
}

/// With a user that may only read: everything works, and no other command is sent.
#[test]
fn only_reading_commands_are_sent() {
    let Some(mut redis) = Redis::new(4) else { return };
    redis.ask(&[
        b"ACL",
        b"SETUSER",
        b"reader",
        b"on",
        b">pass:w@rd",
        b"~*",
        b"resetchannels",
        b"-@all",
        b"+@read",
        b"+select",
    ]);
    redis.ask(&[b"SET", b"string", b"i:5;"]);
    redis.ask(&[b"RPUSH", b"list", b"a"]);
    redis.ask(&[b"SADD", b"set", b"a"]);
    redis.ask(&[b"ZADD", b"zset", b"1", b"a"]);
    redis.ask(&[b"HSET", b"hash", b"f", b"a"]);
    redis.ask(&[b"XADD", b"stream", b"5-1", b"a", b"b"]);
    let port = redis.port().to_owned();
    let db = format!("redis://reader:pass%3Aw%40rd@127.0.0.1:{port}/4");
    let mut watch = Redis::new(15).expect("the same server");
    watch.ask(&[b"MONITOR"]);
    assert_eq!(rows(&["--db", &db]).len(), 6);
    for which in [
        &["--key", "string"][..],
        &["--key", "hash", "--field", "f"],
        &["--key", "list", "--field", "0"],
        &["--key", "stream", "--field", "5-1/a"],
    ] {
        run::icecore(&[&["inspect", "--db", &db], which].concat(), b"");
    }
    redis.ask(&[b"ECHO", b"the end"]);
    let mut words = BTreeSet::new();
    loop {
        let line = watch.line();
        if line.contains("the end") {
            break;
        }
        // The database of this test, or its selection.
        if let Some((_, command)) = line
            .split_once("[4 ")
            .or_else(|| line.split_once("[0 ").filter(|(_, rest)| rest.contains("\"SELECT\" \"4\"")))
        {
            words.insert(command.split('"').nth(1).expect("a command").to_owned());
        }
    }
    let expected = [
        "GET", "HGET", "HSCAN", "LINDEX", "LRANGE", "PTTL", "SCAN", "SELECT", "SSCAN", "STRLEN", "TYPE", "XRANGE",
        "ZSCAN",
    ];
    assert_eq!(words, expected.map(str::to_owned).into());
    // A password is never reported, whatever the error.
    for wrong in [format!("redis://reader:hunter2@127.0.0.1:{port}/4"), format!("redis://:hunter2@127.0.0.1:{port}/x")]
    {
        let (_, stderr, code) = run::icecore(&["rows", "--db", &wrong], b"");
        assert!(code != 0 && !stderr.contains("hunter"), "{stderr}");
    }
    // The password may be given elsewhere.
    let plain = format!("redis://reader@127.0.0.1:{port}/4");
    let mut command = std::process::Command::new(run::ICECORE);
    let output =
        command.args(["rows", "-q", "--db", &plain]).env("ICECORE_DB_PASSWORD", "pass:w@rd").output().expect("it runs");
    assert_eq!(output.stdout.split(|byte| *byte == b'\n').count(), 7, "{}", String::from_utf8_lossy(&output.stderr));
}

/// Keys come and go while they are read: permanent keys are found, and nothing is an error.
#[test]
fn keys_that_disappear_meanwhile_are_no_error() {
    let Some(mut redis) = Redis::new(7) else { return };
    const STAY: usize = 2000;
    for number in 0..STAY {
        let key = format!("stay:{number}");
        match number % 3 {
            0 => redis.ask(&[b"SET", key.as_bytes(), b"v"]),
            1 => redis.ask(&[b"RPUSH", key.as_bytes(), b"v"]),
            _ => redis.ask(&[b"HSET", key.as_bytes(), b"f", b"v"]),
        };
    }
    let (address, is_over) = (redis.address(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0u32;
            while !is_over.load(Ordering::Relaxed) {
                let key = format!("go:{}", number % 4000);
                let key = key.as_bytes();
                redis.ask(&[b"DEL", key]);
                match number % 4 {
                    0 => redis.ask(&[b"SET", key, b"v", b"PX", b"1"]),
                    1 => redis.ask(&[b"RPUSH", key, b"v"]),
                    2 => redis.ask(&[b"XADD", key, b"*", b"f", b"v"]),
                    _ => redis.ask(&[b"HSET", key, b"f", b"v"]),
                };
                number += 7;
                // The table of keys grows and shrinks.
                if number % 5000 < 7 {
                    for number in 0..4000 {
                        redis.ask(&[b"DEL", format!("go:{number}").as_bytes()]);
                    }
                }
            }
        });
        for _ in 0..10 {
            let rows = rows(&["--db", &address]);
            let stay: BTreeSet<&str> =
                rows.iter().filter_map(|row| row["key"].as_str()).filter(|key| key.starts_with("stay:")).collect();
            assert_eq!(stay.len(), STAY);
            assert!(rows.iter().all(|row| row["value"] == "v"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// Over a Unix socket, and encrypted.
#[test]
fn unix_sockets_and_tls_reach_the_server() {
    let Some(mut redis) = Redis::new(8) else { return };
    redis.ask(&[b"SET", b"a", b"i:5;"]);
    let socket = redis.ask(&[b"CONFIG", b"GET", b"unixsocket"]);
    if socket.is_empty() {
        eprintln!("SKIPPED: this Redis has no socket");
    } else {
        assert_eq!(rows(&["--db", &format!("redis+unix://{socket}?db=8")])[0]["value"], 5);
    }
    let port = redis.ask(&[b"CONFIG", b"GET", b"tls-port"]);
    let Ok(authority) = std::env::var("ICECORE_TEST_AUTHORITY").map_err(drop) else {
        eprintln!("SKIPPED: ICECORE_TEST_AUTHORITY is not set");
        return;
    };
    if matches!(&*port, "" | "0") {
        eprintln!("SKIPPED: this Redis is not encrypted");
        return;
    }
    let of = |host: &str, more: &str| format!("rediss://{host}:{port}/8?timeout=20{more}");
    assert_eq!(rows(&["--db", &of("127.0.0.1", &format!("&sslrootcert={authority}"))])[0]["value"], 5);
    assert_eq!(rows(&["--db", &of("127.0.0.1", "&sslmode=require")])[0]["value"], 5);
    // Another name, and an unknown authority.
    run_refused(&["rows", "--db", &of("localhost", &format!("&sslrootcert={authority}"))], 2);
    run_refused(&["rows", "--db", &of("127.0.0.1", "")], 2);
}

/// A value that is longer than allowed is an error that names the key.
#[test]
fn long_values_are_refused() {
    let Some(mut redis) = Redis::new(9) else { return };
    redis.ask(&[b"SET", b"long", &vec![b'x'; 20_000]]);
    let message = run_refused(&["rows", "--db", &redis.address(), "--max-record", "10K", "-q"], 2);
    assert!(message.contains("`long`"), "{message}");
}
