//! The web scenario, measured like the other scenarios of the lab.

use super::measure::{self, Plan, Watch};
use icecore_lab::Error;
use icecore_lab::model::{Report, Runtime};
use icecore_lab::run::{self, Measure, MeasuredSize, Options, Probe, Progress, Setup};
use icecore_lab::runner::Environment;
use icecore_lab::scenario::{Scenario, parse_scenario};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Number of requests for each page in a full run, as in the article.
const REQUESTS: u32 = 1000;

/// Number of requests in a small run.
const SMALL_RUN_REQUESTS: u32 = 60;

/// Returns the scenario `php-web`.
///
/// # Errors
///
/// If its file is invalid.
pub fn parse_web_scenario() -> Result<Scenario, Error> {
    parse_scenario("php-web", include_str!("../../scenarios/php-web.toml"))
}

/// Measures all sizes of the scenario. When `stop` becomes true, the measurement ends with the results so far.
///
/// # Errors
///
/// Those of [`icecore_lab::run::run_scenarios`].
pub fn measure_scenario(options: &Options, watch: &mut dyn run::Watch, stop: &AtomicBool) -> Result<Report, Error> {
    run::run_scenarios_with(&mut Pages, &[parse_web_scenario()?], options, watch, stop)
}

/// The pages, in place of the runners.
struct Pages;

impl Measure for Pages {
    fn find_participants(
        &mut self,
        scenarios: &[Scenario],
        environment: &Environment<'_>,
        options: &Options,
    ) -> Result<Vec<Runtime>, Error> {
        // The PHP runners report its version.
        Ok(run::find_competitors(environment, scenarios, &options.only)?.list_runtimes())
    }

    fn measure_size(
        &mut self,
        setup: &Setup<'_>,
        environment: &Environment<'_>,
        options: &Options,
        probe: &mut Probe,
        progress: &mut Progress<'_>,
    ) -> Result<MeasuredSize, Error> {
        std::fs::create_dir_all(setup.folder).map_err(|error| Error::io(setup.folder, &error))?;
        let sizes = setup.scenario.sizes(options.small).count().max(1) as u32;
        let plan = Plan {
            scenario: setup.scenario,
            size: setup.size,
            folder: setup.folder,
            rounds: options.rounds,
            turns: options.turns,
            requests: if options.small { SMALL_RUN_REQUESTS } else { REQUESTS },
            budget: options.budget.map(|budget| budget / sizes),
            seed: setup.seed,
            only: &options.only,
            modules: environment.modules,
            stop: environment.stop,
        };
        let measured = measure::measure_pages(&plan, &mut Watcher { probe, progress })?;
        progress.finish_part();
        Ok(measured)
    }
}

/// Passes progress on to the run.
struct Watcher<'t, 'w> {
    probe: &'t mut Probe,
    progress: &'t mut Progress<'w>,
}

impl Watch for Watcher<'_, '_> {
    fn report_progress(&mut self, activity: &str, done: f64, remaining_time: Option<Duration>) {
        self.progress.report_progress(activity, done, remaining_time);
    }

    fn begin_turn(&mut self, round: u32, turn: u32) {
        self.probe.take_sample(round, turn);
    }
}
