//! Types of columns: parsed from text, taken from other libraries, or learned from blobs.

use super::{kernel_error, parse_source};
use crate::limits::parse_limits;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use icecore_columns::{Inference, schema};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use pyo3_arrow::PyField;
use pyo3_arrow::ffi::to_schema_pycapsule;
use pyo3_arrow::input::AnyArray;
use std::sync::Arc;

/// The type of a column: usually a struct, whose fields are a schema.
#[pyclass(module = "icecore.arrow", frozen)]
pub(crate) struct Type {
    field: FieldRef,
    /// The type was learned from a sample, so entries without a field are unexpected.
    #[pyo3(get)]
    learned: bool,
}

impl From<FieldRef> for Type {
    fn from(field: FieldRef) -> Type {
        Type { field, learned: false }
    }
}

#[pymethods]
impl Type {
    /// Creates the type from a text, from an object with `__arrow_c_schema__`, or from a column.
    #[new]
    fn new(given: &Bound<'_, PyAny>) -> PyResult<Type> {
        let py = given.py();
        if let Ok(existing) = given.cast::<Type>() {
            return Ok(Type { field: existing.get().field.clone(), learned: existing.get().learned });
        }
        if let Ok(text) = given.extract::<&str>() {
            let field = schema::parse(text).map_err(|error| kernel_error(py, error))?;
            return Ok(Type::from(Arc::new(field)));
        }
        if let Ok(field) = given.extract::<PyField>() {
            return Ok(Type::from(field.into_inner()));
        }
        match given.extract::<AnyArray>() {
            Ok(AnyArray::Array(array)) => Ok(Type::from(array.field().clone())),
            Ok(AnyArray::Stream(reader)) => Ok(Type::from(reader.field_ref()?)),
            Err(_) => Err(PyTypeError::new_err(
                "a schema is text (\"id int64, tags list<utf8>\"), a dict of names and types, or has `__arrow_c_schema__`",
            )),
        }
    }

    /// Returns a struct of these fields.
    #[staticmethod]
    fn structure(parts: Vec<(String, Py<Type>)>) -> Type {
        let fields: Fields = parts
            .into_iter()
            .map(|(name, part)| Field::clone(&part.get().field).with_name(name).with_nullable(true))
            .collect();
        Type::from(Arc::new(Field::new("", DataType::Struct(fields), true)))
    }

    /// Returns a list with items of this type.
    #[staticmethod]
    fn list(item: &Type) -> Type {
        let item = Field::clone(&item.field).with_name("item").with_nullable(true);
        Type::from(Arc::new(Field::new("", DataType::List(Arc::new(item)), true)))
    }

    /// The type, by the PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.field)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let _ = py;
        Ok(schema::print(&self.field))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<icecore.arrow.Type {}>", self.__str__(py)?))
    }
}

impl Type {
    /// Returns the field that a decoder fills. A decoder does not fill views, so they become large strings or bytes.
    pub(super) fn decoder_field(&self) -> FieldRef {
        Arc::new(replace_views(&self.field).with_nullable(true))
    }
}

/// Replaces string views by large strings. Other libraries convert large strings to views if they need views.
fn replace_views(field: &Field) -> Field {
    let inner = |field: &FieldRef| Arc::new(replace_views(field));
    let data_type = match field.data_type() {
        DataType::Utf8View => DataType::LargeUtf8,
        DataType::BinaryView => DataType::LargeBinary,
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

pub(super) fn export_schema<'py>(py: Python<'py>, field: &FieldRef) -> PyResult<Bound<'py, PyCapsule>> {
    Ok(to_schema_pycapsule(py, field.as_ref())?)
}

/// Learns the type that fits the blobs of a column or a stream.
#[pyfunction]
#[pyo3(signature = (column, format=None, limits=None))]
pub(crate) fn learn(
    column: &Bound<'_, PyAny>,
    format: Option<&str>,
    limits: Option<&Bound<'_, PyDict>>,
) -> PyResult<Type> {
    let py = column.py();
    let mut inference = Inference::new(parse_source(py, format)?, &parse_limits(limits)?);
    let mut reader = column.extract::<AnyArray>()?.into_reader()?;
    while let Some(array) = py.detach(|| reader.next()) {
        let array = array.map_err(|error| PyTypeError::new_err(error.to_string()))?;
        py.detach(|| inference.examine_column(array.as_ref())).map_err(|error| kernel_error(py, error))?;
    }
    Ok(Type { field: Arc::new(inference.field()), learned: true })
}
