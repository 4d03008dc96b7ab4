//! `icecore queue`: jobs in a database.

mod args;
pub mod known;
mod line;
mod schedules;

pub use args::Queue;

use crate::arguments::{DEFAULT_TARGET, Global};
use crate::database::{failed, id, who};
use crate::mistakes;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code, io_reason, usage_of};
use crate::sink::Sink;
use crate::source::Source;
pub use args::USUAL;
use args::{Action, Listed, Push, Redrive, Set, Stats, Which};
use icecore_store::{Backend, Flow, Id, JobFilter, NewJob, QueueSettings, QueueStatus, State, describe, time};
use line::Line;
use serde::Serialize;
use std::time::Duration;

/// Number of jobs that are requested at once.
const PAGE: usize = 1_000;

pub fn run(args: &Queue, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let database = &args.database;
    if let Action::Push(push) = &args.action {
        // Before there is a database: a file that can't be read leaves none behind.
        let (queue, jobs) = read_jobs(push, report)?;
        return push_jobs(push, queue, &jobs, database.open()?.as_mut(), global, report);
    }
    let mut store = if args.action.needs_data() { database.open_existing()? } else { database.open()? };
    let store = store.as_mut();
    match &args.action {
        // Done above, before the database was opened.
        Action::Push(_) => Ok(()),
        Action::List(args) => list(&args.which, args.state, &args.shown, store, global, report),
        Action::Dead(args) => list(&args.which, Some(args::Only::Dead), &args.shown, store, global, report),
        Action::Stats(stats) => say_stats(stats, store, global, report),
        Action::Redrive(redrive) => again(redrive, store, report),
        Action::Replay(replay) => {
            let mut sink = Sink::stdout();
            for id in &replay.ids {
                match store.replay(*id, &who()) {
                    Ok(new) => sink.text(&format!("{new}\n"))?,
                    Err(error) if error.kind() == icecore_store::ErrorKind::Missing => {
                        report.fault(code::FINDING, &id.to_string(), "there is no such job");
                    }
                    Err(error) => return Err(failed(error)),
                }
            }
            sink.flush()
        }
        Action::Pause(args) => {
            let queue = known::named_or_usual(&args.which, report);
            known::look_up_or_create(queue, args.create, store, report)?;
            store.pause(queue, true, &who()).map_err(failed)
        }
        Action::Resume(args) => {
            let queue = known::named_or_usual(&args.which, report);
            known::look_up(queue, store, report)?;
            store.pause(queue, false, &who()).map_err(failed)
        }
        Action::Set(set) => {
            let queue = known::named_or_usual(&set.which, report);
            known::look_up_or_create(queue, set.create, store, report)?;
            configure(set, queue, store)
        }
        Action::Forget(forget) => {
            let now = store.now().map_err(failed)?;
            let age = i64::try_from(forget.older.as_millis()).unwrap_or(i64::MAX);
            let count = store.forget(now.saturating_sub(age)).map_err(failed)?;
            say(&format!("{count} removed\n"))
        }
        Action::Schedule(schedule) => schedules::set(schedule, store, report),
        Action::Schedules(args) => schedules::list(args, store, global),
        Action::Unschedule(args) => schedules::remove(args, store, report),
    }
}

fn say(text: &str) -> Result<(), Abort> {
    let mut sink = Sink::stdout();
    sink.text(text)?;
    sink.flush()
}

/// A job as `queue push --json` prints it.
#[derive(Serialize)]
struct Queued {
    id: String,
    queue: String,
    new: bool,
}

