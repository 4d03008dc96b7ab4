//! `icecore serve` in a process of its own, which can be restarted on the same port.

use super::client::{Answer, ask};
use crate::common::until;
use crate::run::ICECORE;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

pub struct Daemon {
    pub address: SocketAddr,
    database: String,
    environment: Vec<(String, String)>,
    process: Child,
}

/// Returns a free port, below the range that the system assigns to outgoing connections, so that it stays free while
/// its daemon is restarted. No two daemons of one test process get the same port.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + (std::process::id() % 10_000) as u16;
    let mut ports = (0..2_000).map(|_| first + NEXT.fetch_add(1, Ordering::SeqCst) % 2_000);
    ports.find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()).expect("a free port")
}

impl Daemon {
    /// Starts a daemon with this database and these environment variables.
    pub fn start(database: &str, environment: &[(&str, &str)]) -> Daemon {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let environment: Vec<(String, String)> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let process = spawn_until_ready(address, database, &environment);
        Daemon { address, database: database.to_owned(), environment, process }
    }

    pub fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        ask(self.address, method, path, body).unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    /// Returns `true` if the daemon still runs.
    pub fn is_alive(&mut self) -> bool {
        self.process.try_wait().expect("try_wait").is_none()
    }

    pub fn kill(&mut self) {
        assert!(self.is_alive(), "the daemon ended by itself");
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
    }

    /// Kills the daemon and starts it again.
    pub fn kill_and_restart(&mut self) {
        self.kill();
        self.process = spawn_until_ready(self.address, &self.database, &self.environment);
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the daemon, and waits until it listens. A daemon that ends before that is started again, because its port may
/// not be free yet.
fn spawn_until_ready(address: SocketAddr, database: &str, environment: &[(String, String)]) -> Child {
    let listen = address.to_string();
    let mut command = Command::new(ICECORE);
    command.args(["serve", "-q", "--listen", &listen]).env("ICECORE_DB", database);
    command.envs(environment.iter().cloned()).env_remove("ICECORE_TOKEN").stdin(Stdio::null()).stdout(Stdio::null());
    let mut process = command.spawn().expect("a daemon");
    until("the daemon listens", || {
        if process.try_wait().expect("try_wait").is_some() {
            process = command.spawn().expect("a daemon");
        }
        TcpStream::connect(address).ok()
    });
    process
}
