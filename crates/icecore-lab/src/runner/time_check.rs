//! Checks whether a process can have done its work in the time that it reports.

use std::time::Duration;

/// Seconds of work outside of operations: reading requests and writing answers, for all requests together.
const SLACK_SECONDS: f64 = 0.1;

/// The time that the operations of a process took, as it was reported and as it was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeAccount {
    /// Seconds that the process reported.
    pub claimed: f64,
    /// Seconds that the lab measured.
    pub passed: f64,
}

impl TimeAccount {
    pub(super) fn add(&mut self, ns: f64, passed: Duration) {
        self.claimed += ns / 1e9;
        self.passed += passed.as_secs_f64();
    }

    /// Returns true if more time passed than the operations explain. On a busy machine this also happens to a process
    /// that reports its true times. So the result is only a reason to check the processor time.
    pub(super) fn is_suspicious(&self) -> bool {
        self.passed > self.max_plausible_seconds()
    }

    /// Returns true if processors worked longer for the process than it reported. Processor time counts only while
    /// the process runs, so other programs do not increase it.
    pub(super) fn is_refuted(&self, worked_seconds: f64) -> bool {
        self.is_suspicious() && worked_seconds > self.max_plausible_seconds()
    }

    fn max_plausible_seconds(&self) -> f64 {
        2.0 * self.claimed + SLACK_SECONDS
    }
}

/// Returns the processor time in seconds of a process and its ended children, or `None` if the system does not report
/// it.
pub(super) fn read_processor_seconds(process: u32) -> Option<f64> {
    let status = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    sum_ticks(&String::from_utf8_lossy(&status)).map(|ticks| ticks as f64 / ticks_per_second())
}

/// Returns the sum of the four tick counts in the status line of a process on Linux: its own and its children's, in
/// user mode and in the kernel.
fn sum_ticks(line: &str) -> Option<u64> {
    const WORDS_BEFORE_TICKS: usize = 11;
    // The name of the process is in parentheses before these words. It may contain spaces and parentheses, so the
    // line is split at the last parenthesis.
    let mut words = line.rsplit_once(')')?.1.split_whitespace().skip(WORDS_BEFORE_TICKS);
    (0..4).try_fold(0u64, |sum, _| sum.checked_add(words.next()?.parse().ok()?))
}

#[cfg(target_os = "linux")]
fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

#[cfg(not(target_os = "linux"))]
fn ticks_per_second() -> f64 {
    100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(claimed_ms: f64, passed_ms: u64) -> TimeAccount {
        let mut account = TimeAccount::default();
        account.add(claimed_ms * 1e6, Duration::from_millis(passed_ms));
        account
    }

    #[test]
    fn waiting_for_the_processor_is_not_refuted() {
        for passed in [10, 100, 10_000, 3_600_000] {
            assert!(!account(10.0, passed).is_refuted(0.012), "{passed} ms passed");
        }
        assert!(account(10.0, 10_000).is_suspicious() && !account(10.0, 100).is_suspicious());
    }

    #[test]
    fn work_longer_than_claimed_is_refuted() {
        assert!(account(15.0, 150).is_refuted(0.15), "a tenth");
        assert!(account(0.001, 110).is_refuted(0.11), "next to nothing");
        assert!(account(15.0, 60_000).is_refuted(0.15), "a tenth, on a busy machine");
        assert!(!account(100.0, 250).is_refuted(0.25), "less than a half is hidden");
    }

    /// Work in several threads may take more processor time than the time that passed.
    #[test]
    fn claims_that_cover_the_elapsed_time_are_not_refuted() {
        assert!(!account(100.0, 110).is_refuted(8.0));
    }

    /// Many small false numbers add up to a large one.
    #[test]
    fn accounts_add_up() {
        let mut account = TimeAccount::default();
        for times in 1..=100 {
            account.add(1e6, Duration::from_millis(10));
            assert_eq!(account.is_refuted(f64::from(times) * 0.01), times > 12, "{times}");
        }
    }

    #[test]
    fn process_names_may_contain_parentheses() {
        let line = "17 (a) (b c) R 1 17 17 0 -1 4194304 100 0 0 0 5 6 70 800 20 0 1 0 9 10 11";
        assert_eq!(sum_ticks(line), Some(881));
        assert_eq!(sum_ticks("17 (a) R 1 17"), None);
        assert_eq!(sum_ticks(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_processor_time_of_this_process_is_read() {
        let before = read_processor_seconds(std::process::id()).expect("it is there");
        let mut sum = 0u64;
        while read_processor_seconds(std::process::id()).expect("it is there") <= before {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        assert_eq!(read_processor_seconds(u32::MAX), None);
    }
}
