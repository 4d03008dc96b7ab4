//! State shared by all requests.

use crate::auth::Auth;
use crate::body::BodyReader;
use crate::committer::Committer;
use crate::counts::Counts;
use crate::database::{Database, WriterLock};
use crate::journal::Journal;
use crate::limits::RateLimiter;
use crate::metrics::Metrics;
use crate::schema::Schemas;
use crate::settings::Settings;
use crate::shutdown::Shutdown;
use crate::threads::Threads;
use crate::wakeups::Wakeups;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// State shared by all requests.
pub struct App {
    pub settings: Settings,
    pub auth: Auth,
    pub bodies: BodyReader,
    pub rates: RateLimiter,
    pub journal: Journal,
    pub metrics: Arc<Metrics>,
    pub database: Database,
    pub committer: Committer,
    /// Records finished jobs, also in groups.
    pub recorder: Committer,
    /// Threads that decode payloads.
    pub decoders: Threads<()>,
    pub schemas: Schemas,
    pub counts: Counts,
    pub wakeups: Wakeups,
    pub shutdown: Shutdown,
    /// One permit for each command that may run.
    pub commands: Arc<Semaphore>,
}

impl App {
    pub fn start(settings: Settings) -> std::io::Result<App> {
        let (metrics, writer_lock) = (Arc::new(Metrics::default()), WriterLock::new(&settings));
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        let database = Database::start(&settings, writer_lock.clone())?;
        if settings.one_writer {
            // The first connection determines which file is served. Opening it now selects the file that exists at
            // the start.
            database.begin_open();
        }
        Ok(App {
            auth: Auth::new(settings.token.as_deref()),
            bodies: BodyReader::new(&settings),
            rates: RateLimiter::new(settings.rate),
            journal: Journal::start(settings.quiet, settings.json_journal)?,
            database,
            committer: Committer::start("committer", &settings, writer_lock.clone(), Arc::clone(&metrics))?,
            recorder: Committer::start("recorder", &settings, writer_lock, Arc::clone(&metrics))?,
            decoders: Threads::start("decoder", processors, settings.max_waiting_requests, || ())?,
            schemas: Schemas::default(),
            counts: Counts::default(),
            wakeups: Wakeups::default(),
            shutdown: Shutdown::new(),
            commands: Arc::new(Semaphore::new(settings.max_commands)),
            metrics,
            settings,
        })
    }

    /// Lets the threads finish their work and end. Waits for them until the deadline.
    pub fn shut_down(&self, deadline: Instant) {
        self.decoders.close();
        self.committer.close();
        self.recorder.close();
        self.database.close();
        self.decoders.join(deadline);
        self.committer.join(deadline);
        self.recorder.join(deadline);
        self.database.join(deadline);
    }
}
