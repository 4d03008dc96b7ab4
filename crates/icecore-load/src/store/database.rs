//! Databases that are new for each competitor and round, and are queried by a separate program.

use icecore_lab::Error;
use icecore_lab::model::Runtime;
use icecore_lab::runner::ParticipantError;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variable with the address of the database, for all programs in `benches/store`.
pub(super) const ADDRESS_VARIABLE: &str = "ICECORE_LOAD_DB";

/// Where databases are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DatabaseServer {
    /// Files in this folder.
    Sqlite(PathBuf),
    /// A PostgreSQL server.
    Postgres(String),
    /// A MariaDB or MySQL server.
    Mysql(String),
}

impl DatabaseServer {
    pub(super) fn name(&self) -> &'static str {
        match self {
            DatabaseServer::Sqlite(_) => "SQLite",
            DatabaseServer::Postgres(_) => "PostgreSQL",
            DatabaseServer::Mysql(_) => "MariaDB",
        }
    }

    /// Returns the version of the server. SQLite has no server: it is a part of each program.
    pub(super) fn query_version(&self, queries: QueryRunner<'_>) -> Result<Option<Runtime>, ParticipantError> {
        let (server, sql) = match self {
            DatabaseServer::Sqlite(_) => return Ok(None),
            DatabaseServer::Postgres(server) => (server, "SHOW server_version"),
            DatabaseServer::Mysql(server) => (server, "SELECT version()"),
        };
        let rows = queries.query_rows(server, sql)?;
        let version = rows.first().and_then(|row| row.first()).and_then(Value::as_str).unwrap_or_default();
        Ok(Some(Runtime { language: self.name().to_owned(), version: version.to_owned() }))
    }

    /// Creates a new database with this name.
    pub(super) fn create_database(&self, name: &str, queries: QueryRunner<'_>) -> Result<Database, ParticipantError> {
        match self {
            DatabaseServer::Sqlite(folder) => {
                let to_failure =
                    |error: std::io::Error| ParticipantError::Failed(format!("{}: {error}", folder.display()));
                std::fs::create_dir_all(folder).map_err(to_failure)?;
                Ok(Database { server: self.clone(), address: format!("sqlite:{}/{name}.db", folder.display()) })
            }
            DatabaseServer::Postgres(server) | DatabaseServer::Mysql(server) => {
                queries.query_rows(server, &format!("CREATE DATABASE {name}"))?;
                Ok(Database { server: self.clone(), address: database_address(server, name) })
            }
        }
    }
}

/// Returns the address of a database of this server. The connection is not encrypted, because it does not leave the
/// machine.
fn database_address(server: &str, name: &str) -> String {
    let server = server.split('?').next().unwrap_or(server);
    let start = server.find("://").map_or(0, |index| index + 3);
    let end = server[start..].find('/').map_or(server.len(), |index| start + index);
    format!("{}/{name}?sslmode=disable", &server[..end])
}

/// A database of one competitor.
#[derive(Clone, Debug)]
pub(super) struct Database {
    server: DatabaseServer,
    pub address: String,
}

impl Database {
    /// Removes the database, and disconnects clients that are still connected.
    pub(super) fn drop_database(self, queries: QueryRunner<'_>) -> Result<(), ParticipantError> {
        match &self.server {
            // The folder of the run is removed later. The files of the database are large, so they are removed now.
            DatabaseServer::Sqlite(_) => {
                for suffix in ["", "-wal", "-shm"] {
                    let _ = std::fs::remove_file(self.address.trim_start_matches("sqlite:").to_owned() + suffix);
                }
                Ok(())
            }
            DatabaseServer::Postgres(server) => {
                queries.query_rows(server, &format!("DROP DATABASE {} WITH (FORCE)", self.name())).map(drop)
            }
            DatabaseServer::Mysql(server) => {
                queries.query_rows(server, &format!("DROP DATABASE {}", self.name())).map(drop)
            }
        }
    }

