//! Tables, and migrations between their versions.

use super::{Dialect, Session, SqlBackend, Value, fill_placeholders};
use crate::error::{Error, ErrorKind, Result};
use crate::rules::required;

/// A step from one version to the next, and back.
#[derive(Clone, Copy)]
struct Migration {
    up: &'static str,
    down: &'static str,
    /// Whether this database needs the step.
    is_needed_for: fn(&Dialect) -> bool,
}

/// Migrations. The version of the tables is the number of steps done.
static MIGRATIONS: &[Migration] = &[CREATE_TABLES, PARTIAL_INDEXES, JOB_CHAINS, QUEUE_LIMITS, SCHEDULES];

/// Objects with their classes and indexes, queues, jobs and audit entries.
const CREATE_TABLES: Migration = Migration {
    is_needed_for: |_| true,
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
};

/// Replaces indexes by partial indexes. A partial index contains only the rows for which it is used. A job that is
/// queued, and an object that does not expire, are not in any of these indexes.
const PARTIAL_INDEXES: Migration = Migration {
    is_needed_for: |dialect| dialect.has_narrow_indexes,
    up: "
DROP INDEX icecore_jobs_leases;
CREATE INDEX icecore_jobs_leases ON icecore_jobs (queue, lease_until) WHERE state = 'leased';
DROP INDEX icecore_jobs_finished;
CREATE INDEX icecore_jobs_finished ON icecore_jobs (finished_at) WHERE finished_at IS NOT NULL;
DROP INDEX icecore_objects_expires;
CREATE INDEX icecore_objects_expires ON icecore_objects (expires_at) WHERE expires_at IS NOT NULL;
{narrow_live}
",
    down: "
{wide_live}
DROP INDEX icecore_objects_expires;
CREATE INDEX icecore_objects_expires ON icecore_objects (expires_at);
DROP INDEX icecore_jobs_finished;
CREATE INDEX icecore_jobs_finished ON icecore_jobs (finished_at);
DROP INDEX icecore_jobs_leases;
CREATE INDEX icecore_jobs_leases ON icecore_jobs (state, lease_until);
",
};

/// Jobs that wait for another one, and the mark of jobs that others wait for.
const JOB_CHAINS: Migration = Migration {
    is_needed_for: |_| true,
    up: "
ALTER TABLE icecore_jobs ADD COLUMN after_id {name};
ALTER TABLE icecore_jobs ADD COLUMN followed BIGINT;
CREATE INDEX icecore_jobs_after ON icecore_jobs (after_id){of_waiting};
",
    down: "
UPDATE icecore_jobs SET state = 'dead', live_key = NULL, finished_at = {now}, error = 'it waited for another job, \
which this version does not know' WHERE state = 'waiting';
{drop_after};
ALTER TABLE icecore_jobs DROP COLUMN followed;
ALTER TABLE icecore_jobs DROP COLUMN after_id;
",
};

/// Adds the limits of queues. They are settings, and how much of the rate is used.
const QUEUE_LIMITS: Migration = Migration {
    is_needed_for: |_| true,
    up: "
ALTER TABLE icecore_queues ADD COLUMN concurrency BIGINT;
ALTER TABLE icecore_queues ADD COLUMN rate_count BIGINT;
ALTER TABLE icecore_queues ADD COLUMN rate_per BIGINT;
ALTER TABLE icecore_queues ADD COLUMN rate_spent {text};
",
    down: "
ALTER TABLE icecore_queues DROP COLUMN rate_spent;
ALTER TABLE icecore_queues DROP COLUMN rate_per;
ALTER TABLE icecore_queues DROP COLUMN rate_count;
ALTER TABLE icecore_queues DROP COLUMN concurrency;
",
};

