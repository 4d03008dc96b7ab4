//! Metrics for Prometheus.

use crate::threads::lock_ignoring_poison;
use icecore_store::{QueueStatus, State};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets of durations, in seconds.
const DURATION_BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];
/// Upper bounds of the buckets of transaction sizes.
const SIZE_BOUNDS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// A histogram.
#[derive(Clone, Debug, Default)]
struct Histogram {
    /// Number of values in each bucket, without those of lower buckets. The last bucket has no upper bound.
    counts: [u64; 13],
    sum: f64,
}

impl Histogram {
    fn add_value(&mut self, bounds: &[f64], value: f64) {
        let index = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
        self.counts[index] += 1;
        self.sum += value;
    }

    fn write_samples(&self, out: &mut String, bounds: &[f64], name: &str, labels: &str) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut count = 0;
        for (index, bucket_count) in self.counts.iter().take(bounds.len() + 1).enumerate() {
            count += bucket_count;
            let bound = bounds.get(index).map_or("+Inf".to_owned(), f64::to_string);
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}");
        }
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(out, "{name}_sum{braces} {}\n{name}_count{braces} {count}", self.sum);
    }
}

/// The counters.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, String, u16), u64>>,
    durations: Mutex<BTreeMap<&'static str, Histogram>>,
    commits: Mutex<Histogram>,
    ack_commits: Mutex<Histogram>,
    failed_commits: AtomicU64,
    connections: AtomicU64,
}

impl Metrics {
    /// Counts an answered request. `method` is one of the known methods.
    pub fn count_request(&self, route: &'static str, method: &str, code: u16, took: Duration) {
        *lock_ignoring_poison(&self.requests).entry((route, method.to_owned(), code)).or_default() += 1;
        lock_ignoring_poison(&self.durations).entry(route).or_default().add_value(&DURATION_BOUNDS, took.as_secs_f64());
    }

    /// Records the size of a transaction that stored jobs or objects.
    pub fn record_commit(&self, size: usize) {
        lock_ignoring_poison(&self.commits).add_value(&SIZE_BOUNDS, size as f64);
    }

    /// Records the size of a transaction that recorded finished jobs.
    pub fn record_ack_commit(&self, size: usize) {
        lock_ignoring_poison(&self.ack_commits).add_value(&SIZE_BOUNDS, size as f64);
    }

    /// Counts a transaction of either kind that failed.
    pub fn count_failed_commit(&self) {
        self.failed_commits.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count_connection_opened(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count_connection_closed(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the metrics as text. `queues` is `None` if the database did not answer.
    pub fn to_prometheus_text(&self, queues: Option<&[QueueStatus]>) -> String {
        let mut out = String::new();
        write_metric_header(&mut out, "icecore_http_requests_total", "counter", "Requests by method, route and code.");
        for ((route, method, code), count) in &*lock_ignoring_poison(&self.requests) {
            let name = "icecore_http_requests_total";
            let _ = writeln!(out, "{name}{{method=\"{method}\",route=\"{route}\",code=\"{code}\"}} {count}");
        }
        write_metric_header(&mut out, "icecore_http_request_duration_seconds", "histogram", "How long requests took.");
        for (route, histogram) in &*lock_ignoring_poison(&self.durations) {
            let labels = format!("route=\"{route}\"");
            histogram.write_samples(&mut out, &DURATION_BOUNDS, "icecore_http_request_duration_seconds", &labels);
        }
        write_metric_header(&mut out, "icecore_http_connections", "gauge", "Open connections.");
        let _ = writeln!(out, "icecore_http_connections {}", self.connections.load(Ordering::Relaxed));
        write_metric_header(
            &mut out,
            "icecore_commit_size",
            "histogram",
            "How many jobs or objects a transaction stored.",
        );
        lock_ignoring_poison(&self.commits).write_samples(&mut out, &SIZE_BOUNDS, "icecore_commit_size", "");
        write_metric_header(
            &mut out,
            "icecore_ack_commit_size",
            "histogram",
            "How many jobs a transaction recorded as done.",
        );
        lock_ignoring_poison(&self.ack_commits).write_samples(&mut out, &SIZE_BOUNDS, "icecore_ack_commit_size", "");
        write_metric_header(&mut out, "icecore_commits_total", "counter", "Transactions that stored jobs or objects.");
        let _ =
            writeln!(out, "icecore_commits_total {}", lock_ignoring_poison(&self.commits).counts.iter().sum::<u64>());
        write_metric_header(
            &mut out,
            "icecore_commits_failed_total",
            "counter",
            "Failed transactions, of those that store jobs or objects and those that record jobs as done.",
        );
        let _ = writeln!(out, "icecore_commits_failed_total {}", self.failed_commits.load(Ordering::Relaxed));
        write_metric_header(&mut out, "icecore_database_up", "gauge", "Whether the database answers.");
        let _ = writeln!(out, "icecore_database_up {}", u8::from(queues.is_some()));
        write_queue_metrics(&mut out, queues.unwrap_or_default());
        out
    }
}

fn write_metric_header(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Writes the metrics of all queues.
fn write_queue_metrics(out: &mut String, queues: &[QueueStatus]) {
    write_metric_header(out, "icecore_jobs", "gauge", "Jobs by queue and state.");
    for queue in queues {
        for (state, count) in State::ALL.iter().zip(queue.counts) {
            let (name, state) = (escape_label(&queue.name), state.name());
            let _ = writeln!(out, "icecore_jobs{{queue=\"{name}\",state=\"{state}\"}} {count}");
        }
    }
    write_metric_header(
        out,
        "icecore_queue_oldest_seconds",
        "gauge",
        "How long the oldest ready job has been waiting.",
    );
    for queue in queues {
        let (name, oldest) = (escape_label(&queue.name), queue.oldest.unwrap_or(0) as f64 / 1000.0);
        let _ = writeln!(out, "icecore_queue_oldest_seconds{{queue=\"{name}\"}} {oldest}");
    }
    write_metric_header(out, "icecore_queue_paused", "gauge", "Whether the queue is paused.");
    for queue in queues {
        let (name, is_paused) = (escape_label(&queue.name), u8::from(queue.paused_at.is_some()));
        let _ = writeln!(out, "icecore_queue_paused{{queue=\"{name}\"}} {is_paused}");
    }
}

fn escape_label(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_and_counters_are_written_as_text() {
        let metrics = Metrics::default();
        metrics.record_commit(1);
        metrics.record_commit(600);
        metrics.count_failed_commit();
        metrics.count_request("/jobs", "POST", 201, Duration::from_millis(2));
        let queue = QueueStatus { name: "a\"b".to_owned(), counts: [1, 2, 3, 4, 5], ..QueueStatus::default() };
        let text = metrics.to_prometheus_text(Some(&[queue]));
        for line in [
            "icecore_commit_size_bucket{le=\"1\"} 1",
            "icecore_commit_size_bucket{le=\"512\"} 1",
            "icecore_commit_size_bucket{le=\"+Inf\"} 2",
            "icecore_commit_size_sum 601",
            "icecore_commits_failed_total 1",
            "icecore_http_requests_total{method=\"POST\",route=\"/jobs\",code=\"201\"} 1",
            "icecore_http_request_duration_seconds_bucket{route=\"/jobs\",le=\"0.0025\"} 1",
            "icecore_http_request_duration_seconds_count{route=\"/jobs\"} 1",
            "icecore_jobs{queue=\"a\\\"b\",state=\"dead\"} 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in:\n{text}");
        }
    }
}
