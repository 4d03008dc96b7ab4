//! The one thread that stores what is pushed and put: all that waits, in one transaction.
//!
//! What costs time in a database is to have a transaction durable, not what is in it. While
//! one becomes durable the next requests gather; together they cost as much as one.

use crate::database::{Connection, Shared};
use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::threads::{Refused, join, lock, wait};
use icecore_store::{Error, ErrorKind, Id, NewJob, NewObject, Pushed, Result};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How many go into one transaction.
const LARGEST_GROUP: usize = 512;
/// How many bytes.
const HEAVIEST_GROUP: usize = 8 << 20;

/// What became of a job that was to be stored.
#[derive(Debug)]
pub enum Stored {
    /// It is there.
    As(Pushed),
    /// It was checked against another schema than the queue has, and comes back.
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

enum Write {
    Push(Box<Push>),
    Put(Box<Put>),
}

impl Write {
    fn weight(&self) -> usize {
        let (bytes, said) = match self {
            Write::Push(push) => (&push.job.bytes, &push.job.said),
            Write::Put(put) => (&put.object.bytes, &put.object.said),
        };
        bytes.len() + said.json.as_ref().map_or(0, String::len)
    }

    fn is_wanted(&self) -> bool {
        match self {
            Write::Push(push) => !push.reply.is_closed(),
            Write::Put(put) => !put.reply.is_closed(),
        }
    }
}

/// The thread.
pub struct Committer {
    sender: Mutex<Option<SyncSender<Write>>>,
    ended: Mutex<Receiver<()>>,
    patience: Duration,
}

impl Committer {
    pub fn start(settings: &Settings, shared: Shared, metrics: Arc<Metrics>) -> std::io::Result<Committer> {
        let (sender, receiver) = sync_channel(settings.longest_queue.max(1));
        let (alive, ended) = channel();
        let open = Arc::clone(&settings.open);
        std::thread::Builder::new().name("committer".to_owned()).spawn(move || {
            let _alive: std::sync::mpsc::Sender<()> = alive;
            let mut connection = Connection::new(Arc::clone(&open), shared.clone());
            while let Some(group) = next_group(&receiver) {
                let stored = catch_unwind(AssertUnwindSafe(|| store(group, &mut connection, &metrics)));
                if stored.is_err() {
                    connection = Connection::new(Arc::clone(&open), shared.clone());
                }
            }
        })?;
        Ok(Committer {
            sender: Mutex::new(Some(sender)),
            ended: Mutex::new(ended),
            patience: settings.database_timeout,
        })
    }

    /// Stores a job that was checked against this schema.
    pub async fn push(&self, job: NewJob, schema: Option<Arc<str>>) -> std::result::Result<Stored, Failure> {
        let (reply, answer) = oneshot::channel();
        self.send(Write::Push(Box::new(Push { job, schema, reply })))?;
        Ok(wait(self.patience, answer).await??)
    }

    /// Stores an object, for so long.
    pub async fn put(&self, object: NewObject, keep: Option<Duration>) -> std::result::Result<Id, Failure> {
        let (reply, answer) = oneshot::channel();
        self.send(Write::Put(Box::new(Put { object, keep, reply })))?;
        Ok(wait(self.patience, answer).await??)
    }

    fn send(&self, write: Write) -> std::result::Result<(), Refused> {
        let Some(sender) = lock(&self.sender).clone() else { return Err(Refused::Stopping) };
        sender.try_send(write).map_err(|error| match error {
            TrySendError::Full(_) => Refused::Full,
            TrySendError::Disconnected(_) => Refused::Stopping,
        })
    }

    /// Takes nothing new. What waits is still stored.
    pub fn close(&self) {
        lock(&self.sender).take();
    }

