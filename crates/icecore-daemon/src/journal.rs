//! Request log on the standard error output.

use crate::threads::lock_ignoring_poison;
use icecore_store::time;
use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, SystemTime};

/// Maximum number of waiting lines. Further lines are dropped, so that no request waits for the log.
const MAX_WAITING_LINES: usize = 1024;

/// Writes lines on its own thread.
pub struct Journal {
    lines: Mutex<Option<SyncSender<String>>>,
    is_json: bool,
}

impl Journal {
    /// Starts the log. With `is_json`, each line is a JSON object.
    pub fn start(is_quiet: bool, is_json: bool) -> std::io::Result<Journal> {
        if is_quiet {
            return Ok(Journal { lines: Mutex::new(None), is_json });
        }
        let (sender, receiver) = sync_channel::<String>(MAX_WAITING_LINES);
        std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            while let Ok(mut lines) = receiver.recv() {
                // All waiting lines are written at once.
                receiver.try_iter().take(MAX_WAITING_LINES).for_each(|line| lines += &line);
                let _ = std::io::stderr().write_all(lines.as_bytes());
            }
        })?;
        Ok(Journal { lines: Mutex::new(Some(sender)), is_json })
    }

    /// Logs a request. It logs the route instead of the path, which may contain private names.
    pub fn log_request(&self, method: &str, route: &str, code: u16, took: Duration) {
        let millis = took.as_secs_f64() * 1000.0;
        match self.is_json {
            true => self.send_line(&serde_json::json!({
                "type": "request", "time": format_current_time(), "method": method, "route": route, "code": code,
                "milliseconds": (millis * 10.0).round() / 10.0,
            })),
            false => self.send_line(&format_args!("{} {method} {route} {code} {millis:.1}", format_current_time())),
        }
    }

    /// Logs any other message.
    pub fn log_message(&self, message: std::fmt::Arguments<'_>) {
        match self.is_json {
            true => self.send_line(
                &serde_json::json!({"type": "note", "time": format_current_time(), "message": message.to_string()}),
            ),
            false => self.send_line(&format_args!("{} {message}", format_current_time())),
        }
    }

    fn send_line(&self, line: &dyn std::fmt::Display) {
        if let Some(sender) = &*lock_ignoring_poison(&self.lines) {
            let _ = sender.try_send(format!("{line}\n"));
        }
    }
}

/// Returns the current time in UTC.
fn format_current_time() -> String {
    let elapsed = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    time::format_utc(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}
