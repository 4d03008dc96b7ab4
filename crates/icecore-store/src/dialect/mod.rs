//! SQL fragments that differ between databases.

mod values;

pub use values::{Column, Form};

/// A group of databases that spell names, types and conditions in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Sqlite,
    Postgres,
    /// Includes MariaDB.
    Mysql,
}

/// SQL fragments that replace `{name}` placeholders in statements.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) family: Family,
    /// Type of a number that the database increments by itself, as the primary key.
    pub(crate) serial: &'static str,
    /// Type of short texts of up to 255 bytes, compared byte by byte.
    pub(crate) name: &'static str,
    /// Type of long texts.
    pub(crate) text: &'static str,
    /// Type of bytes.
    pub(crate) bytes: &'static str,
    /// Type that numbers are cast to. The cast is necessary for sums, and for values that occur only in `? IS NULL`,
    /// because a database can't infer their type.
    pub(crate) integer: &'static str,
    /// Type that texts are cast to, for the same reason.
    pub(crate) string: &'static str,
    /// Current time in milliseconds since 1970. It is constant within a statement, so that an index can be searched
    /// by it.
    pub(crate) now: &'static str,
    /// Time at this moment. It may be later than `now`, because the statement may have waited for another client that
    /// changed a row.
    pub(crate) clock: &'static str,
    /// Suffix of a SELECT of rows that are to be changed. With it, the SELECT skips rows that others have locked.
    pub(crate) skip_locked: &'static str,
    /// Comparison of a value with the results of a subquery. It is `= ANY(ARRAY` or `IN `. The database computes the
    /// subquery once.
    pub(crate) any: &'static str,
    /// Suffix of the subquery after `any`.
    pub(crate) any_end: &'static str,
    /// Suffix of a SELECT that locks a row against changes until the transaction ends. Others may lock it in this way
    /// too.
    pub(crate) share: &'static str,
    /// Suffix of a SELECT that reads the current rows, even if the transaction otherwise sees the rows as they were
    /// at its start.
    pub(crate) as_now: &'static str,
    /// Suffix of an `INSERT` that does nothing if the row exists.
    pub(crate) or_nothing: &'static str,
    /// Suffix of a table definition.
    pub(crate) table_end: &'static str,
    /// Query that returns 1 if the table `icecore_meta` exists, and 0 if it does not.
    pub(crate) has_meta: &'static str,
    /// Whether `UPDATE` can return the rows that it changed.
    pub(crate) has_returning: bool,
    /// Whether an index can cover only some rows.
    pub(crate) has_narrow_indexes: bool,
    /// Statements that limit the index of unique keys to unfinished jobs, if the database can drop a constraint from
    /// a table.
    pub(crate) narrow_live: &'static str,
    /// Statements that undo `narrow_live`.
    pub(crate) wide_live: &'static str,
    /// Suffix of an index that is used only for waiting jobs.
    pub(crate) of_waiting: &'static str,
    /// Statement that drops the index of waiting jobs.
    pub(crate) drop_after: &'static str,
    /// Suffix of a SELECT that locks a row until the transaction ends. Until then, no other client can change the row
    /// or lock it in any way.
    pub(crate) hold: &'static str,
    /// How many rows a statement writes.
    pub(crate) many: RowBatching,
}

/// How many rows a statement writes. There are few sizes, so that few statements have to be prepared.
#[derive(Debug)]
pub(crate) enum RowBatching {
    /// Any number of rows. The statement gets a list of values for each column.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "no other database has lists"))]
    Lists,
    /// One of these numbers of rows, largest first.
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
    // The statement already has the lock of the database when it reads the time, so it does not wait after that.
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
    // The database runs in this process, so further statements do not need a round trip.
    many: RowBatching::Rows(&[1]),
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
    // clock_timestamp() is not suitable here, because it may differ from row to row. PostgreSQL can't search an index
    // for such a value.
    now: "CAST(FLOOR(EXTRACT(EPOCH FROM statement_timestamp()) * 1000) AS BIGINT)",
    clock: "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)",
    skip_locked: "FOR UPDATE SKIP LOCKED",
    // With IN, PostgreSQL may keep a plan from the time when the table was small, and scan the whole table later.
    any: "= ANY(ARRAY",
    any_end: ")",
    share: "FOR SHARE",
    // A suffix is not needed, because a row that is read with `share` shows whether it has changed in the meantime.
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
    many: RowBatching::Lists,
};

/// MariaDB. MySQL has another collation name for texts that are compared including trailing blanks.
#[cfg(feature = "mysql")]
pub(crate) static MARIADB: Dialect = Dialect {
    family: Family::Mysql,
    serial: "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
    name: "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    text: "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
    bytes: "LONGBLOB",
    integer: "SIGNED",
    string: "CHAR",
    // UNIX_TIMESTAMP(NOW(3)) is not suitable, because it is wrong for one hour in each year if the time zone of the
    // connection has daylight saving time.
    now: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
    // SYSDATE uses the time zone of the connection. This is UTC, because this program sets it for its own
    // connections.
    clock: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(3)) DIV 1000",
    skip_locked: "FOR UPDATE SKIP LOCKED",
    any: "IN ",
    any_end: "",
    share: "LOCK IN SHARE MODE",
    as_now: "LOCK IN SHARE MODE",
    // The driver recognizes this comment, and ignores the error for a duplicate. IGNORE would also accept texts that
    // are too long. The count of ON DUPLICATE KEY UPDATE does not distinguish an old row from a new one.
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
    many: RowBatching::Rows(&[64, 8, 1]),
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
    many: RowBatching::Rows(&[64, 8, 1]),
};

/// Comment at the end of a statement. It makes the MySQL driver treat an existing row as success.
#[cfg(feature = "mysql")]
pub(crate) const OR_NOTHING: &str = "/* or nothing */";

/// Replaces the placeholders of a statement by the fragments of a dialect.
pub(crate) fn fill_placeholders(sql: &str, dialect: &Dialect) -> String {
    let fragments = [
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
    fragments.iter().fold(sql.to_owned(), |sql, (placeholder, fragment)| sql.replace(placeholder, fragment))
}

/// Repeats the content of `{each …}`, separated by commas.
pub(crate) fn repeat_each_part(sql: &str, count: usize) -> String {
    let Some((before, rest)) = sql.split_once("{each ") else { return sql.to_owned() };
    let (one, after) = rest.split_once('}').unwrap_or((rest, ""));
    format!("{before}{}{after}", vec![one; count].join(", "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_part_for_each_row_is_repeated() {
        assert_eq!(super::repeat_each_part("SELECT 1", 3), "SELECT 1");
        assert_eq!(super::repeat_each_part("VALUES {each (?, ?)} END", 2), "VALUES (?, ?), (?, ?) END");
    }
}
