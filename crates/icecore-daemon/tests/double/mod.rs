//! A database that tests can make unavailable, available again, or slow.

use icecore_store::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Controls by which a test affects the database.
#[derive(Default)]
pub struct Controls {
    /// The database can't be reached.
    pub is_away: AtomicBool,
    /// Number of transactions that pushed.
    pub pushes: AtomicUsize,
    /// Number of transactions that recorded finished jobs.
    pub records: AtomicUsize,
    /// A test holds it to make pushes wait.
    pub gate: Mutex<()>,
    /// Number of pushes that arrived at the gate.
    pub arrived: AtomicUsize,
    /// Calls of methods panic.
    pub panics: AtomicBool,
}

pub struct Double {
    inner: Box<dyn Backend>,
    controls: Arc<Controls>,
}

#[allow(dead_code, reason = "this module is compiled into several programs, and not each of them calls it")]
pub fn opener(address: Address, controls: Arc<Controls>) -> Arc<dyn Fn() -> Result<Box<dyn Backend>> + Send + Sync> {
    Arc::new(move || {
        controls.check()?;
        Ok(Box::new(Double { inner: open(&address)?, controls: Arc::clone(&controls) }))
    })
}

impl Controls {
    fn check(&self) -> Result<()> {
        assert!(!self.panics.load(Ordering::SeqCst), "on purpose");
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(Error::new(ErrorKind::Away, "the database went away")),
            false => Ok(()),
        }
    }
}

macro_rules! pass {
    ($(fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) -> $returns:ty;)*) => {
        $(fn $name(&mut self $(, $argument: $type)*) -> $returns {
            self.controls.check()?;
            self.inner.$name($($argument),*)
        })*
    };
}

impl Objects for Double {
    pass! {
        fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>>;
        fn object(&mut self, id: Id) -> Result<Option<Object>>;
        fn object_named(&mut self, key: &str) -> Result<Option<Object>>;
        fn objects(&mut self, after: i64, max: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()>;
        fn walk(&mut self, after: i64, max: usize, filter: &ObjectFilter, each: EachLent<'_>) -> Result<()>;
        fn remove(&mut self, ids: &[Id], by: &str) -> Result<u64>;
        fn remove_expired(&mut self) -> Result<u64>;
        fn quarantine(&mut self, id: Id, problem: &str) -> Result<()>;
        fn index(&mut self, path: &str) -> Result<()>;
        fn indexes(&mut self) -> Result<Vec<String>>;
        fn object_stats(&mut self) -> Result<ObjectStats>;
    }
}

impl Jobs for Double {
    fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.controls.arrived.fetch_add(1, Ordering::SeqCst);
        drop(self.controls.gate.lock());
        self.controls.check()?;
        let pushed = self.inner.push(jobs)?;
        self.controls.pushes.fetch_add(1, Ordering::SeqCst);
        Ok(pushed)
    }

    fn ack_many(&mut self, acks: &[Ack]) -> Result<Vec<Result<()>>> {
        self.controls.check()?;
        let recorded = self.inner.ack_many(acks)?;
        self.controls.records.fetch_add(1, Ordering::SeqCst);
        Ok(recorded)
    }

    pass! {
        fn claim(&mut self, queue: &str, worker: &str, lease: Duration, max: usize) -> Result<Vec<Lease>>;
        fn push_and_claim(&mut self, job: &NewJob, worker: &str, lease: Duration) -> Result<Option<Lease>>;
        fn ack(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<()>;
        fn nack(&mut self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<State>;
        fn extend(&mut self, id: Id, token: &str, lease: Duration) -> Result<i64>;
        fn job(&mut self, id: Id) -> Result<Option<Job>>;
        fn jobs(&mut self, filter: &JobFilter, max: usize, each: Each<'_, Job>) -> Result<()>;
        fn redrive(&mut self, queue: &str, ids: Option<&[Id]>, by: &str) -> Result<u64>;
        fn replay(&mut self, id: Id, by: &str) -> Result<Id>;
        fn remove_ended_jobs(&mut self, before: i64) -> Result<u64>;
    }
}

impl Queues for Double {
    pass! {
        fn pause(&mut self, queue: &str, is_paused: bool, by: &str) -> Result<()>;
        fn configure(&mut self, queue: &str, settings: &QueueSettings) -> Result<()>;
        fn queues(&mut self) -> Result<Vec<QueueStatus>>;
        fn schema(&mut self, queue: &str) -> Result<Option<String>>;
    }
}

impl Schedules for Double {
    pass! {
        fn set_schedule(&mut self, schedule: &NewSchedule, by: &str) -> Result<i64>;
        fn schedules(&mut self) -> Result<Vec<Schedule>>;
        fn pause_schedule(&mut self, name: &str, is_paused: bool, by: &str) -> Result<()>;
        fn remove_schedule(&mut self, name: &str, by: &str) -> Result<bool>;
        fn fire(&mut self, max: usize) -> Result<Vec<Fired>>;
    }
}

impl Backend for Double {
    pass! {
        fn now(&mut self) -> Result<i64>;
    }
}
