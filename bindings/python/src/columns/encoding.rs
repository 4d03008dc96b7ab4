//! Encodes columns of values as columns of blobs.

use super::{BadRows, Chunks, collect_bad_rows, kernel_error, open_reader, parse_options};
use crate::dumps::parse_stage;
use crate::failure::{report_losses, usage_error};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use icecore::Losses;
use icecore_columns::Encoder;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Encodes the values of a column or a stream as blobs of a format.
#[pyfunction]
#[pyo3(signature = (column, format, on_error="raise", losses=None, limits=None))]
pub(crate) fn encode(
    column: &Bound<'_, PyAny>,
    format: &str,
    on_error: &str,
    losses: Option<&Bound<'_, PyAny>>,
    limits: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Chunks, BadRows)> {
    let py = column.py();
    let mut reader = open_reader(column)?;
    let (options, keeps_bad_blobs) = parse_options(py, on_error, limits)?;
    if keeps_bad_blobs {
        return Err(usage_error(py, "on_error to be raise or null", on_error));
    }
    let mut encoder =
        Encoder::new(parse_stage(py, format)?, &reader.field(), options).map_err(|error| kernel_error(py, error))?;
    let (mut chunks, mut rows, mut before, mut lost) = (Vec::new(), Vec::new(), 0, Losses::default());
    while let Some(array) = py.detach(|| reader.next()) {
        let array = array.map_err(|error| PyTypeError::new_err(error.to_string()))?;
        let encoded =
            py.detach(|| encoder.encode(array.as_ref())).map_err(|error| kernel_error(py, error.shift_row(before)))?;
        rows.extend(collect_bad_rows(py, &encoded.bad, before));
        before += array.len();
        lost.merge(encoded.losses);
        chunks.push(Arc::new(encoded.column) as ArrayRef);
    }
    report_losses(py, &lost, losses)?;
    let field = Arc::new(Field::new("", DataType::Binary, true));
    Ok((Chunks::from_arrays(chunks, field), rows))
}
