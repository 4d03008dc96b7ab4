//! One size of a scenario over the web.

use super::point::Setup;
use super::probe::Probe;
use super::{Measured, Options, Progress};
use crate::runner::Environment;
use crate::{Error, web};
use std::time::Duration;

/// How many requests each page gets in a full run, as in the article.
const REQUESTS: u32 = 1000;

/// And in a small one.
const FEW_REQUESTS: u32 = 60;

/// Measures all pages at one size.
pub(super) fn measure(
    place: &Setup<'_>,
    environment: &Environment<'_>,
    options: &Options,
    probe: &mut Probe,
    progress: &mut Progress<'_>,
) -> Result<Measured, Error> {
    std::fs::create_dir_all(place.folder).map_err(|error| Error::io(place.folder, &error))?;
    let sizes = place.scenario.sizes(options.small).count().max(1) as u32;
    let plan = web::Plan {
        scenario: place.scenario,
        size: place.size,
        folder: place.folder,
        rounds: options.rounds,
        turns: options.turns,
        requests: if options.small { FEW_REQUESTS } else { REQUESTS },
        budget: options.budget.map(|budget| budget / sizes),
        seed: place.seed,
        only: &options.only,
        modules: environment.modules,
        stop: environment.stop,
    };
    let outcome = web::run(&plan, &mut Watcher { probe, progress })?;
    progress.part();
    Ok(Measured {
        points: outcome.points,
        absent: outcome.absent,
        notes: outcome.notes,
        twin: outcome.twin,
        baseline: None,
    })
}

/// Passes progress on to the run.
struct Watcher<'t, 'w> {
    probe: &'t mut Probe,
    progress: &'t mut Progress<'w>,
}

impl web::Watch for Watcher<'_, '_> {
    fn doing(&mut self, what: &str, done: f64, left: Option<Duration>) {
        self.progress.doing(what, done, left);
    }

    fn turn(&mut self, round: u32, turn: u32) {
        self.probe.sample(round, turn);
    }
}
