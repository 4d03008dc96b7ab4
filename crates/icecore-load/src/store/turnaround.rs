//! Clients post jobs and wait for the id each time: compares daemons on the same database.

use super::daemon::DaemonKind;
use super::database::DatabaseServer;
use super::job::JobFactory;
use super::model::{Entry, Group, Operation, TimedSample};
use super::posts::JobPoster;
use super::{StoreRun, program};
use icecore_lab::Error;
use icecore_lab::runner::ParticipantError;
use std::collections::HashMap;

/// Measures all available databases.
pub(super) fn measure_turnaround(run: &mut StoreRun<'_>) -> Result<Vec<Group>, Error> {
    let mut servers = vec![DatabaseServer::Sqlite(run.folder.join("turnaround"))];
    servers.extend(run.options.postgres.clone().map(DatabaseServer::Postgres));
    let jobs = JobFactory::new()?;
    let mut groups = Vec::new();
    for server in servers {
        let mut benchmark = TurnaroundBenchmark {
            server: &server,
            jobs: &jobs,
            kinds: DaemonKind::ALL.to_vec(),
            samples: HashMap::new(),
        };
        for round in 0..run.options.rounds {
            if run.is_stopped() {
                break;
            }
            benchmark.run_round(run, round);
        }
        groups.extend(benchmark.into_groups(run));
    }
    Ok(groups)
}

/// The samples of all rounds on one database server.
struct TurnaroundBenchmark<'c> {
    server: &'c DatabaseServer,
    jobs: &'c JobFactory,
    /// Daemons that have not failed.
    kinds: Vec<DaemonKind>,
    /// Samples of each daemon and number of clients.
    samples: HashMap<(&'static str, u32), Vec<TimedSample>>,
}

impl TurnaroundBenchmark<'_> {
    /// Runs a round with new daemons, each with a new database.
    fn run_round(&mut self, run: &mut StoreRun<'_>, round: u32) {
        let max_clients = run.options.clients.iter().copied().max().unwrap_or(1);
        (run.report_progress)(&format!(
            "{}, turnaround: round {} of {}",
            self.server.name(),
            round + 1,
            run.options.rounds
        ));
        let mut contenders = Vec::new();
        for kind in self.kinds.clone() {
            let name = format!("load_{}_{round}", kind.id().replace('/', "_"));
            match JobPoster::start_daemons(kind, 1, self.server, &name, self.jobs, run, max_clients) {
                Ok(contender) => contenders.push(contender),
                Err(error) => self.remove_failed(run, kind, error),
            }
        }
        for turn in 0..run.options.turns {
            for clients in run.options.clients.clone() {
                run.rng.shuffle(&mut contenders);
                let mut failed = Vec::new();
                for contender in &mut contenders {
                    let requests = (run.options.requests / max_clients.max(8) * clients.max(4)).max(clients);
                    match contender.take_sample(self.jobs, clients, requests, run.stop) {
                        Ok(timed) => {
                            let timed = TimedSample { round, turn, ..timed };
                            self.samples.entry((contender.kind.id(), clients)).or_default().push(timed);
                        }
                        Err(error) => failed.push((contender.kind, error)),
                    }
                }
                contenders.retain(|contender| failed.iter().all(|(kind, _)| *kind != contender.kind));
                failed.into_iter().for_each(|(kind, error)| self.remove_failed(run, kind, error));
            }
        }
        for contender in contenders {
            let kind = contender.kind;
            if let Err(error) = contender.finish_round(self.jobs, self.server, run) {
                self.remove_failed(run, kind, error);
            }
        }
    }

    /// Removes a daemon that failed, with all its samples.
    fn remove_failed(&mut self, run: &mut StoreRun<'_>, kind: DaemonKind, error: ParticipantError) {
        if error == ParticipantError::Stopped {
            return;
        }
        self.kinds.retain(|other| *other != kind);
        self.samples.retain(|(id, _), _| *id != kind.id());
        run.mark_absent(&format!("{} on {}", kind.id(), self.server.name()), error);
    }

    fn into_groups(mut self, run: &StoreRun<'_>) -> Vec<Group> {
        let version = program::query_version(&run.options.icecore);
        let perl = run.queries.list_runtimes().into_iter().map(|runtime| runtime.version).next().unwrap_or_default();
        let mut group = |clients: u32| {
            let entry = |kind: &DaemonKind| {
                let samples = self.samples.remove(&(kind.id(), clients))?;
                let version = if *kind == DaemonKind::Icecore { &version } else { &perl };
                Some(Entry::new(kind.id(), kind.name(), version, samples))
            };
            let entries = self.kinds.iter().filter_map(entry).collect();
            Group { operation: Operation::Turnaround, database: self.server.name().to_owned(), clients, entries }
        };
        run.options.clients.iter().map(|clients| group(*clients)).filter(|group| !group.entries.is_empty()).collect()
    }
}
