//! The lines that the lab and a runner's script exchange. `runners/README.md` documents them.

use crate::model::{MemoryStep, Operation, Role};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;

/// A request of the lab.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(super) enum Request<'r> {
    Hello,
    Load(Load<'r>),
    Check { answer: &'r Path, bytes: &'r Path },
    Time { operation: Operation, times: u64 },
    Memory,
}

/// The data, and what to do with it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Load<'r> {
    /// Name of the scenario.
    pub scenario: &'r str,
    /// `memory` or `file`.
    pub medium: &'r str,
    /// File with the value, in the format that the runner requested.
    pub file: &'r Path,
    /// Source file with the classes of the data.
    pub code: Option<&'r Path>,
    /// The runner's own folder.
    pub folder: &'r Path,
    /// Parameters with which the value was made.
    pub parameters: &'r BTreeMap<String, i64>,
}

/// An answer of a runner. Which fields are set depends on the request.
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
    /// Remark about the measurement for the reader.
    pub note: Option<String>,
}
