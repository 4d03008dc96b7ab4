//! Clients post jobs and wait for the id each time: what daemons do over the same database.

use super::daemon::{Daemon, Kind};
use super::database::Server;
use super::job::Jobs;
use super::model::{Entry, Group, Operation, Timed};
use super::{Run, program};
use crate::Error;
use crate::http::Client;
use crate::runner::Trouble;
use crate::together::together;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

/// The number of the first job.
const FIRST: u32 = 1_000_000;
/// How many jobs each client posts before anything is timed.
const WARM: u32 = 10;

/// All databases that there are.
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
    /// Who has not failed.
    kinds: Vec<Kind>,
    /// Of each, with so many clients.
    samples: HashMap<(&'static str, u32), Vec<Timed>>,
}

/// A daemon, and what it promised.
struct Contender {
    daemon: Daemon,
    /// The ids that it gave, with the number of the job.
    promised: HashMap<String, u32>,
    /// The next job's number.
    next: u32,
}

impl Contest<'_> {
    /// Daemons that are started anew, each with a new database.
    fn round(&mut self, run: &mut Run<'_>, round: u32) {
        let most = run.options.clients.iter().copied().max().unwrap_or(1);
        (run.say)(&format!("{}, turnaround: round {} of {}", self.server.name(), round + 1, run.options.rounds));
        let mut contenders = Vec::new();
        for kind in self.kinds.clone() {
            match Contender::begin(kind, self, run, round, most) {
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
                            self.samples.entry((contender.daemon.kind.id(), clients)).or_default().push(timed);
                        }
                        Err(trouble) => failed.push((contender.daemon.kind, trouble)),
                    }
                }
                contenders.retain(|one| failed.iter().all(|(kind, _)| *kind != one.daemon.kind));
                failed.into_iter().for_each(|(kind, trouble)| self.away(run, kind, trouble));
            }
        }
        for contender in contenders {
            let kind = contender.daemon.kind;
            if let Err(trouble) = contender.end(self.jobs, self.server, run) {
                self.away(run, kind, trouble);
            }
        }
    }

    /// Who failed has no figures.
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
                Some(Entry::new(kind.id(), kind.name(), version, samples, run.options.seed))
            };
            let entries = self.kinds.iter().filter_map(entry).collect();
            Group { operation: Operation::Turnaround, database: self.server.name().to_owned(), clients, entries }
        };
        run.options.clients.iter().map(|clients| group(*clients)).filter(|group| !group.entries.is_empty()).collect()
    }
}

impl Contender {
    /// Starts it, and sees that what it is given is kept, once and readable.
    fn begin(
        kind: Kind,
        contest: &Contest<'_>,
        run: &mut Run<'_>,
        round: u32,
        most: u32,
    ) -> Result<Contender, Trouble> {
        let name = format!("load_{}_{round}", kind.id().replace('/', "_"));
        let database = contest.server.make(&name, run.ask)?;
        let daemon = Daemon::start(kind, run, database, most)?;
        let mut contender = Contender { daemon, promised: HashMap::new(), next: FIRST };
        contender.daemon.refuses(&contest.jobs.wrong())?;
        contender.sample(contest.jobs, most, WARM * most, run.stop)?;
        contender.check(contest.jobs, run)?;
        let (count, name) = (contender.promised.len(), contest.server.name());
        run.checked(format!(
            "{} on {name}: {count} jobs of {most} clients are in the database, each once, and are read as what was \
             posted; a job without a name is refused",
            kind.id()
        ));
        Ok(contender)
    }

    /// What is in the database is what was promised, and means what was posted.
    fn check(&mut self, jobs: &Jobs, run: &Run<'_>) -> Result<(), Trouble> {
        let mut left = self.promised.clone();
        for (id, job) in self.daemon.stored(run)? {
            let number = left.remove(&id).ok_or_else(|| Trouble::Failed(format!("nobody was told of {id}")))?;
            let posted: Value =
                serde_json::from_str(&jobs.json(number)).map_err(|error| Trouble::Failed(error.to_string()))?;
            if job != posted {
                return Err(Trouble::Failed(format!("what was posted as {posted} is kept as {job}")));
            }
        }
        match left.keys().next() {
            Some(id) => Err(Trouble::Failed(format!("{} jobs are lost, as {id}", left.len()))),
            None => Ok(()),
        }
    }

    /// So many clients post so many jobs.
    fn sample(&mut self, jobs: &Jobs, clients: u32, requests: u32, stop: &AtomicBool) -> Result<Timed, Trouble> {
        let clients: Result<Vec<Client>, Trouble> = (0..clients).map(|_| self.daemon.client()).collect();
        let (next, end, path) = (AtomicU32::new(self.next), self.next + requests, self.daemon.kind.path());
        let done = together(clients?, |client| post_all(client, &path, jobs, &next, end, stop));
        if let Some(why) = self.daemon.ended() {
            return Err(Trouble::Failed(why));
        }
        let (took, answers) = done?;
        self.next = end;
        let mut times = Vec::with_capacity(requests as usize);
        for (number, id, ns) in answers.into_iter().flatten() {
            times.push(ns);
            if self.promised.insert(id, number).is_some() {
                return Err(Trouble::Failed("it gave an id twice".to_owned()));
            }
        }
        times.sort_unstable_by(f64::total_cmp);
        let (p50, p99) = (percentile(&times, 0.5), percentile(&times, 0.99));
        Ok(Timed { round: 0, turn: 0, jobs: requests, ns: took.as_nanos() as f64, p50, p99 })
    }

    /// Everything that was timed is there as well.
    fn end(mut self, jobs: &Jobs, server: &Server, run: &mut Run<'_>) -> Result<(), Trouble> {
        self.check(jobs, run)?;
        let Contender { daemon, promised, .. } = self;
        let id = daemon.kind.id();
        let database = daemon.database.clone();
        drop(daemon);
        database.drop(run.ask)?;
        (run.say)(&format!("{id} on {}: all {} jobs of the round are there", server.name(), promised.len()));
        Ok(())
    }
}

/// One client posts jobs as long as there are any left: their numbers, ids, and how long each took.
fn post_all(
    mut client: Client,
    path: &str,
    jobs: &Jobs,
    next: &AtomicU32,
    end: u32,
    stop: &AtomicBool,
) -> Result<Vec<(u32, String, f64)>, Trouble> {
    #[derive(Deserialize)]
    struct Answer {
        id: String,
    }
    let failed = |error: std::io::Error| Trouble::Failed(error.to_string());
    let mut done = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= end {
            return Ok(done);
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Trouble::Stopped);
        }
        let job = jobs.json(number);
        let began = Instant::now();
        let reply = client.send("POST", path, job.as_bytes()).map_err(failed)?;
        let took = began.elapsed().as_nanos() as f64;
        if reply.status != 201 {
            return Err(Trouble::Failed(format!("it answered {} to a job", reply.status)));
        }
        let answer: Answer = serde_json::from_slice(&reply.body)
            .map_err(|_| Trouble::Failed(format!("no id: {}", String::from_utf8_lossy(&reply.body))))?;
        done.push((number, answer.id, took));
    }
}

/// So much of all is not above this: the nearest rank of a sorted list.
fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let all: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!((percentile(&all, 0.5), percentile(&all, 0.99)), (Some(100.0), Some(198.0)));
        assert_eq!((percentile(&[7.0], 0.99), percentile(&[], 0.5)), (Some(7.0), None));
    }
}
