//! `icecore queue`: jobs in a database.

mod args;
mod job_line;
pub mod queue_names;
mod schedules;

pub use args::Queue;

use crate::arguments::{DEFAULT_TARGET, Global};
use crate::database::{current_user_name, database_error, parse_id};
use crate::mistakes;
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, Report, code, io_reason, usage_text_error};
use crate::source::Source;
use crate::tty;
pub use args::DEFAULT_QUEUE;
use args::{ListArgs, Push, QueueAction, QueueArg, QueueStats, Redrive, Set};
use icecore::Stage;
use icecore_store::{Backend, Flow, Id, Job, JobFilter, NewJob, QueueSettings, QueueStatus, State, describe, time};
use icecore_tables::plural::format_count;
use job_line::JobLine;
use serde::Serialize;
use std::time::Duration;

/// Maximum number of jobs that are requested from the database at once.
const MAX_PAGE_LEN: usize = 1_000;

pub fn run(args: &Queue, global: &Global, report: &mut Report) -> Result<(), Abort> {
    let database = &args.database;
    if let QueueAction::Push(push) = &args.action {
        // The files are read before the database is created, so that an unreadable file leaves no empty database.
        let (queue, jobs) = read_jobs(push, report)?;
        return push_jobs(push, queue, &jobs, database.open()?.as_mut(), global, report);
    }
    let mut store = if args.action.needs_data() { database.open_existing()? } else { database.open()? };
    let store = store.as_mut();
    match &args.action {
        // Handled above.
        QueueAction::Push(_) => Ok(()),
        QueueAction::List(args) => list_jobs(&args.queue_arg, args.state, &args.list_args, store, global, report),
        QueueAction::Dead(args) => {
            list_jobs(&args.queue_arg, Some(args::StateFilter::Dead), &args.list_args, store, global, report)
        }
        QueueAction::Stats(stats) => print_queue_stats(stats, store, global, report),
        QueueAction::Redrive(redrive) => redrive_jobs(redrive, store, report),
        QueueAction::Replay(replay) => {
            let mut writer = OutputWriter::stdout();
            for id in &replay.ids {
                match store.replay(*id, &current_user_name()) {
                    Ok(new) => writer.write_text(&format!("{new}\n"))?,
                    Err(error) if error.kind() == icecore_store::ErrorKind::Missing => {
                        report.report_fault(code::FINDING, &id.to_string(), "there is no such job");
                    }
                    Err(error) => return Err(database_error(error)),
                }
            }
            writer.flush()
        }
        QueueAction::Pause(args) => {
            let queue = queue_names::queue_or_default(&args.queue_arg, report);
            queue_names::find_or_allow_new_queue(queue, args.create, store, report)?;
            queue_names::require_queue(queue, args.create, store)?;
            let is_paused = true;
            store.pause(queue, is_paused, &current_user_name()).map_err(database_error)
        }
        QueueAction::Resume(args) => {
            let queue = queue_names::queue_or_default(&args.queue_arg, report);
            queue_names::find_queue(queue, store, report)?;
            let is_paused = false;
            store.pause(queue, is_paused, &current_user_name()).map_err(database_error)
        }
        QueueAction::Set(set) => {
            let queue = queue_names::queue_or_default(&set.queue_arg, report);
            queue_names::find_or_allow_new_queue(queue, set.create, store, report)?;
            configure_queue(set, queue, store)?;
            report_settings(set, queue, store, report)
        }
        QueueAction::Forget(forget) => {
            let now = store.now().map_err(database_error)?;
            let age = i64::try_from(forget.older.as_millis()).unwrap_or(i64::MAX);
            let count = store.remove_ended_jobs(now.saturating_sub(age)).map_err(database_error)?;
            print_text(&format!("{count} removed\n"))
        }
        QueueAction::Schedule(schedule) => schedules::set_schedule(schedule, store, report),
        QueueAction::Schedules(args) => schedules::list_schedules(args, store, global),
        QueueAction::Unschedule(args) => schedules::remove_schedules(args, store, report),
    }
}

fn print_text(text: &str) -> Result<(), Abort> {
    let mut writer = OutputWriter::stdout();
    writer.write_text(text)?;
    writer.flush()
}

