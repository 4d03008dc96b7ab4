//! Threads that store pushed jobs and new objects: everything that waits, in one transaction. A second instance records
//! finished jobs.
//!
//! The expensive part of a transaction is making it durable, not its content. While one transaction becomes durable,
//! further requests gather; together they cost as much as one.

use crate::database::{Connection, Shared};
use crate::failure::Failure;
use crate::gathering::{Bounds, Gathering, Turn};
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::threads::{Refused, join, lock, wait};
use icecore_store::{Ack, Error, ErrorKind, Id, NewJob, NewObject, Pushed, QueueSchema, Result};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Maximum number of writes in one transaction.
const LARGEST_GROUP: usize = 512;
/// Number of transactions that may be committing at the same time.
const WRITERS: usize = 2;
/// Maximum number of bytes in one transaction, if it has more than one write.
const HEAVIEST_GROUP: usize = 8 << 20;

/// Result of storing a job.
#[derive(Debug)]
pub enum Stored {
    /// It is stored.
    As(Pushed),
    /// Its queue has another schema than the job was checked against. The job is returned.
    OtherSchema(Option<String>, Box<NewJob>),
}

/// A job that is to be stored.
struct Push {
    job: NewJob,
    /// The schema that it was checked against.
    schema: Option<Arc<str>>,
    reply: oneshot::Sender<Result<Stored>>,
}

/// An object that is to be stored.
struct Put {
    object: NewObject,
    /// How long it is kept.
    keep: Option<Duration>,
    reply: oneshot::Sender<Result<Id>>,
}

/// A finished job.
struct Done {
    ack: Ack,
    reply: oneshot::Sender<Result<()>>,
}

enum Write {
    Push(Box<Push>),
    Put(Box<Put>),
    Done(Box<Done>),
}

impl Write {
    fn weight(&self) -> usize {
        let (bytes, said) = match self {
            Write::Push(push) => (&push.job.bytes, &push.job.said),
            Write::Put(put) => (&put.object.bytes, &put.object.said),
            Write::Done(done) => return done.ack.result.as_ref().map_or(0, Vec::len),
        };
        bytes.len() + said.json.as_ref().map_or(0, String::len)
    }

    fn is_wanted(&self) -> bool {
        match self {
            Write::Push(push) => !push.reply.is_closed(),
            Write::Put(put) => !put.reply.is_closed(),
            Write::Done(done) => !done.reply.is_closed(),
        }
    }
}

/// The threads.
pub struct Committer {
    writes: Arc<Gathering<Write>>,
    ended: Mutex<Receiver<()>>,
    patience: Duration,
}

impl Committer {
    pub fn start(name: &str, settings: &Settings, shared: Shared, metrics: Arc<Metrics>) -> std::io::Result<Committer> {
        let bounds =
            Bounds { longest: settings.longest_queue.max(1), largest: LARGEST_GROUP, heaviest: HEAVIEST_GROUP };
        // If only one writer is possible at a time, a second thread would only wait for the first.
        let threads = if settings.one_writer { 1 } else { WRITERS };
        let writes = Arc::new(Gathering::new(bounds));
        let (alive, ended) = channel();
        for _ in 0..threads {
            let (open, gathered, alive) = (Arc::clone(&settings.open), Arc::clone(&writes), alive.clone());
            let (shared, metrics) = (shared.clone(), Arc::clone(&metrics));
            std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                let _alive: Sender<()> = alive;
                let mut connection = Connection::new(Arc::clone(&open), shared.clone());
                let mut turn = Turn::default();
                while let Some(mut group) = gathered.next(&mut turn) {
                    // A client that has disconnected was not promised anything.
                    group.retain(Write::is_wanted);
                    let stored = catch_unwind(AssertUnwindSafe(|| store(group, &mut connection, &metrics)));
                    if stored.is_err() {
                        connection = Connection::new(Arc::clone(&open), shared.clone());
                    }
                }
            })?;
        }
        Ok(Committer { writes, ended: Mutex::new(ended), patience: settings.database_timeout })
    }

    /// Stores a job that was checked against this schema.
    pub async fn push(&self, job: NewJob, schema: Option<Arc<str>>) -> std::result::Result<Stored, Failure> {
        let (reply, answer) = oneshot::channel();
        self.send(Write::Push(Box::new(Push { job, schema, reply })))?;
        Ok(wait(self.patience, answer).await??)
    }

    /// Stores an object that expires after `keep`.
    pub async fn put(&self, object: NewObject, keep: Option<Duration>) -> std::result::Result<Id, Failure> {
        let (reply, answer) = oneshot::channel();
        self.send(Write::Put(Box::new(Put { object, keep, reply })))?;
        Ok(wait(self.patience, answer).await??)
    }

    /// Records that a job is done.
    pub async fn ack(&self, ack: Ack) -> std::result::Result<(), Failure> {
        let (reply, answer) = oneshot::channel();
        self.send(Write::Done(Box::new(Done { ack, reply })))?;
        Ok(wait(self.patience, answer).await??)
    }

    fn send(&self, write: Write) -> std::result::Result<(), Refused> {
        self.writes.push(write.weight(), write)
    }

    /// Accepts no new writes. Waiting writes are still stored.
    pub fn close(&self) {
        self.writes.close();
    }

    pub fn join(&self, until: Instant) {
        join(&lock(&self.ended), until);
    }
}

