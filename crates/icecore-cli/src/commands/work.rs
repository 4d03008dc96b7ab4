//! `icecore work`: runs a command for each job.

use super::queue::{DEFAULT_QUEUE, queue_names};
use crate::database::{Database, current_user_name, database_error, parse_duration};
use crate::limits;
use crate::report::{Abort, Report, code, usage_text_error};
use crate::secrets;
use crate::signals;
use clap::Args;
use icecore_store::{Backend, Command, Event, Job, QueueStatus, Reopener, Runner, State, Stdin, Stop, Worker};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Maximum number of queues that a note lists.
const MAX_LISTED_QUEUES: usize = 5;

/// Run a command for each job of a queue
///
/// The command gets the payload of a job as JSON on its standard input, and ICECORE_JOB_ID, ICECORE_JOB_ATTEMPT,
/// ICECORE_JOB_QUEUE and, for a job that follows another one, ICECORE_JOB_AFTER in its environment. A payload that can't
/// be decoded is passed as its original bytes, as all are with --raw. If the command exits with 0, the job is done and
/// its output is the result; otherwise the job is tried again later. On SIGTERM or SIGINT (Ctrl-C), running jobs are
/// finished and no new ones are started.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Work {
    #[command(flatten)]
    pub database: Database,
    /// Name of the queue
    #[arg(long, value_name = "QUEUE", default_value = DEFAULT_QUEUE)]
    pub queue: String,
    /// Wait for jobs of a queue that does not exist yet
    ///
    /// Without it, a name that is similar to the name of an existing queue is an error.
    #[arg(long)]
    pub create: bool,
    /// Command to run, as typed in a shell; its output is the result of the job
    #[arg(long, value_name = "COMMAND")]
    pub exec: String,
    /// Number of jobs that run at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = limits::whole_number::<u16>(1, 65_535), allow_negative_numbers = true)]
    pub concurrency: u16,
    /// Kill a command that takes longer, and retry the job
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// How long a job belongs to this worker; extended while the job runs
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "60s")]
    pub lease: Duration,
    /// Pass the original bytes of each payload to the command, not JSON
    #[arg(long)]
    pub raw: bool,
    /// Exit when the queue has no more jobs to hand out
    #[arg(long)]
    pub until_empty: bool,
    /// Name under which jobs are taken; by default the user and the machine
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  icecore work --queue mail --exec 'jq -r .to | xargs -n1 send-mail'
  icecore work --db postgres://app@db/app --queue resize --exec ./resize --concurrency 4 --timeout 5m
  icecore work --exec 'ruby job.rb' --raw --until-empty";

