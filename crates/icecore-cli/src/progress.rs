//! The progress line: on stderr, on a terminal, for long work only.
//!
//! What works notes how far it is in a few counters; a thread of its own looks at them now and
//! then and draws. It goes away for good before anything is printed on the same terminal.

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Work that takes less shows nothing.
const LONG: Duration = Duration::from_millis(500);
/// How often it is drawn.
const TURN: Duration = Duration::from_millis(100);
/// Steps of a bar.
const STEPS: f64 = 1000.0;

static METER: Meter = Meter {
    inputs: AtomicU64::new(0),
    done: AtomicU64::new(0),
    size: AtomicU64::new(0),
    read: AtomicU64::new(0),
    records: AtomicU64::new(0),
    share: AtomicU64::new(0),
    what: Mutex::new(String::new()),
};
static LINE: Mutex<Line> = Mutex::new(Line { bar: None, has_bar: false });
static TURNS: Condvar = Condvar::new();
/// Whether there is something to draw.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// How far the work is.
struct Meter {
    inputs: AtomicU64,
    done: AtomicU64,
    /// Bytes of the input that is worked on, 0 if that is not known, and how many were read.
    size: AtomicU64,
    read: AtomicU64,
    records: AtomicU64,
    /// Of work whose share is known, in thousandths.
    share: AtomicU64,
    /// What is worked on.
    what: Mutex<String>,
}

/// What is drawn.
struct Line {
    bar: Option<ProgressBar>,
    has_bar: bool,
}

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to watch, if stderr is a terminal that can show it.
pub fn start() {
    if !io::stderr().is_terminal() || crate::tty::is_dumb() || IS_ON.swap(true, Ordering::Relaxed) {
        return;
    }
    // Without the thread there is no progress line.
    let _ = std::thread::Builder::new().name("progress".to_owned()).spawn(watch);
}

fn watch() {
    let mut wait = LONG;
    let mut line = line();
    while IS_ON.load(Ordering::Relaxed) {
        let (woken, timeout) = TURNS.wait_timeout(line, wait).unwrap_or_else(PoisonError::into_inner);
        line = woken;
        if timeout.timed_out() && IS_ON.load(Ordering::Relaxed) {
            line.draw();
            wait = TURN;
        }
    }
}

/// So many inputs are worked on.
pub fn inputs(count: usize) {
    METER.inputs.store(count as u64, Ordering::Relaxed);
}

/// This input is worked on now, and the one before is done.
pub fn begin(name: &str) {
    if !is_on() {
        return;
    }
    let name = icecore::text::printable(name);
    let mut what = METER.what.lock().unwrap_or_else(PoisonError::into_inner);
    if !what.is_empty() && *what != name {
        METER.done.fetch_add(1, Ordering::Relaxed);
    }
    *what = name.into_owned();
    METER.forget_input();
}

/// It has so many bytes.
pub fn expect(size: u64) {
    METER.size.fetch_add(size, Ordering::Relaxed);
}

/// So many bytes of it were read.
pub fn read(bytes: usize) {
    METER.read.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// So many records of it are done.
pub fn count(records: u64) {
    METER.records.store(records, Ordering::Relaxed);
}

/// An input whose bytes are counted as they are read.
pub struct Counted<R>(pub R);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        read(count);
        Ok(count)
    }
}

/// Reads all that is left. Where nobody looks nothing is counted: readers know quicker ways then.
pub fn read_to_end(mut from: impl Read, to: &mut Vec<u8>) -> io::Result<usize> {
    if is_on() { Counted(from).read_to_end(to) } else { from.read_to_end(to) }
}

/// This share of all is done.
#[cfg(feature = "bench")]
pub fn share(done: f64, what: String) {
    if is_on() {
        METER.forget_input();
        METER.share.store((done * STEPS) as u64, Ordering::Relaxed);
        *METER.what.lock().unwrap_or_else(PoisonError::into_inner) = icecore::text::printable(&what).into_owned();
    }
}

fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Does something to stderr that must not run into the line.
pub fn suspend(then: impl FnOnce()) {
    match &line().bar {
        Some(bar) => bar.suspend(then),
        None => then(),
    }
}

/// Takes it away for good.
pub fn vanish() {
    if !IS_ON.swap(false, Ordering::Relaxed) {
        return;
    }
    if let Some(bar) = line().bar.take() {
        bar.finish_and_clear();
    }
    TURNS.notify_all();
}

impl Line {
    fn draw(&mut self) {
        let (share, text) = METER.said();
        let has_bar = share.is_some();
        let bar = self.bar.get_or_insert_with(|| {
            ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::stderr())
                .with_style(style(has_bar))
                .with_elapsed(LONG)
                .with_message(text.clone())
        });
        if self.has_bar != has_bar {
            bar.set_style(style(has_bar));
            self.has_bar = has_bar;
        }
        bar.set_position(share.unwrap_or(0));
        bar.set_message(text);
        bar.tick();
    }
}

fn style(has_bar: bool) -> ProgressStyle {
    let line = if has_bar { "{spinner} {bar:20} {wide_msg} {elapsed}" } else { "{spinner} {wide_msg} {elapsed}" };
    ProgressStyle::with_template(line).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Meter {
    /// What is worked on is another input, or none.
    fn forget_input(&self) {
        [&self.size, &self.read, &self.records].iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// The share that is done, if it is known, and the words.
    fn said(&self) -> (Option<u64>, String) {
        let number = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (inputs, done, size, read) =
            (number(&self.inputs), number(&self.done), number(&self.size), number(&self.read));
        let share = match number(&self.share) {
            0 if inputs > 1 => Some((done as f64 / inputs as f64 * STEPS) as u64),
            0 if size > 0 && read < size => Some((read as f64 / size as f64 * STEPS) as u64),
            0 => None,
            share => Some(share),
        };
        let mut parts = Vec::new();
        match (read, size) {
            (0, _) => {}
            (read, size) if read < size => parts.push(format!("{} of {}", HumanBytes(read), HumanBytes(size))),
            (read, _) => parts.push(HumanBytes(read).to_string()),
        }
        if number(&self.records) > 0 {
            parts.push(icecore_tables::plural::counted(number(&self.records), "record", "records"));
        }
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        let of = if inputs > 1 { format!("{}/{inputs}", done.saturating_add(1).min(inputs)) } else { String::new() };
        let what = if what.is_empty() { "working" } else { &what };
        // What is cut off where the line ends is the name.
        let parts = [of.as_str(), &parts.join(", "), what];
        let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
        (share, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said() {
        let meter = |inputs: u64, done: u64, size: u64, read: u64, records: u64| Meter {
            inputs: inputs.into(),
            done: done.into(),
            size: size.into(),
            read: read.into(),
            records: records.into(),
            share: 0.into(),
            what: Mutex::new("a.srl".to_owned()),
        };
        let said = |meter: Meter| meter.said();
        assert_eq!(said(meter(1, 0, 0, 0, 0)), (None, "a.srl".to_owned()));
        assert_eq!(said(meter(1, 0, 4096, 1024, 0)), (Some(250), "1.00 KiB of 4.00 KiB  a.srl".to_owned()));
        assert_eq!(said(meter(1, 0, 4096, 4096, 0)), (None, "4.00 KiB  a.srl".to_owned()));
        assert_eq!(said(meter(1, 0, 0, 1024, 1200)), (None, "1.00 KiB, 1,200 records  a.srl".to_owned()));
        assert_eq!(said(meter(4, 1, 0, 0, 1)), (Some(250), "2/4  1 record  a.srl".to_owned()));
    }
}
