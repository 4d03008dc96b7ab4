//! A run: checks the output of every competitor first, and then times all of them in turns, in random order, in several
//! consecutive processes each.

mod blobs;
pub mod machine;
mod measure;
mod participants;
mod point;
mod probe;

pub use participants::{FoundCompetitors, check_competitor_names, find_competitors};
pub use point::Setup;
pub use probe::Probe;

use crate::model::{Absent, Interval, Noise, Point, Report, Runtime, SCHEMA, ScenarioReport, Settings};
use crate::runner::Environment;
use crate::scenario::Scenario;
use crate::{Error, claims, stats};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of processes of each competitor, one after another.
    pub rounds: u32,
    /// Number of samples of each operation in a process.
    pub turns: u32,
    /// Minimum duration of a sample.
    pub sample: Duration,
    /// Approximate time for one scenario. The number of rounds is reduced to fit, down to three.
    pub budget: Option<Duration>,
    /// Seed of the random order.
    pub seed: u64,
    /// Whether to measure only the small sizes.
    pub small: bool,
    /// The participants to include, by id or group. If there are none, all are included.
    pub only: Vec<String>,
    /// Folder with more runners.
    pub runners: Option<PathBuf>,
    /// The command `icecore`, which takes part if files are converted.
    pub command: Option<PathBuf>,
    /// Folder with Icecore's modules, if they are not installed.
    pub modules: Option<PathBuf>,
    /// The interpreter for runners in Python, with their packages. By default, it is the system's `python3`.
    pub python: Option<PathBuf>,
    /// Timeout for one answer of a runner.
    pub answer_timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            rounds: 9,
            turns: 3,
            sample: Duration::from_millis(15),
            budget: None,
            seed: 1,
            small: false,
            only: Vec::new(),
            runners: None,
            command: None,
            modules: None,
            python: None,
            answer_timeout: Duration::from_secs(300),
        }
    }
}

impl Options {
    /// Changes the options to a short run that only shows that everything works.
    #[must_use]
    pub fn small(mut self) -> Options {
        self.small = true;
        self.rounds = 3;
        self.turns = 2;
        self.sample = Duration::from_millis(1);
        self
    }

    /// Returns the environment in which runners are found and started.
    pub fn environment<'e>(&'e self, folder: &'e Path, stop: &'e AtomicBool) -> Environment<'e> {
        Environment {
            folder,
            more: self.runners.as_deref(),
            command: self.command.as_deref(),
            modules: self.modules.as_deref(),
            python: self.python.as_deref(),
            answer_timeout: self.answer_timeout,
            stop,
        }
    }
}

/// Receives the progress of a run.
pub trait Watch {
    /// Reports the current activity, the completed share of the run (0 to 1), and the approximate remaining time.
    fn report_progress(&mut self, activity: &str, done: f64, remaining_time: Option<Duration>);
}

/// Ignores the progress.
impl Watch for () {
    fn report_progress(&mut self, _: &str, _: f64, _: Option<Duration>) {}
}

/// Measures the sizes of scenarios.
pub trait Measure {
    /// Looks for all possible participants of these scenarios. Returns the runtimes that were found.
    ///
    /// # Errors
    ///
    /// If the participants can't be listed.
    fn find_participants(
        &mut self,
        scenarios: &[Scenario],
        environment: &Environment<'_>,
        options: &Options,
    ) -> Result<Vec<Runtime>, Error>;

    /// Measures one size, in a folder that does not exist yet.
    ///
    /// # Errors
    ///
    /// If the data can't be created, or the folder can't be used.
    fn measure_size(
        &mut self,
        setup: &Setup<'_>,
        environment: &Environment<'_>,
        options: &Options,
        probe: &mut Probe,
        progress: &mut Progress<'_>,
    ) -> Result<MeasuredSize, Error>;
}

/// Measures runners, the engine and the command.
#[derive(Default)]
struct Runners {
    competitors: FoundCompetitors,
}

impl Measure for Runners {
    fn find_participants(
        &mut self,
        scenarios: &[Scenario],
        environment: &Environment<'_>,
        options: &Options,
    ) -> Result<Vec<Runtime>, Error> {
        self.competitors = find_competitors(environment, scenarios, &options.only)?;
        self.competitors.check_selection(scenarios, options)?;
        Ok(self.competitors.list_runtimes())
    }

    fn measure_size(
        &mut self,
        setup: &Setup<'_>,
        environment: &Environment<'_>,
        options: &Options,
        probe: &mut Probe,
        progress: &mut Progress<'_>,
    ) -> Result<MeasuredSize, Error> {
        point::measure_point(setup, &self.competitors, environment, options, probe, progress)
    }
}