/// A job as `queue push --json` prints it.
#[derive(Serialize)]
struct QueuedJob {
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
    for source in Source::find_all(files, report) {
        report.count_input();
        let name = source.name();
        match source.read() {
            Ok(bytes) => {
                let (payloads, format) = match args.each {
                    true => split_lines(&bytes, args.format.as_deref()).map_err(|text| {
                        usage_text_error(format!("{name}: --each is for JSON lines, and {text}; nothing was queued"))
                    })?,
                    false => (vec![(1, &*bytes)], args.format.clone()),
                };
                for (number, payload) in payloads {
                    let mut job = describe::describe_job(queue, payload.to_vec(), format.as_deref());
                    if let Some(problem) = job.description.problem.as_ref().filter(|_| args.each) {
                        let message = format!("{name}: line {number} can't be decoded: {problem}; nothing was queued");
                        return Err(Abort::Failed(code::INPUT, message));
                    }
                    if let Some(problem) = &job.description.problem {
                        report.report_note(&name, "undecodable", format!("queued, but it can't be decoded: {problem}"));
                    }
                    let stage = job.description.format.as_deref().and_then(|format| Stage::parse(format).ok());
                    if stage.is_some_and(|stage| stage.of_line().is_some()) {
                        let text = "its lines are one job; --each queues each of them as a job of its own";
                        report.report_note(&name, "lines", text.to_owned());
                    }
                    (job.priority, job.delay) = (args.priority, args.delay.unwrap_or(Duration::ZERO));
                    (job.unique_key, job.max_attempts) = (args.unique.clone(), args.max_attempts);
                    let previous = jobs.last().filter(|_| args.chain).map(|last: &NewJob| last.id);
                    job.after = previous.or(args.after);
                    jobs.push(job);
                }
            }
            Err(error) => {
                report.report_io_error(&name, &error);
                is_complete = false;
            }
        }
    }
    if !is_complete {
        return Err(usage_text_error("nothing was queued"));
    }
    Ok((queue, jobs))
}

/// A line of a text, with its number from 1.
type NumberedLine<'b> = (usize, &'b [u8]);

/// Returns the lines of a text, without blank ones, and their format. A format that was given is that of a line, or of
/// lines. The error says what the text is.
fn split_lines<'b>(bytes: &'b [u8], format: Option<&str>) -> Result<(Vec<NumberedLine<'b>>, Option<String>), String> {
    let stage = match format {
        Some(format) => Stage::parse(format),
        None => icecore::detect::stage_of(bytes),
    };
    let stage = stage.map_err(|_| "this is in no known format".to_owned())?;
    let line_stage = stage.of_line().or_else(|| format.map(|_| stage.clone()));
    let line_stage = line_stage.ok_or_else(|| format!("this is {}", stage.name()))?;
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = (1..).zip(lines).filter(|(_, line)| !line.is_empty());
    Ok((lines.collect(), Some(line_stage.name())))
}

fn push_jobs(
    args: &Push,
    queue: &str,
    jobs: &[NewJob],
    store: &mut dyn Backend,
    global: &Global,
    report: &Report,
) -> Result<(), Abort> {
    queue_names::report_new_queue(queue, store, report)?;
    let pushed_jobs = store.push(jobs).map_err(database_error)?;
    let mut writer = OutputWriter::for_report(args.json, global.color);
    for job in pushed_jobs {
        match args.json {
            true => {
                writer.write_object(&QueuedJob { id: job.id.to_string(), queue: queue.to_owned(), new: job.is_new })?
            }
            false => writer.write_text(&format!("{}\n", job.id))?,
        }
    }
    writer.flush()
}

