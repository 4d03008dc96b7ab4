//! The progress line: on stderr, on a terminal, for long work only.
//!
//! The work updates a few counters; a separate thread reads them periodically and draws the line. The line is removed
//! for good before anything is printed on the same terminal.

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Shorter work shows no progress.
const DISPLAY_DELAY: Duration = Duration::from_millis(500);
/// Interval of drawing.
const DRAW_INTERVAL: Duration = Duration::from_millis(100);
/// Length of a full bar: shares are in thousandths.
const BAR_LENGTH: f64 = 1000.0;

static METER: Meter = Meter {
    inputs: AtomicU64::new(0),
    done_inputs: AtomicU64::new(0),
    expected_bytes: AtomicU64::new(0),
    read_bytes: AtomicU64::new(0),
    records: AtomicU64::new(0),
    share: AtomicU64::new(0),
    input_name: Mutex::new(String::new()),
};
static LINE: Mutex<ProgressLine> = Mutex::new(ProgressLine { bar: None, has_bar: false });
static REDRAW_SIGNAL: Condvar = Condvar::new();
/// True from the start of the display until the line is removed.
static IS_ENABLED: AtomicBool = AtomicBool::new(false);

/// Progress of the work.
struct Meter {
    /// Number of all inputs, and of those that are done.
    inputs: AtomicU64,
    done_inputs: AtomicU64,
    /// Number of bytes of the current input, or 0 if it is unknown.
    expected_bytes: AtomicU64,
    /// Number of bytes of the current input that were read.
    read_bytes: AtomicU64,
    /// Number of records of the current input that are done.
    records: AtomicU64,
    /// Share of all work that is done, in thousandths; 0 if it must be computed from the other counters.
    share: AtomicU64,
    /// Name of the current input.
    input_name: Mutex<String>,
}

/// What is drawn.
struct ProgressLine {
    /// `None` until the line is drawn for the first time.
    bar: Option<ProgressBar>,
    /// Whether the line shows a bar; without a known share it shows only a spinner and the text.
    has_bar: bool,
}

fn lock_line() -> MutexGuard<'static, ProgressLine> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the progress line, if stderr is a terminal that can show it.
pub fn start_display() {
    if !io::stderr().is_terminal() || crate::tty::is_dumb() || IS_ENABLED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Without the thread there is no progress line.
    let _ = std::thread::Builder::new().name("progress".to_owned()).spawn(draw_until_removed);
}

fn draw_until_removed() {
    let mut wait = DISPLAY_DELAY;
    let mut line = lock_line();
    while IS_ENABLED.load(Ordering::Relaxed) {
        let (locked_line, timeout) = REDRAW_SIGNAL.wait_timeout(line, wait).unwrap_or_else(PoisonError::into_inner);
        line = locked_line;
        if timeout.timed_out() && IS_ENABLED.load(Ordering::Relaxed) {
            line.draw();
            wait = DRAW_INTERVAL;
        }
    }
}

/// Sets the number of inputs.
pub fn set_input_count(count: usize) {
    METER.inputs.store(count as u64, Ordering::Relaxed);
}

/// Sets the current input; the one before it is done.
pub fn begin_input(name: &str) {
    if !is_enabled() {
        return;
    }
    let name = icecore::text::printable(name);
    let mut input_name = METER.input_name.lock().unwrap_or_else(PoisonError::into_inner);
    if !input_name.is_empty() && *input_name != name {
        METER.done_inputs.fetch_add(1, Ordering::Relaxed);
    }
    *input_name = name.into_owned();
    METER.reset_input();
}

/// Adds to the number of bytes that the current input is expected to have.
pub fn add_expected_bytes(size: u64) {
    METER.expected_bytes.fetch_add(size, Ordering::Relaxed);
}

/// Adds to the number of bytes read.
pub fn count_read_bytes(bytes: usize) {
    METER.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Sets the number of records that are done.
pub fn set_record_count(records: u64) {
    METER.records.store(records, Ordering::Relaxed);
}

/// An input whose bytes are counted while they are read.
pub struct CountedReader<R>(pub R);

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        count_read_bytes(count);
        Ok(count)
    }
}

/// Reads the rest of the input. Counts only if progress is shown, because readers are faster without counting.
pub fn read_to_end(mut reader: impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    if is_enabled() { CountedReader(reader).read_to_end(bytes) } else { reader.read_to_end(bytes) }
}

/// Sets the share of all work that is done, from 0 to 1, and a text that says what is being done.
#[cfg(feature = "bench")]
pub fn set_share(done: f64, activity: String) {
    if is_enabled() {
        METER.reset_input();
        METER.share.store((done * BAR_LENGTH) as u64, Ordering::Relaxed);
        *METER.input_name.lock().unwrap_or_else(PoisonError::into_inner) =
            icecore::text::printable(&activity).into_owned();
    }
}

