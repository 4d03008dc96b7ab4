//! A queue used in a program's own process: the library compared with River, on the same PostgreSQL.

use super::Run;
use super::database::{Database, Server};
use super::job::Jobs;
use super::model::{Entry, Group, Operation, Timed};
use super::program::Program;
use icecore_lab::Error;
use icecore_lab::model::Absent;
use icecore_lab::runner::Trouble;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How many times more jobs are pushed in groups than one by one.
const MORE: u32 = 5;

/// The programs that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Library,
    River,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Library, Kind::River];

    fn id(self) -> &'static str {
        match self {
            Kind::Library => "icecore/library",
            Kind::River => "river",
        }
    }

    fn program<'r>(self, run: &Run<'r>) -> Option<&'r Path> {
        match self {
            Kind::Library => run.options.library.as_deref(),
            Kind::River => run.options.river.as_deref(),
        }
    }

    fn concurrency(self, run: &Run<'_>) -> u32 {
        match self {
            Kind::Library => run.options.concurrency,
            Kind::River => run.options.river_concurrency,
        }
    }

    /// Returns the query for the number of jobs, or of jobs that are done.
    fn count(self, is_done: bool) -> String {
        let (table, done) = match self {
            Kind::Library => ("icecore_jobs", "state = 'done'"),
            Kind::River => ("river_job", "state = 'completed'"),
        };
        format!("SELECT count(*) FROM {table} WHERE {}", if is_done { done } else { "true" })
    }

    /// Returns the query for the distinct payloads.
    fn payloads(self) -> &'static str {
        match self {
            Kind::Library => "SELECT DISTINCT convert_from(bytes, 'UTF8') FROM icecore_jobs",
            Kind::River => "SELECT DISTINCT args::text FROM river_job",
        }
    }
}

/// Measures all operations; returns nothing if a server or both programs are missing.
pub(super) fn measure(run: &mut Run<'_>) -> Result<Vec<Group>, Error> {
    let mut kinds = Vec::new();
    for kind in Kind::ALL {
        match (&run.options.postgres, kind.program(run)) {
            (Some(_), Some(_)) => kinds.push(kind),
            (postgres, _) => {
                let what = if postgres.is_none() { "a server of PostgreSQL" } else { "the program" };
                let (competitor, why) = (kind.id().to_owned(), format!("{what} is missing"));
                run.absent.push(Absent { competitor, why, install: Some("scripts/load.sh".to_owned()) });
            }
        }
    }
    let Some(postgres) = run.options.postgres.clone() else { return Ok(Vec::new()) };
    let payload = run.folder.join("payload.json");
    let json = Jobs::new()?.json(1_000_000);
    std::fs::write(&payload, &json).map_err(|error| Error::io(&payload, &error))?;
    let server = Server::Postgres(postgres);
    let mut contest = Contest { server, payload, json, kinds, samples: HashMap::new(), said: HashMap::new() };
    for round in 0..run.options.rounds {
        if run.is_stopped() || contest.kinds.is_empty() {
            break;
        }
        contest.round(run, round);
    }
    Ok(contest.groups(run))
}

struct Contest {
    server: Server,
    payload: PathBuf,
    json: String,
    /// Programs that have not failed.
    kinds: Vec<Kind>,
    samples: HashMap<(&'static str, Operation), Vec<Timed>>,
    /// Name and version of each program.
    said: HashMap<&'static str, (String, String)>,
}

/// A program, and the number of jobs that it was given.
struct Contender<'s> {
    kind: Kind,
    program: Program<'s>,
    database: Database,
    pushed: u32,
}

impl Contest {
    /// Runs a round with new processes, each with a new database.
    fn round(&mut self, run: &mut Run<'_>, round: u32) {
        (run.say)(&format!("{}, a queue: round {} of {}", self.server.name(), round + 1, run.options.rounds));
        let mut contenders = Vec::new();
        for kind in self.kinds.clone() {
            match self.begin(kind, run, round) {
                Ok(contender) => contenders.push(contender),
                Err(trouble) => self.away(run, kind, trouble),
            }
        }
        for turn in 0..run.options.turns {
            for operation in [Operation::Push, Operation::PushMany, Operation::PushCopy, Operation::Work] {
                run.rng.shuffle(&mut contenders);
                let mut failed = Vec::new();
                for contender in &mut contenders {
                    match contender.sample(operation, run) {
                        Ok((jobs, ns)) => {
                            let timed = Timed { round, turn, jobs, ns, p50: None, p99: None };
                            self.samples.entry((contender.kind.id(), operation)).or_default().push(timed);
                        }
                        Err(trouble) => failed.push((contender.kind, trouble)),
                    }
                }
                contenders.retain(|one| failed.iter().all(|(kind, _)| *kind != one.kind));
                failed.into_iter().for_each(|(kind, trouble)| self.away(run, kind, trouble));
            }
        }
        for Contender { kind, program, database, .. } in contenders {
            drop(program);
            if let Err(trouble) = database.drop(run.ask) {
                self.away(run, kind, trouble);
            }
        }
    }

