//! Daemons that take jobs over HTTP.

use super::StoreRun;
use super::database::{ADDRESS_VARIABLE, Database, bytes_from_column};
use super::job::JobFactory;
use crate::http::Client;
use crate::server::{MAX_PORT_TRIES, POLL_INTERVAL, SERVER_TIMEOUT, ServerProcess, find_free_port, supervised_command};
use icecore_lab::runner::ParticipantError;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The queue of the jobs.
const QUEUE: &str = "load";

/// The daemons that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DaemonKind {
    /// `icecore serve`
    Icecore,
    /// The design of the articles, in one process.
    PerlLoop,
    /// The design of the articles, with a process for each client.
    PerlFork,
}

impl DaemonKind {
    pub(super) const ALL: [DaemonKind; 3] = [DaemonKind::Icecore, DaemonKind::PerlLoop, DaemonKind::PerlFork];

    pub(super) fn id(self) -> &'static str {
        match self {
            DaemonKind::Icecore => "icecore/serve",
            DaemonKind::PerlLoop => "perl/loop",
            DaemonKind::PerlFork => "perl/fork",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            DaemonKind::Icecore => "icecore serve",
            DaemonKind::PerlLoop => "the article's daemon, an event loop",
            DaemonKind::PerlFork => "the article's daemon, a process a client",
        }
    }

    /// Returns the path to which jobs are posted.
    pub(super) fn jobs_path(self) -> String {
        format!("/jobs?queue={QUEUE}")
    }

    /// Returns the query for the ids and payloads of all jobs.
    fn all_jobs_query(self) -> &'static str {
        match self {
            DaemonKind::Icecore => "SELECT id, bytes FROM icecore_jobs",
            DaemonKind::PerlLoop | DaemonKind::PerlFork => "SELECT id, copy FROM article_jobs",
        }
    }

    /// Returns the format in which the payload is stored.
    fn payload_format(self) -> &'static str {
        match self {
            DaemonKind::Icecore => "json",
            DaemonKind::PerlLoop | DaemonKind::PerlFork => "dumper",
        }
    }

    fn build_command(self, run: &StoreRun<'_>, database: &Database, address: SocketAddr, workers: u32) -> Command {
        let (options, setpriv) = (run.options, find_setpriv());
        match self {
            DaemonKind::Icecore => {
                let mut command = supervised_command(setpriv.as_deref(), &options.icecore);
                command.args(["-q", "serve", "--listen", &address.to_string()]).env("ICECORE_DB", &database.address);
                command
            }
            DaemonKind::PerlLoop | DaemonKind::PerlFork => {
                let mode = if self == DaemonKind::PerlLoop { "loop" } else { "fork" };
                let mut command = supervised_command(setpriv.as_deref(), &PathBuf::from("perl"));
                command.arg(options.programs.join("daemon.pl")).args(["--mode", mode]);
                command.args(["--port", &address.port().to_string(), "--workers", &workers.to_string()]);
                command.env(ADDRESS_VARIABLE, &database.address);
                command
            }
        }
    }
}

/// Returns the path of `setpriv`, if the system has it. With `setpriv` the servers end even if this program is
/// killed.
fn find_setpriv() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("setpriv")).find(|path| path.is_file())
}

/// A running daemon with its own database.
pub(super) struct Daemon {
    pub kind: DaemonKind,
    pub address: SocketAddr,
    pub database: Database,
    server: ServerProcess,
}