/// Runs scenarios. When `stop` becomes true, the run ends with the results so far.
///
/// # Errors
///
/// If a scenario file is invalid, or the folder of the run can't be used. A competitor that fails is not an error: it
/// is listed in the report.
pub fn run_scenarios(
    scenarios: &[Scenario],
    options: &Options,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Report, Error> {
    run_scenarios_with(&mut Runners::default(), scenarios, options, watch, stop)
}

/// Runs scenarios like [`run_scenarios`], but with another [`Measure`] in place of the runners.
///
/// # Errors
///
/// Those of [`run_scenarios`].
pub fn run_scenarios_with(
    measure: &mut dyn Measure,
    scenarios: &[Scenario],
    options: &Options,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Report, Error> {
    let began = Instant::now();
    let made = machine::format_current_time();
    let mut machine = machine::inspect_machine();
    let folder = tempfile::Builder::new().prefix("icecore-bench-").tempdir();
    let folder = folder.map_err(|error| Error::new(format!("can't create a folder for the run: {error}")))?;
    let environment = options.environment(folder.path(), stop);
    watch.report_progress("asking which competitors can take part", 0.0, None);
    machine.runtimes = measure.find_participants(scenarios, &environment, options)?;
    let mut progress = Progress::new(watch, scenarios, options.small);
    let mut reports = Vec::new();
    for scenario in scenarios {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        reports.push(run_scenario(measure, scenario, &environment, options, &mut progress)?);
    }
    Ok(Report {
        schema: SCHEMA,
        icecore: env!("CARGO_PKG_VERSION").to_owned(),
        made,
        seconds: began.elapsed().as_secs_f64(),
        machine,
        settings: Settings {
            seed: options.seed,
            rounds: options.rounds,
            turns: options.turns,
            sample_ms: options.sample.as_millis() as u64,
            small: options.small,
        },
        scenarios: reports,
    })
}

/// Runs one scenario.
fn run_scenario(
    measure: &mut dyn Measure,
    scenario: &Scenario,
    environment: &Environment<'_>,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<ScenarioReport, Error> {
    let mut report = ScenarioReport {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        operations: scenario.operations.clone(),
        baseline: scenario.baseline.clone(),
        axis: scenario.axis.clone(),
        points: Vec::new(),
        published: scenario.published.clone(),
        claims: Vec::new(),
        absent: Vec::new(),
        noise: stats::assess_noise(&[], None),
        stopped: false,
        notes: Vec::new(),
    };
    if let Some(prerequisite) = &scenario.waits {
        report.notes.push(format!("It waits for {prerequisite}."));
        return Ok(report);
    }
    let mut probe = Probe::new();
    let mut twin = Vec::new();
    let mut absent = BTreeSet::new();
    let folder = environment.folder.join(&scenario.name);
    for (number, size) in scenario.sizes(options.small).enumerate() {
        if environment.stop.load(Ordering::Relaxed) {
            break;
        }
        let folder = folder.join(number.to_string());
        let seed = options.seed.wrapping_add(number as u64);
        let setup = Setup { scenario, size, folder: &folder, seed };
        let measured = measure.measure_size(&setup, environment, options, &mut probe, progress)?;
        report.notes.extend(measured.notes.into_iter().filter(|note| !note.is_empty()));
        absent
            .extend(measured.absent.into_iter().map(|Absent { competitor, why, install }| (competitor, why, install)));
        report.points.extend(measured.points);
        twin.extend(measured.twin);
        report.baseline = measured.baseline.or(report.baseline);
        let _ = std::fs::remove_dir_all(&folder);
    }
    let mut seen_notes = BTreeSet::new();
    report.notes.retain(|note| seen_notes.insert(note.clone()));
    report.claims = scenario.claims.iter().map(|claim| claims::judge_claim(claim, &report.points)).collect();
    report.absent = absent.into_iter().map(|(competitor, why, install)| Absent { competitor, why, install }).collect();
    report.stopped = environment.stop.load(Ordering::Relaxed);
    report.noise = summarize_noise(&probe, &twin);
    Ok(report)
}

/// Returns the noise from the probe and the twins. The twin that differs most from the baseline counts.
fn summarize_noise(probe: &Probe, twins: &[Interval]) -> Noise {
    let distance = |interval: &&Interval| (interval.estimate.ln().abs() * 1e9) as i64;
    stats::assess_noise(probe.samples(), twins.iter().max_by_key(distance).copied())
}

/// The measurements of one size.
#[derive(Clone, Debug, Default)]
pub struct MeasuredSize {
    /// One or more points, all with the name of the size.
    pub points: Vec<Point>,
    /// Competitors that did not take part.
    pub absent: Vec<Absent>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// How many times faster the baseline's twin is than the baseline, per operation.
    pub twin: Vec<Interval>,
    /// The competitor that the others were compared with, if it is not the baseline of the scenario.
    pub baseline: Option<String>,
}

/// The progress of a run. Each size of each scenario is one part.
pub struct Progress<'w> {
    watch: &'w mut dyn Watch,
    part_count: usize,
    done_parts: usize,
    began: Instant,
}

impl<'w> Progress<'w> {
    fn new(watch: &'w mut dyn Watch, scenarios: &[Scenario], small: bool) -> Progress<'w> {
        let part_count = scenarios
            .iter()
            .filter(|scenario| scenario.waits.is_none())
            .map(|scenario| scenario.sizes(small).count())
            .sum();
        Progress { watch, part_count, done_parts: 0, began: Instant::now() }
    }

    /// Reports which share of the current part is done, and how much time the rest of the part takes.
    pub fn report_progress(&mut self, activity: &str, part: f64, remaining_time: Option<Duration>) {
        let spent = self.began.elapsed().as_secs_f64();
        let remaining_parts = self.part_count.saturating_sub(self.done_parts + 1) as f64;
        let total = remaining_time.map(|remaining_time| {
            // The other parts are assumed to take as long as the average of the parts so far and the current one.
            let seconds_per_part = (spent + remaining_time.as_secs_f64()) / (self.done_parts + 1) as f64;
            Duration::from_secs_f64(remaining_time.as_secs_f64() + seconds_per_part * remaining_parts)
        });
        let done = (self.done_parts as f64 + part) / self.part_count.max(1) as f64;
        self.watch.report_progress(activity, done.clamp(0.0, 1.0), total);
    }

    /// Records that a part is done.
    pub fn finish_part(&mut self) {
        self.done_parts += 1;
    }
}
