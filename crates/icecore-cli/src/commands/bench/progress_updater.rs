//! The progress of a run.

use crate::progress;
use icecore_lab::run::Watch;
use std::time::Duration;

/// Updates the progress line, with the remaining time.
pub struct ProgressUpdater;

impl Watch for ProgressUpdater {
    fn report_progress(&mut self, activity: &str, done: f64, remaining: Option<Duration>) {
        let text = match remaining {
            Some(remaining) => format!("{activity}; {} left", format_duration(remaining)),
            None => activity.to_owned(),
        };
        progress::set_share(done, text);
    }
}

fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
