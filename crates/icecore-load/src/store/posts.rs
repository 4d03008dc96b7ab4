//! Clients that post jobs to daemons on one database, and the ids that they were given.

use super::Run;
use super::daemon::{Daemon, Kind};
use super::database::Server;
use super::job::Jobs;
use super::model::Timed;
use crate::http::Client;
use crate::together::together;
use icecore_lab::runner::Trouble;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

/// Number of the first job.
const FIRST: u32 = 1_000_000;
/// Number of jobs that each client posts before anything is timed.
const WARM: u32 = 10;

/// Daemons on one database, and the jobs that they confirmed.
pub(super) struct Posts {
    pub kind: Kind,
    daemons: Vec<Daemon>,
    /// The ids in their answers, with the number of each job.
    promised: HashMap<String, u32>,
    /// Number of the next job.
    next: u32,
}

impl Posts {
    /// Starts `count` daemons on a new database with this name, for up to `most` clients, and checks that posted jobs
    /// are stored once and readable.
    pub(super) fn begin(
        kind: Kind,
        count: u32,
        server: &Server,
        name: &str,
        jobs: &Jobs,
        run: &mut Run<'_>,
        most: u32,
    ) -> Result<Posts, Trouble> {
        let database = server.make(name, run.ask)?;
        let daemons: Result<Vec<Daemon>, Trouble> =
            (0..count).map(|_| Daemon::start(kind, run, database.clone(), most)).collect();
        let mut posts = Posts { kind, daemons: daemons?, promised: HashMap::new(), next: FIRST };
        for daemon in &posts.daemons {
            daemon.refuses(&jobs.wrong())?;
        }
        posts.sample(jobs, most, WARM * most, run.stop)?;
        posts.check(jobs, run)?;
        let who = match count {
            1 => kind.id().to_owned(),
            count => format!("{count} {}", kind.id()),
        };
        run.checked(format!(
            "{who} on {}: {} jobs of {most} clients are in the database, each once, and are read as what was posted; a \
             job without a name is refused",
            server.name(),
            posts.promised.len()
        ));
        Ok(posts)
    }

    /// Checks that the database contains exactly the confirmed jobs, with the posted values.
    pub(super) fn check(&self, jobs: &Jobs, run: &Run<'_>) -> Result<(), Trouble> {
        let mut left = self.promised.clone();
        for (id, job) in self.stored(run)? {
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

    /// Returns all jobs in the database.
    fn stored(&self, run: &Run<'_>) -> Result<Vec<(String, Value)>, Trouble> {
        self.daemons.first().map_or(Ok(Vec::new()), |daemon| daemon.stored(run))
    }

    /// Measures this many clients, distributed over the daemons, that post this many jobs.
    pub(super) fn sample(
        &mut self,
        jobs: &Jobs,
        clients: u32,
        requests: u32,
        stop: &AtomicBool,
    ) -> Result<Timed, Trouble> {
        let clients: Result<Vec<Client>, Trouble> =
            self.daemons.iter().cycle().take(clients as usize).map(Daemon::client).collect();
        let (next, end, path) = (AtomicU32::new(self.next), self.next + requests, self.kind.path());
        let done = together(clients?, |client| post_all(client, &path, jobs, &next, end, stop));
        if let Some(why) = self.daemons.iter_mut().find_map(Daemon::ended) {
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

    /// Checks that all timed jobs are in the database, and removes it.
    pub(super) fn end(self, jobs: &Jobs, server: &Server, run: &mut Run<'_>) -> Result<(), Trouble> {
        self.check(jobs, run)?;
        let Posts { kind, daemons, promised, .. } = self;
        let id = kind.id();
        let database = daemons.first().map(|daemon| daemon.database.clone());
        drop(daemons);
        database.map_or(Ok(()), |database| database.drop(run.ask))?;
        (run.say)(&format!("{id} on {}: all {} jobs of the round are there", server.name(), promised.len()));
        Ok(())
    }
}

/// Posts jobs with one client as long as there are any left. Returns their numbers, ids and times.
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

/// Returns the percentile of a sorted list, by nearest rank.
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
