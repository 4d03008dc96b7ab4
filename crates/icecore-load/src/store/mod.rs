//! The store under load: Icecore's daemon, library and command beside what others do the same work with.
//!
//! Everything that is measured is a program: a daemon that is asked over HTTP, a program that is told what to do by
//! lines (`benches/store/README.md` says which), the command. Before anything is timed, and behind every sample, the
//! database is asked by a program of its own whether what was promised stands there, once and readable. A program of
//! which that is not so is absent from the report.

mod daemon;
mod database;
mod goals;
mod grow;
mod job;
mod model;
mod objects;
mod posts;
mod program;
mod queue;
mod turnaround;

pub(crate) use goals::judge_goals;
pub use grow::Growing;
pub use model::{
    Entry, Goal, Group, Growth, GrowthSettings, Met, Objects, Operation, Peak, Report, SCHEMA, Settings, Timed,
};

use database::Ask;
use fastrand::Rng;
use icecore_lab::Error;
use icecore_lab::model::Absent;
use icecore_lab::run::machine;
use icecore_lab::runner::Trouble;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What is measured, and how much of it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The command `icecore`, with the drivers of the databases.
    pub icecore: PathBuf,
    /// The folder `benches/store`.
    pub programs: PathBuf,
    /// A server of PostgreSQL; its user may make databases.
    pub postgres: Option<String>,
    /// A server of MariaDB or MySQL; its user may make databases.
    pub mysql: Option<String>,
    /// The program that works with the library: the example `queue` of icecore-store.
    pub library: Option<PathBuf>,
    /// The program in `benches/store/river`, built.
    pub river: Option<PathBuf>,
    /// How often all is started anew, with new databases.
    pub rounds: u32,
    /// How many samples there are in a round.
    pub turns: u32,
    /// How many clients ask at once, one group each.
    pub clients: Vec<u32>,
    /// How many requests the most clients make in a sample; fewer make fewer.
    pub requests: u32,
    /// How many jobs are pushed one by one in a sample. In groups it is five times that.
    pub jobs: u32,
    /// Over how many connections.
    pub connections: u32,
    /// How many jobs are pushed in a transaction, where they are pushed in groups.
    pub batch: u32,
    /// How many jobs a worker of the library has at once.
    pub concurrency: u32,
    /// How many jobs a worker of River has at once.
    pub river_concurrency: u32,
    /// How many objects are walked through; none: that is left out.
    pub objects: Vec<u32>,
    /// What is measured of how it grows.
    pub growing: Growing,
    /// The seed of the random order.
    pub seed: u64,
    /// Whether this only shows that all of it works.
    pub small: bool,
}

impl Options {
    /// A run in full, of this command with the programs in this folder.
    pub fn new(icecore: PathBuf, programs: PathBuf) -> Options {
        Options {
            icecore,
            programs,
            postgres: None,
            mysql: None,
            library: None,
            river: None,
            rounds: 7,
            turns: 3,
            clients: vec![1, 32],
            requests: 8000,
            jobs: 4000,
            connections: 32,
            batch: 1000,
            concurrency: 400,
            river_concurrency: 2000,
            objects: vec![100_000, 1_000_000],
            growing: Growing::full(),
            seed: 1,
            small: false,
        }
    }

    /// A run that only shows that everything works.
    #[must_use]
    pub fn small(mut self) -> Options {
        self.small = true;
        (self.rounds, self.turns) = (3, 1);
        (self.requests, self.jobs, self.batch) = (320, 400, 100);
        self.objects = vec![2_000, 20_000];
        self.growing = Growing::small();
        self
    }

    fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            rounds: self.rounds,
            turns: self.turns,
            requests: self.requests,
            jobs: self.jobs,
            connections: self.connections,
            batch: self.batch,
            concurrency: self.concurrency,
            river_concurrency: self.river_concurrency,
            small: self.small,
        }
    }
}

/// What a run has, wherever it is.
struct Run<'r> {
    options: &'r Options,
    folder: &'r Path,
    ask: Ask<'r>,
    stop: &'r AtomicBool,
    say: &'r dyn Fn(&str),
    rng: Rng,
    absent: Vec<Absent>,
    checks: Vec<String>,
}

impl Run<'_> {
    /// A competitor that takes no part, with the reason.
    fn away(&mut self, who: &str, trouble: Trouble) {
        let why = match trouble {
            Trouble::Stopped => return,
            Trouble::Cannot(why) | Trouble::Failed(why) => why,
        };
        (self.say)(&format!("{who} takes no part any more: {why}"));
        self.absent.push(Absent { competitor: who.to_owned(), why, install: None });
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Notes what was seen to be right.
    fn checked(&mut self, what: String) {
        if !self.checks.contains(&what) {
            (self.say)(&what);
            self.checks.push(what);
        }
    }
}

/// Measures all that is there. What is missing is no error: the report says it.
///
/// # Errors
///
/// If there is no folder for the run, or nothing that can ask the databases.
pub fn run(options: &Options, stop: &AtomicBool, say: &dyn Fn(&str)) -> Result<Report, Error> {
    let began = Instant::now();
    let made = machine::now();
    let mut machine = machine::describe();
    let (mut groups, mut objects, mut growth) = (Vec::new(), Vec::new(), None);
    let (mut checks, mut absent) = (Vec::new(), Vec::new());
    let mut seconds = 0.0;
    with_run(options, stop, say, &mut |run| {
        machine.runtimes = run.ask.runtimes();
        groups = turnaround::measure(run)?;
        groups.extend(queue::measure(run)?);
        objects = objects::measure(run)?;
        (checks, absent) = (std::mem::take(&mut run.checks), std::mem::take(&mut run.absent));
        seconds = began.elapsed().as_secs_f64();
        if options.growing.is_wanted() && !run.is_stopped() {
            growth = Some(grow::measure(run)?);
        }
        Ok(())
    })?;
    let goals = judge_goals(&groups, &objects);
    Ok(Report {
        schema: SCHEMA,
        icecore: env!("CARGO_PKG_VERSION").to_owned(),
        made,
        seconds,
        machine,
        settings: options.settings(),
        checks,
        groups,
        objects,
        goals,
        absent,
        stopped: stop.load(Ordering::Relaxed),
        growth,
    })
}

/// Measures only how it grows.
///
/// # Errors
///
/// As [`run`].
pub fn grow(options: &Options, stop: &AtomicBool, say: &dyn Fn(&str)) -> Result<Growth, Error> {
    with_run(options, stop, say, &mut grow::measure)
}

/// Does something with a folder that is gone behind it.
fn with_run<T>(
    options: &Options,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
    measure: &mut dyn FnMut(&mut Run<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let folder = tempfile::Builder::new().prefix("icecore-load-").tempdir();
    let folder = folder.map_err(|error| Error::new(format!("no folder for the run can be made: {error}")))?;
    if let Some(missing) = missing(options)? {
        return Err(Error::new(format!("{missing}: scripts/prepare.sh installs that")));
    }
    let (ask, rng) = (Ask::new(&options.programs, stop), Rng::with_seed(options.seed));
    measure(&mut Run { options, folder: folder.path(), ask, stop, say, rng, absent: Vec::new(), checks: Vec::new() })
}

/// What the Perl programs need and is not there, in words.
///
/// # Errors
///
/// If there is no perl, or the folder is not `benches/store`.
pub fn missing(options: &Options) -> Result<Option<String>, Error> {
    let modules = Ask::missing(&options.programs)?;
    Ok((!modules.is_empty()).then(|| format!("perl has no {}", modules.join(", "))))
}