    fn name(&self) -> &str {
        self.address.rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default()
    }
}

/// Queries databases with `ask.pl`.
#[derive(Clone, Copy)]
pub(super) struct QueryRunner<'a> {
    programs: &'a Path,
    stop: &'a AtomicBool,
}

impl<'a> QueryRunner<'a> {
    pub(super) fn new(programs: &'a Path, stop: &'a AtomicBool) -> QueryRunner<'a> {
        QueryRunner { programs, stop }
    }

    /// Returns the rows of a query.
    pub(super) fn query_rows(self, address: &str, sql: &str) -> Result<Vec<Vec<Value>>, ParticipantError> {
        let mut command = Command::new("perl");
        command.arg(self.programs.join("ask.pl")).arg(sql).env(ADDRESS_VARIABLE, address).stdin(Stdio::null());
        icecore_lab::hide_secrets_from(&mut command);
        let output = command.output().map_err(|error| ParticipantError::Failed(format!("perl: {error}")))?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(ParticipantError::Stopped);
        }
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(ParticipantError::Failed(format!("the database does not answer: {}", stderr.trim())));
        }
        let rows = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let rows =
            rows.map(|line| serde_json::from_slice(line).map_err(|error| ParticipantError::Failed(error.to_string())));
        rows.collect()
    }

    /// Returns the answer of a query for a single number.
    pub(super) fn query_number(self, address: &str, sql: &str) -> Result<u64, ParticipantError> {
        match self.query_rows(address, sql)?.first().and_then(|row| row.first()) {
            // Some drivers return a number as text.
            Some(Value::Number(number)) if number.is_u64() => Ok(number.as_u64().unwrap_or(0)),
            Some(Value::String(text)) if text.parse::<u64>().is_ok() => Ok(text.parse().unwrap_or(0)),
            other => Err(ParticipantError::Failed(format!("the answer to {sql} is not a number: {other:?}"))),
        }
    }

    /// Returns the Perl modules that are missing.
    pub(super) fn find_missing_modules(programs: &Path) -> Result<Vec<String>, Error> {
        let script = programs.join("ask.pl");
        let mut command = Command::new("perl");
        command.arg(&script).stdin(Stdio::null());
        icecore_lab::hide_secrets_from(&mut command);
        let output = command.output();
        let output = output.map_err(|error| Error::new(format!("perl: {error}")))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(Error::new(format!("{}: {}", script.display(), stderr.trim())));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// Returns the version of perl.
    pub(super) fn list_runtimes(self) -> Vec<Runtime> {
        let mut command = Command::new("perl");
        command.args(["-e", "printf '%vd', $^V"]);
        icecore_lab::hide_secrets_from(&mut command);
        let version =
            command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        vec![Runtime { language: "perl".to_owned(), version }]
    }
}

/// Returns the bytes of a column, whose value has one character for each byte.
pub(super) fn bytes_from_column(column: &Value) -> Option<Vec<u8>> {
    column.as_str()?.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_address_changes_only_the_name() {
        let found = database_address("postgres://a:b@127.0.0.1:5432/postgres?sslmode=require", "load_1");
        assert_eq!(found, "postgres://a:b@127.0.0.1:5432/load_1?sslmode=disable");
        assert_eq!(database_address("postgres://a@h", "x"), "postgres://a@h/x?sslmode=disable");
        let address = database_address("mysql://a:b@127.0.0.1:3306/icecore", "load_1");
        assert_eq!(address, "mysql://a:b@127.0.0.1:3306/load_1?sslmode=disable");
        assert_eq!(Database { server: DatabaseServer::Mysql(String::new()), address }.name(), "load_1");
    }

    #[test]
    fn columns_are_read_as_bytes() {
        assert_eq!(bytes_from_column(&Value::from("a\u{e9}")), Some(vec![b'a', 0xe9]));
        assert_eq!((bytes_from_column(&Value::from("\u{100}")), bytes_from_column(&Value::Null)), (None, None));
    }
}
