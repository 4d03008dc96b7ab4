//! Workers that start at the same moment, and work until a queue is empty.

use super::super::StoreRun;
use super::super::database::{Database, DatabaseServer};
use super::super::job::JobFactory;
use super::super::model::{Group, Operation, TimedSample};
use super::super::program::QueueProgram;
use super::{GrowthPlan, Samples, mark_absent};
use crate::concurrent_clients::run_together;
use icecore_lab::Error;
use icecore_lab::model::Absent;
use icecore_lab::runner::ParticipantError;
use std::path::{Path, PathBuf};

/// The noun in the names of the results.
const NOUN: &str = "worker";

/// The jobs of a sample.
#[derive(Clone, Copy)]
struct Workload {
    operation: Operation,
    jobs: u32,
    /// Number of jobs that a worker runs at the same time.
    at_once: u32,
    /// How long each job waits.
    millis: u32,
}

impl Workload {
    /// Returns the two kinds of samples: jobs that take no time, and jobs that wait. The number of waiting jobs grows
    /// with the workers, because each worker needs the same time for its own jobs.
    fn for_workers(growing: &GrowthPlan, workers: u32) -> [Workload; 2] {
        let GrowthPlan { jobs, at_once, waiting_jobs, waiting_at_once, waiting_millis, .. } = *growing;
        [
            Workload { operation: Operation::Drain, jobs, at_once, millis: 0 },
            Workload {
                operation: Operation::DrainWaiting,
                jobs: waiting_jobs.saturating_mul(workers),
                at_once: waiting_at_once,
                millis: waiting_millis,
            },
        ]
    }
}

/// Measures each number of workers on this server. Measures nothing if the program is missing.
pub(super) fn measure_workers(run: &mut StoreRun<'_>, server: &DatabaseServer) -> Result<Vec<Group>, Error> {
    if run.options.growing.workers.is_empty() {
        return Ok(Vec::new());
    }
    let Some(program) = run.options.library.clone() else {
        let competitor = format!("{NOUN}s on {}", server.name());
        let install = Some("scripts/load.sh".to_owned());
        run.absent.push(Absent { competitor, why: "the program is missing".to_owned(), install });
        return Ok(Vec::new());
    };
    let payload = run.folder.join("growing.json");
    std::fs::write(&payload, JobFactory::new()?.job_as_json(1_000_000)).map_err(|error| Error::io(&payload, &error))?;
    let mut samples = Samples::default();
    for round in 0..run.options.rounds {
        if run.is_stopped() {
            break;
        }
        (run.report_progress)(&format!(
            "{}, more workers: round {} of {}",
            server.name(),
            round + 1,
            run.options.rounds
        ));
        if let Err(error) = run_round(run, server, (&program, &payload), round, &mut samples) {
            if error != ParticipantError::Stopped {
                samples = Samples::default();
                mark_absent(run, &format!("{NOUN}s"), server, error);
            }
            break;
        }
    }
    let growing = &run.options.growing;
    let at_once = |operation| if operation == Operation::Drain { growing.at_once } else { growing.waiting_at_once };
    Ok(samples.into_groups(at_once, NOUN, server))
}

/// Starts new processes on a new database.
fn run_round(
    run: &mut StoreRun<'_>,
    server: &DatabaseServer,
    (program, payload): (&Path, &PathBuf),
    round: u32,
    samples: &mut Samples,
) -> Result<(), ParticipantError> {
    let name = format!("load_workers_{round}");
    let database = server.create_database(&name, run.queries)?;
    let mut counts = run.options.growing.workers.clone();
    let max_workers = counts.iter().copied().max().unwrap_or(0);
    let start = |number: u32| {
        QueueProgram::start(program, &run.folder.join(format!("{name}_{number}")), &database, payload, run.stop)
    };
    let programs: Result<Vec<QueueProgram<'_>>, ParticipantError> = (0..max_workers).map(start).collect();
    let mut workers = Workers { programs: programs?, database, pushed: 0 };
    // These samples are not recorded. They set up connections, plans and caches.
    for workload in Workload::for_workers(&run.options.growing, max_workers) {
        let warm_up = Workload { jobs: workload.jobs.min(max_workers * workload.at_once), ..workload };
        workers.take_sample(warm_up, max_workers, run)?;
    }
    run.record_check(format!(
        "{max_workers} workers on {}: {} jobs are there once, and each was handed out once and is done",
        server.name(),
        workers.pushed
    ));
    for turn in 0..run.options.turns {
        run.rng.shuffle(&mut counts);
        for count in &counts {
            for workload in Workload::for_workers(&run.options.growing, *count) {
                let ns = workers.take_sample(workload, *count, run)?;
                let timed = TimedSample { round, turn, jobs: workload.jobs, ns, p50: None, p99: None };
                samples.add(workload.operation, *count, timed);
            }
        }
    }
    let Workers { programs, database, .. } = workers;
    drop(programs);
    database.drop_database(run.queries)
}

/// Processes on one database, and the number of jobs queued in it.
struct Workers<'s> {
    programs: Vec<QueueProgram<'s>>,
    database: Database,
    pushed: u32,
}

impl Workers<'_> {
    /// Measures the time from the moment at which this many workers start until the end of the last job is in the
    /// database.
    fn take_sample(&mut self, workload: Workload, count: u32, run: &StoreRun<'_>) -> Result<f64, ParticipantError> {
        let Workload { jobs, at_once, millis, .. } = workload;
        let first =
            self.programs.first_mut().ok_or_else(|| ParticipantError::Failed("there is no worker".to_owned()))?;
        first.time_command("push", jobs, &format!("{} {}", run.options.connections, run.options.batch))?;
        self.pushed += jobs;
        self.check_job_count("state = 'ready' AND attempts = 0", jobs, run)?;
        let active_workers: Vec<&mut QueueProgram<'_>> = self.programs.iter_mut().take(count as usize).collect();
        let (_, drained) = run_together(active_workers, |program| program.drain(at_once, millis))?;
        let total: u32 = drained.iter().map(|(jobs, ..)| *jobs).sum();
        if total != jobs {
            return Err(ParticipantError::Failed(format!("{count} workers report {total} jobs of {jobs}")));
        }
        // A job that two workers have received has more than one attempt.
        self.check_job_count("state = 'done' AND attempts = 1", self.pushed, run)?;
        self.check_job_count("1 = 1", self.pushed, run)?;
        let began = drained.iter().map(|(_, began, _)| *began).min();
        let ended = drained.iter().map(|(.., ended)| *ended).max();
        let duration = began.zip(ended).map(|(began, ended)| ended - began);
        duration
            .map(|duration| duration.as_nanos() as f64)
            .ok_or_else(|| ParticipantError::Failed("nobody worked".to_owned()))
    }

    /// Checks that this many jobs match a condition.
    fn check_job_count(&self, condition: &str, jobs: u32, run: &StoreRun<'_>) -> Result<(), ParticipantError> {
        let sql = format!("SELECT count(*) FROM icecore_jobs WHERE {condition}");
        match run.queries.query_number(&self.database.address, &sql)? {
            found if found == u64::from(jobs) => Ok(()),
            found => Err(ParticipantError::Failed(format!("{found} jobs instead of {jobs} have {condition}"))),
        }
    }
}
