//! Threads that use the database. Each thread has its own connection.

use crate::failure::Failure;
use crate::settings::{Opener, Settings};
use crate::threads::{Threads, lock_ignoring_poison};
use icecore_store::{Backend, Error, ErrorKind, Result};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Pause before a database that could not be opened is tried again.
const REOPEN_DELAY: Duration = Duration::from_millis(250);

/// A connection that is opened when it is first needed, and reopened after it was lost.
pub struct Connection {
    open: Opener,
    backend: Option<Box<dyn Backend>>,
    /// Time and error of the last failed attempt to open the connection.
    failed: Option<(Instant, ErrorKind, String)>,
    writer_lock: WriterLock,
}

/// Lets one connection write at a time, if the database requires that. All clones share the lock.
#[derive(Clone)]
pub struct WriterLock {
    /// Lock for databases that allow one writer at a time.
    writer: Option<Arc<Mutex<()>>>,
}

impl WriterLock {
    pub fn new(settings: &Settings) -> WriterLock {
        WriterLock { writer: settings.one_writer.then(Arc::default) }
    }
}

impl Connection {
    pub fn new(open: Opener, writer_lock: WriterLock) -> Connection {
        Connection { open, backend: None, failed: None, writer_lock }
    }

    /// Runs a read. If the error shows that the connection may be broken, closes it. The next call opens a new one.
    pub fn read<T>(&mut self, body: impl FnOnce(&mut dyn Backend) -> Result<T>) -> Result<T> {
        let result = self.ensure_open().and_then(body);
        let is_broken = matches!(&result, Err(error) if matches!(error.kind(), ErrorKind::Away | ErrorKind::Database));
        if is_broken {
            self.backend = None;
        }
        result
    }

    /// Runs a write.
    pub fn write<T>(&mut self, body: impl FnOnce(&mut dyn Backend) -> Result<T>) -> Result<T> {
        let writer = self.writer_lock.writer.clone();
        let _guard = writer.as_deref().map(lock_ignoring_poison);
        self.read(body)
    }

    fn ensure_open(&mut self) -> Result<&mut dyn Backend> {
        let backend = match self.backend.take() {
            Some(backend) => backend,
            None => self.open_backend()?,
        };
        Ok(&mut **self.backend.insert(backend))
    }

    fn open_backend(&mut self) -> Result<Box<dyn Backend>> {
        if let Some((failed_at, kind, message)) = &self.failed
            && failed_at.elapsed() < REOPEN_DELAY
        {
            return Err(Error::new(*kind, message.clone()));
        }
        (self.open)().inspect_err(|error| {
            // For a file that was moved, the next attempt need not wait. This error is detected quickly, and the file
            // may be back at any time.
            if error.kind() != ErrorKind::Moved {
                self.failed = Some((Instant::now(), error.kind(), error.to_string()));
            }
        })
    }
}

/// The threads.
pub struct Database {
    threads: Threads<Connection>,
    timeout: Duration,
}

impl Database {
    pub fn start(settings: &Settings, writer_lock: WriterLock) -> std::io::Result<Database> {
        let open = Arc::clone(&settings.open);
        let make = move || Connection::new(Arc::clone(&open), writer_lock.clone());
        let threads = Threads::start("database", settings.database_threads, settings.max_waiting_requests, make)?;
        Ok(Database { threads, timeout: settings.database_timeout })
    }

    /// Starts opening the database on a thread, and returns immediately.
    pub fn begin_open(&self) {
        let _ = self.threads.submit(|connection| drop(connection.read(|backend| backend.now())));
    }

    /// Runs a read on a thread.
    pub async fn read<T: Send + 'static>(
        &self,
        body: impl FnOnce(&mut dyn Backend) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        Ok(self.threads.submit_and_wait(self.timeout, |connection| connection.read(body)).await??)
    }

    /// Reads like `read`, but with its own time limit.
    pub async fn read_with_timeout<T: Send + 'static>(
        &self,
        timeout: Duration,
        body: impl FnOnce(&mut dyn Backend) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        Ok(self.threads.submit_and_wait(timeout, |connection| connection.read(body)).await??)
    }

    /// Runs a write on a thread.
    pub async fn write<T: Send + 'static>(
        &self,
        body: impl FnOnce(&mut dyn Backend) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        Ok(self.threads.submit_and_wait(self.timeout, |connection| connection.write(body)).await??)
    }

    /// Runs a write on a thread. If the client does not wait for the result any more, undoes the write.
    pub async fn write_or_undo<T: Send + 'static>(
        &self,
        body: impl FnOnce(&mut dyn Backend) -> Result<T> + Send + 'static,
        undo: impl FnOnce(&mut dyn Backend, T) -> Result<()> + Send + 'static,
    ) -> std::result::Result<T, Failure> {
        let answer = self.threads.submit_and_wait_or_undo(
            self.timeout,
            |connection| connection.write(body),
            |connection, result| {
                if let Ok(value) = result {
                    let _ = connection.write(|backend| undo(backend, value));
                }
            },
        );
        Ok(answer.await??)
    }

    pub fn close(&self) {
        self.threads.close();
    }

    pub fn join(&self, deadline: Instant) {
        self.threads.join(deadline);
    }
}
