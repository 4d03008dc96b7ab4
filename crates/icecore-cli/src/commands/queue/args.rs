//! The command line of `icecore queue`.

use crate::database::{Database, parse_duration, parse_id};
use crate::limits;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use icecore_store::{Id, Rate, State};
use std::path::PathBuf;
use std::time::Duration;

/// Name of the default queue.
pub const DEFAULT_QUEUE: &str = "default";

/// Put jobs into queues, and inspect their state
///
/// A queue exists as soon as it is named. A job runs at least once: if a worker dies, or takes longer than its lease,
/// the next worker gets the job, so it must be safe to run a job twice.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct Queue {
    #[command(flatten)]
    pub database: Database,
    #[command(subcommand)]
    pub action: QueueAction,
}

#[derive(Debug, Subcommand)]
pub enum QueueAction {
    Push(Push),
    List(ListJobs),
    Dead(Dead),
    Stats(QueueStats),
    Redrive(Redrive),
    Replay(Replay),
    Pause(Pause),
    Resume(ResumeQueue),
    Set(Set),
    Forget(Forget),
    Schedule(Schedule),
    Schedules(Schedules),
    Unschedule(Unschedule),
}

impl QueueAction {
    /// Returns true if the action needs existing jobs or schedules.
    pub fn needs_data(&self) -> bool {
        !matches!(
            self,
            QueueAction::Push(_)
                | QueueAction::Pause(_)
                | QueueAction::Resume(_)
                | QueueAction::Set(_)
                | QueueAction::Schedule(_)
        )
    }

    /// Returns true if the action prints text for reading.
    pub fn is_for_reading(&self) -> bool {
        matches!(self, QueueAction::List(_) | QueueAction::Dead(_) | QueueAction::Stats(_) | QueueAction::Schedules(_))
    }
}

/// A queue option, for commands whose positional arguments are something else.
#[derive(Debug, Args)]
pub struct QueueOption {
    /// Name of the queue
    #[arg(id = "named", long = "queue", value_name = "QUEUE")]
    pub queue: Option<String>,
}

/// A queue, given as an argument or with --queue.
#[derive(Debug, Args)]
pub struct QueueArg {
    /// Name of the queue
    #[arg(value_name = "QUEUE", conflicts_with = "named")]
    queue: Option<String>,
    #[command(flatten)]
    option: QueueOption,
}

impl QueueArg {
    /// Returns the name of the queue, if given.
    pub fn name(&self) -> Option<&str> {
        self.queue.as_deref().or(self.option.queue.as_deref())
    }
}

/// Queue files as jobs, and print their ids, one per line
#[derive(Debug, Args)]
#[command(override_usage = "icecore queue push [OPTIONS] [QUEUE] [FILE]...")]
pub struct Push {
    /// Files with the payloads; `-` is the standard input. A first word that is not a file is the queue
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub queue_arg: QueueOption,
    /// Format of the payloads: base64/marshal; detected if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// Priority; larger numbers are handed out first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = limits::whole_number::<i32>(i64::from(i32::MIN), i64::from(i32::MAX)))]
    pub priority: i32,
    /// Do not hand out the job for this long: 90s, 5m
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub delay: Option<Duration>,
    /// Queue nothing while a job with this key is not done; print its id
    #[arg(long, value_name = "KEY")]
    pub unique: Option<String>,
    /// Maximum number of attempts
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u32>(0, i64::from(u32::MAX)))]
    pub max_attempts: Option<u32>,
    /// Hand out the job after the job with this id is done
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    pub after: Option<Id>,
    /// Run each file after the one before it
    #[arg(long)]
    pub chain: bool,
    /// Queue each line of a file of JSON lines as a job of its own
    ///
    /// Without it, a file is one job, whose payload is the list of the lines.
    #[arg(long, conflicts_with = "unique")]
    pub each: bool,
    /// Print a JSON object for each job
    #[arg(long)]
    pub json: bool,
}

