//! An Arrow array.

use super::types::export_schema;
use arrow_array::{Array, ArrayRef};
use arrow_schema::FieldRef;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::ffi::to_array_pycapsules;

/// An Arrow array, for any library that accepts one.
#[pyclass(module = "icecore.arrow", frozen)]
pub(crate) struct Column {
    array: ArrayRef,
    field: FieldRef,
}

impl Column {
    pub(super) fn new(array: ArrayRef, field: FieldRef) -> Column {
        Column { array, field }
    }
}

#[pymethods]
impl Column {
    /// The array and its type, by the PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        Ok(to_array_pycapsules(py, self.field.clone(), &self.array, requested_schema)?)
    }

    /// The type alone.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.field)
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// Number of null rows.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    fn __repr__(&self) -> String {
        let nulls = self.array.null_count();
        format!("<icecore.arrow.Column of {} rows, {nulls} null: {}>", self.array.len(), self.array.data_type())
    }
}
