//! Threads that store pushed jobs and new objects. All requests that wait are stored in one transaction. A second
//! instance of [`Committer`] records finished jobs.
//!
//! The expensive part of a transaction is making it durable, not its content. While one transaction becomes durable,
//! further requests gather. They share the next transaction, so all of them together cost about as much as one.

use crate::database::{Connection, WriterLock};
use crate::failure::Failure;
use crate::group_queue::{Bounds, CurrentGroup, GroupQueue};
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::threads::{WorkError, lock_ignoring_poison, wait_for_answer, wait_until_ended};
use icecore_store::{Ack, Error, ErrorKind, Id, NewJob, NewObject, Pushed, QueueSchema, Result};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Maximum number of writes in one transaction.
const MAX_GROUP_WRITES: usize = 512;
/// Number of transactions that may be committing at the same time.
const WRITER_THREADS: usize = 2;
/// Number of bytes at which a transaction is full. The write that reaches this number is still a part of it.
const MAX_GROUP_BYTES: usize = 8 << 20;

/// Result of storing a job.
#[derive(Debug)]
pub enum StoreOutcome {
    /// It is stored.
    Stored(Pushed),
    /// The current schema of the queue differs from the one that the job was checked against. Contains the current
    /// schema, and the job, so that the caller can check it again.
    OtherSchema(Option<String>, Box<NewJob>),
}

/// A job that is to be stored.
struct PendingPush {
    job: NewJob,
    /// The schema that the job was checked against; `None` if its queue had none.
    schema: Option<Arc<str>>,
    reply: oneshot::Sender<Result<StoreOutcome>>,
}

/// An object that is to be stored.
struct PendingPut {
    object: NewObject,
    /// How long the object is kept; `None` if it does not expire.
    keep: Option<Duration>,
    reply: oneshot::Sender<Result<Id>>,
}

/// A finished job.
struct PendingAck {
    ack: Ack,
    reply: oneshot::Sender<Result<()>>,
}

enum PendingWrite {
    Push(Box<PendingPush>),
    Put(Box<PendingPut>),
    Ack(Box<PendingAck>),
}

impl PendingWrite {
    fn count_bytes(&self) -> usize {
        let (bytes, description) = match self {
            PendingWrite::Push(push) => (&push.job.bytes, &push.job.description),
            PendingWrite::Put(put) => (&put.object.bytes, &put.object.description),
            PendingWrite::Ack(pending) => return pending.ack.result.as_ref().map_or(0, Vec::len),
        };
        bytes.len() + description.json.as_ref().map_or(0, String::len)
    }

    fn has_waiting_client(&self) -> bool {
        match self {
            PendingWrite::Push(push) => !push.reply.is_closed(),
            PendingWrite::Put(put) => !put.reply.is_closed(),
            PendingWrite::Ack(pending) => !pending.reply.is_closed(),
        }
    }
}

/// A queue of writes, and the threads that store them.
pub struct Committer {
    writes: Arc<GroupQueue<PendingWrite>>,
    /// Disconnected when the last thread has ended, because each thread owns a sender.
    ended: Mutex<Receiver<()>>,
    timeout: Duration,
}

