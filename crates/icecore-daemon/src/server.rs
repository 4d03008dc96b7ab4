//! Connections, from the start to the end of the daemon.

use crate::app::App;
use crate::call::ClientAddress;
use crate::connections::{ConnectionHandle, ConnectionSlot, Connections};
use crate::routes;
use crate::settings::{Settings, StartError};
use crate::shutdown::{Either, select_first};
use crate::write_timeout::WriteTimeoutStream;
use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tower_service::Service;

/// Time for commands to end after an abort, and to return their jobs to the queue.
const COMMAND_ABORT_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Time for the threads to finish waiting work.
const THREAD_END_TIMEOUT: Duration = Duration::from_secs(1);
/// Time for a stranger to send the rest of a request when the daemon ends.
const REQUEST_END_TIMEOUT: Duration = Duration::from_secs(1);
/// How often expired objects and old jobs are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// Maximum number of bytes in the head of a request.
const MAX_HEAD_LEN: usize = 64 << 10;

/// A running daemon.
pub struct Server {
    address: SocketAddr,
    app: Arc<App>,
    runtime: Runtime,
    /// Completes when the last connection has ended.
    ended: tokio::sync::oneshot::Receiver<()>,
}

/// Runs the daemon until SIGTERM or SIGINT, and then for at most ten more seconds.
///
/// # Errors
/// If the daemon can't start.
pub fn serve(settings: Settings) -> Result<(), StartError> {
    let server = Server::start(settings)?;
    let shutdown = server.app.shutdown.clone();
    server.runtime.spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
            return;
        };
        select_first(term.recv(), int.recv()).await;
        shutdown.begin();
    });
    server.wait();
    Ok(())
}

impl Server {
    /// Starts the daemon.
    ///
    /// # Errors
    /// If it can't listen, or would accept requests from other machines without a token.
    pub fn start(settings: Settings) -> Result<Server, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8))
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        let listener = runtime.block_on(bind_listener(&settings))?;
        let address = listener.local_addr().map_err(|error| StartError::Listen(settings.listen.clone(), error))?;
        let ready = settings.ready.clone();
        let app = Arc::new(App::start(settings).map_err(StartError::Threads)?);
        let (end, ended) = tokio::sync::oneshot::channel();
        let connection_app = Arc::clone(&app);
        runtime.spawn(async move {
            accept_connections(listener, connection_app).await;
            let _ = end.send(());
        });
        runtime.spawn(sweep_expired(Arc::clone(&app)));
        runtime.spawn(routes::fire_due_schedules(Arc::clone(&app)));
        app.journal.log_message(format_args!("listening on http://{address}"));
        if let Some(ready) = ready {
            ready(address);
        }
        Ok(Server { address, app, runtime, ended })
    }

    /// Returns the address on which the daemon listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a function that ends the daemon from another thread. [`Server::wait`] then returns.
    pub fn stopper(&self) -> impl Fn() + Clone + Send + Sync + use<> {
        let shutdown = self.app.shutdown.clone();
        move || shutdown.begin()
    }

    /// Ends the daemon. Running requests are answered, within time limits.
    pub fn stop(self) {
        self.app.shutdown.begin();
        self.wait();
    }

    /// Waits until the daemon ends.
    pub fn wait(self) {
        let Server { app, runtime, ended, .. } = self;
        runtime.block_on(async {
            let _ = ended.await;
        });
        app.shut_down(Instant::now() + THREAD_END_TIMEOUT);
        runtime.shutdown_timeout(Duration::from_millis(200));
    }
}

async fn bind_listener(settings: &Settings) -> Result<TcpListener, StartError> {
    let listen_error = |error| StartError::Listen(settings.listen.clone(), error);
    let addresses: Vec<SocketAddr> = settings.listen.to_socket_addrs().map_err(listen_error)?.collect();
    // An address that other machines can reach requires a token.
    let exposed = addresses.iter().find(|address| !address.ip().to_canonical().is_loopback());
    if let (Some(address), None) = (exposed, settings.token.as_ref().filter(|token| !token.is_empty())) {
        return Err(StartError::NoToken(*address));
    }
    TcpListener::bind(&*addresses).await.map_err(listen_error)
}

