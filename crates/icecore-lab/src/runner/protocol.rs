//! The lines that the lab and a runner's script exchange. `runners/README.md` is its page.

use crate::model::{MemoryStep, Operation, Role};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// What the lab says.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(super) enum Request<'r> {
    Hello,
    Load(Load<'r>),
    Check { answer: &'r Path, bytes: &'r Path },
    Time { operation: Operation, times: u64 },
    Memory,
}

/// The data, and what is to be done with it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Load<'r> {
    /// The scenario's name.
    pub scenario: &'r str,
    /// `memory` or `file`.
    pub medium: &'r str,
    /// Holds the value, in the format that the runner asked for.
    pub file: &'r Path,
    /// Source code with the classes of the data.
    pub code: Option<&'r Path>,
    /// The runner's own folder.
    pub folder: &'r Path,
    /// What the value was made with.
    pub parameters: &'r BTreeMap<String, i64>,
}

/// What a runner answers: one of these, according to the question.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reply {
    pub error: Option<String>,
    pub missing: Option<String>,
    pub install: Option<String>,
    pub cannot: Option<String>,
    pub ok: Option<bool>,
    pub protocol: Option<u32>,
    pub name: Option<String>,
    pub version: Option<String>,
    pub runtime: Option<String>,
    pub reference: Option<String>,
    pub role: Option<Role>,
    pub operations: Vec<Operation>,
    pub scenarios: Vec<String>,
    pub size: Option<u64>,
    pub ns: Option<f64>,
    pub steps: Vec<MemoryStep>,
    /// What a reader should know about the measurement.
    pub note: Option<String>,
}
