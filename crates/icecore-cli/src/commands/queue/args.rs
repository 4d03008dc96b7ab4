//! The command line of `icecore queue`.

use crate::database::{Database, duration, id};
use crate::limits;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use icecore_store::{Id, Rate, State};
use std::path::PathBuf;
use std::time::Duration;

/// The queue of those who name none.
pub const USUAL: &str = "default";

/// Put jobs into queues, and see what became of them
///
/// A queue is there as soon as it is named. A job is done at least once: a worker that dies, or takes longer than its
/// lease, leaves it to the next one, so what a job does must bear to be done twice.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct Queue {
    #[command(flatten)]
    pub database: Database,
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    Push(Push),
    List(List),
    Dead(Dead),
    Stats(Stats),
    Redrive(Redrive),
    Replay(Replay),
    Pause(Pause),
    Resume(Resume),
    Set(Set),
    Forget(Forget),
    Schedule(Schedule),
    Schedules(Schedules),
    Unschedule(Unschedule),
}

impl Action {
    /// Whether it needs jobs or schedules that are there.
    pub fn needs_data(&self) -> bool {
        !matches!(self, Action::Push(_) | Action::Pause(_) | Action::Resume(_) | Action::Set(_) | Action::Schedule(_))
    }

    /// Whether what it prints is for reading.
    pub fn is_for_reading(&self) -> bool {
        matches!(self, Action::List(_) | Action::Dead(_) | Action::Stats(_) | Action::Schedules(_))
    }
}

/// A queue, where words are something else.
#[derive(Debug, Args)]
pub struct QueueOption {
    /// The queue
    #[arg(id = "named", long = "queue", value_name = "QUEUE")]
    pub queue: Option<String>,
}

/// A queue: a word, or --queue.
#[derive(Debug, Args)]
pub struct Which {
    /// The queue
    #[arg(value_name = "QUEUE", conflicts_with = "named")]
    queue: Option<String>,
    #[command(flatten)]
    option: QueueOption,
}

impl Which {
    /// Its name, if that was said.
    pub fn name(&self) -> Option<&str> {
        self.queue.as_deref().or(self.option.queue.as_deref())
    }
}

/// Queue files as jobs; prints their ids, one a line
#[derive(Debug, Args)]
#[command(override_usage = "icecore queue push [OPTIONS] [QUEUE] [FILE]...")]
pub struct Push {
    /// The payloads; `-` is the standard input. A first word that is not a file is the queue
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub which: QueueOption,
    /// What they are: base64/marshal; found out if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// Larger ones are handed out first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub priority: i32,
    /// Not handed out for so long: 90s, 5m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub delay: Option<Duration>,
    /// While a job with this key is not done, its id is printed and nothing is queued
    #[arg(long, value_name = "KEY")]
    pub unique: Option<String>,
    /// How often it is tried
    #[arg(long, value_name = "N")]
    pub max_attempts: Option<u32>,
    /// Handed out when the job with this id is done, and not before
    #[arg(long, value_name = "ID", value_parser = id)]
    pub after: Option<Id>,
    /// Each file comes after the one before it
    #[arg(long)]
    pub chain: bool,
    /// Print an object of JSON for each
    #[arg(long)]
    pub json: bool,
}

