//! Reference counts of objects.

use pyo3::prelude::*;

/// Returns the current reference count, including this reference.
#[inline]
pub(crate) fn reference_count(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a `Bound` keeps its object alive, and exists only while this thread has Python's lock.
    unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) }
}
