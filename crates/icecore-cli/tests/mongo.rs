//! `icecore store`, `queue`, `work` and `rows --collection` with a server that speaks MongoDB's protocol:
//! `scripts/servers.sh run cargo test -p icecore-cli --features all --test cli mongo::`.
#![cfg(feature = "mongodb")]

use crate::run;

use serde_json::{Value, json};

/// `E` with the variable `@id`, as Ruby writes it.
const OBJECT: &[u8] = b"\x04\x08o:\x06E\x06:\x08@idi\x0c";

/// Returns the address of a database that does not exist yet.
fn address(name: &str) -> Option<String> {
    let Ok(server) = std::env::var("ICECORE_TEST_MONGODB") else {
        eprintln!("SKIPPED: ICECORE_TEST_MONGODB is not set");
        return None;
    };
    let (place, _) = server.rsplit_once('/').expect("mongodb://HOST:PORT/NAME");
    Some(format!("{place}/icecore_cli_{}_{name}", std::process::id()))
}

fn run_for_bytes(db: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    let (stdout, stderr, code) = run::icecore(&[args, &["--db", db]].concat(), input);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout
}

fn run_for_text(db: &str, args: &[&str], input: &[u8]) -> String {
    String::from_utf8(run_for_bytes(db, args, input)).expect("text").trim().to_owned()
}

fn run_for_lines(db: &str, args: &[&str]) -> Vec<Value> {
    run_for_text(db, args, b"").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The article's model: pending objects, with binary bytes or as Base64.
#[test]
fn objects_are_read_from_binary_and_base64_fields() {
    let Some(db) = address("objects") else { return };
    let as_they_are = run_for_text(&db, &["store", "put"], OBJECT);
    let as_text = run_for_text(&db, &["store", "put", "--base64"], OBJECT);
    for id in [&as_they_are, &as_text] {
        assert_eq!(run_for_bytes(&db, &["store", "get", id], b""), OBJECT);
    }
    let each = run_for_lines(&db, &["store", "each", "--json"]);
    let fields: Vec<(&Value, &Value)> = each.iter().map(|line| (&line["id"], &line["value"])).collect();
    assert_eq!(fields, [(&json!(as_they_are), &json!({"id": 7})), (&json!(as_text), &json!({"id": 7}))]);
    run_for_text(&db, &["store", "index", "$.id"], b"");
    assert_eq!(run_for_lines(&db, &["store", "find", "$.id", "7", "--json"]).len(), 2);
    // As another program sees them.
    let rows = run_for_lines(
        &db,
        &["rows", "--collection", "icecore_objects", "-c", "bytes=marshal", "-c", "base64=base64/marshal"],
    );
    assert_eq!(
        (&rows[0]["_id"], &rows[0]["bytes"], &rows[0]["base64"]),
        (&json!(as_they_are), &json!({"id": 7}), &Value::Null)
    );
    assert_eq!(
        (&rows[1]["_id"], &rows[1]["bytes"], &rows[1]["base64"]),
        (&json!(as_text), &Value::Null, &json!({"id": 7}))
    );
    let some = format!("{{\"_id\": {as_text:?}}}");
    let rows = run_for_lines(&db, &["rows", "--collection", "icecore_objects", "--match", &some, "-c", "base64"]);
    assert_eq!((rows.len(), &rows[0]["size"]), (1, &json!(OBJECT.len())));
    for wrong in ["[]", "7", "{", "{\"$nonsense\": 1}"] {
        let args = ["rows", "--db", &db, "--collection", "icecore_objects", "--match", wrong, "-c", "bytes"];
        assert_ne!(run::icecore(&args, b"").2, 0, "{wrong}");
    }
}

#[test]
fn objects_are_copied_from_and_to_other_databases() {
    let (Some(db), Some(back)) = (address("from"), address("to")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = format!("sqlite:{}", folder.path().join("a.db").display());
    run_for_text(&db, &["store", "put", "--key", "a"], OBJECT);
    run_for_text(&db, &["store", "put", "--base64"], b"\0\xff no format");
    run_for_text(&db, &["store", "copy", "--to", &file], b"");
    run_for_text(&file, &["store", "copy", "--to", &back], b"");
    let each = |db: &str| run_for_lines(db, &["store", "each", "--json"]);
    assert_eq!(each(&db).len(), 2);
    assert_eq!((each(&file), each(&back)), (each(&db), each(&db)));
}

/// The article's daemon: it takes JSON, keeps a readable copy, returns an id; jobs are worked and replayed.
#[test]
fn jobs_are_queued_worked_and_replayed() {
    let Some(db) = address("jobs") else { return };
    let id = run_for_text(&db, &["queue", "push", "--queue", "mail", "--unique", "k"], b"{\"jobid\": \"366107\"}");
    assert_eq!(run_for_text(&db, &["queue", "push", "--queue", "mail", "--unique", "k"], b"{}"), id);
    run_for_text(&db, &["work", "--queue", "mail", "--exec", "cat", "--until-empty"], b"");
    let replay_id = run_for_text(&db, &["queue", "replay", &id], b"");
    assert_ne!(replay_id, id);
    run_for_text(&db, &["work", "--queue", "mail", "--exec", "exit 3", "--until-empty", "--concurrency", "2"], b"");
    let jobs = run_for_lines(&db, &["queue", "list", "--json"]);
    assert_eq!((&jobs[0]["id"], &jobs[0]["state"]), (&json!(id), &json!("done")));
    assert_eq!(
        (&jobs[1]["id"], &jobs[1]["state"], &jobs[1]["attempts"]),
        (&json!(replay_id), &json!("ready"), &json!(1))
    );
    assert_eq!(jobs[0]["value"], json!({"jobid": "366107"}));
    run_for_text(&db, &["queue", "pause", "mail"], b"");
    assert!(run_for_text(&db, &["queue", "stats"], b"").contains("mail"));
}

#[test]
fn option_collection_needs_mongodb() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = format!("sqlite:{}", folder.path().join("a.db").display());
    let (_, stderr, code) = run::icecore(&["rows", "--db", &file, "--collection", "a", "-c", "b"], b"");
    assert!(code == 2 && stderr.contains("no collections"), "{code}: {stderr}");
    let Some(db) = address("sql") else { return };
    let (_, stderr, code) = run::icecore(&["rows", "--db", &db, "--query", "SELECT 1", "-c", "b"], b"");
    assert!(code == 2 && stderr.contains("--collection"), "{code}: {stderr}");
    // A password is never reported, whatever the error.
    let wrong = "mongodb://ann:hunter2@127.0.0.1:1/a?serverSelectionTimeoutMS=100";
    let (stdout, stderr, code) = run::icecore(&["store", "stats", "--db", wrong], b"");
    assert!(code == 2 && stdout.is_empty() && !stderr.contains("hunter"), "{code}: {stderr}");
}
