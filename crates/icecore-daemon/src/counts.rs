//! What is in the queues, for those who ask again and again.
//!
//! To count takes the longer the more jobs there are. An answer serves once more for ten times
//! as long as it took, so that no more than a small part of the time goes into counting.

use crate::database::Database;
use crate::failure::Failure;
use crate::threads::lock;
use icecore_store::QueueStatus;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long it may take to count.
const PATIENCE: Duration = Duration::from_secs(10);
/// For how many times as long the answer serves.
const TIMES: u32 = 10;
/// What took no longer than this is done again each time.
const QUICK: Duration = Duration::from_millis(20);

/// The last answer, and until when it serves.
#[derive(Default)]
pub struct Counts(Mutex<Option<(Instant, Arc<Vec<QueueStatus>>)>>);

impl Counts {
    /// What is in the queues, or was a moment ago.
    pub async fn of(&self, database: &Database) -> Result<Arc<Vec<QueueStatus>>, Failure> {
        let known = lock(&self.0).clone().filter(|(until, _)| Instant::now() < *until);
        if let Some((_, queues)) = known {
            // Whether the database is there is asked each time.
            database.look(PATIENCE, |backend| backend.now()).await?;
            return Ok(queues);
        }
        let counted = database.look(PATIENCE, |backend| {
            let began = Instant::now();
            Ok((backend.queues()?, began.elapsed()))
        });
        let (queues, took) = counted.await?;
        let queues = Arc::new(queues);
        if took > QUICK {
            *lock(&self.0) = Some((Instant::now() + took * TIMES, Arc::clone(&queues)));
        }
        Ok(queues)
    }
}
