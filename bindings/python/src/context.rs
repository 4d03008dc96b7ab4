//! Memory and names that are kept from call to call.

use crate::build::Cache;
use crate::failure::raised;
use icecore::raw::{Spare, Stencils, Tape};
use icecore::{Codec, Stage};
use pyo3::prelude::*;
use std::sync::Mutex;

/// What a call works with.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) tape: Tape,
    /// What is known of the last documents.
    pub(crate) stencils: Stencils,
    pub(crate) cache: Cache,
    pub(crate) spare: Spare,
    pub(crate) out: Vec<u8>,
    /// What was asked for lately, with the name by which it was.
    codecs: Vec<(String, Codec)>,
    /// What the last bytes were found to be.
    pub(crate) found: Option<Codec>,
}

/// How many stages a context keeps ready.
const CODECS: usize = 8;
/// How many contexts are kept: as many as there were calls at once, or calls in calls.
const CONTEXTS: usize = 16;
/// How many bytes of each kind of memory a context keeps for the next call.
const KEPT: usize = 16 << 20;

/// Contexts that nobody uses. It is only locked for a moment, by a thread that has Python's
/// lock: so no other thread has it locked while a process forks.
static IDLE: Mutex<Vec<Context>> = Mutex::new(Vec::new());

/// Calls a function with a context that nobody else uses.
pub(crate) fn with<T>(work: impl FnOnce(&mut Context) -> PyResult<T>) -> PyResult<T> {
    let idle = || IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut context = idle().pop().unwrap_or_default();
    let result = work(&mut context);
    context.trim();
    let mut idle = idle();
    if idle.len() < CONTEXTS {
        idle.push(context);
    }
    result
}

impl Context {
    /// The stage of this name, ready.
    pub(crate) fn codec(&mut self, py: Python<'_>, name: &str) -> PyResult<Codec> {
        if let Some((_, codec)) = self.codecs.iter().find(|(known, _)| known == name) {
            return Ok(codec.clone());
        }
        let stage = Stage::parse(name).map_err(|error| raised(py, &error))?;
        Ok(self.keep(name, stage))
    }

    /// A stage that was found by looking, ready.
    pub(crate) fn ready(&mut self, stage: Stage) -> Codec {
        if !stage.wrappers().is_empty() || !stage.settings().is_empty() {
            return Codec::new(stage);
        }
        let name = stage.format().name;
        match self.codecs.iter().find(|(known, _)| known == name) {
            Some((_, codec)) => codec.clone(),
            None => self.keep(name, stage),
        }
    }

    fn keep(&mut self, name: &str, stage: Stage) -> Codec {
        let codec = Codec::new(stage);
        if self.codecs.len() >= CODECS {
            self.codecs.remove(0);
        }
        self.codecs.push((name.to_owned(), codec.clone()));
        codec
    }

    /// Frees what a large document left.
    fn trim(&mut self) {
        if self.tape.nodes().len() > KEPT / size_of::<icecore::raw::Node>() || self.tape.arena().len() > KEPT {
            drop(self.tape.take_memory());
        }
        if self.out.capacity() > KEPT {
            self.out = Vec::new();
        }
    }
}