fn list_jobs(
    queue_arg: &QueueArg,
    state: Option<args::StateFilter>,
    args: &ListArgs,
    store: &mut dyn Backend,
    global: &Global,
    report: &Report,
) -> Result<(), Abort> {
    if let Some(queue) = queue_arg.name() {
        queue_names::find_queue(queue, store, report)?;
    }
    let queue = queue_arg.name().map(str::to_owned);
    let mut filter = JobFilter { queue, state: state.map(args::StateFilter::to_state), ..JobFilter::default() };
    let paint = Paint::new(global.color, &std::io::stdout());
    let mut writer = OutputWriter::stdout();
    if args.json {
        writer.paint_json(global.color);
    }
    let mut decoder = describe::Decoder::default();
    let mut remaining = args.items.unwrap_or(u64::MAX);
    let mut is_first = true;
    let is_narrow = tty::stdout_width().is_some_and(|width| width < job_line::MIN_ONE_LINE_WIDTH);
    let now = store.now().map_err(database_error)?;
    while remaining > 0 {
        let (page_len, mut count, mut stop_reason) =
            (usize::try_from(remaining).unwrap_or(MAX_PAGE_LEN).min(MAX_PAGE_LEN), 0, None);
        let mut after = filter.after;
        let page_result = store.jobs(&filter, page_len, &mut |job| {
            (count, after) = (count + 1, job.sequence);
            let is_delayed = job.state == State::Ready && job.run_at > now;
            if state.is_some_and(|state| !state.includes(is_delayed)) {
                return Ok(Flow::Continue);
            }
            remaining -= 1;
            let line = JobLine::from_job(&job, is_delayed, &mut decoder);
            let header = if is_first && !args.json { job_line::format_header(paint, is_narrow) } else { String::new() };
            is_first = false;
            let result = match args.json {
                true => writer.write_json(&line).and_then(|()| writer.write_text("\n")),
                false => {
                    writer.write_text(&header).and_then(|()| writer.write_text(&line.format_row(paint, is_narrow)))
                }
            };
            stop_reason = result.and_then(|()| writer.release_record()).err();
            Ok(if stop_reason.is_some() { Flow::Stop } else { Flow::Continue })
        });
        if let Some(abort) = stop_reason {
            return Err(abort);
        }
        page_result.map_err(database_error)?;
        filter.after = after;
        if count < page_len {
            break;
        }
    }
    writer.flush()
}

/// Makes dead jobs ready again: those with the given ids, or all of a queue.
fn redrive_jobs(args: &Redrive, store: &mut dyn Backend, report: &mut Report) -> Result<(), Abort> {
    let queue = match (&args.words[..], &args.queue_arg.queue) {
        ([], Some(queue)) => Some(queue.as_str()),
        ([], None) => Some(queue_names::report_default_queue(report)),
        ([word], None) if word.parse::<Id>().is_err() => Some(word.as_str()),
        _ => None,
    };
    if let Some(queue) = queue {
        queue_names::find_queue(queue, store, report)?;
        let count = store.redrive(queue, None, &current_user_name()).map_err(database_error)?;
        return print_text(&format!("{count} ready again\n"));
    }
    let mut count = 0;
    let ids = args.words.iter().map(|word| parse_id(word)).collect::<Result<Vec<Id>, String>>();
    for id in &ids.map_err(usage_text_error)? {
        let job = store.job(*id).map_err(database_error)?;
        let redriven = match &job {
            Some(job) => store.redrive(&job.queue, Some(&[*id]), &current_user_name()).map_err(database_error)?,
            None => 0,
        };
        let is_ready = job.as_ref().is_some_and(|job| job.state == State::Ready);
        if redriven == 0 && is_ready {
            report.report_note(&id.to_string(), "ready", "this job is ready already: it waits for a worker".to_owned());
        } else if redriven == 0 {
            report.report_fault(
                code::FINDING,
                &id.to_string(),
                job.as_ref().map_or("this job does not exist".to_owned(), describe_live_job),
            );
        }
        count += redriven;
    }
    print_text(&format!("{count} ready again\n"))
}

/// Returns why a job can't be made ready.
fn describe_live_job(job: &Job) -> String {
    match job.state {
        State::Leased => "this job is not dead: a worker runs it".to_owned(),
        State::Done => "this job is done: `icecore queue replay` queues it again".to_owned(),
        State::Waiting => "this job is not dead: it waits for another job".to_owned(),
        _ => "this job could not be made ready".to_owned(),
    }
}

fn configure_queue(args: &Set, queue: &str, store: &mut dyn Backend) -> Result<(), Abort> {
    let read_file = |file: &std::path::PathBuf| {
        std::fs::read_to_string(file)
            .map_err(|error| Abort::Failed(code::USAGE, format!("{}: {}", file.display(), io_reason(&error))))
    };
    let schema = args.schema.as_ref().map(read_file).transpose()?;
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
    store.configure(queue, &settings).map_err(database_error)
}

