//! A queue used in a program's own process: the library compared with River, on the same PostgreSQL.

use super::StoreRun;
use super::database::{Database, DatabaseServer};
use super::job::JobFactory;
use super::model::{Entry, Group, Operation, TimedSample};
use super::program::QueueProgram;
use icecore_lab::Error;
use icecore_lab::model::Absent;
use icecore_lab::runner::ParticipantError;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How many times more jobs are pushed in groups than one by one.
const BATCH_FACTOR: u32 = 5;

/// The programs that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueKind {
    Library,
    River,
}

impl QueueKind {
    const ALL: [QueueKind; 2] = [QueueKind::Library, QueueKind::River];

    fn id(self) -> &'static str {
        match self {
            QueueKind::Library => "icecore/library",
            QueueKind::River => "river",
        }
    }

    fn program_path<'r>(self, run: &StoreRun<'r>) -> Option<&'r Path> {
        match self {
            QueueKind::Library => run.options.library.as_deref(),
            QueueKind::River => run.options.river.as_deref(),
        }
    }

    fn concurrency(self, run: &StoreRun<'_>) -> u32 {
        match self {
            QueueKind::Library => run.options.concurrency,
            QueueKind::River => run.options.river_concurrency,
        }
    }

    /// Returns the query for the number of these jobs.
    fn count_query(self, counted: CountedJobs) -> String {
        let (table, done) = match self {
            QueueKind::Library => ("icecore_jobs", "state = 'done'"),
            QueueKind::River => ("river_job", "state = 'completed'"),
        };
        let condition = match counted {
            CountedJobs::All => "true",
            CountedJobs::Done => done,
        };
        format!("SELECT count(*) FROM {table} WHERE {condition}")
    }

    /// Returns the query for the distinct payloads. All jobs have the same one.
    fn payloads_query(self) -> &'static str {
        match self {
            QueueKind::Library => "SELECT DISTINCT convert_from(bytes, 'UTF8') FROM icecore_jobs",
            QueueKind::River => "SELECT DISTINCT args::text FROM river_job",
        }
    }
}

/// Which jobs of a database are counted.
#[derive(Clone, Copy, Debug)]
enum CountedJobs {
    All,
    Done,
}

/// The timed operations, in their order in each turn.
const OPERATIONS: [Operation; 4] = [Operation::Push, Operation::PushMany, Operation::PushCopy, Operation::Work];

/// Measures all operations. Returns nothing if the server or both programs are missing.
pub(super) fn measure_queue(run: &mut StoreRun<'_>) -> Result<Vec<Group>, Error> {
    let mut kinds = Vec::new();
    for kind in QueueKind::ALL {
        match (&run.options.postgres, kind.program_path(run)) {
            (Some(_), Some(_)) => kinds.push(kind),
            (postgres, _) => {
                let requirement = if postgres.is_none() { "a server of PostgreSQL" } else { "the program" };
                let (competitor, reason) = (kind.id().to_owned(), format!("{requirement} is missing"));
                run.absent.push(Absent { competitor, why: reason, install: Some("scripts/load.sh".to_owned()) });
            }
        }
    }
    let Some(postgres) = run.options.postgres.clone() else { return Ok(Vec::new()) };
    let payload = run.folder.join("payload.json");
    let json = JobFactory::new()?.job_as_json(1_000_000);
    std::fs::write(&payload, &json).map_err(|error| Error::io(&payload, &error))?;
    let server = DatabaseServer::Postgres(postgres);
    let mut benchmark =
        QueueBenchmark { server, payload, json, kinds, samples: HashMap::new(), names_and_versions: HashMap::new() };
    for round in 0..run.options.rounds {
        if run.is_stopped() || benchmark.kinds.is_empty() {
            break;
        }
        benchmark.run_round(run, round);
    }
    Ok(benchmark.into_groups(run))
}

