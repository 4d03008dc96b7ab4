//! Dumps of the real programs are read back: each value with its table, column and row. Then pieces
//! of values are changed in the dump, and the servers load the changed values.
//!
//! SQLite's shell is used if it is installed; MariaDB and PostgreSQL if ICECORE_TEST_MYSQL and
//! ICECORE_TEST_POSTGRES have their addresses. ICECORE_SQL_SEED and ICECORE_SQL_CASES make longer
//! runs.

mod generate;
mod mysql;
mod phpmyadmin;
mod postgres;
mod program;
mod seen;
mod sqlite;
