//! The Python classes of the package that this module needs.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Classes and functions of the package, looked up once.
pub(crate) struct Names {
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
    known: Py<PyAny>,
    described: Py<PyAny>,
    error: Py<PyAny>,
    class_error: Py<PyAny>,
    loss: Py<PyAny>,
    lost: Py<PyAny>,
}

static NAMES: PyOnceLock<Names> = PyOnceLock::new();

/// A method for each name that returns a reference to it.
macro_rules! lend {
    ($($name:ident),*) => {
        impl Names {
            $(
                #[inline]
                pub(crate) fn $name<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
                    self.$name.bind(py)
                }
            )*
        }
    };
}

lend!(
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
    known,
    described,
    error,
    class_error,
    loss,
    lost
);

impl Names {
    /// Returns the names; an error if the package is incomplete.
    pub(crate) fn look_up(py: Python<'_>) -> PyResult<&'static Names> {
        NAMES.get_or_try_init(py, || {
            let values = py.import("icecore._values")?;
            let known = py.import("icecore._known")?;
            let errors = py.import("icecore._errors")?;
            let get = |module: &Bound<'_, PyModule>, name: &str| module.getattr(name).map(Bound::unbind);
            Ok(Names {
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
                known: get(&known, "known")?,
                described: get(&known, "described")?,
                error: get(&errors, "Error")?,
                class_error: get(&errors, "ClassError")?,
                loss: get(&errors, "Loss")?,
                lost: get(&errors, "lost")?,
            })
        })
    }
}
