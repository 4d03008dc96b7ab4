//! The words in which databases differ.

mod values;

pub use values::{Column, Form};

/// Databases whose names, types and conditions are written alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Sqlite,
    Postgres,
    /// MariaDB, too.
    Mysql,
}

/// Words that are put into the statements where `{name}` stands.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) family: Family,
    /// The type of a number that counts by itself, as the primary key.
    pub(crate) serial: &'static str,
    /// The type of short texts that are compared byte by byte, of up to 255 bytes.
    pub(crate) name: &'static str,
    /// The type of long texts.
    pub(crate) text: &'static str,
    /// The type of bytes.
    pub(crate) bytes: &'static str,
    /// What numbers are cast to: sums, and values of which only `? IS NULL` is asked, whose
    /// type a database could not know.
    pub(crate) integer: &'static str,
    /// The same of texts.
    pub(crate) string: &'static str,
    /// Milliseconds since 1970, the same everywhere in a statement, so that an index is
    /// searched by it.
    pub(crate) now: &'static str,
    /// The time at this moment, which may be later than `now`: what a statement found may have
    /// been done by others since it began.
    pub(crate) clock: &'static str,
    /// Behind a choice of rows that are to be changed: others' are passed over.
    pub(crate) skip_locked: &'static str,
    /// Before a choice of values, one of which is to be equal: a list that is made once.
    pub(crate) any: &'static str,
    /// Behind that choice.
    pub(crate) any_end: &'static str,
    /// Behind a choice of a row that must not change before the transaction ends.
    pub(crate) share: &'static str,
    /// Behind a choice of rows: as they are now, also where the transaction sees all others as
    /// they were at its start.
    pub(crate) as_now: &'static str,
    /// Behind `INSERT` and its values: nothing happens, if there is such a row.
    pub(crate) or_nothing: &'static str,
    /// What stands behind a definition of a table.
    pub(crate) table_end: &'static str,
    /// Whether there is a table `icecore_meta`: 1 or 0.
    pub(crate) has_meta: &'static str,
    /// Whether `UPDATE` can tell the rows that it changed.
    pub(crate) has_returning: bool,
    /// Whether an index may be one of some rows only.
    pub(crate) has_narrow_indexes: bool,
    /// Statements that have only unique keys of jobs that are not done in their index, where a
    /// constraint can be taken off a table.
    pub(crate) narrow_live: &'static str,
    /// And the way back.
    pub(crate) wide_live: &'static str,
    /// Behind an index that is asked for jobs that wait only.
    pub(crate) of_waiting: &'static str,
    /// Drops that index.
    pub(crate) drop_after: &'static str,
    /// Behind a choice of a row that nobody else may change, or hold in this way, before the
    /// transaction ends.
    pub(crate) hold: &'static str,
    /// How many rows go to the database at once.
    pub(crate) many: Many,
}

/// How many rows go to a database at once, so that there are few statements that it has to
/// know.
#[derive(Debug)]
pub(crate) enum Many {
    /// Any number, as a list for each column.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "no other database has lists"))]
    Lists,
    /// One of these numbers, the largest first.
    Rows(&'static [usize]),
}

#[cfg(feature = "sqlite")]
pub(crate) static SQLITE: Dialect = Dialect {
    family: Family::Sqlite,
    serial: "INTEGER PRIMARY KEY AUTOINCREMENT",
    name: "TEXT",
    text: "TEXT",
    bytes: "BLOB",
    integer: "INTEGER",
    string: "TEXT",
    now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    // The lock is there when the time is asked for.
    clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    skip_locked: "",
    any: "IN ",
    any_end: "",
    share: "",
    as_now: "",
    or_nothing: "ON CONFLICT DO NOTHING",
    table_end: "",
    has_meta: "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'icecore_meta'",
    has_returning: true,
    has_narrow_indexes: true,
    narrow_live: "",
    wide_live: "",
    of_waiting: " WHERE state = 'waiting'",
    drop_after: "DROP INDEX icecore_jobs_after",
    hold: "",
    // There is no way to it: a statement more costs nothing.
    many: Many::Rows(&[1]),
};

#[cfg(feature = "postgres")]
pub(crate) static POSTGRES: Dialect = Dialect {
    family: Family::Postgres,
    serial: "BIGSERIAL PRIMARY KEY",
    name: "TEXT COLLATE \"C\"",
    text: "TEXT",
    bytes: "BYTEA",
    integer: "BIGINT",
    string: "TEXT",
    // Not clock_timestamp(), which may differ from row to row: no index is searched by it.
    now: "CAST(FLOOR(EXTRACT(EPOCH FROM statement_timestamp()) * 1000) AS BIGINT)",
    clock: "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)",
    skip_locked: "FOR UPDATE SKIP LOCKED",
    // With IN, a plan that was made while the table was small may read all of a large one.
    any: "= ANY(ARRAY",
    any_end: ")",
    share: "FOR SHARE",
    // There the shared row says that it changed meanwhile.
    as_now: "",
    or_nothing: "ON CONFLICT DO NOTHING",
    table_end: "",
    has_meta: "SELECT COUNT(to_regclass('icecore_meta'))",
    has_returning: true,
    has_narrow_indexes: true,
    narrow_live: "ALTER TABLE icecore_jobs DROP CONSTRAINT icecore_jobs_queue_live_key_key; \
CREATE UNIQUE INDEX icecore_jobs_live ON icecore_jobs (queue, live_key) WHERE live_key IS NOT NULL;",
    wide_live: "DROP INDEX icecore_jobs_live; ALTER TABLE icecore_jobs ADD UNIQUE (queue, live_key);",
    of_waiting: " WHERE state = 'waiting'",
    drop_after: "DROP INDEX icecore_jobs_after",
    hold: "FOR UPDATE",
    many: Many::Lists,
};

/// MariaDB. MySQL has another name for texts that are compared with their trailing blanks.
#[cfg(feature = "mysql")]
pub(crate) static MARIADB: Dialect = Dialect {
    family: Family::Mysql,
    serial: "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
    name: "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    text: "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    bytes: "LONGBLOB",
    integer: "SIGNED",
    string: "CHAR",
    // Not UNIX_TIMESTAMP(NOW(3)), which is wrong for an hour where a connection has a summer time.
    now: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
    // Of this program's own connections, whose times are UTC.
    clock: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(3)) DIV 1000",
    skip_locked: "FOR UPDATE SKIP LOCKED",
    any: "IN ",
    any_end: "",
    share: "LOCK IN SHARE MODE",
    as_now: "LOCK IN SHARE MODE",
    // The driver sees it. IGNORE would take texts that are too long as well, and the count of
    // ON DUPLICATE KEY UPDATE does not tell an old row from a new one.
    or_nothing: OR_NOTHING,
    table_end: " ENGINE = InnoDB ROW_FORMAT = DYNAMIC",
    has_meta: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() \
               AND table_name = 'icecore_meta'",
    has_returning: false,
    has_narrow_indexes: false,
    narrow_live: "",
    wide_live: "",
    of_waiting: "",
    drop_after: "DROP INDEX icecore_jobs_after ON icecore_jobs",
    hold: "FOR UPDATE",
    many: Many::Rows(&[64, 8, 1]),
};