impl Committer {
    pub fn start(
        name: &str,
        settings: &Settings,
        writer_lock: WriterLock,
        metrics: Arc<Metrics>,
    ) -> std::io::Result<Committer> {
        let bounds = Bounds {
            max_waiting: settings.max_waiting_requests.max(1),
            max_group_items: MAX_GROUP_WRITES,
            max_group_bytes: MAX_GROUP_BYTES,
        };
        // If only one writer is possible at a time, a second thread would only wait for the first.
        let threads = if settings.one_writer { 1 } else { WRITER_THREADS };
        let writes = Arc::new(GroupQueue::new(bounds));
        let (alive, ended) = channel();
        for _ in 0..threads {
            let (open, queue, alive) = (Arc::clone(&settings.open), Arc::clone(&writes), alive.clone());
            let (writer_lock, metrics) = (writer_lock.clone(), Arc::clone(&metrics));
            std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                // Dropped when the thread ends, even after a panic.
                let _alive: Sender<()> = alive;
                let mut connection = Connection::new(Arc::clone(&open), writer_lock.clone());
                let mut current_group = CurrentGroup::default();
                while let Some(mut group) = queue.next_group(&mut current_group) {
                    // A write is dropped if its client has disconnected. The client got no answer, so it must not
                    // assume that the write was stored.
                    group.retain(PendingWrite::has_waiting_client);
                    let stored = catch_unwind(AssertUnwindSafe(|| store_group(group, &mut connection, &metrics)));
                    // After a panic the connection may be in the middle of a transaction, so a new one replaces it.
                    // The panic also dropped the reply channels, so the clients of this group get an error.
                    if stored.is_err() {
                        connection = Connection::new(Arc::clone(&open), writer_lock.clone());
                    }
                }
            })?;
        }
        Ok(Committer { writes, ended: Mutex::new(ended), timeout: settings.database_timeout })
    }

    /// Stores a job that was checked against this schema.
    pub async fn store_job(&self, job: NewJob, schema: Option<Arc<str>>) -> std::result::Result<StoreOutcome, Failure> {
        let (reply, answer) = oneshot::channel();
        self.queue_write(PendingWrite::Push(Box::new(PendingPush { job, schema, reply })))?;
        Ok(wait_for_answer(self.timeout, answer).await??)
    }

    /// Stores an object that expires after `keep`.
    pub async fn store_object(&self, object: NewObject, keep: Option<Duration>) -> std::result::Result<Id, Failure> {
        let (reply, answer) = oneshot::channel();
        self.queue_write(PendingWrite::Put(Box::new(PendingPut { object, keep, reply })))?;
        Ok(wait_for_answer(self.timeout, answer).await??)
    }

    /// Records that a job is done.
    pub async fn record_ack(&self, ack: Ack) -> std::result::Result<(), Failure> {
        let (reply, answer) = oneshot::channel();
        self.queue_write(PendingWrite::Ack(Box::new(PendingAck { ack, reply })))?;
        Ok(wait_for_answer(self.timeout, answer).await??)
    }

    fn queue_write(&self, write: PendingWrite) -> std::result::Result<(), WorkError> {
        self.writes.push(write.count_bytes(), write)
    }

    /// Accepts no new writes. Waiting writes are still stored.
    pub fn close(&self) {
        self.writes.close();
    }

    pub fn join(&self, deadline: Instant) {
        wait_until_ended(&lock_ignoring_poison(&self.ended), deadline);
    }
}

fn store_group(group: Vec<PendingWrite>, connection: &mut Connection, metrics: &Metrics) {
    let (mut pushes, mut puts, mut acks) = (Vec::new(), Vec::new(), Vec::new());
    for write in group {
        match write {
            PendingWrite::Push(push) => pushes.push(*push),
            PendingWrite::Put(put) => puts.push(*put),
            PendingWrite::Ack(ack) => acks.push(*ack),
        }
    }
    if !pushes.is_empty() {
        store_jobs(pushes, connection, metrics);
    }
    if !puts.is_empty() {
        store_objects(puts, connection, metrics);
    }
    if !acks.is_empty() {
        record_finished_jobs(acks, connection, metrics);
    }
}

/// Copies an error for another waiting client.
fn copy_error(error: &Error) -> Error {
    Error::new(error.kind(), error.to_string())
}

/// Returns whether one member of a group may have caused the error. Then the other members can be stored without it.
/// A passing error or a full disk would affect all of them.
fn is_caused_by_member(error: &Error) -> bool {
    !error.is_passing() && error.kind() != ErrorKind::Full
}

