//! The machine on which a run takes place.

use super::probe;
use crate::model::Machine;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the available data about the machine.
pub fn inspect_machine() -> Machine {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let system = find_field(&read("/etc/os-release"), "PRETTY_NAME=").trim_matches('"').to_owned();
    let processor = find_field(&read("/proc/cpuinfo"), "model name").trim_start_matches([' ', '\t', ':']).to_owned();
    let memory = find_field(&read("/proc/meminfo"), "MemTotal:");
    let memory = memory.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    let mut load = [0.0; 3];
    for (slot, number) in load.iter_mut().zip(read("/proc/loadavg").split_whitespace()) {
        *slot = number.parse().unwrap_or(0.0);
    }
    Machine {
        system,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        processor,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory: memory * 1024,
        load,
        runtimes: Vec::new(),
        memcpy: probe::measure_memcpy_rate(),
    }
}

/// Returns the text after a name at the beginning of a line.
fn find_field(text: &str, name: &str) -> String {
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
}

/// Returns the current time in UTC: `2026-11-22T12:00:00Z`.
pub fn format_current_time() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date_from_days(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Returns the date this many days after 1970-01-01.
fn date_from_days(mut days: u64) -> (u64, u64, u64) {
    let leap_days =
        |year: u64| u64::from(year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)));
    let mut year = 1970;
    while days >= 365 + leap_days(year) {
        days -= 365 + leap_days(year);
        year += 1;
    }
    let lengths = [31, 28 + leap_days(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::date_from_days;

    #[test]
    fn days_become_dates() {
        assert_eq!(date_from_days(0), (1970, 1, 1));
        assert_eq!(date_from_days(59), (1970, 3, 1));
        assert_eq!(date_from_days(11_016), (2000, 2, 29));
        assert_eq!(date_from_days(20_779), (2026, 11, 22));
    }
}
