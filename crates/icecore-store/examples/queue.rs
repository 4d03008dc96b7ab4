//! A queue that runs the commands on its standard input: for the load program, which compares it with others.
//!
//! ```text
//! $ export ICECORE_LOAD_DB=postgres://… ICECORE_LOAD_PAYLOAD=job.json
//! $ cargo run --release -p icecore-store --features postgres --example queue
//! setup
//! {}
//! push 1000 32 1
//! {"jobs":1000,"ns":…}
//! work 1000 100
//! {"jobs":1000,"ns":…}
//! drain 4 5
//! {"jobs":0,"ns":0}
//! ```
//!
//! `benches/store/README.md` describes the protocol.
#![forbid(unsafe_code)]

use icecore_store::{Address, Backend, Error, ErrorKind, Event, Job, Outcome, Result, Stop, Worker, describe, open};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const QUEUE: &str = "load";

fn main() -> std::io::Result<()> {
    let mut output = std::io::stdout();
    let mut prepared_store = None;
    for line in std::io::stdin().lock().lines() {
        let answer = answer_line(&line?, &mut prepared_store)
            .unwrap_or_else(|error| format!("{{\"error\":{}}}", quoted(&error.to_string())));
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

/// A connection that is opened in advance, so that opening is not timed.
type PreparedStore = Option<Box<dyn Backend>>;

fn answer_line(line: &str, prepared_store: &mut PreparedStore) -> Result<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number_or_zero = |index: usize| {
        let number = words.get(index).and_then(|word| word.parse::<usize>().ok());
        let forms = "push JOBS CONNECTIONS BATCH, work JOBS AT_ONCE, or drain AT_ONCE MILLIS";
        number.ok_or_else(|| input(format!("{line:?} is not {forms}")))
    };
    let number = |index: usize| match number_or_zero(index)? {
        0 => Err(input(format!("a number in {line:?} is 0"))),
        number => Ok(number),
    };
    match words.first() {
        Some(&"hello") => Ok(format!(r#"{{"name":"icecore-store","version":"{}"}}"#, env!("CARGO_PKG_VERSION"))),
        Some(&"setup") => {
            *prepared_store = Some(open(&address()?)?);
            Ok("{}".to_owned())
        }
        // The library has one way to push jobs, so both commands use it.
        Some(&("push" | "copy")) => push(number(1)?, number(2)?, number(3)?),
        Some(&"work") => work(number(1)?, number(2)?),
        Some(&"drain") => {
            let answer = drain(prepared_store.take(), number(1)?, number_or_zero(2)?)?;
            *prepared_store = Some(open(&address()?)?);
            Ok(answer)
        }
        _ => Err(input(format!("{line:?} is not hello, setup, push, copy, work or drain"))),
    }
}

/// Queues `jobs` jobs over `connections` connections, in transactions of `batch` jobs.
fn push(jobs: usize, connections: usize, batch: usize) -> Result<String> {
    let (address, payload) = (address()?, payload()?);
    let stores = (0..connections).map(|_| open(&address)).collect::<Result<Vec<_>>>()?;
    let next_job = AtomicUsize::new(0);
    let push_some = |mut store: Box<dyn Backend>| -> Result<()> {
        loop {
            let first = next_job.fetch_add(batch, Ordering::Relaxed);
            let batch_jobs = first..jobs.min(first + batch);
            if batch_jobs.is_empty() {
                return Ok(());
            }
            let batch_jobs: Vec<_> =
                batch_jobs.map(|_| describe::describe_job(QUEUE, payload.clone(), Some("json"))).collect();
            store.push(&batch_jobs)?;
        }
    };
    let push_some = &push_some;
    let began = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = stores.into_iter().map(|store| scope.spawn(move || push_some(store))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(failed("a thread ended"))))
    })?;
    Ok(measurement_json(jobs, began.elapsed()))
}

/// Does `jobs` jobs, `concurrency` at a time. Returns the time from before the first connection to the last job whose
/// end is in the database.
fn work(jobs: usize, concurrency: usize) -> Result<String> {
    let address = address()?;
    let mut worker = Worker::new(QUEUE, "load");
    worker.concurrency = concurrency;
    let stop = Stop::new();
    let noop = |_: &Job| Outcome::Done(None);
    let (mut done, mut ended, mut problem) = (0, None, None);
    let began = Instant::now();
    let mut on_event = |event: Event<'_>| match event {
        Event::Begun(_) | Event::Fired(_) | Event::Idle => {}
        Event::Done(_) => {
            done += 1;
            if done == jobs {
                ended = Some(began.elapsed());
                stop.drain();
            }
        }
        other => {
            problem = Some(format!("{other:?}"));
            stop.drain();
        }
    };
    worker.run(&|| open(&address), Arc::new(noop), &stop, &mut on_event)?;
    match (problem, ended) {
        (Some(problem), _) => Err(failed(&problem)),
        (None, Some(duration)) => Ok(measurement_json(jobs, duration)),
        (None, None) => Err(failed("the worker ended before all was done")),
    }
}

/// Works until the queue hands out nothing more, next to other programs that do the same; each job takes `millis`
/// milliseconds. Returns the number of its jobs, and the time from its start to the last job whose end is in the
/// database.
fn drain(prepared_store: PreparedStore, concurrency: usize, millis: usize) -> Result<String> {
    let address = address()?;
    let mut worker = Worker::new(QUEUE, format!("load-{}", std::process::id()));
    (worker.concurrency, worker.until_empty) = (concurrency, true);
    let prepared_store = Mutex::new(prepared_store);
    let connect = || match prepared_store.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(store) => Ok(store),
        None => open(&address),
    };
    let pause = Duration::from_millis(millis as u64);
    let wait = move |_: &Job| {
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        Outcome::Done(None)
    };
    let stop = Stop::new();
    let (mut done, mut duration, mut problem) = (0, Duration::ZERO, None);
    let began = Instant::now();
    let mut on_event = |event: Event<'_>| match event {
        Event::Begun(_) | Event::Fired(_) | Event::Idle => {}
        Event::Done(_) => (done, duration) = (done + 1, began.elapsed()),
        other => {
            problem = Some(format!("{other:?}"));
            stop.drain();
        }
    };
    worker.run(&connect, Arc::new(wait), &stop, &mut on_event)?;
    problem.map_or(Ok(measurement_json(done, duration)), |problem| Err(failed(&problem)))
}

fn measurement_json(jobs: usize, duration: Duration) -> String {
    format!(r#"{{"jobs":{jobs},"ns":{}}}"#, duration.as_nanos())
}

fn address() -> Result<Address> {
    variable("ICECORE_LOAD_DB")?.parse()
}

fn payload() -> Result<Vec<u8>> {
    let file = variable("ICECORE_LOAD_PAYLOAD")?;
    std::fs::read(&file).map_err(|error| input(format!("{file}: {error}")))
}

fn variable(name: &str) -> Result<String> {
    std::env::var(name).map_err(|_| input(format!("{name} is not set")))
}

fn input(text: String) -> Error {
    Error::new(ErrorKind::Input, text)
}

fn failed(text: &str) -> Error {
    Error::new(ErrorKind::Database, text)
}

/// Returns a string of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            character if character.is_control() => out.push(' '),
            character => out.push(character),
        }
    }
    out + "\""
}