fn store(group: Vec<Write>, connection: &mut Connection, metrics: &Metrics) {
    let (mut pushes, mut puts, mut done) = (Vec::new(), Vec::new(), Vec::new());
    for write in group {
        match write {
            Write::Push(push) => pushes.push(*push),
            Write::Put(put) => puts.push(*put),
            Write::Done(one) => done.push(*one),
        }
    }
    if !pushes.is_empty() {
        store_jobs(pushes, connection, metrics);
    }
    if !puts.is_empty() {
        store_objects(puts, connection, metrics);
    }
    if !done.is_empty() {
        record(done, connection, metrics);
    }
}

/// Copies an error for another waiting client.
fn copy_error(error: &Error) -> Error {
    Error::new(error.kind(), error.to_string())
}

/// Returns whether one member of a group may have caused the error, so that the others can be stored without it.
fn is_of_one(error: &Error) -> bool {
    !error.is_passing() && error.kind() != ErrorKind::Full
}

/// Stores a group with `all`. If one member caused an error, stores each of them separately. Returns the result of
/// each.
fn grouped<N, T>(
    new: &[N],
    connection: &mut Connection,
    note: impl Fn(usize, bool),
    all: impl Fn(&mut dyn icecore_store::Backend, &[N]) -> Result<Vec<T>>,
) -> Vec<Result<T>> {
    let mut commit = |some: &[N]| {
        let stored = connection.write(|backend| all(backend, some));
        note(some.len(), stored.is_ok());
        stored
    };
    let error = match commit(new) {
        Ok(stored) if stored.len() == new.len() => return stored.into_iter().map(Ok).collect(),
        Ok(_) => Error::new(ErrorKind::Database, "the database stored another number than it was given"),
        Err(error) => error,
    };
    let mut away = (new.len() == 1 || !is_of_one(&error)).then_some(error);
    let one = |one| match &away {
        Some(error) => Err(copy_error(error)),
        None => {
            let stored = commit(std::slice::from_ref(one)).and_then(|stored| {
                stored.into_iter().next().ok_or_else(|| Error::new(ErrorKind::Database, "nothing was stored"))
            });
            away = stored.as_ref().err().filter(|error| !is_of_one(error)).map(copy_error);
            stored
        }
    };
    new.iter().map(one).collect()
}

fn store_jobs(pushes: Vec<Push>, connection: &mut Connection, metrics: &Metrics) {
    if let Some(pushes) = store_checked(pushes, connection, metrics) {
        store_those_that_fit(pushes, connection, metrics);
    }
}