impl Daemon {
    /// Starts a daemon for this many clients and one more, and waits until it answers.
    pub(super) fn start(
        kind: DaemonKind,
        run: &StoreRun<'_>,
        database: Database,
        clients: u32,
    ) -> Result<Daemon, ParticipantError> {
        let mut last_error = ParticipantError::Failed("no port is free".to_owned());
        for _ in 0..MAX_PORT_TRIES {
            let address = find_free_port().map_err(|error| ParticipantError::Failed(error.to_string()))?;
            let errors = run.folder.join(format!("{}-{}.err", kind.id().replace('/', "-"), address.port()));
            let server = ServerProcess::start(kind.build_command(run, &database, address, clients + 1), errors);
            let mut daemon =
                Daemon { kind, address, database: database.clone(), server: server.map_err(ParticipantError::Failed)? };
            match daemon.wait_until_ready(run) {
                Ok(()) => {
                    daemon.set_schema()?;
                    return Ok(daemon);
                }
                Err(ParticipantError::Stopped) => return Err(ParticipantError::Stopped),
                Err(error) => last_error = error,
            }
        }
        Err(last_error)
    }

    fn wait_until_ready(&mut self, run: &StoreRun<'_>) -> Result<(), ParticipantError> {
        let end = Instant::now() + SERVER_TIMEOUT;
        loop {
            if let Some(reason) = self.poll_exit() {
                return Err(ParticipantError::Failed(reason));
            }
            if run.is_stopped() {
                return Err(ParticipantError::Stopped);
            }
            let reply = Client::connect(self.address, SERVER_TIMEOUT).and_then(|mut client| client.get("/healthz"));
            if reply.is_ok_and(|reply| reply.status == 200) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(ParticipantError::Failed("it did not answer".to_owned()));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Makes Icecore check jobs like the other daemons do.
    fn set_schema(&self) -> Result<(), ParticipantError> {
        if self.kind != DaemonKind::Icecore {
            return Ok(());
        }
        let path = format!("/queues/{QUEUE}/schema");
        match self.connect_client()?.send_json("PUT", &path, JobFactory::job_schema().as_bytes()) {
            Ok(reply) if (200..300).contains(&reply.status) => Ok(()),
            Ok(reply) => Err(ParticipantError::Failed(format!("it answered {} to the schema", reply.status))),
            Err(error) => Err(ParticipantError::Failed(error.to_string())),
        }
    }

    /// Returns why the daemon ended, if it has.
    pub(super) fn poll_exit(&mut self) -> Option<String> {
        self.server.poll_exit()
    }

    pub(super) fn connect_client(&self) -> Result<Client, ParticipantError> {
        Client::connect(self.address, SERVER_TIMEOUT).map_err(|error| ParticipantError::Failed(error.to_string()))
    }

    /// Checks that an invalid job is refused.
    pub(super) fn check_refusal(&self, invalid_job: &str) -> Result<(), ParticipantError> {
        match self.connect_client()?.send_json("POST", &self.kind.jobs_path(), invalid_job.as_bytes()) {
            Ok(reply) if reply.status == 400 || reply.status == 422 => Ok(()),
            Ok(reply) => Err(ParticipantError::Failed(format!("it answered {} to a job that is wrong", reply.status))),
            Err(error) => Err(ParticipantError::Failed(error.to_string())),
        }
    }

    /// Returns all jobs in its database: their ids, and their payloads as JSON.
    pub(super) fn read_stored_jobs(&self, run: &StoreRun<'_>) -> Result<Vec<(String, Value)>, ParticipantError> {
        let failed = |reason: String| ParticipantError::Failed(format!("what it stored can't be read: {reason}"));
        let rows = run.queries.query_rows(&self.database.address, self.kind.all_jobs_query())?;
        let parse_job = |row: Vec<Value>| {
            let [id, payload] = row.as_slice() else { return Err(failed("another number of columns".to_owned())) };
            let payload = bytes_from_column(payload).ok_or_else(|| failed("no text".to_owned()))?;
            let json = icecore::convert(&payload, self.kind.payload_format(), "json")
                .map_err(|error| failed(error.to_string()))?;
            let value = serde_json::from_slice(&json).map_err(|error| failed(error.to_string()))?;
            Ok((id.as_str().unwrap_or_default().to_owned(), value))
        };
        rows.into_iter().map(parse_job).collect()
    }
}