impl Push {
    /// Returns the queue and the files. The queue is --queue, or a first word that is neither a file nor the mistyped
    /// name of a file.
    pub fn queue_and_files(&self) -> (&str, &[PathBuf]) {
        if let Some(queue) = &self.queue_arg.queue {
            return (queue, &self.files);
        }
        let Some((first, rest)) = self.files.split_first() else { return (DEFAULT_QUEUE, &self.files) };
        match first.to_str() {
            Some(word) if word != "-" && !word.contains(['.', '/', '\\', '{', '[']) && !first.exists() => (word, rest),
            _ => (DEFAULT_QUEUE, &self.files),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StateFilter {
    /// A worker gets it now
    Ready,
    /// Not before a time
    Delayed,
    Leased,
    Done,
    Dead,
    Waiting,
}

impl StateFilter {
    pub fn to_state(self) -> State {
        match self {
            StateFilter::Ready | StateFilter::Delayed => State::Ready,
            StateFilter::Leased => State::Leased,
            StateFilter::Done => State::Done,
            StateFilter::Dead => State::Dead,
            StateFilter::Waiting => State::Waiting,
        }
    }

    /// Returns true if the filter includes jobs that are delayed, or jobs that are not. Both are in the state
    /// `Ready`.
    pub fn includes(self, is_delayed: bool) -> bool {
        match self {
            StateFilter::Ready => !is_delayed,
            StateFilter::Delayed => is_delayed,
            _ => true,
        }
    }
}

/// How jobs are listed.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// List at most N jobs
    #[arg(long, value_name = "N", value_parser = limits::parse_item_count)]
    pub items: Option<u64>,
    /// Print a JSON object for each job, one per line
    #[arg(long)]
    pub json: bool,
}

/// List jobs of one or all queues, in the order of their arrival
#[derive(Debug, Args)]
pub struct ListJobs {
    #[command(flatten)]
    pub queue_arg: QueueArg,
    /// List only jobs in this state
    #[arg(long, value_enum)]
    pub state: Option<StateFilter>,
    #[command(flatten)]
    pub list_args: ListArgs,
}

/// List jobs that failed too often, of one or all queues
#[derive(Debug, Args)]
pub struct Dead {
    #[command(flatten)]
    pub queue_arg: QueueArg,
    #[command(flatten)]
    pub list_args: ListArgs,
}

/// List one or all queues, with the number of jobs in each
///
/// READY: a worker can take them now. DELAYED: not before a given time. LEASED: a worker has them. WAITING: they wait
/// for another job. DONE. DEAD: they failed too often.
#[derive(Debug, Args)]
pub struct QueueStats {
    #[command(flatten)]
    pub queue_arg: QueueArg,
    /// Print a JSON object for each queue, one per line
    #[arg(long)]
    pub json: bool,
}

/// Run jobs now: dead ones, or single jobs that wait for their time
///
/// Given a queue, makes its dead jobs ready again. They get as many attempts as new jobs. Given ids, makes these jobs
/// ready. They may be dead or delayed, or they failed and wait for the next attempt.
#[derive(Debug, Args)]
pub struct Redrive {
    /// Ids of the jobs, or the name of the queue
    #[arg(value_name = "ID|QUEUE")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub queue_arg: QueueOption,
}

/// Queue the payloads of jobs again as new jobs, and print their ids
#[derive(Debug, Args)]
pub struct Replay {
    /// Ids of the jobs
    #[arg(required = true, value_name = "ID", value_parser = parse_id)]
    pub ids: Vec<Id>,
}

/// Stop handing out the jobs of a queue until it is resumed
///
/// Workers finish the jobs that they have. New jobs are accepted, and wait.
#[derive(Debug, Args)]
#[command(after_long_help = PAUSE_EXAMPLES)]
pub struct Pause {
    #[command(flatten)]
    pub queue_arg: QueueArg,
    /// Pause a queue that does not exist yet
    ///
    /// Without it, a name that is similar to the name of an existing queue is an error.
    #[arg(long)]
    pub create: bool,
}

/// Hand out the jobs of a paused queue again
#[derive(Debug, Args)]
#[command(after_long_help = PAUSE_EXAMPLES)]
pub struct ResumeQueue {
    #[command(flatten)]
    pub queue_arg: QueueArg,
}

/// Change the settings of a queue
#[derive(Debug, Args)]
pub struct Set {
    #[command(flatten)]
    pub queue_arg: QueueArg,
    /// Set up a queue that does not exist yet
    ///
    /// Without it, a name that is similar to the name of an existing queue is an error.
    #[arg(long)]
    pub create: bool,
    /// Maximum number of attempts for its jobs
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u32>(0, i64::from(u32::MAX)))]
    pub max_attempts: Option<u32>,
    /// Delay after a job's first failure; each further failure doubles it
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub backoff: Option<Duration>,
    /// Maximum number of its jobs that run at once; 0 means no limit
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u32>(0, i64::from(u32::MAX)))]
    pub concurrency: Option<u32>,
    /// Maximum number of its jobs handed out per time: 5/s, 100/1m; `none` means no limit
    #[arg(long, value_name = "N/DURATION", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// Check payloads against the JSON Schema in this file; an empty file removes the schema
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
}