pub fn run(args: &Work, report: &mut Report) -> Result<(), Abort> {
    let address = args.database.resolve_address()?;
    // A database that can't be opened is reported at once. If it fails later, the worker waits for it.
    let database = Reopener::new(address);
    let mut store = database.open().map_err(database_error)?;
    let queue = queue_names::find_or_allow_new_queue(&args.queue, args.create, store.as_mut(), report)?;
    if args.queue == DEFAULT_QUEUE {
        report_other_queues(store.as_mut(), report)?;
    }
    drop(store);
    if queue.is_some_and(|queue| queue.paused_at.is_some()) {
        let printable_queue = icecore::text::printable(&args.queue);
        let text =
            format!("the queue is paused and hands out no jobs: `icecore queue resume {printable_queue}` resumes it");
        report.report_note(&args.queue, "paused", text);
    }
    let mut command = Command::new(&args.exec);
    command.check().map_err(usage_text_error)?;
    command.stdin = if args.raw { Stdin::Raw } else { Stdin::Json };
    command.timeout = args.timeout;
    command.hidden = secrets::ALL.iter().map(|name| (*name).to_owned()).collect();
    let stop = Stop::new();
    command.stop = stop.clone();
    drain_on_signal(stop.clone())?;
    let name = args.name.clone().unwrap_or_else(|| format!("{} {}", current_user_name(), std::process::id()));
    let mut worker = Worker::new(&args.queue, name);
    worker.concurrency = usize::from(args.concurrency);
    worker.lease = args.lease;
    worker.until_empty = args.until_empty;
    let mut is_database_away = false;
    // If the command is removed while the worker runs, every further job would fail, so the worker stops.
    let is_command_missing = Arc::new(AtomicBool::new(false));
    let (missing_flag, runner_stop) = (Arc::clone(&is_command_missing), stop.clone());
    let runner = move |job: &Job| {
        let outcome = command.run(job);
        if Command::is_missing(&outcome) {
            missing_flag.store(true, Ordering::Relaxed);
            runner_stop.drain();
        }
        outcome
    };
    // On a terminal, a note says once why nothing happens.
    let mut reports_idle = !args.until_empty && std::io::stderr().is_terminal();
    let tally = worker
        .run(&|| database.open(), Arc::new(runner), &stop, &mut |event| {
            let was_database_away = std::mem::replace(&mut is_database_away, matches!(event, Event::Away(_)));
            match event {
                Event::Away(error) if !was_database_away => {
                    report.report_note("work", "away", format!("{error}; it is tried again"))
                }
                Event::Failed(id, error, state) => {
                    let consequence = match state {
                        State::Dead => "the job is dead",
                        _ => "it is tried again later; `icecore queue redrive ID` tries it at once",
                    };
                    report.report_note(&id.to_string(), "failed", format!("{}; {consequence}", error.trim_end()));
                }
                Event::Idle if std::mem::take(&mut reports_idle) => {
                    let text = "waiting for jobs of this queue; Ctrl-C stops the worker after its running jobs";
                    report.report_note(&args.queue, "idle", text.to_owned());
                }
                Event::Fired(fired) => {
                    if let Some(problem) = &fired.problem {
                        report.report_note(&fired.schedule, "schedule", format!("it is stopped: {problem}"));
                    }
                }
                Event::Lost(id) => {
                    let text = "its lease had ended before the job did, so it may run a second time";
                    report.report_note(&id.to_string(), "lost", text.to_owned());
                }
                _ => {}
            }
        })
        .map_err(database_error)?;
    let (done, failed, lost) = (tally.done, tally.failed, tally.lost);
    report.report_note(&args.queue, "worked", format!("{done} done, {failed} failed, {lost} lost"));
    if is_command_missing.load(Ordering::Relaxed) {
        return Err(usage_text_error("the command of --exec no longer exists: no further job is started"));
    }
    Ok(())
}

/// Reports queues with ready jobs, if the default queue has none: probably one of them was meant.
fn report_other_queues(store: &mut dyn Backend, report: &Report) -> Result<(), Abort> {
    let queues = store.queues().map_err(database_error)?;
    let ready_count = |queue: &QueueStatus| queue.count_in_state(State::Ready);
    if queues.iter().any(|queue| queue.name == DEFAULT_QUEUE && ready_count(queue) > 0) {
        return Ok(());
    }
    let others: Vec<String> = queues
        .iter()
        .filter(|queue| ready_count(queue) > 0)
        .take(MAX_LISTED_QUEUES)
        .map(|queue| format!("{} ({})", icecore::text::printable(&queue.name), ready_count(queue)))
        .collect();
    if !others.is_empty() {
        let text = format!("this queue has no jobs; others have: {}. --queue NAME names one", others.join(", "));
        report.report_note(DEFAULT_QUEUE, "other", text);
    }
    Ok(())
}

/// Makes the first signal stop the worker after its running jobs. The second one ends the command.
fn drain_on_signal(stop: Stop) -> Result<(), Abort> {
    let stop_requested = signals::stop_flag()?;
    let watcher = std::thread::Builder::new().name("drain".to_owned()).spawn(move || {
        while !stop_requested.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.drain();
    });
    watcher.map(drop).map_err(|error| Abort::Failed(code::OTHER, error.to_string()))
}