fn is_enabled() -> bool {
    IS_ENABLED.load(Ordering::Relaxed)
}

/// Runs code that writes to stderr; the line is hidden until it returns.
pub fn suspend(write: impl FnOnce()) {
    match &lock_line().bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Removes the line for good.
pub fn remove_line() {
    if !IS_ENABLED.swap(false, Ordering::Relaxed) {
        return;
    }
    if let Some(bar) = lock_line().bar.take() {
        bar.finish_and_clear();
    }
    REDRAW_SIGNAL.notify_all();
}

impl ProgressLine {
    fn draw(&mut self) {
        let (share, text) = METER.describe_progress();
        let has_bar = share.is_some();
        let bar = self.bar.get_or_insert_with(|| {
            ProgressBar::with_draw_target(Some(BAR_LENGTH as u64), ProgressDrawTarget::stderr())
                .with_style(line_style(has_bar))
                .with_elapsed(DISPLAY_DELAY)
                .with_message(text.clone())
        });
        if self.has_bar != has_bar {
            bar.set_style(line_style(has_bar));
            self.has_bar = has_bar;
        }
        bar.set_position(share.unwrap_or(0));
        bar.set_message(text);
        bar.tick();
    }
}

fn line_style(has_bar: bool) -> ProgressStyle {
    let line = if has_bar { "{spinner} {bar:20} {wide_msg} {elapsed}" } else { "{spinner} {wide_msg} {elapsed}" };
    ProgressStyle::with_template(line).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

impl Meter {
    /// Resets the counters of the current input.
    fn reset_input(&self) {
        [&self.expected_bytes, &self.read_bytes, &self.records]
            .iter()
            .for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// Returns the share that is done, if known, and the text.
    fn describe_progress(&self) -> (Option<u64>, String) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (inputs, done_inputs) = (load(&self.inputs), load(&self.done_inputs));
        let (expected_len, read_len) = (load(&self.expected_bytes), load(&self.read_bytes));
        let share = match load(&self.share) {
            0 if inputs > 1 => Some((done_inputs as f64 / inputs as f64 * BAR_LENGTH) as u64),
            0 if expected_len > 0 && read_len < expected_len => {
                Some((read_len as f64 / expected_len as f64 * BAR_LENGTH) as u64)
            }
            0 => None,
            share => Some(share),
        };
        let mut parts = Vec::new();
        match (read_len, expected_len) {
            (0, _) => {}
            (read_len, expected_len) if read_len < expected_len => {
                parts.push(format!("{} of {}", HumanBytes(read_len), HumanBytes(expected_len)));
            }
            (read_len, _) => parts.push(HumanBytes(read_len).to_string()),
        }
        if load(&self.records) > 0 {
            parts.push(icecore_tables::plural::format_count(load(&self.records), "record", "records"));
        }
        let input_name = self.input_name.lock().unwrap_or_else(PoisonError::into_inner);
        let input_position =
            if inputs > 1 { format!("{}/{inputs}", done_inputs.saturating_add(1).min(inputs)) } else { String::new() };
        let label = if input_name.is_empty() { "working" } else { &input_name };
        // The name comes last because the end of the line is cut off.
        let parts = [input_position.as_str(), &parts.join(", "), label];
        let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ");
        (share, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_the_known_sizes() {
        let meter = |inputs: u64, done: u64, size: u64, read: u64, records: u64| Meter {
            inputs: inputs.into(),
            done_inputs: done.into(),
            expected_bytes: size.into(),
            read_bytes: read.into(),
            records: records.into(),
            share: 0.into(),
            input_name: Mutex::new("a.srl".to_owned()),
        };
        let describe = |meter: Meter| meter.describe_progress();
        assert_eq!(describe(meter(1, 0, 0, 0, 0)), (None, "a.srl".to_owned()));
        assert_eq!(describe(meter(1, 0, 4096, 1024, 0)), (Some(250), "1.00 KiB of 4.00 KiB  a.srl".to_owned()));
        assert_eq!(describe(meter(1, 0, 4096, 4096, 0)), (None, "4.00 KiB  a.srl".to_owned()));
        assert_eq!(describe(meter(1, 0, 0, 1024, 1200)), (None, "1.00 KiB, 1,200 records  a.srl".to_owned()));
        assert_eq!(describe(meter(4, 1, 0, 0, 1)), (Some(250), "2/4  1 record  a.srl".to_owned()));
    }
}
