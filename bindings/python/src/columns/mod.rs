//! Arrow columns of blobs: decoding to values of a type, and encoding.

mod array;
mod decoded;
mod encoding;
mod stream;
mod types;

pub(crate) use array::Column;
pub(crate) use decoded::Decoded;
pub(crate) use encoding::encode;
pub(crate) use stream::Chunks;
pub(crate) use types::{Type, learn};

use crate::failure::{to_py_error, to_py_error_in_row, usage_error};
use crate::limits::parse_limits;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, FieldRef};
use decoded::{ArrayCount, ResultOptions};
use icecore::Stage;
use icecore_columns::{BadRow, Decoded as Part, Decoder as Kernel, Error, OnError, Options, Source, decode_chunks};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

/// Decodes columns of blobs to columns of one type, one after the other.
#[pyclass(module = "icecore.arrow", frozen)]
pub(crate) struct Decoder {
    kernel: Arc<Mutex<Kernel>>,
    field: FieldRef,
    /// The source format; used to create a kernel for each thread.
    source: Source,
    options: Options,
    /// The result contains the blobs of bad rows.
    keeps_bad_blobs: bool,
    threads: NonZeroUsize,
}

/// Several threads decode columns with at least this number of rows.
const MIN_ROWS_FOR_THREADS: usize = 100_000;

/// Bad rows, each with its error.
type BadRows = Vec<(usize, Py<PyAny>)>;

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (schema, format=None, on_error="raise", limits=None, threads=None))]
    fn new(
        py: Python<'_>,
        schema: &Type,
        format: Option<&str>,
        on_error: &str,
        limits: Option<&Bound<'_, PyDict>>,
        threads: Option<usize>,
    ) -> PyResult<Decoder> {
        let threads = match threads.map(NonZeroUsize::new) {
            Some(None) => return Err(usage_error(py, "threads to be 1 or more", "0")),
            Some(Some(threads)) => threads,
            None => available_parallelism().unwrap_or(NonZeroUsize::MIN),
        };
        let (options, keeps_bad_blobs) = parse_options(py, on_error, limits)?;
        let field = schema.decoder_field();
        let source = parse_source(py, format)?;
        let kernel = Kernel::new(source.clone(), &field, options.clone()).map_err(|error| kernel_error(py, error))?;
        Ok(Decoder { kernel: Arc::new(Mutex::new(kernel)), field, source, options, keeps_bad_blobs, threads })
    }

    /// Decodes an array.
    fn decode(&self, py: Python<'_>, column: &Bound<'_, PyAny>) -> PyResult<Decoded> {
        let AnyArray::Array(array) = column.extract::<AnyArray>()? else {
            return Err(PyTypeError::new_err("an array is needed, and not a stream of arrays"));
        };
        let (array, _) = array.into_inner();
        self.decode_arrays(py, &[array], ArrayCount::One)
    }

    /// Decodes the arrays of a stream, to at least as many arrays.
    fn decode_chunks(&self, py: Python<'_>, column: &Bound<'_, PyAny>) -> PyResult<Decoded> {
        let mut reader = open_reader(column)?;
        let mut arrays = Vec::new();
        // The source of the arrays may be a Python object and take Python's lock itself, so this thread releases it.
        while let Some(array) = py.detach(|| reader.next()) {
            arrays.push(array.map_err(|error| PyTypeError::new_err(error.to_string()))?);
        }
        self.decode_arrays(py, &arrays, ArrayCount::Several)
    }

    /// Returns the arrays of a stream, decoded when they are requested.
    fn stream(&self, column: &Bound<'_, PyAny>) -> PyResult<Chunks> {
        if self.keeps_bad_blobs {
            let expected = "on_error to be raise or null, as a stream has no place for bad blobs";
            return Err(usage_error(column.py(), expected, "keep"));
        }
        let reader = open_reader(column)?;
        let kernel = self.kernel.clone();
        let decoded = reader.map(move |array| {
            let mut kernel = kernel.lock().unwrap_or_else(PoisonError::into_inner);
            let decoded = kernel
                .decode(only_column(array?).as_ref())
                .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
            Ok(decoded.column)
        });
        Ok(Chunks::from_lazy_arrays(decoded, self.field.clone()))
    }

    /// The type of the decoded columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        types::export_schema(py, &self.field)
    }
}

