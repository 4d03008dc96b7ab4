//! Several arrays of one type.

use super::types::export_schema;
use crate::failure::usage_error;
use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, FieldRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, ArrayReader, to_stream_pycapsule};
use std::sync::{Mutex, PoisonError};

/// Arrow arrays, for any library that accepts a stream of arrays.
#[pyclass(module = "icecore.arrow", frozen)]
pub(crate) struct Chunks {
    field: FieldRef,
    arrays: Arrays,
}

enum Arrays {
    /// All arrays exist already.
    Complete(Vec<ArrayRef>),
    /// The arrays are decoded when they are requested; this works once.
    Lazy(Mutex<Option<Box<dyn ArrayReader + Send>>>),
}

impl Chunks {
    pub(super) fn from_arrays(arrays: Vec<ArrayRef>, field: FieldRef) -> Chunks {
        Chunks { field, arrays: Arrays::Complete(arrays) }
    }

    pub(super) fn from_lazy_arrays(
        arrays: impl Iterator<Item = Result<ArrayRef, ArrowError>> + Send + 'static,
        field: FieldRef,
    ) -> Chunks {
        let reader: Box<dyn ArrayReader + Send> = Box::new(ArrayIterator::new(arrays, field.clone()));
        Chunks { field, arrays: Arrays::Lazy(Mutex::new(Some(reader))) }
    }
}

#[pymethods]
impl Chunks {
    /// The arrays, by the PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let reader: Box<dyn ArrayReader + Send> = match &self.arrays {
            Arrays::Complete(arrays) => {
                let arrays = arrays.clone().into_iter().map(Ok);
                Box::new(ArrayIterator::new(arrays, self.field.clone()))
            }
            Arrays::Lazy(reader) => {
                let reader = reader.lock().unwrap_or_else(PoisonError::into_inner).take();
                reader.ok_or_else(|| usage_error(py, "a stream that was not read yet", "one that was"))?
            }
        };
        Ok(to_stream_pycapsule(py, reader, requested_schema)?)
    }

    /// The type of the arrays.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.field)
    }
}
