//! A line for each request, on the standard error output.

use crate::threads::lock;
use icecore_store::time;
use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

/// How many lines wait; when nobody reads them, the rest is dropped: no request waits.
const LONGEST_QUEUE: usize = 1024;

/// Writes lines, in a thread of its own.
pub struct Journal(Mutex<Option<SyncSender<String>>>);

impl Journal {
    pub fn start(is_quiet: bool) -> std::io::Result<Journal> {
        if is_quiet {
            return Ok(Journal(Mutex::new(None)));
        }
        let (sender, receiver) = sync_channel::<String>(LONGEST_QUEUE);
        std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            while let Ok(mut lines) = receiver.recv() {
                // What waits is written at once.
                receiver.try_iter().take(LONGEST_QUEUE).for_each(|line| lines += &line);
                let _ = std::io::stderr().write_all(lines.as_bytes());
            }
        })?;
        Ok(Journal(Mutex::new(Some(sender))))
    }

    /// Notes a request: its route, not its path, which may name what is nobody's business.
    pub fn request(&self, method: &str, route: &str, code: u16, took: Duration) {
        self.line(format_args!("{method} {route} {code} {:.1}", took.as_secs_f64() * 1000.0));
    }

    /// Notes anything else.
    pub fn line(&self, words: std::fmt::Arguments<'_>) {
        if let Some(sender) = &*lock(&self.0) {
            let _ = sender.try_send(format!("{} {words}\n", now()));
        }
    }
}

/// The time of this machine.
fn now() -> String {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    time::shown(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
