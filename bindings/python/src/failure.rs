//! Errors of the engine as exceptions of `icecore`.

use crate::python_classes::PythonClasses;
use icecore::policy::RefusedClass;
use icecore::{Error, ErrorKind, Losses};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns the exception for an error of the engine.
#[cold]
pub(crate) fn to_py_error(py: Python<'_>, error: &Error) -> PyErr {
    create_py_error(py, error, error.to_string()).unwrap_or_else(|failure| failure)
}

/// Returns the exception for an error in a row of a column: its message and its attribute `row`
/// name the row.
#[cold]
pub(crate) fn to_py_error_in_row(py: Python<'_>, error: &Error, row: usize) -> PyErr {
    let raised = || {
        let raised = create_py_error(py, error, format!("row {row}: {error}"))?;
        raised.value(py).setattr("row", row)?;
        Ok(raised)
    };
    raised().unwrap_or_else(|failure: PyErr| failure)
}

fn create_py_error(py: Python<'_>, error: &Error, message: String) -> PyResult<PyErr> {
    let fields = PyDict::new(py);
    fields.set_item("kind", error.kind().as_str())?;
    fields.set_item("offset", error.offset())?;
    fields.set_item("path", error.path())?;
    fields.set_item("expected", error.expected())?;
    fields.set_item("found", error.found())?;
    fields.set_item("format", error.format())?;
    Ok(PyErr::from_value(PythonClasses::look_up(py)?.error(py).call((message,), Some(&fields))?))
}

/// Returns the exception for classes that are not allowed.
#[cold]
pub(crate) fn refused_classes_error(py: Python<'_>, classes: &[RefusedClass]) -> PyErr {
    let make = || {
        let dict = PyDict::new(py);
        for class in classes {
            dict.set_item(String::from_utf8_lossy(&class.name), &class.path)?;
        }
        Ok(PyErr::from_value(PythonClasses::look_up(py)?.class_error(py).call1((dict,))?))
    };
    make().unwrap_or_else(|failure: PyErr| failure)
}

/// Returns the exception for a wrong argument.
#[cold]
pub(crate) fn usage_error(py: Python<'_>, expected: &'static str, found: impl Into<String>) -> PyErr {
    to_py_error(py, &Error::new(ErrorKind::Usage).expecting(expected).finding(found.into()))
}

/// Handles losses as the argument `losses` says: appends them to a list, warns, raises or ignores
/// them.
pub(crate) fn report_losses(py: Python<'_>, losses: &Losses, handling: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if losses.is_empty() {
        return match handling {
            Some(handling) if !is_losses_keyword(handling) && handling.cast::<PyList>().is_err() => {
                Err(losses_argument_error(py))
            }
            _ => Ok(()),
        };
    }
    let list = PyList::empty(py);
    for loss in losses.iter() {
        list.append(PythonClasses::look_up(py)?.loss(py).call1((
            loss.kind.as_str(),
            loss.count,
            &loss.path,
            loss.to_string(),
        ))?)?;
    }
    if let Some(collected) = handling.and_then(|handling| handling.cast::<PyList>().ok()) {
        return collected.call_method1("extend", (list,)).map(drop);
    }
    let keyword = match handling {
        Some(handling) if !is_losses_keyword(handling) => return Err(losses_argument_error(py)),
        Some(handling) => handling.extract::<String>()?,
        None => "warn".to_owned(),
    };
    PythonClasses::look_up(py)?.report_losses(py).call1((list, keyword)).map(drop)
}

fn is_losses_keyword(handling: &Bound<'_, PyAny>) -> bool {
    handling.extract::<&str>().is_ok_and(|keyword| matches!(keyword, "warn" | "raise" | "ignore"))
}

fn losses_argument_error(py: Python<'_>) -> PyErr {
    usage_error(py, "losses to be \"warn\", \"raise\", \"ignore\" or a list", "another value")
}
