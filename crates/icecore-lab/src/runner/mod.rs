//! Participants: the scripts in `runners/`, the engine, and the command. A script answers requests line by line. Its
//! answers are untrusted input, so they are parsed strictly, and every wait has a timeout.

mod command;
mod declarations;
mod engine;
mod list;
mod process;
mod protocol;
mod time_check;

pub use list::{Environment, FoundRunner, Participant, find_runners, list_runner_ids};
pub use process::{AnswerTimeout, Process};
pub use protocol::{Load, PROTOCOL};

use crate::model::{MemoryStep, Operation};
use icecore::Document;
use std::path::{Path, PathBuf};

/// The reason why a participant gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParticipantError {
    /// It can't represent this data, for this reason.
    Cannot(String),
    /// It failed.
    Failed(String),
    /// The run was stopped meanwhile.
    Stopped,
}

/// Result of a round trip.
pub struct RoundTrip {
    /// Number of bytes written.
    pub size: Option<u64>,
    /// Value read back from these bytes.
    pub answer: Answer,
}

/// The value that a round trip read back.
pub enum Answer {
    /// In a file with this format.
    File(PathBuf, String),
    /// In memory.
    Document(Box<Document<'static>>),
}

/// A running participant, usually a process.
pub trait RunningParticipant {
    /// Loads the data.
    fn load(&mut self, load: &Load<'_>) -> Result<(), ParticipantError>;
    /// Writes and reads the data once.
    fn check_round_trip(&mut self, folder: &Path) -> Result<RoundTrip, ParticipantError>;
    /// Executes an operation `times` times. Returns the total nanoseconds.
    fn time_operation(&mut self, operation: Operation, times: u64) -> Result<f64, ParticipantError>;
    /// Writes, frees and reads the data, and measures the memory after each step.
    fn measure_memory(&mut self) -> Result<Vec<MemoryStep>, ParticipantError>;
    /// Returns its remarks for the reader of the report.
    fn notes(&self) -> &[String] {
        &[]
    }
}
