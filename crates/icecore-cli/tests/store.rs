//! `icecore store`, `queue` and `rows --query` with a database in a file.

use crate::run;

use serde_json::Value;
use tempfile::TempDir;

struct Database(TempDir);

impl Database {
    fn new() -> Database {
        Database(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn address(&self) -> String {
        format!("sqlite:{}", self.file("a.db"))
    }

    /// Returns stdout, stderr and the exit code.
    fn try_run(&self, args: &[&str], input: &[u8]) -> (Vec<u8>, String, i32) {
        run::icecore(&[args, &["--db", &self.address()]].concat(), input)
    }

    fn run_for_bytes(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let (stdout, stderr, code) = self.try_run(args, input);
        assert_eq!(code, 0, "{args:?}: {stderr}");
        stdout
    }

    fn run_for_text(&self, args: &[&str], input: &[u8]) -> String {
        String::from_utf8(self.run_for_bytes(args, input)).expect("text")
    }

    /// Stores bytes; returns their id.
    fn put(&self, bytes: &[u8]) -> String {
        self.run_for_text(&["store", "put"], bytes).trim().to_owned()
    }

    fn run_for_lines(&self, args: &[&str]) -> Vec<Value> {
        let text = self.run_for_text(args, b"");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// Returns `E` with the variable `@id`, as Ruby writes it.
fn dump_ruby_object(id: u8) -> Vec<u8> {
    [b"\x04\x08o:\x06E\x06:\x08@idi", [id + 5].as_slice()].concat()
}

#[test]
fn stored_objects_are_returned_as_bytes_and_converted() {
    let database = Database::new();
    let all: &[&[u8]] = &[&dump_ruby_object(7), b"a:1:{i:0;i:7;}", b" [1,\n 2 ]\n", b"", b"\0\xFF\x80 no format"];
    for bytes in all {
        let id = database.put(bytes);
        assert_eq!(id.len(), 36, "{id}");
        assert_eq!(database.run_for_bytes(&["store", "get", &id], b""), *bytes);
    }
    let each = database.run_for_lines(&["store", "each", "--json"]);
    let values: Vec<&Value> = each.iter().map(|line| &line["value"]).collect();
    assert_eq!(
        format!("{values:?}"),
        format!(
            "{:?}",
            [
                &serde_json::json!({"id": 7}),
                &serde_json::json!([7]),
                &serde_json::json!([1, 2]),
                &Value::Null,
                &Value::Null
            ]
        )
    );
    assert!(each.iter().all(|line| line["problem"].is_string() == line["value"].is_null()));
    let id = each[0]["id"].as_str().expect("an id");
    assert_eq!(database.run_for_text(&["store", "get", id, "-t", "json"], b"").trim(), r#"{"id":7}"#);
    let (_, _, code) = database.try_run(&["store", "get", each[4]["id"].as_str().expect("an id"), "-t", "json"], b"");
    assert_eq!(code, 4);
}

/// A walk formats its lines with other code than that for a single object.
#[test]
fn each_prints_an_object_as_get_prints_it() {
    let database = Database::new();
    let key = "Zo\u{eb} \"\\ \u{202e}";
    database.run_for_text(&["store", "put", "--key", key, "--expires", "7d"], &dump_ruby_object(7));
    let long_class = format!("O:{}:\"{}\":0:{{}}", 300, "C".repeat(300));
    for bytes in
        [&dump_ruby_object(1)[..], b"a:1:{i:0;i:7;}", b"[1,\"\"]", b"", b"\0\xFF\x80 no format", long_class.as_bytes()]
    {
        database.put(bytes);
    }
    let broken = rusqlite::Connection::open(database.file("a.db")).expect("the database");
    let sql = "UPDATE icecore_objects SET checksum = 'a\"b', bytes = x'04085b07' WHERE seq = 2";
    broken.execute(sql, []).expect("a row");
    // The first walk marks broken objects.
    let _ = database.try_run(&["store", "each", "--json"], b"");
    let each = database.try_run(&["store", "each", "--json"], b"").0;
    let each = String::from_utf8(each).expect("text");
    assert_eq!(each.lines().count(), 7);
    for line in each.lines() {
        let id = serde_json::from_str::<Value>(line).expect("JSON")["id"].as_str().expect("an id").to_owned();
        assert_eq!(line, database.run_for_text(&["store", "get", &id, "--json"], b"").trim_end_matches('\n'));
    }
}

#[test]
fn each_continues_after_an_undecodable_object() {
    let database = Database::new();
    let ids: Vec<String> = (0..3).map(|id| database.put(&dump_ruby_object(id))).collect();
    // Damages an object in the database.
    let broken = rusqlite::Connection::open(database.file("a.db")).expect("the database");
    broken.execute("UPDATE icecore_objects SET bytes = x'04085b07' WHERE id = ?", [&ids[1]]).expect("a row");
    let (stdout, stderr, code) = database.try_run(&["store", "each", "--json"], b"");
    assert_eq!(code, 4, "{stderr}");
    let lines: Vec<Value> =
        String::from_utf8_lossy(&stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1]["problem"].is_string() && lines[2]["value"]["id"] == 2);
    let marked = database.run_for_lines(&["store", "find", "--quarantined", "--json"]);
    assert_eq!(marked.len(), 1);
    assert_eq!(marked[0]["id"], *ids[1]);
}

#[test]
fn a_stream_is_stored_as_objects_and_restored() {
    let (database, other) = (Database::new(), Database::new());
    let objects: Vec<Vec<u8>> = (0..20).map(dump_ruby_object).collect();
    let stream = objects.concat();
    let ids = database.run_for_text(&["store", "put", "--each", "-f", "marshal"], &stream);
    assert_eq!(ids.lines().count(), 20);
    assert_eq!(database.run_for_bytes(&["store", "each", "--bytes"], b""), stream);
    let second = ids.lines().nth(1).expect("an id");
    assert_eq!(database.run_for_bytes(&["store", "get", second], b""), objects[1]);

    // With frames, into a text column, for any bytes.
    let framed = database.run_for_bytes(&["store", "each", "--bytes=u32be"], b"");
    let stored = other.run_for_text(&["store", "put", "--each=u32be", "--base64", "--json"], &framed);
    let last: Value = serde_json::from_str(stored.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["format"], &last["file"]), (&"marshal".into(), &"stdin, record 20".into()));
    assert_eq!(other.run_for_bytes(&["store", "each", "--bytes=u32be"], b""), framed);
    other.run_for_text(&["store", "put", "--each=lines"], b"no format\n\n[1]\n");
    assert_eq!(
        other.run_for_bytes(&["store", "each", "--bytes=lines", "--items", "1", "--quarantined"], b""),
        b"no format\n"
    );
    let (stdout, stderr, code) = other.try_run(&["store", "each", "--bytes=lines"], b"");
    assert_eq!(
        (stdout.ends_with(b"E\x06:\x08@idi\x09\n"), code),
        (true, 2),
        "one has a line feed at its end: {stderr}"
    );
    assert_eq!(stdout.iter().filter(|byte| **byte == b'\n').count(), 5, "those before it are there");
    assert!(stderr.contains(stored.lines().nth(5).and_then(|line| line.get(7..43)).expect("an id")), "{stderr}");
}

#[test]
fn records_before_a_broken_one_are_stored() {
    let database = Database::new();
    let stream = [&dump_ruby_object(1)[..], &dump_ruby_object(2), b"\x04\x08["].concat();
    let (ids, stderr, code) = database.try_run(&["store", "put", "--each", "-f", "marshal"], &stream);
    assert_eq!((String::from_utf8_lossy(&ids).lines().count(), code), (2, 4), "{stderr}");
    assert_eq!(
        database.run_for_bytes(&["store", "each", "--bytes"], b""),
        [dump_ruby_object(1), dump_ruby_object(2)].concat()
    );
    for (args, message) in [
        (&["store", "put", "--each"][..], "--each -f marshal"),
        (&["store", "put", "--each", "-f", "base64/marshal"], "--each=lines"),
        (&["store", "put", "--each=lines", "--key", "a"], "cannot be used with"),
        (&["store", "each", "--bytes", "--json"], "cannot be used with"),
    ] {
        let (_, stderr, code) = database.try_run(args, b"x");
        assert!(code == 2 && stderr.contains(message), "{args:?}: {stderr}");
    }
}

#[test]
fn objects_are_found_by_key_class_and_value() {
    let database = Database::new();
    for id in 0..5 {
        database.put(&dump_ruby_object(id));
    }
    database.put(br#"{"user": {"id": 3}, "id": 3}"#);
    database.run_for_text(&["store", "put", "--key", "the one"], b"[1]");
    for _ in 0..2 {
        let found = database.run_for_lines(&["store", "find", "$.id", "3", "--json"]);
        assert_eq!(found.len(), 2);
        assert_eq!(database.run_for_lines(&["store", "find", "$.user.id=3", "--json"]).len(), 1);
        // The second time with an index.
        database.run_for_text(&["store", "index", "$.id"], b"");
    }
    database.put(&dump_ruby_object(3));
    assert_eq!(database.run_for_lines(&["store", "find", "$.id", "3", "--json"]).len(), 3);
    assert_eq!(database.run_for_lines(&["store", "find", "--class", "E", "--json"]).len(), 6);
    assert_eq!(database.run_for_lines(&["store", "find", "--key", "the one", "--json"])[0]["value"][0], 1);
    assert_eq!(database.run_for_bytes(&["store", "get", "the one"], b""), b"[1]");
    let (_, _, code) = database.try_run(&["store", "find", "$.id", "99"], b"");
    assert_eq!(code, 1, "nothing is a finding");
    let (_, stderr, code) = database.try_run(&["store", "put", "--key", "the one"], b"[2]");
    assert!(code != 0 && stderr.contains("the one"), "{stderr}");
}

#[test]
fn copying_again_copies_only_new_objects() {
    let database = Database::new();
    let ids: Vec<String> = (0..3).map(|id| database.put(&dump_ruby_object(id))).collect();
    let other = format!("sqlite:{}", database.file("b.db"));
    assert_eq!(database.run_for_text(&["store", "copy", "--to", &other], b""), "3 objects copied\n");
    database.put(&dump_ruby_object(9));
    assert_eq!(database.run_for_text(&["store", "copy", "--to", &other], b""), "1 object copied\n");
    for id in &ids {
        let (bytes, _, code) = run::icecore(&["store", "get", id, "--db", &other], b"");
        assert_eq!((bytes, code), (database.run_for_bytes(&["store", "get", id], b""), 0));
    }
    database.run_for_text(&["store", "rm", &ids[0]], b"");
    let (_, stderr, code) = database.try_run(&["store", "rm", &ids[0]], b"");
    assert!(code == 1 && stderr.contains(&ids[0]), "{stderr}");
}

#[test]
fn jobs_are_queued_listed_paused_and_replayed() {
    let database = Database::new();
    let push = |input: &[u8]| database.run_for_text(&["queue", "push", "--queue", "mail"], input).trim().to_owned();
    let first = push(br#"{"to": 7}"#);
    push(&dump_ruby_object(1));
    let listed = database.run_for_lines(&["queue", "list", "mail", "--json"]);
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0]["id"], &listed[0]["state"]), (&Value::from(&*first), &Value::from("ready")));
    assert_eq!((&listed[0]["value"]["to"], &listed[1]["value"]["id"]), (&Value::from(7), &Value::from(1)));
    assert_eq!(database.run_for_lines(&["queue", "list", "--queue", "other", "--json"]).len(), 0);
    let replay_id = database.run_for_text(&["queue", "replay", &first], b"");
    let listed = database.run_for_lines(&["queue", "list", "--json"]);
    assert_eq!((&listed[2]["id"], &listed[2]["replay_of"]), (&Value::from(replay_id.trim()), &Value::from(&*first)));
    database.run_for_text(&["queue", "pause", "mail"], b"");
    assert!(database.run_for_lines(&["queue", "stats", "--json"])[0]["paused_at"].is_string());
    database.run_for_text(&["queue", "resume", "--queue", "mail"], b"");
    let stats = database.run_for_lines(&["queue", "stats", "--json"]);
    assert!(stats[0]["paused_at"].is_null() && stats[0]["ready"] == 3);
    let unique = |_| database.run_for_text(&["queue", "push", "--unique", "k"], b"1");
    let ids: Vec<String> = (0..2).map(unique).collect();
    assert_eq!(ids[0], ids[1], "one with this key is not done yet");
    assert_eq!(database.run_for_text(&["queue", "redrive", "--queue", "mail"], b""), "0 ready again\n");
}

#[test]
fn files_become_a_chain_that_is_worked_in_order() {
    let database = Database::new();
    let files: Vec<String> = (0..3).map(|number| database.file(&format!("{number}.json"))).collect();
    for (number, file) in files.iter().enumerate() {
        std::fs::write(file, number.to_string()).expect("written");
    }
    let mut args = vec!["queue", "push", "--chain"];
    args.extend(files.iter().map(String::as_str));
    let ids = database.run_for_text(&args, b"");
    let ids: Vec<&str> = ids.lines().collect();
    let last = database.run_for_text(&["queue", "push", "--after", ids[2]], b"3");
    let waiting = database.run_for_lines(&["queue", "list", "--json", "--state", "waiting"]);
    let after: Vec<&str> = waiting.iter().map(|job| job["after"].as_str().expect("an id")).collect();
    assert_eq!(after, ids);
    let stats = database.run_for_lines(&["queue", "stats", "--json"]);
    assert_eq!((&stats[0]["ready"], &stats[0]["waiting"]), (&Value::from(1), &Value::from(3)));
    let script = "cat; printf ' %s' \"$ICECORE_JOB_AFTER\"";
    database.run_for_text(&["work", "--until-empty", "--exec", script], b"");
    let done = database.run_for_lines(&["queue", "list", "--json"]);
    let results: Vec<&str> = done.iter().map(|job| job["result"].as_str().expect("a result")).collect();
    let expected = ["0 ".to_owned(), format!("1 {}", ids[0]), format!("2 {}", ids[1]), format!("3 {}", ids[2])];
    assert_eq!(results, expected);
    assert_eq!(done[3]["id"].as_str(), Some(last.trim()));
    let (_, stderr, code) =
        database.try_run(&["queue", "push", "--after", "01890a5d-ac96-774b-bcce-b302099a8057"], b"4");
    assert!(code != 0 && stderr.contains("there is no job"), "{code}: {stderr}");
}

#[test]
fn limits_are_set_and_shown() {
    let database = Database::new();
    database.run_for_text(&["queue", "set", "mail", "--concurrency", "4", "--rate", "100/1m"], b"");
    let stats = database.run_for_lines(&["queue", "stats", "--json"]);
    assert_eq!((&stats[0]["concurrency"], &stats[0]["rate"]), (&Value::from(4), &Value::from("100/1m")));
    assert!(database.run_for_text(&["queue", "stats"], b"").contains("4 at a time, 100/1m"));
    database.run_for_text(&["queue", "set", "mail", "--concurrency", "0", "--rate", "none"], b"");
    let stats = database.run_for_lines(&["queue", "stats", "--json"]);
    assert_eq!((&stats[0]["concurrency"], &stats[0]["rate"]), (&Value::Null, &Value::Null));
    let (_, stderr, code) = database.try_run(&["queue", "set", "mail", "--rate", "often"], b"");
    assert!(code == 2 && stderr.contains("is not a rate; use 100/1m"), "{code}: {stderr}");
}

#[test]
fn schedules_are_set_listed_paused_and_deleted() {
    let database = Database::new();
    let set = ["queue", "schedule", "nightly", "30 2 * * MON-FRI", "--zone", "Europe/Berlin", "--queue", "report"];
    let next = database.run_for_text(&set, br#"{"a": 1}"#);
    assert!(next.trim().ends_with(":30:00.000Z"), "{next}");
    database.run_for_text(&["queue", "schedule", "pulse", "every 1s", "--alone"], b"2");
    let all = database.run_for_lines(&["queue", "schedules", "--json"]);
    assert_eq!(
        (&all[0]["name"], &all[0]["queue"], &all[0]["zone"]),
        (&"nightly".into(), &"report".into(), &"Europe/Berlin".into())
    );
    assert_eq!((&all[0]["value"]["a"], all[0]["next_at"].as_str()), (&Value::from(1), Some(next.trim())));
    assert_eq!((&all[1]["alone"], &all[1]["zone"]), (&Value::from(true), &"UTC".into()));
    assert!(database.run_for_text(&["queue", "schedules"], b"").contains("30 2 * * MON-FRI Europe/Berlin"));
    database.run_for_text(&["queue", "schedule", "nightly", "--pause"], b"");
    assert_eq!(database.run_for_lines(&["queue", "schedules", "--json"])[0]["next_at"], Value::Null);
    database.run_for_text(&["queue", "schedule", "nightly", "--resume"], b"");
    assert_eq!(database.run_for_lines(&["queue", "schedules", "--json"])[0]["next_at"].as_str(), Some(next.trim()));
    // A worker of any queue queues the jobs that are due; with `alone` not more than one.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    for _ in 0..2 {
        database.run_for_text(&["work", "--queue", "other", "--exec", "cat", "--until-empty"], b"");
    }
    assert_eq!(database.run_for_lines(&["queue", "list", "--json"]).len(), 1);
    database.run_for_text(&["queue", "unschedule", "nightly", "pulse"], b"");
    assert!(database.run_for_lines(&["queue", "schedules", "--json"]).is_empty());
    for args in [
        &["queue", "schedule", "a", "soon"][..],
        &["queue", "schedule", "a", "@daily", "--zone", "Mars"],
        &["queue", "schedule", "a"],
        &["queue", "unschedule", "a"],
        &["queue", "schedule", "a", "--pause"],
    ] {
        let (stdout, stderr, code) = database.try_run(args, b"1");
        assert!(code != 0 && stdout.is_empty() && !stderr.is_empty(), "{args:?}: {code}");
    }
}

#[test]
fn rows_of_a_query_are_decoded() {
    let database = Database::new();
    let tables = rusqlite::Connection::open(database.file("a.db")).expect("a database");
    tables.execute("CREATE TABLE t (id INTEGER, payload BLOB, note TEXT)", []).expect("a table");
    let every: Vec<u8> = (0..=255).collect();
    let dump = [b"\x04\x08\"\x02\x00\x01".as_slice(), &every].concat();
    let row = "INSERT INTO t VALUES (?, ?, ?)";
    tables.execute(row, (1, &dump, "a\tb\\\n\r\0")).expect("a row");
    tables.execute(row, (2, Option::<Vec<u8>>::None, "\\N")).expect("a row");
    let query = |sql: &str| database.try_run(&["rows", "--query", sql, "-c", "payload"], b"");
    let (stdout, stderr, code) = query("SELECT * FROM t ORDER BY id");
    assert_eq!(code, 0, "{stderr}");
    let lines: Vec<Value> =
        String::from_utf8_lossy(&stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let all: String = every.iter().map(|byte| char::from(*byte)).collect();
    assert_eq!((&lines[0]["payload"], &lines[0]["note"]), (&Value::from(all), &Value::from("a\tb\\\n\r\0")));
    assert_eq!((&lines[1]["payload"], &lines[1]["note"]), (&Value::Null, &Value::from("\\N")));
    for writes in ["DELETE FROM t", "CREATE TABLE u (a)", "INSERT INTO t VALUES (3, NULL, '') RETURNING *"] {
        let (_, stderr, code) = query(writes);
        assert_eq!(code, 2, "{stderr}");
    }
    let count: i64 = tables.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).expect("a count");
    assert_eq!(count, 2);
}

#[test]
fn passwords_are_not_printed() {
    let database = Database::new();
    for address in ["postgres://ann:secret@127.0.0.1:1/a", "mysql://ann:secret@127.0.0.1:1/a", "redis://:secret@h"] {
        let (stdout, stderr, code) = run::icecore(&["store", "stats", "--db", address], b"");
        assert_ne!(code, 0);
        assert!(!stderr.contains("secret") && stdout.is_empty(), "{stderr}");
    }
    let file = database.file("address");
    std::fs::write(&file, format!("{}\n", database.address())).expect("a file");
    let stats = || run::icecore(&["store", "stats", "--db-file", &file], b"");
    let (_, stderr, code) = stats();
    assert!(code == 2 && stderr.contains("there is no database"), "{stderr}");
    let (_, stderr, code) = run::icecore(&["store", "put", "--db-file", &file, "-"], b"{}");
    assert_eq!(code, 0, "{stderr}");
    let (_, stderr, code) = stats();
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn the_write_ahead_log_stays_when_another_program_ends() {
    use icecore_store::{Backend, describe, open};
    let database = Database::new();
    let address = database.address().parse().expect("an address");
    let push = |store: &mut dyn Backend| {
        store.push(&[describe::describe_job("mail", b"1".to_vec(), None)]).expect("it is pushed")[0].id.to_string()
    };
    let listed = || String::from_utf8(database.run_for_bytes(&["queue", "list", "mail", "--json"], b"")).expect("text");
    // Locks belong to a process, so a second connection must not release the lock of the first one.
    let mut first = open(&address).expect("a connection");
    let _second = open(&address).expect("a connection");
    let before = push(&mut *first);
    assert!(listed().contains(&before));
    // The command has ended. If it had assumed to be the only user, the log would be gone, and this job with it.
    let behind = push(&mut *first);
    assert!(listed().contains(&behind));
}

/// Secrets of this command about databases and daemons are not passed on.
#[test]
fn programs_get_no_secrets() {
    let database = Database::new();
    let (file, environment) = (database.file("a.json"), database.file("environment"));
    std::fs::write(&file, "[1]").expect("a file");
    let write = format!("sh -c 'env >{environment}' x");
    let address = database.address();
    let work = ["work", "--db", &address, "--until-empty", "--exec", &write];
    for (args, variable) in
        [(&work[..], "UNUSED"), (&[&work[..], &["--raw"]].concat(), "UNUSED"), (&["edit", "--editor", &file], "EDITOR")]
    {
        database.run_for_bytes(&["queue", "push"], b"1");
        let mut command = std::process::Command::new(run::ICECORE);
        command.args(args).env(variable, &write).env("ICECORE_JOB_HINT", "kept");
        for name in ["ICECORE_DB", "ICECORE_DB_PASSWORD", "ICECORE_DB_PASSWORD_FILE", "ICECORE_TOKEN"] {
            command.env(name, "5ecret");
        }
        let done = run::fed(command, b"");
        let given = std::fs::read_to_string(&environment).unwrap_or_else(|error| panic!("{args:?}: {error}, {done:?}"));
        assert!(given.contains("ICECORE_JOB_HINT=kept") && !given.contains("5ecret"), "{args:?}: {given}");
        std::fs::remove_file(&environment).expect("removed");
    }
}
