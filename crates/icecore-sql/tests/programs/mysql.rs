//! MariaDB: mariadb-dump, mydumper.

use std::fmt::Write;
use std::process::Command;

use super::generate::{self, Limits, Table, Type, hex};
use super::program::{is_installed, run};
use super::{phpmyadmin, seen};
use crate::random::{self, Random};

pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The address of a server.
struct Server {
    user: String,
    password: String,
    host: String,
    port: String,
}

impl Server {
    /// Returns the server in `ICECORE_TEST_MYSQL`: `mysql://user:password@host:port/database`.
    fn from_environment() -> Option<Server> {
        let address = std::env::var("ICECORE_TEST_MYSQL").ok()?;
        let (user, place) = address.strip_prefix("mysql://")?.split_once('@')?;
        let (user, password) = user.split_once(':')?;
        let (host, port) = place.split('/').next()?.split_once(':')?;
        Some(Server { user: user.into(), password: password.into(), host: host.into(), port: port.into() })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if program == "mydumper" {
            // It does not read the password from the environment.
            command.args(["--password", &self.password]);
        } else {
            command.arg("--no-defaults").args(["--default-character-set", "utf8mb4"]);
        }
        command
            .args(["--user", &self.user, "--host", &self.host, "--port", &self.port])
            .env("MYSQL_PWD", &self.password);
        command
    }

    fn load(&self, database: &str, sql: &[u8]) {
        let name = quoted(database);
        let make = format!("DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4;");
        run(&mut self.command("mariadb"), make.as_bytes());
        run(self.command("mariadb").args(["--binary-mode", "--max-allowed-packet=64M", database]), sql);
    }

    fn drop(&self, database: &str) {
        run(&mut self.command("mariadb"), format!("DROP DATABASE IF EXISTS {};", quoted(database)).as_bytes());
    }

    fn rows(&self, database: &str, tables: &[Table]) -> String {
        let mut sql = String::new();
        for table in tables {
            let columns: String = table
                .columns
                .iter()
                .map(|(name, _)| {
                    format!(", '|', CASE WHEN {0} IS NULL THEN 'N' ELSE lower(hex({0})) END", quoted(name))
                })
                .collect();
            let _ = writeln!(sql, "SELECT CONCAT(id{columns}) FROM {} ORDER BY id;", quoted(&table.name));
        }
        let output = run(self.command("mariadb").args(["--skip-column-names", "--batch", database]), sql.as_bytes());
        String::from_utf8(output).expect("digits")
    }
}

/// Returns statements that create the tables.
fn create(tables: &[Table], random: &mut Random) -> String {
    let mut sql = String::new();
    for table in tables {
        let _ = write!(sql, "CREATE TABLE {} (id INT PRIMARY KEY", quoted(&table.name));
        for (column, kind) in &table.columns {
            let kind = match kind {
                Type::Text => {
                    random.pick(&["LONGTEXT", "MEDIUMTEXT COMMENT 'it''s, (x'", "LONGTEXT NOT NULL DEFAULT ')'"])
                }
                Type::Bytes => random.pick(&["LONGBLOB", "MEDIUMBLOB"]),
            };
            let kind = if kind.contains("NOT NULL") { "LONGTEXT DEFAULT ')'" } else { kind };
            let _ = write!(sql, ", {} {kind}", quoted(column));
        }
        sql.push_str(") CHARACTER SET utf8mb4;\n");
        for (number, row) in table.rows.iter().enumerate() {
            let _ = write!(sql, "INSERT INTO {} VALUES ({}", quoted(&table.name), number + 1);
            for value in row {
                let _ = match value {
                    None => write!(sql, ", NULL"),
                    Some(value) => write!(sql, ", X'{}'", hex(value)),
                };
            }
            sql.push_str(");\n");
        }
        if random.one_in(3) {
            let name = quoted(&format!("trigger of {}", table.name.replace('/', "")));
            let _ = write!(
                sql,
                "DELIMITER $$\nCREATE TRIGGER {name} BEFORE DELETE ON {} FOR EACH ROW BEGIN SET @x = 'it''s'; /* ' */ INSERT INTO nowhere VALUES ('no row'); END$$\nDELIMITER ;\n",
                quoted(&table.name)
            );
        }
    }
    sql
}

