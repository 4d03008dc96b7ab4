//! Clients post jobs and wait for the id each time: compares daemons on the same database.

use super::daemon::Kind;
use super::database::Server;
use super::job::Jobs;
use super::model::{Entry, Group, Operation, Timed};
use super::posts::Posts;
use super::{Run, program};
use icecore_lab::Error;
use icecore_lab::runner::Trouble;
use std::collections::HashMap;

/// Measures all available databases.
pub(super) fn measure(run: &mut Run<'_>) -> Result<Vec<Group>, Error> {
    let mut servers = vec![Server::Sqlite(run.folder.join("turnaround"))];
    servers.extend(run.options.postgres.clone().map(Server::Postgres));
    let jobs = Jobs::new()?;
    let mut groups = Vec::new();
    for server in servers {
        let mut contest = Contest { server: &server, jobs: &jobs, kinds: Kind::ALL.to_vec(), samples: HashMap::new() };
        for round in 0..run.options.rounds {
            if run.is_stopped() {
                break;
            }
            contest.round(run, round);
        }
        groups.extend(contest.groups(run));
    }
    Ok(groups)
}

struct Contest<'c> {
    server: &'c Server,
    jobs: &'c Jobs,
    /// Daemons that have not failed.
    kinds: Vec<Kind>,
    /// Samples of each daemon and number of clients.
    samples: HashMap<(&'static str, u32), Vec<Timed>>,
}

impl Contest<'_> {
    /// Runs a round with new daemons, each with a new database.
    fn round(&mut self, run: &mut Run<'_>, round: u32) {
        let most = run.options.clients.iter().copied().max().unwrap_or(1);
        (run.say)(&format!("{}, turnaround: round {} of {}", self.server.name(), round + 1, run.options.rounds));
        let mut contenders = Vec::new();
        for kind in self.kinds.clone() {
            let name = format!("load_{}_{round}", kind.id().replace('/', "_"));
            match Posts::begin(kind, 1, self.server, &name, self.jobs, run, most) {
                Ok(contender) => contenders.push(contender),
                Err(trouble) => self.away(run, kind, trouble),
            }
        }
        for turn in 0..run.options.turns {
            for clients in run.options.clients.clone() {
                run.rng.shuffle(&mut contenders);
                let mut failed = Vec::new();
                for contender in &mut contenders {
                    let requests = (run.options.requests / most.max(8) * clients.max(4)).max(clients);
                    match contender.sample(self.jobs, clients, requests, run.stop) {
                        Ok(timed) => {
                            let timed = Timed { round, turn, ..timed };
                            self.samples.entry((contender.kind.id(), clients)).or_default().push(timed);
                        }
                        Err(trouble) => failed.push((contender.kind, trouble)),
                    }
                }
                contenders.retain(|one| failed.iter().all(|(kind, _)| *kind != one.kind));
                failed.into_iter().for_each(|(kind, trouble)| self.away(run, kind, trouble));
            }
        }
        for contender in contenders {
            let kind = contender.kind;
            if let Err(trouble) = contender.end(self.jobs, self.server, run) {
                self.away(run, kind, trouble);
            }
        }
    }

    /// Removes a daemon that failed, with all its samples.
    fn away(&mut self, run: &mut Run<'_>, kind: Kind, trouble: Trouble) {
        if trouble == Trouble::Stopped {
            return;
        }
        self.kinds.retain(|one| *one != kind);
        self.samples.retain(|(id, _), _| *id != kind.id());
        run.away(&format!("{} on {}", kind.id(), self.server.name()), trouble);
    }

    fn groups(mut self, run: &Run<'_>) -> Vec<Group> {
        let version = program::version(&run.options.icecore);
        let perl = run.ask.runtimes().into_iter().map(|runtime| runtime.version).next().unwrap_or_default();
        let mut group = |clients: u32| {
            let entry = |kind: &Kind| {
                let samples = self.samples.remove(&(kind.id(), clients))?;
                let version = if *kind == Kind::Icecore { &version } else { &perl };
                Some(Entry::new(kind.id(), kind.name(), version, samples))
            };
            let entries = self.kinds.iter().filter_map(entry).collect();
            Group { operation: Operation::Turnaround, database: self.server.name().to_owned(), clients, entries }
        };
        run.options.clients.iter().map(|clients| group(*clients)).filter(|group| !group.entries.is_empty()).collect()
    }
}
