//! Databases that are new for each competitor and round, and are queried by a separate program.

use icecore_lab::Error;
use icecore_lab::model::Runtime;
use icecore_lab::runner::Trouble;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Variable with the address, for all programs in `benches/store`.
pub(super) const VARIABLE: &str = "ICECORE_LOAD_DB";

/// Where databases are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Server {
    /// Files in this folder.
    Sqlite(PathBuf),
    /// A PostgreSQL server.
    Postgres(String),
    /// A MariaDB or MySQL server.
    Mysql(String),
}

impl Server {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Server::Sqlite(_) => "SQLite",
            Server::Postgres(_) => "PostgreSQL",
            Server::Mysql(_) => "MariaDB",
        }
    }

    /// Returns the version of the server; SQLite is a part of each program and has none here.
    pub(super) fn version(&self, ask: Ask<'_>) -> Result<Option<Runtime>, Trouble> {
        let (server, sql) = match self {
            Server::Sqlite(_) => return Ok(None),
            Server::Postgres(server) => (server, "SHOW server_version"),
            Server::Mysql(server) => (server, "SELECT version()"),
        };
        let rows = ask.of(server, sql)?;
        let version = rows.first().and_then(|row| row.first()).and_then(Value::as_str).unwrap_or_default();
        Ok(Some(Runtime { language: self.name().to_owned(), version: version.to_owned() }))
    }

    /// Creates a new database with this name.
    pub(super) fn make(&self, name: &str, ask: Ask<'_>) -> Result<Database, Trouble> {
        match self {
            Server::Sqlite(folder) => {
                let said = |error: std::io::Error| Trouble::Failed(format!("{}: {error}", folder.display()));
                std::fs::create_dir_all(folder).map_err(said)?;
                Ok(Database { server: self.clone(), address: format!("sqlite:{}/{name}.db", folder.display()) })
            }
            Server::Postgres(server) | Server::Mysql(server) => {
                ask.of(server, &format!("CREATE DATABASE {name}"))?;
                Ok(Database { server: self.clone(), address: within(server, name) })
            }
        }
    }
}

/// Returns the address of a database of this server. The connection is not encrypted, because it does not leave the
/// machine.
fn within(server: &str, name: &str) -> String {
    let server = server.split('?').next().unwrap_or(server);
    let start = server.find("://").map_or(0, |at| at + 3);
    let end = server[start..].find('/').map_or(server.len(), |at| start + at);
    format!("{}/{name}?sslmode=disable", &server[..end])
}

/// A database of one competitor.
#[derive(Clone, Debug)]
pub(super) struct Database {
    server: Server,
    pub address: String,
}

impl Database {
    /// Removes the database, and disconnects clients that are still connected.
    pub(super) fn drop(self, ask: Ask<'_>) -> Result<(), Trouble> {
        match &self.server {
            // The folder of the run is removed as a whole later, but large files are removed now.
            Server::Sqlite(_) => {
                for end in ["", "-wal", "-shm"] {
                    let _ = std::fs::remove_file(self.address.trim_start_matches("sqlite:").to_owned() + end);
                }
                Ok(())
            }
            Server::Postgres(server) => {
                ask.of(server, &format!("DROP DATABASE {} WITH (FORCE)", self.name())).map(drop)
            }
            Server::Mysql(server) => ask.of(server, &format!("DROP DATABASE {}", self.name())).map(drop),
        }
    }

    fn name(&self) -> &str {
        self.address.rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default()
    }
}

/// Queries databases with `ask.pl`.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    programs: &'a Path,
    stop: &'a AtomicBool,
}

impl<'a> Ask<'a> {
    pub(super) fn new(programs: &'a Path, stop: &'a AtomicBool) -> Ask<'a> {
        Ask { programs, stop }
    }

    /// Returns the rows of a query.
    pub(super) fn of(self, address: &str, sql: &str) -> Result<Vec<Vec<Value>>, Trouble> {
        let mut command = Command::new("perl");
        command.arg(self.programs.join("ask.pl")).arg(sql).env(VARIABLE, address).stdin(Stdio::null());
        icecore_lab::hide_secrets_from(&mut command);
        let done = command.output().map_err(|error| Trouble::Failed(format!("perl: {error}")))?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(Trouble::Stopped);
        }
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(Trouble::Failed(format!("the database does not answer: {}", said.trim())));
        }
        let rows = done.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let rows = rows.map(|line| serde_json::from_slice(line).map_err(|error| Trouble::Failed(error.to_string())));
        rows.collect()
    }

    /// Returns the answer of a query for a single number.
    pub(super) fn number(self, address: &str, sql: &str) -> Result<u64, Trouble> {
        match self.of(address, sql)?.first().and_then(|row| row.first()) {
            // Some drivers return a number as text.
            Some(Value::Number(number)) if number.is_u64() => Ok(number.as_u64().unwrap_or(0)),
            Some(Value::String(text)) if text.parse::<u64>().is_ok() => Ok(text.parse().unwrap_or(0)),
            other => Err(Trouble::Failed(format!("no number is the answer of {sql}: {other:?}"))),
        }
    }

    /// Returns the Perl modules that are missing.
    pub(super) fn missing(programs: &Path) -> Result<Vec<String>, Error> {
        let script = programs.join("ask.pl");
        let mut command = Command::new("perl");
        command.arg(&script).stdin(Stdio::null());
        icecore_lab::hide_secrets_from(&mut command);
        let done = command.output();
        let done = done.map_err(|error| Error::new(format!("perl: {error}")))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(Error::new(format!("{}: {}", script.display(), said.trim())));
        }
        Ok(String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect())
    }

    /// Returns the version of perl.
    pub(super) fn runtimes(self) -> Vec<Runtime> {
        let mut command = Command::new("perl");
        command.args(["-e", "printf '%vd', $^V"]);
        icecore_lab::hide_secrets_from(&mut command);
        let version =
            command.output().map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default();
        vec![Runtime { language: "perl".to_owned(), version }]
    }
}

/// Returns the bytes of a column: each character of the answer is a byte.
pub(super) fn bytes(column: &Value) -> Option<Vec<u8>> {
    column.as_str()?.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_another_name_on_the_same_server() {
        let found = within("postgres://a:b@127.0.0.1:5432/postgres?sslmode=require", "load_1");
        assert_eq!(found, "postgres://a:b@127.0.0.1:5432/load_1?sslmode=disable");
        assert_eq!(within("postgres://a@h", "x"), "postgres://a@h/x?sslmode=disable");
        let address = within("mysql://a:b@127.0.0.1:3306/icecore", "load_1");
        assert_eq!(address, "mysql://a:b@127.0.0.1:3306/load_1?sslmode=disable");
        assert_eq!(Database { server: Server::Mysql(String::new()), address }.name(), "load_1");
    }

    #[test]
    fn columns_are_bytes() {
        assert_eq!(bytes(&Value::from("a\u{e9}")), Some(vec![b'a', 0xe9]));
        assert_eq!((bytes(&Value::from("\u{100}")), bytes(&Value::Null)), (None, None));
    }
}
