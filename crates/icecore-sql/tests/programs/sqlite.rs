//! SQLite's shell.

use std::fmt::Write;
use std::process::Command;

use super::generate::{self, Limits, Table, Type, hex};
use super::program::{is_installed, run};
use super::seen;
use crate::random::{self, Random};

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns statements that create the tables.
fn create(tables: &[Table], random: &mut Random) -> String {
    let mut sql = String::from("BEGIN;\n");
    for table in tables {
        let name = match random.below(3) {
            0 if !table.name.contains(']') => format!("[{}]", table.name),
            1 => format!("'{}'", table.name.replace('\'', "''")),
            _ => quoted(&table.name),
        };
        let _ = write!(sql, "CREATE TABLE {name} (id INTEGER PRIMARY KEY");
        for (column, kind) in &table.columns {
            let kind = match kind {
                Type::Text => random.pick(&["TEXT", "varchar(20) DEFAULT 'it''s, (x'", "", "CLOB -- it's, (\n"]),
                Type::Bytes => random.pick(&["BLOB", "blob /* ) */ NOT NULL ON CONFLICT IGNORE", ""]),
            };
            // A column with NULLs must allow them.
            let kind = if kind.contains("NOT NULL") { "blob" } else { kind };
            let _ = write!(sql, ", {} {kind}", quoted(column));
            if random.one_in(6) {
                let _ = write!(sql, ", \"g {}\" TEXT GENERATED ALWAYS AS ('x' || id)", column.replace('"', ""));
            }
        }
        sql.push_str(");\n");
        let columns: Vec<_> = table.columns.iter().map(|(name, _)| quoted(name)).collect();
        for (number, row) in table.rows.iter().enumerate() {
            let _ =
                write!(sql, "INSERT INTO {} (id, {}) VALUES ({}", quoted(&table.name), columns.join(", "), number + 1);
            for (value, (_, kind)) in row.iter().zip(&table.columns) {
                let _ = match (value, kind) {
                    (None, _) => write!(sql, ", NULL"),
                    (Some(value), Type::Text) => write!(sql, ", CAST(X'{}' AS TEXT)", hex(value)),
                    (Some(value), Type::Bytes) => write!(sql, ", X'{}'", hex(value)),
                };
            }
            sql.push_str(");\n");
        }
    }
    sql + "COMMIT;\n"
}

/// Returns the rows of the tables.
fn read_rows(tables: &[Table], file: &str) -> String {
    let mut output = String::new();
    for table in tables {
        let columns: String = table
            .columns
            .iter()
            .map(|(name, _)| {
                format!(" || '|' || CASE WHEN {0} IS NULL THEN 'N' ELSE lower(hex({0})) END", quoted(name))
            })
            .collect();
        let sql = format!("SELECT id{columns} FROM {} ORDER BY id;", quoted(&table.name));
        let command = &mut Command::new("sqlite3");
        output.push_str(&String::from_utf8_lossy(&run(command.arg("-bail").arg(file), sql.as_bytes())));
    }
    output
}

#[test]
fn dumps_of_the_sqlite_shell_are_read_and_changed() {
    if !is_installed("sqlite3") {
        eprintln!("SKIPPED: sqlite3 is missing");
        return;
    }
    let folder = std::env::temp_dir().join(format!("icecore-sql-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (seed, count) = random::seed_and_count(12);
    for seed in seed..seed + count {
        let mut random = Random::new(seed);
        let mut tables = generate::tables(&mut random, Limits::default());
        let file = folder.join("a.db").display().to_string();
        let other = folder.join("b.db").display().to_string();
        run(Command::new("sqlite3").arg("-bail").arg(&file), create(&tables, &mut random).as_bytes());
        let options = *random.pick(&["", " --preserve-rowids", " --newlines"]);
        let name = format!("seed {seed}{options}");
        let dump = run(Command::new("sqlite3").arg("-bail").arg(&file), format!(".dump{options}\n").as_bytes());
        seen::check(&dump, &tables, &mut random, &name);
        if options == " --newlines" {
            // The shell itself takes `\r\n` in a string for the end of its line.
            let _ = std::fs::remove_file(file);
            continue;
        }
        let limits = Limits { no_returns: true, ..Limits::default() };
        let (dump, _) = seen::rewrite(&dump, &mut tables, &mut random, limits);
        run(Command::new("sqlite3").arg("-bail").arg(&other), &dump);
        let expected: String = tables.iter().map(generate::lines).collect();
        seen::assert_same_rows(&read_rows(&tables, &other), &expected, &name);
        let _ = std::fs::remove_file(file);
        let _ = std::fs::remove_file(other);
    }
    let _ = std::fs::remove_dir_all(folder);
}
