//! The store under load: Icecore's daemon, library and command, compared with other programs that do the same work.
//!
//! Everything that is measured is a program: a daemon that receives HTTP requests, a program that receives commands as
//! lines (documented in `benches/store/README.md`), or the command. Before anything is timed, and after every sample, a
//! separate program checks that the database contains what was promised, once and readable. A program that fails this
//! check is listed as absent in the report.

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
pub use grow::GrowthPlan;
pub use model::{
    Entry, Goal, GoalResult, Group, Growth, GrowthSettings, Operation, Peak, Report, SCHEMA, Settings, TimedSample,
    WalkMeasurement,
};

use database::QueryRunner;
use fastrand::Rng;
use icecore_lab::Error;
use icecore_lab::model::Absent;
use icecore_lab::run::machine;
use icecore_lab::runner::ParticipantError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The command `icecore`, with the drivers of the databases.
    pub icecore: PathBuf,
    /// The folder `benches/store`.
    pub programs: PathBuf,
    /// A PostgreSQL server; its user may create databases.
    pub postgres: Option<String>,
    /// A MariaDB or MySQL server; its user may create databases.
    pub mysql: Option<String>,
    /// The program that uses the library: the example `queue` of icecore-store.
    pub library: Option<PathBuf>,
    /// The program in `benches/store/river`, built.
    pub river: Option<PathBuf>,
    /// How often everything is started again, with new databases.
    pub rounds: u32,
    /// Number of samples in a round.
    pub turns: u32,
    /// Numbers of concurrent clients. Each number is measured separately.
    pub clients: Vec<u32>,
    /// Number of requests in a sample with the most clients. Fewer clients make fewer requests.
    pub requests: u32,
    /// Number of jobs pushed one by one in a sample. In groups, five times as many are pushed.
    pub jobs: u32,
    /// Number of connections.
    pub connections: u32,
    /// Number of jobs per transaction when jobs are pushed in groups.
    pub batch: u32,
    /// Number of jobs that a worker of the library runs at the same time.
    pub concurrency: u32,
    /// Number of jobs that a worker of River runs at the same time.
    pub river_concurrency: u32,
    /// Numbers of objects to walk through. If there are none, objects are not measured.
    pub objects: Vec<u32>,
    /// Options of the scaling part.
    pub growing: GrowthPlan,
    /// Seed of the random order.
    pub seed: u64,
    /// Whether the run only shows that everything works.
    pub small: bool,
}

impl Options {
    /// Creates options for a full run, with this command and the programs in this folder.
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
            growing: GrowthPlan::full(),
            seed: 1,
            small: false,
        }
    }

    /// Changes the options to a short run that only shows that everything works.
    #[must_use]
    pub fn small(mut self) -> Options {
        self.small = true;
        (self.rounds, self.turns) = (3, 1);
        (self.requests, self.jobs, self.batch) = (320, 400, 100);
        self.objects = vec![2_000, 20_000];
        self.growing = GrowthPlan::small();
        self
    }

    fn to_settings(&self) -> Settings {
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

/// The state of a run that all parts share.
struct StoreRun<'r> {
    options: &'r Options,
    folder: &'r Path,
    queries: QueryRunner<'r>,
    stop: &'r AtomicBool,
    report_progress: &'r dyn Fn(&str),
    rng: Rng,
    absent: Vec<Absent>,
    checks: Vec<String>,
}

impl StoreRun<'_> {
    /// Records a competitor that does not take part, with the reason.
    fn mark_absent(&mut self, competitor: &str, error: ParticipantError) {
        let reason = match error {
            ParticipantError::Stopped => return,
            ParticipantError::Cannot(reason) | ParticipantError::Failed(reason) => reason,
        };
        (self.report_progress)(&format!("{competitor} drops out: {reason}"));
        self.absent.push(Absent { competitor: competitor.to_owned(), why: reason, install: None });
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Records a successful check.
    fn record_check(&mut self, check: String) {
        if !self.checks.contains(&check) {
            (self.report_progress)(&check);
            self.checks.push(check);
        }
    }
}

/// Measures everything that is available. Missing programs are not an error: they are listed in the report.
///
/// # Errors
///
/// If there is no folder for the run, or no program to query the databases.
pub fn run_all(options: &Options, stop: &AtomicBool, report_progress: &dyn Fn(&str)) -> Result<Report, Error> {
    let began = Instant::now();
    let made = machine::format_current_time();
    let mut machine = machine::inspect_machine();
    let (mut groups, mut objects, mut growth) = (Vec::new(), Vec::new(), None);
    let (mut checks, mut absent) = (Vec::new(), Vec::new());
    let mut seconds = 0.0;
    with_run(options, stop, report_progress, &mut |run| {
        machine.runtimes = run.queries.list_runtimes();
        groups = turnaround::measure_turnaround(run)?;
        groups.extend(queue::measure_queue(run)?);
        objects = objects::measure_objects(run)?;
        (checks, absent) = (std::mem::take(&mut run.checks), std::mem::take(&mut run.absent));
        seconds = began.elapsed().as_secs_f64();
        if options.growing.is_wanted() && !run.is_stopped() {
            growth = Some(grow::measure_growth(run)?);
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
        settings: options.to_settings(),
        checks,
        groups,
        objects,
        goals,
        absent,
        stopped: stop.load(Ordering::Relaxed),
        growth,
    })
}

/// Measures only the scaling.
///
/// # Errors
///
/// Those of [`run_all`].
pub fn run_growth(options: &Options, stop: &AtomicBool, report_progress: &dyn Fn(&str)) -> Result<Growth, Error> {
    with_run(options, stop, report_progress, &mut grow::measure_growth)
}

/// Runs a measurement in a folder that is removed afterwards.
fn with_run<T>(
    options: &Options,
    stop: &AtomicBool,
    report_progress: &dyn Fn(&str),
    measure: &mut dyn FnMut(&mut StoreRun<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let folder = tempfile::Builder::new().prefix("icecore-load-").tempdir();
    let folder = folder.map_err(|error| Error::new(format!("can't create a folder for the run: {error}")))?;
    if let Some(missing) = describe_missing_modules(options)? {
        return Err(Error::new(format!("{missing}: scripts/prepare.sh installs that")));
    }
    let (queries, rng) = (QueryRunner::new(&options.programs, stop), Rng::with_seed(options.seed));
    measure(&mut StoreRun {
        options,
        folder: folder.path(),
        queries,
        stop,
        report_progress,
        rng,
        absent: Vec::new(),
        checks: Vec::new(),
    })
}

/// Describes what the Perl programs need and is missing.
///
/// # Errors
///
/// If there is no perl, or the folder is not `benches/store`.
pub fn describe_missing_modules(options: &Options) -> Result<Option<String>, Error> {
    let modules = QueryRunner::find_missing_modules(&options.programs)?;
    Ok((!modules.is_empty()).then(|| format!("perl has no {}", modules.join(", "))))
}
