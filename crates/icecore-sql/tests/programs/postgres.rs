//! PostgreSQL: pg_dump.

use std::fmt::Write;
use std::process::Command;

use super::generate::{self, Limits, Table, Type, hex};
use super::program::run;
use super::seen;
use crate::random::{self, Random};

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a command for a database of the server that the environment names.
fn command(program: &str, address: &str, database: &str) -> Command {
    let server = address.rsplit_once('/').map_or(address, |(server, _)| server);
    let mut command = Command::new(program);
    command.arg("--dbname").arg(format!("{server}/{database}"));
    if program == "psql" {
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
    }
    command
}

fn load(address: &str, database: &str, sql: &[u8]) {
    for statement in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
        run(
            &mut command("psql", address, "postgres"),
            format!("SET client_min_messages = error; {statement} {database};").as_bytes(),
        );
    }
    run(&mut command("psql", address, database), sql);
}

/// Returns statements that create the tables.
fn create(tables: &[Table], schema: &str, random: &mut Random) -> String {
    let mut sql = format!("CREATE SCHEMA IF NOT EXISTS {0}; SET search_path = {0};\n", quoted(schema));
    for table in tables {
        let _ = write!(sql, "CREATE TABLE {} (id INTEGER PRIMARY KEY", quoted(&table.name));
        for (column, kind) in &table.columns {
            let kind = match kind {
                Type::Text => random.pick(&[
                    "text",
                    "character varying",
                    "text DEFAULT 'it''s, (x'::text",
                    "varchar CHECK (length('a,)') = 3)",
                ]),
                Type::Bytes => "bytea",
            };
            let _ = write!(sql, ", {} {kind}", quoted(column));
        }
        sql.push_str(");\n");
        for (number, row) in table.rows.iter().enumerate() {
            let _ = write!(sql, "INSERT INTO {} VALUES ({}", quoted(&table.name), number + 1);
            for (value, (_, kind)) in row.iter().zip(&table.columns) {
                let _ = match (value, kind) {
                    (None, _) => write!(sql, ", NULL"),
                    (Some(value), Type::Text) => write!(sql, ", convert_from('\\x{}', 'UTF8')", hex(value)),
                    (Some(value), Type::Bytes) => write!(sql, ", '\\x{}'", hex(value)),
                };
            }
            sql.push_str(");\n");
        }
        let _ = writeln!(sql, "COMMENT ON TABLE {} IS E'it''s \\'\\\\ a comment';", quoted(&table.name));
    }
    sql.push_str("CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN INSERT INTO nowhere VALUES ('no row'); RETURN 'it''s $$'; END $f$;\n");
    sql.push_str("CREATE FUNCTION g() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT CASE 1 WHEN 1 THEN 'x' END; SELECT 'it''s'; END;\n");
    sql
}

fn read_rows(address: &str, database: &str, schema: &str, tables: &[Table]) -> String {
    let mut sql = String::new();
    for table in tables {
        let columns: String = table
            .columns
            .iter()
            .map(|(name, kind)| {
                let name = quoted(name);
                let bytes = if *kind == Type::Text { format!("convert_to({name}, 'UTF8')") } else { name.clone() };
                format!(" || '|' || CASE WHEN {name} IS NULL THEN 'N' ELSE encode({bytes}, 'hex') END")
            })
            .collect();
        let _ = writeln!(sql, "SELECT id{columns} FROM {}.{} ORDER BY id;", quoted(schema), quoted(&table.name));
    }
    String::from_utf8(run(&mut command("psql", address, database), sql.as_bytes())).expect("digits")
}

const OPTIONS: &[&[&str]] = &[
    &[],
    &["--inserts"],
    &["--column-inserts"],
    &["--rows-per-insert=3"],
    &["--quote-all-identifiers"],
    &["--quote-all-identifiers", "--inserts"],
    &["--data-only"],
    &["--data-only", "--inserts", "--on-conflict-do-nothing"],
    &["--data-only", "--column-inserts"],
    // The output of PostgreSQL before it had `\x`: a setting of the session.
    &["--format=plain", "--no-owner", "--verbose"],
    &["--inserts", "--no-comments"],
];

#[test]
fn dumps_of_pg_dump_are_read_and_changed() {
    let Ok(address) = std::env::var("ICECORE_TEST_POSTGRES") else {
        eprintln!("SKIPPED: PostgreSQL, as ICECORE_TEST_POSTGRES is not set");
        return;
    };
    let (seed, count) = random::seed_and_count(OPTIONS.len() as u64);
    let (from, to) = (format!("sql_from_{}", std::process::id()), format!("sql_to_{}", std::process::id()));
    for seed in seed..seed + count {
        let mut random = Random::new(seed);
        let options = OPTIONS[seed as usize % OPTIONS.len()];
        let mut tables = generate::tables(&mut random, Limits::default());
        let schema = *random.pick(&["public", "My \"schema\"", "s.t"]);
        load(&address, &from, create(&tables, schema, &mut random).as_bytes());
        let old = !options.contains(&"--data-only") && random.one_in(3);
        let mut program = command("pg_dump", &address, &from);
        if old {
            program.env("PGOPTIONS", "-c bytea_output=escape");
        }
        let dump = run(program.args(options), b"");
        let name = format!("seed {seed} {options:?}{}", if old { ", bytea_output=escape" } else { "" });
        seen::check(&dump, &tables, &mut random, &name);
        if options.contains(&"--data-only") {
            continue;
        }
        let (dump, refused) = seen::rewrite(&dump, &mut tables, &mut random, Limits::default());
        assert_eq!(refused, 0, "{name}: all can be said");
        load(&address, &to, &dump);
        let expected: String = tables.iter().map(generate::lines).collect();
        seen::assert_same_rows(&read_rows(&address, &to, schema, &tables), &expected, &name);
    }
    for database in [from, to] {
        run(&mut command("psql", &address, "postgres"), format!("DROP DATABASE IF EXISTS {database};").as_bytes());
    }
}
