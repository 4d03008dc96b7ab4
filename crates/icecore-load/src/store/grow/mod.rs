//! How it grows: more workers and more daemons, each a process of its own, on one database.

mod daemons;
mod workers;

use super::database::Server;
use super::model::{Entry, Group, Growth, GrowthSettings, Operation, Timed};
use super::{Options, Run};
use icecore_lab::Error;
use icecore_lab::run::machine;
use icecore_lab::runner::Trouble;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// How many work at once, and with how much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growing {
    /// How many processes with a worker.
    pub workers: Vec<u32>,
    /// How many daemons.
    pub daemons: Vec<u32>,
    /// How many jobs that take no time there are in a sample.
    pub jobs: u32,
    /// How many of them a worker has at once.
    pub at_once: u32,
    /// How many jobs that wait there are in a sample, for each worker.
    pub waiting_jobs: u32,
    /// How many of them a worker has at once.
    pub waiting_at_once: u32,
    /// How many milliseconds such a job waits.
    pub waiting_millis: u32,
    /// How many clients, spread over the daemons.
    pub clients: u32,
    /// How many jobs they post in a sample.
    pub requests: u32,
}

impl Growing {
    /// As much as a run in full has.
    pub(super) fn full() -> Growing {
        Growing {
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

    /// As much as shows that everything works.
    pub(super) fn small() -> Growing {
        Growing { jobs: 400, waiting_jobs: 20, requests: 320, ..Growing::full() }
    }

    /// Whether anything is to be measured.
    pub(super) fn is_wanted(&self) -> bool {
        !(self.workers.is_empty() && self.daemons.is_empty())
    }
}

/// Everything of this part, as a report of its own.
pub(super) fn measure(run: &mut Run<'_>) -> Result<Growth, Error> {
    let began = Instant::now();
    let made = machine::now();
    let mut machine = machine::describe();
    machine.runtimes = run.ask.runtimes();
    let mut groups = Vec::new();
    for server in servers(run) {
        match server.version(run.ask) {
            Ok(version) => machine.runtimes.extend(version),
            Err(trouble) => {
                run.away(server.name(), trouble);
                continue;
            }
        }
        groups.extend(workers::measure(run, &server)?);
        groups.extend(daemons::measure(run, &server)?);
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

fn servers(run: &Run<'_>) -> Vec<Server> {
    let options = run.options;
    let mut servers = vec![Server::Sqlite(run.folder.join("grow"))];
    servers.extend(options.postgres.clone().map(Server::Postgres));
    servers.extend(options.mysql.clone().map(Server::Mysql));
    servers
}

/// The samples of each operation, by how many did it together.
#[derive(Default)]
struct Samples(BTreeMap<(Operation, u32), Vec<Timed>>);

impl Samples {
    fn add(&mut self, operation: Operation, count: u32, timed: Timed) {
        self.0.entry((operation, count)).or_default().push(timed);
    }

    /// One group of each operation, from the fewest to the most.
    fn groups(self, clients: impl Fn(Operation) -> u32, what: &str, server: &Server) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for ((operation, count), samples) in self.0 {
            let s = if count == 1 { "" } else { "s" };
            let (id, name) = (format!("{count}-{what}"), format!("{count} {what}{s}"));
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

/// Who failed on a server has no figures there.
fn away(run: &mut Run<'_>, what: &str, server: &Server, trouble: Trouble) {
    run.away(&format!("{what} on {}", server.name()), trouble);
}
