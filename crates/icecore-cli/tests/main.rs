//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod advice;
mod analysis;
#[cfg(feature = "bench")]
mod bench;
mod blanks;
mod colours;
mod columns;
mod common;
mod csv_files;
mod encodings;
mod files;
mod growth;
mod hostile;
mod keys;
#[path = "../../icecore-store/tests/killing/mod.rs"]
mod killing;
mod load;
mod misleading;
mod mongo;
mod names;
mod nested;
mod pager;
mod pages;
mod parts;
#[path = "../../icecore-store/tests/common/patience.rs"]
mod patience;
mod progress;
mod pty;
#[path = "../../icecore-store/tests/common/random_numbers.rs"]
mod random_numbers;
mod replace;
mod replace_db;
mod replacing;
mod reports;
mod rescue;
mod rows;
mod rows_sql;
mod run;
mod served;
#[path = "../../icecore/tests/shapes/mod.rs"]
mod shapes;
mod store;
mod streams;
mod tables;
mod terminal;
mod texts;
mod toy;
mod transcripts;
