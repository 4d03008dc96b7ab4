//! The server of a database, which somebody begins again when it was killed.

use crate::common::{Chance, until};
use std::process::Command;

/// A server whose process is in a file: `scripts/servers.sh` keeps it there.
pub struct Server {
    file: String,
    /// What can be killed of it.
    pub kinds: &'static [&'static str],
    last: String,
}

impl Server {
    /// The server of this backend, if there is one that may be killed.
    pub fn of(backend: &str) -> Option<Server> {
        let (name, kinds): (_, &[_]) = match backend {
            "postgres" => ("ICECORE_TEST_POSTGRES_PID", &["postmaster", "postgres backend"]),
            "mysql" => ("ICECORE_TEST_MYSQL_PID", &["mariadbd"]),
            _ => return None,
        };
        let Ok(file) = std::env::var(name) else {
            eprintln!("SKIPPED: kills of the server of {backend}, as {name} is not set: scripts/servers.sh sets it");
            return None;
        };
        Some(Server { file, kinds, last: String::new() })
    }

    /// Kills it, or one process of it.
    pub fn kill(&mut self, kind: &str, chance: &mut Chance) {
        // One that was killed before is not there any more when its number changed.
        let server = until("the server is there", || {
            let number = std::fs::read_to_string(&self.file).ok()?.trim().to_owned();
            (!number.is_empty() && number != self.last).then_some(number)
        });
        if kind == "postgres backend" {
            let victim = until("a program is connected", || {
                let backends = backends(&server);
                let at = chance.below(backends.len().max(1) as u64) as usize;
                backends.get(at).cloned()
            });
            return kill(&victim);
        }
        kill(&server);
        self.last = server;
    }
}

/// The processes that serve a connection of the tests.
fn backends(server: &str) -> Vec<String> {
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap_or_default();
    let serves = |child: &&str| {
        let line = std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        line.starts_with("postgres: icecore ")
    };
    children.split_whitespace().filter(serves).map(str::to_owned).collect()
}

fn kill(number: &str) {
    let number: u32 = number.parse().expect("the number of a process");
    // One that ended meanwhile is as good.
    Command::new("sh").args(["-c", &format!("kill -9 {number} 2>/dev/null || true")]).status().expect("a shell");
}
