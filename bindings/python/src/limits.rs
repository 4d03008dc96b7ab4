//! Limits, as a program passes them.

use crate::failure::to_py_error;
use icecore::Limits;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Parses `{"depth": 100, "decompressed": 1 << 30}`: the names are those of the engine.
pub(crate) fn parse_limits(dict: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, value) in dict.into_iter().flatten() {
        let name = name.extract::<String>()?;
        limits.set(&name, value.extract()?).map_err(|error| to_py_error(value.py(), &error))?;
    }
    Ok(limits)
}