/// Schedules.
const SCHEDULES: Migration = Migration {
    is_needed_for: |_| true,
    up: "
CREATE TABLE icecore_schedules (
    name {name} NOT NULL PRIMARY KEY,
    queue {name} NOT NULL,
    timing {name} NOT NULL,
    zone {name},
    next_at BIGINT,
    last_at BIGINT,
    last_id {name},
    paused_at BIGINT,
    priority BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT,
    alone BIGINT NOT NULL DEFAULT 0,
    format {name},
    bytes {bytes} NOT NULL,
    problem {text}
){end};
CREATE INDEX icecore_schedules_next ON icecore_schedules (next_at);
",
    down: "
DROP TABLE icecore_schedules;
",
};

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Updates the tables to the version of this program.
    pub(super) fn migrate(&mut self) -> Result<()> {
        let has_meta = self.query_first("{has_meta}", &[], |row| row.read_int(0))?.flatten();
        if has_meta == Some(1) && self.read_version()? == MIGRATIONS.len() {
            return Ok(());
        }
        self.migrate_to(MIGRATIONS.len())
    }

    /// Checks that the tables have the version of this program. Does not change them.
    pub(super) fn check_version(&mut self) -> Result<()> {
        let has_meta = self.query_first("{has_meta}", &[], |row| row.read_int(0))?.flatten();
        let version = if has_meta == Some(1) { self.read_version()? } else { 0 };
        if version == MIGRATIONS.len() {
            return Ok(());
        }
        let supported = MIGRATIONS.len();
        let text = format!(
            "the tables have version {version}, this program supports {supported}: open the store once to migrate them"
        );
        Err(Error::new(ErrorKind::Schema, text))
    }

    /// Migrates the tables to any version. Version 0 does not have tables.
    ///
    /// Two programs that do this at once wait for each other. MySQL commits each statement that creates a table. So
    /// an interrupted step is repeated there from its start, and skips what already exists.
    pub(super) fn migrate_to(&mut self, target: usize) -> Result<()> {
        self.migrate_by_steps(MIGRATIONS, target)
    }

    fn migrate_by_steps(&mut self, steps: &[Migration], target: usize) -> Result<()> {
        let result = self.run_in_transaction(|backend| {
            backend.session.lock_migrations()?;
            backend.migrate_locked(steps, target)
        });
        self.session.unlock_migrations();
        result
    }

    /// Migrates the tables to version `target`, up or down. The caller holds the lock for migrations.
    fn migrate_locked(&mut self, steps: &[Migration], target: usize) -> Result<()> {
        let supported = steps.len();
        self.run_script(
            "CREATE TABLE IF NOT EXISTS icecore_meta (name {name} NOT NULL PRIMARY KEY, value BIGINT NOT NULL){end}",
        )?;
        self.run_statement("INSERT INTO icecore_meta (name, value) VALUES ('version', 0) {or_nothing}", &[])?;
        let version = self.read_version()?;
        if version > supported {
            return Err(Error::new(
                ErrorKind::Schema,
                format!(
                    "the tables have version {version}, which a newer icecore created; this one supports {supported}"
                ),
            ));
        }
        let dialect = self.session.dialect();
        let is_needed_for = |step: &&Migration| (step.is_needed_for)(dialect);
        let up = steps.iter().take(target).skip(version).filter(is_needed_for).map(|step| step.up);
        let down = steps.iter().take(version).skip(target).rev().filter(is_needed_for).map(|step| step.down);
        up.chain(down).try_for_each(|script| self.run_script(script))?;
        let value = Value::Int(target as i64);
        self.run_statement("UPDATE icecore_meta SET value = ? WHERE name = 'version'", &[value]).map(drop)
    }

    fn run_script(&mut self, script: &str) -> Result<()> {
        let script = fill_placeholders(script, self.session.dialect());
        self.session.run_script(&script)
    }

    fn read_version(&mut self) -> Result<usize> {
        let version = self.query_first("SELECT value FROM icecore_meta WHERE name = 'version'", &[], |row| {
            required(row.read_int(0)?)
        })?;
        Ok(usize::try_from(version.unwrap_or(0)).unwrap_or(usize::MAX))
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::backend::Flow;
    use crate::object::ObjectFilter;
    use crate::{Address, Jobs, Objects, Queues, describe};

    fn database_address(folder: &tempfile::TempDir) -> Address {
        format!("sqlite:{}", folder.path().join("a.db").display()).parse().expect("an address")
    }

    fn open_backend(address: &Address) -> Result<SqlBackend> {
        SqlBackend::open(crate::driver::connect(address)?)
    }

    /// Returns all tables and indexes, as the database stores them.
    fn list_tables(backend: &mut SqlBackend) -> Vec<String> {
        let sql =
            "SELECT name || ': ' || COALESCE(sql, '') FROM sqlite_master WHERE name LIKE '%icecore%' ORDER BY name";
        backend.query_all(sql, &[], |row| required(row.read_text(0)?)).expect("the tables")
    }

    fn fill_tables(backend: &mut SqlBackend) {
        backend.index("$").expect("an index");
        backend.put(&[describe::describe_object(b"O:1:\"A\":0:{}".to_vec(), None)]).expect("put");
        backend.push(&[describe::describe_job("mail", b"1".to_vec(), None)]).expect("pushed");
        backend.pause("mail", true, "ann").expect("paused");
    }

    /// Returns the number of objects in the statistics, that of objects and that of jobs.
    fn count_items(backend: &mut SqlBackend) -> (u64, usize, usize) {
        let (mut objects, mut jobs) = (0, 0);
        let mut count_object = |_| {
            objects += 1;
            Ok(Flow::Continue)
        };
        backend.objects(0, 10, &ObjectFilter::default(), &mut count_object).expect("objects");
        let mut count_job = |_| {
            jobs += 1;
            Ok(Flow::Continue)
        };
        backend.jobs(&crate::JobFilter::default(), 10, &mut count_job).expect("jobs");
        (backend.object_stats().expect("stats").count, objects, jobs)
    }

    #[test]
    fn tables_are_migrated_forward_and_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let address = database_address(&folder);
        let mut backend = open_backend(&address).expect("opened");
        let newest = list_tables(&mut backend);
        for _ in 0..2 {
            fill_tables(&mut backend);
            assert_eq!(count_items(&mut backend), (1, 1, 1));
            // Each step separately, up and down.
            for version in (0..MIGRATIONS.len()).rev().chain(1..=MIGRATIONS.len()) {
                backend.migrate_to(version).expect("migrated");
                assert_eq!(backend.read_version().expect("a version"), version);
            }
            assert_eq!(list_tables(&mut backend), newest);
            assert_eq!(count_items(&mut backend), (0, 0, 0), "the first version begins empty");
        }
        // And all steps at once.
        fill_tables(&mut backend);
        backend.migrate_to(0).expect("migrated");
        assert!(list_tables(&mut backend).iter().all(|table| table.contains("icecore_meta")), "nothing else is left");
        backend.migrate_to(MIGRATIONS.len()).expect("migrated");
        assert_eq!(list_tables(&mut backend), newest);
        backend.migrate_to(MIGRATIONS.len()).expect("nothing to do");
        fill_tables(&mut backend);
        drop(backend);
        let mut reopened = open_backend(&address).expect("opened again");
        assert_eq!(count_items(&mut reopened), (1, 1, 1), "what is there stays");
    }

    #[test]
    fn newer_tables_are_refused_and_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let address = database_address(&folder);
        let mut first = open_backend(&address).expect("opened");
        fill_tables(&mut first);
        let before = list_tables(&mut first);
        for version in [MIGRATIONS.len() as i64 + 1, i64::MAX, -1, i64::MIN] {
            let sql = "UPDATE icecore_meta SET value = ? WHERE name = 'version'";
            first.run_statement(sql, &[Value::Int(version)]).expect("changed");
            for _ in 0..2 {
                let error = open_backend(&address).err().expect("refused");
                assert_eq!(error.kind(), ErrorKind::Schema, "{version}: {error}");
            }
            assert_eq!(list_tables(&mut first), before);
        }
        first
            .run_statement("UPDATE icecore_meta SET value = ?", &[Value::Int(MIGRATIONS.len() as i64)])
            .expect("changed");
        assert_eq!(count_items(&mut open_backend(&address).expect("opened")), (1, 1, 1));
    }

    /// One program migrates the tables while another opens them.
    #[test]
    fn programs_that_migrate_at_the_same_time_agree() {
        let folder = tempfile::tempdir().expect("a folder");
        let address = database_address(&folder);
        for _ in 0..10 {
            open_backend(&address).expect("opened").migrate_to(0).expect("emptied");
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let mut backend = open_backend(&address).expect("opened");
                        assert_eq!(backend.read_version().expect("a version"), MIGRATIONS.len());
                        assert_eq!(backend.object_stats().expect("stats").count, 0);
                    });
                }
            });
        }
    }

    #[test]
    fn a_failed_migration_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let address = database_address(&folder);
        let mut first = open_backend(&address).expect("opened");
        first.migrate_to(0).expect("emptied");
        // A table of another program blocks the last step.
        first.session.run_script("CREATE TABLE icecore_audit (a INT)").expect("made");
        assert!(open_backend(&address).is_err());
        assert_eq!(first.read_version().expect("a version"), 0);
        let existing = list_tables(&mut first);
        assert!(!existing.iter().any(|table| table.starts_with("icecore_jobs")), "{existing:?}");
        first.session.run_script("DROP TABLE icecore_audit").expect("dropped");
        fill_tables(&mut open_backend(&address).expect("opened"));
    }

    /// A step that a later version may have. It adds columns to tables with rows.
    static NEXT_MIGRATION: Migration = Migration {
        is_needed_for: |_| true,
        up: "
ALTER TABLE icecore_objects ADD COLUMN owner {name};
ALTER TABLE icecore_jobs ADD COLUMN cost BIGINT NOT NULL DEFAULT 1;
CREATE TABLE icecore_owners (
    name {name} NOT NULL PRIMARY KEY
){end};
INSERT INTO icecore_owners (name) SELECT class FROM icecore_object_classes;
UPDATE icecore_objects SET owner = class;
",
        down: "
DROP TABLE icecore_owners;
ALTER TABLE icecore_jobs DROP COLUMN cost;
ALTER TABLE icecore_objects DROP COLUMN owner;
",
    };

    /// Returns the rows of all tables that exist in every version.
    fn read_rows(address: &Address) -> Vec<Vec<crate::common::TextRow>> {
        let tables = ["objects", "object_classes", "indexes", "index_values", "queues", "jobs", "audit"];
        let select_all = |table| format!("SELECT * FROM icecore_{table} ORDER BY 1, 2");
        tables.iter().map(|table| crate::common::query_raw(address, &select_all(table)).expect("rows")).collect()
    }

    /// Runs on all available databases; for servers use `scripts/servers.sh run cargo test -p icecore-store --features
    /// postgres,mysql --lib`.
    #[test]
    fn rows_are_migrated_to_the_next_version_and_back() {
        let steps: Vec<Migration> = MIGRATIONS.iter().copied().chain([NEXT_MIGRATION]).collect();
        for (name, new_database) in crate::common::sql_backends() {
            let address = new_database();
            let mut backend = open_backend(&address).expect("opened");
            fill_tables(&mut backend);
            let before = read_rows(&address);
            for _ in 0..2 {
                backend.migrate_by_steps(&steps, steps.len()).expect("forward");
                assert_eq!(backend.read_version().expect("a version"), steps.len(), "{name}");
                let owners = crate::common::query_raw(&address, "SELECT name FROM icecore_owners").expect("rows");
                assert_eq!(owners, [[Some("A".to_owned())]], "{name}");
                // A program that opened the tables earlier continues. A program of the same version that opens them
                // now is refused.
                assert_eq!(count_items(&mut backend), (1, 1, 1), "{name}");
                let refused = open_backend(&address).err().expect("refused");
                assert_eq!(refused.kind(), ErrorKind::Schema, "{name}: {refused}");
                backend.migrate_by_steps(&steps, MIGRATIONS.len()).expect("back");
                assert_eq!(read_rows(&address), before, "{name}");
                assert_eq!(count_items(&mut open_backend(&address).expect("opened")), (1, 1, 1), "{name}");
            }
            // Rows that were added in the next version stay too.
            backend.migrate_by_steps(&steps, steps.len()).expect("forward");
            backend.put(&[describe::describe_object(b"[1]".to_vec(), None)]).expect("put");
            backend.push(&[describe::describe_job("mail", b"2".to_vec(), None)]).expect("pushed");
            backend.migrate_by_steps(&steps, MIGRATIONS.len()).expect("back");
            assert_eq!(count_items(&mut backend), (2, 2, 2), "{name}");
        }
    }
}
