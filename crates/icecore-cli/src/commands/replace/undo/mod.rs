//! Undo files: the old values of a change of a database, and the way back.
//!
//! `record.rs` has the bytes of records, `undo_file.rs` the file, `payload.rs` what records say; `journal.rs` writes
//! them while a database changes, `restore.rs` puts old values back, record by record (`batch.rs`), and
//! `outcome.rs` counts what became of them.

mod batch;
mod journal;
mod outcome;
mod payload;
mod record;
mod restore;
mod undo_file;

pub use journal::Journal;
pub use restore::run;