/// Stores a group, provided that its payloads were checked against the current schemas of their queues. If this fails
/// for any member, returns the whole group.
fn store_checked(pushes: Vec<Push>, connection: &mut Connection, metrics: &Metrics) -> Option<Vec<Push>> {
    let mut schemas: HashMap<String, Option<Arc<str>>> = HashMap::new();
    for push in &pushes {
        match schemas.get(&push.job.queue) {
            None => drop(schemas.insert(push.job.queue.clone(), push.schema.clone())),
            Some(schema) if *schema == push.schema => {}
            Some(_) => return Some(pushes),
        }
    }
    let schemas: Vec<QueueSchema<'_>> = schemas.iter().map(|(queue, text)| (&**queue, text.as_deref())).collect();
    let (mut jobs, mut rest) = (Vec::with_capacity(pushes.len()), Vec::with_capacity(pushes.len()));
    for Push { job, schema, reply } in pushes {
        jobs.push(job);
        rest.push((schema, reply));
    }
    let stored = connection.write(|backend| backend.push_checked(&jobs, &schemas));
    let Some(stored) = stored.ok().flatten().filter(|stored| stored.len() == jobs.len()) else {
        let push = |(job, (schema, reply))| Push { job, schema, reply };
        return Some(jobs.into_iter().zip(rest).map(push).collect());
    };
    metrics.commit(jobs.len(), true);
    for ((_, reply), stored) in rest.into_iter().zip(stored) {
        let _ = reply.send(Ok(Stored::As(stored)));
    }
    None
}

