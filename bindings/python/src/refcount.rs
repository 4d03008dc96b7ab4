//! Reference counts of objects.

use pyo3::prelude::*;

/// Returns the current reference count, including this reference.
#[inline]
pub(crate) fn reference_count(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a `Bound` refers to an object that is alive, while Python's lock is held.
    unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) }
}
