//! Formats a job as a line of JSON or as a row of a table.

use crate::paint::{Ink, Paint};
use crate::terminal;
use icecore_store::describe::Decoder;
use icecore_store::{Job, State, time};
use serde::Serialize;
use serde_json::value::RawValue;

/// A job as JSON.
#[derive(Serialize)]
pub struct JobLine<'j> {
    pub id: String,
    pub queue: &'j str,
    pub state: &'static str,
    pub priority: i32,
    pub queued_at: String,
    pub run_at: String,
    pub attempts: u32,
    pub max_attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    pub format: Option<&'j str>,
    pub size: usize,
    pub checksum: &'j str,
    pub value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether the job is ready only at a later time.
    #[serde(rename = "delayed", skip_serializing_if = "std::ops::Not::not")]
    pub is_delayed: bool,
}

impl JobLine<'_> {
    /// Decodes the payload of a job.
    pub fn from_job<'j>(job: &'j Job, is_delayed: bool, decoder: &mut Decoder) -> JobLine<'j> {
        let (value, problem) = match decoder.decode_to_json(&job.bytes, job.format.as_deref()) {
            Ok(value) => (value.and_then(|text| RawValue::from_string(text).ok()), None),
            Err(problem) => (None, Some(problem)),
        };
        JobLine {
            id: job.id.to_string(),
            queue: &job.queue,
            state: job.state.name(),
            priority: job.priority,
            queued_at: time::format_utc(job.queued_at),
            run_at: time::format_utc(job.run_at),
            attempts: job.attempts,
            max_attempts: job.max_attempts,
            unique_key: job.unique_key.as_deref(),
            lease_until: job.lease_until.filter(|_| job.state == State::Leased).map(time::format_utc),
            worker: job.worker.as_deref(),
            finished_at: job.finished_at.map(time::format_utc),
            error: job.error.as_deref(),
            replay_of: job.replay_of.map(|id| id.to_string()),
            after: job.after.map(|id| id.to_string()),
            format: job.format.as_deref(),
            size: job.bytes.len(),
            checksum: &job.checksum,
            value,
            problem: problem.or_else(|| job.problem.clone()),
            result: job.result.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            is_delayed,
        }
    }

    /// Returns the job as a row of a table, or as two lines on a narrow terminal.
    pub fn format_row(&self, paint: Paint, is_narrow: bool) -> String {
        let id_and_state = format!(
            "{}  {:13}  {:7}  {:>8}  {:>8}",
            self.id,
            icecore::text::printable(&icecore::text::shortened(self.queue, 40)),
            if self.is_delayed { "delayed" } else { self.state },
            format!("{}/{}", self.attempts, self.max_attempts),
            self.priority,
        );
        let queued_at = paint.ink(Ink::Faint, &self.queued_at);
        let separator = terminal::row_separator(is_narrow);
        format!("{id_and_state}{separator}{queued_at}  {}\n", self.summarize(paint))
    }

    /// Returns when a delayed job runs, the last error, and the payload of a job that is not dead.
    fn summarize(&self, paint: Paint) -> String {
        let mut parts = Vec::new();
        if self.is_delayed {
            parts.push(format!("runs at {}", self.run_at));
        }
        if let Some(error) = self.error {
            parts.push(paint.ink(Ink::Bad, icecore::text::shortened(error, MAX_TEXT_LEN)));
        }
        match (&self.value, &self.problem) {
            (Some(value), _) => {
                parts.push(icecore::text::printable(&icecore::text::shortened(value.get(), MAX_TEXT_LEN)).into_owned());
            }
            (None, Some(problem)) => parts.push(paint.ink(Ink::Bad, icecore::text::shortened(problem, MAX_TEXT_LEN))),
            (None, None) => {}
        }
        parts.join("  ")
    }
}

/// Maximum number of characters of a value or an error in a table.
const MAX_TEXT_LEN: usize = 80;

/// Terminals with fewer columns show two lines for each job.
pub const MIN_ONE_LINE_WIDTH: usize = 140;

/// Returns the header of a table.
pub fn format_header(paint: Paint, is_narrow: bool) -> String {
    let first_part = format!("{:36}  {:13}  {:7}  {:>8}  {:>8}", "ID", "QUEUE", "STATE", "ATTEMPTS", "PRIORITY");
    let separator = terminal::row_separator(is_narrow);
    let second_part = format!("{:24}  NEXT RUN, LAST ERROR, PAYLOAD", "QUEUED AT");
    format!("{}\n", paint.ink(Ink::Faint, first_part) + separator + &paint.ink(Ink::Faint, second_part))
}
