//! How far a run is, on stderr.

use icecore_lab::run::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Steps of the bar.
const STEPS: f64 = 1000.0;

/// A bar with the time that is left; on a terminal only.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    pub fn new(quiet: bool) -> Bar {
        if quiet || !io::stderr().is_terminal() {
            return Bar(None);
        }
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:20} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar(Some(bar))
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Bar {
    fn doing(&mut self, what: &str, done: f64, left: Option<Duration>) {
        let Some(bar) = &self.0 else { return };
        bar.set_position((done * STEPS) as u64);
        bar.set_message(match left {
            Some(left) => format!("{what}; {} left", span(left)),
            None => what.to_owned(),
        });
    }
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
