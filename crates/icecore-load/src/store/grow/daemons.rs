//! Clients that are distributed over several daemons.

use super::super::Run;
use super::super::daemon::Kind;
use super::super::database::Server;
use super::super::job::Jobs;
use super::super::model::{Group, Operation, Timed};
use super::super::posts::Posts;
use super::{Samples, away};
use icecore_lab::Error;
use icecore_lab::runner::Trouble;

const WHAT: &str = "daemon";

/// Measures each number of daemons on this server.
pub(super) fn measure(run: &mut Run<'_>, server: &Server) -> Result<Vec<Group>, Error> {
    let jobs = Jobs::new()?;
    let mut samples = Samples::default();
    for round in 0..run.options.rounds {
        if run.is_stopped() || run.options.growing.daemons.is_empty() {
            break;
        }
        (run.say)(&format!("{}, more daemons: round {} of {}", server.name(), round + 1, run.options.rounds));
        if let Err(trouble) = one_round(run, server, &jobs, round, &mut samples) {
            if trouble != Trouble::Stopped {
                samples = Samples::default();
                away(run, &format!("{WHAT}s"), server, trouble);
            }
            break;
        }
    }
    let clients = run.options.growing.clients;
    Ok(samples.groups(|_| clients, WHAT, server))
}

/// Starts new daemons, with a new database for each number of them.
fn one_round(
    run: &mut Run<'_>,
    server: &Server,
    jobs: &Jobs,
    round: u32,
    samples: &mut Samples,
) -> Result<(), Trouble> {
    let (clients, requests) = (run.options.growing.clients, run.options.growing.requests);
    let mut all = Vec::new();
    for count in run.options.growing.daemons.clone() {
        let name = format!("load_daemons_{count}_{round}");
        all.push((count, Posts::begin(Kind::Icecore, count, server, &name, jobs, run, clients)?));
    }
    for turn in 0..run.options.turns {
        run.rng.shuffle(&mut all);
        for (count, posts) in &mut all {
            let timed = posts.sample(jobs, clients, requests, run.stop)?;
            posts.check(jobs, run)?;
            samples.add(Operation::Daemons, *count, Timed { round, turn, ..timed });
        }
    }
    all.into_iter().try_for_each(|(_, posts)| posts.end(jobs, server, run))
}