/// Reads the payloads of the files. If one of them can't be read, nothing is queued.
fn read_jobs<'a>(args: &'a Push, report: &mut Report) -> Result<(&'a str, Vec<NewJob>), Abort> {
    if let Some(format) = &args.format {
        mistakes::stage(format)?;
    }
    let (queue, files) = args.queue_and_files();
    let (mut jobs, mut is_complete) = (Vec::new(), true);
    for source in Source::all(files, report) {
        report.input();
        let name = source.name();
        match source.read() {
            Ok(bytes) => {
                let mut job = describe::describe_job(queue, bytes.to_vec(), args.format.as_deref());
                if let Some(problem) = &job.said.problem {
                    report.note(&name, "undecodable", format!("queued, but it can't be decoded: {problem}"));
                }
                (job.priority, job.delay) = (args.priority, args.delay.unwrap_or(Duration::ZERO));
                (job.unique_key, job.max_attempts) = (args.unique.clone(), args.max_attempts);
                let before = jobs.last().filter(|_| args.chain).map(|last: &NewJob| last.id);
                job.after = before.or(args.after);
                jobs.push(job);
            }
            Err(error) => {
                report.io(&name, &error);
                is_complete = false;
            }
        }
    }
    if !is_complete {
        return Err(usage_of("nothing was queued"));
    }
    Ok((queue, jobs))
}

fn push_jobs(
    args: &Push,
    queue: &str,
    jobs: &[NewJob],
    store: &mut dyn Backend,
    global: &Global,
    report: &Report,
) -> Result<(), Abort> {
    known::note_new(queue, store, report)?;
    let pushed = store.push(jobs).map_err(failed)?;
    let mut sink = Sink::report(args.json, global.color);
    for pushed in pushed {
        match args.json {
            true => sink.object(&Queued { id: pushed.id.to_string(), queue: queue.to_owned(), new: pushed.is_new })?,
            false => sink.text(&format!("{}\n", pushed.id))?,
        }
    }
    sink.flush()
}

fn list(
    which: &Which,
    state: Option<args::Only>,
    args: &Listed,
    store: &mut dyn Backend,
    global: &Global,
    report: &Report,
) -> Result<(), Abort> {
    if let Some(queue) = which.name() {
        known::look_up(queue, store, report)?;
    }
    let queue = which.name().map(str::to_owned);
    let mut filter = JobFilter { queue, state: state.map(args::Only::state), ..JobFilter::default() };
    let paint = Paint::new(global.color, &std::io::stdout());
    let mut sink = Sink::stdout();
    if args.json {
        sink.paint_json(global.color);
    }
    let mut decoder = describe::Decoder::default();
    let mut left = args.items.unwrap_or(u64::MAX);
    let mut is_first = true;
    let now = store.now().map_err(failed)?;
    while left > 0 {
        let (page, mut count, mut ended) = (usize::try_from(left).unwrap_or(PAGE).min(PAGE), 0, None);
        let mut after = filter.after;
        let walked = store.jobs(&filter, page, &mut |job| {
            (count, after) = (count + 1, job.sequence);
            let is_delayed = job.state == State::Ready && job.run_at > now;
            if state.is_some_and(|state| !state.includes(is_delayed)) {
                return Ok(Flow::On);
            }
            left -= 1;
            let line = Line::of(&job, is_delayed, &mut decoder);
            let head = if is_first && !args.json { line::head(paint) } else { String::new() };
            is_first = false;
            let put = match args.json {
                true => sink.json(&line).and_then(|()| sink.text("\n")),
                false => sink.text(&head).and_then(|()| sink.text(&line.line(paint))),
            };
            ended = put.and_then(|()| sink.pass()).err();
            Ok(if ended.is_some() { Flow::Stop } else { Flow::On })
        });
        if let Some(abort) = ended {
            return Err(abort);
        }
        walked.map_err(failed)?;
        filter.after = after;
        if count < page {
            break;
        }
    }
    sink.flush()
}

fn again(args: &Redrive, store: &mut dyn Backend, report: &mut Report) -> Result<(), Abort> {
    let named = match (&args.words[..], &args.which.queue) {
        ([], Some(queue)) => Some(queue.as_str()),
        ([], None) => Some(known::note_usual(report)),
        ([word], None) if word.parse::<Id>().is_err() => Some(word.as_str()),
        _ => None,
    };
    if let Some(queue) = named {
        known::look_up(queue, store, report)?;
        let count = store.redrive(queue, None, &who()).map_err(failed)?;
        return say(&format!("{count} ready again\n"));
    }
    let mut count = 0;
    let ids = args.words.iter().map(|word| id(word)).collect::<Result<Vec<Id>, String>>();
    for id in &ids.map_err(usage_of)? {
        let made = match store.job(*id).map_err(failed)? {
            Some(job) => store.redrive(&job.queue, Some(&[*id]), &who()).map_err(failed)?,
            None => 0,
        };
        if made == 0 {
            report.fault(code::FINDING, &id.to_string(), "there is no such dead job");
        }
        count += made;
    }
    say(&format!("{count} ready again\n"))
}

