//! `icecore rows --in sql`: the rows of a dump are the same as those that the database itself reports.
//!
//! SQLite's shell is used if it is installed; PostgreSQL and MariaDB if there are servers: `scripts/servers.sh run
//! cargo test -p icecore-cli --test cli rows_sql::`.

use crate::run;

use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// A row, with its values as they are written.
type Row = BTreeMap<String, Box<RawValue>>;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn text(&mut self) -> String {
        let pieces = [
            "",
            "a",
            "it's",
            "\"",
            "\\",
            "\\n",
            "\n",
            "\r\n",
            "\t",
            "é",
            "日本",
            "\u{1F600}",
            "NULL",
            "1",
            "--",
            ";",
            "),(",
            "/*",
            "a:1:{i:0;s:1:\"x\";}",
            "\u{1}",
            "%",
            "\\'",
        ];
        (0..self.below(6)).map(|_| self.pick(&pieces)).collect()
    }

    fn integer(&mut self) -> i64 {
        match self.below(6) {
            0 => i64::MAX,
            1 => i64::MIN + 1,
            2 => 0,
            3 => self.below(1 << 31) as i64,
            _ => self.below(200) as i64 - 100,
        }
    }

    fn float(&mut self) -> f64 {
        let values = [0.5, -1.25, 1e300, 1.0, -3e-7, 0.1, 12_345.678_9, 1e21, 1.5e-10];
        values[self.below(values.len())]
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn parse_lines(text: &[u8]) -> Vec<Row> {
    let text = std::str::from_utf8(text).expect("text");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Returns `true` if two values are the same: numbers by their digits, or as floats.
fn is_same(one: &str, other: &str) -> bool {
    let text = |value: &str| serde_json::from_str::<String>(value).ok();
    match (text(one), text(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) if one == other => true,
        // One is a float, which each side prints differently; a decimal number has all its digits.
        (None, None) => {
            let is_float = |text: &str| text.contains(['e', 'E']) || text.contains('.') && text.len() < 20;
            (is_float(one) || is_float(other)) && one.parse::<f64>().is_ok_and(|one| other.parse() == Ok(one))
        }
        _ => false,
    }
}

/// Checks that a dump has these rows.
fn check_dump(dump: &[u8], table: &str, expected: &[u8], name: &str) {
    let chunk = ["1000", "262144", "37"][name.len() % 3];
    check_rows(&["rows", "--in", "sql", "--table", table, "--chunk", chunk], dump, expected, name);
}

/// Checks that a query has these rows, with the same types.
fn check_query(address: &str, query: &str, expected: &[u8], name: &str) {
    check_rows(&["rows", "--db", address, "--query", query], b"", expected, &format!("{name}, by a query"));
}

fn check_rows(args: &[&str], input: &[u8], expected: &[u8], context: &str) {
    let (stdout, stderr, code) = run::icecore(args, input);
    // The only messages are about bytes that became text, and about random text that looks frozen.
    let is_known = |line: &str| line.contains("not UTF-8") || line.contains("like frozen data");
    assert!(code == 0 && stderr.lines().all(is_known), "{context}: {stderr}");
    let (rows, expected) = (parse_lines(&stdout), parse_lines(expected));
    assert_eq!(rows.len(), expected.len(), "{context}");
    for (row, expected) in rows.iter().zip(&expected) {
        // A dump may also contain the numbers of rows.
        assert_eq!(row.len() - usize::from(row.contains_key("rowid")), expected.len(), "{context}");
        for (name, value) in expected {
            assert!(is_same(row[name].get(), value.get()), "{context}: {name}: {} and not {value}", row[name]);
        }
    }
}

/// Returns what a program prints for this input.
fn run_program(command: Command, input: &str) -> Vec<u8> {
    let output = run::fed(command, input.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    found.is_ok_and(|output| output.status.success())
}

/// Returns the number of tables to try: ICECORE_ROWS_CASES for long runs.
fn count_cases(default: u64) -> u64 {
    std::env::var("ICECORE_ROWS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn sqlite(file: &Path, input: &str) -> Vec<u8> {
    let mut command = Command::new("sqlite3");
    command.arg("-bail").arg(file);
    run_program(command, input)
}

#[test]
fn rows_of_an_sqlite_dump_equal_those_of_sqlite() {
    if !is_installed("sqlite3") {
        eprintln!("SKIPPED: sqlite3 is missing");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 1..=count_cases(30) {
        let random = &mut Random(seed);
        let file = folder.path().join(format!("{seed}.db"));
        let kinds: Vec<&str> = (0..1 + random.below(6))
            .map(|_| random.pick(&["", "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "INT"]))
            .collect();
        let columns: Vec<String> = (0..kinds.len()).map(|index| format!("\"c {index}'\"")).collect();
        let definitions: Vec<String> =
            columns.iter().zip(&kinds).map(|(name, kind)| format!("{name} {kind}")).collect();
        let mut sql = format!("BEGIN; CREATE TABLE \"a b\"({});\n", definitions.join(", "));
        for _ in 0..random.below(40) {
            let values: Vec<String> = (0..kinds.len())
                .map(|_| match random.below(6) {
                    0 => "NULL".to_owned(),
                    1 => random.integer().to_string(),
                    2 => format!("{:e}", random.float()),
                    3 => format!("X'{}'", random.pick(&["", "41", "C3A9", "00ff"])),
                    // Control characters and line ends are passed to the shell as bytes.
                    _ => format!(
                        "CAST(X'{}' AS TEXT)",
                        random.text().bytes().map(|byte| format!("{byte:02x}")).collect::<String>()
                    ),
                })
                .collect();
            sql += &format!("INSERT INTO \"a b\" VALUES ({});\n", values.join(", "));
        }
        sqlite(&file, &(sql + "COMMIT;\n"));
        // Bytes that are not text become characters.
        let members: Vec<String> = columns
            .iter()
            .zip(0..)
            .map(|(name, index)| format!("'c {index}''', CASE WHEN typeof({name})='real' THEN json(printf('%!.17g', {name})) WHEN typeof({name})='blob' THEN CASE WHEN {name}=X'00ff' THEN char(0,255) ELSE CAST({name} AS TEXT) END ELSE {name} END"))
            .collect();
        let expected = sqlite(&file, &format!("SELECT json_object({}) FROM \"a b\";\n", members.join(", ")));
        let dump = sqlite(&file, &format!(".dump{}\n", random.pick(&["", " --preserve-rowids"])));
        check_dump(&dump, "a b", &expected, &format!("seed {seed}"));
        check_query(&format!("sqlite:{}", file.display()), "SELECT * FROM \"a b\"", &expected, &format!("seed {seed}"));
    }
}

/// Returns a database program with the address of the server.
#[cfg(unix)]
fn command(program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

/// Returns a table with these columns, and statements that fill it with random values. The function `text`
/// returns a text as an SQL expression.
fn create_random_table(random: &mut Random, columns: &[(&str, &str)], text: impl Fn(&str) -> String) -> String {
    let definitions: Vec<String> = columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    let mut sql = format!("CREATE TABLE t ({});\n", definitions.join(", "));
    for id in 1..=random.below(60) + 1 {
        let values: Vec<String> = columns
            .iter()
            .map(|(_, kind)| match kind.split([' ', '(']).next().unwrap_or_default() {
                _ if *kind == "INT PRIMARY KEY" => id.to_string(),
                _ if random.below(6) == 0 => "NULL".to_owned(),
                "BIGINT" => random.integer().to_string(),
                "INT" => (random.below(1000) as i64 - 500).to_string(),
                "DECIMAL" | "NUMERIC" => format!("{}.{:05}", random.integer(), random.below(100_000)),
                "DOUBLE" => format!("{:e}", random.float()),
                "BOOLEAN" => random.pick(&["true", "false"]).to_owned(),
                "BIT" => format!("b'{:05b}'", random.below(32)),
                "JSON" | "JSONB" => quote(random.pick(&["{\"a\": [1, 2.50]}", "[]", "\"it's\""])),
                _ => text(&random.text().replace('\u{1}', "")),
            })
            .collect();
        sql += &format!("INSERT INTO t VALUES ({});\n", values.join(", "));
    }
    sql
}

fn encode_hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(unix)]
#[test]
fn rows_of_a_postgres_dump_equal_those_of_postgres() {
    let Ok(address) = std::env::var("ICECORE_TEST_POSTGRES") else {
        eprintln!("SKIPPED: PostgreSQL, as ICECORE_TEST_POSTGRES is not set");
        return;
    };
    let base = address.rsplit_once('/').map_or(address.as_str(), |(base, _)| base);
    let database = format!("rows_{}", std::process::id());
    let (of, any) = (format!("{base}/{database}"), format!("{base}/postgres"));
    let columns = [
        ("id", "INT PRIMARY KEY"),
        ("\"it's\"", "TEXT"),
        ("big", "BIGINT"),
        ("exact", "NUMERIC(40,5)"),
        ("real", "DOUBLE PRECISION"),
        ("ok", "BOOLEAN"),
        ("json", "JSONB"),
        ("bits", "BIT(5)"),
    ];
    let options: [&[&str]; 5] =
        [&[], &["--inserts"], &["--column-inserts"], &["--rows-per-insert=7"], &["--quote-all-identifiers"]];
    for seed in 1..=count_cases(10) {
        let random = &mut Random(seed);
        let new = format!("DROP DATABASE IF EXISTS {database};\nCREATE DATABASE {database};\n");
        run_program(command("psql", &["-v", "ON_ERROR_STOP=1", "-q", &any]), &new);
        let table =
            create_random_table(random, &columns, |text| format!("convert_from('\\x{}', 'UTF8')", encode_hex(text)));
        run_program(command("psql", &["-v", "ON_ERROR_STOP=1", "-q", &of]), &table);
        // A JSON value is a text in a dump.
        let query = "SELECT json_build_object('id', id, 'it''s', \"it's\", 'big', big, 'exact', exact, 'real', real, 'ok', ok, \
                     'json', json::text, 'bits', bits) FROM t ORDER BY id;\n";
        let expected = run_program(command("psql", &["-v", "ON_ERROR_STOP=1", "-q", "-A", "-t", &of]), query);
        let words = options[random.below(options.len())];
        let dump = run_program(command("pg_dump", &[words, &[of.as_str()]].concat()), "");
        check_dump(&dump, "public.t", &expected, &format!("seed {seed} {words:?}"));
        check_query(&of, "SELECT * FROM t ORDER BY id", &expected, &format!("seed {seed}"));
    }
    run_program(command("psql", &["-q", &any]), &format!("DROP DATABASE IF EXISTS {database};\n"));
}

#[cfg(unix)]
#[test]
fn rows_of_a_mariadb_dump_equal_those_of_mariadb() {
    let Ok(address) = std::env::var("ICECORE_TEST_MYSQL") else {
        eprintln!("SKIPPED: MariaDB, as ICECORE_TEST_MYSQL is not set");
        return;
    };
    // mysql://user:password@host:port/database
    let (who, place) = address.strip_prefix("mysql://").and_then(|rest| rest.split_once('@')).expect("an address");
    let (user, password) = who.split_once(':').expect("a password");
    let (host, port) = place.split('/').next().and_then(|place| place.split_once(':')).expect("a port");
    let program = |name: &str, words: &[&str]| {
        let given = ["--no-defaults", "--default-character-set=utf8mb4", "-u", user, "-h", host, "-P", port];
        let mut command = command(name, &[&given, words].concat());
        command.env("MYSQL_PWD", password);
        command
    };
    let database = format!("rows_{}", std::process::id());
    let columns = [
        ("id", "INT PRIMARY KEY"),
        ("`it's`", "TEXT"),
        ("big", "BIGINT"),
        ("filled", "INT(8) ZEROFILL"),
        ("exact", "DECIMAL(40,5)"),
        ("`real`", "DOUBLE"),
        ("ok", "BOOLEAN"),
        ("json", "JSON"),
        ("bits", "BIT(5)"),
    ];
    let options: [&[&str]; 6] = [
        &[],
        &["--hex-blob"],
        &["--complete-insert"],
        &["--skip-extended-insert"],
        &["--compatible=ansi"],
        &["--skip-opt", "--compact"],
    ];
    for seed in 1..=count_cases(10) {
        let random = &mut Random(seed);
        let new = format!("DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database} CHARACTER SET utf8mb4;");
        run_program(program("mariadb", &[]), &new);
        let table =
            create_random_table(random, &columns, |text| format!("CONVERT(X'{}' USING utf8mb4)", encode_hex(text)));
        // A negative value is not possible there.
        run_program(program("mariadb", &["--init-command=SET sql_mode=''", &database]), &table);
        let query = "SELECT JSON_OBJECT('id', id, 'it''s', `it's`, 'big', big, 'filled', filled + 0, 'exact', exact, 'real', `real`, \
                     'ok', ok, 'json', CONCAT(json, ''), 'bits', bits + 0) FROM t ORDER BY id;";
        let expected = run_program(program("mariadb", &["--batch", "--raw", "--skip-column-names", &database]), query);
        let words = options[random.below(options.len())];
        let dump = run_program(program("mariadb-dump", &[words, &[database.as_str()]].concat()), "");
        check_dump(&dump, "t", &expected, &format!("seed {seed} {words:?}"));
        let query = "SELECT * FROM t ORDER BY id";
        check_query(&format!("mysql://{who}@{host}:{port}/{database}"), query, &expected, &format!("seed {seed}"));
    }
    run_program(program("mariadb", &[]), &format!("DROP DATABASE IF EXISTS {database};"));
}