/// Stores a group with `store_all`. If one member caused an error, stores each member separately. Returns the result
/// of each. `record_size` records the size of a transaction that was committed.
fn write_group_or_each<N, T>(
    members: &[N],
    connection: &mut Connection,
    (metrics, record_size): (&Metrics, fn(&Metrics, usize)),
    store_all: impl Fn(&mut dyn icecore_store::Backend, &[N]) -> Result<Vec<T>>,
) -> Vec<Result<T>> {
    let mut commit = |group: &[N]| {
        let stored = connection.write(|backend| store_all(backend, group));
        match &stored {
            Ok(_) => record_size(metrics, group.len()),
            Err(_) => metrics.count_failed_commit(),
        }
        stored
    };
    let error = match commit(members) {
        Ok(stored) if stored.len() == members.len() => return stored.into_iter().map(Ok).collect(),
        Ok(_) => Error::new(ErrorKind::Database, "the database stored a different number of entries than it was given"),
        Err(error) => error,
    };
    // The error is the answer for all members if no member caused it. It is also the answer if there is only one
    // member, because storing it once more would fail in the same way.
    let mut shared_error = (members.len() == 1 || !is_caused_by_member(&error)).then_some(error);
    let store_one = |member| match &shared_error {
        Some(error) => Err(copy_error(error)),
        None => {
            let stored = commit(std::slice::from_ref(member)).and_then(|stored| {
                stored.into_iter().next().ok_or_else(|| Error::new(ErrorKind::Database, "nothing was stored"))
            });
            // If storing this member shows an error that no member caused, the remaining members are not tried.
            shared_error = stored.as_ref().err().filter(|error| !is_caused_by_member(error)).map(copy_error);
            stored
        }
    };
    members.iter().map(store_one).collect()
}

fn store_jobs(pushes: Vec<PendingPush>, connection: &mut Connection, metrics: &Metrics) {
    if let Some(pushes) = store_checked_jobs(pushes, connection, metrics) {
        store_matching_jobs(pushes, connection, metrics);
    }
}

/// Stores a group, provided that its payloads were checked against the current schemas of their queues. Otherwise,
/// and after any error, stores nothing and returns the whole group. Errors are not reported here, because the caller
/// then tries [`store_matching_jobs`], and that function reports them.
fn store_checked_jobs(
    pushes: Vec<PendingPush>,
    connection: &mut Connection,
    metrics: &Metrics,
) -> Option<Vec<PendingPush>> {
    let mut schemas: HashMap<String, Option<Arc<str>>> = HashMap::new();
    for push in &pushes {
        match schemas.get(&push.job.queue) {
            None => drop(schemas.insert(push.job.queue.clone(), push.schema.clone())),
            Some(schema) if *schema == push.schema => {}
            // Two jobs of one queue were checked against different schemas, and at most one of these is current.
            Some(_) => return Some(pushes),
        }
    }
    let schemas: Vec<QueueSchema<'_>> = schemas.iter().map(|(queue, text)| (&**queue, text.as_deref())).collect();
    let (mut jobs, mut rest) = (Vec::with_capacity(pushes.len()), Vec::with_capacity(pushes.len()));
    for PendingPush { job, schema, reply } in pushes {
        jobs.push(job);
        rest.push((schema, reply));
    }
    let stored = connection.write(|backend| backend.push_checked(&jobs, &schemas));
    let Some(stored) = stored.ok().flatten().filter(|stored| stored.len() == jobs.len()) else {
        let push = |(job, (schema, reply))| PendingPush { job, schema, reply };
        return Some(jobs.into_iter().zip(rest).map(push).collect());
    };
    metrics.record_commit(jobs.len());
    for ((_, reply), stored) in rest.into_iter().zip(stored) {
        let _ = reply.send(Ok(StoreOutcome::Stored(stored)));
    }
    None
}

