//! Participants: the scripts in `runners/`, which speak a line protocol, the
//! engine, and the command. What a script answers is input like any other: it
//! is read strictly, and nothing waits for it for ever.

mod account;
mod command;
mod engine;
mod head;
mod list;
mod process;
mod protocol;

pub use list::{Environment, Found, Participant, find, ids};
pub use process::{Patience, Process};
pub use protocol::{Load, PROTOCOL};

use crate::model::{MemoryStep, Operation};
use icecore::Document;
use std::path::{Path, PathBuf};

/// Why a participant gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It can't carry this data, and says why.
    Cannot(String),
    /// It failed.
    Failed(String),
    /// The run was stopped meanwhile.
    Stopped,
}

/// What came back of a round trip.
pub struct Checked {
    /// Bytes that were written.
    pub size: Option<u64>,
    /// What they were read as.
    pub answer: Answer,
}

/// Where the value that came back is.
pub enum Answer {
    /// In a file of this format.
    File(PathBuf, String),
    /// Here.
    Document(Box<Document<'static>>),
}

/// A participant that has begun: a process, mostly.
pub trait Seat {
    /// Takes the data.
    fn load(&mut self, load: &Load<'_>) -> Result<(), Trouble>;
    /// Writes and reads it once.
    fn check(&mut self, folder: &Path) -> Result<Checked, Trouble>;
    /// Executes an operation so many times. Nanoseconds for all.
    fn time(&mut self, operation: Operation, times: u64) -> Result<f64, Trouble>;
    /// Writes, lets go, and reads, and looks at its memory.
    fn memory(&mut self) -> Result<Vec<MemoryStep>, Trouble>;
    /// What it remarked for the reader of the report.
    fn notes(&self) -> &[String] {
        &[]
    }
}
