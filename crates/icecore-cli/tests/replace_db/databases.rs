//! Databases with the same tables, for properties that hold in all of them: always an SQLite file, and servers if
//! available.

use crate::run::ICECORE;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use icecore_store::within;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A new database, and a folder for undo files.
pub struct Database {
    pub url: String,
    pub folder: TempDir,
    connection: Connection,
}

enum Connection {
    Sqlite(rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Postgres(Box<within::postgres::Client>),
    #[cfg(feature = "mysql")]
    Mysql(Box<within::mysql::Conn>),
}

/// The kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "mysql")]
    Mysql,
}

/// Returns the available kinds.
pub fn all_kinds() -> Vec<Kind> {
    let mut kinds = vec![Kind::Sqlite];
    #[cfg(feature = "postgres")]
    if std::env::var_os("ICECORE_TEST_POSTGRES").is_some() {
        kinds.push(Kind::Postgres);
    }
    #[cfg(feature = "mysql")]
    if std::env::var_os("ICECORE_TEST_MYSQL").is_some() {
        kinds.push(Kind::Mysql);
    }
    kinds
}

impl Database {
    pub fn new(kind: Kind, name: &str) -> Database {
        let folder = tempfile::tempdir().unwrap();
        let (url, connection) = match kind {
            Kind::Sqlite => {
                let file = folder.path().join(format!("{name}.db"));
                let connection = rusqlite::Connection::open(&file).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
                // The writes of the test itself need not survive a power failure.
                connection.execute_batch("PRAGMA synchronous = off").unwrap();
                (format!("sqlite:{}", file.display()), Connection::Sqlite(connection))
            }
            #[cfg(feature = "postgres")]
            Kind::Postgres => {
                use within::postgres::{Client, NoTls};
                let server = std::env::var("ICECORE_TEST_POSTGRES").unwrap();
                let name = format!("icecore_undo_{}_{name}", std::process::id());
                let mut client = Client::connect(&server, NoTls).expect("a server");
                client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).unwrap();
                client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
                let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
                let client = Client::connect(&url, NoTls).expect("a database");
                (url, Connection::Postgres(Box::new(client)))
            }
            #[cfg(feature = "mysql")]
            Kind::Mysql => {
                use within::mysql::prelude::Queryable;
                let server = std::env::var("ICECORE_TEST_MYSQL").unwrap();
                let name = format!("icecore_undo_{}_{name}", std::process::id());
                let mut conn = within::mysql::Conn::new(&*server).expect("a server");
                conn.query_drop(format!("DROP DATABASE IF EXISTS {name}")).unwrap();
                conn.query_drop(format!("CREATE DATABASE {name} CHARACTER SET utf8mb4")).unwrap();
                conn.query_drop(format!("USE {name}")).unwrap();
                (format!("{}/{name}", server.rsplit_once('/').unwrap().0), Connection::Mysql(Box::new(conn)))
            }
        };
        Database { url, folder, connection }
    }

    pub fn kind(&self) -> Kind {
        match self.connection {
            Connection::Sqlite(_) => Kind::Sqlite,
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => Kind::Postgres,
            #[cfg(feature = "mysql")]
            Connection::Mysql(_) => Kind::Mysql,
        }
    }

    /// Runs statements, one per line.
    pub fn run(&mut self, sql: &str) {
        for statement in sql.split(";\n").map(str::trim).filter(|statement| !statement.is_empty()) {
            let done = match &mut self.connection {
                Connection::Sqlite(connection) => {
                    connection.execute_batch(statement).map_err(|error| error.to_string())
                }
                #[cfg(feature = "postgres")]
                Connection::Postgres(client) => client.batch_execute(statement).map_err(|error| format!("{error:?}")),
                #[cfg(feature = "mysql")]
                Connection::Mysql(conn) => {
                    use within::mysql::prelude::Queryable;
                    conn.query_drop(statement).map_err(|error| error.to_string())
                }
            };
            done.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }

    /// Returns the rows of a table with the bytes of all their values, in the order of the first column.
    pub fn dump(&mut self, table: &str) -> Vec<String> {
        match &mut self.connection {
            Connection::Sqlite(connection) => {
                let columns = format!("SELECT name FROM pragma_table_info('{table}')");
                let mut statement = connection.prepare(&columns).unwrap();
                let columns: Vec<String> =
                    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
                let values: Vec<String> = columns
                    .iter()
                    .map(|column| {
                        format!("typeof(\"{column}\") || ' ' || COALESCE(HEX(CAST(\"{column}\" AS BLOB)), '')")
                    })
                    .collect();
                let sql = format!("SELECT {} FROM {table} ORDER BY 1", values.join(" || ', ' || "));
                let mut statement = connection.prepare(&sql).unwrap();
                statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            }
            #[cfg(feature = "postgres")]
            Connection::Postgres(client) => {
                let rows = client.query(&format!("SELECT CAST(t AS text) FROM {table} t ORDER BY 1"), &[]).unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
            #[cfg(feature = "mysql")]
            Connection::Mysql(conn) => {
                use within::mysql::prelude::Queryable;
                let columns: Vec<String> = conn
                    .query(format!(
                        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"
                    ))
                    .unwrap();
                let values: Vec<String> =
                    columns.iter().map(|column| format!("COALESCE(HEX(`{column}`), 'NULL')")).collect();
                conn.query(format!("SELECT CONCAT_WS(', ', {}) FROM {table} ORDER BY 1", values.join(", "))).unwrap()
            }
        }
    }

    /// Returns the path of a file of this test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command `icecore replace` with these words and this database, in the folder.
    pub fn command(&self, words: &[&str]) -> Command {
        command_in(self.folder.path(), &self.url, words)
    }

    /// Runs the command, which must exit with this code; returns its output.
    pub fn replace(&self, words: &[&str], expected: i32) -> (String, String) {
        let Output { status, stdout, stderr } = self.command(words).output().expect("it runs");
        let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert_eq!(status.code(), Some(expected), "{words:?}: {stderr}");
        (stdout, stderr)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let name = self.url.rsplit('/').next().unwrap_or_default().to_owned();
        match &mut self.connection {
            Connection::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Connection::Postgres(client) => {
                // A database can't be dropped from within.
                let server = std::env::var("ICECORE_TEST_POSTGRES").unwrap();
                if let Ok(other) = within::postgres::Client::connect(&server, within::postgres::NoTls) {
                    **client = other;
                    let _ = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
                }
            }
            #[cfg(feature = "mysql")]
            Connection::Mysql(conn) => {
                use within::mysql::prelude::Queryable;
                let _ = conn.query_drop(format!("DROP DATABASE IF EXISTS {name}"));
            }
        }
    }
}

pub fn command_in(folder: &Path, url: &str, words: &[&str]) -> Command {
    let mut command = Command::new(ICECORE);
    command.arg("replace").args(words).args(["--db", url]).current_dir(folder);
    command.stdin(std::process::Stdio::null());
    command
}

/// Creates a table whose rows have values of all kinds, most of which contain `example`.
pub fn fill(database: &mut Database, table: &str, rows: usize) {
    let bytes = match database.kind() {
        Kind::Sqlite => "BLOB",
        #[cfg(feature = "postgres")]
        Kind::Postgres => "BYTEA",
        #[cfg(feature = "mysql")]
        Kind::Mysql => "LONGBLOB",
    };
    database.run(&format!(
        "CREATE TABLE {table} (id INTEGER PRIMARY KEY, name VARCHAR(200), value TEXT, bytes {bytes}, number INTEGER)"
    ));
    let mut values = Vec::new();
    for id in 0..rows {
        let name = if id % 7 == 0 { "NULL".to_owned() } else { format!("'name {id} of example  '") };
        let host = ["a.example", "b.test", "ü.example"][id % 3];
        let value = format!("a:1:{{s:3:\"url\";s:{}:\"https://{host}/{id}\";}}", host.len() + 9 + id.to_string().len());
        let bytes = if id % 5 == 0 { String::new() } else { value.clone() };
        values.push(format!("({id}, {name}, '{value}', '{bytes}', {id})"));
    }
    for part in values.chunks(500) {
        database.run(&format!("INSERT INTO {table} VALUES {}", part.join(", ")));
    }
}