#[cfg(feature = "mysql")]
pub(crate) static MYSQL: Dialect = Dialect {
    family: Family::Mysql,
    name: "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
    text: "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
    serial: MARIADB.serial,
    bytes: MARIADB.bytes,
    integer: MARIADB.integer,
    string: MARIADB.string,
    now: MARIADB.now,
    clock: MARIADB.clock,
    skip_locked: MARIADB.skip_locked,
    any: MARIADB.any,
    any_end: MARIADB.any_end,
    share: MARIADB.share,
    as_now: MARIADB.as_now,
    or_nothing: MARIADB.or_nothing,
    table_end: MARIADB.table_end,
    has_meta: MARIADB.has_meta,
    has_returning: false,
    has_narrow_indexes: false,
    narrow_live: "",
    wide_live: "",
    of_waiting: "",
    drop_after: "DROP INDEX icecore_jobs_after ON icecore_jobs",
    hold: "FOR UPDATE",
    many: Many::Rows(&[64, 8, 1]),
};

/// A remark by which the driver of MySQL knows statements that may insert nothing.
#[cfg(feature = "mysql")]
pub(crate) const OR_NOTHING: &str = "/* or nothing */";

/// Puts a dialect's words into a statement.
pub(crate) fn translate(sql: &str, dialect: &Dialect) -> String {
    let words = [
        ("{serial}", dialect.serial),
        ("{name}", dialect.name),
        ("{text}", dialect.text),
        ("{bytes}", dialect.bytes),
        ("{integer}", dialect.integer),
        ("{string}", dialect.string),
        ("{now}", dialect.now),
        ("{clock}", dialect.clock),
        ("{skip_locked}", dialect.skip_locked),
        ("{any}", dialect.any),
        ("{any_end}", dialect.any_end),
        ("{share}", dialect.share),
        ("{as_now}", dialect.as_now),
        ("{or_nothing}", dialect.or_nothing),
        ("{end}", dialect.table_end),
        ("{has_meta}", dialect.has_meta),
        ("{narrow_live}", dialect.narrow_live),
        ("{wide_live}", dialect.wide_live),
        ("{of_waiting}", dialect.of_waiting),
        ("{drop_after}", dialect.drop_after),
        ("{hold}", dialect.hold),
    ];
    words.iter().fold(sql.to_owned(), |sql, (place, word)| sql.replace(place, word))
}

/// Repeats what stands in `{each …}`, with commas between.
pub(crate) fn repeated(sql: &str, count: usize) -> String {
    let Some((before, rest)) = sql.split_once("{each ") else { return sql.to_owned() };
    let (one, behind) = rest.split_once('}').unwrap_or((rest, ""));
    format!("{before}{}{behind}", vec![one; count].join(", "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_repeated() {
        assert_eq!(super::repeated("SELECT 1", 3), "SELECT 1");
        assert_eq!(super::repeated("VALUES {each (?, ?)} END", 2), "VALUES (?, ?), (?, ?) END");
    }
}
