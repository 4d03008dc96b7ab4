//! Random values under random keys, in columns of all types that are changed: a change of them is undone.
//!
//! `ICECORE_ROUNDS` is the number of tables with forty rows that are tried on each database, `ICECORE_SEED` selects
//! them.

use super::databases::{Database, Kind, all_kinds};
use crate::common::Random;

const PIECES: [&str; 24] = [
    "example",
    "example",
    "example",
    " ",
    "  ",
    "a",
    "A",
    "ß",
    "é",
    "€",
    "😀",
    "'",
    "\"",
    "\\",
    "\\\\",
    "%",
    "_",
    "\n",
    "\t",
    "{}",
    "s:7:\"example\";",
    "a:1:{i:0;s:7:\"example\";}",
    "{\"example\": \"x example\"}",
    "0",
];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random_text(random: &mut Random) -> String {
    (0..random.below(6)).map(|_| PIECES[random.below(PIECES.len() as u64) as usize]).collect()
}

fn random_bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes = random_text(random).into_bytes();
    for _ in 0..random.below(4) {
        let offset = random.below(bytes.len() as u64 + 1) as usize;
        bytes.insert(offset, random.below(256) as u8);
    }
    bytes
}

/// Returns a text as an SQL expression.
fn text_literal(kind: Kind, text: &str) -> String {
    let hex = hex(text.as_bytes());
    match kind {
        Kind::Sqlite => format!("CAST(x'{hex}' AS TEXT)"),
        #[cfg(feature = "postgres")]
        Kind::Postgres => format!("convert_from('\\x{hex}'::bytea, 'UTF8')"),
        #[cfg(feature = "mysql")]
        Kind::Mysql => format!("CONVERT(x'{hex}' USING utf8mb4)"),
    }
}

fn bytes_literal(kind: Kind, bytes: &[u8]) -> String {
    let hex = hex(bytes);
    match kind {
        #[cfg(feature = "postgres")]
        Kind::Postgres => format!("'\\x{hex}'::bytea"),
        _ => format!("x'{hex}'"),
    }
}

/// The type of a column: bytes, text, JSON, or text in `latin1`.
#[derive(Clone, Copy)]
enum ColumnType {
    Text,
    Latin,
    Bytes,
    Json,
}

fn column_types(kind: Kind) -> Vec<(&'static str, ColumnType)> {
    match kind {
        Kind::Sqlite => vec![
            ("TEXT", ColumnType::Text),
            ("TEXT", ColumnType::Bytes),
            ("BLOB", ColumnType::Bytes),
            ("NUMERIC", ColumnType::Text),
            ("INTEGER", ColumnType::Text),
            ("", ColumnType::Text),
        ],
        #[cfg(feature = "postgres")]
        Kind::Postgres => vec![
            ("TEXT", ColumnType::Text),
            ("VARCHAR(125)", ColumnType::Text),
            ("CHAR(125)", ColumnType::Text),
            ("BYTEA", ColumnType::Bytes),
            ("JSON", ColumnType::Json),
            ("JSONB", ColumnType::Json),
        ],
        #[cfg(feature = "mysql")]
        Kind::Mysql => vec![
            ("TEXT", ColumnType::Text),
            ("VARCHAR(125)", ColumnType::Text),
            ("CHAR(125)", ColumnType::Text),
            ("LONGTEXT CHARACTER SET latin1", ColumnType::Latin),
            ("VARCHAR(125) CHARACTER SET utf16", ColumnType::Text),
            ("TEXT COLLATE utf8mb4_bin", ColumnType::Text),
            ("BLOB", ColumnType::Bytes),
            ("BINARY(130)", ColumnType::Bytes),
            ("VARBINARY(130)", ColumnType::Bytes),
            ("JSON", ColumnType::Json),
        ],
    }
}

