//! The tables, and how they come from one version to the next.

use super::{SqlBackend, Value, there, translate};
use crate::error::{Error, ErrorKind, Result};

/// A step from one version to the next, and back.
struct Migration {
    up: &'static str,
    down: &'static str,
}

/// The version of the tables is how many of these were made.
static MIGRATIONS: &[Migration] = &[Migration {
    up: "
CREATE TABLE icecore_objects (
    seq {serial},
    id {name} NOT NULL UNIQUE,
    object_key {name} UNIQUE,
    stored_at BIGINT NOT NULL,
    expires_at BIGINT,
    format {name},
    class {name},
    checksum {name} NOT NULL,
    size BIGINT NOT NULL,
    bytes {bytes},
    base64 {text},
    json {text},
    problem {text}
){end};
CREATE INDEX icecore_objects_class ON icecore_objects (class, seq);
CREATE INDEX icecore_objects_expires ON icecore_objects (expires_at);
CREATE TABLE icecore_object_classes (
    class {name} NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (class, seq)
){end};
CREATE INDEX icecore_object_classes_seq ON icecore_object_classes (seq);
CREATE TABLE icecore_indexes (
    path {name} NOT NULL PRIMARY KEY,
    made_at BIGINT
){end};
CREATE TABLE icecore_index_values (
    path {name} NOT NULL,
    value {name} NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (path, value, seq)
){end};
CREATE INDEX icecore_index_values_seq ON icecore_index_values (seq);
CREATE TABLE icecore_queues (
    name {name} NOT NULL PRIMARY KEY,
    paused_at BIGINT,
    max_attempts BIGINT,
    backoff BIGINT,
    payload_schema {text}
){end};
CREATE TABLE icecore_jobs (
    seq {serial},
    id {name} NOT NULL UNIQUE,
    queue {name} NOT NULL,
    state {name} NOT NULL DEFAULT 'ready',
    priority BIGINT NOT NULL DEFAULT 0,
    queued_at BIGINT NOT NULL,
    run_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT NOT NULL DEFAULT 20,
    unique_key {name},
    live_key {name},
    token {name},
    lease_until BIGINT,
    worker {name},
    finished_at BIGINT,
    error {text},
    replay_of {name},
    format {name},
    checksum {name},
    bytes {bytes},
    base64 {text},
    json {text},
    problem {text},
    result {bytes},
    UNIQUE (queue, live_key)
){end};
CREATE INDEX icecore_jobs_next ON icecore_jobs (queue, state, priority DESC, run_at, seq);
CREATE INDEX icecore_jobs_leases ON icecore_jobs (state, lease_until);
CREATE INDEX icecore_jobs_finished ON icecore_jobs (finished_at);
CREATE TABLE icecore_audit (
    seq {serial},
    at BIGINT NOT NULL,
    who {name} NOT NULL,
    what {name} NOT NULL,
    subject {text} NOT NULL,
    affected BIGINT NOT NULL
){end};
",
    down: "
DROP TABLE icecore_audit;
DROP TABLE icecore_jobs;
DROP TABLE icecore_queues;
DROP TABLE icecore_index_values;
DROP TABLE icecore_indexes;
DROP TABLE icecore_object_classes;
DROP TABLE icecore_objects;
",
}];

impl SqlBackend {
    /// Brings the tables to the version of this program.
    pub(super) fn migrate(&mut self) -> Result<()> {
        let has_meta = self.first("{has_meta}", &[], |row| row.int(0))?.flatten();
        if has_meta == Some(1) && self.version()? == MIGRATIONS.len() {
            return Ok(());
        }
        self.migrate_to(MIGRATIONS.len())
    }

    /// Brings them to any version: 0 is none.
    ///
    /// Two programs that do this at once wait for each other. MySQL commits each statement
    /// that makes a table; a step that was cut off there is made from its start again, and
    /// what is there already is passed over.
    pub(super) fn migrate_to(&mut self, wanted: usize) -> Result<()> {
        let done = self.transaction(|backend| {
            backend.session.hold()?;
            backend.migrate_alone(wanted)
        });
        self.session.release();
        done
    }

    fn migrate_alone(&mut self, wanted: usize) -> Result<()> {
        let known = MIGRATIONS.len();
        self.script(
            "CREATE TABLE IF NOT EXISTS icecore_meta (name {name} NOT NULL PRIMARY KEY, value BIGINT NOT NULL){end}",
        )?;
        self.run("INSERT INTO icecore_meta (name, value) VALUES ('version', 0) {or_nothing}", &[])?;
        let version = self.version()?;
        if version > known {
            return Err(Error::new(
                ErrorKind::Schema,
                format!("the tables have version {version}, made by a newer icecore; this one knows {known}"),
            ));
        }
        let up = MIGRATIONS.iter().take(wanted).skip(version).map(|step| step.up);
        let down = MIGRATIONS.iter().take(version).skip(wanted).rev().map(|step| step.down);
        up.chain(down).try_for_each(|script| self.script(script))?;
        let value = Value::Int(wanted as i64);
        self.run("UPDATE icecore_meta SET value = ? WHERE name = 'version'", &[value]).map(drop)
    }

    fn script(&mut self, script: &str) -> Result<()> {
        let script = translate(script, self.session.dialect());
        self.session.script(&script)
    }

    fn version(&mut self) -> Result<usize> {
        let version =
            self.first("SELECT value FROM icecore_meta WHERE name = 'version'", &[], |row| there(row.int(0)?))?;
        Ok(usize::try_from(version.unwrap_or(0)).unwrap_or(usize::MAX))
    }
}
