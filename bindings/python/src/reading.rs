//! How values are read: the arguments of `loads`.

use crate::failure::{to_py_error, usage_error};
use icecore::policy::{self, Rules};
use pyo3::CastIntoError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

/// What a byte string becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Strings {
    /// Text if it is UTF-8, otherwise bytes.
    #[default]
    Auto,
    /// Bytes.
    Bytes,
    /// Text; bytes that are not UTF-8 are an error.
    Text,
    /// Text in which each byte is a character.
    Latin1,
}

/// The caller's factories, which create values for objects.
pub(crate) enum Classes<'py> {
    /// There are no factories: objects become records.
    None,
    /// A mapping from names of classes to factories, which are called with the fields.
    Named(Bound<'py, PyMapping>),
    /// One factory for all classes, called with the name of the class and the fields.
    Any(Bound<'py, PyAny>),
}

/// How values are read.
pub(crate) struct ReadOptions<'py> {
    pub(crate) strings: Strings,
    /// Symbols become `str`.
    pub(crate) plain_symbols: bool,
    /// Times, decimals and similar values become the matching Python types.
    pub(crate) known: bool,
    pub(crate) classes: Classes<'py>,
    /// Classes that may occur; `None` allows all.
    pub(crate) allow: Option<Rules>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions { strings: Strings::Auto, plain_symbols: false, known: false, classes: Classes::None, allow: None }
    }
}

impl<'py> ReadOptions<'py> {
    /// Parses the arguments.
    pub(crate) fn from_arguments(
        py: Python<'py>,
        classes: Option<Bound<'py, PyAny>>,
        allow: Option<Bound<'py, PyAny>>,
        strings: Option<&str>,
        symbols: Option<&str>,
        known: bool,
    ) -> PyResult<ReadOptions<'py>> {
        let strings = match strings {
            None | Some("auto") => Strings::Auto,
            Some("bytes") => Strings::Bytes,
            Some("str") => Strings::Text,
            Some("latin1") => Strings::Latin1,
            Some(other) => return Err(usage_error(py, "strings to be auto, bytes, str or latin1", other)),
        };
        let plain_symbols = match symbols {
            None | Some("symbol") => false,
            Some("str") => true,
            Some(other) => return Err(usage_error(py, "symbols to be symbol or str", other)),
        };
        let allow = allow.map(|allow| parse_rules(&allow, classes.as_ref())).transpose()?;
        let classes = match classes {
            None => Classes::None,
            Some(classes) => match classes.cast_into::<PyMapping>().map_err(CastIntoError::into_inner) {
                Ok(mapping) => Classes::Named(mapping),
                Err(function) if function.is_callable() => Classes::Any(function),
                Err(_) => {
                    return Err(usage_error(py, "classes to be a mapping of names, or a function", "another value"));
                }
            },
        };
        Ok(ReadOptions { strings, plain_symbols, known, classes, allow })
    }
}

/// Returns rules for these patterns, and for the classes that have a factory.
fn parse_rules(allow: &Bound<'_, PyAny>, classes: Option<&Bound<'_, PyAny>>) -> PyResult<Rules> {
    let py = allow.py();
    if allow.is_instance_of::<PyString>() {
        return Err(usage_error(py, "allow to be a list of names and patterns", "str"));
    }
    let mut rules = Rules::new(policy::NameComparison::Exact);
    for pattern in allow.try_iter()? {
        let pattern = pattern?.extract::<String>()?;
        let is_text = !pattern.is_ascii();
        rules.allow(pattern.as_bytes(), is_text).map_err(|error| to_py_error(py, &error))?;
    }
    for name in classes.and_then(|classes| classes.cast::<PyDict>().ok()).into_iter().flat_map(|dict| dict.keys()) {
        let name = name.extract::<String>()?;
        let is_text = !name.is_ascii();
        rules.allow_exactly(name.as_bytes(), is_text).map_err(|error| to_py_error(py, &error))?;
    }
    Ok(rules)
}