/// Stores the jobs that were checked against the current schema of their queue: together, or one by one if one of them
/// causes an error. The other jobs are returned with the current schema.
fn store_those_that_fit(pushes: Vec<Push>, connection: &mut Connection, metrics: &Metrics) {
    let mut schemas: HashMap<String, Result<Option<String>>> = HashMap::new();
    for push in &pushes {
        if !schemas.contains_key(&push.job.queue) {
            let schema = connection.read(|backend| backend.schema(&push.job.queue));
            let is_away = matches!(&schema, Err(error) if !is_of_one(error));
            schemas.insert(push.job.queue.clone(), schema);
            if is_away {
                break;
            }
        }
    }
    let away = schemas.values().find_map(|schema| schema.as_ref().err().filter(|error| !is_of_one(error)));
    let (mut jobs, mut replies) = (Vec::with_capacity(pushes.len()), Vec::with_capacity(pushes.len()));
    for Push { job, schema, reply } in pushes {
        let answer = match (away, schemas.get(&job.queue)) {
            (Some(error), _) | (None, Some(Err(error))) => Err(copy_error(error)),
            (None, Some(Ok(current))) if current.as_deref() != schema.as_deref() => {
                Ok(Stored::OtherSchema(current.clone(), Box::new(job)))
            }
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
        grouped(&jobs, connection, |size, is_done| metrics.commit(size, is_done), |backend, jobs| backend.push(jobs));
    for (reply, stored) in replies.into_iter().zip(stored) {
        let _ = reply.send(stored.map(Stored::As));
    }
}

fn store_objects(puts: Vec<Put>, connection: &mut Connection, metrics: &Metrics) {
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
    for Put { mut object, keep, reply } in puts {
        let keep = keep.map(|keep| i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
        object.expires_at = keep.map(|keep| now.saturating_add(keep));
        objects.push(object);
        replies.push(reply);
    }
    let stored = grouped(
        &objects,
        connection,
        |size, is_done| metrics.commit(size, is_done),
        |backend, objects| backend.put(objects),
    );
    for (reply, stored) in replies.into_iter().zip(stored) {
        let _ = reply.send(stored);
    }
}

fn record(done: Vec<Done>, connection: &mut Connection, metrics: &Metrics) {
    let (acks, replies): (Vec<Ack>, Vec<_>) = done.into_iter().map(|done| (done.ack, done.reply)).unzip();
    let note = |size, is_done| metrics.recorded(size, is_done);
    let recorded = grouped(&acks, connection, note, |backend, acks| backend.ack_many(acks));
    for (reply, recorded) in replies.into_iter().zip(recorded) {
        let _ = reply.send(recorded.and_then(|recorded| recorded));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double::{Strings, opener};
    use icecore_store::{Address, describe};
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::atomic::Ordering;
    use std::task::{Context, Waker};

    type Work<'a> = Pin<Box<dyn Future<Output = std::result::Result<(), Failure>> + 'a>>;

    /// Starts requests, so that they reach the thread.
    fn begin(answers: &mut [Work<'_>]) {
        let mut context = Context::from_waker(Waker::noop());
        for answer in answers {
            assert!(answer.as_mut().poll(&mut context).is_pending());
        }
    }

    /// A committer whose database is blocked by a test.
    struct Held {
        runtime: tokio::runtime::Runtime,
        strings: Arc<Strings>,
        committer: Committer,
        address: Address,
        _folder: tempfile::TempDir,
    }

    impl Held {
        fn new() -> Held {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
            let (strings, folder) = (Arc::new(Strings::default()), tempfile::tempdir().expect("a folder"));
            let address = format!("sqlite:{}", folder.path().join("a.db").display());
            let address: Address = address.parse().expect("an address");
            let mut settings = Settings::with_opener(opener(address.clone(), Arc::clone(&strings)));
            settings.one_writer = true;
            let metrics = Arc::new(Metrics::default());
            let committer =
                Committer::start("committer", &settings, Shared::new(&settings), metrics).expect("a thread");
            Held { runtime, strings, committer, address, _folder: folder }
        }

        fn push(&self, queue: &str) -> Work<'_> {
            let job = describe::job(queue, b"1".to_vec(), None);
            Box::pin(async move { self.committer.push(job, None).await.map(drop) })
        }

        /// Blocks the first request in the database, while the others queue up after it.
        fn at_once<'a>(&'a self, first: Work<'a>, others: Vec<Work<'a>>) -> Vec<u16> {
            let _entered = self.runtime.enter();
            let held = self.strings.gate.lock().expect("the gate");
            let before = self.strings.arrived.load(Ordering::SeqCst);
            let mut answers = vec![first];
            begin(&mut answers);
            while self.strings.arrived.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
            answers.extend(others);
            begin(&mut answers[1..]);
            drop(held);
            let code = |answer: Work<'_>| {
                self.runtime.block_on(answer).map_or_else(|failure: Failure| failure.code.as_u16(), |()| 201)
            };
            answers.into_iter().map(code).collect()
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            self.committer.close();
            self.committer.join(Instant::now() + Duration::from_secs(60));
        }
    }

    #[test]
    fn what_waits_is_one_transaction() {
        let held = Held::new();
        assert_eq!(held.at_once(held.push("q"), (0..31).map(|_| held.push("q")).collect()), [201; 32]);
        assert_eq!(held.strings.pushes.load(Ordering::SeqCst), 2);
        // A job that can't be stored does not prevent the others from being stored.
        let others = vec![held.push("q"), held.push(""), held.push("q")];
        assert_eq!(held.at_once(held.push("q"), others), [201, 201, 400, 201]);
    }

    #[test]
    fn what_is_done_is_one_transaction() {
        let held = Held::new();
        let mut store = icecore_store::open(&held.address).expect("a database");
        let jobs: Vec<NewJob> = (0..20).map(|_| describe::job("q", b"1".to_vec(), None)).collect();
        store.push(&jobs).expect("pushed");
        let leases = store.claim("q", "w", Duration::from_secs(3_600), 20).expect("claimed");
        let ack = |(number, lease): (usize, &icecore_store::Lease)| -> Work<'_> {
            let token = if number == 7 { "other".to_owned() } else { lease.token.clone() };
            Box::pin(held.committer.ack(Ack { id: lease.job.id, token, result: None }))
        };
        let codes = held.at_once(held.push("q"), leases.iter().enumerate().map(ack).collect());
        let expected: Vec<u16> = (0..21).map(|number| if number == 8 { 409 } else { 201 }).collect();
        assert_eq!((codes, held.strings.records.load(Ordering::SeqCst)), (expected, 1));
        assert_eq!(store.queues().expect("queues")[0].counts, [1, 1, 19, 0, 0]);
    }
}