const OPTIONS: &[&[&str]] = &[
    &[],
    &["--complete-insert"],
    &["--skip-extended-insert"],
    &["--skip-extended-insert", "--complete-insert"],
    &["--hex-blob"],
    &["--hex-blob", "--skip-extended-insert", "--insert-ignore"],
    &["--skip-quote-names"],
    &["--compatible=ansi"],
    &["--compatible=ansi", "--complete-insert", "--hex-blob"],
    &["--skip-opt"],
    &["--replace", "--skip-comments"],
    &["--compact"],
    &["--compact", "--no-create-info"],
    &["--no-create-info", "--complete-insert"],
    &["--net-buffer-length=4096"],
    &["--order-by-primary", "--skip-set-charset", "--skip-tz-utc", "--routines", "--events"],
    &["--databases"],
];

#[test]
fn dumps_of_mariadb_and_mydumper_are_read_and_changed() {
    let Some(server) = Server::from_environment() else {
        eprintln!("SKIPPED: MariaDB, as ICECORE_TEST_MYSQL is not set");
        return;
    };
    let has_mydumper = is_installed("mydumper");
    let (seed, count) = random::seed_and_count(OPTIONS.len() as u64);
    let (from, to) = (format!("sql_from_{}", std::process::id()), format!("sql_to_{}", std::process::id()));
    for seed in seed..seed + count {
        let mut random = Random::new(seed);
        let options = OPTIONS[seed as usize % OPTIONS.len()];
        let limits = Limits { plain_names: options.contains(&"--skip-quote-names"), nul: true, ..Limits::default() };
        let mut tables = generate::tables(&mut random, limits);
        let context = format!("seed {seed} {options:?}");
        server.load(&from, create(&tables, &mut random).as_bytes());
        let database = options.contains(&"--databases");
        let dump = run(server.command("mariadb-dump").args(options).arg(&from), b"");
        seen::check(&dump, &tables, &mut random, &context);
        // mydumper does not double quotes in names, and uses names for files.
        let is_plain = |name: &String| !name.contains(['`', '/', '.']);
        let plain = |table: &Table| is_plain(&table.name) && table.columns.iter().all(|(name, _)| is_plain(name));
        if has_mydumper && tables.iter().all(plain) {
            mydumper(&server, &from, &tables, &mut random, &context);
        }
        for dump in phpmyadmin::dumps(&tables) {
            seen::check(&dump, &tables, &mut random, &format!("{context}, as phpMyAdmin"));
        }
        let dump = if options.contains(&"--no-create-info") || database || random.one_in(4) {
            phpmyadmin::dumps(&tables).swap_remove(random.below(2))
        } else {
            dump
        };
        let (dump, refused) = seen::rewrite(&dump, &mut tables, &mut random, limits);
        assert_eq!(refused, 0, "{context}: all can be said");
        server.load(&to, &dump);
        let expected: String = tables.iter().map(generate::lines).collect();
        seen::assert_same_rows(&server.rows(&to, &tables), &expected, &context);
    }
    server.drop(&from);
    server.drop(&to);
}

fn mydumper(server: &Server, database: &str, tables: &[Table], random: &mut Random, name: &str) {
    let folder = std::env::temp_dir().join(format!("icecore-mydumper-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let all: [&[&str]; 3] = [&[], &["--complete-insert"], &["--insert-ignore", "--statement-size", "2000"]];
    let options = *random.pick(&all);
    run(
        server
            .command("mydumper")
            .args(["--database", database, "--threads", "1", "--outputdir"])
            .arg(&folder)
            .args(options),
        b"",
    );
    // A file for each table, and one for its definition.
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("files").map(|file| file.expect("a file").path()).collect();
    files.sort_by_key(|path| (!path.display().to_string().contains("-schema"), path.clone()));
    let files = files.iter().filter(|path| path.extension().is_some_and(|end| end == "sql"));
    let files = files.filter(|path| !path.display().to_string().contains("schema-create"));
    let dump: Vec<u8> = files.flat_map(|path| std::fs::read(path).expect("a file")).collect();
    seen::check(&dump, tables, random, &format!("{name}, mydumper {options:?}"));
    let _ = std::fs::remove_dir_all(folder);
}
