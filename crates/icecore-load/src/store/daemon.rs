//! Daemons that take jobs over HTTP.

use super::Run;
use super::database::{Database, VARIABLE, bytes};
use super::job::Jobs;
use crate::http::Client;
use crate::server::{GLANCE, PATIENCE, Server, TRIES, command, free_port};
use icecore_lab::runner::Trouble;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The queue of the jobs.
const QUEUE: &str = "load";

/// The daemons that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `icecore serve`
    Icecore,
    /// The design of the articles, in one process.
    PerlLoop,
    /// The design of the articles, with a process for each client.
    PerlFork,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Icecore, Kind::PerlLoop, Kind::PerlFork];

    pub(super) fn id(self) -> &'static str {
        match self {
            Kind::Icecore => "icecore/serve",
            Kind::PerlLoop => "perl/loop",
            Kind::PerlFork => "perl/fork",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Icecore => "icecore serve",
            Kind::PerlLoop => "the article's daemon, an event loop",
            Kind::PerlFork => "the article's daemon, a process a client",
        }
    }

    /// Returns the path to which jobs are posted.
    pub(super) fn path(self) -> String {
        format!("/jobs?queue={QUEUE}")
    }

    /// Returns the query for the ids and payloads of all jobs.
    fn all(self) -> &'static str {
        match self {
            Kind::Icecore => "SELECT id, bytes FROM icecore_jobs",
            Kind::PerlLoop | Kind::PerlFork => "SELECT id, copy FROM article_jobs",
        }
    }

    /// Returns the format in which the payload is stored.
    fn format(self) -> &'static str {
        match self {
            Kind::Icecore => "json",
            Kind::PerlLoop | Kind::PerlFork => "dumper",
        }
    }

    fn command(self, run: &Run<'_>, database: &Database, address: SocketAddr, workers: u32) -> Command {
        let (options, setpriv) = (run.options, setpriv());
        match self {
            Kind::Icecore => {
                let mut command = command(setpriv.as_deref(), &options.icecore);
                command.args(["-q", "serve", "--listen", &address.to_string()]).env("ICECORE_DB", &database.address);
                command
            }
            Kind::PerlLoop | Kind::PerlFork => {
                let mode = if self == Kind::PerlLoop { "loop" } else { "fork" };
                let mut command = command(setpriv.as_deref(), &PathBuf::from("perl"));
                command.arg(options.programs.join("daemon.pl")).args(["--mode", mode]);
                command.args(["--port", &address.port().to_string(), "--workers", &workers.to_string()]);
                command.env(VARIABLE, &database.address);
                command
            }
        }
    }
}

/// Returns the path of `setpriv`, which ends the servers even if this program is killed, if the system has it.
fn setpriv() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|place| place.join("setpriv")).find(|path| path.is_file())
}

/// A running daemon with its own database.
pub(super) struct Daemon {
    pub kind: Kind,
    pub address: SocketAddr,
    pub database: Database,
    server: Server,
}

impl Daemon {
    /// Starts a daemon for this many clients and one more, and waits until it answers.
    pub(super) fn start(kind: Kind, run: &Run<'_>, database: Database, clients: u32) -> Result<Daemon, Trouble> {
        let mut trouble = Trouble::Failed("no port is free".to_owned());
        for _ in 0..TRIES {
            let address = free_port().map_err(|error| Trouble::Failed(error.to_string()))?;
            let errors = run.folder.join(format!("{}-{}.err", kind.id().replace('/', "-"), address.port()));
            let server = Server::start(kind.command(run, &database, address, clients + 1), errors);
            let mut daemon =
                Daemon { kind, address, database: database.clone(), server: server.map_err(Trouble::Failed)? };
            match daemon.wait(run) {
                Ok(()) => {
                    daemon.set_up()?;
                    return Ok(daemon);
                }
                Err(Trouble::Stopped) => return Err(Trouble::Stopped),
                Err(why) => trouble = why,
            }
        }
        Err(trouble)
    }

    fn wait(&mut self, run: &Run<'_>) -> Result<(), Trouble> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(why) = self.ended() {
                return Err(Trouble::Failed(why));
            }
            if run.is_stopped() {
                return Err(Trouble::Stopped);
            }
            let answered = Client::connect(self.address, PATIENCE).and_then(|mut client| client.get("/healthz"));
            if answered.is_ok_and(|reply| reply.status == 200) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(Trouble::Failed("it did not answer".to_owned()));
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// Makes Icecore check jobs like the other daemons do.
    fn set_up(&self) -> Result<(), Trouble> {
        if self.kind != Kind::Icecore {
            return Ok(());
        }
        let path = format!("/queues/{QUEUE}/schema");
        match self.client()?.send("PUT", &path, Jobs::schema().as_bytes()) {
            Ok(reply) if (200..300).contains(&reply.status) => Ok(()),
            Ok(reply) => Err(Trouble::Failed(format!("it answered {} to the schema", reply.status))),
            Err(error) => Err(Trouble::Failed(error.to_string())),
        }
    }

    /// Returns why the daemon ended, if it has.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.server.ended()
    }

    pub(super) fn client(&self) -> Result<Client, Trouble> {
        Client::connect(self.address, PATIENCE).map_err(|error| Trouble::Failed(error.to_string()))
    }

    /// Checks that an invalid job is refused.
    pub(super) fn refuses(&self, wrong: &str) -> Result<(), Trouble> {
        match self.client()?.send("POST", &self.kind.path(), wrong.as_bytes()) {
            Ok(reply) if reply.status == 400 || reply.status == 422 => Ok(()),
            Ok(reply) => Err(Trouble::Failed(format!("it answered {} to a job that is wrong", reply.status))),
            Err(error) => Err(Trouble::Failed(error.to_string())),
        }
    }

    /// Returns all jobs in its database: their ids, and their payloads as JSON.
    pub(super) fn stored(&self, run: &Run<'_>) -> Result<Vec<(String, Value)>, Trouble> {
        let failed = |why: String| Trouble::Failed(format!("what it stored can't be read: {why}"));
        let rows = run.ask.of(&self.database.address, self.kind.all())?;
        let job = |row: Vec<Value>| {
            let [id, payload] = row.as_slice() else { return Err(failed("another number of columns".to_owned())) };
            let payload = bytes(payload).ok_or_else(|| failed("no text".to_owned()))?;
            let json =
                icecore::convert(&payload, self.kind.format(), "json").map_err(|error| failed(error.to_string()))?;
            let value = serde_json::from_slice(&json).map_err(|error| failed(error.to_string()))?;
            Ok((id.as_str().unwrap_or_default().to_owned(), value))
        };
        rows.into_iter().map(job).collect()
    }
}
