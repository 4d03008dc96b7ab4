//! Keys and names of classes as Python strings, cached by their ids.

use crate::reading::{ReadOptions, Strings};
use icecore::raw::Tape;
use pyo3::prelude::*;

/// Strings for the ids of one tape. The tape is reused from call to call, and so are the strings.
#[derive(Default)]
pub(crate) struct Cache {
    /// Keys of maps.
    pub(super) keys: Vec<Option<Py<PyAny>>>,
    /// The keys as names of members of objects.
    pub(super) members: Vec<Option<Py<PyAny>>>,
    /// Names of classes.
    pub(super) classes: Vec<Option<Py<PyAny>>>,
    /// The tape's generations of key and class ids when these strings were created.
    generations: (u64, u64),
    strings: Strings,
    plain_symbols: bool,
}

impl Cache {
    /// Removes the strings if they are not valid for this tape and these arguments.
    #[inline]
    pub(super) fn discard_stale_strings(&mut self, tape: &Tape, reading: &ReadOptions<'_>) {
        let generations = (tape.keys().generation(), tape.classes().generation());
        let is_same = (self.strings, self.plain_symbols) == (reading.strings, reading.plain_symbols);
        if generations != self.generations || !is_same {
            self.keys.clear();
            self.members.clear();
            self.classes.clear();
            self.generations = generations;
            (self.strings, self.plain_symbols) = (reading.strings, reading.plain_symbols);
        }
    }
}

/// Returns the cached string for an id, after creating it if necessary.
#[inline]
pub(super) fn get_or_create_string<'py>(
    py: Python<'py>,
    cached: &mut Vec<Option<Py<PyAny>>>,
    id: u32,
    create: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(Some(value)) = cached.get(id as usize) {
        return Ok(value.bind(py).clone());
    }
    let value = create()?;
    // The vector grows after `create`, so an error leaves it as it was.
    if cached.len() <= id as usize {
        cached.resize_with(id as usize + 1, || None);
    }
    cached[id as usize] = Some(value.clone().unbind());
    Ok(value)
}