/// Returns keys of some types, and a function that gives the key values of a row by its number.
fn key(kind: Kind, random: &mut Random) -> (String, Box<dyn Fn(u64) -> String>) {
    let text =
        move |row: u64| text_literal(kind, &format!("{}{row} {}", ["", "A", "ä", "'\\"][row as usize % 4], row % 2));
    let sort = random.below(4);
    match (kind, sort) {
        (Kind::Sqlite, 0) => {
            ("k INTEGER PRIMARY KEY".into(), Box::new(|row| format!("{}", row as i64 * 1_000_003 - 7)))
        }
        (Kind::Sqlite, 1) => ("k TEXT, l INTEGER".into(), Box::new(move |row| format!("{}, {row}", text(row % 7)))),
        (Kind::Sqlite, _) => (
            "k TEXT COLLATE NOCASE, l BIGINT, PRIMARY KEY (k, l)".into(),
            Box::new(move |row| format!("{}, {}", text(row % 5), i64::MAX - row as i64)),
        ),
        #[cfg(feature = "postgres")]
        (Kind::Postgres, 0) => (
            "k UUID, l TIMESTAMPTZ, PRIMARY KEY (k, l)".into(),
            Box::new(|row| {
                format!("'00000000-0000-4000-8000-{row:012}', '2026-03-{:02} 04:05:06.{row:06}+01'", row % 28 + 1)
            }),
        ),
        #[cfg(feature = "postgres")]
        (Kind::Postgres, 1) => ("k VARCHAR(40) PRIMARY KEY".into(), Box::new(text)),
        #[cfg(feature = "postgres")]
        (Kind::Postgres, _) => (
            "k NUMERIC, l BYTEA, m DATE, PRIMARY KEY (l, k, m)".into(),
            Box::new(|row| format!("{row}.50, '\\x00ff{row:02x}', '1999-12-{:02}'", row % 31 + 1)),
        ),
        #[cfg(feature = "mysql")]
        (Kind::Mysql, 0) => (
            "k BIGINT UNSIGNED, l DATETIME(6), PRIMARY KEY (l, k)".into(),
            Box::new(|row| format!("{}, '2026-03-{:02} 04:05:06.{row:06}'", u64::MAX - row, row % 28 + 1)),
        ),
        #[cfg(feature = "mysql")]
        (Kind::Mysql, 1) => ("k VARCHAR(40) COLLATE utf8mb4_general_ci PRIMARY KEY".into(), Box::new(text)),
        #[cfg(feature = "mysql")]
        (Kind::Mysql, _) => (
            "k BINARY(4), l DECIMAL(10, 3), m CHAR(9) CHARACTER SET latin1, PRIMARY KEY (m, k, l)".into(),
            Box::new(|row| format!("x'ff0027{row:02x}', {row}.125, 'ä{row}'")),
        ),
    }
}

fn literal(kind: Kind, sort: ColumnType, random: &mut Random) -> String {
    if random.below(8) == 0 {
        return "NULL".to_owned();
    }
    match sort {
        ColumnType::Text => text_literal(kind, &random_text(random)),
        ColumnType::Latin => text_literal(kind, &random_text(random).replace("😀", "ü")),
        ColumnType::Bytes => bytes_literal(kind, &random_bytes(random)),
        ColumnType::Json => {
            let value = serde_json::json!({ random_text(random): [random_text(random), 1.5], "example": null });
            text_literal(kind, &value.to_string())
        }
    }
}

fn cast(kind: Kind, column: &str, literal: String) -> String {
    match kind {
        #[cfg(feature = "postgres")]
        Kind::Postgres if literal != "NULL" && column.starts_with("JSON") => format!("CAST({literal} AS {column})"),
        _ => {
            let _ = column;
            literal
        }
    }
}

#[test]
fn a_change_of_random_tables_is_undone() {
    let (seed, rounds) = (number("ICECORE_SEED", 1), number("ICECORE_ROUNDS", 3));
    for kind in all_kinds() {
        let mut database = Database::new(kind, "random");
        let (mut values, mut unchanged) = (0, 0);
        for round in 0..rounds {
            let mut random = Random::from(seed.wrapping_mul(1_000_003).wrapping_add(round));
            let columns = column_types(kind);
            let (keys, key_of) = key(kind, &mut random);
            let names: Vec<String> =
                columns.iter().enumerate().map(|(offset, (name, _))| format!("c{offset} {name}")).collect();
            // A key of several columns comes last in the definition of the table.
            let (before, primary) = match keys.split_once(", PRIMARY") {
                Some((before, primary)) => (before.to_owned(), format!(", PRIMARY{primary}")),
                None => (keys.clone(), String::new()),
            };
            let without = if kind == Kind::Sqlite && !primary.is_empty() { " WITHOUT ROWID" } else { "" };
            database.run(&format!(
                "DROP TABLE IF EXISTS r;\nCREATE TABLE r ({before}, {}{primary}){without}",
                names.join(", ")
            ));
            for row in 0..40 {
                let cells: Vec<String> = columns
                    .iter()
                    .map(|(column, sort)| cast(kind, column, literal(kind, *sort, &mut random)))
                    .collect();
                database.run(&format!("INSERT INTO r VALUES ({}, {})", key_of(row), cells.join(", ")));
            }
            let before = database.dump("r");
            let new =
                ["", "exemplar", "5", "example ", "ü", "much longer than it was", "\\", "'"][random.below(8) as usize];
            let extra = [&[][..], &["--keys"], &["--base64", "--keys"], &["--ignore-case"]][random.below(4) as usize];
            let change = ["--table", "r", "--rows", "9", "--undo-file", "r.undo", "-e", "example", new];
            database.replace(&[extra, &change[..]].concat(), 0);
            let (_, stderr) = database.replace(&["--undo", "r.undo", "--summary", "r.json", "--force"], 0);
            let report = std::fs::read(database.path("r.json")).unwrap();
            let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
            values += report["values"].as_u64().unwrap();
            unchanged += report["values"].as_u64().unwrap() - report["put_back"].as_u64().unwrap();
            assert_eq!(database.dump("r"), before, "{kind:?}, seed {seed}, round {round}, {new:?}: {stderr}");
            std::fs::remove_file(database.path("r.undo")).unwrap();
        }
        println!("{kind:?}: {values} values in {rounds} tables undone, {unchanged} had been stored as they were");
        assert!(values > 0);
    }
}
