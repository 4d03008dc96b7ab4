//! Servers that the lab starts, and ends.

use super::config;
use super::http::Client;
use super::pages::Pool;
use super::tools::Tools;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long servers may take until they answer, and until they have ended. It only ends what would never come: on a
/// busy machine all of this takes a while.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often is looked whether they have.
const GLANCE: Duration = Duration::from_millis(10);

/// How many other ports are tried, if another process took the port first.
const TRIES: u32 = 3;

/// nginx, and a master of php-fpm for each pool. They end with this.
pub(super) struct Servers {
    pub address: SocketAddr,
    // The first ends first: nginx, before what it asks.
    running: Vec<Server>,
}

impl Servers {
    /// Starts them all, and waits until every pool answers.
    pub(super) fn start(tools: &Tools, folder: &Path, pages: &Path, workers: u32) -> Result<Servers, String> {
        let say = |error: io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(say)?;
        let is_root = is_root();
        let mut pools = Vec::new();
        for pool in Pool::ALL {
            let path = folder.join(format!("{}.conf", pool.name()));
            std::fs::write(&path, config::fpm(folder, pool, workers, is_root)).map_err(say)?;
            let mut command = command(tools, &tools.fpm);
            command.arg("-F").arg("-y").arg(&path);
            if is_root {
                command.arg("-R");
            }
            for setting in config::settings(folder, pool, tools.modules.as_deref()) {
                command.args(["-d", &setting]);
            }
            pools.push(Server::start(command, folder.join(format!("{}.err", pool.name())))?);
        }
        let mut trouble = String::new();
        for _ in 0..TRIES {
            match front(tools, folder, pages, is_root).and_then(|(front, address)| {
                let mut running = vec![front];
                wait(&mut running, &mut pools, address)?;
                Ok((running, address))
            }) {
                Ok((mut running, address)) => {
                    running.append(&mut pools);
                    return Ok(Servers { address, running });
                }
                Err(why) => trouble = why,
            }
            if let Some(why) = pools.iter_mut().find_map(Server::ended) {
                return Err(why);
            }
        }
        Err(trouble)
    }

    /// What happened, if one of them is not there any more.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.running.iter_mut().find_map(Server::ended)
    }
}

/// nginx on a port that was free a moment ago.
fn front(tools: &Tools, folder: &Path, pages: &Path, is_root: bool) -> Result<(Server, SocketAddr), String> {
    let say = |error: io::Error| format!("nginx: {error}");
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).map_err(say)?;
    let path = folder.join("nginx.conf");
    std::fs::write(&path, config::nginx(folder, pages, free.port(), is_root)).map_err(say)?;
    let mut command = command(tools, &tools.nginx);
    command.arg("-p").arg(folder).arg("-e").arg(folder.join("nginx.log")).arg("-c").arg(&path);
    Ok((Server::start(command, folder.join("nginx.err"))?, free))
}

/// Waits until every pool answers over nginx.
fn wait(front: &mut [Server], pools: &mut [Server], address: SocketAddr) -> Result<(), String> {
    let end = Instant::now() + PATIENCE;
    let mut left = Pool::ALL.to_vec();
    loop {
        if let Some(why) = front.iter_mut().chain(pools.iter_mut()).find_map(Server::ended) {
            return Err(why);
        }
        left.retain(|pool| !answers(address, *pool));
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            return Err("the servers did not answer".to_owned());
        }
        std::thread::sleep(GLANCE);
    }
}

fn answers(address: SocketAddr, pool: Pool) -> bool {
    let reply =
        Client::connect(address, PATIENCE).and_then(|mut client| client.get(&format!("/{}/status.php", pool.name())));
    reply.is_ok_and(|reply| reply.status == 200)
}

/// A program that ends when the lab does, even if it is killed, where the system can see to that.
fn command(tools: &Tools, program: &Path) -> Command {
    match &tools.setpriv {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "TERM", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// A process with children of its own, that ends together with them.
struct Server {
    child: Child,
    program: String,
    errors: PathBuf,
    has_ended: bool,
}

impl Server {
    fn start(mut command: Command, errors: PathBuf) -> Result<Server, String> {
        let name = errors.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let say = |error: io::Error| format!("{name}: {error}");
        let log = File::create(&errors).map_err(say)?;
        command.stdin(Stdio::null()).stdout(log.try_clone().map_err(say)?).stderr(log);
        group(&mut command);
        let child = command.spawn().map_err(say)?;
        Ok(Server { child, program: name, errors, has_ended: false })
    }

    /// What its last words were, if it has ended.
    fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        self.has_ended = true;
        let said: String = [&self.errors, &self.errors.with_extension("log")]
            .iter()
            .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned())
            .collect();
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").to_owned();
        Some(format!("the server {} ended ({status}): {last}", self.program))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.has_ended {
            ask_to_end(&self.child);
            let end = Instant::now() + PATIENCE;
            while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
                std::thread::sleep(GLANCE);
            }
        }
        // Whoever did not listen, and children whose master fell.
        end_group(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A group of its own: a Ctrl-C is for the lab, which ends its servers itself.
#[cfg(unix)]
fn group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn ask_to_end(child: &Child) {
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM);
}

#[cfg(unix)]
fn end_group(child: &Child) {
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

#[cfg(not(unix))]
fn group(_: &mut Command) {}

#[cfg(not(unix))]
fn ask_to_end(_: &Child) {}

#[cfg(not(unix))]
fn end_group(_: &Child) {}