/// Accepts connections until the end, and then waits for running requests.
async fn accept_connections(listener: TcpListener, app: Arc<App>) {
    let connections = Arc::new(Connections::new(&app.settings));
    if connections.max_known() < app.settings.max_connections {
        let (available, configured) = (connections.max_known(), app.settings.max_connections);
        app.journal.log_message(format_args!(
            "{available} connections instead of {configured}: the limit of open files does not allow more"
        ));
    }
    // Every connection has a clone of the sender. The receiver ends when all clones are dropped, so it shows that all
    // connections have ended.
    let (open_connection, mut all_ended) = mpsc::channel::<()>(1);
    let router = routes::build_router(Arc::clone(&app));
    loop {
        let next = async {
            connections.wait_for_place().await;
            listener.accept().await
        };
        match select_first(app.shutdown.wait_until_begun(), next).await {
            Either::Left(()) => break,
            Either::Right(Ok((stream, client))) => {
                let slot = connections.register_connection(client.ip());
                let (router, app, open_connection) = (router.clone(), Arc::clone(&app), open_connection.clone());
                tokio::spawn(async move {
                    serve_connection(stream, client, slot, router, app).await;
                    drop(open_connection);
                });
            }
            // The process has too many open files, or the client has already disconnected. The pause prevents a busy
            // loop.
            Either::Right(Err(error)) => {
                if is_out_of_files(&error) {
                    connections.close_one_connection();
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    // The sender of this function is dropped too. Otherwise the receiver would never end.
    drop((listener, open_connection));
    app.settings.stop.drain();
    // Each command that runs has a permit. So when all permits can be acquired, all commands have ended.
    let commands_ended = |count: usize| {
        let commands = Arc::clone(&app.commands);
        async move { drop(commands.acquire_many_owned(u32::try_from(count).unwrap_or(u32::MAX)).await) }
    };
    let all_done = async {
        let _ = all_ended.recv().await;
        commands_ended(app.settings.max_commands).await;
    };
    if tokio::time::timeout(app.settings.grace, all_done).await.is_err() {
        app.settings.stop.abort();
        let _ = tokio::time::timeout(COMMAND_ABORT_TIMEOUT, commands_ended(app.settings.max_commands)).await;
    }
}

/// Returns whether accepting failed because the process, or the system, has too many open files.
fn is_out_of_files(error: &std::io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}

/// Serves a connection until it ends or has to be closed.
async fn serve_connection(
    stream: TcpStream,
    client: SocketAddr,
    mut slot: ConnectionSlot,
    router: Router,
    app: Arc<App>,
) {
    let _ = stream.set_nodelay(true);
    app.metrics.count_connection_opened();
    let connection = slot.connection.clone();
    select_first(slot.wait_for_eviction(), answer_requests(stream, client, connection, router, &app)).await;
    app.metrics.count_connection_closed();
}

/// Answers the requests of a connection until it ends.
async fn answer_requests(
    stream: TcpStream,
    client: SocketAddr,
    connection: ConnectionHandle,
    router: Router,
    app: &App,
) {
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ClientAddress(client.ip()));
        request.extensions_mut().insert(connection.clone());
        connection.begin_request();
        let (mut router, connection) = (router.clone(), connection.clone());
        async move {
            let response = router.call(request).await.unwrap_or_else(|never| match never {});
            connection.end_request();
            Ok::<_, Infallible>(response)
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(app.settings.head_timeout).max_header_size(MAX_HEAD_LEN);
    let stream = TokioIo::new(WriteTimeoutStream::new(stream, app.settings.body_timeout));
    let mut served = pin!(builder.serve_connection(stream, service));
    // The result is not examined. An error only means that the client disconnected, or does not send HTTP.
    if let Either::Right(()) = select_first(served.as_mut(), app.shutdown.wait_until_begun()).await {
        served.as_mut().graceful_shutdown();
        // An incomplete request of a stranger must not keep the daemon running.
        while let Either::Right(()) = select_first(served.as_mut(), tokio::time::sleep(REQUEST_END_TIMEOUT)).await {
            if connection.is_idle_stranger() {
                break;
            }
        }
    }
}

/// Removes expired objects and old jobs.
async fn sweep_expired(app: Arc<App>) {
    loop {
        if let Either::Right(()) =
            select_first(tokio::time::sleep(SWEEP_INTERVAL), app.shutdown.wait_until_begun()).await
        {
            return;
        }
        let keep = app.settings.keep_jobs;
        let swept = app.database.write(move |backend| {
            backend.remove_expired()?;
            if let Some(keep) = keep {
                let before = backend.now()? - i64::try_from(keep.as_millis()).unwrap_or(i64::MAX / 2);
                backend.remove_ended_jobs(before)?;
            }
            Ok(())
        });
        if let Err(failure) = swept.await {
            app.journal
                .log_message(format_args!("expired objects and old jobs were not removed: {}", failure.body.message));
        }
    }
}