fn configure(args: &Set, queue: &str, store: &mut dyn Backend) -> Result<(), Abort> {
    let read = |file: &std::path::PathBuf| {
        std::fs::read_to_string(file)
            .map_err(|error| Abort::Failed(code::USAGE, format!("{}: {}", file.display(), io_reason(&error))))
    };
    let schema = args.schema.as_ref().map(read).transpose()?;
    if let Some(schema) = schema.as_deref().filter(|schema| !schema.trim().is_empty()) {
        icecore::convert(schema.as_bytes(), DEFAULT_TARGET, DEFAULT_TARGET)
            .map_err(|error| Abort::Failed(code::INPUT, format!("the schema is not JSON: {error}")))?;
    }
    let settings = QueueSettings {
        max_attempts: args.max_attempts,
        backoff: args.backoff,
        schema,
        concurrency: args.concurrency,
        rate: args.rate,
    };
    store.configure(queue, &settings).map_err(failed)
}

/// A queue as `queue stats --json` prints it.
#[derive(Serialize)]
struct Numbers<'q> {
    queue: &'q str,
    ready: u64,
    delayed: u64,
    leased: u64,
    done: u64,
    dead: u64,
    waiting: u64,
    oldest_seconds: Option<f64>,
    paused_at: Option<String>,
    has_schema: bool,
    concurrency: Option<u32>,
    rate: Option<String>,
}

impl Numbers<'_> {
    fn of(queue: &QueueStatus) -> Numbers<'_> {
        Numbers {
            queue: &queue.name,
            ready: queue.count_in_state(State::Ready).saturating_sub(queue.delayed),
            delayed: queue.delayed,
            leased: queue.count_in_state(State::Leased),
            done: queue.count_in_state(State::Done),
            dead: queue.count_in_state(State::Dead),
            waiting: queue.count_in_state(State::Waiting),
            oldest_seconds: queue.oldest.map(|millis| millis as f64 / 1000.0),
            paused_at: queue.paused_at.map(time::format_utc),
            has_schema: queue.schema.is_some(),
            concurrency: queue.concurrency,
            rate: queue.rate.map(|rate| rate.to_string()),
        }
    }
}

fn say_stats(args: &Stats, store: &mut dyn Backend, global: &Global, report: &Report) -> Result<(), Abort> {
    let (is_json, named) = (args.json, args.which.name());
    if let Some(queue) = named {
        known::look_up(queue, store, report)?;
    }
    let mut queues = store.queues().map_err(failed)?;
    queues.retain(|queue| named.is_none_or(|name| queue.name == name));
    let mut sink = Sink::stdout();
    let paint = Paint::new(global.color, &std::io::stdout());
    if is_json {
        sink.paint_json(global.color);
    } else {
        let head = format!(
            "{:20} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {:>9}",
            "QUEUE", "READY", "DELAYED", "LEASED", "WAITING", "DONE", "DEAD", "OLDEST"
        );
        sink.text(&format!("{}\n", paint.ink(Ink::Faint, head)))?;
    }
    for queue in &queues {
        let numbers = Numbers::of(queue);
        if is_json {
            sink.json(&numbers)?;
            sink.text("\n")?;
            continue;
        }
        let oldest = numbers.oldest_seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1} s"));
        let mut notes = String::new();
        if numbers.paused_at.is_some() {
            notes.push_str("  paused");
        }
        if let Some(most) = numbers.concurrency {
            notes.push_str(&format!("  {most} at a time"));
        }
        if let Some(rate) = &numbers.rate {
            notes.push_str(&format!("  {rate}"));
        }
        sink.text(&format!(
            "{} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {oldest:>9}{notes}\n",
            paint.column(Ink::Name, icecore::text::shortened(&queue.name, 60), 20),
            numbers.ready,
            numbers.delayed,
            numbers.leased,
            numbers.waiting,
            numbers.done,
            numbers.dead
        ))?;
    }
    sink.flush()
}
