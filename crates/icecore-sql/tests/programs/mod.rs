//! What the real programs dump is read back: each value by its table, column and row. What is
//! then written into the dump, in place of pieces of values, is what the servers load.
//!
//! SQLite's shell is asked where there is one; MariaDB and PostgreSQL where ICECORE_TEST_MYSQL and
//! ICECORE_TEST_POSTGRES say how they are reached. ICECORE_SQL_SEED and ICECORE_SQL_CASES make
//! longer runs.

mod generate;
mod mysql;
mod phpmyadmin;
mod postgres;
mod program;
mod seen;
mod sqlite;