    pub fn join(&self, until: Instant) {
        join(&lock(&self.ended), until);
    }
}

/// All that waits, or what comes next; `None` when nothing will come.
fn next_group(receiver: &Receiver<Write>) -> Option<Vec<Write>> {
    let first = receiver.recv().ok()?;
    let mut weight = first.weight();
    let mut group = vec![first];
    while group.len() < LARGEST_GROUP && weight < HEAVIEST_GROUP {
        let Ok(next) = receiver.try_recv() else { break };
        weight += next.weight();
        group.push(next);
    }
    // Whose client is gone was not promised anything.
    group.retain(Write::is_wanted);
    Some(group)
}

fn store(group: Vec<Write>, connection: &mut Connection, metrics: &Metrics) {
    let (mut pushes, mut puts) = (Vec::new(), Vec::new());
    for write in group {
        match write {
            Write::Push(push) => pushes.push(*push),
            Write::Put(put) => puts.push(*put),
        }
    }
    if !pushes.is_empty() {
        store_jobs(pushes, connection, metrics);
    }
    if !puts.is_empty() {
        store_objects(puts, connection, metrics);
    }
}

/// An error once more, for another who waits.
fn again(error: &Error) -> Error {
    Error::new(error.kind(), error.to_string())
}

/// Whether one of a group is to blame, so that the others may be stored without it.
fn is_of_one(error: &Error) -> bool {
    !error.is_passing() && error.kind() != ErrorKind::Full
}

/// Stores a group by `all`; if one of them is to blame, each by itself. What came of each.
fn grouped<N, T>(
    new: &[N],
    connection: &mut Connection,
    metrics: &Metrics,
    all: impl Fn(&mut dyn icecore_store::Backend, &[N]) -> Result<Vec<T>>,
) -> Vec<Result<T>> {
    let mut commit = |some: &[N]| {
        let stored = connection.write(|backend| all(backend, some));
        metrics.commit(some.len(), stored.is_ok());
        stored
    };
    let error = match commit(new) {
        Ok(stored) if stored.len() == new.len() => return stored.into_iter().map(Ok).collect(),
        Ok(_) => Error::new(ErrorKind::Database, "the database stored another number than it was given"),
        Err(error) => error,
    };
    let mut away = (new.len() == 1 || !is_of_one(&error)).then_some(error);
    let one = |one| match &away {
        Some(error) => Err(again(error)),
        None => {
            let stored = commit(std::slice::from_ref(one)).and_then(|stored| {
                stored.into_iter().next().ok_or_else(|| Error::new(ErrorKind::Database, "nothing was stored"))
            });
            away = stored.as_ref().err().filter(|error| !is_of_one(error)).map(again);
            stored
        }
    };
    new.iter().map(one).collect()
}

fn store_jobs(pushes: Vec<Push>, connection: &mut Connection, metrics: &Metrics) {
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
            (Some(error), _) | (None, Some(Err(error))) => Err(again(error)),
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
    let stored = grouped(&jobs, connection, metrics, |backend, jobs| backend.push(jobs));
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
                let _ = put.reply.send(Err(again(&error)));
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
    let stored = grouped(&objects, connection, metrics, |backend, objects| backend.put(objects));
    for (reply, stored) in replies.into_iter().zip(stored) {
        let _ = reply.send(stored);
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

    type Answer<'a> = Pin<Box<dyn Future<Output = std::result::Result<Stored, Failure>> + 'a>>;

    /// Has requests sent to the thread.
    fn begin(answers: &mut [Answer<'_>]) {
        let mut context = Context::from_waker(Waker::noop());
        for answer in answers {
            assert!(answer.as_mut().poll(&mut context).is_pending());
        }
    }

    #[test]
    fn what_waits_is_one_transaction() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let _entered = runtime.enter();
        let (strings, folder) = (Arc::new(Strings::default()), tempfile::tempdir().expect("a folder"));
        let address: Address = format!("sqlite:{}", folder.path().join("a.db").display()).parse().expect("an address");
        let settings = Settings::with_opener(opener(address, Arc::clone(&strings)));
        let committer =
            Committer::start(&settings, Shared::new(&settings), Arc::new(Metrics::default())).expect("a thread");
        let push =
            |queue: &str| -> Answer<'_> { Box::pin(committer.push(describe::job(queue, b"1".to_vec(), None), None)) };
        // The first one stands at the gate, and the others wait behind it.
        let at_once = |first, others: Vec<_>| {
            let held = strings.gate.lock().expect("the gate");
            let before = strings.arrived.load(Ordering::SeqCst);
            let mut answers = vec![first];
            begin(&mut answers);
            while strings.arrived.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
            answers.extend(others);
            begin(&mut answers[1..]);
            drop(held);
            let code = |answer: Answer<'_>| {
                runtime.block_on(answer).map_or_else(|failure: Failure| failure.code.as_u16(), |_| 201)
            };
            answers.into_iter().map(code).collect::<Vec<u16>>()
        };
        assert_eq!(at_once(push("q"), (0..31).map(|_| push("q")).collect()), [201; 32]);
        assert_eq!(strings.pushes.load(Ordering::SeqCst), 2);
        // One that can't be stored does not keep the others.
        let no_name = "";
        assert_eq!(at_once(push("q"), vec![push("q"), push(no_name), push("q")]), [201, 201, 400, 201]);
        committer.close();
        committer.join(Instant::now() + Duration::from_secs(60));
    }
}
