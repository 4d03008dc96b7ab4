//! The progress bar: on stderr, on a terminal, for long work only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Work that takes less shows no bar.
const LONG: Duration = Duration::from_millis(500);

/// A progress bar, or none.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// No bar.
    pub fn none() -> Progress {
        Progress(None)
    }

    /// A bar over this many inputs, if stderr is a terminal and the output
    /// does not go there too.
    pub fn over(inputs: usize, quiet: bool) -> Progress {
        if quiet || !io::stderr().is_terminal() || io::stdout().is_terminal() {
            return Progress(None);
        }
        let bar = ProgressBar::with_draw_target(Some(inputs as u64), ProgressDrawTarget::stderr());
        let style =
            if inputs > 1 { "{spinner} {pos}/{len} {wide_msg} {elapsed}" } else { "{spinner} {wide_msg} {elapsed}" };
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        // The first tick comes after this time.
        bar.enable_steady_tick(LONG);
        Progress(Some(bar))
    }

    /// What is worked on now.
    pub fn show(&self, name: &str) {
        if let Some(bar) = &self.0
            && bar.elapsed() > LONG
        {
            bar.set_message(icecore::text::printable(name).into_owned());
        }
    }

    /// How many records of an input are done.
    pub fn count(&self, name: &str, records: u64) {
        if let Some(bar) = &self.0
            && bar.elapsed() > LONG
        {
            bar.set_message(format!(
                "{}: {} records",
                icecore::text::printable(name),
                crate::records::grouped(records)
            ));
        }
    }

    /// One input is done.
    pub fn step(&self) {
        if let Some(bar) = &self.0
            && bar.elapsed() > LONG
        {
            bar.inc(1);
        }
    }

    /// Does something to stderr that must not run into the bar.
    pub fn suspend(&self, then: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(then),
            None => then(),
        }
    }

    /// Takes it away.
    pub fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