    /// Starts a program, and checks that the jobs that it pushes and does are in the database.
    fn begin<'s>(&mut self, kind: Kind, run: &mut Run<'s>, round: u32) -> Result<Contender<'s>, Trouble> {
        let path = kind.program(run).ok_or_else(|| Trouble::Failed("the program is missing".to_owned()))?;
        let name = format!("load_queue_{}_{round}", kind.id().replace('/', "_"));
        let database = self.server.make(&name, run.ask)?;
        let program = Program::start(path, &run.folder.join(&name), &database, &self.payload, run.stop)?;
        self.said.insert(kind.id(), (program.name.clone(), program.version.clone()));
        let mut contender = Contender { kind, program, database, pushed: 0 };
        let first = run.options.connections * 4;
        contender.push("push", first, 1, run)?;
        contender.push("push", first, run.options.batch, run)?;
        contender.push("copy", first, run.options.batch, run)?;
        contender.has_payloads(&self.json, run)?;
        let jobs = contender.pushed;
        contender.work(jobs, run)?;
        run.checked(format!(
            "{}: {jobs} jobs were pushed, each is in the database once with its payload, and all are done after work",
            kind.id()
        ));
        Ok(contender)
    }

    /// Removes a program that failed, with all its samples.
    fn away(&mut self, run: &mut Run<'_>, kind: Kind, trouble: Trouble) {
        if trouble == Trouble::Stopped {
            return;
        }
        self.kinds.retain(|one| *one != kind);
        self.samples.retain(|(id, _), _| *id != kind.id());
        run.away(kind.id(), trouble);
    }

    fn groups(mut self, run: &Run<'_>) -> Vec<Group> {
        let operations = [Operation::Push, Operation::PushMany, Operation::PushCopy, Operation::Work];
        let mut group = |operation: Operation| {
            let entry = |kind: &Kind| {
                let samples = self.samples.remove(&(kind.id(), operation))?;
                let (name, version) = self.said.get(kind.id())?;
                Some(Entry::new(kind.id(), name, version, samples))
            };
            let entries = self.kinds.iter().filter_map(entry).collect();
            let clients = run.options.connections;
            Group { operation, database: self.server.name().to_owned(), clients, entries }
        };
        operations.map(&mut group).into_iter().filter(|group| !group.entries.is_empty()).collect()
    }
}

impl Contender<'_> {
    /// Takes one sample. Returns the number of jobs and the nanoseconds.
    fn sample(&mut self, operation: Operation, run: &Run<'_>) -> Result<(u32, f64), Trouble> {
        let (jobs, batch) = (run.options.jobs, run.options.batch);
        match operation {
            Operation::Push => Ok((jobs, self.push("push", jobs, 1, run)?)),
            Operation::PushMany => Ok((jobs * MORE, self.push("push", jobs * MORE, batch, run)?)),
            Operation::PushCopy => Ok((jobs * MORE, self.push("copy", jobs * MORE, batch, run)?)),
            Operation::Work => {
                let jobs = jobs * (1 + 2 * MORE);
                Ok((jobs, self.work(jobs, run)?))
            }
            Operation::Turnaround | Operation::Daemons => Err(Trouble::Cannot("it has no HTTP".to_owned())),
            Operation::Drain | Operation::DrainWaiting => Err(Trouble::Cannot("that is another part".to_owned())),
        }
    }

    fn push(&mut self, how: &str, jobs: u32, batch: u32, run: &Run<'_>) -> Result<f64, Trouble> {
        let ns = self.program.time(how, jobs, &format!("{} {batch}", run.options.connections))?;
        self.pushed += jobs;
        self.expect(false, run)?;
        Ok(ns)
    }

    /// Does all jobs that were pushed since the last call.
    fn work(&mut self, jobs: u32, run: &Run<'_>) -> Result<f64, Trouble> {
        let ns = self.program.time("work", jobs, &self.kind.concurrency(run).to_string())?;
        self.expect(true, run)?;
        Ok(ns)
    }

    /// Checks that the number of jobs, or of jobs that are done, is the number pushed.
    fn expect(&self, is_done: bool, run: &Run<'_>) -> Result<(), Trouble> {
        let found = run.ask.number(&self.database.address, &self.kind.count(is_done))?;
        if found == u64::from(self.pushed) {
            return Ok(());
        }
        let what = if is_done { "are done" } else { "are there" };
        Err(Trouble::Failed(format!("{found} jobs {what} of {} that were pushed", self.pushed)))
    }

    fn has_payloads(&self, json: &str, run: &Run<'_>) -> Result<(), Trouble> {
        let wrong = |error: serde_json::Error| Trouble::Failed(error.to_string());
        let rows = run.ask.of(&self.database.address, self.kind.payloads())?;
        let [row] = rows.as_slice() else {
            return Err(Trouble::Failed(format!("{} different payloads of one", rows.len())));
        };
        let text = row.first().and_then(Value::as_str).unwrap_or_default();
        let (found, wanted): (Value, Value) =
            (serde_json::from_str(text).map_err(wrong)?, serde_json::from_str(json).map_err(wrong)?);
        if found != wanted {
            return Err(Trouble::Failed(format!("a payload is {found} in place of {wanted}")));
        }
        Ok(())
    }
}
