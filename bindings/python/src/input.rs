//! Bytes from the program.

use crate::failure::usage_error;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::borrow::Cow;

/// Returns the bytes of `bytes`, of any object with a buffer, or of text as UTF-8. Data that the
/// program could change during the call is copied.
pub(crate) fn read_input<'a>(data: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(text) = data.cast::<PyString>() {
        return Ok(Cow::Borrowed(text.to_str()?.as_bytes()));
    }
    match PyBuffer::<u8>::get(data) {
        Ok(buffer) => Ok(Cow::Owned(buffer.to_vec(data.py())?)),
        Err(_) => {
            let found = data.get_type().name()?.to_string();
            Err(usage_error(data.py(), "data as bytes, a buffer of bytes, or str", found))
        }
    }
}
