//! Posts jobs to daemons that share a database, and checks that exactly the confirmed jobs are stored.

use super::StoreRun;
use super::daemon::{Daemon, DaemonKind};
use super::database::DatabaseServer;
use super::job::JobFactory;
use super::model::TimedSample;
use crate::concurrent_clients::run_together;
use crate::http::Client;
use icecore_lab::runner::ParticipantError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

/// Number of the first job.
const FIRST_NUMBER: u32 = 1_000_000;
/// Number of jobs that each client posts before anything is timed.
const WARM_UP_JOBS: u32 = 10;

/// Daemons that share a database, and the jobs that they confirmed.
pub(super) struct JobPoster {
    pub kind: DaemonKind,
    daemons: Vec<Daemon>,
    /// The ids that the daemons returned, each with the number of its job.
    confirmed: HashMap<String, u32>,
    /// Number of the next job.
    next_number: u32,
}

impl JobPoster {
    /// Starts `count` daemons on a new database with this name, for up to `max_clients` clients. Posts jobs without
    /// timing them, and checks that each is stored once and is readable.
    pub(super) fn start_daemons(
        kind: DaemonKind,
        count: u32,
        server: &DatabaseServer,
        name: &str,
        jobs: &JobFactory,
        run: &mut StoreRun<'_>,
        max_clients: u32,
    ) -> Result<JobPoster, ParticipantError> {
        let database = server.create_database(name, run.queries)?;
        let daemons: Result<Vec<Daemon>, ParticipantError> =
            (0..count).map(|_| Daemon::start(kind, run, database.clone(), max_clients)).collect();
        let mut poster = JobPoster { kind, daemons: daemons?, confirmed: HashMap::new(), next_number: FIRST_NUMBER };
        for daemon in &poster.daemons {
            daemon.check_refusal(&jobs.invalid_job())?;
        }
        poster.take_sample(jobs, max_clients, WARM_UP_JOBS * max_clients, run.stop)?;
        poster.check_stored_jobs(jobs, run)?;
        let label = match count {
            1 => kind.id().to_owned(),
            count => format!("{count} {}", kind.id()),
        };
        run.record_check(format!(
            "{label} on {}: {} jobs of {max_clients} clients are in the database, each once, and are read as what was posted; a \
             job without a name is refused",
            server.name(),
            poster.confirmed.len()
        ));
        Ok(poster)
    }

    /// Checks that the database contains exactly the confirmed jobs, with the posted values.
    pub(super) fn check_stored_jobs(&self, jobs: &JobFactory, run: &StoreRun<'_>) -> Result<(), ParticipantError> {
        let mut missing_jobs = self.confirmed.clone();
        for (id, job) in self.read_stored_jobs(run)? {
            let number = missing_jobs
                .remove(&id)
                .ok_or_else(|| ParticipantError::Failed(format!("no client received the id {id}")))?;
            let posted_job: Value = serde_json::from_str(&jobs.job_as_json(number))
                .map_err(|error| ParticipantError::Failed(error.to_string()))?;
            if job != posted_job {
                return Err(ParticipantError::Failed(format!("the job posted as {posted_job} is stored as {job}")));
            }
        }
        match missing_jobs.keys().next() {
            Some(id) => Err(ParticipantError::Failed(format!("{} jobs are lost, such as {id}", missing_jobs.len()))),
            None => Ok(()),
        }
    }

    /// Returns the ids and values of all jobs in the database.
    fn read_stored_jobs(&self, run: &StoreRun<'_>) -> Result<Vec<(String, Value)>, ParticipantError> {
        self.daemons.first().map_or(Ok(Vec::new()), |daemon| daemon.read_stored_jobs(run))
    }

