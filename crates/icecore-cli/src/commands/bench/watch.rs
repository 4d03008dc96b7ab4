//! The progress of a run.

use crate::progress;
use icecore_lab::run::Watch;
use std::time::Duration;

/// Updates the progress line, with the remaining time.
pub struct Told;

impl Watch for Told {
    fn report_progress(&mut self, what: &str, done: f64, left: Option<Duration>) {
        let text = match left {
            Some(left) => format!("{what}; {} left", span(left)),
            None => what.to_owned(),
        };
        progress::share(done, text);
    }
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
