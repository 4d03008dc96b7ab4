//! `icecore replace --mend --db`: columns whose charset was converted, or whose addresses were replaced, as PHP damages
//! them, become as PHP serializes them; also when killed in the middle and undone.

use super::databases::{Database, Kind, all_kinds};
use crate::common::usual_or_full;
use icecore::text::from_base64;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A damaged text of PHP, and its correct form.
struct DamagedText {
    damaged: Vec<u8>,
    expected: Vec<u8>,
}

/// Returns the texts that PHP damages; empty if PHP is missing.
fn damaged_texts() -> Vec<DamagedText> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/php/damage.php");
    let rounds = usual_or_full("40", "400");
    let output = Command::new("php")
        .arg(script)
        .args(["3", rounds, "latin1-to-utf-8", "cp1251-to-utf-8", "url-longer"])
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: php is missing");
        return Vec::new();
    };
    let text = String::from_utf8(output.stdout).expect("Base64");
    let parse = |line: &str| {
        let parts: Vec<&str> = line.split('\t').collect();
        // If a note says that the correct form can't be known, nothing is expected.
        let [_, _, damaged, expected, ""] = parts[..] else { return None };
        let decode = |part: &str| from_base64(part.as_bytes()).expect("Base64");
        Some(DamagedText { damaged: decode(damaged), expected: decode(expected) })
    };
    text.lines().filter_map(parse).collect()
}

/// Returns the rows of a table, by their ids.
fn rows(database: &mut Database, table: &str) -> Vec<String> {
    let mut rows = database.dump(table);
    rows.sort_by(|one, other| one.split(',').next().cmp(&other.split(',').next()));
    rows
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Creates a table with these texts, in a text column if possible, and in a column of bytes.
fn fill(database: &mut Database, table: &str, texts: &[&[u8]]) {
    let kind = database.kind();
    let (bytes_type, text_type) = match kind {
        Kind::Sqlite => ("BLOB", "TEXT"),
        #[cfg(feature = "postgres")]
        Kind::Postgres => ("BYTEA", "TEXT"),
        #[cfg(feature = "mysql")]
        Kind::Mysql => ("LONGBLOB", "LONGTEXT"),
    };
    database.run(&format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, value {text_type}, bytes {bytes_type})"));
    for (id, text) in texts.iter().enumerate() {
        let hex = hex(text);
        let (value, bytes) = match kind {
            Kind::Sqlite => (format!("CAST(x'{hex}' AS TEXT)"), format!("x'{hex}'")),
            #[cfg(feature = "postgres")]
            Kind::Postgres => (format!("convert_from('\\x{hex}', 'UTF8')"), format!("'\\x{hex}'")),
            #[cfg(feature = "mysql")]
            Kind::Mysql => (format!("CONVERT(x'{hex}' USING utf8mb4)"), format!("x'{hex}'")),
        };
        // PostgreSQL's text has no NUL byte.
        let value = if text.contains(&0) { "NULL" } else { &value };
        database.run(&format!("INSERT INTO {table} VALUES ({id}, {value}, {bytes})"));
    }
}

/// Runs a command, and kills it after it wrote its state this many times; one that ended earlier is not killed.
fn kill_after(database: &Database, words: &[&str], state: &str, batches: usize) {
    let mut command = database.command(words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it begins");
    let (mut last, mut seen) = (fs::read(database.path(state)).ok(), 0);
    while seen < batches && child.try_wait().expect("a child").is_none() {
        let state_after = fs::read(database.path(state)).ok();
        if state_after != last {
            (last, seen) = (state_after, seen + 1);
        }
        std::thread::yield_now();
    }
    let _ = child.kill();
    let status = child.wait().expect("it ends");
    assert!(status.code().is_none_or(|code| code == 0), "{words:?}: {status}");
}

#[test]
fn damaged_columns_are_repaired_as_php_serializes_or_kept() {
    let texts = damaged_texts();
    let damaged: Vec<&[u8]> = texts.iter().map(|text| &text.damaged[..]).collect();
    // A pair of the same length: PHP serializes all texts with the new text, and no length changes.
    let replace = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap().replace("old.example", "new.example");
    for kind in all_kinds().into_iter().filter(|_| !texts.is_empty()) {
        let mut database = Database::new(kind, "mend");
        fill(&mut database, "things", &damaged);
        let before = rows(&mut database, "things");
        for (round, pair) in [&[][..], &["old.example", "new.example"]].into_iter().enumerate() {
            let made = |text: &[u8]| if pair.is_empty() { text.to_vec() } else { replace(text).into_bytes() };
            let mut rows_of = |name: &str, texts: Vec<Vec<u8>>| {
                let table = format!("{name}_{round}");
                fill(&mut database, &table, &texts.iter().map(|text| &text[..]).collect::<Vec<_>>());
                rows(&mut database, &table)
            };
            let expected = rows_of("expected", texts.iter().map(|text| made(&text.expected)).collect());
            // Values without an explanation are unchanged; with a pair, they are changed as plain text.
            let rows_kept = rows_of("kept", texts.iter().map(|text| made(&text.damaged)).collect());
            let change = [pair, &["--mend", "--table", "things", "--rows", "7"]].concat();
            let undo = format!("{round}.undo");
            let (_, stderr) = database.replace(&[&change[..], &["--undo-file", &undo]].concat(), 0);
            assert!(stderr.contains("damaged value"), "{stderr}");
            let after = rows(&mut database, "things");
            let mut refused = 0;
            for (id, row) in after.iter().enumerate() {
                let (expected, rows_kept) = (&expected[id], &rows_kept[id]);
                assert!(row == expected || row == rows_kept, "{kind:?}, row {id}\n{row}\n{rows_kept}\n{expected}");
                refused += usize::from(row != expected);
            }
            assert!(refused * 50 <= after.len(), "{refused} of {}", after.len());
            println!("{kind:?}: {} rows, {refused} refused", after.len());
            // Nothing is left to do.
            if pair.is_empty() {
                let (_, stderr) = database.replace(&[&change[..], &["--no-undo"]].concat(), 0);
                assert!(stderr.contains("0 values changed"), "{stderr}");
            }
            database.replace(&["--undo", &undo], 0);
            assert_eq!(rows(&mut database, "things"), before, "{kind:?}, undone");
            for batches in usual_or_full(&[1, 4][..], &[1, 2, 3, 5, 8, 13, 21]) {
                let (undo, state) = (format!("{round}-{batches}.undo"), format!("{round}-{batches}.json"));
                let words = [&change[..], &["--undo-file", &undo, "--resume", &state]].concat();
                kill_after(&database, &words, &state, *batches);
                database.replace(&words, 0);
                assert_eq!(rows(&mut database, "things"), after, "{kind:?}, killed after {batches} batches");
                let undo_report = format!("{round}-{batches}.back.json");
                let words = ["--undo", &undo, "--rows", "7", "--resume", &undo_report];
                kill_after(&database, &words, &undo_report, *batches);
                database.replace(&words, 0);
                assert_eq!(rows(&mut database, "things"), before, "{kind:?}, undone after {batches} batches");
                // A change that was killed is undone.
                let (undo, state) = (format!("{round}-{batches}.half"), format!("{round}-{batches}.half.json"));
                let words = [&change[..], &["--undo-file", &undo, "--resume", &state]].concat();
                kill_after(&database, &words, &state, *batches);
                if database.path(&undo).exists() {
                    database.replace(&["--undo", &undo], 0);
                }
                assert_eq!(rows(&mut database, "things"), before, "{kind:?}, half of it undone");
            }
        }
    }
}
