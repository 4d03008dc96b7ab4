//! Where the parts of a container come from.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::vec::IntoIter;

/// The parts of an open container that are not written yet. Lists and tuples have the index of the
/// next item.
pub(super) enum Source<'py> {
    List(Bound<'py, PyList>, usize),
    Tuple(Bound<'py, PyTuple>, usize),
    /// A copy of the entries, and the value for absent keys. The entries are copied because code of the program may
    /// change the dict during the walk.
    Dict(IntoIter<(Bound<'py, PyAny>, Bound<'py, PyAny>)>, Option<Bound<'py, PyAny>>),
    /// The parts of an object, each with its key if it has one.
    Parts(IntoIter<Step<'py>>),
}

/// The next part.
pub(super) enum Step<'py> {
    Item(Bound<'py, PyAny>),
    Entry(Bound<'py, PyAny>, Bound<'py, PyAny>),
    Default(Bound<'py, PyAny>),
}

impl<'py> Source<'py> {
    /// Returns the entries of a dict, and the value for absent keys.
    pub(super) fn from_dict(dict: &Bound<'py, PyDict>, default: Option<Bound<'py, PyAny>>) -> Source<'py> {
        let entries: Vec<_> = dict.iter().collect();
        Source::Dict(entries.into_iter(), default)
    }

    #[inline]
    pub(super) fn next_step(&mut self) -> PyResult<Option<Step<'py>>> {
        match self {
            Source::List(list, index) => {
                if *index >= list.len() {
                    return Ok(None);
                }
                *index += 1;
                let item = list.get_item(*index - 1);
                item.map(|item| Some(Step::Item(item)))
                    .map_err(|_| PyRuntimeError::new_err("list changed while it is written"))
            }
            Source::Tuple(tuple, index) => {
                *index += 1;
                Ok(tuple.get_item(*index - 1).ok().map(Step::Item))
            }
            Source::Dict(entries, default) => Ok(entries
                .next()
                .map(|(key, value)| Step::Entry(key, value))
                .or_else(|| default.take().map(Step::Default))),
            Source::Parts(parts) => Ok(parts.next()),
        }
    }
}
