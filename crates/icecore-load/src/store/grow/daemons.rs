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

const WHAT: &str = "daemon";

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
        if let Err(trouble) = run_round(run, server, &jobs, round, &mut samples) {
            if trouble != ParticipantError::Stopped {
                samples = Samples::default();
                mark_absent(run, &format!("{WHAT}s"), server, trouble);
            }
            break;
        }
    }
    let clients = run.options.growing.clients;
    Ok(samples.into_groups(|_| clients, WHAT, server))
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
    let mut all = Vec::new();
    for count in run.options.growing.daemons.clone() {
        let name = format!("load_daemons_{count}_{round}");
        all.push((count, JobPoster::start_daemons(DaemonKind::Icecore, count, server, &name, jobs, run, clients)?));
    }
    for turn in 0..run.options.turns {
        run.rng.shuffle(&mut all);
        for (count, posts) in &mut all {
            let timed = posts.take_sample(jobs, clients, requests, run.stop)?;
            posts.check_stored_jobs(jobs, run)?;
            samples.add(Operation::Daemons, *count, TimedSample { round, turn, ..timed });
        }
    }
    all.into_iter().try_for_each(|(_, posts)| posts.finish_round(jobs, server, run))
}
