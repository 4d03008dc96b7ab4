//! Job counts of the queues, for clients that poll them.
//!
//! The time for counting grows with the number of jobs. So an answer is reused for ten times as long as it took. Then
//! the database spends at most a tenth of its time on counting.

use crate::database::Database;
use crate::failure::Failure;
use crate::threads::lock_ignoring_poison;
use icecore_store::QueueStatus;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time limit for counting.
const COUNT_TIMEOUT: Duration = Duration::from_secs(10);
/// Factor between the time that counting took and the time for which the answer is reused.
const REUSE_FACTOR: u32 = 10;
/// Answers that took at most this long are not reused.
const MIN_REUSED_TIME: Duration = Duration::from_millis(20);

/// The last answer, and the time until which it is reused.
#[derive(Default)]
pub struct Counts(Mutex<Option<(Instant, Arc<Vec<QueueStatus>>)>>);

impl Counts {
    /// Returns the counts. They may be slightly out of date.
    pub async fn load_recent_counts(&self, database: &Database) -> Result<Arc<Vec<QueueStatus>>, Failure> {
        let recent = lock_ignoring_poison(&self.0).clone().filter(|(until, _)| Instant::now() < *until);
        if let Some((_, queues)) = recent {
            // Each call checks that the database answers.
            database.read_with_timeout(COUNT_TIMEOUT, |backend| backend.now()).await?;
            return Ok(queues);
        }
        let counted = database.read_with_timeout(COUNT_TIMEOUT, |backend| {
            let start = Instant::now();
            Ok((backend.queues()?, start.elapsed()))
        });
        let (queues, took) = counted.await?;
        let queues = Arc::new(queues);
        if took > MIN_REUSED_TIME {
            *lock_ignoring_poison(&self.0) = Some((Instant::now() + took * REUSE_FACTOR, Arc::clone(&queues)));
        }
        Ok(queues)
    }
}