/// The samples of all rounds.
struct QueueBenchmark {
    server: DatabaseServer,
    payload: PathBuf,
    json: String,
    /// Programs that have not failed.
    kinds: Vec<QueueKind>,
    samples: HashMap<(&'static str, Operation), Vec<TimedSample>>,
    /// Name and version of each program.
    names_and_versions: HashMap<&'static str, (String, String)>,
}

/// A program, and the number of jobs that it was given.
struct QueueContender<'s> {
    kind: QueueKind,
    program: QueueProgram<'s>,
    database: Database,
    pushed: u32,
}

impl QueueBenchmark {
    /// Runs a round with new processes, each with a new database.
    fn run_round(&mut self, run: &mut StoreRun<'_>, round: u32) {
        (run.report_progress)(&format!(
            "{}, a queue: round {} of {}",
            self.server.name(),
            round + 1,
            run.options.rounds
        ));
        let mut contenders = Vec::new();
        for kind in self.kinds.clone() {
            match self.start_contender(kind, run, round) {
                Ok(contender) => contenders.push(contender),
                Err(error) => self.remove_failed(run, kind, error),
            }
        }
        for turn in 0..run.options.turns {
            for operation in OPERATIONS {
                run.rng.shuffle(&mut contenders);
                let mut failed = Vec::new();
                for contender in &mut contenders {
                    match contender.take_sample(operation, run) {
                        Ok((jobs, ns)) => {
                            let timed = TimedSample { round, turn, jobs, ns, p50: None, p99: None };
                            self.samples.entry((contender.kind.id(), operation)).or_default().push(timed);
                        }
                        Err(error) => failed.push((contender.kind, error)),
                    }
                }
                contenders.retain(|contender| failed.iter().all(|(kind, _)| *kind != contender.kind));
                failed.into_iter().for_each(|(kind, error)| self.remove_failed(run, kind, error));
            }
        }
        for QueueContender { kind, program, database, .. } in contenders {
            drop(program);
            if let Err(error) = database.drop_database(run.queries) {
                self.remove_failed(run, kind, error);
            }
        }
    }

    /// Starts a program, and checks that the jobs that it pushes and does are in the database.
    fn start_contender<'s>(
        &mut self,
        kind: QueueKind,
        run: &mut StoreRun<'s>,
        round: u32,
    ) -> Result<QueueContender<'s>, ParticipantError> {
        let path =
            kind.program_path(run).ok_or_else(|| ParticipantError::Failed("the program is missing".to_owned()))?;
        let name = format!("load_queue_{}_{round}", kind.id().replace('/', "_"));
        let database = self.server.create_database(&name, run.queries)?;
        let program = QueueProgram::start(path, &run.folder.join(&name), &database, &self.payload, run.stop)?;
        self.names_and_versions.insert(kind.id(), (program.name.clone(), program.version.clone()));
        let mut contender = QueueContender { kind, program, database, pushed: 0 };
        let check_jobs = run.options.connections * 4;
        contender.push_jobs("push", check_jobs, 1, run)?;
        contender.push_jobs("push", check_jobs, run.options.batch, run)?;
        contender.push_jobs("copy", check_jobs, run.options.batch, run)?;
        contender.check_payloads(&self.json, run)?;
        let jobs = contender.pushed;
        contender.complete_jobs(jobs, run)?;
        run.record_check(format!(
            "{}: {jobs} jobs were pushed, each is in the database once with its payload, and all are done after work",
            kind.id()
        ));
        Ok(contender)
    }

    /// Removes a program that failed, with all its samples.
    fn remove_failed(&mut self, run: &mut StoreRun<'_>, kind: QueueKind, error: ParticipantError) {
        if error == ParticipantError::Stopped {
            return;
        }
        self.kinds.retain(|other| *other != kind);
        self.samples.retain(|(id, _), _| *id != kind.id());
        run.mark_absent(kind.id(), error);
    }

    fn into_groups(mut self, run: &StoreRun<'_>) -> Vec<Group> {
        let mut group = |operation: Operation| {
            let entry = |kind: &QueueKind| {
                let samples = self.samples.remove(&(kind.id(), operation))?;
                let (name, version) = self.names_and_versions.get(kind.id())?;
                Some(Entry::new(kind.id(), name, version, samples))
            };
            let entries = self.kinds.iter().filter_map(entry).collect();
            let clients = run.options.connections;
            Group { operation, database: self.server.name().to_owned(), clients, entries }
        };
        OPERATIONS.map(&mut group).into_iter().filter(|group| !group.entries.is_empty()).collect()
    }
}

