//! Contexts: memory and caches that are reused from call to call.

use crate::build::Cache;
use crate::failure::to_py_error;
use icecore::raw::{Spare, Stencils, Tape};
use icecore::{Codec, Stage};
use pyo3::prelude::*;
use std::sync::Mutex;

/// The working memory of a call, and caches that earlier calls have filled.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) tape: Tape,
    /// The shapes of the last documents.
    pub(crate) stencils: Stencils,
    pub(crate) cache: Cache,
    pub(crate) spare: Spare,
    pub(crate) out: Vec<u8>,
    /// Recently used stages, with the names that the callers gave.
    codecs: Vec<(String, Codec)>,
    /// The format that was detected for the last input.
    pub(crate) last_detected: Option<Codec>,
}

/// Maximum number of stages that a context keeps.
const MAX_CODECS: usize = 8;
/// Maximum number of idle contexts. Each concurrent or nested call uses one.
const MAX_IDLE_CONTEXTS: usize = 16;
/// Maximum number of bytes of each kind of memory that a context keeps for the next call.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// Idle contexts. A thread locks the mutex only for a moment, and has Python's lock (the GIL) meanwhile. Python forks
/// with its lock, too. So no other thread holds the mutex while a process forks, and the child can lock it.
static IDLE: Mutex<Vec<Context>> = Mutex::new(Vec::new());

/// Calls a function with a context that no other call uses.
pub(crate) fn with_context<T>(work: impl FnOnce(&mut Context) -> PyResult<T>) -> PyResult<T> {
    let idle = || IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut context = idle().pop().unwrap_or_default();
    let result = work(&mut context);
    context.free_excess_memory();
    let mut idle = idle();
    if idle.len() < MAX_IDLE_CONTEXTS {
        idle.push(context);
    }
    result
}

impl Context {
    /// Returns the stage of this name, ready to use.
    pub(crate) fn find_codec(&mut self, py: Python<'_>, name: &str) -> PyResult<Codec> {
        if let Some((_, codec)) = self.codecs.iter().find(|(cached_name, _)| cached_name == name) {
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
        match self.codecs.iter().find(|(cached_name, _)| cached_name == name) {
            Some((_, codec)) => codec.clone(),
            None => self.remember_codec(name, stage),
        }
    }

    fn remember_codec(&mut self, name: &str, stage: Stage) -> Codec {
        let codec = Codec::new(stage);
        // The first one is the oldest.
        if self.codecs.len() >= MAX_CODECS {
            self.codecs.remove(0);
        }
        self.codecs.push((name.to_owned(), codec.clone()));
        codec
    }

    /// Frees the memory of a large document.
    fn free_excess_memory(&mut self) {
        if self.tape.nodes().len() > MAX_KEPT_BYTES / size_of::<icecore::raw::Node>()
            || self.tape.arena().len() > MAX_KEPT_BYTES
        {
            drop(self.tape.take_memory());
        }
        if self.out.capacity() > MAX_KEPT_BYTES {
            self.out = Vec::new();
        }
    }
}
