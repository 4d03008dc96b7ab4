//! How many references there are to an object.

use pyo3::prelude::*;

/// How many there are now, this one counted.
#[inline]
pub(crate) fn of(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a `Bound` refers to an object that is alive, while Python's lock is held.
    unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) }
}