impl QueueContender<'_> {
    /// Takes one sample. Returns the number of jobs and the nanoseconds.
    fn take_sample(&mut self, operation: Operation, run: &StoreRun<'_>) -> Result<(u32, f64), ParticipantError> {
        let (jobs, batch) = (run.options.jobs, run.options.batch);
        match operation {
            Operation::Push => Ok((jobs, self.push_jobs("push", jobs, 1, run)?)),
            Operation::PushMany => Ok((jobs * BATCH_FACTOR, self.push_jobs("push", jobs * BATCH_FACTOR, batch, run)?)),
            Operation::PushCopy => Ok((jobs * BATCH_FACTOR, self.push_jobs("copy", jobs * BATCH_FACTOR, batch, run)?)),
            // The jobs that the other three operations pushed in this turn.
            Operation::Work => {
                let jobs = jobs * (1 + 2 * BATCH_FACTOR);
                Ok((jobs, self.complete_jobs(jobs, run)?))
            }
            Operation::Turnaround | Operation::Daemons => Err(ParticipantError::Cannot("it has no HTTP".to_owned())),
            Operation::Drain | Operation::DrainWaiting => {
                Err(ParticipantError::Cannot("that is another part".to_owned()))
            }
        }
    }

    fn push_jobs(&mut self, mode: &str, jobs: u32, batch: u32, run: &StoreRun<'_>) -> Result<f64, ParticipantError> {
        let ns = self.program.time_command(mode, jobs, &format!("{} {batch}", run.options.connections))?;
        self.pushed += jobs;
        self.check_job_count(CountedJobs::All, run)?;
        Ok(ns)
    }

    /// Does all jobs that were pushed since the last call.
    fn complete_jobs(&mut self, jobs: u32, run: &StoreRun<'_>) -> Result<f64, ParticipantError> {
        let ns = self.program.time_command("work", jobs, &self.kind.concurrency(run).to_string())?;
        self.check_job_count(CountedJobs::Done, run)?;
        Ok(ns)
    }

    /// Checks that the database has as many of these jobs as were pushed.
    fn check_job_count(&self, counted: CountedJobs, run: &StoreRun<'_>) -> Result<(), ParticipantError> {
        let found = run.queries.query_number(&self.database.address, &self.kind.count_query(counted))?;
        if found == u64::from(self.pushed) {
            return Ok(());
        }
        let state = match counted {
            CountedJobs::All => "are there",
            CountedJobs::Done => "are done",
        };
        Err(ParticipantError::Failed(format!("{found} jobs {state} of {} that were pushed", self.pushed)))
    }

    fn check_payloads(&self, json: &str, run: &StoreRun<'_>) -> Result<(), ParticipantError> {
        let to_failure = |error: serde_json::Error| ParticipantError::Failed(error.to_string());
        let rows = run.queries.query_rows(&self.database.address, self.kind.payloads_query())?;
        let [row] = rows.as_slice() else {
            return Err(ParticipantError::Failed(format!("{} different payloads of one", rows.len())));
        };
        let text = row.first().and_then(Value::as_str).unwrap_or_default();
        let (found, expected): (Value, Value) =
            (serde_json::from_str(text).map_err(to_failure)?, serde_json::from_str(json).map_err(to_failure)?);
        if found != expected {
            return Err(ParticipantError::Failed(format!("a payload is {found} instead of {expected}")));
        }
        Ok(())
    }
}