    /// Posts `requests` jobs with `clients` concurrent clients, which are distributed over the daemons, and returns the
    /// times.
    pub(super) fn take_sample(
        &mut self,
        jobs: &JobFactory,
        clients: u32,
        requests: u32,
        stop: &AtomicBool,
    ) -> Result<TimedSample, ParticipantError> {
        let clients: Result<Vec<Client>, ParticipantError> =
            self.daemons.iter().cycle().take(clients as usize).map(Daemon::connect_client).collect();
        let (next_number, end, path) =
            (AtomicU32::new(self.next_number), self.next_number + requests, self.kind.jobs_path());
        let results = run_together(clients?, |client| post_jobs(client, &path, jobs, &next_number, end, stop));
        if let Some(reason) = self.daemons.iter_mut().find_map(Daemon::poll_exit) {
            return Err(ParticipantError::Failed(reason));
        }
        let (duration, answers) = results?;
        self.next_number = end;
        let mut times = Vec::with_capacity(requests as usize);
        for (number, id, ns) in answers.into_iter().flatten() {
            times.push(ns);
            if self.confirmed.insert(id, number).is_some() {
                return Err(ParticipantError::Failed("it returned an id twice".to_owned()));
            }
        }
        times.sort_unstable_by(f64::total_cmp);
        let (p50, p99) = (find_percentile(&times, 0.5), find_percentile(&times, 0.99));
        Ok(TimedSample { round: 0, turn: 0, jobs: requests, ns: duration.as_nanos() as f64, p50, p99 })
    }

    /// Checks that all confirmed jobs are in the database, stops the daemons and drops the database.
    pub(super) fn finish_round(
        self,
        jobs: &JobFactory,
        server: &DatabaseServer,
        run: &mut StoreRun<'_>,
    ) -> Result<(), ParticipantError> {
        self.check_stored_jobs(jobs, run)?;
        let JobPoster { kind, daemons, confirmed, .. } = self;
        let id = kind.id();
        let database = daemons.first().map(|daemon| daemon.database.clone());
        drop(daemons);
        database.map_or(Ok(()), |database| database.drop_database(run.queries))?;
        (run.report_progress)(&format!(
            "{id} on {}: all {} jobs of the round are there",
            server.name(),
            confirmed.len()
        ));
        Ok(())
    }
}

/// Posts jobs with one client until the number `end` is reached. All clients take their numbers from `next_number`.
/// Returns the number, id and time in nanoseconds of each posted job.
fn post_jobs(
    mut client: Client,
    path: &str,
    jobs: &JobFactory,
    next_number: &AtomicU32,
    end: u32,
    stop: &AtomicBool,
) -> Result<Vec<(u32, String, f64)>, ParticipantError> {
    #[derive(Deserialize)]
    struct Answer {
        id: String,
    }
    let to_failure = |error: std::io::Error| ParticipantError::Failed(error.to_string());
    let mut posted = Vec::new();
    loop {
        let number = next_number.fetch_add(1, Ordering::Relaxed);
        if number >= end {
            return Ok(posted);
        }
        if stop.load(Ordering::Relaxed) {
            return Err(ParticipantError::Stopped);
        }
        let job = jobs.job_as_json(number);
        let began = Instant::now();
        let reply = client.send_json("POST", path, job.as_bytes()).map_err(to_failure)?;
        let duration = began.elapsed().as_nanos() as f64;
        if reply.status != 201 {
            return Err(ParticipantError::Failed(format!("it answered {} to a job", reply.status)));
        }
        let answer: Answer = serde_json::from_slice(&reply.body)
            .map_err(|_| ParticipantError::Failed(format!("no id: {}", String::from_utf8_lossy(&reply.body))))?;
        posted.push((number, answer.id, duration));
    }
}

/// Returns the percentile of a sorted list, by nearest rank.
fn find_percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::find_percentile;

    #[test]
    fn percentiles_are_measured_times() {
        let all: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!((find_percentile(&all, 0.5), find_percentile(&all, 0.99)), (Some(100.0), Some(198.0)));
        assert_eq!((find_percentile(&[7.0], 0.99), find_percentile(&[], 0.5)), (Some(7.0), None));
    }
}
