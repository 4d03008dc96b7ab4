//! The classes and functions of the Python package that this module needs.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Classes and functions of the package, looked up once.
pub(crate) struct PythonClasses {
    symbol: Py<PyAny>,
    reference: Py<PyAny>,
    enum_case: Py<PyAny>,
    module: Py<PyAny>,
    regexp: Py<PyAny>,
    code: Py<PyAny>,
    vstring: Py<PyAny>,
    tied: Py<PyAny>,
    opaque: Py<PyAny>,
    hash: Py<PyAny>,
    build_known: Py<PyAny>,
    describe: Py<PyAny>,
    error: Py<PyAny>,
    class_error: Py<PyAny>,
    loss: Py<PyAny>,
    report_losses: Py<PyAny>,
}

static PYTHON_CLASSES: PyOnceLock<PythonClasses> = PyOnceLock::new();

/// Defines a method for each field that returns a reference to it.
macro_rules! getters {
    ($($name:ident),*) => {
        impl PythonClasses {
            $(
                #[inline]
                pub(crate) fn $name<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
                    self.$name.bind(py)
                }
            )*
        }
    };
}

getters!(
    symbol,
    reference,
    enum_case,
    module,
    regexp,
    code,
    vstring,
    tied,
    opaque,
    hash,
    build_known,
    describe,
    error,
    class_error,
    loss,
    report_losses
);

impl PythonClasses {
    /// Returns the classes, which the first call looks up. Fails if the package is incomplete.
    pub(crate) fn look_up(py: Python<'_>) -> PyResult<&'static PythonClasses> {
        PYTHON_CLASSES.get_or_try_init(py, || {
            let values = py.import("icecore._values")?;
            let conversions = py.import("icecore._conversions")?;
            let errors = py.import("icecore._errors")?;
            let get = |module: &Bound<'_, PyModule>, name: &str| module.getattr(name).map(Bound::unbind);
            Ok(PythonClasses {
                symbol: get(&values, "Symbol")?,
                reference: get(&values, "Ref")?,
                enum_case: get(&values, "EnumCase")?,
                module: get(&values, "Module")?,
                regexp: get(&values, "Regexp")?,
                code: get(&values, "Code")?,
                vstring: get(&values, "VString")?,
                tied: get(&values, "Tied")?,
                opaque: get(&values, "Opaque")?,
                hash: get(&values, "Hash")?,
                build_known: get(&conversions, "build_known")?,
                describe: get(&conversions, "describe")?,
                error: get(&errors, "Error")?,
                class_error: get(&errors, "ClassError")?,
                loss: get(&errors, "Loss")?,
                report_losses: get(&errors, "report_losses")?,
            })
        })
    }
}
