//! Memory and names that are kept from call to call.

use crate::build::Cache;
use crate::failure::to_py_error;
use icecore::raw::{Spare, Stencils, Tape};
use icecore::{Codec, Stage};
use pyo3::prelude::*;
use std::sync::Mutex;

/// The working state of a call.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) tape: Tape,
    /// Knowledge about the last documents.
    pub(crate) stencils: Stencils,
    pub(crate) cache: Cache,
    pub(crate) spare: Spare,
    pub(crate) out: Vec<u8>,
    /// Recently used stages, with the names by which they were requested.
    codecs: Vec<(String, Codec)>,
    /// The detected format of the last input.
    pub(crate) found: Option<Codec>,
}

/// Number of stages that a context keeps ready.
const CODECS: usize = 8;
/// Number of contexts that are kept: one for each concurrent or nested call.
const CONTEXTS: usize = 16;
/// Number of bytes of each kind of memory that a context keeps for the next call.
const KEPT: usize = 16 << 20;

/// Idle contexts. The mutex is only locked for a moment, by a thread that has Python's lock, so no
/// other thread holds it while a process forks.
static IDLE: Mutex<Vec<Context>> = Mutex::new(Vec::new());

/// Calls a function with a context that nobody else uses.
pub(crate) fn with_context<T>(work: impl FnOnce(&mut Context) -> PyResult<T>) -> PyResult<T> {
    let idle = || IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut context = idle().pop().unwrap_or_default();
    let result = work(&mut context);
    context.free_excess_memory();
    let mut idle = idle();
    if idle.len() < CONTEXTS {
        idle.push(context);
    }
    result
}

impl Context {
    /// Returns the stage of this name, ready to use.
    pub(crate) fn find_codec(&mut self, py: Python<'_>, name: &str) -> PyResult<Codec> {
        if let Some((_, codec)) = self.codecs.iter().find(|(known, _)| known == name) {
            return Ok(codec.clone());
        }
        let stage = Stage::parse(name).map_err(|error| to_py_error(py, &error))?;
        Ok(self.remember_codec(name, stage))
    }

    /// Returns a detected stage, ready to use.
    pub(crate) fn codec_for_stage(&mut self, stage: Stage) -> Codec {
        if !stage.wrappers().is_empty() || !stage.settings().is_empty() {
            return Codec::new(stage);
        }
        let name = stage.format().name;
        match self.codecs.iter().find(|(known, _)| known == name) {
            Some((_, codec)) => codec.clone(),
            None => self.remember_codec(name, stage),
        }
    }

    fn remember_codec(&mut self, name: &str, stage: Stage) -> Codec {
        let codec = Codec::new(stage);
        if self.codecs.len() >= CODECS {
            self.codecs.remove(0);
        }
        self.codecs.push((name.to_owned(), codec.clone()));
        codec
    }

    /// Frees the memory of a large document.
    fn free_excess_memory(&mut self) {
        if self.tape.nodes().len() > KEPT / size_of::<icecore::raw::Node>() || self.tape.arena().len() > KEPT {
            drop(self.tape.take_memory());
        }
        if self.out.capacity() > KEPT {
            self.out = Vec::new();
        }
    }
}
