//! Server processes that this program starts and ends.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long servers may take until they answer, and until they have ended. Servers need more time on a busy machine,
/// so the limit is long. It only stops endless waits.
pub(crate) const SERVER_TIMEOUT: Duration = Duration::from_secs(300);

/// The time between two checks of a server.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum number of ports that are tried, because another process may take a port first.
pub(crate) const MAX_PORT_TRIES: u32 = 3;

/// Returns an address that was free a moment ago.
pub(crate) fn find_free_port() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr())
}

/// Returns a command that ends when this program ends, even if this program is killed. This needs `setpriv`, which
/// some systems lack.
pub(crate) fn supervised_command(setpriv: Option<&Path>, program: &Path) -> Command {
    match setpriv {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "TERM", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// A process with children, which ends together with them.
pub(crate) struct ServerProcess {
    child: Child,
    program: String,
    errors: PathBuf,
    has_ended: bool,
}

impl ServerProcess {
    /// Starts the server. Its output goes to the file `errors`.
    pub(crate) fn start(mut command: Command, errors: PathBuf) -> Result<ServerProcess, String> {
        let name = errors.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let describe = |error: io::Error| format!("{name}: {error}");
        let log = File::create(&errors).map_err(describe)?;
        command.stdin(Stdio::null()).stdout(log.try_clone().map_err(describe)?).stderr(log);
        isolate_process(&mut command);
        icecore_lab::hide_secrets_from(&mut command);
        let child = command.spawn().map_err(describe)?;
        Ok(ServerProcess { child, program: name, errors, has_ended: false })
    }

    /// Returns a message with the last line of its output, if it has ended.
    pub(crate) fn poll_exit(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        self.has_ended = true;
        let output: String = [&self.errors, &self.errors.with_extension("log")]
            .iter()
            .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned())
            .collect();
        let last = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it wrote nothing").to_owned();
        Some(format!("the server {} ended ({status}): {last}", self.program))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if !self.has_ended {
            terminate_process(&self.child);
            let end = Instant::now() + SERVER_TIMEOUT;
            while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        // The whole group is killed. This ends a server that ignored the signal, and children whose parent died.
        kill_process_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Puts the process into a group of its own. Ctrl-C then goes only to this program, and this program ends its
/// servers.
#[cfg(unix)]
fn isolate_process(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn terminate_process(child: &Child) {
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM);
}

#[cfg(unix)]
fn kill_process_group(child: &Child) {
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn isolate_process(_: &mut Command) {}

#[cfg(not(unix))]
fn terminate_process(_: &Child) {}

#[cfg(not(unix))]
fn kill_process_group(_: &Child) {}
