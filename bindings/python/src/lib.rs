//! Icecore for Python: the module `_icecore`, on which the package `icecore` is built.
//!
//! | file | what |
//! |---|---|
//! | `input.rs`, `reading.rs`, `limits.rs` | arguments: bytes, how values are read, limits |
//! | `context.rs` | memory and caches that are reused from call to call |
//! | `loads.rs`, `build/` | from a tape to Python values |
//! | `dumps.rs`, `walk/` | from Python values to a tape |
//! | `record.rs` | objects |
//! | `convert.rs`, `inspect.rs`, `documents.rs` | bytes to bytes; queries about data; many documents |
//! | `columns/` | columns of Arrow |
//! | `failure.rs`, `python_classes.rs`, `refcount.rs` | exceptions; the package's Python classes; reference counts |
//!
//! Everything written in Python is in `python/icecore`.

mod build;
mod columns;
mod context;
mod convert;
mod documents;
mod dumps;
mod failure;
mod input;
mod inspect;
mod limits;
mod loads;
mod python_classes;
mod reading;
mod record;
mod refcount;
mod walk;

use pyo3::prelude::*;

/// The part of the package `icecore` that is not written in Python.
///
/// Free-threaded builds of Python enable the lock when they import this module, because threads
/// share contexts.
#[pymodule(gil_used = true)]
fn _icecore(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<record::Record>()?;
    module.add_class::<columns::Decoder>()?;
    module.add_class::<columns::Decoded>()?;
    module.add_class::<columns::Column>()?;
    module.add_class::<columns::Chunks>()?;
    module.add_class::<columns::Type>()?;
    module.add_function(wrap_pyfunction!(columns::learn, module)?)?;
    module.add_function(wrap_pyfunction!(columns::encode, module)?)?;
    module.add_class::<documents::Documents>()?;
    module.add_function(wrap_pyfunction!(loads::loads, module)?)?;
    module.add_function(wrap_pyfunction!(dumps::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(convert::convert, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::detect, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::classes, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::rows, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::formats, module)?)?;
    Ok(())
}
