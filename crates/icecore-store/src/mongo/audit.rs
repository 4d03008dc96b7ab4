//! Audit entries. They record who did what.
//!
//! An entry is written before its action and completed after it, so that every action is recorded. An entry whose
//! `affected` is 0 was not completed.

use super::store_error::store_error;
use super::{MongoBackend, schema};
use crate::error::Result;
use mongodb::bson::{Bson, doc};

impl MongoBackend {
    /// Writes an entry for each subject, runs `body`, and completes the entries with the counts that `body` returns,
    /// one count for each subject.
    pub(super) fn with_audit_entries<T>(
        &self,
        actor: &str,
        action: &str,
        subjects: &[String],
        body: impl FnOnce(&Self) -> Result<(Vec<u64>, T)>,
    ) -> Result<T> {
        if subjects.is_empty() {
            return body(self).map(|(_, value)| value);
        }
        let first_sequence = self.reserve_sequences(schema::AUDIT, subjects.len())?.0;
        let time = self.read_time()?;
        let entry = |(subject, seq): (&String, i64)| {
            doc! { "seq": seq, "at": time, "who": actor, "what": action, "subject": subject, "affected": 0_i64 }
        };
        self.audit.insert_many(subjects.iter().zip(first_sequence..).map(entry)).run().map_err(store_error)?;
        let (counts, value) = body(self)?;
        let change = |(count, seq): (&u64, i64)| {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            doc! { "q": { "seq": seq }, "u": { "$set": { "affected": count } } }
        };
        self.change_each(&self.audit, counts.iter().zip(first_sequence..).map(change).collect())?;
        Ok(value)
    }

    /// Removes entries of actions that were not done after all.
    pub(super) fn remove_audit_entries(&self, action: &str, subjects: &[Bson]) -> Result<()> {
        if subjects.is_empty() {
            return Ok(());
        }
        let filter = doc! { "what": action, "subject": { "$in": subjects }, "affected": 0_i64 };
        self.audit.delete_many(filter).run().map(drop).map_err(store_error)
    }
}
