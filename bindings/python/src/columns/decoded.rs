//! The result of decoding a column.

use super::array::Column;
use super::stream::Chunks;
use super::{BadRows, kernel_error};
use crate::failure::to_py_error;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::concat::concat;
use icecore_columns::{Decoded as Part, Error};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// The decoded rows, and information about bad rows and unexpected entries.
#[pyclass(module = "icecore.arrow", frozen)]
pub(crate) struct Decoded {
    /// The rows: a `Column` if the input was one array, `Chunks` if there were several.
    #[pyo3(get)]
    column: Py<PyAny>,
    /// The number and the error of each bad row.
    #[pyo3(get)]
    errors: Py<PyList>,
    /// A column of the error messages of bad rows; null for all others.
    #[pyo3(get)]
    texts: Option<Py<PyAny>>,
    /// A column of the blobs of bad rows.
    #[pyo3(get)]
    kept: Option<Py<PyAny>>,
    /// Number of rows that have entries without a field, and the first of these rows.
    #[pyo3(get)]
    extra: Option<(usize, usize)>,
}

/// Whether a result has one array, or several.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ArrayCount {
    One,
    Several,
}

/// What the result contains.
pub(super) struct ResultOptions<'f> {
    pub field: &'f FieldRef,
    pub array_count: ArrayCount,
    /// Whether it has the blobs of bad rows.
    pub keeps_bad_blobs: bool,
}

impl Decoded {
    /// Creates the result from the parts of the decoded arrays.
    pub(super) fn new(
        py: Python<'_>,
        arrays: &[ArrayRef],
        parts: Vec<Part>,
        options: &ResultOptions<'_>,
    ) -> PyResult<Decoded> {
        let errors = parts.iter().flat_map(|part| part.bad.iter().map(|bad| (part.start + bad.row, &bad.error)));
        let errors: BadRows =
            errors.map(|(row, error)| (row, to_py_error(py, error).into_value(py).into_any())).collect();
        let errors = PyList::new(py, errors)?.unbind();
        let (mut texts, mut kept) = (None, None);
        if options.keeps_bad_blobs {
            let field = |kind: DataType| Arc::new(Field::new("", kind, true));
            let messages: Vec<ArrayRef> = parts.iter().map(|part| Arc::new(part.errors()) as ArrayRef).collect();
            texts = Some(join_arrays(py, messages, field(DataType::Utf8), options.array_count)?);
            let blobs = collect_kept_blobs(arrays, &parts).map_err(|error| kernel_error(py, error))?;
            kept = Some(join_arrays(py, blobs, field(DataType::LargeBinary), options.array_count)?);
        }
        let extra = parts.iter().filter_map(|part| part.extra.map(|(count, first)| (count, part.start + first)));
        let extra = extra.reduce(|(before, first), (count, _)| (before + count, first));
        let columns = parts.into_iter().map(|part| part.column).collect();
        Ok(Decoded {
            column: join_arrays(py, columns, options.field.clone(), options.array_count)?,
            errors,
            texts,
            kept,
            extra,
        })
    }
}

/// Returns a `Column` with all rows, or `Chunks` with the arrays.
fn join_arrays(py: Python<'_>, mut parts: Vec<ArrayRef>, field: FieldRef, count: ArrayCount) -> PyResult<Py<PyAny>> {
    if count == ArrayCount::Several {
        return Ok(Py::new(py, Chunks::from_arrays(parts, field))?.into_any());
    }
    let joined = match parts.len() {
        1 => parts.remove(0),
        _ => {
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            py.detach(|| concat(&parts)).map_err(|error| kernel_error(py, error.into()))?
        }
    };
    Ok(Py::new(py, Column::new(joined, field))?.into_any())
}

/// Returns the blobs of the bad rows of each part. Each part is within one of the arrays, and both lists are in the
/// order of the rows, so the arrays are visited once.
fn collect_kept_blobs(arrays: &[ArrayRef], parts: &[Part]) -> Result<Vec<ArrayRef>, Error> {
    let mut arrays = arrays.iter();
    let (mut array, mut begin) = (arrays.next(), 0);
    let mut kept: Vec<ArrayRef> = Vec::with_capacity(parts.len());
    for part in parts {
        while let Some(current) = array.filter(|array| part.start + part.column.len() > begin + array.len()) {
            begin += current.len();
            array = arrays.next();
        }
        if let Some(current) = array {
            kept.push(Arc::new(part.bad_blobs(&current.slice(part.start - begin, part.column.len()))?));
        }
    }
    Ok(kept)
}