/// Prints the new limit of attempts, and how many queued jobs keep their old limit.
fn report_settings(args: &Set, queue: &str, store: &mut dyn Backend, report: &Report) -> Result<(), Abort> {
    let Some(attempts) = args.max_attempts else { return Ok(()) };
    let queues = store.queues().map_err(database_error)?;
    let status = queues.iter().find(|status| status.name == queue);
    let unfinished_states = [State::Ready, State::Leased, State::Waiting];
    let count: u64 =
        status.map_or(0, |status| unfinished_states.iter().map(|state| status.count_in_state(*state)).sum());
    let mut text =
        format!("{queue}: new jobs get at most {}", format_count(attempts.max(1).into(), "attempt", "attempts"));
    if count > 0 {
        let (jobs, keep) =
            (format_count(count, "queued job", "queued jobs"), if count == 1 { "keeps its" } else { "keep their" });
        text.push_str(&format!("; {jobs} {keep} limit"));
    }
    report.report_command_note("settings", text);
    Ok(())
}

/// A queue as `queue stats --json` prints it.
#[derive(Serialize)]
struct QueueNumbers<'q> {
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
    max_attempts: Option<u32>,
    backoff_seconds: Option<f64>,
}

impl QueueNumbers<'_> {
    fn from_status(queue: &QueueStatus) -> QueueNumbers<'_> {
        QueueNumbers {
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
            max_attempts: queue.max_attempts,
            backoff_seconds: queue.backoff.map(|backoff| backoff.as_secs_f64()),
        }
    }
}

impl QueueNumbers<'_> {
    /// Describes the settings that differ from the defaults.
    fn list_settings(&self) -> Vec<String> {
        let mut settings = Vec::new();
        settings.extend(self.paused_at.as_ref().map(|_| "paused".to_owned()));
        settings.extend(self.concurrency.map(|concurrency| format!("{concurrency} at a time")));
        settings.extend(self.rate.clone());
        settings.extend(self.max_attempts.map(|attempts| format_count(attempts.into(), "attempt", "attempts")));
        settings.extend(self.backoff_seconds.map(|seconds| format!("backoff {seconds} s")));
        settings
    }
}

fn print_queue_stats(
    args: &QueueStats,
    store: &mut dyn Backend,
    global: &Global,
    report: &Report,
) -> Result<(), Abort> {
    let (is_json, requested_queue) = (args.json, args.queue_arg.name());
    if let Some(queue) = requested_queue {
        queue_names::find_queue(queue, store, report)?;
    }
    let mut queues = store.queues().map_err(database_error)?;
    queues.retain(|queue| requested_queue.is_none_or(|name| queue.name == name));
    let mut writer = OutputWriter::stdout();
    let paint = Paint::new(global.color, &std::io::stdout());
    let is_narrow = tty::stdout_width().is_some_and(|width| width < job_line::MIN_ONE_LINE_WIDTH);
    if is_json {
        writer.paint_json(global.color);
    } else {
        let header = format!(
            "{:15} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}",
            "QUEUE", "READY", "DELAYED", "LEASED", "WAITING", "DONE", "DEAD", "OLDEST"
        );
        writer.write_text(&format!("{}\n", paint.ink(Ink::Faint, header)))?;
    }
    for queue in &queues {
        let numbers = QueueNumbers::from_status(queue);
        if is_json {
            writer.write_json(&numbers)?;
            writer.write_text("\n")?;
            continue;
        }
        let oldest = numbers.oldest_seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1} s"));
        writer.write_text(&format!(
            "{} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {oldest:>9}",
            paint.column(Ink::Name, icecore::text::shortened(&queue.name, 60), 15),
            numbers.ready,
            numbers.delayed,
            numbers.leased,
            numbers.waiting,
            numbers.done,
            numbers.dead
        ))?;
        let notes = numbers.list_settings().join(", ");
        let separator = match notes.is_empty() {
            true => "",
            false if is_narrow => "\n    ",
            false => "  ",
        };
        writer.write_text(&format!("{separator}{notes}\n"))?;
    }
    writer.flush()
}