/// Stores the jobs that were checked against the current schema of their queue. They are stored together, or one by
/// one if one of them causes an error. The other jobs are returned to their clients with the current schema.
fn store_matching_jobs(pushes: Vec<PendingPush>, connection: &mut Connection, metrics: &Metrics) {
    let mut schemas: HashMap<String, Result<Option<String>>> = HashMap::new();
    for push in &pushes {
        if !schemas.contains_key(&push.job.queue) {
            let schema = connection.read(|backend| backend.schema(&push.job.queue));
            let is_away = matches!(&schema, Err(error) if !is_caused_by_member(error));
            schemas.insert(push.job.queue.clone(), schema);
            // Reading the schemas of further queues would fail in the same way.
            if is_away {
                break;
            }
        }
    }
    let connection_error =
        schemas.values().find_map(|schema| schema.as_ref().err().filter(|error| !is_caused_by_member(error)));
    let (mut jobs, mut replies) = (Vec::with_capacity(pushes.len()), Vec::with_capacity(pushes.len()));
    for PendingPush { job, schema, reply } in pushes {
        let answer = match (connection_error, schemas.get(&job.queue)) {
            (Some(error), _) | (None, Some(Err(error))) => Err(copy_error(error)),
            (None, Some(Ok(current))) if current.as_deref() != schema.as_deref() => {
                Ok(StoreOutcome::OtherSchema(current.clone(), Box::new(job)))
            }
            // The schema is the current one. Each queue has an entry here, because the loop above ends early only
            // with a connection error.
            _ => {
                jobs.push(job);
                replies.push(reply);
                continue;
            }
        };
        let _ = reply.send(answer);
    }
    if jobs.is_empty() {
        return;
    }
    let stored =
        write_group_or_each(&jobs, connection, (metrics, Metrics::record_commit), |backend, jobs| backend.push(jobs));
    for (reply, stored) in replies.into_iter().zip(stored) {
        let _ = reply.send(stored.map(StoreOutcome::Stored));
    }
}

