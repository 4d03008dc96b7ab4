//! The server of a database, restarted by somebody else after it was killed.

use crate::common::{Random, until};
use std::process::Command;

/// A server whose process id is in a file, which `scripts/servers.sh` maintains.
pub struct Server {
    file: String,
    /// The kinds of processes that can be killed.
    pub kinds: &'static [&'static str],
    last: String,
}

impl Server {
    /// Returns the server of this backend, if there is one that may be killed.
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

    /// Kills the server, or one process of it.
    pub fn kill(&mut self, kind: &str, random: &mut Random) {
        // A server that was killed before is gone once the process id in the file changed.
        let server = until("the server is there", || {
            let number = std::fs::read_to_string(&self.file).ok()?.trim().to_owned();
            (!number.is_empty() && number != self.last).then_some(number)
        });
        if kind == "postgres backend" {
            let victim = until("a program is connected", || {
                let backends = backends(&server);
                let index = random.below(backends.len().max(1) as u64) as usize;
                backends.get(index).cloned()
            });
            return kill(&victim);
        }
        kill(&server);
        self.last = server;
    }
}

/// Returns the processes that serve connections of the tests.
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
    // A process that has ended meanwhile is fine too.
    Command::new("sh").args(["-c", &format!("kill -9 {number} 2>/dev/null || true")]).status().expect("a shell");
}