impl Push {
    /// The queue and the files: the queue is --queue, or a first word that is not a file and can't be a mistyped one.
    pub fn queue_and_files(&self) -> (&str, &[PathBuf]) {
        if let Some(queue) = &self.which.queue {
            return (queue, &self.files);
        }
        let Some((first, rest)) = self.files.split_first() else { return (USUAL, &self.files) };
        match first.to_str() {
            Some(word) if word != "-" && !word.contains(['.', '/', '\\', '{', '[']) && !first.exists() => (word, rest),
            _ => (USUAL, &self.files),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// A worker gets it now
    Ready,
    /// Not before a time
    Delayed,
    Leased,
    Done,
    Dead,
    Waiting,
}

impl Only {
    pub fn state(self) -> State {
        match self {
            Only::Ready | Only::Delayed => State::Ready,
            Only::Leased => State::Leased,
            Only::Done => State::Done,
            Only::Dead => State::Dead,
            Only::Waiting => State::Waiting,
        }
    }

    /// Whether a job of this state is meant that is delayed, or is not.
    pub fn includes(self, is_delayed: bool) -> bool {
        match self {
            Only::Ready => !is_delayed,
            Only::Delayed => is_delayed,
            _ => true,
        }
    }
}

/// How jobs are listed.
#[derive(Debug, Args)]
pub struct Listed {
    /// At most so many
    #[arg(long, value_name = "N", value_parser = limits::items)]
    pub items: Option<u64>,
    /// Print an object of JSON for each, on a line of its own
    #[arg(long)]
    pub json: bool,
}

/// List jobs in the order in which they came: of a queue, or of all
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub which: Which,
    /// In this state
    #[arg(long, value_enum)]
    pub state: Option<Only>,
    #[command(flatten)]
    pub shown: Listed,
}

/// List jobs that were tried too often: of a queue, or of all
#[derive(Debug, Args)]
pub struct Dead {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub shown: Listed,
}

/// List the queues, or one of them, and how many jobs are in each
///
/// READY: a worker gets them now. DELAYED: not before a time. LEASED: a worker has them. WAITING: for another job. DONE.
/// DEAD: tried too often.
#[derive(Debug, Args)]
pub struct Stats {
    #[command(flatten)]
    pub which: Which,
    /// Print an object of JSON for each, on a line of its own
    #[arg(long)]
    pub json: bool,
}

/// Make dead jobs ready again: these, or all of a queue
#[derive(Debug, Args)]
pub struct Redrive {
    /// Their ids, or the name of the queue
    #[arg(value_name = "ID|QUEUE")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub which: QueueOption,
}

/// Queue what jobs were once more, as new ones; prints their ids, one a line
#[derive(Debug, Args)]
pub struct Replay {
    /// Their ids
    #[arg(required = true, value_name = "ID", value_parser = id)]
    pub ids: Vec<Id>,
}

/// Let a queue hand out nothing until it is resumed
///
/// Jobs that workers have are finished. New ones are taken, and wait.
#[derive(Debug, Args)]
#[command(after_long_help = PAUSE_EXAMPLES)]
pub struct Pause {
    #[command(flatten)]
    pub which: Which,
    /// Pause a queue that is not there yet, though another one is called nearly so
    #[arg(long)]
    pub create: bool,
}

/// Let a queue that was paused hand out jobs again
#[derive(Debug, Args)]
#[command(after_long_help = PAUSE_EXAMPLES)]
pub struct Resume {
    #[command(flatten)]
    pub which: Which,
}

/// Set what a queue does
#[derive(Debug, Args)]
pub struct Set {
    #[command(flatten)]
    pub which: Which,
    /// Set up a queue that is not there yet, though another one is called nearly so
    #[arg(long)]
    pub create: bool,
    /// How often its jobs are tried
    #[arg(long, value_name = "N")]
    pub max_attempts: Option<u32>,
    /// How long a job waits behind its first failure; each further one doubles it
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub backoff: Option<Duration>,
    /// How many of its jobs workers have at most at a time; 0: any number
    #[arg(long, value_name = "N")]
    pub concurrency: Option<u32>,
    /// How many of its jobs are handed out at most in a time: 5/s, 100/1m; none: any number
    #[arg(long, value_name = "N/DURATION", value_parser = rate)]
    pub rate: Option<Rate>,
    /// Payloads are checked against the JSON Schema in this file; an empty file takes it away
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
}

/// Take done and dead jobs away that ended so long ago
#[derive(Debug, Args)]
pub struct Forget {
    /// 7d, 12h
    #[arg(value_name = "DURATION", value_parser = duration)]
    pub older: Duration,
}

/// Queue a job again and again
///
/// Any `icecore work` and `icecore serve` of the database queues what is due. Of times that pass while none of them
/// runs, the first has its job when one is there again. A schedule of the same name is replaced.
#[derive(Debug, Args)]
pub struct Schedule {
    /// Its name
    pub name: String,
    /// When: as cron has it, '30 2 * * MON-FRI'; '@hourly'; 'every 5m'
    #[arg(required_unless_present_any = ["pause", "resume"])]
    pub timing: Option<String>,
    /// The payload; the standard input, if not given
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub which: QueueOption,
    /// The time zone by whose clock it goes: Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// Queue none while the last one is neither done nor dead
    #[arg(long)]
    pub alone: bool,
    /// What the payload is: base64/marshal; found out if not given
    #[arg(short = 'f', long = "from", value_name = "FORMAT")]
    pub format: Option<String>,
    /// Larger ones are handed out first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub priority: i32,
    /// How often each job is tried
    #[arg(long, value_name = "N")]
    pub max_attempts: Option<u32>,
    /// Let it queue nothing for now
    #[arg(long, conflicts_with_all = ["timing", "resume"])]
    pub pause: bool,
    /// Let it queue jobs again
    #[arg(long, conflicts_with = "timing")]
    pub resume: bool,
}

/// List the schedules
#[derive(Debug, Args)]
pub struct Schedules {
    /// Print an object of JSON for each, on a line of its own
    #[arg(long)]
    pub json: bool,
}

/// Take schedules away; their jobs stay
#[derive(Debug, Args)]
pub struct Unschedule {
    /// Their names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

fn rate(text: &str) -> Result<Rate, String> {
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
