//! Web servers that this program starts and ends.

use super::config;
use super::pages::Pool;
use super::tools::Tools;
use crate::http::Client;
use crate::server::{MAX_PORT_TRIES, POLL_INTERVAL, SERVER_TIMEOUT, ServerProcess, find_free_port, supervised_command};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

/// nginx, and a php-fpm for each pool. They end when this is dropped.
pub(super) struct Servers {
    pub address: SocketAddr,
    // Rust drops fields in this order. nginx comes first, because it uses the pools.
    running: Vec<ServerProcess>,
}

impl Servers {
    /// Starts all servers, and waits until every pool answers.
    pub(super) fn start(tools: &Tools, folder: &Path, pages: &Path, workers: u32) -> Result<Servers, String> {
        let describe = |error: io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(describe)?;
        let is_root = is_root();
        let mut pools = Vec::new();
        for pool in Pool::ALL {
            let path = folder.join(format!("{}.conf", pool.name()));
            std::fs::write(&path, config::render_fpm_config(folder, pool, workers, is_root)).map_err(describe)?;
            let mut command = supervised_command(tools.setpriv.as_deref(), &tools.fpm);
            command.arg("-F").arg("-y").arg(&path);
            if is_root {
                command.arg("-R");
            }
            for setting in config::list_php_settings(folder, pool, tools.modules.as_deref()) {
                command.args(["-d", &setting]);
            }
            pools.push(ServerProcess::start(command, folder.join(format!("{}.err", pool.name())))?);
        }
        let mut last_error = String::new();
        for _ in 0..MAX_PORT_TRIES {
            match start_nginx(tools, folder, pages, is_root).and_then(|(front, address)| {
                let mut running = vec![front];
                wait_for_pools(&mut running, &mut pools, address)?;
                Ok((running, address))
            }) {
                Ok((mut running, address)) => {
                    running.append(&mut pools);
                    return Ok(Servers { address, running });
                }
                Err(reason) => last_error = reason,
            }
            if let Some(reason) = pools.iter_mut().find_map(ServerProcess::poll_exit) {
                return Err(reason);
            }
        }
        Err(last_error)
    }

    /// Returns what happened, if one of the servers has ended.
    pub(super) fn poll_exit(&mut self) -> Option<String> {
        self.running.iter_mut().find_map(ServerProcess::poll_exit)
    }
}

/// Starts nginx on a port that was free a moment ago.
fn start_nginx(
    tools: &Tools,
    folder: &Path,
    pages: &Path,
    is_root: bool,
) -> Result<(ServerProcess, SocketAddr), String> {
    let describe = |error: io::Error| format!("nginx: {error}");
    let address = find_free_port().map_err(describe)?;
    let path = folder.join("nginx.conf");
    std::fs::write(&path, config::render_nginx_config(folder, pages, address.port(), is_root)).map_err(describe)?;
    let mut command = supervised_command(tools.setpriv.as_deref(), &tools.nginx);
    command.arg("-p").arg(folder).arg("-e").arg(folder.join("nginx.log")).arg("-c").arg(&path);
    Ok((ServerProcess::start(command, folder.join("nginx.err"))?, address))
}

/// Waits until every pool answers through nginx.
fn wait_for_pools(front: &mut [ServerProcess], pools: &mut [ServerProcess], address: SocketAddr) -> Result<(), String> {
    let end = Instant::now() + SERVER_TIMEOUT;
    let mut remaining_pools = Pool::ALL.to_vec();
    loop {
        if let Some(reason) = front.iter_mut().chain(pools.iter_mut()).find_map(ServerProcess::poll_exit) {
            return Err(reason);
        }
        remaining_pools.retain(|pool| !pool_answers(address, *pool));
        if remaining_pools.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            return Err("the servers did not answer".to_owned());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn pool_answers(address: SocketAddr, pool: Pool) -> bool {
    let reply = Client::connect(address, SERVER_TIMEOUT)
        .and_then(|mut client| client.get(&format!("/{}/status.php", pool.name())));
    reply.is_ok_and(|reply| reply.status == 200)
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}
