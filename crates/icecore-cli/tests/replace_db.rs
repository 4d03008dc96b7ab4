//! `icecore replace --db`: always with an SQLite file, and with PostgreSQL and MariaDB if there are servers:
//! `scripts/servers.sh run cargo test -p icecore-cli --features all --test cli replace_db::`.
#![cfg(feature = "store")]

#[cfg(any(feature = "postgres", feature = "mysql"))]
use crate::replacing;

mod databases;
mod kills;
mod mend;
mod random_tables;
mod undo;

use crate::run::icecore;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use icecore_store::within;
use serde_json::Value;
use std::path::Path;

const FROZEN: &str = r#"a:1:{s:3:"url";s:19:"https://old.example";}"#;
const CHANGED: &str = r#"a:1:{s:3:"url";s:21:"https://brand.example";}"#;

/// Returns stdout and stderr of a command. It must exit with this code.
fn replace(db: &str, args: &[&str], expected: i32) -> (String, String) {
    let all = [&["replace", "old.example", "brand.example", "--db", db, "--no-undo"][..], args].concat();
    let (stdout, stderr, code) = icecore(&all, b"");
    assert_eq!(code, expected, "{args:?}: {stderr}");
    (String::from_utf8(stdout).unwrap(), stderr)
}

/// Returns the rows of a query, with cells as text.
fn rows(db: &str, query: &str) -> Vec<Value> {
    // The command `rows` requires a column to decode. `x` is that column, so the others are shown as they are.
    let query = query.replacen("SELECT ", "SELECT 'x' AS x, ", 1);
    let (stdout, stderr, code) = icecore(&["rows", "--db", db, "--query", &query, "-c", "x"], b"");
    assert_eq!(code, 0, "{stderr}");
    String::from_utf8(stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The test that all databases have in common, with the tables of [`table_script`]. Every second one of the 25 rows of
/// `options` has the old text, in `value` and `bytes`.
fn check_table_of_options(db: &str, folder: &Path, has_rowid: bool) {
    let report = folder.join("report.json");
    let report = report.to_str().unwrap();
    let (shown, stderr) = replace(db, &["--table", "options", "--dry-run", "--summary", report, "--rows", "4"], 0);
    assert!(stderr.contains("26 values would change in 1 table"), "{stderr}");
    assert!(shown.contains("options.value where id = 4 (php)\n"), "{shown}");
    assert!(shown.contains("- a:1:{s:3:\"url\";s:19:\"https://old.example\";}\n"), "{shown}");
    let count = |query: &str| rows(db, query)[0]["n"].clone();
    let remaining = "SELECT COUNT(*) AS n FROM options WHERE value LIKE '%old.example%'";
    assert_eq!(count(remaining), 13);
    // A few rows at a time; one column is skipped.
    replace(db, &["--table", "options", "--skip-column", "bytes", "--rows", "4", "--summary", report, "--force"], 0);
    assert_eq!(count(remaining), 0);
    let summary: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(
        (&summary["values"], &summary["tables"][0]["columns"][0]["column"]),
        (&Value::from(13), &Value::from("value"))
    );
    let all = rows(db, "SELECT id, name, value FROM options ORDER BY id");
    for (index, row) in all.iter().enumerate() {
        let expected = if index % 2 == 0 { CHANGED } else { "plain" };
        assert_eq!(row["value"], expected, "row {index}");
        assert_eq!(row["name"], format!("option {index}"));
    }
    // Once more: only the skipped column is left.
    let (_, stderr) = replace(db, &["--table", "options"], 0);
    assert!(stderr.contains("13 values changed"), "{stderr}");
    let (_, stderr) = replace(db, &["--table", "options"], 0);
    assert!(stderr.contains("0 values changed"), "{stderr}");
    // A key of two columns.
    replace(db, &["--table", "pairs", "--rows", "3"], 0);
    assert_eq!(count("SELECT COUNT(*) AS n FROM pairs WHERE note = 'at brand.example'"), 20);
    // A table without a key, with a key in the arguments, and an unknown table.
    if !has_rowid {
        let (_, stderr) = replace(db, &["--table", "loose"], 2);
        assert!(stderr.contains("has no primary key: --key COLUMN"), "{stderr}");
    }
    let (_, stderr) = replace(db, &["--table", "loose", "--key", "twice"], 2);
    assert!(stderr.contains("has duplicate values"), "{stderr}");
    replace(db, &["--table", "loose", "--key", "number"], 0);
    assert_eq!(count("SELECT COUNT(*) AS n FROM loose WHERE note = 'brand.example'"), 3);
    let (_, stderr) = replace(db, &["--table", "absent"], 1);
    assert!(stderr.contains("there is no table `absent`"), "{stderr}");
}

/// Returns the script that fills the tables, in SQL that all databases accept.
fn table_script(bytes: &str) -> String {
    let mut sql = format!(
        "CREATE TABLE options (id INTEGER PRIMARY KEY, name VARCHAR(100), value VARCHAR(1000), bytes {bytes});\n\
         CREATE TABLE pairs (a INTEGER, b VARCHAR(20), note VARCHAR(100), PRIMARY KEY (a, b));\n\
         CREATE TABLE loose (number INTEGER, twice INTEGER, note VARCHAR(100));\n"
    );
    for row in 0..25 {
        let value = if row % 2 == 0 { FROZEN } else { "plain" };
        let id = row * 2;
        sql += &format!(
            "INSERT INTO options (id, name, value, bytes) VALUES ({id}, 'option {row}', '{value}', '{value}');\n"
        );
    }
    for row in 0..20 {
        sql += &format!("INSERT INTO pairs VALUES ({}, 'k{row}', 'at old.example');\n", row / 3);
    }
    for row in 0..3 {
        sql += &format!("INSERT INTO loose VALUES ({row}, {}, 'old.example');\n", row / 2);
    }
    sql
}

#[test]
fn values_in_an_sqlite_file_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    // In SQLite, every table has a number for each row, so it always has a key.
    connection
        .execute_batch(&table_script("BLOB").replace("loose (number INTEGER", "loose (number INTEGER NOT NULL"))
        .unwrap();
    connection.execute_batch("CREATE VIEW seen AS SELECT * FROM options").unwrap();
    let db = format!("sqlite:{}", file.display());
    let mode = |connection: &rusqlite::Connection| -> String {
        connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap()
    };
    let (_, stderr) = replace(&db, &["--table", "options", "--dry-run"], 0);
    assert!(stderr.contains("26 values would change"), "{stderr}");
    assert_eq!(mode(&connection), "delete", "it stays as it was");
    check_table_of_options(&db, folder.path(), true);
    // Text that is not UTF-8, text with a NUL byte, and a number.
    connection
        .execute_batch(
            "INSERT INTO loose VALUES (7, 7, CAST(x'ff' || 'old.example' AS TEXT)), (8, 8, x'00' || 'x'), (9, 9, 5)",
        )
        .unwrap();
    replace(&db, &["--table", "loose"], 0);
    let odd: (String, Vec<u8>) = connection
        .query_row("SELECT typeof(note), CAST(note AS BLOB) FROM loose WHERE number = 7", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(odd, ("text".to_owned(), b"\xffbrand.example".to_vec()));
    // A key that is not UTF-8 is refused. Otherwise the same rows would be read again and again.
    connection
        .execute_batch(
            "CREATE TABLE odd (a TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID; INSERT INTO odd VALUES (CAST(x'ff41' AS TEXT), 'old.example')",
        )
        .unwrap();
    let (_, stderr) = replace(&db, &["--table", "odd", "--rows", "1"], 2);
    assert!(stderr.contains("is not UTF-8: --key must name another column"), "{stderr}");
    let (_, stderr) = replace(&db, &["--table", "seen"], 2);
    assert!(stderr.contains("has no primary key"), "{stderr}");
    let (_, stderr) =
        replace(&format!("sqlite:{}", folder.path().join("absent.db").display()), &["--table", "options"], 2);
    assert!(stderr.contains("there is no database"), "{stderr}");
    assert!(!folder.path().join("absent.db").exists());
}

#[test]
fn an_interrupted_change_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch(&table_script("BLOB")).unwrap();
    // The row in the middle can't be changed: the rows before it are done.
    connection
        .execute_batch(
            "CREATE TRIGGER held BEFORE UPDATE ON options WHEN old.id = 24 BEGIN SELECT RAISE(ABORT, 'held'); END",
        )
        .unwrap();
    let (db, state) = (format!("sqlite:{}", file.display()), folder.path().join("state.json"));
    let args = ["--table", "options", "--rows", "5", "--resume", state.to_str().unwrap()];
    let (_, stderr) = replace(&db, &args, 5);
    assert!(stderr.contains("held; done up to the key 18: the same command continues from there"), "{stderr}");
    connection.execute_batch("DROP TRIGGER held").unwrap();
    // Rows that are done are not examined again.
    connection.execute("UPDATE options SET value = 'old.example' WHERE id = 0", []).unwrap();
    let (_, stderr) = replace(&db, &args, 0);
    assert!(stderr.contains("16 values changed"), "{stderr}");
    let (_, stderr) = replace(&db, &args, 0);
    assert!(stderr.contains("already done"), "{stderr}");
    let first: String = connection.query_row("SELECT value FROM options WHERE id = 0", [], |row| row.get(0)).unwrap();
    assert_eq!(first, "old.example");
}

#[cfg(feature = "postgres")]
#[test]
fn values_in_postgresql_are_replaced() {
    let Ok(server) = std::env::var("ICECORE_TEST_POSTGRES") else {
        return eprintln!("SKIPPED: ICECORE_TEST_POSTGRES is not set");
    };
    let folder = tempfile::tempdir().unwrap();
    let db = fresh_postgres(&server, "replace", |client| {
        client.batch_execute(&table_script("BYTEA")).unwrap();
        client
            .batch_execute(
                "CREATE TABLE kinds (id UUID PRIMARY KEY, plain JSON, binary_json JSONB, short VARCHAR(13), made TEXT GENERATED ALWAYS AS (short) STORED);
                 INSERT INTO kinds VALUES ('00000000-0000-4000-8000-000000000001', '{ \"a\":  \"old.example\" }', '\"old.example\"', 'old.example', DEFAULT),
                     ('00000000-0000-4000-8000-000000000002', NULL, NULL, 'x old.example', DEFAULT)",
            )
            .unwrap();
    });
    check_table_of_options(&db, folder.path(), false);
    let (_, stderr) = replace(&db, &["--table", "public.kinds"], 0);
    assert!(stderr.contains("1 left unchanged, because their form"), "{stderr}");
    let kinds = rows(&db, "SELECT plain::text, binary_json::text, short, made FROM kinds ORDER BY id");
    assert_eq!(kinds[0]["plain"], "{ \"a\":  \"brand.example\" }");
    assert_eq!(
        (&kinds[0]["binary_json"], &kinds[0]["made"]),
        (&Value::from("\"brand.example\""), &Value::from("brand.example"))
    );
    assert_eq!(kinds[1]["short"], "x old.example");
}

/// Creates a new database.
#[cfg(feature = "postgres")]
fn fresh_postgres(server: &str, name: &str, fill: impl FnOnce(&mut within::postgres::Client)) -> String {
    let name = format!("icecore_cli_{}_{name}", std::process::id());
    let connect =
        |address: &str| within::postgres::Client::connect(address, within::postgres::NoTls).expect("a server");
    connect(server).batch_execute(&format!("CREATE DATABASE {name}")).expect("a database");
    let (place, _) = server.rsplit_once('/').expect("postgres://HOST/NAME");
    let address = format!("{place}/{name}");
    fill(&mut connect(&address));
    address
}

#[cfg(feature = "mysql")]
#[test]
fn values_in_mariadb_are_replaced() {
    use within::mysql::prelude::Queryable;
    let Ok(server) = std::env::var("ICECORE_TEST_MYSQL") else {
        return eprintln!("SKIPPED: ICECORE_TEST_MYSQL is not set");
    };
    let folder = tempfile::tempdir().unwrap();
    let mut connection = within::mysql::Conn::new(&*server).expect("a server");
    let name = format!("icecore_cli_{}_replace", std::process::id());
    connection.query_drop(format!("CREATE DATABASE {name} CHARACTER SET utf8mb4")).expect("a database");
    connection.query_drop(format!("USE {name}")).unwrap();
    let mut run = |sql: &str| {
        for statement in sql.split(";\n").filter(|statement| !statement.trim().is_empty()) {
            connection.query_drop(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    };
    run(&table_script("LONGBLOB"));
    run(
        "CREATE TABLE kinds (id BINARY(4) PRIMARY KEY, latin TEXT CHARACTER SET latin1, plain JSON, short VARCHAR(13), made VARCHAR(20) AS (short) VIRTUAL);\n\
         INSERT INTO kinds (id, latin, plain, short) VALUES (x'00ff0001', 's:14:\"é old.example\";', '{\"a\":\"old.example\"}', 'old.example'), (x'00ff0002', NULL, NULL, 'x old.example');\n",
    );
    let (place, _) = server.rsplit_once('/').expect("mysql://HOST/NAME");
    let db = format!("{place}/{name}");
    check_table_of_options(&db, folder.path(), false);
    let (_, stderr) = replace(&db, &["--table", "kinds"], 0);
    assert!(stderr.contains("1 left unchanged, because their form"), "{stderr}");
    let kinds = rows(&db, "SELECT latin, plain, short, made FROM kinds ORDER BY id");
    assert_eq!(
        (&kinds[0]["latin"], &kinds[0]["made"]),
        (&Value::from("s:16:\"é brand.example\";"), &Value::from("brand.example"))
    );
    assert_eq!(kinds[0]["plain"], "{\"a\":\"brand.example\"}");
    assert_eq!(kinds[1]["short"], "x old.example");
}

/// Returns a value for each row, in the format of PHP's `serialize`. Without `allows_nul`, none has a NUL byte.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn values(allows_nul: bool) -> Vec<Vec<u8>> {
    let mut random = replacing::Random::new(17);
    let values = (0..500).map(|_| replacing::php(&mut random, 4));
    values.filter(|value| allows_nul || !value.contains(&0)).collect()
}

/// Returns which of these values PHP can read, as `1` and `0`; `None` if PHP is missing.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn check_with_php(values: &[Vec<u8>]) -> Option<Vec<u8>> {
    const CHECK_WITH_PHP: &str = "while (($line = fgets(STDIN)) !== false) {
        echo @unserialize(hex2bin(trim($line)), ['allowed_classes' => false]) !== false ? '1' : '0';
    }";
    let mut php = std::process::Command::new("php");
    if php.arg("-v").output().is_err() {
        eprintln!("SKIPPED: php is missing");
        return None;
    }
    let mut php = std::process::Command::new("php");
    php.args(["-r", CHECK_WITH_PHP]);
    let line = |value: &Vec<u8>| value.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let output = crate::run::fed(php, values.iter().map(line).collect::<String>().as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// Runs a database program with this input, and returns its output.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn run_program(words: &str, environment: &[(&str, &str)], input: &[u8]) -> Vec<u8> {
    let mut words = words.split(' ');
    let mut command = std::process::Command::new(words.next().expect("a program"));
    command.args(words).envs(environment.iter().copied());
    let output = crate::run::fed(command, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Checks the values of a database after its dump was changed and loaded: the number is the same, and PHP reads those
/// that it read before. The messages in `stderr` have the number of texts that
/// the command left unchanged.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn check_loaded(before: &[Vec<u8>], after: &[Vec<u8>], stderr: &str) {
    assert_eq!(after.len(), before.len());
    let has = |value: &[u8]| value.windows(11).any(|piece| piece == b"old.example");
    let sought = before.iter().filter(|value| has(value)).count();
    // Texts in which the serialized parts are uncertain are unchanged, and each is counted.
    let remaining = after.iter().filter(|value| has(value)).count();
    let counts =
        stderr.lines().filter_map(|line| line.split_once(" left unchanged, in serialized data inside other text"));
    let counted: usize = counts.map(|(count, _)| count.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum();
    assert!(
        sought > before.len() / 4 && remaining < sought / 8 && remaining <= counted,
        "{sought}, {remaining}, {counted}: {stderr}"
    );
    if let (Some(readable_before), Some(readable_after)) = (check_with_php(before), check_with_php(after)) {
        let mut results = readable_before.iter().zip(&readable_after);
        let damaged = results.position(|(before, after)| before == &b'1' && after != before);
        let shown =
            damaged.map(|index| (String::from_utf8_lossy(&before[index]), String::from_utf8_lossy(&after[index])));
        assert!(damaged.is_none(), "{shown:?}");
    }
}

#[cfg(feature = "mysql")]
#[test]
fn mariadb_loads_a_changed_dump() {
    use within::mysql::prelude::Queryable;
    let Ok(server) = std::env::var("ICECORE_TEST_MYSQL") else {
        return eprintln!("SKIPPED: ICECORE_TEST_MYSQL is not set");
    };
    if std::process::Command::new("mariadb-dump").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: mariadb-dump is missing");
    }
    let mut connection = within::mysql::Conn::new(&*server).expect("a server");
    let name = format!("icecore_cli_{}_dump", std::process::id());
    connection.query_drop(format!("CREATE DATABASE {name} CHARACTER SET utf8mb4")).expect("a database");
    connection.query_drop(format!("USE {name}")).unwrap();
    let values = values(true);
    for (table, kind) in [("texts", "LONGTEXT"), ("blobs", "LONGBLOB")] {
        connection.query_drop(format!("CREATE TABLE {table} (id INT PRIMARY KEY, v {kind})")).unwrap();
        for (id, value) in values.iter().enumerate() {
            connection.exec_drop(format!("INSERT INTO {table} VALUES (?, ?)"), (id, value)).unwrap();
        }
    }
    let opts = within::mysql::Opts::from_url(&server).unwrap();
    let (user, port) = (opts.get_user().unwrap_or_default(), opts.get_tcp_port());
    // A dump for other databases does not declare its charset.
    let options = format!("-h 127.0.0.1 -P {port} -u {user} --default-character-set=utf8mb4");
    let environment = [("MYSQL_PWD", opts.get_pass().unwrap_or_default())];
    for how in [
        "",
        " --hex-blob",
        " --skip-extended-insert --complete-insert",
        " --no-create-info --replace --compatible=ansi",
    ] {
        let dump = run_program(&format!("mariadb-dump {options}{how} {name}"), &environment, b"");
        let (changed, stderr, code) = icecore(&["replace", "old.example", "o'new\\.example", "--in", "sql"], &dump);
        assert_eq!(code, 0, "{stderr}");
        run_program(&format!("mariadb {options} {name}"), &environment, &changed);
        for table in ["texts", "blobs"] {
            let after: Vec<Vec<u8>> = connection.query(format!("SELECT v FROM {table} ORDER BY id")).unwrap();
            check_loaded(&values, &after, &stderr);
        }
        // Restores the database for the next form of dump.
        run_program(&format!("mariadb {options} {name}"), &environment, &dump);
    }
}

#[cfg(feature = "postgres")]
#[test]
fn postgresql_loads_a_changed_dump() {
    let Ok(server) = std::env::var("ICECORE_TEST_POSTGRES") else {
        return eprintln!("SKIPPED: ICECORE_TEST_POSTGRES is not set");
    };
    if std::process::Command::new("pg_dump").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: pg_dump is missing");
    }
    let values = values(false);
    let db = fresh_postgres(&server, "dump", |client| {
        client.batch_execute("CREATE TABLE t (id INT PRIMARY KEY, v TEXT, b BYTEA)").unwrap();
        for (id, value) in values.iter().enumerate() {
            let text = std::str::from_utf8(value).expect("text");
            client.execute("INSERT INTO t VALUES ($1, $2, $3)", &[&(id as i32), &text, value]).unwrap();
        }
    });
    for how in ["", " --inserts", " --column-inserts --rows-per-insert=20"] {
        let dump = run_program(&format!("pg_dump --clean{how} {db}"), &[], b"");
        let (changed, stderr, code) = icecore(&["replace", "old.example", "o'new\\.example", "--in", "sql"], &dump);
        assert_eq!(code, 0, "{stderr}");
        run_program(&format!("psql -q -v ON_ERROR_STOP=1 {db}"), &[], &changed);
        let mut client = within::postgres::Client::connect(&db, within::postgres::NoTls).expect("a server");
        for column in ["convert_to(v, 'UTF8')", "b"] {
            let after = client.query(&format!("SELECT {column} FROM t ORDER BY id"), &[]).unwrap();
            check_loaded(&values, &after.iter().map(|row| row.get(0)).collect::<Vec<_>>(), &stderr);
        }
        run_program(&format!("psql -q -v ON_ERROR_STOP=1 {db}"), &[], &dump);
    }
}