fn store_objects(puts: Vec<PendingPut>, connection: &mut Connection, metrics: &Metrics) {
    // The clock of the database decides when an object expires. It is read only if an object of the group expires.
    let now = match puts.iter().any(|put| put.keep.is_some()) {
        true => connection.read(|backend| backend.now()),
        false => Ok(0),
    };
    let now = match now {
        Ok(now) => now,
        Err(error) => {
            for put in puts {
                let _ = put.reply.send(Err(copy_error(&error)));
            }
            return;
        }
    };
    let (mut objects, mut replies) = (Vec::with_capacity(puts.len()), Vec::with_capacity(puts.len()));
    for PendingPut { mut object, keep, reply } in puts {
        let keep = keep.map(|keep| i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
        object.expires_at = keep.map(|keep| now.saturating_add(keep));
        objects.push(object);
        replies.push(reply);
    }
    let stored = write_group_or_each(&objects, connection, (metrics, Metrics::record_commit), |backend, objects| {
        backend.put(objects)
    });
    for (reply, stored) in replies.into_iter().zip(stored) {
        let _ = reply.send(stored);
    }
}

fn record_finished_jobs(acks: Vec<PendingAck>, connection: &mut Connection, metrics: &Metrics) {
    let (acks, replies): (Vec<Ack>, Vec<_>) = acks.into_iter().map(|pending| (pending.ack, pending.reply)).unzip();
    let recorded = write_group_or_each(&acks, connection, (metrics, Metrics::record_ack_commit), |backend, acks| {
        backend.ack_many(acks)
    });
    for (reply, recorded) in replies.into_iter().zip(recorded) {
        let _ = reply.send(recorded.and_then(|recorded| recorded));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double::{Controls, opener};
    use icecore_store::{Address, describe};
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::atomic::Ordering;
    use std::task::{Context, Waker};

    type Work<'a> = Pin<Box<dyn Future<Output = std::result::Result<(), Failure>> + 'a>>;

    /// Starts requests, so that they reach the thread.
    fn poll_all(answers: &mut [Work<'_>]) {
        let mut context = Context::from_waker(Waker::noop());
        for answer in answers {
            assert!(answer.as_mut().poll(&mut context).is_pending());
        }
    }

    /// A committer whose database is blocked by a test.
    struct BlockedCommitter {
        runtime: tokio::runtime::Runtime,
        controls: Arc<Controls>,
        committer: Committer,
        address: Address,
        _folder: tempfile::TempDir,
    }

    impl BlockedCommitter {
        fn new() -> BlockedCommitter {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
            let (controls, folder) = (Arc::new(Controls::default()), tempfile::tempdir().expect("a folder"));
            let address = format!("sqlite:{}", folder.path().join("a.db").display());
            let address: Address = address.parse().expect("an address");
            let mut settings = Settings::with_opener(opener(address.clone(), Arc::clone(&controls)));
            settings.one_writer = true;
            let metrics = Arc::new(Metrics::default());
            let committer =
                Committer::start("committer", &settings, WriterLock::new(&settings), metrics).expect("a thread");
            BlockedCommitter { runtime, controls, committer, address, _folder: folder }
        }

        fn push(&self, queue: &str) -> Work<'_> {
            let job = describe::describe_job(queue, b"1".to_vec(), None);
            Box::pin(async move { self.committer.store_job(job, None).await.map(drop) })
        }

        /// Blocks the first request in the database, while the others queue up after it.
        fn run_at_once<'a>(&'a self, first: Work<'a>, others: Vec<Work<'a>>) -> Vec<u16> {
            let _entered = self.runtime.enter();
            let gate = self.controls.gate.lock().expect("the gate");
            let before = self.controls.arrived.load(Ordering::SeqCst);
            let mut answers = vec![first];
            poll_all(&mut answers);
            while self.controls.arrived.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
            answers.extend(others);
            poll_all(&mut answers[1..]);
            drop(gate);
            let code = |answer: Work<'_>| {
                self.runtime.block_on(answer).map_or_else(|failure: Failure| failure.code.as_u16(), |()| 201)
            };
            answers.into_iter().map(code).collect()
        }
    }

    impl Drop for BlockedCommitter {
        fn drop(&mut self) {
            self.committer.close();
            self.committer.join(Instant::now() + Duration::from_secs(60));
        }
    }

    #[test]
    fn waiting_pushes_share_one_transaction() {
        let blocked = BlockedCommitter::new();
        assert_eq!(blocked.run_at_once(blocked.push("q"), (0..31).map(|_| blocked.push("q")).collect()), [201; 32]);
        assert_eq!(blocked.controls.pushes.load(Ordering::SeqCst), 2);
        // A job that can't be stored does not prevent the others from being stored.
        let others = vec![blocked.push("q"), blocked.push(""), blocked.push("q")];
        assert_eq!(blocked.run_at_once(blocked.push("q"), others), [201, 201, 400, 201]);
    }

    #[test]
    fn waiting_acks_share_one_transaction() {
        let blocked = BlockedCommitter::new();
        let mut store = icecore_store::open(&blocked.address).expect("a database");
        let jobs: Vec<NewJob> = (0..20).map(|_| describe::describe_job("q", b"1".to_vec(), None)).collect();
        store.push(&jobs).expect("pushed");
        let leases = store.claim("q", "w", Duration::from_secs(3_600), 20).expect("claimed");
        let ack = |(number, lease): (usize, &icecore_store::Lease)| -> Work<'_> {
            let token = if number == 7 { "other".to_owned() } else { lease.token.clone() };
            Box::pin(blocked.committer.record_ack(Ack { id: lease.job.id, token, result: None }))
        };
        let codes = blocked.run_at_once(blocked.push("q"), leases.iter().enumerate().map(ack).collect());
        let expected: Vec<u16> = (0..21).map(|number| if number == 8 { 409 } else { 201 }).collect();
        assert_eq!((codes, blocked.controls.records.load(Ordering::SeqCst)), (expected, 1));
        assert_eq!(store.queues().expect("queues")[0].counts, [1, 1, 19, 0, 0]);
    }
}