/// Remove done and dead jobs that ended at least this long ago
#[derive(Debug, Args)]
pub struct Forget {
    /// Age, for example 7d or 12h
    #[arg(value_name = "DURATION", value_parser = parse_duration)]
    pub older: Duration,
}

/// Queue a job repeatedly
///
/// Every `icecore work` and `icecore serve` of the database queues the jobs that are due. If several times pass while
/// none of them runs, only the first of these gets a job when one runs again. A schedule with the same name is
/// replaced.
#[derive(Debug, Args)]
pub struct Schedule {
    /// Name of the schedule
    pub name: String,
    /// Times: a cron expression, '30 2 * * MON-FRI'; '@hourly', '@daily', '@weekly', '@monthly', '@yearly'; 'every 5m'
    #[arg(required_unless_present_any = ["pause", "resume"])]
    pub timing: Option<String>,
    /// File with the payload; the standard input if not given
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub queue_arg: QueueOption,
    /// Time zone of the times: Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// Queue no job while the last one is not finished
    ///
    /// A job is finished if it is done or dead.
    #[arg(long)]
    pub alone: bool,
    /// Format of the payload: base64/marshal; detected if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// Priority; larger numbers are handed out first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = limits::whole_number::<i32>(i64::from(i32::MIN), i64::from(i32::MAX)))]
    pub priority: i32,
    /// Maximum number of attempts for each job
    #[arg(long, value_name = "N", value_parser = limits::whole_number::<u32>(0, i64::from(u32::MAX)))]
    pub max_attempts: Option<u32>,
    /// Pause the schedule
    #[arg(long, conflicts_with_all = ["timing", "resume"])]
    pub pause: bool,
    /// Resume the schedule
    #[arg(long, conflicts_with = "timing")]
    pub resume: bool,
}

/// List the schedules
#[derive(Debug, Args)]
pub struct Schedules {
    /// Print a JSON object for each schedule, one per line
    #[arg(long)]
    pub json: bool,
}

/// Remove schedules, but keep their jobs
#[derive(Debug, Args)]
pub struct Unschedule {
    /// Names of the schedules
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

fn parse_rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|error: icecore_store::Error| error.to_string())
}

const PAUSE_EXAMPLES: &str = "\
Examples:
  icecore queue pause mail
  icecore queue resume mail
  icecore queue stats                           a paused queue is marked";

const EXAMPLES: &str = "\
Examples:
  echo '{\"mail\": 7}' | icecore queue push mail
  icecore queue list mail --state ready
  icecore queue stats
  icecore queue dead --json | jq .error
  icecore queue redrive --queue mail
  icecore queue push --queue report --chain collect.json draw.json send.json
  icecore queue set mail --concurrency 4 --rate 100/1m
  icecore queue schedule nightly '30 2 * * MON-FRI' report.json --zone Europe/Berlin --queue report
  icecore queue replay 01990000-0000-7000-8000-000000000000";
