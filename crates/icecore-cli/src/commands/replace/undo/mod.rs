//! Undo files: the old values of a change of a database, and their restoration.
//!
//! `record.rs` encodes records as bytes, `undo_file.rs` reads and writes the file, `payload.rs` defines the contents of
//! records; `journal.rs` writes them while a database changes, `restore.rs` restores old values, record by record
//! (`batch.rs`), and `outcome.rs` counts the results.

mod batch;
mod journal;
mod outcome;
mod payload;
mod record;
mod restore;
mod undo_file;

pub use journal::Journal;
pub use restore::run;
