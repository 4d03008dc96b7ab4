//! Scaling: several workers and daemons, each in its own process, on one database.

mod daemons;
mod workers;

use super::database::DatabaseServer;
use super::model::{Entry, Group, Growth, GrowthSettings, Operation, TimedSample};
use super::{Options, StoreRun};
use icecore_lab::Error;
use icecore_lab::run::machine;
use icecore_lab::runner::ParticipantError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Numbers of processes and of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthPlan {
    /// Numbers of processes with a worker.
    pub workers: Vec<u32>,
    /// Numbers of daemons.
    pub daemons: Vec<u32>,
    /// Number of jobs in a sample, for jobs that take no time.
    pub jobs: u32,
    /// Number of these jobs that a worker runs at the same time.
    pub at_once: u32,
    /// Number of jobs in a sample per worker, for jobs that wait.
    pub waiting_jobs: u32,
    /// Number of these jobs that a worker runs at the same time.
    pub waiting_at_once: u32,
    /// How long such a job waits, in milliseconds.
    pub waiting_millis: u32,
    /// Number of clients, distributed over the daemons.
    pub clients: u32,
    /// Number of jobs that they post in a sample.
    pub requests: u32,
}

impl GrowthPlan {
    /// Returns the settings of a full run.
    pub(super) fn full() -> GrowthPlan {
        GrowthPlan {
            workers: vec![1, 2, 4, 8],
            daemons: vec![1, 2, 4],
            jobs: 8000,
            at_once: 100,
            waiting_jobs: 200,
            waiting_at_once: 4,
            waiting_millis: 20,
            clients: 32,
            requests: 6000,
        }
    }

    /// Returns settings that only show that everything works.
    pub(super) fn small() -> GrowthPlan {
        GrowthPlan { jobs: 400, waiting_jobs: 20, requests: 320, ..GrowthPlan::full() }
    }

    /// Returns true if anything is to be measured.
    pub(super) fn is_wanted(&self) -> bool {
        !(self.workers.is_empty() && self.daemons.is_empty())
    }
}

/// Measures this part, and returns its own report.
pub(super) fn measure_growth(run: &mut StoreRun<'_>) -> Result<Growth, Error> {
    let began = Instant::now();
    let made = machine::format_current_time();
    let mut machine = machine::inspect_machine();
    machine.runtimes = run.queries.list_runtimes();
    let mut groups = Vec::new();
    for server in list_servers(run) {
        match server.query_version(run.queries) {
            Ok(version) => machine.runtimes.extend(version),
            Err(error) => {
                run.mark_absent(server.name(), error);
                continue;
            }
        }
        groups.extend(workers::measure_workers(run, &server)?);
        groups.extend(daemons::measure_daemons(run, &server)?);
    }
    let Options { seed, rounds, turns, small, .. } = *run.options;
    Ok(Growth {
        icecore: env!("CARGO_PKG_VERSION").to_owned(),
        made,
        seconds: began.elapsed().as_secs_f64(),
        machine,
        settings: GrowthSettings { seed, rounds, turns, small, growing: run.options.growing.clone() },
        checks: std::mem::take(&mut run.checks),
        groups,
        absent: std::mem::take(&mut run.absent),
        stopped: run.is_stopped(),
    })
}

fn list_servers(run: &StoreRun<'_>) -> Vec<DatabaseServer> {
    let options = run.options;
    let mut servers = vec![DatabaseServer::Sqlite(run.folder.join("grow"))];
    servers.extend(options.postgres.clone().map(DatabaseServer::Postgres));
    servers.extend(options.mysql.clone().map(DatabaseServer::Mysql));
    servers
}

/// Samples of each operation, by the number of processes.
#[derive(Default)]
struct Samples(BTreeMap<(Operation, u32), Vec<TimedSample>>);

impl Samples {
    fn add(&mut self, operation: Operation, count: u32, timed: TimedSample) {
        self.0.entry((operation, count)).or_default().push(timed);
    }

    /// Returns one group per operation, from the fewest processes to the most.
    fn into_groups(self, clients: impl Fn(Operation) -> u32, noun: &str, server: &DatabaseServer) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for ((operation, count), samples) in self.0 {
            let plural_ending = if count == 1 { "" } else { "s" };
            let (id, name) = (format!("{count}-{noun}"), format!("{count} {noun}{plural_ending}"));
            let entry = Entry::new(&id, &name, env!("CARGO_PKG_VERSION"), samples);
            match groups.last_mut().filter(|group| group.operation == operation) {
                Some(group) => group.entries.push(entry),
                None => {
                    let (database, clients) = (server.name().to_owned(), clients(operation));
                    groups.push(Group { operation, database, clients, entries: vec![entry] });
                }
            }
        }
        groups
    }
}

/// Records that a participant failed on a server and is absent there.
fn mark_absent(run: &mut StoreRun<'_>, subject: &str, server: &DatabaseServer, error: ParticipantError) {
    run.mark_absent(&format!("{subject} on {}", server.name()), error);
}
