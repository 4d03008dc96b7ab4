//! Clients that are distributed over several daemons.

use super::super::StoreRun;
use super::super::daemon::DaemonKind;
use super::super::database::DatabaseServer;
use super::super::job::JobFactory;
use super::super::model::{Group, Operation, TimedSample};
use super::super::posts::JobPoster;
use super::{Samples, mark_absent};
use icecore_lab::Error;
use icecore_lab::runner::ParticipantError;

/// The noun in the names of the results.
const NOUN: &str = "daemon";

/// Measures each number of daemons on this server.
pub(super) fn measure_daemons(run: &mut StoreRun<'_>, server: &DatabaseServer) -> Result<Vec<Group>, Error> {
    let jobs = JobFactory::new()?;
    let mut samples = Samples::default();
    for round in 0..run.options.rounds {
        if run.is_stopped() || run.options.growing.daemons.is_empty() {
            break;
        }
        (run.report_progress)(&format!(
            "{}, more daemons: round {} of {}",
            server.name(),
            round + 1,
            run.options.rounds
        ));
        if let Err(error) = run_round(run, server, &jobs, round, &mut samples) {
            if error != ParticipantError::Stopped {
                samples = Samples::default();
                mark_absent(run, &format!("{NOUN}s"), server, error);
            }
            break;
        }
    }
    let clients = run.options.growing.clients;
    Ok(samples.into_groups(|_| clients, NOUN, server))
}

/// Starts new daemons, with a new database for each number of them.
fn run_round(
    run: &mut StoreRun<'_>,
    server: &DatabaseServer,
    jobs: &JobFactory,
    round: u32,
    samples: &mut Samples,
) -> Result<(), ParticipantError> {
    let (clients, requests) = (run.options.growing.clients, run.options.growing.requests);
    let mut posters = Vec::new();
    for count in run.options.growing.daemons.clone() {
        let name = format!("load_daemons_{count}_{round}");
        posters.push((count, JobPoster::start_daemons(DaemonKind::Icecore, count, server, &name, jobs, run, clients)?));
    }
    for turn in 0..run.options.turns {
        run.rng.shuffle(&mut posters);
        for (count, poster) in &mut posters {
            let timed = poster.take_sample(jobs, clients, requests, run.stop)?;
            poster.check_stored_jobs(jobs, run)?;
            samples.add(Operation::Daemons, *count, TimedSample { round, turn, ..timed });
        }
    }
    posters.into_iter().try_for_each(|(_, poster)| poster.finish_round(jobs, server, run))
}
