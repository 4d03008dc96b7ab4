//! The SQL in `docs/analysis.md`, run by DuckDB over a store that the command filled.
//!
//! It needs a Python with duckdb. The one that `ICECORE_TEST_PYTHON` names, as `scripts/analysis.sh` sets it, must have
//! everything that is needed. Without that variable, `python3` is used, and tests for which it lacks something are
//! skipped.

use crate::run;

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Two orders of a class, an order without a class, one that is JSON, and bytes that are not a document.
const OBJECTS: [(&str, &[u8]); 5] = [
    ("a", br#"O:5:"Order":2:{s:5:"total";d:15.5;s:5:"items";a:2:{i:0;a:2:{s:3:"sku";s:1:"x";s:1:"n";i:2;}i:1;a:2:{s:3:"sku";s:1:"y";s:1:"n";i:1;}}}"#),
    ("b", br#"O:5:"Order":2:{s:5:"total";i:20;s:5:"items";a:1:{i:0;a:2:{s:3:"sku";s:1:"x";s:1:"n";i:5;}}}"#),
    ("c", br#"a:1:{s:5:"total";i:7;}"#),
    ("d", br#"{"total": 8, "items": [{"sku": "z", "n": 1}]}"#),
    ("e", b"\xff\0 no format"),
];

fn run_for_text(db: &str, args: &[&str], input: &[u8]) -> String {
    let (stdout, stderr, code) = run::icecore(&[args, &["--db", db]].concat(), input);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    String::from_utf8(stdout).expect("text")
}

fn fill(db: &str) {
    for (key, bytes) in OBJECTS {
        run_for_text(db, &["store", "put", "--key", key], bytes);
    }
    // JSON in the text column.
    run_for_text(db, &["store", "put", "--base64"], br#"{"total": 1}"#);
    for payload in [br#"{"to": 1}"#.as_slice(), br#"a:1:{s:2:"to";i:2;}"#] {
        run_for_text(db, &["queue", "push", "--queue", "mail"], payload);
    }
    run_for_text(db, &["work", "--queue", "mail", "--exec", "cat", "--until-empty"], b"");
    run_for_text(db, &["queue", "push", "--queue", "mail"], b"{}");
}

/// Returns the statements of the page: those that read tables, and those that read lines.
fn statements() -> (Vec<String>, Vec<String>) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/analysis.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let blocks = page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().expect("the block ends"));
    let all = blocks.flat_map(|block| block.split_terminator(";\n")).map(|one| one.trim().to_owned());
    all.filter(|one| !one.is_empty()).partition(|one| !one.contains("read_json("))
}

/// Returns the rows of each statement; `None` if DuckDB is missing, which is reported.
fn run_duckdb(folder: &Path, extensions: &[&str], statements: &[String]) -> Option<Vec<Value>> {
    let chosen_python = std::env::var("ICECORE_TEST_PYTHON").ok();
    let left_out = |why: &str| {
        assert!(chosen_python.is_none(), "{why}");
        eprintln!("SKIPPED: {why}");
        None
    };
    let python = chosen_python.as_deref().unwrap_or("python3");
    if Command::new(python).arg("--version").output().is_err() {
        return left_out("python is missing");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analysis/ask.py");
    let args: Vec<&str> = [script.to_str().expect("text")].into_iter().chain(extensions.iter().copied()).collect();
    let mut command = Command::new(python);
    command.args(args).current_dir(folder);
    let output = run::fed(command, json!(statements).to_string().as_bytes());
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(75) {
        return left_out(stderr.trim());
    }
    assert!(output.status.success(), "{stderr}");
    let lines = String::from_utf8(output.stdout).expect("text");
    Some(lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

/// All objects with a class, and those without, including the JSON.
fn totals() -> Value {
    json!([["Order", "2", "35.50"], [null, "3", "16.00"]])
}

/// Checks that two jobs are done, with a duration, and one waits.
fn assert_jobs(rows: &[Value]) {
    let [output, ready] = rows.first().and_then(Value::as_array).expect("rows").as_slice() else { panic!("{rows:?}") };
    assert_eq!((&output[0], &output[1], &output[2]), (&json!("mail"), &json!("done"), &json!("2")));
    assert!(output[3].is_string(), "{output}");
    assert_eq!(*ready, json!(["mail", "ready", "1", null]));
    assert_eq!(rows.len(), 1);
}

#[test]
fn duckdb_reads_the_tables_of_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = format!("sqlite:{}", folder.path().join("icecore.db").display());
    let (tables, _) = statements();
    let attach = tables.first().filter(|first| first.starts_with("ATTACH 'icecore.db'"));
    attach.expect("the page begins with a file");
    let mut databases = vec![(file, "sqlite_scanner", tables[0].clone())];
    if let (Ok(server), true) = (std::env::var("ICECORE_TEST_POSTGRES"), cfg!(feature = "postgres")) {
        databases.push((
            server.clone(),
            "postgres_scanner",
            format!("ATTACH '{server}' AS ice (TYPE postgres, READ_ONLY)"),
        ));
    }
    if let (Ok(server), true) = (std::env::var("ICECORE_TEST_MYSQL"), cfg!(feature = "mysql")) {
        databases.push((server.clone(), "mysql_scanner", attach_mysql(&server)));
    }
    for (db, extension, attach) in databases {
        fill(&db);
        let mut statements = tables.clone();
        statements[0] = attach;
        let Some(rows) = run_duckdb(folder.path(), &[extension], &statements) else { continue };
        // The first two attach the database and create the view.
        let sold = json!([["x", "7"], ["y", "1"], ["z", "1"]]);
        assert_eq!(rows[2..4], [totals(), sold], "{extension}");
        assert_jobs(&rows[4..]);
    }
}

/// Converts `mysql://USER:PASSWORD@HOST:PORT/NAME` to the syntax of DuckDB.
fn attach_mysql(server: &str) -> String {
    let parts: Vec<&str> = server.split(['/', ':', '@', '?']).filter(|part| !part.is_empty()).collect();
    let ["mysql", user, password, host, port, name, ..] = parts[..] else { panic!("another form of address") };
    let settings = format!("host={host} port={port} user={user} password={password} database={name}");
    format!("ATTACH '{settings}' AS ice (TYPE mysql, READ_ONLY)")
}

#[test]
fn duckdb_reads_the_json_lines_of_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let db = format!("sqlite:{}", folder.path().join("icecore.db").display());
    fill(&db);
    for (args, name) in [(["store", "each", "--json"], "objects"), (["queue", "list", "--json"], "jobs")] {
        std::fs::write(folder.path().join(format!("{name}.ndjson")), run_for_text(&db, &args, b""))
            .expect("it is written");
    }
    let (_, lines) = statements();
    let Some(rows) = run_duckdb(folder.path(), &[], &lines) else { return };
    assert_eq!(rows[..1], [totals()]);
    assert_jobs(&rows[1..]);
}