impl Decoder {
    /// Decodes arrays while other threads of Python run. If there are many rows, several threads decode them, each
    /// with a kernel of its own.
    fn decode_arrays(&self, py: Python<'_>, arrays: &[ArrayRef], array_count: ArrayCount) -> PyResult<Decoded> {
        let rows: usize = arrays.iter().map(|array| array.len()).sum();
        let is_shared = self.threads.get() > 1 && rows >= MIN_ROWS_FOR_THREADS;
        let decoded = py.detach(|| match is_shared {
            true => decode_chunks(&self.source, &self.field, &self.options, arrays, self.threads),
            false => self.decode_one_by_one(arrays),
        });
        let decoded = decoded.map_err(|error| kernel_error(py, error))?;
        Decoded::new(
            py,
            arrays,
            decoded,
            &ResultOptions { field: &self.field, array_count, keeps_bad_blobs: self.keeps_bad_blobs },
        )
    }

    /// Decodes the arrays one after the other, reusing memory. The caller must not hold Python's lock, because this
    /// function locks the kernel: a thread that has the kernel may wait for Python's lock, and both would wait for
    /// ever.
    fn decode_one_by_one(&self, arrays: &[ArrayRef]) -> Result<Vec<Part>, Error> {
        let mut kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = 0;
        let decode = |array: &ArrayRef| {
            let mut decoded = kernel.decode(array.as_ref()).map_err(|error| error.shift_row(start))?;
            decoded.start = start;
            start += array.len();
            Ok(decoded)
        };
        arrays.iter().map(decode).collect()
    }
}

/// Returns the options, and true if the result contains the blobs of bad rows.
fn parse_options(py: Python<'_>, on_error: &str, limits: Option<&Bound<'_, PyDict>>) -> PyResult<(Options, bool)> {
    let mut options = Options::default();
    options.limits = parse_limits(limits)?;
    options.on_error = match on_error {
        "raise" => OnError::Raise,
        "null" | "keep" => OnError::Null,
        other => return Err(usage_error(py, "on_error to be raise, null or keep", other)),
    };
    Ok((options, on_error == "keep"))
}

/// Returns the column of a batch that has exactly one column, and any other array as it is. In a stream of batches
/// each batch is a struct array.
fn only_column(array: ArrayRef) -> ArrayRef {
    match array.as_struct_opt() {
        Some(batch) if batch.num_columns() == 1 && batch.null_count() == 0 => batch.column(0).clone(),
        _ => array,
    }
}

fn open_reader(column: &Bound<'_, PyAny>) -> PyResult<Box<dyn ArrayReader + Send>> {
    column.extract::<AnyArray>()?.into_reader()
}

/// Returns the source format of blobs: the named stage, or detection for each blob.
fn parse_source(py: Python<'_>, format: Option<&str>) -> PyResult<Source> {
    match format {
        None => Ok(Source::Detect),
        Some(name) => Ok(Source::Stage(Stage::parse(name).map_err(|error| to_py_error(py, &error))?)),
    }
}

/// Returns the bad rows of an array; `before` is the number of rows before the array.
fn collect_bad_rows(py: Python<'_>, bad: &[BadRow], before: usize) -> BadRows {
    bad.iter().map(|bad| (before + bad.row, to_py_error(py, &bad.error).into_value(py).into_any())).collect()
}

/// Returns the exception for an error of the kernel.
fn kernel_error(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Row { row, error } => to_py_error_in_row(py, &error, row),
        Error::Engine(error) => to_py_error(py, &error),
        other => PyTypeError::new_err(other.to_string()),
    }
}
