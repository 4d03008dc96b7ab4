//! Workers and commands, over SQLite.

use icecore_store::{
    Address, Backend, Command, Error, ErrorKind, Event, Id, Job, Outcome, Runner, State, Stdin, Stop, Worker, describe,
    open,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Store {
    _folder: tempfile::TempDir,
    address: Address,
    backend: Box<dyn Backend>,
}

fn new_store() -> Store {
    let folder = tempfile::tempdir().expect("a folder");
    let address: Address = format!("sqlite:{}", folder.path().join("a.db").display()).parse().expect("an address");
    let backend = open(&address).expect("a database");
    Store { _folder: folder, address, backend }
}

impl Store {
    fn push(&mut self, payload: &[u8]) -> Id {
        let job = describe::describe_job("q", payload.to_vec(), None);
        self.backend.push(&[job]).expect("it is stored")[0].id
    }

    fn job(&mut self, id: Id) -> Job {
        self.backend.job(id).expect("an answer").expect("a job")
    }

    fn run(&self, worker: &Worker, runner: impl Runner + 'static) -> icecore_store::Tally {
        worker.run(&|| open(&self.address), Arc::new(runner), &Stop::new(), &mut |_| ()).expect("an end")
    }
}

fn new_worker(concurrency: usize) -> Worker {
    let mut worker = Worker::new("q", "w");
    (worker.concurrency, worker.until_empty) = (concurrency, true);
    worker
}

#[test]
fn a_command_reads_json_and_writes_the_result() {
    let mut store = new_store();
    let id = store.push(b"\x04\x08[\x06i\x06");
    let tally = store.run(&new_worker(2), Command::new("cat; printf ' %s %s' $ICECORE_JOB_ATTEMPT $ICECORE_JOB_QUEUE"));
    assert_eq!(tally.done, 1);
    let job = store.job(id);
    assert_eq!((job.state, job.result.as_deref()), (State::Done, Some(&b"[1] 1 q"[..])));
}

#[test]
fn a_raw_command_reads_the_bytes() {
    let mut store = new_store();
    let id = store.push(b"\x04\x08[\x06i\x06");
    let mut command = Command::new("cat");
    command.stdin = Stdin::Raw;
    store.run(&new_worker(1), command);
    assert_eq!(store.job(id).result.as_deref(), Some(&b"\x04\x08[\x06i\x06"[..]));
}

#[test]
fn the_stderr_of_a_failed_command_is_kept() {
    let mut store = new_store();
    let id = store.push(b"[1]");
    let tally = store.run(&new_worker(1), Command::new("echo out; echo 'no such user' >&2; exit 3"));
    assert_eq!(tally.failed, 1);
    let job = store.job(id);
    assert_eq!((job.state, job.error.as_deref()), (State::Ready, Some("exit code 3: no such user")));
}

#[test]
fn a_command_that_times_out_is_killed_with_its_children() {
    let mut store = new_store();
    let id = store.push(b"[1]");
    let mut command = Command::new("sleep 1000 | sleep 1000; sleep 1000");
    command.timeout = Some(Duration::from_millis(200));
    store.run(&new_worker(1), command);
    assert_eq!(store.job(id).error.as_deref(), Some("the command took longer than 200ms and was ended"));
}

#[test]
fn background_processes_end_with_their_command() {
    let mut store = new_store();
    let id = store.push(b"[1]");
    store.run(&new_worker(1), Command::new("sleep 1000 & echo done"));
    assert_eq!(store.job(id).result.as_deref(), Some(&b"done\n"[..]));
}

#[test]
fn the_length_of_results_is_limited() {
    let mut store = new_store();
    let long = format!("[\"{}\"]", "x".repeat(1 << 20));
    let id = store.push(long.as_bytes());
    // It does not read its long input, and writes more than is kept.
    let mut command = Command::new("yes | head -c 300000");
    command.max_result_len = 1_000;
    store.run(&new_worker(1), command);
    assert_eq!(store.job(id).result.map(|result| result.len()), Some(1_000));
}

#[test]
fn several_jobs_run_at_once_and_their_leases_are_extended() {
    let mut store = new_store();
    for _ in 0..4 {
        store.push(b"[1]");
    }
    let mut worker = new_worker(4);
    worker.lease = Duration::from_secs(2);
    let (running, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (at_once, count) = (Arc::clone(&running), Arc::clone(&calls));
    // Each waits for all others: they only end if all four run. They take longer than the lease.
    let tally = store.run(&worker, move |_: &Job| {
        count.fetch_add(1, Ordering::SeqCst);
        at_once.fetch_add(1, Ordering::SeqCst);
        while at_once.load(Ordering::SeqCst) < 4 {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_secs(3));
        Outcome::Done(None)
    });
    assert_eq!((tally.done + tally.lost) as usize, calls.load(Ordering::SeqCst));
    assert!(tally.done >= 4 || tally.lost > 0);
}

#[test]
fn a_stopping_worker_finishes_its_jobs_and_claims_no_more() {
    let mut store = new_store();
    let (first, second) = (store.push(b"[1]"), store.push(b"[2]"));
    let stop = Stop::new();
    let stop_of_runner = stop.clone();
    let mut worker = new_worker(1);
    worker.until_empty = false;
    let runner = move |_: &Job| {
        stop_of_runner.drain();
        Outcome::Done(None)
    };
    let address = store.address.clone();
    let tally = worker.run(&|| open(&address), Arc::new(runner), &stop, &mut |_| ()).expect("an end");
    assert_eq!((tally.done, store.job(first).state, store.job(second).state), (1, State::Done, State::Ready));
}

#[test]
fn an_abort_kills_commands_and_returns_their_jobs() {
    let mut store = new_store();
    let id = store.push(b"[1]");
    let mut command = Command::new("sleep 1000");
    let stop = command.stop.clone();
    command.timeout = None;
    let mut worker = new_worker(1);
    worker.until_empty = false;
    let address = store.address.clone();
    let abort_handle = stop.clone();
    worker
        .run(&|| open(&address), Arc::new(command), &stop, &mut |event| {
            if let Event::Begun(_) = event {
                abort_handle.abort();
            }
        })
        .expect("an end");
    assert_eq!(store.job(id).state, State::Ready);
}

#[test]
fn a_panic_of_a_runner_fails_the_job() {
    let mut store = new_store();
    let id = store.push(b"[1]");
    store.run(&new_worker(1), |_: &Job| -> Outcome { panic!("on purpose") });
    assert_eq!(store.job(id).error.as_deref(), Some("the runner panicked"));
}

#[test]
fn a_worker_waits_for_an_unavailable_database() {
    let mut store = new_store();
    let id = store.push(b"[1]");
    let tries = AtomicUsize::new(0);
    let address = store.address.clone();
    let mut reported = 0;
    let mut worker = new_worker(1);
    worker.idle = Duration::from_millis(1);
    worker
        .run(
            &|| match tries.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Err(Error::new(ErrorKind::Away, "not now")),
                _ => open(&address),
            },
            Arc::new(|_: &Job| Outcome::Done(None)),
            &Stop::new(),
            &mut |event| reported += usize::from(matches!(event, Event::Away(_))),
        )
        .expect("an end");
    assert_eq!((store.job(id).state, reported), (State::Done, 2));
}

#[test]
fn an_invalid_queue_name_is_an_error() {
    let store = new_store();
    let worker = Worker::new("", "w");
    let error = worker.run(&|| open(&store.address), Arc::new(Command::new("true")), &Stop::new(), &mut |_| ());
    assert_eq!(error.expect_err("no name").kind(), ErrorKind::Input);
}

/// A worker that loses a lease may get the same job again while it still runs it.
#[test]
fn an_attempt_without_its_lease_does_not_end_the_next_one() {
    /// Only ends a test that would hang.
    const LIMIT: Duration = Duration::from_secs(120);
    let mut store = new_store();
    let id = store.push(b"[1]");
    let file = store.address.to_string().trim_start_matches("sqlite:").to_owned();
    let ((second_begins, second_began), (record, recorded)) = (channel(), channel());
    let (second_began, recorded) = (Mutex::new(second_began), Mutex::new(recorded));
    let runner = move |job: &Job| {
        if job.attempts == 1 {
            let raw = rusqlite::Connection::open(&file).expect("the database");
            raw.busy_timeout(LIMIT).expect("patience");
            raw.execute("UPDATE icecore_jobs SET lease_until = 1", []).expect("the lease is over");
            second_began.lock().expect("one waits").recv_timeout(LIMIT).expect("it is handed out again");
        } else {
            second_begins.send(()).expect("the first one waits");
            recorded.lock().expect("one waits").recv_timeout(LIMIT).expect("the first one ended");
        }
        Outcome::Done(Some(job.attempts.to_string().into_bytes()))
    };
    let mut reported = Vec::new();
    let report = &mut |event: Event<'_>| {
        if matches!(event, Event::Done(_) | Event::Lost(_)) {
            reported.push(format!("{event:?}"));
            let _ = record.send(());
        }
    };
    let tally = new_worker(2).run(&|| open(&store.address), Arc::new(runner), &Stop::new(), report).expect("an end");
    assert_eq!(reported, [format!("Lost({id:?})"), format!("Done({id:?})")]);
    assert_eq!((tally.done, tally.lost), (1, 1));
    let job = store.job(id);
    assert_eq!((job.state, job.attempts, job.result.as_deref()), (State::Done, 2, Some(&b"2"[..])));
}
